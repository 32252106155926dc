"""Orthogonal polynomials by their three-term recurrences. Not differentiable, as in torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._op import Array, Backend, Operand, op
from ._checks import as_arrays, refuse

SPECIAL = ("special",)


def _polynomial(
    xp: Backend, x: Any, n: Any, first: Callable[[Any], Any], step: Callable[..., Any]
) -> Array:
    """The polynomial of degree ``n``, 0 for negative degrees.

    Args:
        xp: The backend.
        x: Where; an array or a number.
        n: Its degree, or the degree of each element; fractions are cut off.
        first: The polynomial of degree 1; that of degree 0 is 1.
        step: From ``(x, k, p_k, p_(k-1))`` to the polynomial of degree ``k + 1``.
    """
    refuse(xp, "special_polynomial_cpu", "c", x, n)
    dtype = (x if hasattr(x, "dtype") else n).dtype
    # Near the roots the recurrences cancel: float32 computes in float64 as well.
    wide = [xp.astype(v, "float64") if hasattr(v, "dtype") else v for v in (x, n)]
    return xp.astype(_by_recurrence(xp, wide[0], wide[1], first, step), dtype)


def _by_recurrence(xp: Backend, x: Any, n: Any, first: Any, step: Any) -> Array:
    if not hasattr(n, "dtype"):
        return _one_degree(xp, x, int(n), first, step)
    x, n = as_arrays(xp, x, n)
    degrees = xp.trunc(xp.where(xp.isfinite(n), n, -1))
    x, degrees = xp.broadcast_arrays(x, degrees)
    out = xp.astype(degrees == 0, x.dtype)
    before, now = xp.ones_like(x), first(x)
    # The largest degree says how far to go, which is the host's to know.
    for k in range(1, int(degrees.max()) + 1 if degrees.size else 1):
        out = xp.where(degrees == k, now, out)
        before, now = now, step(x, k, now, before)
    return out


def _one_degree(xp: Backend, x: Array, n: int, first: Any, step: Any) -> Array:
    if n < 1:
        return xp.full(x.shape, float(n == 0), x.dtype)
    before, now = xp.ones_like(x), first(x)
    for k in range(1, n):
        before, now = now, step(x, k, now, before)
    return now


def _chebyshev_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return 2 * x * now - before


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def chebyshev_polynomial_t(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the first kind, ``cos(n arccos(x))``.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.chebyshev_polynomial_t(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 26.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: xp.array(x), _chebyshev_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def chebyshev_polynomial_u(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the second kind.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.chebyshev_polynomial_u(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 56.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: 2 * x, _chebyshev_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def chebyshev_polynomial_v(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the third kind.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.chebyshev_polynomial_v(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 41.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: 2 * x - 1, _chebyshev_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def chebyshev_polynomial_w(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the fourth kind.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.chebyshev_polynomial_w(tt.tensor([0.5, 2.0]), 3)
        tensor([-1., 71.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: 2 * x + 1, _chebyshev_step)


def _hermite_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return 2 * (x * now - k * before)


def _bounded(xp: Backend, out: Array, n: Any) -> Array:
    """NaN for degrees above torch's limits, 128 in float32 and 512 in float64."""
    limit = 512 if out.dtype.itemsize > 4 else 128
    if not hasattr(n, "dtype"):
        return out if n <= limit else xp.full(out.shape, math.nan, out.dtype)
    return xp.where(n > limit, math.nan, out)


def _laguerre_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return ((2 * k + 1 - x) * now - k * before) / (k + 1)


def _legendre_step(x: Any, k: int, now: Any, before: Any) -> Any:
    return ((2 * k + 1) * x * now - k * before) / (k + 1)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def hermite_polynomial_h(xp: Backend, input: Operand, n: Operand) -> Array:
    """The physicists' Hermite polynomial; NaN for degrees whose numbers no dtype holds.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.hermite_polynomial_h(tt.tensor([0.5, 2.0]), 3)
        tensor([-5., 40.])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    out = _polynomial(xp, input, n, lambda x: 2 * x, _hermite_step)
    return _bounded(xp, out, n)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def hermite_polynomial_he(xp: Backend, input: Operand, n: Operand) -> Array:
    """The probabilists' Hermite polynomial; NaN for degrees whose numbers no dtype holds.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.hermite_polynomial_he(tt.tensor([0.5, 2.0]), 3)
        tensor([-1.3750,  2.0000])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    def step(x: Any, k: int, now: Any, before: Any) -> Any:
        return x * now - k * before

    return _bounded(xp, _polynomial(xp, input, n, lambda x: x, step), n)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def laguerre_polynomial_l(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Laguerre polynomial.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.laguerre_polynomial_l(tt.tensor([0.5, 2.0]), 3)
        tensor([-0.1458, -0.3333])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: 1 - x, _laguerre_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def legendre_polynomial_p(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Legendre polynomial.

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.legendre_polynomial_p(tt.tensor([0.5, 2.0]), 3)
        tensor([-0.4375, 17.0000])

    Reference:
        https://dlmf.nist.gov/18.9
    """
    return _polynomial(xp, input, n, lambda x: x, _legendre_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def shifted_chebyshev_polynomial_t(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the first kind, shifted from [-1, 1] to [0, 1].

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.shifted_chebyshev_polynomial_t(tt.tensor([0.5, 2.0]), 3)
        tensor([-0., 99.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _polynomial(xp, 2 * input - 1, n, lambda x: x, _chebyshev_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def shifted_chebyshev_polynomial_u(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the second kind, shifted from [-1, 1] to [0, 1].

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.shifted_chebyshev_polynomial_u(tt.tensor([0.5, 2.0]), 3)
        tensor([ -0., 204.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _polynomial(xp, 2 * input - 1, n, lambda x: 2 * x, _chebyshev_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def shifted_chebyshev_polynomial_v(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the third kind, shifted from [-1, 1] to [0, 1].

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.shifted_chebyshev_polynomial_v(tt.tensor([0.5, 2.0]), 3)
        tensor([  1., 169.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _polynomial(xp, 2 * input - 1, n, lambda x: 2 * x - 1, _chebyshev_step)


@op(promote="float", strict=True, namespaces=SPECIAL, method=False)
def shifted_chebyshev_polynomial_w(xp: Backend, input: Operand, n: Operand) -> Array:
    """The Chebyshev polynomial of the fourth kind, shifted from [-1, 1] to [0, 1].

    Args:
        input: Where; tensor or number.
        n: The degree; tensor or number. The two shapes broadcast; fractions are cut off.

    Returns:
        Tensor of the broadcast shape; integers give the default dtype. 0 for negative degrees.

    Example:
        >>> import tinytorch as tt
        >>> tt.special.shifted_chebyshev_polynomial_w(tt.tensor([0.5, 2.0]), 3)
        tensor([ -1., 239.])

    Reference:
        https://dlmf.nist.gov/18.7
    """
    return _polynomial(xp, 2 * input - 1, n, lambda x: 2 * x + 1, _chebyshev_step)
