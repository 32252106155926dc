"""Conversion of arguments for kernels: a common backend, tensors, a common dtype."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..core.tensor import Tensor, wrap
from ..state import current_backend, default_dtype

if TYPE_CHECKING:
    from .operation import Op

_NUMBERS = (bool, int, float, complex)


def tensors_in(op: Op, given: list[Any]) -> list[tuple[str, Tensor]]:
    """Return ``(parameter, tensor)`` for each tensor among the arguments.

    ``given`` has one argument for each parameter; a list of tensors in it becomes a tuple.

    Raises:
        TypeError: If the argument for a list of tensors is a tensor or not iterable.
    """
    found = []
    for i in op.plan.tensors:
        value = given[i]
        if isinstance(value, Tensor) and i != op.plan.sequence:
            found.append((op.plan.params[i], value))
        elif i == op.plan.sequence and value is not None:
            if isinstance(value, Tensor) or not hasattr(value, "__iter__"):
                raise TypeError(
                    f"{op.name}(): argument '{op.plan.params[i]}' (position {i + 1}) must be "
                    f"tuple of Tensors, not {type(value).__name__}"
                )
            given[i] = value = tuple(value)
            found += [(op.plan.params[i], v) for v in value if isinstance(v, Tensor)]
    return found


def common_backend(op: Op, given: list[Any]) -> Any:
    """Return the backend of the tensors among the arguments; the active one if there are none.

    Raises:
        RuntimeError: For tensors on different backends; 0-d CPU tensors go with anything.
    """
    found = tensors_in(op, given)
    if not found:
        return current_backend()
    name, first = found[0]
    xp = first._xp
    if all(t._xp is xp for _, t in found):
        return xp
    for name, tensor in found:  # a 0-d CPU tensor moves to the backend of the others
        if tensor._data.shape or tensor._xp.device_type != "cpu":
            first, xp = tensor, tensor._xp
            break
    return _move_scalars(op, given, found, (name, first), xp)


def _describe_devices(one: Tensor, other: Tensor) -> str:
    """Return the devices of two tensors, after the names of their backends if these differ."""
    names = one._xp.name, other._xp.name
    if names[0] == names[1]:
        return f"{one.device} and {other.device}"
    return f"{names[0]} ({one.device}) and {names[1]} ({other.device})"


def _move_scalars(op: Op, given: list[Any], found: Any, first: Any, xp: Any) -> Any:
    """Move the 0-d CPU tensors among the arguments to the backend ``xp``, and return ``xp``.

    Args:
        op: The operation.
        given: One argument for each parameter, changed in place.
        found: The pairs of ``tensors_in``.
        first: The pair of the tensor that decides the backend, for errors.
        xp: The backend of that tensor.

    Raises:
        RuntimeError: If another tensor is on another backend.
    """
    moved: dict[int, Tensor] = {}
    for name, tensor in found:
        if tensor._xp is xp:
            continue
        if tensor._data.shape or tensor._xp.device_type != "cpu":
            raise RuntimeError(
                f"{op.name}(): Expected all tensors to be on the same device, but found at least "
                f"two devices, {_describe_devices(first[1], tensor)}! Argument '{first[0]}' is on "
                f"backend '{xp.name}', argument '{name}' on backend '{tensor._xp.name}'; "
                "move one with .to()."
            )
        moved[id(tensor)] = tensor.to(backend=xp)
    for i in op.plan.tensors:
        value = given[i]
        if isinstance(value, tuple):
            given[i] = tuple(moved.get(id(v), v) for v in value)
        else:
            given[i] = moved.get(id(value), value)
    return xp


def to_tensor(op: Op, position: int, value: Any, xp: Any) -> Tensor:
    """Return a tensor for an argument given as a number, a list or an array.

    Args:
        op: The operation, for errors.
        position: Position of the parameter, for errors.
        value: The argument.
        xp: The backend of the tensor.

    Raises:
        TypeError: For anything else.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, _NUMBERS):
        return wrap(xp.convert(value, dtype_of_number(value)), xp)
    if isinstance(value, (list, tuple)):
        return wrap(convert_sequence(value, xp), xp)
    if isinstance(value, xp.array_type):
        return wrap(value, xp)
    if hasattr(value, "__array_interface__") and not isinstance(value, (str, bytes)):
        return wrap(xp.convert(value), xp)
    raise TypeError(
        f"{op.name}(): argument '{op.plan.params[position]}' (position {position + 1}) must be "
        f"Tensor, not {type(value).__name__}"
    )


def convert_sequence(value: Any, xp: Any, dtype: dtypes.dtype | None = None) -> Any:
    """Return a raw array of nested sequences; Python floats become the default dtype."""
    if dtype is None:
        leaf = value
        while isinstance(leaf, (list, tuple)) and leaf:
            leaf = leaf[0]
        array = xp.convert(value)
        if isinstance(leaf, (*_NUMBERS, list, tuple)):
            found = xp.dtype_of(array)
            if found is dtypes.float64:
                dtype = default_dtype()
            elif found is dtypes.complex128:
                dtype = default_dtype().to_complex()
        return array if dtype is None else array.astype(xp.native_dtype(dtype), copy=False)
    return xp.convert(value, dtype)


def dtype_of_number(value: Any) -> dtypes.dtype:
    """Return the dtype of a Python number."""
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, int):
        return dtypes.int64
    default = default_dtype()
    return default if isinstance(value, float) else default.to_complex()


def result_dtype(values: Any) -> dtypes.dtype:
    """Return torch's result type of tensors and numbers.

    Tensors with dimensions have priority over 0-d tensors, and these over Python numbers.
    """
    dims: dtypes.dtype | None = None
    zero: dtypes.dtype | None = None
    number: dtypes.dtype | None = None
    for value in values:
        if isinstance(value, Tensor):
            dtype = value.dtype
            if value._data.shape:
                dims = dtype if dims is None else dtypes.promote_types(dims, dtype)
            else:
                zero = dtype if zero is None else dtypes.promote_types(zero, dtype)
        else:
            dtype = dtype_of_number(value)
            number = dtype if number is None else dtypes.promote_types(number, dtype)
    combine = dtypes.combine_categories
    result = combine(dims, combine(zero, number))
    assert result is not None
    return result


def _promote_equally(values: Any) -> dtypes.dtype:
    """Return the common dtype of tensors where 0-d tensors have the same priority as others."""
    found: dtypes.dtype = reduce(dtypes.promote_types, [value.dtype for value in values])
    return found


def promote_operands(op: Op, given: list[Any], xp: Any) -> None:
    """Cast the operands among ``given`` to their common dtype, in place."""
    values = []
    for i in op.plan.operands:
        if i == op.plan.sequence:
            values.extend(given[i])
        elif given[i] is not None:
            values.append(given[i])
    if not values:
        return
    if op.promote == "difference":
        _check_no_bools(values)
    dtype = result_dtype(values) if op.promote != "alike" else _promote_equally(values)
    if dtype.category < 2 and _needs_floats(op, given):
        dtype = default_dtype()
    if not any(isinstance(value, Tensor) for value in values):
        # For numbers alone, as in ``add(1, 2.5)``, a kernel would return the widest dtype.
        first = op.plan.operands[0]
        given[first] = wrap(xp.asarray(given[first], dtype=xp.native_dtype(dtype)), xp)
    for i in op.plan.operands:
        value = given[i]
        if i == op.plan.sequence:
            given[i] = tuple(cast_tensor(v, dtype) for v in value)
        elif isinstance(value, Tensor):
            given[i] = cast_tensor(value, dtype)
        elif op.promote == "power" and i == 1 and dtype.category < 2:
            # The kernel raises an error for a negative number, so do not wrap it here.
            given[i] = value if value < 0 else convert_to_write(value, dtype)
        elif value is not None:
            if op.promote == "limits":
                value = convert_to_write(value, dtype)
            given[i] = fit_number(value, dtype, xp)


TWO_BOOLS = (
    "sub: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)


def _check_no_bools(values: list[Any]) -> None:
    """Raise RuntimeError for a difference with a bool or a tensor of bools."""
    bools = [v is True or v is False or getattr(v, "dtype", None) is dtypes.bool for v in values]
    if all(bools):
        raise RuntimeError(TWO_BOOLS)
    if any(bools):
        raise RuntimeError(
            "sub: Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )


def _needs_floats(op: Op, given: list[Any]) -> bool:
    """Whether integers become floats first: 300 stays 300, instead of wrapping to an uint8."""
    if op.promote == "quotient":
        return given[op.plan.params.index("rounding_mode")] is None
    return op.promote == "float"


def cast_tensor(tensor: Tensor, dtype: dtypes.dtype) -> Tensor:
    """Return the tensor in ``dtype``; a cast is recorded."""
    native = tensor._data.dtype
    if native is dtype.dtype or native == dtype.dtype:
        return tensor
    return tensor.to(dtype)


def fit_number(value: Any, dtype: dtypes.dtype, xp: Any) -> Any:
    """Return a Python number as a kernel for arrays of ``dtype`` accepts it.

    A number that is out of range of an integer dtype, which the library rejects, is wrapped and
    returned as a 0-d array, as is a number for a bool dtype.
    """
    if hasattr(value, "item"):
        value = value.item()  # a NumPy float64 is a float, but its results are float64
    if dtype.kind in "ui" and not isinstance(value, bool):
        limits = dtypes.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            if not -(1 << 63) <= value < 1 << 64:
                raise OverflowError(f"int too big to convert: {value}")
            wrapped = (int(value) - limits.min) % (1 << limits.bits) + limits.min
            return xp.asarray(wrapped, dtype=xp.native_dtype(dtype))
    if dtype.kind == "b":
        return xp.asarray(value, dtype=xp.native_dtype(dtype))
    # An int may be too large for the library's conversion of ints to floats.
    return float(value) if dtype.is_floating_point and isinstance(value, int) else value


def to_python_number(value: Any) -> Any:
    """Return a NumPy scalar as a Python number; anything else unchanged."""
    if isinstance(value, Tensor) or not hasattr(value, "item"):
        return value
    return value.item() if getattr(value, "shape", None) == () else value


def convert_to_write(value: Any, dtype: dtypes.dtype) -> Any:
    """Convert a Python number for writing it to a tensor of ``dtype``.

    Negative ints wrap in unsigned dtypes, as in C: -1 becomes 255 in uint8. A complex number
    without an imaginary part counts as real, and any number is converted to bool.

    Raises:
        RuntimeError: For a number beyond the range of ``dtype``, infinities and NaN for an integer
            dtype, and complex numbers for a real dtype.
    """
    if not isinstance(value, (int, float, complex)):
        return value
    if dtype.category > 1 and not isinstance(value, complex) and -_SMALL <= value <= _SMALL:
        return value
    if dtype.kind == "b":
        return bool(value)
    if isinstance(value, complex) and not dtype.is_complex and not value.imag:
        value = value.real
    if not (_fits_float if dtype.category > 1 else _fits_integer)(value, dtype):
        raise RuntimeError(
            f"value cannot be converted to type {_C_NAMES[dtype.name]} without overflow, got "
            f"{value}"
        )
    if dtype.category > 1:
        return value
    return int(value) % (1 << 8 * dtype.itemsize) if dtype.kind == "u" else int(value)


def _fits_float(value: Any, dtype: dtypes.dtype) -> bool:
    """Whether a float or complex dtype has a number in its range; infinities and NaN count, too."""
    if isinstance(value, complex):
        return dtype.is_complex and all(
            _fits_float(part, dtype) for part in (value.real, value.imag)
        )
    beyond = abs(value) > _LARGEST[dtype.name]
    return not beyond or isinstance(value, float) and math.isinf(value)


def _fits_integer(value: Any, dtype: dtypes.dtype) -> bool:
    """Whether an integer dtype has a number in its range, where negative ints wrap if unsigned."""
    limits = dtypes.iinfo(dtype)
    # For an unsigned dtype, an int may be as low as ``-max``, but a float must not be negative.
    least = limits.min or -limits.max * isinstance(value, int)
    return not isinstance(value, complex) and least <= value <= limits.max


#: In the range of every floating-point dtype.
_SMALL = 128
_LARGEST = {d.name: dtypes.finfo(d).max for d in dtypes.ALL if d.category > 1}

#: Names of the dtypes in PyTorch's error messages.
_C_NAMES = {
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "float8_e4m3fn": "c10::Float8_e4m3fn", "float8_e4m3fnuz": "c10::Float8_e4m3fnuz",
    "float8_e5m2": "c10::Float8_e5m2", "float8_e5m2fnuz": "c10::Float8_e5m2fnuz",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip
