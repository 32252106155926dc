"""What the loss modules share."""

from __future__ import annotations

from ..core.tensor import Tensor
from ..ops.nn.loss import reduction_of
from .module import Module


class Loss(Module):
    """A loss with a way of reducing it over the elements.

    Args:
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
    """

    reduction: str

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(reduction, size_average, reduce)


class WeightedLoss(Loss):
    """A loss with a weight for each class, kept as a buffer.

    Args:
        weight: Shape ``(classes,)``. Default: all the same.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
    """

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
