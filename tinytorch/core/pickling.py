"""Pickles of tensors, in which a memory that several tensors share is held once, and whole."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import backends
from ..backends.base import Array, Backend
from ..backends.storage import flat_order, window
from ..backends.weak_references import WeakValues

if TYPE_CHECKING:
    from .tensor import Tensor


class NamedModule(ModuleType):
    """Base of module classes: pickles and copies by name, as cloudpickle does an exact module."""

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


class Memory:
    """Memory of tensors, as a pickle holds it.

    All tensors that share the memory are pickled with the same object, which a pickle holds once.
    A shallow copy gets the object itself and so shares the memory, too.

    Attributes:
        flat: Array of one dimension that covers the memory.
        xp: The backend.
    """

    __slots__ = ("__weakref__", "flat", "xp")

    def __init__(self, flat: Array, xp: Backend) -> None:
        self.flat: Array = flat
        self.xp: Backend = xp

    def __reduce__(self) -> tuple[Any, ...]:
        backend = backend_spec(self.xp)
        if not self.xp.has_numbers:
            return restore_empty, (self.flat.size, self.xp.dtype_of(self.flat), backend)
        return restore, (self.xp.to_numpy(self.flat), backend)


def backend_spec(xp: Backend) -> Any:
    """Return the backend for a pickle: its name, or itself if it has several devices."""
    return xp if xp.several else xp.name


def restore(host: Any, backend: Any) -> Memory:
    """Unpickle a memory, on the backend and device where it was."""
    xp = backends.load(backend).here()
    return Memory(xp.from_numpy(host), xp)


def restore_empty(size: int, dtype: Any, backend: Any) -> Memory:
    """Unpickle a ``Memory`` without values, on a backend such as ``meta``."""
    xp = backends.load(backend).here()
    return Memory(xp.empty(size, xp.native_dtype(dtype)), xp)


#: Former names, which old pickles have.
restored, vacant = restore, restore_empty


#: Living ``Memory`` objects, by backend, owner, address and size.
_alive: WeakValues[Any, Memory] = WeakValues()


def memory_of(array: Array, xp: Backend) -> Memory | None:
    """Return the memory that an array covers wholly; None if the array has gaps."""
    key = (xp, xp.owner(array), xp.address(array), array.nbytes)
    found = _alive.get(key)
    if found is None:
        flat = flat_order(array)
        if flat is None:
            return None
        found = _alive[key] = Memory(flat, xp)
    return found


def locate(tensor: Tensor) -> tuple[Memory, int, Any, Any] | None:
    """Return the memory of a tensor and its position in it: first element, shape and strides.

    None if the position is not a whole number of elements, a stride is negative, or there are no
    elements.
    """
    array, whole, xp = tensor._data, tensor._memory(), tensor._xp
    if not array.size:
        return None
    memory = memory_of(whole, xp)
    size = array.itemsize
    offsets = (xp.address(array) - xp.address(whole), *array.strides)  # in bytes
    if memory is None or min(offsets) < 0 or any(n % size for n in (whole.nbytes, *offsets)):
        return None
    start, *strides = (n // size for n in offsets)
    return memory, start, tuple(array.shape), tuple(strides)


def part(memory: Memory, dtype: Any, start: int, shape: Any, strides: Any) -> tuple[Array, Array]:
    """Return the array of a tensor in a memory, and the array of the whole memory as ``dtype``.

    Args:
        memory: The memory.
        dtype: The tensor's dtype.
        start: Index of its first element.
        shape: Its shape.
        strides: Its strides in elements.
    """
    flat = memory.flat.view(memory.xp.native_dtype(dtype))
    return window(memory.xp, flat, start, shape, strides), flat
