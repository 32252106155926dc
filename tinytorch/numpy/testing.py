"""What NumPy's programs test arrays with: ``numpy.testing``, on arrays of any backend.

Arrays are compared by their numbers, whether or not they are in a graph.
"""

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
    return wrap_numpy(value, _compared)


def _compared(name: str, value: Any) -> Any:
    """An argument with NumPy's own arrays for ours; what is given to a function stays."""
    return value if name in _CALLING else to_detached(name, value)


#: They call a function with the rest of what they are given.
_CALLING = (
    "assert_no_gc_cycles", "assert_no_warnings", "assert_raises", "assert_raises_regex",
    "assert_warns",
)  # fmt: skip


def __dir__() -> list[str]:
    return [name for name in dir(host().testing) if name != "test"]  # which runs NumPy's own
