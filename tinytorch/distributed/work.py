"""Handles of collectives and messages that have been started."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

from ..futures import Future
from .errors import DistBackendError

__all__ = ["Work"]

#: ``wait`` first polls without a pause: for ``_SPIN`` seconds, and for the time that the message
#: takes at ``_FAST`` bytes a second. Then it sleeps between bursts of polls of ``_BURST`` seconds:
#: on a busy machine, the system runs a process that wakes up at once, but one that spins has to
#: wait for its time slice.
_SPIN, _FAST, _BURST = 2e-5, 4e9, 5e-5
#: After ``_EAGER`` seconds, and the time of the message at ``_SLOWEST`` bytes a second, another
#: rank must be slow, and one poll every ``_NAP`` seconds is enough.
_EAGER, _SLOWEST, _NAP = 5e-2, 1e8, 2e-4
#: Seconds between checks for ranks that have ended, and that their last messages may still take.
_LOOK, _GRACE = 0.05, 2.0
#: Works that did not complete in time: the library may still write to their memory.
_abandoned: list[Any] = []


class Pending(Protocol):
    """Request of an engine: a call that it has started."""

    def test(self) -> bool:
        """Progress the request, and return whether it is complete."""
        ...


class Watch(Protocol):
    """Monitor of the ranks that have ended: the interface of ``mpi.Library`` that works use."""

    def departed_ranks(self) -> list[int]:
        """Ranks of the world whose processes have ended."""
        ...

    def fail(self) -> None:
        """Note that a call was abandoned."""
        ...


class Work:
    """Handle of a collective or message that has been started.

    Args:
        pending: The request of the engine.
        name: Name of the call, for errors.
        nbytes: Size of the message.
        timeout: Default timeout of ``wait``.
        finish: Called once, when the request is complete.
        result: Value of ``result()`` and of the future.
        watch: Monitor of the ranks that have ended.
        has_agreed: Returns whether all ranks have announced the same call; raises if one has
            announced a different one. None if calls are not compared.

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
        self, pending: Pending, name: str, nbytes: int, timeout: timedelta,
        finish: Callable[[], None] | None, result: list[Any], watch: Watch | None,
        has_agreed: Callable[[], bool] | None = None,
    ) -> None:  # fmt: skip
        self._pending, self._name, self._nbytes = pending, name, nbytes
        self._timeout, self._finish, self._result = timeout, finish, result
        self._watch, self._has_agreed = watch, has_agreed
        self._done = self._request_done = False
        self._error: BaseException | None = None
        self._future: Future[Any] | None = None

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the work is complete.

        Args:
            timeout: Longest time to wait. Default: the group's timeout.

        Returns:
            True.

        Raises:
            RuntimeError: After the timeout, if a rank has ended, or if the calls of the ranks do
                not match.
        """
        if self._error is not None:
            raise self._error
        if not self._done and not self._test():
            self._wait((timeout or self._timeout).total_seconds())
        return True

    def _wait(self, seconds: float) -> None:
        """Poll until the work is complete, ever less often.

        Args:
            seconds: Longest time to wait.

        Raises:
            DistBackendError: After that time, or ``_GRACE`` seconds after a rank has ended.
        """
        start = time.monotonic()
        # First poll without a pause.
        if self._poll_until(start + _SPIN + self._nbytes / _FAST):
            return
        eager_until = start + _EAGER + self._nbytes / _SLOWEST
        # ``last_moment`` is the time to give up after a rank has ended; infinite before.
        next_check, last_moment = eager_until + _LOOK, float("inf")
        while not self._test():
            now = time.monotonic()
            if now - start > seconds:
                self._give_up(
                    f"Timed out waiting {1000 * seconds:.0f}ms for {self._name} operation to "
                    "complete"
                )
            # Then sleep between bursts of polls.
            if now < eager_until:
                time.sleep(1e-6)
                self._poll_until(time.monotonic() + _BURST)
                continue
            # By now another rank must be slow: poll rarely, and check for ranks that have ended.
            time.sleep(_NAP)
            if now > last_moment:
                self._give_up(
                    f"{self._name}: Connection closed by peer: rank {self._ended_ranks()} has ended"
                )
            if now > next_check:
                next_check = now + _LOOK
                if last_moment == float("inf") and self._ended_ranks():
                    last_moment = now + _GRACE

    def _poll_until(self, end: float) -> bool:
        """Poll without a pause until the work is complete or the time ``end`` is reached.

        Returns:
            Whether the work is complete.
        """
        while not self._test():
            if time.monotonic() > end:
                return False
        return True

    def _ended_ranks(self) -> list[int]:
        return [] if self._watch is None else self._watch.departed_ranks()

    def _abandon(self) -> None:
        """Keep this work alive, because MPI may still write to its memory."""
        _abandoned.append(self)
        if self._watch is not None:
            self._watch.fail()

    def _give_up(self, message: str) -> None:
        """Abandon the work, and raise a ``DistBackendError`` with a message."""
        self._abandon()
        self._fail(DistBackendError(message))

    def _fail(self, error: BaseException) -> None:
        """Set the error of the work and of its future, and raise it."""
        self._error = error
        if self._future is not None:
            self._future.set_exception(error)
        raise error

    def _test(self) -> bool:
        """Progress the work, and finish it once its request is complete and all ranks agree.

        Returns:
            Whether the work is complete.
        """
        if self._done:
            return True
        try:
            if not self._test_request() or not self._test_agreement():
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

    def _test_request(self) -> bool:
        """Progress the request, and return whether it is complete.

        If the ranks make different calls, MPI may raise an error first. The error of the
        comparison, which names the calls, takes precedence over it.
        """
        try:
            self._request_done = self._request_done or self._pending.test()
            if not self._request_done:
                self._test_agreement()
        except Exception:
            self._test_agreement()
            raise
        return self._request_done

    def _test_agreement(self) -> bool:
        """Whether all ranks have announced the same call."""
        if self._has_agreed is not None:
            if not self._has_agreed():
                return False
            self._has_agreed = None
        return True

    def is_completed(self) -> bool:
        """Progress the work without waiting, and return whether it is complete."""
        return self._error is not None or self._test()

    def is_success(self) -> bool:
        """Whether the work is complete without an error."""
        return self._error is None and self._done

    def exception(self) -> BaseException | None:
        """The error of the work, or None."""
        return self._error

    def result(self) -> list[Any]:
        """Wait until the work is complete; return the tensors that it wrote to."""
        self.wait()
        return self._result

    def synchronize(self) -> None:
        """Wait until the work is complete, as ``wait``."""
        self.wait()

    def source_rank(self) -> int:
        """Rank in the group of the sender of a received message.

        Raises:
            RuntimeError: If the work is not a ``recv``.
        """
        source = getattr(self._pending, "source", None)
        if source is None:
            raise RuntimeError("sourceRank() may only be called on work objects that correspond "
                               "to a recv or recv-from-any call.")  # fmt: skip
        self.wait()
        return int(source())

    def get_future(self) -> Future[Any]:
        """A future of the tensors; its ``wait`` and ``done`` progress the work."""
        if self._future is None:
            self._future = _WorkFuture(self)
            if self._error is not None:
                self._future.set_exception(self._error)
            elif self._done:
                self._future.set_result(self._result)
        return self._future


class _WorkFuture(Future[Any]):
    """A future whose ``wait`` and ``done`` progress its work."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def _create_result(self) -> Future[Any]:
        return _WorkFuture(self._work)

    def done(self) -> bool:
        """Whether the work is done."""
        return self._work.is_completed() and super().done()

    def wait(self) -> Any:
        """Wait until the work is complete; return the tensors."""
        self._work.wait()
        return super().wait()
