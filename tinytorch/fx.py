"""``torch.fx`` for programs that import it: programs are not traced here.

``wrap`` marks functions for a tracer and so changes nothing; ``map_arg`` and ``map_aggregate``
walk through arguments. Everything that needs a graph raises NotImplementedError when it is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .compat.module_aliases import publish
from .compat.unsupported import Absent, absent
from .nn.module import Module

__all__ = [
    "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer",
    "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])
_WHY = "tinytorch records no graphs of programs; call the module as it is"


class Graph(Absent, why=_WHY):
    """A program as a graph, which nothing is here."""


class Node(Absent, why=_WHY):
    """A step of a graph, which nothing is here."""


class Proxy(Absent, why=_WHY):
    """What a tracer calls functions with; nothing is one here."""


class Tracer(Absent, why=_WHY):
    """What makes graphs of modules; deriving from it is fine, making one raises."""


class GraphModule(Absent, Module, why=_WHY):
    """A module made of a graph, which none is here; deriving from it is fine."""


class Interpreter(Absent, why=_WHY):
    """What runs a graph step by step; deriving from it is fine, making one raises."""


class Transformer(Interpreter, why=_WHY):
    """What makes a graph of another; deriving from it is fine, making one raises."""


symbolic_trace = absent("fx.symbolic_trace", _WHY)
replace_pattern = absent("fx.replace_pattern", _WHY)
#: What may stand among the arguments of a step of a graph, and what it may call.
Argument = Target = Any


def wrap(fn_or_name: Any) -> Any:
    """Its argument: the mark says that a tracer is not to look inside, and there is none.

    Args:
        fn_or_name: A function, or the name of one.

    Raises:
        RuntimeError: If it is neither.

    Example:
        >>> import tinytorch as tt
        >>> tt.fx.wrap(len) is len
        True
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    return fn_or_name


def has_side_effect(fn: _F) -> _F:
    """Its argument: the mark says that a graph is to keep calls of it, and there is none.

    Example:
        >>> import tinytorch as tt
        >>> tt.fx.has_side_effect(len) is len
        True
    """
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """A function applied to everything in tuples, lists, dicts and slices.

    Args:
        a: The arguments.
        fn: The function.

    Example:
        >>> from tinytorch.fx.node import map_aggregate
        >>> map_aggregate((1, [2, {"a": 3}]), lambda x: x + 1)
        (2, [3, {'a': 4}])
    """
    if isinstance(a, tuple):
        parts = [map_aggregate(each, fn) for each in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(each, fn) for each in a]
    if isinstance(a, dict):
        return {key: map_aggregate(each, fn) for key, each in a.items()}
    if isinstance(a, slice):
        return slice(*(map_aggregate(each, fn) for each in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Any], Any]) -> Any:
    """A function applied to every ``Node`` among arguments; there are none, so a copy.

    Args:
        a: The arguments.
        fn: The function.

    Example:
        >>> import tinytorch as tt
        >>> tt.fx.map_arg((1, [2]), lambda node: node.name)
        (1, [2])
    """
    return map_aggregate(a, lambda each: fn(each) if isinstance(each, Node) else each)


def get_proxy_mode() -> None:
    """None: nothing is being traced.

    Example:
        >>> from tinytorch.fx.experimental.proxy_tensor import get_proxy_mode
        >>> get_proxy_mode() is None
        True
    """


publish(
    __name__,
    "node graph graph_module interpreter proxy subgraph_rewriter experimental "
    "experimental.proxy_tensor",
)
