"""Sliding windows over images as the columns of matrices, and back.

A window grid is plain tuples, one entry per spatial dimension: ``kernel`` (places in a
window), ``stride`` (between windows), ``padding`` (zeros in front of the image),
``dilation`` (between places) and ``size`` (windows). How many zeros follow the image is
what the last window needs.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend

Sizes = Sequence[int]


class Grid(NamedTuple):
    """Where the windows lie; see the module."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    size: Sizes

    def padded(self) -> tuple[int, ...]:
        """Sizes of the smallest padded image that holds every window."""
        return tuple(
            (o - 1) * s + (k - 1) * d + 1
            for k, s, d, o in zip(self.kernel, self.stride, self.dilation, self.size, strict=True)
        )

    def places(self, count_last: bool) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """For every place in a window, indices of its columns and of the pixels it meets."""
        return _places(*self[:2], *self[3:], count_last)

    def rows(self, start: int, stop: int) -> Grid:
        """The windows from ``start`` to ``stop`` in the first dimension."""
        shift = start * self.stride[0]
        return self._replace(
            padding=(self.padding[0] - shift, *self.padding[1:]),
            size=(stop - start, *self.size[1:]),
        )

    def is_identity(self, image: Sizes) -> bool:
        """Whether the windows are the image's own elements, in order."""
        return (
            math.prod(self.kernel) == 1
            and tuple(self.size) == tuple(image)
            and all(s == 1 and p == 0 for s, p in zip(self.stride, self.padding, strict=True))
        )


@functools.lru_cache(maxsize=256)
def _places(
    kernel: Sizes, stride: Sizes, dilation: Sizes, size: Sizes, count_last: bool
) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    lead = (slice(None),) if count_last else (slice(None), slice(None))
    found = []
    for place in itertools.product(*map(range, kernel)):
        starts = (p * d for p, d in zip(place, dilation, strict=True))
        window = tuple(
            slice(a, a + (o - 1) * s + 1, s) for a, o, s in zip(starts, size, stride, strict=True)
        )
        found.append(((slice(None), *place), (*lead, *window)))
    return found


def overlap(image: int, padding: int, padded: int) -> tuple[slice, slice]:
    """Along one dimension, which part of the image lies in which part of the padded one."""
    first, last = max(0, -padding), min(image, padded - padding)
    last = max(first, last)
    return slice(first, last), slice(first + padding, last + padding)


def insides(image: Sizes, grid: Grid) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """``overlap`` in every spatial dimension."""
    pairs = [overlap(*n) for n in zip(image, grid.padding, grid.padded(), strict=True)]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


class Columns:
    """Windows of a few images at a time, in memory that is used again.

    Inside, the channels come first, so that the columns of several images make one matrix:
    ``(channels, *kernel, count, *size)``, or with the count last, where the rows of an image are
    so short that copying them one by one takes longer than bringing its pixels into that order.
    """

    def __init__(self, xp: Backend, dtype: Any, count_last: bool = False) -> None:
        self.xp = xp
        self.dtype = dtype
        self.count_last = count_last
        self.memory: dict[str, Array] = {}
        self.clean: Any = None

    def buffer(self, name: str, shape: tuple[int, ...]) -> Array:
        """Uninitialised memory; the same as at the last call of that name if it suffices."""
        size = math.prod(shape)
        have = self.memory.get(name)
        if have is None or have.size < size:
            have = self.memory[name] = self.xp.empty((size,), self.dtype)
        return self.xp.reshape(have[:size], shape)

    def inside_out(self, images: Array) -> Array:
        """``(count, channels, *image)`` with its dimensions in the order of the columns'."""
        return self.xp.moveaxis(images, 0, -1 if self.count_last else 1)

    def shaped(self, lead: Sizes, count: int, image: Sizes) -> tuple[int, ...]:
        """Sizes in the order of the columns'."""
        return (*lead, *image, count) if self.count_last else (*lead, count, *image)

    def of(self, images: Array, grid: Grid) -> Array:
        """The columns of ``images``, ``(count, channels, *image)``."""
        count, channels, *image = images.shape
        if grid.is_identity(image) and count == 1:
            return self.xp.reshape(images, (channels, *grid.kernel, count, *grid.size))
        padded = self._padded(images, grid)
        out = self.buffer("columns", self.shaped((channels, *grid.kernel), count, grid.size))
        for place, window in grid.places(self.count_last):
            out[place] = padded[window]
        return out

    def _padded(self, images: Array, grid: Grid) -> Array:
        count, channels, *image = images.shape
        shape = grid.padded()
        inside, outside = insides(image, grid)
        part = images[(slice(None), slice(None), *inside)]
        if part.shape[2:] == shape and not self.count_last:
            return self.inside_out(part)
        padded = self.buffer("padded", self.shaped((channels,), count, shape))
        if self.clean != (padded.shape, outside):
            padded[...] = 0  # what lies around the image then stays 0 for the next ones
            self.clean = (padded.shape, outside)
        padded[self._region(outside)] = self.inside_out(part)
        return padded

    def _region(self, image: tuple[slice, ...]) -> tuple[slice, ...]:
        lead = (slice(None),) if self.count_last else (slice(None), slice(None))
        return (*lead, *image)

    def back(self, columns: Array, grid: Grid, images: Array) -> None:
        """Write to ``images`` the sum of the columns at each of its places."""
        count, channels, *image = images.shape
        inside, outside = insides(image, grid)
        padded = self.buffer("padded", self.shaped((channels,), count, grid.padded()))
        padded[...] = 0
        self.clean = None
        for place, window in grid.places(self.count_last):
            padded[window] += columns[place]
        if math.prod(s.stop - s.start for s in inside) < math.prod(image):
            images[...] = 0
        part = images[(slice(None), slice(None), *inside)]
        self.inside_out(part)[...] = padded[self._region(outside)]


#: Rows of fewer windows than this are short.
SHORT = 16


class Block(NamedTuple):
    """Some images of a batch and some rows of their windows."""

    images: slice
    rows: slice


def blocks(count: int, rows: int, row_bytes: int, limit: int, split: bool) -> list[Block]:
    """A batch cut into pieces whose columns fit some memory, and are a quarter of all at most.

    Args:
        count: Images in the batch.
        rows: Rows of windows in an image.
        row_bytes: Size of a row's columns.
        limit: Size of the memory.
        split: Whether an image may be cut, where it alone is too large.
    """
    image = max(rows * row_bytes, 1)
    parts = -(-image // limit)
    if parts == 1 or not split:
        step = max(min(limit // image, -(-count // 4)), 1)
        return [
            Block(slice(i, min(i + step, count)), slice(0, rows)) for i in range(0, count, step)
        ]
    step = -(-rows // parts)
    return [
        Block(slice(i, i + 1), slice(r, min(r + step, rows)))
        for i in range(count)
        for r in range(0, rows, step)
    ]
