"""What PyTorch has and tinytorch has not: names that may be imported and refuse to be used.

Programs import more than they use, and ask ``isinstance(model, FullyShardedDataParallel)``:
the name has to be there, nothing is an instance of it, and whoever makes one is told so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn


def absent(name: str, why: str) -> Callable[..., NoReturn]:
    """A function of that name that says why it cannot be called.

    Args:
        name: PyTorch's name, without ``torch.``: ``"onnx.export"``.
        why: What is missing here, as the end of a sentence.

    Example:
        >>> from tinytorch.compat.unsupported import absent
        >>> absent("onnx.export", "no graphs are recorded here")()
        Traceback (most recent call last):
            ...
        NotImplementedError: onnx.export: no graphs are recorded here
    """

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name}: {why}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Not available: {why}.{_example(name, why)}"
    return refuse


def _example(name: str, why: str) -> str:
    """The end of a docstring: what happens to who calls a name that is absent."""
    module, _, own = name.rpartition(".")
    lines = (
        "", "", "Example:", f"    >>> from tinytorch.{module} import {own}", f"    >>> {own}()",
        "    Traceback (most recent call last):", "        ...",
        f"    NotImplementedError: {name}: {why}", "",
    )  # fmt: skip
    return "\n".join(lines)


class Absent:
    """A class that nothing is an instance of; deriving from it is fine, making one raises.

    Args:
        why: What is missing here, as the end of a sentence.

    Example:
        >>> from tinytorch.compat.unsupported import Absent
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
            module = cls.__module__.removeprefix("tinytorch.")
            cls._why = f"{module}.{cls.__qualname__}: {why}"
            cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") + _example(
                f"{module}.{cls.__qualname__}", why
            )

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(cls._why)
