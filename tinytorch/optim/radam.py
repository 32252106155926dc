"""RAdam: Adam with a rectified adaptive learning rate."""

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

__all__ = ["RAdam", "radam"]


class RAdam(ArrayOptimizer):
    r"""RAdam: Adam whose adaptive learning rate is rectified during the first steps.

    With gradient ``g`` at step ``t``, ``n = 2 / (1 - beta2) - 1`` and
    ``k = n - 2 * t * beta2**t / (1 - beta2**t)``::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        r = sqrt((k - 4) * (k - 2) * n / ((n - 4) * (n - 2) * k))
        step = m / (1 - beta1**t)
        step = step * r * sqrt(1 - beta2**t) / (sqrt(v) + eps)    (only where k > 5)
        p = p - lr * step

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        betas: Decay rates of the averages of the gradient and of its square, in [0, 1).
            Default: (0.9, 0.999).
        eps: Number added to the denominator. Default: 1e-8.
        weight_decay: Factor of the L2 penalty. Default: 0.
        decoupled_weight_decay: Shrink the parameters by ``lr * weight_decay`` instead of adding
            the penalty. Default: False.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        capturable: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.

    Raises:
        ValueError: If a number is negative, or a beta outside [0, 1).

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.RAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8000, -1.6000], requires_grad=True)

    Reference:
        L. Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", ICLR 2020.
    """

    _listed_state = ("exp_avg", "exp_avg_sq", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam_arguments(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {"step": scalar_state(), "exp_avg": state_like(p), "exp_avg_sq": state_like(p)}

    def _update(self, group: ParamGroup) -> None:
        beta1, beta2 = group["betas"]
        for bucket in self._buckets(group, ["exp_avg", "exp_avg_sq"]):
            bucket.run(
                "radam_update",
                step=bucket.key,
                lr=to_number(group["lr"], group),
                beta1=beta1,
                beta2=beta2,
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                decoupled=group["decoupled_weight_decay"],
                maximize=group["maximize"],
            )


@document_functional(
    RAdam,
    "[tt.zeros(2)], [tt.zeros(2)], [tt.tensor(0.0)], beta1=0.9, beta2=0.99, lr=0.1, "
    "weight_decay=0, eps=1e-8",
)
def radam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor], state_steps: list[Tensor], decoupled_weight_decay: bool = False,
    foreach: bool | None = None, differentiable: bool = False, capturable: bool = False,
    has_complex: bool = False, maximize: bool = False, *, beta1: float, beta2: float, lr: float,
    weight_decay: float, eps: float,
) -> None:  # fmt: skip
    run_functional(RAdam, params, grads, locals(), betas=(beta1, beta2))
