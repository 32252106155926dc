"""Schemas of operators: ``scale(Tensor x, float factor=2.0) -> Tensor``."""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from ..core.device import device as _device
from ..core.tensor import Tensor
from ..dtypes import dtype as _dtype
from ..dtypes import from_name

__all__ = ["Argument", "Schema", "infer_schema", "parse"]

_REQUIRED = inspect.Parameter.empty
_CONSTANTS = {"True": True, "False": False, "None": None}
#: Name of each Python type in a schema.
_TYPE_NAMES: dict[Any, str] = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
    _dtype: "ScalarType", _device: "Device", int | float | bool: "Scalar",
}  # fmt: skip


def _is_tensor_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Tensor) for each in value)


#: For each type in a schema its name in error messages and a predicate for its values.
_TYPE_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "Tensor": ("Tensor", lambda value: isinstance(value, Tensor)),
    "Tensor[]": ("List[Tensor]", _is_tensor_list),
    "SymInt": ("int", lambda value: hasattr(value, "__index__")),
    "int": ("int", lambda value: hasattr(value, "__index__")),
    "float": ("float", lambda value: hasattr(value, "__float__")),
    "str": ("str", lambda value: isinstance(value, str)),
}


class Argument(NamedTuple):
    """Argument of a schema.

    Attributes:
        type: Its type as written, such as ``"Tensor(a!)"``.
        name: Its name.
        default: Its default, or ``_REQUIRED``.
        keyword: Whether it is keyword-only.
    """

    type: str
    name: str
    default: Any
    keyword: bool

    def check(self, operator: str, position: int, value: Any, schema: str) -> None:
        """Raise PyTorch's RuntimeError if ``value`` is not of the argument's type.

        Args:
            operator: Name of the operator, for the error.
            position: Index of the argument, for the error.
            value: The value of a call.
            schema: Text of the schema, for the error.
        """
        base_type = re.sub(r"\(.*\)", "", self.type)  # "(a!)" marks an argument changed in place
        expected, matches = _TYPE_CHECKS.get(base_type, ("", bool))
        if expected and not matches(value):
            raise RuntimeError(
                f"{operator}() Expected a value of type '{expected}' for argument '{self.name}' "
                f"but instead found type '{type(value).__name__}'.\nPosition: {position}\n"
                f"Value: {value!r}\nDeclaration: {schema}"
            )


class Schema(NamedTuple):
    """Parsed declaration of an operator: its qualified name, its arguments and its text."""

    operator: str
    arguments: tuple[Argument, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the keyword-only values of a call, with the defaults.

        Raises:
            RuntimeError: If an argument is missing, unknown, superfluous or of a wrong type.
        """
        left = dict(kwargs)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        most = sum(not argument.keyword for argument in self.arguments)
        if len(args) > most:
            raise RuntimeError(
                f"{self.operator}() expected at most {most} argument(s) but received "
                f"{len(args)} argument(s). Declaration: {self.text}"
            )
        for position, argument in enumerate(self.arguments):
            value = args[position] if position < len(args) else self._value(argument, left)
            argument.check(self.operator, position, value, self.text)
            if argument.keyword:
                named[argument.name] = value
            else:
                positional.append(value)
        for name in left:
            raise RuntimeError(
                f"Unknown keyword argument '{name}' for operator '{self.operator}'. "
                f"Schema: {self.text}"
            )
        return positional, named

    def _value(self, argument: Argument, left: dict[str, Any]) -> Any:
        """Remove an argument's value from the keyword arguments ``left``, and return it.

        If it is missing there, the default of the argument is returned.
        """
        value = left.pop(argument.name, argument.default)
        if value is _REQUIRED:
            raise RuntimeError(
                f"{self.operator}() is missing value for argument '{argument.name}'. "
                f"Declaration: {self.text}"
            )
        return value


def parse(namespace: str, text: str) -> tuple[str, Schema]:
    """Parse a schema; return the operator's name without namespace and the ``Schema``.

    Args:
        namespace: Namespace of the library, which becomes part of the qualified name.
        text: ``"name(type argument, ...) -> type"``.

    Raises:
        RuntimeError: If the text has another form.

    Example:
        >>> from tinytorch.library.schema import parse
        >>> name, schema = parse("mylib", "scale(Tensor x, float factor=2.0) -> Tensor")
        >>> name, [argument.name for argument in schema.arguments]
        ('scale', ['x', 'factor'])
    """
    found = re.fullmatch(r"\s*(?:\w+::)?(\w+)(?:\.\w+)?\s*\((.*)\)\s*->\s*(.+?)\s*", text, re.S)
    if found is None:
        raise RuntimeError(f"expected a schema 'name(Tensor x) -> Tensor', got {text!r}")
    name, inner, results = found.groups()
    arguments = []
    keyword = False
    for part in _split_arguments(inner):
        if part == "*":
            keyword = True
        else:
            arguments.append(_parse_argument(part, keyword))
    declaration = f"{namespace}::{name}({', '.join(_split_arguments(inner))}) -> {results}"
    return name, Schema(f"{namespace}::{name}", tuple(arguments), declaration)


def _split_arguments(inner: str) -> list[str]:
    """Split text at its commas, except inside brackets."""
    parts, depth = [""], 0
    for letter in inner:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _parse_argument(text: str, keyword: bool) -> Argument:
    """Parse ``"type name"`` or ``"type name=default"``."""
    declared, equals, default = text.partition("=")
    type_name, _, name = declared.strip().rpartition(" ")
    if not type_name or not name.isidentifier():
        raise RuntimeError(f"expected 'type name' in a schema, got {text!r}")
    value = _parse_default(default.strip(), type_name.rstrip("?")) if equals else _REQUIRED
    return Argument(type_name, name, value, keyword)


def _parse_default(text: str, type_name: str) -> Any:
    """Parse a default; the text of a name that is not a literal stays a string."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if type_name == "ScalarType":
        return from_name(text)
    if type_name == "Device":
        return _device(text.strip("\"'"))
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # for example the name of a memory format


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:  # fmt: skip
    """Infer the schema of an operator from a function's annotations.

    Args:
        prototype_function: The function; all parameters and the result are annotated.
        mutates_args: Names of the arguments that it changes in place, or ``"unknown"``, which
            means all tensors.
        op_name: Name of the operator, at the beginning of the schema. Default: no name.

    Raises:
        ValueError: If an annotation is missing or unsupported, or ``mutates_args`` is another
            string or names an argument that is not a tensor.

    Example:
        >>> def scale(x: tt.Tensor, factor: float = 2.0) -> tt.Tensor:
        ...     return x * factor
        >>> tt.library.infer_schema(scale, mutates_args=())
        '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)

    def fail(problem: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {problem} Got func with signature {signature})")

    changed = _mutable_names(mutates_args, signature.parameters, fail)
    parts, starred = [], False
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if name not in hints:
            fail(f"Parameter {name} must have a type annotation.")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        type_name = _schema_type(hints[name])
        if type_name is None:
            fail(f"Parameter {name} has unsupported type {hints.get(name)}.")
        is_tensor = type_name.startswith("Tensor")
        if changed is not None and name in changed and not is_tensor:
            fail(f"Parameter {name} is in mutable_args but only Tensors can be mutated.")
        if is_tensor and (changed is None or name in changed):
            type_name = f"Tensor(a{index}!){type_name.removeprefix('Tensor')}"
        default = parameter.default
        suffix = "" if default is _REQUIRED else f"={_format_default(default)}"
        parts.append(f"{type_name} {name}{suffix}")
    if "return" not in hints:
        fail("No return type annotation was provided. Please add one.")
    results = _result_types(hints["return"])
    if results is None:
        fail(f"Return has unsupported type {hints['return']}.")
    return f"{op_name or ''}({', '.join(parts)}) -> {results}"


def _mutable_names(
    mutates_args: str | Iterable[str], parameters: Mapping[str, Any], fail: Callable[[str], Any]
) -> set[str] | None:
    """Names of the arguments that an operator changes in place.

    Args:
        mutates_args: The names, or ``"unknown"``.
        parameters: Parameters of the operator's function, by name.
        fail: Raises an error with a text.

    Returns:
        The names as a set; None for ``"unknown"``: every tensor may be changed.
    """
    if any(p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters.values()):
        fail("We do not support positional-only args, varargs, or varkwargs.")
    if mutates_args == "unknown":
        return None
    if isinstance(mutates_args, str):
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are "
            f"mutated or the string 'unknown', got {mutates_args!r}"
        )
    changed = set(mutates_args)
    if changed - {*parameters}:
        fail(f"{changed - {*parameters}} in mutates_args were not found in the signature.")
    return changed


def _format_default(default: Any) -> str:
    """Text of a default in a schema, with strings in PyTorch's double quotes."""
    if isinstance(default, _dtype):
        return default.name
    return f'"{default}"' if isinstance(default, str | _device) else repr(default)


def _schema_type(hint: Any) -> str | None:
    """Name in a schema of the type of an annotation; None if the type is not supported.

    For example, ``float | None`` is ``"float?"``, and ``Sequence[int]`` is ``"SymInt[]"``.
    """
    if hint in _TYPE_NAMES:
        return _TYPE_NAMES[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in inner:
        required = tuple(each for each in inner if each is not type(None))
        name = _schema_type(typing.Union[required])  # noqa: UP007
        return name and f"{name}?"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        element = _schema_type(inner[0])
        return element and f"{element}[]"
    return None


def _result_types(hint: Any) -> str | None:
    """Text of the results in a schema, from the annotation of a function's result.

    For example, ``tuple[Tensor, float]`` is ``"(Tensor, float)"``. None means that a type is not
    supported.
    """
    if hint in (None, type(None)):
        return "()"
    if typing.get_origin(hint) is tuple:
        names = [_schema_type(each) for each in typing.get_args(hint)]
        return None if None in names else f"({', '.join(map(str, names))})"
    return _schema_type(hint)
