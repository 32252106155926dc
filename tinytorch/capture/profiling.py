"""Rows of a profile for the parts of a program: its groups, and each operation outside of them.

While a profiler is active, an engine's function runs in a second form, in which each part is a
block of the profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..state.recorder import RECORDER
from .graph import Node
from .grouping import LoopGroup, Step

#: Number of operations that are named in a label.
_NAMED = 6


def operations(nodes: Sequence[Node]) -> list[str]:
    """Return the operations of nodes, once for each call."""
    calls = {(node.tag.call, node.tag.operation): node for node in nodes if node.tag.operation}
    return [name for _, name in calls] or [node.name for node in nodes]


def name_step(step: Step) -> str:
    """Return the name of a part: the operations that it holds, as ``"mul+add+tanh"``."""
    nodes = [op.node for op in step.ops] if isinstance(step, LoopGroup) else [step]
    names = operations(nodes)
    text = "+".join(names[:_NAMED]) + ("+..." if len(names) > _NAMED else "")
    phases = {node.tag.phase for node in nodes}
    return f"{text} ({'+'.join(sorted(phases))})" if phases - {"forward"} else text


class ProfiledFunction:
    """Function of a program with a block of the profile around each part.

    Args:
        parameters: Text of the parameters.
        lines: Lines of the function.
        parts: For each part the numbers of its first line and of the line behind it, and the step.
        space: Globals of the function.
    """

    def __init__(
        self, parameters: str, lines: Sequence[str], parts: Sequence[tuple[int, int, Step]],
        space: dict[str, Any],
    ) -> None:  # fmt: skip
        self._parameters, self._lines, self._space = parameters, lines, space
        self.parts = [part for part in parts if part[0] < part[1]]
        self._function: Any = None

    def run(self, arrays: Sequence[Any], profiler: Any) -> list[Any]:
        """Run the program, each part as a block of a profile."""
        if self._function is None:
            exec(compile(self.text(), "<program>", "exec"), self._space)
            self._function = self._space["run_profiled"]
        with numpy.errstate(all="ignore"):
            return self._function(profiler.part, *arrays)  # type: ignore[no-any-return]

    def text(self) -> str:
        """Return the text of the function."""
        lines, done = [f"def run_profiled(part, {self._parameters}):"], 0
        for start, end, step in self.parts:
            lines += [f"    {line}" for line in self._lines[done:start]]
            lines.append(f"    with part({name_step(step)!r}):")
            lines += [f"        {line}" for line in self._lines[start:end]]
            done = end
        return "\n".join([*lines, *(f"    {line}" for line in self._lines[done:]), ""])


def run_prepared(executable: Any, arrays: Sequence[Any]) -> list[Any]:
    """Run a prepared program; under an active profiler with a row for each part."""
    profiler = RECORDER.get()
    run = None if profiler is None else getattr(executable, "run_profiled", None)
    outputs: list[Any] = executable.run(arrays) if run is None else run(arrays, profiler)
    return outputs
