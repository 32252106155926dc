"""Debug levels: with ``DETAIL``, the ranks compare each collective before they start it."""

from __future__ import annotations

import enum
import json
import os
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .errors import DistBackendError

__all__ = ["DebugLevel", "get_debug_level", "set_debug_level", "set_debug_level_from_env"]

_VARIABLE = "TORCH_DISTRIBUTED_DEBUG"


class DebugLevel(enum.Enum):
    """Debug level; with ``DETAIL``, ranks compare each collective before they start it.

    Example:
        >>> tt.distributed.DebugLevel.DETAIL.name
        'DETAIL'
    """

    OFF = 0
    INFO = 1
    DETAIL = 2


class _State:
    """The debug level; None until it is set or read from the environment."""

    level: DebugLevel | None = None


_state = _State()


def get_debug_level() -> DebugLevel:
    """The debug level; initially the value of the variable ``TORCH_DISTRIBUTED_DEBUG``.

    Example:
        >>> tt.distributed.get_debug_level()
        <DebugLevel.OFF: 0>
    """
    if _state.level is None:
        set_debug_level_from_env()
    return _state.level or DebugLevel.OFF


def set_debug_level(level: DebugLevel) -> None:
    """Set the debug level, which must be the same on all ranks.

    Args:
        level: A ``DebugLevel``.

    Example:
        >>> tt.distributed.set_debug_level(tt.distributed.DebugLevel.OFF)
    """
    _state.level = level


def set_debug_level_from_env() -> None:
    """Set the debug level to the value of ``TORCH_DISTRIBUTED_DEBUG``: OFF, INFO or DETAIL.

    Raises:
        RuntimeError: If it has another value.

    Example:
        >>> tt.distributed.set_debug_level_from_env()
    """
    name = os.environ.get(_VARIABLE, "OFF").upper()
    if name not in DebugLevel.__members__:
        raise RuntimeError(f"The value of {_VARIABLE} must be OFF, INFO, or DETAIL, got {name}")
    _state.level = DebugLevel[name]


def compare_fingerprints(group: Any, mine: str) -> None:
    """Check that all ranks of a group are about to call the same collective.

    Args:
        group: Process group.
        mine: Description of this rank's collective, its shapes, dtypes and other arguments.

    Raises:
        RuntimeError: Naming the first rank that calls something else, or the ranks that call
            nothing within the group's timeout.
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


def exchange(group: Any, value: Any, description: str) -> list[Any]:
    """Gather a JSON value from every rank of a group, on the control communicator.

    Args:
        group: Process group.
        value: This rank's value.
        description: Description of the call, for errors.

    Returns:
        The values of all ranks, by rank in the group.

    Raises:
        RuntimeError: Naming the ranks that send nothing within the group's timeout.
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
                received = bytearray(status.Get_count(engine.MPI.BYTE))
                control.Recv(received, rank, OBJECT)
                found[rank] = json.loads(received)
        if time.monotonic() > deadline:
            raise_missing_ranks(group, missing, description, group.timeout)
        os.sched_yield()
    engine.MPI.Request.Waitall(sent)
    return [found[rank] for rank in range(size)]


def raise_missing_ranks(
    group: Any, ranks: Sequence[int], description: str, timeout: timedelta
) -> None:
    """Raise a ``DistBackendError`` which names the ranks of a group that did not arrive in time.

    Args:
        group: Process group.
        ranks: Ranks in the group that did not arrive.
        description: Description of the call, for the error.
        timeout: The time for which the call waited.
    """
    names = ", ".join(str(group.ranks[rank]) for rank in ranks)
    group.engine.on_host.fail()
    raise DistBackendError(
        f"Rank {group.ranks[group.rank()]}: {description}: Ranks {names} failed to pass "
        f"monitoredBarrier in {1000 * timeout.total_seconds():.0f} ms"
    )


def is_monitored() -> bool:
    """Whether ranks compare each collective before they start it: the level is ``DETAIL``."""
    return get_debug_level() is DebugLevel.DETAIL
