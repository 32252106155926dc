"""Windows that slide along one dimension: their largest elements and their sums.

A window over several dimensions is a window along each in turn, for the largest element as
for the sum, which takes as many passes as the kernel's sides add up to, not multiply.

Places of a window that lie outside the array are left out: they need no padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend, op, piecewise

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
