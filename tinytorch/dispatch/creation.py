"""``@creation``: operations that create a tensor on the active backend or that of an argument.

Also PyTorch's legacy types of tensors, one for each dtype: ``FloatTensor``, ``LongTensor``, ...
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, overload

from .. import dtypes
from ..backends.base import Array, Backend
from ..core import torch_function
from ..core.device import backend_for as backend_for
from ..core.device import backend_of_device as backend_of_device
from ..core.device import device as Device
from ..core.layout import check_layout
from ..core.tensor import Size, Tensor, wrap
from ..dtypes import TENSOR_TYPES as DTYPES
from ..state import current_backend, default_dtype, set_backend, set_default_dtype, settings
from ..state.recorder import record_operation
from ..warnings import warn
from .arguments import bind, positional_arguments, wrong_type_error
from .arguments import check_size as check_size
from .generated_functions import install_slow_path, make_function
from .op import Op, Operation, declare, register, set_function
from .operation import Form, Out
from .out import write_to_out

#: The keywords that every creation function accepts besides its own.
_COMMON: dict[str, tuple[str, Any]] = {
    "out": ("Tensor | None", None), "dtype": ("dtype | None", None), "layout": ("Any", None),
    "device": ("device | str | int | None", None), "pin_memory": ("bool", False),
    "requires_grad": ("bool", False), "backend": ("Backend | str | None", None),
}  # fmt: skip

#: NumPy's names of the parameters of creation functions.
_SPELLINGS = {"shape": "size", "stop": "end", "num": "steps", "N": "n", "M": "m"}


@overload
def creation(kernel: Callable[..., Any], /, **options: Any) -> Operation[..., Tensor]: ...
@overload
def creation(
    kernel: None = None, /, **options: Any
) -> Callable[[Callable[..., Any]], Operation[..., Tensor]]: ...
def creation(kernel: Any = None, /, **options: Any) -> Any:
    """Register a kernel ``(xp, ..., *, dtype)`` as a creation function.

    The kernel gets a native dtype: that of ``dtype=``, else the default dtype. With
    ``default_dtype=False`` it gets None instead of the default, and derives the dtype from its
    arguments. torch's common keywords (``out, dtype, device, requires_grad, ...``) and ``backend``
    are added to its own. ``like`` is a function whose docstring describes the parameters that the
    kernel's does not.
    """
    if kernel is None:
        return partial(creation, **options)
    has_default, like = options.pop("default_dtype", True), options.pop("like", None)
    spec = declare(kernel, None, options)
    spec.registered.default_dtype = has_default
    set_function(
        spec, install_slow_path(make_function(spec.name), spec, Form.CREATION, _create_slowly)
    )
    register(spec, kernel, _COMMON, like)
    return spec.function


def _create_slowly(
    op: Op, function: Any, values: tuple[Any, ...], more: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run a call of a creation function that is not on its fast path.

    Args:
        op: The creation operation.
        function: Its public function, which overrides get.
        values: Arguments for the parameters that accept a position, also those given by name.
        more: Further arguments by position.
        options: All arguments by name.
    """
    args = positional_arguments(op, values, more, options)
    common = {name: options.pop(name) for name in _COMMON if name in options}
    for name in _SPELLINGS.keys() & options.keys():
        if _SPELLINGS[name] in op.plan.index and _SPELLINGS[name] not in options:
            options[_SPELLINGS[name]] = options.pop(name)
    override = torch_function.call_override(op, function, args, {**options, **common})
    if override is not torch_function.NO_OVERRIDE:
        return override
    return record_operation(partial(_create, common=common), op, args, options)


def _create(op: Op, args: tuple[Any, ...], given: Any, common: dict[str, Any]) -> Tensor:
    """Create a tensor, or write it to ``out=``.

    Args:
        op: The creation operation.
        args: Arguments by position.
        given: Arguments by name, of the kernel's own parameters.
        common: Arguments by name, of the parameters in ``_COMMON``.
    """
    target = common.get("out")
    dtype = common.get("dtype")
    if "layout" in common:
        check_layout(op.name, common["layout"])
    if target is None:
        xp = backend_for(common.get("device"), common.get("backend"))
    else:
        xp = target._xp
        dtype = _dtype_of_out(op.name, target, dtype)
    values = bind(op, args, given)
    at = op.plan.index["dtype"]
    if dtype is not None:
        values[at] = xp.native_dtype(dtypes.as_dtype(dtype))
    elif op.registered.default_dtype:
        values[at] = xp.native_dtype(default_dtype())
    if op.plan.sizes is not None:
        values[op.plan.sizes] = check_size(op.name, values[op.plan.sizes])
    out = wrap(op.run(xp, tuple(values)), xp)
    if target is not None:
        if op.out in (Out.RESHAPE, Out.RESHAPE_OR_WARN):
            out = _reshape_like(target, out, op.out is Out.RESHAPE_OR_WARN)
        return write_to_out(target, out, op, warn=False)  # type: ignore[no-any-return]
    if common.get("pin_memory"):
        out = copy_to_pinned(out)
    return set_requires_grad(op.name, out, common.get("requires_grad", False))


def _reshape_like(target: Tensor, out: Tensor, warns: bool) -> Tensor:
    """Return the created tensor ``out`` in the shape of ``target``, the argument ``out=``.

    If the numbers of elements differ, it is returned unchanged; with ``warns`` there is a warning
    if ``target`` is not empty.
    """
    if out.numel() == target.numel():
        return out.reshape(target.shape)
    if warns and target.numel():
        warn(
            f"The number of elements in the out tensor of shape {list(target.shape)} is "
            f"{target.numel()} which does not match the computed number of elements "
            f"{out.numel()}. The out tensor will be resized to {list(out.shape)}."
        )
    return out


def set_requires_grad(name: str, out: Tensor, requires_grad: Any) -> Tensor:
    """Return ``out`` with its ``requires_grad`` set; TypeError if that is neither bool nor None."""
    if requires_grad.__class__ is not bool and requires_grad is not None:
        raise wrong_type_error(name, "'requires_grad'", bool, requires_grad)
    return out.requires_grad_() if requires_grad else out


def make_uninitialized(xp: Backend, shape: Any, dtype: Any) -> Array:
    """Return a new array of arbitrary elements.

    Under deterministic algorithms they are NaN, True or the largest integer, unless
    ``utils.deterministic.fill_uninitialized_memory`` is off.
    """
    array = xp.empty(shape, dtype)
    if settings.values["deterministic"] and settings.values["fill"]:
        kind = array.dtype.kind
        whole = kind in "iu" and dtypes.iinfo(xp.dtype_of(array)).max
        array[...] = whole or (True if kind == "b" else math.nan)
    return array


def copy_to_pinned(tensor: Tensor) -> Tensor:
    """Return a copy of a CPU tensor in pinned memory; RuntimeError without a GPU, or on one."""
    return wrap(tensor._xp.pinned(tensor._data), tensor._xp)


def _dtype_of_out(name: str, out: Tensor, dtype: Any) -> dtypes.dtype:
    """Return the dtype of ``out``; RuntimeError if ``dtype=`` is another one."""
    if dtype is not None and dtypes.as_dtype(dtype) is not out.dtype:
        raise RuntimeError(
            f"{name}: dtype {dtypes.as_dtype(dtype).name} does not match dtype of out parameter "
            f"({out.dtype.name})"
        )
    return out.dtype


#: Legacy types with their dtypes, also those that ``type()`` accepts only as a string.
NAMED_DTYPES = {
    **DTYPES,
    "ComplexFloatTensor": dtypes.complex64,
    "ComplexDoubleTensor": dtypes.complex128,
}


class TensorType(type):
    """Metaclass of the legacy types: calling one creates a tensor, which is an instance of it."""

    dtype: dtypes.dtype
    device_type: str

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> TensorType:
        if bases:
            raise TypeError(f"type 'torch.{bases[0].__name__}' is not an acceptable base type")
        return super().__new__(mcs, name, bases, members)

    def __call__(cls, *args: Any, device: Any = None, **others: Any) -> Tensor:
        return make_legacy_tensor(
            cls.dtype, cls.device_type if device is None else device, args, others
        )

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor):
            return False
        same_place = (cls.device_type == "cuda") == (instance._xp.device_type == "cuda")
        return same_place and instance.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def make_legacy_tensor(
    dtype: dtypes.dtype, device: Any, args: tuple[Any, ...], others: dict[str, Any]
) -> Tensor:
    """Return the tensor that a legacy type creates from sizes, a Size or data."""
    return make_from_legacy_arguments(
        backend_of_device(device), dtype, *_positional_arguments(args, others)
    )


def legacy_constructor_source(*args: Any, device: Any = None, **others: Any) -> Tensor:
    """Return the source of ``Tensor(...)``: its tensor, its data, or an uninitialized tensor."""
    xp = current_backend()
    given = xp.device_type if device is None else Device(device).type
    if given != xp.device_type:
        raise RuntimeError(
            f"legacy constructor expects device type: {xp.device_type} but device type: {given} "
            "was passed"
        )
    args = _positional_arguments(args, others)
    if len(args) == 1 and isinstance(args[0], Tensor):
        return args[0]
    return make_from_legacy_arguments(xp, default_dtype(), *args)


def _positional_arguments(args: tuple[Any, ...], others: dict[str, Any]) -> tuple[Any, ...]:
    """Return the positional arguments, or the only argument if it was given by keyword."""
    name = next(iter(others), None)
    if name is None:
        return args
    if args or len(others) > 1 or name not in ("data", "other", "size", "storage"):
        raise _invalid_arguments_error(args, others)
    return (Size(others[name]) if name == "size" else others[name],)


def _invalid_arguments_error(args: tuple[Any, ...], others: dict[str, Any]) -> TypeError:
    """Return the error for arguments of a legacy constructor, by position and by name."""
    given = [type(value).__name__ for value in args]
    given += [f"{name}={type(value).__name__}" for name, value in others.items()]
    return TypeError(
        f"new() received an invalid combination of arguments - got ({', '.join(given)}), but "
        "expected sizes, data, a tensor or a storage"
    )


def make_from_legacy_arguments(xp: Any, dtype: dtypes.dtype, *args: Any) -> Tensor:
    """Return a tensor of a backend and dtype from the arguments of a legacy constructor.

    These are a tensor or a storage, whose memory it shares, data to copy, or a shape.
    """
    one: Any = args[0] if len(args) == 1 else None
    if isinstance(one, Tensor):
        if one.dtype is not dtype:
            raise TypeError(f"new(): expected a tensor of {dtype}, got {one.dtype}")
        return wrap(one._data, one._xp)
    if hasattr(one, "_check_dtype"):  # a storage
        one._check_dtype(dtype)
        return wrap(one._array.reshape(-1).view(xp.native_dtype(dtype)), one._xp)
    if len(args) == 1 and (isinstance(one, bool) or not hasattr(one, "__index__")):
        if not isinstance(one, Size):
            _check_data(one)
            return wrap(xp.convert(one, dtype), xp)
    elif len(args) == 1 and getattr(one, "ndim", 0) > 0:  # an array has an __index__, too
        return wrap(xp.convert(one, dtype), xp)
    return wrap(make_uninitialized(xp, _legacy_shape(args), xp.native_dtype(dtype)), xp)


def _legacy_shape(args: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape of sizes given one by one or as a Size; ``(0,)`` without any."""
    sizes = args[0] if len(args) == 1 and isinstance(args[0], Size) else args
    try:
        shape = tuple(operator.index(n) for n in sizes) if args else (0,)
    except TypeError:
        raise _invalid_arguments_error(args, {}) from None
    negative = [n for n in shape if n < 0]
    if negative:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {negative[0]}: {list(shape)}"
        )
    return shape


def _check_data(data: Any) -> None:
    """Raise TypeError if ``data`` is not a sequence, the data of a legacy constructor."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, dict) or not hasattr(data, "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")


def tensor_type(name: str, device_type: str = "cpu") -> TensorType:
    """Return the legacy type called ``name`` for tensors on devices of a type."""
    module = "tinytorch" if device_type == "cpu" else f"tinytorch.{device_type}"
    dtype = DTYPES[name]
    prefix = "tt" if device_type == "cpu" else f"tt.{device_type}"
    example = f"isinstance(tt.zeros(2, dtype=tt.{dtype.name}), tt.{name})"
    if dtype is dtypes.bfloat16 or device_type != "cpu":  # NumPy does not have these
        example = f"not isinstance(tt.zeros(2, device='cpu'), {prefix}.{name})"
    text = f"""Tensors of dtype {dtype.name} on the {device_type}.

    Called with sizes it returns an uninitialized tensor, called with data a tensor of that data, as
    ``tinytorch.tensor`` does. ``isinstance`` checks whether a tensor has the dtype and device.

    Example:
        >>> {example}
        True
    """
    members = {"__module__": module, "__doc__": text, "dtype": dtype, "device_type": device_type}
    return TensorType(name, (), members)


FloatTensor: type[Tensor] = tensor_type("FloatTensor")  # type: ignore[assignment]
DoubleTensor: type[Tensor] = tensor_type("DoubleTensor")  # type: ignore[assignment]
HalfTensor: type[Tensor] = tensor_type("HalfTensor")  # type: ignore[assignment]
BFloat16Tensor: type[Tensor] = tensor_type("BFloat16Tensor")  # type: ignore[assignment]
LongTensor: type[Tensor] = tensor_type("LongTensor")  # type: ignore[assignment]
IntTensor: type[Tensor] = tensor_type("IntTensor")  # type: ignore[assignment]
ShortTensor: type[Tensor] = tensor_type("ShortTensor")  # type: ignore[assignment]
CharTensor: type[Tensor] = tensor_type("CharTensor")  # type: ignore[assignment]
ByteTensor: type[Tensor] = tensor_type("ByteTensor")  # type: ignore[assignment]
BoolTensor: type[Tensor] = tensor_type("BoolTensor")  # type: ignore[assignment]


def dtype_and_device(kind: Any) -> tuple[dtypes.dtype, str] | None:
    """Return the dtype and device type of a legacy type or its name; None for anything else."""
    if isinstance(kind, TensorType):
        return kind.dtype, kind.device_type
    if not isinstance(kind, str):
        return None
    head, _, name = kind.rpartition(".")
    if head not in ("torch", "torch.cuda", "tinytorch", "tinytorch.cuda"):
        return None
    dtype = NAMED_DTYPES.get(name)
    return None if dtype is None else (dtype, "cuda" if head.endswith("cuda") else "cpu")


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype and, for the types of ``cuda``, the backend of this thread.

    Deprecated, as in PyTorch: see ``set_default_dtype`` and ``set_default_device``.

    Args:
        t: ``tinytorch.DoubleTensor``, ``"torch.cuda.FloatTensor"``, ...

    Raises:
        TypeError: If ``t`` is none of these, or not floating point.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.set_default_tensor_type(tt.DoubleTensor)
        ...     print(tt.get_default_dtype())
        ...     tt.set_default_tensor_type("torch.FloatTensor")
        tinytorch.float64
    """
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    found = dtype_and_device(t)
    if found is None:
        _raise_invalid_type(t)
    dtype, device_type = found
    backend = backend_of_device(device_type) if device_type != "cpu" else None
    set_default_dtype(dtype)
    if backend is not None:
        set_backend(backend)


def _raise_invalid_type(kind: Any) -> NoReturn:
    raise TypeError(f"invalid type object: only floating-point types are supported as the default "
                    f"type, got {kind!r}")  # fmt: skip


def typename(obj: Any, /) -> str:
    """Name of a tensor's type, such as ``"torch.FloatTensor"``; for other objects, of their class.

    Args:
        obj: Anything.

    Example:
        >>> tt.typename(tt.ones(1, dtype=tt.int64)), tt.typename([])
        ('torch.LongTensor', 'list')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    cls = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(cls, "__module__", None)
    return cls.__qualname__ if module in (None, "builtins") else f"{module}.{cls.__qualname__}"


for _function in (set_default_tensor_type, typename):
    _function.__module__ = "tinytorch"
