"""Checks of values that live on a device, answered when the host waits for it anyway."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy

from .base import Array, Backend
from .default_operations import OUT_OF_BOUNDS

#: Answers kept at most; then the host waits for them, which also bounds the memory they take.
_MOST = 1024
_Host = numpy.ndarray[Any, Any]
#: What was computed, the check of it, and the stream that computes it.
_Pending = tuple[Array, Callable[[_Host], None], Any]


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
        self._pending.append((answer, check, self.library.cuda.get_current_stream()))
        if len(self._pending) >= _MOST:
            self.raise_pending()

    def raise_pending(self) -> None:
        """Wait, once, for the checks made so far; raise what the first that failed found.

        A thread that comes here while another waits does so as well: no check is answered twice,
        and none is forgotten: all stay in the queue until the last is answered, in case the user
        interrupts the wait.
        """
        with self._answering:
            pending = [self._pending[i] for i in range(len(self._pending))]
            answers = self._fetched(pending) if pending else []
            checks = [check for _, check, _ in pending]
            found = [self._answer(*pair) for pair in zip(answers, checks, strict=True)]
            for _ in pending:
                self._pending.popleft()
        failed = [error for error in found if error is not None]
        if failed:
            raise self._explained(failed)

    def _fetched(self, pending: list[_Pending]) -> list[_Host]:
        """The answers on the host, flat, by a single transfer."""
        here = self.library.cuda.get_current_stream()
        for stream in {each.ptr: each for _, _, each in pending}.values():
            if stream.ptr != here.ptr:
                here.wait_event(stream.record())
        flat = [answer.reshape(-1) for answer, _, _ in pending]
        alike: dict[Any, list[int]] = {}
        for place, answer in enumerate(flat):
            alike.setdefault(answer.dtype, []).append(place)
        order = [place for places in alike.values() for place in places]
        joined = [self.library.concatenate([flat[i] for i in places]) for places in alike.values()]
        host = self.library.asnumpy(
            self.library.concatenate([each.astype("int64", copy=False) for each in joined])
        )
        ends = numpy.cumsum([flat[place].size for place in order])
        parts = dict(zip(order, numpy.split(host, ends[:-1]), strict=True))
        return [parts[place] for place in range(len(flat))]

    def _answer(self, host: _Host, check: Callable[[_Host], None]) -> Exception | None:
        """What a check has found."""
        try:
            check(host)
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
