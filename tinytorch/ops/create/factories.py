"""Creation of tensors: from data, filled, uninitialized, and with another tensor's properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ... import dtypes
from ...backends import load
from ...core.layout import check_format, contiguous_format
from ...core.tensor import Holder, Tensor, unwrap_holder, wrap
from ...dispatch.creation import (
    backend_for,
    check_size,
    copy_to_pinned,
    creation,
    make_uninitialized,
)
from ...dispatch.op import OPS, Array, Backend, Shape, composite, op
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write, dtype_of_number, fit_number
from ...state import default_dtype, place_of_new, settings
from ...warnings import warn, warn_once
from ..memory_order import draw_in_order, memory_order_like
from .sequences import PYTHON_SCALARS, array_from, array_of_scalars, as_list, has_items


@creation(backend_function="zeros")
def zeros(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """Tensor of zeros.

    Args:
        size: The shape, as a sequence or as ints one by one.
        dtype: Default: the default dtype.

    Example:
        >>> tt.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    return xp.zeros(size, dtype)


@creation(backend_function="ones", like=zeros)
def ones(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """Tensor of ones.

    Example:
        >>> tt.ones(3)
        tensor([1., 1., 1.])
    """
    return xp.ones(size, dtype)


@creation
def empty(
    xp: Backend, size: Shape, *, memory_format: Any = contiguous_format, dtype: Any = None
) -> Array:
    """Uninitialized tensor.

    Args:
        size: The shape, as a sequence or as ints one by one.
        memory_format: The order of the elements in memory; default row-major.
        dtype: Default: the default dtype.

    Raises:
        RuntimeError: If the format is ``preserve_format``, or requires another number of
            dimensions.

    Example:
        >>> tt.empty(2, 3).shape
        tinytorch.Size([2, 3])
    """
    if memory_format is contiguous_format or memory_format is None:
        if settings.values["deterministic"]:
            return make_uninitialized(xp, size, dtype)
        return xp.empty(size, dtype)
    order = check_format("empty", memory_format).order(len(size))
    if order is None:
        raise RuntimeError("empty: unsupported memory format Preserve")
    return draw_in_order(xp, size, order, lambda shape: make_uninitialized(xp, shape, dtype))


@creation(default_dtype=False)
def full(xp: Backend, size: Shape, fill_value: Any, *, dtype: Any = None) -> Array:
    """Tensor filled with one value.

    Args:
        size: The shape, a sequence of ints.
        fill_value: A number or a 0-d tensor.
        dtype: Default: the default dtype for a float, int64 for an int, bool for a bool.

    Example:
        >>> tt.full((2,), 3)
        tensor([3, 3])
    """
    kind = fill_value.__class__
    if (kind is float or kind is int and dtype is not None) and -1e38 < fill_value < 1e38:
        native = dtype
        if dtype is None:
            active, native = place_of_new()
            if active is not xp:
                native = xp.native_dtype(default_dtype())
        if native.kind == "f" and native.itemsize > 2:
            return xp.full(size, float(fill_value), native)
    if hasattr(fill_value, "item"):  # a tensor, or a NumPy scalar
        fill_value = fill_value.item()
    if not isinstance(fill_value, (bool, int, float, complex)):
        raise TypeError(
            "full(): argument 'fill_value' must be Number, not " + type(fill_value).__name__
        )
    if dtype is None:
        dtype = xp.native_dtype(dtype_of_number(fill_value))
    value = convert_to_write(fill_value, xp.dtype_of_native(dtype))
    return xp.full(size, fit_number(value, xp.dtype_of_native(dtype), xp), dtype)


@creation
def eye(xp: Backend, n: int, m: int | None = None, k: int = 0, *, dtype: Any = None) -> Array:
    """Matrix with ones on a diagonal and zeros elsewhere.

    Args:
        n: The number of rows.
        m: The number of columns; default ``n``.
        k: The diagonal; default the main one, positive numbers are above it.
        dtype: Default: the default dtype.

    Raises:
        RuntimeError: If a size is negative.

    Example:
        >>> tt.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    if m is None and n.__class__ is int and n >= 0:
        return xp.eye(n, None, k, dtype)
    for name, size in (("n", n), ("m", m)):
        if size is not None and not hasattr(size, "__index__"):
            raise TypeError(f"eye(): argument '{name}' must be int, not {type(size).__name__}")
        if size is not None and size < 0:
            raise RuntimeError(f"eye: {name} must be greater or equal to 0, got {size}")
    return xp.eye(n, m, k, dtype)


@composite
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    backend: Any = None,
) -> Tensor:
    """Create a tensor with a copy of ``data``.

    Args:
        data: A number, nested sequences of numbers, of tensors of one element or of arrays, an
            array, or a tensor.
        dtype: The dtype. Default: that of an array or NumPy scalar; the default dtype for
            Python floats, int64 for ints, bool for bools.
        device: The device; default that of the active backend.
        requires_grad: Whether the result is a leaf that requires grad.
        pin_memory: Whether to use pinned memory; only on the CPU, if there is a GPU.
        backend: A backend or its name, instead of the active one.

    Raises:
        ValueError: If nested sequences are ragged, or contain a tensor of several elements.
        RuntimeError: If an element is not a number, or exceeds the dtype.

    Example:
        >>> tt.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    if isinstance(data, Tensor):
        _warn_of_copying()
    xp = backend_for(device, backend)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    out = wrap(_to_array(unwrap_holder(data), xp, wanted), xp)
    out = copy_to_pinned(out) if pin_memory else out
    return out.requires_grad_() if requires_grad else out


def _warn_of_copying() -> None:
    """Warn that ``clone`` should be used to copy a tensor."""
    warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() "
        "or sourceTensor.detach().clone().requires_grad_(True), rather than tensor() or "
        "new_tensor() of it."
    )


def _to_array(data: Any, xp: Backend, dtype: dtypes.dtype | None) -> Array:
    """Convert the argument of ``tensor`` to an array of a backend.

    Args:
        data: A number, nested sequences, a tensor, an array or an object with an array interface.
        xp: The backend of the array.
        dtype: The dtype. Default: that of the data.

    Raises:
        TypeError: For text, or an array of a dtype that PyTorch does not have.
        RuntimeError: For any other object.
    """
    if data.__class__ in PYTHON_SCALARS:
        return array_of_scalars(data, xp, dtype or dtype_of_number(data))
    if data.__class__ is list:
        return array_from(data, xp, dtype)
    if isinstance(data, Tensor):
        raw = data._data if data._xp is xp else xp.receive(data._data, data._xp)
        return xp.array(raw, dtype=None if dtype is None else xp.native_dtype(dtype))
    data = xp.adopt(data)
    if hasattr(getattr(data, "dtype", None), "char"):
        xp.dtype_of(data)  # raises TypeError for a dtype that torch does not have
        data = _to_native_byte_order(data)
        if isinstance(data, xp.array_type):
            return xp.array(data, dtype=None if dtype is None else xp.native_dtype(dtype))
        return xp.convert(data, dtype)
    if isinstance(data, (bool, int, float, complex)):
        return array_from([data], xp, dtype).reshape(())
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type {type(data).__name__!r}")
    if isinstance(data, Sequence):
        return array_from(data, xp, dtype)
    if not hasattr(data, "__array__") and not hasattr(data, "__array_interface__"):
        if has_items(data):
            return array_from(as_list(data), xp, dtype)
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    array = xp.convert(data, dtype)
    xp.dtype_of(array)
    return array


def _to_native_byte_order(data: Any) -> Any:
    """Convert an array to the processor's byte order."""
    native = data.dtype.newbyteorder("=")
    return data if data.dtype == native else data.astype(native)


@composite
def as_tensor(data: Any, dtype: Any = None, device: Any = None, *, backend: Any = None) -> Tensor:
    """Convert ``data`` to a tensor, sharing its memory where possible.

    Args:
        data: A tensor, an array, a number or nested sequences.
        dtype: The dtype; default as for ``tensor``.
        device: The device; default that of ``data``, or of the active backend.
        backend: A backend or its name, instead of the active one.

    Example:
        >>> x = tt.ones(2)
        >>> tt.as_tensor(x) is x
        True
    """
    data = unwrap_holder(data)
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device, backend=backend)
    xp = backend_for(device, backend)
    data = xp.adopt(data)
    if isinstance(data, xp.array_type):
        xp.dtype_of(data)
        data = _to_native_byte_order(data)
        return wrap(data, xp.holding(data)).to(dtype=dtype, device=device, backend=backend)
    return tensor(data, dtype=dtype, backend=xp)


@composite
def asarray(
    obj: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
    *,
    backend: Any = None,
) -> Tensor:
    """Convert ``obj`` to a tensor, without a copy where possible; a tensor keeps its graph.

    Args:
        obj: A tensor, an array, a buffer of numbers, a number or nested sequences.
        dtype: The dtype; default as for ``tensor``.
        device: The device; default that of ``obj``, or of the active backend.
        copy: True always copies, False never copies; default None copies only if necessary.
        requires_grad: Whether the result requires grad. A tensor that requires grad still does if
            False is passed.
        backend: A backend or its name, instead of the active one.

    Raises:
        ValueError: If ``copy`` is False and sharing memory is impossible.
        RuntimeError: If ``copy`` is False and ``obj`` is a NumPy scalar.

    Example:
        >>> x = tt.ones(2)
        >>> tt.asarray(x) is x, tt.asarray(x, copy=True) is x
        (True, False)
    """
    if isinstance(obj, (memoryview, bytearray)):
        obj = load("numpy").library.asarray(obj)  # shares the memory, as torch does
    obj = unwrap_holder(obj)
    out = as_tensor(obj, dtype, device, backend=backend)
    shared = out is obj or out._data is obj
    if copy is False and not shared:
        if hasattr(obj, "dtype") and not hasattr(obj, "__setitem__"):
            raise RuntimeError("can't alias NumPy scalars. Make it an array, or let it be copied.")
        raise ValueError(f"can't alias {_describe_difference(obj, out)}.")
    if copy and shared:
        out = out.clone()
    return out.requires_grad_() if requires_grad and not out.requires_grad else out


def _describe_difference(obj: Any, out: Tensor) -> str:
    """Describe why ``out`` does not share the memory of ``obj``."""
    if not hasattr(getattr(obj, "dtype", None), "kind") or not hasattr(obj, "strides"):
        return "arbitrary sequence into a tensor"
    have = out._xp.dtype_of(obj) if not isinstance(obj, Tensor) else obj.dtype
    if have is not out.dtype:
        return f"tensor with dtype '{scalar_name(have)}' into dtype '{scalar_name(out.dtype)}'"
    return f"tensor into one on device '{out.device}'"


@creation
def scalar_tensor(xp: Backend, s: Any, *, dtype: Any = None) -> Array:
    """0-d tensor of a number.

    Args:
        s: A number.
        dtype: Default: the default dtype, also for ints.

    Example:
        >>> tt.scalar_tensor(3)
        tensor(3.)
    """
    return full.kernel(xp, (), s, dtype=dtype)


@composite
def from_numpy(ndarray: Any) -> Tensor:
    """Tensor that shares the memory of a NumPy array; on other devices, a copy.

    Args:
        ndarray: NumPy array of any shape, of a dtype that tensors have.

    Raises:
        TypeError: If ``ndarray`` is not an array, or torch does not have its dtype.
        ValueError: If its byte order is not the processor's.

    Example:
        >>> import numpy as np
        >>> tt.from_numpy(np.array([1, 2]))
        tensor([1, 2])
    """
    if isinstance(ndarray, Holder):
        return unwrap_holder(ndarray).detach()  # type: ignore[no-any-return]
    told = hasattr(ndarray, "__array_interface__") and hasattr(ndarray, "strides")
    if isinstance(ndarray, Tensor) or not told:
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    xp = backend_for("cpu")
    xp.dtype_of(ndarray)
    if not ndarray.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order, got "
            f"{ndarray.dtype.str}: its memory cannot be shared, but tensor() copies it"
        )
    if not ndarray.flags.writeable:
        warn_once(
            "The given NumPy array is not writable: writing to this tensor is refused. You may "
            "want to copy the array before converting it to a tensor."
        )
    return wrap(xp.from_numpy(ndarray), xp)


# -- by strides ------------------------------------------------------------------------------


@creation
def empty_strided(xp: Backend, size: Shape, stride: Sequence[int], *, dtype: Any = None) -> Array:
    """Uninitialized tensor with given sizes and strides.

    Args:
        size: The shape, a sequence of ints.
        stride: Steps, in elements, along each dimension; not negative.
        dtype: Default: the default dtype.

    Raises:
        RuntimeError: If sizes and strides differ in number, or one is negative.

    Example:
        >>> tt.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if len(stride) != len(size):
        raise RuntimeError(
            f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of "
            f"strides ({len(stride)})"
        )
    if any(s < 0 for s in stride):
        raise RuntimeError(f"empty_strided: strides must not be negative, got {list(stride)}")
    span = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    flat = make_uninitialized(xp, span, dtype)
    return xp.as_strided(flat, size, tuple(s * flat.itemsize for s in stride))


@creation
def empty_permuted(
    xp: Backend, size: Shape, physical_layout: Sequence[int], *, dtype: Any = None
) -> Array:
    """Uninitialized tensor whose dimensions have a given order in memory.

    Args:
        size: The shape, a sequence of ints.
        physical_layout: The dimensions, from the largest stride to the smallest.
        dtype: Default: the default dtype.

    Raises:
        RuntimeError: If ``physical_layout`` is not a permutation of the dimensions.

    Example:
        >>> tt.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
    """
    order = tuple(int(d) for d in physical_layout)
    if len(order) != len(size):
        raise RuntimeError(
            "empty_permuted: Number of dimensions in size does not match the length of the "
            f"physical_layout; i.e. len(size) = {len(size)} is not equal to len(physical_layout) = "
            f"{len(order)}"
        )
    for i, d in enumerate(order):
        if not 0 <= d < len(size):
            raise RuntimeError(
                f"empty_permuted: Dimension out of range (expected to be between 0 and "
                f"{len(size) - 1}, but got {d} at index {i})"
            )
    if len(set(order)) < len(order):
        raise RuntimeError(f"empty_permuted: Duplicate dim not allowed, got {list(order)}")
    memory = make_uninitialized(xp, tuple(size[d] for d in order), dtype)
    return memory.transpose(tuple(order.index(d) for d in range(len(order))))


@composite
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Interpret a buffer of bytes as a tensor of one dimension.

    Args:
        buffer: Bytes, or an object that has the buffer interface.
        dtype: The dtype as which the bytes are read.
        count: The number of elements; default all.
        offset: The number of bytes to skip; default 0.
        requires_grad: Whether the result is a leaf that requires grad.

    Returns:
        A tensor that shares the buffer's memory if the memory is writable and the active
        backend is on the CPU, else a copy.

    Raises:
        ValueError: If the buffer is too short, or its size is not a multiple of the element size.

    Example:
        >>> tt.frombuffer(bytes([1, 2, 3]), dtype=tt.uint8, offset=1)
        tensor([2, 3], dtype=tinytorch.uint8)
    """
    host = load("numpy").library
    found = host.frombuffer(buffer, dtypes.as_dtype(dtype).dtype, count, offset)
    tensor: Any = from_numpy(found if found.flags.writeable else found.copy())
    return tensor.requires_grad_() if requires_grad else tensor  # type: ignore


if TYPE_CHECKING:
    from ...core.device import device as Device


class Placement(TypedDict, total=False):
    """Options of the creation functions that use another tensor's properties."""

    dtype: dtypes.dtype | None
    layout: Any
    device: Device | str | int | None
    pin_memory: bool
    requires_grad: bool
    memory_format: Any
    backend: Backend | str | None
    shape: Any


def _create_like(name: str, input: Tensor, size: Any, options: Any, *values: Any) -> Tensor:
    """Call a creation function with ``input``'s shape, dtype and backend as defaults.

    Args:
        name: Name of the operation, such as ``"full"``.
        input: The tensor whose properties are used.
        size: Another shape, or None.
        options: Keywords of the call.
        *values: Further positional arguments of the operation.
    """
    data = input._data
    if not options and (data.flags.c_contiguous if size is None else not values):
        xp, shape = input._xp, data.shape if size is None else check_size(name, size)
        return wrap(OPS[name].kernel(xp, shape, *values, dtype=data.dtype), xp)
    if options.get("device") is None and options.get("backend") is None:
        options["backend"] = input._xp
    if options.get("dtype") is None:
        options["dtype"] = input.dtype
    wanted = options.pop("memory_format", None)
    size = options.pop("shape", size)
    if size is not None:
        return OPS[name].function(size, *values, **options)  # type: ignore[no-any-return]
    order, _ = memory_order_like(input._data, wanted)
    out: Tensor = OPS[name].function([input.shape[d] for d in order], *values, **options)
    out._data = draw_in_order(out._xp, input.shape, order, lambda shape: out._data)
    return out


@op
def _zeros_like(xp: Backend, input: Array) -> Array:
    if input.flags.c_contiguous:
        return xp.zeros(input.shape, input.dtype)
    order, _ = memory_order_like(input, None)
    return draw_in_order(xp, input.shape, order, lambda shape: xp.zeros(shape, input.dtype))


@composite(elementwise=True, fast=_zeros_like)
def zeros_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Tensor of zeros with the shape, dtype and device of ``input``.

    Args:
        input: The tensor whose properties are used.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.zeros_like(tt.tensor([1, 2]))
        tensor([0, 0])
    """
    return _create_like("zeros", input, None, options)


@op
def _ones_like(xp: Backend, input: Array) -> Array:
    if input.flags.c_contiguous:
        return xp.ones(input.shape, input.dtype)
    order, _ = memory_order_like(input, None)
    return draw_in_order(xp, input.shape, order, lambda shape: xp.ones(shape, input.dtype))


@composite(elementwise=True, fast=_ones_like)
def ones_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Tensor of ones with the shape, dtype and device of ``input``.

    Args:
        input: The tensor whose properties are used.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.ones_like(tt.tensor([1, 2]))
        tensor([1, 1])
    """
    return _create_like("ones", input, None, options)


@composite
def empty_like(input: Tensor, **options: Unpack[Placement]) -> Tensor:
    """Uninitialized tensor with the shape, dtype and device of ``input``.

    Args:
        input: The tensor whose properties are used.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.empty_like(tt.zeros(2, 3)).shape
        tinytorch.Size([2, 3])
    """
    return _create_like("empty", input, None, options)


@composite(elementwise=True)
def full_like(input: Tensor, fill_value: Any, **options: Unpack[Placement]) -> Tensor:
    """Tensor filled with one value, with the shape, dtype and device of ``input``.

    Args:
        input: The tensor whose properties are used.
        fill_value: The value, a number.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.full_like(tt.zeros(2), 7)
        tensor([7., 7.])
    """
    return _create_like("full", input, None, options, fill_value)


@composite(namespaces=("Tensor",))
def new_zeros(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Tensor of zeros with another shape, and the dtype and device of ``input``.

    Args:
        input: Tensor of any shape.
        *size: The shape, as a sequence or as ints one by one.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.tensor([1]).new_zeros(2)
        tensor([0, 0])
    """
    return _create_like("zeros", input, _read_size(size, options), options)


@composite(namespaces=("Tensor",))
def new_ones(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Tensor of ones with another shape, and the dtype and device of ``input``.

    Args:
        input: Tensor of any shape.
        *size: The shape, as a sequence or as ints one by one.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.tensor([1]).new_ones(2)
        tensor([1, 1])
    """
    return _create_like("ones", input, _read_size(size, options), options)


@composite(namespaces=("Tensor",))
def new_empty(input: Tensor, *size: int | Sequence[int], **options: Unpack[Placement]) -> Tensor:
    """Uninitialized tensor with another shape, and the dtype and device of ``input``.

    Args:
        input: Tensor of any shape.
        *size: The shape, as a sequence or as ints one by one.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.tensor([1]).new_empty(2).dtype
        tinytorch.int64
    """
    return _create_like("empty", input, _read_size(size, options), options)


@composite(namespaces=("Tensor",))
def new_full(input: Tensor, size: Shape, fill_value: Any, **options: Unpack[Placement]) -> Tensor:
    """Tensor filled with one value, with another shape and the dtype and device of ``input``.

    Args:
        input: Tensor of any shape.
        size: The shape, a sequence.
        fill_value: The value.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.tensor([1]).new_full((2,), 5)
        tensor([5, 5])
    """
    return _create_like("full", input, size, options, fill_value)


def _read_size(size: tuple[Any, ...], options: Any) -> Any:
    """The shape that is passed as ``size=``, as one sequence, or as separate ints."""
    if "size" in options:
        return options.pop("size")
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


@composite(namespaces=("Tensor",))
def new_tensor(input: Tensor, data: Any, **options: Unpack[Placement]) -> Tensor:
    """``tt.tensor(data)`` with the dtype and device of ``input``.

    Args:
        input: Tensor of any shape.
        data: A number, nested sequences, an array or a tensor; it is copied.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.zeros(1).new_tensor([1, 2])
        tensor([1., 2.])
    """
    given: Any = options
    if given.get("dtype") is None:
        given["dtype"] = input.dtype
    if given.get("device") is None:
        given["backend"] = input._xp
    return tensor(data, **given)


@composite(namespaces=("Tensor",))
def new_empty_strided(
    input: Tensor, size: Shape, stride: Sequence[int], **options: Unpack[Placement]
) -> Tensor:
    """Uninitialized tensor with given sizes and strides, and the dtype and device of ``input``.

    Args:
        input: Tensor of any shape.
        size: The shape, a sequence.
        stride: Steps, in elements, along each dimension.
        **options: ``dtype``, ``device`` and ``requires_grad``, if they differ from ``input``'s.

    Example:
        >>> tt.tensor([1]).new_empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if options:
        return _create_like("empty_strided", input, size, options, stride)
    xp = input._xp
    shape = check_size("empty_strided", size)
    return wrap(empty_strided.kernel(xp, shape, stride, dtype=input._data.dtype), xp)
