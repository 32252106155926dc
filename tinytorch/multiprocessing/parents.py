"""What a process does when the one that started it is gone, however that ended."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable

#: Seconds between two looks.
_INTERVAL = 1.0


def when_parent_ends(action: Callable[[], object]) -> None:
    """Let a thread call ``action`` within seconds of the end of the process that started this one.

    Args:
        action: What to do. A process that nobody started never does it.

    Example:
        >>> import os
        >>> from tinytorch.multiprocessing.parents import when_parent_ends
        >>> when_parent_ends(lambda: os._exit(1))
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent, action), daemon=True).start()


def _watch(parent: multiprocessing.process.BaseProcess, action: Callable[[], object]) -> None:
    # The parent's pipe may be held by processes that it forked later; their number is not.
    born_to = os.getppid()
    while parent.is_alive() and os.getppid() == born_to:
        time.sleep(_INTERVAL)
    action()
