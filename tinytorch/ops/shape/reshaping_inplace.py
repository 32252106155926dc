"""In-place changes of a tensor's shape and strides, without a move of its elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.layout import check_format, preserve_format
from ...core.lazy_bits import set_stored_array, stored_array
from ...core.tensor import Tensor
from ...dispatch.creation import check_size, make_uninitialized
from ...dispatch.op import composite
from ...graph.inference import UNSETTLED, check_mapped
from ...graph.nodes import Node
from ...graph.views import (
    check_inplace, copy_view_state, has_lost_grad_fn, record_reshape, separate_from_views,
)  # fmt: skip
from ...state import enable_grad, grad_enabled, inference_mode
from ..memory_order import draw_in_order, suggest_memory_format
from .rearranging import t
from .sizes import squeeze, transpose, unsqueeze
from .strides import _as_strided, as_strided, own_strides, place


def _replace_by_view(target: Tensor, view: Callable[..., Any], *arguments: Any) -> Tensor:
    """Replace ``target`` by ``view(target, *arguments)``, including the history of that view.

    If ``target`` is a view itself, it becomes the view of the same base. If it may have views, a
    view operation to the former geometry is recorded, from which they are replayed.
    """
    check_mapped(view.__name__, target)
    if grad_enabled() and target.requires_grad:
        check_inplace(target)
    is_view = target._base is not None
    is_unrecorded = is_view and bool(target._kind) and not target._own_rg
    if not grad_enabled() and (is_unrecorded or has_lost_grad_fn(target)):
        reshaped = view(target, *arguments)
        set_stored_array(target, stored_array(reshaped))
        target._view_ops = reshaped._view_ops
        target._bump()
        return target
    leaf = target.requires_grad and target.is_leaf
    size, stride, (start, _), whole = target.shape, target.stride(), place(target), target._memory()
    # Record the view even in no_grad, so that it has a node that fits it.
    with inference_mode(False), enable_grad():
        reshaped = view(target, *arguments)
    set_stored_array(target, stored_array(reshaped))
    target._node = None if leaf else reshaped._node
    if target._retains_grad:
        target._retain_from_here()
    target._bump()
    if is_view:
        copy_view_state(target, reshaped)
    elif _has_views(target):
        if whole.size != target.numel():
            target._whole = whole
        _record_former_geometry(target, tuple(size), stride, start)
    return target


def _record_former_geometry(target: Tensor, size: Any, stride: Any, start: int) -> None:
    """Record how to compute a tensor of the former geometry, from which views are replayed."""
    here, count = place(target)
    arguments = size, stride, start - here, own_strides(target), (-here, count - here)
    record_reshape(target, (_as_strided, arguments))


def replace_data(target: Tensor, value: Tensor) -> None:
    """Give a tensor that may have views the data of another one; see ``Tensor.data``."""
    if value._memory() is target._memory() and not value._is_lazy:
        former = tuple(target.shape), target.stride(), place(target)[0]
        target._take_array(value)
        if former != (tuple(target.shape), target.stride(), place(target)[0]):
            _record_former_geometry(target, *former)
        return
    if value._data.shape != target._data.shape:
        separate_from_views(target)
    target._take_array(value)


def _squeeze_inplace_name(node: Node) -> str:
    """PyTorch's name of the node of ``squeeze_``: SqueezeBackward3 to 5."""
    name: Any = squeeze.op.backward.backward_name
    return f"SqueezeBackward{int(name(node)[-1]) + 3}"


def _has_views(tensor: Tensor) -> bool:
    """Whether a tensor is not a view itself and may have views."""
    return tensor._base is None and tensor._vc is not None and tensor._vc is not UNSETTLED


@composite(method=True, node=_squeeze_inplace_name, like=squeeze)
def squeeze_(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Remove dimensions of size 1 from ``input`` in place; see ``squeeze``.

    Example:
        >>> tt.zeros(1, 2).squeeze_().shape
        tinytorch.Size([2])
    """
    return _replace_by_view(input, squeeze, dim)


@composite(method=True, node="UnsqueezeBackward1", like=unsqueeze)
def unsqueeze_(input: Tensor, dim: int) -> Tensor:
    """Insert a dimension of size 1 into ``input`` in place; see ``unsqueeze``.

    Example:
        >>> tt.zeros(2).unsqueeze_(0).shape
        tinytorch.Size([1, 2])
    """
    return _replace_by_view(input, unsqueeze, dim)


@composite(
    method=True, aliases=("swapaxes_", "swapdims_"), node="TransposeBackward1", like=transpose
)
def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Swap two dimensions of ``input`` in place; see ``transpose``.

    Example:
        >>> tt.zeros(2, 3).transpose_(0, 1).shape
        tinytorch.Size([3, 2])
    """
    return _replace_by_view(input, transpose, dim0, dim1)


@composite(method=True, node="TBackward1", like=t)
def t_(input: Tensor) -> Tensor:
    """Transpose the matrix ``input`` in place; see ``t``.

    Example:
        >>> tt.zeros(2, 3).t_().shape
        tinytorch.Size([3, 2])
    """
    return _replace_by_view(input, t)


@composite(method=True, node="AsStridedBackward1", like=as_strided)
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Change ``input`` in place to a window into its own memory; see ``as_strided``.

    Example:
        >>> tt.arange(4).as_strided_((2,), (2,))
        tensor([0, 2])
    """
    return _replace_by_view(input, as_strided, size, stride, storage_offset)


@composite(namespaces=("Tensor",))
def resize_(input: Tensor, *size: Any, memory_format: Any = None) -> Tensor:
    """Change the shape of ``input`` in place, to more or fewer elements.

    Its elements are then the elements from its first one on in memory, for any previous order.
    Elements beyond the end of the memory are uninitialized. If the shape is the present one,
    strides do not change.

    Args:
        input: Tensor that does not require grad.
        *size: The new sizes, as a sequence or one by one.
        memory_format: The order of the elements in memory; default row-major.

    Returns:
        ``input``.

    Raises:
        RuntimeError: If ``input`` requires grad, a size is negative, or the format requires
            another number of dimensions.

    Example:
        >>> tt.arange(4).resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
    """
    check_mapped("resize", input)
    if input.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    many = len(size) == 1 and isinstance(size[0], (tuple, list))
    shape = check_size("resize_", size[0] if many else size)
    order = tuple(range(len(shape)))
    if memory_format is not None:
        if memory_format is preserve_format:
            raise RuntimeError("resize_: Unsupported memory format Preserve")
        order = check_format("resize_", memory_format).order(len(shape)) or order
    if shape != tuple(input.shape) or memory_format is not None:
        flat = _memory_after(input, math.prod(shape))
        set_stored_array(input, draw_in_order(input._xp, shape, order, flat.reshape))
        input._bump()
    return input


def _memory_after(input: Tensor, count: int) -> Any:
    """``count`` elements of memory from the first one of ``input``; new memory if too few."""
    data, xp = stored_array(input), input._xp
    here, available = place(input)
    flat, first = xp.memory(data) or (data.reshape(-1), 0)
    flat = flat[first : first + min(available - here, count)]
    if flat.size == count:
        return flat
    grown = make_uninitialized(xp, count, data.dtype)
    grown[: flat.size] = flat
    input._base = None
    input._node, input._rg = None, False  # a tensor that requires grad is not resized
    if input._whole is not None:
        input._whole = None
    return grown


@composite(method=True)
def resize_as_(input: Tensor, other: Tensor, memory_format: Any = None) -> Tensor:
    """Change the shape of ``input`` in place to that of ``other``; see ``resize_``.

    Args:
        input: Tensor that does not require grad.
        other: Tensor of the new shape.
        memory_format: As for ``resize_``; ``preserve_format`` means that of ``other``.

    Returns:
        ``input``.

    Example:
        >>> tt.arange(4).resize_as_(tt.zeros(2, 2)).shape
        tinytorch.Size([2, 2])
    """
    if memory_format is preserve_format:
        memory_format = suggest_memory_format(other._data)
    return resize_(input, tuple(other.shape), memory_format=memory_format)
