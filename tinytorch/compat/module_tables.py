"""Tables of the modules that have no file, and the rows that tables consist of.

A table is a dictionary from names, several separated by spaces, to rows. ``answer(False)`` is a
function that returns False, ``refusal("...")`` a function that raises, ``missing("...")`` a class
without instances. A value that is not a row is the value of the name. ``import_hook.TABLED`` lists
the modules that are made of tables.
"""

from __future__ import annotations

import ast
import builtins
import copy
import enum
import inspect
import threading
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn, TypeVar

from ..facade.packages import publish
from ..facade.unsupported import Absent, absent
from ..state.tracebacks import short

__all__ = [
    "NoReturn", "Row", "Table", "alias", "answer", "argument", "choices", "exception", "fill",
    "missing", "refusal",
]  # fmt: skip

_OWN = __name__.partition(".")[0]
#: Type variable in annotations of tables for a function or class of a program.
_F = TypeVar("_F", bound=Callable[..., Any])


#: Held while parsing: Python 3.11's parser has one counter of its depth for all threads.
_parsing = threading.Lock()


@dataclass(frozen=True)
class Row:
    """Value of a name, made together with its module.

    Attributes:
        make: Function of the module's name, without the package's, and the name; returns the value.
        place: The place where an alias is defined; see ``alias``.
    """

    make: Callable[[str, str], Any]
    place: str = ""


@dataclass(frozen=True)
class Table:
    """Contents of a module.

    Attributes:
        names: The row or value of each name.
        doc: The module's docstring, if it has no file.
        files: Names of PyTorch's files in it, which get the same names; see ``publish``.
        called: The public name of the module, if that is not its own name.
    """

    names: Mapping[str, Any]
    doc: str = ""
    files: str = ""
    called: str = ""

    def rows(self) -> dict[str, Any]:
        """Return the row, or value, of each single name."""
        return {name: row for names, row in self.names.items() for name in names.split()}


def fill(space: MutableMapping[str, Any], table: Table) -> None:
    """Add the names of a table to a module.

    Args:
        space: The module's names, ``globals()``. ``__all__`` gets the names without an underscore.
        table: The table.
    """
    module = space["__name__"]
    space.setdefault("__doc__", None)
    space["__doc__"] = space["__doc__"] or table.doc
    inner = table.called or module.partition(".")[2]
    listed = {*space.get("__all__", ())}
    for name, row in table.rows().items():
        space[name] = row.make(inner, name) if isinstance(row, Row) else row
        listed |= set() if name.startswith("_") else {name}
    space["__all__"] = sorted(listed)
    if table.files:
        publish(module, table.files)


# -- functions -----------------------------------------------------------------------------------


def answer(
    value: Any, said: str = "", takes: str = "", *, shown: str = "", gives: str = ""
) -> Row:  # fmt: skip
    """Row of a function that always returns the same value.

    Args:
        value: The value; a list or set is copied.
        said: The docstring. Default: the value.
        takes: The parameters as source text: ``"device: Any = None"``.
        shown: The arguments in the example.
        gives: The annotation of the result. Default: the value's type.
    """
    gives = gives or ("None" if value is None else type(value).__name__)
    result = [] if value is None else [repr(value)]

    def make(module: str, name: str) -> Any:
        lines = f">>> tt.{module}.{name}({shown})", *result
        doc = _compose_docstring(said or f"{value!r}.", lines)
        return _function(module, name, (takes, gives), doc, lambda *args: copy.copy(value))

    return Row(make)


def argument(said: str, takes: str = "fn: _F", shown: str = "len") -> Row:
    """Row of a function that returns its first argument.

    Args:
        said: The docstring.
        takes: The parameters as source text.
        shown: The argument in the example.
    """

    def make(module: str, name: str) -> Any:
        call = f">>> tt.{module}.{name}({shown}) is {shown}"
        doc = _compose_docstring(said, (call, "True"))
        gives = str(_signature(takes, "None").parameters[takes.partition(":")[0]].annotation)
        return _function(module, name, (takes, gives), doc, lambda first, *rest: first)

    return Row(make)


def refusal(
    why: str, error: type[Exception] = NotImplementedError, when: str = "", *, takes: str = ""
) -> Row:  # fmt: skip
    """Row of a function that always raises; see ``absent``.

    Args:
        why: The reason.
        error: The class of the error.
        when: Text about an error that PyTorch raises, too.
        takes: The parameters as source text. Default: any.
    """

    def make(module: str, name: str) -> Any:
        refuse: Any = absent(f"{module}.{name}", why, error, when)
        if takes:
            refuse.__signature__ = _signature(takes, "NoReturn")
        return refuse

    return Row(make)


def _compose_docstring(said: str, lines: tuple[str, ...]) -> str:
    """Return a docstring of the text ``said`` and an example of these lines."""
    return "\n".join([said, "", "Example:", *(f"    {line}" for line in lines), ""])


def _function(
    module: str, name: str, form: tuple[str, str], doc: str, run: Callable[..., Any]
) -> Callable[..., Any]:
    """Make a function as if it were defined in a module.

    Args:
        module: The module's name, without the package's.
        name: The function's name.
        form: The parameters and the annotation of the result, as source text.
        doc: The docstring.
        run: Function that is called with the positional arguments of a call.
    """
    signature = _signature(*form)

    def call_bare() -> Any:
        return run()

    @short
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return run(*given.args)

    made: Any = call if form[0] else call_bare
    made.__signature__, made.__doc__ = signature, doc
    made.__name__ = made.__qualname__ = name
    made.__module__ = f"{_OWN}.{module}"
    return made  # type: ignore[no-any-return]


def _signature(takes: str, gives: str) -> inspect.Signature:
    """Return a signature whose annotations are texts.

    ``takes`` and ``gives`` are the parameters and the annotation of the result as source text.
    """
    with _parsing:
        (node,) = ast.parse(f"def f({takes}) -> {gives}: ...").body
    given: ast.arguments = node.args  # type: ignore[attr-defined]
    found: list[tuple[Any, str, Any]] = [
        (each, "POSITIONAL_OR_KEYWORD", inspect.Parameter.empty) for each in given.args
    ]
    for at, default in enumerate(reversed(given.defaults), 1):
        found[-at] = (*found[-at][:2], ast.literal_eval(default))
    found += [(given.vararg, "VAR_POSITIONAL", inspect.Parameter.empty)] if given.vararg else []
    found += [(given.kwarg, "VAR_KEYWORD", inspect.Parameter.empty)] if given.kwarg else []
    parameters = [
        inspect.Parameter(
            each.arg, getattr(inspect.Parameter, kind), default=default,
            annotation=ast.unparse(each.annotation),
        )
        for each, kind, default in found
    ]  # fmt: skip
    return inspect.Signature(parameters, return_annotation=gives)


# -- classes and aliases ------------------------------------------------------------------------


def missing(doc: str, why: str, *bases: str) -> Row:
    """Row of a class without instances: subclasses can be defined, making an instance raises.

    Args:
        doc: The docstring.
        why: The reason, as the end of a sentence.
        *bases: The base classes: ``"nn.module:Module"``, or the name of an earlier row.
    """

    def make(module: str, name: str) -> Any:
        found = [_value(base if ":" in base else f"{module}:{base}") for base in bases]
        kinds = tuple(found if any(issubclass(f, Absent) for f in found) else [Absent, *found])
        return type(name, kinds, {"__module__": f"{_OWN}.{module}", "__doc__": doc}, why=why)

    return Row(make)


def exception(doc: str, base: str) -> Row:
    """Row of an exception that programs catch but that is never raised.

    Args:
        doc: The docstring.
        base: The name of the built-in base class.
    """

    def make(module: str, name: str) -> Any:
        lines = (
            f">>> from tinytorch.{module} import {name}",
            f">>> issubclass({name}, {base})",
            "True",
        )
        body = {"__module__": f"{_OWN}.{module}", "__doc__": _compose_docstring(doc, lines)}
        return type(name, (getattr(builtins, base),), body)

    return Row(make)


def choices(doc: str, **members: Any) -> Row:
    """Row of an enumeration.

    Args:
        doc: The docstring.
        **members: Names and values.
    """

    def make(module: str, name: str) -> Any:
        made: Any = enum.Enum  # type checkers need the names here
        kind = made(name, members, module=f"{_OWN}.{module}")
        first = next(iter(members))
        lines = (
            f">>> from tinytorch.{module} import {name}",
            f">>> {name}.{first}.name",
            repr(first),
        )
        kind.__doc__ = _compose_docstring(doc, lines)
        return kind

    return Row(make)


def alias(place: str) -> Row:
    """Row of a value that is defined elsewhere.

    Args:
        place: ``"ops.linalg.matmul:mm"``; ``"compiler:"`` for the same name there, ``":"`` for the
            top level; or a module, ``"cpu.amp"``.
    """
    return Row(lambda module, name: _value(place, name), place)


def _value(place: str, same: str = "") -> Any:
    """Return the value at a place, see ``alias``; ``same`` is its name if the place has none."""
    module, colon, name = place.partition(":")
    found = import_module(f"{_OWN}.{module}".rstrip("."))
    return getattr(found, name or same) if colon else found
