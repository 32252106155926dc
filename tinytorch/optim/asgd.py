"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check,
    check_lr,
    document_functional,
    has_device_scalars,
    run_functional,
    scalar_state,
    state_like,
    to_number,
)
from ._kernels import evaluate
from .optimizer import ParamGroup, ParamsT

__all__ = ["ASGD", "asgd"]


class ASGD(ArrayOptimizer):
    r"""Averaged stochastic gradient descent, whose state holds the average of the parameters.

    With gradient ``g`` at step ``t``, where ``ax`` in the state is the average::

        p = p * (1 - lambd * eta) - eta * g
        ax = ax + mu * (p - ax)
        eta = lr / (1 + lambd * lr * t)**alpha
        mu = 1 / max(1, t - t0)

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.01.
        lambd: Decay of the parameters per step, relative to the learning rate. Default: 1e-4.
        alpha: Exponent of the learning rate's decay. Default: 0.75.
        t0: Step at which averaging starts. Default: 1e6.
        weight_decay: Factor of the L2 penalty. Default: 0.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        capturable: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: False.

    Raises:
        ValueError: If the learning rate or weight decay is negative.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.ASGD([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8000, -1.6000], requires_grad=True)

    Reference:
        B. T. Polyak, A. B. Juditsky, "Acceleration of Stochastic Approximation by Averaging",
        SIAM J. Control Optim. 30, 1992.
    """

    _listed_state = ("mu", "ax", "eta", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 <= weight_decay, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        lr = _rate(group)
        eta = lr.detach().clone() if isinstance(lr, Tensor) else scalar_state(lr)
        return {"step": scalar_state(), "eta": eta, "mu": scalar_state(1.0), "ax": state_like(p)}

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> Any:
        """Count one step; return its ``(eta, mu)`` and store those of the next step."""
        step = super()._advance(state, group, fresh)
        lr, eta, mu = _rate(group), state["eta"], state["mu"]
        eta_and_mu = eta if isinstance(lr, Tensor) else to_number(eta), to_number(mu)
        # Compute eta and mu of the next step; this step uses those of the last one.
        next_eta = lr / (1.0 + group["lambd"] * lr * step) ** group["alpha"]
        if isinstance(next_eta, Tensor):
            state["eta"] = next_eta
        else:
            eta._data[...] = next_eta
        mu._data[...] = 1.0 / evaluate(max, 1.0, step - group["t0"])
        return eta_and_mu

    def _update(self, group: ParamGroup) -> None:
        for bucket in self._buckets(group, ["ax"]):
            eta, mu = bucket.key
            bucket.run(
                "asgd_update",
                lambd=group["lambd"],
                eta=eta,
                mu=mu,
                weight_decay=group["weight_decay"],
                maximize=group["maximize"],
            )


def _rate(group: ParamGroup) -> Any:
    """The learning rate as a number, or as a tensor on a device."""
    return group["lr"].reshape(()) if has_device_scalars(group) else to_number(group["lr"])


@document_functional(
    ASGD,
    "[tt.zeros(2)], [tt.ones(())], [tt.tensor(0.1)], [tt.tensor(0.0)], lambd=0, lr=0.1, "
    "t0=1e6, alpha=0.75, weight_decay=0",
)
def asgd(
    params: list[Tensor], grads: list[Tensor], axs: list[Tensor], mus: list[Tensor],
    etas: list[Tensor], state_steps: list[Tensor], foreach: bool | None = None,
    maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    has_complex: bool = False, *, lambd: float, lr: float, t0: float, alpha: float,
    weight_decay: float,
) -> None:  # fmt: skip
    run_functional(ASGD, params, grads, locals())
