"""``torch.distributed`` for programs that ask whether it is there: it is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

__all__ = [
    "ProcessGroup", "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "all_to_all",
    "barrier", "broadcast", "broadcast_object_list", "destroy_process_group", "gather",
    "gather_object", "get_backend", "get_rank", "get_world_size", "group", "init_process_group",
    "is_available", "is_initialized", "is_nccl_available", "is_torchelastic_launched",
    "new_group", "nn", "recv", "reduce", "reduce_scatter", "scatter", "send",
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
is_nccl_available = is_torchelastic_launched = is_available
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
        >>> tt.distributed.ReduceOp.SUM
        'SUM'
    """

    SUM, AVG, PRODUCT, MIN, MAX = "SUM", "AVG", "PRODUCT", "MIN", "MAX"


class group:
    """The group of all processes: None, there is none.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.group.WORLD
    """

    WORLD = None
