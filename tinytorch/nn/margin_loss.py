"""Losses with a margin between scores or distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from ._reduction import Loss, WeightedLoss
from .distance import PairwiseDistance

__all__ = [
    "CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip


class _MarginLoss(Loss):
    margin: float

    def __init__(
        self,
        margin: float,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """max(0, -target · (input1 - input2) + margin).

    Args:
        margin: Difference above which the loss is 0. Default: 0.

    Example:
        >>> tt.nn.MarginRankingLoss()(tt.tensor([1.0]), tt.tensor([3.0]), tt.tensor([1.0]))
        tensor(2.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss; ``target`` is 1 where ``input1`` should be larger, else -1."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_MarginLoss):
    """input where the target is 1, max(0, margin - input) where it is -1.

    Args:
        margin: Input above which the loss is 0 where the target is -1. Default: 1.

    Example:
        >>> tt.nn.HingeEmbeddingLoss()(tt.tensor([0.5, 0.2]), tt.tensor([1.0, -1.0]))
        tensor(0.6500)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + exp(-target · input)), with targets 1 and -1.

    Example:
        >>> tt.nn.SoftMarginLoss()(tt.tensor([0.0, 2.0]), tt.tensor([1.0, 1.0]))
        tensor(0.4100)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of one shape."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1.

    Args:
        margin: Similarity below which the loss is 0 where the target is -1. Default: 0.

    Example:
        >>> x = tt.tensor([[1.0, 0.0]])
        >>> tt.nn.CosineEmbeddingLoss()(x, x, tt.tensor([-1.0]))
        tensor(1.)
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss.

        Args:
            input1: Shape ``(batch, features)``, or ``(features,)``.
            input2: The same shape.
            target: Shape ``(batch,)``, or 0-d.
        """
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MultiLabelMarginLoss(Loss):
    """Sum over all target and other classes of max(0, 1 - (x[target] - x[other])) / classes.

    Example:
        >>> x, y = tt.tensor([0.1, 0.2, 0.4, 0.8]), tt.tensor([3, 0, -1, 1])
        >>> tt.nn.MultiLabelMarginLoss()(x, y)
        tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss.

        Args:
            input: Scores, shape ``(batch, classes)``, or ``(classes,)``.
            target: Class indices, of the same shape; those from the first -1 on are ignored.
        """
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """Mean over the classes of the binary cross entropy with logits.

    Example:
        >>> tt.nn.MultiLabelSoftMarginLoss()(tt.tensor([[0.0, 2.0]]), tt.tensor([[0.0, 1.0]]))
        tensor(0.4100)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of logits and a target of shape ``(batch, classes)``."""
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiMarginLoss(WeightedLoss):
    """Mean over the other classes of max(0, margin - x[target] + x[other])^p.

    Args:
        p: Exponent, 1 or 2. Default: 1.
        margin: Difference of scores above which the loss is 0. Default: 1.
        weight: Factor of each target class, shape ``(classes,)``. Default: all 1.

    Raises:
        ValueError: If ``p`` is neither 1 nor 2, or ``weight`` is not a vector.

    Example:
        >>> tt.nn.MultiMarginLoss()(tt.tensor([[0.1, 0.2, 0.4, 0.8]]), tt.tensor([3]))
        tensor(0.3250)
    """

    p: int
    margin: float

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, "
                f"got {weight.ndim}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss.

        Args:
            input: Scores, shape ``(batch, classes)``, or ``(classes,)``.
            target: Class indices, shape ``(batch,)``, or 0-d.
        """
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight,
            reduction=self.reduction,
        )  # fmt: skip


class TripletMarginLoss(_MarginLoss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with the p-norm distance d.

    Args:
        margin: Difference of distances above which the loss is 0; positive. Default: 1.
        p: Order of the norm. Default: 2.
        eps: Added to the differences of elements. Default: 1e-6.
        swap: Whether d(positive, negative) replaces d(anchor, negative) where it is smaller.
            Default: False.

    Raises:
        ValueError: If ``margin`` is not positive.

    Example:
        >>> anchor, far = tt.zeros(1, 4), tt.full((1, 4), 0.25)
        >>> tt.nn.TripletMarginLoss()(anchor, anchor, far)
        tensor(0.5000)

    Reference:
        V. Balntas et al., "Learning shallow convolutional feature descriptors with triplet
        losses" (2016).
    """

    p: float
    eps: float
    swap: bool

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)
        _require_positive("TripletMarginLoss", margin)
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss of tensors of shape ``(batch, features)``."""
        return F.triplet_margin_loss(
            anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class TripletMarginWithDistanceLoss(_MarginLoss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), with any distance function d.

    Args:
        distance_function: The function d. Default: ``nn.PairwiseDistance()``.
        margin: Difference of distances above which the loss is 0; positive. Default: 1.
        swap: Whether d(positive, negative) replaces d(anchor, negative) where it is smaller.
            Default: False.

    Raises:
        ValueError: If ``margin`` is not positive.

    Example:
        >>> anchor, far = tt.zeros(1, 4), tt.full((1, 4), 0.25)
        >>> tt.nn.TripletMarginWithDistanceLoss()(anchor, anchor, far)
        tensor(0.5000)
    """

    swap: bool
    distance_function: Callable[[Tensor, Tensor], Tensor]

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, reduction=reduction)
        _require_positive("TripletMarginWithDistanceLoss", margin)
        self.distance_function = distance_function or PairwiseDistance()
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss of tensors of shape ``(batch, *)``."""
        distance: Any = self.distance_function
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=distance, margin=self.margin,
            swap=self.swap, reduction=self.reduction,
        )  # fmt: skip


def _require_positive(loss: str, margin: float) -> None:
    """Raise ValueError if the margin is not positive."""
    if margin <= 0:
        raise ValueError(f"{loss}: expected margin to be greater than 0, got {margin} instead")
