"""Functions of float32 by others, for processors where NumPy has only those in vectors.

So it is with AVX2 and without AVX-512, on x86.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy
from numpy.lib import introspect

_ONE, _HALF = numpy.float32(1), numpy.float32(0.5)
#: What cosh still halves before exp overflows.
_LARGEST = 88.0
_FORMULAS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {}


def _from(*ufuncs: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Notes which of NumPy's functions a formula takes its time from."""

    def note(formula: Callable[[Any], Any]) -> Callable[[Any], Any]:
        _FORMULAS[formula.__name__] = formula, ufuncs
        return formula

    return note


@functools.cache
def faster(name: str) -> Callable[[Any], Any] | None:
    """The formula below for the function, where it is faster than NumPy's own."""
    formula, ufuncs = _FORMULAS[name]
    return formula if all(map(_in_vectors, ufuncs)) and not _in_vectors(name) else None


def _in_vectors(name: str) -> bool:
    found = introspect.opt_func_info(func_name=f"^{name}$", signature="float32")
    target = found.get(name, {}).get("ff", {}).get("current", "baseline")
    return not target.startswith("baseline")


@_from("log")
def log1p(x: Any) -> Any:
    """``log(1 + x)``, and what rounding ``1 + x`` lost: right to 4 units in the last place."""
    whole = x + _ONE
    lost = whole - _ONE
    numpy.subtract(x, lost, out=lost)
    lost /= whole
    finite = numpy.isfinite(lost)
    if not finite.all():  # at -1, at infinity and at NaN, where the logarithm says it all
        lost[~finite] = 0
    numpy.log(whole, out=whole)
    whole += lost
    return numpy.copysign(whole, x, out=whole)


@_from("tanh", "exp")
def expm1(x: Any) -> Any:
    """``tanh(x / 2) (exp(x) + 1)``: right to 4 units in the last place."""
    half = x * _HALF
    numpy.tanh(half, out=half)
    out = numpy.exp(x)
    out += _ONE
    out *= half
    return out


@_from("exp")
def cosh(x: Any) -> Any:
    """``exp(x) / 2 + 1 / (2 exp(x))``: right to 3 units in the last place."""
    out = numpy.absolute(x)
    if not out.max(initial=0) <= _LARGEST:  # also if there is a NaN
        return numpy.cosh(x)
    numpy.exp(out, out=out)
    out *= _HALF
    out += numpy.float32(0.25) / out
    return out


@_from("tanh", "exp")
def sinh(x: Any) -> Any:
    """``tanh(x) cosh(x)``: right to 5 units in the last place."""
    out = cosh(x)
    out *= numpy.tanh(x)
    return out


@_from("sin", "cos")
def tan(x: Any) -> Any:
    """``sin(x) / cos(x)``: right to 3 units in the last place."""
    out = numpy.sin(x)
    out /= numpy.cos(x)
    return out


@_from("log")
def arctanh(x: Any) -> Any:
    """``log1p(2 |x| / (1 - |x|)) / 2`` with the sign of ``x``: right to 5 units in the last place.

    Reference:
        https://dlmf.nist.gov/4.37 (4.37.24)
    """
    size = numpy.absolute(x)
    rest = _ONE - size
    size += size
    size /= rest
    out = log1p(size)
    out *= _HALF
    return numpy.copysign(out, x, out=out)
