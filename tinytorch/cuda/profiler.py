"""Start and stop NVIDIA's profilers, as ``torch.cuda.profiler``.

Without a device, every function raises ``BackendUnavailableError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .queries import backend

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Start the profiler that this program runs under.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.profiler.start()
        ...     tt.cuda.profiler.stop()
    """
    backend().cuda.runtime.profilerStart()


def stop() -> None:
    """Stop the profiler that this program runs under.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.profiler.stop()
    """
    backend().cuda.runtime.profilerStop()


@contextmanager
def profile() -> Iterator[None]:
    """Context manager that starts the profiler on entry and stops it on exit.

    Example:
        >>> if tt.cuda.is_available():
        ...     with tt.cuda.profiler.profile():
        ...         x = tt.ones(2, device="cuda").sum()
    """
    start()
    try:
        yield
    finally:
        stop()
