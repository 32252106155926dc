"""Adamax: Adam with the infinity norm."""

from __future__ import annotations

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check_adam_arguments,
    document_functional,
    run_functional,
    scalar_state,
    state_like,
    to_number,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["Adamax", "adamax"]


class Adamax(ArrayOptimizer):
    r"""Adamax: Adam with the infinity norm of recent gradients in place of the second moment.

    With gradient ``g`` at step ``t``::

        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, abs(g) + eps)
        p = p - lr / (1 - beta1**t) * m / u

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.002.
        betas: Decay rates of ``m`` and ``u``, in [0, 1). Default: (0.9, 0.999).
        eps: Number added to the gradient's absolute value. Default: 1e-8.
        weight_decay: Factor of the L2 penalty. Default: 0.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        capturable: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: False.

    Raises:
        ValueError: If a number is negative, or a beta outside [0, 1).

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.Adamax([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -1.9000], requires_grad=True)

    Reference:
        D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, section 7.
    """

    _listed_state = ("exp_avg", "exp_inf", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_adam_arguments(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {"step": scalar_state(), "exp_avg": state_like(p), "exp_inf": state_like(p)}

    def _update(self, group: ParamGroup) -> None:
        beta1, beta2 = group["betas"]
        for bucket in self._buckets(group, ["exp_avg", "exp_inf"]):
            bucket.run(
                "adamax_update",
                step=bucket.key,
                lr=to_number(group["lr"], group),
                beta1=beta1,
                beta2=beta2,
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                maximize=group["maximize"],
            )


@document_functional(
    Adamax,
    "[tt.zeros(2)], [tt.zeros(2)], [tt.tensor(0.0)], eps=1e-8, beta1=0.9, beta2=0.99, "
    "lr=0.1, weight_decay=0",
)
def adamax(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_infs: list[Tensor],
    state_steps: list[Tensor], foreach: bool | None = None, maximize: bool = False,
    differentiable: bool = False, capturable: bool = False, has_complex: bool = False, *,
    eps: float, beta1: float, beta2: float, lr: float, weight_decay: float,
) -> None:  # fmt: skip
    run_functional(Adamax, params, grads, locals(), betas=(beta1, beta2))
