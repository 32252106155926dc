"""SparseAdam: Adam that changes the rows of a sparse gradient alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..state import enable_grad, no_grad
from ._base import check, check_betas, check_lr, state_like, to_number
from .optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam"]


_NOT_SPARSE = "Sparse params at indices {}: SparseAdam requires dense parameter tensors"
_NOT_COMPLEX = "Complex params at indices {}: SparseAdam does not support complex parameters"


class SparseAdam(Optimizer):
    r"""Adam for sparse gradients: only the rows of the gradient, and their moments, change.

    With the rows ``g`` of the gradient at step ``t``, and the moments ``m``, ``v`` of these rows::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        p = p - lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + eps)

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        betas: Decay rates of the moments, in [0, 1). Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        maximize: Ascend instead of descending. Default: False.

    Raises:
        ValueError: If a number is out of range, or a parameter is sparse or complex.

    Example:
        >>> table = tt.nn.Embedding(4, 1, sparse=True)
        >>> _ = tt.nn.init.ones_(table.weight)
        >>> optimizer = tt.optim.SparseAdam(table.parameters(), lr=0.1)
        >>> table(tt.tensor([2, 2])).sum().backward()
        >>> optimizer.step()
        >>> table.weight.flatten().detach()
        tensor([1.0000, 1.0000, 0.9000, 1.0000])
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
        for kind, text in (("is_sparse", _NOT_SPARSE), ("is_complex", _NOT_COMPLEX)):
            found = [
                [group_index, index]
                for group_index, group in enumerate(self.param_groups)
                for index, p in enumerate(group["params"])
                if (p.is_sparse if kind == "is_sparse" else p.is_complex())
            ]
            if found:
                raise ValueError(text.format(found))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the rows that have a gradient.

        Args:
            closure: Function that computes the loss and returns it. Default: None.

        Raises:
            RuntimeError: If a gradient is dense.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, p.grad, group)
        return loss

    def _update(self, p: Tensor, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        if not grad.is_sparse:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        state = self.state[p]
        if not state:
            state.update(step=0, exp_avg=state_like(p), exp_avg_sq=state_like(p))
        state["step"] += 1
        grad = (-grad if group["maximize"] else grad).coalesce()
        moments = []
        for name, beta, target in zip(
            ("exp_avg", "exp_avg_sq"), group["betas"], (grad, grad.pow(2)), strict=True
        ):
            before = state[name].sparse_mask(grad)
            change = (target.values() - before.values()) * (1 - beta)
            state[name].add_(grad.make_like(change))
            moments.append(before.values() + change)
        beta1, beta2 = (1 - beta ** state["step"] for beta in group["betas"])
        direction = moments[0] / (moments[1].sqrt() + group["eps"])
        rate = float(to_number(group["lr"])) * math.sqrt(beta2) / beta1
        p.add_(grad.make_like(direction), alpha=-rate)
