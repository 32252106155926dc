"""SparseAdam, which raises for every gradient: sparse gradients do not exist here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ._base import check, check_betas, check_lr
from .optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients; ``step`` raises, since every gradient here is dense.

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        betas: Decay rates of the moments, in [0, 1). Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        maximize: Ascend instead of descending. Default: False.

    Raises:
        ValueError: If a number is out of range.

    Example:
        >>> w = tt.ones(2, requires_grad=True)
        >>> optimizer = tt.optim.SparseAdam([w])
        >>> w.sum().backward()
        >>> optimizer.step()
        Traceback (most recent call last):
            ...
        RuntimeError: SparseAdam does not support dense gradients, please consider Adam instead
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 < eps, "epsilon value", eps)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        indices = [
            [group_index, index]
            for group_index, group in enumerate(self.param_groups)
            for index, p in enumerate(group["params"])
            if p.is_complex()
        ]
        if indices:
            raise ValueError(
                f"Complex params at indices {indices}: SparseAdam does not support complex "
                "parameters"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Raise if a parameter has a gradient, since the gradient is dense.

        Args:
            closure: Function that computes the loss and returns it. Default: None.

        Raises:
            RuntimeError: If any parameter has a gradient.
        """
        loss = None if closure is None else closure()
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        return loss
