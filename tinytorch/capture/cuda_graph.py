"""Runs of a program as a CUDA graph, which is launched as a whole.

A graph reads and writes the memory with which it was captured. It holds for the arrays of that
call, and all that it allocates comes from a pool of its own, so that nothing else uses it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any


class CapturedRun:
    """Runs of a function on a stream of its own, captured when the arguments are the same again.

    The first run on some arguments compiles what CuPy compiles on first use, the second fills the
    pool, the third is captured. An argument that may be copied, as a batch of data, is copied to
    memory of the graph when it is another array than in the run before.

    Args:
        library: CuPy.
        makers: For the numbers of the arguments whose addresses the function depends on: a
            function that returns memory for a copy, or None if the argument must not be copied.

    Attributes:
        failure: Why a run could not be captured; later ones are not tried.
    """

    def __init__(self, library: Any, makers: dict[int, Callable[[], Any] | None]) -> None:
        self._library, self._makers = library, makers
        self._addresses: dict[int, int] = {}
        self._copies: dict[int, Any] = {}
        self._count = 0
        self._results: list[Any] = []
        self._graph: Any = None
        self._pool: Any = None
        self.failure: str = ""

    def run(self, function: Callable[..., list[Any]], arrays: Sequence[Any]) -> list[Any]:
        """Call a function, or launch its graph; return the results as new arrays.

        Args:
            function: Function that launches the same kernels for arrays at the same addresses.
            arrays: Its arguments.
        """
        if self.failure:
            return function(*arrays)
        self._compare_addresses(arrays)
        given = list(arrays)
        for i, copy in self._copies.items():
            copy[...] = arrays[i]
            given[i] = copy
        work = functools.partial(function, *given)
        self._count += 1
        if self._count == 1:
            return work()
        if self._count == 2:
            return self._run_in_pool(work)
        if self._graph is None and not self._capture(work):
            return work()
        self._graph.launch()
        return [array.copy("K") for array in self._results]

    def _compare_addresses(self, arrays: Sequence[Any]) -> None:
        """Begin anew if an argument that is not copied lies elsewhere than in the run before."""
        found = {i: arrays[i].data.ptr for i in self._makers if i not in self._copies}
        if found == self._addresses:
            return
        for i, before in self._addresses.items():
            make = self._makers[i]
            if found[i] != before and make is not None:
                self._copies[i] = make()
                del found[i]
        self._addresses, self._count, self._graph, self._results = found, 0, None, []

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
            try:
                stream.begin_capture()
                self._results = function()
            except Exception as error:  # CUDA's, of a call that cannot be captured
                self.failure = f"{type(error).__name__}: {error}"
            try:
                self._graph = stream.end_capture()
            except Exception as error:  # the capture that failed has to be ended, too
                self.failure = self.failure or f"{type(error).__name__}: {error}"
        return not self.failure
