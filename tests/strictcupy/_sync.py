"""A log of the moments at which a GPU would have to be waited for.

``with strictcupy.record_syncs() as log:`` collects them; outside such a block nothing is stored, so
that the whole test suite can run on the stand-in at full speed.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_PACKAGE = str(Path(__file__).parent)


class Sync(NamedTuple):
    """One transfer or wait: its kind (``"item"``, ``"mask"``, ``"upload"``, …) and who asked."""

    kind: str
    where: str


_recordings: list[list[Sync]] = []


@contextlib.contextmanager
def record_syncs() -> Iterator[list[Sync]]:
    """Collect in a list every transfer and host synchronisation inside the block.

    Kind ``"upload"`` is a copy from host to device, which does not make the host wait; every other
    kind does.
    """
    log: list[Sync] = []
    _recordings.append(log)
    try:
        yield log
    finally:
        # By identity: two empty logs are equal.
        _recordings[:] = [other for other in _recordings if other is not log]


def waits(step: Callable[[], object]) -> list[str]:
    """Return what made the host wait in ``step``, after a first one that sets things up."""
    step()
    with record_syncs() as log:
        step()
    return [f"{entry.kind} at {entry.where}" for entry in log if entry.kind != "upload"]


def log_sync(kind: str) -> None:
    """Add an entry to every recording in progress."""
    if not _recordings:
        return
    entry = Sync(kind, _caller())
    for log in _recordings:
        log.append(entry)


def _caller() -> str:
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
