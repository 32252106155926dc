"""What an operator takes and returns: ``scale(Tensor x, float factor=2.0) -> Tensor``."""

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
#: The names that types have in a schema.
_NAMES: dict[Any, str] = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str",
    _dtype: "ScalarType", _device: "Device", int | float | bool: "Scalar",
}  # fmt: skip


def _is_tensors(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Tensor) for each in value)


#: By type in a schema: its name in errors, and whether a value fits.
_FITTING: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "Tensor": ("Tensor", lambda value: isinstance(value, Tensor)),
    "Tensor[]": ("List[Tensor]", _is_tensors),
    "SymInt": ("int", lambda value: hasattr(value, "__index__")),
    "int": ("int", lambda value: hasattr(value, "__index__")),
    "float": ("float", lambda value: hasattr(value, "__float__")),
    "str": ("str", lambda value: isinstance(value, str)),
}


class Argument(NamedTuple):
    """One argument: its type as written, its name, its default, whether it needs its name."""

    type: str
    name: str
    default: Any
    keyword: bool

    def check(self, operator: str, position: int, value: Any, schema: str) -> None:
        """RuntimeError, in PyTorch's words, for a value that is not of the type."""
        kind = re.sub(r"\(.*\)", "", self.type)  # without "(a!)", which marks what is changed
        named, fits = _FITTING.get(kind, ("", bool))
        if named and not fits(value):
            raise RuntimeError(
                f"{operator}() Expected a value of type '{named}' for argument '{self.name}' but "
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
            RuntimeError: If one is missing, unknown, too many, or not of the type that is due.
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
    value = _default(default.strip(), kind.rstrip("?")) if equals else _REQUIRED
    return Argument(kind, name, value, keyword)


def _default(text: str, kind: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if kind == "ScalarType":
        return from_name(text)
    if kind == "Device":
        return _device(text.strip("\"'"))
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # a name, such as a memory format's


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
        ValueError: If an annotation is missing, or is none that an operator may have, or
            ``mutates_args`` is another text or names what is no tensor.

    Example:
        >>> def scale(x: tt.Tensor, factor: float = 2.0) -> tt.Tensor:
        ...     return x * factor
        >>> tt.library.infer_schema(scale, mutates_args=())
        '(Tensor x, float factor=2.0) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)

    def fail(what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    changed = _changed(mutates_args, signature.parameters, fail)
    parts, starred = [], False
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        if name not in hints:
            fail(f"Parameter {name} must have a type annotation.")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        kind = _kind(hints[name])
        if kind is None:
            fail(f"Parameter {name} has unsupported type {hints.get(name)}.")
        is_tensor = kind.startswith("Tensor")
        if changed is not None and name in changed and not is_tensor:
            fail(f"Parameter {name} is in mutable_args but only Tensors can be mutated.")
        if is_tensor and (changed is None or name in changed):
            kind = f"Tensor(a{index}!){kind.removeprefix('Tensor')}"
        default = parameter.default
        parts.append(f"{kind} {name}" + ("" if default is _REQUIRED else f"={_shown(default)}"))
    if "return" not in hints:
        fail("No return type annotation was provided. Please add one.")
    returned = _returned(hints["return"])
    if returned is None:
        fail(f"Return has unsupported type {hints['return']}.")
    return f"{op_name or ''}({', '.join(parts)}) -> {returned}"


def _changed(
    mutates_args: str | Iterable[str], parameters: Mapping[str, Any], fail: Callable[[str], Any]
) -> set[str] | None:
    """The names of the arguments that are changed in place; None: it may be any tensor."""
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


def _shown(default: Any) -> str:
    """A default as a schema has it, with texts in PyTorch's quotes."""
    if isinstance(default, _dtype):
        return default.name
    return f'"{default}"' if isinstance(default, str | _device) else repr(default)


def _kind(hint: Any) -> str | None:
    """The name of an annotation's type in a schema, or None."""
    if hint in _NAMES:
        return _NAMES[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType) and type(None) in inner:
        rest = _kind(typing.Union[tuple(each for each in inner if each is not type(None))])  # noqa: UP007
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
