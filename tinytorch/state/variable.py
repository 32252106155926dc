"""Context variables that may be set while Python collects garbage.

A suspended generator that became garbage leaves its scopes when it is collected: at any line of
this thread, and before Python 3.12 inside any C function that allocates, such as
``ContextVar.set``. That function continues with the values of the context that it had read, so that
values set in between are lost. Python may then free the values while the function reads them, and
its cache of the variable may refer to lost values, which it does not keep alive.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextvars import Context, ContextVar, Token, copy_context
from functools import partial
from operator import methodcaller
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")

_INTERRUPTS_C = sys.version_info < (3, 12)


class _Collection(list[None]):
    """List that is not empty while Python collects garbage.

    The collector reads the attribute ``start`` or ``stop``, whose getter changes the list. The
    getters are C functions. A Python function that the collector calls would execute signal
    handlers, and the collector drops the KeyboardInterrupt that the handler of Ctrl-C raises.
    """

    start = property(methodcaller("append", None))
    stop = property(methodcaller("clear"))


_collection = _Collection()
# Called with "start" or "stop", and a dictionary. Running in a context empties Python's caches of
# variables, which may refer to values that were lost.
_read: Callable[..., Any] = getattr
gc.callbacks.append(partial(Context().run, _read, _collection))

# Copies of the context from when variables were set during a collection.
_held: list[Context] = []


def collecting() -> bool:
    """Whether Python collects garbage, so that this code may have interrupted any other."""
    return bool(_collection)


class Variable(Generic[_T]):
    """ContextVar whose ``set`` and ``reset`` may be called at any time."""

    __slots__ = ("_var", "get")

    def __init__(self, name: str, default: _T) -> None:
        self._var: ContextVar[_T] = ContextVar(f"tinytorch.{name}", default=default)
        self.get: Callable[[], _T] = self._var.get

    def set(self, value: _T) -> Token[_T]:
        """Set the value in this context, and return a token for ``reset``."""
        if _collection or _held:
            _hold()
        return self._var.set(value)

    def reset(self, token: Token[_T]) -> None:
        """Restore the value from before the ``set`` that returned ``token``."""
        if _collection or _held:
            _hold()
        self._var.reset(token)


def _hold() -> None:
    """Keep the values of the context alive for a C function that a collection interrupted.

    During a collection this stores a copy of the context. Outside of one, the interrupted function
    has returned, and the copies are dropped.
    """
    if not _collection:
        _held.clear()
    elif _INTERRUPTS_C:
        _held.append(copy_context())
