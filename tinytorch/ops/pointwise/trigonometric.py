"""Trigonometric and hyperbolic functions and their inverses; angles are in radians."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.op import Array, Backend, op
from ..checks import check_supported, compute_in_single, is_half


@op(method=True, inplace=True, promote="float")
def sin(xp: Backend, input: Array) -> Array:
    """Sine of each element of ``input``, an angle in radians.

    Example:
        >>> tt.sin(tt.zeros(2))
        tensor([0., 0.])
    """
    return xp.sin(input)


sin.vjp(input=lambda xp, g, input: g * xp.cos(input))


@op(method=True, inplace=True, promote="float")
def cos(xp: Backend, input: Array) -> Array:
    """Cosine of each element of ``input``, an angle in radians.

    Example:
        >>> tt.cos(tt.zeros(2))
        tensor([1., 1.])
    """
    return xp.cos(input)


cos.vjp(input=lambda xp, g, input: g * -xp.sin(input))


@op(method=True, inplace=True, promote="float")
def tan(xp: Backend, input: Array) -> Array:
    """Tangent of each element of ``input``, an angle in radians.

    Example:
        >>> tt.tan(tt.tensor([0.0, 0.5]))
        tensor([0.0000, 0.5463])
    """
    return xp.tan(input)


tan.vjp(input=lambda xp, g, out: g * (1 + out * out))


@op(method=True, inplace=True, promote="float", aliases=("arcsin",))
def asin(xp: Backend, input: Array) -> Array:
    """Arc sine of each element, between -π/2 and π/2; NaN outside [-1, 1].

    Example:
        >>> tt.asin(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5708])
    """
    return xp.arcsin(input)


asin.vjp(input=lambda xp, g, input: g / xp.sqrt(1 - input * input))


@op(method=True, inplace=True, promote="float", aliases=("arccos",))
def acos(xp: Backend, input: Array) -> Array:
    """Arc cosine of each element, between 0 and π; NaN outside [-1, 1].

    Example:
        >>> tt.acos(tt.tensor([1.0, 0.0]))
        tensor([0.0000, 1.5708])
    """
    return xp.arccos(input)


acos.vjp(input=lambda xp, g, input: -g / xp.sqrt(1 - input * input))


@op(method=True, inplace=True, promote="float", aliases=("arctan",))
def atan(xp: Backend, input: Array) -> Array:
    """Arc tangent of each element, between -π/2 and π/2.

    Example:
        >>> tt.atan(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7854])
    """
    return xp.arctan(input)


atan.vjp(input=lambda xp, g, input: g / (1 + input * input))


@op(method=True, inplace=True, promote="float")
def sinh(xp: Backend, input: Array) -> Array:
    """Hyperbolic sine of each element.

    Example:
        >>> tt.sinh(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 1.1752])
    """
    return xp.sinh(input)


sinh.vjp(input=lambda xp, g, input: g * xp.cosh(input))


@op(method=True, inplace=True, promote="float")
def cosh(xp: Backend, input: Array) -> Array:
    """Hyperbolic cosine of each element.

    Example:
        >>> tt.cosh(tt.tensor([0.0, 1.0]))
        tensor([1.0000, 1.5431])
    """
    return xp.cosh(input)


cosh.vjp(input=lambda xp, g, input: g * xp.sinh(input))


@op(inplace=True, promote="float", namespaces=("", "nn.functional"), method=True)
def tanh(xp: Backend, input: Array) -> Array:
    """Hyperbolic tangent of each element, between -1 and 1.

    Example:
        >>> tt.tanh(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return xp.tanh(input)


tanh.vjp(input=lambda xp, g, out: g * (1 - out * out))


@op(method=True, inplace=True, promote="float", aliases=("arcsinh",))
def asinh(xp: Backend, input: Array) -> Array:
    """Inverse hyperbolic sine of each element.

    Example:
        >>> tt.asinh(tt.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8814])
    """
    return xp.arcsinh(input)


asinh.vjp(input=lambda xp, g, input: g / xp.sqrt(1 + input * input))


@op(method=True, inplace=True, promote="float", aliases=("arccosh",))
def acosh(xp: Backend, input: Array) -> Array:
    """Inverse hyperbolic cosine of each element; NaN below 1.

    Example:
        >>> tt.acosh(tt.tensor([1.0, 2.0]))
        tensor([0.0000, 1.3170])
    """
    return xp.arccosh(input)


def _acosh_gradient(xp: Any, g: Any, input: Any) -> Any:
    """``g / (sqrt(x - 1) * sqrt(x + 1))``."""
    # The product of two roots has the correct branch for complex numbers; the root of the product
    # does not. Below -1, acosh is NaN but this slope is finite, so a gradient of 0 stays 0.
    x = input if input.dtype.kind == "c" else xp.absolute(input)
    return g / (xp.sqrt(x - 1) * xp.sqrt(x + 1))


acosh.vjp(input=_acosh_gradient)


@op(method=True, inplace=True, promote="float", aliases=("arctanh",))
def atanh(xp: Backend, input: Array) -> Array:
    """Inverse hyperbolic tangent of each element; ±inf at ±1, NaN beyond.

    Example:
        >>> tt.atanh(tt.tensor([0.0, 0.5]))
        tensor([0.0000, 0.5493])
    """
    return xp.arctanh(input)


atanh.vjp(input=lambda xp, g, input: g / (1 - input * input))


@op(method=True, inplace=True, promote="float", aliases=("arctan2",), strict=True)
def atan2(xp: Backend, input: Array, other: Array) -> Array:
    """Angle of the point with x coordinate ``other`` and y coordinate ``input``, from -π to π.

    Args:
        input: The y coordinates, a tensor of any shape.
        other: The x coordinates; the two shapes broadcast.

    Example:
        >>> tt.atan2(tt.tensor([1.0]), tt.tensor([-1.0]))
        tensor([2.3562])
    """
    check_supported(xp, "atan2_cpu", input, other, unsupported="c")
    return xp.arctan2(input, other)


def _divide_by_square(xp: Any, numerator: Any, x: Any, y: Any) -> Any:
    """``numerator / (x² + y²)``; 0 at the origin, where the angle is undefined."""
    square = x * x + y * y
    origin = square == 0
    return xp.where(origin, 0, numerator / xp.where(origin, 1, square))


atan2.vjp(
    input=lambda xp, g, input, other: g * _divide_by_square(xp, other, input, other),
    other=lambda xp, g, input, other: -g * _divide_by_square(xp, input, input, other),
)


@op(method=True, inplace=True, promote="arithmetic", strict=True)
def hypot(xp: Backend, input: Array, other: Array) -> Array:
    """``sqrt(input² + other²)``, element by element, without overflow.

    Args:
        input: Tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: Unless one of the tensors is real and floating-point.

    Example:
        >>> tt.hypot(tt.tensor([3.0]), tt.tensor([4.0]))
        tensor([5.])
    """
    check_supported(xp, "hypot_cpu", input, other, unsupported="uibc")
    return xp.hypot(input, other)


hypot.vjp(
    input=lambda xp, g, input, out: g * (input / out),
    other=lambda xp, g, other, out: g * (other / out),
)


def _check_not_complex(name: str, input: Array) -> None:
    if input.dtype.kind == "c":
        raise RuntimeError(f"{name} is not supported for complex tensors.")


@op(method=True, inplace=True, promote="float", aliases=(".radians",))
def deg2rad(xp: Backend, input: Array) -> Array:
    """Convert each element from degrees to radians.

    Example:
        >>> tt.deg2rad(tt.tensor([180.0]))
        tensor([3.1416])
    """
    _check_not_complex("deg2rad", input)
    return xp.multiply(input, math.pi / 180)


deg2rad.vjp(input=lambda xp, g: g * (math.pi / 180))


@op(method=True, inplace=True, promote="float", aliases=(".degrees",))
def rad2deg(xp: Backend, input: Array) -> Array:
    """Convert each element from radians to degrees.

    Example:
        >>> tt.rad2deg(tt.tensor([3.1415926536]))
        tensor([180.])
    """
    _check_not_complex("rad2deg", input)
    return xp.multiply(input, 180 / math.pi)


rad2deg.vjp(input=lambda xp, g: g * (180 / math.pi))


@op(inplace=True, promote="float", namespaces=("", "special"), method=True)
def sinc(xp: Backend, input: Array) -> Array:
    """``sin(πx) / (πx)`` of each element ``x``; 1 at 0.

    Example:
        >>> tt.sinc(tt.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
    """
    if is_half(input):
        return compute_in_single(xp, sinc.kernel, input)
    number = xp.number(input.dtype)
    x = input * number(math.pi)
    return xp.where(x == number(0), 1, xp.sin(x) / x)


def _sinc_slope(xp: Any, x: Any) -> Any:
    """Derivative of ``sin(t) / t`` at ``t = πx``, times π.

    Near 0 the difference suffers from cancellation, so the Taylor series
    -t/3 + t³/30 - t⁵/840 + t⁷/45360 replaces it.
    """
    t = x * math.pi
    near = xp.abs(t) < 0.3
    safe = xp.where(near, 1, t)
    far = (xp.cos(safe) - xp.sin(safe) / safe) / safe
    s = t * t
    series = t * (-1 / 3 + s * (1 / 30 + s * (-1 / 840 + s * (1 / 45360 - s / 3991680))))
    return math.pi * xp.where(near, series, far)


sinc.vjp(input=lambda xp, g, input: g * _sinc_slope(xp, input))
