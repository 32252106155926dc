"""Communication hooks of ``DistributedDataParallel``, which reduce its buckets."""

from __future__ import annotations

from .hook_types import DDPCommHookType as DDPCommHookType
from .hook_types import register_ddp_comm_hook as register_ddp_comm_hook

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]
