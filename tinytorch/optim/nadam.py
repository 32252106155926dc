"""NAdam: Adam with Nesterov momentum."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check,
    check_adam_arguments,
    document_functional,
    run_functional,
    scalar_state,
    state_like,
    to_number,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["NAdam", "nadam"]


class NAdam(ArrayOptimizer):
    r"""NAdam: Adam with Nesterov momentum.

    With gradient ``g`` at step ``t`` and ``mu(t) = beta1 * (1 - 0.96**(t * momentum_decay) / 2)``::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        P = mu(1) * ... * mu(t)
        step = (1 - mu(t)) / (1 - P) * g + mu(t + 1) / (1 - P * mu(t + 1)) * m
        p = p - lr * step / (sqrt(v / (1 - beta2**t)) + eps)

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.002.
        betas: Decay rates of the averages of the gradient and of its square, in [0, 1).
            Default: (0.9, 0.999).
        eps: Number added to the denominator. Default: 1e-8.
        weight_decay: Factor of the L2 penalty. Default: 0.
        momentum_decay: Rate at which the momentum rises to ``beta1``. Default: 0.004.
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
        >>> optimizer = tt.optim.NAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8944, -1.8944], requires_grad=True)

    Reference:
        T. Dozat, "Incorporating Nesterov Momentum into Adam", ICLR workshop 2016.
    """

    _listed_state = ("exp_avg", "exp_avg_sq", "mu_product", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam_arguments(lr, betas, eps, weight_decay)
        check(0.0 <= momentum_decay, "momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {
            "step": scalar_state(),
            "mu_product": scalar_state(1.0),
            "exp_avg": state_like(p),
            "exp_avg_sq": state_like(p),
        }

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> Any:
        """Count one step; return the step count and the product of all momentums so far."""
        step = super()._advance(state, group, fresh)
        product = state["mu_product"]
        if group["differentiable"]:
            return step, product.mul_(_momentum(step, group))
        product._data *= _momentum(step, group)
        return step, to_number(product)

    def _update(self, group: ParamGroup) -> None:
        beta1, beta2 = group["betas"]
        for bucket in self._buckets(group, ["exp_avg", "exp_avg_sq"]):
            step, product = bucket.key
            now, later = _momentum(step, group), _momentum(step + 1, group)
            bucket.run(
                "nadam_update",
                step=step,
                lr=to_number(group["lr"], group),
                beta1=beta1,
                beta2=beta2,
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                decoupled=group["decoupled_weight_decay"],
                maximize=group["maximize"],
                mean_scale=later / (1.0 - product * later),
                grad_scale=(1.0 - now) / (1.0 - product),
            )


def _momentum(step: float, group: ParamGroup) -> float:
    """The momentum at a step, which rises from half of ``beta1`` to ``beta1``."""
    warm_up: float = 1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"])
    return to_number(group["betas"][0]) * warm_up  # type: ignore[no-any-return]


@document_functional(
    NAdam,
    "[tt.zeros(2)], [tt.zeros(2)], [tt.ones(())], [tt.tensor(0.0)], beta1=0.9, "
    "beta2=0.99, lr=0.1, weight_decay=0, momentum_decay=0, eps=1e-8",
)
def nadam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor], mu_products: list[Tensor], state_steps: list[Tensor],
    decoupled_weight_decay: bool = False, foreach: bool | None = None, capturable: bool = False,
    differentiable: bool = False, has_complex: bool = False, maximize: bool = False, *,
    beta1: float, beta2: float, lr: float, weight_decay: float, momentum_decay: float,
    eps: float,
) -> None:  # fmt: skip
    run_functional(NAdam, params, grads, locals(), betas=(beta1, beta2))
