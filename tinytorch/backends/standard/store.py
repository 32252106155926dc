"""Mutable arrays over immutable values: views of a versioned store.

An array is a window (offset, shape, steps) of a ``Store``. A write replaces the value of the store
and increments its version; each view keeps the value that it read, and reads anew if the version
differs. All views of NumPy's are windows, so every library of values gets them from this file.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy

from .array import StandardArray
from .indexing import expand
from .library import Dtype, Raw, Shape, is_dense, row_major

_keys = itertools.count(1)


class Store:
    """Value that is replaced by every write.

    Attributes:
        raw: The value.
        version: Number of writes so far.
        key: Number that no other store has.
        lock: Held while a part of the value is replaced: another thread may replace another part.
        trace: The traced function in which the store was made; see ``ArrayLibrary.trace``.
    """

    __slots__ = ("key", "lock", "raw", "trace", "version")

    def __init__(self, raw: Raw, trace: Any) -> None:
        self.raw: Raw = raw
        self.version: int = 0
        self.key: int = next(_keys)
        self.lock: threading.Lock = threading.Lock()
        self.trace: Any = trace

    def replace(self, raw: Raw) -> None:
        """Replace the value; the caller holds the lock."""
        self.raw = raw  # before the version, which a reader reads first
        self.version += 1


class DerivedStore:
    """Value computed from another array, as its real parts or its bits are.

    It has the version and the key of the store of that array, so that it is a view of it.

    Args:
        source: The array.
        derive: Function that computes the value from the value of ``source``.
        restore: Function of the value of ``source`` and a new value of this store that returns
            the new value of ``source``; None if this store cannot be written.
    """

    __slots__ = ("_derive", "_reading", "_restore", "_source", "key", "lock", "trace")

    def __init__(
        self,
        source: StoredArray,
        derive: Callable[[Raw], Raw],
        restore: Callable[[Raw, Raw], Raw] | None,
    ) -> None:
        self._source, self._derive, self._restore = source, derive, restore
        self.key: int = source.store.key
        self.trace: Any = source.store.trace
        self.lock: threading.Lock = threading.Lock()
        self._reading: tuple[int, Raw] = (-1, None)

    @property
    def version(self) -> int:
        """Version of the store of the source."""
        return self._source.store.version

    @property
    def raw(self) -> Raw:
        """Value, computed anew if the source was written."""
        version, raw = self._reading
        if version != self.version:
            version = self.version
            raw = self._derive(self._source.raw)
            self._reading = version, raw
        return raw

    def replace(self, raw: Raw) -> None:
        """Write to the source; raise RuntimeError if that is impossible."""
        if self._restore is None:
            raise RuntimeError(
                f"arrays of {self._source.library.name} are immutable values, so the bits of one "
                "cannot be written through a view of another dtype (view_as_real, view(dtype)); "
                "write to the original tensor instead"
            )
        self._source.write(self._restore(self._source.raw, raw))


class StoredArray(StandardArray):
    """Window of a ``Store``."""

    __slots__ = ("_reading", "_steps", "base", "dtype", "offset", "shape", "store")

    def __init__(self, raw: Raw, trace: Any = None) -> None:
        library = self.library
        self.store: Store | DerivedStore = Store(raw, library.trace() if trace is None else trace)
        self.offset: int = 0
        self.shape: tuple[int, ...] = tuple(raw.shape)
        self._steps: tuple[int, ...] | None = None  # row-major
        self.dtype: Dtype = library.numpy_dtype(raw.dtype)
        #: Version of the store, and the value of this window then. One tuple, so that two threads
        #: that read a stale view cannot mix their results.
        self._reading: tuple[int, Raw] = (0, raw)
        self.base: Any = None

    @property
    def raw(self) -> Raw:
        """Value of this window."""
        version, raw = self._reading
        if version != self.store.version:
            version = self.store.version  # before the value, which a write replaces first
            raw = self._read(self.store.raw)
            self._reading = version, raw
        return raw

    def steps(self) -> tuple[int, ...]:
        return row_major(self.shape) if self._steps is None else self._steps

    def is_row_major(self) -> bool:
        return self._steps is None or is_dense(self.shape, self._steps)

    # -- views ------------------------------------------------------------------------------

    def _view(
        self, raw: Raw | None, offset: int, shape: tuple[int, ...], steps: tuple[int, ...] | None
    ) -> Self:
        """Window of the same store; ``raw`` is its value, or None to read it when needed."""
        view = object.__new__(self.__class__)
        view.store, view.offset, view.shape, view._steps = self.store, offset, shape, steps
        view.dtype = self.dtype
        view._reading = (-1 if raw is None else self._reading[0]), raw
        view.base = self if self.base is None else self.base
        return view

    def alias(self) -> Self:
        return self._view(self.raw, self.offset, self.shape, self._steps)

    def permute(self, axes: tuple[int, ...]) -> Self:
        raw, steps = self.library.permute(self.raw, axes), self.steps()
        shape = tuple([self.shape[axis] for axis in axes])
        return self._view(raw, self.offset, shape, tuple([steps[axis] for axis in axes]))

    def reshape_to(self, shape: tuple[int, ...]) -> Self:
        raw = self.library.reshape(self.raw, shape)
        if self.is_row_major():
            return self._view(raw, self.offset, shape, None)
        steps = reshaped_steps(self.shape, self.steps(), shape)
        return self.__class__(raw) if steps is None else self._view(raw, self.offset, shape, steps)

    def expand(self, shape: tuple[int, ...]) -> Self:
        lead = len(shape) - self.ndim
        beside = zip(self.shape, shape[lead:], self.steps(), strict=True)
        steps = (0,) * lead + tuple([0 if old != new else step for old, new, step in beside])
        return self._view(self.library.broadcast_to(self.raw, shape), self.offset, shape, steps)

    def window(self, start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> Self:
        return self._view(None, self.offset + start, shape, steps)

    def whole(self) -> Self:
        """View of all elements of the store, in one dimension."""
        return self._view(None, 0, (math.prod(self.store.raw.shape),), None)

    def slice(self, key: tuple[Any, ...]) -> Self:
        steps, offset, dim = self.steps(), self.offset, 0
        shape, kept = [], []
        items = expand(key, self.ndim)
        for at, item in enumerate(items):
            if item is None:
                shape.append(1)
                kept.append(0)
                continue
            if item.__class__ is slice:
                places = range(self.shape[dim])[item]
                items[at] = _as_slice(places, item)
                shape.append(len(places))
                kept.append(steps[dim] * places.step)
                offset += places.start * steps[dim] if len(places) else 0
            else:
                offset += self._check_integer(item, dim) * steps[dim]
            dim += 1
        raw = self.library.slice(self.raw, tuple(items))
        return self._view(raw, offset, tuple(shape), tuple(kept))

    def _check_integer(self, index: int, dim: int) -> int:
        """Return a valid index that is not negative; raise IndexError for any other."""
        size = self.shape[dim]
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for axis {dim} with size {size}")
        return index % size

    def read_at(self, key: tuple[Any, ...]) -> Self:
        return self.__class__(self.library.read_at(self.raw, key))

    def reinterpret(self, dtype: Dtype) -> Self:
        def bits(raw: Raw) -> Raw:
            found = self.library.bitcast(raw, dtype)
            return self.names.view_on_host(raw, dtype) if found is None else found

        return self._derive_view(bits, None)

    def _derive_view(
        self, derive: Callable[[Raw], Raw], restore: Callable[[Raw, Raw], Raw] | None
    ) -> Self:
        """View of a ``DerivedStore`` of this array."""
        store = DerivedStore(self, derive, restore)
        view = object.__new__(self.__class__)
        view.store, view.offset, view.shape = store, 0, tuple(store.raw.shape)
        view._steps, view.dtype = None, self.library.numpy_dtype(store.raw.dtype)
        view._reading = store.version, store.raw
        view.base = self if self.base is None else self.base
        return view

    @property
    def real(self) -> Self:
        """View of the real parts."""
        return self._part("real", "imag", self.names.join_complex)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Self:
        """View of the imaginary parts; of real numbers zeros."""
        return self._part("imag", "real", lambda real, imag: self.names.join_complex(imag, real))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def _part(self, name: str, other: str, join: Callable[[Raw, Raw], Raw]) -> Self:
        """View of one part of complex numbers; ``join`` adds the other part."""
        if self.dtype.kind != "c":
            return self if name == "real" else self.names.zeros_like(self)
        part, rest = (getattr(self.library.namespace, each) for each in (name, other))
        return self._derive_view(part, lambda source, new: join(new, rest(source)))

    # -- memory -----------------------------------------------------------------------------

    def _read(self, root: Raw) -> Raw:
        """Value of the window in a value of the store."""
        library = self.library
        found = WindowPosition.find(self)
        if found is None:
            places = library.from_host(self._places())
            return library.read_places(library.reshape(root, (-1,)), places)
        part = library.slice(library.reshape(root, found.root), found.key)
        part = library.permute(part, found.axes)
        return library.broadcast_to(library.reshape(part, found.narrow), self.shape)

    def _places(self) -> numpy.ndarray[Any, Any]:
        """Places of all elements in the flat store."""
        places = numpy.asarray(self.offset)
        for size, step in zip(self.shape, self.steps(), strict=True):
            places = places[..., None] + numpy.arange(size) * step
        return places

    def write(self, raw: Raw) -> None:
        if tuple(raw.shape) != self.shape:
            while len(raw.shape) > self.ndim and raw.shape[0] == 1:  # as NumPy's assignment
                raw = self.library.reshape(raw, raw.shape[1:])
            raw = self.library.broadcast_to(raw, self.shape)
        if self.size:
            self._replace(raw)

    def _replace(self, raw: Raw) -> None:
        """Replace this window of the store by ``raw``, a value of its shape."""
        self.check_trace()
        store = self.store
        with store.lock:
            root = store.raw
            whole = self._steps is None and self.shape == tuple(root.shape) and not self.offset
            store.replace(raw if whole else self._put(root, raw))
            self._reading = store.version, raw

    def check_trace(self) -> None:
        """Raise RuntimeError if a traced function writes to an array from outside."""
        if self.store.trace != self.library.trace():
            raise RuntimeError(
                f"a function that {self.library.name} traces writes to an array that was made "
                "outside of it: the write would happen once, when the function is traced, and "
                "leave an abstract value behind. Return the new value from the function instead"
            )

    def _put(self, root: Raw, raw: Raw) -> Raw:
        """Return the value of the store with ``raw`` in this window."""
        library = self.library
        found = WindowPosition.find(self)
        if found is None or found.narrow != self.shape:
            places = library.from_host(self._places().reshape(-1))
            flat = library.reshape(raw, (-1,))
            new = library.write_places(library.reshape(root, (-1,)), places, flat)
        else:
            permuted = [found.part[axis] for axis in found.axes]
            part = library.permute(library.reshape(raw, permuted), found.inverse)
            new = library.write_slice(library.reshape(root, found.root), found.key, part)
        return library.reshape(new, tuple(root.shape))

    def write_key(self, key: tuple[Any, ...], raw: Raw) -> None:
        if self._shares_elements():
            self._replace_places(key, raw)
        else:
            self._replace(self.library.write_at(self.raw, key, raw))

    def add_at(self, key: tuple[Any, ...], raw: Raw) -> None:
        self._replace(self.library.add_at(self.raw, key, raw))

    def _shares_elements(self) -> bool:
        """Whether one element of the store is several of the window."""
        pairs = zip(self.shape, self.steps(), strict=True)
        return any(size > 1 and not step for size, step in pairs)

    def _replace_places(self, key: tuple[Any, ...], raw: Raw) -> None:
        """Write the elements at a key alone: others of the window may be the same of the store."""
        library, store = self.library, self.store
        self.check_trace()
        places = library.read_at(library.from_host(self._places()), key)
        values = library.broadcast_to(raw, tuple(places.shape))
        with store.lock:
            root = store.raw
            flat = library.write_places(
                library.reshape(root, (-1,)),
                library.reshape(places, (-1,)),
                library.reshape(values, (-1,)),
            )
            store.replace(library.reshape(flat, tuple(root.shape)))


def _as_slice(places: range, item: slice) -> slice:
    """Return the slice of a range with bounds inside the dimension, which the standard wants."""
    if item.start is item.stop is item.step is None or not len(places):
        return item if len(places) else slice(0, 0)
    stop = places[-1] + (1 if places.step > 0 else -1)
    return slice(places.start, stop if stop >= 0 else None, places.step)


class WindowPosition:
    """Position of a window in its store: a slice of the store in some shape, permuted.

    Attributes:
        root: Shape of the store.
        key: Slices, one per dimension of ``root``.
        part: Shape of that slice.
        axes, inverse: Permutation of the slice to the order of the window, and back.
        narrow: Shape of the permuted slice as the window has it, with size 1 where it is expanded.
    """

    __slots__ = ("axes", "inverse", "key", "narrow", "part", "root")

    def __init__(
        self, root: Shape, slices: Sequence[Any], order: Sequence[int], narrow: Shape
    ) -> None:
        self.root: Shape = tuple(root)
        self.key: tuple[Any, ...] = tuple(slices)
        self.narrow: Shape = tuple(narrow)
        self.part: Shape = tuple([len(range(n)[s]) for n, s in zip(root, slices, strict=True)])
        self.axes: tuple[int, ...] = tuple(order)
        self.inverse: tuple[int, ...] = tuple(sorted(range(len(order)), key=order.__getitem__))

    @staticmethod
    def find(array: StoredArray) -> WindowPosition | None:
        """Return the position of a window in its store, or None if it is not a slice of it.

        The store is reshaped so that each dimension of the window is a slice of one of its
        dimensions. Their sizes are the quotients of the store's size and the steps, in descending
        order, and the last step. For example, a window of shape (3, 2), steps (4, 1) and offset 1
        in 12 elements is ``store.reshape(3, 4, 1)[0:3, 1:3, 0:1]``.
        """
        steps, shape = array.steps(), array.shape
        if not array.size or any(step < 0 for step in steps):
            return None
        dims = [d for d in range(len(shape)) if shape[d] != 1 and steps[d]]
        dims.sort(key=lambda d: -steps[d])
        narrow = [1 if not steps[d] else shape[d] for d in range(len(shape))]
        total, rest = math.prod(array.store.raw.shape), array.offset
        root, slices = [], []
        for d in dims:
            span = steps[d]
            first, rest = divmod(rest, span)
            if total % span or first + shape[d] > total // span:
                return None
            root.append(total // span)
            slices.append(slice(first, first + shape[d]))
            total = span
        root.append(total)
        slices.append(slice(rest, rest + 1))
        order = [dims.index(d) for d in range(len(shape)) if d in dims]
        return WindowPosition(root, slices, [*order, len(dims)], narrow)


def reshaped_steps(
    shape: tuple[int, ...], steps: tuple[int, ...], new: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return the steps of a reshaped window; None if it needs a copy.

    Dimensions that are adjacent in memory are merged, and split again by the new shape.
    """
    if 0 in shape:
        return None
    old = [(n, s) for n, s in zip(shape, steps, strict=True) if n != 1]
    out: list[int] = [0] * len(new)
    at = len(new) - 1
    while old:
        n, s = old.pop()
        size = n
        while old and old[-1][1] == size * s:
            size *= old.pop()[0]
        covered = 1
        while at >= 0 and covered < size:
            out[at] = covered * s
            covered *= new[at]
            at -= 1
        if covered != size:
            return None
    following = 1
    for d in reversed(range(len(new))):  # dimensions of size 1 take the step of the next
        if out[d] == 0 or new[d] == 1:
            out[d] = following
        following = out[d] * new[d]
    return tuple(out)
