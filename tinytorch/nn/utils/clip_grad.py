"""Gradient clipping."""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.factories import tensor
from ...ops.reduce.norms import p_norm
from ...ops.shape.joining import stack
from ...state import no_grad
from ...state.tracebacks import short
from ...warnings import warn

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

Tensors = Tensor | Iterable[Tensor]


@short
def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of several tensors, taken together as one vector.

    Args:
        tensors: Tensors of any shapes, or one tensor.
        norm_type: Order of the norm; ``inf`` for the largest absolute value. Default: 2.
        error_if_nonfinite: Whether to raise if the norm is infinite or NaN. Default: False.
        foreach: Has no effect.

    Returns:
        A 0-d tensor.

    Raises:
        RuntimeError: If the norm is not finite and ``error_if_nonfinite`` is true.

    Example:
        >>> tt.nn.utils.get_total_norm([tt.tensor([3.0]), tt.tensor([[4.0]])])
        tensor(5.)
    """
    values = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not values:
        return tensor(0.0)
    with no_grad():
        norms: list[Any] = [p_norm(value, float(norm_type)) for value in values]
        total = p_norm(stack([norm.to(values[0].device) for norm in norms]), float(norm_type))
        if error_if_nonfinite and not bool(total.isfinite()):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is "
                "non-finite, so it cannot be clipped. To disable this error and scale the "
                "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
            )
    return total


@short
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place by ``max_norm / total_norm``, if that is below 1.

    Args:
        parameters: Tensors whose ``grad`` is scaled, or one tensor.
        max_norm: Largest norm allowed for all gradients together.
        total_norm: The current norm of all gradients together.
        foreach: Has no effect.

    Example:
        >>> w = tt.zeros(2, requires_grad=True)
        >>> w.grad = tt.tensor([3.0, 4.0])
        >>> tt.nn.utils.clip_grads_with_norm_(w, 1.0, tt.tensor(5.0))
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    with no_grad():
        # 1e-6 avoids a division by zero. The factor stays a tensor: reading it would synchronize.
        factor: Any = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in _grads(parameters):
            grad.mul_(factor.to(grad.device))


@short
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place so that their norm, taken together, is at most ``max_norm``.

    Args:
        parameters: Tensors whose ``grad`` is scaled, or one tensor.
        max_norm: Largest norm allowed for all gradients together.
        norm_type: Order of the norm; ``inf`` for the largest absolute value. Default: 2.
        error_if_nonfinite: Whether to raise if the norm is infinite or NaN. Default: False.
        foreach: Has no effect.

    Returns:
        The norm before scaling, a 0-d tensor.

    Raises:
        RuntimeError: If the norm is not finite and ``error_if_nonfinite`` is true.

    Example:
        >>> w = tt.zeros(2, requires_grad=True)
        >>> w.grad = tt.tensor([3.0, 4.0])
        >>> tt.nn.utils.clip_grad_norm_(w, max_norm=1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])

    Reference:
        R. Pascanu et al., "On the difficulty of training recurrent neural networks" (2012).
    """
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if isinstance(parameters, GeneratorType) and not tensors:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    norm = get_total_norm(_grads(tensors), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(tensors, max_norm, norm)
    return norm


@short
def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Deprecated name of ``clip_grad_norm_``."""
    message = "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`."
    warn(message, FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@short
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of the gradients to [-clip_value, clip_value], in place.

    Args:
        parameters: Tensors whose ``grad`` is clamped, or one tensor.
        clip_value: Largest absolute value of an element.
        foreach: Has no effect.

    Example:
        >>> w = tt.zeros(2, requires_grad=True)
        >>> w.grad = tt.tensor([-3.0, 0.5])
        >>> tt.nn.utils.clip_grad_value_(w, 1.0)
        >>> w.grad
        tensor([-1.0000,  0.5000])
    """
    limit = float(clip_value)
    with no_grad():
        for grad in _grads(parameters):
            grad.clamp_(min=-limit, max=limit)


def _grads(parameters: Tensors) -> list[Any]:
    """Return the gradients of one or several tensors, without None."""
    tensors = [parameters] if isinstance(parameters, Tensor) else parameters
    return [param.grad for param in tensors if param.grad is not None]
