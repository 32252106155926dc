"""Unique elements and slices."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ..index.positions import int64_range, to_int64
from ..shape.sizes import normalize_dim


def _rows(xp: Backend, input: Array, dim: int | None) -> Array:
    """Compared items as rows: the elements, or the slices along ``dim``."""
    if dim is None:
        return input.reshape(-1, 1)
    moved = xp.moveaxis(input, dim, 0)
    return moved.reshape(moved.shape[0], math.prod(moved.shape[1:]))


def _order(xp: Backend, rows: Array) -> Array:
    """Indices that sort the rows lexicographically and stably."""
    if rows.shape[1] == 1:
        return (
            xp.order(rows.reshape(-1), 0)
            if rows.dtype.kind != "c"
            else xp.argsort(rows[:, 0], kind="stable")
        )
    if not rows.shape[1]:
        return xp.arange(rows.shape[0])
    return xp.lexsort(xp.ascontiguousarray(rows.T[::-1]))


def _starts(xp: Backend, rows: Array, equal_nan: bool) -> Array:
    """Whether each row differs from the row before it."""
    differs = rows[1:] != rows[:-1]
    if equal_nan:
        differs &= ~((rows[1:] != rows[1:]) & (rows[:-1] != rows[:-1]))
    first = xp.ones(min(1, rows.shape[0]), differs.dtype)
    differs = differs.reshape(-1) if rows.shape[1] == 1 else xp.any(differs, axis=1)
    return xp.concatenate((first, differs))


def _no_derivative(xp: Any, g: Any, consecutive: Any, dim: Any) -> Any:
    """Raise NotImplementedError, as PyTorch does in a backward pass."""
    name = "unique_consecutive" if consecutive else "_unique2" if dim is None else "unique_dim"
    raise NotImplementedError(f"the derivative for {name!r} is not implemented.")


def _no_derivative_of_elements(xp: Any, g: Any, consecutive: Any) -> Any:
    return _no_derivative(xp, g, consecutive, None)


_no_derivative.missing = _no_derivative_of_elements.missing = True  # type: ignore[attr-defined]


def _unique_name(node: Node) -> str:
    """PyTorch's name of the node of the variants of ``unique``."""
    if argument(node, "consecutive"):
        return "UniqueConsecutiveBackward0"
    along = "dim" in node.op.index and argument(node, "dim") is not None
    return "UniqueDimBackward0" if along else "Unique2Backward0"


@op(node=_unique_name)
def _distinct(
    xp: Backend, input: Array, dim: int | None, consecutive: bool, equal_nan: bool
) -> tuple[Array, Array, Array, Array]:
    """Unique values, their first indices, the inverse indices, and the counts."""
    rows = _rows(xp, input, dim)
    size = rows.shape[0]
    order = int64_range(xp, size) if consecutive else to_int64(xp, _order(xp, rows))
    starts = _starts(xp, rows if consecutive else rows[order], equal_nan)
    inverse = xp.cumsum(starts, dtype=order.dtype) - 1
    if not consecutive:
        group, inverse = inverse, xp.empty_like(order)
        inverse[order] = group
    bounds = xp.nonzero(starts)[0]
    first = bounds if consecutive else order[bounds]
    if dim is None:
        values, inverse = input.reshape(-1)[first], inverse.reshape(input.shape)
    else:
        values = xp.take(input, first, axis=dim)
    return values, to_int64(xp, first), inverse, _lengths(xp, bounds, size)


_distinct.vjp(input=_no_derivative)


def _lengths(xp: Backend, bounds: Array, size: int) -> Array:
    """Distances from each bound to the next, and from the last one to the end."""
    return to_int64(xp, xp.diff(bounds, append=xp.full(1, size, bounds.dtype)))


@op(node=_unique_name)
def _distinct_elements(
    xp: Backend, input: Array, consecutive: bool, counts: bool
) -> tuple[Array, Array]:
    """Unique elements, and the counts if requested; faster than ``_distinct``."""
    flat = input.reshape(-1)
    ordered = flat if consecutive else xp.sort(flat)
    starts = _starts(xp, ordered.reshape(-1, 1), False)
    bounds = xp.nonzero(starts)[0] if counts else int64_range(xp, 0)
    return xp.compress(starts, ordered, axis=0), _lengths(xp, bounds, flat.size)


_distinct_elements.vjp(input=_no_derivative_of_elements)


def _find_unique(
    input: Tensor, dim: int | None, consecutive: bool, inverse: bool, counts: bool
) -> Tensor | tuple[Tensor, ...]:
    """Compute the results of torch's ``unique`` and ``unique_consecutive``."""
    source = input
    if dim is None and not inverse:
        values, lengths = _distinct_elements(source, consecutive, counts)
        return _select_results(values, [(counts, lengths)])
    if not source.ndim and dim is not None:
        source = source.reshape(1)
    values, _, places, lengths = _distinct(source, dim, consecutive, False)
    return _select_results(values, [(inverse, places), (counts, lengths)])


def _select_results(
    values: Tensor, chosen: list[tuple[bool, Tensor]]
) -> Tensor | tuple[Tensor, ...]:
    """The values, in a tuple with the requested additional results if there are any."""
    extra = tuple(tensor for wanted, tensor in chosen if wanted)
    return (values, *extra) if extra else values


def _check_dim(name: str, input: Tensor, dim: int | None) -> int | None:
    """The nonnegative dimension, or None; raise for tensors without elements as PyTorch does."""
    if dim is None:
        return None
    if not input.ndim:
        raise IndexError(f"{name}: Dimension specified as {dim} but tensor has no dimensions")
    at = normalize_dim(name, dim, input.ndim)
    if not input.numel() and input.ndim and input.shape[at]:
        raise RuntimeError(
            f"{name}: There are 0 sized dimensions, and they aren't selected, so unique cannot be "
            "applied"
        )
    if input.shape.count(0) > 1:
        raise RuntimeError(
            f"{name}: Number of zero sized dimensions is more than one, so unique cannot be applied"
        )
    return at


_FORMS = (
    "(..., return_inverse: Literal[False] = False, return_counts: Literal[False] = False) "
    "-> Tensor",
    "(..., return_inverse: Literal[True], return_counts: Literal[False] = False) "
    "-> tuple[Tensor, Tensor]",
    "(..., return_inverse: Literal[False] = False, return_counts: Literal[True]) "
    "-> tuple[Tensor, Tensor]",
    "(..., return_inverse: Literal[True], return_counts: Literal[True]) "
    "-> tuple[Tensor, Tensor, Tensor]",
)


@composite(method=True, forms=_FORMS)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The unique elements of ``input``, in ascending order.

    With ``axis=``, ``return_index=`` or ``equal_nan=`` it is NumPy's ``unique``.

    Args:
        input: Tensor of any shape; NaNs are distinct from each other.
        sorted: Accepted; the result is always sorted.
        return_inverse: Whether to return the index in the result of each element, too.
        return_counts: Whether to return the count of each unique element, too.
        dim: Compare the slices along this dimension instead of elements.

    Returns:
        The values, or a tuple of the values, the inverse and the counts, both int64.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> tt.unique(tt.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    at = _check_dim("unique", input, dim)
    return _find_unique(input, at, False, return_inverse, return_counts)


@unique.numpy
def _numpy_unique(
    input: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True, **options: Any,
) -> Tensor | tuple[Tensor, ...]:  # fmt: skip
    axis = options.get("dim", axis)
    at = _check_dim("unique", input, axis)
    values, first, inverse, counts = _distinct(input.detach(), at, False, equal_nan and at is None)
    chosen = [(return_index, first), (return_inverse, inverse), (return_counts, counts)]
    return _select_results(values, chosen)


@composite(method=True, forms=_FORMS)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements of ``input`` without consecutive duplicates.

    Args:
        input: Tensor of any shape, flattened.
        return_inverse: Whether to return the index in the result of each element, too.
        return_counts: Whether to return the length of each run, too.
        dim: Compare the slices along this dimension instead of elements.

    Returns:
        The values, or a tuple of the values, the inverse and the counts, both int64.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> tt.unique_consecutive(tt.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    at = _check_dim("unique_consecutive", input, dim)
    return _find_unique(input, at, True, return_inverse, return_counts)
