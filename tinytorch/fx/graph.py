"""Graph of a program: a list of nodes in the order in which they run."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .code_generation import CodeGen as CodeGen
from .code_generation import PythonCode as PythonCode
from .code_generation import _Namespace, snake_case
from .node import Node, _get_qualified_name, map_arg

if TYPE_CHECKING:
    from .graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]


class _node_list:  # PyTorch's name, which programs test for
    """The nodes of a graph, in order; iteration allows changes of the graph."""

    def __init__(self, graph: Graph, reverse: bool = False) -> None:
        self.graph: Graph = graph
        self._reverse = reverse

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = root._prev if self._reverse else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self._reverse else node._next

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, not self._reverse)


class _InsertPoint:
    """Scope in which new nodes go to another place."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self._graph, self._former = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        self._graph._insert = self._former


class Graph:
    """List of nodes that call functions, methods and modules.

    Args:
        owning_module: The ``GraphModule`` of the graph, or None.
        tracer_cls: Class of the tracer that made it, or None.
        tracer_extras: Data of the tracer; ignored.

    Example:
        >>> graph = tt.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> result = graph.call_function(tt.relu, (x,))
        >>> output = graph.output(result)
        >>> print(graph)
        graph():
            %x : [num_users=1] = placeholder[target=x]
            %relu : [num_users=1] = call_function[target=tinytorch.relu](args = (%x,), kwargs = {})
            return relu
    """

    def __init__(
        self, owning_module: GraphModule | None = None, tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owners = 0
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> GraphModule | None:
        """The module whose graph this is, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: GraphModule | None) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """The nodes in order; ``reversed`` gives the opposite one.

        Example:
            >>> [n.op for n in tt.fx.symbolic_trace(lambda x: x + 1).graph.nodes]
            ['placeholder', 'call_function', 'output']
        """
        return _node_list(self)

    # -- new nodes -----------------------------------------------------------------------------

    def create_node(
        self, op: str, target: Any, args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None, name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Add a node at the current insertion point, by default the end.

        Args:
            op: Kind of the node; see ``Node``.
            target: What it calls or reads.
            args: Positional arguments. Default: none.
            kwargs: Arguments by name. Default: none.
            name: Wanted name. Default: made of ``target``.
            type_expr: Annotation of the value. Default: none.

        Returns:
            The node.

        Example:
            >>> tt.fx.Graph().create_node("call_function", tt.ones, (2,))
            ones
        """
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        wanted = name if name is not None else self._target_to_str(target)
        node = Node(self, "", op, target, args, kwargs, type_expr)
        node.name = self._graph_namespace.create_name(wanted, node)
        self._insert(node)
        self._len += 1
        for hook in self._hooks("_create_node_hooks"):
            hook(node)
        return node

    def _hooks(self, name: str) -> list[Any]:
        """Return the owner's functions that are called when the graph changes."""
        return getattr(self._owning_module, name, [])

    def _target_to_str(self, target: Any) -> str:
        """Return the name that a node with this target should have."""
        name = target if isinstance(target, str) else target.__name__
        is_magic = name.startswith("__") and name.endswith("__")
        return snake_case(name[2:-2] if is_magic else name)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """Add an input.

        Args:
            name: Name of the parameter; ``*args`` and ``**kwargs`` with their stars.
            type_expr: Its annotation. Default: none.
            default_value: Its default. Default: none.

        Returns:
            The node.
        """
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a node for a parameter, buffer or other attribute of the module.

        Args:
            qualified_name: Its name, such as ``"layer.weight"``.
            type_expr: Annotation of the value. Default: none.

        Returns:
            The node.

        Example:
            >>> tt.fx.Graph().get_attr("layer.weight")
            layer_weight
        """
        owner = self._owning_module
        if owner is not None and not _has_attribute(owner, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=3,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Add a call of a submodule.

        Args:
            module_name: Its name, such as ``"layers.0"``.
            args: Positional arguments. Default: none.
            kwargs: Arguments by name. Default: none.
            type_expr: Annotation of the value. Default: none.

        Returns:
            The node.

        Example:
            >>> graph = tt.fx.Graph()
            >>> graph.call_module("layers.0", (graph.placeholder("x"),))
            layers_0
        """
        owner = self._owning_module
        if owner is not None and not _has_attribute(owner, module_name):
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule",
                stacklevel=3,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Add a call of a method.

        Args:
            method_name: Its name.
            args: The object, then the positional arguments.
            kwargs: Arguments by name. Default: none.
            type_expr: Annotation of the value. Default: none.

        Returns:
            The node.

        Example:
            >>> graph = tt.fx.Graph()
            >>> graph.call_method("view", (graph.placeholder("x"), -1))
            view
        """
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None, type_expr: Any = None, name: str | None = None,
    ) -> Node:  # fmt: skip
        """Add a call of a function.

        Args:
            the_function: The function.
            args: Positional arguments. Default: none.
            kwargs: Arguments by name. Default: none.
            type_expr: Annotation of the value. Default: none.
            name: Wanted name of the node. Default: the function's.

        Returns:
            The node.
        """
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Add the output.

        Args:
            result: The value to return: a node, or a structure of nodes.
            type_expr: Annotation of the function's result. Default: none.

        Returns:
            The node.
        """
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Add a copy of a node, which may be one of another graph.

        Args:
            node: The node.
            arg_transform: Function from its arguments' nodes to nodes of this graph.

        Returns:
            The copy.

        Example:
            >>> old, new = tt.fx.symbolic_trace(lambda x: x + 1).graph, tt.fx.Graph()
            >>> made = {}
            >>> for node in old.nodes:
            ...     made[node] = new.node_copy(node, lambda n: made[n])
            >>> [node.name for node in new.nodes]
            ['x', 'add', 'output']
        """
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False
    ) -> Any:
        """Add copies of all nodes of another graph but its output.

        Args:
            g: The other graph.
            val_map: Values for nodes of ``g`` that are not copied; gets the copies.
            return_output_node: Whether to return the output node of ``g``, too. Default: False.

        Returns:
            The value that ``g`` would return, with nodes of this graph, or None.

        Example:
            >>> old, new = tt.fx.symbolic_trace(lambda x: x + 1).graph, tt.fx.Graph()
            >>> new.output(new.graph_copy(old, {}))
            output
            >>> [node.name for node in new.nodes]
            ['x', 'add', 'output']
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    # -- places and removal ----------------------------------------------------------------------

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Scope in which new nodes go before a node.

        Args:
            n: The node. Default: the first one.

        Example:
            >>> graph = tt.fx.symbolic_trace(lambda x: x + 1).graph
            >>> with graph.inserting_before(graph.output_node()):
            ...     node = graph.call_function(tt.neg, (list(graph.nodes)[1],))
            >>> [n.name for n in graph.nodes]
            ['x', 'add', 'neg', 'output']
        """
        if n is None:
            return self.inserting_after(self._root)
        self._check_own(n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Scope in which each new node goes directly after a node.

        Args:
            n: The node. Default: the last one.

        Example:
            >>> graph = tt.fx.symbolic_trace(lambda x: x + 1).graph
            >>> with graph.inserting_after(list(graph.nodes)[0]):
            ...     node = graph.call_function(tt.ones, (2,))
            >>> [n.name for n in graph.nodes]
            ['x', 'ones', 'add', 'output']
        """
        if n is None:
            return self.inserting_before(self._root)
        self._check_own(n)
        return _InsertPoint(self, n.append)

    def _check_own(self, node: Node) -> None:
        if node.graph is not self:
            raise AssertionError("Node to insert before or after is not in graph.")

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that no other one uses.

        Args:
            to_erase: The node.

        Raises:
            RuntimeError: If it has users, or belongs to another graph.

        Example:
            >>> graph = tt.fx.symbolic_trace(lambda x: x + 1).graph
            >>> graph.erase_node(graph.output_node())
            >>> [n.name for n in graph.nodes]
            ['x', 'add']
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=3)
            return
        for hook in self._hooks("_erase_node_hooks"):
            hook(to_erase)
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes whose values are not used and that have no side effect.

        Args:
            is_impure_node: Tells whether a node has one. Default: ``Node.is_impure``.

        Returns:
            Whether a node was removed.

        Example:
            >>> graph = tt.fx.symbolic_trace(lambda x: (x + 1, x * 2)[0]).graph
            >>> graph.eliminate_dead_code(), [n.name for n in graph.nodes]
            (True, ['x', 'add', 'output'])
        """
        self.lint()
        count = self._len
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not impure and not node.users:
                self.erase_node(node)
        return self._len < count

    # -- queries ---------------------------------------------------------------------------------

    def output_node(self) -> Node:
        """Return the output, which is the last node.

        Example:
            >>> tt.fx.symbolic_trace(lambda x: x + 1).graph.output_node().args
            (add,)
        """
        node = self._root._prev
        if node.op != "output":
            raise AssertionError(f"Expected output node, got {node.op or 'an empty graph'}")
        return node

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """Return the nodes of a kind, in order.

        Args:
            op: The kind.
            target: What they call or read. Default: anything.
            sort: Ignored: the order is always that of the graph.

        Example:
            >>> tt.fx.symbolic_trace(lambda x: x + 1).graph.find_nodes(op="placeholder")
            [x]
        """
        found = [node for node in self.nodes if node.op == op]
        return [node for node in found if target is None or node.target == target]

    def lint(self) -> None:
        """Check that arguments are defined before use, names differ, and attributes exist.

        Raises:
            RuntimeError: If not.

        Example:
            >>> tt.fx.symbolic_trace(lambda x: x + 1).graph.lint()
        """
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                self._check_argument(used, node, seen)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self._owning_module is not None and node.op in ("get_attr", "call_module"):
                _check_attribute(self._owning_module, node)

    def _check_argument(self, used: Node, node: Node, seen: set[Node]) -> None:
        text = f"Argument '{used}' of Node '{node}'"
        if used.graph is not self:
            raise RuntimeError(
                f"{text} does not belong to this Graph, but was used as an argument! If you are "
                "copying nodes from another graph, make sure to use ``arg_transform`` on "
                f"node_copy() to remap values\n{self}"
            )
        if used not in seen:
            raise RuntimeError(
                f"{text} was used before it has been defined! Please check that Nodes in the graph "
                f"are topologically ordered\n{self}"
            )

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    def print_tabular(self) -> None:
        """Print the nodes as a table.

        Example:
            >>> tt.fx.symbolic_trace(lambda x: x + 1).graph.print_tabular()
            opcode         name    target        args    kwargs
            -------------  ------  ------------  ------  --------
            placeholder    x       x             ()      {}
            call_function  add     operator.add  (x, 1)  {}
            output         output  output        (add,)  {}
        """
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        for node in self.nodes:
            target = node.target
            shown = target if isinstance(target, str) else _get_qualified_name(target)
            rows.append([node.op, node.name, shown, str(node.args), str(node.kwargs)])
        widths = [max(len(row[i]) + 2 * (row is rows[0]) for row in rows) for i in range(5)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())  # noqa: T201

    # -- code ------------------------------------------------------------------------------------

    def python_code(self, root_module: str) -> PythonCode:
        """Return the code of a function that does what the graph does.

        Args:
            root_module: Name of the module in the code, usually ``"self"``.

        Example:
            >>> print(tt.fx.symbolic_trace(lambda x: x).graph.python_code("self").src.strip())
            def forward(self, x):
                return x
        """
        names = _Namespace()
        for node in self.nodes:
            names._used.add(node.name)
            names.associate_name_with_obj(node.name, node)
        return self._codegen._gen_python_code(self.nodes, root_module, names)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Set the generator of the code.

        Args:
            codegen: The generator.

        Example:
            >>> class Shout(tt.fx.CodeGen):
            ...     def generate_output(self, output_args):
            ...         return f"return {output_args}, 'done'"
            >>> gm = tt.fx.symbolic_trace(lambda x: x)
            >>> gm.graph.set_codegen(Shout())
            >>> code = gm.recompile()
            >>> gm(1)
            (1, 'done')
        """
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> _Restore:
        """Change the lines of the code when it is generated.

        Args:
            make_transformer: Function from the former transformer, or None, to the new one, which
                maps the list of lines to another.

        Returns:
            Context manager that restores the former one at its exit.

        Example:
            >>> gm = tt.fx.symbolic_trace(lambda x: x + 1)
            >>> with gm.graph.on_generate_code(lambda former: lambda body: ["x = -x\\n", *body]):
            ...     code = gm.recompile()
            >>> gm(1)
            0
        """
        former = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(former)
        return _Restore(self._codegen, former)

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders for the arguments of the function.

        Example:
            >>> tt.fx.symbolic_trace(lambda x: x).graph.process_inputs(1)
            (1,)
        """
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return the result of the function for the value of the output.

        Example:
            >>> tt.fx.symbolic_trace(lambda x: x).graph.process_outputs(1)
            1
        """
        return self._codegen.process_outputs(out)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        made._codegen = copy.copy(self._codegen)
        val_map: dict[Node, Any] = {}
        found = made.graph_copy(self, val_map, return_output_node=True)
        if found is not None:
            value, old = found
            made.output(value, old.type).meta = copy.copy(old.meta)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        places = {node: i for i, node in enumerate(self.nodes)}
        rows = []
        for node in self.nodes:
            arguments = map_arg((node.args, node.kwargs), lambda n: _Place(places[n]))
            wrapped = bool(node.meta.get("is_wrapped"))
            rows.append((node.op, node.target, *arguments, node.name, node.type, wrapped))
        return _rebuild_graph, (rows, self._tracer_cls, self._codegen)


class _Restore:
    """Scope at whose exit a generator has its former transformer."""

    def __init__(self, codegen: CodeGen, former: Any) -> None:
        self._codegen, self._former = codegen, former

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        self._codegen._body_transformer = self._former


class _Place(int):
    """Position of a node, in a pickle."""


def _rebuild_graph(rows: list[tuple[Any, ...]], tracer_cls: Any, codegen: CodeGen) -> Graph:
    """Return a graph from a pickle; data of passes, ``Node.meta``, are not in it."""
    from .node import map_aggregate

    graph, nodes = Graph(tracer_cls=tracer_cls), list[Node]()
    graph._codegen = codegen
    for op, target, args, kwargs, name, annotation, wrapped in rows:
        args, kwargs = map_aggregate(
            (args, kwargs), lambda each: nodes[each] if isinstance(each, _Place) else each
        )
        nodes.append(graph.create_node(op, target, args, kwargs, name, annotation))
        if wrapped:
            nodes[-1].meta["is_wrapped"] = True
    return graph


def _has_attribute(module: Any, target: str) -> bool:
    """Whether a module has an attribute of a dotted name."""
    for name in target.split("."):
        if not hasattr(module, name):
            return False
        module = getattr(module, name)
    return True


def _check_attribute(module: Any, node: Node) -> None:
    """Raise RuntimeError if a module lacks the attribute that a node reads."""
    path = ""
    for name in node.target.split("."):
        if not hasattr(module, name):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {name} of "
                f"{path}"
            )
        module, path = getattr(module, name), f"{path}.{name}".lstrip(".")
