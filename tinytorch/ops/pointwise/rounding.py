"""Rounding, remainders and signs, element by element. Step functions have the derivative 0."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...dispatch.op import Array, Backend, Operand, Out, Reduced, no_derivative, op
from ...graph.special_nodes import name_by_operand
from ..checks import as_int, check_not_complex, check_supported, kind_of
from .complex_numbers import real_sign
from .division import check_divisor
from .selection import masked


def _round_with(xp: Backend, name: str, input: Array, function: Any) -> Array:
    """Apply ``function`` to floats, and copy integers; raise for bools and complex numbers."""
    check_supported(xp, f"{name}_vml_cpu", input, unsupported="b")
    if input.dtype.kind == "c":
        raise NotImplementedError(f"{name} is not supported for complex inputs")
    return function(input) if input.dtype.kind == "f" else xp.array(input)


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def floor(xp: Backend, input: Array) -> Array:
    """The largest integer not greater than each element; integers are unchanged.

    Raises:
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.floor(tt.tensor([-1.5, 1.5]))
        tensor([-2.,  1.])
    """
    return _round_with(xp, "floor", input, xp.floor)


floor.vjp(input=lambda xp, g: xp.zeros_like(g))


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def ceil(xp: Backend, input: Array) -> Array:
    """The smallest integer not less than each element; integers are unchanged.

    Raises:
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.ceil(tt.tensor([-1.5, 1.5]))
        tensor([-1.,  2.])
    """
    return _round_with(xp, "ceil", input, xp.ceil)


ceil.vjp(input=lambda xp, g: xp.zeros_like(g))


@op(method=True, inplace=True, aliases=("fix",), out=Out.EXACT, elementwise=True)
def trunc(xp: Backend, input: Array) -> Array:
    """Each element rounded towards zero; integers are unchanged.

    Raises:
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.trunc(tt.tensor([-1.5, 1.5]))
        tensor([-1.,  1.])
    """
    return _round_with(xp, "trunc", input, xp.trunc)


trunc.vjp(input=lambda xp, g: xp.zeros_like(g))


@op(
    inplace=True,
    namespaces=("", "special"),
    method=True,
    aliases=(".around",),
    out=Out.EXACT,
    elementwise=True,
)
def round(xp: Backend, input: Array, decimals: int = 0) -> Array:
    """Each element rounded to the nearest integer, halves to even; integers are unchanged.

    Args:
        input: Tensor of any shape.
        decimals: Number of digits after the decimal point; negative numbers round to powers of 10.

    Raises:
        NotImplementedError: For bool and complex tensors, and for integers with decimals.

    Example:
        >>> tt.round(tt.tensor([0.5, 1.5, -2.6]))
        tensor([ 0.,  2., -3.])
        >>> tt.round(tt.tensor([0.1234]), decimals=2)
        tensor([0.1200])
    """
    if not decimals:
        return _round_with(xp, "round", input, xp.rint)
    decimals = as_int("round", "decimals", decimals)
    check_supported(xp, "round_vml_cpu", input, unsupported="uib")
    scale = 10.0 ** (decimals if decimals > 0 else -decimals)
    x = xp.astype(input, xp.native_dtype(dtypes.float32)) if input.dtype.char == "e" else input
    rounded = xp.rint(x * scale) / scale if decimals > 0 else xp.rint(x / scale) * scale
    return xp.astype(rounded, input.dtype)


round.vjp(input=lambda xp, g: xp.zeros_like(g))


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def frac(xp: Backend, input: Array) -> Array:
    """The fractional part ``input - trunc(input)``, with the sign of ``input``.

    Raises:
        NotImplementedError: Unless ``input`` is a floating-point tensor.

    Example:
        >>> tt.frac(tt.tensor([-1.5, 1.25]))
        tensor([-0.5000,  0.2500])
    """
    check_supported(xp, "frac_cpu", input, unsupported="uibc")
    return input - xp.trunc(input)


frac.vjp(input=lambda xp, g: g)


@op(
    method=True,
    inplace=True,
    promote="arithmetic",
    strict=True,
    node=name_by_operand("other", "FmodBackward0", "FmodBackward1"),
)
def fmod(xp: Backend, input: Array, other: Operand) -> Array:
    """Remainder of division rounded towards zero; it has the sign of ``input``.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Raises:
        RuntimeError: If an integer is divided by 0.
        NotImplementedError: For bool and complex tensors.

    Example:
        >>> tt.fmod(tt.tensor([-7.0, 7.0]), 3)
        tensor([-1.,  1.])
    """
    check_divisor(xp, "fmod_cpu", input, other)
    return xp.fmod(input, other)


fmod.vjp(input=lambda xp, g: g, other=lambda xp, g, input, other: -g * xp.trunc(input / other))


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def sign(xp: Backend, input: Array) -> Array:
    """-1, 0 or 1 by the sign of each element; 0 for NaN.

    Raises:
        NotImplementedError: For complex tensors; use ``sgn``.

    Example:
        >>> tt.sign(tt.tensor([-2.5, 0.0, 3.0]))
        tensor([-1.,  0.,  1.])
    """
    if input.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
            "torch.sgn instead."
        )
    return real_sign(xp, input)


sign.vjp(input=lambda xp, g: xp.zeros_like(g))


@op(method=True, out=Out.EXACT, elementwise=True)
def signbit(xp: Backend, input: Array) -> Array:
    """Whether the sign bit of each element is set, which it is for -0.0.

    Raises:
        NotImplementedError: For complex tensors.

    Example:
        >>> tt.signbit(tt.tensor([-0.0, 0.0]))
        tensor([ True, False])
    """
    if input.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return xp.signbit(input) if input.dtype.kind == "f" else xp.less(input, 0)


@op(method=True, inplace=True, promote="float", strict=True)
def copysign(xp: Backend, input: Array, other: Operand) -> Array:
    """The magnitude of ``input`` with the sign of ``other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number; the two shapes broadcast.

    Returns:
        Floating-point tensor of the broadcast shape.

    Example:
        >>> tt.copysign(tt.tensor([1.0, -2.0]), -0.0)
        tensor([-1., -2.])
    """
    check_not_complex("copysign", input, other)
    return xp.copysign(input, other)


def _copysign_gradient(xp: Any, g: Any, input: Any, out: Any) -> Any:
    """``g``, negated where ``copysign`` changed the sign of ``input``; 0 where ``input`` is 0."""
    return xp.where(input == 0, 0, g * (out / xp.where(input == 0, 1, input)))


copysign.vjp(input=_copysign_gradient, other=lambda xp, g: xp.zeros_like(g))


@op(method=True, inplace=True, strict=True, node="NotImplemented", out=Out.EXACT, elementwise=True)
def heaviside(xp: Backend, input: Array, values: Array) -> Array:
    """Heaviside step function: 0 for negative numbers, 1 for positive ones, ``values`` at 0.

    Args:
        input: Tensor of any shape.
        values: Tensor of the same dtype; the two shapes broadcast.

    Raises:
        RuntimeError: For complex dtypes, or if the dtypes differ.

    Example:
        >>> tt.heaviside(tt.tensor([-1.5, 0.0, 2.0]), tt.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    if kind_of(input) == "c" or kind_of(values) == "c":
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if input.dtype != values.dtype:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes: "
            f"{xp.dtype_of(input).name} and {xp.dtype_of(values).name}."
        )
    zero = xp.number(input.dtype)(0)
    return xp.where(input == zero, values, xp.astype(input > zero, input.dtype))


heaviside.vjp(input=no_derivative("heaviside"), values=no_derivative("heaviside"))


@op(method=True, inplace=True, promote="arithmetic", strict=True, reduced=Reduced.NATIVE)
def nextafter(xp: Backend, input: Array, other: Array) -> Array:
    """The next representable number after ``input`` towards ``other``.

    Args:
        input: Floating-point tensor of any shape.
        other: Tensor; the two shapes broadcast.

    Raises:
        NotImplementedError: For all but floating-point tensors.

    Example:
        >>> one = tt.ones(1, dtype=tt.float64)
        >>> (tt.nextafter(one, 2 * one) - one).item()
        2.220446049250313e-16
    """
    check_supported(xp, "nextafter_cpu", input, other, unsupported="uibc")
    return xp.nextafter(input, other)


nextafter.vjp(
    input=lambda xp, g, input, other: masked(xp, g, input != other),
    other=lambda xp, g: xp.zeros_like(g),
)
