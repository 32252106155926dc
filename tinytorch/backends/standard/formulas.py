"""NumPy's elementwise functions that the array API standard lacks, by functions that it has."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from .library import ArrayLibrary, Raw


def make_formulas(library: ArrayLibrary) -> dict[str, Callable[..., Any]]:
    """Return the formulas of this file, bound to a library."""
    return {name: functools.partial(formula, library) for name, formula in _FORMULAS.items()}


def _constant(library: ArrayLibrary, raw: Raw, value: float) -> Raw:
    """0-d array of the dtype of ``raw``."""
    return library.scalar(value, library.numpy_dtype(raw.dtype))


def fmax(library: ArrayLibrary, a: Raw, b: Raw) -> Raw:
    """Maximum that ignores NaN."""
    return _ignore_nan(library, library.namespace.maximum, a, b)


def fmin(library: ArrayLibrary, a: Raw, b: Raw) -> Raw:
    """Minimum that ignores NaN."""
    return _ignore_nan(library, library.namespace.minimum, a, b)


def _ignore_nan(library: ArrayLibrary, function: Callable[..., Raw], a: Raw, b: Raw) -> Raw:
    """Apply a function of two arrays; where one is NaN, return the other."""
    names = library.namespace
    if library.numpy_dtype(a.dtype).kind not in "fc":
        return function(a, b)
    result = names.where(names.isnan(b), a, function(a, b))
    return names.where(names.isnan(a), b, result)


def fmod(library: ArrayLibrary, a: Raw, b: Raw) -> Raw:
    """Remainder with the sign of the dividend."""
    names = library.namespace
    kind = library.numpy_dtype(a.dtype).kind
    if kind == "f":  # of numbers of one sign the remainder is exact
        return names.copysign(names.remainder(names.abs(a), names.abs(b)), a)
    rest = names.remainder(a, b)
    if kind == "u":
        return rest
    zero = _constant(library, a, 0)
    return names.where((rest != zero) & ((rest < zero) != (a < zero)), rest - b, rest)


def exp2(library: ArrayLibrary, x: Raw) -> Raw:
    """Power of 2."""
    return library.namespace.pow(_constant(library, x, 2), x)


def cbrt(library: ArrayLibrary, x: Raw) -> Raw:
    """Real cube root, by a power and one step of Newton's method."""
    names = library.namespace
    third, zero = _constant(library, x, 1 / 3), _constant(library, x, 0)
    root = names.pow(names.abs(x), third)
    usual = names.isfinite(root) & (root != zero)
    safe = names.where(usual, root, _constant(library, x, 1))
    better = safe - (safe - names.abs(x) / (safe * safe)) * third
    return names.copysign(names.where(usual, better, root), x)


def logaddexp2(library: ArrayLibrary, a: Raw, b: Raw) -> Raw:
    """Base-2 logarithm of a sum of powers of 2."""
    factor = _constant(library, a, math.log(2))
    return library.namespace.logaddexp(a * factor, b * factor) / factor


def deg2rad(library: ArrayLibrary, x: Raw) -> Raw:
    """Convert degrees to radians."""
    return x * _constant(library, x, math.pi / 180)


def rad2deg(library: ArrayLibrary, x: Raw) -> Raw:
    """Convert radians to degrees."""
    return x * _constant(library, x, 180 / math.pi)


def float_power(library: ArrayLibrary, a: Raw, b: Raw) -> Raw:
    """Power of floating-point numbers."""
    return library.namespace.pow(a, b)


def heaviside(library: ArrayLibrary, x: Raw, middle: Raw) -> Raw:
    """0 for negative numbers, 1 for positive ones, ``middle`` at 0."""
    names = library.namespace
    zero, one = _constant(library, x, 0), _constant(library, x, 1)
    steps = names.where(x < zero, zero, names.where(x > zero, one, middle))
    return names.where(names.isnan(x), x, steps)


def rint(library: ArrayLibrary, x: Raw) -> Raw:
    """Round to the nearest integer, ties to even."""
    return library.namespace.round(x)


def ldexp(library: ArrayLibrary, x: Raw, power: Raw) -> Raw:
    """``x * 2**power``, in two factors, so that neither overflows alone."""
    names = library.namespace
    dtype = library.numpy_dtype(x.dtype)
    half = names.floor_divide(power, library.scalar(2, library.numpy_dtype(power.dtype)))
    two = library.scalar(2, dtype)
    for part in (half, power - half):
        x = x * names.pow(two, library.astype(part, dtype))
    return x


def absolute(library: ArrayLibrary, x: Raw) -> Raw:
    """Absolute value; of bools the bools."""
    kind = library.numpy_dtype(x.dtype).kind
    return x if kind in "bu" else library.namespace.abs(x)


def sign(library: ArrayLibrary, x: Raw) -> Raw:
    """Sign of each element."""
    return x if library.numpy_dtype(x.dtype) == numpy.dtype(bool) else library.namespace.sign(x)


def conj(library: ArrayLibrary, x: Raw) -> Raw:
    """Complex conjugate."""
    return library.namespace.conj(x) if library.numpy_dtype(x.dtype).kind == "c" else x


_FORMULAS: dict[str, Callable[..., Any]] = {
    "fmax": fmax, "fmin": fmin, "fmod": fmod, "exp2": exp2, "cbrt": cbrt, "rint": rint,
    "logaddexp2": logaddexp2, "deg2rad": deg2rad, "radians": deg2rad, "rad2deg": rad2deg,
    "degrees": rad2deg, "float_power": float_power, "heaviside": heaviside, "ldexp": ldexp,
    "absolute": absolute, "abs": absolute, "sign": sign, "conj": conj, "conjugate": conj,
}  # fmt: skip
