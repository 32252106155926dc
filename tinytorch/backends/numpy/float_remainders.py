"""Remainders of float32 numbers by way of float64: exact, and far faster than C's fmod.

fmod subtracts bit by bit, which takes as long as the quotient is large. The quotient of two
float32 numbers is no whole number by less than 2^-24, and float64 rounds one below 2^28 by less
than that: cut off it is exact, and so are its product with the divisor and what that leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

Kernel = Callable[[Any, Any], Any]

#: Below this many elements there is nothing to gain.
_FEW = 4096
_SINGLE = numpy.dtype("float32")
#: Quotients up to here are cut off without an error.
_EXACT = 2.0**28
#: Up to here NumPy's own float32 formula finds the same whole quotient.
_WHOLE = 2.0**21


def by_float64(kernel: Kernel, blockwise: Any, a: Any, b: Any) -> Any:
    """``kernel(a, b)`` a block at a time, or None where the library's own function is to be used.

    Args:
        kernel: One of the functions below.
        blockwise: The backend's method.
        a: Array, or a number.
        b: Array, or a number.
    """
    if _size(a) < _FEW and _size(b) < _FEW:
        return None
    a, b = _single(a), _single(b)
    if a is None or b is None:
        return None
    if not b.ndim:
        return blockwise(lambda a: kernel(a, b), a)
    return blockwise(kernel, a, b) if a.ndim else blockwise(lambda b: kernel(a, b), b)


def _size(x: Any) -> int:
    return x.size if x.__class__ is numpy.ndarray else 1


def _single(x: Any) -> Any:
    """A float32 array that is large or 0-d, or None."""
    if x.__class__ is float or x.__class__ is int:
        return numpy.array(x, _SINGLE)
    known = x.__class__ is numpy.ndarray and x.dtype == _SINGLE
    return x if known and (x.size >= _FEW or not x.ndim) else None


def _quotient(a: Any, b: Any, rounding: Any, limit: float) -> Any:
    """The rounded quotient in float64; None where one is too large or NaN, or one by infinity."""
    quotient = numpy.divide(a, b, dtype="float64")
    rounding(quotient, out=quotient)
    size = max(numpy.maximum.reduce(quotient, None), -numpy.minimum.reduce(quotient, None))
    return quotient if size < limit and numpy.isfinite(b).all() else None


def _rest(a: Any, b: Any) -> Any:
    """What the quotient cut off leaves, but for the sign of 0; None where it is not exact."""
    taken = _quotient(a, b, numpy.trunc, _EXACT)
    if taken is None:
        return None
    taken *= b
    numpy.subtract(a, taken, out=taken)
    return taken.astype(_SINGLE)


def fmod(a: Any, b: Any) -> Any:
    """The remainder with the sign of ``a``."""
    rest = _rest(a, b)
    return numpy.fmod(a, b) if rest is None else numpy.copysign(rest, a, out=rest)


def remainder(a: Any, b: Any) -> Any:
    """The remainder with the sign of ``b``."""
    rest = _rest(a, b)
    if rest is None:
        return numpy.remainder(a, b)
    other = numpy.signbit(rest)
    other ^= numpy.signbit(b)
    other &= rest != 0
    rest += numpy.multiply(b, other, dtype=_SINGLE)
    return numpy.copysign(rest, b, out=rest)


def floor_divide(a: Any, b: Any) -> Any:
    """The quotient rounded down."""
    whole = _quotient(a, b, numpy.floor, _WHOLE)
    return numpy.floor_divide(a, b) if whole is None else whole.astype(_SINGLE)
