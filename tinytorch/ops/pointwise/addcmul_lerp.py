"""Sums with products and quotients: interpolation and scaled updates."""

from __future__ import annotations

from typing import Any

from ...dispatch.op import Array, Backend, Operand, op
from ...dispatch.promotion import convert_to_write
from ...graph.special_nodes import name_by_operand
from ..checks import check_supported, compute_in_single, is_half, kind_of, real_factor


@op(method=True,
    inplace=True, strict=True, elementwise=True,
    node=name_by_operand("weight", "LerpBackward0", "LerpBackward1"),
)  # fmt: skip
def lerp(xp: Backend, input: Array, end: Array, weight: Operand) -> Array:
    """``input + weight * (end - input)``: from ``input`` at 0 to ``end`` at 1.

    Args:
        input: Tensor of any shape.
        end: Tensor of the same dtype.
        weight: Number, or tensor of the same dtype; the shapes broadcast.

    Returns:
        Tensor of the broadcast shape, exactly ``end`` at weight 1.

    Raises:
        RuntimeError: If the dtypes differ.

    Example:
        >>> tt.lerp(tt.tensor([0.0, 2.0]), tt.tensor([10.0, 4.0]), 0.5)
        tensor([5., 3.])
    """
    scalar, dtype = not hasattr(weight, "dtype"), input.dtype
    if dtype.char in "fd" and end.dtype is dtype and weight.__class__ is float:
        step = end - input
        return input + step * weight if abs(weight) < 0.5 else end - step * (1 - weight)
    if not scalar and not weight.ndim and weight.dtype.kind in ("fiu" + input.dtype.kind):
        weight = xp.astype(weight, input.dtype)  # a 0-d weight is treated as a number
    check_supported(
        xp, "lerp_kernel_scalar" if scalar else "lerp_kernel_tensor", input, unsupported="uib"
    )
    _check_dtype(xp, input, end=end, weight=weight)
    if is_half(input):
        return compute_in_single(xp, lerp.kernel, input, end, weight)
    step = end - input
    if scalar:
        weight = real_factor("lerp", step, weight)
        return input + step * weight if abs(weight) < 0.5 else end - step * (1 - weight)
    near = xp.absolute(weight) < 0.5
    return xp.where(near, input + step * weight, end - step * (1 - weight))


def _check_dtype(xp: Backend, input: Array, **others: Any) -> None:
    """Raise RuntimeError unless all array operands of ``lerp`` have the dtype of ``input``."""
    for name, value in others.items():
        if hasattr(value, "dtype") and value.dtype != input.dtype:
            raise RuntimeError(
                f"lerp: expected dtype {xp.dtype_of(input).name} for `{name}` but got dtype "
                f"{xp.dtype_of(value).name}"
            )


lerp.vjp(
    input=lambda xp, g, weight: g * (1 - weight),
    end=lambda xp, g, weight: g * weight,
    weight=lambda xp, g, input, end: g * (end - input),
)


@op(method=True, inplace=True, promote="arithmetic", strict=True, former_order=("value",))
def addcmul(
    xp: Backend, input: Array, tensor1: Array, tensor2: Array, *, value: float = 1
) -> Array:
    """``input + value * tensor1 * tensor2``.

    Args:
        input: Tensor of any shape.
        tensor1: First factor.
        tensor2: Second factor; the three shapes broadcast.
        value: Number; default 1.

    Raises:
        NotImplementedError: If all tensors are bool.

    Example:
        >>> tt.addcmul(tt.ones(2), tt.ones(2), tt.ones(2), value=0.5)
        tensor([1.5000, 1.5000])
    """
    if is_half(input):
        return compute_in_single(xp, addcmul.kernel, input, tensor1, tensor2, value=value)
    value = real_factor("addcmul", tensor1, value)
    if kind_of(tensor1) in "uib":
        check_supported(xp, "addcmul_cpu_out", tensor1, unsupported="b")
        value = convert_to_write(value, xp.dtype_of(tensor1))
    product = tensor1 * tensor2 if value == 1 else tensor1 * value * tensor2
    return input + product


addcmul.vjp(
    input=lambda xp, g: g,
    tensor1=lambda xp, g, tensor2, value: g * (tensor2 * value),
    tensor2=lambda xp, g, tensor1, value: g * (tensor1 * value),
)


@op(method=True, inplace=True, promote="arithmetic", strict=True, former_order=("value",))
def addcdiv(
    xp: Backend, input: Array, tensor1: Array, tensor2: Array, *, value: float = 1
) -> Array:
    """``input + value * tensor1 / tensor2``.

    Args:
        input: Tensor of any shape.
        tensor1: Numerator.
        tensor2: Denominator; the three shapes broadcast.
        value: Number; default 1.

    Raises:
        RuntimeError: If all tensors are integers.

    Example:
        >>> tt.addcdiv(tt.ones(2), tt.ones(2), 2 * tt.ones(2))
        tensor([1.5000, 1.5000])
    """
    if kind_of(tensor1) in "uib":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv "
            "will perform a true division of tensor1 and tensor2. Make one of them a "
            "floating-point tensor, or use input + value * torch.trunc(tensor1 / tensor2)."
        )
    if is_half(input):
        return compute_in_single(xp, addcdiv.kernel, input, tensor1, tensor2, value=value)
    value = real_factor("addcdiv", tensor1, value)
    return input + (tensor1 / tensor2 if value == 1 else tensor1 * value / tensor2)


addcdiv.vjp(
    input=lambda xp, g: g,
    tensor1=lambda xp, g, tensor2, value: g * (value / tensor2),
    tensor2=lambda xp, g, tensor1, tensor2, value: -g * (tensor1 * value / (tensor2 * tensor2)),
)
