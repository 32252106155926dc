"""Tensors whose contents move: ``swap_tensors``, and moves to memory that processes share."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from ..backends.base import Array
from .lazy_bits import stored_array, set_stored_array
from .storage import Storage
from .tensor import Tensor

__all__ = ["set_module", "swap_tensors"]


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Swap two tensors: class, values, gradient and attributes.

    Each reference to one of them refers to the other's content afterwards. Views of them, and
    graphs of which they are leaves, are not updated: swap tensors that have none.

    Args:
        t1: A tensor.
        t2: Another tensor.

    Raises:
        RuntimeError: If one of them has weak references, or their classes have different slots.

    Example:
        >>> a, b = tt.nn.Parameter(tt.zeros(2)), tt.ones(3)
        >>> tt.utils.swap_tensors(a, b)
        >>> a, type(b).__name__
        (tensor([1., 1., 1.]), 'Parameter')
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    if _slots(t1) != _slots(t2):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    contents = [_content(t1), _content(t2)]
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for tensor, content in ((t1, contents[1]), (t2, contents[0])):
        for name, value in content.items():
            setattr(tensor, name, value)


def _slots(tensor: Any) -> set[str]:
    """Names of the slots of a tensor's class and of its base classes."""
    declared = (vars(cls).get("__slots__", ()) for cls in type(tensor).__mro__)
    names = {name for slots in declared for name in ((slots,) if isinstance(slots, str) else slots)}
    return names - {"__weakref__", "__dict__"}


def _content(tensor: Any) -> dict[str, Any]:
    """Values of the slots and of ``__dict__`` of a tensor, by name."""
    found = {name: getattr(tensor, name) for name in _slots(tensor) if hasattr(tensor, name)}
    return {"__dict__": dict(tensor.__dict__), **found}


def set_module(obj: Any, mod: str) -> None:
    """Set the module to which a class or function belongs.

    Args:
        obj: The class or function.
        mod: The module's name.

    Example:
        >>> class Layer: ...
        >>> tt.utils.set_module(Layer, "layers")
        >>> Layer
        <class 'layers.Layer'>

    Raises:
        TypeError: If ``mod`` is not a str.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


#: Reads the backend of a tensor from its slot, without making the tensor's device current as the
#: attribute does in a process with several.
_read_backend = vars(Storage)["_xp"].__get__
#: Classes other than ``Storage`` whose objects hold an array, and the attribute that holds it.
ARRAY_OF: dict[type, str] = {}


def share(tensors: Iterable[Tensor]) -> None:
    """Move the memory of tensors to memory that processes share, unless it is there already.

    Raises:
        NotImplementedError: If a backend cannot; earlier tensors may have been moved then.
    """
    # By owner of the old memory, a function from an array in it to the array in the new memory.
    moves: dict[Any, Callable[[Array], Array]] = {}
    backends = set()
    for tensor in tensors:
        xp, array = tensor._xp, stored_array(tensor)
        key = xp.owner(array)
        if key in moves or not xp.has_numbers or xp.is_shared(array):
            continue
        new_place = xp.move_to_shared(array)
        del array  # a reference that ``_is_alone`` would count
        if _is_alone(tensor):
            _relocate(tensor, new_place)
        else:
            moves[key] = new_place
            backends.add(xp)
    if moves:
        _relocate_all(moves, backends)


def _is_alone(tensor: Tensor) -> bool:
    """Whether the tensor has the only reference to its array, and to the bases of that array."""
    counts = _references(tensor)
    # The counts of an array, and of its base, with no reference besides these.
    usual = _references(_ArrayHolder(tensor._xp.empty(2, "uint8")[:1]))
    return tensor._whole is None and counts == usual[: len(counts)]


class _ArrayHolder:
    """Object that refers to an array as a tensor does."""

    def __init__(self, array: Any) -> None:
        self._data = array


def _references(holder: Any) -> list[int]:
    """Reference counts of the array of ``holder`` and of each of its bases."""
    counts, array = [], holder._data
    while array is not None:
        counts.append(sys.getrefcount(array))
        array = getattr(array, "base", None)
    return counts


def _relocate(tensor: Any, new_place: Callable[[Array], Array]) -> None:
    """Give a tensor the array in the new memory that ``new_place`` returns for its old one."""
    set_stored_array(tensor, new_place(stored_array(tensor)))
    if tensor._whole is not None:
        tensor._whole = new_place(tensor._whole)


def _relocate_all(moves: dict[Any, Callable[[Array], Array]], backends: set[Any]) -> None:
    """Relocate all objects whose arrays are in memories that are moved.

    They are found among the objects of the garbage collector, because tensors that share memory
    have no references to each other.

    Args:
        moves: By owner of a memory, a function from an array in it to the array in the new memory.
        backends: Backends of these memories.
    """
    for each in gc.get_objects():
        kind = type(each)  # __class__ of an object may be another class
        if issubclass(kind, Storage):
            new_place = _find_move(moves, each, stored_array) if _is_on(each, backends) else None
            if new_place is not None:
                _relocate(each, new_place)
        elif kind in ARRAY_OF:
            name = ARRAY_OF[kind]
            new_place = _find_move(moves, each, attrgetter(name))
            if new_place is not None:
                setattr(each, name, new_place(getattr(each, name)))


def _is_on(tensor: Any, backends: set[Any]) -> bool:
    """Whether a tensor, which may not be initialized yet, is on one of the backends."""
    try:
        return _read_backend(tensor) in backends
    except AttributeError:
        return False


def _find_move(moves: dict[Any, Any], holder: Any, read: Callable[[Any], Array]) -> Any:
    """Return the function in ``moves`` for the array ``read(holder)``, or None."""
    try:
        return moves.get(holder._xp.owner(read(holder)))
    except AttributeError:  # it is not initialized yet
        return None
