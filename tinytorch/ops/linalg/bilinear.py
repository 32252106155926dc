"""Bilinear forms."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from ...dispatch.record import keep_versions


@composite(namespaces=("nn.functional", ""), node="ViewBackward0")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1ᵀ weight[o] input2 + bias[o]`` for each output o.

    Args:
        input1: ``(*, in1_features)``.
        input2: ``(*, in2_features)``, with the same leading dimensions.
        weight: ``(out_features, in1_features, in2_features)``.
        bias: ``(out_features,)``; default none.

    Returns:
        ``(*, out_features)``.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> import tinytorch as tt
        >>> tt.bilinear(tt.tensor([1.0, 2.0]), tt.tensor([3.0]), tt.ones(1, 2, 1))
        tensor([9.])
    """
    _check(input1, input2, weight, bias)
    outputs, first, second = weight.shape
    a: Any = input1
    w: Any = weight
    rows = a @ w.permute(1, 0, 2).reshape((first, outputs * second))
    rows = rows.reshape((*input1.shape[:-1], outputs, second))
    out = (rows @ input2.unsqueeze(-1)).squeeze(-1)
    factors = input1, input2, weight
    others = ([f for f in factors if f is not kept] for kept in factors)
    wanted = [any(f.requires_grad for f in rest) for rest in others]
    out = keep_versions(out, *(f for f, keep in zip(factors, wanted, strict=True) if keep))
    return out if bias is None else out + bias


def _check(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for dim, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if n != m:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}"
            )
    for given in (input2, weight, bias):
        if given is not None and given.dtype != input1.dtype:
            raise RuntimeError(
                "bilinear(): All tensors must have the same dtype, got "
                f"{scalar_name(input1.dtype)} and {scalar_name(given.dtype)}"
            )
    if weight.ndim != 3:
        raise RuntimeError(f"bilinear(): weight must be 3-D, got {list(weight.shape)}")
    for what, given, wanted in (
        ("input1", input1, weight.shape[1]), ("input2", input2, weight.shape[2]),
    ):  # fmt: skip
        if given.shape[-1] != wanted:
            raise RuntimeError(
                f"bilinear(): {what} size does not match weight size: got {given.shape[-1]} but "
                f"expected {wanted}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
            f"{weight.shape[0]}"
        )
