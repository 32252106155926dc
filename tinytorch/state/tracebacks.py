"""What of a traceback a user sees: their own lines, and at most two of this package below each.

Every public function shortens what leaves it, so that nothing is done where nothing is raised. What
it leaves is the function that was called and the place that raised, and every line that is not of
this package, such as those of a user's function that was called back.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterator
from types import FunctionType, TracebackType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

#: The environment variable that, set to ``full``, has tracebacks be left whole.
VARIABLE = "TINYTORCH_TRACEBACK"
#: Where functions come from that are written while the program runs.
WRITTEN = "<tinytorch call path "
_OURS = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, WRITTEN)
_PACKAGE = __name__.partition(".")[0]
_filtering = {"on": os.environ.get(VARIABLE) != "full"}


def set_traceback_filtering(mode: str) -> None:
    """Choose whether tracebacks leave out this package's inner lines, in the whole process.

    With ``"on"``, which is the default, an error shows the line that called a function of this
    package, that function, and the place that raised. With ``"off"`` it shows every line between,
    which is what whoever debugs the package wants to see. The environment variable
    ``TINYTORCH_TRACEBACK=full`` turns it off from the start.

    Args:
        mode: ``"on"`` or ``"off"``.

    Raises:
        ValueError: If ``mode`` is neither.

    Example:
        >>> import tinytorch as tt
        >>> tt.set_traceback_filtering("off")
        >>> tt.set_traceback_filtering("on")
    """
    if mode not in ("on", "off"):
        raise ValueError(f"set_traceback_filtering(): expected mode 'on' or 'off', got {mode!r}")
    _filtering["on"] = mode == "on"


def shorten(error: BaseException) -> None:
    """Leave out of an error's traceback what is between its first line and the last of ours.

    To be called where a public function caught it, whose own line is the first; ``raise`` follows.
    """
    first = error.__traceback__
    if first is None or first.tb_next is None or not _filtering["on"]:
        return
    *inner, last = _lines(first.tb_next)
    kept = [line for line in inner if not is_ours(line)]
    for line in (*kept, last):
        first.tb_next, first = line, line


def leave_out(error: BaseException) -> None:
    """Leave out the line that caught the error, too; ``raise`` follows."""
    first = error.__traceback__
    if first is not None and first.tb_next is not None and _filtering["on"]:
        error.__traceback__ = first.tb_next


def below(error: BaseException, files: Collection[str]) -> TracebackType | None:
    """What is left of an error's traceback without the first lines, which are of these files."""
    first = line = error.__traceback__
    while line is not None and line.tb_frame.f_code.co_filename in files:
        line = line.tb_next
    return line if _filtering["on"] else first


def _lines(line: TracebackType | None) -> Iterator[TracebackType]:
    while line is not None:
        yield line
        line = line.tb_next


def is_ours(line: TracebackType) -> bool:
    """Whether a line of a traceback is this package's."""
    return line.tb_frame.f_code.co_filename.startswith(_OURS)


def short(function: _F) -> _F:
    """``function`` with short tracebacks, for a public one that is no operation."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            shorten(error)
            raise

    call.__wrapped__ = getattr(function, "__wrapped__", function)
    return call  # type: ignore[return-value]


class ShortTracebacks:
    """Base of public classes: those of this package have short tracebacks out of each method.

    ``forward`` is called by the module, which shortens what leaves it.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if getattr(cls, "__module__", "").partition(".")[0] == _PACKAGE:
            for name, value in list(vars(cls).items()):
                public = not name.startswith("_") and name != "forward"
                if isinstance(value, FunctionType) and (public or name == "__init__"):
                    setattr(cls, name, short(value))
