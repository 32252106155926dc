"""The multivariate normal distribution with a covariance of low rank plus a diagonal."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Size, Tensor
from ..ops.create.factories import eye
from ..ops.linalg.triangular import cholesky, solve_triangular
from ..ops.shape.strides import broadcast_tensors
from . import constraints
from ._location import _MeanAtLocation
from .multivariate_normal import _batch_mahalanobis, _batch_mv, _log_diagonal
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _plus_identity(matrix: Tensor) -> Tensor:
    return matrix + eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The lower triangular factor of ``I + W^T D^-1 W``, for a diagonal ``D``."""
    return cholesky(_plus_identity((W.mT / D.unsqueeze(-2)) @ W))


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """The logarithm of ``W W^T + D``'s determinant, by the matrix determinant lemma."""
    return 2 * _log_diagonal(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """The squares ``x^T (W W^T + D)^-1 x``, by Woodbury's identity."""
    inner = _batch_mv(W.mT / D.unsqueeze(-2), x)
    return (x.pow(2) / D).sum(-1) - _batch_mahalanobis(capacitance_tril, inner)


class LowRankMultivariateNormal(_MeanAtLocation):
    """The multivariate normal with covariance ``cov_factor cov_factor^T + diag(cov_diag)``.

    Its cost grows linearly with the number of dimensions, not with its cube.

    Args:
        loc: ``(..., n)``, the mean.
        cov_factor: ``(..., n, rank)``.
        cov_diag: ``(..., n)``, positive: the diagonal.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If a parameter has too few dimensions, or if the shapes do not fit.

    Example:
        >>> factor = tt.tensor([[1.0], [0.0]])
        >>> loc, diag = tt.zeros(2), tt.ones(2)
        >>> tt.distributions.LowRankMultivariateNormal(loc, factor, diag).covariance_matrix
        tensor([[2., 0.],
                [0., 1.]])
    """

    cov_factor: Tensor
    loc: Tensor
    cov_diag: Tensor

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: Any = None
    ) -> None:
        _check_shapes(loc, cov_factor, cov_diag)
        try:
            wide, self.cov_factor, diag = broadcast_tensors(
                loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = wide[..., 0], diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], loc.shape[-1:], validate_args=validate_args)

    def _copy_extra_state(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_cov_factor = self._unbroadcasted_cov_factor
        new._unbroadcasted_cov_diag = self._unbroadcasted_cov_diag
        new._capacitance_tril = self._capacitance_tril

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return squares.expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance matrix."""
        # D^1/2 (I + (D^-1/2 W) (D^-1/2 W)^T) D^1/2: the sum's eigenvalues are at least 1.
        roots = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / roots
        return self._expand_matrix(roots * cholesky(_plus_identity(scaled @ scaled.mT)))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        return self._expand_matrix(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        inner = self._woodbury_factor()
        return self._expand_matrix(
            self._unbroadcasted_cov_diag.reciprocal().diag_embed() - inner.mT @ inner
        )

    def _expand_matrix(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        narrow = (*shape[:-1], self.cov_factor.shape[-1])
        shared = _standard_normal(narrow, self.loc.dtype, self.loc.device)
        own = _standard_normal(shape, self.loc.dtype, self.loc.device)
        moved = self.loc + _batch_mv(self._unbroadcasted_cov_factor, shared)
        return moved + self._unbroadcasted_cov_diag.sqrt() * own

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_sample(value)
        size = self._event_shape[0] * math.log(2 * math.pi) + self._log_determinant()
        return -0.5 * (size + self._mahalanobis(value - self.loc))

    def entropy(self) -> Tensor:
        size = self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_determinant()
        return (0.5 * size).expand(self._batch_shape)

    def _woodbury_factor(self) -> Tensor:
        """``C^-1 W^T D^-1``, where ``C`` is the Cholesky factor of the capacitance matrix."""
        inner = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        return solve_triangular(self._capacitance_tril, inner, upper=False)

    def _log_determinant(self) -> Tensor:
        return _batch_lowrank_logdet(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril
        )

    def _mahalanobis(self, difference: Tensor) -> Tensor:
        """The squared Mahalanobis norm of a difference from the mean."""
        return _batch_lowrank_mahalanobis(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, difference,
            self._capacitance_tril,
        )  # fmt: skip

    def _trace_of(self, factor: Tensor) -> Tensor:
        """The trace of the precision matrix times ``factor factor^T``."""
        outer = (factor.pow(2) / self._unbroadcasted_cov_diag.unsqueeze(-1)).sum((-2, -1))
        return outer - (self._woodbury_factor() @ factor).pow(2).sum((-2, -1))

    def _trace_of_diagonal(self, diagonal: Tensor) -> Tensor:
        """The trace of the precision matrix times a diagonal matrix."""
        inner = (self._woodbury_factor().pow(2) * diagonal.unsqueeze(-2)).sum((-2, -1))
        return (diagonal / self._unbroadcasted_cov_diag).sum(-1) - inner

    def _trace_under(self, other: Any) -> Tensor:
        """The trace of another distribution's precision matrix times the covariance matrix."""
        shared, own = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        found: Tensor = other._trace_of(shared) + other._trace_of_diagonal(own)
        return found


def _check_shapes(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    """Check the dimensions of the parameters, and that their event shapes are equal."""
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")
    event_shape = loc.shape[-1:]
    if cov_factor.dim() < 2:
        raise ValueError(
            "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
        )
    if cov_factor.shape[-2:-1] != event_shape:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
    if cov_diag.shape[-1:] != event_shape:
        raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
