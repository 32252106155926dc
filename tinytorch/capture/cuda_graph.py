"""Runs of a program as a CUDA graph, which is launched as a whole.

A graph reads and writes the memory with which it was captured. It holds for the arrays of that
call, and all that it allocates comes from a pool of its own, so that nothing else uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class CapturedRun:
    """Runs of a function on a stream of its own, captured when the arguments are the same again.

    The first run on some arguments compiles what CuPy compiles on first use, the second fills the
    pool, the third is captured. Arguments that change at each call are never captured.

    Args:
        library: CuPy.

    Attributes:
        failure: Why a run could not be captured; later ones are not tried.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        self._key: Any = None
        self._count = 0
        self._results: list[Any] = []
        self._graph: Any = None
        self._pool: Any = None
        self.failure: str = ""

    def run(self, function: Callable[[], list[Any]], key: Any) -> list[Any]:
        """Call a function, or launch its graph; return the results as new arrays.

        Args:
            function: Function without arguments that launches the same kernels for equal keys.
            key: What it depends on: the addresses of arrays.
        """
        if self.failure:
            return function()
        if key != self._key:
            self._key, self._count, self._graph, self._results = key, 0, None, []
        self._count += 1
        if self._count == 1:
            return function()
        if self._count == 2:
            return self._run_in_pool(function)
        if self._graph is None and not self._capture(function):
            return function()
        self._graph.launch()
        return [array.copy("K") for array in self._results]

    def _run_in_pool(self, function: Callable[[], list[Any]]) -> list[Any]:
        """Call a function on the stream of the captures, with memory of their pool."""
        cuda = self._library.cuda
        if self._pool is None:
            self._pool = cuda.MemoryPool()
            self._stream = cuda.Stream(non_blocking=True)
        cuda.get_current_stream().synchronize()
        with cuda.using_allocator(self._pool.malloc), self._stream:
            results = function()
        self._stream.synchronize()
        return [array.copy("K") for array in results]

    def _capture(self, function: Callable[[], list[Any]]) -> bool:
        """Capture a call, which launches nothing; False if something in it waits for the device."""
        cuda = self._library.cuda
        cuda.get_current_stream().synchronize()
        with cuda.using_allocator(self._pool.malloc), self._stream as stream:
            stream.begin_capture()
            try:
                self._results = function()
            except Exception as error:  # CUDA's, of a call that cannot be captured
                self.failure = f"{type(error).__name__}: {error}"
            try:
                self._graph = stream.end_capture()
            except Exception as error:  # the capture that failed has to be ended, too
                self.failure = self.failure or f"{type(error).__name__}: {error}"
        return not self.failure
