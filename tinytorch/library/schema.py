"""What an operator takes and returns: ``scale(Tensor x, float factor=2.0) -> Tensor``."""

from __future__ import annotations

import ast
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from .._device import device as _device
from .._tensor import Tensor
from ..dtypes import dtype as _dtype

__all__ = ["Argument", "Schema", "infer_schema", "parse"]

_REQUIRED = inspect.Parameter.empty
_CONSTANTS = {"True": True, "False": False, "None": None}
#: The names that types have in a schema.
_NAMES: dict[Any, str] = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
    _dtype: "ScalarType", _device: "Device", int | float | bool: "Scalar",
}  # fmt: skip


class Argument(NamedTuple):
    """One argument: its type as written, its name, its default, whether it needs its name."""

    type: str
    name: str
    default: Any
    keyword: bool

    def check(self, operator: str, position: int, value: Any, schema: str) -> None:
        """RuntimeError, in PyTorch's words, for what is no tensor where one is due."""
        kind = re.sub(r"\(.*\)", "", self.type)  # without "(a!)", which marks what is changed
        if kind == "Tensor" and not isinstance(value, Tensor):
            raise RuntimeError(
                f"{operator}() Expected a value of type 'Tensor' for argument '{self.name}' but "
                f"instead found type '{type(value).__name__}'.\nPosition: {position}\n"
                f"Value: {value!r}\nDeclaration: {schema}"
            )


class Schema(NamedTuple):
    """A declaration, taken apart."""

    operator: str
    arguments: tuple[Argument, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values by position and by name, defaults filled in.

        Raises:
            RuntimeError: If one is missing, unknown, too many, or no tensor where one is due.
        """
        left = dict(kwargs)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        given = [argument for argument in self.arguments if not argument.keyword]
        if len(args) > len(given):
            raise RuntimeError(
                f"{self.operator}() expected at most {len(given)} argument(s) but received "
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
        value = left.pop(argument.name, argument.default)
        if value is _REQUIRED:
            raise RuntimeError(
                f"{self.operator}() is missing value for argument '{argument.name}'. "
                f"Declaration: {self.text}"
            )
        return value


def parse(namespace: str, text: str) -> tuple[str, Schema]:
    """The operator's name, and its declaration taken apart.

    Args:
        namespace: Of the library, which stands in front of the name.
        text: ``"name(type argument, ...) -> type"``.

    Raises:
        RuntimeError: If it is no such text.

    Example:
        >>> from tinytorch.library.schema import parse
        >>> name, schema = parse("mylib", "scale(Tensor x, float factor=2.0) -> Tensor")
        >>> name, [argument.name for argument in schema.arguments]
        ('scale', ['x', 'factor'])
    """
    found = re.fullmatch(r"\s*(?:\w+::)?(\w+)(?:\.\w+)?\s*\((.*)\)\s*->\s*(.+?)\s*", text, re.S)
    if found is None:
        raise RuntimeError(f"expected a schema 'name(Tensor x) -> Tensor', got {text!r}")
    name, inner, returned = found.groups()
    arguments = []
    keyword = False
    for part in _parts(inner):
        if part == "*":
            keyword = True
        else:
            arguments.append(_argument(part, keyword))
    shown = f"{namespace}::{name}({', '.join(_parts(inner))}) -> {returned}"
    return name, Schema(f"{namespace}::{name}", tuple(arguments), shown)


def _parts(inner: str) -> list[str]:
    """What stands between the commas that are in no bracket."""
    parts, depth = [""], 0
    for letter in inner:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _argument(text: str, keyword: bool) -> Argument:
    declared, equals, default = text.partition("=")
    kind, _, name = declared.strip().rpartition(" ")
    if not kind or not name.isidentifier():
        raise RuntimeError(f"expected 'type name' in a schema, got {text!r}")
    return Argument(kind, name, _default(default.strip()) if equals else _REQUIRED, keyword)


def _default(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # a name, such as a dtype's or a memory format's


# -- from a function -----------------------------------------------------------------------------


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:  # fmt: skip
    """The schema that a function's annotations say.

    Args:
        prototype_function: Each of its parameters and its result are annotated.
        mutates_args: Names of the arguments it changes in place, or ``"unknown"``: all tensors.
        op_name: The operator's name, to stand in front. Default: none.

    Raises:
        ValueError: If an annotation is missing, or is none that an operator may have.

    Example:
        >>> import tinytorch as tt
        >>> def scale(x: tt.Tensor, factor: float = 2.0) -> tt.Tensor:
        ...     return x * factor
        >>> tt.library.infer_schema(scale, mutates_args=())
        '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)

    def fail(what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    parts, starred = [], False
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if name not in hints:
            fail(f"Parameter {name} must have a type annotation.")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        kind = _kind(hints[name])
        if kind is None or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            fail(f"Parameter {name} has unsupported type {hints.get(name)}.")
        changed = mutates_args == "unknown" or name in mutates_args
        if changed and kind.startswith("Tensor"):
            kind = f"Tensor(a{index}!){kind.removeprefix('Tensor')}"
        default = parameter.default
        parts.append(f"{kind} {name}" + ("" if default is _REQUIRED else f"={default!r}"))
    if "return" not in hints:
        fail("No return type annotation was provided. Please add one.")
    returned = _returned(hints["return"])
    if returned is None:
        fail(f"Return has unsupported type {hints['return']}.")
    return f"{op_name or ''}({', '.join(parts)}) -> {returned}"


def _kind(hint: Any) -> str | None:
    """The name of an annotation's type in a schema, or None."""
    if hint in _NAMES:
        return _NAMES[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in inner:
        rest = _kind(typing.Union[tuple(each for each in inner if each is not type(None))])
        return rest and f"{rest}?"
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence):
        element = _kind(inner[0])
        return element and f"{element}[]"
    return None


def _returned(hint: Any) -> str | None:
    if hint in (None, type(None)):
        return "()"
    if typing.get_origin(hint) is tuple:
        kinds = [_kind(each) for each in typing.get_args(hint)]
        return None if None in kinds else f"({', '.join(str(kind) for kind in kinds)})"
    return _kind(hint)
