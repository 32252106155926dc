"""Drawings of the autograd graph, and the graph of the function calls of a model.

``draw`` writes the autograd graph in Graphviz's language DOT. ``call_graph`` is for TensorBoard:
its nodes are the public functions that the model's layers call, as a ``TorchFunctionMode`` gets
them, without the functions that these call in turn. A recurrent layer is one node, as in PyTorch.

Reference: https://graphviz.org/doc/info/lang.html
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

from ..capture.graph import Program
from ..core.tensor import Tensor
from ..dispatch.tensor_protocols import aten_name
from ..graph.nodes import Node, node_of
from ..graph.views import edge_of
from ..nn.module import Module
from ..nn.rnn import RNNBase
from ..overrides import TorchFunctionMode
from ._pytree import tree_leaves
from .program_drawing import program_text
from .summary import use_mode

__all__ = ["Drawing", "draw"]

_STYLES = {
    "leaf": 'shape=box, style=filled, fillcolor="#d7e8fa"',
    "operation": "shape=box, style=rounded",
    "result": 'shape=box, style=filled, fillcolor="#d9f2d9"',
}
#: Timeout in seconds of ``dot``, which takes a minute for some thousands of nodes.
_SECONDS = 120


class Drawing:
    """A drawing of a graph in DOT; notebooks show the picture if Graphviz is installed.

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
        """The picture as SVG, from Graphviz's program ``dot``.

        Raises:
            FileNotFoundError: If ``dot`` is not installed.
            RuntimeError: If ``dot`` fails.

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
        """The picture for notebooks, or None without Graphviz, so that they show the text."""
        return self.svg() if shutil.which("dot") else None


def draw(y: Any, params: Any = None, *, depth: int | None = None) -> Drawing:
    """Draw the autograd graph of tensors, from the leaves to the tensors, or a recorded program.

    Blue boxes are leaves, with their names and shapes. Rounded boxes are operations, with the names
    of their ``grad_fn`` and the shapes of their results. Green boxes are ``y``. Arrows lead from
    the inputs of an operation to the operation.

    Args:
        y: A tensor that requires grad, or a tuple, list or dict of them; or a program, such as one
            of ``compiler.explain(f)(*args).programs`` or an ``ExportedProgram``.
        params: Names of leaves: a Module, a dict of tensors, or pairs of name and tensor such as
            ``model.named_parameters()``. Default: leaves have no names.
        depth: Number of modules inside each other that are drawn of an ``ExportedProgram``; a
            module at this depth is one box. Default: all.

    Returns:
        ``Drawing``; ``print`` shows it in DOT, ``svg()`` is the picture.

    Raises:
        TypeError: If ``y`` contains anything but tensors.
        ValueError: If no tensor requires grad.

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
    if isinstance(y, Program):
        return Drawing(program_text(y))
    if hasattr(y, "draw"):  # an ExportedProgram draws itself
        return y.draw(depth)  # type: ignore[no-any-return]
    outputs = dict(_outputs(y))
    roots = {name: edge_of(tensor) for name, tensor in outputs.items()}
    if all(edge is None for edge in roots.values()):
        raise ValueError("draw(): expected a tensor that requires grad, got none")
    graph = _Graph({id(tensor): name for name, tensor in _named_leaves(params)})
    for i, (name, tensor) in enumerate(outputs.items()):
        graph.add_output(f"y{i}" if i else "y", name, tensor, roots[name])
    graph.walk()
    return Drawing(graph.text())


def _outputs(y: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the name and the tensor of each output.

    Args:
        y: The argument of ``draw``: a tensor, a tuple or list of tensors, or a mapping from names.

    Raises:
        TypeError: For another object than a tensor.
    """
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


def _named_leaves(params: Any) -> Iterable[tuple[str, Tensor]]:
    """Pairs of a name and a tensor, from the argument ``params`` of ``draw``.

    It is a module, whose parameters are named, a mapping, an iterable of pairs, or None.
    """
    if params is None:
        return ()
    if isinstance(params, Module):
        return params.named_parameters()
    return params.items() if isinstance(params, Mapping) else params


class _Graph:
    """Traversal of an autograd graph, which collects boxes and arrows in DOT.

    Args:
        names: Names of leaves, by the ``id`` of the tensor.
    """

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names
        self._keys: dict[int, str] = {}
        self._pending: list[Node] = []
        self._boxes: list[str] = []
        self._arrows: list[str] = []
        self._alive: list[Any] = []  # objects whose `id` must not be reused

    def add_output(self, key: str, name: str, tensor: Tensor, edge: Any) -> None:
        """Add the box of an output, and an arrow to it.

        Args:
            key: Name of the box in DOT.
            name: Name of the output, which is shown.
            tensor: The output.
            edge: Edge to its node, or None.
        """
        self._box(key, name, tuple(tensor.shape), "result")
        if edge is not None:
            self._arrows.append(f"{self._key(edge)} -> {key}")

    def walk(self) -> None:
        """Add all nodes from which the outputs were computed."""
        while self._pending:
            node = self._pending.pop()
            for edge in node.edges:
                if edge is not None:
                    self._arrows.append(f"{self._key(edge)} -> {self._keys[id(node)]}")

    def text(self) -> str:
        """The graph in DOT."""
        lines = ['node [fontname="sans-serif", fontsize=11]', *self._boxes, *self._arrows]
        return "\n".join(["digraph {", *(f"  {line}" for line in lines), "}"])

    def _key(self, edge: Any) -> str:
        """Name in DOT of the node or leaf at the end of an edge; add its box in the first call."""
        node = node_of(edge)
        target = edge if node is None else node
        if id(target) not in self._keys:
            key = self._keys[id(target)] = f"n{len(self._keys) + 1}"
            self._alive.append(target)
            if node is None:
                self._box(key, self._names.get(id(edge), ""), tuple(edge.shape), "leaf")
            else:
                self._pending.append(node)
                self._box(key, node.name(), node.shape, "operation")
        return self._keys[id(target)]

    def _box(self, key: str, name: str, shape: Any, style: str) -> None:
        """Add a box with a name and a shape; ``key`` is its name in DOT, ``style`` its kind."""
        label = "\\n".join(part for part in (_escape(name), _shape_text(shape)) if part)
        self._boxes.append(f'{key} [label="{label}", {_STYLES[style]}]')


def _escape(text: str) -> str:
    """Escape a text for a string in DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _shape_text(shape: Any) -> str:
    """Text of a shape, or of the shapes of several results."""
    has_several = bool(shape) and isinstance(shape[0], tuple)
    return ", ".join(map(str, shape)) if has_several else str(tuple(shape))


@dataclass(frozen=True)
class CallNode:
    """A node of the graph of calls.

    Attributes:
        name: Its name, after those of the modules around it: ``Net/Linear[fc]/linear``.
        op: PyTorch's name of the function, such as ``aten::linear``; ``prim::GetAttr`` for a
            parameter, ``IO Node`` for an input or output, ``prim::Constant`` for other tensors.
        inputs: Names of the nodes whose results are its arguments; ``name:1`` is the second result
            of a node.
        shapes: Shapes of its results.
        attributes: Text of its arguments other than tensors.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    attributes: str


def call_graph(model: Module, args: tuple[Any, ...]) -> list[CallNode]:
    """Nodes of the calls in ``model(*args)`` in evaluation mode, in topological order."""
    if not isinstance(model, Module):
        raise TypeError(f"add_graph(): expected a nn.Module, got {type(model).__name__}")
    graph = _Calls(model, args)
    with use_mode(model, "eval"), graph.watch(model), graph:
        result = model(*args)
    for number, value in enumerate(_tensors(result), 1):
        graph.add(f"output/output.{number}", "IO Node", [value], [value])
    return [*graph.nodes.values()]


class _Calls(TorchFunctionMode):
    """Mode that records each call, and the node that each tensor comes from.

    Args:
        model: The model that is called in this mode.
        args: Its positional arguments.
    """

    def __init__(self, model: Module, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.nodes: dict[str, CallNode] = {}
        self._sources: dict[int, str] = {}
        self._alive: list[Any] = []  # tensors whose `id` must not be reused
        self._scopes = _scopes(model)
        self._running = [type(model).__name__]
        self._inside = 0  # number of recurrent layers that are running
        self._leaves = _parameters(model, self._scopes) | _inputs(model, args)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function, and add a node for it if it returns tensors."""
        given = kwargs or {}
        out = func(*args, **given)
        name = getattr(func, "__name__", "call")
        results = _tensors(args[0] if name == "__setitem__" else out)
        if results and not self._inside:
            short_name, op = _function_names(func, name)
            full_name = f"{self._running[-1]}/{short_name}"
            attributes = _attributes(func, args, given)
            self.add(full_name, op, _tensors((args, given)), results, attributes)
        return out

    @contextmanager
    def watch(self, model: Module) -> Iterator[None]:
        """Track which module's ``forward`` is running, in a ``with`` block.

        A recurrent layer becomes one node, and the calls inside it are not recorded.
        """

        def on_enter(module: Module, args: Any) -> None:
            inner_scope = f"{self._running[-1]}/{type(module).__name__}"
            self._running.append(self._scopes.get(id(module), inner_scope))
            self._inside += isinstance(module, RNNBase)

        def on_leave(module: Module, args: Any, result: Any) -> None:
            if isinstance(module, RNNBase):
                self._inside -= 1
                name, given = module.mode.lower(), _tensors((args, [*module.parameters()]))
                self.add(f"{self._running[-1]}/{name}", f"aten::{name}", given, _tensors(result))
            self._running.pop()

        handles: list[Any] = []
        for module in model.modules():
            handles.append(module.register_forward_pre_hook(on_enter, prepend=True))
            handles.append(module.register_forward_hook(on_leave, always_call=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def add(
        self, name: str, op: str, inputs: list[Any], results: list[Any], attributes: str = "{}"
    ) -> None:
        """Add a node.

        Args:
            name: Name of the node; if another node has it, it gets a number.
            op: PyTorch's name of the function; see ``CallNode``.
            inputs: Tensors that are arguments.
            results: Tensors that are results.
            attributes: Text of the other arguments.
        """
        sources = tuple(self._source(tensor) for tensor in inputs)
        number, unique_name = 0, name
        while unique_name in self.nodes:
            number += 1
            unique_name = f"{name}_{number}"
        shapes = tuple(tuple(map(int, tensor.shape)) for tensor in results)
        self.nodes[unique_name] = CallNode(unique_name, op, sources, shapes, attributes)
        for index, tensor in enumerate(results):
            self._sources[id(tensor)] = f"{unique_name}:{index}" if index else unique_name
            self._alive.append(tensor)

    def _source(self, tensor: Any) -> str:
        """Name of the node that a tensor comes from.

        For a parameter, an input or a constant, the first call adds the node.
        """
        if id(tensor) not in self._sources:
            constant = f"{self._running[-1]}/constant", "prim::Constant", "{}"
            name, op, attributes = self._leaves.get(id(tensor), constant)
            self.add(name, op, [], [tensor], attributes)
        return self._sources[id(tensor)]


def _tensors(value: Any) -> list[Any]:
    """Tensors in nested containers."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]


def _scopes(model: Module) -> dict[int, str]:
    """Full name of each module, by its id, as in PyTorch: ``Net/Sequential[body]/Linear[0]``."""
    found: dict[int, str] = {}
    names = {"": type(model).__name__}
    for path, module in model.named_modules():
        if path:
            parent, _, last = path.rpartition(".")
            names[path] = f"{names[parent]}/{type(module).__name__}[{last}]"
        found[id(module)] = names[path]
    return found


def _parameters(model: Module, scopes: dict[int, str]) -> dict[int, tuple[str, str, str]]:
    """Name, op and attributes of a node for each parameter and buffer, by the tensor's ``id``.

    ``scopes`` are the full names of the modules by ``id``.
    """
    return {
        id(tensor): (f"{scopes[id(module)]}/{name}", "prim::GetAttr", f"{{ name :  {name} }}")
        for module in model.modules()
        for members in (module.named_parameters, module.named_buffers)
        for name, tensor in members(recurse=False)
    }


def _inputs(model: Module, args: tuple[Any, ...]) -> dict[int, tuple[str, str, str]]:
    """Name, op and attributes of a node for each tensor in a model's arguments, by its ``id``."""
    found: dict[int, tuple[str, str, str]] = {}
    for name, value in inspect.signature(model.forward).bind(*args).arguments.items():
        tensors = _tensors(value)
        for number, tensor in enumerate(tensors, 1):
            full_name = name if isinstance(value, Tensor) else f"{name}.{number}"
            found.setdefault(id(tensor), (f"input/{full_name}", "IO Node", "{}"))
    return found


def _function_names(func: Callable[..., Any], name: str) -> tuple[str, str]:
    """Names of a called function for its node.

    Args:
        func: The function.
        name: Its ``__name__``; ``"__get__"`` for the access to a property.

    Returns:
        The name without surrounding underscores, and PyTorch's ``aten::`` name.
    """
    if name == "__get__":
        name = getattr(getattr(func, "__self__", None), "fget", func).__name__
    op = getattr(func, "op", None)
    base = name if name.endswith("_") and not name.startswith("_") else name.strip("_")
    suffix = "_" if op is not None and base == f"{op.name}_" else ""
    return base, op and aten_name(op.name + suffix, op) or f"aten::{base}"


def _attributes(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> str:
    """Text of the arguments of a call that contain no tensor, in PyTorch's format: no quotes."""
    try:
        given = inspect.signature(func).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a builtin without a signature
        given = {**{str(index): value for index, value in enumerate(args)}, **kwargs}
    texts = [f"{k} : {reprlib.repr(v)}" for k, v in given.items() if not _tensors(v)]
    return "{" + ", ".join(texts).replace("'", " ") + "}"
