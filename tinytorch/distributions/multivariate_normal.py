"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..ops.create.factories import eye
from ..ops.linalg.triangular import cholesky, cholesky_inverse, solve_triangular
from ..ops.shape.strides import broadcast_shapes
from . import constraints
from ._location import _MeanAtLocation
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Product of matrices with vectors, for batches that broadcast."""
    return (bmat @ bvec.unsqueeze(-1)).squeeze(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse of a precision matrix."""
    factor = cholesky(precision.flip((-2, -1))).flip((-2, -1)).mT
    one = eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solve_triangular(factor, one, upper=False)


def _select_matrices(
    covariance_matrix: Any, precision_matrix: Any, scale_tril: Any
) -> dict[str, Any]:
    """The matrices that are not None, by parameter name."""
    named = {
        "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }  # fmt: skip
    return {name: matrix for name, matrix in named.items() if matrix is not None}


class _CovarianceBased(Distribution):
    """Base of distributions whose covariance is given by one of three matrices."""

    _unbroadcasted_scale_tril: Tensor

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix."""
        return self._expand_matrix(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._expand_matrix(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._expand_matrix(cholesky_inverse(self._unbroadcasted_scale_tril))

    def _expand_matrix(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))


class MultivariateNormal(_MeanAtLocation, _CovarianceBased):
    """The multivariate normal, or Gaussian, distribution.

    Args:
        loc: ``(..., n)``, the mean.
        covariance_matrix: ``(..., n, n)``, positive definite. Pass exactly one of
            ``covariance_matrix``, ``precision_matrix`` and ``scale_tril``.
        precision_matrix: The inverse of the covariance matrix.
        scale_tril: The lower Cholesky factor of the covariance matrix.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If not exactly one matrix is passed, if a parameter has too few dimensions, or
            if the matrix does not satisfy its constraint.

    Example:
        >>> distribution = tt.distributions.MultivariateNormal(tt.zeros(2), tt.eye(2))
        >>> distribution.log_prob(tt.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: Any = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = _select_matrices(covariance_matrix, precision_matrix, scale_tril)
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*shape, -1, -1)))
        self.loc: Tensor = loc.expand((*shape, -1))
        super().__init__(shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        factor = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(factor, value - self.loc)
        half_log_determinant = _log_diagonal(factor)
        return (
            -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_determinant
        )

    def entropy(self) -> Tensor:
        size = _log_diagonal(self._unbroadcasted_scale_tril)
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + size
        return found.expand(self._batch_shape)

    def _log_determinant(self) -> Tensor:
        return 2 * _log_diagonal(self._unbroadcasted_scale_tril)

    def _mahalanobis(self, difference: Tensor) -> Tensor:
        """The squared Mahalanobis norm of a difference from the mean."""
        return _batch_mahalanobis(self._unbroadcasted_scale_tril, difference)

    def _trace_of(self, factor: Tensor) -> Tensor:
        """The trace of the precision matrix times ``factor factor^T``."""
        solved = solve_triangular(self._unbroadcasted_scale_tril, factor, upper=False)
        return solved.pow(2).sum((-2, -1))

    def _trace_of_diagonal(self, diagonal: Tensor) -> Tensor:
        """The trace of the precision matrix times a diagonal matrix."""
        return self._trace_of(diagonal.sqrt().diag_embed())

    def _trace_under(self, other: Any) -> Tensor:
        """The trace of another distribution's precision matrix times the covariance matrix."""
        found: Tensor = other._trace_of(self._unbroadcasted_scale_tril)
        return found


def _log_diagonal(factor: Tensor) -> Tensor:
    """Half the logarithm of the determinant of ``factor factor^T``."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _factor(name: str, matrix: Tensor) -> Tensor:
    """The lower Cholesky factor of the covariance matrix, given the parameter of this name."""
    if name == "scale_tril":
        return matrix
    return cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)


def _batch_mahalanobis(factor: Tensor, difference: Tensor) -> Tensor:
    """The squared Mahalanobis distance ``d^T (L L^T)^-1 d`` for the factor ``L``."""
    solved = solve_triangular(factor, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)
