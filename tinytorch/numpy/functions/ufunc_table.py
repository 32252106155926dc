"""NumPy's elementwise functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...ops.pointwise import (
    arithmetic,
    bitwise,
    comparison,
    complex_numbers,
    division,
    exponential,
    floating_point,
    rounding,
    selection,
    trigonometric,
)
from . import elementwise


class Row(NamedTuple):
    """What one of them is.

    Attributes:
        compute: What runs on operands in the dtypes of the computation.
        summary: What it gives.
        operands: Those of its example.
        shown: What the example prints.
    """

    compute: Callable[..., Any]
    summary: str
    operands: str
    shown: str


#: Of one operand.
OF_ONE: dict[str, Row] = {
    "abs": Row(
        arithmetic.abs, "The absolute value of each element.", "[-1.5, 2.0]", "array([1.5, 2. ])"
    ),
    "absolute": Row(
        arithmetic.abs, "The absolute value of each element.", "[-1.5, 2.0]", "array([1.5, 2. ])"
    ),
    "acos": Row(
        trigonometric.acos,
        "The angle whose cosine each element is.",
        "[0.0, 1.0]",
        "array([1.57079633, 0.        ])",
    ),
    "acosh": Row(
        trigonometric.acosh,
        "The inverse hyperbolic cosine of each element.",
        "[1.0, 2.0]",
        "array([0.       , 1.3169579])",
    ),
    "arccos": Row(
        trigonometric.acos,
        "The angle whose cosine each element is.",
        "[0.0, 1.0]",
        "array([1.57079633, 0.        ])",
    ),
    "arccosh": Row(
        trigonometric.acosh,
        "The inverse hyperbolic cosine of each element.",
        "[1.0, 2.0]",
        "array([0.       , 1.3169579])",
    ),
    "arcsin": Row(
        trigonometric.asin,
        "The angle whose sine each element is.",
        "[0.0, 1.0]",
        "array([0.        , 1.57079633])",
    ),
    "arcsinh": Row(
        trigonometric.asinh,
        "The inverse hyperbolic sine of each element.",
        "[0.0, 1.0]",
        "array([0.        , 0.88137359])",
    ),
    "arctan": Row(
        trigonometric.atan,
        "The angle whose tangent each element is.",
        "[0.0, 1.0]",
        "array([0.        , 0.78539816])",
    ),
    "arctanh": Row(
        trigonometric.atanh,
        "The inverse hyperbolic tangent of each element.",
        "[0.0, 0.5]",
        "array([0.        , 0.54930614])",
    ),
    "asin": Row(
        trigonometric.asin,
        "The angle whose sine each element is.",
        "[0.0, 1.0]",
        "array([0.        , 1.57079633])",
    ),
    "asinh": Row(
        trigonometric.asinh,
        "The inverse hyperbolic sine of each element.",
        "[0.0, 1.0]",
        "array([0.        , 0.88137359])",
    ),
    "atan": Row(
        trigonometric.atan,
        "The angle whose tangent each element is.",
        "[0.0, 1.0]",
        "array([0.        , 0.78539816])",
    ),
    "atanh": Row(
        trigonometric.atanh,
        "The inverse hyperbolic tangent of each element.",
        "[0.0, 0.5]",
        "array([0.        , 0.54930614])",
    ),
    "bitwise_count": Row(
        elementwise.bitwise_count,
        "How many bits of each element's absolute value are set.",
        "[0, 5]",
        "array([0, 2], dtype=uint8)",
    ),
    "bitwise_invert": Row(
        bitwise.bitwise_not,
        "Every bit of each integer or bool inverted.",
        "[0, 5]",
        "array([-1, -6])",
    ),
    "bitwise_not": Row(
        bitwise.bitwise_not,
        "Every bit of each integer or bool inverted.",
        "[0, 5]",
        "array([-1, -6])",
    ),
    "cbrt": Row(
        elementwise.cbrt, "The cube root of each element.", "[8.0, 27.0]", "array([2., 3.])"
    ),
    "ceil": Row(
        rounding.ceil,
        "The smallest whole number that is not below each element.",
        "[-1.5, 2.0]",
        "array([-1.,  2.])",
    ),
    "conj": Row(
        complex_numbers.conj_physical,
        "The complex conjugate of each element.",
        "[1 + 2j, 3.0]",
        "array([1.-2.j, 3.-0.j])",
    ),
    "conjugate": Row(
        complex_numbers.conj_physical,
        "The complex conjugate of each element.",
        "[1 + 2j, 3.0]",
        "array([1.-2.j, 3.-0.j])",
    ),
    "cos": Row(
        trigonometric.cos,
        "The cosine of each element, in radians.",
        "[0.0, 1.0]",
        "array([1.        , 0.54030231])",
    ),
    "cosh": Row(
        trigonometric.cosh,
        "The hyperbolic cosine of each element.",
        "[0.0, 1.0]",
        "array([1.        , 1.54308063])",
    ),
    "deg2rad": Row(
        trigonometric.deg2rad,
        "Degrees as radians.",
        "[0.0, 180.0]",
        "array([0.        , 3.14159265])",
    ),
    "degrees": Row(
        trigonometric.rad2deg, "Radians as degrees.", "[0.0, np.pi]", "array([  0., 180.])"
    ),
    "exp": Row(
        exponential.exp,
        "e to the power of each element.",
        "[0.0, 1.0]",
        "array([1.        , 2.71828183])",
    ),
    "exp2": Row(
        exponential.exp2, "2 to the power of each element.", "[0.0, 1.0]", "array([1., 2.])"
    ),
    "expm1": Row(
        exponential.expm1,
        "e to the power of each element, less 1, exact near 0.",
        "[0.0, 1.0]",
        "array([0.        , 1.71828183])",
    ),
    "fabs": Row(
        elementwise.fabs,
        "The absolute value of each real element, as a float.",
        "[-1.5, 2.0]",
        "array([1.5, 2. ])",
    ),
    "floor": Row(
        rounding.floor,
        "The largest whole number that is not above each element.",
        "[-1.5, 2.0]",
        "array([-2.,  2.])",
    ),
    "invert": Row(
        bitwise.bitwise_not,
        "Every bit of each integer or bool inverted.",
        "[0, 5]",
        "array([-1, -6])",
    ),
    "isfinite": Row(
        comparison.isfinite,
        "Whether each element is neither infinite nor NaN.",
        "[1.0, np.nan, np.inf]",
        "array([ True, False, False])",
    ),
    "isinf": Row(
        comparison.isinf,
        "Whether each element is infinite.",
        "[1.0, np.nan, np.inf]",
        "array([False, False,  True])",
    ),
    "isnan": Row(
        comparison.isnan,
        "Whether each element is NaN.",
        "[1.0, np.nan, np.inf]",
        "array([False,  True, False])",
    ),
    "log": Row(
        exponential.log,
        "The natural logarithm of each element.",
        "[1.0, 100.0]",
        "array([0.        , 4.60517019])",
    ),
    "log10": Row(
        exponential.log10,
        "The logarithm to base 10 of each element.",
        "[1.0, 100.0]",
        "array([0., 2.])",
    ),
    "log1p": Row(
        exponential.log1p,
        "The natural logarithm of 1 plus each element, exact near 0.",
        "[0.0, 1.0]",
        "array([0.        , 0.69314718])",
    ),
    "log2": Row(
        exponential.log2,
        "The logarithm to base 2 of each element.",
        "[1.0, 8.0]",
        "array([0., 3.])",
    ),
    "logical_not": Row(
        comparison.logical_not, "Whether each element is zero.", "[0, 3]", "array([ True, False])"
    ),
    "negative": Row(
        arithmetic.neg, "Each element with the other sign.", "[-1.5, 2.0]", "array([ 1.5, -2. ])"
    ),
    "positive": Row(
        arithmetic.positive, "Each element as it is.", "[-1.5, 2.0]", "array([-1.5,  2. ])"
    ),
    "rad2deg": Row(
        trigonometric.rad2deg, "Radians as degrees.", "[0.0, np.pi]", "array([  0., 180.])"
    ),
    "radians": Row(
        trigonometric.deg2rad,
        "Degrees as radians.",
        "[0.0, 180.0]",
        "array([0.        , 3.14159265])",
    ),
    "reciprocal": Row(
        arithmetic.reciprocal,
        "1 divided by each element; of integers, without the fraction.",
        "[4.0, 0.5]",
        "array([0.25, 2.  ])",
    ),
    "rint": Row(
        elementwise.rint,
        "The nearest whole number, as a float; halves to the even one.",
        "[-1.5, 2.0]",
        "array([-2.,  2.])",
    ),
    "sign": Row(
        complex_numbers.sgn,
        "-1, 0 or 1 by the sign of each element; complex ones on the unit circle.",
        "[-1.5, 2.0]",
        "array([-1.,  1.])",
    ),
    "signbit": Row(
        rounding.signbit,
        "Whether each element has a minus sign, also a zero.",
        "[-1.5, 2.0]",
        "array([ True, False])",
    ),
    "sin": Row(
        trigonometric.sin,
        "The sine of each element, in radians.",
        "[0.0, 1.0]",
        "array([0.        , 0.84147098])",
    ),
    "sinh": Row(
        trigonometric.sinh,
        "The hyperbolic sine of each element.",
        "[0.0, 1.0]",
        "array([0.        , 1.17520119])",
    ),
    "sqrt": Row(
        exponential.sqrt, "The square root of each element.", "[4.0, 9.0]", "array([2., 3.])"
    ),
    "square": Row(arithmetic.square, "Each element times itself.", "[0.0, 1.0]", "array([0., 1.])"),
    "tan": Row(
        trigonometric.tan,
        "The tangent of each element, in radians.",
        "[0.0, 1.0]",
        "array([0.        , 1.55740772])",
    ),
    "tanh": Row(
        trigonometric.tanh,
        "The hyperbolic tangent of each element.",
        "[0.0, 1.0]",
        "array([0.        , 0.76159416])",
    ),
    "trunc": Row(
        rounding.trunc,
        "Each element without its fractional part.",
        "[-1.5, 2.0]",
        "array([-1.,  2.])",
    ),
}

#: Of two operands.
OF_TWO: dict[str, Row] = {
    "add": Row(arithmetic.add, "The sum of two operands.", "[1, 2], [10, 2]", "array([11,  4])"),
    "arctan2": Row(
        trigonometric.atan2,
        "The angle of the point (x2, x1).",
        "[1.0, -1.0], 1.0",
        "array([ 0.78539816, -0.78539816])",
    ),
    "atan2": Row(
        trigonometric.atan2,
        "The angle of the point (x2, x1).",
        "[1.0, -1.0], 1.0",
        "array([ 0.78539816, -0.78539816])",
    ),
    "bitwise_and": Row(
        bitwise.bitwise_and, "The bits that are set in both operands.", "[6, 5], 3", "array([2, 1])"
    ),
    "bitwise_left_shift": Row(
        bitwise.bitwise_left_shift,
        "The first operand's bits moved up.",
        "[1, 3], 2",
        "array([ 4, 12])",
    ),
    "bitwise_or": Row(
        bitwise.bitwise_or, "The bits that are set in either operand.", "[6, 5], 3", "array([7, 7])"
    ),
    "bitwise_right_shift": Row(
        bitwise.bitwise_right_shift,
        "The first operand's bits moved down.",
        "[8, -8], 2",
        "array([ 2, -2])",
    ),
    "bitwise_xor": Row(
        bitwise.bitwise_xor,
        "The bits that are set in one operand alone.",
        "[6, 5], 3",
        "array([5, 6])",
    ),
    "copysign": Row(
        rounding.copysign,
        "The first's size with the second's sign.",
        "[1.0, 2.0], -0.0",
        "array([-1., -2.])",
    ),
    "divide": Row(
        division.div,
        "The quotient of two operands; of integers in float64.",
        "[6, 5], 2",
        "array([3. , 2.5])",
    ),
    "equal": Row(
        comparison.eq, "Whether elements are equal.", "[1, 2], [10, 2]", "array([False,  True])"
    ),
    "float_power": Row(
        floating_point.float_power,
        "The first operand to the power of the second, at least in float64.",
        "[2, 3], 2",
        "array([4., 9.])",
    ),
    "fmax": Row(
        selection.fmax,
        "The larger element; a number rather than NaN.",
        "[1.0, np.nan], 2.0",
        "array([2., 2.])",
    ),
    "fmin": Row(
        selection.fmin,
        "The smaller element; a number rather than NaN.",
        "[1.0, np.nan], 2.0",
        "array([1., 2.])",
    ),
    "fmod": Row(
        rounding.fmod,
        "What remains of a division, with the dividend's sign.",
        "[-7, 7], 3",
        "array([-1,  1])",
    ),
    "gcd": Row(bitwise.gcd, "The greatest common divisor.", "[12, 20], 8", "array([4, 4])"),
    "greater": Row(
        comparison.gt,
        "Whether the first element is larger.",
        "[1, 2], [10, 2]",
        "array([False, False])",
    ),
    "greater_equal": Row(
        comparison.ge,
        "Whether the first element is not smaller.",
        "[1, 2], [10, 2]",
        "array([False,  True])",
    ),
    "hypot": Row(
        trigonometric.hypot,
        "The length of the hypotenuse over two sides.",
        "[3.0, 5.0], [4.0, 12.0]",
        "array([ 5., 13.])",
    ),
    "lcm": Row(bitwise.lcm, "The least common multiple.", "[12, 20], 8", "array([24, 40])"),
    "left_shift": Row(
        bitwise.bitwise_left_shift,
        "The first operand's bits moved up.",
        "[1, 3], 2",
        "array([ 4, 12])",
    ),
    "less": Row(
        comparison.lt,
        "Whether the first element is smaller.",
        "[1, 2], [10, 2]",
        "array([ True, False])",
    ),
    "less_equal": Row(
        comparison.le,
        "Whether the first element is not larger.",
        "[1, 2], [10, 2]",
        "array([ True,  True])",
    ),
    "logaddexp": Row(
        exponential.logaddexp,
        "The logarithm of the sum of two exponentials.",
        "[0.0, 1.0], 0.0",
        "array([0.69314718, 1.31326169])",
    ),
    "logaddexp2": Row(
        exponential.logaddexp2,
        "The same to base 2.",
        "[0.0, 1.0], 0.0",
        "array([1.       , 1.5849625])",
    ),
    "logical_and": Row(
        comparison.logical_and,
        "Whether both elements are not zero.",
        "[True, False], [True, True]",
        "array([ True, False])",
    ),
    "logical_or": Row(
        comparison.logical_or,
        "Whether an element is not zero.",
        "[True, False], [True, True]",
        "array([ True,  True])",
    ),
    "logical_xor": Row(
        comparison.logical_xor,
        "Whether one element alone is not zero.",
        "[True, False], [True, True]",
        "array([False,  True])",
    ),
    "maximum": Row(
        selection.maximum,
        "The larger element; NaN if one is.",
        "[1.0, np.nan], 2.0",
        "array([ 2., nan])",
    ),
    "minimum": Row(
        selection.minimum,
        "The smaller element; NaN if one is.",
        "[1.0, np.nan], 2.0",
        "array([ 1., nan])",
    ),
    "mod": Row(
        division.remainder,
        "What remains of a division, with the divisor's sign.",
        "[-7, 7], 3",
        "array([2, 1])",
    ),
    "multiply": Row(
        arithmetic.mul, "The product of two operands.", "[1, 2], [10, 2]", "array([10,  4])"
    ),
    "nextafter": Row(
        rounding.nextafter,
        "The next number that can be represented towards the second operand.",
        "[1.0], 2.0",
        "array([1.])",
    ),
    "not_equal": Row(
        comparison.ne, "Whether elements differ.", "[1, 2], [10, 2]", "array([ True, False])"
    ),
    "pow": Row(
        exponential.pow,
        "The first operand to the power of the second.",
        "[2, 3], 2",
        "array([4, 9])",
    ),
    "power": Row(
        exponential.pow,
        "The first operand to the power of the second.",
        "[2, 3], 2",
        "array([4, 9])",
    ),
    "remainder": Row(
        division.remainder,
        "What remains of a division, with the divisor's sign.",
        "[-7, 7], 3",
        "array([2, 1])",
    ),
    "right_shift": Row(
        bitwise.bitwise_right_shift,
        "The first operand's bits moved down.",
        "[8, -8], 2",
        "array([ 2, -2])",
    ),
    "subtract": Row(
        arithmetic.sub, "The difference of two operands.", "[1, 2], [10, 2]", "array([-9,  0])"
    ),
    "true_divide": Row(
        division.div,
        "The quotient of two operands; of integers in float64.",
        "[6, 5], 2",
        "array([3. , 2.5])",
    ),
}
