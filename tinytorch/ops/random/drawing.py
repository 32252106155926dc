"""What random operations share: their engine, the order of drawing, bounds and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...dispatch.op import Array, Backend
from ...dispatch.out import scalar_name
from ...state import DRAWN
from ...state import generator as generator_of
from ...warnings import warn


def engine_of(name: str, xp: Backend, generator: Any) -> Any:
    """What draws for a call: the generator's engine, or that of the backend's default.

    Raises:
        TypeError: If ``generator`` is no ``Generator``.
        RuntimeError: If it draws for another backend.
    """
    default = generator_of(xp)
    engine = getattr(default, "_engine", None)  # raises inside a vmap that refuses
    if generator is None:
        return default if engine is None else engine
    engine = getattr(generator, "_engine", None)
    if engine is None:
        raise TypeError(
            f"{name}(): argument 'generator' must be Generator, not {type(generator).__name__}"
        )
    if generator.backend is not xp:
        theirs = generator.backend
        if theirs.device_type == xp.device_type and theirs.name == xp.name:
            wanted = f"{xp.device_type}:{xp.device_index(xp.here().empty(0))}"
            raise RuntimeError(
                f"{name}: the generator is on {generator.device}, the numbers are wanted on "
                f"{wanted}"
            )
        raise RuntimeError(
            f"{name}: Expected a '{xp.device_type}' device type for generator but found "
            f"'{theirs.device_type}' (backends {xp.name} and {theirs.name})"
        )
    told = DRAWN.get()
    if told is not None:
        told(engine)
    return engine


# -- bounds of integers ----------------------------------------------------------------------


def limits(dtype: dtypes.dtype) -> tuple[int, int]:
    """The lowest and highest integer that a dtype holds."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.is_floating_point:
        info = dtypes.finfo(dtype)
        return int(info.min), int(info.max)
    whole = dtypes.iinfo(dtype)
    return whole.min, whole.max


def integers(
    name: str, engine: Any, shape: Sequence[int], native: Any, low: int, high: int
) -> Array:
    """Integers in ``[low, high)`` as ``native``.

    Raises:
        RuntimeError: If there is none, or the dtype does not hold them.

    Warns:
        UserWarning: If a float dtype holds them with gaps only.
    """
    if low >= high:
        raise RuntimeError(
            f"{name}: random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if native.kind == "i" and native.itemsize == 8 and -(1 << 63) <= low and high <= 1 << 63:
        return engine.integers(low, high, shape, native)
    dtype = dtypes.as_dtype(native)
    if dtype.is_complex:
        raise RuntimeError(
            f"{name}: check_random_bounds handles only integral, floating-point and boolean "
            f"types, got {dtype.name}"
        )
    if dtype.is_floating_point:
        low, high = _rounded_low(low, dtype), _rounded_high(high, dtype)
    lowest, highest = limits(dtype)
    for bound, value in (("from", low), ("to - 1", high - 1)):
        if not lowest <= value <= highest:
            raise RuntimeError(f"{name}: {bound} is out of bounds for {dtype.name}: {value}")
        if dtype.is_floating_point:
            _warn_of_gaps(name, bound, value, dtype)
    return engine.integers(low, high, shape, native)


def _warn_of_gaps(name: str, bound: str, value: int, dtype: dtypes.dtype) -> None:
    digits = _mantissa(dtype)
    if abs(value) > 1 << digits:
        warn(
            f"{name}: {bound} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
            f"limitations {dtype.name} can support discrete uniform distribution only within this "
            f"range; got {value}",
        )


def _mantissa(dtype: dtypes.dtype) -> int:
    """Bits of a float's mantissa: 24 for float32."""
    return round(1 / dtypes.finfo(dtype).eps).bit_length()


def _rounded_high(high: int, dtype: dtypes.dtype) -> int:
    """The bound, lowered to the float below if the last integer would round up to it."""
    rounded, step = _rounded(high - 1, dtype)
    return rounded - step if rounded >= high else high


def _rounded_low(low: int, dtype: dtypes.dtype) -> int:
    """The bound, raised to the float above if the integer after it would round below it."""
    rounded, step = _rounded(low + 1, dtype)
    return rounded + step if rounded < low else low


def _rounded(value: int, dtype: dtypes.dtype) -> tuple[int, int]:
    """``value`` rounded to a float of the dtype, and the distance of floats around it."""
    step = 1 << max(abs(value).bit_length() - _mantissa(dtype), 0)
    quotient, rest = divmod(value, step)
    if 2 * rest > step or (2 * rest == step and quotient % 2):
        quotient += 1
    return quotient * step, step


# -- checks -------------------------------------------------------------------------------------


def check_probability(name: str, p: Any) -> None:
    """RuntimeError if ``p`` is not in ``[0, 1]``."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"{name} expects p to be in [0, 1], but got p={p}")


def check_normal(name: str, std: Any) -> None:
    """RuntimeError if ``std`` is negative or NaN."""
    if not std >= 0:
        raise RuntimeError(f"{name}: normal expects std >= 0.0, but found std {std}")


def check_uniform(low: float, high: float, dtype: dtypes.dtype) -> None:
    """RuntimeError unless ``[low, high)`` is a range that the dtype spans."""
    info = dtypes.finfo(dtype.to_real())
    for bound, value in (("from", low), ("to", high)):
        if not info.min <= value <= info.max:
            raise RuntimeError(f"uniform_: {bound} is out of bounds for {dtype.name}: {value}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
        )
    if high - low > info.max:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{scalar_name(dtype)}>::max(), but "
            f"found to={high} and from={low} which result in to-from to exceed the limit"
        )


def not_implemented(name: str, kernel: str, dtype: Any) -> NotImplementedError:
    """torch's error for a dtype that a random function does not draw."""
    word = scalar_name(dtypes.as_dtype(dtype))
    return NotImplementedError(f"{name}: \"{kernel}\" not implemented for '{word}'")
