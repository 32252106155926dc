"""Scopes as decorators, one wrapper for each kind of function.

What pauses (a generator, a coroutine, an asynchronous generator) is inside the scope while
it runs and outside while it waits, so that its caller never sees the scope.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..warnings import warn
from .scopes import Entry, Settings, Stepped

_F = TypeVar("_F", bound=Callable[..., Any])

# The code flags of https://docs.python.org/3/library/inspect.html#code-objects-bit-flags;
# `inspect` itself would cost more to import than this whole package.
_GENERATOR, _COROUTINE, _ITERABLE_COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200


def decorate(function: _F, settings: Callable[[], Settings]) -> _F:
    """``function`` with its body run under ``settings()``, which is asked at each call.

    The wrapper is of the same kind: a coroutine function stays one. A ``staticmethod`` or
    ``classmethod`` is rebuilt around its function.

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
    """A function that makes instances of a class: what PyTorch's grad modes decorate, and warn."""
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
    found: Any = function
    while isinstance(found, functools.partial):
        found = found.func
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    return 0 if code is None else int(code.co_flags)


def _wrapper_for(flags: int) -> Callable[..., Callable[..., Any]]:
    if flags & _COROUTINE:
        return _coroutine
    if flags & _ASYNC_GENERATOR:
        return _async_generator
    if flags & _ITERABLE_COROUTINE:
        return lambda function, settings: types.coroutine(_generator(function, settings))
    return _generator if flags & _GENERATOR else _plain


def _plain(function: Callable[..., Any], settings: Callable[[], Settings]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Entry(settings())
        entry.enter()
        try:
            return function(*args, **kwargs)
        finally:
            try:
                entry.leave()
            except BaseException:  # Ctrl-C, before the frames were taken away
                entry.abandon()
                raise

    return wrapper


def _generator(
    function: Callable[..., Any], settings: Callable[[], Settings]
) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Stepped(settings())
        return (yield from _Steps(function(*args, **kwargs), entry))

    return wrapper


def _coroutine(
    function: Callable[..., Any], settings: Callable[[], Settings]
) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        entry = Stepped(settings())
        return await _Steps(function(*args, **kwargs), entry)

    return wrapper


def _async_generator(
    function: Callable[..., Any], settings: Callable[[], Settings]
) -> Callable[..., Any]:
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
    """A generator or awaitable whose every step runs under ``entry``."""

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
        try:
            self._entry.resume()
            return advance(*value)
        finally:
            try:
                self._entry.pause()
            except BaseException:  # Ctrl-C, before the frames were taken away
                self._entry.abandon()
                raise
