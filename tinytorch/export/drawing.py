"""Drawings of exported programs: operations in the boxes of their modules.

Reference: https://graphviz.org/doc/info/lang.html
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .steps import TensorSlot, ProgramStep, describe
from .tracing import map_refs

_HEAD = 'digraph {\n  node [fontname="sans-serif", fontsize=11, shape=box, style=rounded]'
_ENDS = 'style="rounded,filled", fillcolor="{}"'


def draw_program(
    inputs: list[TensorSlot],
    shapes: list[Any],
    steps: list[ProgramStep],
    tensors: dict[str, Any],
    result: Any,
) -> str:
    """Return a drawing of a program in Graphviz's language; see ``ExportedProgram``."""
    drawing = _ProgramDrawing(steps, tensors)
    return "\n".join(drawing.lines([*zip(inputs, shapes, strict=True)], result))


class _ProgramDrawing:
    """The lines of a drawing."""

    def __init__(self, steps: list[ProgramStep], tensors: dict[str, Any]) -> None:
        self.steps, self.tensors = steps, tensors
        self.names: dict[str, str] = {}  # of slots: the node that computes them
        self.edges: list[str] = []
        self.kinds = dict(step.module for step in steps)
        self.counts = Counter(step.module[0] for step in steps)
        self.frames = 0

    def lines(self, inputs: list[tuple[TensorSlot, Any]], result: Any) -> list[str]:
        """Return the lines in Graphviz's language."""
        found = [_HEAD]
        for i, (slot, shape) in enumerate(inputs):
            self.names[slot.name] = f"x{i}"
            label = f"{slot.name}\\n{describe(*shape)}"
            found.append(f'  x{i} [label="{label}", {_ENDS.format("#d9f2d9")}]')
        frames: list[str] = []
        for number, step in enumerate(self.steps):
            found.extend(self._move(frames, self._path(step)))
            found.append(self._node(number, step, len(frames)))
        found.extend(self._move(frames, []))
        found.append(f'  y [label="output", {_ENDS.format("#d7e8fa")}]')
        self._connect(result, "y")
        return [*found, *self.edges, "}"]

    def _move(self, frames: list[str], path: list[str]) -> list[str]:
        """Return the lines that close and open frames up to the modules of ``path``."""
        common = 0
        while common < min(len(frames), len(path)) and frames[common] == path[common]:
            common += 1
        lines = ["  " * (depth + 1) + "}" for depth in reversed(range(common, len(frames)))]
        for depth in range(common, len(path)):
            indent = "  " * (depth + 1)
            self.frames += 1
            lines.append(f"{indent}subgraph cluster_{self.frames} {{")
            kind = self.kinds.get(path[depth])
            label = f"{path[depth]}: {kind}" if kind else path[depth]
            lines.append(f'{indent}  label="{label}"; labeljust=l; fontname="sans-serif"; '
                         'fontsize=10; color="#888888"; style=rounded')  # fmt: skip
        frames[:] = path
        return lines

    def _path(self, step: ProgramStep) -> list[str]:
        """Paths of the modules with a frame around a step; a module of one step has none."""
        parts = step.module[0].split(".") if step.module[0] else []
        found = [".".join(parts[: i + 1]) for i in range(len(parts))]
        return found[:-1] if self.counts[step.module[0]] == 1 else found

    def _node(self, number: int, step: ProgramStep, depth: int) -> str:
        node = f"n{number}"
        weights = self._connect((step.args, step.options), node)
        path, kind = step.module
        name = step.operation.rpartition(".")[2]
        if path and self.counts[path] == 1:
            name = f"{path.rpartition('.')[2]}: {kind}"
        label = "\\n".join([name, *weights])
        for slot in step.results:
            self.names[slot.name] = node
        return "  " * (depth + 1) + f'{node} [label="{label}"]'

    def _connect(self, tree: Any, node: str) -> list[str]:
        """Add edges from the tensors in a tree to a node; describe parameters and constants."""
        weights: list[str] = []
        sources: dict[str, None] = {}

        def visit(item: Any) -> None:
            if isinstance(item, TensorSlot) and item.name in self.names:
                sources[self.names[item.name]] = None
            elif isinstance(item, TensorSlot):
                tensor = self.tensors[item.name]
                weights.append(f"{item.name.rpartition('.')[2]} {tuple(tensor.shape)}")

        map_refs(visit, tree)
        self.edges.extend(f"  {source} -> {node}" for source in sources)
        return weights
