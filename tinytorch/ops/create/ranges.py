"""Tensors of evenly spaced numbers."""

from __future__ import annotations

import builtins
import math
import struct
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.creation import creation
from ...dispatch.op import Array, Backend, Out
from ...dispatch.out import scalar_name
from ...dispatch.promotion import convert_to_write
from ...state import default_dtype
from ...warnings import warn
from ..checks import check_supported


def _to_number(name: str, value: Any) -> Any:
    """Convert a bound to a Python number; raise RuntimeError for a tensor with dimensions."""
    if not isinstance(value, Tensor):
        return _check_number(name, value.item() if hasattr(value, "item") else value)
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports 0-dimensional start and end tensors, but got one of shape "
            f"{list(value.shape)}"
        )
    return value.item()


def _check_number(name: str, value: Any) -> Any:
    """Return a Python number; raise TypeError for any other value."""
    if isinstance(value, (int, float, complex)):
        return value
    raise TypeError(
        f"{name}() received an invalid combination of arguments: expected numbers or tensors of "
        f"no dimensions, got {type(value).__name__}"
    )


@creation(default_dtype=False, out=Out.RESHAPE_OR_WARN)
def arange(
    xp: Backend,
    start: float | None = None,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
) -> Array:
    """Evenly spaced numbers from ``start`` to below ``end``, with the given step.

    Args:
        start: The first number; default 0. A single argument is ``end``.
        end: The end, which is not included.
        step: The distance between numbers; negative to count down.
        dtype: Default: int64 if all are ints, else the default dtype.

    Raises:
        RuntimeError: If ``step`` is 0 or has the wrong sign, or ``end`` is missing.
        TypeError: If there is no argument.

    Example:
        >>> tt.arange(1, 7, 2)
        tensor([1, 3, 5])
    """
    if end is None:
        if start is None:
            raise TypeError("arange() missing required argument 'end' (pos 1)")
        start, end = 0, start
    start = 0 if start is None else start
    if dtype is None and start.__class__ is end.__class__ is step.__class__ is int:
        if 0 < step and 0 <= start <= end < 1 << 31:
            numbers = xp.arange(start, end, step) if start or step > 1 else xp.arange(end)
            return numbers if numbers.itemsize == 8 else numbers.astype("int64")
    if not {start.__class__, end.__class__, step.__class__} <= _REALS:
        start, end, step = (_to_number("arange", v) for v in (start, end, step))
    if dtype is None:
        integers = all(isinstance(v, int) for v in (start, end, step))
        dtype = xp.native_dtype(dtypes.int64 if integers else default_dtype())
    if dtype.kind == "i" and dtype.itemsize == 8:
        start, end, step = (_truncate_finite(v) for v in (start, end, step))
    count = _count(start, end, step)
    if dtype.kind == "b":
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    if dtype.kind in "fcV":
        # Compute in float64, so that rounding errors of the step do not accumulate.
        return (xp.arange(count, dtype="float64") * step + start).astype(dtype)
    return (xp.arange(count, dtype="int64") * int(step) + int(start)).astype(dtype)


@creation(default_dtype=False, out=Out.RESHAPE)
def range(xp: Backend, start: float, end: float, step: float = 1, *, dtype: Any = None) -> Array:
    """Evenly spaced numbers from ``start`` to ``end`` inclusive; deprecated, as in PyTorch.

    Args:
        start: The first number.
        end: The end, which is the last number if it is a multiple of the step from ``start``.
        step: The distance between numbers; negative to count down.
        dtype: Default: the default dtype, also for ints.

    Raises:
        RuntimeError: If ``step`` is 0 or has the wrong sign.
        NotImplementedError: If the dtype is bool or complex.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", UserWarning)
        ...     tt.range(1, 3)
        tensor([1., 2., 3.])
    """
    warn(
        "tinytorch.range is deprecated, because its behavior is inconsistent with Python's range "
        "builtin. Instead, use tinytorch.arange, which produces values in [start, end)."
    )
    start, end, step = (_to_number("range", v) for v in (start, end, step))
    wanted = dtype or xp.native_dtype(default_dtype())
    if wanted.kind in "bc":
        shown = scalar_name(xp.dtype_of_native(wanted))
        raise NotImplementedError(f"\"range_cpu\" not implemented for '{shown}'")
    _count(start, end, step, "range")
    if wanted.kind in "iu":  # round the step, not the numbers
        start, end, step = (_truncate_finite(v) for v in (start, end, step))
        _count(start, end, step, "range")
    count = int((end - start) / step + 1)
    return (xp.arange(count, dtype="float64") * step + start).astype(wanted)


def _truncate_finite(value: Any) -> Any:
    """Truncate a finite float to an int, as torch does for the bounds of an int64 range."""
    return int(value) if isinstance(value, float) and math.isfinite(value) else value


def _count(start: Any, end: Any, step: Any, name: str = "arange") -> int:
    """Number of elements of ``arange``; raise RuntimeError for an invalid range."""
    if isinstance(start + end + step, complex):
        raise RuntimeError(f"{name}: value cannot be converted to type double without overflow")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"{name}: unsupported range: {start} -> {end}")
    if step == 0:
        raise RuntimeError(f"{name}: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"{name}: upper bound and lower bound inconsistent with step sign: start={start}, "
            f"end={end}, step={step}"
        )
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    return int(math.ceil((end - start) / step))


def _check_steps(name: str, steps: Any) -> int:
    """Convert a number of steps to a nonnegative int."""
    if not hasattr(steps, "__index__"):
        raise TypeError(
            f"{name}() received an invalid combination of arguments: steps must be int, not "
            f"{type(steps).__name__}"
        )
    count: int = steps.__index__()
    if count < 0:
        raise RuntimeError(f"{name}: number of steps must be non-negative, got {count}")
    return count


def _read_ends(
    xp: Backend, name: str, start: Any, end: Any, steps: int, dtype: Any
) -> tuple[Any, Any, Any]:
    """Check and convert the arguments of ``linspace`` and ``logspace``.

    Args:
        xp: The backend.
        name: Name of the operation.
        start: First number, or a 0-d tensor of it.
        end: Last number, or a 0-d tensor of it.
        steps: Number of elements.
        dtype: Native dtype of the result, or None.

    Returns:
        Both bounds as Python numbers, converted to the dtype, and the native dtype of the result.
    """
    start, end = _to_number(name, start), _to_number(name, end)
    dtype = _result_dtype(xp, name, start + end, dtype)
    if dtype.kind == "b" and steps > 1:
        check_supported(xp, f"{name}_cpu", xp.empty((), dtype), unsupported="b")
    if steps > (name == "logspace"):  # which computes a single number from the unconverted bound
        found = xp.dtype_of_native(dtype)
        start, end = convert_to_write(start, found), convert_to_write(end, found)
    return start, end, dtype


def space_evenly(xp: Backend, start: Any, end: Any, steps: int, dtype: Any) -> Any:
    """Compute ``steps`` numbers, each from the nearer end by one fused multiply-add.

    float16 and bfloat16 are rounded twice, as in PyTorch.
    """
    if dtype.kind == "c":
        part = xp.real(xp.empty((), dtype)).dtype
        parts = [
            space_evenly(xp, *ends, steps, part).astype(part)
            for ends in ((start.real, end.real), (start.imag, end.imag))
        ]
        return xp.stack(parts, -1).view(dtype)[..., 0]
    if steps < 2:
        return xp.asarray([start][:steps], dtype)
    intervals = max(steps - 1, 1)
    position = xp.arange(steps, dtype="float64")
    if dtype.kind in "iu" or dtype.itemsize == 8:
        step = (end - start) / intervals
        from_start, from_end = (
            _multiply_add(start, step, position),
            _multiply_add(end, -step, intervals - position),
        )
    else:
        start, end = xp.asarray(start, dtype), xp.asarray(end, dtype)
        wide = dtype if dtype.itemsize < 4 else "float64"  # in which products of float32 are exact
        step = ((end - start) / xp.asarray(intervals, dtype)).astype(wide)
        from_start = start.astype(wide) + step * position.astype(wide)
        from_end = end.astype(wide) - step * (intervals - position).astype(wide)
    return xp.where(position < steps // 2, from_start, from_end)


#: Largest number of steps for which a loop in Python is faster.
_FEW = 24
_REALS: Any = {int, float}
_write, _read = struct.Struct("f").pack, struct.Struct("f").unpack
_write_two, _read_two = struct.Struct("2f").pack, struct.Struct("2f").unpack


def _space_few(start: float, end: float, steps: int) -> list[float]:
    """``space_evenly`` for float32 in Python floats; the caller rounds the results.

    Packing a number as a float32 and unpacking it rounds it.
    """
    first, last = _read_two(_write_two(start, end))
    (width,) = _read(_write(last - first))
    (step,) = _read(_write(width / (steps - 1)))
    half = steps // 2
    return [
        first + step * position if position < half else last - step * (steps - 1 - position)
        for position in builtins.range(steps)
    ]


def _multiply_add(start: float, step: float, count: Any) -> Any:
    """``start + step * count``, rounded once, as by a processor's fused multiply-add.

    The rounding errors of the product and of the sum are added to the result. They can be computed
    because the products of ``count`` with the upper and lower half of the step's digits are exact.

    Reference: T. J. Dekker, A floating-point technique for extending the available precision,
    Numerische Mathematik 18 (1971).
    """
    product = count * step
    total = product + start
    if not math.isfinite(step):
        return total
    digits, exponent = math.frexp(step)
    short = math.ldexp(round(math.ldexp(digits, 26)), exponent - 26)
    added = total - start
    error = (start - (total - added)) + (product - added)
    return total + (error + ((count * short - product) + count * (step - short)))


def _result_dtype(xp: Backend, name: str, sample: Any, dtype: Any) -> Any:
    """Native dtype of a range: ``dtype``, or the default dtype for ``sample``, a bound."""
    default = default_dtype()
    if dtype is None:
        return xp.native_dtype(default.to_complex() if isinstance(sample, complex) else default)
    if isinstance(sample, complex) and dtype.kind != "c":
        shown = scalar_name(xp.dtype_of_native(dtype))
        raise RuntimeError(f"{name}: value cannot be converted to type {shown} without overflow")
    return dtype


@creation(default_dtype=False, out=Out.RESHAPE)
def linspace(
    xp: Backend, start: Any, end: Any, steps: int = 50, *, endpoint: bool = True,
    dtype: Any = None,
) -> Array:  # fmt: skip
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included.

    Args:
        start: The first number, or a 0-d tensor.
        end: The last number, or a 0-d tensor.
        steps: The number of elements; default 50.
        endpoint: Whether ``end`` is included; default True.
        dtype: Default: the default dtype.

    Returns:
        Tensor of shape ``(steps,)``.

    Raises:
        RuntimeError: If ``steps`` is negative.
        TypeError: If ``steps`` is not an int.

    Example:
        >>> tt.linspace(0, 1, 3)
        tensor([0.0000, 0.5000, 1.0000])
    """
    if steps.__class__ is int and 1 < steps <= _FEW and endpoint is True:
        native = xp.native_dtype(default_dtype()) if dtype is None else dtype
        # Use Python numbers if float32 can represent them and their difference.
        if native.char == "f" and start.__class__ in _REALS and end.__class__ in _REALS:
            if -1e38 < start < 1e38 and -1e38 < end < 1e38:
                return xp.asarray(_space_few(start, end, steps), native)
    steps = _check_steps("linspace", steps) + (not endpoint)
    start, end, dtype = _read_ends(xp, "linspace", start, end, steps, dtype)
    numbers = space_evenly(xp, start, end, steps, dtype).astype(dtype)
    return numbers if endpoint else numbers[:-1]


@creation(default_dtype=False, out=Out.RESHAPE)
def logspace(
    xp: Backend, start: Any, end: Any, steps: int = 50, base: float = 10.0, *, dtype: Any = None
) -> Array:
    """``base`` to the power of ``steps`` evenly spaced numbers from ``start`` to ``end``.

    Args:
        start: The first exponent, or a 0-d tensor.
        end: The last exponent, or a 0-d tensor.
        steps: The number of elements; default 50.
        base: The base of the powers; default 10.
        dtype: Default: the default dtype.

    Returns:
        Tensor of shape ``(steps,)``.

    Raises:
        RuntimeError: If ``steps`` is negative.
        TypeError: If ``steps`` is not an int.

    Example:
        >>> tt.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    steps = _check_steps("logspace", steps)
    start, end, dtype = _read_ends(xp, "logspace", start, end, steps, dtype)
    if not steps:
        return xp.zeros((0,), dtype)
    wide = dtype if dtype.kind == "c" else xp.native_dtype(dtypes.float64)
    held = wide if dtype.kind in "iu" or steps == 1 else dtype
    start, end = xp.asarray(start, held), xp.asarray(end, held)
    step = (end - start).astype(wide) / xp.asarray(max(steps - 1, 1), wide)
    place = xp.arange(steps, dtype="float64")
    first = start.astype(wide) + step * place.astype(wide)
    second = end.astype(wide) - step * (steps - 1 - place).astype(wide)
    exponents = first if steps == 1 else xp.where(place < steps // 2, first, second)
    numbers = xp.power(xp.asarray(base, wide), exponents)
    if dtype.kind in "fV" and dtype.itemsize == 2:  # convert float64 to 16 bits through float32
        numbers = numbers.astype("float32")
    return numbers.astype(dtype)
