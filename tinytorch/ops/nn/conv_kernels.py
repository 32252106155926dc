"""Kernels of convolution: the result, the gradient of the input and that of the weight.

``conv(x, w)``, ``conv_input(g, w)`` and ``conv_weight(x, g)`` are the partial derivatives of
one trilinear form, the sum of ``x[n, c, s i + d k - p] w[o, c, k] g[n, o, i]``. The gradients of
each are the other two, so derivatives of every order come from these kernels.

Each is a product of matrices over columns (Chellapilla et al.: High Performance
Convolutional Neural Networks for Document Processing, 2006), for a few images at a time.

At stride 1, columns are contiguous runs of a padded image's memory. The pixels under one place of
the kernel are contiguous there, except for a few between two rows of windows which belong to no
window. Copying and multiplying these too is faster than copying row by row: their products are
left out when the result is copied.

A depthwise convolution would be a product with matrices of a single row, dominated by writing the
columns. Instead the padded images of a channel lie in one line of memory. A row of the kernel
needs as many shifted copies of that line as the row has places, for a part of a long line at a
time. The copies serve all rows of the kernel, whose products are shifted when they are added up.
A window that would extend past the end of an image's row reads a value of no window, which is
discarded. With a stride s, every s-th element, and so every s-th row, goes to a line of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend, op
from .unfolding import SHORT, Block, Columns, Grid, Sizes, blocks, insides

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
                _line_part(*n)
                for n in zip(image, self.sizes, stride, grid.padding, rest, strict=True)
            ]
            known = [pair for pair in pairs if pair is not None]
            if len(known) == len(pairs):
                self.cuts.append((line, tuple(a for a, _ in known), tuple(b for _, b in known)))


def _line_part(
    image: int, size: int, stride: int, padding: int, rest: int
) -> tuple[slice, slice] | None:
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


def convolve_lines(
    xp: Backend, input: Array, weight: Array, bias: Array | None, grid: Grid
) -> Array:
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
    # Elements outside all windows are 0 and must stay 0.
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


#: How many columns there may be for each window.
_WASTE = 1.5

#: Rows of fewer windows are copied no faster with the columns between them.
_SHORT_ROW = 10


def can_flatten_rows(grid: Grid) -> bool:
    """Whether the windows are at stride 1, and few columns belong to none."""
    if (
        any(s != 1 for s in grid.stride)
        or math.prod(grid.kernel) == 1
        or grid.size[-1] < _SHORT_ROW
    ):
        return False
    return _length(_steps(grid), grid.size) <= _WASTE * math.prod(grid.size)


def _steps(grid: Grid) -> list[int]:
    """How far apart two windows are in the padded image's memory, by dimension."""
    padded = grid.padded()
    return [math.prod(padded[d + 1 :]) for d in range(len(padded))]


def _length(steps: Sizes, size: Sizes) -> int:
    """Of a run from the first window to the last."""
    return 1 + sum(t * (o - 1) for t, o in zip(steps, size, strict=True))


def convolve_runs(
    xp: Backend, input: Array, rows: Array, bias: Array | None, grid: Grid, limit: int
) -> Array:
    """``(n, out, *size)``.

    Args:
        xp: The backend.
        input: ``(n, in, *image)``.
        rows: The weight as ``(groups, out / groups, in / groups * places)``.
        bias: ``(out,)`` or None.
        grid: The windows, which ``can_flatten_rows`` has looked at.
        limit: Bytes that the columns may take, in each thread.
    """
    outputs = rows.shape[0] * rows.shape[1]
    out = xp.empty((input.shape[0], outputs, *grid.size), input.dtype)
    row = input.shape[1] * math.prod(grid.kernel) * math.prod(grid.size[1:]) * input.itemsize
    todo = blocks(input.shape[0], grid.size[0], int(_WASTE * row), limit, True)
    column = None if bias is None else xp.reshape(bias, (-1, *(1,) * (out.ndim - 1)))

    def part(start: int, stop: int) -> None:
        if start == stop:
            return
        runs = _Runs(xp, input, rows, grid, todo[0])
        for block in todo[start:stop]:
            product = runs.product(block)
            target = xp.swapaxes(out[block.images, :, block.rows], 0, 1)
            if column is None:
                target[...] = product
            else:
                xp.add(product, column, out=target)

    xp.in_parts(part, len(todo), True)
    return out


class _Runs:
    """One thread's memory, and the windows into it, which are the same for every block."""

    def __init__(self, xp: Backend, input: Array, rows: Array, grid: Grid, first: Block) -> None:
        self.xp, self.input, self.rows, self.grid = xp, input, rows, grid
        self.steps = _steps(grid)
        count, lines = first.images.stop, first.rows.stop
        channels = input.shape[1]
        self.padded = xp.zeros((count, channels, *grid.padded()), input.dtype)
        self.inside, self.outside = insides(input.shape[2:], grid)
        self.held: slice | None = None
        length = _length(self.steps, (lines, *grid.size[1:]))
        self.columns = xp.empty((channels, *grid.kernel, count, length), input.dtype)
        self.products = xp.empty((*rows.shape[:2], count, length), input.dtype)
        self.views: dict[tuple[int, int, int], tuple[Array, ...]] = {}

    def product(self, block: Block) -> Array:
        """``(out, count, *size)`` of a block, in memory that the next one uses again."""
        if block.images != self.held:
            every = slice(None)
            part = self.input[(block.images, every, *self.inside)]
            self.padded[(slice(_count(block.images)), every, *self.outside)] = part
            self.held = block.images
        windows, columns, matrix, product, found = self._views(block)
        columns[...] = windows
        self.xp.matmul(self.rows, matrix, out=product)
        return found

    def _views(self, block: Block) -> tuple[Array, ...]:
        count, start, stop = _count(block.images), block.rows.start, block.rows.stop
        key = count, start, stop
        if key not in self.views:
            self.views[key] = self._make_views(count, start, (stop - start, *self.grid.size[1:]))
        return self.views[key]

    def _make_views(self, count: int, start: int, size: Sizes) -> tuple[Array, ...]:
        xp, groups, item = self.xp, self.rows.shape[0], self.padded.itemsize
        length = _length(self.steps, size)
        columns = self.columns[..., :count, :length]
        source = self.padded[:count, :, start:]
        steps = [s * item for s in self.steps]
        places = [s * d for s, d in zip(steps, self.grid.dilation, strict=True)]
        strides = (source.strides[1], *places, source.strides[0], item)
        windows = xp.as_strided(source, columns.shape, strides)
        product = self.products[:, :, :count, :length]
        found = xp.as_strided(
            product, (groups * product.shape[1], count, *size), (*product.strides[1:3], *steps)
        )
        matrix = xp.reshape(columns, (groups, self.rows.shape[2], count * length))
        flat = xp.reshape(product, (*product.shape[:2], count * length))
        return windows, columns, matrix, flat, found


def _count(images: slice) -> int:
    return int(images.stop - images.start)


#: Up to so many terms, single rows are multiplied term by term: in the order in which PyTorch
#: adds them, where BLAS takes several at once.
_FEW = 64

#: How many times larger than the weight the columns of a product may be in any case.
_WORTH = 4


@op(node="ConvolutionBackward0")
def _conv(
    xp: Backend,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    size: Sizes,
) -> Array:
    """``(n, out, *size)`` from ``(n, in, *image)`` and ``(out, in / groups, *kernel)``."""
    grid = Grid(weight.shape[2:], stride, padding, dilation, size)
    if can_shift_lines(xp, weight.shape, groups, input.shape[0], size):
        return convolve_lines(xp, input, weight, bias, grid)
    rows = xp.reshape(weight, (groups, weight.shape[0] // groups, _row(weight)))
    if can_flatten_rows(grid):
        return convolve_runs(xp, input, rows, bias, grid, _limit(xp, input.dtype, weight.shape))
    out = xp.empty((input.shape[0], weight.shape[0], *size), input.dtype)

    def some(block: Block, columns: Columns) -> None:
        found = columns.of(input[block.images], grid.rows(*_ends(block.rows)))
        target = out[block.images, :, block.rows]
        found = xp.reshape(found, (groups, rows.shape[2], _windows(target)))
        _product(xp, rows, found, bias, target, columns)

    _each_block(xp, some, input.dtype, input.shape, grid, weight.shape, split=True)
    return out


@op(node="ConvolutionBackward0")
def _conv_input(
    xp: Backend,
    input: Array,
    weight: Array,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    size: Sizes,
) -> Array:
    """``(n, in, *size)`` from what came of it, ``(n, out, *windows)``, and the weight."""
    count, outputs = input.shape[:2]
    kernel = weight.shape[2:]
    if _flips_well(xp, weight, stride, groups):
        back = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        flipped = _flipped(xp, weight, groups)
        return _conv.kernel(xp, input, flipped, None, stride, back, dilation, groups, size)
    grid = Grid(kernel, stride, padding, dilation, input.shape[2:])
    if can_shift_lines(xp, weight.shape, groups, count, input.shape[2:]):
        spread = transpose_lines(xp, input, weight, grid, groups, size)
        if spread is not None:
            return spread
    rows = xp.reshape(weight, (groups, outputs // groups, _row(weight)))
    turned = xp.swapaxes(rows, 1, 2)
    out = xp.empty((count, groups * weight.shape[1], *size), input.dtype)

    def some(block: Block, columns: Columns) -> None:
        part = input[block.images]
        given = columns.inside_out(part)
        given = xp.reshape(given, (groups, outputs // groups, _windows(part)))
        into = columns.buffer(
            "columns", columns.shaped((out.shape[1], *kernel), part.shape[0], part.shape[2:])
        )
        xp.matmul(turned, given, out=xp.reshape(into, (groups, rows.shape[2], given.shape[2])))
        columns.back(into, grid, out[block.images])

    _each_block(xp, some, input.dtype, out.shape, grid, weight.shape, split=False)
    return out


@op
def _conv_weight(
    xp: Backend,
    input: Array,
    grad: Array,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    size: Sizes,
) -> Array:
    """``(out, in / groups, *size)`` from ``(n, in, *image)`` and ``(n, out, *windows)``."""
    outputs, channels = grad.shape[1], input.shape[1]
    grid = Grid(size, stride, padding, dilation, grad.shape[2:])
    shape: tuple[int, ...] = (outputs, channels // groups, *size)
    if can_shift_lines(xp, shape, groups, input.shape[0], grid.size):
        found = weight_gradient_of_lines(xp, input, grad, grid)
        if found is not None:
            return found
    depth = channels // groups * math.prod(size)

    def some(block: Block, columns: Columns) -> Array:
        found = columns.of(input[block.images], grid.rows(*_ends(block.rows)))
        part = grad[block.images, :, block.rows]
        given = columns.inside_out(part)
        given = xp.reshape(given, (groups, outputs // groups, _windows(part)))
        found = xp.reshape(found, (groups, depth, _windows(part)))
        # In this order BLAS is a quarter faster than the other way round.
        return xp.matmul(found, xp.swapaxes(given, 1, 2))

    shape = (groups, depth, outputs // groups)
    total = xp.zeros(shape, input.dtype)
    for part in _each_block(xp, some, input.dtype, input.shape, grid, shape, split=True):
        total += part
    return xp.reshape(xp.swapaxes(total, 1, 2), (outputs, channels // groups, *size))


def _row(weight: Array) -> int:
    return math.prod(weight.shape[1:])


def _windows(results: Array) -> int:
    """How many windows gave ``(count, channels, *size)``."""
    return int(results.shape[0] * math.prod(results.shape[2:]))


def _ends(part: slice) -> tuple[int, int]:
    return part.start, part.stop


def _product(
    xp: Backend, a: Array, b: Array, bias: Array | None, target: Array, columns: Columns
) -> None:
    """Write the product of matrices, plus a number per channel, to ``(count, channels, *size)``."""
    shape = (a.shape[0], a.shape[1], b.shape[2])
    column = None if bias is None else xp.reshape(bias, (-1, *(1,) * (target.ndim - 1)))
    inside = columns.inside_out(target)
    if inside.flags.c_contiguous:
        _multiply(xp, a, b, xp.reshape(inside, shape))
        if column is not None:
            xp.add(inside, column, out=inside)
        return
    product = columns.buffer("product", shape)
    _multiply(xp, a, b, product)
    product = xp.reshape(product, inside.shape)
    if column is None:
        inside[...] = product
    else:
        xp.add(product, column, out=inside)


def _multiply(xp: Backend, a: Array, b: Array, out: Array) -> None:
    """Write the products of stacks of matrices to ``out``."""
    if a.shape[1] == 1 and a.shape[2] <= _FEW:
        out[...] = xp.einsum("gok,gkn->gon", a, b)
    else:
        xp.matmul(a, b, out=out)


def _each_block(
    xp: Backend,
    some: Callable[[Block, Columns], Any],
    dtype: Any,
    shape: Sequence[int],
    grid: Grid,
    weight: Sequence[int],
    split: bool,
) -> list[Any]:
    """Run ``some`` on every block of a batch of ``shape``; the sums of its results, by thread."""
    row = shape[1] * math.prod(grid.kernel) * math.prod(grid.size[1:]) * dtype.itemsize
    todo = blocks(shape[0], grid.size[0], row, _limit(xp, dtype, weight), split)
    count_last = bool(todo) and _counts_last(todo[0].images.stop, grid)

    def part(start: int, stop: int) -> Any:
        columns, total = Columns(xp, dtype, count_last), None
        for block in todo[start:stop]:
            result = some(block, columns)
            total = result if total is None or result is None else xp.add(total, result, out=total)
        return total

    return [total for total in xp.in_parts(part, len(todo), True) if total is not None]


def _counts_last(images: int, grid: Grid) -> bool:
    """Whether the columns of so many images are best copied with the images side by side.

    Where rows are short, that makes one piece of memory of a row of every image, but with steps
    between windows only of the same pixel of every image.
    """
    return 1 < images and grid.size[-1] < (SHORT if grid.stride[-1] == 1 else images)


def _limit(xp: Backend, dtype: Any, weight: Sequence[int]) -> int:
    """Bytes of columns: every product reads the whole weight, and should be worth more work."""
    return max(xp.column_bytes, _WORTH * math.prod(weight) * int(dtype.itemsize))


def _flips_well(xp: Backend, weight: Array, stride: Sizes, groups: int) -> bool:
    """Whether the transpose is best done as a convolution with the kernel turned around.

    It reads columns instead of adding to them, of the output's channels instead of the input's.
    But it multiplies the weight by padding, and 0 times infinity is NaN.
    """
    if any(s != 1 for s in stride) or 2 * groups * weight.shape[1] < weight.shape[0]:
        return False
    return xp.is_finite(weight) is not False


def _flipped(xp: Any, weight: Array, groups: int) -> Array:
    outputs, inputs = weight.shape[:2]
    kernel = weight.shape[2:]
    turned = xp.flip(weight, tuple(range(2, weight.ndim)))
    turned = xp.reshape(turned, (groups, outputs // groups, inputs, *kernel))
    return xp.reshape(xp.swapaxes(turned, 1, 2), (groups * inputs, outputs // groups, *kernel))


@_conv.vjp_joint("input", "weight", "bias")
def _conv_rule(
    xp: Any,
    g: Any,
    in_shape: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:
    how = (stride, padding, dilation, groups)
    for_input, for_weight, for_bias = in_shape
    return (
        None if for_input is None else xp.call(_conv_input, g, weight, *how, for_input[2:]),
        None if for_weight is None else xp.call(_conv_weight, input, g, *how, for_weight[2:]),
        None if for_bias is None else xp.sum(g, axis=(0, *range(2, g.ndim))),
    )


@_conv_input.vjp_joint("input", "weight")
def _conv_input_rule(
    xp: Any,
    g: Any,
    in_shape: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:
    how = (stride, padding, dilation, groups)
    back, kernel = in_shape
    return (
        None if back is None else xp.call(_conv, g, weight, None, *how, back[2:]),
        None if kernel is None else xp.call(_conv_weight, g, input, *how, kernel[2:]),
    )


@_conv_weight.vjp_joint("input", "grad")
def _conv_weight_rule(
    xp: Any,
    g: Any,
    in_shape: Any,
    input: Any,
    grad: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:
    how = (stride, padding, dilation, groups)
    image, windows = in_shape
    return (
        None if image is None else xp.call(_conv_input, grad, g, *how, image[2:]),
        None if windows is None else xp.call(_conv, input, g, None, *how, windows[2:]),
    )
