"""Weak references whose callbacks are C functions.

Python drops every exception that leaves the callback of a weak reference. A Python function there,
such as those of ``weakref.finalize`` and ``weakref.WeakValueDictionary``, would execute the handler
of Ctrl-C, whose KeyboardInterrupt would be lost. A C function leaves the signal pending until the
program's own code goes on.
"""

from __future__ import annotations

from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]
from collections.abc import Callable, Hashable
from contextlib import suppress
from operator import methodcaller
from typing import Any, Generic, TypeVar
from weakref import KeyedRef, ref

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class CallingRef(ref[Any]):
    """Weak reference that calls a C function when its object is gone, if it still exists then.

    Args:
        of: The object.
        function: Function without arguments that runs no Python code, such as
            ``partial(os.close, 3)``. It neither waits nor raises.
    """

    __slots__ = ("function",)
    function: Callable[[], object]

    def __new__(cls, of: Any, function: Callable[[], object]) -> CallingRef:
        made = super().__new__(cls, of, _call_function)
        made.function = function
        return made

    def __init__(self, of: Any, function: Callable[[], object]) -> None:
        super().__init__(of, _call_function)  # type: ignore[call-arg]


_call_function = methodcaller("function")


class WeakValues(Generic[_K, _V]):
    """Dictionary that does not keep its values alive.

    The references to dead values are collected in a list, and their entries are removed when the
    next value is stored.
    """

    __slots__ = ("_dead", "_refs")

    def __init__(self) -> None:
        self._refs: dict[_K, KeyedRef[_K, Any]] = {}
        self._dead: list[KeyedRef[_K, Any]] = []

    def get(self, key: _K) -> _V | None:
        """Value of ``key``; None if there is none that is alive."""
        found = self._refs.get(key)
        return None if found is None else found()

    def __setitem__(self, key: _K, value: _V) -> None:
        if self._dead:
            self._drain()
        self._refs[key] = KeyedRef(value, self._dead.append, key)

    def setdefault(self, key: _K, value: _V) -> _V:
        """Value of ``key``, which is set to ``value`` if there is none that is alive."""
        if self._dead:
            self._drain()
        made = KeyedRef(value, self._dead.append, key)
        found: _V | None = self._refs.setdefault(key, made)()
        if found is None:
            self._refs[key] = made
            return value
        return found

    def refs(self) -> list[KeyedRef[_K, Any]]:
        """References to the values, some of which may be gone."""
        return list(self._refs.values())

    def __len__(self) -> int:
        self._drain()
        return len(self._refs)

    def _drain(self) -> None:
        with suppress(IndexError):  # another thread may drain the list, too
            while self._dead:
                # Atomic, and does nothing if a value was stored under the key meanwhile.
                _remove_dead_weakref(self._refs, self._dead.pop().key)
