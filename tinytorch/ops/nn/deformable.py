"""Deformable convolution: each element of the kernel reads the image at a place of its own."""

from __future__ import annotations

import math

from ...core.tensor import Tensor, wrap
from ...dispatch.out import scalar_name
from ..checks import check_supported
from ..linalg.matmul import matmul
from .grid import sample_pixels

Pair = tuple[int, int]
Sizes = tuple[int, ...]


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """Convolution whose kernel reads the image between pixels, at distances from the usual places.

    Element ``p`` of the kernel reads, for each place of the result, the pixel at ``stride * place -
    padding + dilation * p + offset``, by linear interpolation and with zeros outside.

    Args:
        input: ``(N, channels, height, width)``.
        weight: ``(out_channels, channels // groups, kernel_h, kernel_w)``.
        offset: ``(N, 2 * offset_groups * kernel_h * kernel_w, out_h, out_w)``: for each group of
            channels and each element of the kernel the distance in y, then that in x.
        mask: Factors of what is read, ``(N, offset_groups * kernel_h * kernel_w, out_h, out_w)``.
        bias: ``(out_channels,)``.
        stride_h: Distance in y between places of the kernel.
        stride_w: The same in x.
        pad_h: Rows of zeros above and below.
        pad_w: Columns of zeros on the left and right.
        dilation_h: Distance in y between elements of the kernel.
        dilation_w: The same in x.
        groups: Groups of channels, as of ``conv2d``.
        offset_groups: Groups of channels that have offsets of their own.
        use_mask: Whether ``mask`` is used.

    Returns:
        ``(N, out_channels, out_h, out_w)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> image, weight = tt.arange(4.0).reshape(1, 1, 2, 2), tt.ones(1, 1, 1, 1)
        >>> half_right = tt.tensor([0.0, 0.5]).reshape(1, 2, 1, 1).expand(1, 2, 2, 2)
        >>> settings = (1, 1, 0, 0, 1, 1, 1, 1, False)
        >>> none = tt.zeros(1)
        >>> tt.ops.torchvision.deform_conv2d(image, weight, half_right, none, none, *settings)
        tensor([[[[0.5000, 0.5000],
                  [2.5000, 1.5000]]]])

    Reference:
        Dai et al.: Deformable Convolutional Networks, arXiv:1703.06211. Zhu et al.: Deformable
        ConvNets v2, arXiv:1811.11168.
    """
    stride, padding, dilation = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    size = _check(input, weight, offset, stride, padding, dilation, groups, offset_groups)
    if use_mask:
        _check_mask(input, weight, mask, size, offset_groups)
    kernel, points = tuple(weight.shape[2:]), math.prod(size)
    planes, elements = len(input) * offset_groups, math.prod(kernel)
    usual = _usual_places(offset, kernel, size, stride, padding, dilation)
    # The offsets are y, x; ``sample_pixels`` takes x, y.
    at = (offset.reshape(planes, elements, 2, points).flip(2) + usual).swapaxes(2, 3)
    channels = input.shape[1] // offset_groups
    images = input.reshape(planes, channels, *input.shape[2:])
    found = sample_pixels(images, at.reshape(planes, elements * points, 2))
    if use_mask:
        found = found * mask.reshape(planes, 1, elements * points)
    rows = weight.shape[1] * elements
    columns = found.reshape(len(input), groups, rows, points)
    out = matmul(weight.reshape(groups, len(weight) // groups, rows), columns)
    return out.reshape(len(input), len(weight), *size) + bias.reshape(1, len(weight), 1, 1)


def _usual_places(
    offset: Tensor, kernel: Sizes, size: Sizes, stride: Pair, padding: Pair, dilation: Pair
) -> Tensor:
    """Coordinates x, y ``(elements, 2, places)`` that the elements of a kernel read in ``conv2d``.

    The dtype is that of ``offset``, and ``size`` is that of the result.
    """
    xp = offset._xp
    axes = []
    for k, n, step, before, apart in zip(kernel, size, stride, padding, dilation, strict=True):
        place = xp.arange(k)[:, None] * apart + xp.arange(n) * step - before
        axes.append(xp.astype(place, offset._data.dtype))
    full = (*kernel, *size)
    y = xp.broadcast_to(axes[0][:, None, :, None], full)
    x = xp.broadcast_to(axes[1][None, :, None, :], full)
    return wrap(xp.reshape(xp.stack([x, y], axis=2), (-1, 2, math.prod(size))), xp)


def _check(
    input: Tensor, weight: Tensor, offset: Tensor, stride: Pair, padding: Pair, dilation: Pair,
    groups: int, offset_groups: int,
) -> Sizes:  # fmt: skip
    """Return the size of the result; raise torchvision's errors for arguments that do not fit."""
    for name, x in (("input", input), ("offset", offset), ("weight", weight)):
        _check_true(x.ndim == 4, f"{name}_c.ndimension() == 4")
        _check_dtype(input, x)
    check_supported(input._xp, "deform_conv2d", input._data, unsupported="biuc")
    kernel = weight.shape[2:]
    fits = weight.shape[1] * groups == input.shape[1]
    _check_true(fits, "weight_c.size(1) * n_weight_grps == input_c.size(1)")
    _check_true(len(weight) % groups == 0, "weight_c.size(0) % n_weight_grps == 0")
    _check_true(input.shape[1] % offset_groups == 0, "input_c.size(1) % n_offset_grps == 0")
    for name, pair, least in zip(
        ("stride", "pad", "dilation"), (stride, padding, dilation), (1, 0, 1), strict=True
    ):
        if min(pair) < least:
            raise RuntimeError(f"{name}_h: {pair[0]} {name}_w: {pair[1]}")
    if len(offset) != len(input):
        raise RuntimeError("invalid batch size of offset")
    _check_channels("offset", offset, 2 * offset_groups * math.prod(kernel))
    axes = zip(input.shape[2:], kernel, stride, padding, dilation, strict=True)
    size = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in axes)
    _check_places("offset", offset, size)
    if min(size) <= 0:
        raise RuntimeError(f"Calculated output size too small - out_h: {size[0]} out_w: {size[1]}")
    return size


def _check_mask(
    input: Tensor, weight: Tensor, mask: Tensor, size: Sizes, offset_groups: int
) -> None:
    """Raise torchvision's errors for a mask that does not fit."""
    _check_true(mask.ndim == 4, "mask_c.ndimension() == 4")
    _check_dtype(input, mask)
    if len(mask) != len(input):
        raise RuntimeError("invalid batch size of mask")
    _check_channels("mask", mask, offset_groups * math.prod(weight.shape[2:]))
    _check_places("mask", mask, size)


def _check_true(fits: bool, condition: str) -> None:
    """Raise PyTorch's RuntimeError for a condition that does not hold."""
    if not fits:
        raise RuntimeError(f"Expected {condition} to be true, but got false.")


def _check_dtype(input: Tensor, other: Tensor) -> None:
    """Raise RuntimeError if a tensor does not have the dtype of the image."""
    if other.dtype is not input.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_name(input.dtype)} but found {scalar_name(other.dtype)}"
        )


def _check_channels(name: str, x: Tensor, expected: int) -> None:
    """Raise RuntimeError if ``x`` has another number of channels."""
    if x.shape[1] != expected:
        raise RuntimeError(f"{name}.shape[1] is not valid: got: {x.shape[1]} expected: {expected}")


def _check_places(name: str, x: Tensor, size: Sizes) -> None:
    """Raise RuntimeError if ``x`` is not of the size of the result."""
    if tuple(x.shape[2:]) != size:
        raise RuntimeError(
            f"{name} output dims: ({x.shape[2]}, {x.shape[3]}) - computed output dims: "
            f"({size[0]}, {size[1]})"
        )
