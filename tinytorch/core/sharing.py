"""Tensors moved to memory that processes share, and with each all that are parts of its memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from ..backends.base import Array
from .storage import Storage
from .tensor import Tensor
from .waiting import in_memory, move

#: Classes beside ``Storage`` whose objects hold an array, and the attribute.
ARRAY_OF: dict[type, str] = {}


def share(tensors: Iterable[Tensor]) -> None:
    """Move the memory of tensors to where other processes can be given it; some may be there.

    Raises:
        NotImplementedError: If a backend cannot; the tensors before that one may be moved then.
    """
    moves: dict[Any, Callable[[Array], Array]] = {}
    for tensor in tensors:
        xp, array = tensor._xp, in_memory(tensor)
        key = xp.owner(array)
        if key in moves or not xp.has_numbers or xp.is_shared(array):
            continue
        new_place = xp.move_to_shared(array)
        del array
        if _is_alone(tensor):
            _relocate(tensor, new_place)
        else:
            moves[key] = new_place
    if moves:
        _relocate_all(moves)


def _is_alone(tensor: Tensor) -> bool:
    """Whether nothing but the tensor holds its array, or what that is a view of."""
    counts = _references(tensor)
    usual = _references(_Holder(tensor._xp.empty(2, "uint8")[:1]))
    return tensor._whole is None and counts == usual[: len(counts)]


class _Holder:
    def __init__(self, array: Any) -> None:
        self._data = array


def _references(holder: Any) -> list[int]:
    """How many hold the array, and each that it is a part of; comparable among such lists."""
    counts, array = [], holder._data
    while array is not None:
        counts.append(sys.getrefcount(array))
        array = getattr(array, "base", None)
    return counts


def _relocate(tensor: Any, new_place: Callable[[Array], Array]) -> None:
    move(tensor, new_place(in_memory(tensor)))
    if tensor._whole is not None:
        tensor._whole = new_place(tensor._whole)


def _relocate_all(moves: dict[Any, Callable[[Array], Array]]) -> None:
    """Find the tensors that are parts of these memories: views do not know of each other."""
    for each in gc.get_objects():
        kind = type(each)  # what an object says of its class may be another's
        if issubclass(kind, Storage):
            new_place = _of(moves, each, in_memory)
            if new_place is not None:
                _relocate(each, new_place)
        elif kind in ARRAY_OF:
            name = ARRAY_OF[kind]
            new_place = _of(moves, each, attrgetter(name))
            if new_place is not None:
                setattr(each, name, new_place(getattr(each, name)))


def _of(moves: dict[Any, Any], holder: Any, read: Callable[[Any], Array]) -> Any:
    try:
        return moves.get(holder._xp.owner(read(holder)))
    except AttributeError:  # it is still being made
        return None
