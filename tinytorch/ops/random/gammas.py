"""Samples of the gamma and Dirichlet distributions, and their derivatives by the parameters.

A sample ``x`` of the gamma distribution is a function of the shape ``a`` at a fixed probability
``u = P(a, x)``. Therefore ``dx/da = -(dP/da) / p(x)``, where ``p = dP/dx`` is the density.
``dP/da`` is the integral of ``p(t) (log t - ψ(a))``. It is computed on the side of ``x`` where the
integrand has one sign, so that there is no cancellation. The beta distribution, a marginal of the
Dirichlet distribution, is treated in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dispatch.op import Array, Backend, op
from ..special.gamma_functions import digamma
from .inplace import engine_of, not_implemented

#: Step width and nodes ``u`` of the double exponential rule ``v = exp(u - exp(-u))``.
_WIDTH = 0.1
_STEPS = [_WIDTH * k for k in range(-34, 56)]


@op
def _standard_gamma(xp: Backend, input: Array, generator: Any = None) -> Array:
    """Samples of the gamma distribution with rate 1, one for each shape in ``input``.

    Args:
        input: Shapes, a float tensor.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        Tensor of ``input``'s shape and dtype; with the same seed, PyTorch's numbers, up to
        rounding in float32. Its gradient is that of the quantiles.

    Raises:
        NotImplementedError: If the dtype of ``input`` is not float32 or float64.
    """
    if input.dtype.kind != "f" or input.dtype.itemsize < 4:
        raise not_implemented("_standard_gamma", "gamma_cpu", input.dtype)
    drawn = engine_of("_standard_gamma", xp, generator).standard_gamma(input)
    return xp.maximum(drawn, xp.finfo(input.dtype).tiny)


_standard_gamma.vjp(input=lambda xp, g, input, out: g * xp.call(_standard_gamma_grad, input, out))


@op(public=True)
def _sample_dirichlet(xp: Backend, input: Array, generator: Any = None) -> Array:
    """Samples of the Dirichlet distribution, one vector for each vector of concentrations.

    Args:
        input: Concentrations, a float tensor; the last dimension is the vector.
        generator: A ``Generator``. Default: the default generator.

    Returns:
        Tensor of ``input``'s shape and dtype, whose vectors sum to one; with the same seed,
        PyTorch's numbers.

    Raises:
        NotImplementedError: If the dtype of ``input`` is not float32 or float64.

    Example:
        >>> tt._sample_dirichlet(tt.ones(2, 3)).shape
        tinytorch.Size([2, 3])
    """
    if input.dtype.kind != "f" or input.dtype.itemsize < 4:
        raise not_implemented("_sample_dirichlet", "dirichlet", input.dtype)
    double = xp.astype(input, xp.float64)
    gammas = engine_of("_sample_dirichlet", xp, generator).standard_gamma(double)
    gammas = xp.maximum(gammas, xp.finfo(xp.float64).tiny)
    gammas *= 2.0 ** -input.shape[-1].bit_length()  # the sum of large numbers must not overflow
    shares = gammas / gammas.sum(-1, keepdims=True)
    limits = xp.finfo(input.dtype)
    return xp.astype(xp.clip(shares, limits.tiny, 1 - limits.epsneg), input.dtype)


def _dirichlet_gradient(xp: Any, g: Any, input: Any, out: Any) -> Any:
    """Gradient of the concentrations; those of one vector depend on each other by its sum."""
    rest = xp.broadcast_to(xp.sum(input, axis=-1, keepdims=True), input.shape)
    slope = xp.call(_dirichlet_grad, out, input, rest)
    return slope * (g - xp.sum(out * g, axis=-1, keepdims=True))


_sample_dirichlet.vjp(input=_dirichlet_gradient)


@op
def _standard_gamma_grad(xp: Backend, input: Array, output: Array) -> Array:
    """Derivative of samples of the gamma distribution by their shapes.

    Args:
        input: The shapes.
        output: The samples that were drawn for them.
    """
    a, x = (xp.astype(z, xp.float64) for z in (input, output))
    mean_log = digamma.kernel(xp, a)
    log_x = xp.log(x)
    # The side of x on which to integrate. The range above an x far below 1 is too long.
    side = xp.where(log_x < xp.maximum(mean_log, -2.0), -1.0, 1.0)
    rate = xp.absolute(a - x) + xp.sqrt(x)
    scale = 1 / xp.where(side > 0, xp.maximum(rate, 1.0), xp.minimum(rate, _decay_rate(xp, a)))

    def term(v: Array) -> Array:
        """``t p(t) (log t - E[log t]) / (x p(x))`` at ``t = x * exp(v)``, where ``dt = t dv``."""
        weight = xp.exp(a * v - x * xp.expm1(v))
        return weight * (log_x + v - mean_log)

    return xp.astype(side * x * _integrate_half_line(term, side * scale), input.dtype)


@op
def _dirichlet_grad(xp: Backend, input: Array, alpha: Array, total: Array) -> Array:
    """Derivative of samples of the Dirichlet distribution by their own concentrations.

    A sample ``x`` has the distribution Beta(a, b) with ``a = alpha``, ``b = total - alpha``. Its
    derivative is ``-(dF/da) / density(x)``, where F is the distribution function.

    Args:
        input: The samples.
        alpha: The concentrations of the samples.
        total: The sum of the concentrations of each vector, expanded to ``alpha``'s shape.
    """
    x, a, b = (xp.astype(z, xp.float64) for z in (input, alpha, total - alpha))
    mean_log = digamma.kernel(xp, a) - digamma.kernel(xp, a + b)
    log_x = xp.log(x)
    below = log_x < xp.maximum(mean_log, -2 - xp.log1p(b))
    # Above x the integral is over 1 - t, with the two parameters exchanged.
    near, far = xp.where(below, x, 1 - x), xp.where(below, 1 - x, x)
    own, other = xp.where(below, a, b), xp.maximum(xp.where(below, b, a) - 1, 0.0)
    power = xp.where(below, b, a) - 1
    curvature = xp.sqrt(own) + xp.sqrt(other * near) / far
    rate = xp.absolute(own - other * near / far) + curvature
    scale = 1 / xp.minimum(rate, _decay_rate(xp, own))

    def term(v: Array) -> Array:
        """The same for Beta at ``t = near * exp(v)``, for negative ``v``."""
        rest = far - near * xp.expm1(v)  # 1 - t without cancellation
        weight = xp.exp(own * v + power * xp.log(rest / far))
        # Logarithm of the variable that belongs to a: t below x, and 1 - t above.
        log_t = xp.where(below, log_x + v, xp.log(rest))
        return weight * (log_t - mean_log)

    slope = xp.where(below, -1.0, 1.0) * near * _integrate_half_line(term, -scale)
    return xp.astype(slope / (1 - x), input.dtype)


def _decay_rate(xp: Backend, power: Array) -> Array:
    """Upper bound of the rate at which the density falls below a sample."""
    return power + xp.minimum(power, xp.sqrt(power))


def _integrate_half_line(term: Callable[[Array], Array], scale: Array) -> Array:
    """Integral of ``term`` from 0 to infinity, or of ``term(-v)`` for a negative scale.

    Args:
        term: The integrand.
        scale: The approximate width of the integrand.
    """
    total = 0.0
    for u in _STEPS:
        v = math.exp(u - math.exp(-u))
        total = total + term(scale * v) * (v * (1 + math.exp(-u)) * _WIDTH)
    return abs(scale) * total
