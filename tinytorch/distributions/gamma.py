"""Gamma, chi-squared, inverse gamma, Dirichlet, beta, Student's t and F distributions."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.random.gammas import _sample_dirichlet, _standard_gamma
from ..ops.shape.joining import stack
from . import constraints
from ._location import _WithLocation
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform
from .utils import _standard_normal, broadcast_all, is_number

__all__ = ["Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT"]


class Gamma(ExponentialFamily):
    """The gamma distribution.

    Args:
        concentration: The shape parameter.
        rate: The inverse of the scale.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Gamma(3.0, 2.0).mean
        tensor(1.5000)
    """

    concentration: Tensor
    rate: Tensor

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: Any = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = Size() if is_number(concentration, rate) else self.concentration.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = self.rate.new_tensor(value) if is_number(value) else value
        self._check_sample(value)
        a, b = self.concentration, self.rate
        return a.xlogy(b) + (a - 1).xlogy(value) - b * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self.concentration.igamma(self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


class Chi2(Gamma):
    """The chi-squared distribution.

    Args:
        df: Degrees of freedom.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Chi2(3.0).variance
        tensor(6.)
    """

    arg_constraints: Any = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: Any = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def _parameters(self) -> tuple[str, ...]:
        return ("concentration", "rate")

    def _parameter_event_dim(self, name: str) -> int:
        return 0

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2


class InverseGamma(TransformedDistribution):
    """The inverse gamma distribution: that of the reciprocal of a gamma variable.

    Args:
        concentration: The shape parameter of the gamma distribution.
        rate: The inverse of the gamma distribution's scale.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.InverseGamma(3.0, 2.0).mean
        tensor(1.)
    """

    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: Any = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        reciprocal = PowerTransform(-base.rate.new_ones(()))
        super().__init__(base, reciprocal, validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The shape parameter of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The inverse of the gamma distribution's scale."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return (self.rate / (a - 1)).where(a > 1, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).where(a > 2, math.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution, of vectors of shares whose sum is 1.

    Args:
        concentration: ``(..., n)``, positive.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If ``concentration`` is a 0-d tensor.

    Example:
        >>> tt.distributions.Dirichlet(tt.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: Any = {"concentration": constraints.independent(constraints.positive, 1)}
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: Any = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        a = (self.concentration - 1).clamp(min=0.0)
        mode = a / a.sum(-1, True)
        below = (self.concentration < 1).all(-1, keepdim=True)
        corner = (a.new_zeros(a.shape)).scatter(-1, mode.argmax(-1, keepdim=True), 1.0)
        return corner.where(below, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        rest = total - self.concentration
        return self.concentration * rest / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a = self.concentration
        total, n = a.sum(-1), a.shape[-1]
        spread = (n - total) * total.digamma() + ((a - 1.0) * a.digamma()).sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - spread


class Beta(ExponentialFamily):
    """The beta distribution, of numbers between 0 and 1.

    Args:
        concentration1: The first concentration, which moves the mean towards 1.
        concentration0: The second concentration, which moves the mean towards 0.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints: Any = {
        "concentration1": constraints.positive, "concentration0": constraints.positive,
    }  # fmt: skip
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: Any = None) -> None:
        one, zero = broadcast_all(concentration1, concentration0)
        shares = stack([one, zero], -1)
        self._dirichlet = Dirichlet(shares, validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._dirichlet = self._dirichlet.expand(batch_shape)

    @property
    def concentration1(self) -> Tensor:
        """The first concentration, which moves the mean towards 1."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The second concentration, which moves the mean towards 0."""
        return self._dirichlet.concentration[..., 1]

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return x.lgamma() + y.lgamma() - (x + y).lgamma()

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    def _repr_parameters(self) -> Any:
        return ()


class StudentT(_WithLocation):
    """Student's t distribution.

    Args:
        df: Degrees of freedom.
        loc: The center. Default: 0.
        scale: The scale. Default: 1.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.StudentT(4.0).variance
        tensor(2.)
    """

    df: Tensor
    loc: Tensor
    scale: Tensor

    arg_constraints: Any = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive,
    }  # fmt: skip
    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: Any = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc.where(self.df > 1, math.nan)

    @property
    def variance(self) -> Tensor:
        spread = self.scale.pow(2) * self.df / (self.df - 2)
        return spread.where(self.df > 2, math.inf).where(self.df > 1, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        x = _standard_normal(shape, self.df.dtype, self.df.device)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * (z / self.df).rsqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        y = (value - self.loc) / self.scale
        log_normalizer = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        log_normalizer = (
            log_normalizer + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1.0)).lgamma()
        )
        return -0.5 * (self.df + 1.0) * (y**2.0 / self.df).log1p() - log_normalizer

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        log_beta = (0.5 * self.df).lgamma() + math.lgamma(0.5) - half.lgamma()
        spread = half * (half.digamma() - (0.5 * self.df).digamma())
        return self.scale.log() + spread + 0.5 * self.df.log() + log_beta


class FisherSnedecor(Distribution):
    """The F distribution: the ratio of two chi-squared variables, each divided by its ``df``.

    Args:
        df1: Degrees of freedom of the numerator.
        df2: Degrees of freedom of the denominator.
        validate_args: Whether parameters and values are checked.

    Example:
        >>> tt.distributions.FisherSnedecor(1.0, 4.0).mean
        tensor(2.)
    """

    df1: Tensor
    df2: Tensor

    arg_constraints: Any = {"df1": constraints.positive, "df2": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: Any = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        shape = Size() if is_number(df1, df2) else self.df1.shape
        super().__init__(shape, validate_args=validate_args)

    @property
    def _gamma1(self) -> Gamma:
        """Distribution of the numerator."""
        return Gamma(self.df1 * 0.5, self.df1, False)

    @property
    def _gamma2(self) -> Gamma:
        """Distribution of the denominator."""
        return Gamma(self.df2 * 0.5, self.df2, False)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).where(self.df2 > 2, math.nan)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.where(self.df1 > 2, math.nan)

    @property
    def variance(self) -> Tensor:
        one, two = self.df1, self.df2.where(self.df2 > 4, math.nan)
        return 2 * two.pow(2) * (one + two - 2) / (one * (two - 2).pow(2) * (two - 4))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        first, second = (
            distribution.rsample(sample_shape) for distribution in (self._gamma1, self._gamma2)
        )
        tiny = finfo(second.dtype).tiny
        value = first / second.clamp(min=tiny)
        return value.clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        one, two = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        log_constant = (one + two).lgamma() - one.lgamma() - two.lgamma()
        log_kernel = (
            one * ratio.log() + (one - 1) * value.log() - (one + two) * (ratio * value).log1p()
        )
        return log_constant + log_kernel
