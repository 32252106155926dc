"""Views of the same memory, by shape and by dtype; copies in row-major order."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.layout import checked_format, contiguous_format, preserve_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Shape, composite, op
from ...dispatch.out import scalar_name
from ...graph.nodes import node_of
from ..memory_order import arranged, suggested
from .sizes import reshape, reshaped


@op(view=True)
def _view(xp: Backend, input: Array, size: Shape) -> Array:
    out = reshaped("view", input, size)
    if out.base is not input and input.size and not xp.is_view(out, input):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return out


_view.vjp(input=lambda xp, g, in_shape: xp.reshape(g, in_shape))


@op(view=True)
def _view_dtype(xp: Backend, input: Array, dtype: dtypes.dtype) -> Array:
    have, wanted = xp.dtype_of(input), dtypes.as_dtype(dtype)
    if have.itemsize != wanted.itemsize:
        _check_bytes(input, have, wanted)
    return input.view(xp.native_dtype(wanted))


def _check_bytes(input: Array, have: dtypes.dtype, wanted: dtypes.dtype) -> None:
    what = _viewed(have, wanted)
    if not input.ndim:
        raise RuntimeError(f"view: self.dim() cannot be 0 {what}")
    step = input.strides[-1] // have.itemsize
    if step != 1 and input.shape[-1] > 1 and input.size:
        raise RuntimeError(f"view: self.stride(-1) must be 1 {what}, but got {step}")
    ratio = wanted.itemsize // have.itemsize
    if ratio > 1 and input.shape[-1] % ratio:
        raise RuntimeError(
            f"view: self.size(-1) must be divisible by {ratio} {what}, but got {input.shape[-1]}"
        )
    for dim, step in enumerate(input.strides[:-1]):
        if ratio > 1 and input.shape[dim] > 1 and input.size and step % wanted.itemsize:
            raise RuntimeError(
                f"view: self.stride({dim}) must be divisible by {ratio} {what}, but got "
                f"{step // have.itemsize}"
            )


def _viewed(have: dtypes.dtype, wanted: dtypes.dtype) -> str:
    return f"to view {scalar_name(have)} as {scalar_name(wanted)} (different element sizes)"


def _as_dtype(input: Tensor, dtype: Any) -> Tensor:
    """The bytes of ``input`` as another dtype, which its place in memory must suit."""
    have, wanted = input.dtype, dtypes.as_dtype(dtype)
    ratio = wanted.itemsize // have.itemsize
    if ratio > 1 and (offset := input.storage_offset()) % ratio:
        raise RuntimeError(
            f"view: self.storage_offset() must be divisible by {ratio} {_viewed(have, wanted)}, "
            f"but got {offset}"
        )
    return _view_dtype(input, wanted)


@composite(method=True, fast=_view)
def view(input: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """The same memory in another shape, or its bytes as another dtype.

    Args:
        input: Tensor of any shape.
        *size: The new sizes, as a sequence or one by one, of which one may be -1; or a dtype.
        dtype: Read the bytes as this dtype; the last dimension grows or shrinks where its
            elements are smaller or larger. No gradient flows through that.

    Returns:
        A view.

    Raises:
        RuntimeError: If the elements' order in memory does not allow it; use ``reshape``.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(4).view(2, 2)
        tensor([[0, 1],
                [2, 3]])
        >>> tt.tensor([1.0]).view(tt.int32)
        tensor([1065353216], dtype=tinytorch.int32)
    """
    if dtype is not None:
        return _as_dtype(input, dtype)
    if len(size) == 1 and not hasattr(size[0], "__index__"):
        if not isinstance(size[0], (tuple, list)):
            return _as_dtype(input, size[0])
        size = tuple(size[0])
    return _view(input, size)


@composite(method=True)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """The same memory in the shape of ``other``; see ``view``.

    Args:
        input: Tensor of any shape.
        other: Tensor of as many elements, whose shape is taken.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(4).view_as(tt.zeros(2, 2)).shape
        tinytorch.Size([2, 2])
    """
    return _view(input, tuple(other.shape))


@composite(method=True)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements of ``input`` in the shape of ``other``; see ``reshape``.

    Args:
        input: Tensor of any shape.
        other: Tensor of as many elements, whose shape is taken.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(4).reshape_as(tt.zeros(2, 2)).shape
        tinytorch.Size([2, 2])
    """
    return reshape(input, tuple(other.shape))


@op(view=True, public=False, node="CloneBackward0")
def in_order(xp: Backend, input: Array) -> Array:
    """``input`` with its elements in row-major order in memory, perhaps a view."""
    return xp.ascontiguousarray(input)


in_order.vjp(input=lambda xp, g: g)


@op
def _in_format(xp: Backend, input: Array, memory_format: Any) -> Array:
    return arranged(xp, input, memory_format)


_in_format.vjp(input=lambda xp, g: g)


@composite(method=True)
def contiguous(input: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """``input`` with its elements in the format's order in memory: itself, or a copy.

    Args:
        input: Tensor of any shape.
        memory_format: Default ``contiguous_format``, row-major.

    Returns:
        ``input`` itself if its elements lie so, without gaps.

    Raises:
        RuntimeError: If the format is ``preserve_format``, or one of tensors with another number
            of dimensions.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3).t().contiguous().is_contiguous()
        True
    """
    if memory_format is contiguous_format:
        return input if input._data.flags.c_contiguous else in_order(input)
    if checked_format("contiguous", memory_format) is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return input if memory_format.holds(input._data) else _in_format(input, memory_format)


def following(out: Tensor, input: Tensor) -> Tensor:
    """``out``, computed from ``input``, in its format: channels last, or row-major."""
    wanted = suggested(input._data)
    if wanted.holds(out._data):
        return out
    laid = contiguous(out, wanted)
    made, node = node_of(out._node), node_of(laid._node)
    if wanted is not contiguous_format and made is not None and node is not None:
        node.op = node.op.called(made.name())  # to the user it is the same step
    return laid


def following_sequence(out: Tensor, input: Tensor) -> Tensor:
    """The same of sequences, which torch pools as images of one row."""
    if input.ndim != 3 or input._data.flags.c_contiguous:
        return contiguous(out)
    return following(out.unsqueeze(-2), input.unsqueeze(-2)).squeeze(-2)


def own_copy(view: Tensor) -> Tensor:
    """What a view shows in memory of its own, in row-major order."""
    return view.clone(memory_format=contiguous_format)
