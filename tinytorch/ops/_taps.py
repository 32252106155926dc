"""Resampling along one dimension: each new element is a weighted sum of a few old ones.

Which ones, and how they weigh, follows from sizes alone. It is worked out on the host, once
for each pair of sizes, and rounded as PyTorch rounds it, in single precision for float32: a
coordinate that falls on the other side of an integer is another pixel.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import NamedTuple

from .._op import Array, Backend, op
from ..autograd.names import argument
from ..autograd.nodes import Node

Rounding = Callable[[float], float]


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


class Taps(NamedTuple):
    """For every new element, old ones and their weights; shorter lists are filled with -1.

    ``places[k][i]`` is the k-th of the old elements that new element i is made of, or -1.
    """

    places: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[float, ...], ...]


class Resampling(NamedTuple):
    """A way from one size to another, and its transpose."""

    taps: Taps
    transpose: Taps

    def turned(self) -> Resampling:
        """The transpose as a way of its own."""
        return Resampling(self.transpose, self.taps)


def _resample_name(node: Node) -> str:
    n, taps = len(node.shape) - 2, len(argument(node, "how").taps.places)
    linear = ("", "Linear1D", "Bilinear2D", "Trilinear3D")[n]
    kind = f"Nearest{n}D" if taps == 1 else linear if taps == 2 else "Bicubic2D"
    return f"Upsample{kind}Backward0"


@op(public=False, node=_resample_name)
def resample(xp: Backend, input: Array, axis: int, how: Resampling) -> Array:
    """``input`` with another size along ``axis``."""
    shape = [1] * input.ndim
    shape[axis] = -1
    out: Array = None
    for places, weights in zip(*how.taps, strict=True):
        part = xp.take(input, xp.asarray(places, dtype="int64"), axis=axis)
        if any(weight != 1 for weight in weights):
            part *= xp.reshape(xp.asarray(weights, dtype=input.dtype), shape)
        if -1 in places:  # not by a weight of 0, which would make NaN of an infinity
            part = xp.masked(part, xp.reshape(xp.asarray(places) >= 0, shape))
        if out is None:
            out = part
        else:
            out += part
    return out


resample.vjp(input=lambda xp, g, axis, how: xp.call(resample, g, axis, how.turned()))


def _filled(lists: list[list[tuple[int, float]]]) -> Taps:
    """Lists of (place, weight) as columns; shorter ones are filled."""
    longest = max(map(len, lists), default=0) or 1
    full = [pairs + [(-1, 1.0)] * (longest - len(pairs)) for pairs in lists]
    return Taps(
        tuple(tuple(pairs[k][0] for pairs in full) for k in range(longest)),
        tuple(tuple(pairs[k][1] for pairs in full) for k in range(longest)),
    )


def _with_transpose(lists: list[list[tuple[int, float]]], length: int) -> Resampling:
    back: list[list[tuple[int, float]]] = [[] for _ in range(length)]
    for i, pairs in enumerate(lists):
        for place, weight in pairs:
            back[place].append((i, weight))
    return Resampling(_filled(lists), _filled(back))


@functools.lru_cache(maxsize=256)
def resampling(
    mode: str, length: int, size: int, scale: float | None, corners: bool, single: bool
) -> Resampling:
    """The taps from ``length`` elements to ``size``.

    Args:
        mode: ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"cubic"``, or a filter that
            averages when it makes smaller: ``"linear-antialias"``, ``"cubic-antialias"``,
            ``"lanczos-antialias"``.
        length: Elements there are.
        size: Elements wanted.
        scale: How many times as large the caller said it is to be; None: what sizes say.
        corners: Whether the end elements are mapped on one another, not their outer edges.
        single: Whether coordinates are rounded to single precision.
    """
    rounding = _single if single else float
    step = rounding(_step(length, size, scale, corners))
    if mode.endswith("-antialias"):
        lists = [_averaged(mode, i, length, step) for i in range(size)]
    elif mode.startswith("nearest"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        # Here a coordinate is rounded to single precision for every dtype.
        lists = [
            [(min(math.floor(_single((i + half) * step)), length - 1), 1.0)] for i in range(size)
        ]
    else:
        make = _linear if mode == "linear" else _cubic
        lists = [make(_source(i, step, corners, rounding), length, rounding) for i in range(size)]
    return _with_transpose(lists, length)


@functools.lru_cache(maxsize=256)
def in_bytes(how: Resampling) -> tuple[Resampling, int]:
    """The taps for bytes, whose weights are whole numbers, and how many of them make 1.

    That is the largest power of 2 for which every weight fits an int16.
    """
    lists = []
    columns = (zip(*part, strict=True) for part in how.taps)
    for places, weights in zip(*columns, strict=True):
        pairs: dict[int, float] = {}
        for place, weight in zip(places, weights, strict=True):
            if place >= 0:  # a place at the edge may be there more than once
                pairs[place] = pairs.get(place, 0.0) + weight
        lists.append(pairs)
    largest = max((w for pairs in lists for w in pairs.values()), default=0.0)
    bits = next((b for b in range(22) if int(0.5 + largest * 2 ** (b + 1)) >= 2**15), 22)
    whole = [
        [(p, float(math.trunc(w * 2**bits + math.copysign(0.5, w)))) for p, w in pairs.items()]
        for pairs in lists
    ]
    return how._replace(taps=_filled(whole)), 2**bits


def _step(length: int, size: int, scale: float | None, corners: bool) -> float:
    """How far apart the new elements are, measured in old ones."""
    if corners:
        return (length - 1) / (size - 1) if size > 1 else 0.0
    return 1.0 / scale if scale else length / size


def _source(i: int, step: float, corners: bool, rounding: Rounding) -> float:
    """Where new element ``i`` lies among the old ones."""
    if corners:
        return rounding(i * step)
    return rounding(rounding(step * (i + 0.5)) - 0.5)


def _linear(source: float, length: int, rounding: Rounding) -> list[tuple[int, float]]:
    source = max(source, 0.0)
    first = min(int(source), length - 1)
    share = min(max(rounding(source - first), 0.0), 1.0)
    return [(first, rounding(1.0 - share)), (min(first + 1, length - 1), share)]


def _cubic(source: float, length: int, rounding: Rounding) -> list[tuple[int, float]]:
    """Keys: Cubic convolution interpolation for digital image processing, 1981, a = -3/4."""
    first = math.floor(source)
    share = source - first
    return [
        (min(max(first + k, 0), length - 1), cubic_kernel(share - k, -0.75)) for k in range(-1, 3)
    ]


def cubic_kernel(x: float, a: float) -> float:
    """Keys' cubic convolution kernel."""
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _triangle(x: float) -> float:
    return max(1.0 - abs(x), 0.0)


def _soft_cubic(x: float) -> float:
    return cubic_kernel(x, -0.5)


def _lanczos(x: float) -> float:
    if not -3 <= x < 3:
        return 0.0
    if x == 0:
        return 1.0
    angle = math.pi * x
    return 3 * math.sin(angle) * math.sin(angle / 3) / (angle * angle)


#: Filters and how far they reach on either side.
_FILTERS: dict[str, tuple[Callable[[float], float], int]] = {
    "linear": (_triangle, 1), "cubic": (_soft_cubic, 2), "lanczos": (_lanczos, 3),
}  # fmt: skip


def _averaged(mode: str, i: int, length: int, step: float) -> list[tuple[int, float]]:
    """A filter as wide as the new element's share of the old ones, its weights summing to 1."""
    kernel, reach = _FILTERS[mode.removesuffix("-antialias")]
    width = max(step, 1.0)
    center = step * (i + 0.5)
    first = max(int(center - reach * width + 0.5), 0)
    last = min(int(center + reach * width + 0.5), length)
    weights = [kernel((place - center + 0.5) / width) for place in range(first, last)]
    total = sum(weights) or 1.0
    return [(first + k, weight / total) for k, weight in enumerate(weights)]
