"""PyTorch's CPU random streams over NumPy: one seed, one sequence of numbers.

The engine, in ``words.py``, is the 32-bit Mersenne Twister seeded as ``numpy.random.RandomState``
seeds it. What makes the numbers PyTorch's is how many words each distribution takes and what it
does with them:

=====================  ===========================================================
draw                   words and formula
=====================  ===========================================================
uniform, float64       2 words ``(hi, lo)``: the low 53 bits times 2**-53
uniform, others        1 word: the low 24 bits times 2**-24, then rounded
normal, 16 or more     uniforms in blocks of 16: 8 radii and 8 angles, Box-Muller;
                       the last incomplete block takes 16 fresh uniforms
normal, otherwise      float64 pairs, Box-Muller; the second value waits for the next call
integer                1 word modulo the range, 2 words if the range is 2**28 or more
everything else        float64 uniforms through the inverse distribution function
=====================  ===========================================================

References:
    Box and Muller, "A note on the generation of random normal deviates" (1958).
    Knuth, "The Art of Computer Programming" vol. 2, 3.4.2, algorithm P (shuffling).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes
from .formulas import (
    BLOCK,
    NDArray,
    blocks,
    box_muller,
    cast,
    insert_by_links,
    largest_integer,
    low24,
    modulo,
    multiply_add,
    real_dtype,
    search_rows,
    swap_by_links,
    swap_loop,
    tiny_pairs,
    vector_pairs,
    word,
)
from .words import DEFAULT_SEED, FEW_WORDS, MASK53, Words

if TYPE_CHECKING:
    from ..base import Array

#: Up to so many words are taken modulo a number at once.
_FEW = 256
#: From this range on an integer takes two words, to keep the modulo's skew small.
_WIDE_RANGE = 1 << 28
#: From this length on a permutation inserts elements, taking two words for each.
_LONG_PERMUTATION = (2**32 - 1) // 20
#: Up to this length a loop of swaps is quicker than the vectorised form.
_SHORT_PERMUTATION = 1000
#: Up to this many normals Python's own mathematics beats calls into NumPy.
_TINY_NORMAL = 24
NO_CHANCE = "bernoulli: Expected p_in >= 0 && p_in <= 1 to be true for all p"
_FLOAT32 = np.dtype(np.float32)
_INT64 = np.dtype(np.int64)


class TorchMT19937(Words):
    """A random engine on the host; every draw holds its lock.

    Args:
        seed: Any integer; the low 64 bits are kept, the low 32 bits decide the stream.
    """

    #: What computes with arrays that are given.
    _library: Any = np

    def _place(self, array: NDArray) -> Array:
        """Convert a drawn array to one of the backend."""
        return array

    def _fetch(self, array: Array) -> NDArray:
        """Convert an array of the backend to a NumPy array."""
        return array  # type: ignore[no-any-return]

    def _check_all(self, valid: Array, message: str) -> None:
        """Raise RuntimeError unless every element is True."""
        if not valid.all():
            raise RuntimeError(message)

    # -- uniform and normal -----------------------------------------------------------

    def uniform(
        self, shape: Sequence[int], dtype: Any, low: float = 0.0, high: float = 1.0
    ) -> Array:
        """Uniform numbers in ``[low, high)``, in C order.

        A value that rounds to ``high`` becomes ``low``, as in PyTorch.
        """
        if dtype == _FLOAT32 and low == 0 and high == 1:
            if math.prod(shape) > FEW_WORDS:
                return self._place(self._fill(shape, _FLOAT32, self._unit32))
            with self._lock:
                words = self._bits.random_raw(shape)
            return self._place(low24(words))
        dtype = np.dtype(dtype)
        if dtype.kind == "c":
            parts = self._uniform((*shape, 2), real_dtype(dtype), low, high)
            return self._place(parts.view(dtype)[..., 0])
        return self._place(self._uniform(shape, dtype, low, high))

    def _uniform(self, shape: Sequence[int], dtype: Any, low: float, high: float) -> NDArray:
        """``uniform`` for a real dtype: 53 random bits for float64, else 24."""
        wide = dtype == np.float64
        real = np.float64 if wide else np.float32
        start, stop = real(low), real(high)
        scale = stop - start
        unit = self._unit64 if wide else self._unit32
        if start == 0 and scale == 1 and dtype.itemsize >= 4:
            return self._fill(shape, dtype, unit)

        def draw(count: int) -> NDArray:
            values = cast(multiply_add(unit(count), float(scale), float(start)), dtype)
            values[values >= stop.astype(dtype)] = start
            return values

        return self._fill(shape, dtype, draw)

    def normal(
        self,
        shape: Sequence[int],
        dtype: Any,
        mean: float = 0.0,
        std: float = 1.0,
        contiguous: bool = True,
    ) -> Array:
        """Normal numbers, in C order.

        Args:
            shape: Any shape.
            dtype: A float dtype, or a complex one, whose parts get ``std / sqrt(2)``.
            mean: The mean; of both parts if ``dtype`` is complex, as in PyTorch.
            std: The standard deviation.
            contiguous: Whether the numbers go to a contiguous tensor: PyTorch fills others
                by pairs, whatever their size.
        """
        dtype = np.dtype(dtype)
        if mean == 0 and std == 1 and contiguous and dtype.char in "fd":
            return self._place(self._standard_normal(shape, dtype))
        if dtype.kind == "c":
            parts = self._normal(
                (*shape, 2), real_dtype(dtype), mean, std / math.sqrt(2.0), contiguous
            )
            return self._place(parts.view(dtype)[..., 0])
        return self._place(self._normal(shape, dtype, mean, std, contiguous))

    def _standard_normal(self, shape: Sequence[int], dtype: Any) -> NDArray:
        """``_normal`` with mean 0 and variance 1; few numbers are drawn in fewer steps."""
        count = math.prod(shape)
        with self._lock:
            if 0 < count < 16 and not count % 2 and self._pending is None:
                values = tiny_pairs(self._bits.random_raw(2 * count).tolist())
                return np.array(values, dtype).reshape(shape)
            if 0 < count <= BLOCK and not count % 16:
                units = self._unit64(count) if dtype.char == "d" else self._unit32(count)
                return box_muller(units, 0.0, 1.0).reshape(shape)
        return self._normal(shape, dtype, 0.0, 1.0, True)

    def _normal(
        self, shape: Sequence[int], dtype: Any, mean: float, std: float, contiguous: bool
    ) -> NDArray:
        """``normal`` for a real dtype, by one of PyTorch's two algorithms.

        Fewer than 16 numbers, and those of a tensor that is not contiguous, are drawn in pairs.
        Other numbers are drawn in blocks of 16; the last block overlaps the one before it.
        """
        count = math.prod(shape)
        if 0 < count < 16:
            with self._lock:
                pairs = self._normal_pairs(count, mean, std)
            return cast(pairs, dtype).reshape(shape)
        if not count or not contiguous:
            return self._fill(shape, dtype, lambda n: self._normal_pairs(n, mean, std))
        unit = self._unit64 if dtype == np.float64 else self._unit32
        whole = count // 16 * 16
        # The incomplete block's own words are drawn and dropped, but not for float16.
        dropped = count - whole if dtype.itemsize > 2 else 0
        out = np.empty(count, dtype)
        with self._lock:
            for start, stop in blocks(whole):
                last = stop == whole != count
                units = unit(stop - start + (dropped + 16 if last else 0))
                if last and dropped:
                    units = np.concatenate([units[: stop - start], units[-16:]])
                values = box_muller(units, mean, std)
                out[start:stop] = cast(values[: stop - start], dtype)
                if last:
                    out[-16:] = cast(values[-16:], dtype)
        return out.reshape(shape)

    def _normal_pairs(self, count: int, mean: float, std: float) -> NDArray:
        """float64 normals, drawn in pairs; the last one of a pair may wait for the next call."""
        waiting = [] if self._pending is None or count == 0 else [self._pending]
        fresh = count - len(waiting)
        uniforms = (fresh + 1) // 2 * 2
        if count <= _TINY_NORMAL:
            values = waiting + tiny_pairs(self._bits.random_raw(2 * uniforms).tolist())
            pairs = np.array(values, np.float64)
        else:
            pairs = np.concatenate([waiting, vector_pairs(self._unit64(uniforms))])
        if count:
            self._pending = float(pairs[-1]) if fresh % 2 else None
        return multiply_add(pairs[:count], std, mean)

    # -- integers ---------------------------------------------------------------------

    def integers(self, low: int, high: int, shape: Sequence[int], dtype: Any) -> Array:
        """Integers in ``[low, high)``, in C order, as any dtype that can hold them."""
        extent = high - low
        if math.prod(shape) <= _FEW and extent < _WIDE_RANGE:
            with self._lock:
                words = self._bits.random_raw(shape)
            words %= word(extent)
            numbers = words.view(_INT64)
            if low:
                numbers += low
            if dtype is not _INT64:
                numbers = cast(numbers, dtype)
            return self._place(numbers)

        def draw(count: int) -> NDArray:
            if extent >= 2**64:
                return self._double_words(count).view(np.int64)
            if extent >= _WIDE_RANGE:
                wide = modulo(self._double_words(count), extent)
                return (wide + np.uint64(low % 2**64)).view(np.int64)
            narrow = modulo(self._words(count), extent).astype(np.int64)
            narrow += low
            return narrow

        return self._place(self._fill(shape, dtype, draw))

    def bits(self, shape: Sequence[int], dtype: Any) -> Array:
        """Integers from 0 to the largest that ``dtype`` represents, as in ``random_``.

        For a float dtype it is the largest up to which all integers are represented, for bool 1.
        """
        dtype = np.dtype(dtype)
        if dtype.kind in "fV":
            top = round(2 / dtypes.finfo(dtype.name).eps)
        else:
            top = largest_integer(dtype)
        wide = dtype.itemsize == 8

        def draw(count: int) -> NDArray:
            words = self._double_words(count) if wide else self._words(count)
            return modulo(words, top + 1)

        return self._place(self._fill(shape, dtype, draw))

    def permutation(self, count: int, dtype: Any = np.int64) -> Array:
        """The numbers from 0 to ``count - 1``, shuffled; shape ``(count,)``."""
        if count >= _LONG_PERMUTATION:
            with self._lock:
                words = self._double_words(count)
            words %= np.arange(1, count + 1, dtype=np.uint64)
            return self._place(insert_by_links(words.view(np.int64)).astype(dtype, copy=False))
        with self._lock:
            words = self._words(max(count - 1, 0))
        words %= np.arange(count, 1, -1, dtype=np.uint32)
        partners = words.astype(np.int64)
        partners += np.arange(len(words))
        shuffle = swap_loop if count <= _SHORT_PERMUTATION else swap_by_links
        return self._place(shuffle(partners, count).astype(dtype, copy=False))

    # -- through the inverse distribution function -----------------------------------------

    def bernoulli(self, p: float | Array, shape: Sequence[int], dtype: Any) -> Array:
        """Ones with probability ``p``: a number, or an array of shape ``shape``.

        An array that is not float64 takes one word an element, everything else two.

        Raises:
            RuntimeError: If an element of an array is not in ``[0, 1]``.
        """
        if isinstance(p, (int, float)):
            # The number k * 2**-53 is below p if the integer k is below this bound.
            bound = word(math.ceil(math.ldexp(p, 53)))

            def draw(count: int) -> NDArray:
                words = self._double_words(count)
                words &= MASK53
                return words < bound

            return self._place(self._fill(shape, dtype, draw))
        chances = self._fetch(p)
        if not ((chances >= 0) & (chances <= 1)).all():
            raise RuntimeError(NO_CHANCE)
        return self._place((self._units_for(chances, shape) < chances).astype(dtype))

    def _units_for(self, chances: Array, shape: Sequence[int]) -> NDArray:
        """float64 numbers from ``[0, 1)``, one for each chance, drawn at its precision."""
        unit = self._unit64 if chances.dtype == np.float64 else self._unit32
        with self._lock:
            return self._fill(shape, np.float64, unit)

    def exponential(self, shape: Sequence[int], dtype: Any, rate: float = 1.0) -> Array:
        """Exponential numbers: ``-log(1 - u) / rate``."""

        def draw(count: int) -> NDArray:
            return np.log1p(-self._unit64(count)) * (-1.0 / rate)

        with np.errstate(over="ignore"):
            return self._place(self._fill(shape, dtype, draw))

    def geometric(self, shape: Sequence[int], dtype: Any, p: float) -> Array:
        """Trials until the first success: ``ceil(log(u) / log(1 - p))``, at least 1."""

        def draw(count: int) -> NDArray:
            trials = np.log(self._unit64(count))
            trials /= math.log1p(-p)
            return np.ceil(trials, out=trials)

        with np.errstate(divide="ignore", over="ignore"):
            return self._place(self._fill(shape, dtype, draw))

    def cauchy(
        self, shape: Sequence[int], dtype: Any, median: float = 0.0, sigma: float = 1.0
    ) -> Array:
        """Cauchy numbers: ``median + sigma * tan(pi * (u - 1/2))``."""

        def draw(count: int) -> NDArray:
            return median + sigma * np.tan(np.pi * (self._unit64(count) - 0.5))

        with np.errstate(over="ignore"):
            return self._place(self._fill(shape, dtype, draw))

    def log_normal(
        self, shape: Sequence[int], dtype: Any, mean: float = 1.0, std: float = 2.0
    ) -> Array:
        """Exponentials of normal numbers with this mean and standard deviation."""
        with np.errstate(over="ignore"):
            return self._place(
                self._fill(shape, dtype, lambda n: np.exp(self._normal_pairs(n, mean, std)))
            )

    def poisson(self, rates: Array) -> Array:
        """Numbers of events, in C order, one for each rate; RuntimeError for a negative rate."""
        host = self._fetch(rates)
        if not (host >= 0).all():
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
        return self._place(self._one_by_one("poisson", host))

    def binomial(self, counts: Array, chances: Array) -> Array:
        """Numbers of successes, in C order, one for each number of trials and chance."""
        host = np.broadcast_arrays(self._fetch(counts), self._fetch(chances))
        return self._place(self._one_by_one("binomial", *host))

    def standard_gamma(self, shapes: Array) -> Array:
        """Gamma numbers of rate 1, in C order, one for each shape."""
        return self._place(self._one_by_one("standard_gamma", self._fetch(shapes)))

    def _one_by_one(self, sampler: str, *parameters: NDArray) -> NDArray:
        """Call a sampler of ``discrete_samplers`` for each element of the parameters.

        The result has their common shape and the dtype of the first one.
        """
        from . import discrete_samplers

        rows = zip(*(p.ravel().tolist() for p in parameters), strict=True)
        with self._lock:
            units = discrete_samplers.Units(self._unit64, self._bits)
            normals = discrete_samplers.Normals(units, self._pending)
            number: Any = getattr(discrete_samplers, sampler)
            source = normals if sampler == "standard_gamma" else units
            try:
                values = [number(source, *row) for row in rows]
            finally:
                units.give_back()
                self._pending = normals.pending
        return np.array(values, np.float64).astype(parameters[0].dtype).reshape(parameters[0].shape)

    def multinomial(self, weights: Array, count: int, replacement: bool = False) -> Array:
        """Indices drawn by weight, int64 of shape ``(*batch, count)``.

        Args:
            weights: ``(n,)`` or ``(batch, n)``, at least 0, not all 0 in a row.
            count: How many; at most ``n`` without replacement.
            replacement: Whether an index may come twice.

        Raises:
            RuntimeError: If a weight is negative or not finite, or a row is all zero.
        """
        xp = self._library
        valid = (weights >= 0) & (weights < math.inf)
        self._check_all(valid, "probability tensor contains either `inf`, `nan` or element < 0")
        positive = (weights > 0).any(-1)
        self._check_all(positive, "invalid multinomial distribution (sum of probabilities <= 0)")
        if replacement and count > 1:
            rows = weights.reshape(-1, weights.shape[-1])
            units = self._place(self._fill((len(rows), count), np.float64, self._unit64))
            return search_rows(xp, rows, units).reshape(*weights.shape[:-1], count)
        # Efraimidis and Spirakis (2006): the largest of w / Exp(1) are a weighted sample.
        clocks = self._fill(weights.shape, weights.dtype, lambda n: -np.log1p(-self._unit64(n)))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            keys = weights / self._place(clocks)
        return xp.argsort(-keys, axis=-1, kind="stable")[..., :count].astype("int64", copy=False)


if TYPE_CHECKING:
    from ..base import Array, Backend


class HostGenerator(TorchMT19937):
    """Generator for backends without one of their own. It draws on the host and copies.

    One seed therefore gives the same values on every backend. Draws that are only compared or
    sorted with given arrays are processed on the device of these arrays. Distributions with
    parameters that are read one by one copy the parameters to the host.
    """

    def __init__(self, backend: Backend, seed: int = DEFAULT_SEED) -> None:
        self._backend = backend
        super().__init__(seed)

    @property
    def _library(self) -> Any:
        return self._backend.library

    def bernoulli(self, p: float | Array, shape: Sequence[int], dtype: Any) -> Array:
        """See ``TorchMT19937``. An array of probabilities is compared on its own device."""
        if isinstance(p, (int, float)):
            return super().bernoulli(p, shape, dtype)
        self._check_all((p >= 0) & (p <= 1), NO_CHANCE)
        return (self._place(self._units_for(p, shape)) < p).astype(dtype)

    def _check_all(self, valid: Array, message: str) -> None:
        self._backend.check_all(valid, message)

    def _place(self, array: NDArray) -> Array:
        return self._backend.from_numpy(array)

    def _fetch(self, array: Array) -> NDArray:
        return self._backend.to_numpy(array)
