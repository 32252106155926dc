"""Checks of values on a device, evaluated when the host waits for the device anyway."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy

from .base import Array, Backend
from .default_operations import OUT_OF_BOUNDS

#: Most pending results. At this number the host waits for them, which bounds their memory.
_MOST = 1024
_IGNORED: ContextVar[bool] = ContextVar("ignored", default=False)
_Host = numpy.ndarray[Any, Any]
#: Computed array, the check of its values, and the stream that computes it.
_Pending = tuple[Array, Callable[[_Host], None], Any]


@contextmanager
def ignore_checks() -> Iterator[None]:
    """Scope in which checks that could be deferred are not made."""
    token = _IGNORED.set(True)
    try:
        yield
    finally:
        _IGNORED.reset(token)


class DeferredChecks(Backend):
    """Backend that checks the bounds of indices without waiting for the device.

    An index out of bounds raises its error at the next transfer to the host or ``synchronize``,
    with a note that explains the delay. With the environment variable
    ``CUDA_LAUNCH_BLOCKING=1``, as in PyTorch, errors are raised immediately and every check waits.

    Attributes:
        immediate: Whether errors are raised immediately.
    """

    immediate: bool

    def __init__(self) -> None:
        super().__init__()
        self.immediate = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
        self._clear_pending()

    def _clear_pending(self) -> None:
        """Start without pending checks, as a new backend does."""
        self._pending: deque[_Pending] = deque()
        self._answering = threading.RLock()

    def check_indices(
        self,
        name: str,
        index: Array,
        size: int,
        dim: int,
        negative: bool = True,
        text: str = OUT_OF_BOUNDS,
        error: type[Exception] = IndexError,
    ) -> None:
        rest = (size, dim, negative, text, error)
        if self.immediate or not index.size:
            return super().check_indices(name, index, *rest)
        check = super().check_indices
        extremes = self.library.stack([index.min(), index.max()])
        return self._defer(extremes, lambda host: check(name, host, *rest))

    def extremes(self, index: Array) -> None:
        return None  # the values are on the device

    def is_finite(self, array: Array) -> bool | None:
        # The values are on the device, and a check cannot be deferred: the caller needs the answer.
        return super().is_finite(array) if self.immediate else None

    def check_extremes(self, name: str, extremes: Array, size: int, dim: int, text: str) -> None:
        if self.immediate:
            return super().check_extremes(name, extremes, size, dim, text)
        check = super().check_indices
        return self._defer(extremes, lambda host: check(name, host, size, dim, False, text))

    def check_all(self, valid: Array, message: str) -> None:
        if self.immediate:
            return super().check_all(valid, message)
        check = super().check_all
        return self._defer(valid.all(), lambda host: check(host, message))

    def _defer(self, answer: Array, check: Callable[[_Host], None]) -> None:
        """Queue a check until the next transfer to the host.

        Args:
            answer: Device array that the check needs.
            check: Function that raises if the host copy of ``answer`` shows an error.
        """
        if _IGNORED.get():
            return
        self._pending.append((answer, check, self.library.cuda.get_current_stream()))
        if len(self._pending) >= _MOST:
            self.raise_pending()

    def raise_pending(self) -> None:
        """Wait once for all pending checks and raise the error of the first that fails.

        A second thread that calls this meanwhile waits as well. No check is evaluated twice, and
        all stay queued until the last is evaluated, in case Ctrl-C interrupts the wait.
        """
        with self._answering:
            pending = [self._pending[i] for i in range(len(self._pending))]
            answers = self._fetch(pending) if pending else []
            checks = [check for _, check, _ in pending]
            found = [self._answer(*pair) for pair in zip(answers, checks, strict=True)]
            for _ in pending:
                self._pending.popleft()
        failed = [error for error in found if error is not None]
        if failed:
            raise self._add_note(failed)

    def _fetch(self, pending: list[_Pending]) -> list[_Host]:
        """Copy the results of pending checks to the host, in one transfer.

        Results of one dtype are joined first, so that one cast per dtype suffices. All are sent as
        int64, which holds indices and bools.

        Returns:
            Flat arrays in the order of ``pending``.
        """
        # The current stream waits for the others that compute the results.
        current = self.library.cuda.get_current_stream()
        for stream in {stream.ptr: stream for _, _, stream in pending}.values():
            if stream.ptr != current.ptr:
                current.wait_event(stream.record())
        flat = [answer.reshape(-1) for answer, _, _ in pending]
        positions: dict[Any, list[int]] = {}  # of the results of each dtype
        for position, answer in enumerate(flat):
            positions.setdefault(answer.dtype, []).append(position)
        order = [position for same in positions.values() for position in same]
        joined = [self.library.concatenate([flat[i] for i in same]) for same in positions.values()]
        host = self.library.asnumpy(
            self.library.concatenate([each.astype("int64", copy=False) for each in joined])
        )
        ends = numpy.cumsum([flat[position].size for position in order])
        # Split the copy and restore the order of ``pending``.
        parts = dict(zip(order, numpy.split(host, ends[:-1]), strict=True))
        return [parts[position] for position in range(len(flat))]

    def _answer(self, host: _Host, check: Callable[[_Host], None]) -> Exception | None:
        """Evaluate a check and return its error, or None."""
        try:
            check(host)
        except Exception as error:  # the caller raises the first error
            return error
        return None

    def _add_note(self, failed: list[Exception]) -> Exception:
        """Return the first of the errors, with a note on the delay and on the other errors."""
        first, *others = failed
        first.add_note(
            f"Found by an earlier operation on backend {self.name!r}; with the environment "
            "variable CUDA_LAUNCH_BLOCKING=1 the error is raised where it happens."
        )
        if others:
            first.add_note(f"{len(others)} later checks failed too; the next: {others[0]}")
        return first
