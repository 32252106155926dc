"""Waiting until all processes of a group have come."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from . import debug
from .launch import launch
from .mpi import OBJECT
from .process_group import ProcessGroup, check_timeout, member
from .work import Work

__all__ = ["barrier", "monitored_barrier"]

_ARRIVED = OBJECT + 1


def barrier(
    group: Any = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Wait until all ranks have come here.

    Args:
        group: Among whom. Default: all.
        async_op: Whether to return a ``Work``. Default: False.
        device_ids: Accepted; means nothing.
        timeout: For how long at most. Default: the group's.

    Raises:
        RuntimeError: If one does not come.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.barrier()
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "barrier")
    if found is None:
        return None
    work = launch(found, "barrier", found.engine.barrier, [], "", None, True)
    if async_op or found.coalesced is not None:
        return work
    work.wait(timeout)  # type: ignore[union-attr]
    return None


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """A barrier whose error says which ranks did not come.

    Args:
        group: Among whom. Default: all.
        timeout: For how long to wait for each. Default: the group's.
        wait_all_ranks: Whether to wait for all before saying who is missing, and not to name the
            first alone. Default: False.

    Raises:
        RuntimeError: On rank 0, naming the missing ranks; on others, if it did not answer.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.monitored_barrier()
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "monitored_barrier")
    if found is None:
        return
    wait = found.timeout if timeout is None else check_timeout(timeout)
    deadline = time.monotonic() + wait.total_seconds()
    control, others = found.engine.control, range(1, found.size())
    if found.rank():
        control.Isend(bytearray(), 0, _ARRIVED)
        _await(found, [0], deadline, wait_all_ranks)
        return
    _await(found, others, deadline, wait_all_ranks)
    for rank in others:
        control.Isend(bytearray(), rank, _ARRIVED)


def _await(group: ProcessGroup, ranks: Sequence[int], deadline: float, every: bool) -> None:
    """Receive a sign of life from each of some ranks."""
    control, missing = group.engine.control, list(ranks)
    while missing:
        for rank in list(missing):
            if control.Iprobe(rank, _ARRIVED):
                control.Recv(bytearray(), rank, _ARRIVED)
                missing.remove(rank)
        if missing and time.monotonic() > deadline:
            debug.silent(group, missing if every else missing[:1], "monitoredBarrier")
        time.sleep(1e-4)
