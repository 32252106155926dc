"""Convolution at stride 1, with columns that are whole runs of a padded image's memory.

The pixels that one place of the kernel meets lie in a row there, but that between two rows of
windows come a few which belong to none. To copy these too is quicker than to copy row by row, and
so is to multiply them: their products are left behind when the result is copied to its place.
"""

from __future__ import annotations

import math

from ...dispatch.op import Array, Backend
from .image_windows import Block, Grid, Sizes, blocks, insides

#: How many columns there may be for each window.
_WASTE = 1.5

#: Rows of fewer windows are copied no faster with the columns between them.
_SHORT = 10


def suits(grid: Grid) -> bool:
    """Whether the windows are at stride 1, and few columns belong to none."""
    if any(s != 1 for s in grid.stride) or math.prod(grid.kernel) == 1 or grid.size[-1] < _SHORT:
        return False
    return _length(_steps(grid), grid.size) <= _WASTE * math.prod(grid.size)


def _steps(grid: Grid) -> list[int]:
    """How far apart two windows are in the padded image's memory, by dimension."""
    padded = grid.padded()
    return [math.prod(padded[d + 1 :]) for d in range(len(padded))]


def _length(steps: Sizes, size: Sizes) -> int:
    """Of a run from the first window to the last."""
    return 1 + sum(t * (o - 1) for t, o in zip(steps, size, strict=True))


def convolve(
    xp: Backend, input: Array, rows: Array, bias: Array | None, grid: Grid, limit: int
) -> Array:
    """``(n, out, *size)``.

    Args:
        xp: The backend.
        input: ``(n, in, *image)``.
        rows: The weight as ``(groups, out / groups, in / groups * places)``.
        bias: ``(out,)`` or None.
        grid: The windows, which ``suits`` has looked at.
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
