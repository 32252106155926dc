"""When OpenBLAS last shared a product among its threads.

They spin for some 30 ms before they sleep (``THREAD_TIMEOUT`` in its ``Makefile.rule``: 2**26
ticks of the processor's clock), and for as long take the cores from threads of ours. Work whose
products OpenBLAS can share as well is then better left to it.
"""

from __future__ import annotations

from time import monotonic

# From how many elements on OpenBLAS may share a product of two operands: 2304 times its
# GEMM_MULTITHREAD_THRESHOLD of 4, for that of a matrix and a vector.
FEW = 9216
_SPIN = 0.03

_shares = True
_last = -1.0


def share(whether: bool) -> None:
    """Note whether it may share any, which threads of ours forbid while they run."""
    global _shares
    _shares = whether


def note(elements: int) -> None:
    """A product of operands with so many elements is about to run."""
    global _last
    if elements > FEW and _shares:
        _last = monotonic()


def is_recent() -> bool:
    """Whether OpenBLAS's threads may still spin."""
    return monotonic() - _last < _SPIN
