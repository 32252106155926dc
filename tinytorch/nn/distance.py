"""Distances and similarities."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """p-norm of x1 - x2 + eps over the last dimension.

    Args:
        p: Order of the norm. Default: 2.
        eps: Added to the differences; keeps the gradient finite at 0. Default: 1e-6.
        keepdim: Whether to keep the last dimension, with size 1. Default: False.

    Example:
        >>> tt.nn.PairwiseDistance()(tt.zeros(1, 4), tt.ones(1, 4))
        tensor([2.0000])
    """

    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compute the distances of tensors of shape ``(batch, features)``, broadcast."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """x1 · x2 / (‖x1‖ ‖x2‖) along a dimension, each norm at least eps.

    Args:
        dim: The dimension that is reduced. Default: 1.
        eps: Lower bound of each norm. Default: 1e-8.

    Example:
        >>> tt.nn.CosineSimilarity()(tt.ones(1, 2), tt.tensor([[1.0, 0.0]]))
        tensor([0.7071])
    """

    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compute the similarities of two tensors of one shape, broadcast."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
