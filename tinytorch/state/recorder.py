"""The active profiler of this thread and task.

It is looked up on the slow path of calls. While a profile is active no call takes the fast path
(``core.torch_function.count_watchers``), so that calls without a profile do not look it up.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .variable import Variable


class Recorder(Protocol):
    """Interface of a profiler, as operations and backward passes call it."""

    def operation(self, name: str, run: Callable[[], Any], op: Any, args: Any, options: Any) -> Any:
        """Record ``run()`` as the operation ``name`` of these arguments, and return its result."""

    def visits(self, visit: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Wrap ``visit(node, gradient)`` of a backward pass so that each call is recorded."""

    def accumulations(
        self, accumulate: Callable[[Any, Any, bool], None]
    ) -> Callable[[Any, Any, bool], None]:
        """Wrap ``accumulate(leaf, gradient, fresh)`` so that each call is recorded."""

    def part(self, name: str) -> AbstractContextManager[Any]:
        """Context manager for a named part of the program."""


RECORDER: Variable[Recorder | None] = Variable("recorder", None)

#: Names of the modules whose operations an exported program runs now, the outermost first.
PROGRAM_MODULES: Variable[tuple[str, ...]] = Variable("program_modules", ())


def record_operation(
    run: Callable[[Any, Any, Any], Any], op: Any, args: Any, options: Any, suffix: str = ""
) -> Any:
    """Return ``run(op, args, options)``, recorded by the active profiler if there is one.

    Args:
        run: Function that runs the call.
        op: The operation.
        args: Arguments by position.
        options: Arguments by name.
        suffix: Text after the operation's name in the profile: an underscore for in-place forms.
    """
    recorder = RECORDER.get()
    if recorder is None:
        return run(op, args, options)
    return recorder.operation(op.name + suffix, lambda: run(op, args, options), op, args, options)
