"""Convolutions and transposed convolutions over one, two and three dimensions."""

from __future__ import annotations

import functools
from functools import partial
from typing import Any, NamedTuple

from ... import dtypes
from ...core.layout import contiguous_format
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from ...warnings import warn
from ..checks import as_repeated_ints, check_supported
from ..memory_order import suggest_memory_format
from ..shape.views import following
from .conv_kernels import _conv, _conv_input
from .unfolding import Size


Sizes = tuple[int, ...]


class ConvArguments(NamedTuple):
    """Arguments of a convolution, with one int per spatial dimension."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


#: An argument as one int per spatial dimension.
per_dimension: partial[tuple[int, ...]] = partial(
    as_repeated_ints,
    "{name}: expected {argument} to be a single integer value or a list of {count} values to match "
    "the convolution dimensions, but got {argument}={given}",
)


def check_tensors(name: str, input: Any, weight: Any, bias: Any) -> None:
    """Raise TypeError unless all arguments are tensors; ``bias`` may be None."""
    if input.__class__ is weight.__class__ is Tensor and (bias is None or bias.__class__ is Tensor):
        return
    given = (("input", input), ("weight", weight), ("bias", bias))
    for position, (argument, value) in enumerate(given, 1):
        if not isinstance(value, Tensor) and not (argument == "bias" and value is None):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
                f"{type(value).__name__}"
            )


def check_ranks(name: str, spatial: int, input: Tensor, weight: Tensor) -> None:
    """Raise RuntimeError unless input and weight have the dimensions of ``spatial`` spatial ones.

    The input may lack the dimension of the batch. ``name`` is the function, for errors.
    """
    if weight._data.ndim == spatial + 2 > 2 and 0 <= input._data.ndim - spatial - 1 <= 1:
        return
    if weight.ndim < 3:
        raise RuntimeError(
            f"{name}: weight should have at least three dimensions, got {list(weight.shape)}"
        )
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {name}, but "
            f"got input of size: {list(input.shape)}"
        )
    if weight.ndim != spatial + 2:
        raise RuntimeError(
            f"{name}: Expected {spatial + 2}-dimensional input for {spatial + 2}-dimensional "
            f"weight, but got {input.ndim}-dimensional input of size {list(input.shape)} and "
            f"weight of size {list(weight.shape)} instead"
        )


def check_numbers(name: str, args: ConvArguments) -> None:
    """Raise RuntimeError if a stride, padding, dilation or the number of groups is out of range."""
    if args.groups <= 0:
        raise RuntimeError(f"{name}: non-positive groups is not supported, got {args.groups}")
    if min(args.padding) < 0:
        raise RuntimeError(f"{name}: negative padding is not supported, got {list(args.padding)}")
    if min(args.stride) <= 0:
        raise RuntimeError(f"{name}: non-positive stride is not supported, got {list(args.stride)}")
    if min(args.dilation) <= 0:
        raise RuntimeError(
            f"{name}: dilation should be greater than zero (non-positive dilation is not "
            f"supported), got {list(args.dilation)}"
        )


def check_dtypes(name: str, input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """Raise RuntimeError for different dtypes, NotImplementedError for bool."""
    for argument, other in (("weight", weight), ("bias", bias)):
        if other is None or other._data.dtype is input._data.dtype:
            continue
        if other.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: Input type ({scalar_name(input.dtype)}) and {argument} type "
                f"({scalar_name(other.dtype)}) should be the same"
            )
    if input._data.dtype.kind == "b":
        check_supported(input._xp, name, input._data, unsupported="b")


def check_groups(name: str, weight: Sizes, groups: int) -> None:
    """Raise RuntimeError unless the weight's first dimension is divisible by ``groups``."""
    if weight[0] < groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be at least {groups} at dimension "
            f"0, but got weight of size {list(weight)} instead"
        )
    if weight[0] % groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be divisible by {groups} at "
            f"dimension 0, but got weight of size {list(weight)} instead"
        )


def check_channels(
    name: str, input: Sizes, weight: Sizes, bias: Sizes | None, groups: int, transposed: bool
) -> None:
    """Raise RuntimeError unless the channels of input, weight and bias, given by shapes, match.

    ``name`` is the function, for errors, and ``transposed`` whether it is a transposed convolution.
    """
    found = input[-len(weight) + 1]  # the channels, also without a batch
    expected = weight[0] if transposed else weight[1] * groups
    outputs = weight[1] * groups if transposed else weight[0]
    given = f"Given transposed={int(transposed)}" if transposed else f"Given groups={groups}"
    if found != expected:
        raise RuntimeError(
            f"{name}: {given}, weight of size {list(weight)}, expected input{list(input)} to have "
            f"{expected} channels, but got {found} channels instead"
        )
    if bias is not None and bias != (outputs,):
        raise RuntimeError(
            f"{name}: Given weight of size {list(weight)}, expected bias to be 1-dimensional "
            f"with {outputs} elements, but got bias of size {list(bias)} instead"
        )


@functools.lru_cache(maxsize=256)
def check_shapes(
    name: str, input: Sizes, weight: Sizes, bias: Sizes | None, args: ConvArguments,
    transposed: bool,
) -> None:  # fmt: skip
    """Raise RuntimeError for numbers, groups or channels that do not fit.

    ``name`` is the function, for errors, and ``transposed`` whether it is a transposed convolution.
    Arguments that fit are cached.
    """
    check_numbers(name, args)
    check_groups(name, weight, args.groups)
    check_channels(name, input, weight, bias, args.groups, transposed)


def check_arguments(
    name: str, input: Tensor, weight: Tensor, bias: Tensor | None, args: ConvArguments,
    transposed: bool,
) -> None:  # fmt: skip
    """Raise RuntimeError for numbers, groups, channels or dtypes that do not fit.

    ``name`` is the function, for errors, and ``transposed`` whether it is a transposed convolution.
    """
    shape = None if bias is None else bias._data.shape
    check_shapes(name, input._data.shape, weight._data.shape, shape, args, transposed)
    check_dtypes(name, input, weight, bias)


def check_not_empty(name: str, input: Sizes, weight: Sizes) -> None:
    """Raise RuntimeError for images or kernels without elements, given by the shapes."""
    if 0 in weight[2:] or 0 in input[2 - len(weight) :]:
        raise RuntimeError(
            f"{name}: Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(input)} and weight shape: {list(weight)}"
        )


def join_sizes(sizes: Any) -> str:
    """Sizes for an error message, such as ``2 x 3``."""
    return " x ".join(map(str, sizes))


SPACES = ("nn.functional", "")


@composite(namespaces=SPACES)
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of images with kernels, plus a bias.

    ``out[n, o, y, x] = bias[o] + Σ input[n, c, s y + d i - p, s x + d j - p] weight[o, c, i, j]``
    over channels c and elements (i, j) of the kernel, with stride s, dilation d and padding p.

    Args:
        input: ``(batch, in_channels, height, width)``, or without ``batch``.
        weight: ``(out_channels, in_channels / groups, *kernel)``.
        bias: ``(out_channels,)``; default none.
        stride: Distance between windows, one int for all dimensions or one for each; default 1.
        padding: Zeros on every side, an int or one int for each dimension. ``"valid"`` for none,
            ``"same"`` for a result of the same size (with stride 1); default 0.
        dilation: Distance between the elements of a window; default 1.
        groups: Number of groups of channels that are convolved separately; default 1.

    Returns:
        ``(batch, out_channels, *windows)`` with
        ``floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1`` windows.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> tt.conv2d(tt.ones(1, 1, 3, 3), tt.ones(1, 1, 2, 2))
        tensor([[[[4., 4.],
                  [4., 4.]]]])
    """
    return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@composite(namespaces=SPACES, like=conv2d)
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1,
    padding: Size | str = 0, dilation: Size = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation of sequences with kernels, as ``conv2d`` over one dimension.

    Args:
        input: ``(batch, in_channels, length)``, or without ``batch``.
        weight: ``(out_channels, in_channels / groups, kernel)``.

    Returns:
        ``(batch, out_channels, windows)``.

    Example:
        >>> tt.conv1d(tt.tensor([[[1.0, 2.0, 4.0]]]), tt.tensor([[[-1.0, 1.0]]]))
        tensor([[[1., 2.]]])
    """
    return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@composite(namespaces=SPACES, like=conv2d)
def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1,
    padding: Size | str = 0, dilation: Size = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation of volumes with kernels, as ``conv2d`` over three dimensions.

    Args:
        input: ``(batch, in_channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.conv3d(tt.ones(1, 1, 2, 2, 2), tt.ones(1, 1, 2, 2, 2))
        tensor([[[[[8.]]]]])
    """
    return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def convolve(
    name: str, spatial: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, dilation: Any, groups: int,
) -> Tensor:  # fmt: skip
    """Convolution with ``spatial`` spatial dimensions; ``name`` is for errors."""
    check_tensors(name, input, weight, bias)
    check_ranks(name, spatial, input, weight)
    shape, weight_shape = input._data.shape, weight._data.shape
    stride = per_dimension(name, "stride", stride, spatial)
    dilation = per_dimension(name, "dilation", dilation, spatial)
    before, after = _padding_sides(name, padding, stride, dilation, weight_shape[2:])
    args = ConvArguments(stride, before, dilation, groups)
    check_arguments(name, input, weight, bias, args, transposed=False)
    size = _count_windows(name, shape, weight_shape, args, after)
    out = run(_conv, spatial, input, weight, bias, args, size)
    if shape[-spatial - 1]:
        return out
    return out.narrow(-spatial - 1, 0, 0)  # as in PyTorch: no input channels, no output channels


@functools.lru_cache(maxsize=256)
def _count_windows(
    name: str, input: Sizes, weight: Sizes, args: ConvArguments, after: Sizes
) -> Sizes:
    """Number of windows in each dimension, from shapes and the numbers of zeros after the image.

    Raises:
        RuntimeError: If an image is empty or smaller than a window; ``name`` is the function.
    """
    check_not_empty(name, input, weight)
    image, kernel = input[2 - len(weight) :], weight[2:]
    padded = [n + a + b for n, a, b in zip(image, args.padding, after, strict=True)]
    extent = [d * (k - 1) + 1 for d, k in zip(args.dilation, kernel, strict=True)]
    if any(n < e for n, e in zip(padded, extent, strict=True)):
        raise RuntimeError(
            f"{name}: Calculated padded input size per channel: ({join_sizes(padded)}). Kernel "
            f"size: ({join_sizes(extent)}). Kernel size can't be greater than actual input size"
        )
    return tuple((n - e) // s + 1 for n, e, s in zip(padded, extent, args.stride, strict=True))


def _padding_sides(
    name: str, padding: Any, stride: Any, dilation: Any, kernel: Any
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of zeros before and after each spatial dimension, from the argument ``padding``.

    ``padding`` is an int, a sequence of ints, ``"valid"`` (none) or ``"same"`` (as many as give the
    result the input's size). ``name`` is the function, for errors.
    """
    if not isinstance(padding, str):
        both = per_dimension(name, "padding", padding, len(kernel))
        return both, both
    if padding == "valid":
        none = (0,) * len(kernel)
        return none, none
    if padding != "same":
        raise RuntimeError(f"{name}: Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise RuntimeError(f"{name}: padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if any(n % 2 for n in total):
        warn(
            "Using padding='same' with even kernel lengths and odd dilation may require a "
            "zero-padded copy of the input be created"
        )
    # Of an odd number of zeros, the greater half follows the image, as in PyTorch.
    return tuple(n // 2 for n in total), tuple(n - n // 2 for n in total)


def run(
    operation: Any, spatial: int, input: Any, weight: Any, bias: Any, args: ConvArguments,
    size: tuple[int, ...],
) -> Tensor:  # fmt: skip
    """Call ``operation``, which is ``_conv`` or ``_conv_input``, on a batch or a single image.

    A float16 input is computed in float32.

    Args:
        operation: The kernel's operation.
        spatial: Number of spatial dimensions.
        input: ``(N, C, *image)`` or ``(C, *image)``.
        weight: The weight.
        bias: ``(channels of the result,)`` or None.
        args: Stride, padding, dilation and groups.
        size: Size of the result in the spatial dimensions.
    """
    half = input._data.dtype.char == "e"
    if half:
        input, weight = input.to(dtypes.float32), weight.to(dtypes.float32)
        bias = None if bias is None else bias.to(dtypes.float32)
    batch = input if input._data.ndim == spatial + 2 else input.unsqueeze(0)
    out: Tensor = operation(batch, weight, bias, *args, size)
    if not (batch._data.flags.c_contiguous and weight._data.flags.c_contiguous):
        is_like = suggest_memory_format(batch._data) is not contiguous_format
        out = following(out, batch if is_like else weight)
    out = out if batch is input else out.squeeze(0)
    return out.to(dtypes.float16) if half else out


@composite(namespaces=SPACES, node="ConvTbcBackward0")
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """``conv1d`` of tensors with the time dimension first and the channels last.

    Args:
        input: ``(time, batch, in_channels)``.
        weight: ``(kernel, in_channels, out_channels)``.
        bias: ``(out_channels,)``.
        pad: Zeros on both sides; default 0.

    Returns:
        ``(windows, batch, out_channels)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> tt.conv_tbc(tt.ones(3, 1, 1), tt.ones(2, 1, 1), tt.zeros(1)).shape
        tinytorch.Size([2, 1, 1])
    """
    x: Any = input
    w: Any = weight
    if input.ndim != 3 or weight.ndim != 3:
        raise RuntimeError(
            "conv_tbc: Input and weight must have 3 dims: time, batch, in_channel and kernel, in, "
            f"out; got {list(input.shape)} and {list(weight.shape)}"
        )
    out = convolve("conv_tbc", 1, x.permute(1, 2, 0), w.permute(2, 1, 0), bias, 1, pad, 1, 1)
    return out.permute(2, 0, 1)


@composite(namespaces=SPACES)
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
    """Transpose of ``conv2d``: the gradient of its input as an operation.

    Each element of ``input``, times the kernel, is added to a window of the result.

    Args:
        input: ``(batch, in_channels, height, width)``, or without ``batch``.
        weight: ``(in_channels, out_channels / groups, *kernel)``.
        bias: ``(out_channels,)``; default none.
        stride: Distance between windows, one int for all dimensions or one for each; default 1.
        padding: Elements cut off on every side of the result; default 0.
        output_padding: Elements added at the end of each dimension of the result, fewer than
            ``stride`` or ``dilation``; default 0.
        groups: Number of groups of channels that are convolved separately; default 1.
        dilation: Distance between the elements of a window; default 1.

    Returns:
        ``(batch, out_channels, *sizes)`` with sizes
        ``(size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> tt.conv_transpose2d(tt.ones(1, 1, 1, 2), tt.ones(1, 1, 1, 2))
        tensor([[[[1., 2., 1.]]]])
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _conv_transpose("conv_transpose2d", 2, input, weight, bias, *options)


@composite(namespaces=SPACES, like=conv_transpose2d)
def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1, padding: Size = 0,
    output_padding: Size = 0, groups: int = 1, dilation: Size = 1,
) -> Tensor:  # fmt: skip
    """Transpose of ``conv1d``: ``conv_transpose2d`` over one dimension.

    Args:
        input: ``(batch, in_channels, length)``, or without ``batch``.
        weight: ``(in_channels, out_channels / groups, kernel)``.

    Returns:
        ``(batch, out_channels, length)``.

    Example:
        >>> tt.conv_transpose1d(tt.tensor([[[1.0, 2.0]]]), tt.tensor([[[-1.0, 1.0]]]))
        tensor([[[-1., -1.,  2.]]])
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _conv_transpose("conv_transpose1d", 1, input, weight, bias, *options)


@composite(namespaces=SPACES, like=conv_transpose2d)
def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1, padding: Size = 0,
    output_padding: Size = 0, groups: int = 1, dilation: Size = 1,
) -> Tensor:  # fmt: skip
    """Transpose of ``conv3d``: ``conv_transpose2d`` over three dimensions.

    Args:
        input: ``(batch, in_channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.conv_transpose3d(tt.ones(1, 1, 1, 1, 1), tt.ones(1, 1, 2, 2, 2)).shape
        tinytorch.Size([1, 1, 2, 2, 2])
    """
    options = (stride, padding, output_padding, groups, dilation)
    return _conv_transpose("conv_transpose3d", 3, input, weight, bias, *options)


def _conv_transpose(
    name: str, spatial: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, output_padding: Any, groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    """Transposed convolution of ``spatial`` dimensions; ``name`` is for errors."""
    check_tensors(name, input, weight, bias)
    check_ranks(name, spatial, input, weight)
    stride = per_dimension(name, "stride", stride, spatial)
    padding = per_dimension(name, "padding", padding, spatial)
    dilation = per_dimension(name, "dilation", dilation, spatial)
    extra = per_dimension(name, "output_padding", output_padding, spatial)
    args = ConvArguments(stride, padding, dilation, groups)
    check_arguments(name, input, weight, bias, args, transposed=True)
    size = _transposed_size(name, input._data.shape, weight._data.shape, args, extra)
    return run(_conv_input, spatial, input, weight, bias, args, size)


@functools.lru_cache(maxsize=256)
def _transposed_size(
    name: str, input: Sizes, weight: Sizes, args: ConvArguments, extra: Sizes
) -> Sizes:
    """Size of the result of a transposed convolution, from shapes and the output padding.

    Raises:
        RuntimeError: If an image is empty or the sizes do not fit; ``name`` is the function.
    """
    check_not_empty(name, input, weight)
    _check_output_padding(name, extra, args.stride, args.dilation)
    image, kernel = input[2 - len(weight) :], weight[2:]
    size = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1
        for n, s, p, d, k, e in zip(image, *args[:3], kernel, extra, strict=True)
    )
    if min(size) < 0:
        raise RuntimeError(
            f"{name}: Given input size per channel: ({join_sizes(image)}). "
            f"Calculated output size per channel: ({join_sizes(size)}). Output size is too small"
        )
    return size


def _check_output_padding(name: str, extra: Any, stride: Any, dilation: Any) -> None:
    """Raise RuntimeError unless each output padding is less than the stride or the dilation."""
    if min(extra) < 0:
        raise RuntimeError(f"{name}: negative output_padding is not supported, got {list(extra)}")
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(
            f"{name}: output padding must be smaller than either stride or dilation, but got "
            f"output_padding: {list(extra)} stride: {list(stride)} dilation: {list(dilation)}"
        )


@composite
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
    """``conv1d`` to ``conv3d``, or their transposes, by the number of dimensions of ``weight``.

    Args:
        input: ``(batch, in_channels, *image)``.
        weight: As for ``conv2d`` or ``conv_transpose2d``, with any number of dimensions.
        bias: ``(out_channels,)`` or None.
        stride: Distance between windows.
        padding: Zeros on every side.
        dilation: Distance between the elements of a window.
        transposed: Whether to compute the transpose.
        output_padding: Elements added at the end of each dimension of the transpose.
        groups: Number of groups of channels that are convolved separately.

    Raises:
        RuntimeError: If shapes, dtypes or numbers do not fit.

    Example:
        >>> x, w = tt.ones(1, 1, 3), tt.ones(1, 1, 2)
        >>> tt.convolution(x, w, None, (1,), (0,), (1,), False, (0,), 1)
        tensor([[[2., 2.]]])
    """
    spatial = weight.ndim - 2
    if transposed:
        options = (stride, padding, output_padding, groups, dilation)
        return _conv_transpose("convolution", spatial, input, weight, bias, *options)
    return convolve("convolution", spatial, input, weight, bias, stride, padding, dilation, groups)
