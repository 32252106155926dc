"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape.joining import cat
from ...state.tracebacks import short

__all__ = ["parameters_to_vector", "vector_to_parameters"]


@short
def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Join parameters into one vector; gradients flow back through it.

    Args:
        parameters: Tensors of any shapes on one device.

    Returns:
        Shape ``(total number of elements,)``.

    Raises:
        TypeError: If they are on different devices.

    Example:
        >>> from tinytorch import nn
        >>> nn.utils.parameters_to_vector(nn.Linear(2, 3).parameters()).shape
        tinytorch.Size([9])
    """
    given: list[Any] = _on_one_device(parameters)
    return cat([param.view(-1) for param in given])


@short
def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let parameters have consecutive parts of a vector as their data.

    Args:
        vec: Shape ``(total number of elements,)``; its memory is shared.
        parameters: Tensors of any shapes on one device.

    Raises:
        TypeError: If ``vec`` is no Tensor or the parameters are on different devices.

    Example:
        >>> layer = tt.nn.Linear(2, 1)
        >>> tt.nn.utils.vector_to_parameters(tt.arange(3.0), layer.parameters())
        >>> layer.bias.data
        tensor([2.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected a Tensor, but got: {type(vec).__name__}")
    rest: Any = vec
    start = 0
    for param in _on_one_device(parameters):
        end = start + param.numel()
        param.data = rest[start:end].reshape(param.shape).data
        start = end


def _on_one_device(parameters: Iterable[Tensor]) -> list[Tensor]:
    given = list(parameters)
    if len({str(param.device) for param in given}) > 1:
        raise TypeError(
            "Found two parameters on different devices, this is currently not supported."
        )
    return given
