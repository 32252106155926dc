"""Monitored mode: before each collective the ranks tell each other what they are about to call."""

from __future__ import annotations

import enum
import json
import os
import time
from collections.abc import Sequence
from typing import Any

from .errors import DistBackendError

__all__ = ["DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]

_VARIABLE = "TORCH_DISTRIBUTED_DEBUG"


class DebugLevel(enum.Enum):
    """How closely ranks watch each other; ``DETAIL`` is the monitored mode.

    Example:
        >>> tt.distributed.DebugLevel.DETAIL.name
        'DETAIL'
    """

    OFF = 0
    INFO = 1
    DETAIL = 2


class _Level:
    def __init__(self) -> None:
        self.level: DebugLevel | None = None


_state = _Level()


def get_debug_level() -> DebugLevel:
    """The level that was set, or that the variable ``TORCH_DISTRIBUTED_DEBUG`` names.

    Example:
        >>> tt.distributed.get_debug_level()
        <DebugLevel.OFF: 0>
    """
    if _state.level is None:
        set_debug_level_from_env()
    return _state.level or DebugLevel.OFF


def set_debug_level(level: DebugLevel) -> None:
    """Set the level; all ranks need the same.

    Args:
        level: A ``DebugLevel``.

    Example:
        >>> tt.distributed.set_debug_level(tt.distributed.DebugLevel.OFF)
    """
    _state.level = level


def set_debug_level_from_env() -> None:
    """Set the level that ``TORCH_DISTRIBUTED_DEBUG`` names: OFF, INFO or DETAIL.

    Raises:
        RuntimeError: If it names another.

    Example:
        >>> tt.distributed.set_debug_level_from_env()
    """
    name = os.environ.get(_VARIABLE, "OFF").upper()
    if name not in DebugLevel.__members__:
        raise RuntimeError(f"The value of {_VARIABLE} must be OFF, INFO, or DETAIL, got {name}")
    _state.level = DebugLevel[name]


def compare(group: Any, mine: str) -> None:
    """Tell all ranks of a group what this one calls, and learn what they do.

    Args:
        group: The group.
        mine: The collective, with shapes, dtypes, and what else has to be the same.

    Raises:
        RuntimeError: Naming the first rank that calls something else, or those that call nothing
            within the group's timeout.
    """
    theirs = exchange(group, [group.sequence, mine], f"collective {mine}")
    for rank, (sequence, call) in enumerate(theirs):
        if (sequence, call) != (group.sequence, mine):
            raise RuntimeError(
                "Detected mismatch between collectives on ranks. Rank "
                f"{group.ranks[group.rank()]} is running collective: CollectiveFingerPrint("
                f"SequenceNumber={group.sequence}, {mine}), but Rank {group.ranks[rank]} is "
                f"running collective: CollectiveFingerPrint(SequenceNumber={sequence}, {call})."
            )


def exchange(group: Any, value: Any, what: str) -> list[Any]:
    """What every rank of a group gives, by messages beside the program's own.

    Raises:
        RuntimeError: Naming the ranks that give nothing within the group's timeout.
    """
    from .mpi import OBJECT

    engine, size = group.engine, group.size()
    control = engine.control
    content = json.dumps(value).encode()
    sent = [control.Isend(content, rank, OBJECT) for rank in range(size)]
    found: dict[int, Any] = {}
    deadline = time.monotonic() + group.timeout.total_seconds()
    status = engine.MPI.Status()
    while len(found) < size:
        missing = [rank for rank in range(size) if rank not in found]
        for rank in missing:
            if control.Iprobe(rank, OBJECT, status):
                came = bytearray(status.Get_count(engine.MPI.BYTE))
                control.Recv(came, rank, OBJECT)
                found[rank] = json.loads(came)
        if time.monotonic() > deadline:
            silent(group, missing, what)
        os.sched_yield()
    engine.MPI.Request.Waitall(sent)
    return [found[rank] for rank in range(size)]


def silent(group: Any, ranks: Sequence[int], what: str) -> None:
    """Name the ranks of a group that did not answer.

    Raises:
        RuntimeError: Always.
    """
    names = ", ".join(str(group.ranks[rank]) for rank in ranks)
    seconds = group.timeout.total_seconds()
    group.engine.on_host.fail()
    raise DistBackendError(
        f"Rank {group.ranks[group.rank()]}: {what}: Ranks {names} failed to pass monitoredBarrier "
        f"in {1000 * seconds:.0f} ms"
    )


def is_monitored() -> bool:
    """Whether ranks tell each other what they call before each collective."""
    return get_debug_level() is DebugLevel.DETAIL
