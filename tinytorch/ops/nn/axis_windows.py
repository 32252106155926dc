"""Maxima and sums of sliding windows along one axis, and of several by a table of their elements.

Max and average pooling use ``AxisWindows``, one dimension after the other: windows of size
(h, w) take h + w passes over the array, not h * w. Elements of a window that lie outside the array
are skipped, so these kernels need no padded copy. Images of few elements are pooled by a
``WindowTable`` instead, which reads all elements of all windows at once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...backends import load
from ...dispatch.op import Array, Backend, op, piecewise
from .unfolding import Sizes

#: Longer windows that tile the array are reduced by one call, others element after element.
_LONG = 8


class AxisWindows(NamedTuple):
    """Sliding windows along one axis; the fields are as in ``Windows``.

    The windows of an array of shape ``(*a, length, *b)`` along ``axis`` give ``(*a, size, *b)``.
    """

    axis: int
    kernel: int
    stride: int
    padding: int
    dilation: int
    size: int

    def element_indices(self, length: int, ndim: int) -> list[tuple[int, Any, Any]]:
        """Number of each element of a window, and where it lies inside the array.

        Args:
            length: Size of the array along ``axis``.
            ndim: Dimensions of the array.

        Returns:
            For each element that lies inside the array in a window: its number k, the index of the
            windows whose k-th element is inside, and the index of these elements in the array.
        """
        return _axis_element_indices(self, length, ndim)

    def element_ranges(self, length: int) -> list[range]:
        """Indices of each window's elements inside an axis of ``length`` elements."""
        found = []
        for start in range(-self.padding, self.size * self.stride - self.padding, self.stride):
            before = max(0, -(start // self.dilation))
            stop = min(length, start + (self.kernel - 1) * self.dilation + 1)
            found.append(range(start + before * self.dilation, stop, self.dilation))
        return found

    def are_long_tiles(self, length: int) -> bool:
        """Whether long windows tile the array, so that a reshape turns them into rows."""
        return (
            self.kernel > _LONG
            and self.dilation == 1
            and self.stride == self.kernel
            and not self.padding
            and self.size * self.kernel == length
        )

    def tiled_shape(self, shape: Any) -> tuple[int, ...]:
        """``shape`` with the axis replaced by two: windows and their elements."""
        axis = self.axis % len(shape)
        return (*shape[:axis], self.size, self.kernel, *shape[axis + 1 :])

    def starts(self, xp: Any) -> Array:
        """Index in the array of each window's first element; negative in the padding."""
        return xp.arange(self.size, dtype="int64") * self.stride - self.padding

    def replace_size(self, shape: Any, size: int) -> tuple[int, ...]:
        """``shape`` with another size along the axis."""
        axis = self.axis % len(shape)
        return (*shape[:axis], size, *shape[axis + 1 :])

    def broadcast(self, xp: Any, values: Array, ndim: int, dtype: Any) -> Array:
        """One value per window, in a shape that broadcasts with arrays of ``ndim`` dimensions."""
        after = ndim - 1 - self.axis % ndim
        return xp.reshape(values.astype(dtype), (-1, *(1,) * after))


@functools.lru_cache(maxsize=256)
def _axis_element_indices(
    windows: AxisWindows, length: int, ndim: int
) -> list[tuple[int, Any, Any]]:
    """The cached results of ``AxisWindows.element_indices``."""
    before = (slice(None),) * (windows.axis % ndim)
    stride, found = windows.stride, []
    for number in range(windows.kernel):
        shift = number * windows.dilation - windows.padding
        first = max(0, -(shift // stride))
        last = min(windows.size, (length - 1 - shift) // stride + 1)
        if first < last:
            start, stop = first * stride + shift, (last - 1) * stride + shift + 1
            elements = (*before, slice(start, stop, stride))
            found.append((number, (*before, slice(first, last)), elements))
    return found


#: Windows of up to this many elements, of one image and of a batch, are read by a table.
_FEW_IN_IMAGE, _FEW = 4096, 16384


class WindowTable(NamedTuple):
    """Indices of the elements of all windows, for images that are flattened.

    Attributes:
        flat: Shape of the flattened images, ``(N * C, pixels)``.
        results: Shape of the results, ``(N, C, *size)``.
        indices: NumPy array ``(windows, elements)``. Shorter windows end with the number of pixels.
        repeated: The same, but shorter windows end with their first element again.
        counts: Number of elements of each window: an int if they are all equal, else a NumPy array.
    """

    flat: Sizes
    results: Sizes
    indices: Any
    repeated: Any
    counts: Any

    def elements(self, xp: Backend, input: Array) -> Array:
        """Elements ``(N * C, windows, elements)`` of images ``(N, C, *image)``.

        Shorter windows repeat an element.
        """
        return xp.take(input.reshape(self.flat), xp.from_numpy(self.repeated), 1)

    def maxima(self, xp: Backend, input: Array) -> Array:
        """Maximum of each window, which is NaN if an element is."""
        return self.elements(xp, input).max(-1).reshape(self.results)

    def maxima_and_indices(self, xp: Backend, input: Array) -> tuple[Array, Array] | None:
        """Maxima, and their indices in the flattened image; None if one is infinite or NaN."""
        elements = self.elements(xp, input)
        number = elements.argmax(-1)
        maxima = elements.reshape(-1)[number + xp.row_starts[elements.shape]]
        if input.dtype.kind == "f" and not xp.is_finite(maxima):
            return None
        number = number + xp.row_starts[self.repeated.shape]
        index = xp.from_numpy(self.repeated).reshape(-1)[number]
        return maxima.reshape(self.results), index.reshape(self.results)

    def sums(self, xp: Backend, input: Array) -> Array:
        """Sum of each window."""
        flat = input.reshape(self.flat)
        if self.counts.__class__ is not int:
            flat = xp.concatenate([flat, xp.zeros((flat.shape[0], 1), flat.dtype)], 1)
        elements = xp.take(flat, xp.from_numpy(self.indices), 1)
        rows = elements.reshape(-1, self.indices.shape[1])
        return xp.sum(rows, 1).reshape(self.results)


def make_table(shape: Sizes, axes: Sequence[Sequence[range]]) -> WindowTable | None:
    """Table of the windows of images; None if they have many elements, or a window has none.

    Args:
        shape: ``(N, C, *image)``, or without the first dimensions.
        axes: For each dimension of the image, the elements of each window along it.
    """
    batch, image = shape[: len(shape) - len(axes)], shape[len(shape) - len(axes) :]
    count = math.prod(sum(map(len, windows)) for windows in axes)
    lead, size = math.prod(batch), tuple(map(len, axes))
    if count > _FEW_IN_IMAGE or count * lead > _FEW:
        return None
    if not all(windows and all(windows) for windows in axes):
        return None
    rows: list[list[int]] = [[0]]
    for length, windows in zip(image, axes, strict=True):
        rows = [[at * length + i for at in row for i in each] for row in rows for each in windows]
    longest, np = max(map(len, rows)), load("numpy").library
    ends = [longest - len(row) for row in rows]
    indices = [row + [math.prod(image)] * n for row, n in zip(rows, ends, strict=True)]
    repeated = [row + row[:1] * n for row, n in zip(rows, ends, strict=True)]
    return WindowTable(
        (lead, math.prod(image)),
        (*batch, *size),
        np.array(indices, "int64"),
        np.array(repeated, "int64"),
        np.reshape([len(row) for row in rows], size) if any(ends) else longest,
    )


@functools.lru_cache(maxsize=128)
def table_of_windows(shape: Sizes, windows: tuple[AxisWindows, ...]) -> WindowTable | None:
    """``make_table`` for sliding windows along the last dimensions of an array of ``shape``."""
    return make_table(shape, [each.element_ranges(shape[each.axis]) for each in windows])


def lowest(xp: Backend, dtype: Any) -> Any:
    """Smallest value of a dtype, the initial value of a maximum."""
    return xp.iinfo(dtype).min if dtype.kind in "iu" else -xp.inf


@op(public=False)
def window_max(xp: Backend, input: Array, windows: AxisWindows) -> Array:
    """Maximum of each window, which is NaN if an element is."""
    if windows.are_long_tiles(input.shape[windows.axis]):
        axis = windows.axis % input.ndim
        return xp.max(xp.reshape(input, windows.tiled_shape(input.shape)), axis=axis + 1)
    out, steps = _start_max(xp, input, windows)
    for _, at, elements in steps:
        part = out[at]
        xp.maximum(part, input[elements], out=part)
    return out


def _start_max(xp: Backend, input: Array, windows: AxisWindows) -> tuple[Array, list[Any]]:
    """Initial maxima of ``window_max``, and the ``element_indices`` that are still to be compared.

    The maxima are the windows' first elements if all are inside the array, else ``lowest``.
    """
    steps = windows.element_indices(input.shape[windows.axis], input.ndim)
    if steps and steps[0][0] == 0 and steps[0][1][-1] == slice(0, windows.size):
        return xp.array(input[steps[0][2]]), steps[1:]
    shape = windows.replace_size(input.shape, windows.size)
    return xp.full(shape, lowest(xp, input.dtype), input.dtype), steps


window_max.vjp(
    input=piecewise(
        lambda xp, g, in_shape, input, windows: xp.call(
            window_scatter, g, xp.call(window_argmax, input, windows), windows,
            in_shape[windows.axis],
        )
    )
)  # fmt: skip


@op(public=False)
def window_argmax(xp: Backend, input: Array, windows: AxisWindows) -> Array:
    """Number of the largest element within each window.

    Of equal elements it is the first, but of several NaN the last.
    """
    dtype = xp.dtype("uint8" if windows.kernel <= 256 else "int32")
    best, steps = _start_max(xp, input, windows)
    out = xp.zeros(best.shape, dtype)
    if windows.padding:
        first_inside = xp.maximum(-(windows.starts(xp) // windows.dilation), 0)
        out += windows.broadcast(xp, first_inside, input.ndim, dtype)
    for number, at, elements in steps:
        # A contiguous copy, as it is read three times.
        value, old = xp.ascontiguousarray(input[elements]), best[at]
        better = value > old
        if input.dtype.kind == "f":
            better |= xp.isnan(value)
        if number < steps[-1][0]:
            xp.maximum(old, value, out=old)
        # The numbers increase, so the largest one is that of the last improvement.
        xp.maximum(out[at], xp.multiply(better, number, dtype=dtype), out=out[at])
    return out


@op(public=False)
def window_scatter(
    xp: Backend, input: Array, index: Array, windows: AxisWindows, length: int
) -> Array:
    """Zeros with each window's value in ``input`` added to its element number ``index``."""
    out = xp.zeros(windows.replace_size(input.shape, length), input.dtype)
    disjoint = windows.stride >= (windows.kernel - 1) * windows.dilation + 1
    for number, at, elements in windows.element_indices(length, input.ndim):
        value = xp.masked(input[at], index[at] == number)
        if disjoint:
            out[elements] = value
        else:
            out[elements] += value
    return out


window_scatter.vjp(input=lambda xp, g, index, windows: xp.call(window_gather, g, index, windows))


@op(public=False)
def window_gather(xp: Backend, input: Array, index: Array, windows: AxisWindows) -> Array:
    """Element number ``index`` of each window."""
    out = xp.zeros(index.shape, input.dtype)
    for number, at, elements in windows.element_indices(input.shape[windows.axis], input.ndim):
        out[at] = xp.where(index[at] == number, input[elements], out[at])
    return out


window_gather.vjp(
    input=lambda xp, g, in_shape, index, windows: xp.call(
        window_scatter, g, index, windows, in_shape[windows.axis]
    )
)


@op(public=False)
def window_sum(xp: Backend, input: Array, windows: AxisWindows) -> Array:
    """Sum of each window."""
    if windows.are_long_tiles(input.shape[windows.axis]):
        axis = windows.axis % input.ndim
        return xp.sum(xp.reshape(input, windows.tiled_shape(input.shape)), axis=axis + 1)
    out = xp.zeros(windows.replace_size(input.shape, windows.size), input.dtype)
    for _, at, elements in windows.element_indices(input.shape[windows.axis], input.ndim):
        out[at] += input[elements]
    return out


window_sum.vjp(input=piecewise(
    lambda xp, g, in_shape, windows: xp.call(window_spread, g, windows, in_shape[windows.axis])
))  # fmt: skip


@op(public=False)
def window_spread(xp: Backend, input: Array, windows: AxisWindows, length: int) -> Array:
    """Zeros with each window's value in ``input`` added to all of its elements."""
    if windows.are_long_tiles(length):
        axis = windows.axis % input.ndim
        wide = windows.tiled_shape(windows.replace_size(input.shape, length))
        spread = xp.broadcast_to(xp.expand_dims(input, axis + 1), wide)
        return xp.reshape(spread, windows.replace_size(input.shape, length))
    out = xp.zeros(windows.replace_size(input.shape, length), input.dtype)
    for _, at, elements in windows.element_indices(length, input.ndim):
        out[elements] += input[at]
    return out


window_spread.vjp(input=lambda xp, g, windows: xp.call(window_sum, g, windows))
