"""Bounds on the work of reading a hostile file: counts, which a busy machine does not change."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Calls of functions, in Python and in C: a second or so, of which an import takes a part.
CALLS = 500_000
#: Bytes allocated at one time.
MEMORY = 64 << 20


@contextmanager
def limits() -> Iterator[None]:
    """Fail a block that makes more calls or takes more memory than a small file needs.

    Calls stand for seconds. A block that reaches their limit ends there with an error.
    """
    made = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")
        if made > CALLS:
            sys.setprofile(None)
            raise AssertionError(f"more than {CALLS} calls")

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # A block may have replaced the error by its own.
    assert made <= CALLS and peak < MEMORY, (made, peak)
