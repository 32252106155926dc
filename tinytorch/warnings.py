"""Warnings that point at the line of the program that called into tinytorch."""

from __future__ import annotations

import os
import sys
import warnings

#: Beginnings of the file names of tinytorch's code; generated functions have the second one.
_OWN = os.path.dirname(__file__) + os.sep, "<tinytorch "
_warn_always = False
#: Messages for which ``warn_once`` has warned.
_warned: set[str] = set()


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Call ``warnings.warn`` for the innermost line outside tinytorch.

    Args:
        message: Text of the warning.
        category: The class of the warning; default ``UserWarning``.
    """
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str) -> None:
    """Call ``warn``, but once in a process, or every time after ``set_warn_always(True)``.

    Args:
        message: Text of the warning.
    """
    if _warn_always or message not in _warned:
        _warned.add(message)
        warn(message)


def set_warn_always(b: bool, /) -> None:
    """Choose whether warnings that appear once in a process appear every time.

    Python's warning filters then apply to each of them.

    Args:
        b: Whether they appear every time.

    Example:
        >>> tt.set_warn_always(False)
    """
    global _warn_always
    _warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """Whether ``set_warn_always(True)`` is in effect.

    Example:
        >>> tt.is_warn_always_enabled()
        False
    """
    return _warn_always


def program_traceback() -> list[str]:
    """Traceback of the current call as text, without the innermost frames inside tinytorch."""
    import traceback  # imported here, because few programs need it

    stack = traceback.extract_stack()
    while stack and stack[-1].filename.startswith(_OWN):
        stack.pop()
    return stack.format()
