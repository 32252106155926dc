"""Constraints of square matrices."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..dtypes import bool as bool_
from ..dtypes import finfo
from ..ops.linalg.eigen import eigvalsh
from ..ops.linalg.triangular import cholesky_ex
from ._constraint import Constraint

__all__: list[str] = []


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Lower triangular factors of correlation matrices, whose rows have length 1."""

    def check(self, value: Tensor) -> Tensor:
        slack = 10 * value.shape[-1] * finfo(value.dtype).eps
        lengths = value.detach().square().sum(-1).sqrt()
        return super().check(value) & ((lengths - 1).abs() <= slack).all(-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return value.new_full(value.shape[:-2], self._is_square(value), dtype=bool_)

    def _is_square(self, value: Tensor) -> bool:
        return value.shape[-2] == value.shape[-1]


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Tensor) -> Tensor:
        if not self._is_square(value):
            return super().check(value)
        return value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not bool(symmetric.all()):  # the eigenvalue routine requires symmetric matrices
            return symmetric
        return (eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices all of whose eigenvalues are positive."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not self._is_square(value):
            return symmetric
        return symmetric & (cholesky_ex(value)[1] == 0)
