"""``record``, which writes the error of a program to a file that the launcher names."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from ....compat.tables.distributed import TABLES
from ....compat.tables.distributed import fill

__all__ = ["record"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def record(fn: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function, so that its errors are written to ``TORCHELASTIC_ERROR_FILE``.

    The error is raised unchanged. Nothing is written if the variable is not set.

    Args:
        fn: The main function of a program.

    Example:
        >>> from tinytorch.distributed.elastic.multiprocessing.errors import record
        >>> @record
        ... def main():
        ...     return 3
        >>> main()
        3
    """

    @functools.wraps(fn)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            path = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if path:
                Path(path).write_text(json.dumps(_describe(error)))
            raise

    return call


def _describe(error: Exception) -> dict[str, object]:
    """Content of the JSON file that reports the error being handled, in ``torchrun``'s format."""
    extra = {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
    return {"message": {"message": f"{type(error).__name__}: {error}", "extraInfo": extra}}


fill(globals(), TABLES["distributed.elastic.multiprocessing.errors"])
