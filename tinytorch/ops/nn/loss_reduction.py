"""What the losses share: how they are reduced over the elements."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.out import scalar_name
from ...state import grad_enabled
from ...warnings import warn

#: Where the losses are public.
SPACE = ("nn.functional",)


def reduction_of(
    reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> str:
    """The reduction a call asks for, in today's way or by the two arguments of old."""
    if size_average is None and reduce is None:
        return in_present_words(reduction)
    wanted = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(
        "size_average and reduce args will be deprecated, "
        f"please use reduction='{wanted}' instead.",
    )
    return wanted


def in_present_words(reduction: str) -> str:
    """The reduction, with a warning for the word of old."""
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        return "mean"
    return reduction


def refuse_grad(function: str, **tensors: Any) -> None:
    """RuntimeError for arguments that require grad where PyTorch has no gradient for them."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad and grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def check_scalar_type(expected: Any, tensor: Any) -> None:
    """RuntimeError for a tensor of another dtype than a kernel expects."""
    if tensor.dtype != expected:
        raise RuntimeError(
            f"expected scalar type {scalar_name(expected)} but found {scalar_name(tensor.dtype)}"
        )


def weighted(loss: Any, weight: Any) -> Any:
    """``loss * weight`` in the shape and dtype of the loss, as a product in place gives it.

    Raises:
        RuntimeError: If the product has another shape, or a kind of numbers the loss is not.
    """
    if weight is None:
        return loss
    return in_place_of(loss, loss * weight)


def in_place_of(tensor: Any, value: Any) -> Any:
    """``value`` in the dtype of ``tensor``, which PyTorch writes it into; RuntimeError if unfit."""
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"output with shape {list(tensor.shape)} doesn't match the broadcast shape "
            f"{list(value.shape)}"
        )
    return in_dtype(value, tensor.dtype)


def in_dtype(loss: Any, dtype: Any) -> Any:
    """``loss`` in the dtype of what PyTorch writes it into; RuntimeError where that cannot be."""
    if loss.dtype == dtype:
        return loss
    if loss.is_complex() or not dtype.is_floating_point:
        raise RuntimeError(
            f"result type {scalar_name(loss.dtype)} can't be cast to the desired output type "
            f"{scalar_name(dtype)}"
        )
    return loss.to(dtype)


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
