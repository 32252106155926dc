"""Boxes in images: pooling of the features inside, and suppression of boxes that overlap.

These are the operators that torchvision declares: ``ops.torchvision.roi_align`` and its relatives.
A box is ``(x1, y1, x2, y2)``, and a region ``(index of the image, x1, y1, x2, y2)``.

The means of bins are linear in the image and separable: the mean of bin (i, j) of a region is
``rows[i] @ image @ columns[j]``, where ``rows`` and ``columns`` hold the weights of the pixels
along an axis. So they are matrix products, and their gradients are the transposed products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...backends import load
from ...core.tensor import Tensor, wrap
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, op, reads_results
from ...dispatch.out import scalar_name
from ..checks import check_supported

#: Elements of an intermediate result: more regions are computed in several parts.
_AT_ONCE = 1 << 23


class Bins(NamedTuple):
    """Bins of each region, and how the mean of a bin is computed.

    Attributes:
        size: Number of bins, ``(height, width)``.
        scale: Factor from the coordinates of regions to pixels.
        samples: Samples in a bin along each axis; 0 for one per pixel, rounded up. None: the mean
            is that of the whole pixels which the bin touches.
        offset: Coordinate of the center of the first pixel.
        smallest: Height and width that a region has at least; None for no limit.
        by_position: Whether each bin has channels of its own: bin (i, j) of channel c is computed
            from channel ``(c * height + i) * width + j`` of the image.
    """

    size: tuple[int, int]
    scale: float
    samples: int | None
    offset: float = 0.0
    smallest: float | None = None
    by_position: bool = False

    def weights(self, xp: Backend, rois: Array, image: tuple[int, ...]) -> tuple[Array, Array]:
        """Weights of rows ``(regions, bins, height)`` and of columns ``(regions, bins, width)``."""
        weigh = self._weigh_pixels if self.samples is None else self._weigh_samples
        height, width = image
        return (
            weigh(xp, rois[:, 2], rois[:, 4], self.size[0], height),
            weigh(xp, rois[:, 1], rois[:, 3], self.size[1], width),
        )

    def _weigh_samples(self, xp: Backend, first: Array, last: Array, bins: int, n: int) -> Array:
        """Weights ``(regions, bins, n)`` of an axis for means of linear interpolations.

        A sample more than one pixel outside is 0, and one within that distance is the outermost
        pixel. The weight of a pixel falls linearly to 0 at a distance of 1.

        Args:
            xp: The backend.
            first: Start of each region.
            last: End of each region.
            bins: Number of bins along the axis.
            n: Number of pixels along the axis.

        Reference:
            He et al.: Mask R-CNN, arXiv:1703.06870. Jaderberg et al.: Spatial Transformer Networks,
            arXiv:1506.02025, equation 5.
        """
        start, extent, count = self._grid(xp, first, last, bins)
        step = extent / bins
        edges = start + xp.arange(bins, dtype=step.dtype)[:, None] * step
        pixels = xp.arange(n, dtype=step.dtype)
        weights = xp.zeros((len(first), bins, n), step.dtype)
        for i in range(self.samples or (int(count.max()) if len(first) else 0)):
            at = edges + (i + 0.5) * step / xp.maximum(count, 1)
            valid = (at >= -1) & (at <= n) & (i < count)
            near = 1 - xp.abs(xp.clip(at, 0, n - 1) - pixels)
            weights += xp.where(valid & (near > 0), near, 0)
        return weights / xp.maximum(count, 1)

    def _grid(self, xp: Backend, first: Array, last: Array, bins: int) -> tuple[Array, ...]:
        """Start and extent in pixels, and samples in a bin, ``(regions, 1, 1)`` each."""
        start = (first * self.scale - self.offset)[:, None, None]
        extent = (last * self.scale - self.offset)[:, None, None] - start
        if self.smallest is not None:
            extent = xp.maximum(extent, self.smallest)
        count = xp.full_like(extent, self.samples) if self.samples else xp.ceil(extent / bins)
        return start, extent, xp.where(xp.isfinite(extent), count, 0)

    def has_no_samples(self, xp: Backend, rois: Array) -> Array:
        """Whether a region has no samples, so that its means are NaN, ``(regions, 1, 1)``."""
        rows = self._grid(xp, rois[:, 2], rois[:, 4], self.size[0])[2]
        columns = self._grid(xp, rois[:, 1], rois[:, 3], self.size[1])[2]
        return rows * columns == 0

    def _weigh_pixels(self, xp: Backend, first: Array, last: Array, bins: int, n: int) -> Array:
        """Weights ``(regions, bins, n)`` of an axis for means of whole pixels.

        Args:
            xp: The backend.
            first: Start of each region.
            last: End of each region.
            bins: Number of bins along the axis.
            n: Number of pixels along the axis.

        Reference:
            Dai et al.: R-FCN, arXiv:1605.06409.
        """
        low, high = bin_edges(xp, first, last, self.scale, bins, n - 1, extra=0)
        pixels = xp.arange(n)
        inside = (pixels >= low[..., None]) & (pixels < high[..., None])
        count = xp.maximum(high - low, 1)[..., None]
        return xp.astype(inside, first.dtype) / xp.astype(count, first.dtype)


def bin_edges(
    xp: Backend, first: Array, last: Array, scale: float, bins: int, end: int, extra: int
) -> tuple[Array, Array]:
    """First pixel of each bin along an axis and the one after its last, ``(regions, bins)``.

    Args:
        xp: The backend.
        first: Start of each region.
        last: End of each region.
        scale: Factor from these coordinates to pixels.
        bins: Number of bins.
        end: Largest edge.
        extra: Pixels that a region has beyond the difference of its rounded ends.
    """
    start, stop = (_round(xp, x * scale)[:, None] for x in (first, last))
    step = xp.maximum(stop - start + extra, 1) / bins
    i = xp.arange(bins, dtype=step.dtype)
    edges = xp.floor(i * step) + start, xp.ceil((i + 1) * step) + start
    low, high = (xp.astype(xp.clip(edge, 0, end), "int64") for edge in edges)
    return low, high


def _round(xp: Backend, x: Array) -> Array:
    """Nearest integer; halves are rounded away from zero, as by C's ``round``."""
    whole = xp.trunc(x)
    return whole + xp.sign(x) * xp.astype(xp.abs(x - whole) >= 0.5, x.dtype)


# -- means ---------------------------------------------------------------------------------------


@op
def _region_means(xp: Backend, input: Array, rois: Array, bins: Bins) -> Array:
    """Means ``(regions, channels, *bins.size)`` of the bins of regions.

    Args:
        xp: The backend.
        input: ``(N, channels, height, width)``.
        rois: ``(regions, 5)``.
        bins: The bins.
    """
    rows, columns = bins.weights(xp, rois, input.shape[2:])
    pool = _pool_by_position if bins.by_position else _pool
    channels = input.shape[1] // (bins.size[0] * bins.size[1] if bins.by_position else 1)

    def multiply(input: Array) -> Array:
        out = xp.zeros((len(rois), channels, *bins.size), input.dtype)
        for image, part in _regions_by_image(xp, rois, input, bins):
            out[part] = pool(xp, input[image], rows[part], columns[part])
        return out

    return _multiply_finite(xp, multiply, input)


@op
def _region_means_backward(
    xp: Backend, input: Array, rois: Array, bins: Bins, shape: tuple[int, ...]
) -> Array:
    """Gradient ``shape`` of ``_region_means`` for its input, from that of the means, ``input``."""
    rows, columns = bins.weights(xp, rois, shape[2:])
    spread = _spread_by_position if bins.by_position else _spread

    def multiply(input: Array) -> Array:
        out = xp.zeros(shape, input.dtype)
        for image, part in _regions_by_image(xp, rois, out, bins):
            out[image] += spread(xp, input[part], rows[part], columns[part])
        return out

    return _multiply_finite(xp, multiply, input)


_region_means.vjp(
    input=lambda xp, g, in_shape, rois, bins: xp.call(
        _region_means_backward, g, rois, bins, tuple(in_shape)
    )
)
_region_means_backward.vjp(input=lambda xp, g, rois, bins: xp.call(_region_means, g, rois, bins))


def _regions_by_image(
    xp: Backend, rois: Array, input: Array, bins: Bins
) -> Iterator[tuple[int, Array]]:
    """Index of each image, and indices of its regions, at most as many as fit in memory."""
    _, channels, height, _ = input.shape
    most = max(1, _AT_ONCE // max(1, channels * height * (1 if bins.by_position else bins.size[1])))
    for image in range(len(input)):
        (found,) = xp.nonzero(xp.trunc(rois[:, 0]) == image)
        for start in range(0, len(found), most):
            yield image, found[start : start + most]


def _pool(xp: Backend, image: Array, rows: Array, columns: Array) -> Array:
    """Means ``(k, channels, bins, bins)`` of k regions in an image, ``(channels, h, w)``."""
    channels, height, width = image.shape
    k, size = len(rows), (rows.shape[1], columns.shape[1])
    flat = xp.reshape(image, (channels * height, width))
    wide = xp.matmul(xp.reshape(columns, (k * size[1], width)), xp.swapaxes(flat, 0, 1))
    wide = xp.reshape(wide, (k, size[1] * channels, height))
    found = xp.matmul(wide, xp.swapaxes(rows, 1, 2))
    return xp.transpose(xp.reshape(found, (k, size[1], channels, size[0])), (0, 2, 3, 1))


def _spread(xp: Backend, grad: Array, rows: Array, columns: Array) -> Array:
    """Gradient ``(channels, h, w)`` of an image from those of ``_pool``'s means."""
    k, channels, *size = grad.shape
    height, width = rows.shape[2], columns.shape[2]
    found = xp.reshape(xp.transpose(grad, (0, 3, 1, 2)), (k, size[1] * channels, size[0]))
    wide = xp.reshape(xp.matmul(found, rows), (k * size[1], channels * height))
    flat = xp.matmul(xp.swapaxes(wide, 0, 1), xp.reshape(columns, (k * size[1], width)))
    return xp.reshape(flat, (channels, height, width))


def _pool_by_position(xp: Backend, image: Array, rows: Array, columns: Array) -> Array:
    """``_pool`` of an image with channels for each bin."""
    _, height, width = image.shape
    size = rows.shape[1], columns.shape[1]
    planes = xp.reshape(image, (-1, *size, height, width))
    flat = xp.reshape(xp.transpose(planes, (2, 0, 1, 3, 4)), (size[1], -1, width))
    wide = xp.matmul(flat, xp.transpose(columns, (1, 2, 0)))
    wide = xp.reshape(wide, (size[1], -1, size[0], height, len(rows)))
    found = xp.sum(wide * xp.transpose(rows, (1, 2, 0)), axis=3)
    return xp.transpose(found, (3, 1, 2, 0))


def _spread_by_position(xp: Backend, grad: Array, rows: Array, columns: Array) -> Array:
    """Gradient ``(channels, h, w)`` of an image from those of ``_pool_by_position``'s means."""
    k, channels, *size = grad.shape
    height, width = rows.shape[2], columns.shape[2]
    found = xp.transpose(grad, (3, 1, 2, 0))[:, :, :, None, :] * xp.transpose(rows, (1, 2, 0))
    wide = xp.reshape(found, (size[1], channels * size[0] * height, k))
    flat = xp.matmul(wide, xp.transpose(columns, (1, 0, 2)))
    planes = xp.reshape(flat, (size[1], channels, size[0], height, width))
    image = xp.transpose(planes, (1, 2, 0, 3, 4))
    return xp.reshape(image, (channels * size[0] * size[1], height, width))


def _multiply_finite(xp: Backend, multiply: Callable[[Array], Array], input: Array) -> Array:
    """``multiply(input)``, a product with weights of which most are 0 and none is negative.

    A product of 0 with an infinite element is NaN, so elements that are not finite are multiplied
    separately: a result is infinite or NaN only where their weight is not 0.
    """
    finite = xp.isfinite(input)
    if bool(finite.all()):
        return multiply(input)
    out = multiply(xp.where(finite, input, 0))
    for value in (float("inf"), -float("inf"), float("nan")):
        matches = xp.isnan(input) if value != value else input == value
        has_weight = multiply(xp.astype(matches, input.dtype)) > 0
        out = out + xp.where(has_weight, value, 0)
    return out


# -- largest elements ----------------------------------------------------------------------------


@op
def _region_maxima(
    xp: Backend, input: Array, rois: Array, size: tuple[int, int], scale: float
) -> tuple[Array, Array]:
    """Largest element of each bin, and its index in the flattened image, -1 for an empty bin.

    Both are ``(regions, channels, *size)``. The first of equal elements is chosen.

    Args:
        xp: The backend.
        input: ``(N, channels, height, width)``.
        rois: ``(regions, 5)``.
        size: Number of bins, ``(height, width)``.
        scale: Factor from the coordinates of regions to pixels.
    """
    height, width = input.shape[2:]
    top, bottom = bin_edges(xp, rois[:, 2], rois[:, 4], scale, size[0], height, extra=1)
    left, right = bin_edges(xp, rois[:, 1], rois[:, 3], scale, size[1], width, extra=1)
    best = xp.full((len(rois), input.shape[1], *size), -xp.finfo(input.dtype).max, input.dtype)
    index = xp.full(best.shape, -1, "int32")
    for i in range(_longest(bottom - top)):
        for j in range(_longest(right - left)):
            row, column = (top + i)[:, None, :, None], (left + j)[:, None, None, :]
            inside = (row < bottom[:, None, :, None]) & (column < right[:, None, None, :])
            at = xp.where(inside, row * width + column, 0)
            value = xp.take(xp.reshape(input, (-1,)), _flat_index(xp, rois, at, input.shape))
            better = inside & (value > best)
            best = xp.where(better, value, best)
            index = xp.where(better, xp.astype(at, "int32"), index)
    empty = (bottom <= top)[:, None, :, None] | (right <= left)[:, None, None, :]
    return xp.where(empty, 0, best), index


def _longest(lengths: Array) -> int:
    """Largest of some lengths, 0 if there are none."""
    return int(lengths.max()) if lengths.size else 0


def _flat_index(xp: Backend, rois: Array, at: Array, shape: tuple[int, ...]) -> Array:
    """Indices of pixels in flattened images, for each region and channel.

    Args:
        xp: The backend.
        rois: ``(regions, 5)``.
        at: Indices of pixels in an image, ``(regions, channels or 1, *size)``.
        shape: Shape of the images, ``(N, channels, height, width)``.
    """
    _, channels, height, width = shape
    image = xp.astype(rois[:, 0], "int64")[:, None]
    plane = image * channels + xp.arange(channels)
    return plane[:, :, None, None] * (height * width) + at


@op
def _spread_maxima(
    xp: Backend, input: Array, index: Index, rois: Array, shape: tuple[int, ...]
) -> Array:
    """Zeros of ``shape`` to which ``input``, the gradient of maxima, is added at their indices."""
    out = xp.zeros((math.prod(shape),), input.dtype)
    at = _flat_index(xp, rois, xp.astype(xp.maximum(index, 0), "int64"), shape)
    values = xp.where(index >= 0, input, 0)
    xp.index_add(out, xp.reshape(at, (-1,)), xp.reshape(values, (-1,)))
    return xp.reshape(out, shape)


@op
def _take_maxima(xp: Backend, input: Array, index: Index, rois: Array) -> Array:
    """Elements of images at the indices of maxima, and 0 for empty bins."""
    at = _flat_index(xp, rois, xp.astype(xp.maximum(index, 0), "int64"), input.shape)
    return xp.where(index >= 0, xp.take(xp.reshape(input, (-1,)), at), 0)


@reads_results(1)
def _region_maxima_rule(xp: Any, g: Any, out: Any, rois: Any, in_shape: Any) -> Any:
    """Gradient rule of ``_region_maxima``."""
    return xp.call(_spread_maxima, g[0], out[1], rois, tuple(in_shape))


_region_maxima.vjp(input=_region_maxima_rule)
_spread_maxima.vjp(input=lambda xp, g, index, rois: xp.call(_take_maxima, g, index, rois))
_take_maxima.vjp(
    input=lambda xp, g, index, rois, in_shape: xp.call(
        _spread_maxima, g, index, rois, tuple(in_shape)
    )
)


# -- the operators -------------------------------------------------------------------------------


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Means of the bins of regions, from linear interpolations of the image.

    Args:
        input: Features, ``(N, channels, height, width)``.
        rois: Regions, ``(regions, 5)``: the index of the image, x1, y1, x2, y2. No gradient.
        spatial_scale: Factor from these coordinates to pixels of ``input``.
        pooled_height: Number of bins in a column.
        pooled_width: Number of bins in a row.
        sampling_ratio: Samples in a bin along each axis; 0 or less for one per pixel, rounded up.
        aligned: Whether the center of the first pixel is at 0.5. Otherwise it is at 0, and regions
            are at least one pixel high and wide.

    Returns:
        ``(regions, channels, pooled_height, pooled_width)``.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a region is of no image.

    Example:
        >>> image = tt.arange(16.0).reshape(1, 1, 4, 4)
        >>> region = tt.tensor([[0.0, 0.0, 0.0, 4.0, 4.0]])
        >>> tt.ops.torchvision.roi_align(image, region, 1.0, 2, 2, 2, True)
        tensor([[[[ 2.5000,  4.5000],
                  [10.5000, 12.5000]]]])

    Reference:
        He et al.: Mask R-CNN, arXiv:1703.06870.
    """
    size = pooled_height, pooled_width
    _check("roi_align", input, rois, size, "rois must have shape as Tensor[K, 5]")
    limits = (0.5, None) if aligned else (0.0, 1.0)
    bins = Bins(size, spatial_scale, max(sampling_ratio, 0), *limits)
    return _region_means(input, rois.detach(), bins)


def ps_roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:
    """``roi_align`` of an image that has channels of its own for each bin.

    The center of the first pixel is at 0.5, and regions have any size. A region in which
    ``sampling_ratio`` makes no samples has the mean NaN.

    Args:
        input: Features, ``(N, channels * pooled_height * pooled_width, height, width)``.
        rois: Regions, ``(regions, 5)``: the index of the image, x1, y1, x2, y2. No gradient.
        spatial_scale: Factor from these coordinates to pixels of ``input``.
        pooled_height: Number of bins in a column.
        pooled_width: Number of bins in a row.
        sampling_ratio: Samples in a bin along each axis; 0 or less for one per pixel, rounded up.

    Returns:
        The means, ``(regions, channels, pooled_height, pooled_width)``, and for each the index of
        its channel in ``input``, int32.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a region is of no image.

    Example:
        >>> image = tt.arange(4.0).reshape(1, 4, 1, 1).expand(1, 4, 2, 2)
        >>> region = tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0]])
        >>> tt.ops.torchvision.ps_roi_align(image, region, 1.0, 2, 2, 2)[0]
        tensor([[[[0., 1.],
                  [2., 3.]]]])

    Reference:
        Li et al.: Light-Head R-CNN, arXiv:1711.07264.
    """
    size = pooled_height, pooled_width
    _check("ps_roi_align", input, rois, size, _SHAPE, by_position=True)
    bins = Bins(size, spatial_scale, max(sampling_ratio, 0), 0.5, by_position=True)
    rois = rois.detach()
    out = _region_means(input, rois, bins)
    if sampling_ratio <= 0:
        missing: Any = wrap(bins.has_no_samples(rois._xp, rois._data)[..., None], rois._xp)
        out = out.masked_fill(missing, float("nan"))
    return out, _channel_of_bins(out)


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Means of the pixels in the bins of regions, of an image with channels for each bin.

    Args:
        input: Features, ``(N, channels * pooled_height * pooled_width, height, width)``.
        rois: Regions, ``(regions, 5)``: the index of the image, x1, y1, x2, y2. No gradient.
        spatial_scale: Factor from these coordinates to pixels of ``input``. The product is rounded.
        pooled_height: Number of bins in a column.
        pooled_width: Number of bins in a row.

    Returns:
        The means, ``(regions, channels, pooled_height, pooled_width)``, and for each the index of
        its channel in ``input``, int32. The mean of an empty bin is 0.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a region is of no image.

    Example:
        >>> image = tt.arange(9.0).reshape(1, 1, 3, 3)
        >>> region = tt.tensor([[0.0, 0.0, 0.0, 2.0, 2.0]])
        >>> tt.ops.torchvision.ps_roi_pool(image, region, 1.0, 1, 1)[0]
        tensor([[[[2.]]]])

    Reference:
        Dai et al.: R-FCN, arXiv:1605.06409.
    """
    size = pooled_height, pooled_width
    _check("ps_roi_pool", input, rois, size, _SHAPE, by_position=True)
    bins = Bins(size, spatial_scale, None, by_position=True)
    out = _region_means(input, rois.detach(), bins)
    return out, _channel_of_bins(out)


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """Largest elements of the bins of regions.

    Args:
        input: Features, ``(N, channels, height, width)``.
        rois: Regions, ``(regions, 5)``: the index of the image, x1, y1, x2, y2. No gradient. The
            pixels of both corners belong to a region.
        spatial_scale: Factor from these coordinates to pixels of ``input``. The product is rounded.
        pooled_height: Number of bins in a column.
        pooled_width: Number of bins in a row.

    Returns:
        The largest elements, ``(regions, channels, pooled_height, pooled_width)``, 0 in an empty
        bin, and their indices in the flattened image, -1 for an empty bin, int32.

    Raises:
        RuntimeError: If shapes or dtypes do not fit, or a region is of no image.

    Example:
        >>> image = tt.arange(9.0).reshape(1, 1, 3, 3)
        >>> region = tt.tensor([[0.0, 0.0, 0.0, 1.0, 1.0]])
        >>> tt.ops.torchvision.roi_pool(image, region, 1.0, 1, 1)
        (tensor([[[[4.]]]]), tensor([[[[4]]]], dtype=tinytorch.int32))

    Reference:
        Girshick: Fast R-CNN, arXiv:1504.08083.
    """
    size = pooled_height, pooled_width
    _check("roi_pool", input, rois, size, _SHAPE)
    out, index = _region_maxima(input, rois.detach(), size, spatial_scale)
    return keep_versions(out, index), index


_SHAPE = "Tensor rois should have shape as Tensor[K, 5]"


def _check(
    name: str, input: Tensor, rois: Tensor, size: tuple[int, int], shape: str,
    by_position: bool = False,
) -> None:  # fmt: skip
    """Raise torchvision's errors for arguments that do not fit.

    Args:
        name: The operator.
        input: The features.
        rois: The regions.
        size: Number of bins, ``(height, width)``.
        shape: The error for another shape of ``rois``.
        by_position: Whether the features have channels for each bin.
    """
    if rois.size(1) != 5:
        raise RuntimeError(shape)
    if input.dtype is not rois.dtype:
        types = [f"torch.{scalar_name(x.dtype)}Tensor" for x in (input, rois)]
        raise RuntimeError(
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument "
            f"#2 'rois'; but type {types[0]} does not equal {types[1]} (while checking arguments "
            f"for {name}_forward_kernel)"
        )
    check_supported(input._xp, f"{name}_forward_kernel", input._data, unsupported="biuc")
    channels = [input.size(i) for i in range(4)][1]
    if by_position and channels % (size[0] * size[1]):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    images, index = len(input), rois._data[:, 0]
    input._xp.check_all(
        (index > -1) & (index < images),
        f"{name}: expected the index of an image below {images} in the first column of rois",
    )


def _channel_of_bins(out: Tensor) -> Tensor:
    """Index of the channel from which each element of ``out`` is computed, int32."""
    xp, shape = out._xp, out._data.shape
    index = xp.reshape(xp.arange(math.prod(shape[1:]), dtype="int32"), shape[1:])
    return wrap(xp.broadcast_to(index, shape).copy(), xp)


# -- suppression of boxes that overlap -----------------------------------------------------------

#: Boxes that are compared with all others at once.
_BLOCK = 512


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Indices of the boxes that no better box overlaps: non-maximum suppression.

    A box is suppressed if its intersection with one of higher score that is not suppressed is more
    than ``iou_threshold`` of their union.

    Args:
        dets: Boxes, ``(boxes, 4)``: x1, y1, x2, y2.
        scores: ``(boxes,)``; of equal scores the first counts as the higher.
        iou_threshold: Largest ratio of intersection and union of two boxes in the result.

    Returns:
        int64 indices, from the highest score to the lowest.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> boxes = tt.tensor([[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 5.0], [5.0, 5.0, 6.0, 6.0]])
        >>> tt.ops.torchvision.nms(boxes, tt.tensor([0.5, 0.9, 0.2]), 0.5)
        tensor([1, 2])

    Reference:
        Girshick et al.: Rich feature hierarchies for accurate object detection and semantic
        segmentation, arXiv:1311.2524.
    """
    _check_boxes(dets, scores)
    xp, order = dets._xp, scores.detach().argsort(descending=True, stable=True)._data
    boxes, rest = dets._data[order], xp.to_numpy(order)
    chosen = [rest[:0]]
    while len(rest):
        left = _find_apart(xp, boxes[:_BLOCK], boxes, iou_threshold)
        chosen.append(rest[:_BLOCK][left[:_BLOCK]])
        rest = rest[_BLOCK:][left[_BLOCK:]]
        boxes = boxes[_BLOCK:][xp.from_numpy(left[_BLOCK:])]
    return wrap(xp.from_numpy(load("numpy").library.concatenate(chosen)), xp)


def _find_apart(xp: Backend, block: Array, boxes: Array, threshold: float) -> Any:
    """Whether each of ``boxes`` is left by those of ``block``, as a NumPy array.

    Args:
        xp: The backend.
        block: The first of ``boxes``, which may suppress others.
        boxes: Boxes in the order of their scores.
        threshold: Largest ratio of intersection and union.
    """
    # The threshold is a double, which float32 would round.
    ratios = xp.astype(_intersection_over_union(xp, block, boxes), "float64")
    apart = xp.to_numpy(~(ratios > threshold))
    left = load("numpy").library.ones(len(boxes), bool)
    for i in range(len(block)):
        if left[i]:
            left[i + 1 :] &= apart[i, i + 1 :]
    return left


def _intersection_over_union(xp: Backend, some: Array, others: Array) -> Array:
    """Ratio of intersection and union for pairs of boxes, ``(n, 4)`` and ``(m, 4)``: ``(n, m)``."""
    low = xp.maximum(some[:, None, :2], others[:, :2])
    sides = xp.maximum(xp.minimum(some[:, None, 2:], others[:, 2:]) - low, 0)
    common = sides[..., 0] * sides[..., 1]
    areas, other_areas = ((x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1]) for x in (some, others))
    union = areas[:, None] + other_areas - common
    # Boxes of no area have the ratio NaN, with which nothing is suppressed.
    return xp.where(union == 0, 0, common / xp.where(union == 0, 1, union))


def _check_boxes(dets: Tensor, scores: Tensor) -> None:
    """Raise torchvision's errors for boxes or scores that do not fit."""
    if dets.ndim != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {dets.ndim}D")
    if dets.size(1) != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {dets.size(1)}")
    if scores.ndim != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.ndim}D")
    if len(dets) != len(scores):
        raise RuntimeError(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{len(dets)} and {len(scores)}"
        )
    if dets.dtype is not scores.dtype:
        raise RuntimeError("dets should have the same type as scores")
    check_supported(dets._xp, "nms_kernel", dets._data, unsupported="biuc")
