"""What lies in the system's shared memory, for tests that nothing is left there."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path("/dev/shm")


def segments(*others: str) -> set[str]:
    """Names of what lies there, but what tests that run at the same time may have put there.

    Args:
        *others: Parts of more names to leave out; scikit-learn's always are.
    """
    names = {path.name for path in FOLDER.iterdir()} if FOLDER.is_dir() else set()
    return {name for name in names if not any(part in name for part in ("joblib", "loky", *others))}
