"""Which part of a program NVIDIA's profilers look at: ``torch.cuda.profiler``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .queries import backend

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Have a profiler that waits for it begin.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.profiler.start()
        ...     tt.cuda.profiler.stop()
    """
    backend().cuda.runtime.profilerStart()


def stop() -> None:
    """Have the profiler stop.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.profiler.stop()
    """
    backend().cuda.runtime.profilerStop()


@contextmanager
def profile() -> Iterator[None]:
    """A context in which the profiler looks.

    Raises:
        BackendUnavailableError: Without a device.

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
