"""Kernels of convolution: forward, gradient of the input and gradient of the weight.

``_conv(x, w)``, ``_conv_input(g, w)`` and ``_conv_weight(x, g)`` are the partial derivatives of
one trilinear form, the sum of ``x[n, c, s i + d k - p] w[o, c, k] g[n, o, i]``. The gradients of
each are the other two, so derivatives of every order come from these kernels.

Most convolutions are a matrix product of the weight and the columns of ``im2col`` (Chellapilla et
al.: High Performance Convolutional Neural Networks for Document Processing, 2006), for a few images
at a time. Two cases are faster in another way:

*Runs*, at stride 1: the pixels that one element of the kernel reads are a contiguous run of the
padded image's memory, except for a few between two rows of windows. A row of the columns is a copy
of the whole run, with these pixels; their products are dropped when the result is copied.

*Lines*, for depthwise convolutions, whose matrix products have a single row each, so that writing
the columns would take most of the time. The padded images of a channel are one line of memory. The
columns are copies of that line, one for each element of a row of the kernel, shifted by its
position. All rows of the kernel use these copies; their products are shifted when they are summed.
Values for windows that would extend beyond a row of the image are dropped. With a stride s, every
s-th element, and every s-th row, belongs to a line of its own. Long lines are copied in parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend, op
from .unfolding import Block, Columns, Sizes, Windows, image_slices, split_batch

#: For shorter lines, the calls cost more than the smaller copies save.
_FEW_ELEMENTS = 256
#: With a kernel of more elements, the convolution of a single channel is faster by lines.
_LARGE_KERNEL = 64


class _ChannelBlock(NamedTuple):
    """Some images of a batch and some input channels."""

    images: slice
    channels: slice

    def outputs(self, multiplier: int) -> slice:
        """The output channels, ``multiplier`` for each input channel."""
        return slice(self.channels.start * multiplier, self.channels.stop * multiplier)


class _KernelRows(NamedTuple):
    """Rows of the kernel that read the same lines (see the module's docstring).

    Attributes:
        line: Number of the first of these lines in ``_LineLayout``.
        numbers: Numbers of the rows among all rows of the kernel.
        shifts: For each row, its distance along the line from a window's first element.
    """

    line: int
    numbers: list[int]
    shifts: list[int]


class _LineLayout:
    """Arrangement of images of one size in lines, one for each position within a stride.

    For two dimensions, line (a, b) of a channel holds ``padded[a :: stride[0], b :: stride[1]]`` of
    its padded images, flattened, one image after the other.

    Attributes:
        sizes: Size of an image in a line: of the padded image divided by the strides.
        count: Number of lines of a channel: the product of the strides.
        windows: Slices that select the windows in an array of ``sizes``.
        elements: For each element of a row of the kernel, the number of its line, counted from the
            row's first line, and its shift along that line.
        rows: The rows of the kernel, grouped by the lines that they read.
        reach: Largest shift of an element of the kernel.
        slices: For each line that has elements of the image, its number, the slices of an array of
            ``sizes`` and those of the image that select the same elements.
    """

    def __init__(self, image: Sizes, windows: Windows) -> None:
        stride = windows.stride
        self.sizes = tuple(-(-n // s) for n, s in zip(windows.padded_size(), stride, strict=True))
        steps = tuple(math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes)))
        self.count = math.prod(stride)
        self.windows = tuple(slice(0, n) for n in windows.size)
        positions = [k * windows.dilation[-1] for k in range(windows.kernel[-1])]
        self.elements = [(at % stride[-1], at // stride[-1]) for at in positions]
        rows: dict[int, _KernelRows] = {}
        for number, row in enumerate(itertools.product(*map(range, windows.kernel[:-1]))):
            line = shift = 0
            for k, d, s, step in zip(row, windows.dilation, stride, steps, strict=False):
                line, shift = line * s + k * d % s, shift + k * d // s * step
            group = rows.setdefault(line, _KernelRows(line * stride[-1], [], []))
            group.numbers.append(number)
            group.shifts.append(shift)
        self.rows = list(rows.values())
        self.reach = max(map(max, (group.shifts for group in self.rows))) + self.elements[-1][1]
        self.slices: list[tuple[int, tuple[slice, ...], tuple[slice, ...]]] = []
        for line, offsets in enumerate(itertools.product(*map(range, stride))):
            pairs = [
                _line_slices(*numbers)
                for numbers in zip(image, self.sizes, stride, windows.padding, offsets, strict=True)
            ]
            inside = [pair for pair in pairs if pair is not None]
            if len(inside) == len(pairs):
                self.slices.append((line, tuple(a for a, _ in inside), tuple(b for _, b in inside)))


def _line_slices(
    image_size: int, line_size: int, stride: int, padding: int, offset: int
) -> tuple[slice, slice] | None:
    """Slices of a line and of the image, along one dimension, that select the same elements.

    Element i of the line is element ``offset + i * stride`` of the padded image.

    Args:
        image_size: Size of the image without padding.
        line_size: Number of elements of the line.
        stride: Stride of the windows.
        padding: Number of zeros before the image.
        offset: Position of the line within a stride, from 0 to ``stride - 1``.

    Returns:
        The slice of the line and the slice of the image, or None if the line is all padding.
    """
    first = max(0, -((offset - padding) // stride))
    last = min(line_size - 1, (image_size - 1 + padding - offset) // stride)
    if first > last:
        return None
    start = first * stride + offset - padding
    stop = start + (last - first) * stride + 1
    return slice(first, last + 1), slice(start, stop, stride)


class _LineBuffers:
    """Buffers for the lines of some images, and the columns that are copied from them.

    The next images reuse the buffers. Their padding is zeroed once: only the same elements are
    written again.

    Args:
        xp: The backend.
        dtype: The dtype of the buffers.
        layout: The arrangement of the images.
        limit: Elements of the lines of all channels that are copied at a time.
    """

    def __init__(self, xp: Backend, dtype: Any, layout: _LineLayout, limit: int) -> None:
        self.xp, self.dtype, self.layout, self.limit = xp, dtype, layout, limit
        self.arrays: dict[Any, Array] = {}

    def zeros(self, name: Any, *shape: int) -> Array:
        """New zeros, or the array of an earlier call with that name and shape, as it is now."""
        array = self.arrays.get(name)
        if array is None or array.shape != shape:
            array = self.arrays[name] = self.xp.zeros(shape, self.dtype)
        return array

    def parts(self, channels: int, length: int) -> Iterator[tuple[int, int]]:
        """Yield start and stop of parts of a line of ``length`` elements.

        Such a part of the lines of all ``channels`` fits the processor's cache.
        """
        step = max(self.limit // channels, 1)
        for start in range(0, length, step):
            yield start, min(start + step, length)

    def columns(self, images: Array) -> Iterator[tuple[_KernelRows, int, Array]]:
        """Shifted copies of the lines of ``images``, ``(N, C, *image)``.

        Yields:
            Rows of the kernel, the start of a part of the line, and the columns of these rows for
            that part, ``(C, elements of a row, elements of the part)``.
        """
        count, channels = images.shape[:2]
        layout = self.layout
        out = self.zeros("lines", channels, layout.count, count, *layout.sizes)
        channels_first = self.xp.moveaxis(images, 0, 1)
        for line, inside, outside in layout.slices:
            out[(slice(None), line, slice(None), *inside)] = channels_first[(..., *outside)]
        flat = self.xp.reshape(out, (channels, layout.count, -1))
        length = flat.shape[2]
        for rows in layout.rows:
            for start, stop in self.parts(channels, length):
                columns = self.zeros("columns", channels, len(layout.elements), stop - start)
                for k, (line, shift) in enumerate(layout.elements):
                    part = flat[:, rows.line + line, start + shift : stop + shift]
                    columns[:, k, : part.shape[1]] = part
                    if start:  # the buffer holds the values of an earlier part
                        columns[:, k, part.shape[1] :] = 0
                yield rows, start, columns

    def shifted_grads(
        self, grad: Array, multiplier: int
    ) -> Iterator[tuple[_KernelRows, int, Array]]:
        """Gradients of the windows, ``(N, O, *size)``, shifted to what rows of the kernel read.

        Yields:
            Rows of the kernel, the start of a part of the line, and the gradients for these rows
            and that part, ``(C, multiplier * rows, elements of the part)``.
        """
        count, outputs = grad.shape[:2]
        channels = outputs // multiplier
        spaced = self.zeros("spaced", outputs, count, *self.layout.sizes)
        spaced[(..., *self.layout.windows)] = self.xp.moveaxis(grad, 0, 1)
        flat = self.xp.reshape(spaced, (channels, multiplier, -1))
        length = flat.shape[2] - self.layout.reach
        for rows in self.layout.rows:
            for start, stop in self.parts(channels, flat.shape[2]):
                name = ("shifted", rows.line)
                out = self.zeros(name, channels, multiplier, len(rows.shifts), stop - start)
                if stop - start < flat.shape[2]:
                    out[...] = 0
                for i, shift in enumerate(rows.shifts):
                    low, high = max(start, shift), min(stop, shift + length)
                    if low < high:
                        part = flat[..., low - shift : high - shift]
                        out[:, :, i, low - start : high - start] = part
                yield rows, start, self.xp.reshape(out, (channels, -1, stop - start))


def can_shift_lines(xp: Backend, weight: Sizes, groups: int, count: int, size: Sizes) -> bool:
    """Whether a convolution is depthwise, and its lines are long enough to compute by lines.

    The convolution of a single channel counts as depthwise if its kernel is large, as for a blur.

    Args:
        xp: The backend.
        weight: Shape of the weight, ``(O, C / groups, *kernel)``.
        groups: Number of groups.
        count: Number of images.
        size: Number of windows in each dimension.
    """
    return (
        xp.block_elements is not None
        and weight[1] == 1
        and (groups > 1 or (weight[0] == 1 and math.prod(weight[2:]) > _LARGE_KERNEL))
        and count * math.prod(size) >= _FEW_ELEMENTS
    )


def _map_channel_blocks(
    xp: Backend, compute: Callable[[_ChannelBlock, _LineBuffers], None], shape: Sizes,
    layout: _LineLayout, dtype: Any,
) -> None:  # fmt: skip
    """Call ``compute`` on all blocks of a batch; the lines of a block fit the processor's cache.

    Args:
        xp: The backend.
        compute: Function of a block and of its thread's buffers.
        shape: Shape of the batch, ``(N, C, ...)``.
        layout: Arrangement of an image in lines.
        dtype: The dtype of the buffers.
    """
    count, channels = shape[:2]
    limit = 2 * (xp.block_elements or 1)
    image = math.prod(layout.sizes)
    parts = -(-channels * image // limit)
    step = max(1, -(-channels // parts))
    images = max(1, min(count, limit // (image * step)))
    blocks = [
        _ChannelBlock(slice(i, min(i + images, count)), slice(c, min(c + step, channels)))
        for c in range(0, channels, step)
        for i in range(0, count, images)
    ]

    def compute_blocks(start: int, stop: int) -> None:
        buffers = _LineBuffers(xp, dtype, layout, limit)
        for block in blocks[start:stop]:
            compute(block, buffers)

    xp.in_parts(compute_blocks, len(blocks))


def _split_kernel(xp: Backend, weight: Array, channels: int) -> Array:
    """Weight ``(O, 1, *kernel)`` as ``(C, O / C, rows, elements of a row)``."""
    shape = (channels, weight.shape[0] // channels, -1, weight.shape[-1])
    return xp.reshape(weight, shape)


def _row_matrices(xp: Backend, kernel: Array, block: _ChannelBlock, rows: _KernelRows) -> Array:
    """Rows of the kernel as matrices ``(C, multiplier * rows, elements of a row)``.

    ``kernel`` is the result of ``_split_kernel``; the channels are those of ``block``.
    """
    found = kernel[block.channels][:, :, rows.numbers]
    return xp.reshape(found, (found.shape[0], -1, found.shape[3]))


def convolve_lines(
    xp: Backend, input: Array, weight: Array, bias: Array | None, windows: Windows
) -> Array:
    """Depthwise convolution ``(N, O, *size)`` of ``(N, C, *image)`` and ``(O, 1, *kernel)``."""
    channels, layout = input.shape[1], _LineLayout(input.shape[2:], windows)
    multiplier = weight.shape[0] // channels
    kernel = _split_kernel(xp, weight, channels)
    out = xp.empty((input.shape[0], weight.shape[0], *windows.size), input.dtype)

    def compute(block: _ChannelBlock, buffers: _LineBuffers) -> None:
        width = block.channels.stop - block.channels.start
        size = (block.images.stop - block.images.start) * math.prod(layout.sizes)
        length = size - layout.reach
        total = buffers.zeros("total", width, multiplier, size)
        total[..., :length] = 0
        for rows, start, columns in buffers.columns(input[block.images, block.channels]):
            products = xp.matmul(_row_matrices(xp, kernel, block, rows), columns)
            shape = (width, multiplier, len(rows.shifts), columns.shape[2])
            products, stop = xp.reshape(products, shape), start + shape[3]
            for i, shift in enumerate(rows.shifts):
                low, high = max(start, shift), min(stop, shift + length)
                if low < high:
                    part = products[:, :, i, low - start : high - start]
                    total[..., low - shift : high - shift] += part
        outputs = block.outputs(multiplier)
        target = xp.moveaxis(out[block.images, outputs], 0, 1)
        results = xp.reshape(total, (*target.shape[:2], *layout.sizes))[(..., *layout.windows)]
        if bias is None:
            target[...] = results
        else:
            column = xp.reshape(bias[outputs], (-1, *(1,) * (target.ndim - 1)))
            xp.add(results, column, out=target)

    _map_channel_blocks(xp, compute, input.shape, layout, input.dtype)
    return out


def transpose_lines(
    xp: Backend, input: Array, weight: Array, windows: Windows, channels: int, size: Sizes
) -> Array | None:
    """Transposed depthwise convolution, ``(N, C, *size)`` from ``(N, O, *windows)``.

    None if the weight is not finite: the caller then uses columns.
    """
    # The zeros between the windows are multiplied, too: 0 times infinity would be NaN.
    if not bool(xp.isfinite(weight).all()):
        return None
    multiplier, layout = weight.shape[0] // channels, _LineLayout(size, windows)
    kernel = _split_kernel(xp, weight, channels)
    out = xp.zeros((input.shape[0], channels, *size), input.dtype)

    def compute(block: _ChannelBlock, buffers: _LineBuffers) -> None:
        part = input[block.images, block.outputs(multiplier)]
        count, width = part.shape[0], block.channels.stop - block.channels.start
        total = xp.zeros((width, layout.count, count * math.prod(layout.sizes)), input.dtype)
        for rows, start, grads in buffers.shifted_grads(part, multiplier):
            matrices = xp.swapaxes(_row_matrices(xp, kernel, block, rows), 1, 2)
            products = xp.matmul(matrices, grads)
            for k, (line, shift) in enumerate(layout.elements):
                first = start + shift
                target = total[:, rows.line + line, first : first + grads.shape[2]]
                target += products[:, k, : target.shape[1]]
        total = xp.reshape(total, (width, layout.count, count, *layout.sizes))
        target = xp.moveaxis(out[block.images, block.channels], 0, 1)
        for line, inside, outside in layout.slices:
            target[(..., *outside)] = total[(slice(None), line, slice(None), *inside)]

    _map_channel_blocks(xp, compute, out.shape, layout, input.dtype)
    return out


def weight_grad_of_lines(xp: Backend, input: Array, grad: Array, windows: Windows) -> Array | None:
    """Weight gradient ``(O, 1, *kernel)`` of a depthwise convolution.

    None if it is not finite: the caller then uses columns.
    """
    channels, layout = input.shape[1], _LineLayout(input.shape[2:], windows)
    multiplier = grad.shape[1] // channels
    kernel = math.prod(windows.kernel[:-1]), windows.kernel[-1]
    parts: list[tuple[slice, Array]] = []

    def compute(block: _ChannelBlock, buffers: _LineBuffers) -> None:
        width = block.channels.stop - block.channels.start
        total = xp.zeros((width, multiplier, *kernel), input.dtype)
        columns = buffers.columns(input[block.images, block.channels])
        grads = buffers.shifted_grads(grad[block.images, block.outputs(multiplier)], multiplier)
        for (rows, _, a), (_, _, b) in zip(columns, grads, strict=True):
            products = xp.matmul(b, xp.swapaxes(a, 1, 2))
            total[:, :, rows.numbers] += xp.reshape(products, (width, multiplier, -1, a.shape[1]))
        parts.append((block.channels, total))

    _map_channel_blocks(xp, compute, input.shape, layout, input.dtype)
    out = xp.zeros((channels, multiplier, *kernel), input.dtype)
    for block_channels, total in parts:
        out[block_channels] += total
    # Pixels are multiplied by padding, too: infinity times 0 is NaN.
    if not bool(xp.isfinite(out).all()):
        return None
    return xp.reshape(out, (channels * multiplier, 1, *windows.kernel))


#: Largest ratio of the length of a run to the number of its windows.
_WASTE = 1.5

#: For rows of fewer windows, runs are not faster than copies row by row.
_FEW_WINDOWS = 10


def can_use_runs(windows: Windows) -> bool:
    """Whether the stride is 1 and few elements of a run belong to no window."""
    if (
        any(s != 1 for s in windows.stride)
        or math.prod(windows.kernel) == 1
        or windows.size[-1] < _FEW_WINDOWS
    ):
        return False
    return _run_length(_strides(windows), windows.size) <= _WASTE * math.prod(windows.size)


def _strides(windows: Windows) -> list[int]:
    """Strides of a channel of the padded image, in elements."""
    padded = windows.padded_size()
    return [math.prod(padded[d + 1 :]) for d in range(len(padded))]


def _run_length(strides: Sizes, size: Sizes) -> int:
    """Elements of a run, from the first of ``size`` windows to the last, at these ``strides``."""
    return 1 + sum(t * (o - 1) for t, o in zip(strides, size, strict=True))


def convolve_runs(
    xp: Backend, input: Array, rows: Array, bias: Array | None, windows: Windows, limit: int
) -> Array:
    """Convolution with stride 1, ``(N, O, *size)``, by runs.

    Args:
        xp: The backend.
        input: ``(N, C, *image)``.
        rows: The weight as ``(groups, O / groups, C / groups * prod(kernel))``.
        bias: ``(O,)`` or None.
        windows: The windows, for which ``can_use_runs`` is true.
        limit: Bytes that the columns may take, in each thread.
    """
    outputs = rows.shape[0] * rows.shape[1]
    out = xp.empty((input.shape[0], outputs, *windows.size), input.dtype)
    row = input.shape[1] * math.prod(windows.kernel) * math.prod(windows.size[1:]) * input.itemsize
    blocks = split_batch(input.shape[0], windows.size[0], int(_WASTE * row), limit, True)
    shaped_bias = None if bias is None else xp.reshape(bias, (-1, *(1,) * (out.ndim - 1)))

    def compute_blocks(start: int, stop: int) -> None:
        if start == stop:
            return
        runs = _RunBuffers(xp, input, rows, windows, blocks[0])
        for block in blocks[start:stop]:
            product = runs.product(block)
            target = xp.swapaxes(out[block.images, :, block.rows], 0, 1)
            if shaped_bias is None:
                target[...] = product
            else:
                xp.add(product, shaped_bias, out=target)

    xp.in_parts(compute_blocks, len(blocks), True)
    return out


class _RunBuffers:
    """Buffers of one thread for convolutions by runs, and views of them that are made once.

    Args:
        xp: The backend.
        input: ``(N, C, *image)``.
        rows: The weight, as for ``convolve_runs``.
        windows: The windows.
        first: The first block, which is the largest one.
    """

    def __init__(
        self, xp: Backend, input: Array, rows: Array, windows: Windows, first: Block
    ) -> None:
        self.xp, self.input, self.rows, self.windows = xp, input, rows, windows
        self.strides = _strides(windows)
        count, channels = first.images.stop, input.shape[1]
        self.padded = xp.zeros((count, channels, *windows.padded_size()), input.dtype)
        self.inside, self.outside = image_slices(input.shape[2:], windows)
        #: The images that ``padded`` contains.
        self.images: slice | None = None
        length = _run_length(self.strides, (first.rows.stop, *windows.size[1:]))
        self.columns = xp.empty((channels, *windows.kernel, count, length), input.dtype)
        self.products = xp.empty((*rows.shape[:2], count, length), input.dtype)
        self.views: dict[tuple[int, int, int], tuple[Array, ...]] = {}

    def product(self, block: Block) -> Array:
        """Result ``(O, N, *size)`` of a block, in a buffer that the next block overwrites."""
        count = int(block.images.stop - block.images.start)
        if block.images != self.images:
            every = slice(None)
            part = self.input[(block.images, every, *self.inside)]
            self.padded[(slice(count), every, *self.outside)] = part
            self.images = block.images
        key = count, block.rows.start, block.rows.stop
        if key not in self.views:
            self.views[key] = self._make_views(*key)
        runs, columns, matrix, product, result = self.views[key]
        columns[...] = runs
        self.xp.matmul(self.rows, matrix, out=product)
        return result

    def _make_views(self, count: int, start: int, stop: int) -> tuple[Array, ...]:
        """Views for ``count`` images and the rows of windows from ``start`` to ``stop``.

        Returns:
            The runs of the padded images in the shape of the columns; the columns; the columns as
            matrices; the products as matrices; the products without those of no window.
        """
        xp, groups, item = self.xp, self.rows.shape[0], self.padded.itemsize
        size = (stop - start, *self.windows.size[1:])
        length = _run_length(self.strides, size)
        columns = self.columns[..., :count, :length]
        source = self.padded[:count, :, start:]
        steps = [s * item for s in self.strides]
        kernel_steps = [s * d for s, d in zip(steps, self.windows.dilation, strict=True)]
        strides = (source.strides[1], *kernel_steps, source.strides[0], item)
        runs = xp.as_strided(source, columns.shape, strides)
        product = self.products[:, :, :count, :length]
        result = xp.as_strided(
            product, (groups * product.shape[1], count, *size), (*product.strides[1:3], *steps)
        )
        matrix = xp.reshape(columns, (groups, self.rows.shape[2], count * length))
        flat = xp.reshape(product, (*product.shape[:2], count * length))
        return runs, columns, matrix, flat, result


#: Products of single rows of up to this length are sums in order, as PyTorch computes them; BLAS
#: adds in another order.
_FEW_TERMS = 64

#: Columns may always be this many times larger than the weight.
_COLUMNS_PER_WEIGHT = 4

#: With ``stride`` 1, rows of fewer windows count as short.
_SHORT_ROW = 16


@op(node="ConvolutionBackward0")
def _conv(
    xp: Backend, input: Array, weight: Array, bias: Array | None, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int, size: Sizes,
) -> Array:  # fmt: skip
    """Convolution ``(N, O, *size)`` of ``(N, C, *image)`` and ``(O, C / groups, *kernel)``."""
    windows = Windows(weight.shape[2:], stride, padding, dilation, size)
    if can_shift_lines(xp, weight.shape, groups, input.shape[0], size):
        return convolve_lines(xp, input, weight, bias, windows)
    rows = _weight_matrices(xp, weight, groups)
    if can_use_runs(windows):
        limit = _column_bytes(xp, input.dtype, weight.shape)
        return convolve_runs(xp, input, rows, bias, windows, limit)
    out = xp.empty((input.shape[0], weight.shape[0], *size), input.dtype)

    def compute(block: Block, columns: Columns) -> None:
        found = columns.im2col(input[block.images], windows.rows(block.rows))
        target = out[block.images, :, block.rows]
        found = xp.reshape(found, (groups, rows.shape[2], _count_windows(target)))
        _write_product(xp, rows, found, bias, target, columns)

    _map_blocks(xp, compute, input.dtype, input.shape, windows, weight.shape, split=True)
    return out


@op(node="ConvolutionBackward0")
def _conv_input(
    xp: Backend, input: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int, size: Sizes,
) -> Array:  # fmt: skip
    """Transposed convolution ``(N, C, *size)`` of ``(N, O, *windows)``, without a bias.

    It is also the gradient of the input of ``_conv``; ``input`` is then the gradient of the result.
    """
    count, outputs = input.shape[:2]
    kernel = weight.shape[2:]
    if _should_flip_kernel(xp, weight, stride, groups):
        new_padding = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        flipped = _flip_kernel(xp, weight, groups)
        return _conv.kernel(xp, input, flipped, None, stride, new_padding, dilation, groups, size)
    windows = Windows(kernel, stride, padding, dilation, input.shape[2:])
    if can_shift_lines(xp, weight.shape, groups, count, input.shape[2:]):
        spread = transpose_lines(xp, input, weight, windows, groups, size)
        if spread is not None:
            return spread
    transposed = xp.swapaxes(_weight_matrices(xp, weight, groups), 1, 2)
    out = xp.empty((count, groups * weight.shape[1], *size), input.dtype)

    def compute(block: Block, columns: Columns) -> None:
        part = input[block.images]
        matrix = _grad_matrices(xp, part, groups, columns)
        found = columns.buffer(
            "columns", columns.shape((out.shape[1], *kernel), part.shape[0], part.shape[2:])
        )
        products = xp.reshape(found, (groups, transposed.shape[1], matrix.shape[2]))
        xp.matmul(transposed, matrix, out=products)
        columns.col2im(found, windows, out[block.images])

    _map_blocks(xp, compute, input.dtype, out.shape, windows, weight.shape, split=False)
    return out


@op
def _conv_weight(
    xp: Backend, input: Array, grad: Array, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int, size: Sizes,
) -> Array:  # fmt: skip
    """Gradient of the weight of ``_conv``, ``(O, C / groups, *size)``.

    ``input`` is ``(N, C, *image)`` and ``grad``, the gradient of the result, ``(N, O, *windows)``.
    """
    outputs, channels = grad.shape[1], input.shape[1]
    windows = Windows(size, stride, padding, dilation, grad.shape[2:])
    shape: tuple[int, ...] = (outputs, channels // groups, *size)
    if can_shift_lines(xp, shape, groups, input.shape[0], windows.size):
        found = weight_grad_of_lines(xp, input, grad, windows)
        if found is not None:
            return found
    depth = channels // groups * math.prod(size)

    def compute(block: Block, columns: Columns) -> Array:
        found = columns.im2col(input[block.images], windows.rows(block.rows))
        matrix = _grad_matrices(xp, grad[block.images, :, block.rows], groups, columns)
        found = xp.reshape(found, (groups, depth, matrix.shape[2]))
        # BLAS is a quarter faster in this order than for the product of the transposes.
        return xp.matmul(found, xp.swapaxes(matrix, 1, 2))

    shape = (groups, depth, outputs // groups)
    total = xp.zeros(shape, input.dtype)
    for part in _map_blocks(xp, compute, input.dtype, input.shape, windows, shape, split=True):
        total += part
    return xp.reshape(xp.swapaxes(total, 1, 2), (outputs, channels // groups, *size))


def _weight_matrices(xp: Backend, weight: Array, groups: int) -> Array:
    """Weight ``(O, C / groups, *kernel)`` as ``(groups, O / groups, C / groups * elements)``."""
    shape = (groups, weight.shape[0] // groups, math.prod(weight.shape[1:]))
    return xp.reshape(weight, shape)


def _grad_matrices(xp: Backend, grad: Array, groups: int, columns: Columns) -> Array:
    """``(N, O, *size)`` as matrices ``(groups, O / groups, N * prod(size))`` in columns' order."""
    shape = (groups, grad.shape[1] // groups, _count_windows(grad))
    return xp.reshape(columns.move_batch(grad), shape)


def _count_windows(results: Array) -> int:
    """Number of windows whose results are ``(N, O, *size)``."""
    return int(results.shape[0] * math.prod(results.shape[2:]))


def _write_product(
    xp: Backend, a: Array, b: Array, bias: Array | None, target: Array, columns: Columns
) -> None:
    """Write ``a @ b``, plus a bias per channel if given, to ``target``, ``(N, O, *size)``.

    ``a`` are the matrices of the weight and ``b`` the columns, one matrix per group each. The
    buffers of ``columns`` hold the product if ``target`` is not contiguous in its order.
    """
    shape = (a.shape[0], a.shape[1], b.shape[2])
    shaped_bias = None if bias is None else xp.reshape(bias, (-1, *(1,) * (target.ndim - 1)))
    view = columns.move_batch(target)
    if view.flags.c_contiguous:
        _matmul(xp, a, b, xp.reshape(view, shape))
        if shaped_bias is not None:
            xp.add(view, shaped_bias, out=view)
        return
    product = columns.buffer("product", shape)
    _matmul(xp, a, b, product)
    product = xp.reshape(product, view.shape)
    if shaped_bias is None:
        view[...] = product
    else:
        xp.add(product, shaped_bias, out=view)


def _matmul(xp: Backend, a: Array, b: Array, out: Array) -> None:
    """Write the matrix products ``a @ b`` of all groups to ``out``.

    Products of short single rows are summed in order, as in PyTorch.
    """
    if a.shape[1] == 1 and a.shape[2] <= _FEW_TERMS:
        out[...] = xp.einsum("gok,gkn->gon", a, b)
    else:
        xp.matmul(a, b, out=out)


def _map_blocks(
    xp: Backend, compute: Callable[[Block, Columns], Any], dtype: Any, shape: Sequence[int],
    windows: Windows, weight: Sequence[int], split: bool,
) -> list[Any]:  # fmt: skip
    """Call ``compute`` on the blocks of a batch of ``shape``, ``(N, C, ...)``.

    Args:
        xp: The backend.
        compute: Function of a block and the thread's columns, which returns an array or None.
        dtype: The dtype of the columns.
        shape: The shape of the batch.
        windows: The windows of an image.
        weight: The shape of the weight.
        split: Whether an image may be split by rows.

    Returns:
        For each thread the sum of the arrays that ``compute`` returned.
    """
    row = shape[1] * math.prod(windows.kernel) * math.prod(windows.size[1:]) * dtype.itemsize
    limit = _column_bytes(xp, dtype, weight)
    blocks = split_batch(shape[0], windows.size[0], row, limit, split)
    batch_last = bool(blocks) and _should_put_batch_last(blocks[0].images.stop, windows)

    def compute_blocks(start: int, stop: int) -> Any:
        columns, total = Columns(xp, dtype, batch_last), None
        for block in blocks[start:stop]:
            result = compute(block, columns)
            total = result if total is None or result is None else xp.add(total, result, out=total)
        return total

    return [total for total in xp.in_parts(compute_blocks, len(blocks), True) if total is not None]


def _should_put_batch_last(images: int, windows: Windows) -> bool:
    """Whether the columns of this many images are faster to copy with the batch last.

    With the batch last, one copy moves a row of windows of all images at stride 1, else one window
    of all images. With the batch first, it moves a row of windows of one image.
    """
    return 1 < images and windows.size[-1] < (_SHORT_ROW if windows.stride[-1] == 1 else images)


def _column_bytes(xp: Backend, dtype: Any, weight: Sequence[int]) -> int:
    """Largest size of the columns of a block, in bytes, for a weight of the shape ``weight``.

    Each product reads the whole weight, so the columns should be larger than the weight.
    """
    return max(xp.column_bytes, _COLUMNS_PER_WEIGHT * math.prod(weight) * int(dtype.itemsize))


def _should_flip_kernel(xp: Backend, weight: Array, stride: Sizes, groups: int) -> bool:
    """Whether a transposed convolution is faster as a convolution with the flipped kernel.

    The convolution reads columns of the gradient's channels; the alternative sums into columns of
    the image's channels. The convolution multiplies the weight by padding, so the weight must be
    finite: infinity times 0 would be NaN.
    """
    if any(s != 1 for s in stride) or 2 * groups * weight.shape[1] < weight.shape[0]:
        return False
    return xp.is_finite(weight) is not False


def _flip_kernel(xp: Any, weight: Array, groups: int) -> Array:
    """Weight ``(O, C / groups, *kernel)`` as ``(C, O / groups, *kernel)``, the kernel reversed."""
    outputs, inputs = weight.shape[:2]
    kernel = weight.shape[2:]
    flipped = xp.flip(weight, tuple(range(2, weight.ndim)))
    flipped = xp.reshape(flipped, (groups, outputs // groups, inputs, *kernel))
    return xp.reshape(xp.swapaxes(flipped, 1, 2), (groups * inputs, outputs // groups, *kernel))


@_conv.vjp_joint("input", "weight", "bias")
def _conv_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input, weight and bias of ``_conv``; None for each None in ``in_shape``."""
    args = (stride, padding, dilation, groups)
    input_shape, weight_shape, bias_shape = in_shape
    return (
        None if input_shape is None else xp.call(_conv_input, g, weight, *args, input_shape[2:]),
        None if weight_shape is None else xp.call(_conv_weight, input, g, *args, weight_shape[2:]),
        None if bias_shape is None else xp.sum(g, axis=(0, *range(2, g.ndim))),
    )


@_conv_input.vjp_joint("input", "weight")
def _conv_input_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input and weight of ``_conv_input``; None for each None in ``in_shape``."""
    args = (stride, padding, dilation, groups)
    input_shape, weight_shape = in_shape
    return (
        None if input_shape is None else xp.call(_conv, g, weight, None, *args, input_shape[2:]),
        None if weight_shape is None else xp.call(_conv_weight, g, input, *args, weight_shape[2:]),
    )


@_conv_weight.vjp_joint("input", "grad")
def _conv_weight_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, grad: Any, stride: Any, padding: Any, dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input and ``grad`` of ``_conv_weight``; None for each None in ``in_shape``."""
    args = (stride, padding, dilation, groups)
    input_shape, grad_shape = in_shape
    return (
        None if input_shape is None else xp.call(_conv_input, grad, g, *args, input_shape[2:]),
        None if grad_shape is None else xp.call(_conv, input, g, None, *args, grad_shape[2:]),
    )
