"""NumPy's elementwise functions: those that NumPy alone has, and a table of all ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, op
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
from ...ops.pointwise.complex_numbers import complex as complex_
from ...ops.pointwise.division import floor_divide, remainder
from .conversion import array_of, backend_of, float_array
from .registration import register_shared


@op(promote="float")
def cbrt(xp: Backend, input: Array) -> Array:
    """The cube root of each element, real also of negative ones.

    Args:
        input: Real tensor of any shape; integers are cast to the default dtype.

    Example:
        >>> tt.cbrt(tt.tensor([-1.0, 8.0]))
        tensor([-1.,  2.])
    """
    return xp.cbrt(input)


cbrt.vjp(input=lambda xp, g, out: g / (3 * out * out))


@register_shared
def fabs(x: Any) -> Tensor:
    """The absolute value of each real element, as a floating-point number.

    Args:
        x: Real tensor of any shape; integers are cast to the default dtype.

    Raises:
        TypeError: For complex tensors.

    Example:
        >>> tt.fabs(tt.tensor([-1, 2]))
        tensor([1., 2.])
    """
    value: Any = float_array(x)
    if value.is_complex():
        raise TypeError("fabs(): expected a real tensor, got complex numbers; see abs()")
    return value.abs()  # type: ignore[no-any-return]


@register_shared
def rint(x: Any) -> Tensor:
    """Each element rounded to the nearest integer, halves to the even one; a float stays one.

    Args:
        x: Tensor of any shape; integers are cast to the default dtype.

    Example:
        >>> tt.rint(tt.tensor([0.5, 1.5, 2.2]))
        tensor([0., 2., 2.])
    """
    value: Any = float_array(x)
    if value.is_complex():
        return complex_(value.real.round(), value.imag.round())
    return value.round()  # type: ignore[no-any-return]


@register_shared
def modf(x: Any) -> tuple[Tensor, Tensor]:
    """The fractional and the integral part of each element, both with its sign.

    Args:
        x: Real tensor of any shape; integers are cast to the default dtype.

    Returns:
        Two tensors of ``x``'s shape.

    Example:
        >>> tt.modf(tt.tensor([-1.5, 2.25]))
        (tensor([-0.5000,  0.2500]), tensor([-1.,  2.]))
    """
    value: Any = float_array(x)
    whole = value.trunc()
    part = (value - whole).masked_fill(value.isinf(), 0)
    return part.copysign(value), whole


@register_shared
def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """Quotients rounded down, and what remains: ``(x1 // x2, x1 % x2)``.

    Args:
        x1: Dividends: a tensor or a number.
        x2: Divisors: a tensor or a number.

    Returns:
        Two tensors of the common shape.

    Example:
        >>> tt.divmod(tt.tensor([7, -7]), 3)
        (tensor([ 2, -3]), tensor([1, 2]))
    """
    plain = [isinstance(x, (bool, int, float, complex)) for x in (x1, x2)]
    if all(plain):
        x1, plain[0] = array_of(x1), False
    backend = backend_of(x1, x2)
    return divided(
        *(x if p else array_of(x, backend) for x, p in zip((x1, x2), plain, strict=True))
    )


def or_zero(function: Any, a: Any, b: Any) -> Any:
    """Divide; integers by zero give 0."""
    if not isinstance(b, Tensor):
        return function(a, b) if b else function(a, 1) * 0
    divisor: Any = b
    none = divisor == 0
    return function(a, divisor.masked_fill(none, 1)).masked_fill(none, 0)


def divided(a: Any, b: Any) -> tuple[Any, Any]:
    quotient, rest = floor_divide, remainder
    if (a if isinstance(a, Tensor) else b)._data.dtype.kind in "iu":
        return or_zero(quotient, a, b), or_zero(rest, a, b)
    # Steps have no slope: PyTorch refuses to differentiate them, and the remainder has one.
    steps = (v.detach() if isinstance(v, Tensor) else v for v in (a, b))
    return quotient(*steps), rest(a, b)


@register_shared
def bitwise_count(x: Any) -> Tensor:
    """How many bits of each element's absolute value are set.

    Args:
        x: Integer or bool tensor of any shape.

    Returns:
        uint8 tensor of ``x``'s shape.

    Raises:
        TypeError: For floating-point and complex tensors.

    Example:
        >>> tt.bitwise_count(tt.tensor([7, -8, 0]))
        tensor([3, 1, 0], dtype=tinytorch.uint8)
    """
    return _bits(array_of(x))


@op
def _bits(xp: Backend, input: Array) -> Array:
    if input.dtype.kind not in "biu":
        raise TypeError(f"bitwise_count(): expected integers, got {input.dtype.name}")
    size = input.dtype.itemsize
    # Two's complement: the smallest integer's absolute value is itself, without its sign.
    rest = xp.astype(xp.abs(input), f"uint{8 * size}")
    count = xp.zeros(input.shape, "uint8")
    for bit in range(8 * size):
        count += xp.astype(rest >> rest.dtype.type(bit) & rest.dtype.type(1), "uint8")
    return count


@register_shared
def iscomplex(x: Any) -> Tensor:
    """Whether each element has an imaginary part that is not zero.

    Args:
        x: Tensor of any shape.

    Returns:
        bool tensor of ``x``'s shape.

    Example:
        >>> tt.iscomplex(tt.tensor([1 + 1j, 2 + 0j]))
        tensor([ True, False])
    """
    value: Any = array_of(x)
    return ~value.isreal()  # type: ignore[no-any-return]


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


#: Computations for real operands by name, as functions of PyTorch's function and the operand.
OF_FLOATS: dict[str, Callable[..., Any]] = {"sign": _real_sign}
#: Computations for complex operands by name, as functions of PyTorch's function and the operand.
OF_COMPLEX: dict[str, Callable[..., Any]] = {"expm1": _expm1, "tanh": _tanh, "sign": _sign}


class Row(NamedTuple):
    """Definition of a ufunc.

    Attributes:
        compute: Function of operands in the dtypes of the computation.
        summary: First line of the docstring.
        operands: Operands of the example in the docstring.
        shown: Output of the example.
    """

    compute: Callable[..., Any]
    summary: str
    operands: str
    shown: str


#: Ufuncs of one operand.
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
        bitwise_count,
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
    "cbrt": Row(cbrt, "The cube root of each element.", "[8.0, 27.0]", "array([2., 3.])"),
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
        fabs,
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
        rint,
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

#: Ufuncs of two operands.
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
