"""A picture of the graph that gradients take, in the language of Graphviz.

Reference: https://graphviz.org/doc/info/lang.html

The graph of one call of a model: which functions are called, in which module, on what.

Functions are seen as a mode sees them: what a layer calls is a node, and what that is made of is
not. A recurrent layer is one node, as in PyTorch: its steps are no calls of public functions.
"""

from __future__ import annotations

import inspect
import reprlib
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..core.tensor import Tensor
from ..dispatch.tensor_protocols import aten_name
from ..graph.nodes import Node, node_of
from ..graph.views import edge_of
from ..nn.module import Module
from ..nn.rnn import RNNBase
from ..overrides import TorchFunctionMode
from ._pytree import tree_leaves
from .summary import in_mode

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


@dataclass(frozen=True)
class CallNode:
    """A node of the graph.

    Attributes:
        name: Its name, behind those of the modules it is in: ``Net/Linear[fc]/linear``.
        op: PyTorch's name of what is called: ``aten::linear``; ``prim::GetAttr`` for a parameter,
            ``IO Node`` for an input or output, ``prim::Constant`` for what comes from elsewhere.
        inputs: The nodes whose results it gets; ``name:1`` is a node's second result.
        shapes: The shapes of its results.
        attributes: Its arguments but for tensors, as text.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    attributes: str


def call_graph(model: Module, args: tuple[Any, ...]) -> list[CallNode]:
    """The nodes of ``model(*args)`` in evaluation mode, each behind those whose results it gets."""
    if not isinstance(model, Module):
        raise TypeError(f"add_graph(): expected a nn.Module, got {type(model).__name__}")
    graph = _Calls(model, args)
    with in_mode(model, "eval"), graph.watch(model), graph:
        result = model(*args)
    for number, value in enumerate(_tensors(result), 1):
        graph.add(f"output/output.{number}", "IO Node", [value], [value])
    return [*graph.nodes.values()]


class _Calls(TorchFunctionMode):
    """Notes each call, and the node and place that each tensor comes from."""

    def __init__(self, model: Module, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.nodes: dict[str, CallNode] = {}
        self._sources: dict[int, str] = {}
        self._kept: list[Any] = []  # the id of a tensor that is gone may be another's
        self._scopes = _scopes(model)
        self._running = [type(model).__name__]
        self._inside = 0  # how many recurrent layers are running
        self._given = _parameters(model, self._scopes) | _inputs(model, args)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function and note it, if tensors come of it."""
        given = kwargs or {}
        out = func(*args, **given)
        name = getattr(func, "__name__", "call")
        results = _tensors(args[0] if name == "__setitem__" else out)
        if results and not self._inside:
            called, op = _names(func, name)
            place = f"{self._running[-1]}/{called}"
            self.add(place, op, _tensors((args, given)), results, _attributes(func, args, given))
        return out

    @contextmanager
    def watch(self, model: Module) -> Iterator[None]:
        """Know which module's ``forward`` is running."""

        def enter(module: Module, args: Any) -> None:
            inside = f"{self._running[-1]}/{type(module).__name__}"
            self._running.append(self._scopes.get(id(module), inside))
            self._inside += isinstance(module, RNNBase)

        def leave(module: Module, args: Any, result: Any) -> None:
            if isinstance(module, RNNBase):
                self._inside -= 1
                name, given = module.mode.lower(), _tensors((args, [*module.parameters()]))
                self.add(f"{self._running[-1]}/{name}", f"aten::{name}", given, _tensors(result))
            self._running.pop()

        handles: list[Any] = []
        for module in model.modules():
            handles.append(module.register_forward_pre_hook(enter, prepend=True))
            handles.append(module.register_forward_hook(leave, always_call=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def add(
        self, name: str, op: str, inputs: list[Any], results: list[Any], attributes: str = "{}"
    ) -> None:
        """Note a node; its name gets a number if there is one of it."""
        edges = tuple(self._source(tensor) for tensor in inputs)
        number, free = 0, name
        while free in self.nodes:
            number += 1
            free = f"{name}_{number}"
        shapes = tuple(tuple(map(int, tensor.shape)) for tensor in results)
        self.nodes[free] = CallNode(free, op, edges, shapes, attributes)
        for place, tensor in enumerate(results):
            self._sources[id(tensor)] = f"{free}:{place}" if place else free
            self._kept.append(tensor)

    def _source(self, tensor: Any) -> str:
        """The name of where a tensor comes from, which is a node from now on."""
        if id(tensor) not in self._sources:
            constant = f"{self._running[-1]}/constant", "prim::Constant", "{}"
            name, op, attributes = self._given.get(id(tensor), constant)
            self.add(name, op, [], [tensor], attributes)
        return self._sources[id(tensor)]


def _tensors(value: Any) -> list[Any]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _scopes(model: Module) -> dict[int, str]:
    """The full name of each module as PyTorch has it: ``Net/Sequential[body]/Linear[0]``."""
    found: dict[int, str] = {}
    names = {"": type(model).__name__}
    for path, module in model.named_modules():
        if path:
            above, _, last = path.rpartition(".")
            names[path] = f"{names[above]}/{type(module).__name__}[{last}]"
        found[id(module)] = names[path]
    return found


def _parameters(model: Module, scopes: dict[int, str]) -> dict[int, tuple[str, str, str]]:
    """Name, op and attributes of the node of each parameter and buffer, by their ids."""
    return {
        id(tensor): (f"{scopes[id(module)]}/{name}", "prim::GetAttr", f"{{ name :  {name} }}")
        for module in model.modules()
        for held in (module.named_parameters, module.named_buffers)
        for name, tensor in held(recurse=False)
    }


def _inputs(model: Module, args: tuple[Any, ...]) -> dict[int, tuple[str, str, str]]:
    """The same of each tensor that the model is called with."""
    found: dict[int, tuple[str, str, str]] = {}
    for name, value in inspect.signature(model.forward).bind(*args).arguments.items():
        tensors = _tensors(value)
        for number, tensor in enumerate(tensors, 1):
            called = name if isinstance(value, Tensor) else f"{name}.{number}"
            found.setdefault(id(tensor), (f"input/{called}", "IO Node", "{}"))
    return found


def _names(func: Callable[..., Any], name: str) -> tuple[str, str]:
    """What a function is called here and by PyTorch; a property by its own name."""
    if name == "__get__":
        name = getattr(getattr(func, "__self__", None), "fget", func).__name__
    op = getattr(func, "op", None)
    plain = name if name.endswith("_") and not name.startswith("_") else name.strip("_")
    suffix = "_" if op is not None and plain == f"{op.name}_" else ""
    return plain, op and aten_name(op.name + suffix, op) or f"aten::{plain}"


def _attributes(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> str:
    """Arguments that hold no tensors, as PyTorch writes them: without quotes."""
    try:
        given = inspect.signature(func).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a method of Python's own, or one that takes what it is given
        given = {**{str(place): value for place, value in enumerate(args)}, **kwargs}
    texts = [f"{k} : {reprlib.repr(v)}" for k, v in given.items() if not _tensors(v)]
    return "{" + ", ".join(texts).replace("'", " ") + "}"
