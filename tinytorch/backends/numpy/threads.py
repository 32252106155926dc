"""Two threads for one piece of NumPy work: NumPy lets go of the GIL, BLAS runs single-threaded.

OpenBLAS splits each of many small products over its threads and waits for all of them every
time; a thread of ours for each part of the batch waits once. It is only done where
OpenBLAS says how many threads it may use, which is then how many there are of ours.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import blas_use, openblas

_lock = threading.Lock()
_pool: Any = None
_holders = 0
_threads_before = 1


def _forget_pool() -> None:
    """In a forked child the pool's threads do not exist, and the lock may be held by one."""
    global _pool, _lock, _holders
    _pool, _lock, _holders = None, threading.Lock(), 0
    blas_use.share(True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


@contextmanager
def _single_threaded_blas(control: openblas.Threads) -> Iterator[None]:
    """OpenBLAS's thread count is the process's: the first in lowers it, the last out restores."""
    global _holders, _threads_before
    with _lock:
        if not _holders:
            _threads_before = control.get()
            control.set(1)
            blas_use.share(False)
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders:
                control.set(_threads_before)
                blas_use.share(True)


def _executor(workers: int) -> Any:
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(workers, "tinytorch")
        return _pool


def run(work: Callable[[int, int], Any], count: int) -> list[Any]:
    """``work(start, stop)`` on parts of ``range(count)``, one in each of BLAS's threads."""
    control = openblas.threads()
    workers = 1 if control is None or _holders else min(control.get(), count)
    if control is None or workers < 2:
        return [work(0, count)]
    bounds = [count * i // workers for i in range(workers + 1)]
    with _single_threaded_blas(control):
        pool = _executor(workers)
        others = [pool.submit(work, bounds[i], bounds[i + 1]) for i in range(1, workers)]
        try:
            first = work(0, bounds[1])
        finally:
            for other in others:
                other.exception()  # waits, also where the first part failed
        return [first, *(other.result() for other in others)]


def count() -> int:
    """How many threads BLAS may use; 1 where nobody can tell."""
    control = openblas.threads()
    if control is None:
        return 1
    with _lock:
        return _threads_before if _holders else control.get()


def set_count(number: int) -> None:
    """Let BLAS use so many threads, from the end of what runs now where work is being shared."""
    global _threads_before
    control = openblas.threads()
    if control is None:
        return
    with _lock:
        if _holders:
            _threads_before = number
        else:
            control.set(number)
