"""Pickles of tensors: the memory that several of them are parts of goes in once, and whole."""

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
    """The memory behind tensors, as a pickle holds it.

    All that share the memory are pickled with the same object, which a pickle holds once; a
    shallow copy gets it as it is and shares the memory, too.
    """

    __slots__ = ("__weakref__", "flat", "xp")

    def __init__(self, flat: Array, xp: Backend) -> None:
        self.flat: Array = flat
        self.xp: Backend = xp

    def __reduce__(self) -> tuple[Any, ...]:
        backend = spelled(self.xp)
        if not self.xp.has_numbers:
            return vacant, (self.flat.size, self.xp.dtype_of(self.flat), backend)
        return restored, (self.xp.to_numpy(self.flat), backend)


def spelled(xp: Backend) -> Any:
    """A backend as pickles name it: with its device, where there are several."""
    return xp if xp.several else xp.name


def restored(host: Any, backend: Any) -> Memory:
    """Unpickle: the memory, on the backend and the device that it was on."""
    xp = backends.load(backend).here()
    return Memory(xp.from_numpy(host), xp)


def vacant(size: int, dtype: Any, backend: Any) -> Memory:
    """Unpickle: the memory of tensors without numbers."""
    xp = backends.load(backend).here()
    return Memory(xp.empty(size, xp.native_dtype(dtype)), xp)


#: By the backend, and what tells the memory from other memory, of what is alive.
_alive: WeakValues[Any, Memory] = WeakValues()


def memory_of(array: Array, xp: Backend) -> Memory | None:
    """The memory of an array that is all of it; None if there are gaps in it."""
    key = (xp, xp.owner(array), xp.address(array), array.nbytes)
    found = _alive.get(key)
    if found is None:
        flat = flat_order(array)
        if flat is None:
            return None
        found = _alive[key] = Memory(flat, xp)
    return found


def placed(tensor: Tensor) -> tuple[Memory, int, Any, Any] | None:
    """The memory of a tensor, and where in it: the first element, the shape and the strides.

    None if it cannot be told in elements, or there are no elements.
    """
    array, whole, xp = tensor._data, tensor._memory(), tensor._xp
    if not array.size:
        return None
    memory = memory_of(whole, xp)
    size = array.itemsize
    steps = (xp.address(array) - xp.address(whole), *array.strides)
    if memory is None or min(steps) < 0 or any(step % size for step in (whole.nbytes, *steps)):
        return None
    start, *strides = (step // size for step in steps)
    return memory, start, tuple(array.shape), tuple(strides)


def part(memory: Memory, dtype: Any, start: int, shape: Any, strides: Any) -> tuple[Array, Array]:
    """The part of a memory that a tensor of ``dtype`` is, and all of it."""
    flat = memory.flat.view(memory.xp.native_dtype(dtype))
    return window(memory.xp, flat, start, shape, strides), flat
