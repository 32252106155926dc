"""``torch.fx`` for programs that import it: programs are not traced here.

``wrap`` marks functions for a tracer, so it changes nothing here. ``map_arg`` and ``map_aggregate``
map a function over nested arguments. Classes and functions that need a graph raise
NotImplementedError when they are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .compat.tables.unsupported import TABLES, fill

__all__ = ["map_arg", "wrap"]

_F = TypeVar("_F", bound=Callable[..., Any] | str)
_T = TypeVar("_T")
#: Types of the arguments of a graph's node, and of the function that it calls.
Argument: Any = Any
Target: Any = Any


def wrap(fn_or_name: _F) -> _F:
    """Return the argument unchanged.

    In PyTorch this marks a function that a tracer does not trace; there is no tracer here.

    Args:
        fn_or_name: A function, or the name of one.

    Raises:
        RuntimeError: If ``fn_or_name`` is neither.

    Example:
        >>> tt.fx.wrap(len) is len
        True
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    return fn_or_name


def map_aggregate(a: _T, fn: Callable[[Any], Any]) -> _T:
    """Apply a function to each leaf of nested tuples, lists, dicts and slices.

    Args:
        a: The arguments.
        fn: The function.

    Example:
        >>> from tinytorch.fx.node import map_aggregate
        >>> map_aggregate((1, [2, {"a": 3}]), lambda x: x + 1)
        (2, [3, {'a': 4}])
    """
    made: Any
    if isinstance(a, tuple):
        parts = [map_aggregate(each, fn) for each in a]
        made = type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    elif isinstance(a, list):
        made = [map_aggregate(each, fn) for each in a]
    elif isinstance(a, dict):
        made = {key: map_aggregate(each, fn) for key, each in a.items()}
    elif isinstance(a, slice):
        made = slice(*(map_aggregate(each, fn) for each in (a.start, a.stop, a.step)))
    else:
        made = fn(a)
    return made  # type: ignore[no-any-return]


def map_arg(a: _T, fn: Callable[[Any], Any]) -> _T:
    """Return a copy of nested arguments.

    In PyTorch ``fn`` is applied to each ``Node`` among them; there are no nodes here.

    Args:
        a: The arguments.
        fn: The function.

    Example:
        >>> tt.fx.map_arg((1, [2]), lambda node: node.name)
        (1, [2])
    """
    return map_aggregate(a, lambda each: each)


fill(globals(), TABLES["fx"])
