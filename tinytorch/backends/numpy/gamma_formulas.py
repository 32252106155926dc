"""Log-gamma, its derivatives, incomplete gamma functions and Bessel functions by formulas."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

# Bernoulli numbers B(2k) for k from 1 on, https://dlmf.nist.gov/24.2.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
#: Steps of the recurrence, and terms of the series after them, by the item size of the dtype.
_STEPS, _TERMS = {4: 6, 8: 10}, {4: 4, 8: 7}


def digamma(xp: Any, x: Any) -> Any:
    """Digamma function: reflection for negative ``x``, recurrence, asymptotic series.

    Reference:
        https://dlmf.nist.gov/5.15 has its derivative; here 5.5.2, 5.5.4 and 5.11.2.
    """
    left = x < 0
    up = xp.where(left, 1 - x, x)
    total, up = _recurrence(xp, up, 1)
    one, half = xp.constants(x, 1.0, 0.5)
    inverse = one / (up * up)
    terms = _BERNOULLI[: _TERMS[x.dtype.itemsize]]
    series = _sum_of_powers(xp, inverse, [b / (2 * k) for k, b in enumerate(terms, 1)])
    value = xp.log(up) - half / up - series * inverse - total
    return apply_reflection(xp, x, value) if left.any() else value


def apply_reflection(xp: Any, x: Any, value: Any) -> Any:
    """Digamma of ``x`` from ``value``, the digamma of ``x``, or of ``1 - x`` where ``x < 0``."""
    part = _from_nearest(xp, x)
    turned = value - math.pi / xp.tan(xp.where(part == 0, math.nan, part) * math.pi)
    return xp.where(x < 0, turned, value)


def trigamma(xp: Any, x: Any) -> Any:
    """Trigamma function: reflection below 1/2, recurrence, asymptotic series.

    In float32 the error near a pole is that of rounding ``x``.

    Reference:
        https://dlmf.nist.gov/5.15 (5.15.5, 5.15.6 and 5.15.8)
    """
    left = x < 0.5
    total, up = _recurrence(xp, xp.where(left, 1 - x, x), 2)
    inverse = 1 / (up * up)
    series = _sum_of_powers(xp, inverse, _BERNOULLI[: _TERMS[x.dtype.itemsize]]) * inverse
    total = total + (1 + 0.5 / up + series) / up
    part = _from_nearest(xp, x)
    # PyTorch rounds pi x to single precision. The same rounding gives the same values.
    angle = part if x.dtype.itemsize == 8 else xp.where(part == 0, 0, x)
    sine = xp.sin(angle * math.pi)
    return xp.where(left, math.pi**2 / (sine * sine) - total, total)


def _from_nearest(xp: Any, x: Any) -> Any:
    """Exact difference of ``x`` and the nearest integer; NaN for infinities."""
    return x - xp.rint(x)


def _recurrence(xp: Any, x: Any, power: int) -> tuple[Any, Any]:
    """The sum of ``1 / (x + k)^power`` for a fixed number of steps k, and ``x`` after them."""
    total, one = xp.constants(x, 0.0, 1.0)
    for _ in range(_STEPS[x.dtype.itemsize]):
        total = total + one / (x if power == 1 else x * x)
        x = x + one
    return total, x


def _sum_of_powers(xp: Any, x: Any, coefficients: Any) -> Any:
    """Polynomial by Horner's scheme; the first coefficient is the constant."""
    value, *rest = xp.constants(x, *reversed(coefficients))
    for c in rest:
        value = value * x + c
    return value


# -- in double precision, where SciPy is not installed ---------------------------------------------

_HALF_LOG_TWO_PI = math.log(2 * math.pi) / 2
_MORE_BERNOULLI = (
    *_BERNOULLI, -3617 / 510, 43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip


def gammaln(xp: Any, x: Any) -> Any:
    """The logarithm of ``|Γ(x)|`` by reflection below 1/2, the recurrence, Stirling's series.

    Reference:
        https://dlmf.nist.gov/5 (5.5.1, 5.5.3 and 5.11.1)
    """
    x = xp.astype(x, "float64")
    left = x < 0.5
    up = xp.where(left, 1 - x, x)
    product = xp.where(up < 10, up, 1.0)
    for i in range(1, 10):
        product = product * xp.where(up < 10, up + i, 1.0)
    far = xp.where(up < 10, up + 10, up)
    value = (
        (far - 0.5) * xp.log(far) - far + _HALF_LOG_TWO_PI + _stirling(xp, far) - xp.log(product)
    )
    value = xp.where(xp.isinf(up), math.inf, value)
    sine = xp.absolute(xp.sin(_from_nearest(xp, xp.where(left, x, 0.5)) * math.pi))
    return xp.where(left, math.log(math.pi) - xp.log(sine) - value, value)


def _stirling(xp: Any, x: Any) -> Any:
    """``log Γ(x) - (x - 1/2) log x + x - log(2π) / 2`` for ``x >= 10``, by Stirling's series."""
    terms = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_MORE_BERNOULLI[:9], 1)]
    return _sum_of_powers(xp, 1 / (x * x), terms) / x


def zeta(xp: Any, s: Any, q: Any) -> Any:
    """Hurwitz's zeta function by the Euler-Maclaurin formula; NaN for ``q < 0`` if s is no integer.

    Reference:
        https://dlmf.nist.gov/25.11 (25.11.4 and 25.11.28)
    """
    s, q = xp.astype(s, "float64"), xp.astype(q, "float64")
    part = q - xp.floor(q)
    left = q < 0
    value = _zeta_right(xp, s, xp.where(left, part, q))
    if left.any():
        sign = 1 - 2 * xp.absolute(xp.fmod(s, 2.0))
        mirrored = _zeta_right(xp, s, 1 - part) - _zeta_right(xp, s, 1 - xp.where(left, q, 0.0))
        whole = s == xp.floor(s)
        value = xp.where(left, xp.where(whole, value + sign * mirrored, math.nan), value)
    pole = (s == 1) | ((q <= 0) & (part == 0))
    return xp.where(s < 1, math.nan, xp.where(pole, math.inf, value))


def _zeta_right(xp: Any, s: Any, q: Any) -> Any:
    """``zeta`` for ``q >= 0``."""
    total: Any = 0.0
    for k in range(12):
        total = total + (q + k) ** -s
    end = q + 12
    last = end**-s
    factor = s / end
    tail: Any = 0.5
    for k, b in enumerate(_MORE_BERNOULLI, 1):
        tail = tail + b / math.factorial(2 * k) * factor
        factor = factor * ((s + (2 * k - 1)) / end) * ((s + 2 * k) / end)
    tail = last * xp.where(last == 0, 0.0, tail + end / (s - 1))
    return total + tail


def gammainc(xp: Any, a: Any, x: Any) -> Any:
    """The regularized lower incomplete gamma function ``P(a, x)``."""
    return _incomplete(xp, a, x, upper=False)


def gammaincc(xp: Any, a: Any, x: Any) -> Any:
    """The regularized upper incomplete gamma function ``Q(a, x)``."""
    return _incomplete(xp, a, x, upper=True)


def _incomplete(xp: Any, a: Any, x: Any, upper: bool) -> Any:
    """Regularized incomplete gamma function, the upper one if ``upper``.

    Below ``x = a + 1`` a series gives the lower function, above it a continued fraction the upper
    one. Near a large ``a``, where both converge slowly, an integral replaces them.

    Reference:
        https://dlmf.nist.gov/8 (8.11.4, 8.9.2 and 8.2.4); 5.11.3 for the factor.
    """
    a, x = xp.astype(a, "float64"), xp.astype(x, "float64")
    a, x = xp.where(xp.isnan(x), x, a), xp.where(xp.isnan(a), a, x)
    inside = (a > 0) & (x > 0) & xp.isfinite(a) & xp.isfinite(x)
    shape, at = xp.where(inside, a, 1.0), xp.where(inside, x, 1.0)
    lower = at < shape + 1
    central = (shape > 100) & (at > 0.5 * shape) & (at < 2 * shape)
    factor = _density(xp, shape, at)
    tail = xp.where(
        lower,
        factor * _series(xp, shape, xp.where(lower & ~central, at, 0.5)),
        factor * shape * _fraction(xp, shape, xp.where(lower | central, 2 * shape + 2, at)),
    )
    if central.any():
        lower = xp.where(central, at < shape, lower)
        tail = xp.where(central, _integral(xp, xp.where(central, shape, 200.0), at, lower), tail)
    value = xp.where(lower == (not upper), tail, 1 - tail)
    limits = xp.where((x == 0) | xp.isinf(a), float(upper), float(not upper))
    limits = xp.where((xp.isinf(a) & xp.isinf(x)) | ((a == 0) & (x == 0)), math.nan, limits)
    value = xp.where(inside, value, limits)
    return xp.where((a >= 0) & (x >= 0), value, math.nan)


def _density(xp: Any, a: Any, x: Any) -> Any:
    """``x^a e^-x / Γ(a + 1)``."""
    large = xp.where(a < 10, 10.0, a)
    scaled = xp.exp(large * _log1p_less(xp, (x - large) / large) - _stirling(xp, large))
    small = xp.exp(a * xp.log(x) - x - gammaln(xp, xp.where(a < 10, a, 1.0) + 1))
    return xp.where(a < 10, small, scaled / xp.sqrt(2 * math.pi * large))


def _log1p_less(xp: Any, x: Any) -> Any:
    """``log(1 + x) - x``, by its series for small ``x``."""
    near = xp.absolute(x) < 0.1
    small = xp.where(near, x, 0.0)
    series = (
        _sum_of_powers(xp, small, [(-1.0) ** (k + 1) / k for k in range(2, 20)]) * small * small
    )
    return xp.where(near, series, xp.log1p(x) - x)


def _series(xp: Any, a: Any, x: Any) -> Any:
    """The sum of ``x^n / ((a + 1) ... (a + n))``."""
    term = total = xp.where(x > 0, 1.0, 1.0)
    for n in range(1, 1000):
        term = term * (x / (a + n))
        total = total + term
        if not (term > 1e-17 * total).any():
            break
    return total


def _fraction(xp: Any, a: Any, x: Any) -> Any:
    """``Γ(a, x) e^x / x^a`` as a continued fraction, by Lentz's algorithm."""
    b = x + 1 - a
    c = xp.where(x > 0, 1e300, 1e300)
    d = 1 / b
    value = d
    for n in range(1, 1000):
        step = -n * (n - a)
        b = b + 2
        d = step * d + b
        d = 1 / xp.where(d == 0, 1e-300, d)
        c = b + step / c
        c = xp.where(c == 0, 1e-300, c)
        value = value * (c * d)
        if not (xp.absolute(c * d - 1) > 1e-16).any():
            break
    return value


def _integral(xp: Any, a: Any, x: Any, lower: Any) -> Any:
    """Tail of the gamma distribution of shape ``a`` on the side of ``x`` away from ``a``.

    It is the lower tail if ``lower``, else the upper one, cut off after twelve standard deviations
    and integrated by Gauss's rule.
    """
    width = xp.where(lower, -12.0, 12.0) / xp.sqrt(a)
    total: Any = 0.0
    for node, weight in zip(*_gauss(), strict=True):
        at = (x - a) / a + width * node  # in units of a, from a
        safe = xp.where(at > -1, at, 0.0)
        part = xp.exp(a * _log1p_less(xp, safe)) * (weight / (1 + safe))
        total = total + xp.where(at > -1, part, 0.0)
    return total * 12 * xp.exp(-_stirling(xp, a)) / math.sqrt(2 * math.pi)


@functools.cache
def _gauss() -> tuple[list[float], list[float]]:
    """Nodes and weights of Gauss's rule on the interval from 0 to 1."""
    nodes, weights = numpy.polynomial.legendre.leggauss(60)
    return ((nodes + 1) / 2).tolist(), (weights / 2).tolist()


def _scaled_bessel(order: int, xp: Any, x: Any) -> Any:
    """``exp(-|x|)`` times a modified Bessel function of the first kind, of order 0 or 1.

    Reference:
        https://dlmf.nist.gov/10 (10.25.2 and 10.40.1)
    """
    x = xp.astype(x, "float64")
    size = xp.absolute(x)
    far = size > 20
    near, large = xp.where(far, 1.0, size), xp.where(far, size, 30.0)
    square = near * near / 4
    total = term = near / 2 if order else xp.where(far, 1.0, 1.0)
    for k in range(1, 60):
        term = term * (square / (k * (k + order)))
        total = total + term
    series = part = xp.where(far, 1.0, 1.0)
    for k in range(1, 30):
        part = part * (((2 * k - 1) ** 2 - 4 * order) / (8 * k) / large)
        series = series + part
    beyond = series / xp.sqrt(2 * math.pi * large)
    value = xp.where(far, beyond, total * xp.exp(-near))
    return xp.where(x < 0, -value, value) if order else value


def _bessel(order: int, xp: Any, x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 0 or 1."""
    return _scaled_bessel(order, xp, x) * xp.exp(xp.absolute(xp.astype(x, "float64")))


#: By SciPy's name the function that stands in for it.
FORMULAS: dict[str, Callable[..., Any]] = {
    "gammainc": gammainc, "gammaincc": gammaincc, "gammaln": gammaln, "zeta": zeta,
    "i0": functools.partial(_bessel, 0), "i0e": functools.partial(_scaled_bessel, 0),
    "i1": functools.partial(_bessel, 1), "i1e": functools.partial(_scaled_bessel, 1),
}  # fmt: skip
