"""The dtypes below float32 that NumPy gets from the package ``ml_dtypes``.

Their arrays hold numbers; nothing is computed in them. ``dispatch.low_precision`` computes in
float32 and rounds once. NumPy numbers dtypes of other libraries from 256 up, so
``array.dtype.num > 255`` tells such an array.
"""

from __future__ import annotations

import numpy

from .. import dtypes

#: What has to be installed for them.
PACKAGE = "ml_dtypes"


def bind() -> bool:
    """Give the dtypes of ``dtypes.LOW`` their twins; False where ``ml_dtypes`` is not installed."""
    if dtypes.bfloat16.dtype is None:
        try:
            import ml_dtypes
        except ImportError:
            return False
        for dtype in dtypes.LOW:
            dtype.dtype = numpy.dtype(getattr(ml_dtypes, dtype.name))
    return True


def missing(dtype: dtypes.dtype) -> str:
    """What to say of a dtype without arrays: what to install, if that gives them."""
    if dtype not in dtypes.LOW or dtype.dtype is not None:
        return ""
    return f"; for arrays of it install the package {PACKAGE} (pip install {PACKAGE})"
