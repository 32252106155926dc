"""The Mersenne Twister: its seed, its state in PyTorch's layout, its words as fractions.

Reference:
    Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998).
"""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .formulas import BLOCK, UNIT24, NDArray, blocks, cast, low24

#: Seed of a generator before ``manual_seed``.
DEFAULT_SEED = 67280421310721
#: Bytes of a state in PyTorch's layout.
STATE_SIZE = 5056

_WORDS = 624
_HEADER = struct.Struct("<QiiQ")
_NORMALS = struct.Struct("<dddi4x")
_KEY_BYTES = _WORDS * 8
#: Below this many words one raw call beats the array fill, which costs 5 us to start.
FEW_WORDS = 4096
_WORD = 2**32
MASK53 = np.array(2**53 - 1, np.uint64)
_SHIFT = np.uint64(32)


class Words:
    """The words of one stream, which may be read from several threads.

    Args:
        seed: Any integer; the low 64 bits are kept, the low 32 bits decide the stream.
    """

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = threading.RLock()
        self._twister = np.random.MT19937(0)
        self._legacy = np.random.RandomState(self._twister)
        #: The state as ``snapshot`` returned it, until the stream moves: NumPy needs 30 us to read
        #: a state.
        self._snapshot: tuple[Any, ...] | None = None
        self.manual_seed(seed)

    @property
    def _bits(self) -> np.random.MT19937:
        """NumPy's generator of words, about to be drawn from."""
        self._snapshot = None
        return self._twister

    @property
    def _random(self) -> np.random.RandomState:
        """NumPy's legacy generator over the same words, about to be drawn from or seeded."""
        self._snapshot = None
        return self._legacy

    # -- seed and state -------------------------------------------------------------

    def manual_seed(self, seed: int) -> None:
        """Restart the stream at ``seed``."""
        with self._lock:
            self._seed = seed % 2**64
            self._random.seed(self._seed % _WORD)
            self._pending: float | None = None
            self._seeded_key: NDArray | None = None

    def initial_seed(self) -> int:
        """The seed of the present stream, in ``[0, 2**64)``."""
        return self._seed

    def get_state(self) -> NDArray:
        """The state as 5056 bytes, which ``torch.set_rng_state`` also reads."""
        with self._lock:
            words = self._legacy.get_state(legacy=False)["state"]
            key, position = words["key"], words["pos"]
            fresh = position == _WORDS and self._is_seeded_key(key)
            header = _HEADER.pack(self._seed, _WORDS + 1 - position, 1, 0 if fresh else position)
            pending = self._pending
        normals = _NORMALS.pack(0.0, pending or 0.0, 0.0, pending is not None)
        raw = header + key.astype("<u8").tobytes() + normals
        return np.frombuffer(raw.ljust(STATE_SIZE, b"\0"), np.uint8).copy()

    def set_state(self, state: NDArray) -> None:
        """Continue from what ``get_state`` or ``torch.get_rng_state`` returned.

        Raises:
            RuntimeError: The size is not 5056 or the bytes are no state.
        """
        raw = np.ascontiguousarray(state).tobytes()
        if len(raw) != STATE_SIZE:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_SIZE} but found the input "
                f"RNG state size to be {len(raw)}"
            )
        seed, left, seeded, following = _HEADER.unpack_from(raw)
        if not (seeded == 1 and 0 < left <= _WORDS and following <= _WORDS):
            raise RuntimeError("Invalid mt19937 state")
        key = np.frombuffer(raw, "<u8", _WORDS, _HEADER.size).astype(np.uint32)
        _, pending, _, is_pending = _NORMALS.unpack_from(raw, _HEADER.size + _KEY_BYTES)
        with self._lock:
            self._seed, self._seeded_key = seed, None
            position = _WORDS if left == 1 else following
            self._random.set_state(("MT19937", key, position, 0, 0.0))
            self._pending = pending if is_pending else None

    def snapshot(self) -> tuple[Any, ...]:
        """The state in the form that ``rewind`` reads, at less cost than ``get_state``."""
        with self._lock:
            if self._snapshot is None:
                state = self._twister.state
                self._snapshot = state, self._seed, self._seeded_key, self._pending
            return self._snapshot

    def rewind(self, snapshot: tuple[Any, ...]) -> None:
        """Continue from what ``snapshot`` returned."""
        with self._lock:
            if self._snapshot is not snapshot:
                self._twister.state, self._seed, self._seeded_key, self._pending = snapshot
                self._snapshot = snapshot

    def has_moved(self, snapshot: tuple[Any, ...]) -> bool:
        """Whether the stream was drawn from, or seeded, since ``snapshot``."""
        return self._snapshot is not snapshot

    def _is_seeded_key(self, key: NDArray) -> bool:
        """Whether ``key`` is the generator's state as the seed sets it, before the first draw."""
        # PyTorch writes position 0, not 624, before the first word of a stream is drawn.
        if self._seeded_key is None:
            seeded = np.random.RandomState(self._seed % _WORD).get_state(legacy=False)
            self._seeded_key = seeded["state"]["key"]
        return np.array_equal(key, self._seeded_key)

    # -- words ----------------------------------------------------------------------

    def _words(self, count: int) -> NDArray:
        """``count`` words of 32 bits."""
        if count <= FEW_WORDS:
            return self._bits.random_raw(count).astype(np.uint32)
        return self._random.randint(0, _WORD, size=count, dtype=np.uint32)

    def _double_words(self, count: int) -> NDArray:
        """``count`` words of 64 bits, each of two words of which the first is the upper half."""
        if 2 * count <= FEW_WORDS:
            raw = self._bits.random_raw(2 * count)
            return raw[0::2] << _SHIFT | raw[1::2]
        pairs = self._words(2 * count).astype("<u4", copy=False).view("<u8")
        low = pairs >> _SHIFT
        pairs <<= _SHIFT
        pairs |= low
        return pairs

    def _unit32(self, count: int) -> NDArray:
        """float32 numbers in ``[0, 1)``, each from 24 bits of one word."""
        if count <= FEW_WORDS:
            return low24(self._bits.random_raw(count))
        words = self._words(count)
        words &= np.uint32(2**24 - 1)
        units = words.view(np.int32).astype(np.float32)
        units *= UNIT24
        return units

    def _unit64(self, count: int) -> NDArray:
        """float64 numbers in ``[0, 1)``, each from 53 bits of two words."""
        words = self._double_words(count)
        words &= MASK53
        units = words.view(np.int64).astype(np.float64)
        units *= 2.0**-53
        return units

    def _fill(self, shape: Sequence[int], dtype: Any, draw: Callable[[int], NDArray]) -> NDArray:
        """Array of ``shape`` and ``dtype``, filled block by block with ``draw(count)``."""
        count = math.prod(shape)
        with self._lock:
            if count <= BLOCK:
                return cast(draw(count), dtype).reshape(shape)
            out = np.empty(count, dtype)
            for start, stop in blocks(count):
                out[start:stop] = cast(draw(stop - start), dtype)
        return out.reshape(shape)
