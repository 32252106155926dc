"""Reading of elements by index tensors, and reading and writing by masks."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import (
    Array,
    Backend,
    Index,
    Mask,
    Operand,
    Out,
    Overlap,
    Reduced,
    composite,
    op,
    piecewise,
    reads_results,
)
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write
from ...graph.nodes import Node
from ...graph.special_nodes import input_requires_grad
from ..checks import OUT_OF_RANGE, as_int
from ..create.factories import as_tensor
from ..memory_order import as_row_major, memory_order, restore_order
from ..shape.sizes import expand, flatten, normalize_dim
from ..shape.strides import common_shape
from .assignment import set_writable
from .filling import allow_expanded_write
from .positions import add_slices, gather_positions, is_int64, row_major, to_int64


@op(method=True, out=Out.EXACT)
def index_select(xp: Backend, input: Array, dim: int, index: Index) -> Array:
    """Select the slices of ``input`` along ``dim`` at the indices ``index``.

    Args:
        input: Tensor of any shape.
        dim: The dimension that is indexed.
        index: int32 or int64 tensor of at most one dimension.

    Returns:
        Tensor of ``input``'s shape, but of ``index``'s size at ``dim``.

    Raises:
        IndexError: If an index is out of range, or ``index`` has more dimensions.
        RuntimeError: If ``index`` has another dtype, or if an index is out of range for a matrix
            without elements.

    Example:
        >>> tt.index_select(tt.tensor([10, 20, 30]), 0, tt.tensor([2, 0]))
        tensor([30, 10])
    """
    at = normalize_dim("index_select", dim, input.ndim)
    if input.ndim > 1 and index.size and not input.shape[at]:
        raise RuntimeError(
            "index_select(): self indexing axis dim should be positive, got a tensor of shape "
            f"{list(input.shape)} for dimension {dim}"
        )
    error = RuntimeError if input.ndim > 1 and not input.size else IndexError
    at, index = check_slices(xp, "index_select", input, dim, index, error)
    if not input.ndim:
        if index.size != 1:
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
            )
        return xp.take(input.reshape(1), index, 0).reshape(())
    return xp.take(input, index, axis=at)


def check_slices(
    xp: Backend, name: str, input: Array, dim: int, index: Array,
    error: type[Exception] = IndexError, in_range: bool = True,
) -> tuple[int, Array]:  # fmt: skip
    """Check dimension and index; return the nonnegative dimension and the index as a vector.

    Unless ``in_range``, any indices are accepted.
    """
    at = normalize_dim(name, dim, input.ndim)
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index, got {index.dtype.name}"
        )
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, got shape {list(index.shape)}"
        )
    if in_range:
        size = input.shape[at] if input.ndim else 1
        xp.check_indices(name, index, size, at, False, OUT_OF_RANGE, error)
    return at, index.reshape(-1)


index_select.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(_index_sum, g, in_shape, dim, index)
)


@op
def _index_sum(xp: Backend, input: Array, shape: Any, dim: int, index: Index) -> Array:
    """Add the slices of ``input`` to zeros of ``shape`` at the indices ``index``."""
    out = xp.zeros(tuple(shape), input.dtype)
    add_slices(xp, out, dim % max(len(shape), 1), index, input)
    return out


_index_sum.vjp(input=lambda xp, g, dim, index: xp.call(index_select, g, dim, index))


@op(method=True, out=Out.EXACT)
def gather(
    xp: Backend, input: Array, dim: int, index: Index, *, sparse_grad: bool = False
) -> Array:
    """``out[i][j][k] = input[index[i][j][k]][j][k]`` for ``dim=0``, and so on.

    Args:
        input: Tensor of any shape.
        dim: The dimension that is indexed.
        index: int32 or int64 tensor with the same number of dimensions. Except in ``dim``, it is
            not larger than ``input``.
        sparse_grad: Accepted for compatibility; gradients are dense.

    Returns:
        A tensor of ``index``'s shape.

    Raises:
        RuntimeError: If the shapes do not fit, or an index is out of range.

    Example:
        >>> tt.gather(tt.tensor([[1, 2], [3, 4]]), 1, tt.tensor([[1], [0]]))
        tensor([[2],
                [3]])
    """
    at = check_along(xp, "gather", input, dim, index)
    if not index.size:
        return xp.empty(index.shape, input.dtype)
    return take_lanes(xp, input, at, index)


def take_lanes(xp: Backend, input: Array, at: int, index: Array) -> Array:
    """``gather`` along the nonnegative dimension ``at`` for valid indices."""
    places = gather_positions(xp, index, at, input.shape)
    return xp.take_valid(input.reshape(-1), places).reshape(index.shape)


def check_along(xp: Backend, name: str, input: Array, dim: int, index: Array) -> int:
    """Check that ``index`` fits ``input``; return the nonnegative dimension."""
    at = normalize_dim(name, dim, input.ndim)
    if not index.size:
        return at
    if index.dtype.kind != "i" or index.dtype.itemsize < 4:
        found = index.dtype.name
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {found}")
    if index.ndim != input.ndim and max(index.ndim, 1) != max(input.ndim, 1):
        other = "input" if name == "gather" else "self"
        raise RuntimeError(
            f"{name}(): Index tensor must have the same number of dimensions as {other} tensor, "
            f"got index of shape {list(index.shape)} and {other} of shape {list(input.shape)}"
        )
    if index.shape != input.shape:
        _check_sizes(name, input, at, index)
    size = input.shape[at] if input.ndim else 1
    try:
        xp.check_indices(name, index, size, at, negative=False)
    except IndexError as error:  # torch raises RuntimeError for gather and scatter
        raise RuntimeError(*error.args) from None
    return at


def _check_sizes(name: str, input: Array, at: int, index: Array) -> None:
    """Raise RuntimeError if ``index`` is larger than ``input`` in another dimension than ``at``."""
    for d, (n, m) in enumerate(zip(index.shape, input.shape, strict=False)):
        if d != at and n > m:
            raise RuntimeError(
                f"{name}(): Size does not match at dimension {d} expected index "
                f"{list(index.shape)} to be no larger than self {list(input.shape)} apart from "
                f"dimension {at}"
            )


gather.vjp(input=lambda xp, g, input, dim, index: xp.call(gather_sum, g, input.shape, dim, index))


@op(public=False)
def gather_computed(xp: Backend, input: Array, dim: int, index: Index) -> Array:
    """``gather`` at indices that an operation computed; as in torch, ``input`` is not saved.

    The result has the memory order of ``index``.
    """
    return take_in_order(xp, input, dim, index)


def take_in_order(xp: Backend, input: Array, dim: int, index: Array) -> Array:
    """``gather`` at valid indices; the result has the memory order of ``index``."""
    at = dim % max(index.ndim, 1)
    if index.flags.c_contiguous:
        return take_lanes(xp, input, at, index)
    order = memory_order(index)
    places = index.transpose(order)
    found = take_lanes(xp, input.transpose(order), order.index(at), places)
    return restore_order(xp, found, order)


gather_computed.vjp(
    input=lambda xp, g, in_shape, dim, index: xp.call(gather_sum, g, in_shape, dim, index)
)


@op(public=False)
def gather_sum(xp: Backend, input: Array, shape: Any, dim: int, index: Index) -> Array:
    """Add ``input`` to zeros of ``shape`` at the positions that ``gather`` would read."""
    out = xp.zeros(tuple(shape), input.dtype)
    if index.size:
        places = gather_positions(xp, index, dim % max(len(shape), 1), tuple(shape))
        xp.index_add(out.reshape(-1), places, input.reshape(-1))
    return out


@reads_results(1)
def selected_gradient(xp: Any, g: Any, in_shape: Any, dim: int, out: Any) -> Any:
    """Gradient of values that were selected along ``dim`` at the indices beside them."""
    return xp.call(gather_sum, g[0], in_shape, dim, out[1])


gather_sum.vjp(input=lambda xp, g, dim, index: xp.call(gather, g, dim, index))


@op(public=False)
def largest_at_places(xp: Backend, input: Array, dim: int, index: Index) -> Array:
    """``gather`` at the indices of maxima, which are piecewise constant in ``input``."""
    return gather.kernel(xp, input, dim, index)


largest_at_places.vjp(input=piecewise(
    lambda xp, g, input, dim, index: xp.call(gather_sum, g, input.shape, dim, index)
))  # fmt: skip


_OUT_OF_RANGE = (
    "{name}(): out of range: tried to access index {index} on a tensor of {size} elements."
)


def flat_positions(xp: Backend, name: str, input: Array, index: Array) -> Array:
    """Check indices into the flattened ``input``; return them as a vector."""
    if not is_int64(index):
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {index.dtype.name}"
        )
    xp.check_indices(name, index, input.size, 0, text=_OUT_OF_RANGE)
    return index.reshape(-1)


@op(method=True, out=Out.EXACT)
def take(xp: Backend, input: Array, index: Index) -> Array:
    """The elements of the flattened ``input`` at the indices ``index``.

    With ``axis=`` it is NumPy's ``take``: slices along that dimension.

    Args:
        input: Tensor of any shape.
        index: int64 tensor of any shape; negative indices count from the end.

    Returns:
        Tensor of ``index``'s shape.

    Raises:
        IndexError: If an index is out of range.
        RuntimeError: If ``index`` is not int64.

    Example:
        >>> tt.take(tt.tensor([[1, 2], [3, 4]]), tt.tensor([0, -1]))
        tensor([1, 4])
    """
    places = flat_positions(xp, "take", input, index)
    return xp.take(input.reshape(-1), places).reshape(index.shape)


take.vjp(input=lambda xp, g, input, index: xp.call(_take_sum, g, input.shape, index))


@op
def _take_sum(xp: Backend, input: Array, shape: Any, index: Index) -> Array:
    """Add ``input`` to zeros of ``shape`` at flat indices: the gradient of ``take``."""
    out = xp.zeros(tuple(shape), input.dtype)
    xp.index_add(out.reshape(-1), flat_positions(xp, "take", out, index), input.reshape(-1))
    return out


_take_sum.vjp(input=lambda xp, g, index: xp.call(take, g, index))


@take.numpy
def _numpy_take(
    input: Tensor, index: Any = None, axis: int | None = None, mode: str = "raise", **options: Any
) -> Tensor:
    """NumPy's form, with an axis and with modes for indices out of range."""
    index = options.pop("indices", index)
    size = input.numel() if axis is None else input.shape[axis]
    places: Any = index if isinstance(index, Tensor) else as_tensor(index, backend=input._xp)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take(): mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    if mode != "raise":
        places = places % size if mode == "wrap" else places.clamp(0, size - 1)
    index = places
    if axis is None:
        return take(input, index)
    at = normalize_dim("take", axis, input.ndim)
    return input[(slice(None),) * at + (index,)]


@composite(method=True, out=Out.EXACT)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """``gather`` with broadcasting, for the indices that ``argsort`` and ``argmax`` return.

    Args:
        input: Tensor of any shape.
        indices: int64 tensor; its shape and ``input``'s broadcast except in ``dim``.
        dim: The dimension; None, the default, flattens both.

    Returns:
        Tensor of the broadcast shape, with ``indices``'s size at ``dim``.

    Raises:
        RuntimeError: If ``indices`` is not int64, the numbers of dimensions differ, or an index is
            out of range.

    Example:
        >>> x = tt.tensor([[3, 1, 2]])
        >>> tt.take_along_dim(x, tt.argsort(x, 1), 1)
        tensor([[1, 2, 3]])
    """
    if not is_int64(indices._data):
        raise RuntimeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.name}"
        )
    if dim is None:
        return gather(flatten(input), 0, _wrap_negative(flatten(indices), input.numel()))
    shape, wanted = input._data.shape, indices._data.shape
    if len(shape) != len(wanted):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {len(shape)} dimensions for input, and {len(wanted)} dimensions for indices"
        )
    at = normalize_dim("take_along_dim", dim, len(shape))
    index = _wrap_negative(indices, shape[at] if shape else 1)
    before, after = slice(at), slice(at + 1, None)
    if shape[before] == wanted[before] and shape[after] == wanted[after]:
        return gather(input, at, index)
    lead = common_shape(shape[before], wanted[before])
    rest = common_shape(shape[after], wanted[after])
    wide = expand(input, (*lead, shape[at], *rest))
    return gather(wide, at, expand(index, (*lead, wanted[at], *rest)))


@op
def _wrap_negative(xp: Backend, input: Index, size: int) -> Array:
    """Copy of indices into ``size`` elements, of which negative ones become nonnegative."""
    ends = xp.extremes(input)
    if ends is not None and ends[0] >= 0:
        return xp.array(input)
    return xp.where((input < 0) & (input >= -size), input + size, input)


@op(method=True, forms=(
    "(..., as_tuple: Literal[False] = False) -> Tensor",
    "(..., as_tuple: Literal[True]) -> tuple[Tensor, ...]",
), out=Out.EXACT)  # fmt: skip
def nonzero(xp: Backend, input: Array, *, as_tuple: bool = False) -> Array:
    """Indices of the nonzero elements.

    The host waits for the device, which counts the elements.

    Args:
        input: Tensor of any shape.
        as_tuple: Whether to return one tensor for each dimension, which can be used as an index,
            instead of a matrix.

    Returns:
        int64 tensor of shape ``(n, input.ndim)``, in row-major order. With ``as_tuple`` a tuple
        of tensors of shape ``(n,)``, one for each dimension (one for a 0-d tensor).

    Example:
        >>> tt.nonzero(tt.tensor([[0, 1], [2, 0]]))
        tensor([[0, 1],
                [1, 0]])
    """
    places = xp.nonzero(input if input.ndim else input.reshape(1))
    if as_tuple:
        return tuple(as_row_major(xp, to_int64(xp, place)) for place in places)
    if not input.ndim:
        return xp.zeros((places[0].size, 0), xp.native_dtype(dtypes.int64))
    return to_int64(xp, xp.stack(places)).T  # torch's result is in column-major order


@op(method=True)
def argwhere(xp: Backend, input: Array) -> Array:
    """Indices of the nonzero elements, as a matrix; see ``nonzero``.

    Returns:
        int64 tensor of shape ``(n, input.ndim)``.

    Example:
        >>> tt.argwhere(tt.tensor([0, 5]))
        tensor([[1]])
    """
    return xp.call(nonzero, input)


@op(method=True)
def nonzero_static(xp: Backend, input: Array, *, size: int, fill_value: int = -1) -> Array:
    """``nonzero`` with a fixed number of rows, truncated or padded.

    Args:
        input: Tensor of any shape.
        size: The number of rows.
        fill_value: Value of the rows after the nonzero elements; default -1.

    Returns:
        int64 tensor of shape ``(size, input.ndim)``.

    Raises:
        RuntimeError: If ``size`` is negative.

    Example:
        >>> tt.nonzero_static(tt.tensor([0, 5]), size=2)
        tensor([[ 1],
                [-1]])
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    found = xp.call(nonzero, input)[:size]
    fill_value = as_int("nonzero_static", "fill_value", fill_value)
    out = xp.full((size, input.ndim), fill_value, found.dtype)
    out[: found.shape[0]] = found
    return out


def _masked_fill_name(node: Node) -> str:
    return f"MaskedFillBackward{int(input_requires_grad(node, 'value'))}"


@op(method=True, inplace=True, node=_masked_fill_name, elementwise=True)
def masked_fill(xp: Backend, input: Array, mask: Mask, value: Operand) -> Array:
    """``value`` where ``mask`` is True, ``input`` elsewhere.

    Args:
        input: Tensor of any shape.
        mask: bool tensor whose shape broadcasts with ``input``'s.
        value: A number or 0-d tensor.

    Returns:
        Tensor of the broadcast shape and ``input``'s dtype.

    Raises:
        RuntimeError: If ``mask`` is not bool, ``value`` has dimensions, or ``value`` has an
            imaginary part and ``input`` is real.

    Example:
        >>> tt.zeros(2).masked_fill(tt.tensor([True, False]), 7.0)
        tensor([7., 0.])
    """
    if mask.dtype.kind != "b":
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype.name}"
        )
    if getattr(value, "ndim", 0):
        raise RuntimeError(
            "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if hasattr(value, "dtype") and value.dtype.kind == "c" and input.dtype.kind != "c":
        value = _to_real_value(xp, input, value)
    value = convert_to_write(value, xp.dtype_of(input))
    return as_row_major(xp, xp.where(mask, xp.asarray(value, dtype=input.dtype), input))


def _to_real_value(xp: Backend, input: Array, value: Array) -> Array:
    """Convert a complex number to a real one; raise if it has an imaginary part."""
    if value.imag != 0:
        name = scalar_name(xp.dtype_of(input))
        raise RuntimeError(
            f"masked_fill: value cannot be converted to type {name} without overflow"
        )
    return value.real


def _fill_expanded(input: Any, mask: Any, value: Any) -> Any:
    """``masked_fill_`` for an expanded tensor."""
    filled = masked_fill(input, mask, value)
    mask = expand(mask, input.shape)
    with allow_expanded_write("masked_fill", input, value):
        set_writable(input, mask, filled[mask])
    return input


masked_fill.op.registered.expanded = _fill_expanded
masked_fill.vjp(
    input=lambda xp, g, mask: xp.where(mask, 0, g), value=lambda xp, g, mask: xp.where(mask, g, 0)
)


def _ranks(xp: Backend, mask: Array, size: int) -> Array:
    """For each element of ``mask``, the number of True elements up to it, minus one.

    It is clipped to ``[0, size - 1]``.
    """
    before = xp.cumsum(mask.reshape(-1), dtype=xp.native_dtype(dtypes.int64)) - 1
    return xp.clip(before, 0, size - 1)


@op
def _read_masked(xp: Backend, input: Array, mask: Mask, shape: Any) -> Array:
    """The elements of ``input`` where ``mask`` is True, padded with zeros to ``shape``."""
    out = xp.zeros(tuple(shape), input.dtype)
    if out.size:
        mask = xp.broadcast_to(mask, input.shape)
        values = xp.where(mask, input, 0).reshape(-1)
        xp.index_add(out.reshape(-1), _ranks(xp, mask, out.size), values)
    return out


@op
def _spread_masked(xp: Backend, input: Array, mask: Mask, shape: Any) -> Array:
    """Write the k-th element of ``input`` to zeros at the k-th True of ``mask``.

    ``shape`` and the shape of ``mask`` broadcast to that of the result.
    """
    wanted = common_shape(tuple(shape), mask.shape)
    out = xp.zeros(wanted, input.dtype)
    if input.size:
        xp.write_masked(out, xp.broadcast_to(mask, wanted), input)
    return out


_read_masked.vjp(input=lambda xp, g, in_shape, mask: xp.call(_spread_masked, g, mask, in_shape))
_spread_masked.vjp(input=lambda xp, g, in_shape, mask: xp.call(_read_masked, g, mask, in_shape))


@op(node="MaskedScatterBackward0", reduced=Reduced.NATIVE)
def _write_masked(xp: Backend, input: Array, mask: Mask, source: Array) -> Array:
    """Write the k-th element of the flattened ``source`` at the k-th True of ``mask``."""
    if mask.dtype.kind != "b":
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.name}"
        )
    if source.dtype != input.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{input.dtype.name} and {source.dtype.name}"
        )
    if mask.shape != input.shape:
        shape = common_shape(input.shape, mask.shape)
        input, mask = xp.broadcast_to(input, shape), xp.broadcast_to(mask, shape)
    xp.check_all(
        mask.sum() <= source.size,
        "masked_scatter: number of elements of source < number of ones in mask",
    )
    out = row_major(xp, input)
    if source.size:
        xp.write_masked(out, mask, source)
    return out


_write_masked.vjp(
    input=lambda xp, g, mask: xp.where(mask, 0, g),
    source=lambda xp, g, in_shape, mask: xp.call(_read_masked, g, mask, in_shape),
)


@composite(
    method=True, inplace=True, overlap=Overlap.ALLOWED, node="MaskedScatterBackward0",
    reduced=Reduced.NATIVE, fast=_write_masked,
)  # fmt: skip
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Copy of ``input`` with consecutive elements of ``source`` where ``mask`` is True.

    Args:
        input: Tensor of any shape.
        mask: bool tensor; the two shapes broadcast.
        source: Tensor of ``input``'s dtype with at least as many elements as ``mask`` has True
            elements.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        RuntimeError: If ``mask`` is not bool, the dtypes differ, or ``source`` is too small.

    Example:
        >>> mask = tt.tensor([True, False, True])
        >>> tt.zeros(3).masked_scatter(mask, tt.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """
    return _write_masked(input, mask, source)


@op(method=True, out=Out.EXACT, overlap=Overlap.DISJOINT, like=masked_scatter)
def masked_select(xp: Backend, input: Array, mask: Mask) -> Array:
    """The elements of ``input`` where ``mask`` is True, in one dimension.

    Returns:
        Tensor of shape ``(number of True elements,)``.

    Raises:
        RuntimeError: If ``mask`` is not bool or the shapes do not broadcast.

    Example:
        >>> tt.masked_select(tt.arange(3), tt.tensor([True, False, True]))
        tensor([0, 2])
    """
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if mask.shape != input.shape:
        shape = common_shape(input.shape, mask.shape)
        input, mask = xp.broadcast_to(input, shape), xp.broadcast_to(mask, shape)
    xp.check_read(mask)
    return input[mask]


masked_select.vjp(input=lambda xp, g, input, mask: xp.call(_spread_masked, g, mask, input.shape))
