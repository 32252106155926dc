"""The arithmetic of PyTorch's random streams: plain functions of arrays, without state.

What is drawn, and in which order, is ``mt19937.py``'s business.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from math import cos, log1p, sin, sqrt
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]

#: Draws handled at once: the temporaries of one block stay in the cache.
BLOCK = 1 << 15


#: By a dtype's letter 1, -2 and 2 pi, as arrays, which NumPy takes in half the time of numbers.
_CONSTANTS = {c: [np.array(v, c) for v in (1.0, -2.0, 2.0 * math.pi)] for c in "fd"}
#: 2 pi over 2**53, which a product with an integer rounds as it does 2 pi times a fraction.
_TURN = 2.0 * math.pi * 2.0**-53
_FLOAT32 = np.dtype(np.float32)
_MASK24 = np.array(2**24 - 1, np.uint64)
UNIT24 = np.array(2.0**-24, np.float32)


def blocks(count: int) -> Iterator[tuple[int, int]]:
    """Pairs ``(start, stop)`` that cut ``count`` elements into blocks."""
    for start in range(0, count, BLOCK):
        yield start, min(start + BLOCK, count)


def real_dtype(dtype: Any) -> Any:
    """The dtype of a complex dtype's parts."""
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


def largest_integer(dtype: Any) -> int:
    """The highest number of an integer or bool dtype."""
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def cast(values: NDArray, dtype: Any) -> NDArray:
    """Convert ``values`` to ``dtype``; numbers beyond the range of float16 become infinite."""
    if values.dtype == dtype:
        return values
    if dtype != np.float16:
        return np.asarray(values, dtype)
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float32).astype(np.float16)  # PyTorch rounds twice


def modulo(words: NDArray, extent: int) -> NDArray:
    """``words % extent``, by a division, which NumPy vectorizes, unlike the modulo.

    It overwrites ``words``.
    """
    if extent & (extent - 1) == 0:
        words &= words.dtype.type(extent - 1)
    else:
        multiple = words // words.dtype.type(extent)
        multiple *= words.dtype.type(extent)
        words -= multiple
    return words


@functools.lru_cache(maxsize=64)
def word(number: int) -> NDArray:
    """A number as a 0-d uint64 array, which NumPy takes in half the time of a Python int."""
    return np.array(number, np.uint64)


def low24(words: NDArray) -> NDArray:
    """float32 numbers in ``[0, 1)`` from the low 24 bits of words, which it overwrites."""
    words &= _MASK24
    units = words.astype(_FLOAT32)
    units *= UNIT24
    return units


def multiply_add(x: NDArray, scale: float, shift: float) -> NDArray:
    """``x * scale + shift``, rounded once (but see below), as the processor's fused operation does.

    For float32 the product is exact in float64. The sum is rounded there and again to float32,
    which very rarely differs from one rounding. For float64 the errors of the product (Dekker 1971)
    and of the sum (Knuth's TwoSum) are added last; numbers from 2**900 on, whose halves could
    overflow, are rounded twice. ``x`` may be overwritten or returned.
    """
    if scale == 1 and shift == 0:
        return x
    if x.dtype == np.float32:
        if shift == 0:
            x *= np.float32(scale)
            return x
        wide = x.astype(np.float64)
        wide *= float(np.float32(scale))
        wide += float(np.float32(shift))
        return wide.astype(np.float32)
    product = x * scale
    if shift == 0 or not (abs(scale) < 2.0**900 and abs(shift) < 2.0**900):
        return product + shift
    x_high, x_low = _split(x)
    scale_high, scale_low = _split(scale)
    error = x_high * scale_high - product
    error += x_high * scale_low
    error += x_low * scale_high
    error += x_low * scale_low
    total = product + shift
    kept = total - product
    error += (product - (total - kept)) + (shift - kept)
    return total + error  # type: ignore[no-any-return]


def _split(x: Any) -> tuple[Any, Any]:
    """Two halves of 26 bits each whose sum is ``x`` (Veltkamp)."""
    scaled = x * 134217729.0
    high = scaled - (scaled - x)
    return high, x - high


def box_muller(units: NDArray, mean: float, std: float) -> NDArray:
    """Normals from uniforms, in place, in blocks of 16: 8 radii, then 8 angles."""
    one, minus_two, turn = _CONSTANTS[units.dtype.char]
    out = units.reshape(-1, 2, 8)
    first, second = out[:, 0], out[:, 1]
    radius = one - first
    np.log(radius, radius)
    radius *= minus_two
    np.sqrt(radius, radius)
    angle = second * turn
    np.multiply(radius, np.cos(angle), first)
    np.multiply(radius, np.sin(angle, angle), second)
    return multiply_add(units, std, mean)


def tiny_pairs(words: list[int]) -> list[float]:
    """Box-Muller on a few 32-bit words in Python, where calls of NumPy would take longer."""
    flat = iter(words)
    values: list[float] = []
    for a, b, c, d in zip(flat, flat, flat, flat):  # strict=True would take as long as the rest
        angle = ((a & 0x1FFFFF) << 32 | b) * _TURN
        radius = sqrt(-2.0 * log1p(((c & 0x1FFFFF) << 32 | d) * -(2.0**-53)))
        values += (radius * cos(angle), radius * sin(angle))
    return values


def vector_pairs(units: NDArray) -> NDArray:
    """Box-Muller on float64 uniforms, two at a time: ``(angle, radius)`` each."""
    angle = units[0::2] * (2.0 * math.pi)
    radius = np.sqrt(-2.0 * np.log1p(-units[1::2]))
    out = np.empty_like(units)
    np.multiply(radius, np.cos(angle), out=out[0::2])
    np.multiply(radius, np.sin(angle), out=out[1::2])
    return out


def swap_loop(partners: NDArray, count: int) -> NDArray:
    """Swap element i with element ``partners[i]``, for each i in turn."""
    values = list(range(count))
    for i, j in enumerate(partners.tolist()):
        values[i], values[j] = values[j], values[i]
    return np.array(values, np.int64)


def swap_by_links(partners: NDArray, count: int) -> NDArray:
    """``swap_loop`` without a loop over the swaps.

    Step i takes what lies at ``j = partners[i]``: the number j itself, or what the latest
    earlier step with that partner left there, which is what it had found at its own place.
    What step i finds at its own place is, in turn, what the latest earlier step with
    partner i had found at its own. These links lead to ever smaller steps, some three on
    average, and the number at the end of the chain is the value.
    """
    partners = partners.astype(np.intp, copy=False)
    steps = np.arange(len(partners))
    link = np.arange(count)
    link[partners] = steps  # of several steps with one partner the last one stays
    earlier = _same_partner_before(link, partners)
    own = np.flatnonzero(partners == steps)  # a step that is its own partner moves nothing
    link[own] = np.where(earlier[own] < 0, own, earlier[own])
    _follow(link)
    taken = np.flatnonzero(earlier >= 0)
    values = np.append(partners, link[-1])
    values[taken] = link.take(earlier.take(taken))
    return values


def insert_by_links(places: NDArray) -> NDArray:
    """Inside-out shuffle: step i puts number i at ``places[i]`` and moves the number there to i.

    A place holds the last number put there. A place i to which no number was put holds what step i
    moved there: the number put at ``places[i]`` last before step i or, if there is none, what the
    step with the number ``places[i]`` moved there.
    """
    places = places.astype(np.intp, copy=False)
    steps = np.arange(len(places))
    values = np.full(len(places), -1)
    values[places] = steps
    moved = _same_partner_before(values, places)
    link = np.where(moved < 0, places, steps)
    _follow(link)
    kept = np.flatnonzero(values < 0)
    values[kept] = moved.take(link.take(kept))
    return values


def _same_partner_before(latest: NDArray, partners: NDArray) -> NDArray:
    """For each step, the last earlier step with the same partner, or -1.

    Args:
        latest: The last step of each partner.
        partners: The partner of each step.
    """
    latest = latest.copy()
    rest, targets = np.arange(len(partners)), partners
    earlier = np.full(len(partners), -1)
    # Each round finds the last remaining step of each partner and removes it.
    while rest.size:
        losers = latest.take(targets) != rest
        rest, targets = rest.compress(losers), targets.compress(losers)
        earlier[latest[targets]] = rest
        latest[targets] = rest
    return earlier


def _follow(link: NDArray) -> None:
    """Replace each link by the end of its chain, doubling the reach in every round."""
    active = np.flatnonzero(link != np.arange(len(link)))
    while active.size:
        here = link.take(active)
        further = link.take(here)
        moved = further != here
        active = active.compress(moved)
        link[active] = further.compress(moved)


def search_rows(xp: Any, weights: Any, units: Any) -> Any:
    """For each unit, the first index whose cumulative share of the weights is not below it.

    Args:
        xp: Library of the arrays.
        weights: Array of shape ``(rows, n)``, not negative.
        units: Array of shape ``(rows, count)`` in ``[0, 1)``.
    """
    real = np.float64 if weights.dtype == np.float64 else np.float32
    shares = xp.cumsum(weights.astype(real, copy=False), axis=-1)
    shares /= shares[:, -1:]
    low = xp.zeros(units.shape, np.int64)
    high = xp.full(units.shape, weights.shape[-1] - 1)
    for _ in range(weights.shape[-1].bit_length()):
        middle = (low + high) >> 1
        below = xp.take_along_axis(shares, middle, axis=-1) < units
        low = xp.where(below & (low < high), middle + 1, low)
        high = xp.where(below, high, middle)
    return low
