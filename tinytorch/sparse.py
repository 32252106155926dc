"""``torch.sparse`` for programs that name it: tensors are dense, and a product of such is real."""

from __future__ import annotations

from typing import Any

from .compat.unsupported import Absent, absent
from .core.tensor import Tensor
from .ops.linalg.addmm import addmm as _addmm
from .ops.linalg.matmul import matmul

__all__ = [
    "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "addmm", "log_softmax",
    "mm", "softmax", "sum", "to_sparse_semi_structured",
]  # fmt: skip

_WHY = "tensors are dense here: none are sparse"


class FloatTensor(Absent, why=_WHY):
    """The older name of a sparse tensor of float32."""


class DoubleTensor(Absent, why=_WHY):
    """The older name of a sparse tensor of float64."""


class HalfTensor(Absent, why=_WHY):
    """The older name of a sparse tensor of float16."""


class IntTensor(Absent, why=_WHY):
    """The older name of a sparse tensor of int32."""


class LongTensor(Absent, why=_WHY):
    """The older name of a sparse tensor of int64."""


sum = absent("sparse.sum", _WHY)
softmax = absent("sparse.softmax", _WHY)
log_softmax = absent("sparse.log_softmax", _WHY)
to_sparse_semi_structured = absent("sparse.to_sparse_semi_structured", _WHY)


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, both dense.

    Args:
        mat1: ``(n, m)``.
        mat2: ``(m, p)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.sparse.mm(tt.ones(2, 3), tt.ones(3, 1)).flatten()
        tensor([3., 3.])
    """
    return matmul(mat1, mat2)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * mat + alpha * (mat1 @ mat2)``, all dense.

    Args:
        mat: ``(n, p)``.
        mat1: ``(n, m)``.
        mat2: ``(m, p)``.
        beta: Factor of ``mat``. Default: 1.
        alpha: Factor of the product. Default: 1.

    Example:
        >>> import tinytorch as tt
        >>> tt.sparse.addmm(tt.ones(1, 1), tt.ones(1, 3), tt.ones(3, 1)).item()
        4.0
    """
    result: Any = _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
    return result  # type: ignore[no-any-return]
