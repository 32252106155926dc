"""The dtypes below float32 that NumPy gets from the package ``ml_dtypes``.

Their arrays hold numbers; nothing is computed in them. ``dispatch.low_precision`` computes in
float32 and rounds once. NumPy numbers dtypes of other libraries from 256 up, so
``array.dtype.num > 255`` tells such an array.
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


def is_there() -> bool:
    """Whether ``bind`` will find the package; nothing is imported."""
    if PACKAGE in sys.modules:  # None there forbids the import
        return sys.modules[PACKAGE] is not None
    return PathFinder.find_spec(PACKAGE) is not None


def missing(dtype: dtypes.dtype, low: Collection[dtypes.dtype] = dtypes.LOW) -> str:
    """What to say of a dtype without arrays: what to install, if that gives them.

    Args:
        dtype: The dtype.
        low: Of which dtypes there could be arrays.
    """
    if dtype not in low or dtype.dtype is not None:
        return ""
    return f"; for arrays of it install the package {PACKAGE} ({how_to_install(PACKAGE)})"


def cast(array: Any, native: Any) -> Any:
    """An array in another dtype; float8_e4m3fn has no infinity and saturates, as in PyTorch."""
    if native.char == "4":
        array = array.astype("float32").clip(-448, 448)
    return array.astype(native)


def rounded(value: float, native: Any) -> float:
    """A Python number as a dtype holds it; as in PyTorch it becomes a float32 first."""
    with numpy.errstate(over="ignore"):
        return float(cast(numpy.asarray(value, "float32"), native))


def widened(array: Any, dtype: dtypes.dtype) -> Any:
    """The numbers of ``dtype`` whose bits an array's bytes are, as float32; without ``ml_dtypes``.

    Every bfloat16 and float8 is a float32: the first is the upper half of one.
    """
    if dtype is dtypes.bfloat16:
        wide: numpy.ndarray = (array.view("uint16").astype("uint32") << 16).view("float32")
        return wide
    numbers: numpy.ndarray = _float8_numbers(dtype)[array.view("uint8")]
    return numbers


def _float8_numbers(dtype: dtypes.dtype) -> Any:
    """All 256 numbers of a float8 by their bits: arXiv:2209.05433, arXiv:2206.02915."""
    limits = dtypes.finfo(dtype)
    ones = round(-math.log2(limits.eps))  # bits of the mantissa
    bits = numpy.arange(256)
    exponent, mantissa = (bits & 127) >> ones, bits & ((1 << ones) - 1)
    whole = numpy.where(exponent > 0, mantissa + (1 << ones), mantissa)
    scale = limits.smallest_subnormal * 2.0 ** (numpy.maximum(exponent, 1) - 1)
    numbers: numpy.ndarray = numpy.where(bits > 127, -1.0, 1.0) * whole * scale
    if dtype.name.endswith("uz"):  # no negative zero: its bits are NaN
        numbers[128] = math.nan
    elif dtype.name.endswith("fn"):
        numbers[[127, 255]] = math.nan
    else:
        numbers[[124, 252]] = math.inf, -math.inf
        numbers[[125, 126, 127, 253, 254, 255]] = math.nan
    numbers = numbers.astype("float32")
    return numbers
