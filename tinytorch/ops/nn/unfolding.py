"""Sliding windows of images as columns, and columns summed back to images.

The largest elements and the sums of windows slide along one dimension at a time: a window over
several dimensions is a window along each in turn, which takes as many passes as the kernel's sides
add up to, not multiply. Elements of a window outside the array are left out, without padding.

Sliding windows over images as the columns of matrices, and back.

A window grid is plain tuples, one entry per spatial dimension: ``kernel`` (places in a
window), ``stride`` (between windows), ``padding`` (zeros in front of the image),
``dilation`` (between places) and ``size`` (windows). How many zeros follow the image is
what the last window needs.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.arguments import is_leading_bool
from ...dispatch.op import Array, Backend, composite, op, piecewise
from ...dispatch.out import scalar_name

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


_F = ("nn.functional",)

#: One int for every dimension, or one int for each.
Size = int | Sequence[int]


@op(node="Im2ColBackward0")
def _columns(xp: Backend, input: Array, grid: Grid) -> Array:
    """``(batch, channels * places, windows)`` from ``(batch, channels, *image)``."""
    batch, channels = input.shape[:2]
    found = Columns(xp, input.dtype).of(input, grid)
    spatial = len(grid.kernel)
    batch_first = (spatial + 1, *range(spatial + 1), *range(spatial + 2, found.ndim))
    shape = (batch, channels * math.prod(grid.kernel), math.prod(grid.size))
    out = xp.reshape(xp.transpose(found, batch_first), shape)
    own = xp.array(out) if grid.is_identity(input.shape[2:]) else out
    return xp.ascontiguousarray(own)


@op(node="Col2ImBackward0")
def _summed(xp: Backend, input: Array, grid: Grid, image: tuple[int, ...]) -> Array:
    """``(batch, channels, *image)``, each pixel the sum of the columns' elements for it."""
    batch = input.shape[0]
    channels = input.shape[1] // math.prod(grid.kernel)
    windows = xp.reshape(input, (batch, channels, *grid.kernel, *grid.size))
    spatial = len(grid.kernel)
    batch_inside = (*range(1, spatial + 2), 0, *range(spatial + 2, windows.ndim))
    out = xp.empty((batch, channels, *image), input.dtype)
    Columns(xp, input.dtype).back(xp.transpose(windows, batch_inside), grid, out)
    return out


_columns.vjp(input=lambda xp, g, in_shape, grid: xp.call(_summed, g, grid, tuple(in_shape[2:])))
_summed.vjp(input=lambda xp, g, grid: xp.call(_columns, g, grid))


@composite(namespaces=_F)
def unfold(
    input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """The sliding windows of an image, each as a column.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Sides of a window, one for both or each.
        dilation: Steps from one place in a window to the next; default 1.
        padding: Zeros on every side; default 0.
        stride: Steps from one window to the next; default 1.

    Returns:
        ``(batch, channels * places, windows)``: channel by channel, then row by row.

    Raises:
        RuntimeError: If shapes or numbers do not fit.
        IndexError: If ``input`` has fewer than 3 dimensions.

    Example:
        >>> tt.nn.functional.unfold(tt.arange(4.0).reshape(1, 1, 2, 2), (1, 2))
        tensor([[[0., 2.],
                 [1., 3.]]])
    """
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        kind = IndexError if input.ndim < 3 else RuntimeError  # as torch's
        raise kind(
            "unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    _check_dtype("unfold", input)
    grid = _grid("unfold", input.shape[-2:], kernel_size, dilation, padding, stride)
    if min(grid.size) < 1:
        raise RuntimeError(
            f"unfold: Given input with spatial size {tuple(input.shape[-2:])}, {_described(grid)}, "
            f"calculated shape of the array of sliding blocks as {tuple(grid.size)}, but its "
            "components must be at least one."
        )
    x: Any = input
    return _columns(x, grid) if x.ndim == 4 else _columns(x.unsqueeze(0), grid).squeeze(0)


@composite(namespaces=_F)
def fold(
    input: Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> Tensor:
    """Columns put back where ``unfold`` would take them from, and summed where they overlap.

    Args:
        input: ``(batch, channels * places, windows)``, or without ``batch``.
        output_size: Sides of the image, one for both or each.
        kernel_size: As for ``unfold``.
        dilation: Default 1.
        padding: Default 0.
        stride: Default 1.

    Returns:
        ``(batch, channels, *output_size)``.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.nn.functional.fold(tt.ones(1, 2, 2), (1, 3), (1, 2))
        tensor([[[[1., 2., 1.]]]])
    """
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    _check_dtype("fold", input)
    image = _pair("fold", "output_size", output_size)
    grid = _grid("fold", image, kernel_size, dilation, padding, stride)
    _check_columns(input, image, grid)
    x: Any = input
    if x.ndim == 3:
        return _summed(x, grid, image)
    return _summed(x.unsqueeze(0), grid, image).squeeze(0)


def _check_columns(input: Tensor, image: tuple[int, ...], grid: Grid) -> None:
    places = math.prod(grid.kernel)
    if places >= 2**63:
        raise RuntimeError(
            f"fold: Given kernel_width = {grid.kernel[1]} and kernel_height = {grid.kernel[0]} the "
            "product of kernel_width and kernel_height overflowed."
        )
    if input.shape[-2] % places:
        raise RuntimeError(
            f"fold: Expected size of input's dimension {input.ndim - 2} to be divisible by the "
            f"product of kernel_size, but got input.size({input.ndim - 2})={input.shape[-2]} and "
            f"kernel_size={tuple(grid.kernel)}."
        )
    windows = math.prod(grid.size)
    given = f"fold: Given output_size={image}, {_described(grid)}, stride={tuple(grid.stride)}, "
    if input.shape[-1] != windows:
        raise RuntimeError(
            f"{given}expected size of input's dimension {input.ndim - 1} to match the calculated "
            f"number of sliding blocks {grid.size[0]} * {grid.size[1]} = {windows}, but got "
            f"input.size({input.ndim - 1})={input.shape[-1]}."
        )
    if min(grid.size) < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as {tuple(grid.size)}, which "
            "is too small (non-positive)"
        )


def _described(grid: Grid) -> str:
    return (
        f"kernel_size={tuple(grid.kernel)}, dilation={tuple(grid.dilation)}, "
        f"padding={tuple(grid.padding)}"
    )


def _check_dtype(name: str, input: Tensor) -> None:
    if not (input.is_floating_point() or input.is_complex() or input.dtype is dtypes.bool):
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


def _pair(name: str, argument: str, value: Any) -> tuple[int, ...]:
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(hasattr(n, "__index__") and not is_leading_bool(n, given) for n in given):
        raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, got {value!r}")
    if isinstance(value, (tuple, list)) and len(given) != 2:
        raise RuntimeError(
            f"{name}: It is expected {argument} equals to 2, but got size {len(given)}"
        )
    return tuple(int(n) for n in (given * 2)[:2])


def _grid(
    name: str, image: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Grid:
    kernel = _pair(name, "kernel_size", kernel_size)
    gaps = _pair(name, "dilation", dilation)
    pads = _pair(name, "padding", padding)
    steps = _pair(name, "stride", stride)
    for argument, values in (("kernel_size", kernel), ("dilation", gaps), ("stride", steps)):
        if min(values) <= 0:
            raise RuntimeError(f"{name}: {argument} should be greater than zero, but got {values}")
    if min(pads) < 0:
        raise RuntimeError(f"{name}: padding should be non-negative, but got {pads}")
    size = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(image, kernel, gaps, pads, steps, strict=True)
    )
    return Grid(kernel, steps, pads, gaps, size)


#: Windows of more places than this are reduced by the library, place after place below it.
_LONG = 8


class Slide(NamedTuple):
    """The windows along one dimension."""

    axis: int
    kernel: int
    stride: int
    padding: int
    dilation: int
    size: int

    def meets(self, length: int, ndim: int) -> Iterator[tuple[int, Any, Any]]:
        """For each place: its number, the windows in which it is inside, and the elements there.

        Args:
            length: Elements along the dimension.
            ndim: Dimensions of the array.
        """
        before = (slice(None),) * (self.axis % ndim)
        for place in range(self.kernel):
            shift = place * self.dilation - self.padding
            first = max(0, -(shift // self.stride))
            last = min(self.size, (length - 1 - shift) // self.stride + 1)
            if first < last:
                start = first * self.stride + shift
                stop = (last - 1) * self.stride + shift + 1
                yield (
                    place,
                    (*before, slice(first, last)),
                    (*before, slice(start, stop, self.stride)),
                )

    def tiles(self, length: int) -> bool:
        """Whether long windows lie side by side: then they are rows to be reduced at once."""
        return (
            self.kernel > _LONG
            and self.dilation == 1
            and self.stride == self.kernel
            and not self.padding
            and self.size * self.kernel == length
        )

    def tiled(self, shape: Any) -> tuple[int, ...]:
        """``shape`` with the dimension split into windows and their places."""
        at = self.axis % len(shape)
        return (*shape[:at], self.size, self.kernel, *shape[at + 1 :])

    def first_places(self, xp: Any) -> Array:
        """In each window, the first place that is not in front of the array."""
        return xp.maximum(-(self.starts(xp) // self.dilation), 0)

    def starts(self, xp: Any) -> Array:
        """Where in the array each window begins."""
        return xp.arange(self.size, dtype="int64") * self.stride - self.padding

    def of(self, shape: Any, length: int) -> tuple[int, ...]:
        """``shape`` with another length along the dimension."""
        at = self.axis % len(shape)
        return (*shape[:at], length, *shape[at + 1 :])

    def along(self, xp: Any, values: Array, ndim: int, dtype: Any) -> Array:
        """A number for each window, to broadcast with arrays of ``ndim`` dimensions."""
        after = ndim - 1 - self.axis % ndim
        return xp.reshape(values.astype(dtype), (-1, *(1,) * after))


def lowest(xp: Backend, dtype: Any) -> Any:
    """What is larger than nothing."""
    return xp.iinfo(dtype).min if dtype.kind in "iu" else -xp.inf


@op(public=False)
def slide_max(xp: Backend, input: Array, slide: Slide) -> Array:
    """The largest element of each window; NaN where there is one."""
    if slide.tiles(input.shape[slide.axis]):
        at = slide.axis % input.ndim
        return xp.max(xp.reshape(input, slide.tiled(input.shape)), axis=at + 1)
    out, parts = _start(xp, input, slide)
    for _, windows, elements in parts:
        xp.maximum(out[windows], input[elements], out=out[windows])
    return out


def _start(xp: Backend, input: Array, slide: Slide) -> tuple[Array, list[Any]]:
    """The largest elements before any place, or after the first, and the places to come."""
    parts = list(slide.meets(input.shape[slide.axis], input.ndim))
    if parts and parts[0][0] == 0 and parts[0][1][-1] == slice(0, slide.size):
        return xp.array(input[parts[0][2]]), parts[1:]
    shape = slide.of(input.shape, slide.size)
    return xp.full(shape, lowest(xp, input.dtype), input.dtype), parts


slide_max.vjp(
    input=piecewise(
        lambda xp, g, in_shape, input, slide: xp.call(
            slide_put, g, xp.call(slide_place, input, slide), slide, in_shape[slide.axis]
        )
    )
)


@op(public=False)
def slide_place(xp: Backend, input: Array, slide: Slide) -> Array:
    """In which place of its window the largest element is: the first of equals, the last NaN."""
    dtype = xp.dtype("uint8" if slide.kernel <= 256 else "int32")
    best, parts = _start(xp, input, slide)
    found = xp.zeros(best.shape, dtype)
    if slide.padding:
        found += slide.along(xp, slide.first_places(xp), input.ndim, dtype)
    for place, windows, elements in parts:
        # Read three times, and each time slowly where the elements are not side by side.
        value, old = xp.ascontiguousarray(input[elements]), best[windows]
        better = value > old
        if input.dtype.kind == "f":
            better |= xp.isnan(value)
        if place < parts[-1][0]:
            xp.maximum(old, value, out=old)
        # Places come in rising order, so the larger number is the later find.
        xp.maximum(found[windows], xp.multiply(better, place, dtype=dtype), out=found[windows])
    return found


@op(public=False)
def slide_put(xp: Backend, input: Array, place: Array, slide: Slide, length: int) -> Array:
    """Zeros with each element of ``input`` added at a place of its window."""
    out = xp.zeros(slide.of(input.shape, length), input.dtype)
    apart = slide.stride >= (slide.kernel - 1) * slide.dilation + 1
    for number, windows, elements in slide.meets(length, input.ndim):
        value = xp.masked(input[windows], place[windows] == number)
        if apart:
            out[elements] = value
        else:
            out[elements] += value
    return out


slide_put.vjp(input=lambda xp, g, place, slide: xp.call(slide_pick, g, place, slide))


@op(public=False)
def slide_pick(xp: Backend, input: Array, place: Array, slide: Slide) -> Array:
    """The element at a place of each window."""
    out = xp.zeros(place.shape, input.dtype)
    for number, windows, elements in slide.meets(input.shape[slide.axis], input.ndim):
        out[windows] = xp.where(place[windows] == number, input[elements], out[windows])
    return out


slide_pick.vjp(
    input=lambda xp, g, in_shape, place, slide: xp.call(
        slide_put, g, place, slide, in_shape[slide.axis]
    )
)


@op(public=False)
def slide_sum(xp: Backend, input: Array, slide: Slide) -> Array:
    """The sum of each window."""
    if slide.tiles(input.shape[slide.axis]):
        at = slide.axis % input.ndim
        return xp.sum(xp.reshape(input, slide.tiled(input.shape)), axis=at + 1)
    out = xp.zeros(slide.of(input.shape, slide.size), input.dtype)
    for _, windows, elements in slide.meets(input.shape[slide.axis], input.ndim):
        out[windows] += input[elements]
    return out


slide_sum.vjp(input=piecewise(
    lambda xp, g, in_shape, slide: xp.call(slide_spread, g, slide, in_shape[slide.axis])
))  # fmt: skip


@op(public=False)
def slide_spread(xp: Backend, input: Array, slide: Slide, length: int) -> Array:
    """Zeros with each element of ``input`` added to every place of its window."""
    if slide.tiles(length):
        at = slide.axis % input.ndim
        wide = slide.tiled(slide.of(input.shape, length))
        spread = xp.broadcast_to(xp.expand_dims(input, at + 1), wide)
        return xp.reshape(spread, slide.of(input.shape, length))
    out = xp.zeros(slide.of(input.shape, length), input.dtype)
    for _, windows, elements in slide.meets(length, input.ndim):
        out[elements] += input[windows]
    return out


slide_spread.vjp(input=lambda xp, g, slide: xp.call(slide_sum, g, slide))
