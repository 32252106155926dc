"""Functions of complex numbers where a part is zero or infinite, and of NaN.

Reference: ISO/IEC 9899, annex G.6, which the array API standard follows:
https://data-apis.org/array-api/latest/API_specification/elementwise_functions.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops.pointwise import complex_numbers


def _expm1(function: Any, z: Any) -> Any:
    """By real functions of the parts, which know their edges."""
    x, y = z.real, z.imag
    real = x.expm1() * y.cos() - 2 * (y / 2).sin() ** 2
    imag = x.exp() * y.sin()
    level, high, low = y == 0, x == float("inf"), x == -float("inf")
    wild = high & ~y.isfinite()
    real = (
        real.where(~level, x.expm1()).masked_fill(wild, float("inf")).masked_fill(low, -1) + 0
    )  # no zero with a sign
    wilder = low & ~y.isfinite()
    return complex_numbers.complex(real, imag.where(~level, y).masked_fill(wilder, 0))


def _tanh(function: Any, z: Any) -> Any:
    """1 with the sign of the real part where that is infinite, and 0 with that of the other."""
    x, y = z.real, z.imag
    zero = y.new_zeros(()).copysign(y.masked_fill(~y.isfinite(), 1))
    edge = complex_numbers.complex(x.sign(), zero)
    return function(z).where(~x.isinf(), edge)


def _sign(function: Any, z: Any) -> Any:
    return function(z).masked_fill(z == 0, 0)


def _real_sign(function: Any, x: Any) -> Any:
    return function(x).where(x == x, x)


#: What is computed for real operands, by name: of PyTorch's function and the operand.
OF_FLOATS: dict[str, Callable[..., Any]] = {"sign": _real_sign}
#: What is computed for complex operands, by name: of PyTorch's function and the operand.
OF_COMPLEX: dict[str, Callable[..., Any]] = {"expm1": _expm1, "tanh": _tanh, "sign": _sign}
