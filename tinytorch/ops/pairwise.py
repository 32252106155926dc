"""Distances between all rows of a matrix."""

from __future__ import annotations

from typing import Any

from .._op import composite
from .._tensor import Tensor, wrap
from .._write import scalar_name
from .norms import p_norm


@composite(namespaces=("nn.functional", ""), method=False)
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distance of every pair of rows.

    Args:
        input: ``(n, features)``.
        p: Which norm, 0 to infinity; default 2.

    Returns:
        ``(n (n - 1) / 2,)``: row 0 with 1, 2, ..., then row 1 with 2, 3, ..., and so on.

    Raises:
        RuntimeError: If ``input`` is no matrix of floats, or ``p`` is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.pdist(tt.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
        tensor([5.0000, 1.0000, 4.2426])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError(
            f"pdist only supports floating-point dtypes, got {scalar_name(input.dtype)}"
        )
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    x: Any = input
    xp = input._xp
    first, second = (wrap(index, xp) for index in xp.triu_indices(input.shape[0], 1))
    difference = x[first] - x[second]
    if not difference.numel():
        return difference.sum(-1)  # type: ignore[no-any-return]
    return p_norm(difference, p, -1)
