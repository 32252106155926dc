"""Distributions of the exponential family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.backward_pass import grad
from ..core.tensor import Tensor
from ..state import enable_grad
from .distribution import Distribution
from .utils import _sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution whose log density is ``<t(x), n> - F(n) + k(x)``.

    A subclass defines its natural parameters ``n`` as ``_natural_params``, the log normalizer
    ``F`` as ``_log_normalizer`` and the mean of ``k`` as ``_mean_carrier_measure``. It inherits
    the entropy, and the divergence from another distribution of its class. Many subclasses
    override these with formulas of their own.

    Example:
        >>> from tinytorch.distributions import ExponentialFamily, Normal
        >>> isinstance(Normal(0.0, 1.0), ExponentialFamily)
        True

    Reference:
        F. Nielsen and R. Nock, "Entropies and cross-entropies of exponential families",
        IEEE International Conference on Image Processing (2010).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        params = self._natural_params
        log_normalizer, gradients = _normalizer_and_slopes(self, params)
        result = log_normalizer - self._mean_carrier_measure
        for param, gradient in zip(params, gradients, strict=True):
            result = result - _batch_inner_product(self, param, gradient)
        return _detach_without_grad(result, params)


def _bregman_divergence(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """KL divergence of two members of one family: the Bregman divergence of their normalizer."""
    own, others = p._natural_params, q._natural_params
    log_normalizer, gradients = _normalizer_and_slopes(p, own)
    result = q._log_normalizer(*others) - log_normalizer
    for param, other, gradient in zip(own, others, gradients, strict=True):
        result = result - _batch_inner_product(p, other - param, gradient)
    return _detach_without_grad(result, (*own, *others))


def _batch_inner_product(distribution: Distribution, param: Tensor, slope: Tensor) -> Tensor:
    """Inner product of a natural parameter with its gradient, for each distribution."""
    return _sum_rightmost(param * slope, slope.dim() - len(distribution.batch_shape))


def _normalizer_and_slopes(
    distribution: ExponentialFamily, params: Sequence[Tensor]
) -> tuple[Tensor, Sequence[Tensor]]:
    """Log normalizer ``F`` at natural parameters, and its differentiable gradients."""
    with enable_grad():
        inputs = [p if p.requires_grad else p.detach().requires_grad_() for p in params]
        log_normalizer = distribution._log_normalizer(*inputs)
        return log_normalizer, grad(log_normalizer.sum(), inputs, create_graph=True)


def _detach_without_grad(found: Tensor, params: Sequence[Tensor]) -> Tensor:
    """Detach a result unless a parameter requires a gradient."""
    return found if any(p.requires_grad for p in params) else found.detach()
