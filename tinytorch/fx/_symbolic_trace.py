"""Tracing: run a program on proxies and record what it does with them."""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import math
import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Self, TypeVar

from .._C import ScriptObject as ScriptObject
from ..core.tensor import Tensor
from ..core.torch_function import count_watchers
from ..nn.container import Sequential
from ..nn.module import Module
from ..nn.module.members import REGISTRIES
from ..nn.parameter import Parameter
from ..state import bind
from ..state.variable import Variable
from ..utils import _pytree
from .code_generation import _PyTreeCodeGen, _PyTreeInfo
from .graph import Graph
from .graph_module import GraphModule
from .proxy import ParameterProxy, TracerBase, base_types, caller_frame, find_proxy

__all__ = ["PH", "Tracer", "symbolic_trace", "wrap"]

_F = TypeVar("_F", bound=Callable[..., Any] | str)
_OWN = __name__.partition(".")[0]
#: The wrapped names, by the identity of the global names that have them.
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}
#: The tracer of this context, or None.
_active: Variable[Any] = Variable("fx_tracer", None)
#: Held while a program is traced, because classes and modules are patched then.
_tracing = threading.RLock()


class PHBase:
    """Mark of an argument in ``concrete_args`` that stays an input."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


def wrap(fn_or_name: _F) -> _F:
    """Mark a function of a module, so that tracers record calls of it and do not enter it.

    Call it at the top level of the module, as a decorator or with the function's name.

    Args:
        fn_or_name: The function, or its name in the module.

    Returns:
        ``fn_or_name``.

    Raises:
        RuntimeError: If it is neither callable nor a text.
        NotImplementedError: If it is called inside a function.

    Example:
        >>> tt.fx.wrap("len")
        'len'
        >>> print(tt.fx.symbolic_trace(lambda x: len(x) + 1).code.strip())
        tinytorch.fx._symbolic_trace.wrap("len")
        <BLANKLINE>
        def forward(self, x):
            len_1 = len(x);  x = None
            add = len_1 + 1;  len_1 = None
            return add
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = caller_frame()
    if frame is None or frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def is_fx_tracing() -> bool:
    """Whether a program is being traced.

    Example:
        >>> from tinytorch.fx._symbolic_trace import is_fx_tracing
        >>> is_fx_tracing()
        False
    """
    return _active.get() is not None


class Tracer(TracerBase):
    """Recorder of the graph of a module or function.

    Args:
        autowrap_modules: Modules whose functions are recorded when they are called with a proxy,
            and not entered. Default: ``math``.
        autowrap_functions: Functions that are treated the same way.
        param_shapes_constant: Whether shapes of parameters are numbers in the graph. Default:
            False.

    Example:
        >>> class Layers(tt.fx.Tracer):
        ...     def is_leaf_module(self, m, module_qualified_name):
        ...         return True
        >>> net = tt.nn.Sequential(tt.nn.Sequential(tt.nn.ReLU()))
        >>> [node.target for node in Layers().trace(net).nodes]
        ['input', '0', 'output']
    """

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._autowrap_search = list(autowrap_modules)
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(function) for function in autowrap_functions}
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.module_stack: dict[str, Any] = {}
        self._counts: defaultdict[str, int] = defaultdict(int)

    # -- to override ---------------------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether calls of a module are one node; by default for layers of ``nn``.

        Args:
            m: The module.
            module_qualified_name: Its name.
        """
        layer = m.__module__.startswith((f"{_OWN}.nn", "torch.nn"))
        return layer and not isinstance(m, Sequential)

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:  # fmt: skip
        """Record a call of a module: one node for a leaf, else the nodes of its ``forward``.

        Args:
            m: The module.
            forward: Its call.
            args: Positional arguments of the call.
            kwargs: Arguments of the call by name.

        Returns:
            The result, with proxies.

        Example:
            >>> class Loud(tt.fx.Tracer):
            ...     def call_module(self, m, forward, args, kwargs):
            ...         print(type(m).__name__)
            ...         return super().call_module(m, forward, args, kwargs)
            >>> graph = Loud().trace(tt.nn.Sequential(tt.nn.ReLU()))
            ReLU
        """
        name = self.path_of_module(m)
        self.module_stack[name] = (name, type(m))
        try:
            if not self.is_leaf_module(m, name):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", name, args, kwargs)
        finally:
            self.module_stack.pop(name, None)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return the value that a program gets for an attribute of a module.

        Args:
            attr: The attribute's name.
            attr_val: Its value: a parameter, which becomes a proxy, a buffer or a module.
            parameter_proxy_cache: The proxies so far, by the parameters' names.

        Example:
            >>> class Values(tt.fx.Tracer):
            ...     def getattr(self, attr, attr_val, parameter_proxy_cache):
            ...         return attr_val
            >>> [n.op for n in Values().trace(tt.nn.Linear(1, 1, bias=False)).nodes]
            ['placeholder', 'get_attr', 'call_function', 'output']
        """
        if isinstance(attr_val, Parameter):
            return self._attribute_proxy(
                attr_val, self.root.named_parameters(), parameter_proxy_cache
            )
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            return self._attribute_proxy(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        return attr_val

    def _attribute_proxy(self, value: Any, named: Iterator[tuple[str, Any]], cache: Any) -> Any:
        """Return the proxy of a parameter or buffer, or the value if the root has it not."""
        name = next((name for name, each in named if each is value), None)
        if name is None:
            return value
        if name not in cache:
            options: dict[str, Any] = {}  # overrides may lack the parameter
            if self.param_shapes_constant:
                options["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, value)
            cache[name] = self.create_proxy("get_attr", name, (), {}, **options)
        return cache[name]

    def path_of_module(self, mod: Module) -> str:
        """Return the name of a module below the root.

        Args:
            mod: The module.

        Raises:
            NameError: If the root does not contain it.

        Example:
            >>> net, tracer = tt.nn.Sequential(tt.nn.ReLU()), tt.fx.Tracer()
            >>> graph = tracer.trace(net)
            >>> tracer.path_of_module(net[0])
            '0'
        """
        if self.submodule_paths and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    # -- arguments -----------------------------------------------------------------------------

    def create_arg(self, a: Any) -> Any:
        """Return an argument of a node; tensors and modules become nodes ``get_attr``.

        Args:
            a: The value.
        """
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._tensor_name(a), (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            args = tuple(self.create_arg(each) for each in a)
            return self.create_node("call_function", type(a), args, {})
        return super().create_arg(a)

    def _tensor_name(self, value: Tensor) -> str:
        """Return the name of a tensor below the root, which gets those that it has not."""
        for named in (self.root.named_parameters(), self.root.named_buffers()):
            for name, each in named:
                if each is value:
                    return name
        if value not in self.tensor_attrs:
            name = self.get_fresh_qualname("_tensor_constant")
            self.tensor_attrs[value] = name
            setattr(self.root, name, value)
        return self.tensor_attrs[value]

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return a name that no attribute of the root has: ``prefix`` and a number.

        Args:
            prefix: The beginning.

        Example:
            >>> tracer = tt.fx.Tracer()
            >>> graph = tracer.trace(lambda x: x)
            >>> tracer.get_fresh_qualname("constant"), tracer.get_fresh_qualname("constant")
            ('constant0', 'constant1')
        """
        while True:
            name = f"{prefix}{self._counts[prefix]}"
            self._counts[prefix] += 1
            if not hasattr(self.root, name):
                return name

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """Return a function and the proxies to call it with.

        Args:
            root_fn: The function to trace.
            is_module: Whether its first parameter is the root.
            concrete_args: Values of arguments that are no inputs.

        Example:
            >>> tracer = tt.fx.Tracer()
            >>> graph = tracer.trace(lambda x: x)
            >>> tracer.create_args_for_root(lambda y, z: y, False)[1]
            [Proxy(y), Proxy(z)]
        """
        code = inspect.unwrap(root_fn).__code__
        parameters = inspect.signature(inspect.unwrap(root_fn)).parameters
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        if isinstance(concrete_args, tuple):
            inputs = names[1:] if is_module else names
            if len(inputs) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(inputs)} arguments but got {len(concrete_args)} "
                    "concrete arguments"
                )
            concrete_args = dict(zip(inputs, concrete_args, strict=True))
        rest = list(code.co_varnames[count:])
        stars = [f"*{rest.pop(0)}"] if code.co_flags & inspect.CO_VARARGS else []
        stars += [f"**{rest.pop(0)}"] if code.co_flags & inspect.CO_VARKEYWORDS else []
        args: list[Any] = [self.root] if is_module else []
        types = _annotations(inspect.unwrap(root_fn))
        args += [
            self._placeholder(name, parameters[name], types, concrete_args or {})
            for name in (names[1:] if is_module else names)
        ]
        if code.co_kwonlyargcount or stars:
            args += [self.create_proxy("placeholder", name, (), {}) for name in stars]
            root_fn = _accept_positionally(inspect.unwrap(root_fn), len(args))
        return self._flatten(root_fn, args, names) if concrete_args else (root_fn, args)

    def _placeholder(self, name: str, parameter: Any, types: Any, concrete: dict[str, Any]) -> Any:
        """Return the proxy of an argument, or its values from ``concrete_args``."""
        default = () if parameter.default is parameter.empty else (parameter.default,)
        if name not in concrete:
            return self.create_proxy("placeholder", name, default, {}, type_expr=types.get(name))
        count = 0

        def replace(value: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(value, PHBase):
                return proxy
            self._check_value(name, proxy, value)
            return value

        return _pytree.tree_map(replace, concrete[name])

    def _check_value(self, name: str, proxy: Any, value: Any) -> None:
        """Record that an input has the value for which the program is traced."""
        message = f"{name} has been specialized to have value {value} but got another value"
        if isinstance(value, base_types) and not isinstance(value, Tensor):
            is_same: Any = proxy == value
            check = sys.modules[_OWN]._assert
            self.create_proxy("call_function", check, (is_same, message), {})
        elif value is None:
            self.create_proxy("call_function", _assert_is_none, (proxy, message), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized "
                "function. It is up to the user to make sure that your inputs match the inputs you "
                "specialized the function with.",
                stacklevel=2,
            )

    def _flatten(self, function: Any, args: list[Any], names: list[str]) -> tuple[Any, list[Any]]:
        """Return a function of the leaves of ``args``, if these have structure, and the leaves."""
        leaves, spec = _pytree.tree_flatten(list(args))
        if len(leaves) == len(args):
            return function, args
        inputs = args[1:] if args[:1] == [self.root] else args
        _, in_spec = _pytree.tree_flatten(inputs)
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names, in_spec, None))

        def run_flat(*given: Any) -> Any:
            result = function(*_pytree.tree_unflatten(list(given), spec))
            found, out_spec = _pytree.tree_flatten(result)
            codegen: Any = self.graph._codegen
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return found

        return run_flat, leaves

    # -- the run ---------------------------------------------------------------------------------

    def trace(
        self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
    ) -> Graph:
        """Run a module or function on proxies, and return the graph of what it does.

        Args:
            root: The module or function.
            concrete_args: Values of arguments that are no inputs, by name; ``PH`` among them
                stands for an input.

        Raises:
            TraceError: If the program depends on a value that only a run has.

        Example:
            >>> tt.fx.Tracer().trace(lambda x, y: x @ y).output_node().args
            (matmul,)
        """
        with _tracing:
            function = self._set_root(root)
            self.graph = Graph(tracer_cls=type(self))
            self.tensor_attrs = _named_tensors(self.root)
            run, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
            cache: dict[str, Any] = {}
            count_watchers(1)  # every operation looks for proxies, also in lists and sizes
            try:
                with bind(_active, self), _Patcher() as patcher:
                    _patch_modules(patcher, self, cache)
                    _patch_wrapped_functions(patcher)
                    for space in (function.__globals__, *map(vars, self._autowrap_search)):
                        _autowrap_check(patcher, space, self._autowrap_function_ids)
                    result = self.create_arg(run(*args))
            finally:
                count_watchers(-1)
                self.submodule_paths = None
            annotation = _annotations(run).get("return")
            self.create_node("output", "output", (result,), {}, type_expr=annotation)
            return self.graph

    def _set_root(self, root: Any) -> Any:
        """Set the module below which names are, and return the function to trace."""
        if not isinstance(root, Module):
            self.root, self.root_module_name = Module(), ""
            return root
        self.root, self.root_module_name = root, type(root).__name__
        self.submodule_paths = {module: name for name, module in root.named_modules()}
        if not hasattr(type(root), self.traced_func_name):
            raise AssertionError(
                f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
            )
        return getattr(type(root), self.traced_func_name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = type(self).__new__(type(self))
        for name, value in vars(self).items():
            shared = name == "_autowrap_search"
            vars(made)[name] = value if shared else copy.deepcopy(value, memo)
        return made


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """Record the graph of a module or function, and return a module that runs it.

    Args:
        root: The module or function. Its control flow must not depend on values of inputs.
        concrete_args: Values of arguments that are no inputs, by name. Default: all are inputs.

    Returns:
        A ``GraphModule``, which shares the parameters and submodules.

    Raises:
        TraceError: If control flow depends on an input.

    Example:
        >>> net = tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.Linear(2, 3), tt.nn.ReLU()))
        >>> print(net.code.strip())
        def forward(self, input):
            input_1 = input
            _0 = getattr(self, "0")(input_1);  input_1 = None
            _1 = getattr(self, "1")(_0);  _0 = None
            return _1
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


def _annotations(function: Any) -> dict[str, Any]:
    """Return the annotations of a function of the program; those of this library are texts."""
    own = (getattr(function, "__module__", None) or _OWN).partition(".")[0] == _OWN
    return {} if own else getattr(function, "__annotations__", {})


def _assert_is_none(value: Any, message: str) -> None:
    if value is not None:
        raise AssertionError(message)


def _accept_positionally(function: Any, count: int) -> FunctionType:
    """Return a function whose parameters, keyword-only and starred ones, too, are positional."""
    code = function.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = code.replace(
        co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags
    )
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def _named_tensors(root: Module) -> dict[Tensor, str]:
    """Return the tensors that are attributes of a module or of those below it, with names."""
    found: dict[Tensor, str] = {}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, Tensor):
                found.setdefault(value, f"{path}.{name}".lstrip("."))
    return found


# -- patches -----------------------------------------------------------------------------------

#: PyTorch's private names, for tracers of libraries that override ``trace``.
_orig_module_call = Module.__call__
_orig_module_getattr: Any = getattr(Module, "__getattr__")
#: The patchers that are active.
_patchers: list[_Patcher] = []


class _Patcher:
    """Scope in which entries of dictionaries and methods of classes are others."""

    def __init__(self) -> None:
        self._restore: list[Callable[[], None]] = []
        self._visited: set[int] = set()

    def __enter__(self) -> Self:
        _patchers.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _patchers.remove(self)
        while self._restore:
            self._restore.pop()()

    def visit_once(self, thing: Any) -> bool:
        """Whether this is the first call with this object."""
        first = id(thing) not in self._visited
        self._visited.add(id(thing))
        return first

    def patch(
        self, frame_dict: dict[str, Any], name: str, new_fn: Any, deduplicate: bool = True
    ) -> None:
        """Set an entry of a dictionary; ``deduplicate`` is ignored."""
        if name in frame_dict:
            self._restore.append(functools.partial(frame_dict.__setitem__, name, frame_dict[name]))
        else:
            self._restore.append(functools.partial(frame_dict.pop, name, None))
        frame_dict[name] = new_fn

    def patch_method(self, cls: type, name: str, new_fn: Any, deduplicate: bool = True) -> None:
        """Set a method of a class; ``deduplicate`` is ignored.

        For ``Module.__getattr__`` the new method gets the names of all members, which otherwise
        are looked up in the instance.
        """
        if cls is Module and name == "__getattr__":
            name, new_fn = "__getattribute__", _member_getter(new_fn)
        if name in vars(cls):
            self._restore.append(functools.partial(setattr, cls, name, vars(cls)[name]))
        else:
            self._restore.append(functools.partial(delattr, cls, name))
        setattr(cls, name, new_fn)


def _member_getter(get_member: Any) -> Any:
    """Return a ``__getattribute__`` that calls ``get_member`` for tensors and modules."""
    get = Module.__getattribute__

    def __getattribute__(self: Module, name: str) -> Any:
        value = get(self, name)
        if not isinstance(value, (Tensor, Module)):
            return value
        is_member = any(name in get(self, registry) for registry in REGISTRIES)
        return get_member(self, name) if is_member else value

    return __getattribute__


def _patch_modules(patcher: _Patcher, tracer: Tracer, cache: dict[str, Any]) -> None:
    """Let calls and members of modules go to a tracer, in the context that it traces in.

    Args:
        patcher: The scope.
        tracer: The tracer.
        cache: The proxies of parameters so far.
    """
    call, get = Module.__call__, _orig_module_getattr

    def traced_call(self: Module, *args: Any, **kwargs: Any) -> Any:
        if _active.get() is not tracer:
            return call(self, *args, **kwargs)
        space = getattr(self.forward, "__globals__", {})
        _autowrap_check(patcher, space, tracer._autowrap_function_ids)
        return tracer.call_module(self, functools.partial(call, self), args, kwargs)

    def traced_member(self: Module, name: str) -> Any:
        value = get(self, name)
        return tracer.getattr(name, value, cache) if _active.get() is tracer else value

    patcher.patch_method(Module, "__call__", traced_call)
    patcher.patch_method(Module, "__getattr__", traced_member)


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    """Let calls of the functions that ``wrap`` marked be recorded."""
    for (_, name), space in list(_wrapped.items()):
        original = space.get(name, getattr(builtins, name, None))
        if original is not None:
            patcher.patch(space, name, _record_calls(original))


def _autowrap_check(patcher: _Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Let calls of a tracer's functions among global names be recorded."""
    if patcher.visit_once(frame_dict):
        for name, value in list(frame_dict.items()):
            if not name.startswith("_") and id(value) in function_ids:
                patcher.patch(frame_dict, name, _record_calls(value))


def _record_calls(function: Any) -> Any:
    """Return a function that records a call with proxies, and else calls ``function``."""

    def record(*args: Any, **kwargs: Any) -> Any:
        # A module that is imported during a trace may keep this function.
        proxy = find_proxy(args, kwargs) if _patchers else None
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(record, name, getattr(function, name, None))
    return record


def compatibility(is_backward_compatible: bool) -> Callable[[_F], _F]:
    """Decorator that returns the function unchanged; in PyTorch it marks stable ones."""
    return lambda function: function
