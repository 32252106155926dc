"""One public object as directives of Sphinx's Python domain."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy

from tinytorch.core.tensor import Tensor
from tinytorch.numpy.ndarray import ndarray

from .names import (
    Name,
    described_names,
    inplace_forms,
    is_shared,
    methods,
    methods_of_operations,
    modules,
    names,
    own,
)
from .text import convert

#: File and line of each described object, by its full name.
SOURCES: dict[str, tuple[str, int]] = {}


class _Verbatim:
    """Annotation or default of a signature whose ``repr`` is a given text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def entry(name: Name) -> list[str]:
    """The directive of a name; for a class, also those of its methods."""
    value = name.value
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        return [
            *directive(kind, [(name.name, signature(value))], value, name),
            *bases(value),
            *(f"   {line}".rstrip() for line in members(name)),
        ]
    if callable(value) and is_shared(value):
        heads = [(name.name, signature(value, space=name.space))]
        form = inplace_forms(name.space).get(name.name)
        heads += [
            (each.name, signature(each.value)) for each in own(name.space) if each.name == form
        ]
        if name.space == "tinytorch" and hasattr(value, "op"):
            heads += [
                (f"Tensor.{method}", signature(methods()[method], bound=True))
                for method in methods_of_operations().get(name.name, ())
            ]
        return directive("function", heads, value, name)
    return constant(name)


def bases(cls: type) -> list[str]:
    """Line with a link to each public base of a class; no lines without one."""
    known = [
        described_names()[id(base)].full_name
        for base in cls.__bases__
        if id(base) in described_names()
    ]
    links = ", ".join(f":py:obj:`{base}`" for base in known)
    return [f"   Made of {links}.", ""] if links else []


def constant(name: Name) -> list[str]:
    """The directive of a value, without the docstring of its class."""
    text = repr(name.value)
    option = [f"   :value: {text}"] if len(text) < 60 and "\n" not in text else []
    return [f".. py:data:: {name.name}", *option, ""]


def directive(kind: str, heads: list[tuple[str, str]], value: Any, name: Name) -> list[str]:
    """Lines of a directive of Sphinx, with one or several signatures and one docstring.

    Args:
        kind: Kind of the object, such as ``"function"``.
        heads: Pairs of a name, below the module of ``name``, and the text of its signature.
        value: The object, which has the docstring.
        name: Public name of the object.
    """
    for called, _ in heads:
        locate(f"{name.space}.{called}", value)
    first, *rest = (called + form for called, form in heads)
    indent = " " * len(f".. py:{kind}:: ")
    body = documentation(name, value)
    return [
        f".. py:{kind}:: {first}",
        *(indent + line for line in rest),
        "",
        *(f"   {line}".rstrip() for line in body),
        "",
    ]


def documentation(name: Name, value: Any) -> list[str]:
    """The docstring as reStructuredText, or a link for an object of another library."""
    external = external_name(name, value)
    if external is not None:
        return [f":py:obj:`{external}`, as it is.", ""]
    text = convert(inspect.getdoc(value) or "", partial(target, name, parameters(value)))
    if numpy_value(name) is not None:
        text += [f":NumPy: :py:obj:`{name.full_name.removeprefix('tinytorch.')}`", ""]
    return text


def external_name(name: Name, value: Any) -> str | None:
    """The full name of an object in another library; None for our own objects.

    A wrapper of a NumPy function that has NumPy's docstring counts as NumPy's object, because this
    site does not repeat that docstring.
    """
    module = getattr(inspect.unwrap(value), "__module__", None) or "tinytorch"
    numpys = numpy_value(name)
    if numpys is not None and value.__doc__ and numpys.__doc__ == value.__doc__:
        return name.full_name.removeprefix("tinytorch.")
    if module.partition(".")[0] == "tinytorch":
        return None
    return f"{module}.{getattr(value, '__name__', name.name)}"


def numpy_value(name: Name) -> Any:
    """The object of NumPy with a name of ``tinytorch.numpy``; None if there is none."""
    if not name.space.startswith("tinytorch.numpy"):
        return None
    try:
        return attrgetter(name.full_name.removeprefix("tinytorch.numpy."))(numpy)
    except AttributeError:
        return None


def members(name: Name) -> Iterator[str]:
    """Yield the lines of the directives of a class's methods, properties and attributes.

    Methods of Tensor that are operations are left out: they are described with the functions.
    """
    cls = name.value
    if external_name(name, cls) is not None:
        return
    operations = {m for found in methods_of_operations().values() for m in found}
    for member, raw in class_members(cls).items():
        if cls is Tensor and member in operations:
            continue
        value = raw.__func__ if isinstance(raw, staticmethod | classmethod) else raw
        is_method = callable(value)
        kind = "method" if is_method else "property" if hasattr(raw, "__get__") else "attribute"
        form = signature(value, bound=not isinstance(raw, staticmethod)) if is_method else ""
        options = [f"   :{type(raw).__name__}:"] if isinstance(
            raw, staticmethod | classmethod) else []  # fmt: skip
        locate(f"{name.full_name}.{member}", getattr(raw, "fget", None) or value)
        link = partial(target, name, parameters(value))
        text = convert(inspect.getdoc(value) or "", link) if hasattr(raw, "__get__") else []
        yield f".. py:{kind}:: {member}{form}"
        yield from [*options, "", *(f"   {line}".rstrip() for line in text), ""]


def class_members(cls: type) -> dict[str, Any]:
    """Public members of a class by name, as in its ``__dict__``, without inherited ones.

    Those of the two array classes, Tensor and ndarray, include inherited ones.
    """
    if cls in (Tensor, ndarray):
        public = (name for name in dir(cls) if not name.startswith("_"))
        return {name: inspect.getattr_static(cls, name) for name in public}
    return {
        name: raw
        for name, raw in vars(cls).items()
        if not name.startswith("_")
        and (callable(raw) or isinstance(raw, property | staticmethod | classmethod))
        and not inspect.isclass(raw)
    }


def signature(value: Any, bound: bool = False, space: str = "") -> str:
    """Text of the signature of an object; "" for an object without one.

    Args:
        value: The object.
        bound: Whether the first parameter, ``self`` or ``cls``, is left out.
        space: Public module of a function. In those of ``tinytorch.numpy``, annotations name arrays
            instead of tensors.
    """
    if isinstance(value, property) or not callable(value):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):  # built-in classes have no signature
        return ""
    parameters = [
        parameter.replace(
            annotation=format_annotation(parameter.annotation), default=default(parameter.default)
        )
        for parameter in found.parameters.values()
    ]
    returns = (
        inspect.Signature.empty
        if inspect.isclass(value)
        else format_annotation(found.return_annotation)
    )
    text = str(found.replace(parameters=parameters[bound:], return_annotation=returns))
    if space.startswith("tinytorch.numpy"):
        text = re.sub(r"\btinytorch\.Tensor\b", "tinytorch.numpy.ndarray", text)
    return text


def format_annotation(annotation: Any) -> Any:
    """An annotation with full names, by which Sphinx finds links."""
    if annotation is inspect.Parameter.empty or annotation is inspect.Signature.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Verbatim(re.sub(r"(?<![\w.'\"])[A-Za-z_][\w.]*(?![\w'\"])", _full, text))


def _full(match: re.Match[str]) -> str:
    """Replacement for a word in an annotation: the full name of a public class.

    Other words, such as aliases and type variables, stay as they are.
    """
    word = match[0].removeprefix("builtins.")
    first, _, last = word.rpartition(".")
    if hasattr(builtins, word) or word.startswith(("typing.", "collections.")):
        return word
    if len(first or word) == 1:  # a type variable: without a module it might be taken for `x.T`
        return f"typing.{word}"
    for module in (typing, collections.abc):
        if word in module.__all__:
            return f"{module.__name__}.{word}"
    return classes().get(last, word)


@cache
def classes() -> dict[str, str]:
    """The full names of public classes, by their last part; the shortest of several."""
    found: dict[str, str] = {}
    for name in described_names().values():
        if inspect.isclass(name.value):
            found.setdefault(name.name, name.full_name)
    return found


def default(value: Any) -> Any:
    """A default whose ``repr`` is Python; ``...`` for other objects."""
    if value is inspect.Parameter.empty:
        return value
    try:
        ast.parse(repr(value), mode="eval")
    except SyntaxError:
        return _Verbatim("...")
    return value


def parameters(value: Any) -> set[str]:
    """Names of the parameters of an object; empty without a signature."""
    try:
        return {*inspect.signature(value).parameters}
    except (TypeError, ValueError):
        return set()


def locate(full_name: str, value: Any) -> None:
    """Record the file and line of an object in ``SOURCES``, if it is in a file of tinytorch."""
    inner = inspect.unwrap(value) if callable(value) else value
    code = getattr(inner, "__code__", None)
    module = getattr(inner, "__module__", None) or ""
    if not module.startswith("tinytorch"):
        return
    try:
        line = code.co_firstlineno if code else inspect.getsourcelines(inner)[1]
        path = inspect.getsourcefile(inner)
    except (OSError, TypeError):
        return
    if path is not None and "/tinytorch/" in path:
        SOURCES[full_name] = (path.rpartition("/tinytorch/")[2], line)


@cache
def functions(module: str) -> dict[str, str]:
    """The full names of a module's functions and classes, by their names."""
    return {
        name.name: described_names()[id(name.value)].full_name
        for name in names(module)
        if is_shared(name.value) and len(name.name) > 2
    }


def target(name: Name, taken: set[str], word: str) -> str | None:
    """Full name of the object to which a literal in a docstring links.

    Args:
        name: The name that has the docstring.
        taken: Names of its parameters.
        word: Text of the literal.

    Returns:
        The full name; None for a parameter, the name itself, and text that is not a public name.
    """
    if word in taken or word == name.name:
        return None
    found: Callable[[str], dict[str, str]] = functions
    if word.startswith(("tt.", "tinytorch.")):
        module, _, last = word.replace("tt.", "tinytorch.", 1).rpartition(".")
        return functions(module).get(last) if module in modules() else None
    error = classes().get(word) if word.endswith("Error") else None
    return found(name.space).get(word) or found("tinytorch").get(word) or error
