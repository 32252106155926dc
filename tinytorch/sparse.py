"""``torch.sparse`` for programs that use its products: all tensors here are dense."""

from __future__ import annotations

from typing import Any

from .compat.tables.unsupported import TABLES
from .compat.tables.unsupported import fill
from .core.tensor import Tensor
from .ops.linalg.matmul import matmul
from .ops.linalg.products import addmm as _addmm

#: PyTorch has a package of this name; ``facade.reexports`` lists the modules in it.
__path__: list[str] = []

__all__ = ["addmm", "mm"]


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Product of two dense matrices.

    Args:
        mat1: Matrix of shape ``(n, m)``.
        mat2: Matrix of shape ``(m, p)``.

    Example:
        >>> tt.sparse.mm(tt.ones(2, 3), tt.ones(3, 1)).flatten()
        tensor([3., 3.])
    """
    return matmul(mat1, mat2)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * mat + alpha * (mat1 @ mat2)`` for dense matrices.

    Args:
        mat: Matrix of shape ``(n, p)``.
        mat1: Matrix of shape ``(n, m)``.
        mat2: Matrix of shape ``(m, p)``.
        beta: Factor of ``mat``. Default: 1.
        alpha: Factor of the product. Default: 1.

    Example:
        >>> tt.sparse.addmm(tt.ones(1, 1), tt.ones(1, 3), tt.ones(3, 1)).item()
        4.0
    """
    result: Any = _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
    return result  # type: ignore[no-any-return]


fill(globals(), TABLES["sparse"])
