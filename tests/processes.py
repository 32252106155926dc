"""Waits for processes and other things: until they are there, not for a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def wait_until(condition: Callable[[], object], seconds: float = 300.0) -> None:
    """Return when ``condition()`` is true; fail if it is not after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"still false after {seconds:.0f} s"
        time.sleep(0.01)


def is_running(process: int) -> bool:
    """Whether a process with this id exists and is not a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:  # it has ended meanwhile, or the system has no such files
        return not Path("/proc/self/stat").exists()
