"""Names of PyTorch's features that tinytorch does not have: they can be imported, and raise.

Programs import more names than they use, and test ``isinstance(model, FullyShardedDataParallel)``.
So the name exists, no object is an instance of it, and making an instance raises.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from ..state.tracebacks import short


def absent(
    name: str, why: str, error: type[Exception] = NotImplementedError, when: str = ""
) -> Callable[..., NoReturn]:
    """Make a function of that name that raises, with the reason why it is not available.

    Args:
        name: PyTorch's name, without ``torch.``: ``"onnx.export"``.
        why: The reason, as the end of a sentence that begins with the name; for another error than
            NotImplementedError, the whole text.
        error: The class of the error.
        when: Text about an error that PyTorch raises, too: ``"as in PyTorch without one"``.

    Example:
        >>> from tinytorch.facade.unsupported import absent
        >>> absent("onnx.export", "no graphs are recorded here")()
        Traceback (most recent call last):
            ...
        NotImplementedError: onnx.export: no graphs are recorded here
    """
    text = f"{name}: {why}" if error is NotImplementedError else why

    @short
    def fail(*args: Any, **kwargs: Any) -> NoReturn:
        raise error(text)

    module, _, fail.__name__ = name.rpartition(".")
    fail.__module__, fail.__qualname__ = f"tinytorch.{module}", fail.__name__
    raised = f".\n\nRaises:\n    {error.__name__}: Always, {when}." if when else f": {why}."
    fail.__doc__ = f"Not available{raised}{_example(name, f'{error.__name__}: {text}')}"
    return fail


def _example(name: str, error: str) -> str:
    """Return the end of a docstring: an example of the error of a name that is not available."""
    module, _, own = name.rpartition(".")
    lines = (
        "", "", "Example:", f"    >>> from tinytorch.{module} import {own}", f"    >>> {own}()",
        "    Traceback (most recent call last):", "        ...", f"    {error}", "",
    )  # fmt: skip
    return "\n".join(lines)


class Absent:
    """Class without instances: subclasses can be defined, but making an instance raises.

    Args:
        why: The reason, as the end of a sentence.

    Example:
        >>> from tinytorch.facade.unsupported import Absent
        >>> class Graph(Absent, why="programs are not traced"):
        ...     pass
        >>> isinstance(3, Graph)
        False
        >>> Graph()
        Traceback (most recent call last):
            ...
        NotImplementedError: ...Graph: programs are not traced
    """

    _why: ClassVar[str] = "this class of PyTorch's is not here"

    def __init_subclass__(cls, why: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if why is not None:
            module = getattr(cls, "__module__", "").removeprefix("tinytorch.")
            cls._why = f"{module}.{cls.__qualname__}: {why}"
            cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") + _example(
                f"{module}.{cls.__qualname__}", f"NotImplementedError: {cls._why}"
            )

    @short
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls._why)
