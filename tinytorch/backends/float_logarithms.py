"""``log1p`` of float32 by ``log``, for processors where NumPy has only that one in vectors."""

from __future__ import annotations

import functools
from typing import Any

import numpy
from numpy.lib import introspect


@functools.cache
def is_faster() -> bool:
    """Whether ``log1p`` below is faster than NumPy's: so it is with AVX2 and without AVX-512."""
    found = introspect.opt_func_info(func_name="^log(1p)?$", signature="float32")

    def in_vectors(name: str) -> bool:
        target = found.get(name, {}).get("ff", {}).get("current", "baseline")
        return not target.startswith("baseline")

    return in_vectors("log") and not in_vectors("log1p")


def log1p(x: Any) -> Any:
    """``log(1 + x)``, and what rounding ``1 + x`` lost: right to 3.5 units in the last place."""
    whole = x + numpy.float32(1)
    lost = whole - numpy.float32(1)
    numpy.subtract(x, lost, out=lost)
    lost /= whole
    finite = numpy.isfinite(lost)
    if not finite.all():  # at -1, at infinity and at NaN, where the logarithm says it all
        lost[~finite] = 0
    numpy.log(whole, out=whole)
    whole += lost
    return numpy.copysign(whole, x, out=whole)
