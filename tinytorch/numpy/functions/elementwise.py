"""Elementwise functions that NumPy alone has, and complex infinities as it computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, op
from ...ops.pointwise import complex_numbers
from ...ops.pointwise.complex_numbers import complex as complex_
from ...ops.pointwise.division import floor_divide, remainder
from .conversion import array_of, backend_of, float_array
from .registration import shared


@op(promote="float")
def cbrt(xp: Backend, input: Array) -> Array:
    """The cube root of each element, real also of negative ones.

    Args:
        input: Real tensor of any shape; integers are cast to the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.cbrt(tt.tensor([-1.0, 8.0]))
        tensor([-1.,  2.])
    """
    return xp.cbrt(input)


cbrt.vjp(input=lambda xp, g, out: g / (3 * out * out))


@shared
def fabs(x: Any) -> Tensor:
    """The absolute value of each real element, as a floating-point number.

    Args:
        x: Real tensor of any shape; integers are cast to the default dtype.

    Raises:
        TypeError: For complex tensors.

    Example:
        >>> import tinytorch as tt
        >>> tt.fabs(tt.tensor([-1, 2]))
        tensor([1., 2.])
    """
    value: Any = float_array(x)
    if value.is_complex():
        raise TypeError("fabs(): expected a real tensor, got complex numbers; see abs()")
    return value.abs()  # type: ignore[no-any-return]


@shared
def rint(x: Any) -> Tensor:
    """Each element rounded to the nearest integer, halves to the even one; a float stays one.

    Args:
        x: Tensor of any shape; integers are cast to the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.rint(tt.tensor([0.5, 1.5, 2.2]))
        tensor([0., 2., 2.])
    """
    value: Any = float_array(x)
    if value.is_complex():
        return complex_(value.real.round(), value.imag.round())
    return value.round()  # type: ignore[no-any-return]


@shared
def modf(x: Any) -> tuple[Tensor, Tensor]:
    """The fractional and the integral part of each element, both with its sign.

    Args:
        x: Real tensor of any shape; integers are cast to the default dtype.

    Returns:
        Two tensors of ``x``'s shape.

    Example:
        >>> import tinytorch as tt
        >>> tt.modf(tt.tensor([-1.5, 2.25]))
        (tensor([-0.5000,  0.2500]), tensor([-1.,  2.]))
    """
    value: Any = float_array(x)
    whole = value.trunc()
    part = (value - whole).masked_fill(value.isinf(), 0)
    return part.copysign(value), whole


@shared
def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """Quotients rounded down, and what remains: ``(x1 // x2, x1 % x2)``.

    Args:
        x1: Dividends: a tensor or a number.
        x2: Divisors: a tensor or a number.

    Returns:
        Two tensors of the common shape.

    Example:
        >>> import tinytorch as tt
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


@shared
def bitwise_count(x: Any) -> Tensor:
    """How many bits of each element's absolute value are set.

    Args:
        x: Integer or bool tensor of any shape.

    Returns:
        uint8 tensor of ``x``'s shape.

    Raises:
        TypeError: For floating-point and complex tensors.

    Example:
        >>> import tinytorch as tt
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


@shared
def iscomplex(x: Any) -> Tensor:
    """Whether each element has an imaginary part that is not zero.

    Args:
        x: Tensor of any shape.

    Returns:
        bool tensor of ``x``'s shape.

    Example:
        >>> import tinytorch as tt
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


#: What is computed for real operands, by name: of PyTorch's function and the operand.
OF_FLOATS: dict[str, Callable[..., Any]] = {"sign": _real_sign}
#: What is computed for complex operands, by name: of PyTorch's function and the operand.
OF_COMPLEX: dict[str, Callable[..., Any]] = {"expm1": _expm1, "tanh": _tanh, "sign": _sign}
