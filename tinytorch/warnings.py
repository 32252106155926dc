"""Warnings that name the line of the program, however deep in the library they arise."""

from __future__ import annotations

import os
import sys
import warnings

#: What the names of the library's files begin with, and those of its functions that have none.
_OWN = os.path.dirname(__file__) + os.sep, "<tinytorch "
_every_time = False
#: What ``warn_once`` has said.
_said: set[str] = set()


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """``warnings.warn`` at the innermost line that is not the library's.

    Args:
        message: What to say.
        category: The class of the warning; default ``UserWarning``.
    """
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str) -> None:
    """``warn``, but once in a process; every time after ``set_warn_always(True)``.

    Args:
        message: What to say.
    """
    if _every_time or message not in _said:
        _said.add(message)
        warn(message)


def set_warn_always(b: bool, /) -> None:
    """Remember whether warnings are wanted every time; Python's filters decide about ours.

    Args:
        b: Whether they are.

    Example:
        >>> tt.set_warn_always(False)
    """
    global _every_time
    _every_time = bool(b)


def is_warn_always_enabled() -> bool:
    """What ``set_warn_always`` was told.

    Example:
        >>> tt.is_warn_always_enabled()
        False
    """
    return _every_time


def calls_of_the_program() -> list[str]:
    """The lines of a traceback that leads to here, without the library's at its end."""
    import traceback  # which few programs need

    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(_OWN):
        stack.pop()
    return stack.format()
