"""Messages on their way."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

from ..futures import Future
from .errors import DistBackendError

__all__ = ["Work"]

#: A wait looks without a pause for this many seconds, and for as long as a message of so many bytes
#: a second takes. Then it sleeps between bursts of looks: who wakes up from sleep is let run at
#: once even on a machine that is busy, whereas who spins has to wait for a turn.
_SPIN, _FAST, _BURST = 2e-5, 4e9, 5e-5
#: From when on a slow rank is assumed, and one look a nap does: seconds, and bytes a second.
_EAGER, _SLOWEST, _NAP = 5e-2, 1e8, 2e-4
#: Seconds between looks for ranks that have left, and that a message may be under way after.
_LOOK, _GRACE = 0.05, 2.0
#: What did not end in time: the library may still write to its memory.
_abandoned: list[Any] = []


class Pending(Protocol):
    """What an engine started."""

    def test(self) -> bool:
        """Whether it is done; moves it on."""
        ...


class Watch(Protocol):
    """Who knows which ranks have left."""

    def left(self) -> list[int]:
        """Ranks of the whole program that have ended."""
        ...

    def fail(self) -> None:
        """Note that a call was given up."""
        ...


class Work:
    """A collective, or a message, that has been started.

    Args:
        pending: What an engine started.
        name: Of the call, for errors.
        nbytes: How much is on its way.
        timeout: How long ``wait`` waits, of itself.
        finish: Called once, when it is done.
        result: What ``result`` gives, and the future.
        watch: Who knows which ranks have left.
        agree: Whether all ranks are known to have called the same; raises if they have not.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> work = tt.distributed.all_reduce(tt.ones(2), async_op=True)
        >>> work.wait(), work.is_completed()
        (True, True)
        >>> work.is_success(), work.exception(), work.result()
        (True, None, [tensor([1., 1.])])
        >>> work.synchronize()
        >>> work.get_future().wait()
        [tensor([1., 1.])]
        >>> work.source_rank()
        Traceback (most recent call last):
            ...
        RuntimeError: sourceRank() may only be called on work objects that correspond to a recv or \
        recv-from-any call.
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self,
        pending: Pending,
        name: str,
        nbytes: int,
        timeout: timedelta,
        finish: Callable[[], None] | None,
        result: list[Any],
        watch: Watch | None,
        agree: Callable[[], bool] | None = None,
    ) -> None:
        self._pending, self._name, self._nbytes = pending, name, nbytes
        self._timeout, self._finish, self._result = timeout, finish, result
        self._watch, self._agree = watch, agree
        self._done = self._over = False
        self._error: BaseException | None = None
        self._future: Future[Any] | None = None

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it is done.

        Args:
            timeout: For how long at most. Default: the group's.

        Returns:
            True.

        Raises:
            RuntimeError: If it takes longer, if a rank has ended meanwhile, or if ranks sent what
                does not fit together.
        """
        if self._error is not None:
            raise self._error
        if not self._done and not self._test():
            self._wait((timeout or self._timeout).total_seconds())
        return True

    def _wait(self, seconds: float) -> None:
        start = time.monotonic()
        if self._looks_until(start + _SPIN + self._nbytes / _FAST):
            return
        eager = start + _EAGER + self._nbytes / _SLOWEST
        look, doomed = eager + _LOOK, float("inf")
        while not self._test():
            now = time.monotonic()
            if now - start > seconds:
                self._give_up(
                    f"Timed out waiting {1000 * seconds:.0f}ms for {self._name} operation to "
                    "complete"
                )
            if now < eager:
                time.sleep(1e-6)
                self._looks_until(time.monotonic() + _BURST)
                continue
            time.sleep(_NAP)
            if now > doomed:
                self._give_up(
                    f"{self._name}: Connection closed by peer: rank {self._gone()} has ended"
                )
            if now > look:
                look = now + _LOOK
                if doomed == float("inf") and self._gone():
                    doomed = now + _GRACE

    def _looks_until(self, end: float) -> bool:
        """Whether it is done by then."""
        while not self._test():
            if time.monotonic() > end:
                return False
        return True

    def _gone(self) -> list[int]:
        return [] if self._watch is None else self._watch.left()

    def _abandon(self) -> None:
        _abandoned.append(self)
        if self._watch is not None:
            self._watch.fail()

    def _give_up(self, message: str) -> None:
        self._abandon()
        self._fail(DistBackendError(message))

    def _fail(self, error: BaseException) -> None:
        self._error = error
        if self._future is not None:
            self._future.set_exception(error)
        raise error

    def _test(self) -> bool:
        """Whether it is done; finishes it then."""
        if self._done:
            return True
        try:
            if not self._is_over() or not self._is_agreed():
                return False
            if self._finish is not None:
                self._finish()
        except Exception as error:
            self._abandon()
            self._fail(error)
        self._done = True
        if self._future is not None:
            self._future.set_result(self._result)
        return True

    def _is_over(self) -> bool:
        """Whether the engine is done; what ranks called differently shows as its error, too."""
        try:
            self._over = self._over or self._pending.test()
            if not self._over:
                self._is_agreed()
        except Exception:
            self._is_agreed()
            raise
        return self._over

    def _is_agreed(self) -> bool:
        if self._agree is not None:
            if not self._agree():
                return False
            self._agree = None
        return True

    def is_completed(self) -> bool:
        """Whether it is done; does not wait, and moves it on."""
        return self._error is not None or self._test()

    def is_success(self) -> bool:
        """Whether it is done without a fault."""
        return self._error is None and self._done

    def exception(self) -> BaseException | None:
        """The fault that ended it, or None."""
        return self._error

    def result(self) -> list[Any]:
        """The tensors that it wrote to, once it is done."""
        self.wait()
        return self._result

    def synchronize(self) -> None:
        """The same as ``wait``: nothing waits on a device."""
        self.wait()

    def source_rank(self) -> int:
        """The rank of the group that a message came from.

        Raises:
            RuntimeError: If it is no message that was received.
        """
        source = getattr(self._pending, "source", None)
        if source is None:
            raise RuntimeError("sourceRank() may only be called on work objects that correspond "
                               "to a recv or recv-from-any call.")  # fmt: skip
        self.wait()
        return int(source())

    def get_future(self) -> Future[Any]:
        """A future of the tensors: done when the work is, and whoever waits for it moves it on."""
        if self._future is None:
            self._future = _Progressing(self)
            if self._error is not None:
                self._future.set_exception(self._error)
            elif self._done:
                self._future.set_result(self._result)
        return self._future


class _Progressing(Future[Any]):
    """A future that moves its work on when somebody asks."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def _following(self) -> Future[Any]:
        return _Progressing(self._work)

    def done(self) -> bool:
        """Whether the work is done."""
        return self._work.is_completed() and super().done()

    def wait(self) -> Any:
        """The tensors, when the work is done."""
        self._work.wait()
        return super().wait()


class Several:
    """Works that are waited for as one."""

    def __init__(self, works: list[Work]) -> None:
        self.works = works

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for all of them."""
        for work in self.works:
            work.wait(timeout)
        return True

    def is_completed(self) -> bool:
        """Whether all are done."""
        return all(work.is_completed() for work in self.works)
