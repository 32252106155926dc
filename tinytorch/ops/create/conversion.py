"""Copies, casts and moves between devices, and the dtype that operands promote to."""

from __future__ import annotations

import functools
from typing import Any

from ... import dtypes
from ...backends import load, low_precision
from ...core.device import device
from ...core.layout import check_format, preserve_format
from ...core.tensor import Tensor, wrap
from ...dispatch.creation import NAMED_DTYPES, backend_of_device, dtype_and_device
from ...dispatch.op import Array, ArrayOrInput, Backend, Reduced, composite, op
from ...dispatch.promotion import result_dtype, to_python_number
from ...graph.nodes import Node, node_of
from ...graph.special_nodes import NodeOp
from ...graph.views import edge_of, lazy_function_of, view_of_array
from ...state import default_dtype, grad_enabled
from ...warnings import warn_once
from ..memory_order import (
    copy_in_memory_order,
    copy_with_strides,
    has_strides,
    suggest_memory_format,
    to_memory_format,
)
from ..shape.views import contiguous


@op(node="ToCopyBackward0", reduced=Reduced.NATIVE)
def _to_dtype(xp: Backend, input: Array, dtype: dtypes.dtype) -> ArrayOrInput:
    """``input`` itself if it has the dtype, or a copy of it in that dtype."""
    native = xp.native_dtype(dtype)
    if input.dtype == native:
        return input
    is_low = native.num > 255  # a dtype of ml_dtypes
    if input.flags.c_contiguous and native.kind != "b" and input.dtype.kind != "c" and not is_low:
        return input.astype(native)
    if input.dtype.kind == "c" and not dtype.is_complex and dtype is not dtypes.bool:
        warn_once("Casting complex values to real discards the imaginary part")
        input = input.real
    if 0 in input.strides:
        input = copy_in_memory_order(xp, input)
    return low_precision.cast(input, native) if is_low else input.astype(native)


_to_dtype.vjp(input=lambda xp, g: g)  # the engine converts the gradient to the input's dtype


@op(method=True, elementwise=True, reduced=Reduced.NATIVE)
def clone(xp: Backend, input: Array, *, memory_format: Any = None) -> Array:
    """Copy of ``input`` in new memory; gradients flow through it.

    Args:
        input: Tensor of any shape.
        memory_format: The order of the elements in memory; the default,
            ``preserve_format``, is the present order.

    Example:
        >>> x = tt.zeros(2)
        >>> y = x.clone()
        >>> y[0] = 1
        >>> x
        tensor([0., 0.])
    """
    if memory_format is None or memory_format is preserve_format:
        return copy_in_memory_order(xp, input)
    out = to_memory_format(xp, input, check_format("clone", memory_format))
    return copy_in_memory_order(xp, input) if out is input else out


clone.vjp(input=lambda xp, g: g)


def _copied_node_name(node: Node) -> str:
    """Name of the node of the copied result, as if it had been computed in place."""
    made: Any = node_of(node.edges[0])
    return "CopyBackwards" if made is None else str(made.name())


@op(node=_copied_node_name, reduced=Reduced.NATIVE)
def _copy_assigned(xp: Backend, input: Array) -> Array:
    return xp.array(input)


_copy_assigned.vjp(input=lambda xp, g: g)


@op(node="CopyBackwards", reduced=Reduced.NATIVE)
def _overwrite(xp: Backend, input: Array, src: Array) -> Array:
    return xp.array(src)


# As in torch, the old value has a gradient of zeros, so that a backward pass reaches its graph and
# detects saved tensors that were modified.
_overwrite.vjp(input=lambda xp, g: xp.zeros_like(g), src=lambda xp, g: g)


@op(reduced=Reduced.NATIVE)
def _copy_strided(xp: Backend, input: Array, strides: Any) -> Array:
    """Return ``input``, or a copy, with the given strides; None: row-major.

    The result of replaying a view may depend on the strides.
    """
    if input.flags.c_contiguous if strides is None else has_strides(input, strides):
        return input
    return copy_with_strides(xp, input, strides)


_copy_strided.vjp(input=lambda xp, g: g)


@op(reduced=Reduced.NATIVE)
def _clear_region(xp: Backend, input: Array, replay: Any, strides: Any) -> Array:
    """Copy of ``input`` with zeros in the region of the view that ``replay`` returns."""
    out = copy_with_strides(xp, input, strides)
    part = view_of_array(out, replay, xp)
    if part.size and not xp.is_view(part, out):
        raise RuntimeError("the gradient's memory cannot be laid out as that of the changed view")
    xp.writable(part)[...] = 0
    return out


_clear_region.vjp(input=lambda xp, g, replay, strides: xp.call(_clear_region, g, replay, strides))


@op(node="CopySlices", reduced=Reduced.NATIVE)
def _view_scatter(
    xp: Backend, input: Array, value: Array, replay: Any, strides: Any = None
) -> Array:
    """Copy of ``input`` with ``value`` in the region of the view that ``replay`` returns.

    ``strides`` are those of ``input``; None: row-major.
    """
    out = copy_in_memory_order(xp, input)
    lazy_function = lazy_function_of(replay)
    if lazy_function is not None:
        value = getattr(xp, lazy_function)(value)
    xp.writable(view_of_array(out, replay, xp))[...] = value
    return out


def _view_gradient(xp: Any, g: Any, replay: Any, strides: Any) -> Any:
    """Gradient of the value that was written to the region of a view.

    In a backward pass gradients are conjugated. A view between complex numbers and their real
    parts must therefore be applied to the conjugate of the conjugate.
    """
    lazy_function = lazy_function_of(replay)
    if lazy_function is not None:
        return getattr(xp, lazy_function)(_region_gradient(xp, g, replay, strides))
    return _region_gradient(xp, g, replay, strides)


def _region_gradient(xp: Any, g: Any, replay: Any, strides: Any) -> Any:
    """Gradient of the value, as the view of ``g`` that ``replay`` returns.

    If the view is between complex numbers and their real parts, the conjugate is taken on the
    complex side.
    """
    shown = view_of_array(xp.call(_copy_strided, g, strides), replay, xp)
    if (g.dtype.kind == "c") is (shown.dtype.kind == "c"):
        return shown
    if shown.dtype.kind == "c":
        return xp.conj(shown)
    return view_of_array(xp.call(_copy_strided, xp.conj(g), strides), replay, xp)


_view_scatter.vjp(
    input=lambda xp, g, replay, strides: xp.call(_clear_region, g, replay, strides),
    value=_view_gradient,
)


class _Transfer(NodeOp):
    """``Node.op`` of a transfer from one backend to another."""

    name = "to"
    backward_name = "ToCopyBackward0"

    @staticmethod
    def joint(xp: Any, g: Any, out: Any, shapes: Any, args: Any) -> list[Any]:
        """Move the gradient back to the source."""
        source, target = args
        if isinstance(g, Tensor):
            return [_to_backend(g, source)]
        return [source.receive(g, target)]


_TRANSFER = _Transfer()


@composite(method=True, elementwise=True, fast=_to_dtype)
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
    """Convert ``input`` to another dtype or device, or to those of another tensor.

    Args:
        input: Tensor of any shape.
        *args: A dtype, a device, or a tensor whose dtype and device are used; positional forms as
            in torch.
        dtype: The new dtype.
        device: The new device.
        backend: The new backend or its name.
        non_blocking: Do not wait for the end of a transfer. From pinned memory (``pin_memory``)
            to a GPU, later operations on the GPU wait by themselves. To the CPU, the values
            are valid after ``tt.cuda.synchronize()``.
        copy: Whether to copy even if nothing changes.
        memory_format: In which order the result's elements lie in memory; the default,
            ``preserve_format``, is the present order.

    Returns:
        ``input`` itself if nothing changes and ``copy`` is False.

    Example:
        >>> tt.ones(2).to(tt.int64)
        tensor([1, 1])
    """
    flags = []
    for arg in args:
        if arg.__class__ is dtypes.dtype:
            dtype = arg
        elif arg.__class__ is bool:
            flags.append(arg)
        else:
            dtype, device = _read_target(arg, dtype, device)
    if flags:
        non_blocking, copy = flags[0], copy or any(flags[1:])
    out = input
    if backend is not None or device is not None:
        out = _to_backend(out, _select_backend(device, backend), bool(non_blocking))
    if dtype is not None:
        out = _cast(out, dtypes.as_dtype(dtype))
    if memory_format is not None and memory_format is not preserve_format:
        if out is not input or suggest_memory_format(out._data) is not memory_format:
            out = contiguous(out, memory_format)
    return out.clone() if copy and out is input else out


def _cast(input: Tensor, dtype: dtypes.dtype) -> Tensor:
    """``input`` itself if it has the dtype, lazily conjugated or not, or a copy in that dtype."""
    return input if input.dtype is dtype else _to_dtype(input, dtype)


def _read_target(arg: Any, dtype: Any, where: Any) -> tuple[Any, Any]:
    """Dtype and device that the arguments of ``to`` request.

    Args:
        arg: The first argument: a tensor, a dtype, a device, its name, or None.
        dtype: The second argument.
        where: The keyword ``device``.
    """
    if isinstance(arg, Tensor):
        return arg.dtype, arg.device
    if isinstance(arg, device) or (isinstance(arg, str) and arg not in dtypes.NAMES):
        return dtype, arg
    if arg is None:
        return dtype, where
    return arg, where


def _select_backend(where: Any, backend: Any) -> Backend:
    """Backend of a call: ``backend`` if given, else that of the device ``where``."""
    return load(backend).here() if backend is not None else backend_of_device(where)


def _to_backend(tensor: Tensor, xp: Backend, non_blocking: bool = False) -> Tensor:
    """``tensor`` on another backend, recorded; the tensor itself if it is there already."""
    source = tensor._xp
    if source is xp:
        return tensor
    out = wrap(xp.receive(tensor._data, source, non_blocking), xp)
    edge = edge_of(tensor) if grad_enabled() else None
    if edge is not None:
        data = out._data
        out._node = Node(_TRANSFER, xp, (edge,), (source, xp), (), data.shape, data.dtype)
        out._rg = True
    return out


@composite(namespaces=("Tensor",), aliases=("astype",), forms=(
    "(input: Tensor, dtype: None = None, non_blocking: bool = False) -> str",
    "(input: Tensor, dtype: dtypes.dtype | str, non_blocking: bool = False) -> Tensor",
))  # fmt: skip
def type(input: Tensor, dtype: Any = None, non_blocking: Any = False) -> Any:
    """Convert ``input`` to another dtype; without a dtype, return the name of its tensor type.

    Args:
        input: Tensor of any shape.
        dtype: A dtype, its name, or the name of a tensor type. Default None.

    Example:
        >>> tt.ones(2).type(tt.int64), tt.ones(2).type()
        (tensor([1, 1]), 'torch.FloatTensor')
    """
    if dtype is None:
        return tensor_type_name(input)
    if dtype is Tensor or dtype == "torch.Tensor":
        dtype = default_dtype()
    named = dtype_and_device(dtype)
    if named is None and isinstance(dtype, str):
        try:
            dtype = dtypes.as_dtype(dtype)
        except TypeError:
            raise ValueError(f"invalid type: '{dtype}'") from None
    return to(input, dtype=dtype) if named is None else to(input, named[1], named[0])


def tensor_type_name(tensor: Tensor) -> str:
    """torch's legacy name of a dtype and device type, such as ``torch.cuda.FloatTensor``."""
    where = tensor._xp.device_type
    place = f"torch.{where}" if where in ("cuda", "meta") else "torch"
    kind = tensor.dtype
    names = (name for name, dtype in NAMED_DTYPES.items() if dtype is kind)
    return f"{place}.{next(names, f'{kind.name}Tensor')}"


@composite(namespaces=("Tensor",))
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Convert ``input`` to the dtype of ``other``.

    Args:
        input: Tensor of any shape.
        other: Tensor of the new dtype.

    Example:
        >>> tt.ones(2).type_as(tt.tensor([1]))
        tensor([1, 1])
    """
    return _cast(input, other.dtype)


@composite(namespaces=("Tensor",))
def cpu(input: Tensor, memory_format: Any = None) -> Tensor:
    """Move ``input`` to the CPU.

    Example:
        >>> tt.ones(2).cpu().device
        device(type='cpu')
    """
    return to(input, device="cpu", memory_format=memory_format)


@composite(namespaces=("Tensor",))
def cuda(
    input: Tensor, device: Any = None, non_blocking: Any = False, memory_format: Any = None
) -> Tensor:
    """Move ``input`` to a CUDA device, through CuPy.

    Raises:
        BackendUnavailableError: If there is no CuPy or no device.

    Example:
        >>> x = tt.ones(2)
        >>> x.cuda().device if tt.cuda.is_available() else x.device
        device(type='c...
    """
    where = "cuda" if device is None else device
    return to(input, device=where, non_blocking=non_blocking, memory_format=memory_format)


@composite(namespaces=("Tensor",))
def pin_memory(input: Tensor, device: Any = None) -> Tensor:
    """Copy ``input`` to pinned host memory, from which transfers to a GPU are asynchronous.

    Args:
        input: Tensor on the CPU.
        device: Accepted for compatibility.

    Returns:
        A copy through which gradients flow, or ``input`` itself if it is pinned already.

    Raises:
        RuntimeError: If there is no GPU, or ``input`` is on one.

    Example:
        >>> batch = tt.ones(2)
        >>> if tt.cuda.is_available():
        ...     batch = batch.pin_memory().to("cuda", non_blocking=True)
    """
    return input if is_pinned(input) else _pin(input)


@op(node="ToCopyBackward0")
def _pin(xp: Backend, input: Array) -> Array:
    return xp.pinned(input)


_pin.vjp(input=lambda xp, g: g)


@composite(namespaces=("Tensor",))
def is_pinned(input: Tensor, device: Any = None) -> bool:
    """Whether ``input`` is in pinned host memory.

    Args:
        input: Tensor of any shape.
        device: Accepted for compatibility.

    Example:
        >>> tt.ones(2).is_pinned()
        False
    """
    return input._xp.is_pinned(input._data)


def _cast_method(name: str, dtype: dtypes.dtype) -> None:
    """Define the method ``x.name()``, which is ``x.to(dtype)``."""

    def cast(input: Tensor, memory_format: Any = None) -> Tensor:
        if memory_format is None:
            return _cast(input, dtype)
        return to(input, dtype, memory_format=memory_format)

    cast.__name__ = cast.__qualname__ = name
    skipped = "  # doctest: +SKIP" if dtype in dtypes.LOW else ""  # requires an optional package
    cast.__doc__ = (
        f"Convert ``input`` to {dtype.name}.\n\nExample:\n"
        f"    >>> tt.ones(1).{name}().dtype{skipped}\n    tinytorch.{dtype.name}\n"
    )
    composite(cast, namespaces=("Tensor",), elementwise=True)


for _name, _dtype in {
    **dtypes.ALIASES, "bfloat16": dtypes.bfloat16, "byte": dtypes.uint8, "char": dtypes.int8,
    "bool": dtypes.bool,
}.items():  # fmt: skip
    _cast_method(_name, _dtype)


_NAMES = frozenset(("tensor", "other", "scalar", "scalar1", "scalar2"))


@composite
def result_type(*tensors: Any, **named: Any) -> dtypes.dtype:
    """Result dtype of an arithmetic operation on tensors and numbers.

    Tensors with dimensions have priority over 0-d tensors, and these over numbers.

    Args:
        *tensors: Tensors, Python numbers or NumPy's dtypes.
        **named: The same, by PyTorch's names: ``tensor``, ``other``, ``scalar``, ``scalar1`` and
            ``scalar2``.

    Raises:
        TypeError: If a name is unknown, or there is no argument.

    Example:
        >>> tt.result_type(tt.tensor([1, 2]), 1.5)
        tinytorch.float32
    """
    for name in named.keys() - _NAMES:
        raise TypeError(f"result_type() got an unexpected keyword argument '{name}'")
    tensors = tuple(map(to_python_number, (*tensors, *named.values())))
    dtypes_given = [t for t in tensors if not isinstance(t, (Tensor, int, float, complex))]
    if not dtypes_given:
        return result_dtype(tensors)
    found = [dtypes.as_dtype(t) for t in dtypes_given]
    rest = [t for t in tensors if isinstance(t, (Tensor, int, float, complex))]
    found += [result_dtype(rest)] if rest else []
    return functools.reduce(dtypes.promote_types, found)


@composite
def can_cast(from_: Any, to: Any) -> bool:
    """Whether a dtype can be converted to another without a loss of kind, such as float to int.

    Args:
        from_: The present dtype.
        to: The new dtype.

    Example:
        >>> tt.can_cast(tt.int32, tt.float32), tt.can_cast(tt.float32, tt.int32)
        (True, False)
    """
    return dtypes.as_dtype(from_).category <= dtypes.as_dtype(to).category
