"""Reduced-precision dtypes (bfloat16, float8), which the package ``ml_dtypes`` adds to NumPy.

Arrays of these dtypes store values. ``dispatch.reduced_precision`` computes in float32 and rounds
once. NumPy numbers the dtypes of other packages from 256 up, so ``array.dtype.num > 255``
identifies such an array.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from importlib.machinery import PathFinder
from typing import Any

import numpy

from .. import dtypes
from .errors import how_to_install

#: Package that adds the dtypes to NumPy.
PACKAGE = "ml_dtypes"


def bind() -> bool:
    """Set NumPy's dtypes of ``dtypes.LOW``; return False if ``ml_dtypes`` is not installed."""
    if dtypes.bfloat16.dtype is None:
        try:
            import ml_dtypes
        except ImportError:
            return False
        for dtype in dtypes.LOW:
            dtype.dtype = numpy.dtype(getattr(ml_dtypes, dtype.name))
    return True


def is_there() -> bool:
    """Whether the package is installed. Imports nothing."""
    if PACKAGE in sys.modules:  # an entry None forbids the import
        return sys.modules[PACKAGE] is not None
    return PathFinder.find_spec(PACKAGE) is not None


def missing(dtype: dtypes.dtype, low: Collection[dtypes.dtype] = dtypes.LOW) -> str:
    """Part of the error for an unsupported dtype: the package to install, if that would help.

    Args:
        dtype: The dtype.
        low: Reduced-precision dtypes that the backend supports with the package installed.
    """
    if dtype not in low or dtype.dtype is not None:
        return ""
    return f"; for arrays of it install the package {PACKAGE} ({how_to_install(PACKAGE)})"


def cast(array: Any, native: Any) -> Any:
    """Cast an array. float8_e4m3fn, which has no infinity, saturates as in PyTorch."""
    if native.char == "4":
        array = array.astype("float32").clip(-448, 448)
    return array.astype(native)


def round_scalar(value: float, native: Any) -> float:
    """Round a Python scalar to a dtype. As in PyTorch, it is rounded to float32 first."""
    with numpy.errstate(over="ignore"):
        return float(cast(numpy.asarray(value, "float32"), native))


def widen(array: Any, dtype: dtypes.dtype) -> Any:
    """Convert the bits of ``dtype`` values to float32 without ``ml_dtypes``.

    The conversion is exact. A bfloat16 is the upper half of a float32.
    """
    if dtype is dtypes.bfloat16:
        wide: numpy.ndarray = (array.view("uint16").astype("uint32") << 16).view("float32")
        return wide
    numbers: numpy.ndarray = _float8_numbers(dtype)[array.view("uint8")]
    return numbers


def _float8_numbers(dtype: dtypes.dtype) -> Any:
    """All 256 values of a float8 dtype, indexed by bits (arXiv:2209.05433, arXiv:2206.02915)."""
    limits = dtypes.finfo(dtype)
    ones = round(-math.log2(limits.eps))  # bits of the mantissa
    bits = numpy.arange(256)
    exponent, mantissa = (bits & 127) >> ones, bits & ((1 << ones) - 1)
    whole = numpy.where(exponent > 0, mantissa + (1 << ones), mantissa)
    scale = limits.smallest_subnormal * 2.0 ** (numpy.maximum(exponent, 1) - 1)
    numbers: numpy.ndarray = numpy.where(bits > 127, -1.0, 1.0) * whole * scale
    if dtype.name.endswith("uz"):  # the bits of negative zero stand for NaN
        numbers[128] = math.nan
    elif dtype.name.endswith("fn"):
        numbers[[127, 255]] = math.nan
    else:
        numbers[[124, 252]] = math.inf, -math.inf
        numbers[[125, 126, 127, 253, 254, 255]] = math.nan
    numbers = numbers.astype("float32")
    return numbers
