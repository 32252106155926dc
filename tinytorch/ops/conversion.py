"""Copies, casts and moves: the same numbers in other memory, another dtype or device."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from .._device import backend_name, device
from .._op import Array, Backend, composite, op
from .._tensor import Tensor, wrap
from ..autograd.views import region
from ..backends import load


@op(method=False)
def _to_dtype(xp: Backend, input: Array, dtype: dtypes.dtype) -> Array:
    native = xp.native_dtype(dtype)
    if input.dtype.kind == "c" and not dtype.is_complex:
        input = input.real
    return input.astype(native)


_to_dtype.vjp(input=lambda xp, g: g)  # the engine casts it back


@op
def clone(xp: Backend, input: Array, *, memory_format: Any = None) -> Array:
    """A copy of ``input`` in memory of its own; gradients flow back through it.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.zeros(2)
        >>> y = x.clone()
        >>> y[0] = 1
        >>> x
        tensor([0., 0.])
    """
    return xp.array(input)


clone.vjp(input=lambda xp, g: g)


@op(method=False)
def _assigned(xp: Backend, input: Array) -> Array:
    return xp.array(input)


_assigned.vjp(input=lambda xp, g: g)


@op(method=False)
def _clear_region(xp: Backend, input: Array, replay: Any) -> Array:
    """``input`` with zeros where the view made by ``replay`` lies."""
    out = xp.array(input)
    region(out, replay, xp)[...] = 0
    return out


_clear_region.vjp(input=lambda xp, g, replay: xp.call(_clear_region, g, replay))


@op(method=False)
def _view_scatter(xp: Backend, input: Array, value: Array, replay: Any) -> Array:
    """``input`` with ``value`` where the view made by ``replay`` lies."""
    out = xp.array(input)
    region(out, replay, xp)[...] = value
    return out


_view_scatter.vjp(
    input=lambda xp, g, replay: xp.call(_clear_region, g, replay),
    value=lambda xp, g, replay: region(g, replay, xp),
)


@op(method=False)
def _transfer(xp: Backend, input: Array, source: Backend) -> Array:
    return xp.from_numpy(source.to_numpy(input))


@composite(method=True)
def to(
    input: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    backend: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``input`` in another dtype, on another device, or as another tensor is.

    Args:
        input: Tensor of any shape.
        *args: A dtype, a device, or a tensor to follow; positional forms as in torch.
        dtype: The wanted dtype.
        device: The wanted device.
        backend: The wanted backend or its name.
        non_blocking: Do not wait for a transfer to end.
        copy: Copy even where nothing changes.
        memory_format: Accepted for compatibility; results are row-major.

    Returns:
        ``input`` itself if nothing changes and ``copy`` is False.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).to(tt.int64)
        tensor([1, 1])
    """
    for arg in args:
        dtype, device = _read_target(arg, dtype, device)
    out = input
    if backend is not None or device is not None:
        out = _to_backend(out, _backend_of(device, backend))
    if dtype is not None:
        wanted = dtypes.as_dtype(dtype)
        if out._data.dtype != wanted.dtype:
            out = _to_dtype(out, wanted)
    return out.clone() if copy and out is input else out


def _read_target(arg: Any, dtype: Any, where: Any) -> tuple[Any, Any]:
    if isinstance(arg, Tensor):
        return arg.dtype, arg.device
    if isinstance(arg, device) or (isinstance(arg, str) and arg not in dtypes.NAMES):
        return dtype, arg
    if isinstance(arg, bool) or arg is None:
        return dtype, where
    return arg, where


def _backend_of(where: Any, backend: Any) -> Backend:
    return load(backend if backend is not None else backend_name(device(where).type))


def _to_backend(tensor: Tensor, xp: Backend) -> Tensor:
    if tensor._xp is xp:
        return tensor
    return wrap(xp.from_numpy(tensor._xp.to_numpy(tensor._data)), xp)
