"""Symbolic numbers, which do not exist here, but for which programs test.

A compiler that traces a program has ``SymInt`` and related classes in the place of unknown sizes.
Here sizes are ints, so these classes have no instances, and the functions of symbolic numbers
are those of Python's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min",
    "sym_not", "sym_sqrt", "sym_sum",
]  # fmt: skip


class _SymbolicValue:
    """Base of the classes of symbolic numbers, which have no instances."""

    def __init__(self, node: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__}: there are no symbolic numbers: each shape is recorded"
        )


class SymInt(_SymbolicValue):
    """Size that a compiler does not know; there are no instances.

    Example:
        >>> isinstance(tt.ones(3).shape[0], tt.SymInt)
        False
    """


class SymFloat(_SymbolicValue):
    """Float that a compiler does not know; there are no instances.

    Example:
        >>> isinstance(0.5, tt.SymFloat)
        False
    """


class SymBool(_SymbolicValue):
    """Truth value that a compiler does not know; there are no instances.

    Example:
        >>> isinstance(True, tt.SymBool)
        False
    """


def sym_int(a: float) -> int:
    """Convert ``a`` to an int, rounded toward zero.

    Example:
        >>> tt.sym_int(-3.7)
        -3
    """
    return int(a)


def sym_float(a: float) -> float:
    """Convert ``a`` to a float.

    Example:
        >>> tt.sym_float(3)
        3.0
    """
    return float(a)


def sym_not(a: bool) -> bool:
    """Return ``not a``.

    Example:
        >>> tt.sym_not(True)
        False
    """
    return not a


def sym_max(a: float, b: float) -> float:
    """Return the larger number; a float if either is one.

    Example:
        >>> tt.sym_max(2, 1.0)
        2.0
    """
    return _common_type(max(a, b), a, b)


def sym_min(a: float, b: float) -> float:
    """Return the smaller number; a float if either is one.

    Example:
        >>> tt.sym_min(2, 1)
        1
    """
    return _common_type(min(a, b), a, b)


def _common_type(found: float, a: float, b: float) -> float:
    """Return ``found`` as a float if one of the operands ``a`` and ``b`` is a float."""
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_sqrt(a: float) -> float:
    """Square root.

    Example:
        >>> tt.sym_sqrt(4)
        2.0
    """
    return math.sqrt(a)


def sym_sum(args: Sequence[float]) -> float:
    """Sum of numbers.

    Example:
        >>> tt.sym_sum([1, 2, 3])
        6
    """
    return sum(args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """Return ``t`` if ``b`` is True, else ``f``.

    Example:
        >>> tt.sym_ite(True, 1, 2)
        1
    """
    return t if b else f


for _name in __all__:
    globals()[_name].__module__ = "tinytorch"
