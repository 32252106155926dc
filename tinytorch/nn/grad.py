"""Gradients of convolutions as functions: ``torch.nn.grad``.

A convolution is linear in its input and in its weight, so the gradient with respect to either
depends only on the other and on the gradient of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.backward_pass import grad
from ..core.tensor import Tensor
from ..ops.nn.convolution import conv1d, conv2d, conv3d
from ..state import enable_grad, grad_enabled

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip
Size = int | Sequence[int]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of ``conv1d`` with respect to its input.

    Args:
        input_size: Shape of the input, ``(batch, in_channels, length)``.
        weight: ``(out_channels, in_channels / groups, kernel)``.
        grad_output: Gradient of the output, ``(batch, out_channels, windows)``.
        stride: Stride of the convolution. Default: 1.
        padding: Padding of the convolution. Default: 0.
        dilation: Dilation of the convolution. Default: 1.
        groups: Groups of the convolution. Default: 1.

    Returns:
        Tensor of shape ``input_size``, which can be differentiated.

    Raises:
        RuntimeError: If the shapes do not match.

    Example:
        >>> from tinytorch.nn import grad
        >>> grad.conv1d_input((1, 1, 3), tt.tensor([[[1.0, 2.0]]]), tt.ones(1, 1, 2))
        tensor([[[1., 3., 2.]]])
    """
    return _grad_input(conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of ``conv1d`` with respect to its weight; see ``conv1d_input``.

    Args:
        input: ``(batch, in_channels, length)``.
        weight_size: Shape of the weight, ``(out_channels, in_channels / groups, kernel)``.
        grad_output: Gradient of the output, ``(batch, out_channels, windows)``.
        stride: Stride of the convolution. Default: 1.
        padding: Padding of the convolution. Default: 0.
        dilation: Dilation of the convolution. Default: 1.
        groups: Groups of the convolution. Default: 1.

    Returns:
        Tensor of shape ``weight_size``.

    Example:
        >>> from tinytorch.nn import grad
        >>> grad.conv1d_weight(tt.tensor([[[1.0, 2.0, 4.0]]]), (1, 1, 2), tt.ones(1, 1, 2))
        tensor([[[3., 6.]]])
    """
    return _grad_weight(conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of ``conv2d`` with respect to its input; see ``conv1d_input``.

    Example:
        >>> from tinytorch.nn import grad
        >>> grad.conv2d_input((1, 1, 1, 3), tt.tensor([[[[1.0, 2.0]]]]), tt.ones(1, 1, 1, 2))
        tensor([[[[1., 3., 2.]]]])
    """
    return _grad_input(conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of ``conv2d`` with respect to its weight; see ``conv1d_weight``.

    Example:
        >>> from tinytorch.nn import grad
        >>> x = tt.tensor([[[[1.0, 2.0, 4.0]]]])
        >>> grad.conv2d_weight(x, (1, 1, 1, 2), tt.ones(1, 1, 1, 2))
        tensor([[[[3., 6.]]]])
    """
    return _grad_weight(conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of ``conv3d`` with respect to its input; see ``conv1d_input``.

    Example:
        >>> from tinytorch.nn import grad
        >>> weight, g = tt.full((1, 1, 1, 1, 1), 2.0), tt.ones(1, 1, 1, 1, 2)
        >>> grad.conv3d_input((1, 1, 1, 1, 2), weight, g)
        tensor([[[[[2., 2.]]]]])
    """
    return _grad_input(conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Size = 1,
    padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of ``conv3d`` with respect to its weight; see ``conv1d_weight``.

    Example:
        >>> from tinytorch.nn import grad
        >>> x = tt.tensor([1.0, 2.0]).reshape(1, 1, 1, 1, 2)
        >>> grad.conv3d_weight(x, (1, 1, 1, 1, 1), tt.ones(1, 1, 1, 1, 2))
        tensor([[[[[3.]]]]])
    """
    return _grad_weight(conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)


def _grad_input(
    convolve: Callable[..., Tensor], size: Sequence[int], weight: Tensor, g: Tensor, *settings: Any
) -> Tensor:
    """Gradient for the input, of shape ``size``; ``settings`` are stride to groups."""
    return _gradient(lambda input: convolve(input, weight, None, *settings), size, weight, g)


def _grad_weight(
    convolve: Callable[..., Tensor], input: Tensor, size: Sequence[int], g: Tensor, *settings: Any
) -> Tensor:
    """Gradient for the weight, of shape ``size``; ``settings`` are stride to groups."""
    return _gradient(lambda weight: convolve(input, weight, None, *settings), size, input, g)


def _gradient(
    linear: Callable[[Any], Tensor], size: Sequence[int], other: Tensor, g: Tensor
) -> Tensor:
    """Gradient of a linear function with respect to its argument, whose values do not matter.

    Args:
        linear: The function.
        size: Shape of its argument.
        other: The other tensor of the convolution.
        g: Gradient of the function's result.
    """
    recording = grad_enabled() and (other.requires_grad or g.requires_grad)
    with enable_grad():
        argument = g.new_zeros(tuple(size)).requires_grad_()
        out = linear(argument)
    if out.shape != g.shape:
        raise RuntimeError(
            f"expected grad_output of shape {list(out.shape)}, according to the other sizes, got "
            f"{list(g.shape)}"
        )
    (result,) = grad(out, argument, g, create_graph=recording)
    assert result is not None
    return result
