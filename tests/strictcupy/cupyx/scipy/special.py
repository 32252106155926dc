"""``cupyx.scipy.special``: SciPy's functions (a test dependency) with CuPy's names and dtypes."""

from __future__ import annotations

import scipy.special

from ..._functions import resolver

__getattr__ = resolver("cupyx.scipy.special", scipy.special, {"annotations": None}, globals())
