"""Parts of a program with names, which profiles show beside the operations."""

from __future__ import annotations

import contextlib
from typing import Any

from ..state.recorder import RECORDER

__all__ = ["record_function"]


class record_function(contextlib.ContextDecorator):  # named as a function
    """A part of a program with a name; a decorator, too. Without a profile nothing happens.

    Args:
        name: The part's name.
        args: What else to say of it; it is not shown. Default: None.

    Example:
        >>> import tinytorch as tt
        >>> with tt.profiler.profile() as prof:
        ...     with tt.profiler.record_function("forward"):
        ...         y = tt.ones(1) + 1
        >>> [event.name for event in prof.events()]
        ['forward', 'aten::ones', 'aten::add']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[Any] = []

    def _recreate_cm(self) -> record_function:
        return type(self)(self.name, self.args)  # a decorated function may run in many threads

    def __enter__(self) -> record_function:
        recorder = RECORDER.get()
        part = contextlib.nullcontext() if recorder is None else recorder.part(self.name)
        part.__enter__()
        self._open.append(part)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.pop().__exit__(None, None, None)
