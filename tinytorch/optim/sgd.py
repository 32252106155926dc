"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check,
    check_implementation,
    check_lr,
    functional,
    like,
    number,
    run,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["SGD", "sgd"]


class SGD(ArrayOptimizer):
    r"""Stochastic gradient descent, with momentum in Polyak's or Nesterov's form.

    With gradient ``g`` (plus ``weight_decay * p``) and velocity ``b``::

        b = momentum * b + (1 - dampening) * g      (b = g at the first step)
        p = p - lr * (g + momentum * b  if nesterov else  b)

    The learning rate is outside the velocity, so that a change of ``lr`` acts at once.

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        momentum: Share of the velocity kept per step; 0 keeps none. Default: 0.
        dampening: Share of the gradient withheld from the velocity. Default: 0.
        weight_decay: Factor of the L2 penalty. Default: 0.
        nesterov: Look ahead by one velocity step. Needs momentum and no dampening.
            Default: False.
        maximize: Ascend instead of descending. Default: False.
        foreach: Accepted; selects nothing. Default: None.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        fused: Take an ``lr`` that is a tensor on a device without waiting for its number.
            Default: None.

    Raises:
        ValueError: For a negative rate, momentum or weight decay, or ``nesterov`` without
            momentum or with dampening.

    Example:
        >>> import tinytorch as tt
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8000, -1.6000], requires_grad=True)

    Reference:
        I. Sutskever, J. Martens, G. Dahl, G. Hinton, "On the importance of initialization
        and momentum in deep learning", ICML 2013.
    """

    _listed_state = ("momentum_buffer",)

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check(momentum >= 0.0, "momentum value", momentum)
        check(number(weight_decay) >= 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(fused, foreach, differentiable)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # PyTorch saves None for a parameter that momentum has not touched yet.
        for entry in self.state.values():
            if entry.get("momentum_buffer", self) is None:
                del entry["momentum_buffer"]

    def _init_group(
        self, group: ParamGroup, params: list[Tensor], grads: list[Tensor], *states: list[Any]
    ) -> bool:
        """List parameters, gradients and, with momentum, the buffers; None before the first step.

        Returns:
            Whether a gradient is sparse: False.
        """
        (momentum_buffer_list,) = states
        for p in group["params"]:
            if p.grad is not None:
                params.append(p)
                grads.append(p.grad)
                if group["momentum"]:
                    momentum_buffer_list.append(self.state[p].get("momentum_buffer"))
        return False

    def _start(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {"momentum_buffer": like(p)}

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> bool:
        return fresh

    def _update(self, group: ParamGroup) -> None:
        name = "momentum_buffer" if group["momentum"] else None
        for bucket in self._buckets(group, [name]):
            bucket.run(
                "sgd_update",
                lr=number(group["lr"], group),
                momentum=group["momentum"],
                # The first velocity is the whole gradient.
                dampening=0 if bucket.key else group["dampening"],
                weight_decay=number(group["weight_decay"], group),
                nesterov=group["nesterov"],
                maximize=group["maximize"],
            )


@functional(
    SGD,
    "[None], weight_decay=0, momentum=0.9, lr=0.1, dampening=0, nesterov=False, maximize=False",
)
def sgd(
    params: list[Tensor], d_p_list: list[Tensor], momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False, foreach: bool | None = None, fused: bool | None = None,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None, *, weight_decay: float,
    momentum: float, lr: float, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    run(SGD, params, d_p_list, locals())
