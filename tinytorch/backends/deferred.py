"""Checks of values that live on a device, answered when the host waits for it anyway."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy

from .base import OUT_OF_BOUNDS, Array, Backend

#: Answers kept at most; then the host waits for them, which also bounds the memory they take.
_MOST = 1024
_Host = numpy.ndarray[Any, Any]


class DeferredChecks(Backend):
    """A backend that does not wait for the device to learn whether indices are in bounds.

    An index out of bounds is found at the next transfer to the host or ``synchronize``, and
    raises there what it would have raised at once, with a note that says so. The environment
    variable ``CUDA_LAUNCH_BLOCKING=1``, as in torch, asks for errors at once, at the price of a
    wait for every check.

    Attributes:
        immediate: Whether errors are raised at once.
    """

    immediate: bool

    def __init__(self) -> None:
        super().__init__()
        self.immediate = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
        self._nothing_pending()

    def _nothing_pending(self) -> None:
        self._pending: deque[tuple[Array, Callable[[_Host], None]]] = deque()
        self._answering = threading.RLock()

    def check_indices(
        self,
        name: str,
        index: Array,
        size: int,
        dim: int,
        negative: bool = True,
        text: str = OUT_OF_BOUNDS,
    ) -> None:
        if self.immediate or not index.size:
            return super().check_indices(name, index, size, dim, negative, text)
        check = super().check_indices
        extremes = self.library.stack([index.min(), index.max()])
        return self._defer(extremes, lambda host: check(name, host, size, dim, negative, text))

    def extremes(self, index: Array) -> None:
        return None  # they are on the device

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
        self._pending.append((answer, check))
        if len(self._pending) >= _MOST:
            self.raise_pending()

    def raise_pending(self) -> None:
        """Wait for the checks made so far; raise what the first that failed found.

        A thread that comes here while another waits does so as well: no check is answered twice,
        and none is forgotten: all stay in the queue until the last is answered, in case the user
        interrupts the wait.
        """
        with self._answering:
            count = len(self._pending)
            answers = [self._answer(*self._pending[i]) for i in range(count)]
            for _ in range(count):
                self._pending.popleft()
        failed = [error for error in answers if error is not None]
        if failed:
            raise self._explained(failed)

    def _answer(self, answer: Array, check: Callable[[_Host], None]) -> Exception | None:
        """What a check has found."""
        try:
            check(self.library.asnumpy(answer))
        except Exception as error:  # the caller raises the first of them
            return error
        return None

    def _explained(self, failed: list[Exception]) -> Exception:
        first, *others = failed
        first.add_note(
            f"Found by an earlier operation on backend {self.name!r}; with the environment "
            "variable CUDA_LAUNCH_BLOCKING=1 the error is raised where it happens."
        )
        if others:
            first.add_note(f"{len(others)} later checks failed too; the next: {others[0]}")
        return first
