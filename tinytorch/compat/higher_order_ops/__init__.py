"""PyTorch's functions of functions, ``torch.cond`` and related functions, run as Python runs them.

PyTorch has them so that a compiler sees both branches, or a loop as one step. Here they are the
``if`` and ``while`` that they look like; a condition that is read makes ``compile`` run eagerly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...facade.packages import publish
from ...func._trees import flatten, unflatten
from ...ops.shape.joining import stack

__all__ = [
    "associative_scan",
    "cond",
    "map",
    "scan",
    "while_loop",
]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Return the last carry of a loop, and the results of its steps stacked along ``dim``.

    Args:
        combine_fn: Function of the carry and a slice of ``xs`` that returns the next carry and a
            result.
        init: The first carry, a tensor or a tree of tensors.
        xs: A tensor, or a tree of tensors, of equal size along ``dim``.
        dim: The dimension of the slices. Default: 0.
        reverse: Whether to begin with the last slice. Default: False.

    Raises:
        RuntimeError: If there are no slices.

    Example:
        >>> from tinytorch._higher_order_ops import scan
        >>> x = tt.tensor([1.0, 2.0, 3.0])
        >>> scan(lambda total, x: (total + x, total * x), tt.tensor(0.0), x)
        (tensor(6.), tensor([0., 2., 9.]))
    """
    leaves, structure = flatten(xs)
    carried, steps = init, []
    for slices in slices_of(leaves, dim, reverse):
        carried, result = combine_fn(carried, unflatten(structure, slices))
        steps.append(flatten(result))
    columns = zip(*(found for found, _ in steps), strict=True)
    kept = [stack(list(column[::-1] if reverse else column), 0) for column in columns]
    return carried, unflatten(steps[0][1], [_move_dim(x, dim) for x in kept])


def _move_dim(x: Any, dim: int) -> Any:
    """Move the first dimension to ``dim``, if the tensor has that dimension."""
    return x.movedim(0, dim) if -x.ndim <= dim < x.ndim else x


def slices_of(leaves: list[Any], dim: int, reverse: bool) -> list[list[Any]]:
    """Return lists of the slices of all leaves along ``dim``; RuntimeError if there are none.

    Args:
        leaves: Tensors.
        dim: The dimension.
        reverse: Whether the last slices come first.
    """
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(f"Expected at least 1 xs leaf, and all of them tensors, got {leaves}")
    sizes = {leaf.shape[dim] for leaf in leaves}
    if len(sizes) != 1 or 0 in sizes:
        raise RuntimeError(
            f"All xs leaves must have the same scan dimension, of 1 at least, got {sorted(sizes)}"
        )
    every = [[leaf.select(dim, i) for leaf in leaves] for i in range(*sizes)]
    return every[::-1] if reverse else every


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:  # fmt: skip
    """Cumulative results of ``combine_fn`` over the slices of ``xs``.

    Args:
        combine_fn: Associative function of two slices that returns one.
        xs: A tensor, or a tree of tensors, of equal size along ``dim``.
        dim: The dimension.
        reverse: Whether to begin with the last slice. Default: False.
        combine_mode: ``"pointwise"`` or ``"generic"``, which makes no difference here.

    Raises:
        RuntimeError: If there are no slices.
        ValueError: If ``combine_mode`` is unknown.

    Example:
        >>> from tinytorch._higher_order_ops import associative_scan
        >>> associative_scan(lambda a, b: a * b, tt.tensor([1.0, 2.0, 3.0]), 0)
        tensor([1., 2., 6.])
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(
            f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}"
        )
    leaves, structure = flatten(xs)
    slices = slices_of(leaves, dim, reverse)
    results = [unflatten(structure, slices[0])]
    for each in slices[1:]:
        results.append(combine_fn(results[-1], unflatten(structure, each)))
    results = results[::-1] if reverse else results
    columns = zip(*(flatten(result)[0] for result in results), strict=True)
    return unflatten(structure, [stack(list(column), dim) for column in columns])


def cond(
    pred: bool | int | float | Tensor, true_fn: Callable[..., Any], false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:  # fmt: skip
    """Return the result of ``true_fn`` if ``pred`` holds, else that of ``false_fn``.

    Args:
        pred: A bool, or a tensor of one element.
        true_fn: Function of ``operands``.
        false_fn: Another function of ``operands``.
        operands: Tensors, or trees of tensors. Default: none.

    Raises:
        RuntimeError: If an argument is of another kind.

    Example:
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.cond(x.sum() > 4, lambda x: x.cos(), lambda x: -x, (x,))
        tensor([-1., -2.])

    Reference: https://docs.pytorch.org/docs/stable/cond.html
    """
    if not isinstance(pred, (bool, int, float)):
        _check(pred, true_fn, false_fn, operands)
    return true_fn(*operands) if pred else false_fn(*operands)


def _check(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:
    """Check the arguments of ``cond``."""
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    tensors = isinstance(operands, (tuple, list)) and all(
        isinstance(leaf, Tensor) for leaf in flatten(operands)[0]
    )
    if not tensors:
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists "
            f"of tensor leaves, but got {operands}."
        )


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """Stack the results of ``f`` for each slice of ``xs`` along its first dimension.

    Args:
        f: Function of a slice and ``args`` that returns tensors or a tree of tensors.
        xs: A tensor, or a tree of tensors, of equal size along the first dimension.
        *args: Further arguments of ``f``.

    Raises:
        RuntimeError: If there are no slices.

    Example:
        >>> from tinytorch import _higher_order_ops
        >>> _higher_order_ops.map(lambda x, y: x.sum() * y, tt.ones(2, 3), tt.tensor(2.0))
        tensor([6., 6.])
    """
    leaves, structure = flatten(xs)
    results = [flatten(f(unflatten(structure, each), *args))
               for each in slices_of(leaves, 0, False)]  # fmt: skip
    columns = zip(*(found for found, _ in results), strict=True)
    return unflatten(results[0][1], [stack(list(column), 0) for column in columns])


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any
) -> tuple[Any, ...]:
    """Apply ``body_fn`` to ``carried_inputs`` again and again while ``cond_fn`` holds.

    Args:
        cond_fn: Function of the carried values that returns a bool or a tensor of one element.
        body_fn: Function of the carried values that returns as many values, to be carried on.
        carried_inputs: A tuple of tensors and ints, or trees of them, for the first call.

    Returns:
        The carried values for which ``cond_fn`` does not hold, a tuple.

    Raises:
        RuntimeError: If an argument is of another kind.

    Example:
        >>> start = tt.tensor(0), tt.ones(2)
        >>> tt.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), start)
        (tensor(3), tensor([8., 8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not all(isinstance(leaf, (Tensor, int)) for leaf in flatten(carried_inputs)[0]):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only"
            f"consists of tensor or int leaves, but got {carried_inputs}."
        )
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        made = body_fn(*carried)
        carried = tuple(made) if isinstance(made, (tuple, list)) else (made,)
    return carried


cond.__module__ = while_loop.__module__ = "tinytorch"

# Each function is in a module of its name, too, which does not hide it: `packages._NAMED_ALIKE`.
publish(__name__, "associative_scan cond map scan while_loop")
