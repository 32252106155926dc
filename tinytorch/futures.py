"""Futures, as ``torch.futures``: ``Future``, ``collect_all`` and ``wait_all``."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

_log = logging.getLogger(__name__)
T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """Value that another thread may set later.

    Args:
        devices: Accepted for compatibility: kernels of a GPU run in the order of their calls.

    Example:
        >>> future = tt.futures.Future()
        >>> twice = future.then(lambda done: 2 * done.value())
        >>> future.set_result(3)
        >>> twice.wait()
        6
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._changed = threading.Condition()
        self._callbacks: list[Callable[[Future[T]], Any]] = []
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Whether the future has a value or an error.

        Example:
            >>> future = tt.futures.Future()
            >>> future.done()
            False
        """
        return self._done

    def wait(self) -> T:
        """Wait until the future is done; return its value or raise its error.

        Example:
            >>> future = tt.futures.Future()
            >>> future.set_result(3)
            >>> future.wait()
            3
        """
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """Return the value of a future that is done, or raise its error.

        Raises:
            RuntimeError: If the future is not done.

        Example:
            >>> future = tt.futures.Future()
            >>> future.set_result(3)
            >>> future.value()
            3
        """
        if not self._done:
            raise RuntimeError("Future has not completed yet: call wait()")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[no-any-return]

    def set_result(self, result: T) -> None:
        """Set the value, which completes the future.

        Raises:
            RuntimeError: If the future is already done.

        Example:
            >>> future = tt.futures.Future()
            >>> future.set_result(3)
            >>> future.done(), future.value()
            (True, 3)
        """
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an error, which ``wait`` and ``value`` will raise.

        Raises:
            AssertionError: If ``result`` is not an exception.
            RuntimeError: If the future is already done.

        Example:
            >>> future = tt.futures.Future()
            >>> future.set_exception(ValueError("no such file"))
            >>> future.wait()
            Traceback (most recent call last):
                ...
            ValueError: no such file
        """
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, value: Any, error: BaseException | None) -> None:
        """Set the value or the error, notify waiting threads and call the callbacks."""
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a "
                    "Future can only be marked completed once."
                )
            self._value, self._error, self._done = value, error, True
            self._changed.notify_all()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            try:
                callback(self)
            except Exception as error:  # PyTorch, too, logs it instead of raising in `set_result`.
                _log.error("Got an error when running a callback of a Future", exc_info=error)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """Return a future of ``callback(self)``, which is called once this future is done.

        Example:
            >>> future = tt.futures.Future()
            >>> twice = future.then(lambda done: 2 * done.value())
            >>> future.set_result(3)
            >>> twice.wait()
            6
        """
        result: Future[S] = self._create_result()

        def complete_result(done: Future[T]) -> None:
            try:
                value = callback(done)
            except Exception as error:
                result.set_exception(error)
            else:
                result.set_result(value)

        self.add_done_callback(complete_result)
        return result

    def _create_result(self) -> Future[Any]:
        """Create the future that ``then`` returns; subclasses override it."""
        return Future()

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call a function with this future once it is done, immediately if it is already done.

        An error of a later call is logged.

        Example:
            >>> future = tt.futures.Future()
            >>> future.add_done_callback(lambda done: print(done.value()))
            >>> future.set_result(3)
            3
        """
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future of the list, done when all futures are done or one of them has an error.

    Example:
        >>> futures = [tt.futures.Future(), tt.futures.Future()]
        >>> both = tt.futures.collect_all(futures)
        >>> futures[0].set_result(1), both.done()
        (None, False)
        >>> futures[1].set_result(2)
        >>> [future.value() for future in both.wait()]
        [1, 2]
    """
    result: Future[list[Future[Any]]] = Future()
    lock = threading.Lock()
    left = len(futures)

    def on_done(each: Future[Any]) -> None:
        """Complete ``result`` if ``each`` has an error, or is the last future."""
        nonlocal left
        with lock:
            left -= 1
            failed, done, last = each._error, result.done(), left == 0
            if not done and isinstance(failed, Exception):
                result.set_exception(failed)
            elif not done and last:
                result.set_result(futures)

    for future in futures:
        future.add_done_callback(on_done)
    if not futures:
        result.set_result(futures)
    return result


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Wait for all futures and return their values, or raise the first error.

    Example:
        >>> future = tt.futures.Future()
        >>> future.set_result(3)
        >>> tt.futures.wait_all([future])
        [3]
    """
    return [future.wait() for future in collect_all(futures).wait()]
