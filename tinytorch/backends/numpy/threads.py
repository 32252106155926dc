"""Threads of OpenBLAS and of this library, which share the processor's cores.

OpenBLAS splits a product over its threads. They spin for some 30 ms before they sleep
(``THREAD_TIMEOUT`` in its ``Makefile.rule``: 2**26 ticks of the processor's clock), and each call
waits for all of them: while another process runs on one of the cores, a product of 20 µs takes up
to 40 ms. So small products take one thread, large ones all of them.

Batches of small products are split by this library instead: a thread for each part of the batch
waits once.

OpenBLAS has one number of threads for the whole process and reads it when a call begins. It is
changed only while no product of this library runs, by the first that begins, and restored by the
last that ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from . import openblas

#: Multiply-adds up to which OpenBLAS takes one thread itself: 65536 times its
#: ``GEMM_MULTITHREAD_THRESHOLD`` of 4 (``interface/gemm.c``).
SINGLE = 1 << 18
#: Multiply-adds up to which a product is small: a second thread would save some 20 µs.
SMALL = 1 << 21
#: Multiply-adds of matrices that take as long as reading one element does in a sum, and the
#: least for which 9,216 elements, from where on OpenBLAS threads such sums, are over ``SINGLE``.
ELEMENT = 32
_SPIN = 0.03

_lock = threading.Lock()
_pool: Any = None
_running = 0  # products, and pieces of work split over threads
_before = 0  # OpenBLAS's number of threads while it is lowered to 1, else 0
_last_threaded = -1.0


def _reset_in_child() -> None:
    """Forget the pool, whose threads a forked child lacks, and a lock that one of them held."""
    global _pool, _lock, _running
    _pool, _lock, _running = None, threading.Lock(), 0
    if _before:
        set_count(_before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)


def call(work: int, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call ``function``, which calls OpenBLAS, with the number of threads that ``work`` needs.

    Args:
        work: Multiply-adds; OpenBLAS takes one thread for up to ``SMALL`` of them.
        function: Called with the other arguments.
    """
    global _running, _before, _last_threaded
    control = openblas.threads() if work > SINGLE else None
    if control is None:
        return function(*arguments, **options)
    entered = 0
    try:
        with _lock:
            _running += 1
            entered = 1  # CPython raises KeyboardInterrupt after a call, so not between these two
            if work > SMALL:
                _last_threaded = monotonic()
            elif _running == 1:
                _before = control.get()  # before the change, so that an interrupt restores it
                if _before > 1:
                    control.set(1)
        return function(*arguments, **options)
    finally:
        with _lock:
            _running -= entered
            if not _running and _before:
                count, _before = _before, 0
                if count > 1:
                    control.set(count)


def products_work(x1: Any, x2: Any) -> int:
    """Multiply-adds of the largest product that ``matmul`` computes at once."""
    work: int
    if x1.ndim < 2 or x2.ndim < 2 or x2.shape[-1] == 1 or x1.shape[-2] == 1:
        work = ELEMENT * max(x1.size, x2.size)  # a matrix and a vector
    else:
        rows = x1.size if x2.ndim == 2 else x1.shape[-2] * x1.shape[-1]
        work = rows * x2.shape[-1]
    return work


def was_threaded_recently() -> bool:
    """Whether OpenBLAS's threads may still spin."""
    return monotonic() - _last_threaded < _SPIN


def _executor(workers: int) -> Any:
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(workers, "tinytorch")
        return _pool


def run(work: Callable[[int, int], Any], count: int) -> list[Any]:
    """Call ``work(start, stop)`` on parts of ``range(count)``, one in each of BLAS's threads."""
    control = openblas.threads()
    workers = 1 if control is None or _running else min(control.get(), count)
    if workers < 2:
        return [work(0, count)]
    parts: list[Any] = call(SMALL, _run_parts, work, count, workers)
    return parts


def _run_parts(work: Callable[[int, int], Any], count: int, workers: int) -> list[Any]:
    bounds = [count * i // workers for i in range(workers + 1)]
    pool = _executor(workers)
    others = [pool.submit(work, bounds[i], bounds[i + 1]) for i in range(1, workers)]
    try:
        first = work(0, bounds[1])
    finally:
        for other in others:
            other.exception()  # waits, also where the first part failed
    return [first, *(other.result() for other in others)]


def count() -> int:
    """Number of threads that BLAS may use; 1 for a BLAS other than OpenBLAS."""
    control = openblas.threads()
    if control is None:
        return 1
    with _lock:
        return _before or control.get()


def set_count(number: int) -> None:
    """Set the number of BLAS's threads, after the products that run on one thread now."""
    global _before
    control = openblas.threads()
    if control is None:
        return
    with _lock:
        if _running and _before:
            _before = number
        else:
            _before = 0
            control.set(number)
