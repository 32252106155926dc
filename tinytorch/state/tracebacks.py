"""Tracebacks that show the program's lines only.

Every public function catches its errors, removes this package's lines and re-raises, so that a call
that succeeds costs nothing. Lines of the program's functions that were called back stay.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping
from enum import Enum
from types import FunctionType, ModuleType, TracebackType
from typing import Any, TypeVar

from ..backends.weak_references import WeakValues

_F = TypeVar("_F", bound=Callable[..., Any])

#: Environment variable that, set to ``full``, leaves tracebacks whole.
VARIABLE = "TINYTORCH_TRACEBACK"
#: Prefix of the file names of generated functions.
GENERATED = "<tinytorch call path "
_OURS = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, GENERATED)
_PACKAGE = __name__.partition(".")[0]
#: Top modules of libraries whose lines are removed if this package called them.
_LIBRARIES = frozenset(
    (*sys.stdlib_module_names, "numpy", "scipy", "cupy", "cupyx", "cupy_backends")
)
_filtering = {"on": os.environ.get(VARIABLE) != "full"}


def set_traceback_filtering(mode: str) -> None:
    """Set whether tracebacks leave out this package's inner lines, in the whole process.

    With ``"on"``, the default, the last line of an error's traceback is the line of your program
    that called this package. With ``"off"`` the traceback has every line below it, too, and the
    errors of NumPy that the error replaced. The environment variable
    ``TINYTORCH_TRACEBACK=full`` turns it off from the start.

    Args:
        mode: ``"on"`` or ``"off"``.

    Raises:
        ValueError: If ``mode`` is neither.

    Example:
        >>> tt.set_traceback_filtering("off")
        >>> tt.set_traceback_filtering("on")
    """
    if mode not in ("on", "off"):
        raise ValueError(f"set_traceback_filtering(): expected mode 'on' or 'off', got {mode!r}")
    _filtering["on"] = mode == "on"


class InternalError(Exception):
    """Base of errors that this package raises and catches itself."""


def shorten(
    error: BaseException, function: Any = None, options: Collection[str] = frozenset()
) -> None:
    """Remove this package's frames from an error, and the errors that this one replaced.

    A public function calls this where it catches the error, and re-raises with a bare ``raise``,
    which adds no line of its own. Lines of the program's functions that were called back stay.

    Args:
        error: The error.
        function: The function that was called, if its error may be one of its keywords.
        options: The keywords of the call. An unknown one gets the nearest parameter's name added.
    """
    if isinstance(error, InternalError):
        return
    if options and error.__class__ is TypeError:
        _name_nearest_keyword(function, options, error)
    if _filtering["on"]:
        _unchain(error)
        error.__traceback__ = _link(_program_lines(error.__traceback__))


def _unchain(error: BaseException) -> None:
    """Drop the errors that this package caught and replaced by ``error``, from its causes.

    Nothing is dropped if a line of the program is in the traceback of ``error``: a function of the
    program that was called back may have raised it.
    """
    if any(_program_lines(error.__traceback__)):
        return
    while (inner := error.__cause__ or error.__context__) is not None and _is_internal(inner):
        error.__cause__, error.__context__ = None, inner.__context__
        error.__suppress_context__ = inner.__suppress_context__


def _is_internal(error: BaseException) -> bool:
    """Whether a caught error has no lines of the program in its traceback."""
    return not any(_program_lines(error.__traceback__))


def skip_files(error: BaseException, files: Collection[str]) -> TracebackType | None:
    """Return the traceback of an error without the first lines, as far as they are of ``files``.

    If filtering is off, it is the whole traceback.
    """
    first = line = error.__traceback__
    while line is not None and line.tb_frame.f_code.co_filename in files:
        line = line.tb_next
    return line if _filtering["on"] else first


def _program_lines(line: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the lines of a traceback without this package's and those of libraries it called."""
    inside = True
    while line is not None:
        if is_ours(line):
            inside = True
        elif not inside or _top_module(line) not in _LIBRARIES:
            inside = False
            yield line
        line = line.tb_next


def _link(lines: Iterable[TracebackType]) -> TracebackType | None:
    """Make a traceback of lines, by setting ``tb_next`` of each; None without lines."""
    first = None
    for line in reversed(list(lines)):
        line.tb_next = first
        first = line
    return first


def _top_module(line: TracebackType) -> str:
    """Name of the top-level package of a traceback's line."""
    return str(line.tb_frame.f_globals.get("__name__")).partition(".")[0]


def is_ours(line: TracebackType) -> bool:
    """Whether a line of a traceback is this package's."""
    in_our_files = line.tb_frame.f_code.co_filename.startswith(_OURS)
    return in_our_files or _top_module(line) == _PACKAGE  # a dataclass's __init__ has no file


def short(function: _F) -> _F:
    """Wrap a public function other than an operation so that its tracebacks are short."""
    wrapped: _F = _wrap_short(function)
    return wrapped


@functools.cache  # one wrapper for each function, which may be public in several modules
def _wrap_short(function: Callable[..., Any]) -> Any:
    """Return the wrapper of a function that ``short`` describes."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            shorten(error, function, options)
            raise

    call.__wrapped__ = getattr(function, "__wrapped__", function)
    return call


def _name_nearest_keyword(function: Any, options: Collection[str], error: BaseException) -> None:
    """Add the nearest parameter to the error of an unknown keyword, as Python 3.13 does.

    Args:
        function: The function that was called.
        options: The keywords of the call.
        error: Its TypeError, whose text is changed. Any other error is left unchanged.
    """
    found = re.search(r"got an unexpected keyword argument '(\w+)'$", str(error))
    code = getattr(function, "__code__", None)
    if found is None or found[1] not in options or code is None:
        return
    from difflib import get_close_matches  # not imported before it is needed

    known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    near = get_close_matches(found[1], [name for name in known if name[0] != "_"], 1)
    if near:
        error.args = (f"{error}. Did you mean '{near[0]}'?",)


#: Code of all functions that ``short`` returns.
_SHORT = short(lambda: None).__code__
#: Files of the functions that ``contextmanager`` and ``dataclass`` generate.
_GENERATED = (contextlib.__file__, "<string>")
#: Classes whose methods have short tracebacks, by id.
_done: WeakValues[int, type] = WeakValues()
#: Methods that are not wrapped: frequent look-ups and comparisons, and those without errors. After
#: ``__enter__`` a wrapper could be interrupted before ``with`` knows that it has to exit.
_EXCEPT = frozenset(("forward", *(
    f"__{name}__"
    for name in (
        "copy", "deepcopy", "del", "dir", "enter", "eq", "exit", "get", "getattribute", "hash",
        "init_subclass", "instancecheck", "ne", "reduce", "reduce_ex", "repr", "set", "set_name",
        "setattr", "str", "subclasscheck", "torch_function",
    )
)))  # fmt: skip


def shorten_namespace(space: MutableMapping[str, Any]) -> None:
    """Wrap the public functions and classes in a module's namespace for short tracebacks.

    A function or class that a module imports is public there if it is in its ``__all__``. Without
    one, imported functions are public in a package alone.
    """
    listed = space.get("__all__")
    if listed is None and "__name__" in space and "__path__" not in space:
        listed = [name for name, value in space.items() if isinstance(value, type)]
    for name, value in list(space.items()):
        if listed is not None and name not in listed and _is_imported(value, space):
            continue
        if isinstance(value, type):
            metaclass: type = type(value)
            for cls in (*value.__mro__, *metaclass.__mro__):
                shorten_class(cls)
        elif (name == "__getattr__" or name[0] != "_") and _needs_short(value):
            space[name] = short(value)
            for module_name in {value.__module__, _defining_module(value)} & sys.modules.keys():
                module = sys.modules[module_name]
                if _names_of(module).get(value.__name__) is value:
                    setattr(module, value.__name__, space[name])


def _is_imported(value: Any, space: MutableMapping[str, Any]) -> bool:
    """Whether a function or class was defined in another module than that of a namespace."""
    if isinstance(value, FunctionType):
        return _defining_module(value) != space.get("__name__")
    return getattr(value, "__module__", None) != space.get("__name__")


def shorten_published(space: MutableMapping[str, Any]) -> None:
    """Wrap the functions that a file defines for a public module, their ``__module__``.

    Modules that import them afterwards get the objects that the public module has.
    """
    file = space.get("__file__")
    for name, value in list(space.items()):
        if (
            name[0] != "_"
            and _needs_short(value)
            and getattr(value, "__wrapped__", value).__code__.co_filename == file
            and value.__module__ != space["__name__"]
        ):
            space[name] = short(value)


#: Reads a module's names as they are: ``vars`` of a namespace would look up all others first.
_names_of: Any = vars(ModuleType)["__dict__"].__get__


def _defining_module(function: FunctionType) -> str | None:
    """Module of a function's source, while ``__module__`` may be the one where it is public."""
    wrapped: FunctionType = getattr(function, "__wrapped__", function)
    return wrapped.__globals__["__name__"]  # type: ignore[no-any-return]


def shorten_class(cls: type) -> None:
    """Wrap the methods of a class of this package for short tracebacks.

    Not those of backends: kernels call them, inside functions that shorten their errors.
    """
    ours = cls.__module__.partition(".")[0] == _PACKAGE
    if not ours or _done.get(id(cls)) is cls or issubclass(cls, (BaseException, Enum)):
        return
    if hasattr(cls, "called_by_kernels"):
        return
    _done[id(cls)] = cls
    for name, value in list(vars(cls).items()):
        if name not in _EXCEPT and (name[0] != "_" or name.startswith("__")):
            wrap = type(value) if isinstance(value, (staticmethod, classmethod)) else _same
            function = getattr(value, "__func__", value)
            if _needs_short(function):
                setattr(cls, name, wrap(short(function)))


def _same(value: Any) -> Any:
    """Return ``value``, in the place of ``staticmethod`` or ``classmethod``."""
    return value


def _needs_short(value: Any) -> bool:
    """Whether this is a function of this package that does not shorten its tracebacks itself."""
    if not isinstance(value, FunctionType) or value.__code__ is _SHORT:
        return False
    if "_generate" in value.__globals__:  # a generated function of an operation
        return False
    code = value.__code__
    if value.__name__ == "__init__" and code.co_varnames == ("self",):
        return False  # no argument can be wrong
    if (
        value.__module__.startswith(f"{_PACKAGE}.state")
        and not code.co_varnames[: code.co_argcount]
    ):
        return False  # a look-up without arguments, which operations call
    ours = code.co_filename.startswith(_OURS[0]) or code.co_filename in _GENERATED
    return ours and "shorten" not in code.co_names


class ShortTracebacks:
    """Base of public classes whose methods have short tracebacks if they are of this package.

    ``forward`` is not wrapped: the module that calls it shortens its errors.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls, "__module__", "").partition(".")[0] == _PACKAGE:
            for name, value in list(vars(cls).items()):
                public = not name.startswith("_") and name != "forward"
                if isinstance(value, FunctionType) and (public or name == "__init__"):
                    setattr(cls, name, short(value))
