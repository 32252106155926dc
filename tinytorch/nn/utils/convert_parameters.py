"""Conversion between parameters and one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape.joining import cat
from ...state.tracebacks import short

__all__ = ["parameters_to_vector", "vector_to_parameters"]


@short
def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate the elements of parameters into one vector, differentiably.

    Args:
        parameters: Tensors of any shapes on one device.

    Returns:
        Shape ``(total number of elements,)``.

    Raises:
        TypeError: If the parameters are on different devices.

    Example:
        >>> tt.nn.utils.parameters_to_vector(tt.nn.Linear(2, 3).parameters()).shape
        tinytorch.Size([9])
    """
    tensors: list[Any] = _check_one_device(parameters)
    return cat([param.view(-1) for param in tensors])


@short
def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the data of parameters to consecutive slices of a vector.

    Args:
        vec: Shape ``(total number of elements,)``; its memory is shared.
        parameters: Tensors of any shapes on one device.

    Raises:
        TypeError: If ``vec`` is not a Tensor, or the parameters are on different devices.

    Example:
        >>> layer = tt.nn.Linear(2, 1)
        >>> tt.nn.utils.vector_to_parameters(tt.arange(3.0), layer.parameters())
        >>> layer.bias.data
        tensor([2.])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected a Tensor, but got: {type(vec).__name__}")
    vector: Any = vec
    start = 0
    for param in _check_one_device(parameters):
        end = start + param.numel()
        param.data = vector[start:end].reshape(param.shape).data
        start = end


def _check_one_device(parameters: Iterable[Tensor]) -> list[Tensor]:
    """Check that all parameters are on the same device, and return them as a list."""
    tensors = list(parameters)
    if len({str(param.device) for param in tensors}) > 1:
        raise TypeError(
            "Found two parameters on different devices, this is currently not supported."
        )
    return tensors
