"""A picture of the graph that gradients take, in the language of Graphviz.

Reference: https://graphviz.org/doc/info/lang.html
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..autograd.nodes import Node, node_of
from ..autograd.views import edge_of
from ..core.tensor import Tensor
from ..nn.module import Module

__all__ = ["Drawing", "draw"]

_STYLES = {
    "leaf": 'shape=box, style=filled, fillcolor="#d7e8fa"',
    "operation": "shape=box, style=rounded",
    "result": 'shape=box, style=filled, fillcolor="#d9f2d9"',
}
#: A laid-out graph of some thousands of nodes takes a minute.
_SECONDS = 120


class Drawing:
    """A drawn graph: its text is DOT, and notebooks show it where Graphviz is.

    Attributes:
        source: The graph in Graphviz's language.

    Example:
        >>> import tinytorch as tt
        >>> w = tt.ones(2, requires_grad=True)
        >>> print(tt.utils.draw(w.sin(), {"w": w}).source.splitlines()[0])
        digraph {
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<Drawing of {self.source.count(' -> ')} edges; print() shows it in DOT>"

    def svg(self) -> str:
        """The picture, laid out by Graphviz's program ``dot``.

        Raises:
            FileNotFoundError: If that is not installed.
            RuntimeError: If it fails.

        Example:
            >>> import shutil
            >>> import tinytorch as tt
            >>> drawing = tt.utils.draw(tt.ones(2, requires_grad=True).sin())
            >>> picture = drawing.svg() if shutil.which("dot") else "<svg></svg>"
            >>> picture.rstrip().endswith("</svg>")
            True
        """
        program = shutil.which("dot")
        if program is None:
            raise FileNotFoundError(
                "svg() needs Graphviz's program 'dot': install Graphviz (apt install graphviz, "
                "brew install graphviz, conda install graphviz)"
            )
        done = subprocess.run(
            [program, "-Tsvg"], input=self.source, capture_output=True, text=True,
            check=False, timeout=_SECONDS,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"dot failed with status {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def _repr_svg_(self) -> str | None:
        """What notebooks show; without Graphviz they show the text."""
        return self.svg() if shutil.which("dot") else None


def draw(y: Any, params: Any = None) -> Drawing:
    """Draw how tensors were computed: their graph, from its leaves to them.

    Blue boxes are leaves, where gradients end, with their names and shapes; round ones operations,
    as ``grad_fn`` names them, with the shapes of their results; green boxes are ``y``. An arrow
    goes from what an operation was given to it.

    Args:
        y: A tensor that requires grad, or a tuple, list or dict of them.
        params: Names of leaves: a Module, a dict of tensors or pairs of name and tensor, as
            ``model.named_parameters()`` yields. Default: leaves have shapes alone.

    Returns:
        ``Drawing``; ``print`` shows it in DOT, ``svg()`` is the picture.

    Raises:
        TypeError: If ``y`` holds anything but tensors.
        ValueError: If none of them requires grad.

    Example:
        >>> import tinytorch as tt
        >>> w, x = tt.ones(3, requires_grad=True), tt.ones(3)
        >>> print(tt.utils.draw((w * x).sum(), {"w": w}))
        digraph {
          node [fontname="sans-serif", fontsize=11]
          y [label="output\\n()", shape=box, style=filled, fillcolor="#d9f2d9"]
          n1 [label="SumBackward0\\n()", shape=box, style=rounded]
          n2 [label="MulBackward0\\n(3,)", shape=box, style=rounded]
          n3 [label="w\\n(3,)", shape=box, style=filled, fillcolor="#d7e8fa"]
          n1 -> y
          n2 -> n1
          n3 -> n2
        }
    """
    outputs = dict(_outputs(y))
    roots = {name: edge_of(tensor) for name, tensor in outputs.items()}
    if all(edge is None for edge in roots.values()):
        raise ValueError("draw(): expected a tensor that requires grad, got none")
    graph = _Graph({id(tensor): name for name, tensor in _named(params)})
    for i, (name, tensor) in enumerate(outputs.items()):
        graph.add_output(f"y{i}" if i else "y", name, tensor, roots[name])
    graph.walk()
    return Drawing(graph.text())


def _outputs(y: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors to begin at, by name."""
    if isinstance(y, Mapping):
        pairs: Iterable[tuple[str, Any]] = ((str(name), value) for name, value in y.items())
    elif isinstance(y, (tuple, list)):
        pairs = ((f"output {i}", value) for i, value in enumerate(y))
    else:
        pairs = [("output", y)]
    for name, value in pairs:
        if not isinstance(value, Tensor):
            raise TypeError(f"draw(): expected tensors, got {type(value).__name__}")
        yield name, value


def _named(params: Any) -> Iterable[tuple[str, Tensor]]:
    if params is None:
        return ()
    if isinstance(params, Module):
        return params.named_parameters()
    return params.items() if isinstance(params, Mapping) else params


class _Graph:
    """The boxes and arrows that were met."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names
        self._met: dict[int, str] = {}
        self._waiting: list[Node] = []
        self._boxes: list[str] = []
        self._arrows: list[str] = []
        self._kept: list[Any] = []  # so that no `id` is given again

    def add_output(self, key: str, name: str, tensor: Tensor, edge: Any) -> None:
        """A tensor to begin at."""
        self._box(key, name, tuple(tensor.shape), "result")
        if edge is not None:
            self._arrows.append(f"{self._key(edge)} -> {key}")

    def walk(self) -> None:
        """Meet all that leads there."""
        while self._waiting:
            node = self._waiting.pop()
            for edge in node.edges:
                if edge is not None:
                    self._arrows.append(f"{self._key(edge)} -> {self._met[id(node)]}")

    def text(self) -> str:
        """The graph in DOT."""
        lines = ['node [fontname="sans-serif", fontsize=11]', *self._boxes, *self._arrows]
        return "\n".join(["digraph {", *(f"  {line}" for line in lines), "}"])

    def _key(self, edge: Any) -> str:
        """What DOT calls the node, or the leaf, that an edge leads to."""
        node = node_of(edge)
        at = edge if node is None else node
        if id(at) not in self._met:
            key = self._met[id(at)] = f"n{len(self._met) + 1}"
            self._kept.append(at)
            if node is None:
                self._box(key, self._names.get(id(edge), ""), tuple(edge.shape), "leaf")
            else:
                self._waiting.append(node)
                self._box(key, node.name(), node.shape, "operation")
        return self._met[id(at)]

    def _box(self, key: str, name: str, shape: Any, style: str) -> None:
        label = "\\n".join(part for part in (_quoted(name), _shapes(shape)) if part)
        self._boxes.append(f'{key} [label="{label}", {_STYLES[style]}]')


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _shapes(shape: Any) -> str:
    """A shape, or those of several results."""
    several = bool(shape) and isinstance(shape[0], tuple)
    return ", ".join(map(str, shape)) if several else str(tuple(shape))
