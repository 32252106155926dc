"""``torch.distributed.fsdp`` for programs that ask whether a module is sharded: none is."""

from __future__ import annotations

import enum

from ..compat.module_aliases import publish
from ..compat.unsupported import Absent, absent
from ..nn.module import Module

__all__ = [
    "BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "FSDPModule",
    "FullyShardedDataParallel", "MixedPrecision", "MixedPrecisionPolicy", "ShardingStrategy",
    "StateDictType", "fully_shard",
]  # fmt: skip

_WHY = "tinytorch trains in one process: nothing is sharded"
fully_shard = absent("distributed.fsdp.fully_shard", _WHY)
register_fsdp_forward_method = absent("distributed.fsdp.register_fsdp_forward_method", _WHY)
transformer_auto_wrap_policy = absent("distributed.fsdp.transformer_auto_wrap_policy", _WHY)
size_based_auto_wrap_policy = absent("distributed.fsdp.size_based_auto_wrap_policy", _WHY)
lambda_auto_wrap_policy = absent("distributed.fsdp.lambda_auto_wrap_policy", _WHY)


class FullyShardedDataParallel(Absent, Module, why=_WHY):
    """A module whose parameters are spread over processes, which none is here."""


class FSDPModule(Absent, why=_WHY):
    """A module that ``fully_shard`` has spread, which none is here."""


class CPUOffload(Absent, why=_WHY):
    """Whether parameters wait on the CPU."""


class CPUOffloadPolicy(Absent, why=_WHY):
    """Whether parameters wait on the CPU."""


class MixedPrecision(Absent, why=_WHY):
    """The dtypes of a sharded module."""


class MixedPrecisionPolicy(Absent, why=_WHY):
    """The dtypes of a sharded module."""


class ModuleWrapPolicy(Absent, why=_WHY):
    """Which parts of a module are sharded by themselves."""


class ShardedGradScaler(Absent, why=_WHY):
    """``GradScaler`` for sharded modules."""


class ShardingStrategy(enum.Enum):
    """What is spread over the processes.

    Example:
        >>> from tinytorch.distributed.fsdp import ShardingStrategy
        >>> ShardingStrategy.FULL_SHARD.name
        'FULL_SHARD'
    """

    FULL_SHARD = 1
    SHARD_GRAD_OP = 2
    NO_SHARD = 3
    HYBRID_SHARD = 4
    _HYBRID_SHARD_ZERO2 = 5


class BackwardPrefetch(enum.Enum):
    """When parameters are gathered during the backward pass.

    Example:
        >>> from tinytorch.distributed.fsdp import BackwardPrefetch
        >>> BackwardPrefetch.BACKWARD_PRE.name
        'BACKWARD_PRE'
    """

    BACKWARD_PRE = 1
    BACKWARD_POST = 2


class StateDictType(enum.Enum):
    """The form of a sharded module's state dict.

    Example:
        >>> from tinytorch.distributed.fsdp import StateDictType
        >>> StateDictType.FULL_STATE_DICT.name
        'FULL_STATE_DICT'
    """

    FULL_STATE_DICT = 1
    LOCAL_STATE_DICT = 2
    SHARDED_STATE_DICT = 3


publish(__name__, "api wrap fully_sharded_data_parallel sharded_grad_scaler")
