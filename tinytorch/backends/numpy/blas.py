"""OpenBLAS as NumPy has loaded it: its facts, its threads, and functions of LAPACK.

NumPy's own ``show_config`` reports the build; the kernels are chosen when the library is loaded,
so ``info`` reads them from the library. ``lu`` and ``ldl`` call factorizations of LAPACK that
NumPy does not expose.

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

import ctypes
import functools
import math
import os
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, NamedTuple

import numpy

#: ``(prefix, suffix)`` of the functions' names: NumPy's wheels, 64-bit builds, plain builds.
_SPELLINGS = (
    ("scipy_openblas_", "64_"), ("scipy_openblas_", ""), ("openblas_", "64_"), ("openblas_", ""),
)  # fmt: skip


def info() -> dict[str, str]:
    """OpenBLAS's version, processor kernel and threads; for another BLAS its name and version."""
    found = loaded()
    if found is not None:
        return _describe(*found)
    built = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {"blas": f"{built['name']} {built.get('version', '')}".strip()}


class Threads(NamedTuple):
    """Functions that read and set the number of OpenBLAS's threads in this process."""

    get: Callable[[], int]
    set: Callable[[int], None]


@functools.cache
def threads() -> Threads | None:
    """Functions that control OpenBLAS's threads; None if NumPy uses another BLAS."""
    found = loaded()
    if found is None:
        return None
    library, prefix, suffix = found
    setter = library[f"{prefix}set_num_threads{suffix}"]
    setter.restype = None
    return Threads(library[f"{prefix}get_num_threads{suffix}"], setter)


@functools.cache
def loaded() -> tuple[ctypes.CDLL, str, str] | None:
    """The loaded OpenBLAS, and the prefix and the suffix of the names of its functions."""
    for path in _libraries():
        library = ctypes.CDLL(path)
        for prefix, suffix in _SPELLINGS:
            if hasattr(library, f"{prefix}get_corename{suffix}"):
                return library, prefix, suffix
    return None


def _describe(library: ctypes.CDLL, prefix: str, suffix: str) -> dict[str, str]:
    """``info`` of an OpenBLAS library whose functions' names have this prefix and suffix."""

    def text(name: str) -> str:
        function = library[f"{prefix}{name}{suffix}"]
        function.restype = ctypes.c_char_p
        return str(function().decode())

    threads = library[f"{prefix}get_num_threads{suffix}"]()
    return {
        "blas": " ".join(text("get_config").split()[:2]),
        "blas core": text("get_corename"),
        "blas threads": str(threads),
    }


def _libraries() -> Iterator[str]:
    """Paths of the OpenBLAS libraries NumPy may have loaded: a wheel's own, then the system's."""
    package = os.path.dirname(numpy.__file__)
    for folder in (f"{package}/../numpy.libs", f"{package}/.dylibs", f"{package}/.libs"):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (f"{folder}/{name}" for name in names if "openblas" in name)
    if os.path.exists("/proc/self/maps"):
        with open("/proc/self/maps") as maps:
            paths = [line.split()[-1] for line in maps]
        yield from sorted({path for path in paths if "openblas" in path and path.startswith("/")})


#: Multiply-adds up to which OpenBLAS takes one thread itself: 65536 times its
#: ``GEMM_MULTITHREAD_THRESHOLD`` of 4 (``interface/gemm.c``).
SINGLE = 1 << 18
#: Multiply-adds up to which a product is small: a second thread would save some 20 µs.
SMALL = 1 << 21
#: Multiply-adds of matrix products that take as long as reading one element in a sum. It is the
#: least value for which 9,216 elements, above which OpenBLAS threads such sums, exceed ``SINGLE``.
ELEMENT = 32
#: Seconds for which OpenBLAS's threads may still spin after a product.
_SPIN = 0.03

_lock = threading.Lock()
_pool: Any = None
_running = 0  # products, and pieces of work split over threads
_before = 0  # OpenBLAS's number of threads while it is lowered to 1, else 0
_last_threaded = -1.0


def _reset_in_child() -> None:
    """Reset the threads' state in a forked child.

    The child does not have the threads of the pool, and a lock that one of them held stays locked.
    """
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
    control = threads() if work > SINGLE else None
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
    """Return the thread pool of this module, which is created with ``workers`` threads."""
    global _pool
    with _lock:
        if _pool is None:
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(workers, "tinytorch")
        return _pool


def run(work: Callable[[int, int], Any], count: int) -> list[Any]:
    """Call ``work(start, stop)`` on parts of ``range(count)``, one in each of BLAS's threads."""
    control = threads()
    workers = 1 if control is None or _running else min(control.get(), count)
    if workers < 2:
        return [work(0, count)]
    parts: list[Any] = call(SMALL, _run_parts, work, count, workers)
    return parts


def _run_parts(work: Callable[[int, int], Any], count: int, workers: int) -> list[Any]:
    """``run`` with a known number of workers; the calling thread computes the first part."""
    bounds = [count * i // workers for i in range(workers + 1)]
    pool = _executor(workers)
    others = [pool.submit(work, bounds[i], bounds[i + 1]) for i in range(1, workers)]
    try:
        first = work(0, bounds[1])
    finally:
        for other in others:
            other.exception()  # wait for all parts, even if the first one failed
    return [first, *(other.result() for other in others)]


def count() -> int:
    """Number of threads that BLAS may use; 1 for a BLAS other than OpenBLAS."""
    control = threads()
    if control is None:
        return 1
    with _lock:
        return _before or control.get()


def set_count(number: int) -> None:
    """Set the number of BLAS's threads, after the products that run on one thread now."""
    global _before
    control = threads()
    if control is None:
        return
    with _lock:
        if _running and _before:
            _before = number
        else:
            _before = 0
            control.set(number)


_any, _all = numpy.logical_or.reduce, numpy.logical_and.reduce
_INT32 = numpy.dtype("int32")
#: LAPACK's letter for each type of element.
_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
#: A call per matrix is slower than NumPy on a whole batch if the product of this and the number
#: of matrices exceeds the elements of one matrix.
_WORTH = 4
#: Number of columns that LAPACK updates at once, if it has working memory for them.
_COLUMNS = 64


@functools.cache
def _routine(name: str, arguments: int, letters: int = 0) -> tuple[Callable[..., Any], str] | None:
    """Find a routine of LAPACK in OpenBLAS.

    Args:
        name: The routine's name, which begins with the letter of the dtype.
        arguments: Number of its arguments, which are all pointers.
        letters: How many of the arguments are strings; Fortran appends their lengths.

    Returns:
        The routine and the dtype of its integers; None if it is not available.
    """
    found = loaded()
    if found is None:
        return None
    library, prefix, suffix = found
    name = f"{prefix.removesuffix('openblas_')}{name}_{suffix}"
    if not hasattr(library, name):
        return None
    function = library[name]
    function.argtypes = [ctypes.c_void_p] * arguments + [ctypes.c_size_t] * letters
    function.restype = None
    return function, "int64" if suffix else "int32"


def _address(array: Any) -> int:
    """Address of a writable contiguous array that has elements, in a third of ``ctypes.data``."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array))


def lu(matrix: Any) -> tuple[Any, Any, Any] | None:
    """LU factorization with pivoting by LAPACK's ``getrf``.

    Args:
        matrix: Array of shape ``(..., m, n)``.

    Returns:
        Both triangular factors in one array of shape ``(..., m, n)``, column-major in memory, the
        pivots, counted from 1, of shape ``(..., min(m, n))``, and LAPACK's status ``info`` of shape
        ``(...,)``, both int32. None if LAPACK is not available, would be slower, or met a NaN.
    """
    *batch, m, n = matrix.shape
    count, length = math.prod(batch), min(m, n)
    if not matrix.size or count > 1 and _WORTH * count > m * n:
        return None
    letter = _LETTERS.get(matrix.dtype.char)
    found = None if letter is None else _routine(f"{letter}getrf", 6)
    if found is None:
        return None
    function, integer = found
    columns = numpy.array(matrix.swapaxes(-1, -2), order="C")  # LAPACK stores columns
    numbers = numpy.empty(2 + count + count * length, integer)
    numbers[0], numbers[1] = m, n
    item, rows = numbers.itemsize, _address(numbers)
    data, info, pivots = _address(columns), rows + 2 * item, rows + (2 + count) * item
    for i in range(count):
        function(
            rows, rows + item, data + i * m * n * columns.itemsize, rows,
            pivots + i * length * item, info + i * item,
        )  # fmt: skip
    total = columns.trace(0, -2, -1)
    if total != total if not batch else _any(total != total, None):
        return None  # OpenBLAS does not divide a column by a pivot that is NaN
    return columns.swapaxes(-1, -2), *_split_numbers(numbers, batch, length)


def _split_numbers(numbers: Any, batch: list[int], length: int) -> tuple[Any, Any]:
    """Pivots of shape ``(*batch, length)`` and ``info`` of shape ``batch``, int32.

    ``numbers`` are LAPACK's: two sizes, the status of each matrix, and their pivots.
    """
    count = math.prod(batch)
    pivots = numbers[2 + count :].astype(_INT32).reshape(*batch, length)
    return pivots, numbers[2 : 2 + count].astype(_INT32).reshape(batch)


def rows_from_pivots(pivots: Any, size: int) -> Any:
    """The old index of each of ``size`` rows after the swaps of LAPACK's pivots, in Python."""
    found = []
    for swaps in pivots.reshape(-1, pivots.shape[-1]).tolist() if pivots.size else ():
        rows = [*range(size)]
        for i, at in enumerate(swaps):
            rows[i], rows[at - 1] = rows[at - 1], rows[i]
        found.append(rows)
    if not found:
        return numpy.zeros((*pivots.shape[:-1], size), numpy.intp) + numpy.arange(size)
    return numpy.array(found, numpy.intp).reshape(*pivots.shape[:-1], size)


def ldl(matrix: Any, hermitian: bool) -> tuple[Any, Any, Any] | None:
    """LDL factorization of the lower triangles by LAPACK's ``sytrf`` or ``hetrf``.

    Args:
        matrix: Array of shape ``(..., n, n)``.
        hermitian: Whether the upper triangle is the conjugate of the lower one.

    Returns:
        The factors of shape ``(..., n, n)``, below and on the diagonal, the pivots of shape
        ``(..., n)``, and LAPACK's status ``info`` of shape ``(...,)``, both int32. None if LAPACK
        is not available, would be slower, or if an element is not finite.
    """
    *batch, n, _ = matrix.shape
    count = math.prod(batch)
    letter = _LETTERS.get(matrix.dtype.char)
    if not matrix.size or letter is None or count > 1 and _WORTH * count > n * n:
        return None
    kind = "he" if hermitian and letter in "cz" else "sy"
    found = _routine(f"{letter}{kind}trf", 8, letters=1)
    if found is None or not _all(numpy.isfinite(matrix), None):
        return None
    function, integer = found
    columns = numpy.array(matrix.swapaxes(-1, -2), order="C")  # LAPACK stores columns
    work = numpy.empty(n * _COLUMNS, matrix.dtype)
    numbers = numpy.empty(2 + count * (n + 1), integer)
    numbers[0], numbers[1] = n, work.size
    data, buffer, order, item = *map(_address, (columns, work, numbers)), numbers.itemsize
    info, pivots = order + 2 * item, order + (2 + count) * item
    for i in range(count):
        function(
            b"L", order, data + i * n * n * columns.itemsize, order, pivots + i * n * item, buffer,
            order + item, info + i * item, 1,
        )  # fmt: skip
    return columns.swapaxes(-1, -2), *_split_numbers(numbers, batch, n)
