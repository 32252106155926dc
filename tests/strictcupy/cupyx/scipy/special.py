"""``cupyx.scipy.special``: SciPy's functions with CuPy's names, dtypes and edges.

Where SciPy is not installed, the few of them that Python's own ``math`` has.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from types import SimpleNamespace
from typing import Any

import numpy

from ..._functions import resolver


def functions() -> Any:
    """Return what computes."""
    if importlib.util.find_spec("scipy") is not None:
        return importlib.import_module("scipy.special")
    scalar = {"erf": math.erf, "erfc": math.erfc, "gamma": math.gamma, "gammaln": math.lgamma}
    return SimpleNamespace(
        **{name: numpy.vectorize(function, otypes="d") for name, function in scalar.items()}
    )


def _bessel(order: int, scaled: bool) -> Any:
    """CUDA's Bessel functions I are infinite at infinity, and CuPy scales them only then."""
    plain = getattr(_FUNCTIONS, f"i{order}")

    def function(x: Any) -> Any:
        values = plain(x)
        values = numpy.where(numpy.isinf(x), abs(x) if not order else x, values)
        return (numpy.exp(-abs(x)) * values if scaled else values).astype(values.dtype)

    return function


_FUNCTIONS = functions()
_TWIN = SimpleNamespace(**{name: getattr(_FUNCTIONS, name) for name in dir(_FUNCTIONS)})
if hasattr(_FUNCTIONS, "i0"):
    _TWIN.i0, _TWIN.i0e = _bessel(0, False), _bessel(0, True)
    _TWIN.i1, _TWIN.i1e = _bessel(1, False), _bessel(1, True)

__getattr__ = resolver("cupyx.scipy.special", _TWIN, {"annotations": None}, globals())
