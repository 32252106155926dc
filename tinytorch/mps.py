"""``torch.mps`` for programs that ask for Apple's GPUs: there are none."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_allocated_memory", "device_count", "driver_allocated_memory", "empty_cache",
    "get_rng_state", "is_available", "manual_seed", "recommended_max_memory", "seed",
    "set_per_process_memory_fraction", "set_rng_state", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.mps.is_available()
        False
    """
    return False


def device_count() -> int:
    """0.

    Example:
        >>> import tinytorch as tt
        >>> tt.mps.device_count()
        0
    """
    return 0


def manual_seed(seed: int) -> None:
    """Nothing, as in PyTorch without such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.mps.manual_seed(0)
    """


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available.

    Raises:
        RuntimeError: Always, as in PyTorch without such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.mps.synchronize()
        Traceback (most recent call last):
            ...
        RuntimeError: Cannot execute without MPS backend: tinytorch has none of Apple's GPUs
    """
    raise RuntimeError("Cannot execute without MPS backend: tinytorch has none of Apple's GPUs")


current_allocated_memory = driver_allocated_memory = empty_cache = get_rng_state = _refuse
recommended_max_memory = seed = set_per_process_memory_fraction = set_rng_state = _refuse
synchronize = _refuse
