"""Slices and windows of a tensor along a dimension, and writing to them."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import OPS, Array, Backend, Out, Reduced, composite, op
from ..checks import as_int
from ..shape.diagonal import diagonal
from ..shape.sizes import normalize_dim
from ..shape.views import own_copy
from .positions import int64_range, slice_positions


def _index_at_dim(at: int, item: Any) -> tuple[Any, ...]:
    """Index with ``item`` at dimension ``at``, and all elements of the dimensions before."""
    return (slice(None),) * at + (item,)


# -- one index ------------------------------------------------------------------------------------


@op(view=True)
def _select(xp: Backend, input: Array, dim: int, index: int) -> Array:
    """``input[index]`` along ``dim``, as a view."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = normalize_dim("select", dim, input.ndim)
    size = input.shape[at]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    # With an ellipsis a 0-d result is a view.
    return input[(*_index_at_dim(at, index), ...)]


_select.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(
        _write_slice, g, in_shape, dim, index, index + 1 or None, 1
    )
)


@composite(method=True)
def select(input: Any, dim: Any, index: Any = None, *, default: Any = None) -> Tensor:
    """The slice of ``input`` at one index along a dimension.

    With a list of conditions in place of ``input`` it is NumPy's ``select(conditions, choices,
    default=0)``.

    Args:
        input: Tensor of at least one dimension.
        dim: The dimension.
        index: The index; a negative one counts from the end.
        default: For NumPy's ``select``: the value where no condition is True; default 0.

    Returns:
        A view without the dimension.

    Raises:
        IndexError: If there is no such dimension or index.

    Example:
        >>> tt.select(tt.tensor([[1, 2], [3, 4]]), 0, 1)
        tensor([3, 4])
    """
    if isinstance(input, (list, tuple)):
        rest = default if index is None else index
        return _choose(input, dim, 0 if rest is None else rest)
    return _select(input, dim, as_int("select", "index", index))


def _choose(conditions: Any, choices: Any, default: Any) -> Tensor:
    """NumPy's ``select``: for each element the first choice whose condition is True."""
    where = OPS["where"].function
    out = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        out = where(condition, choice, out)
    return out  # type: ignore[no-any-return]


# -- a range ---------------------------------------------------------------------------------------


@op(view=True, public=False)
def slice_(
    xp: Backend, input: Array, dim: int, start: int | None, stop: int | None, step: int
) -> Array:
    """``input[start:stop:step]`` along ``dim``."""
    return input[_index_at_dim(dim % input.ndim, slice(start, stop, step))]


slice_.vjp(
    input=lambda xp, g, in_shape, dim, start, stop, step: xp.call(
        _write_slice, g, in_shape, dim, start, stop, step
    )
)


@op
def _write_slice(
    xp: Backend, input: Array, shape: Any, dim: int, start: Any, stop: Any, step: int
) -> Array:
    """Write ``input`` to a range along ``dim`` of zeros of ``shape``."""
    out = xp.zeros(tuple(shape), input.dtype)
    target = xp.call(slice_, out, dim, start, stop, step)
    target[...] = input.reshape(target.shape)
    return out


_write_slice.vjp(
    input=lambda xp, g, in_shape, dim, start, stop, step: xp.call(
        slice_, g, dim, start, stop, step
    ).reshape(in_shape)
)


@composite(method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The slices ``start`` to ``start + length`` of ``input`` along ``dim``.

    Args:
        input: Tensor of at least one dimension.
        dim: The dimension.
        start: The first index, an int or a 0-d int tensor; a negative one counts from the end.
        length: The number of slices.

    Returns:
        A view.

    Raises:
        RuntimeError: If the range exceeds the size, or ``input`` is 0-d.
        IndexError: If there is no such dimension or first index.

    Example:
        >>> tt.narrow(tt.arange(5), 0, 1, 3)
        tensor([1, 2, 3])
    """
    return _narrow(input, dim, start, length)


def _narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """``narrow`` without checks of overrides."""
    shape = input._data.shape
    ndim = len(shape)
    if not ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    length = as_int("narrow", "length", length)
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}.")
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.kind not in "ui":
            raise RuntimeError(
                "narrow: start must be an 0-dim integral Tensor. Got a tensor of shape "
                f"{list(start.shape)} and dtype {start.dtype.name}"
            )
    start = as_int("narrow", "start", start)
    at = normalize_dim("narrow", dim, ndim)
    size = shape[at]
    if not -size <= start <= size:
        raise IndexError(
            f"narrow: start out of range (expected to be in range of [{-size}, {size}], but got "
            f"{start})"
        )
    first = start + size if start < 0 else start
    if first + length > size:
        raise RuntimeError(
            f"narrow: start ({first}) + length ({length}) exceeds dimension size ({size})."
        )
    return slice_(input, at, first, first + length, 1)


@composite(method=True, node="NarrowCopyBackward0", out=Out.EXACT, like=narrow)
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Copy of ``narrow(...)``.

    Example:
        >>> tt.narrow_copy(tt.arange(5), 0, 1, 3)
        tensor([1, 2, 3])
    """
    return own_copy(_narrow(input, dim, start, length))


# -- windows ---------------------------------------------------------------------------------------


@op(method=True, view=True)
def unfold(xp: Backend, input: Array, dimension: int, size: int, step: int) -> Array:
    """Sliding windows along a dimension, each in a new last dimension.

    Args:
        input: Tensor of any shape.
        dimension: The dimension along which windows slide.
        size: Number of elements in a window.
        step: Distance from one window to the next.

    Returns:
        A view; windows may overlap in memory.

    Raises:
        RuntimeError: If a window does not fit, or ``step`` is not positive.

    Example:
        >>> tt.arange(5).unfold(0, 3, 2)
        tensor([[0, 1, 2],
                [2, 3, 4]])
    """
    at = normalize_dim("unfold", dimension, input.ndim)
    have = input.shape[at] if input.ndim else 1
    size, step = as_int("unfold", "size", size), as_int("unfold", "step", step)
    if size < 0:
        raise RuntimeError(f"unfold: size is {size} but must be >= 0")
    if size > have:
        raise RuntimeError(
            f"unfold: maximum size for tensor at dimension {at} is {have} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"unfold: step is {step} but must be > 0")
    if not input.ndim:
        return input.reshape(1)[:size]
    shape, strides = list(input.shape), list(input.strides)
    shape[at] = (have - size) // step + 1
    shape.append(size)
    strides.append(strides[at])
    strides[at] *= step
    return xp.as_strided(input, shape, strides)


unfold.vjp(
    input=lambda xp, g, in_shape, dimension, size, step: xp.call(
        _unfold_sum, g, in_shape, dimension, size, step
    )
)


@op
def _unfold_sum(
    xp: Backend, input: Array, shape: Any, dimension: int, size: int, step: int
) -> Array:
    """Sum of the elements of all windows at each position."""
    shape = tuple(shape)
    out = xp.zeros(shape, input.dtype)
    if not shape:
        return input.reshape(-1).sum() if size else out
    at = dimension % len(shape)
    rows = xp.moveaxis(input, -1, at + 1)  # windows and their elements, in place of the dimension
    places = int64_range(xp, rows.shape[at], step).reshape(-1, 1) + int64_range(xp, size)
    places = slice_positions(xp, places.reshape(-1), at, shape)
    xp.index_add(out.reshape(-1), places, rows.reshape(-1))
    return out


_unfold_sum.vjp(
    input=lambda xp, g, dimension, size, step: xp.call(unfold, g, dimension, size, step)
)


# -- writing to a part -------------------------------------------------------------------------


def write_to_view(name: str, input: Tensor, src: Tensor, view: Any, *arguments: Any) -> Tensor:
    """Copy of ``input`` with ``src`` written to the view ``view(input, *arguments)``."""
    wanted = view(input.detach(), *arguments).shape
    if tuple(src.shape) != tuple(wanted):
        raise RuntimeError(
            f"{name}: expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(wanted)}"
        )
    step = (view, arguments)
    return OPS["_view_scatter"].function(input, src, (step,))  # type: ignore[no-any-return]


@composite(method=True, node="SelectScatterBackward0", reduced=Reduced.FIRST, like=select)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Copy of ``input`` with ``src`` written at one index along a dimension.

    Args:
        src: Tensor of ``input``'s shape without ``dim``.

    Returns:
        A copy.

    Raises:
        RuntimeError: If ``src`` has another shape.
        IndexError: If there is no such dimension or index.

    Example:
        >>> tt.select_scatter(tt.zeros(2, 2), tt.ones(2), 0, 1)
        tensor([[0., 0.],
                [1., 1.]])
    """
    index = as_int("select_scatter", "index", index)
    return write_to_view("select_scatter", input, src, _select, dim, index)


@composite(method=True, node="SliceScatterBackward0", out=Out.EXACT, reduced=Reduced.FIRST)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None,
    step: int = 1,
) -> Tensor:  # fmt: skip
    """Copy of ``input`` with ``src`` written to a range along a dimension.

    Args:
        input: Tensor of at least one dimension.
        src: Tensor of the range's shape.
        dim: The dimension; default the first.
        start: First index of the range; default 0.
        end: Index after the last; default the size.
        step: Distance between indices; default 1.

    Returns:
        A copy.

    Raises:
        RuntimeError: If ``src`` has another shape, or ``step`` is not positive.

    Example:
        >>> tt.slice_scatter(tt.zeros(4), tt.ones(2), end=2)
        tensor([1., 1., 0., 0.])
    """
    if step <= 0:
        raise RuntimeError(f"slice_scatter: slice step must be positive, got {step}")
    if not input.ndim:
        raise IndexError("slice_scatter: slice() cannot be applied to a 0-dim tensor.")
    at = normalize_dim("slice_scatter", dim, input.ndim)
    return write_to_view("slice_scatter", input, src, slice_, at, start, end, step)


@composite(method=True, node="DiagonalScatterBackward0", reduced=Reduced.FIRST)
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Copy of ``input`` with ``src`` written to the diagonals of matrices in two dimensions.

    Args:
        input: Tensor of at least two dimensions.
        src: Tensor of the shape of ``diagonal(input, offset, dim1, dim2)``.
        offset: The diagonal; default the main one.
        dim1: The dimension of the rows; default 0.
        dim2: The dimension of the columns; default 1.

    Returns:
        A copy.

    Raises:
        RuntimeError: If ``src`` has another shape.

    Example:
        >>> tt.diagonal_scatter(tt.zeros(2, 2), tt.ones(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    return write_to_view("diagonal_scatter", input, src, diagonal, offset, dim1, dim2)
