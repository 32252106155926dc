"""``torch.distributed.rpc`` for programs that ask whether it is there: it is not."""

from __future__ import annotations

from ..compat.unsupported import Absent, absent

__all__ = [
    "RRef", "TensorPipeRpcBackendOptions", "init_rpc", "is_available", "remote", "rpc_async",
    "rpc_sync", "shutdown",
]  # fmt: skip

_WHY = "tinytorch works in one process: there is none to call"
init_rpc, remote, rpc_async, rpc_sync, shutdown = (
    absent(f"distributed.rpc.{name}", _WHY)
    for name in ("init_rpc", "remote", "rpc_async", "rpc_sync", "shutdown")
)


class RRef(Absent, why=_WHY):
    """A value in another process, which nothing is here."""


class TensorPipeRpcBackendOptions(Absent, why=_WHY):
    """How to call other processes; making one raises."""


def is_available() -> bool:
    """False.

    Example:
        >>> from tinytorch.distributed import rpc
        >>> rpc.is_available()
        False
    """
    return False
