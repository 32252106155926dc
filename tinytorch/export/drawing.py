"""Drawings of exported programs: operations in the boxes of their modules.

Reference: https://graphviz.org/doc/info/lang.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .steps import TensorSlot, ProgramStep, describe
from .tracing import ModuleCalls, map_refs

_HEAD = """digraph {
  graph [ranksep=0.25, nodesep=0.2, fontname="sans-serif", fontsize=10]
  node [fontname="sans-serif", fontsize=11, shape=box, style=rounded, height=0.3]
  edge [arrowsize=0.7, color="#555555"]"""
_FRAME = 'label="{}"; labeljust=l; fontcolor="#555555"; color="#aaaaaa"; style=rounded'
_ENDS = 'style="rounded,filled", fillcolor="{}"'
_MODULE = 'style="rounded,filled", fillcolor="#fdf3d7"'


class ProgramDrawing:
    """Drawing of a program in Graphviz's language.

    A module without operations of other modules is one box if it has one operation in each call,
    and so is a module at the depth ``depth``. Other modules are frames around boxes.

    Args:
        steps: The operations.
        tensors: Parameters, buffers and constants by name.
        modules: The modules by path.
        depth: Number of modules inside each other that are drawn; None for all.
    """

    def __init__(
        self, steps: Sequence[ProgramStep], tensors: dict[str, Any],
        modules: dict[str, ModuleCalls], depth: int | None,
    ) -> None:  # fmt: skip
        self._steps, self._tensors, self._modules, self._depth = steps, tensors, modules, depth
        self._counts = Counter(step.module[0] for step in steps)
        self._outer = {p for path in self._counts for p in _paths(path)[:-1]}
        self._nodes: dict[str, str] = {}  # of slots: the node that computes them
        self._edges: dict[str, None] = {}
        self._boxes: dict[str, list[str]] = {}  # of a path: the boxes in its frame
        self._shapes: dict[str, str] = {}
        self._labels: dict[str, list[str]] = {}

    def text(self, inputs: Sequence[tuple[TensorSlot, Any]], result: Any) -> str:
        """Return the drawing; ``inputs`` are the slots with their shapes and dtypes."""
        lines = [_HEAD]
        for i, (slot, shape) in enumerate(inputs):
            self._nodes[slot.name] = f"x{i}"
            label = _label([slot.name, describe(*shape)])
            lines.append(f"  x{i} [{label}, {_ENDS.format('#d9f2d9')}]")
        last = None
        for number, step in enumerate(self._steps):
            self._shapes.update((s.name, _sizes(at)) for s, at in zip(step.results, step.shapes))
            path = self._module_of(step)
            key = last[1] if last and last[0] == path else f"n{number}"
            self._add(key, step, path)
            last = (path, key) if path is not None and self._is_cut(path) else None
        self._connect(result, "y")
        lines += [*self._frame("", 1), f'  y [label="output", {_ENDS.format("#d7e8fa")}]']
        return "\n".join([*lines, *self._edges, "}"])

    def _is_cut(self, path: str) -> bool:
        """Whether a module is as deep as is drawn."""
        return self._depth is not None and len(_paths(path)) >= self._depth

    def _module_of(self, step: ProgramStep) -> str | None:
        """Return the path of the module whose box a step is in; None if it has its own box."""
        path = step.module[0]
        for each in _paths(path):
            if self._is_cut(each):
                return each
        calls = self._modules[path].count if path in self._modules else 1
        is_one = path and path not in self._outer and self._counts[path] == calls
        return path if is_one else None

    def _add(self, key: str, step: ProgramStep, path: str | None) -> None:
        """Add a step to the box ``key``: that of the module ``path``, or else its own."""
        around = step.module[0] if path is None else path.rpartition(".")[0]
        if key not in self._labels:
            self._boxes.setdefault(around, []).append(key)
            for each in _paths(around):
                self._boxes.setdefault(each, [])
            name = step.operation.rpartition(".")[2] if path is None else self._title(path)
            self._labels[key] = [name, ""]
        weights = self._connect((step.args, step.options), key)
        results = step.results
        if path is not None and self._is_cut(path):
            results, weights = self._results_of(path) or results, []
        sizes = [self._shapes[each.name] for each in results if each.name in self._shapes]
        self._labels[key] = [self._labels[key][0], *weights, " ".join(sizes)]
        self._nodes.update((slot.name, key) for slot in step.results)

    def _results_of(self, path: str) -> list[TensorSlot]:
        """Return the slots of the tensors that a module returned."""
        found: list[TensorSlot] = []
        map_refs(lambda s: found.append(s) if s is not None else None, self._modules[path].result)
        return found

    def _title(self, path: str) -> str:
        kind = self._modules[path].kind if path in self._modules else ""
        return ": ".join(filter(None, [path.rpartition(".")[2], kind]))

    def _frame(self, path: str, depth: int) -> list[str]:
        """Return the lines of the boxes and frames in a module."""
        indent = "  " * depth
        lines = []
        for key in self._boxes.get(path, ()):
            look = f", {_MODULE}" if ": " in self._labels[key][0] else ""
            lines.append(f"{indent}{key} [{_label(self._labels[key])}{look}]")
        for number, inner in enumerate(self._boxes):
            if inner and inner.rpartition(".")[0] == path:
                lines.append(f"{indent}subgraph cluster_{number} {{")
                lines.append(f"{indent}  {_FRAME.format(_escape(self._title(inner)))}")
                lines += [*self._frame(inner, depth + 1), f"{indent}}}"]
        return lines

    def _connect(self, tree: Any, key: str) -> list[str]:
        """Add edges from the tensors in a tree to a box; describe weights of several dimensions."""
        weights: list[str] = []

        def visit(item: Any) -> None:
            if isinstance(item, TensorSlot) and item.name in self._nodes:
                if self._nodes[item.name] != key:
                    self._edges[f"  {self._nodes[item.name]} -> {key}"] = None
            elif isinstance(item, TensorSlot) and self._tensors[item.name].ndim > 1:
                sizes = " × ".join(map(str, self._tensors[item.name].shape))
                weights.append(f"{item.name.rpartition('.')[2]} {sizes}")

        map_refs(visit, tree)
        return weights


def _paths(path: str) -> list[str]:
    """Paths of a module and of those around it, but for the model's: ``["a", "a.b"]``."""
    parts = path.split(".") if path else []
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def _sizes(shape: tuple[Sequence[int], Any]) -> str:
    return f"({', '.join(map(repr, shape[0]))})"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _label(lines: Sequence[str]) -> str:
    return 'label="{}"'.format("\\n".join(_escape(line) for line in lines if line))
