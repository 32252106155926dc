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
#: What annotations in tables call a function or class of a program's own.
_F = TypeVar("_F", bound=Callable[..., Any])


#: Python 3.11's parser counts how deep it is for all threads together.
_parsing = threading.Lock()


@dataclass(frozen=True)
class Row:
    """A name's value, made when its module is.

    Attributes:
        make: Takes the module's name, without the package's, and the name; returns the value.
        place: Where the value is defined, if that is elsewhere; see ``alias``.
    """

    make: Callable[[str, str], Any]
    place: str = ""


@dataclass(frozen=True)
class Table:
    """What a module has.

    Attributes:
        names: What stands under each name.
        doc: The module's docstring, where no file has it.
        files: Names of PyTorch's files in it, which have the same names; see ``publish``.
        called: What programs call the module, if that is not its own name.
    """

    names: Mapping[str, Any]
    doc: str = ""
    files: str = ""
    called: str = ""

    def rows(self) -> dict[str, Any]:
        """The row, or value, of each single name."""
        return {name: row for names, row in self.names.items() for name in names.split()}


def fill(space: MutableMapping[str, Any], table: Table) -> None:
    """Put what a table says into a module.

    Args:
        space: The module's names, ``globals()``; ``__all__`` gets those without an underscore.
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
    """A function that gives the same always.

    Args:
        value: What it gives; a list or set is copied.
        said: What its docstring says. Default: the value.
        takes: Its parameters, as they are written: ``"device: Any = None"``.
        shown: The arguments of its example.
        gives: The annotation of its result. Default: the value's type.
    """
    gives = gives or ("None" if value is None else type(value).__name__)
    result = [] if value is None else [repr(value)]

    def make(module: str, name: str) -> Any:
        lines = ">>> import tinytorch as tt", f">>> tt.{module}.{name}({shown})", *result
        doc = _documented(said or f"{value!r}.", lines)
        return _function(module, name, (takes, gives), doc, lambda *args: copy.copy(value))

    return Row(make)


def argument(said: str, takes: str = "fn: _F", shown: str = "len") -> Row:
    """A function that gives its first argument back.

    Args:
        said: What its docstring says.
        takes: Its parameters.
        shown: What it is given in its example.
    """

    def make(module: str, name: str) -> Any:
        call = f">>> tt.{module}.{name}({shown}) is {shown}"
        doc = _documented(said, (">>> import tinytorch as tt", call, "True"))
        gives = str(_signature(takes, "None").parameters[takes.partition(":")[0]].annotation)
        return _function(module, name, (takes, gives), doc, lambda first, *rest: first)

    return Row(make)


def refusal(
    why: str, error: type[Exception] = NotImplementedError, when: str = "", *, takes: str = ""
) -> Row:  # fmt: skip
    """A function that raises whenever it is called; see ``absent``.

    Args:
        why: What is missing here.
        error: What it raises.
        when: What to say of an error that PyTorch raises, too.
        takes: Its parameters. Default: any.
    """

    def make(module: str, name: str) -> Any:
        refuse: Any = absent(f"{module}.{name}", why, error, when)
        if takes:
            refuse.__signature__ = _signature(takes, "NoReturn")
        return refuse

    return Row(make)


def _documented(said: str, lines: tuple[str, ...]) -> str:
    return "\n".join([said, "", "Example:", *(f"    {line}" for line in lines), ""])


def _function(
    module: str, name: str, form: tuple[str, str], doc: str, run: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of these parameters and result, as if it were written in the module."""
    signature = _signature(*form)

    def bare() -> Any:
        return run()

    @short
    def bound(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return run(*given.args)

    made: Any = bound if form[0] else bare
    made.__signature__, made.__doc__ = signature, doc
    made.__name__ = made.__qualname__ = name
    made.__module__ = f"{_OWN}.{module}"
    return made  # type: ignore[no-any-return]


def _signature(takes: str, gives: str) -> inspect.Signature:
    """A signature whose annotations are texts, as they are in the sources."""
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


# -- classes, and what is elsewhere --------------------------------------------------------------


def missing(doc: str, why: str, *bases: str) -> Row:
    """A class that nothing is an instance of; deriving from it is fine, making one raises.

    Args:
        doc: Its docstring.
        why: What is missing here, as the end of a sentence.
        *bases: Its base classes: ``"nn.module:Module"``, or the name of one above it.
    """

    def make(module: str, name: str) -> Any:
        found = [_value(base if ":" in base else f"{module}:{base}") for base in bases]
        kinds = tuple(found if any(issubclass(f, Absent) for f in found) else [Absent, *found])
        return type(name, kinds, {"__module__": f"{_OWN}.{module}", "__doc__": doc}, why=why)

    return Row(make)


def exception(doc: str, base: str) -> Row:
    """An exception that programs catch and nothing raises.

    Args:
        doc: Its docstring.
        base: The name of its built-in base class.
    """

    def make(module: str, name: str) -> Any:
        lines = (
            f">>> from tinytorch.{module} import {name}",
            f">>> issubclass({name}, {base})",
            "True",
        )
        body = {"__module__": f"{_OWN}.{module}", "__doc__": _documented(doc, lines)}
        return type(name, (getattr(builtins, base),), body)

    return Row(make)


def choices(doc: str, **members: Any) -> Row:
    """An enumeration.

    Args:
        doc: Its docstring.
        **members: Names and values.
    """

    def make(module: str, name: str) -> Any:
        made: Any = enum.Enum  # a checker wants the names here
        kind = made(name, members, module=f"{_OWN}.{module}")
        first = next(iter(members))
        lines = (
            f">>> from tinytorch.{module} import {name}",
            f">>> {name}.{first}.name",
            repr(first),
        )
        kind.__doc__ = _documented(doc, lines)
        return kind

    return Row(make)


def alias(place: str) -> Row:
    """What is defined elsewhere.

    Args:
        place: ``"ops.linalg.matmul:mm"``; ``"compiler:"`` for what has the same name there, ``":"``
            at the top level; or a module, ``"cpu.amp"``.
    """
    return Row(lambda module, name: _value(place, name), place)


def _value(place: str, same: str = "") -> Any:
    module, colon, name = place.partition(":")
    found = import_module(f"{_OWN}.{module}".rstrip("."))
    return getattr(found, name or same) if colon else found
