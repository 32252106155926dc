"""Segments of the system's shared memory, for tests that none is left behind."""

from __future__ import annotations

from pathlib import Path

from tests.processes import wait_until

FOLDER = Path("/dev/shm")


def segments(*others: str) -> set[str]:
    """Names of the segments, without those that tests running at the same time may have made.

    Args:
        *others: Parts of names to leave out, besides those of scikit-learn's workers.
    """
    names = {path.name for path in FOLDER.iterdir()} if FOLDER.is_dir() else set()
    return {name for name in names if not any(part in name for part in ("joblib", "loky", *others))}


def assert_none_left(before: set[str], *others: str) -> None:
    """Fail if a segment that was not there ``before`` stays.

    Tests that run at the same time make segments, too, which end with them.
    """
    new = segments(*others) - before
    wait_until(lambda: not new & segments(*others))
