"""What the losses share: how they are reduced over the elements."""

from __future__ import annotations

import warnings
from typing import Any

from .._tensor import Tensor

#: Where the losses are public.
SPACE = ("nn.functional",)


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """The reduction a call asks for, in today's way or by the two arguments of old."""
    if size_average is None and reduce is None:
        return reduction
    wanted = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        "size_average and reduce args will be deprecated, "
        f"please use reduction='{wanted}' instead.",
        stacklevel=4,
    )
    return wanted


def reduced(loss: Any, reduction: str) -> Tensor:
    """The loss of every element, their sum, or their mean.

    Raises:
        ValueError: For any other ``reduction``.
    """
    if reduction == "mean":
        return loss.mean()  # type: ignore[no-any-return]
    if reduction == "sum":
        return loss.sum()  # type: ignore[no-any-return]
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss  # type: ignore[no-any-return]
