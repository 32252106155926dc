"""Distances and similarities between rows."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from .norms import p_norm


@composite(namespaces=("", "nn.functional"), node="NormBackward1")
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension.

    Args:
        x1: Shape ``(*, features)``.
        x2: The same shape, broadcast.
        p: Default: 2.
        eps: Keeps the gradient finite where they are equal. Default: 1e-6.
        keepdim: Whether the last dimension stays, with size 1. Default: False.

    Returns:
        Shape ``(*)``, or ``(*, 1)``.

    Example:
        >>> import tinytorch as tt
        >>> tt.pairwise_distance(tt.zeros(2, 4), tt.ones(4))
        tensor([2.0000, 2.0000])
    """
    difference: Any = x1 - x2 + eps
    return p_norm(difference, p, -1, keepdim)


@composite(namespaces=("", "nn.functional"), node="SumBackward1")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 · x2 / (‖x1‖ ‖x2‖) along a dimension, each norm at least eps.

    Args:
        x1: Any shape.
        x2: The same shape, broadcast.
        dim: The dimension. Default: 1.
        eps: Default: 1e-8.

    Returns:
        The broadcast shape without ``dim``, of the dtype that the two have in common.

    Raises:
        RuntimeError: If that is not a floating-point dtype, or ``eps`` is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.cosine_similarity(tt.ones(1, 2), tt.tensor([[1.0, 0.0]]))
        tensor([0.7071])
    """
    product = x1 * x2
    dtype = product.dtype
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {scalar_name(dtype)}"
        )
    if eps < 0:
        raise RuntimeError(f"cosine_similarity: eps must be non-negative, got: {eps:g}")
    x1, x2 = (x if x.is_floating_point() else x.to(dtype) for x in (x1, x2))
    # The dimension is that of the result: where an input has size 1 there, it is repeated.
    shape = product.shape
    # Each is normalised before they are multiplied: the product of the norms could overflow.
    a, b = (_normalized(x.broadcast_to(shape), dim, eps) for x in (x1, x2))
    return (a * b).sum(dim)  # type: ignore[no-any-return]


def _normalized(x: Any, dim: int, eps: float) -> Any:
    return x / p_norm(x, 2, dim, True).clamp(min=eps)
