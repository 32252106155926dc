"""Assertions of ``numpy.testing`` on arrays of any backend, whether or not they require grad."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .functions.conversion import host
from .namespace import to_detached, wrap_numpy


@functools.cache
def __getattr__(name: str) -> Any:
    value = getattr(host().testing, name)
    if not inspect.isfunction(value) or name.startswith("_"):
        return value
    return wrap_numpy(value, _convert)


def _convert(name: str, value: Any) -> Any:
    """Replace arrays in an argument of the assertion ``name`` by NumPy's own.

    An argument of an assertion in ``_CALLING`` is passed on as it is, to the function under test.
    """
    return value if name in _CALLING else to_detached(name, value)


#: Assertions that call a function under test with their other arguments.
_CALLING = (
    "assert_no_gc_cycles", "assert_no_warnings", "assert_raises", "assert_raises_regex",
    "assert_warns",
)  # fmt: skip


def __dir__() -> list[str]:
    return [name for name in dir(host().testing) if name != "test"]  # It runs NumPy's tests.
