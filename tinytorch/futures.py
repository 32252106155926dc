"""Values that are not there yet: ``Future``, ``collect_all`` and ``wait_all``."""

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
    """A value that another thread gives.

    Args:
        devices: Accepted for compatibility: kernels of a GPU run in the order they were called in.

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
        """Whether there is a value or an error.

        Example:
            >>> future = tt.futures.Future()
            >>> future.done()
            False
        """
        return self._done

    def wait(self) -> T:
        """The value, waited for; an error is raised.

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
        """The value, which has to be there; an error is raised.

        Raises:
            RuntimeError: If there is none yet.

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
        """Give the value.

        Raises:
            RuntimeError: If there is one.

        Example:
            >>> future = tt.futures.Future()
            >>> future.set_result(3)
            >>> future.done(), future.value()
            (True, 3)
        """
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an error in the place of a value.

        Raises:
            AssertionError: If it is none.
            RuntimeError: If there is a value.

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
            except Exception as error:  # no concern of who gives the value: PyTorch logs it, too
                _log.error("Got an error when running a callback of a Future", exc_info=error)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what a function of this one gives, called once this one is done.

        Example:
            >>> future = tt.futures.Future()
            >>> twice = future.then(lambda done: 2 * done.value())
            >>> future.set_result(3)
            >>> twice.wait()
            6
        """
        result: Future[S] = self._following()

        def run(done: Future[T]) -> None:
            try:
                value = callback(done)
            except Exception as error:
                result.set_exception(error)
            else:
                result.set_result(value)

        self.add_done_callback(run)
        return result

    def _following(self) -> Future[Any]:
        """A new future of what follows from this one."""
        return Future()

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call a function with this future once it is done, at once if it is.

        An error that it raises later is logged, as nobody waits for it.

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
    """A future of the futures, done when all of them are, or with the first error of one.

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

    def count(each: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            failed, done, last = each._error, result.done(), left == 0
            if not done and isinstance(failed, Exception):
                result.set_exception(failed)
            elif not done and last:
                result.set_result(futures)

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        result.set_result(futures)
    return result


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all, waited for; the first error among them is raised.

    Example:
        >>> future = tt.futures.Future()
        >>> future.set_result(3)
        >>> tt.futures.wait_all([future])
        [3]
    """
    return [future.wait() for future in collect_all(futures).wait()]
