"""Convolution of each channel by itself, over lines of memory that are shifted.

A product of matrices with a single row does nothing but read columns, of which every place of
the kernel needs a copy. Here the padded images of a channel lie in one line of memory. What a
row of the kernel meets are as many shifted copies of that line as the row has places, a part of
a long line at a time; they serve all rows, whose products are shifted in turn when they are added
up. Where a window would reach over the end of an image's row, the line gives a number that belongs
to none and is not read.

With a stride s every s-th element, and so every s-th row, goes to a line of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend
from .image_windows import Grid, Sizes

#: Lines shorter than this cost more in calls than they save in copies.
_FEW_ELEMENTS = 256
#: A kernel of more places, on one channel, is faster by lines than by columns.
_LARGE_KERNEL = 64


class _Block(NamedTuple):
    """Some images of a batch and some channels."""

    images: slice
    channels: slice

    def outputs(self, several: int) -> slice:
        """Where the channels are among ``several`` times as many."""
        return slice(self.channels.start * several, self.channels.stop * several)


class _Rows(NamedTuple):
    """Rows of the kernel that meet the same lines: the first of these, which rows, shifts."""

    line: int
    numbers: list[int]
    shifts: list[int]


class _Lines:
    """The lines of images of one size: where their elements go, where windows find them."""

    def __init__(self, image: Sizes, grid: Grid) -> None:
        stride = grid.stride
        self.sizes = tuple(-(-n // s) for n, s in zip(grid.padded(), stride, strict=True))
        steps = tuple(math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes)))
        self.count = math.prod(stride)
        self.windows = tuple(slice(0, n) for n in grid.size)
        #: For every place of a row: which line, counted from the row's first, and its shift.
        places = [k * grid.dilation[-1] for k in range(grid.kernel[-1])]
        self.places = [(place % stride[-1], place // stride[-1]) for place in places]
        rows: dict[int, _Rows] = {}
        for number, row in enumerate(itertools.product(*map(range, grid.kernel[:-1]))):
            line = shift = 0
            for k, d, s, step in zip(row, grid.dilation, stride, steps, strict=False):
                line, shift = line * s + k * d % s, shift + k * d // s * step
            group = rows.setdefault(line, _Rows(line * stride[-1], [], []))
            group.numbers.append(number)
            group.shifts.append(shift)
        self.rows = list(rows.values())
        #: How far the windows' numbers reach beyond where they are put.
        self.reach = max(map(max, (group.shifts for group in self.rows))) + self.places[-1][1]
        #: For every line: which of its elements are which of the image's.
        self.cuts: list[tuple[int, tuple[slice, ...], tuple[slice, ...]]] = []
        for line, rest in enumerate(itertools.product(*map(range, stride))):
            pairs = [
                _line_part(*n) for n in zip(image, self.sizes, stride, grid.padding, rest, strict=True)
            ]
            known = [pair for pair in pairs if pair is not None]
            if len(known) == len(pairs):
                self.cuts.append((line, tuple(a for a, _ in known), tuple(b for _, b in known)))


def _line_part(image: int, size: int, stride: int, padding: int, rest: int) -> tuple[slice, slice] | None:
    """Along one dimension, the part of a line that lies inside the image, and what it holds."""
    first = max(0, -((rest - padding) // stride))
    last = min(size - 1, (image - 1 + padding - rest) // stride)
    if first > last:
        return None
    start = first * stride + rest - padding
    stop = start + (last - first) * stride + 1
    return slice(first, last + 1), slice(start, stop, stride)


class _Memory:
    """Zeros that stay zero around what is written to the same places again and again.

    Args:
        xp: The backend.
        dtype: Of the zeros.
        lines: Of the images.
        limit: Elements of the lines of all channels that are copied at a time.
    """

    def __init__(self, xp: Backend, dtype: Any, lines: _Lines, limit: int) -> None:
        self.xp, self.dtype, self.lines, self.limit = xp, dtype, lines, limit
        self.kept: dict[Any, Array] = {}

    def zeros(self, name: Any, *shape: int) -> Array:
        have = self.kept.get(name)
        if have is None or have.shape != shape:
            have = self.kept[name] = self.xp.zeros(shape, self.dtype)
        return have

    def parts(self, channels: int, length: int) -> Iterator[tuple[int, int]]:
        """From where to where lines are copied at a time: one too long for the cache in parts."""
        step = max(self.limit // channels, 1)
        for start in range(0, length, step):
            yield start, min(start + step, length)

    def copies(self, images: Array) -> Iterator[tuple[_Rows, int, Array]]:
        """For rows of the kernel and parts of a line: what they meet.

        Yields:
            The rows, where the part starts, and ``(channels, places of a row, elements)``.
        """
        count, channels = images.shape[:2]
        lines = self.lines
        out = self.zeros("lines", channels, lines.count, count, *lines.sizes)
        turned = self.xp.moveaxis(images, 0, 1)
        for line, inside, outside in lines.cuts:
            out[(slice(None), line, slice(None), *inside)] = turned[(..., *outside)]
        flat = self.xp.reshape(out, (channels, lines.count, -1))
        length = flat.shape[2]
        for rows in lines.rows:
            for start, stop in self.parts(channels, length):
                stack = self.zeros("copies", channels, len(lines.places), stop - start)
                for k, (line, shift) in enumerate(lines.places):
                    part = flat[:, rows.line + line, start + shift : stop + shift]
                    stack[:, k, : part.shape[1]] = part
                    if start:  # where another part was before
                        stack[:, k, part.shape[1] :] = 0
                yield rows, start, stack

    def shifted(self, windows: Array, several: int) -> Iterator[tuple[_Rows, int, Array]]:
        """For rows of the kernel: ``(count, outputs, *windows)`` where the rows look for them.

        Yields:
            The rows, where the part starts, and ``(channels, several * rows, elements)``.
        """
        count, outputs = windows.shape[:2]
        channels = outputs // several
        spaced = self.zeros("spaced", outputs, count, *self.lines.sizes)
        spaced[(..., *self.lines.windows)] = self.xp.moveaxis(windows, 0, 1)
        flat = self.xp.reshape(spaced, (channels, several, -1))
        length = flat.shape[2] - self.lines.reach
        for rows in self.lines.rows:
            for start, stop in self.parts(channels, flat.shape[2]):
                name = ("shifted", rows.line)
                out = self.zeros(name, channels, several, len(rows.shifts), stop - start)
                if stop - start < flat.shape[2]:
                    out[...] = 0
                for i, shift in enumerate(rows.shifts):
                    low, high = max(start, shift), min(stop, shift + length)
                    if low < high:
                        part = flat[..., low - shift : high - shift]
                        out[:, :, i, low - start : high - start] = part
                yield rows, start, self.xp.reshape(out, (channels, -1, stop - start))


def can_shift_lines(xp: Backend, weight: Sizes, groups: int, count: int, size: Sizes) -> bool:
    """Whether a convolution is one of channels by themselves, and long enough.

    A single channel is worth it if its kernel is large, as a blur's.
    """
    return (
        xp.block_elements is not None
        and weight[1] == 1
        and (groups > 1 or (weight[0] == 1 and math.prod(weight[2:]) > _LARGE_KERNEL))
        and count * math.prod(size) >= _FEW_ELEMENTS
    )


def _run(
    xp: Backend, work: Callable[[_Block, _Memory], None], shape: Sizes, lines: _Lines, dtype: Any
) -> None:
    """Call ``work`` on blocks of a batch of ``shape`` whose lines fit the cache."""
    count, channels = shape[:2]
    limit = 2 * (xp.block_elements or 1)
    image = math.prod(lines.sizes)
    parts = -(-channels * image // limit)
    some = max(1, -(-channels // parts))
    images = max(1, min(count, limit // (image * some)))
    todo = [
        _Block(slice(i, min(i + images, count)), slice(c, min(c + some, channels)))
        for c in range(0, channels, some)
        for i in range(0, count, images)
    ]

    def part(start: int, stop: int) -> None:
        memory = _Memory(xp, dtype, lines, limit)
        for block in todo[start:stop]:
            work(block, memory)

    xp.in_parts(part, len(todo))


def _factors(xp: Backend, weight: Array, channels: int) -> Array:
    """``(out, 1, *kernel)`` as ``(channels, out / channels, rows, places of a row)``."""
    shape = (channels, weight.shape[0] // channels, -1, weight.shape[-1])
    return xp.reshape(weight, shape)


def _of_rows(xp: Backend, factors: Array, block: _Block, rows: _Rows) -> Array:
    some = factors[block.channels][:, :, rows.numbers]
    return xp.reshape(some, (some.shape[0], -1, some.shape[3]))


def convolve_lines(xp: Backend, input: Array, weight: Array, bias: Array | None, grid: Grid) -> Array:
    """``(n, out, *size)`` from ``(n, channels, *image)`` and ``(out, 1, *kernel)``."""
    channels, lines = input.shape[1], _Lines(input.shape[2:], grid)
    several = weight.shape[0] // channels
    factors = _factors(xp, weight, channels)
    out = xp.empty((input.shape[0], weight.shape[0], *grid.size), input.dtype)

    def some(block: _Block, memory: _Memory) -> None:
        wide = block.channels.stop - block.channels.start
        size = (block.images.stop - block.images.start) * math.prod(lines.sizes)
        length = size - lines.reach
        total = memory.zeros("total", wide, several, size)
        total[..., :length] = 0
        for rows, start, copies in memory.copies(input[block.images, block.channels]):
            products = xp.matmul(_of_rows(xp, factors, block, rows), copies)
            shape = (wide, several, len(rows.shifts), copies.shape[2])
            products, stop = xp.reshape(products, shape), start + shape[3]
            for i, shift in enumerate(rows.shifts):
                low, high = max(start, shift), min(stop, shift + length)
                if low < high:
                    part = products[:, :, i, low - start : high - start]
                    total[..., low - shift : high - shift] += part
        outputs = block.outputs(several)
        target = xp.moveaxis(out[block.images, outputs], 0, 1)
        windows = xp.reshape(total, (*target.shape[:2], *lines.sizes))[(..., *lines.windows)]
        if bias is None:
            target[...] = windows
        else:
            column = xp.reshape(bias[outputs], (-1, *(1,) * (target.ndim - 1)))
            xp.add(windows, column, out=target)

    _run(xp, some, input.shape, lines, input.dtype)
    return out


def transpose_lines(
    xp: Backend, input: Array, weight: Array, grid: Grid, channels: int, size: Sizes
) -> Array | None:
    """The transpose: ``(n, channels, *size)`` from ``(n, out, *windows)``; None to do without."""
    # What belongs to no window is 0, and must stay that.
    if not bool(xp.isfinite(weight).all()):
        return None
    several, lines = weight.shape[0] // channels, _Lines(size, grid)
    factors = _factors(xp, weight, channels)
    out = xp.zeros((input.shape[0], channels, *size), input.dtype)

    def some(block: _Block, memory: _Memory) -> None:
        part = input[block.images, block.outputs(several)]
        count, wide = part.shape[0], block.channels.stop - block.channels.start
        into = xp.zeros((wide, lines.count, count * math.prod(lines.sizes)), input.dtype)
        for rows, start, given in memory.shifted(part, several):
            turned = xp.swapaxes(_of_rows(xp, factors, block, rows), 1, 2)
            products = xp.matmul(turned, given)
            for k, (line, shift) in enumerate(lines.places):
                place = into[:, rows.line + line, start + shift : start + shift + given.shape[2]]
                place += products[:, k, : place.shape[1]]
        into = xp.reshape(into, (wide, lines.count, count, *lines.sizes))
        target = xp.moveaxis(out[block.images, block.channels], 0, 1)
        for line, inside, outside in lines.cuts:
            target[(..., *outside)] = into[(slice(None), line, slice(None), *inside)]

    _run(xp, some, out.shape, lines, input.dtype)
    return out


def weight_gradient_of_lines(xp: Backend, input: Array, grad: Array, grid: Grid) -> Array | None:
    """The weight's gradient, ``(out, 1, *kernel)``; None to do without."""
    channels, lines = input.shape[1], _Lines(input.shape[2:], grid)
    several = grad.shape[1] // channels
    parts: list[tuple[slice, Array]] = []

    def some(block: _Block, memory: _Memory) -> None:
        wide = block.channels.stop - block.channels.start
        total = xp.zeros((wide, several, math.prod(grid.kernel[:-1]), grid.kernel[-1]), input.dtype)
        copies = memory.copies(input[block.images, block.channels])
        shifted = memory.shifted(grad[block.images, block.outputs(several)], several)
        for (rows, _, meets), (_, _, given) in zip(copies, shifted, strict=True):
            products = xp.matmul(given, xp.swapaxes(meets, 1, 2))
            total[:, :, rows.numbers] += xp.reshape(products, (wide, several, -1, meets.shape[1]))
        parts.append((block.channels, total))

    _run(xp, some, input.shape, lines, input.dtype)
    out = xp.zeros((channels, several, math.prod(grid.kernel[:-1]), grid.kernel[-1]), input.dtype)
    for where, total in parts:
        out[where] += total
    # An infinite pixel times the 0 of no window is no number.
    if not bool(xp.isfinite(out).all()):
        return None
    return xp.reshape(out, (channels * several, 1, *grid.kernel))
