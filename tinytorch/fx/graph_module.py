"""Module whose ``forward`` is generated from a graph."""

from __future__ import annotations

import copy
import itertools
import os
import sys
import types
from pathlib import Path
from textwrap import indent
from typing import Any

from ..serialization import save
from ..core.tensor import Tensor
from ..nn.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from ..nn.conv import Conv1d, Conv2d, Conv3d
from ..nn.linear import Linear
from ..nn.module import Module
from ..nn.parameter import Parameter
from .code_generation import PythonCode, _PyTreeCodeGen
from .graph import Graph

__all__ = ["GraphModule"]

#: Key in ``GraphModule.meta`` of attributes that copies of libraries set again.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
#: Numbers for the names of generated files.
_numbers = itertools.count()


class _SourceLoader:
    """Source of generated code for tracebacks, which find it in the code's globals."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, name: str) -> str:
        """Return the text; ``name`` is not used."""
        return self._text


def _function_from_code(code: PythonCode, name: str) -> Any:
    """Execute generated code, and return the function that it defines."""
    file = f"<eval_with_key>.{next(_numbers)}"
    space = {**code.globals, "__name__": file, "__loader__": _SourceLoader(code.src)}
    exec(compile(code.src, file, "exec"), space)
    return space.pop(name)


def _get_attr(module: Any, target: str) -> Any:
    """Return the attribute of a module with a dotted name."""
    for name in target.split("."):
        module = getattr(module, name)
    return module


def _copy_attr(from_module: Any, to_module: Module, target: str) -> None:
    """Copy an attribute with a dotted name from one module to another.

    Modules on the way that ``to_module`` lacks are new ones. A tensor that is no parameter becomes
    a buffer.
    """
    *path, field = target.split(".")
    for i, name in enumerate(path):
        if not hasattr(from_module, name):
            return
        from_module = getattr(from_module, name)
        if not hasattr(to_module, name):
            to_module.add_module(name, Module())
        to_module = getattr(to_module, name)
    _set_attr(to_module, field, getattr(from_module, field))


def _assign_attr(value: Any, to_module: Module, target: str) -> None:
    """Set an attribute with a dotted name; see ``_copy_attr``."""
    *path, field = target.split(".")
    for name in path:
        if not hasattr(to_module, name):
            to_module.add_module(name, Module())
        to_module = getattr(to_module, name)
    _set_attr(to_module, field, value)


def _set_attr(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


class GraphModule(Module):
    """Module whose ``forward`` is generated from a graph.

    Each instance has a class of its own, which holds its ``forward``.

    Args:
        root: Module, or dict from dotted names, with the submodules, parameters and buffers that
            the graph uses. They are shared, not copied.
        graph: The graph.
        class_name: Name of the instance's class. Default: ``"GraphModule"``.

    Attributes:
        graph: The graph. After a change of it call ``recompile``.
        code: The generated text.
        meta: Dictionary for data of passes.

    Example:
        >>> gm = tt.fx.symbolic_trace(lambda x: x + 1)
        >>> for node in gm.graph.find_nodes(op="call_function"):
        ...     node.target = tt.mul
        ...     node.args = (node.args[0], 3)
        >>> code = gm.recompile()
        >>> gm(tt.ones(2))
        tensor([3., 3.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        base = next(c for c in cls.__mro__ if "GraphModuleImpl" not in c.__qualname__)

        class GraphModuleImpl(base):  # type: ignore[misc, valid-type]
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(
        self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training: bool = root.training
        elif not isinstance(root, dict):
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        targets = _targets(graph)
        if isinstance(root, dict):  # a module before what is inside it
            targets.sort(key=lambda each: each.count("."))
        for target in targets:
            if isinstance(root, Module):
                _copy_attr(root, self, target)
            elif target not in root:
                raise RuntimeError(
                    f"Graph referenced target {target} but that target was not provided in ``root``"
                    "!"
                )
            else:
                _assign_attr(root[target], self, target)
        self.graph = graph
        self._tracer_cls = None
        tracer = graph._tracer_cls
        if tracer is not None and "<locals>" not in tracer.__qualname__:
            self._tracer_cls = tracer
        self.meta: dict[str, Any] = {}
        self._create_node_hooks: list[Any] = []
        self._erase_node_hooks: list[Any] = []
        self._replace_hooks: list[Any] = []

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one generates the code anew."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The generated text."""
        return self._code

    def recompile(self) -> PythonCode:
        """Generate ``forward`` anew from the graph.

        Returns:
            The generated code.
        """
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        code = self._graph.python_code("self")
        self._code = code.src
        type(self).forward = _function_from_code(code, codegen._func_name)  # type: ignore[method-assign]
        return code

    def add_submodule(self, target: str, m: Module) -> bool:
        """Set a submodule at a dotted name; modules on the way are created.

        Args:
            target: The name.
            m: The module.

        Returns:
            False if the name is that of something else, else True.

        Example:
            >>> gm = tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.ReLU()))
            >>> gm.add_submodule("more.layer", tt.nn.Linear(2, 2))
            True
        """
        *path, field = target.split(".")
        module: Any = self
        for name in path:
            if not hasattr(module, name):
                module.add_module(name, Module())
            module = getattr(module, name)
            if not isinstance(module, Module):
                return False
        module.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the submodule of a dotted name.

        Args:
            target: The name.

        Returns:
            Whether there was such a module.

        Example:
            >>> gm = tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.ReLU()))
            >>> gm.delete_submodule("0"), gm.delete_submodule("1")
            (True, False)
        """
        *path, field = target.split(".")
        module: Any = self
        for name in path:
            module = getattr(module, name, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, field, None), Module):
            return False
        delattr(module, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the submodules that no node of the graph uses.

        Example:
            >>> gm = tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.ReLU()))
            >>> gm.add_submodule("other", tt.nn.ReLU())
            True
            >>> gm.delete_all_unused_submodules()
            >>> [name for name, _ in gm.named_children()]
            ['0']
        """
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    used.update(self._names_inside(node.target))
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def _names_inside(self, target: str) -> list[str]:
        """Return the names of the modules inside one, none if there is no such module."""
        modules = dict(self.named_modules())
        inner = modules[target].named_modules() if target in modules else ()
        return [f"{target}.{name}" for name, _ in inner]

    def print_readable(self, print_output: bool = True) -> str:
        """Return the code as that of a class, with the submodules that have code.

        Args:
            print_output: Whether to print it, too. Default: True.

        Example:
            >>> text = tt.fx.symbolic_trace(tt.nn.Identity()).print_readable()
            class Identity(tinytorch.nn.Module):
                def forward(self, input):
                    input_1 = input
                    return input_1
        """
        body = "\n".join(f"    {line}".rstrip() for line in self._code.strip().splitlines())
        own = __name__.partition(".")[0]
        text = f"class {type(self).__name__}({own}.nn.Module):\n{body}\n"
        inner = [
            child.print_readable(print_output=False)
            for child in self.children()
            if isinstance(child, GraphModule)
        ]
        for part in inner:
            text += "\n" + "".join(f"    {line}\n" for line in part.splitlines())
        if print_output:
            print(text)  # noqa: T201
        return text

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write a package whose class ``module_name`` is this module.

        ``module.py`` has the code, ``state_dict.pt`` the parameters and buffers. A submodule is
        written as a call of its class if it is a linear layer, a convolution or a batch norm;
        others are files, which the class unpickles: import folders that you trust alone.

        Args:
            folder: The folder; it is created. Its parent must be in ``sys.path`` to import it.
            module_name: Name of the class. Default: ``"FxModule"``.

        Raises:
            ValueError: If the code uses an object that cannot be imported, or arguments with
                structure.

        Example:
            >>> import sys, tempfile
            >>> module = tt.fx.symbolic_trace(tt.nn.Sequential(tt.nn.Linear(2, 1)))
            >>> with tempfile.TemporaryDirectory() as parent:
            ...     module.to_folder(f"{parent}/exported_linear")
            ...     sys.path.insert(0, parent)
            ...     from exported_linear import FxModule
            ...     found = FxModule()(tt.ones(2))
            ...     sys.path.remove(parent)
            >>> tt.equal(found, module(tt.ones(2)))
            True
        """
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            raise ValueError("to_folder: arguments with structure cannot be written")
        place = Path(folder)
        place.mkdir(exist_ok=True)
        save(self.state_dict(), place / "state_dict.pt")
        lines = []
        for name, child in self.named_children():
            value = repr(child)
            if type(child) not in _WRITTEN_AS_CALLS:
                save(child, place / f"{name}.pt")
                value = f"load(folder / {name + '.pt'!r}, weights_only=False)"
            lines.append(f"self.add_module({name!r}, {value})")
        for name, buffer in self._buffers.items():
            if buffer is not None:
                made = f"tinytorch.empty({tuple(buffer.shape)}, dtype={buffer.dtype})"
                lines.append(f"self.register_buffer({name!r}, {made})")
        for name, parameter in self._parameters.items():
            if parameter is not None:
                made = f"tinytorch.empty({tuple(parameter.shape)}, dtype={parameter.dtype})"
                lines.append(f"self.register_parameter({name!r}, Parameter({made}))")
        lines.append('self.load_state_dict(load(folder / "state_dict.pt"))')
        lines.append(f"self.train({self.training})")
        code = self._graph.python_code("self")
        function = code.src[code.src.index("def ") :].rstrip()
        text = _MODULE_FILE.format(
            imports="\n".join(_import_lines(code.globals)), name=module_name,
            lines="\n        ".join(lines), code=indent(function, "    "),
        )  # fmt: skip
        (place / "module.py").write_text(text, encoding="utf-8")
        (place / "__init__.py").write_text(
            f"from .module import {module_name} as {module_name}\n", encoding="utf-8"
        )

    def __str__(self) -> str:
        return "\n".join([
            super().__str__(), self._code,
            "# To see more debug info, please use `graph_module.print_readable()`",
        ])  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._graph.owning_module = self
        self.recompile()

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (_importable_class(self), type(self).__name__), self.__getstate__()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = _make(_importable_class(self), type(self).__name__)
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return made

    def _deepcopy_init(self) -> Any:
        """Return the initializer that copies call; a subclass may override it."""
        return GraphModule.__init__

    def __copy__(self) -> GraphModule:
        made = _make(_importable_class(self), type(self).__name__)
        made.__setstate__({**self.__getstate__(), "_graph": copy.deepcopy(self._graph)})
        return made


class _CodeOnlyModule(Module):
    """Module with the attributes of another one, by which libraries copy graph modules."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__setstate__(body)


#: Classes whose ``repr`` is a call that makes them.
_WRITTEN_AS_CALLS = Linear, Conv1d, Conv2d, Conv3d, BatchNorm1d, BatchNorm2d, BatchNorm3d

#: The file ``module.py`` of ``to_folder``.
_MODULE_FILE = """\
from pathlib import Path

import tinytorch
from tinytorch import load
from tinytorch.nn import *
from tinytorch.nn import Module, Parameter
{imports}

folder = Path(__file__).parent


class {name}(Module):
    def __init__(self):
        super().__init__()
        {lines}

{code}
"""


def _import_lines(names: dict[str, Any]) -> list[str]:
    """Return the lines that import the global names of generated code."""
    lines = []
    for name, value in names.items():
        if isinstance(value, types.ModuleType):
            lines.append(f"import {value.__name__} as {name}")
        elif name in ("inf", "nan"):
            lines.append(f"from math import {name}")
        elif isinstance(value, str):  # an annotation
            lines.append(f"{name} = {value!r}")
        elif name not in ("NoneType", "fx_pytree", "tinytorch"):
            owner, path = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
            if getattr(sys.modules.get(str(owner)), path, None) is not value:
                raise ValueError(f"to_folder: the code uses {name}, which cannot be imported")
            lines.append(f"from {owner} import {path} as {name}")
    return lines


def _targets(graph: Graph) -> list[str]:
    """Return the names of the attributes and modules that a graph uses."""
    return [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]


def _importable_class(module: GraphModule) -> type[GraphModule]:
    """Return the class of a module from which that of the instance derives."""
    return type(module).__mro__[1]


def _make(cls: type[GraphModule], name: str) -> GraphModule:
    """Return an instance of a class of graph modules without its state."""
    made: GraphModule = cls.__new__(cls)
    type(made).__name__ = name
    return made
