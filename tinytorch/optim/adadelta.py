"""Adadelta."""

from __future__ import annotations

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check,
    check_lr,
    document_functional,
    run_functional,
    scalar_state,
    state_like,
    to_number,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["Adadelta", "adadelta"]


class Adadelta(ArrayOptimizer):
    r"""Adadelta: steps in the units of the parameter, without a tuned learning rate.

    With gradient ``g``::

        s = rho * s + (1 - rho) * g**2
        d = sqrt(a + eps) / sqrt(s + eps) * g
        a = rho * a + (1 - rho) * d**2
        p = p - lr * d

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Factor of the step. Default: 1.
        rho: Decay rate of the averages, in [0, 1]. Default: 0.9.
        eps: Number added under the square roots. Default: 1e-6.
        weight_decay: Factor of the L2 penalty. Default: 0.
        foreach: Accepted and ignored. Default: None.
        capturable: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: False.
        maximize: Ascend instead of descending. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.

    Raises:
        ValueError: If a number is negative, or ``rho`` above 1.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.Adadelta([w], lr=100.0)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.6838, -1.6838], requires_grad=True)

    Reference:
        M. D. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012, arXiv:1212.5701.
    """

    _listed_state = ("square_avg", "acc_delta", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 <= rho <= 1.0, "rho value", rho)
        check(0.0 <= eps, "epsilon value", eps)
        check(0.0 <= weight_decay, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {"step": scalar_state(), "square_avg": state_like(p), "acc_delta": state_like(p)}

    def _update(self, group: ParamGroup) -> None:
        for bucket in self._buckets(group, ["square_avg", "acc_delta"]):
            bucket.run(
                "adadelta_update",
                lr=to_number(group["lr"], group),
                rho=group["rho"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                maximize=group["maximize"],
            )


@document_functional(
    Adadelta,
    "[tt.zeros(2)], [tt.zeros(2)], [tt.tensor(0.0)], lr=1.0, rho=0.9, eps=1e-6, "
    "weight_decay=0, maximize=False",
)
def adadelta(
    params: list[Tensor], grads: list[Tensor], square_avgs: list[Tensor],
    acc_deltas: list[Tensor], state_steps: list[Tensor], capturable: bool = False,
    foreach: bool | None = None, differentiable: bool = False, has_complex: bool = False, *,
    lr: float, rho: float, eps: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    run_functional(Adadelta, params, grads, locals())
