"""Proxies, which stand for values while a program is traced, and the base of tracers."""

from __future__ import annotations

import dataclasses
import dis
import enum
import operator
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..core.device import device
from ..core.layout import layout, memory_format
from ..core.tensor import Tensor
from ..dtypes import dtype
from ..nn.parameter import Parameter
from ..overrides import is_tensor_method_or_property
from .code_generation import magic_methods, reflectable_magic_methods
from .graph import Graph
from .node import Node, iterate_nodes, map_aggregate

__all__ = [
    "Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError", "TracerBase",
]  # fmt: skip

_OWN = __name__.partition(".")[0]
#: Types of values that a node may have as arguments.
base_types: tuple[type, ...] = (
    str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout,
)  # fmt: skip
_ITERATED = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as "
    "a *args or **kwargs function argument. See the torch.fx docs on pytorch.org for a more "
    "detailed explanation of what types of control flow can be traced, and check out the Proxy "
    "docstring for help troubleshooting Proxy iteration errors"
)


class TraceError(ValueError):
    """Error of a program that cannot be traced.

    Example:
        >>> from tinytorch.fx.proxy import TraceError
        >>> try:
        ...     tt.fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x)
        ... except TraceError as error:
        ...     error
        TraceError('symbolically traced variables cannot be used as inputs to control flow')
    """


def caller_frame() -> FrameType | None:
    """Return the innermost frame outside this library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_own(frame):
        frame = frame.f_back
    return frame


def _is_own(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")  # None in modules that call NumPy
    return name is None or name == _OWN or name.startswith(f"{_OWN}.")


class TracerBase:
    """Base of tracers: adds nodes to a graph, and makes proxies of them.

    Attributes:
        graph: The graph.
        record_stack_traces: Whether nodes get the stack of their call. Default: False.
        proxy_buffer_attributes: Whether buffers are proxies, too. Default: False.

    Example:
        >>> graph = tt.fx.Graph()
        >>> tracer = tt.fx.proxy.GraphAppendingTracer(graph)
        >>> tracer.create_proxy("placeholder", "x", (), {})
        Proxy(x)
    """

    graph: Graph
    record_stack_traces: bool = False
    proxy_buffer_attributes: bool = False
    trace_asserts: bool = False
    traced_func_name: str = "forward"

    def create_node(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Add a node to the graph; see ``Graph.create_node``.

        Example:
            >>> tracer = tt.fx.proxy.GraphAppendingTracer(tt.fx.Graph())
            >>> tracer.create_node("placeholder", "x", (), {})
            x
        """
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        stack = getattr(self, "module_stack", None)
        if stack:
            node.meta["nn_module_stack"] = dict(stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """Return the proxy of a node; a tracer may override it.

        Example:
            >>> graph = tt.fx.Graph()
            >>> tt.fx.proxy.GraphAppendingTracer(graph).proxy(graph.placeholder("x"))
            Proxy(x)
        """
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        name: str | None = None, type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:  # fmt: skip
        """Add a node and return its proxy.

        Args:
            kind: Kind of the node; see ``Node``.
            target: What it calls or reads.
            args: Positional arguments, among them proxies.
            kwargs: Arguments by name.
            name: Wanted name. Default: made of ``target``.
            type_expr: Annotation of the value. Default: none.
            proxy_factory_fn: Maker of the proxy. Default: ``self.proxy``.
        """
        node = self.create_node(
            kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr
        )
        if self.record_stack_traces:
            node.stack_trace = "".join(traceback.format_stack(caller_frame()))
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Any:
        """Return an argument of a node for a value: proxies become their nodes.

        Args:
            a: The value; tuples, lists, dicts, slices, ranges and dataclasses may hold others.

        Raises:
            NotImplementedError: For an object that code cannot name.

        Example:
            >>> x = tt.fx.Proxy(tt.fx.Graph().placeholder("x"))
            >>> x.tracer.create_arg((x, [2]))
            (x, [2])
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            parts = [self.create_arg(each) for each in a]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, list):
            return [self.create_arg(each) for each in a]
        if isinstance(a, dict):
            return {self._create_key(key): self.create_arg(each) for key, each in a.items()}
        if isinstance(a, slice):
            return slice(*(self.create_arg(each) for each in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(each) for each in (a.start, a.stop, a.step)))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (*base_types, enum.Enum, Node)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key: Any) -> Any:
        """Return the key of a dict, which must not depend on proxies."""
        made = self.create_arg(key)
        if any(iterate_nodes((made,))):
            raise RuntimeError(
                f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {made}"
            )
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """Return the truth value of a proxy, for ``if``; raises TraceError unless overridden.

        Example:
            >>> class Yes(tt.fx.Tracer):
            ...     def to_bool(self, obj):
            ...         return True
            >>> [n.name for n in Yes().trace(lambda x: x + 1 if x else -x).nodes]
            ['x', 'add', 'output']
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Return an iterator over a proxy; raises TraceError unless overridden.

        Example:
            >>> class Pairs(tt.fx.Tracer):
            ...     def iter(self, obj):
            ...         return iter([obj[0], obj[1]])
            >>> [n.name for n in Pairs().trace(lambda x: [e for e in x]).nodes]
            ['x', 'getitem', 'getitem_1', 'output']
        """
        raise TraceError(_ITERATED)

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a proxy, for ``**``: a proxy, unless overridden.

        Example:
            >>> x = tt.fx.Proxy(tt.fx.Graph().placeholder("x"))
            >>> x.tracer.keys(x)
            Proxy(keys)
        """
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Tracer for proxies that are made by hand: it adds nodes to a graph.

    Args:
        graph: The graph.

    Example:
        >>> graph = tt.fx.Graph()
        >>> x = tt.fx.Proxy(graph.placeholder("x"))
        >>> graph.output((x + 1).node)
        output
        >>> [node.name for node in graph.nodes]
        ['x', 'add', 'output']
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.module_stack: dict[str, Any] = {}


class Proxy:
    """Stand-in for a value while a program is traced: what is done with it becomes nodes.

    Args:
        node: The node of the value.
        tracer: The tracer. Default: one that adds to the node's graph.

    Example:
        >>> x = tt.fx.Proxy(tt.fx.Graph().placeholder("x"))
        >>> tt.relu(x).sum(dim=0)
        Proxy(sum_1)
    """

    node: Node
    tracer: TracerBase
    if TYPE_CHECKING:

        def __getitem__(self, index: Any) -> Any: ...

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):  # a protocol, which a test may look for
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return Attribute(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        count = _unpacked_count()
        return self.tracer.iter(self) if count is None else iter([self[i] for i in range(count)])

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """Return the keys, for ``**``; see ``TracerBase.keys``.

        Example:
            >>> tt.fx.Proxy(tt.fx.Graph().placeholder("x")).keys()
            Proxy(keys)
        """
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None
    ) -> Any:
        args, kwargs = args or (), kwargs or {}
        tracer = find_proxy(args, kwargs).tracer
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        return tracer.create_proxy(
            "call_function", orig_method, args, kwargs, name=orig_method.__name__
        )


def find_proxy(*values: Any) -> Any:
    """Return a proxy among nested values, or None."""
    found: list[Proxy] = []
    map_aggregate(values, lambda each: found.append(each) if isinstance(each, Proxy) else None)
    return found[0] if found else None


def _unpacked_count() -> int | None:
    """Return the number of names that the calling statement assigns the elements to, or None."""
    frame = caller_frame()
    if frame is None:
        return None
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
            return int(instruction.argval)
    return None


class Attribute(Proxy):
    """Attribute of a proxy: a node if it is used, or a method if it is called.

    Example:
        >>> x = tt.fx.Proxy(tt.fx.Graph().placeholder("x"))
        >>> type(x.shape).__name__, x.shape.node
        ('Attribute', getattr_1)
    """

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root: Proxy = root
        self.attr: str = attr
        self.tracer: TracerBase = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the attribute."""
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Proxy of a parameter whose shape is constant; see ``param_shapes_constant`` of ``Tracer``.

    Example:
        >>> tracer = tt.fx.Tracer(param_shapes_constant=True)
        >>> class Net(tt.nn.Linear):
        ...     def forward(self, x):
        ...         w = self.weight
        ...         return w.size(0), w.dim(), w.numel(), w.nelement()
        >>> tracer.trace(Net(2, 3)).output_node().args
        ((3, 2, 6, 6),)
    """

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        self.param: Parameter = param
        self.name: str = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """Shape of the parameter."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """Number of its dimensions."""
        return self.param.ndim

    def size(self, *args: Any) -> Any:
        """Return its shape, or the size of one dimension."""
        return self.param.size(*args)

    def dim(self) -> int:
        """Return the number of its dimensions."""
        return self.param.dim()

    def numel(self) -> int:
        """Return the number of its elements."""
        return self.param.numel()

    nelement = numel


def _operator_method(function: Any, reflected: bool) -> Any:
    def method(self: Proxy, *args: Any) -> Any:
        operands = (*args, self) if reflected else (self, *args)
        return self.tracer.create_proxy("call_function", function, operands, {})

    return method


for _name in magic_methods.keys() - {"div"}:
    _stem, _function = _name.rstrip("_"), getattr(operator, _name)
    setattr(Proxy, f"__{_stem}__", _operator_method(_function, reflected=False))
    if _name in reflectable_magic_methods:
        setattr(Proxy, f"__r{_stem}__", _operator_method(_function, reflected=True))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
