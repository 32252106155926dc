"""Context managers of blocks with other settings, which Ctrl-C cannot make half done.

Ctrl-C raises a KeyboardInterrupt after any call. If that interrupts ``__enter__``, the setting has
its former value again; if it interrupts ``__exit__``, the setting is restored nevertheless. After
the last call of ``__enter__`` there are only assignments, which nothing interrupts.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, TypeVar

from .variable import Variable

_T = TypeVar("_T")
_P = ParamSpec("_P")


class VariableScope(Generic[_T]):
    """Base of the context managers that set a variable in a block; re-entrant.

    Users define subclasses of some of these classes, hence the long names.

    Attributes:
        _bound_variable: The variable.
        _bound_entries: What ``__exit__`` reads of the innermost running entry, and the outer ones.
    """

    _bound_variable: Variable[_T] | ContextVar[_T]
    _bound_entries: Any = None

    def _bound_value(self, before: _T) -> _T:
        """Return the value in the block."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        variable = self._bound_variable
        before = variable.get()
        value = self._bound_value(before)
        try:
            token = variable.set(value)
        except BaseException:
            variable.set(before)
            raise
        self._bound_entries = token, before, value, self._bound_entries

    def __exit__(self, kind: Any = None, *error: object) -> None:
        token, before, value, self._bound_entries = self._bound_entries
        try:
            # A generator whose exit Ctrl-C interrupted is closed when its traceback is deleted.
            # The blocks around it are over by then: their variables have other values.
            if kind is GeneratorExit and self._bound_variable.get() is not value:
                return
            self._bound_variable.reset(token)
        except ValueError:  # the token is of another context
            raise
        except BaseException:
            self._bound_variable.set(before)
            raise


class bind(VariableScope[_T]):
    """Set ``variable`` to ``value`` in a block."""

    def __init__(self, variable: Variable[_T] | ContextVar[_T], value: _T) -> None:
        self._bound_variable = variable
        self._inside = value

    def _bound_value(self, before: _T) -> _T:
        return self._inside


class Stacked(VariableScope[tuple[Any, ...]]):
    """Base of the context managers that push an item onto a tuple in a variable.

    Attributes:
        _bound_count: Called with 1 before the item is pushed and with -1 after it is removed. A
            count that an interrupt leaves too large makes operations slower, but no result wrong.
    """

    _bound_count: Callable[[int], None]

    def _bound_item(self) -> Any:
        """Return the item; raises if nothing may be pushed."""
        return self

    def _bound_value(self, before: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*before, self._bound_item())

    def __enter__(self) -> Any:
        variable = self._bound_variable
        before = variable.get()
        inside = self._bound_value(before)
        self._bound_count(1)
        try:
            variable.set(inside)
        except BaseException:
            variable.set(before)
            self._bound_count(-1)
            raise
        self._bound_entries = inside, before, self._bound_entries

    def __exit__(self, *error: object) -> None:
        inside, before, self._bound_entries = self._bound_entries
        try:
            self._bound_remove(inside, before)
        except BaseException:
            self._bound_remove(inside, before)
            raise
        finally:
            self._bound_count(-1)

    def _bound_remove(self, inside: tuple[Any, ...], before: tuple[Any, ...]) -> None:
        """Remove the item of an entry, wherever it is; a second call changes nothing."""
        current = self._bound_variable.get()
        if current is inside:
            self._bound_variable.set(before)
        elif current is not before:  # items above it are still open, or this is another context
            places = [i for i, each in enumerate(current) if each is inside[-1]]
            for i in places[-1:]:
                self._bound_variable.set(current[:i] + current[i + 1 :])


class _GeneratorScope(contextlib._GeneratorContextManager[_T]):
    """Context manager whose generator ends if its entry is interrupted after the first yield.

    With that of ``contextlib`` it ends when the exception and its traceback are no longer used,
    which in an interactive session is at the next exception.
    """

    def __enter__(self) -> _T:
        try:
            return super().__enter__()
        except BaseException as error:
            if self.gen.gi_frame is not None:  # type: ignore[attr-defined]  # at its yield
                self.gen.throw(error)
            raise


def contextmanager(
    function: Callable[_P, Iterator[_T]],
) -> Callable[_P, contextlib._GeneratorContextManager[_T]]:
    """``contextlib.contextmanager`` for settings: Ctrl-C cannot leave one that it began."""

    @functools.wraps(function)
    def make(*args: _P.args, **kwargs: _P.kwargs) -> _GeneratorScope[_T]:
        return _GeneratorScope(function, args, kwargs)  # type: ignore[arg-type]

    return make
