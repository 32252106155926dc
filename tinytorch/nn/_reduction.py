"""``torch.nn._reduction``: reductions of losses as numbers or as two deprecated arguments.

Also the base classes of the loss modules.
"""

from __future__ import annotations

from ..core.tensor import Tensor
from ..ops.nn.loss import current_reduction, reduction_of
from .module import Module

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """Return the number of a reduction: 0 for none, 1 for mean, 2 for sum.

    Args:
        reduction: The reduction's name.

    Raises:
        ValueError: If ``reduction`` is none of the three.

    Example:
        >>> from tinytorch.nn import _reduction
        >>> _reduction.get_enum("sum")
        2
    """
    number = _NUMBERS.get(current_reduction(reduction))
    if number is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return number


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Return the reduction that the two deprecated arguments stand for.

    Args:
        size_average: Whether to reduce to the mean instead of the sum; None means True.
        reduce: Whether to reduce at all; None means True.
        emit_warning: Whether to warn that the arguments are deprecated. Default: True.

    Example:
        >>> from tinytorch.nn import _reduction
        >>> _reduction.legacy_get_string(False, None, emit_warning=False)
        'sum'
    """
    if emit_warning:
        return reduction_of("mean", size_average is not False, reduce)
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """Return the number of the reduction that the two deprecated arguments stand for.

    Args:
        size_average: See ``legacy_get_string``.
        reduce: See ``legacy_get_string``.
        emit_warning: See ``legacy_get_string``.

    Example:
        >>> from tinytorch.nn import _reduction
        >>> _reduction.legacy_get_enum(None, False, emit_warning=False)
        0
    """
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


class Loss(Module):
    """Base class of losses with a reduction over the elements.

    Args:
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
    """

    reduction: str

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(reduction, size_average, reduce)


class WeightedLoss(Loss):
    """Base class of losses with a weight for each class, registered as a buffer.

    Args:
        weight: Factor of each class, shape ``(classes,)``. Default: all 1.
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
