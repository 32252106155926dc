"""``torch.backends.cudnn``: switches that programs set. CuPy has no cuDNN, so they do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags",
    "is_acceptable", "is_available", "set_flags", "version",
]  # fmt: skip

enabled: bool = True
benchmark: bool = False
benchmark_limit: int | None = 10
deterministic: bool = False
allow_tf32: bool = True
fp32_precision: str = "none"


def is_available() -> bool:
    """False.

    Example:
        >>> tt.backends.cudnn.is_available()
        False
    """
    return False


def is_acceptable(tensor: Any) -> bool:
    """False: cuDNN computes nothing here.

    Example:
        >>> tt.backends.cudnn.is_acceptable(tt.ones(1))
        False
    """
    return False


def version() -> int | None:
    """None.

    Example:
        >>> tt.backends.cudnn.version() is None
        True
    """
    return None


def set_flags(**values: Any) -> dict[str, Any]:
    """Set switches by name and return their former values; None leaves a switch unchanged.

    Raises:
        TypeError: If there is no such switch.

    Example:
        >>> tt.backends.cudnn.set_flags(benchmark=False)
        {'benchmark': False}
    """
    unknown = [name.lstrip("_") for name in values if name.lstrip("_") not in __all__]
    if unknown:
        raise TypeError(f"set_flags: there is no switch {unknown[0]!r}")
    switches = globals()
    before = {name.lstrip("_"): switches[name.lstrip("_")] for name in values}
    switches.update({name.lstrip("_"): v for name, v in values.items() if v is not None})
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """Set the switches inside a ``with`` block.

    Example:
        >>> with tt.backends.cudnn.flags(benchmark=True):
        ...     tt.backends.cudnn.benchmark
        True
    """
    values = {
        "enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit,
        "deterministic": deterministic, "allow_tf32": allow_tf32,
    }  # fmt: skip
    switches = globals()
    before = {name: switches[name] for name in values}
    try:
        set_flags(**values)
        yield
    finally:
        switches.update(before)
