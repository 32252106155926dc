"""Views with another shape or dtype, and conversion to a memory format."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.layout import check_format, contiguous_format, preserve_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Reduced, Shape, composite, op
from ...dispatch.out import scalar_name
from ...graph.nodes import node_of
from ..memory_order import suggest_memory_format, to_memory_format
from .sizes import reshape, reshape_array


@op(view=True)
def _view(xp: Backend, input: Array, size: Shape) -> Array:
    """View of ``input`` with another shape; RuntimeError if only a copy could have it."""
    out = reshape_array("view", input, size)
    if out.base is not input and input.size and not xp.is_view(out, input):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return out


_view.vjp(input=lambda xp, g, in_shape: g.reshape(in_shape))


@op(view=True)
def _view_dtype(xp: Backend, input: Array, dtype: dtypes.dtype) -> Array:
    """View of the bytes of ``input`` as another dtype."""
    have, wanted = xp.dtype_of(input), dtypes.as_dtype(dtype)
    if have.itemsize != wanted.itemsize:
        _check_bytes(input, have, wanted)
    return input.view(xp.native_dtype(wanted))


def _check_bytes(input: Array, have: dtypes.dtype, wanted: dtypes.dtype) -> None:
    """Raise RuntimeError unless the last dimension can be divided into elements of ``wanted``."""
    purpose = _describe_view(have, wanted)
    if not input.ndim:
        raise RuntimeError(f"view: self.dim() cannot be 0 {purpose}")
    step = input.strides[-1] // have.itemsize
    if step != 1 and input.shape[-1] > 1 and input.size:
        raise RuntimeError(f"view: self.stride(-1) must be 1 {purpose}, but got {step}")
    ratio = wanted.itemsize // have.itemsize
    if ratio > 1 and input.shape[-1] % ratio:
        size = input.shape[-1]
        raise RuntimeError(
            f"view: self.size(-1) must be divisible by {ratio} {purpose}, but got {size}"
        )
    for dim, step in enumerate(input.strides[:-1]):
        if ratio > 1 and input.shape[dim] > 1 and input.size and step % wanted.itemsize:
            raise RuntimeError(
                f"view: self.stride({dim}) must be divisible by {ratio} {purpose}, but got "
                f"{step // have.itemsize}"
            )


def _describe_view(have: dtypes.dtype, wanted: dtypes.dtype) -> str:
    """Part of PyTorch's error for a view as a dtype of another size."""
    return f"to view {scalar_name(have)} as {scalar_name(wanted)} (different element sizes)"


def _reinterpret(input: Tensor, dtype: Any) -> Tensor:
    """View the bytes of ``input`` as another dtype; raise if the storage offset does not fit."""
    have, wanted = input.dtype, dtypes.as_dtype(dtype)
    ratio = wanted.itemsize // have.itemsize
    if ratio > 1 and (offset := input.storage_offset()) % ratio:
        raise RuntimeError(
            f"view: self.storage_offset() must be divisible by {ratio} "
            f"{_describe_view(have, wanted)}, but got {offset}"
        )
    return _view_dtype(input, wanted)


@composite(method=True, fast=_view)
def view(input: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """View of the same memory with another shape, or of its bytes as another dtype.

    Args:
        input: Tensor of any shape.
        *size: The new sizes, as a sequence or one by one, one of which may be -1; or a dtype.
        dtype: The dtype as which the bytes are read. The last dimension grows or shrinks if the
            elements of the dtype are smaller or larger. It is not differentiable.

    Returns:
        A view.

    Raises:
        RuntimeError: If the strides do not allow it; use ``reshape`` instead.

    Example:
        >>> tt.arange(4).view(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> tt.tensor([1.0]).view(tt.int32)
        tensor([1065353216], dtype=tinytorch.int32)
    """
    if dtype is not None:
        return _reinterpret(input, dtype)
    if len(size) == 1 and not hasattr(size[0], "__index__"):
        if not isinstance(size[0], (tuple, list)):
            return _reinterpret(input, size[0])
        size = tuple(size[0])
    return _view(input, size)


@composite(method=True)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """View of ``input`` in the shape of ``other``; see ``view``.

    Args:
        input: Tensor of any shape.
        other: Tensor with the new shape and the same number of elements.

    Example:
        >>> tt.arange(4).view_as(tt.zeros(2, 2)).shape
        tinytorch.Size([2, 2])
    """
    return _view(input, tuple(other.shape))


@composite(method=True, like=view_as)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements of ``input`` in the shape of ``other``; see ``reshape``.

    Example:
        >>> tt.arange(4).reshape_as(tt.zeros(2, 2)).shape
        tinytorch.Size([2, 2])
    """
    return reshape(input, tuple(other.shape))


@op(view=True, public=False, node="CloneBackward0")
def to_row_major(xp: Backend, input: Array) -> Array:
    """Convert ``input`` to row-major order in memory; a view if it is row-major already."""
    return xp.ascontiguousarray(input)


to_row_major.vjp(input=lambda xp, g: g)


@op
def _to_format(xp: Backend, input: Array, memory_format: Any) -> Array:
    """``input``, or a copy, in a memory format."""
    return to_memory_format(xp, input, memory_format)


_to_format.vjp(input=lambda xp, g: g)


@composite(method=True)
def contiguous(input: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """Convert ``input`` to a memory format: ``input`` itself, or a copy.

    Args:
        input: Tensor of any shape.
        memory_format: The memory format; default ``contiguous_format``, which is row-major.

    Returns:
        ``input`` itself if it is contiguous in this format, else a copy.

    Raises:
        RuntimeError: If the format is ``preserve_format``, or requires another number of
            dimensions.

    Example:
        >>> tt.zeros(2, 3).t().contiguous().is_contiguous()
        True
    """
    if memory_format is contiguous_format:
        return input if input._data.flags.c_contiguous else to_row_major(input)
    if check_format("contiguous", memory_format) is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return input if memory_format.holds(input._data) else _to_format(input, memory_format)


def as_contiguous(out: Tensor) -> Tensor:
    """``contiguous(out)`` within an operation."""
    return out if out._data.flags.c_contiguous else contiguous(out)


def following(out: Tensor, input: Tensor) -> Tensor:
    """Convert ``out`` to the memory format of ``input``: channels last, or row-major."""
    if out._data.flags.c_contiguous and input._data.flags.c_contiguous:
        return out
    wanted = suggest_memory_format(input._data)
    if wanted.holds(out._data):
        return out
    laid = contiguous(out, wanted)
    made, node = node_of(out._node), node_of(laid._node)
    if wanted is not contiguous_format and made is not None and node is not None:
        node.op = node.op.rename(made.name())  # show the conversion under the name of the operation
    return laid


def following_sequence(out: Tensor, input: Tensor) -> Tensor:
    """Convert the format of sequences, which torch pools as images of one row."""
    if input._data.ndim != 3 or input._data.flags.c_contiguous:
        return as_contiguous(out)
    return following(out.unsqueeze(-2), input.unsqueeze(-2)).squeeze(-2)


@op(public=False, node="CloneBackward0", reduced=Reduced.NATIVE)
def own_copy(xp: Backend, input: Array) -> Array:
    """Copy of a view in row-major order."""
    return xp.array(input, order="C")


own_copy.vjp(input=lambda xp, g: g)
