"""``torch.xpu`` for programs that ask for Intel's GPUs: there are none."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "get_rng_state",
    "is_available", "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "seed",
    "set_device", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.is_available()
        False
    """
    return False


is_initialized = is_bf16_supported = is_available


def device_count() -> int:
    """0.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.device_count()
        0
    """
    return 0


def memory_allocated(device: Any = None) -> int:
    """0: there is no memory of such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.memory_allocated(), tt.xpu.max_memory_reserved()
        (0, 0)
    """
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def empty_cache() -> None:
    """Nothing: there is no memory of such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.empty_cache()
    """


def manual_seed(seed: int) -> None:
    """Nothing, as in PyTorch without such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.manual_seed(0)
    """


manual_seed_all = manual_seed


def seed() -> None:
    """Nothing, as in PyTorch without such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.seed()
    """


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available.

    Raises:
        AssertionError: Always, as in PyTorch without such a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.xpu.synchronize()
        Traceback (most recent call last):
            ...
        AssertionError: Torch not compiled with XPU enabled: tinytorch has none of Intel's GPUs
    """
    raise AssertionError("Torch not compiled with XPU enabled: tinytorch has none of Intel's GPUs")


current_device = get_device_name = get_rng_state = set_device = synchronize = _refuse
