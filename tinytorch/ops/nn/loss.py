"""Losses of regression, element by element, and the reduction that all losses share."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...state import grad_enabled
from ...warnings import warn
from ..checks import refuse
from .rectifiers import hardtanh

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


def _weighted(loss: Any, weight: Any, input: Tensor, reduction: str) -> Tensor:
    """``reduced``, each element counting as much as its weight says."""
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    if reduction == "mean":
        return (loss * weight).sum() / weight.sum()  # type: ignore[no-any-return]
    return reduced(loss * weight, reduction)


def _are_floats_of_one_shape(input: Tensor, target: Tensor) -> bool:
    x, y = input._data, target._data
    return bool(x.dtype.kind == y.dtype.kind == "f" and x.shape == y.shape and x.size)


def _warn_of_broadcasting(input: Tensor, target: Tensor) -> None:
    if target._data.shape != input._data.shape:
        warn(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
        )


def _in_common(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in one dtype where one is 0-d: broadcast to the other's shape, it counts in full."""
    if input.dtype == target.dtype or bool(input.ndim) == bool(target.ndim):
        return input, target
    dtype = dtypes.promote_types(input.dtype, target.dtype)
    return input.to(dtype), target.to(dtype)


@op(public=False, promote="arithmetic", node="MseLossBackward0")
def _squared_error(xp: Backend, input: Array, other: Array) -> Array:
    refuse(xp, "mse_cpu", "biuc", input)
    difference = input - other
    return difference * difference


_squared_error.vjp(
    input=lambda xp, g, input, other: g * (2 * (input - other)),
    other=lambda xp, g, input, other: g * (2 * (other - input)),
)


@op(public=False, promote="arithmetic", node="MseLossBackward0")
def _mean_squared_error(xp: Backend, input: Array, other: Array) -> Array:
    """The mean of ``_squared_error`` of two arrays of one shape."""
    difference = input - other
    return xp.mean(difference * difference)


_mean_squared_error.vjp(
    input=lambda xp, g, input, other: (g * (2 / input.size)) * (input - other),
    other=lambda xp, g, input, other: (g * (2 / input.size)) * (other - input),
)


@op(public=False, promote="arithmetic", node="HuberLossBackward0")
def _huber_error(
    xp: Backend, input: Array, target: Array, delta: float, kernel: str = "huber_cpu"
) -> Array:
    refuse(xp, kernel, "biuc", input)
    error = xp.abs(input - target)
    # min(error, delta) · (error - min(error, delta) / 2) is both branches at once.
    inner = xp.between(error, None, delta)
    return inner * (error - 0.5 * inner)


# hardtanh, not clip: its slope where the two branches meet is 0, as is this loss's second there.
_huber_error.vjp(
    input=lambda xp, g, input, target, delta: g * xp.call(hardtanh, input - target, -delta, delta),
    target=lambda xp, g, input, target, delta: g * xp.call(hardtanh, target - input, -delta, delta),
)


@composite(public=False, node="MseLossBackward0")
def _sum_of_squares(input: Tensor, target: Tensor) -> Tensor:
    return _squared_error(input, target).sum()


@composite(namespaces=SPACE)
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)².

    Args:
        input: Any shape.
        target: The same shape.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        weight: A factor for each element, of the input's shape. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

    Raises:
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.mse_loss(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(2.)
    """
    _warn_of_broadcasting(input, target)
    input, target = _in_common(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "mean" and weight is None and _are_floats_of_one_shape(input, target):
        return _mean_squared_error(input, target)
    if reduction == "sum" and weight is None:
        return _sum_of_squares(input, target)
    if weight is None:
        return reduced(_squared_error(input, target), reduction)
    difference: Any = input - target  # of any numbers, as PyTorch's weighted form takes them
    return _weighted(difference.square(), weight, input, reduction)


@composite(namespaces=SPACE)
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|.

    Args:
        input: Any shape.
        target: The same shape.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        weight: A factor for each element, of the input's shape. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

    Raises:
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.l1_loss(tt.tensor([1.0, 2.0]), tt.tensor([1.0, 4.0]))
        tensor(1.)
    """
    _warn_of_broadcasting(input, target)
    input, target = _in_common(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    difference: Any = input - target  # all that is kept, so that both may be modified
    return _weighted(difference.abs(), weight, input, reduction)


@composite(namespaces=SPACE, node="SmoothL1LossBackward0")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d² / (2 beta) where d = |input - target| is below beta, else d - beta / 2.

    Args:
        input: Any shape.
        target: The same shape.
        size_average: Deprecated; see ``reduction``.
        reduce: Deprecated; see ``reduction``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        beta: Not negative; 0 gives ``l1_loss``. Default: 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape.

    Raises:
        RuntimeError: If ``beta`` is negative.
        ValueError: If ``reduction`` is unknown.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([1.0, 2.0]), tt.tensor([1.5, 4.0])
        >>> tt.nn.functional.smooth_l1_loss(x, y, reduction="none")
        tensor([0.1250, 1.5000])

    Reference:
        R. Girshick, "Fast R-CNN" (2015).
    """
    _warn_of_broadcasting(input, target)
    input, target = _in_common(input, target)
    reduction = reduction_of(reduction, size_average, reduce)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        difference: Any = input - target
        return reduced(difference.abs(), reduction)
    return reduced(_huber_error(input, target, float(beta), "smooth_l1_cpu") / beta, reduction)


@composite(namespaces=SPACE, node="HuberLossBackward0")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d² / 2 where d = |input - target| is below delta, else delta · (d - delta / 2).

    Args:
        input: Any shape.
        target: The same shape.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``. Default: ``"mean"``.
        delta: Positive. Default: 1.
        weight: A factor for each element, of the input's shape; ``"mean"`` still divides by
            the number of elements. Default: all 1.

    Returns:
        A 0-d tensor, or for ``"none"`` one of the input's shape; of the input's dtype.

    Raises:
        RuntimeError: If ``delta`` is not positive, or the input holds integers.
        ValueError: If ``weight`` has another shape or ``reduction`` is unknown.

    Example:
        >>> import tinytorch as tt
        >>> x, y = tt.tensor([1.0, 2.0]), tt.tensor([1.5, 6.0])
        >>> tt.nn.functional.huber_loss(x, y, "none", delta=2.0)
        tensor([0.1250, 6.0000])

    Reference:
        P. Huber, "Robust estimation of a location parameter" (1964).
    """
    _warn_of_broadcasting(input, target)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    reduction = in_present_words(reduction)
    loss = in_dtype(_huber_error(input, target, float(delta)), input.dtype)
    if weight is None:
        return reduced(loss, reduction)
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    return reduced(loss * weight, reduction)
