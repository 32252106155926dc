"""``torch.distributed`` for programs that ask whether it is there: it is not."""

from __future__ import annotations

import datetime
import enum
from types import SimpleNamespace
from typing import Any, NoReturn

from ..compat.module_aliases import publish
from ..compat.unsupported import Absent
from . import device_mesh as device_mesh
from . import rpc as rpc
from .device_mesh import DeviceMesh as DeviceMesh
from .device_mesh import init_device_mesh as init_device_mesh

__all__ = [
    "Backend", "GradBucket", "GroupMember", "P2POp", "ProcessGroup", "ReduceOp", "Work",
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all",
    "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "destroy_process_group", "gather", "gather_object", "get_backend", "get_global_rank",
    "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "irecv", "is_available", "is_gloo_available", "is_initialized",
    "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "isend",
    "monitored_barrier", "new_group", "nn", "recv", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
]  # fmt: skip


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.is_available()
        False
    """
    return False


def is_initialized() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.is_initialized()
        False
    """
    return False


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("gloo")
        Traceback (most recent call last):
            ...
        NotImplementedError: distributed: tinytorch trains in one process
    """
    raise NotImplementedError("distributed: tinytorch trains in one process")


def destroy_process_group(group: Any = None) -> None:
    """Nothing: there is none.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.destroy_process_group()
    """


def _without_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available: there are no other processes.

    Raises:
        ValueError: Always, as in PyTorch before ``init_process_group``.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.is_initialized() and tt.distributed.get_rank()
        False
    """
    raise ValueError(
        "Default process group has not been initialized, please make sure to call "
        "init_process_group."
    )


all_gather = all_gather_object = all_reduce = all_to_all = barrier = broadcast = _without_group
broadcast_object_list = gather = gather_object = get_backend = get_rank = _without_group
get_world_size = new_group = recv = reduce = reduce_scatter = scatter = send = _without_group
all_gather_into_tensor = all_to_all_single = batch_isend_irecv = get_global_rank = _without_group
get_group_rank = get_process_group_ranks = irecv = isend = monitored_barrier = _without_group
reduce_scatter_tensor = scatter_object_list = _without_group
is_nccl_available = is_torchelastic_launched = is_gloo_available = is_available
is_mpi_available = is_available
#: How long processes wait for each other in PyTorch.
default_pg_timeout = datetime.timedelta(minutes=30)
#: The forms of these functions that can be differentiated.
nn = SimpleNamespace(
    all_gather=_without_group, all_reduce=_without_group, all_to_all=_without_group,
    broadcast=_without_group, gather=_without_group, reduce=_without_group,
    reduce_scatter=_without_group, scatter=_without_group,
)  # fmt: skip


class ProcessGroup:
    """What processes that work together are in PyTorch; nothing here is an instance of it.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(None, tt.distributed.ProcessGroup)
        False
    """


class ReduceOp:
    """How ``all_reduce`` puts together what the processes give.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.ReduceOp.SUM.name
        'SUM'
    """

    class RedOpType(enum.Enum):
        """The ways there are."""

        SUM = 0
        AVG = 1
        PRODUCT = 2
        MIN = 3
        MAX = 4
        BAND = 5
        BOR = 6
        BXOR = 7

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = RedOpType


class Backend(str):
    """The name of what carries messages between processes, in lower case.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.Backend("GLOO") == tt.distributed.Backend.GLOO
        True
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI = "undefined", "gloo", "nccl", "ucc", "mpi"

    def __new__(cls, name: str) -> Backend:
        return super().__new__(cls, name.lower())


class GradBucket(Absent, why="tinytorch trains in one process"):
    """Gradients that processes exchange together, which nothing is here."""


class P2POp(Absent, why="tinytorch works in one process"):
    """A message to or from another process, which nothing is here."""


class Work(Absent, why="tinytorch works in one process"):
    """A message on its way, which nothing is here."""


class group:
    """The group of all processes: None, there is none.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.group.WORLD
    """

    WORLD = None


GroupMember = group
publish(__name__, "constants distributed_c10d")
