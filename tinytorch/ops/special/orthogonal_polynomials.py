"""Orthogonal polynomials by their three-term recurrences. Not differentiable, as in torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ... import dtypes
from ...dispatch.op import Array, Backend, Operand, op
from ..checks import as_arrays, check_supported

SPECIAL = ("special",)
_DOUBLE = dtypes.float64.dtype


def _polynomial(
    xp: Backend, x: Any, n: Any, first: Callable[[Any], Any], step: Callable[..., Any]
) -> Array:
    """Value of the polynomial of degree ``n``; 0 for negative degrees.

    It is NaN for finite degrees from 2^63 on, which would take as many steps.

    Args:
        xp: The backend.
        x: The argument; an array or a number.
        n: The degree, or the degree of each element; fractions are truncated.
        first: The polynomial of degree 1; that of degree 0 is 1.
        step: Function from ``(x, k, p_k, p_(k-1))`` to the polynomial of degree ``k + 1``.
    """
    x, degrees, dtype = _widen(xp, x, n)
    if isinstance(degrees, int):
        degrees, x = (degrees, x) if degrees < 2**63 else (1, xp.full_like(x, math.nan))
    else:
        beyond = degrees >= 2.0**63
        degrees, x = xp.where(beyond, 1, degrees), xp.where(beyond, math.nan, x)
    return xp.astype(_compute_recurrence(xp, x, degrees, first, step), dtype)


def _widen(xp: Backend, x: Any, n: Any) -> tuple[Any, Any, Any]:
    """Convert ``x`` and the degrees to float64 (a number to an int); also return the dtype."""
    dtype, n = (x if hasattr(x, "dtype") else n).dtype, _as_number(x, n)
    if dtype.kind == "c":
        check_supported(xp, "special_polynomial_cpu", x, n, unsupported="c")
    if not hasattr(n, "dtype"):
        n = int(n) if math.isfinite(n) else -1
        return xp.astype(x, _DOUBLE) if n > 0 else x, n, dtype
    # Near the roots the recurrences suffer from cancellation, so float32 uses float64, too.
    x, n = (xp.astype(v, _DOUBLE) for v in as_arrays(xp, x, n))
    x, n = xp.broadcast_arrays(x, xp.trunc(xp.where(xp.isfinite(n), n, -1)))
    return x, n, dtype


def _as_number(x: Any, n: Any) -> Any:
    """A degree that is one element as a number, whose recurrence is shorter; others unchanged."""
    return n.item() if getattr(n, "size", 0) == 1 and n.ndim <= getattr(x, "ndim", -1) else n


def _compute_recurrence(xp: Backend, x: Any, n: Any, first: Any, step: Any) -> Array:
    """``_polynomial`` in float64, for converted arguments.

    ``n`` is an int, or an array of the degree of each element; ``first`` and ``step`` are those of
    ``_polynomial``.
    """
    if isinstance(n, int):
        return _compute_degree(xp, x, n, first, step)
    out = xp.astype(n == 0, x.dtype)
    # The host reads the largest degree, which is the number of steps.
    last = int(n.max()) if n.size else 0
    for k, now in _degrees(xp, x, last, first, step):
        out = xp.where(n == k, now, out)
    return out if last < 1 else xp.where(n > k, now, out)


def _compute_degree(xp: Backend, x: Array, n: int, first: Any, step: Any) -> Array:
    """``_compute_recurrence`` for one degree."""
    if n < 1:
        return xp.full(x.shape, float(n == 0), x.dtype)
    for _, now in _degrees(xp, x, n, first, step):
        pass
    return now


def _degrees(
    xp: Backend, x: Array, last: int, first: Any, step: Any
) -> Iterator[tuple[int, Array]]:
    """Yield the polynomials of degree 1 to ``last``; stop if all values are NaN."""
    before, now = 1.0, first(x)
    for k in range(1, last + 1):
        yield k, now
        # Check rarely, since the host waits for the result.
        if k % 1024 == 0 and xp.isnan(now).all():
            return
        if k < last:
            before, now = now, step(x, k, now, before)


class _Chebyshev(NamedTuple):
    """Kind of Chebyshev polynomials: ``wave((n + top) t) / wave(bottom t)`` at ``x = cos(t)``.

    Attributes:
        first: The polynomial of degree 1.
        wave: ``"sin"`` or ``"cos"``.
        top: Constant in the numerator.
        bottom: Factor in the denominator.
    """

    first: Callable[[Any], Any]
    wave: str
    top: float
    bottom: float

    def evaluate(self, xp: Backend, size: Array, n: Any) -> Array:
        """Value at ``size``, which is not negative; above 1 by hyperbolic functions."""
        inner, outer = getattr(xp, self.wave), getattr(xp, f"{self.wave}h")
        t, u = xp.arccos(xp.minimum(size, 1.0)), xp.arccosh(xp.maximum(size, 1.0))
        top, bottom = n + self.top, self.bottom
        below, above = inner(top * t) / inner(bottom * t), outer(top * u) / outer(bottom * u)
        out = xp.where(size < 1, below, above)
        return xp.where(size == 1, top / bottom, out) if self.wave == "sin" else out


_T = _Chebyshev(lambda x: 1 * x, "cos", 0, 0)
_U = _Chebyshev(lambda x: 2 * x, "sin", 1, 1)
_V = _Chebyshev(lambda x: 2 * x - 1, "cos", 0.5, 0.5)
_W = _Chebyshev(lambda x: 2 * x + 1, "sin", 0.5, 0.5)
#: Kinds whose values at ``-x`` are, up to their signs, those of another kind at ``x``.
_MIRRORED = {_V: _W, _W: _V}
#: The largest degree for the recurrence, which has exact results if they are integers.
_FEW = 8


def _chebyshev(xp: Backend, x: Any, n: Any, kind: _Chebyshev) -> Array:
    """Chebyshev polynomial of degree ``n``; 0 for negative degrees."""
    x, n, dtype = _widen(xp, x, n)
    if isinstance(n, int):
        if n < 1:
            return xp.full(x.shape, float(n == 0), dtype)
        found = _chebyshev_closed_form if n > _FEW else _chebyshev_recurrence
        return xp.astype(found(xp, x, n, kind), dtype)
    near = _chebyshev_recurrence(xp, x, xp.minimum(n, _FEW), kind)
    return xp.astype(xp.where(n > _FEW, _chebyshev_closed_form(xp, x, n, kind), near), dtype)


def _chebyshev_recurrence(xp: Backend, x: Array, n: Any, kind: _Chebyshev) -> Array:
    """``_chebyshev`` in float64 by the recurrence, for low degrees."""

    def step(x: Any, k: int, now: Any, before: Any) -> Any:
        return 2 * x * now - before

    return _compute_recurrence(xp, x, n, kind.first, step)


def _chebyshev_closed_form(xp: Backend, x: Array, n: Any, kind: _Chebyshev) -> Array:
    """``_chebyshev`` in float64 by trigonometric and hyperbolic functions, for high degrees."""
    size = xp.abs(x)
    other = (1 - 2 * (n % 2)) * _MIRRORED.get(kind, kind).evaluate(xp, size, n)
    return xp.where(x < 0, other, kind.evaluate(xp, size, n))


@op(promote="float", strict=True, namespaces=SPECIAL)
def chebyshev_polynomial_t(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the first kind, ``cos(n arccos(x))``.

    Args:
        input: The argument ``x``; tensor or number.
        n: The degree; tensor or number. Fractions are truncated; the shapes broadcast.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.chebyshev_polynomial_t(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 26.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _chebyshev(xp, input, n, _T)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def chebyshev_polynomial_u(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the second kind.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.chebyshev_polynomial_u(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 56.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _chebyshev(xp, input, n, _U)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def chebyshev_polynomial_v(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the third kind.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.chebyshev_polynomial_v(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 41.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _chebyshev(xp, input, n, _V)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def chebyshev_polynomial_w(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the fourth kind.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.chebyshev_polynomial_w(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 71.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _chebyshev(xp, input, n, _W)


def _hermite_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return 2 * (x * now - k * before)


def _hermite(xp: Backend, x: Any, n: Any, first: Any, step: Any) -> Array:
    """``_polynomial``; NaN for degrees above torch's limits, 128 in float32, 512 in float64."""
    limit = 512 if (x if hasattr(x, "dtype") else n).dtype.itemsize > 4 else 128
    n = _as_number(x, n)
    if hasattr(n, "dtype"):
        beyond = xp.isfinite(n) & (n > limit)
        out = _polynomial(xp, x, xp.where(beyond, 0, n), first, step)
        return xp.where(beyond, math.nan, out)
    if not math.isfinite(n) or n <= limit:
        return _polynomial(xp, x, n, first, step)
    return xp.full_like(_polynomial(xp, x, 0, first, step), math.nan)


def _laguerre_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return ((2 * k + 1 - x) * now - k * before) / (k + 1)


def _legendre_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return ((2 * k + 1) * x * now - k * before) / (k + 1)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def hermite_polynomial_h(xp: Backend, input: Operand, n: Operand) -> Array:
    """The physicists' Hermite polynomial; NaN for degrees above 512, in float32 above 128.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.hermite_polynomial_h(tt.tensor([0.5, 2.0]), 3)
        tensor([-5., 40.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _hermite(xp, input, n, lambda x: 2 * x, _hermite_step)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def hermite_polynomial_he(xp: Backend, input: Operand, n: Operand) -> Array:
    """The probabilists' Hermite polynomial; NaN for degrees above 512, in float32 above 128.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.hermite_polynomial_he(tt.tensor([0.5, 2.0]), 3)
        tensor([-1.3750,  2.0000])

    Reference:
        https://dlmf.nist.gov/18.9
    """

    def step(x: Any, k: int, now: Any, before: Any) -> Any:
        return x * now - k * before

    return _hermite(xp, input, n, lambda x: x, step)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def laguerre_polynomial_l(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Laguerre polynomial.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.laguerre_polynomial_l(tt.tensor([0.5, 2.0]), 3)
        tensor([-0.1458, -0.3333])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: 1 - x, _laguerre_step)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def legendre_polynomial_p(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Legendre polynomial.

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.legendre_polynomial_p(tt.tensor([0.5, 2.0]), 3)
        tensor([-0.4375, 17.0000])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: x, _legendre_step)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def shifted_chebyshev_polynomial_t(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the first kind, shifted from [-1, 1] to [0, 1].

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.shifted_chebyshev_polynomial_t(tt.tensor([0.5, 2.0]), 3)
        tensor([-0., 99.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _chebyshev(xp, 2 * input - 1, n, _T)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def shifted_chebyshev_polynomial_u(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the second kind, shifted from [-1, 1] to [0, 1].

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.shifted_chebyshev_polynomial_u(tt.tensor([0.5, 2.0]), 3)
        tensor([ -0., 204.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _chebyshev(xp, 2 * input - 1, n, _U)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def shifted_chebyshev_polynomial_v(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the third kind, shifted from [-1, 1] to [0, 1].

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.shifted_chebyshev_polynomial_v(tt.tensor([0.5, 2.0]), 3)
        tensor([  1., 169.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _chebyshev(xp, 2 * input - 1, n, _V)


@op(promote="float", strict=True, namespaces=SPECIAL, like=chebyshev_polynomial_t)
def shifted_chebyshev_polynomial_w(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the fourth kind, shifted from [-1, 1] to [0, 1].

    Returns:
        Tensor of the broadcast shape, 0 for negative degrees; default dtype for integers.

    Example:
        >>> tt.special.shifted_chebyshev_polynomial_w(tt.tensor([0.5, 2.0]), 3)
        tensor([ -1., 239.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _chebyshev(xp, 2 * input - 1, n, _W)
