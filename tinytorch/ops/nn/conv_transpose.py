"""Transposes of convolutions over one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from ...autograd.nodes import Node
from ...core.tensor import Tensor
from ...dispatch.op import composite
from . import conv_arguments as arguments
from .conv_arguments import Arguments, Size, per_dimension, times
from .conv_correlation import _conv_input
from .convolution import SPACES, convolve, run


def _transposed_name(node: Node) -> str | None:
    return None if node.op.name == "squeeze" else "ConvolutionBackward0"


@composite(namespaces=SPACES, method=False, node=_transposed_name)
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transpose of ``conv1d``, as ``conv_transpose2d`` over one dimension.

    Args:
        input: ``(batch, in_channels, length)``, or without ``batch``.
        weight: ``(in_channels, out_channels / groups, kernel)``.
        bias: ``(out_channels,)``; default none.
        stride: Steps from one window to the next; default 1.
        padding: Places cut off on both sides; default 0.
        output_padding: Places added on one side; default 0.
        groups: Parts of the channels that have nothing to do with each other; default 1.
        dilation: Steps from one place in a window to the next; default 1.

    Returns:
        ``(batch, out_channels, length)``.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> import tinytorch as tt
        >>> tt.conv_transpose1d(tt.tensor([[[1.0, 2.0]]]), tt.tensor([[[-1.0, 1.0]]]))
        tensor([[[-1., -1.,  2.]]])
    """
    return _transposed(
        "conv_transpose1d",
        1,
        input,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
    )


@composite(namespaces=SPACES, method=False, node=_transposed_name)
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transpose of ``conv2d``: the gradient of its input, as an operation of its own.

    Each element of ``input`` adds the kernel, times itself, to a window of the result.

    Args:
        input: ``(batch, in_channels, height, width)``, or without ``batch``.
        weight: ``(in_channels, out_channels / groups, *kernel)``.
        bias: ``(out_channels,)``; default none.
        stride: Steps from one window to the next, for both dimensions or each; default 1.
        padding: Places cut off on every side of the result; default 0.
        output_padding: Places added at the end of each dimension of the result, fewer than
            ``stride`` or ``dilation``; default 0.
        groups: Parts of the channels that have nothing to do with each other; default 1.
        dilation: Steps from one place in a window to the next; default 1.

    Returns:
        ``(batch, out_channels, *sizes)`` with sizes
        ``(size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> import tinytorch as tt
        >>> tt.conv_transpose2d(tt.ones(1, 1, 1, 2), tt.ones(1, 1, 1, 2))
        tensor([[[[1., 2., 1.]]]])
    """
    return _transposed(
        "conv_transpose2d",
        2,
        input,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
    )


@composite(namespaces=SPACES, method=False, node=_transposed_name)
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transpose of ``conv3d``, as ``conv_transpose2d`` over three dimensions.

    Args:
        input: ``(batch, in_channels, depth, height, width)``, or without ``batch``.
        weight: ``(in_channels, out_channels / groups, *kernel)``.
        bias: ``(out_channels,)``; default none.
        stride: Steps from one window to the next; default 1.
        padding: Places cut off on every side; default 0.
        output_padding: Places added at the end of each dimension; default 0.
        groups: Parts of the channels that have nothing to do with each other; default 1.
        dilation: Steps from one place in a window to the next; default 1.

    Returns:
        ``(batch, out_channels, *sizes)``.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> import tinytorch as tt
        >>> tt.conv_transpose3d(tt.ones(1, 1, 1, 1, 1), tt.ones(1, 1, 2, 2, 2)).shape
        tinytorch.Size([1, 1, 2, 2, 2])
    """
    return _transposed(
        "conv_transpose3d",
        3,
        input,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
    )


def _transposed(
    name: str,
    spatial: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    arguments.check_tensors(name, input=input, weight=weight, bias=bias)
    arguments.check_ranks(name, spatial, input, weight)
    stride = per_dimension(name, "stride", stride, spatial)
    padding = per_dimension(name, "padding", padding, spatial)
    dilation = per_dimension(name, "dilation", dilation, spatial)
    more = per_dimension(name, "output_padding", output_padding, spatial)
    how = Arguments(stride, padding, dilation, groups)
    arguments.check(name, input, weight, bias, how, transposed=True)
    _check_output_padding(name, more, stride, dilation)
    size = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + m + 1
        for n, s, p, d, k, m in zip(
            input.shape[-spatial:], stride, padding, dilation, weight.shape[2:], more, strict=True
        )
    )
    if min(size) < 0:
        raise RuntimeError(
            f"{name}: Given input size per channel: ({times(input.shape[-spatial:])}). Calculated "
            f"output size per channel: ({times(size)}). Output size is too small"
        )
    return run(_conv_input, spatial, input, weight, bias, how, size)


def _check_output_padding(name: str, more: Any, stride: Any, dilation: Any) -> None:
    if min(more) < 0:
        raise RuntimeError(f"{name}: negative output_padding is not supported, got {list(more)}")
    if any(m >= s and m >= d for m, s, d in zip(more, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}: output padding must be smaller than either stride or dilation, but got "
            f"output_padding: {list(more)} stride: {list(stride)} dilation: {list(dilation)}"
        )


@composite(method=False)
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size,
    dilation: Size,
    transposed: bool,
    output_padding: Size,
    groups: int,
) -> Tensor:
    """``conv1d`` to ``conv3d`` or a transpose of theirs, by the number of dimensions.

    Args:
        input: ``(batch, in_channels, *image)``.
        weight: As for the function it stands for.
        bias: ``(out_channels,)`` or None.
        stride: As for the function it stands for, and so on.
        padding: Zeros on every side.
        dilation: Steps from one place in a window to the next.
        transposed: Whether it is the transpose.
        output_padding: Places added to the transpose.
        groups: Parts of the channels.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> import tinytorch as tt
        >>> x, w = tt.ones(1, 1, 3), tt.ones(1, 1, 2)
        >>> tt.convolution(x, w, None, (1,), (0,), (1,), False, (0,), 1)
        tensor([[[2., 2.]]])
    """
    spatial = weight.ndim - 2
    if transposed:
        return _transposed(
            "convolution", spatial, input, weight, bias, stride, padding, output_padding, groups,
            dilation,
        )  # fmt: skip
    return convolve("convolution", spatial, input, weight, bias, stride, padding, dilation, groups)
