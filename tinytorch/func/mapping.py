"""``vmap``: a function of one example as a function of a batch."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

from ..autograd.levels import transforming
from ..core import torch_function
from ..core.tensor import Tensor
from ..dispatch.op import NAMESPACES
from ..graph.inference import mark_mapped
from ..state.tracebacks import short
from ._batched import (
    Level,
    can_stack,
    first,
    first_example,
    is_stand_in,
    levels_of,
    mapped_over,
    resolved,
    stack_elements,
    stack_examples,
    stand_in,
    value_of,
)
from ._level import P, R
from ._mapped_functions import applying, by_rule, have_rules
from ._randomness import Repeated, check_randomness, drawing, noticing_draws
from ._trees import Tree, flatten, spread, unflatten


class _Inputs(NamedTuple):
    """What is mapped over."""

    leaves: list[Any]
    dims: list[int | None]
    structure: Tree
    size: int


def vmap(
    func: Callable[P, R],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[P, R]:
    """A function that maps ``func`` over a dimension of its arguments and stacks the results.

    It runs ``func`` once for each example, on ordinary tensors, which are views of the arguments:
    no faster than a loop, but with every operation, control flow that depends on data, and
    ``item``, for which PyTorch raises. Where the examples have no dimensions, one run serves for
    all of them if it only does arithmetic, comparisons, and looking up in tensors; after any other
    operation that run is the first example's, and the others follow. Gradients flow through it
    in both directions. What ``func`` writes in place into an example is written into the argument.
    Writing into a tensor that is no example and was not made by ``func`` is refused, as what the
    examples write there would mix.

    Args:
        func: Takes examples, returns tensors or a tree of them.
        in_dims: Which dimension of the arguments to map over: an int for all tensors, or a tuple by
            argument of ints, None (every example gets the whole) and trees of them; default 0.
        out_dims: Where that dimension is in the results: an int for all, or a tree by result. None
            is for results that are the same for every example, of any type; default 0.
        randomness: Random functions inside ``func`` are refused with ``"error"`` (the default),
            give every example the same numbers with ``"same"``, and with ``"different"`` those that
            a loop would.
        chunk_size: Accepted; the result is the same.

    Returns:
        A function of the same arguments, with a dimension more. Keyword arguments are passed on as
        they are.

    Raises:
        ValueError: For dimensions that the arguments, or the results, do not have; for different
            sizes; for results that are no tensors, or different where ``out_dims`` is None.
        RuntimeError: For an unknown ``randomness``, random functions it refuses, results of
            different shapes, and tensors from outside that are written to.

    Example:
        >>> dot = tt.vmap(tt.dot, in_dims=(0, None))
        >>> dot(tt.tensor([[1.0, 2.0], [3.0, 4.0]]), tt.tensor([1.0, 10.0]))
        tensor([21., 43.])

    Reference: https://pytorch.org/docs/stable/generated/torch.func.vmap.html
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func, updated=())
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        name = _name(func)
        _check_out_dims(name, out_dims)
        inputs = _inputs(name, in_dims, args)
        with transforming():
            result: R = _mapped(_Call(name, func, inputs, kwargs, out_dims, randomness))
        return result

    return short(wrapper)


def map_elements(
    func: Callable[..., Any], sizes: tuple[int, ...], values: tuple[Tensor, ...], device: Any
) -> Any:
    """``func`` of each element of ``values`` and of its indices, for tensors of shape ``sizes``.

    One call serves for all elements where ``vmap`` would need no more.

    Args:
        func: A function of tensors without dimensions: an element of each of ``values``, then its
            index along each dimension.
        sizes: The shape of ``values``, and of the result.
        values: Tensors of that shape; there may be none.
        device: The device of the indices.

    Returns:
        The results, perhaps a view in which elements share memory.
    """
    indices = [NAMESPACES[""]["arange"](size, device=device) for size in sizes]
    levels = tuple(map(Level, sizes))
    with transforming(), drawing("error", values), mark_mapped() as number, applying(by_rule):
        views: list[Any] = [value[...] for value in values]
        for view in views:
            view._mapped = number  # A function may write to its elements.
        if 0 in sizes:
            results = [func(*(x.new_zeros(()) for x in (*views, *indices)))]
        else:
            given = [mapped_over(i, 0, level) for i, level in zip(indices, levels, strict=True)]
            result = func(*(stand_in(view, levels) for view in views), *given)
            if isinstance(result, Tensor) and not any(level.failed for level in levels):
                return stack_elements(result, levels)
            results = [first_example(result)]
        for at in itertools.islice(itertools.product(*map(range, sizes)), 1, None):
            given = [index[i] for index, i in zip(indices, at, strict=True)]
            results.append(func(*(view[at] for view in views), *given))
    stacked = _together(_name(func), tuple(results), 0, math.prod(sizes))
    return stacked.reshape(*sizes, *stacked.shape[1:])


def _name(func: Any) -> str:
    """What errors call a function."""
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return str(getattr(func, "__name__", repr(func)))


# -- what goes in ----------------------------------------------------------------------------


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> _Inputs:
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, structure = flatten(args)
    dims = spread(in_dims, structure)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    found = [_in_dim(call, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    return _Inputs(leaves, found, structure, _size(leaves, found))


def _in_dim(call: str, leaf: Any, dim: Any) -> int | None:
    """The dimension of ``leaf`` to map over, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension "
            "or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.dim() <= dim < leaf.dim():
        raise ValueError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {leaf.dim()} so expected in_dim to satisfy -{leaf.dim()} <= in_dim < "
            f"{leaf.dim()}."
        )
    return dim % leaf.dim()


def _size(leaves: list[Any], dims: list[int | None]) -> int:
    """How many examples there are."""
    sizes = [leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len({*sizes}) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


# -- the function ------------------------------------------------------------------------------


class _Call(NamedTuple):
    """A call of a mapped function, and how it is mapped."""

    name: str
    func: Callable[..., Any]
    inputs: _Inputs
    kwargs: dict[str, Any]
    out_dims: Any
    randomness: str


def _mapped(call: _Call) -> Any:
    """The results of all examples, stacked."""
    call = call._replace(inputs=call.inputs._replace(leaves=[*map(resolved, call.inputs.leaves)]))
    inputs, randomness = call.inputs, call.randomness
    values = [*map(value_of, inputs.leaves)]
    level = Level(inputs.size, randomness)
    repeated = Repeated(randomness, values)
    results: list[tuple[list[Any], Tree]] = []
    with drawing(randomness, values), repeated.noticing(), mark_mapped() as number:
        shares = _may_be_at_once(call)
        if shares or inputs.size and have_rules():
            results.append(_first_run(call, level, number, shares))
        else:
            level.failed = True
        if level.failed:
            for i in range(len(results), inputs.size or 1):
                if i:
                    repeated.restart()
                given = [
                    leaf if dim is None else _example(leaf, dim, i, number)
                    for leaf, dim in zip(inputs.leaves, inputs.dims, strict=True)
                ]
                results.append(_run(call, given))
    return _stacked(call, results) if level.failed else _stacked_at_once(call, results[0], level)


def _run(call: _Call, given: list[Any]) -> tuple[list[Any], Tree]:
    """The leaves of the function's result, and the tree they are in."""
    return flatten(call.func(*unflatten(call.inputs.structure, given), **call.kwargs))


def _first_run(call: _Call, level: Level, number: int, shares: bool) -> tuple[list[Any], Tree]:
    """The result for all examples, or for the first one if the level fails.

    Unless ``shares``, it is for all only after a function's rule has been called.
    """

    def fail() -> None:
        level.failed = True

    inputs = call.inputs
    given = [
        leaf if dim is None else _all_examples(leaf, dim, level, number)
        for leaf, dim in zip(inputs.leaves, inputs.dims, strict=True)
    ]
    values = [*map(value_of, inputs.leaves)]
    # In the mode "error" a draw raises.
    noticing = nullcontext() if call.randomness == "error" else noticing_draws(values, fail)
    with applying(by_rule), noticing:
        leaves, structure = _run(call, given)
    dims = _out_dims(call.name, call.out_dims, structure)
    if not (shares or level.has_rule) or not all(
        can_stack(leaf, level, dim) for leaf, dim in zip(leaves, dims, strict=True)
    ):
        level.failed = True
    if level.failed:
        leaves = [first_example(leaf) if level in levels_of(leaf) else leaf for leaf in leaves]
    return leaves, structure


def _stacked_at_once(call: _Call, result: tuple[list[Any], Tree], level: Level) -> Any:
    """The results of all examples from one run."""
    leaves, structure = result
    dims = _out_dims(call.name, call.out_dims, structure)
    done = [stack_examples(leaf, level, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    return unflatten(structure, done)


def _stacked(call: _Call, results: list[tuple[list[Any], Tree]]) -> Any:
    """The results of all examples from one run for each."""
    structure = _common(call.name, [structure for _, structure in results])
    dims = _out_dims(call.name, call.out_dims, structure)
    columns = zip(*[leaves for leaves, _ in results], strict=True)
    done = [
        _together(call.name, column, dim, call.inputs.size)
        for column, dim in zip(columns, dims, strict=True)
    ]
    return unflatten(structure, done)


def _may_be_at_once(call: _Call) -> bool:
    """Whether one run may serve for all examples, whatever functions are in it.

    It may inside another such run, and where the examples have no dimensions: most operations on
    these run for all examples at once.
    """
    leaves, dims, _, size = call.inputs
    over = [leaf for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    return size > 0 and (
        any(map(is_stand_in, leaves))
        or (call.randomness == "error" and size > 1 and not torch_function.has_mode()
            and all(t.ndim == 1 and torch_function.is_excluded(type(t)) for t in over))
    )  # fmt: skip


def _all_examples(batch: Any, dim: int, level: Level, number: int) -> Any:
    """Return a stand-in for all examples; its first one may be written to, as may views of it."""
    made = mapped_over(batch, dim, level, _example(first(batch), dim, 0, number))
    value_of(made)._mapped = number
    return made


def _example(batch: Any, dim: int, i: int, number: int) -> Tensor:
    """A view of the ``i``-th example, which may be written to; zeros if there is none at all."""
    example: Tensor
    if batch.shape[dim]:
        example = batch.select(dim, i)
        if i and batch.stride(dim):  # where its elements lie is said as of the first example
            example._shift = batch._shift + i * batch.stride(dim)
    elif batch.is_floating_point() or batch.is_complex():
        example = batch.sum(dim)
    else:
        example = batch.new_zeros((*batch.shape[:dim], *batch.shape[dim + 1 :]))
    example._mapped = number
    return example


# -- what comes out ----------------------------------------------------------------------------


def _common(name: str, structures: list[Tree]) -> Tree:
    """The structure that all results have."""
    first = structures[0]
    for other in structures:
        if other != first:
            raise RuntimeError(
                f"vmap({name}, ...): `{name}` must return the same structure for every example, "
                f"got {first} and {other}"
            )
    return first


def _check_out_dims(name: str, out_dims: Any) -> None:
    for dim in flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                "python collection of ints representing where in the outputs the vmapped dimension "
                "should appear."
            )


def _out_dims(name: str, out_dims: Any, structure: Tree) -> list[Any]:
    """Where the mapped dimension goes in each leaf of the results."""
    if structure.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    found = spread(out_dims, structure)
    if found is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            f"the structure of `outputs`. out_dims has structure {flatten(out_dims)[1]} but "
            f"outputs has structure {structure}."
        )
    return found


def _together(name: str, column: tuple[Any, ...], dim: int | None, size: int) -> Any:
    """The results of all examples as one."""
    if dim is None:
        return _same(name, column)
    for value in column:
        if not isinstance(value, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. "
                "Did you mean to set out_dims= to None for output?"
            )
        if value.shape != column[0].shape:
            raise RuntimeError(
                "vmap: We do not support batching operators that can output dynamic shape: "
                f"`{name}` returned tensors of shape {list(column[0].shape)} and "
                f"{list(value.shape)} for different examples"
            )
    if size:
        return NAMESPACES[""]["stack"](list(column), dim)
    return NAMESPACES[""]["stack"](list(column), dim).narrow(dim, 0, 0)


def _same(name: str, column: tuple[Any, ...]) -> Any:
    """The result that all examples have in common."""
    first = column[0]
    for value in column[1:]:
        if value is not first and isinstance(value, Tensor) and not _equal(value, first):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
    return first


def _equal(a: Tensor, b: Any) -> bool:
    if not isinstance(b, Tensor) or a.shape != b.shape or a.dtype != b.dtype:
        return False
    same: Any = (a == b) | ((a != a) & (b != b))  # NaN equals NaN here
    return bool(same.all())
