"""Context variables that may be set while Python collects garbage.

A paused generator that became garbage leaves its scopes when it is collected: at any line of this
thread, and before Python 3.12 inside any C function that allocates, ``ContextVar.set`` among them.
That function goes on with the context's values as it had found them. What was set in between is
lost, and Python knows of neither half: it frees the values while the function reads them, and
takes what was lost from its cache of the variable, which does not keep it alive.
"""

from __future__ import annotations

import gc
import sys
from contextvars import Context, ContextVar, Token, copy_context
from threading import get_ident
from typing import Generic, TypeVar

_T = TypeVar("_T")

_INTERRUPTS_C = sys.version_info < (3, 12)

_collector: int | None = None
# What the context was when variables were set during a collection: this one and the one before,
# for the function that was interrupted goes on after a collection, perhaps into another.
_held: list[Context] = []
_held_before: list[Context] = []


def _note(phase: str, info: dict[str, int]) -> None:
    """Hear from Python that a collection begins or ends."""
    global _collector, _held, _held_before
    if phase == "start":
        _held, _held_before = [], _held
        _collector = get_ident()
        return
    _collector = None
    if _held:
        Context().run(int)  # to enter a context and leave it empties the caches


gc.callbacks.append(_note)


def collecting() -> bool:
    """Whether this code runs because garbage is being collected, whatever it interrupted."""
    return _collector is not None and _collector == get_ident()


class Variable(Generic[_T]):
    """A ContextVar whose ``set`` and ``reset`` may be called at any time."""

    __slots__ = ("_var", "get")

    def __init__(self, name: str, default: _T) -> None:
        self._var: ContextVar[_T] = ContextVar(f"tinytorch.{name}", default=default)
        self.get = self._var.get

    def set(self, value: _T) -> Token[_T]:
        """Set the value in this context, and return what ``reset`` takes."""
        if _collector is not None:
            _hold()
        return self._var.set(value)

    def reset(self, token: Token[_T]) -> None:
        """Give the variable the value that it had before the ``set`` that returned ``token``."""
        if _collector is not None:
            _hold()
        self._var.reset(token)


def _hold() -> None:
    if _INTERRUPTS_C and collecting():
        _held.append(copy_context())
