"""The Python code of a graph: names of values, and the text of ``forward``."""

from __future__ import annotations

import builtins
import enum
import json
import keyword
import math
import operator
import re
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.device import device
from ..core.layout import layout, memory_format
from ..dtypes import dtype
from ..utils import _pytree
from .node import Node, _get_qualified_name, input_nodes, type_name

__all__ = ["CodeGen", "PythonCode"]

_OWN = __name__.partition(".")[0]
#: Python's operators by the names of their functions in ``operator``.
magic_methods: dict[str, str] = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}",
    "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}", "add": "{} + {}",
    "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
    "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}",
    "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}",
    "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
#: Those with a form in which the right operand is the one with the method.
reflectable_magic_methods: tuple[str, ...] = (
    "add", "sub", "mul", "floordiv", "truediv", "div", "mod", "pow", "lshift", "rshift", "and_",
    "or_", "xor", "matmul",
)  # fmt: skip
inplace_methods: dict[str, str] = {
    **{
        f"i{name.rstrip('_')}": "{} " + magic_methods[name].split()[1] + "= {}"
        for name in reflectable_magic_methods
        if name != "div"
    },
    "setitem": "{}[{}] = {}",
}


def _flatten_as(tree: Any, spec: Any) -> list[Any]:
    """Return the leaves of ``tree``.

    Raises:
        TypeError: If its structure is not ``spec``.
    """
    leaves, found = _pytree.tree_flatten(tree)
    if found != spec:
        raise TypeError(f"forward: expected arguments with the structure {spec}, got {found}")
    return leaves


def custom_builtins() -> dict[str, Any]:
    """Return the names that every generated code may use."""
    return {
        "inf": math.inf, "nan": math.nan, "NoneType": type(None), _OWN: sys.modules[_OWN],
        "device": device, "pytree": _pytree,
        "fx_pytree": types.SimpleNamespace(tree_flatten_spec=_flatten_as),
    }  # fmt: skip


class _Namespace:
    """Names of values, each unique and none of Python's."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """Return a new name for an object, or its name if it has one.

        Args:
            candidate: The wanted name; characters that no identifier has become ``_``.
            obj: The object. None for one that is not remembered.
        """
        if obj is not None and obj in self._names:
            return self._names[obj]
        name = re.sub(r"\W+", "_", candidate) or "_unnamed"
        name = f"_{name}" if name[0].isdigit() else name
        match = re.fullmatch(r"(.*)_(\d+)", name)
        base, number = (name, 0) if match is None else (match[1], int(match[2]))
        number = 0 if name in self._used else number
        self._counts[base] = max(number, self._counts.get(base, 0))
        while name in self._used or self._is_illegal(name, obj):
            self._counts[base] += 1
            name = f"{base}_{self._counts[base]}"
        self._used.add(name)
        if obj is not None:
            self._names[obj] = name
        return name

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Record that an object has a name."""
        self._names.setdefault(obj, name)

    def _rename_object(self, obj: Any, name: str) -> None:
        self._names[obj] = name

    @staticmethod
    def _is_illegal(name: str, obj: Any) -> bool:
        """Whether a name is a keyword, or that of another object among Python's."""
        if keyword.iskeyword(name):
            return True
        for known in (vars(builtins), _CUSTOM):
            if name in known:
                return obj is None or known[name] is not obj
        return False


#: The names of ``custom_builtins``, which no value has.
_CUSTOM = dict.fromkeys(("inf", "nan", "NoneType", _OWN, "torch", "device", "pytree", "fx_pytree"))


def snake_case(text: str) -> str:
    """Return ``text`` in lower case, with ``_`` before a capital that follows a small letter."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()


@dataclass
class PythonCode:
    """Generated code.

    Attributes:
        src: Its text.
        globals: The global names that the text uses, with their values.

    Example:
        >>> tt.fx.symbolic_trace(lambda x: x).graph.python_code("self").src.split()[:2]
        ['def', 'forward(self,']
    """

    src: str
    globals: dict[str, Any]


class CodeGen:
    """Generator of the code of a graph; a subclass may change the signature and the result.

    Example:
        >>> gm = tt.fx.symbolic_trace(lambda x: x + 1)
        >>> print(gm.graph.python_code("self").src.strip())
        def forward(self, x):
            add = x + 1;  x = None
            return add
    """

    _func_name = "forward"
    #: Function from the lines of the body to others, or None; see ``Graph.on_generate_code``.
    _body_transformer: Callable[[list[str]], list[str]] | None = None

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the line ``def forward(...):``, and lines that come before the body.

        Args:
            free_vars: The parameters, with annotations and defaults.
            maybe_return_annotation: `` -> annotation``, or an empty text.

        Example:
            >>> tt.fx.CodeGen().gen_fn_def(["x", "y = 1"], "")
            'def forward(self, x, y = 1):'
        """
        names = free_vars if free_vars[:1] == ["self"] else ["self", *free_vars]
        return f"def {self._func_name}({', '.join(names)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """Return the text of the statement ``return``.

        Args:
            output_args: Text of the result.

        Example:
            >>> tt.fx.CodeGen().generate_output("x")
            'return x'
        """
        return f"return {output_args}"

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the graph's placeholders for arguments of the function.

        Example:
            >>> tt.fx.CodeGen().process_inputs(1, 2)
            (1, 2)
        """
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return the function's result for the graph's output.

        Example:
            >>> tt.fx.CodeGen().process_outputs(1)
            1
        """
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return global names and values that the code uses besides those of the graph.

        Example:
            >>> tt.fx.CodeGen().additional_globals()
            []
        """
        return []

    def _gen_python_code(self, nodes: Iterable[Node], root: str, names: _Namespace) -> PythonCode:
        writer = _Writer(self, root, names)
        for node in nodes:
            writer.add(node)
        return writer.finish()


class _PyTreeInfo(NamedTuple):
    """Parameters of a traced function, and the structures of its arguments and result."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """Generator for a function whose arguments, given by ``concrete_args``, have structure."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        self.pytree_info = pytree_info

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the line ``def``, and a line that flattens the arguments."""
        arguments = [name for name in self.pytree_info.orig_args if name != "self"]
        names = [each.partition(":")[0].partition("=")[0].strip() for each in free_vars]
        given = ", ".join(arguments)
        text = super().gen_fn_def(arguments, maybe_return_annotation)
        if not names:
            return text
        return (
            f"{text}\n    {', '.join(names)}, = fx_pytree.tree_flatten_spec([{given}], "
            "self._in_spec)"
        )

    def generate_output(self, output_args: Any) -> str:
        """Return the text of ``return``, which restores the structure of the result."""
        return f"return pytree.tree_unflatten({output_args}, self._out_spec)"

    def process_inputs(self, *args: Any) -> Any:
        """Return the leaves of the arguments."""
        return _pytree.tree_leaves(args)

    def process_outputs(self, outputs: Any) -> Any:
        """Return the result in its structure."""
        return _pytree.tree_unflatten(outputs, self.pytree_info.out_spec)


class _Writer:
    """The code of one graph while it is written."""

    def __init__(self, codegen: CodeGen, root: str, names: _Namespace) -> None:
        self.codegen, self.root, self.names = codegen, root, names
        self.globals: dict[str, Any] = {**custom_builtins(), **dict(codegen.additional_globals())}
        self.free_vars: list[str] = []
        self.wrapped: dict[str, None] = {}
        self.return_annotation = ""
        self.lines: list[tuple[Node, str]] = []

    def finish(self) -> PythonCode:
        """Return the code of the nodes that were added."""
        last: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node, _ in reversed(self.lines):
            for used in input_nodes((node.args, node.kwargs)):
                if used not in seen:
                    seen.add(used)
                    last.setdefault(node, []).append(used)
        body = [line + _deletions(node, last.get(node, [])) for node, line in self.lines if line]
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        text = "".join(f"    {line}" for line in "".join(body or ["pass\n"]).splitlines(True))
        wraps = "\n".join(f'{_OWN}.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        head = self.codegen.gen_fn_def(self.free_vars, self.return_annotation)
        return PythonCode(f"\n{wraps}\n\n{head}\n{text}    ", self.globals)

    def add(self, node: Node) -> None:
        """Write the statement of a node."""
        self.lines.append((node, getattr(self, f"_{node.op}")(node)))

    def _placeholder(self, node: Node) -> str:
        default = f" = {self.text(node.args[0])}" if node.args else ""
        self.free_vars.append(f"{node.target}{self._annotation(node)}{default}")
        name = node.target.replace("*", "")
        return "" if name == node.name else f"{node.name} = {name}"

    def _get_attr(self, node: Node) -> str:
        return f"{node.name}{self._annotation(node)} = {attribute_text(self.root, node.target)}"

    def _call_module(self, node: Node) -> str:
        call = f"{attribute_text(self.root, node.target)}({self._arguments(node)})"
        return f"{node.name}{self._annotation(node)} = {call}"

    def _call_method(self, node: Node) -> str:
        arguments = self._arguments(node, 1)
        call = f"{attribute_text(self.text(node.args[0]), node.target)}({arguments})"
        return f"{node.name}{self._annotation(node)} = {call}"

    def _output(self, node: Node) -> str:
        if node.type is not None:
            self.return_annotation = f" -> {self._type_text(node.type)}"
        return self.codegen.generate_output(self.text(node.args[0]))

    def _call_function(self, node: Node) -> str:
        name, texts = node.target.__name__, [self.text(each) for each in node.args]
        is_operator = getattr(node.target, "__module__", "") == "_operator" and not node.kwargs
        left = f"{node.name}{self._annotation(node)} = "
        if is_operator and magic_methods.get(name, "").count("{}") == len(texts):
            return left + magic_methods[name].format(*texts)
        if is_operator and inplace_methods.get(name, "").count("{}") == len(texts):
            return f"{inplace_methods[name].format(*texts)};  {left}{texts[0]}"
        if node.target is getattr and len(node.args) == 2 and isinstance(node.args[1], str):
            if node.args[1].isidentifier() and isinstance(node.args[0], Node):
                return f"{left}{texts[0]}.{node.args[1]}"
        name = self._global(node.target)
        if node.meta.get("is_wrapped"):
            self.wrapped.setdefault(name)
        return f"{left}{name}({self._arguments(node)})"

    def _annotation(self, node: Node) -> str:
        return "" if node.type is None else f" : {self._type_text(node.type)}"

    def _type_text(self, annotation: Any) -> str:
        """Return the text of an annotation in the code, and add the names that it uses."""
        if isinstance(annotation, str):
            return self._global_value(annotation, repr(annotation))
        arguments = getattr(annotation, "__args__", None)
        origin = getattr(annotation, "__origin__", None)
        if arguments and origin is not None:
            inner = ",".join(self._type_text(each) for each in arguments)
            return f"{self._global(origin)}[{inner}]"
        if isinstance(annotation, (type, types.FunctionType)):
            return self._global(annotation)
        return "..." if annotation is ... else self._global_value(annotation, type_name(annotation))

    def _arguments(self, node: Node, start: int = 0) -> str:
        texts = [self.text(each) for each in node.args[start:]]
        return ", ".join([*texts, *(f"{k} = {self.text(v)}" for k, v in node.kwargs.items())])

    def text(self, value: Any) -> str:
        """Return the expression of an argument."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self._global(type(value))}({', '.join(map(self.text, value))})"
        if type(value) is tuple:
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, dict):
            parts = (f"{self.text(key)}: {self.text(each)}" for key, each in value.items())
            return "{" + ", ".join(parts) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.text, (value.start, value.stop, value.step)))})"
        if isinstance(value, enum.Enum):
            return f"{self._global(type(value))}.{value.name}"
        if isinstance(value, (dtype, memory_format, layout)):
            return f"{_OWN}.{repr(value).rpartition('.')[2]}"
        if isinstance(value, (type, types.FunctionType)):
            return self._global(value)
        return repr(value)

    def _global(self, value: Any) -> str:
        """Return the expression of a function or class; one of Python's keeps its name."""
        name = getattr(value, "__name__", "")
        if vars(builtins).get(name) is value or value is type(None):
            return name
        qualified = _get_qualified_name(value)
        if qualified.startswith(f"{_OWN}.") and _resolve(qualified) is value:
            return qualified
        if getattr(value, "__module__", "") == "_operator":
            qualified = f"_{qualified}"
        return self._global_value(value, qualified)

    def _global_value(self, value: Any, qualified: str) -> str:
        """Return a global name for a value, made of its qualified name."""
        name = self.names.create_name(qualified.replace(".", "_"), value)
        self.globals[name] = value
        return name


def _deletions(node: Node, used: Sequence[Node]) -> str:
    """Return the end of a statement, which drops the values that later ones do not use."""
    if node.op == "placeholder":
        return "\n"
    unused = [] if node.users or node.op == "output" else [node]
    if node.op == "output" or not (used or unused):
        return "\n"
    return f";  {' = '.join([each.name for each in (*used, *unused)])} = None\n"


def attribute_text(base: str, target: str) -> str:
    """Return the expression of an attribute: ``self.layers`` or ``getattr(self, "0")``."""
    for name in target.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f"getattr({base}, {json.dumps(name)})"
    return base


def _resolve(qualified: str) -> Any:
    """Return the object of a dotted name below this package, or None."""
    try:
        return operator.attrgetter(qualified.partition(".")[2])(sys.modules[_OWN])
    except AttributeError:
        return None
