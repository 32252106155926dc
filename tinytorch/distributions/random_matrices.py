"""The Wishart distribution and the LKJ distribution of correlation factors."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from ..core.tensor import Size, Tensor
from ..dtypes import finfo
from ..ops.create.factories import tensor
from ..ops.create.ranges import arange
from ..ops.linalg.matrix_functions import slogdet
from ..ops.linalg.triangular import cholesky_solve
from ..ops.random.sampling import randn
from ..ops.shape.joining import cat
from ..ops.shape.strides import broadcast_shapes
from ..ops.special.gamma_functions import mvlgamma
from ..state import no_grad
from ..warnings import warn
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gamma import Beta, Chi2
from .multivariate_normal import _CovarianceBased, _factor, _log_diagonal, _select_matrices
from .utils import broadcast_all, vec_to_tril_matrix

__all__ = ["LKJCholesky", "Wishart"]


class LKJCholesky(Distribution):
    """The LKJ distribution of the lower Cholesky factors of correlation matrices.

    The density of a correlation matrix ``M`` is proportional to
    ``det(M) ** (concentration - 1)``.

    Args:
        dim: The number of rows of the matrices, at least 2.
        concentration: The exponent plus 1. At 1 all correlation matrices are equally probable.
            Default: 1.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If ``dim`` is less than 2.

    Example:
        >>> distribution = tt.distributions.LKJCholesky(2, 1.0)
        >>> distribution.log_prob(tt.eye(2)).exp()
        tensor(0.5000)

    Reference:
        D. Lewandowski, D. Kurowicka and H. Joe, "Generating random correlation matrices based on
        vines and extended onion method", Journal of Multivariate Analysis 100 (2009).
    """

    concentration: Tensor

    arg_constraints: Any = {"concentration": constraints.positive}
    support: Any = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: Any = None) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        self._beta = _squared_radii(self.concentration, dim)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            u = randn(shape, dtype=y.dtype, device=y.device).tril(-1)
            length = u.square().sum(-1, keepdim=True).sqrt()
            below = y.sqrt() * (u / length.where(length > 0, 1.0))  # the first row is zeros
            left = (1 - below.square().sum(-1)).clamp(min=finfo(y.dtype).tiny)
            return below + left.sqrt().diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        eta, n = self.concentration, self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        falling = arange(n - 1, -1, -1, dtype=eta.dtype, device=eta.device)
        powers = 2 * (eta - 1).unsqueeze(-1) + falling
        alpha = eta + 0.5 * n
        log_normalizer = 0.5 * n * math.log(math.pi) + mvlgamma(alpha - 0.5, n) - n * alpha.lgamma()
        return (powers * diagonal.log()).sum(-1) - log_normalizer


def _squared_radii(concentration: Tensor, dim: int) -> Beta:
    """The distributions of the squared length of the part of each row below the diagonal."""
    marginal = concentration + 0.5 * (dim - 2)
    steps = arange(dim - 1, dtype=concentration.dtype, device=concentration.device)
    steps = cat([steps.new_zeros((1,)), steps])
    return Beta(steps + 0.5, marginal.unsqueeze(-1) - 0.5 * steps)


class Wishart(_CovarianceBased, ExponentialFamily):
    """The Wishart distribution: that of the sum of ``df`` outer products ``x x^T`` of normal ``x``.

    Args:
        df: The degrees of freedom, a number or tensor above ``n - 1``.
        covariance_matrix: ``(..., n, n)``, the covariance of the vectors. Pass exactly one of
            ``covariance_matrix``, ``precision_matrix`` and ``scale_tril``.
        precision_matrix: The inverse of the covariance matrix.
        scale_tril: The lower Cholesky factor of the covariance matrix.
        validate_args: Whether parameters and values are checked.

    Raises:
        AssertionError: If not exactly one matrix is passed.
        ValueError: If the matrix has too few dimensions or does not satisfy its constraint, or if
            ``df`` is at most ``n - 1``.

    Warns:
        UserWarning: If ``df`` is below ``n``, where samples are often singular, and if a sample is
            singular. ``rsample`` draws singular samples again, at most ``max_try_correction``
            times (default: 10).

    Example:
        >>> tt.distributions.Wishart(3.0, tt.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])

    Reference:
        T. W. Anderson, "An Introduction to Multivariate Statistical Analysis", 3rd edition (2003),
        chapter 7.
    """

    support: Any = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> Any:
        """The constraints of the parameters, by name; that of ``df`` depends on the dimension."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: Any = None,
    ) -> None:  # fmt: skip
        given = _select_matrices(covariance_matrix, precision_matrix, scale_tril)
        if len(given) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if isinstance(df, Real):
            df = tensor(df, dtype=matrix.dtype, device=matrix.device)
        shape = broadcast_shapes(matrix.shape[:-2], df.shape)
        self.df: Any = df.expand(shape)
        setattr(self, name, matrix.expand((*shape, -1, -1)))
        _check_degrees(df, matrix.shape[-1])
        super().__init__(shape, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    def _parameters(self) -> tuple[str, ...]:
        return ("df", "covariance_matrix", "precision_matrix", "scale_tril")

    def _unsqueeze_matrix(self, x: Tensor) -> Tensor:
        return x.reshape((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Tensor:
        return self._unsqueeze_matrix(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return self._unsqueeze_matrix(factor.where(factor > 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._unsqueeze_matrix(self.df) * (v.pow(2) + outer)

    @property
    def _batch_dims(self) -> list[int]:
        """Dimensions of the batch, counted from the last."""
        return [-(dim + 1) for dim in range(len(self._batch_shape))]

    @property
    def _dist_chi2(self) -> Chi2:
        """Distribution of the squares of the diagonal in Bartlett's decomposition."""
        n, dtype = self._event_shape[-1], self._unbroadcasted_scale_tril.dtype
        steps = arange(n, dtype=dtype, device=self.df.device)
        return Chi2(self.df.unsqueeze(-1) - steps, validate_args=False)

    def _bartlett_sampling(self, sample_shape: Size) -> Tensor:
        """Samples by Bartlett's decomposition, which may be singular by rounding."""
        n, dtype = self._event_shape[-1], self._unbroadcasted_scale_tril.dtype
        squares = self._dist_chi2.rsample(sample_shape)
        diagonal = squares.sqrt().clamp(min=finfo(dtype).eps)
        shape = (*sample_shape, *self._batch_shape, n * (n - 1) // 2)
        below = vec_to_tril_matrix(randn(shape, dtype=dtype, device=self.df.device), diag=-1)
        factor = self._unbroadcasted_scale_tril @ (diagonal.diag_embed() + below)
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = Size(), max_try_correction: int | None = None) -> Tensor:
        shape = Size(sample_shape)
        with no_grad():
            # PyTorch wrongly treats its first samples as singular and draws again. Discard one
            # draw so that the samples are equal.
            self._bartlett_sampling(shape)
        sample = self._bartlett_sampling(Size((shape.numel(),)))
        sample = sample.reshape(self._extended_shape(shape))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            definite = self.support.check(sample)
            if bool(definite.all()):
                break
            warn("Singular sample detected.")
            again = self._bartlett_sampling(shape)
            sample = sample.where(definite.unsqueeze(-1).unsqueeze(-1), again)
        return sample

    def _half_log_determinant(self) -> Tensor:
        """Half the logarithm of the determinant of twice the covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return 0.5 * self._event_shape[-1] * math.log(2) + _log_diagonal(factor)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        n = self._event_shape[-1]
        trace = cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1)
        log_normalizer = self.df * self._half_log_determinant() + mvlgamma(self.df / 2, n)
        power = (self.df - n - 1) / 2
        found: Tensor = power * slogdet(value)[1] - trace.sum(-1) / 2 - log_normalizer
        return found

    def entropy(self) -> Tensor:
        n, half = self._event_shape[-1], self.df / 2
        steps = arange(n, dtype=half.dtype, device=half.device) / 2
        digammas = (half.unsqueeze(-1) - steps).digamma().sum(-1)
        log_constant = (n + 1) * self._half_log_determinant() + mvlgamma(half, n)
        power = (self.df - n - 1) / 2
        found: Tensor = log_constant - power * digammas + half * n
        return found

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        precision, power = natural_params
        n = self._event_shape[-1]
        half = power + (n + 1) / 2
        return half * (n * math.log(2) - slogdet(-2 * precision)[1]) + mvlgamma(half, n)


def _check_degrees(df: Tensor, n: int) -> None:
    """Raise ValueError if ``df`` is not greater than ``n - 1``; warn if it is less than ``n``."""
    least = df.min().item() if df.numel() else n
    if least <= n - 1:
        raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
    if least < n:
        warn(
            "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df "
            "< ndim.",
        )  # fmt: skip
