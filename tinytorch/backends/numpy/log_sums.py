"""``logaddexp`` from NumPy's vectorised ``exp`` and ``log1p``: its own goes number by number."""

from __future__ import annotations

from typing import Any

import numpy

#: Below this many elements the calls cost more than they save.
_FEW = 1024


def is_faster(a: Any, b: Any) -> bool:
    """Whether the function below is the one to be used: arrays alone, of one kind of floats."""
    for x in (a, b):
        if x.__class__ is not numpy.ndarray or x.dtype.char not in "fd" or x.size < _FEW:
            return False
    return bool(a.dtype == b.dtype)


def logaddexp(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))``."""
    larger = numpy.maximum(a, b)
    out = numpy.subtract(a, b)
    numpy.abs(out, out=out)
    numpy.negative(out, out=out)
    numpy.exp(out, out=out)
    numpy.log1p(out, out=out)
    out += larger
    infinite = numpy.isinf(larger)
    if infinite.any():  # infinities of one sign have no difference
        numpy.copyto(out, larger, where=infinite)
    return out
