"""The normal law of vectors."""

from __future__ import annotations

import math
from typing import Any

from .._tensor import Size, Tensor
from ..ops.broadcasting import broadcast_shapes
from ..ops.creation import eye
from ..ops.linalg_triangular import cholesky, solve_triangular
from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat: Tensor, bvec: Tensor) -> Tensor:
    """Matrices times vectors, in batches that broadcast."""
    return (bmat @ bvec.unsqueeze(-1)).squeeze(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The lower triangular factor of the inverse of a precision matrix."""
    factor = cholesky(precision.flip((-2, -1))).flip((-2, -1)).mT
    one = eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return solve_triangular(factor, one, upper=False)


class MultivariateNormal(Distribution):
    """The normal, or Gaussian, law of vectors.

    Args:
        loc: ``(..., n)``, its mean.
        covariance_matrix: ``(..., n, n)``, positive definite. Give it or one of the next two.
        precision_matrix: Its inverse.
        scale_tril: Its lower triangular factor.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If not exactly one matrix is given, for too few dimensions, or for a matrix
            that is none of its kind.

    Example:
        >>> import tinytorch as tt
        >>> law = tt.distributions.MultivariateNormal(tt.zeros(2), tt.eye(2))
        >>> law.log_prob(tt.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: Any = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix, "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }  # fmt: skip
        given = {name: matrix for name, matrix in matrices.items() if matrix is not None}
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
        self.loc = loc.expand((*shape, -1))
        super().__init__(shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    def _carry_over(self, new: Any) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariances."""
        return self._expanded(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariances."""
        factor = self._unbroadcasted_scale_tril
        return self._expanded(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariances."""
        from ..ops.linalg_triangular import cholesky_inverse

        return self._expanded(cholesky_inverse(self._unbroadcasted_scale_tril))

    def _expanded(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        factor = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(factor, value - self.loc)
        size = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - size

    def entropy(self) -> Tensor:
        size = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + size
        return found.expand(self._batch_shape)


def _factor(name: str, matrix: Tensor) -> Tensor:
    if name == "scale_tril":
        return matrix
    return cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)


def _batch_mahalanobis(factor: Tensor, difference: Tensor) -> Tensor:
    """The squares ``d^T M^-1 d`` for ``M = L L^T``; both broadcast."""
    solved = solve_triangular(factor, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)
