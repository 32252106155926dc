"""Effects of Python code that a replayed program would not repeat.

A program computes tensors. Code that appends to a list, counts an attribute up, prints, reads the
clock or draws from Python's or NumPy's random generators does more. ``SideEffects`` compares what
the function reaches before and after it is recorded, and observes calls of functions of C.
"""

from __future__ import annotations

import datetime
import io
import queue
import random
import sys
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy

from ..state import current_backend
from ..state.bindings import contextmanager
from .code_names import IMPURE, PACKAGE
from .guards import modes
from .python_values import instance_dict, is_same
from .reach import Change, Reach


_WRITERS = frozenset(("write", "writelines"))
_CLOCKS = frozenset(("now", "utcnow", "today"))


class SideEffects:
    """State outside of tensors before a function is recorded.

    Args:
        reach: What the function reads besides its arguments.
        containers: Lists and dicts among its arguments.
    """

    def __init__(self, reach: Reach, containers: list[Any]) -> None:
        self._reach = reach
        self._containers = [(container, _items(container)) for container in containers]
        self._random = _random_states()
        self._modes = modes(current_backend())
        self._calls: list[str] = []
        self._folders = (PACKAGE, *_folders_of_library())

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Observe calls of functions of C inside a block, if some code may call an impure one.

        A profiler of the program's stays.
        """
        if sys.getprofile() is not None or not self._reach.is_suspicious:
            yield
            return
        try:
            sys.setprofile(self._note_event)
            yield
        finally:
            sys.setprofile(None)

    def _note_event(self, frame: FrameType, event: str, function: Any) -> None:
        """Note the call of an impure function of C outside of this library and the backend's."""
        if event != "c_call":
            return
        name = IMPURE.get(id(function)) or _method_name(function)
        if not name:
            return
        if not frame.f_code.co_filename.startswith(self._folders):
            self._calls.append(f"{name}() at {frame.f_code.co_filename}:{frame.f_lineno}")

    def calls(self) -> list[str]:
        """Return the calls that would not be repeated, each with its line."""
        return self._calls

    def changes(self) -> list[Change]:
        """Return everything that has changed."""
        found = self._reach.changes()
        for container, items in self._containers:
            now = _items(container)
            if len(now) != len(items) or not all(map(is_same, items, now)):
                found.append(Change(f"an argument of type {type(container).__name__}"))
        if modes(current_backend()) != self._modes:
            found.append(Change("grad mode or another mode of the library"))
        names = ("random", "numpy.random")
        found += [
            Change(f"the state of {name}")
            for name, before, now in zip(names, self._random, _random_states(), strict=True)
            if before != now
        ]
        return found


def _folders_of_library() -> list[str]:
    """Return the folders of the array library of the active backend, if it is not NumPy."""
    module = getattr(current_backend(), "module", "").partition(".")[0]
    return list(getattr(sys.modules.get(module), "__path__", ()))


def _method_name(function: Any) -> str:
    """Return the name of a method of C if it writes, reads the date or a queue, else ``""``."""
    name, owner = function.__name__, getattr(function, "__self__", None)
    if name in _WRITERS and isinstance(owner, io.IOBase):
        return f"{name} of a file"
    if isinstance(owner, queue.SimpleQueue):
        return f"SimpleQueue.{name}"
    if name in _CLOCKS and isinstance(owner, type) and issubclass(owner, datetime.date):
        return f"datetime.{name}"
    return ""


def _items(container: Any) -> list[Any]:
    """Items of a list, keys and values of a dict, and attributes."""
    state = instance_dict(container) or {}
    attributes = [*state, *state.values()]
    if isinstance(container, dict):
        return [*container, *container.values(), *attributes]
    return [*container, *attributes] if isinstance(container, (list, deque)) else attributes


def _random_states() -> tuple[Any, Any]:
    """States of the generators of the modules ``random`` and ``numpy.random``."""
    state: Any = numpy.random.get_state(legacy=True)
    return random.getstate(), (state[1].tobytes(), *state[2:])
