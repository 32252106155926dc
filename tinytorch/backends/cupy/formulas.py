"""Functions that CuPy computes less accurately than PyTorch, by other formulas.

CuPy takes the floor of a rounded quotient, so that ``1.0 // 0.1`` is 10 and ``1.0 % inf`` is NaN.
It computes the remainder of int64 in float64. It multiplies ``exp(-|x|)`` by a Bessel function
that overflows. Its ``nextafter`` goes from 0 to the smallest normal float32, because kernels are
compiled with ``-ftz=true``, and in float16 from infinity to NaN. NumPy and PyTorch compute
quotients from ``fmod``, which is exact.
"""

from __future__ import annotations

import math
from typing import Any

from ..base import Array

#: From here on the terms of the asymptotic series fall below the rounding of float64.
_FAR = 30.0
#: By dtype: the integer dtype of its size, and the bits of -0.0, of infinity and of a NaN.
_BITS = {
    "float16": ("int16", -(2**15), 0x7C00, 0x7E00),
    "float32": ("int32", -(2**31), 0x7F800000, 0x7FC00000),
}


def _has_floats(*operands: Any) -> bool:
    """Whether an operand is a Python float or an array of floats."""
    return any(isinstance(x, float) or getattr(x, "dtype", None) is not None
               and x.dtype.kind == "f" for x in operands)  # fmt: skip


def _other_side(rest: Array, divisor: Any) -> Array:
    """Whether a nonzero remainder has another sign than the divisor, element by element."""
    return (rest != 0) & ((rest < 0) != (divisor < 0))


def remainder(library: Any, a: Any, b: Any) -> Array:
    """Remainder of ``floor_divide``, with the sign of ``b``."""
    if not _has_floats(a, b):
        return library.remainder(a, b)
    rest = library.fmod(a, b)
    return library.where(_other_side(rest, b), rest + b, rest)


def floor_divide(library: Any, a: Any, b: Any) -> Array:
    """Floor of the exact quotient; ``a / b`` if ``b`` is 0."""
    if not _has_floats(a, b):
        return library.floor_divide(a, b)
    rest = library.fmod(a, b)
    quotient = (a - rest) / b
    quotient = library.where(_other_side(rest, b), quotient - 1, quotient)
    # The quotient is an integer, but its division may have been rounded to a neighbor.
    whole = library.floor(quotient)
    whole = library.where(quotient - whole > 0.5, whole + 1, whole)
    exact = library.true_divide(a, b)
    return library.where(quotient == 0, library.copysign(library.zeros_like(whole), exact),
                         library.where(b == library.zeros_like(whole), exact, whole))  # fmt: skip


def fmod(library: Any, a: Any, b: Any) -> Array:
    """Remainder with the sign of ``a``."""
    if _has_floats(a, b):
        return library.fmod(a, b)
    rest = library.remainder(a, b)
    return library.where((rest != 0) & ((rest < 0) != (a < 0)), rest - b, rest)


def nextafter(library: Any, a: Any, b: Any) -> Array:
    """Next float after ``a`` towards ``b``: the bits of neighbors are consecutive integers."""
    dtype = library.result_type(a, b).name
    if dtype not in _BITS:
        return library.nextafter(a, b)
    integer, sign, infinity, nan = _BITS[dtype]
    start, end = (library.asarray(x, dtype=dtype).view(integer) for x in (a, b))
    # Negative floats are mirrored, so that the integers i and j are in the order of a and b.
    i, j = (library.where(bits < 0, sign - bits, bits) for bits in (start, end))
    neighbor = library.where(j > i, i + 1, i - 1)
    # Mirror negative results back; the neighbor of a positive number may be -0 and the reverse.
    negative = (neighbor < 0) | ((neighbor == 0) & (i < 0))
    bits = library.where(i == j, end, library.where(negative, sign - neighbor, neighbor))
    known = (library.abs(i) <= infinity) & (library.abs(j) <= infinity)
    return library.where(known, bits, nan).view(dtype)


def scaled_bessel(library: Any, function: Any, order: int, x: Array) -> Array:
    """``exp(-|x|) * function(x)``, the modified Bessel function I of ``order`` 0 or 1.

    Far from 0 the asymptotic series is used.

    Reference:
        Abramowitz and Stegun, "Handbook of mathematical functions", 1964, 9.7.1.
    """
    size = library.abs(x)
    near = library.minimum(size, _FAR)
    inner = library.exp(-near) * function(near)
    far = library.maximum(size, _FAR)
    series = library.zeros_like(far)
    for term in reversed(_series(order)):
        series = series / far + term
    value = library.where(size < _FAR, inner, series / library.sqrt(2 * math.pi * far))
    return library.where(x < 0, -value, value) if order else value


def _series(order: int) -> list[float]:
    """Coefficients of the powers of ``1 / x`` in the asymptotic series."""
    terms, mu = [1.0], 4.0 * order * order
    for k in range(1, 20):
        terms.append(-terms[-1] * (mu - (2 * k - 1) ** 2) / (8.0 * k))
    return terms
