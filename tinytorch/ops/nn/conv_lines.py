"""Depthwise convolutions by lines, and their gradients.

The matrix products of a depthwise convolution have a single row each, so that writing the columns
would take most of the time. The padded images of a channel are one line of memory. The columns are
copies of that line, one for each element of a row of the kernel, shifted by its position. All rows
of the kernel use these copies; their products are shifted when they are summed. Values for windows
that would extend beyond a row of the image are dropped. With a stride s, every s-th element, and
every s-th row, belongs to a line of its own. Long lines are copied in parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend
from .unfolding import Sizes, Windows

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

    def are_whole(self, images: Array) -> bool:
        """Whether the lines of ``images``, ``(N, C, *image)``, are one part each."""
        length: int = images.shape[0] * math.prod(self.layout.sizes)
        return bool(length <= max(self.limit // images.shape[1], 1))

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
        part, outputs = input[block.images, block.channels], block.outputs(multiplier)
        target = xp.moveaxis(out[block.images, outputs], 0, 1)
        form = (part.shape[1], multiplier, part.shape[0], *target.shape[2:])
        column = None
        if bias is not None:
            column = xp.reshape(bias[outputs], (*form[:2], *(1,) * (len(form) - 2)))
        sum_rows = _sum_whole_lines if buffers.are_whole(part) else _sum_parts_of_lines
        sum_rows(xp, kernel, block, buffers, part, column, xp.reshape(target, form))

    _map_channel_blocks(xp, compute, input.shape, layout, input.dtype)
    return out


def _sum_parts_of_lines(
    xp: Backend, kernel: Array, block: _ChannelBlock, buffers: _LineBuffers, images: Array,
    bias: Array | None, target: Array,
) -> None:  # fmt: skip
    """Write the convolution of some images to ``target``, a part of the lines after the other.

    Args:
        xp: The backend.
        kernel: The result of ``_split_kernel``.
        block: The images and channels.
        buffers: The thread's buffers.
        images: ``(N, C, *image)``.
        bias: Array that broadcasts with ``target``, or None.
        target: ``(C, multiplier, N, *windows)``.
    """
    layout = buffers.layout
    width, multiplier = target.shape[:2]
    size = images.shape[0] * math.prod(layout.sizes)
    length = size - layout.reach
    total = buffers.zeros("total", width, multiplier, size)
    total[..., :length] = 0
    for rows, start, columns in buffers.columns(images):
        products = xp.matmul(_row_matrices(xp, kernel, block, rows), columns)
        shape = (width, multiplier, len(rows.shifts), columns.shape[2])
        products, stop = xp.reshape(products, shape), start + shape[3]
        for i, shift in enumerate(rows.shifts):
            low, high = max(start, shift), min(stop, shift + length)
            if low < high:
                part = products[:, :, i, low - start : high - start]
                total[..., low - shift : high - shift] += part
    shape = (*target.shape[:3], *layout.sizes)
    _write_sum(xp, [xp.reshape(total, shape)[(..., *layout.windows)], bias], target)


def _sum_whole_lines(
    xp: Backend, kernel: Array, block: _ChannelBlock, buffers: _LineBuffers, images: Array,
    bias: Array | None, target: Array,
) -> None:  # fmt: skip
    """``_sum_parts_of_lines`` for lines that are not divided, in fewer passes over them."""
    layout = buffers.layout
    width, multiplier = target.shape[:2]
    size = images.shape[0] * math.prod(layout.sizes)
    lines = []
    for rows, _, columns in buffers.columns(images):
        # The lines are longer by the largest shift, so that each can be shifted without an end.
        shape = (width, multiplier * len(rows.shifts), size + layout.reach)
        products = buffers.zeros(("products", rows.line), *shape)
        matrices = _row_matrices(xp, kernel, block, rows)
        xp.matmul(matrices, columns, out=products[..., :size])
        products = xp.reshape(products, (width, multiplier, len(rows.shifts), shape[2]))
        lines += [products[:, :, i, s : s + size] for i, s in enumerate(rows.shifts)]
    if len(lines) > 2:
        total = buffers.zeros("total", width, multiplier, size)
        xp.add(lines[0], lines[1], out=total)
        for line in lines[2:-1]:
            total += line
        lines = [total, lines[-1]]
    shape = (*target.shape[:3], *layout.sizes)
    windows = [xp.reshape(line, shape)[(..., *layout.windows)] for line in lines]
    _write_sum(xp, [*windows, bias], target)


def _write_sum(xp: Backend, terms: list[Array | None], target: Array) -> None:
    """Write the sum of some arrays, of which None stands for 0, to ``target``."""
    first, *rest = (term for term in terms if term is not None)
    if not rest:
        target[...] = first
        return
    xp.add(first, rest[0], out=target)
    for term in rest[1:]:
        target += term


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
