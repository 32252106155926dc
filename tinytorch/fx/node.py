"""Nodes of a graph, and functions of their nested arguments."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from .immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

_F = TypeVar("_F", bound=Callable[..., Any])
_OWN = __name__.partition(".")[0]
#: Types of the arguments of a graph's node, and of the function that it calls.
Argument: Any = Any
Target: Any = Any
_OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
#: Functions whose unused calls ``eliminate_dead_code`` leaves.
_side_effectful_functions: set[Callable[..., Any]] = {operator.setitem}


def has_side_effect(fn: _F) -> _F:
    """Mark a function, so that ``Graph.eliminate_dead_code`` leaves unused calls of it.

    Args:
        fn: The function.

    Returns:
        ``fn``.

    Example:
        >>> tt.fx.has_side_effect(print) is print
        True
    """
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function to each leaf of nested tuples, lists, dicts and slices.

    Args:
        a: The arguments.
        fn: The function.

    Returns:
        The results in the same structure; lists and dicts are immutable ones.

    Example:
        >>> from tinytorch.fx.node import map_aggregate
        >>> map_aggregate((1, [2, {"a": 3}]), lambda x: x + 1)
        (2, [3, {'a': 4}])
    """
    if isinstance(a, tuple):
        parts = [map_aggregate(each, fn) for each in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return immutable_list(map_aggregate(each, fn) for each in a)
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(each, fn)) for key, each in a.items())
    if isinstance(a, slice):
        return slice(*(map_aggregate(each, fn) for each in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply a function to each ``Node`` among nested arguments; other leaves are unchanged.

    Args:
        a: The arguments.
        fn: The function.

    Example:
        >>> node = tt.fx.Graph().placeholder("x")
        >>> tt.fx.map_arg((node, [2]), lambda n: n.name)
        ('x', [2])
    """
    return map_aggregate(a, lambda each: fn(each) if isinstance(each, Node) else each)


def iterate_nodes(a: Any) -> Iterator[Node]:
    """Yield the nodes among nested arguments."""
    if isinstance(a, Node):
        yield a
    elif isinstance(a, (tuple, list)):
        yield from chain.from_iterable(map(iterate_nodes, a))
    elif isinstance(a, dict):
        yield from chain.from_iterable(map(iterate_nodes, a.values()))
    elif isinstance(a, slice):
        yield from iterate_nodes((a.start, a.stop, a.step))


def _get_qualified_name(func: Any) -> str:
    """Return the dotted name of a function or class: ``math.sqrt``, ``tinytorch.relu``."""
    owner = getattr(func, "__objclass__", None)  # of a method in C
    module: Any = getattr(func, "__module__", None) or getattr(owner, "__module__", "builtins")
    name: Any = getattr(func, "__qualname__", None) or getattr(
        func, "__name__", type(func).__name__
    )
    module = {"_operator": "operator"}.get(module, module)
    if isinstance(func, type) and getattr(sys.modules[_OWN], name, None) is func:
        module = _OWN
    return f"{module}.{name.replace('<locals>.', '')}"


class Node:
    """Step of a graph: a call, an input, an attribute of the module, or the output.

    Attributes:
        graph: The graph.
        name: Name of the node's value in the generated code.
        op: ``"placeholder"``, ``"get_attr"``, ``"call_function"``, ``"call_module"``,
            ``"call_method"`` or ``"output"``.
        target: Name of the parameter, attribute, module or method; the function of a
            ``"call_function"``.
        args: Positional arguments; nodes stand for their values.
        kwargs: Arguments by name.
        users: The nodes that have this one among their arguments, as keys of a dict.
        type: Annotation of the value, or None.
        meta: Dictionary for data of passes over the graph.

    Example:
        >>> graph = tt.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> graph.call_function(tt.relu, (x,)).args
        (x,)
    """

    def __init__(
        self, graph: Graph, name: str, op: str, target: Any, args: tuple[Any, ...],
        kwargs: Mapping[str, Any], return_type: Any = None,
    ) -> None:  # fmt: skip
        if op not in _OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = {name!r}] target {target} has type "
                    f"{type(target).__name__} but a Callable is expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = {name!r}] target {target} has type "
                f"{type(target).__name__} but a str is expected"
            )
        self.graph: Graph = graph
        self.name: str = name
        self.op: str = op
        self.target: Any = target
        self.users: dict[Node, None] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self.type: Any = return_type
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(args, kwargs)

    def __repr__(self) -> str:
        return self.name

    # -- arguments ---------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Any, ...]:
        """Positional arguments; assign a tuple to change them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """Arguments by name; assign a dict to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: Mapping[str, Any]) -> None:
        self._set_arguments(self._args, kwargs)

    def _set_arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Set the arguments, and this node as user of the nodes among them."""
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._args = map_aggregate(args, lambda each: each)
        self._kwargs = map_aggregate(dict(kwargs), lambda each: each)
        self._input_nodes = dict.fromkeys(iterate_nodes((self._args, self._kwargs)))
        for used in self._input_nodes:
            used.users.setdefault(self)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace the positional argument at ``idx``.

        Args:
            idx: Its position.
            arg: The new argument.

        Example:
            >>> node = tt.fx.Graph().call_function(tt.zeros, (2,))
            >>> node.update_arg(0, 3)
            >>> node.args
            (3,)
        """
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Insert a positional argument before the one at ``idx``.

        Args:
            idx: The position.
            arg: The new argument.

        Example:
            >>> node = tt.fx.Graph().call_function(tt.zeros, (2,))
            >>> node.insert_arg(1, 3)
            >>> node.args
            (2, 3)
        """
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set the argument of a name.

        Args:
            key: The name.
            arg: The new argument.

        Example:
            >>> node = tt.fx.Graph().call_function(tt.zeros, (2,))
            >>> node.update_kwarg("dtype", tt.int64)
            >>> node.kwargs
            {'dtype': tinytorch.int64}
        """
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replace a node among the arguments by another one.

        Args:
            old_input: The node to replace, everywhere in the arguments.
            new_input: The new node.

        Example:
            >>> graph = tt.fx.Graph()
            >>> x, y = graph.placeholder("x"), graph.placeholder("y")
            >>> node = graph.call_function(tt.add, (x, x))
            >>> node.replace_input_with(x, y)
            >>> node.args
            (y, y)
        """

        def replace(node: Node) -> Node:
            return new_input if node is old_input else node

        for hook in self.graph._hooks("_replace_hooks"):
            hook(old=old_input, new=new_input.name, user=self)
        self._set_arguments(map_arg(self._args, replace), map_arg(self._kwargs, replace))

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *,
        propagate_meta: bool = False,
    ) -> list[Node]:  # fmt: skip
        """Replace this node by another one in the arguments of its users.

        Args:
            replace_with: The other node.
            delete_user_cb: Tells for each user whether its arguments change. Default: all do.
            propagate_meta: Whether ``replace_with`` gets a copy of ``meta``; its own must be
                empty. Default: False.

        Returns:
            The users that changed.

        Example:
            >>> graph = tt.fx.Graph()
            >>> x, y = graph.placeholder("x"), graph.placeholder("y")
            >>> node = graph.call_function(tt.relu, (x,))
            >>> x.replace_all_uses_with(y)
            [relu]
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but "
                    "replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # -- the order of nodes --------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The next node of the graph; after the last one the graph's root."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before; before the first one the graph's root."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move a node of the same graph to the place before this one.

        Args:
            x: The node.

        Example:
            >>> graph = tt.fx.Graph()
            >>> x, y = graph.placeholder("x"), graph.placeholder("y")
            >>> x.prepend(y)
            >>> list(graph.nodes)
            [y, x]
        """
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is not x:
            x._unlink()
            before = self._prev
            before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: Node) -> None:
        """Move a node of the same graph to the place after this one.

        Args:
            x: The node.

        Example:
            >>> graph = tt.fx.Graph()
            >>> x, y = graph.placeholder("x"), graph.placeholder("y")
            >>> y.append(x)
            >>> list(graph.nodes)
            [y, x]
        """
        if self is not x:
            self._next.prepend(x)

    def _unlink(self) -> None:
        """Remove this node from the list of nodes."""
        self._prev._next, self._next._prev = self._next, self._prev

    # -- other ---------------------------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Stack of the call, if the tracer recorded it (``record_stack_traces``)."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self) -> bool:
        """Whether the node does more than compute its value.

        Inputs and the output do, as do writes to an item, in-place methods such as ``add_``,
        functions marked by ``has_side_effect``, and modules whose ``_is_impure`` is True.

        Example:
            >>> graph = tt.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> [graph.call_method(name, (x, 1)).is_impure() for name in ("add", "add_")]
            [False, True]
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions
        if self.op == "call_method":
            return bool(self.target.endswith("_") and not self.target.endswith("__"))
        if self.op == "call_module" and self.graph.owning_module is not None:
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        return False

    def format_node(
        self, placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
    ) -> str:  # fmt: skip
        """Return one line about the node, as ``print(graph)`` shows it.

        Args:
            placeholder_names: Ignored.
            maybe_return_typename: Ignored.

        Example:
            >>> tt.fx.Graph().placeholder("x").format_node()
            '%x : [num_users=0] = placeholder[target=x]'
        """
        if self.op == "output":
            return f"return {self._args[0]}"
        kind = f" {type_name(self.type)}" if self.type is not None else ""
        head = f"%{self.name} :{kind} [num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={self._args[0]})" if self._args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self.target}]"
        target = self.target if isinstance(self.target, str) else _get_qualified_name(self.target)
        args, kwargs = _format(self._args), _format(self._kwargs)
        return f"{head}[target={target}](args = {args}, kwargs = {kwargs})"

    def _rename(self, candidate: str) -> None:
        """Give the node a name that the graph does not use yet, made of ``candidate``."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)


def type_name(annotation: Any) -> str:
    """Return the text of an annotation, with the module of a class."""
    if isinstance(annotation, type):
        name = _get_qualified_name(annotation)
        return name.removeprefix("builtins.")
    return repr(annotation)


def _format(value: Any) -> str:
    """Return the text of arguments in which nodes are ``%name`` and texts have no quotes."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_format, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_format(each)}" for key, each in value.items()) + "}"
    return str(value)


def input_nodes(values: Iterable[Any]) -> list[Node]:
    """Return the nodes among nested arguments, each once."""
    return list(dict.fromkeys(iterate_nodes(tuple(values))))
