"""NumPy's elementwise functions: those that PyTorch lacks, and a table of all ufuncs."""

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
    """Cube root of each element; of a negative one it is real.

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
    """Absolute value of each real element, as a floating-point number.

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
    """Each element rounded to the nearest integer, halves to even, as a floating-point number.

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
    """Fractional and integral part of each element, both with its sign.

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
    """Quotients rounded down, and remainders: ``(x1 // x2, x1 % x2)``.

    Args:
        x1: Dividends: a tensor or a number.
        x2: Divisors: a tensor or a number.

    Returns:
        Two tensors of the common shape.

    Example:
        >>> tt.divmod(tt.tensor([7, -7]), 3)
        (tensor([ 2, -3]), tensor([1, 2]))
    """
    is_number = [isinstance(x, (bool, int, float, complex)) for x in (x1, x2)]
    if all(is_number):
        x1, is_number[0] = array_of(x1), False
    backend = backend_of(x1, x2)
    pairs = zip((x1, x2), is_number, strict=True)
    return divide_with_remainder(*(x if number else array_of(x, backend) for x, number in pairs))


def divide_or_zero(function: Any, a: Any, b: Any) -> Any:
    """Divide integers; the result is 0 for a divisor of 0, as in NumPy.

    Args:
        function: A division of PyTorch, such as ``floor_divide`` or ``remainder``.
        a: Dividends: a Tensor or a number.
        b: Divisors: a Tensor or a number.
    """
    if not isinstance(b, Tensor):
        return function(a, b) if b else function(a, 1) * 0
    divisor: Any = b
    is_zero = divisor == 0
    return function(a, divisor.masked_fill(is_zero, 1)).masked_fill(is_zero, 0)


def divide_with_remainder(a: Any, b: Any) -> tuple[Any, Any]:
    """``a // b`` and ``a % b`` of Tensors of one dtype, or of a Tensor and a number."""
    if (a if isinstance(a, Tensor) else b)._data.dtype.kind in "iu":
        return divide_or_zero(floor_divide, a, b), divide_or_zero(remainder, a, b)
    # The quotient is piecewise constant; in the backward pass PyTorch's function raises.
    detached = (v.detach() if isinstance(v, Tensor) else v for v in (a, b))
    return floor_divide(*detached), remainder(a, b)


@register_shared
def bitwise_count(x: Any) -> Tensor:
    """Number of bits that are set in the absolute value of each element.

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
    """Number of bits that are set in the absolute value of each integer, as uint8."""
    if input.dtype.kind not in "biu":
        raise TypeError(f"bitwise_count(): expected integers, got {input.dtype.name}")
    size = input.dtype.itemsize
    # The absolute value of the least integer overflows to itself; unsigned it is right again.
    bits = xp.astype(xp.abs(input), f"uint{8 * size}")
    count = xp.zeros(input.shape, "uint8")
    for bit in range(8 * size):
        count += xp.astype(bits >> bits.dtype.type(bit) & bits.dtype.type(1), "uint8")
    return count


@register_shared
def iscomplex(x: Any) -> Tensor:
    """Whether each element has a nonzero imaginary part.

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
    """Complex ``expm1`` by real functions of the parts, with the array API's special cases.

    Args:
        function: PyTorch's ``expm1``, not used; ``COMPLEX_FORMULAS`` have one signature.
        z: Complex tensor.
    """
    x, y = z.real, z.imag
    real = x.expm1() * y.cos() - 2 * (y / 2).sin() ** 2
    imag = x.exp() * y.sin()
    is_real, is_inf, is_minus_inf = y == 0, x == float("inf"), x == -float("inf")
    real = real.where(~is_real, x.expm1()).masked_fill(is_inf & ~y.isfinite(), float("inf"))
    real = real.masked_fill(is_minus_inf, -1) + 0  # Adding 0 makes -0.0 a 0.0.
    imag = imag.where(~is_real, y).masked_fill(is_minus_inf & ~y.isfinite(), 0)
    return complex_numbers.complex(real, imag)


def _tanh(function: Any, z: Any) -> Any:
    """Complex ``tanh``, computed by ``function``, with the array API's special case.

    If the real part of an element is infinite, the result is the sign of the real part + 0j, and
    the zero has the sign of the imaginary part.
    """
    x, y = z.real, z.imag
    zero = y.new_zeros(()).copysign(y.masked_fill(~y.isfinite(), 1))
    limit = complex_numbers.complex(x.sign(), zero)
    return function(z).where(~x.isinf(), limit)


def _complex_sign(function: Any, z: Any) -> Any:
    """Complex ``sign``, computed by ``function``; 0 for every zero, also for -0.0 - 0.0j."""
    return function(z).masked_fill(z == 0, 0)


def _real_sign(function: Any, x: Any) -> Any:
    """Real ``sign``, computed by ``function``; NaN for NaN."""
    return function(x).where(x == x, x)


#: By name: the formula for real operands, a function of PyTorch's function and the operand.
REAL_FORMULAS: dict[str, Callable[..., Any]] = {"sign": _real_sign}
#: By name: the formula for complex operands, a function of PyTorch's function and the operand.
COMPLEX_FORMULAS: dict[str, Callable[..., Any]] = {
    "expm1": _expm1, "tanh": _tanh, "sign": _complex_sign,
}  # fmt: skip


class UfuncDef(NamedTuple):
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


def _split_names(table: dict[str, UfuncDef]) -> dict[str, UfuncDef]:
    """Split the keys of a table at spaces: each key consists of all names of one ufunc."""
    return {name: row for names, row in table.items() for name in names.split()}


#: Ufuncs of one operand, by name.
UNARY: dict[str, UfuncDef] = _split_names({
    "abs absolute": UfuncDef(arithmetic.abs, "Absolute value of each element.",
        "[-1.5, 2.0]", "array([1.5, 2. ])"),
    "acos arccos": UfuncDef(trigonometric.acos, "Inverse cosine of each element, in radians.",
        "[0.0, 1.0]", "array([1.57079633, 0.        ])"),
    "acosh arccosh": UfuncDef(trigonometric.acosh, "Inverse hyperbolic cosine of each element.",
        "[1.0, 2.0]", "array([0.       , 1.3169579])"),
    "arcsin asin": UfuncDef(trigonometric.asin, "Inverse sine of each element, in radians.",
        "[0.0, 1.0]", "array([0.        , 1.57079633])"),
    "arcsinh asinh": UfuncDef(trigonometric.asinh, "Inverse hyperbolic sine of each element.",
        "[0.0, 1.0]", "array([0.        , 0.88137359])"),
    "arctan atan": UfuncDef(trigonometric.atan, "Inverse tangent of each element, in radians.",
        "[0.0, 1.0]", "array([0.        , 0.78539816])"),
    "arctanh atanh": UfuncDef(trigonometric.atanh, "Inverse hyperbolic tangent of each element.",
        "[0.0, 0.5]", "array([0.        , 0.54930614])"),
    "bitwise_count": UfuncDef(bitwise_count,
        "Number of bits that are set in the absolute value of each element.",
        "[0, 5]", "array([0, 2], dtype=uint8)"),
    "bitwise_invert bitwise_not invert": UfuncDef(bitwise.bitwise_not,
        "Every bit of each integer or bool inverted.",
        "[0, 5]", "array([-1, -6])"),
    "cbrt": UfuncDef(cbrt, "Cube root of each element.", "[8.0, 27.0]", "array([2., 3.])"),
    "ceil": UfuncDef(rounding.ceil, "Smallest integer that is not less than each element.",
        "[-1.5, 2.0]", "array([-1.,  2.])"),
    "conj conjugate": UfuncDef(complex_numbers.conj_physical, "Complex conjugate of each element.",
        "[1 + 2j, 3.0]", "array([1.-2.j, 3.-0.j])"),
    "cos": UfuncDef(trigonometric.cos, "Cosine of each element, in radians.",
        "[0.0, 1.0]", "array([1.        , 0.54030231])"),
    "cosh": UfuncDef(trigonometric.cosh, "Hyperbolic cosine of each element.",
        "[0.0, 1.0]", "array([1.        , 1.54308063])"),
    "deg2rad radians": UfuncDef(trigonometric.deg2rad, "Degrees converted to radians.",
        "[0.0, 180.0]", "array([0.        , 3.14159265])"),
    "degrees rad2deg": UfuncDef(trigonometric.rad2deg, "Radians converted to degrees.",
        "[0.0, np.pi]", "array([  0., 180.])"),
    "exp": UfuncDef(exponential.exp, "Exponential of each element.",
        "[0.0, 1.0]", "array([1.        , 2.71828183])"),
    "exp2": UfuncDef(exponential.exp2, "2 to the power of each element.",
        "[0.0, 1.0]", "array([1., 2.])"),
    "expm1": UfuncDef(exponential.expm1, "Exponential of each element minus 1, exact near 0.",
        "[0.0, 1.0]", "array([0.        , 1.71828183])"),
    "fabs": UfuncDef(fabs, "Absolute value of each real element, as a float.",
        "[-1.5, 2.0]", "array([1.5, 2. ])"),
    "floor": UfuncDef(rounding.floor, "Largest integer that is not greater than each element.",
        "[-1.5, 2.0]", "array([-2.,  2.])"),
    "isfinite": UfuncDef(comparison.isfinite, "Whether each element is neither infinite nor NaN.",
        "[1.0, np.nan, np.inf]", "array([ True, False, False])"),
    "isinf": UfuncDef(comparison.isinf, "Whether each element is infinite.",
        "[1.0, np.nan, np.inf]", "array([False, False,  True])"),
    "isnan": UfuncDef(comparison.isnan, "Whether each element is NaN.",
        "[1.0, np.nan, np.inf]", "array([False,  True, False])"),
    "log": UfuncDef(exponential.log, "Natural logarithm of each element.",
        "[1.0, 100.0]", "array([0.        , 4.60517019])"),
    "log10": UfuncDef(exponential.log10, "Logarithm to base 10 of each element.",
        "[1.0, 100.0]", "array([0., 2.])"),
    "log1p": UfuncDef(exponential.log1p, "Natural logarithm of 1 plus each element, exact near 0.",
        "[0.0, 1.0]", "array([0.        , 0.69314718])"),
    "log2": UfuncDef(exponential.log2, "Logarithm to base 2 of each element.",
        "[1.0, 8.0]", "array([0., 3.])"),
    "logical_not": UfuncDef(comparison.logical_not, "Whether each element is zero.",
        "[0, 3]", "array([ True, False])"),
    "negative": UfuncDef(arithmetic.neg, "Each element with the opposite sign.",
        "[-1.5, 2.0]", "array([ 1.5, -2. ])"),
    "positive": UfuncDef(arithmetic.positive, "Each element unchanged.",
        "[-1.5, 2.0]", "array([-1.5,  2. ])"),
    "reciprocal": UfuncDef(arithmetic.reciprocal,
        "1 divided by each element; for integers rounded towards 0.",
        "[4.0, 0.5]", "array([0.25, 2.  ])"),
    "rint": UfuncDef(rint,
        "Each element rounded to the nearest integer, halves to even, as a float.",
        "[-1.5, 2.0]", "array([-2.,  2.])"),
    "sign": UfuncDef(complex_numbers.sgn,
        "Sign of each element: -1, 0 or 1; a complex element divided by its absolute value.",
        "[-1.5, 2.0]", "array([-1.,  1.])"),
    "signbit": UfuncDef(rounding.signbit, "Whether each element has its sign bit set; -0.0 has.",
        "[-1.5, 2.0]", "array([ True, False])"),
    "sin": UfuncDef(trigonometric.sin, "Sine of each element, in radians.",
        "[0.0, 1.0]", "array([0.        , 0.84147098])"),
    "sinh": UfuncDef(trigonometric.sinh, "Hyperbolic sine of each element.",
        "[0.0, 1.0]", "array([0.        , 1.17520119])"),
    "sqrt": UfuncDef(exponential.sqrt, "Square root of each element.",
        "[4.0, 9.0]", "array([2., 3.])"),
    "square": UfuncDef(arithmetic.square, "Square of each element.",
        "[0.0, 1.0]", "array([0., 1.])"),
    "tan": UfuncDef(trigonometric.tan, "Tangent of each element, in radians.",
        "[0.0, 1.0]", "array([0.        , 1.55740772])"),
    "tanh": UfuncDef(trigonometric.tanh, "Hyperbolic tangent of each element.",
        "[0.0, 1.0]", "array([0.        , 0.76159416])"),
    "trunc": UfuncDef(rounding.trunc, "Each element without its fractional part.",
        "[-1.5, 2.0]", "array([-1.,  2.])"),
})  # fmt: skip

#: Ufuncs of two operands, by name.
BINARY: dict[str, UfuncDef] = _split_names({
    "add": UfuncDef(arithmetic.add, "Sum of two operands.", "[1, 2], [10, 2]", "array([11,  4])"),
    "arctan2 atan2": UfuncDef(trigonometric.atan2,
        "Angle between the positive x-axis and the point ``(x2, x1)``, in radians.",
        "[1.0, -1.0], 1.0", "array([ 0.78539816, -0.78539816])"),
    "bitwise_and": UfuncDef(bitwise.bitwise_and, "Bits that are set in both operands.",
        "[6, 5], 3", "array([2, 1])"),
    "bitwise_left_shift left_shift": UfuncDef(bitwise.bitwise_left_shift,
        "Bits of the first operand shifted left by the second.",
        "[1, 3], 2", "array([ 4, 12])"),
    "bitwise_or": UfuncDef(bitwise.bitwise_or, "Bits that are set in either operand.",
        "[6, 5], 3", "array([7, 7])"),
    "bitwise_right_shift right_shift": UfuncDef(bitwise.bitwise_right_shift,
        "Bits of the first operand shifted right by the second.",
        "[8, -8], 2", "array([ 2, -2])"),
    "bitwise_xor": UfuncDef(bitwise.bitwise_xor, "Bits that are set in exactly one operand.",
        "[6, 5], 3", "array([5, 6])"),
    "copysign": UfuncDef(rounding.copysign,
        "Magnitude of the first operand with the sign of the second.",
        "[1.0, 2.0], -0.0", "array([-1., -2.])"),
    "divide true_divide": UfuncDef(division.div,
        "Quotient of two operands; of integers in float64.",
        "[6, 5], 2", "array([3. , 2.5])"),
    "equal": UfuncDef(comparison.eq, "Whether elements are equal.",
        "[1, 2], [10, 2]", "array([False,  True])"),
    "float_power": UfuncDef(floating_point.float_power,
        "First operand to the power of the second, in float64 at least.",
        "[2, 3], 2", "array([4., 9.])"),
    "fmax": UfuncDef(selection.fmax, "Larger element; if one is NaN, the other.",
        "[1.0, np.nan], 2.0", "array([2., 2.])"),
    "fmin": UfuncDef(selection.fmin, "Smaller element; if one is NaN, the other.",
        "[1.0, np.nan], 2.0", "array([1., 2.])"),
    "fmod": UfuncDef(rounding.fmod, "Remainder of a division, with the sign of the dividend.",
        "[-7, 7], 3", "array([-1,  1])"),
    "gcd": UfuncDef(bitwise.gcd, "Greatest common divisor.", "[12, 20], 8", "array([4, 4])"),
    "greater": UfuncDef(comparison.gt, "Whether the first element is greater.",
        "[1, 2], [10, 2]", "array([False, False])"),
    "greater_equal": UfuncDef(comparison.ge, "Whether the first element is greater or equal.",
        "[1, 2], [10, 2]", "array([False,  True])"),
    "hypot": UfuncDef(trigonometric.hypot,
        "Length of the hypotenuse of a right triangle with these legs.",
        "[3.0, 5.0], [4.0, 12.0]", "array([ 5., 13.])"),
    "lcm": UfuncDef(bitwise.lcm, "Least common multiple.", "[12, 20], 8", "array([24, 40])"),
    "less": UfuncDef(comparison.lt, "Whether the first element is less.",
        "[1, 2], [10, 2]", "array([ True, False])"),
    "less_equal": UfuncDef(comparison.le, "Whether the first element is less or equal.",
        "[1, 2], [10, 2]", "array([ True,  True])"),
    "logaddexp": UfuncDef(exponential.logaddexp,
        "Logarithm of the sum of the exponentials of two operands.",
        "[0.0, 1.0], 0.0", "array([0.69314718, 1.31326169])"),
    "logaddexp2": UfuncDef(exponential.logaddexp2,
        "Logarithm to base 2 of the sum of 2 to the power of each operand.",
        "[0.0, 1.0], 0.0", "array([1.       , 1.5849625])"),
    "logical_and": UfuncDef(comparison.logical_and, "Whether both elements are nonzero.",
        "[True, False], [True, True]", "array([ True, False])"),
    "logical_or": UfuncDef(comparison.logical_or, "Whether at least one element is nonzero.",
        "[True, False], [True, True]", "array([ True,  True])"),
    "logical_xor": UfuncDef(comparison.logical_xor, "Whether exactly one element is nonzero.",
        "[True, False], [True, True]", "array([False,  True])"),
    "maximum": UfuncDef(selection.maximum, "Larger element; NaN if one is NaN.",
        "[1.0, np.nan], 2.0", "array([ 2., nan])"),
    "minimum": UfuncDef(selection.minimum, "Smaller element; NaN if one is NaN.",
        "[1.0, np.nan], 2.0", "array([ 1., nan])"),
    "mod remainder": UfuncDef(division.remainder,
        "Remainder of a division, with the sign of the divisor.",
        "[-7, 7], 3", "array([2, 1])"),
    "multiply": UfuncDef(arithmetic.mul, "Product of two operands.",
        "[1, 2], [10, 2]", "array([10,  4])"),
    "nextafter": UfuncDef(rounding.nextafter,
        "Next floating-point number after the first operand towards the second.",
        "[1.0], 2.0", "array([1.])"),
    "not_equal": UfuncDef(comparison.ne, "Whether elements differ.",
        "[1, 2], [10, 2]", "array([ True, False])"),
    "pow power": UfuncDef(exponential.pow, "First operand to the power of the second.",
        "[2, 3], 2", "array([4, 9])"),
    "subtract": UfuncDef(arithmetic.sub, "Difference of two operands.",
        "[1, 2], [10, 2]", "array([-9,  0])"),
})  # fmt: skip
