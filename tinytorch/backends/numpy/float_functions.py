"""Functions of floating-point numbers from NumPy's operations.

- Formulas of float32 functions for processors on which NumPy has no vectorized ones: x86 with AVX2
  and without AVX-512.
- Remainders of float32 numbers by way of float64: exact, and far faster than C's fmod, which
  subtracts bit by bit and so takes as long as the quotient is large. The quotient of two float32
  numbers differs from a whole number by 2^-24 at least, or not at all, and float64 rounds one below
  2^28 by less than that: truncated it is exact, and so are its product with the divisor and the
  difference.
- The error function and its relatives, which NumPy does not have.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.lib import introspect

_ONE, _HALF = numpy.float32(1), numpy.float32(0.5)
#: Largest argument for which exp, and so the formula of cosh, does not overflow.
_LARGEST = 88.0
#: Up to this many elements Python's functions of floats are faster than formulas by NumPy's calls.
_FEW_CALLS = 64
_FORMULAS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {}


def _uses(*ufuncs: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a formula that replaces NumPy's function of its name; see ``faster``.

    It is used only if NumPy has vectorized versions of ``ufuncs``, which the formula calls.
    """

    def register(formula: Callable[[Any], Any]) -> Callable[[Any], Any]:
        _FORMULAS[formula.__name__] = formula, ufuncs
        return formula

    return register


@functools.cache
def faster(name: str) -> Callable[[Any], Any] | None:
    """Return the formula of this module if it is faster than NumPy's function, else None."""
    formula, ufuncs = _FORMULAS[name]
    return formula if all(map(_is_vectorized, ufuncs)) and not _is_vectorized(name) else None


def _is_vectorized(name: str) -> bool:
    """Whether NumPy's float32 loop of ``name`` uses the processor's vector instructions."""
    found = introspect.opt_func_info(func_name=f"^{name}$", signature="float32")
    target = found.get(name, {}).get("ff", {}).get("current", "baseline")
    return not target.startswith("baseline")


@_uses("log")
def log1p(x: Any) -> Any:
    """``log(1 + x)`` plus a correction for the rounding of ``1 + x``: 4 units in the last place."""
    whole = x + _ONE
    lost = whole - _ONE
    numpy.subtract(x, lost, out=lost)
    lost /= whole
    finite = numpy.isfinite(lost)
    if not finite.all():  # at -1, infinity and NaN the logarithm needs no correction
        lost[~finite] = 0
    numpy.log(whole, out=whole)
    whole += lost
    return numpy.copysign(whole, x, out=whole)


@_uses("tanh", "exp")
def expm1(x: Any) -> Any:
    """``tanh(x / 2) (exp(x) + 1)``: right to 4 units in the last place."""
    half = x * _HALF
    numpy.tanh(half, out=half)
    out = numpy.exp(x)
    out += _ONE
    out *= half
    return out


@_uses("exp")
def cosh(x: Any) -> Any:
    """``exp(x) / 2 + 1 / (2 exp(x))``: right to 3 units in the last place."""
    out = numpy.absolute(x)
    if not out.max(initial=0) <= _LARGEST:  # also if there is a NaN
        return numpy.cosh(x)
    numpy.exp(out, out=out)
    out *= _HALF
    out += numpy.float32(0.25) / out
    return out


@_uses("tanh", "exp")
def sinh(x: Any) -> Any:
    """``tanh(x) cosh(x)``: right to 5 units in the last place."""
    out = cosh(x)
    out *= numpy.tanh(x)
    return out


@_uses("sin", "cos")
def tan(x: Any) -> Any:
    """``sin(x) / cos(x)``: right to 3 units in the last place."""
    out = numpy.sin(x)
    out /= numpy.cos(x)
    return out


@_uses("log")
def arctanh(x: Any) -> Any:
    """``log1p(2 |x| / (1 - |x|)) / 2`` with the sign of ``x``: right to 5 units in the last place.

    Reference:
        https://dlmf.nist.gov/4.37 (4.37.24)
    """
    size = numpy.absolute(x)
    rest = _ONE - size
    size += size
    size /= rest
    out = log1p(size)
    out *= _HALF
    return numpy.copysign(out, x, out=out)


Kernel = Callable[[Any, Any], Any]

#: Below this many elements NumPy's own function is as fast.
_FEW = 4096
_SINGLE = numpy.dtype("float32")
#: Quotients up to here are truncated exactly.
_EXACT = 2.0**28
#: Up to here NumPy's float32 formula finds the same integer quotient.
_WHOLE = 2.0**21


def compute_in_float64(kernel: Kernel, blockwise: Any, a: Any, b: Any) -> Any:
    """Compute ``kernel(a, b)`` block by block, or return None to use the library's function.

    Args:
        kernel: Function of this module.
        blockwise: ``Backend.blockwise``.
        a: Array or scalar.
        b: Array or scalar.
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
    """Number of elements of an array; 1 for a scalar."""
    return x.size if x.__class__ is numpy.ndarray else 1


def _single(x: Any) -> Any:
    """Return ``x`` as a float32 array if it is a Python number, 0-d or large; else None."""
    if x.__class__ is float or x.__class__ is int:
        return numpy.array(x, _SINGLE)
    known = x.__class__ is numpy.ndarray and x.dtype == _SINGLE
    return x if known and (x.size >= _FEW or not x.ndim) else None


def _quotient(a: Any, b: Any, rounding: Any, limit: float) -> Any:
    """Rounded ``a / b`` in float64.

    None if a quotient reaches ``limit`` or is NaN, or if a divisor is not finite.
    """
    quotient = numpy.divide(a, b, dtype="float64")
    rounding(quotient, out=quotient)
    size = max(numpy.maximum.reduce(quotient, None), -numpy.minimum.reduce(quotient, None))
    return quotient if size < limit and numpy.isfinite(b).all() else None


def _rest(a: Any, b: Any) -> Any:
    """Remainder of the truncated quotient, except the sign of 0; None if it is not exact."""
    taken = _quotient(a, b, numpy.trunc, _EXACT)
    if taken is None:
        return None
    taken *= b
    numpy.subtract(a, taken, out=taken)
    return taken.astype(_SINGLE)


def fmod(a: Any, b: Any) -> Any:
    """Remainder with the sign of ``a``."""
    rest = _rest(a, b)
    return numpy.fmod(a, b) if rest is None else numpy.copysign(rest, a, out=rest)


def remainder(a: Any, b: Any) -> Any:
    """Remainder with the sign of ``b``."""
    rest = _rest(a, b)
    if rest is None:
        return numpy.remainder(a, b)
    other = numpy.signbit(rest)
    other ^= numpy.signbit(b)
    other &= rest != 0
    rest += numpy.multiply(b, other, dtype=_SINGLE)
    return numpy.copysign(rest, b, out=rest)


def floor_divide(a: Any, b: Any) -> Any:
    """Quotient rounded down."""
    whole = _quotient(a, b, numpy.floor, _WHOLE)
    return numpy.floor_divide(a, b) if whole is None else whole.astype(_SINGLE)


# Rational Chebyshev approximations of W. J. Cody, Math. Comp. 23 (1969) 631-637, on
# |x| <= 0.46875, up to 4, and beyond; numerators and denominators, highest power first.
_NEAR = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
     3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
_FAR = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip


def map_few(function: Callable[[float], float], array: Any) -> Any:
    """Apply Python's function of a float to few float32 or float64 elements; else return None."""
    if array.__class__ is not numpy.ndarray or array.size > _FEW_CALLS:
        return None
    if array.dtype.char not in "fd":
        return None
    return numpy.array([*map(function, array.ravel().tolist())], array.dtype).reshape(array.shape)


def formula(name: str, single: bool) -> Callable[[Any, Any], Any]:
    """Return the function ``name`` of this module; for float32 the shorter approximation."""
    short = f"{name}_single" if single else name
    return globals().get(short) or globals()[name]  # type: ignore[no-any-return]


def _ratio(xp: Any, x: Any, coefficients: Sequence[Sequence[float]]) -> Any:
    """Quotient of two polynomials of ``x``, given by their lists of coefficients."""
    top, bottom = coefficients
    return evaluate_polynomial(xp, x, top) / evaluate_polynomial(xp, x, bottom)


def evaluate_polynomial(xp: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """Polynomial by Horner's scheme; the first coefficient is the leading one."""
    first, *middle, last = xp.constants(x, *coefficients)
    value = x * first
    for c in middle:
        value += c
        value *= x
    value += last
    return value


def _tail(xp: Any, x: Any) -> Any:
    """``exp(x^2) (1 - erf(x))`` for ``x >= 0.46875``."""
    one, four, limit = xp.constants(x, 1.0, 4.0, 1.0 / math.sqrt(math.pi))
    near = xp.minimum(x, four)
    far = xp.maximum(x, four)
    inverse = one / (far * far)
    beyond = (limit - inverse * _ratio(xp, inverse, _FAR)) / far
    return xp.where(x <= four, _ratio(xp, near, _MIDDLE), beyond)


def _exp_of_square(xp: Any, x: Any, sign: float) -> Any:
    """``exp(sign * x^2)``, with x^2 split in two so that exp does not amplify its rounding."""
    scale, back, sign = xp.constants(x, 16.0, 1 / 16.0, sign)
    rounded = xp.trunc(x * scale)
    rounded *= back
    rest = (x - rounded) * (x + rounded)
    rounded *= rounded
    rounded *= sign
    rest *= sign
    value = xp.exp(rounded)
    value *= xp.exp(rest)
    return value


def _core(xp: Any, x: Any, size: Any) -> Any:
    """Error function for ``size = |x| <= 0.46875``; elsewhere an unspecified finite value."""
    (limit,) = xp.constants(x, 0.46875)
    small = xp.minimum(size, limit)
    return x * _ratio(xp, small * small, _NEAR)


def erf(xp: Any, x: Any) -> Any:
    """The error function of a real floating-point array, to its dtype's precision."""
    size = xp.absolute(x)
    large = xp.between(size, 0.46875, 30.0)
    outer = xp.copysign(1.0 - _tail(xp, large) * _exp_of_square(xp, large, -1.0), x)
    return xp.where(size <= 0.46875, _core(xp, x, size), outer)


def erfc(xp: Any, x: Any) -> Any:
    """``1 - erf(x)`` without cancellation for large ``x``."""
    size = xp.absolute(x)
    large = xp.between(size, 0.46875, 30.0)
    tail = _tail(xp, large) * _exp_of_square(xp, large, -1.0)
    return xp.where(size <= 0.46875, 1.0 - _core(xp, x, size), xp.where(x < 0, 2.0 - tail, tail))


def erfcx(xp: Any, x: Any) -> Any:
    """``exp(x^2) erfc(x)``, which does not vanish for large ``x``."""
    size = xp.absolute(x)
    tail = _tail(xp, xp.maximum(size, 0.46875))
    grown = _exp_of_square(xp, xp.between(x, -30.0, 0.46875), 1.0)
    inner = grown * (1.0 - _core(xp, x, size))
    return xp.where(size <= 0.46875, inner, xp.where(x < 0, 2.0 * grown - tail, tail))


# Numerators and denominators, highest power first: for probabilities in [0.075, 0.925], for smaller
# ones down to exp(-25), for the rest. Reference: Wichura, Algorithm AS 241, the percentage points
# of the normal distribution, Applied Statistics 37 (1988), PPND16 and PPND7.
_QUANTILE = (
    (
        (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
         4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
         1.3314166789178437745e2, 3.3871328727963666080e0),
        (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
         2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
         4.2313330701600911252e1, 1.0),
    ),
    (
        (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
         1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0,
         4.63033784615654529590e0, 1.42343711074968357734e0),
        (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
         1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0,
         2.05319162663775882187e0, 1.0),
    ),
    (
        (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
         2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
         5.46378491116411436990e0, 6.65790464350110377720e0),
        (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
         7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
         5.99832206555887937690e-1, 1.0),
    ),
)  # fmt: skip
_SINGLE_QUANTILE = (
    (
        (5.9109374720e1, 1.5929113202e2, 5.0434271938e1, 3.3871327179e0),
        (6.7187563600e1, 7.8757757664e1, 1.7895169469e1, 1.0),
    ),
    (
        (1.7023821103e-1, 1.3067284816e0, 2.7568153900e0, 1.4234372777e0),
        (1.2021132975e-1, 7.3700164250e-1, 1.0),
    ),
    (
        (1.7337203997e-2, 4.2868294337e-1, 3.0812263860e0, 6.6579051150e0),
        (1.2258202635e-2, 2.4197894225e-1, 1.0),
    ),
)


def _normal_quantile(xp: Any, q: Any, p: Any) -> Any:
    """Number below which a standard normal variable lies with probability ``1/2 + q``.

    Args:
        xp: The backend.
        q: Real floating-point array.
        p: ``1/2 - abs(q)`` without its rounding error; ±inf at 0, NaN below.
    """
    center, near, far = _SINGLE_QUANTILE if q.dtype.itemsize == 4 else _QUANTILE
    border, zero, first, last = xp.constants(q, 0.180625, 0.0, 1.6, 5.0)
    inner = border - q * q
    central = q * _ratio(xp, xp.maximum(inner, zero), center)
    r = xp.sqrt(-xp.log(xp.where(p > zero, p, border)))
    tail = xp.where(
        r <= last,
        _ratio(xp, xp.between(r, 1.6, 5.0) - first, near),
        _ratio(xp, xp.maximum(r, last) - last, far),
    )
    tail = xp.where(p > zero, tail, xp.where(p == zero, math.inf, math.nan))
    return xp.where(inner >= zero, central, xp.copysign(tail, q))


def erfinv(xp: Any, x: Any) -> Any:
    """The inverse of ``erf``: ±inf at ±1, NaN beyond."""
    one, half, scale = xp.constants(x, 1.0, 0.5, math.sqrt(0.5))
    return _normal_quantile(xp, x * half, (one - xp.absolute(x)) * half) * scale


def ndtri(xp: Any, x: Any) -> Any:
    """The inverse of ``ndtr``: -inf at 0, inf at 1, NaN outside."""
    one, half = xp.constants(x, 1.0, 0.5)
    return _normal_quantile(xp, x - half, xp.minimum(x, one - x))


# Least-squares fit of atanh(erf(x)) / x = P(x^2) on |x| <= 4, weighted by what an error in P does
# to erf and reweighted until the largest relative error was least (Lawson's algorithm): 1e-7.
# Rounding in float32 makes that 3e-7. From 4.1 on both are 1 in float32: x P(x^2) grows without
# end, so that x need not be kept below. Highest power first.
_SINGLE_ERROR_FUNCTION = (
    1.4185209734e-07, -5.6684738075e-06, 8.7637319191e-05, -6.1978464580e-04,
    -1.9183080637e-04, 1.0276905579e-01, 1.1283792743e+00,
)  # fmt: skip


def erf_single(xp: Any, x: Any) -> Any:
    """The error function of a float32 array, by the hyperbolic tangent: a fifth of the work."""
    value = evaluate_polynomial(xp, x * x, _SINGLE_ERROR_FUNCTION)
    value *= x
    return xp.tanh(value)


def ndtr(xp: Any, x: Any) -> Any:
    """``P(X <= x)`` for a standard normal X."""
    value = erf(xp, x * math.sqrt(0.5))
    value += 1.0
    value *= 0.5
    return value


# Fit of -log(p / (1 - p)) / x = P(x^2), p the probability, on |x| <= 5 by the same method, weighted
# by what an error in P does to p: largest error 3e-8. Rounding in float32 makes that 1.2e-7, which
# is of p itself for positive x. Beyond, x P(x^2) grows without end, too. Highest power first.
_SINGLE_NORMAL = (
    -3.5123395836e-09, 2.6452661732e-07, -7.9294881384e-06, 1.1061238406e-04, 6.5189958098e-05,
    -7.2666169153e-02, -1.5957698829e+00,
)  # fmt: skip


def ndtr_single(xp: Any, x: Any) -> Any:
    """``P(X <= x)`` of a float32 array, by the logistic function: exp takes half tanh's time."""
    value = evaluate_polynomial(xp, x * x, _SINGLE_NORMAL)
    value *= x
    target = value if value.ndim else None  # NumPy gives scalars for arrays of no dimensions
    value = xp.exp(value, out=target)
    value += 1.0
    return xp.reciprocal(value, out=target)


# Fit of exp(x^2) erfc(x) = t P(t) with t = 1 / (1 + x / 2) on 0 <= x <= 10.1, by the same method:
# largest relative error 4e-8. Rounding in float32 makes that 6e-7. From 10.1 on erfc is 0 in
# float32. Highest power first.
_SINGLE_TAIL = (
    -5.9097660232e-02, 2.8471534772e-01, -4.8749139600e-01, 2.7840167913e-01, -2.6856900406e-02,
    2.0278507849e-01, 2.4307883704e-01, 2.8237875066e-01, 2.8208622060e-01, 0.0,
)  # fmt: skip


def erfc_single(xp: Any, x: Any) -> Any:
    """``1 - erf(x)`` of a float32 array without cancellation: a quarter of the work."""
    largest, one, half = xp.constants(x, 10.5, 1.0, 0.5)
    size = xp.minimum(xp.absolute(x), largest)
    value = evaluate_polynomial(xp, one / (one + half * size), _SINGLE_TAIL)
    value *= _exp_of_square(xp, size, -1.0)
    sign = xp.copysign(one, x)  # xp.where would take longer than the whole formula
    value *= sign
    value += one - sign
    return value
