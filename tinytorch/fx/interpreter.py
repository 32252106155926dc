"""Execution of a graph node by node, and making another graph that way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..nn.module import Module
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, iterate_nodes, map_aggregate, map_arg
from .proxy import GraphAppendingTracer, Proxy

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runner of a graph, one node after the other; subclasses override the kinds of nodes.

    Args:
        module: The module with the graph.
        garbage_collect_values: Whether values are dropped after their last use. Default: True.
        graph: The graph. Default: that of ``module``.

    Attributes:
        env: The values so far, by node.

    Example:
        >>> class Negate(tt.fx.Interpreter):
        ...     def call_function(self, target, args, kwargs):
        ...         new = tt.neg if target is tt.sin else target
        ...         return super().call_function(new, args, kwargs)
        >>> Negate(tt.fx.symbolic_trace(lambda x: tt.sin(x) + 1)).run(tt.ones(2))
        tensor([0., 0.])
    """

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module: Any = module
        self.submodules: dict[str, Module] = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for node in reversed(self.graph.nodes):
                for used in iterate_nodes((node.args, node.kwargs)):
                    if used not in seen:
                        seen.add(used)
                        self.user_to_last_uses.setdefault(node, []).append(used)

    def run(
        self, *args: Any, initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:  # fmt: skip
        """Run the graph.

        Args:
            *args: The values of the inputs.
            initial_env: Values of nodes that do not run. Default: none.
            enable_io_processing: Whether the graph's generator of code processes inputs and
                outputs, as ``forward`` does. Default: True.

        Returns:
            The value of the output.
        """
        self.env = {} if initial_env is None else dict(initial_env)
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run_with_note(node)
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                value = self.env[node]
                return self.graph.process_outputs(value) if enable_io_processing else value
        return None

    def _run_with_note(self, node: Node) -> Any:
        """Run a node; the text of an error says which one it is."""
        try:
            return self.run_node(node)
        except Exception as error:
            note = f"While executing {node.format_node()}"
            if error.args and isinstance(error.args[0], str):
                error.args = (f"{error.args[0]}\n\n{note}", *error.args[1:])
            else:
                error.add_note(note)
            raise

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph with the values of a list, which is emptied.

        Args:
            args_list: The values of the inputs.

        Example:
            >>> values = [tt.ones(1)]
            >>> tt.fx.Interpreter(tt.fx.symbolic_trace(lambda x: x + 1)).boxed_run(values)
            tensor([2.])
            >>> values
            []
        """
        args = tuple(args_list)
        args_list.clear()
        return self.run(*args, enable_io_processing=False)

    def run_node(self, n: Node) -> Any:
        """Run one node: call the method of its kind.

        Args:
            n: The node.

        Returns:
            Its value.

        Example:
            >>> class Names(tt.fx.Interpreter):
            ...     def run_node(self, n):
            ...         print(n)
            ...         return super().run_node(n)
            >>> Names(tt.fx.symbolic_trace(lambda x: x + 1)).run(1)
            x
            add
            output
            2
        """
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument of ``run``, or the default of the parameter.

        Args:
            target: Name of the parameter.
            args: Its default, if it has one.
            kwargs: Not used.

        Raises:
            RuntimeError: If there is neither.

        Example:
            >>> class Double(tt.fx.Interpreter):
            ...     def placeholder(self, target, args, kwargs):
            ...         return 2 * super().placeholder(target, args, kwargs)
            >>> Double(tt.fx.symbolic_trace(lambda x: x + 1)).run(1)
            3
        """
        if target.startswith("*"):
            return list(self.args_iter)
        missing = object()
        value = next(self.args_iter, missing)
        if value is not missing:
            return value
        if args:
            return args[0]
        raise RuntimeError(
            f"Expected positional argument for parameter {target}, but one was not passed in!"
        )

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the module's attribute of a dotted name.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(tt.nn.Linear(2, 1)))
            >>> runner.get_attr("weight", (), {}).shape
            tinytorch.Size([1, 2])
        """
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the function ``target``."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the method ``target`` of the first argument.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(lambda x: x))
            >>> runner.call_method("add", (tt.ones(1), 1), {})
            tensor([2.])
        """
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the submodule of the dotted name ``target``.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.ReLU())))
            >>> runner.call_module("0", (-tt.ones(1),), {})
            tensor([0.])
        """
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the value of the output.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(lambda x: x))
            >>> runner.output("output", (1,), {})
            1
        """
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """Return the module's attribute of a dotted name.

        Args:
            target: The name.

        Raises:
            RuntimeError: If there is none.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.ReLU())))
            >>> runner.fetch_attr("0")
            ReLU()
        """
        value: Any = self.module
        parts = target.split(".")
        for i, name in enumerate(parts):
            if not hasattr(value, name):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            value = getattr(value, name)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a node, with values in the place of nodes.

        Args:
            n: The node.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(lambda x: x + 1))
            >>> x, add, output = runner.graph.nodes
            >>> runner.env[x] = 5
            >>> runner.fetch_args_kwargs_from_env(add)
            ((5, 1), {})
        """
        args = self.map_nodes_to_values(n.args, n)
        return tuple(args), dict(self.map_nodes_to_values(n.kwargs, n))

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return arguments with values in the place of nodes.

        Args:
            args: The arguments.
            n: The node that has them.

        Raises:
            RuntimeError: If a node has no value yet.

        Example:
            >>> runner = tt.fx.Interpreter(tt.fx.symbolic_trace(lambda x: x + 1))
            >>> x, add, output = runner.graph.nodes
            >>> runner.env[x] = 5
            >>> runner.map_nodes_to_values([x], add)
            [5]
        """

        def load(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose "
                    "such issues"
                )
            return self.env[used]

        return map_arg(args, load)


class Transformer(Interpreter):
    """Interpreter that makes another graph: overridden methods change what its nodes become.

    Args:
        module: The module with the graph.

    Example:
        >>> class Negate(tt.fx.Transformer):
        ...     def call_function(self, target, args, kwargs):
        ...         new = tt.neg if target is tt.sin else target
        ...         return super().call_function(new, args, kwargs)
        >>> made = Negate(tt.fx.symbolic_trace(lambda x: tt.sin(x) + 1)).transform()
        >>> made(tt.ones(2))
        tensor([0., 0.])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph: Graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.new_graph._codegen = module.graph._codegen
        self.tracer: Any = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Add an input to the new graph, and return its proxy."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Add a node for an attribute to the new graph, and return its proxy."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)  # type: ignore[no-any-return]

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Add a call of a submodule to the new graph, and return its proxy."""
        if not isinstance(target, str):
            raise AssertionError(f"Expected str target, got {type(target)}")
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Add a call of a function to the new graph, and return its proxy."""
        if not callable(target):
            raise AssertionError(f"Expected a callable target, got {type(target)}")
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Run the graph on proxies, and return a module with the new graph."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            strip = map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a)
            self.new_graph.output(strip)
        return GraphModule(self.module, self.new_graph)

    def run_node(self, n: Node) -> Any:
        """Run a node on proxies; the new node keeps its ``meta``."""
        made = super().run_node(n)
        if isinstance(made, Proxy):
            made.node.meta.update({k: v for k, v in n.meta.items() if k not in made.node.meta})
        return made


class _TransformerTracer(GraphAppendingTracer):
    """Tracer of a new graph for the module of the old one."""

    root: Module

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """True: calls of submodules stay calls."""
        return True
