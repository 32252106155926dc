"""Arrays of another backend as arrays of NumPy's while a function is recorded.

A function is recorded on NumPy's arrays, whatever the backend of its tensors is. For another
backend the memory of each array that is read is copied to the host, and views of it are views of
the copy. After the recording, what was written is written back, and arrays that the function made
become arrays of the backend, with the same views.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

import numpy

from ..backends.standard.backend import OWN_DRAWS, StandardBackend
from ..backends.standard.store import Store, StoredArray
from ..backends.storage import flat_order
from ..state import bind
from .traced_memory import address, byte_bounds, change_owner, map_tree, memory_id, root_of

#: Ids of arrays that are inputs of their own, although they share memory with others.
SEPARATE: ContextVar[frozenset[int]] = ContextVar("separate", default=frozenset())


class HostCopies:
    """Copies of the memory that a function reads, for one recording. NumPy's arrays need none.

    Args:
        backend: The backend of the function's tensors.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._types = numpy.ndarray, backend.array_type
        #: By a number of the memory: the array of all of it, its copy, and the copy as it was.
        self._copies: dict[int, tuple[Any, Any, Any]] = {}
        #: Views of the copies by the id of the array; the array is listed to keep its id.
        self._views: dict[int, tuple[Any, Any]] = {}
        #: By the id of an array of NumPy's that owns memory: that array, and the backend's.
        self._made: dict[int, tuple[Any, Any]] = {}

    def is_array(self, data: Any) -> bool:
        """Whether an object is an array of NumPy's or of the backend."""
        return isinstance(data, self._types)

    def copy_all(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the arrays of NumPy's for the arrays of the listed tensors."""
        return [self.copy(array) for array in arrays]

    def copy(self, array: Any) -> Any:
        """Return the array of NumPy's for an array; one of NumPy's is returned as it is."""
        if isinstance(array, numpy.ndarray):
            return array
        found = self._views.get(id(array))
        if found is None:
            view = self._make_view(array)
            if id(array) in SEPARATE.get():
                view = change_owner(view)
                self._made[id(view)] = view, array
            found = self._views[id(array)] = array, view
        return found[1]

    def owner(self, array: Any) -> Any:
        """Return the backend's array for the array of NumPy's that owns the memory of a copy."""
        root = root_of(self.copy(array))
        return self._made[id(root)][1] if id(root) in self._made else root

    def _make_view(self, array: Any) -> Any:
        """Return a view of the copy of the memory of an array."""
        return array

    def draw(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a method of a random engine of the backend; return its result on the host.

        Args:
            function: The method.
            args: Its arguments, with arrays of NumPy's.
            kwargs: Its further arguments.
        """
        return function(*args, **kwargs)

    def write_back(self) -> None:
        """Write to the backend's arrays what the function wrote to their copies."""
        for root, host, before in self._copies.values():
            if host.tobytes() != before.tobytes():
                self._write(root, host)

    def _write(self, root: Any, host: Any) -> None:
        """Write a copy to the array of the backend."""
        raise NotImplementedError

    def restore(self, array: Any) -> Any:
        """Return the array of the backend for one of NumPy's, with the same memory for views."""
        return array


class StoredCopies(HostCopies):
    """Copies of arrays of a backend of immutable values."""

    def _make_view(self, array: Any) -> Any:
        if not isinstance(array.store, Store):
            raise NotImplementedError("a view of real or imaginary parts, or of bits, is recorded")
        root = root_of(array)
        if id(root) not in self._copies:
            before = numpy.asarray(root.library.to_host(root.raw))
            host = numpy.array(before, order="C")
            self._copies[id(root)] = root, host, before
            self._made[id(host)] = host, root
        host = self._copies[id(root)][1]
        if array.offset == 0 and array.shape == host.shape and array.strides == host.strides:
            return host
        flat = host.reshape(-1)[array.offset :]
        return numpy.lib.stride_tricks.as_strided(flat, array.shape, array.strides)

    def draw(self, function: Any, args: Any, kwargs: Any) -> Any:
        with bind(OWN_DRAWS, True):
            result = function(*map_tree(self.restore, args), **map_tree(self.restore, kwargs))
        return numpy.array(result.host()) if isinstance(result, StoredArray) else result

    def _write(self, root: Any, host: Any) -> None:
        root.write(root.library.from_host(host))

    def restore(self, array: Any) -> Any:
        if not isinstance(array, numpy.ndarray):
            return array
        root: Any = root_of(array)
        is_made = id(root) in self._made
        if root.dtype != array.dtype or not (is_made or root.flags.c_contiguous):
            return self._backend.from_numpy(array)
        if not is_made:
            self._made[id(root)] = root, self._backend.from_numpy(root)
        whole = self._made[id(root)][1]
        if array.shape == root.shape and array.strides == root.strides:
            return whole
        size = array.itemsize
        steps = tuple([step // size for step in array.strides])
        return whole.window((address(array) - address(root)) // size, array.shape, steps)


class DeviceCopies(HostCopies):
    """Copies of arrays of a device whose memory has addresses, as CuPy's.

    Of an allocation that part is copied which the listed tensors span: a batch may be a view of a
    large set of data.
    """

    def __init__(self, backend: Any) -> None:
        super().__init__(backend)
        #: By the number of an allocation the addresses of the listed arrays in it.
        self._bounds: dict[int, tuple[int, int]] = {}

    def copy_all(self, arrays: Sequence[Any]) -> list[Any]:
        for array in arrays:
            if not isinstance(array, numpy.ndarray):
                key, (low, high) = memory_id(array), self._bounds_of(array)
                start, stop = self._bounds.get(key, (low, high))
                self._bounds[key] = min(low, start), max(high, stop)
        return super().copy_all(arrays)

    def _bounds_of(self, array: Any) -> tuple[int, int]:
        return byte_bounds(array, self._backend.address(array))

    def _make_view(self, array: Any) -> Any:
        if not array.size:
            host = numpy.empty(array.shape, array.dtype)
            self._made[id(host)] = host, array
            return host
        key, at = memory_id(array), self._backend.address(array)
        low, high = self._bounds_of(array)
        start, stop = self._bounds.setdefault(key, (low, high))
        if low < start or high > stop:
            raise NotImplementedError("memory of which another part is recorded")
        if key not in self._copies:
            dtype = array.dtype if (stop - start) % array.itemsize == 0 else numpy.dtype("uint8")
            size = (stop - start) // dtype.itemsize
            whole = self._backend.library.ndarray((size,), dtype, array.data + (start - at))
            host = self._backend.to_numpy(whole)
            self._copies[key] = whole, host, host.copy()
            self._made[id(host)] = host, whole
        host = self._copies[key][1]
        return numpy.ndarray(array.shape, array.dtype, host, at - start, array.strides)

    def draw(self, function: Any, args: Any, kwargs: Any) -> Any:
        result = function(*map_tree(self.restore, args), **map_tree(self.restore, kwargs))
        is_array = isinstance(result, self._backend.array_type)
        return self._backend.to_numpy(result) if is_array else result

    def _write(self, root: Any, host: Any) -> None:
        root.set(host)

    def restore(self, array: Any) -> Any:
        if not isinstance(array, numpy.ndarray):
            return array
        root: Any = root_of(array)
        if id(root) not in self._made:
            flat = flat_order(root)
            if flat is None or not array.size:
                return self._backend.from_numpy(array)
            self._made[id(root)] = root, self._backend.from_numpy(flat)
        offset = address(array) - address(root)
        whole = self._made[id(root)][1]
        return view_memory(self._backend, whole, array.shape, array.strides, offset, array.dtype)


def view_memory(
    backend: Any, array: Any, shape: Sequence[int], strides: Sequence[int], offset: int, dtype: Any
) -> Any:
    """Return a view of the memory of an array of a device.

    Args:
        backend: The backend.
        array: The array.
        shape: The shape of the view.
        strides: Its strides in bytes.
        offset: Bytes from the first element of ``array`` to that of the view.
        dtype: The dtype of the view.
    """
    if not math.prod(shape):
        return backend.library.empty(shape, dtype)
    first = backend.library.ndarray((1,), dtype, array.data + offset)
    return backend.as_strided(first, shape, strides)


def make_copies(backend: Any) -> HostCopies:
    """Return the copies for a recording of functions of a backend's tensors."""
    if isinstance(backend, StandardBackend):
        return StoredCopies(backend)
    return DeviceCopies(backend) if backend.engine else HostCopies(backend)
