"""Floating-point representation: NaN and infinities, mantissas and exponents."""

from __future__ import annotations

import functools
import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, Overlap, composite, op, reads_results
from ..results import named_result
from .exponential import pow as power


@op(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def nan_to_num(
    xp: Backend,
    input: Array,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """Replace NaN and infinities by finite numbers.

    Args:
        input: Tensor of any shape.
        nan: Replacement of NaN; default 0.
        posinf: Replacement of inf; default the largest number of the dtype.
        neginf: Replacement of -inf; default the lowest number of the dtype.

    Returns:
        Tensor of the same shape. Gradients flow where ``input`` is finite.

    Example:
        >>> tt.nan_to_num(tt.tensor([1.0, float("nan"), float("inf")]), posinf=9.0)
        tensor([1., 0., 9.])
    """
    if input.dtype.kind in "uib":
        return xp.array(input)
    if input.dtype.kind == "c":
        halves = (input.real, input.imag)
        parts = tuple(xp.call(nan_to_num, half, nan, posinf, neginf) for half in halves)
        return xp.stack(parts, -1).view(input.dtype)[..., 0]
    largest = _largest(xp, input.dtype)
    out = xp.between(input, -largest, largest)  # NaN stays
    if posinf is not None:
        out = xp.where(input == xp.inf, posinf, out)
    if neginf is not None:
        out = xp.where(input == -xp.inf, neginf, out)
    known = input == input
    if not nan and math.copysign(1, nan or 0.0) > 0:
        return xp.masked(out, known)
    return xp.where(known, out, nan)


@functools.cache
def _largest(xp: Backend, dtype: Any) -> float:
    """Largest number of a native dtype."""
    return dtypes.finfo(xp.dtype_of_native(dtype)).max


nan_to_num.vjp(input=lambda xp, g, input: xp.where(xp.isfinite(input), g, 0))


_frexp_result = named_result("frexp", "mantissa exponent")


@op(method=True, returns=_frexp_result)
def frexp(xp: Backend, input: Array) -> tuple[Array, Array]:
    """Decompose ``input`` into ``mantissa * 2 ** exponent``, with mantissas in [0.5, 1).

    Args:
        input: Floating-point tensor of any shape.

    Returns:
        A named tuple ``(mantissa, exponent)``; the exponents are int32.

    Raises:
        RuntimeError: For other dtypes.

    Example:
        >>> tt.frexp(tt.tensor([6.0])).mantissa
        tensor([0.7500])
    """
    if input.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = xp.frexp(input)
    return mantissa, xp.astype(exponent, "int32")


frexp.vjp(input=reads_results(1)(lambda xp, g, out: g[0] / xp.exp2(xp.astype(out[1], g[0].dtype))))


@composite(method=True, out=Out.CAST, inplace=True, overlap=Overlap.ALLOWED, node="LdexpBackward0")
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2 ** other``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor of exponents; the two shapes broadcast.

    Returns:
        Tensor of the broadcast shape; integers are converted to the default dtype.

    Example:
        >>> tt.ldexp(tt.tensor([3.0]), tt.tensor([2]))
        tensor([12.])
    """
    for i, (name, value) in enumerate((("input", input), ("other", other))):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"ldexp(): argument '{name}' (position {i + 1}) must be Tensor, not "
                f"{type(value).__name__}"
            )
    if input.dtype.category > 1 and other.dtype.kind in "ui" and not input.is_complex():
        # A power of 2 by itself may be too large for the dtype.
        return _add_to_exponent(input, other)
    if input.is_complex() or other.is_complex():
        return input * power(2.0, other)
    return _multiply_by_power(input, other)


@op(public=False, node="LdexpBackward0")
def _add_to_exponent(xp: Backend, input: Array, other: Array) -> Array:
    """Multiply floats by integer powers of 2, by an addition to their exponents."""
    # Beyond these limits every result is 0 or infinite. The library requires C's int.
    exponent = xp.clip(xp.astype(other, "int64"), -5000, 5000)
    return xp.ldexp(input, xp.astype(exponent, "int32"))


_add_to_exponent.vjp(input=lambda xp, g, other: xp.call(_add_to_exponent, g, other))


@op(public=False, promote="float", node="LdexpBackward0")
def _multiply_by_power(xp: Backend, input: Array, other: Array) -> Array:
    return input * xp.exp2(other)


_multiply_by_power.vjp(
    input=lambda xp, g, other: g * xp.exp2(other), other=lambda xp, g, out: g * (out * math.log(2))
)


def _to_dtype(value: Any, dtype: dtypes.dtype) -> Any:
    return value.to(dtype) if isinstance(value, Tensor) else value


@composite(method=True, inplace=True, out=Out.EXACT, elementwise=True)
def float_power(input: Tensor, exponent: Any) -> Tensor:
    """``input ** exponent``, computed in float64 (or complex128).

    Args:
        input: Tensor or number.
        exponent: Tensor or number; the two shapes broadcast.

    Returns:
        float64 or complex128 tensor of the broadcast shape.

    Raises:
        TypeError: If both are numbers.

    Example:
        >>> tt.float_power(tt.tensor([2, 3]), -1)
        tensor([0.5000, 0.3333], dtype=tinytorch.float64)
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError(
            "float_power(): argument 'input' (position 1) or 'exponent' (position 2) must be Tensor"
        )
    wide = any(
        v.is_complex() if isinstance(v, Tensor) else isinstance(v, complex)
        for v in (input, exponent)
    )
    dtype = dtypes.complex128 if wide else dtypes.float64
    return power(_to_dtype(input, dtype), _to_dtype(exponent, dtype))
