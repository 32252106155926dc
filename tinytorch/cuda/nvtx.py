"""Named ranges and marks in the timelines of NVIDIA's profilers, as ``torch.cuda.nvtx``.

Without a device, every function raises ``BackendUnavailableError``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .queries import backend

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _nvtx() -> Any:
    """The module ``cupy.cuda.nvtx``.

    Raises:
        RuntimeError: If CuPy was built without NVTX.
    """
    found = backend().cuda.nvtx
    if not getattr(found, "available", True):
        raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")
    return found


def range_push(msg: str) -> None:
    """Begin a range, nested in the range that began last.

    Args:
        msg: Name of the range.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.nvtx.range_push("step")
        ...     tt.cuda.nvtx.range_pop()
    """
    _nvtx().RangePush(msg)


def range_pop() -> None:
    """End the innermost range that ``range_push`` began.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.nvtx.range_push("step")
        ...     tt.cuda.nvtx.range_pop()
    """
    _nvtx().RangePop()


def range_start(msg: str) -> int:
    """Begin a range that may overlap other ranges, and return its identifier.

    Args:
        msg: Name of the range.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.nvtx.range_end(tt.cuda.nvtx.range_start("step"))
    """
    return int(_nvtx().RangeStart(msg, 0))


def range_end(range_id: int) -> None:
    """End a range that ``range_start`` began.

    Args:
        range_id: The identifier that ``range_start`` returned.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.nvtx.range_end(tt.cuda.nvtx.range_start("step"))
    """
    _nvtx().RangeEnd(range_id)


def mark(msg: str) -> None:
    """Mark a moment in the timeline.

    Args:
        msg: Name of the mark.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.nvtx.mark("begin")
    """
    _nvtx().Mark(msg)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Context manager or decorator whose block is one range.

    Args:
        msg: Name of the range, in which ``str.format`` inserts the other arguments.

    Example:
        >>> if tt.cuda.is_available():
        ...     with tt.cuda.nvtx.range("step"):
        ...         y = tt.ones(1, device="cuda") + 1
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
