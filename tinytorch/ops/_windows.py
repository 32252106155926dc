"""Sliding windows over images as the columns of matrices, and back.

A window grid is plain tuples, one entry per spatial dimension: ``kernel`` (places in a
window), ``stride`` (between windows), ``padding`` (zeros in front of the image),
``dilation`` (between places) and ``size`` (windows). How many zeros follow the image is
what the last window needs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .._op import Array, Backend

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

    def places(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """Every place in a window, with the slices of the padded image it meets."""
        for place in itertools.product(*map(range, self.kernel)):
            starts = (p * d for p, d in zip(place, self.dilation, strict=True))
            yield place, tuple(
                slice(a, a + (o - 1) * s + 1, s)
                for a, o, s in zip(starts, self.size, self.stride, strict=True)
            )

    def rows(self, start: int, stop: int) -> Grid:
        """The windows from ``start`` to ``stop`` in the first dimension."""
        shift = start * self.stride[0]
        return self._replace(
            padding=(self.padding[0] - shift, *self.padding[1:]),
            size=(stop - start, *self.size[1:]),
        )

    def is_identity(self, image: Sizes) -> bool:
        """Whether the windows are the image's own elements, in order."""
        return math.prod(self.kernel) == 1 and tuple(self.size) == tuple(image) and all(
            s == 1 and p == 0 for s, p in zip(self.stride, self.padding, strict=True)
        )


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

    Images are ``(channels, count, *image)`` here, columns ``(channels, *kernel, count, *size)``:
    for one image as for many, the windows of a channel lie side by side.
    """

    def __init__(self, xp: Backend, dtype: Any) -> None:
        self.xp = xp
        self.dtype = dtype
        self.memory: dict[str, Array] = {}

    def buffer(self, name: str, shape: tuple[int, ...]) -> Array:
        """Uninitialised memory; the same as at the last call of that name if it suffices."""
        size = math.prod(shape)
        have = self.memory.get(name)
        if have is None or have.size < size:
            have = self.memory[name] = self.xp.empty((size,), self.dtype)
        return self.xp.reshape(have[:size], shape)

    def of(self, images: Array, grid: Grid) -> Array:
        """The columns of ``images``."""
        lead, image = images.shape[:2], images.shape[2:]
        if grid.is_identity(image):
            return self.xp.reshape(images, (lead[0], *grid.kernel, lead[1], *grid.size))
        padded = self._padded(images, grid)
        out = self.buffer("columns", (lead[0], *grid.kernel, lead[1], *grid.size))
        for place, window in grid.places():
            out[(slice(None), *place)] = padded[(slice(None), slice(None), *window)]
        return out

    def _padded(self, images: Array, grid: Grid) -> Array:
        shape = grid.padded()
        inside, outside = insides(images.shape[2:], grid)
        part = images[(slice(None), slice(None), *inside)]
        if part.shape[2:] == shape:
            return part
        padded = self.buffer("padded", (*images.shape[:2], *shape))
        padded[...] = 0
        padded[(slice(None), slice(None), *outside)] = part
        return padded

    def back(self, columns: Array, grid: Grid, images: Array) -> None:
        """Write to ``images`` the sum of the columns at each of its places."""
        shape = grid.padded()
        inside, outside = insides(images.shape[2:], grid)
        padded = self.buffer("padded", (*images.shape[:2], *shape))
        padded[...] = 0
        for place, window in grid.places():
            padded[(slice(None), slice(None), *window)] += columns[(slice(None), *place)]
        if math.prod(s.stop - s.start for s in inside) < math.prod(images.shape[2:]):
            images[...] = 0
        everything = (slice(None), slice(None))
        images[(*everything, *inside)] = padded[(*everything, *outside)]


class Block(NamedTuple):
    """Some images of a batch and some rows of their windows."""

    images: slice
    rows: slice


def blocks(xp: Backend, count: int, rows: int, row_bytes: int, split: bool) -> list[Block]:
    """A batch cut into pieces whose columns fit ``xp.column_bytes``.

    Args:
        xp: The backend.
        count: Images in the batch.
        rows: Rows of windows in an image.
        row_bytes: Size of a row's columns.
        split: Whether an image may be cut, where it alone is too large.
    """
    image = max(rows * row_bytes, 1)
    if image <= xp.column_bytes or not split:
        step = max(xp.column_bytes // image, 1)
        return [
            Block(slice(i, min(i + step, count)), slice(0, rows)) for i in range(0, count, step)
        ]
    step = max(xp.column_bytes // row_bytes, 1)
    return [
        Block(slice(i, i + 1), slice(r, min(r + step, rows)))
        for i in range(count)
        for r in range(0, rows, step)
    ]
