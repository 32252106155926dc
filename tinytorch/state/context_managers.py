"""Scopes as context managers and as decorators, with a wrapper for each kind of function.

A function that pauses (a generator, coroutine or asynchronous generator) is inside the scope while
it runs and outside while it is suspended, so that the scope never affects its caller.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..warnings import warn
from .scopes import Entry, Settings, Stepped
from .tracebacks import shorten

if TYPE_CHECKING:
    from types import TracebackType

_F = TypeVar("_F", bound=Callable[..., Any])

# The code flags of https://docs.python.org/3/library/inspect.html#code-objects-bit-flags;
# `inspect` itself takes longer to import than this whole package.
_GENERATOR, _COROUTINE, _ITERABLE_COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200


class Scope:
    """Base of the context managers: reusable, re-entrant, usable by several threads and tasks.

    A subclass defines ``_settings``, which is called at every entry and raises before anything
    has changed. An instance is also a decorator of functions, coroutines, generators and
    asynchronous generators.
    """

    __slots__ = ("_entries",)

    #: Whether a class can be decorated, which decorates the creation of its instances.
    takes_classes = False

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def _settings(self) -> Settings:
        """Return pairs of a slot and its value inside the scope; at least one pair."""
        raise NotImplementedError

    def __enter__(self) -> object:
        try:
            entry = Entry(self._settings(), self)
            self._entries.append(entry)
            try:
                entry.enter()
            except BaseException:
                self._entries.remove(entry)
                raise
            return None
        except Exception as error:
            shorten(error)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._entries:
            raise RuntimeError(f"{type(self).__name__}: left more often than entered")
        entry = None
        try:
            entry = self._innermost()
            if entry is not None:
                self._entries.remove(entry)
                entry.leave()
        except BaseException:  # Ctrl-C, before the frames were removed
            entry = entry or self._innermost()
            if entry is not None:
                entry.abandon()
                self._entries[:] = [each for each in self._entries if each is not entry]
            raise

    def _innermost(self) -> Entry | None:
        """Return the entry that exits: the innermost of this context, else the only open one.

        None if the block was entered in another context and the object is open in several. The one
        that exits is then unknown, and the others must keep their scope.
        """
        slot = self._entries[-1].settings[0][0]
        frame = slot.top()
        while frame is not None:
            if frame.entry.owner is self and frame.entry in self._entries:
                return frame.entry
            frame = frame.parent
        return self._entries[0] if len(self._entries) == 1 else None

    def __call__(self, function: _F) -> _F:
        if self.takes_classes and isinstance(function, type):
            return cast(_F, decorate(maker_of(function), self._settings))
        return decorate(function, self._settings)


class AssignedScope(Scope):
    """Scope that assigns its settings when it is made, as a setter does.

    ``set_grad_enabled(False)`` as a statement has a lasting effect. ``with
    set_grad_enabled(False):`` and ``@set_grad_enabled(False)`` undo the assignment first.
    """

    __slots__ = ("_undo",)

    def __init__(self) -> None:
        super().__init__()
        self._undo = [slot.assign(value) for slot, value in self._settings()]

    def _take_back(self) -> None:
        """Undo the assignment that ``__init__`` made."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> object:
        self._take_back()
        return super().__enter__()

    def __call__(self, function: _F) -> _F:
        self._take_back()
        return super().__call__(function)


def decorate(function: _F, settings: Callable[[], Settings]) -> _F:
    """Wrap ``function`` so that its body runs in a scope of ``settings()``, called at each call.

    The wrapper is of the same kind: the wrapper of a coroutine function is a coroutine function. A
    ``staticmethod`` or ``classmethod`` is made again of its wrapped function.

    Raises:
        TypeError: If ``function`` is a class or not callable.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return cast(_F, type(function)(decorate(function.__func__, settings)))
    if isinstance(function, type) or not callable(function):
        raise TypeError(
            f"expected a function, method, coroutine function or generator function to "
            f"decorate, got {function!r}; decorate the methods of a class one by one"
        )
    wrapper = _wrapper_for(_flags(function))(function, settings)
    return cast(_F, functools.update_wrapper(wrapper, function))


def maker_of(kind: Any) -> Callable[..., Any]:
    """Warn as PyTorch's grad modes do, and return a function that makes instances of a class.

    The function is decorated in the place of the class ``kind``.
    """
    warn(
        "Decorating classes is deprecated and will be disabled in future versions. You should "
        "only decorate functions or methods. To preserve the current behavior of class "
        "decoration, you can directly decorate the `__init__` method and nothing else.",
        FutureWarning,
    )

    @functools.wraps(kind, updated=())
    def make(*args: Any, **kwargs: Any) -> Any:
        return kind(*args, **kwargs)

    return make


def _flags(function: Callable[..., Any]) -> int:
    """Return the code flags of a function, method or partial; 0 for another callable object."""
    found: Any = function
    while isinstance(found, functools.partial):
        found = found.func
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    return 0 if code is None else int(code.co_flags)


def _wrapper_for(flags: int) -> Callable[..., Callable[..., Any]]:
    """Return the function below that wraps functions with these code flags."""
    if flags & _COROUTINE:
        return _coroutine
    if flags & _ASYNC_GENERATOR:
        return _async_generator
    if flags & _ITERABLE_COROUTINE:
        return lambda function, settings: types.coroutine(_generator(function, settings))
    return _generator if flags & _GENERATOR else _plain


def _plain(function: Callable[..., Any], settings: Callable[[], Settings]) -> Callable[..., Any]:
    """Wrap a function that does not pause: each call is inside a scope of ``settings()``."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Entry(settings())
        entry.enter()
        try:
            return function(*args, **kwargs)
        finally:
            try:
                entry.leave()
            except BaseException:  # Ctrl-C, before the frames were removed
                entry.abandon()
                raise

    return wrapper


def _generator(
    function: Callable[..., Any], settings: Callable[[], Settings]
) -> Callable[..., Any]:
    """Wrap a generator function: each step is inside a scope of ``settings()``."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Stepped(settings())
        return (yield from _Steps(function(*args, **kwargs), entry))

    return wrapper


def _coroutine(
    function: Callable[..., Any], settings: Callable[[], Settings]
) -> Callable[..., Any]:
    """Wrap a coroutine function: each step is inside a scope of ``settings()``."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Stepped(settings())
        return await _Steps(function(*args, **kwargs), entry)

    return wrapper


def _async_generator(
    function: Callable[..., Any], settings: Callable[[], Settings]
) -> Callable[..., Any]:
    """Wrap an asynchronous generator function: each step is inside a scope of ``settings()``."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Stepped(settings())
        body = function(*args, **kwargs)
        step = body.asend(None)
        while True:
            try:
                item = await _Steps(step, entry)
            except StopAsyncIteration:
                return
            try:
                step = body.asend((yield item))
            except BaseException as error:
                if isinstance(error, GeneratorExit):
                    await _Steps(body.aclose(), entry)
                    raise
                step = body.athrow(error)

    return wrapper


class _Steps:
    """Wrapper of a generator or awaitable that enters scopes for each of its steps.

    Args:
        body: The generator or coroutine.
        entry: The scopes, which are entered before each step and exited after it.
    """

    __slots__ = ("_body", "_entry")

    def __init__(self, body: Any, entry: Stepped) -> None:
        self._body = body
        self._entry = entry

    def __iter__(self) -> _Steps:
        return self

    def __await__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self._step(self._body.send, None)

    def send(self, value: Any) -> Any:
        return self._step(self._body.send, value)

    def throw(self, *error: Any) -> Any:  # contextlib passes type, value and traceback
        return self._step(self._body.throw, *error)

    def close(self) -> None:
        self._step(self._body.close)

    def _step(self, advance: Callable[..., Any], *value: Any) -> Any:
        """Return ``advance(*value)``, a step of the body, with the entry's frames on the stack."""
        try:
            self._entry.resume()
            return advance(*value)
        finally:
            try:
                self._entry.pause()
            except BaseException:  # Ctrl-C, before the frames were removed
                self._entry.abandon()
                raise
