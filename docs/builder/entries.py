"""One public thing as directives of Sphinx's Python domain."""

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
    described,
    in_place_forms,
    is_shared,
    methods,
    methods_of_operations,
    modules,
    names,
    own,
)
from .text import convert

#: Files and lines of what is described, by full name.
SOURCES: dict[str, tuple[str, int]] = {}


class _Text:
    """Stands in a signature for what prints as this."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def entry(name: Name) -> list[str]:
    """The directive of a name, with its methods where it is a class."""
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
        if name.space == "tinytorch" and hasattr(value, "op"):
            if name.name in in_place_forms().values():
                return []  # stands with the plain form
            heads += [
                (form, signature(in_place.value))
                for in_place in own("tinytorch")
                if (form := in_place.name) == in_place_forms().get(name.name)
            ]
            heads += [
                (f"Tensor.{method}", signature(methods()[method], bound=True))
                for method in methods_of_operations().get(name.name, ())
            ]
        return directive("function", heads, value, name)
    return constant(name)


def bases(cls: type) -> list[str]:
    """A link to each public class that a class is made of."""
    known = [described()[id(base)].dotted for base in cls.__bases__ if id(base) in described()]
    links = ", ".join(f":py:obj:`{base}`" for base in known)
    return [f"   Made of {links}.", ""] if links else []


def constant(name: Name) -> list[str]:
    """The directive of a value; its class's docstring is not its own."""
    shown = repr(name.value)
    option = [f"   :value: {shown}"] if len(shown) < 60 and "\n" not in shown else []
    return [f".. py:data:: {name.name}", *option, ""]


def directive(kind: str, heads: list[tuple[str, str]], value: Any, name: Name) -> list[str]:
    """A directive with one signature or several over one docstring."""
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
    """The docstring marked up; a link instead for what is another library's."""
    place = others_place(name, value)
    if place is not None:
        return [f":py:obj:`{place}`, as it is.", ""]
    text = convert(inspect.getdoc(value) or "", partial(target, name, parameters(value)))
    if numpys(name) is not None:
        text += [f":NumPy: :py:obj:`{name.dotted.removeprefix('tinytorch.')}`", ""]
    return text


def others_place(name: Name, value: Any) -> str | None:
    """What another library calls a thing that is its own; None for what is ours.

    What is made of a thing of NumPy's has its docstring, and that is not for this site.
    """
    home = getattr(inspect.unwrap(value), "__module__", None) or "tinytorch"
    theirs = numpys(name)
    if theirs is not None and value.__doc__ and theirs.__doc__ == value.__doc__:
        return name.dotted.removeprefix("tinytorch.")
    if home.partition(".")[0] == "tinytorch":
        return None
    return f"{home}.{getattr(value, '__name__', name.name)}"


def numpys(name: Name) -> Any:
    """What NumPy has under the name of a thing of its dialect; None if it has nothing."""
    if not name.space.startswith("tinytorch.numpy"):
        return None
    try:
        return attrgetter(name.dotted.removeprefix("tinytorch.numpy."))(numpy)
    except AttributeError:
        return None


def members(name: Name) -> Iterator[str]:
    """The methods and properties of a class, where they are not described with functions."""
    cls = name.value
    if others_place(name, cls) is not None:
        return
    grouped = {m for found in methods_of_operations().values() for m in found}
    for member, held in held_members(cls).items():
        if cls is Tensor and member in grouped:
            continue
        value = held.__func__ if isinstance(held, staticmethod | classmethod) else held
        is_method = callable(value)
        kind = "method" if is_method else "property" if hasattr(held, "__get__") else "attribute"
        form = signature(value, bound=not isinstance(held, staticmethod)) if is_method else ""
        options = [f"   :{type(held).__name__}:"] if isinstance(
            held, staticmethod | classmethod) else []  # fmt: skip
        locate(f"{name.dotted}.{member}", getattr(held, "fget", None) or value)
        link = partial(target, name, parameters(value))
        text = convert(inspect.getdoc(value) or "", link) if hasattr(held, "__get__") else []
        yield f".. py:{kind}:: {member}{form}"
        yield from [*options, "", *(f"   {line}".rstrip() for line in text), ""]


def held_members(cls: type) -> dict[str, Any]:
    """The public members of a class that are its own; all those of the two array classes."""
    if cls in (Tensor, ndarray):
        public = (name for name in dir(cls) if not name.startswith("_"))
        return {name: inspect.getattr_static(cls, name) for name in public}
    return {
        name: held
        for name, held in vars(cls).items()
        if not name.startswith("_")
        and (callable(held) or isinstance(held, property | staticmethod | classmethod))
        and not inspect.isclass(held)
    }


def signature(value: Any, bound: bool = False, space: str = "") -> str:
    """The call of a function or class as text; "" for what tells none.

    A function of NumPy's dialect, in a module ``space`` of it, gives what it is given: arrays.
    """
    if isinstance(value, property) or not callable(value):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):  # classes built into Python tell none
        return ""
    parameters = [
        parameter.replace(
            annotation=shown(parameter.annotation), default=default(parameter.default)
        )
        for parameter in found.parameters.values()
    ]
    returns = inspect.Signature.empty if inspect.isclass(value) else shown(found.return_annotation)
    text = str(found.replace(parameters=parameters[bound:], return_annotation=returns))
    if space.startswith("tinytorch.numpy"):
        text = re.sub(r"\btinytorch\.Tensor\b", "tinytorch.numpy.ndarray", text)
    return text


def shown(annotation: Any) -> Any:
    """An annotation by the full names of what is in it, by which Sphinx finds links."""
    if annotation is inspect.Parameter.empty or annotation is inspect.Signature.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _Text(re.sub(r"(?<![\w.'\"])[A-Za-z_][\w.]*(?![\w'\"])", _full, text))


def _full(match: re.Match[str]) -> str:
    """The full name of what an annotation names; what is only for annotations stays as it is."""
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
    """The full names of public classes by their last part; the shorter one wins."""
    found: dict[str, str] = {}
    for name in described().values():
        if inspect.isclass(name.value):
            found.setdefault(name.name, name.dotted)
    return found


def default(value: Any) -> Any:
    """A default that prints as Python; ``...`` for an object that does not."""
    if value is inspect.Parameter.empty:
        return value
    try:
        ast.parse(repr(value), mode="eval")
    except SyntaxError:
        return _Text("...")
    return value


def parameters(value: Any) -> set[str]:
    try:
        return {*inspect.signature(value).parameters}
    except (TypeError, ValueError):
        return set()


def locate(dotted: str, value: Any) -> None:
    """Note where a thing is written; nothing for what is written in no file of ours."""
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
        SOURCES[dotted] = (path.rpartition("/tinytorch/")[2], line)


@cache
def functions(module: str) -> dict[str, str]:
    """The full names of a module's functions and classes by their names."""
    return {
        name.name: described()[id(name.value)].dotted
        for name in names(module)
        if is_shared(name.value) and len(name.name) > 2
    }


def target(name: Name, taken: set[str], word: str) -> str | None:
    """What a literal in the docstring of ``name`` links to; a parameter links to nothing."""
    if word in taken or word == name.name:
        return None
    found: Callable[[str], dict[str, str]] = functions
    if word.startswith(("tt.", "tinytorch.")):
        module, _, last = word.replace("tt.", "tinytorch.", 1).rpartition(".")
        return functions(module).get(last) if module in modules() else None
    error = classes().get(word) if word.endswith("Error") else None
    return found(name.space).get(word) or found("tinytorch").get(word) or error
