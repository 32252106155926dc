"""Dropout: random zeros during training."""

from __future__ import annotations

from typing import Any

from .._op import composite
from .._tensor import Tensor


def _noise(input: Tensor, shape: Any, p: float) -> Tensor:
    """Zeros with probability ``p``, elsewhere the factor that keeps the mean."""
    noise: Any = input.new_empty(shape)  # type: ignore[attr-defined]
    if p == 1.0:
        return noise.zero_()  # type: ignore[no-any-return]
    return noise.bernoulli_(1 - p).div_(1 - p)  # type: ignore[no-any-return]


@composite(namespaces=("nn.functional", ""), method=False)
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """``input`` with elements zeroed at random and the others scaled by ``1 / (1 - p)``.

    Args:
        input: Tensor of any shape.
        p: Probability that an element becomes zero; default 0.5.
        training: Whether anything happens at all; default True.
        inplace: Write the result over ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: If ``p`` is no probability.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.dropout(tt.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])

    Reference:
        Srivastava et al.: Dropout, Journal of Machine Learning Research 15 (2014).
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0 or not input.numel():
        return input
    x: Any = input
    noise = _noise(input, input.shape, p)
    return x.mul_(noise) if inplace else x * noise  # type: ignore[no-any-return]
