"""``cupyx.scipy.special``: SciPy's functions with CuPy's names and dtypes.

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


def _functions() -> Any:
    if importlib.util.find_spec("scipy") is not None:
        return importlib.import_module("scipy.special")
    scalar = {"erf": math.erf, "erfc": math.erfc, "gamma": math.gamma, "gammaln": math.lgamma}
    return SimpleNamespace(
        **{name: numpy.vectorize(function, otypes="d") for name, function in scalar.items()}
    )


__getattr__ = resolver("cupyx.scipy.special", _functions(), {"annotations": None}, globals())
