"""Arrays of a backend of immutable values as arrays of NumPy's while a function is recorded.

A function is recorded on NumPy's arrays, whatever the backend of its tensors is. For another
backend the memory of each array that is read is copied to the host, and views of it are views of
the copy. After the recording, what was written is written back, and arrays that the function made
become arrays of the backend, with the same views.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy

from ..backends.standard.backend import OWN_DRAWS, StandardBackend
from ..backends.standard.store import Store, StoredArray
from .traced_memory import map_tree, root_of, change_owner

#: Ids of arrays that are inputs of their own, although they share memory with others.
SEPARATE: ContextVar[frozenset[int]] = ContextVar("separate", default=frozenset())


class HostCopies:
    """Copies of the memory that a function reads, for one recording.

    Args:
        backend: The backend of the function's tensors.
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        #: By the id of the array that owns memory: that array, its copy, and the copy as it was.
        self._copies: dict[int, tuple[Any, Any, Any]] = {}
        #: Views of the copies by the id of the array; the array is listed to keep its id.
        self._views: dict[int, tuple[Any, Any]] = {}
        #: By the id of an array of NumPy's that owns memory: that array, and the backend's.
        self._made: dict[int, tuple[Any, Any]] = {}

    def copy(self, array: Any) -> Any:
        """Return the array of NumPy's for an array; one of NumPy's is returned as it is."""
        if not isinstance(array, StoredArray):
            return array
        found = self._views.get(id(array))
        if found is None:
            view = self._make_view(array)
            if id(array) in SEPARATE.get():
                view = change_owner(view)
                self._made[id(view)] = view, array
            found = self._views[id(array)] = array, view
        return found[1]

    def _make_view(self, array: Any) -> Any:
        """Return a view of the copy of the memory of an array."""
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
        """Call a method of a random engine of the backend; return its result on the host.

        Args:
            function: The method.
            args: Its arguments, with arrays of NumPy's.
            kwargs: Its further arguments.
        """
        if not isinstance(self._backend, StandardBackend):
            return function(*args, **kwargs)
        token = OWN_DRAWS.set(True)
        try:
            result = function(*map_tree(self.restore, args), **map_tree(self.restore, kwargs))
        finally:
            OWN_DRAWS.reset(token)
        return numpy.array(result.host()) if isinstance(result, StoredArray) else result

    def write_back(self) -> None:
        """Write to the backend's arrays what the function wrote to their copies."""
        for root, host, before in self._copies.values():
            if host.tobytes() != before.tobytes():
                root.write(root.library.from_host(host))

    def restore(self, array: Any) -> Any:
        """Return the array of the backend for one of NumPy's, with the same memory for views."""
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
        start = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        steps = tuple([step // size for step in array.strides])
        return whole.window(start // size, array.shape, steps)
