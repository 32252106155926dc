"""Who is told of what runs here: the profile that is active in this thread and task, or nobody.

It is looked for off the way that plain calls take. While a profile is active that way is closed
(``core.torch_function.count_watchers``), so that without one they look for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .variable import Variable


class Recorder(Protocol):
    """What a profile notes down."""

    def operation(self, name: str, run: Callable[[], Any], op: Any, args: Any, options: Any) -> Any:
        """What ``run()`` gives, noted as the operation ``name`` of these arguments."""

    def visits(self, visit: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """``visit(node, gradient)`` of a backward pass, with each call noted."""

    def accumulations(
        self, accumulate: Callable[[Any, Any, bool], None]
    ) -> Callable[[Any, Any, bool], None]:
        """``accumulate(leaf, gradient, fresh)`` at its end, with each call noted."""

    def part(self, name: str) -> AbstractContextManager[Any]:
        """A part of the program that has a name."""


RECORDER: Variable[Recorder | None] = Variable("recorder", None)


def recorded(
    run: Callable[[Any, Any, Any], Any], op: Any, args: Any, options: Any, suffix: str = ""
) -> Any:
    """``run(op, args, options)``, of which the profile is told; ``suffix`` follows its name."""
    recorder = RECORDER.get()
    if recorder is None:
        return run(op, args, options)
    return recorder.operation(op.name + suffix, lambda: run(op, args, options), op, args, options)
