"""Communication hooks by name."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from . import debugging_hooks, default_hooks, powerSGD_hook, quantization_hooks

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


def _register(hook: Callable[..., Any], model: Any, state: Any = None) -> None:
    model.register_comm_hook(state, hook)


def _register_power_sgd(hook: Callable[..., Any], rank: int, model: Any, state: Any = None) -> None:
    """Register a PowerSGD hook with a model.

    Args:
        hook: ``powerSGD_hook`` or ``batched_powerSGD_hook``.
        rank: Rank of the approximating matrices.
        model: A ``DistributedDataParallel``.
        state: The process group; None is the default group.
    """
    model.register_comm_hook(powerSGD_hook.PowerSGDState(state, rank), hook)


class _Registration:
    """Value of a ``DDPCommHookType``: registers a hook with a model when called."""

    def __init__(self, register: Callable[..., None], *args: Any) -> None:
        self._register = partial(register, *args)

    def __call__(self, model: Any, state: Any = None) -> None:
        self._register(model, state)


class DDPCommHookType(Enum):
    """Communication hooks by name, for ``register_ddp_comm_hook``.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import DDPCommHookType
        >>> DDPCommHookType.FP16_COMPRESS.name
        'FP16_COMPRESS'
    """

    ALLREDUCE = _Registration(_register, default_hooks.allreduce_hook)
    FP16_COMPRESS = _Registration(_register, default_hooks.fp16_compress_hook)
    BF16_COMPRESS = _Registration(_register, default_hooks.bf16_compress_hook)
    QUANTIZE_PER_TENSOR = _Registration(_register, quantization_hooks.quantization_pertensor_hook)
    QUANTIZE_PER_CHANNEL = _Registration(_register, quantization_hooks.quantization_perchannel_hook)
    POWER_SGD = _Registration(_register_power_sgd, powerSGD_hook.powerSGD_hook, 1)
    POWER_SGD_RANK2 = _Registration(_register_power_sgd, powerSGD_hook.powerSGD_hook, 2)
    BATCHED_POWER_SGD = _Registration(_register_power_sgd, powerSGD_hook.batched_powerSGD_hook, 1)
    BATCHED_POWER_SGD_RANK2 = _Registration(
        _register_power_sgd, powerSGD_hook.batched_powerSGD_hook, 2
    )
    NOOP = _Registration(_register, debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a communication hook, by its name, with ``DistributedDataParallel``.

    Args:
        comm_hook_type: The hook.
        model: The ``DistributedDataParallel`` model.
        state: The process group. Default: None, the default group.

    Example:
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import (
        ...     DDPCommHookType, register_ddp_comm_hook,
        ... )
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
        >>> register_ddp_comm_hook(DDPCommHookType.FP16_COMPRESS, model)
        >>> model(tt.ones(1, 1)).sum().backward()
        >>> tt.distributed.destroy_process_group()
    """
    comm_hook_type.value(model=model, state=state)
