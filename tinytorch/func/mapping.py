"""``vmap``: apply a function of one example to each example of a batch."""

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
    VmapLevel, batch_over, batched_tensor, can_stack, fall_back, fall_back_if_failed, first_example,
    is_batched, levels_of, stack_elements, stack_examples, value_of,
)  # fmt: skip
from ._level import P, R
from ._mapped_functions import call_vmap_rule, has_vmap_rules, intercept_apply
from ._randomness import GeneratorStates, check_randomness, forbid_random, notify_draws
from ._trees import Tree, broadcast_prefix, flatten, unflatten


class _Inputs(NamedTuple):
    """Arguments of a call of ``vmap``.

    Attributes:
        leaves: The leaves of the arguments.
        dims: The dimension of the examples in each leaf; None for a leaf that all examples share.
        structure: Structure of the arguments.
        size: Number of examples.
    """

    leaves: list[Any]
    dims: list[int | None]
    structure: Tree
    size: int


def vmap(
    func: Callable[P, R], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[P, R]:  # fmt: skip
    """Return a function that maps ``func`` over a dimension of its arguments and stacks results.

    ``func`` is called once for each example, with views of the arguments. It is no faster than a
    loop, but supports every operation, control flow that depends on data, and ``item``, for which
    PyTorch raises. If the examples have no dimensions, one call is made for all of them as long as
    ``func`` only uses arithmetic, comparisons and indexing; after any other operation that call
    continues with the first example alone, and the other examples follow. Reverse and forward mode
    can differentiate through it. In-place writes to an example change the argument. A write to a
    tensor that is not an example and was not created by ``func`` is an error.

    Args:
        func: Takes examples, returns tensors or a tree of them.
        in_dims: The dimension of the arguments to map over: an int for all tensors, or a tuple with
            an int, a tree of ints or None (all examples get the whole argument) for each argument;
            default 0.
        out_dims: The dimension of the examples in the results: an int for all, or a tree by result.
            None is for results, of any type, that are the same for every example; default 0.
        randomness: With ``"error"`` (the default) random functions inside ``func`` raise, with
            ``"same"`` every example gets the same random numbers, and with ``"different"`` those of
            a loop.
        chunk_size: Accepted; the result is the same.

    Returns:
        A function of the same arguments with an additional dimension. Keyword arguments are passed
        unchanged.

    Raises:
        ValueError: For dimensions that the arguments, or the results, do not have; for different
            sizes; for results that are not tensors, or that differ while ``out_dims`` is None.
        RuntimeError: For an unknown ``randomness``, random functions under ``"error"``, results of
            different shapes, and writes to tensors from outside.

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
        name = _function_name(func)
        _check_out_dims(name, out_dims)
        inputs = _inputs(name, in_dims, args)
        with transforming():
            result: R = _run_mapped(_Call(name, func, inputs, kwargs, out_dims, randomness))
        return result

    return short(wrapper)


def map_elements(
    func: Callable[..., Any], sizes: tuple[int, ...], values: tuple[Tensor, ...], device: Any
) -> Any:
    """Return ``func`` of each element of ``values``, of shape ``sizes``, and of its indices.

    As for ``vmap``, one call is made for all elements if that is possible.

    Args:
        func: A function of tensors without dimensions: an element of each of ``values``, then its
            index along each dimension.
        sizes: The shape of ``values``, and of the result.
        values: Tensors of that shape; there may be none.
        device: The device of the indices.

    Returns:
        The results; possibly a view whose elements share memory.
    """
    indices = [NAMESPACES[""]["arange"](size, device=device) for size in sizes]
    levels = tuple(map(VmapLevel, sizes))
    with (
        transforming(),
        forbid_random("error", values),
        mark_mapped() as number,
        intercept_apply(call_vmap_rule),
    ):
        views: list[Any] = [value[...] for value in values]
        for view in views:
            view._mapped = number  # so that ``func`` may write to its elements
        if 0 in sizes:
            results = [func(*(x.new_zeros(()) for x in (*views, *indices)))]
        else:
            given = [batch_over(i, 0, level) for i, level in zip(indices, levels, strict=True)]
            result = func(*(batched_tensor(view, levels) for view in views), *given)
            if isinstance(result, Tensor) and not any(level.failed for level in levels):
                return stack_elements(result, levels)
            results = [fall_back(result)]
        for at in itertools.islice(itertools.product(*map(range, sizes)), 1, None):
            given = [index[i] for index, i in zip(indices, at, strict=True)]
            results.append(func(*(view[at] for view in views), *given))
    stacked = _stack_column(_function_name(func), tuple(results), 0, math.prod(sizes))
    return stacked.reshape(*sizes, *stacked.shape[1:])


def _function_name(func: Any) -> str:
    """Name of a function in errors."""
    if isinstance(func, functools.partial):
        return f"functools.partial({_function_name(func.func)}, ...)"
    return str(getattr(func, "__name__", repr(func)))


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> _Inputs:
    """Check and flatten the arguments of a mapped function and their ``in_dims``.

    ``name`` is that of the function, for errors.
    """
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
    dims = broadcast_prefix(in_dims, structure)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    found = [_check_in_dim(call, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    return _Inputs(leaves, found, structure, _size(leaves, found))


def _check_in_dim(call: str, leaf: Any, dim: Any) -> int | None:
    """Check the dimension of a leaf to map over; return it as a number that is not negative."""
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
    """Number of examples; all leaves must have the same."""
    sizes = [leaf.shape[d] for leaf, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len({*sizes}) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


class _Call(NamedTuple):
    """Function, arguments and options of a call of ``vmap``."""

    name: str
    func: Callable[..., Any]
    inputs: _Inputs
    kwargs: dict[str, Any]
    out_dims: Any
    randomness: str


def _run_mapped(call: _Call) -> Any:
    """Call the function for all examples and return the stacked results."""
    call = call._replace(
        inputs=call.inputs._replace(leaves=[*map(fall_back_if_failed, call.inputs.leaves)])
    )
    inputs, randomness = call.inputs, call.randomness
    values = [*map(value_of, inputs.leaves)]
    level = VmapLevel(inputs.size, randomness)
    states = GeneratorStates(randomness, values)
    results: list[tuple[list[Any], Tree]] = []
    with forbid_random(randomness, values), states.save_new(), mark_mapped() as number:
        shares = _can_share_run(call)
        if shares or inputs.size and has_vmap_rules():
            results.append(_first_run(call, level, number, shares))
        else:
            level.failed = True
        if level.failed:
            for i in range(len(results), inputs.size or 1):
                if i:
                    states.restart()
                given = [
                    leaf if dim is None else _example(leaf, dim, i, number)
                    for leaf, dim in zip(inputs.leaves, inputs.dims, strict=True)
                ]
                results.append(_call_function(call, given))
    return (
        _stack_results(call, results) if level.failed else _stack_batched(call, results[0], level)
    )


def _call_function(call: _Call, given: list[Any]) -> tuple[list[Any], Tree]:
    """Call the function with flat arguments; return the leaves and the structure of its result."""
    return flatten(call.func(*unflatten(call.inputs.structure, given), **call.kwargs))


def _first_run(call: _Call, level: VmapLevel, number: int, shares: bool) -> tuple[list[Any], Tree]:
    """Call the function with batched tensors; if ``level`` fails, the result is that of example 0.

    The examples are marked with ``number``. Unless ``shares``, the result is one for all examples
    only if the ``vmap`` of a ``Function`` was called.
    """

    def fail() -> None:
        level.failed = True

    inputs = call.inputs
    given = [
        leaf if dim is None else _all_examples(leaf, dim, level, number)
        for leaf, dim in zip(inputs.leaves, inputs.dims, strict=True)
    ]
    values = [*map(value_of, inputs.leaves)]
    # With "error" a draw raises anyway.
    notifying = nullcontext() if call.randomness == "error" else notify_draws(values, fail)
    with intercept_apply(call_vmap_rule), notifying:
        leaves, structure = _call_function(call, given)
    dims = _flat_out_dims(call.name, call.out_dims, structure)
    if not (shares or level.has_rule) or not all(
        can_stack(leaf, level, dim) for leaf, dim in zip(leaves, dims, strict=True)
    ):
        level.failed = True
    if level.failed:
        leaves = [fall_back(leaf) if level in levels_of(leaf) else leaf for leaf in leaves]
    return leaves, structure


def _stack_batched(call: _Call, result: tuple[list[Any], Tree], level: VmapLevel) -> Any:
    """Return the results of all examples from the result of one call with batched tensors."""
    leaves, structure = result
    dims = _flat_out_dims(call.name, call.out_dims, structure)
    stacked = [stack_examples(leaf, level, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    return unflatten(structure, stacked)


def _stack_results(call: _Call, results: list[tuple[list[Any], Tree]]) -> Any:
    """Return the results of all examples from a result of each."""
    structure = _common_structure(call.name, [structure for _, structure in results])
    dims = _flat_out_dims(call.name, call.out_dims, structure)
    columns = zip(*[leaves for leaves, _ in results], strict=True)
    stacked = [
        _stack_column(call.name, column, dim, call.inputs.size)
        for column, dim in zip(columns, dims, strict=True)
    ]
    return unflatten(structure, stacked)


def _can_share_run(call: _Call) -> bool:
    """Whether to try one call for all examples.

    It is tried if an argument is a batched tensor already, and if the examples have no dimensions:
    most operations on these can be computed for all examples at once.
    """
    leaves, dims, _, size = call.inputs
    batches = [leaf for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    return size > 0 and (
        any(map(is_batched, leaves))
        or (call.randomness == "error" and size > 1 and not torch_function.has_mode()
            and all(t.ndim == 1 and torch_function.is_excluded(type(t)) for t in batches))
    )  # fmt: skip


def _all_examples(batch: Any, dim: int, level: VmapLevel, number: int) -> Any:
    """Return a batched tensor of all examples; the function may write to the first and to views."""
    batched = batch_over(batch, dim, level, _example(first_example(batch), dim, 0, number))
    value_of(batched)._mapped = number
    return batched


def _example(batch: Any, dim: int, i: int, number: int) -> Tensor:
    """Return a view of example ``i``, marked as writable; zeros if the batch is empty."""
    example: Tensor
    if batch.shape[dim]:
        example = batch.select(dim, i)
        if i and batch.stride(dim):  # ``storage_offset()`` is relative to the first
            example._shift = batch._shift + i * batch.stride(dim)
    elif batch.is_floating_point() or batch.is_complex():
        example = batch.sum(dim)
    else:
        example = batch.new_zeros((*batch.shape[:dim], *batch.shape[dim + 1 :]))
    example._mapped = number
    return example


def _common_structure(name: str, structures: list[Tree]) -> Tree:
    """Return the structure of all results, which must be the same."""
    first = structures[0]
    for other in structures:
        if other != first:
            raise RuntimeError(
                f"vmap({name}, ...): `{name}` must return the same structure for every example, "
                f"got {first} and {other}"
            )
    return first


def _check_out_dims(name: str, out_dims: Any) -> None:
    """Raise a ValueError if a leaf of ``out_dims`` is neither an int nor None."""
    for dim in flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                "python collection of ints representing where in the outputs the vmapped dimension "
                "should appear."
            )


def _flat_out_dims(name: str, out_dims: Any, structure: Tree) -> list[Any]:
    """Return the dimension of the examples in each leaf of the results."""
    if structure.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    found = broadcast_prefix(out_dims, structure)
    if found is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            f"the structure of `outputs`. out_dims has structure {flatten(out_dims)[1]} but "
            f"outputs has structure {structure}."
        )
    return found


def _stack_column(name: str, column: tuple[Any, ...], dim: int | None, size: int) -> Any:
    """Stack the results of all examples along ``dim``; for None return the result they share."""
    if dim is None:
        return _common_result(name, column)
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


def _common_result(name: str, column: tuple[Any, ...]) -> Any:
    """Return the first result; a ValueError if another tensor differs from it."""
    first = column[0]
    for value in column[1:]:
        if value is not first and isinstance(value, Tensor) and not _equal(value, first):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
    return first


def _equal(a: Tensor, b: Any) -> bool:
    """Whether two tensors have the same shape, dtype and values; NaN equals NaN."""
    if not isinstance(b, Tensor) or a.shape != b.shape or a.dtype != b.dtype:
        return False
    same: Any = (a == b) | ((a != a) & (b != b))
    return bool(same.all())
