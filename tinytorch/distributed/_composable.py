"""The older home of ``torch.distributed.fsdp.fully_shard``."""

from __future__ import annotations

from ..compat.module_aliases import publish
from .fsdp import FSDPModule as FSDPModule
from .fsdp import fully_shard as fully_shard

__all__ = ["FSDPModule", "fully_shard"]

publish(__name__, "fsdp")
