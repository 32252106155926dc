"""RMSprop."""

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

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(ArrayOptimizer):
    r"""RMSprop: steps scaled by a running average of the squared gradient.

    With gradient ``g``::

        s = alpha * s + (1 - alpha) * g**2
        a = alpha * a + (1 - alpha) * g                (centered; else 0)
        b = momentum * b + g / (sqrt(s - a**2) + eps)
        p = p - lr * b

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.01.
        alpha: Decay rate of the averages. Default: 0.99.
        eps: Number added to the denominator. Default: 1e-8.
        weight_decay: Factor of the L2 penalty. Default: 0.
        momentum: Decay rate of the velocity ``b``. Default: 0.
        centered: Divide by an estimate of the gradient's standard deviation, with ``a`` as its
            mean. Default: False.
        capturable: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: False.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.

    Raises:
        ValueError: If a number is negative.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.RMSprop([w], lr=0.05)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.5000, -1.5000], requires_grad=True)

    Reference:
        T. Tieleman, G. Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012;
        centered: A. Graves, "Generating Sequences With Recurrent Neural Networks", 2013.
    """

    _listed_state = ("square_avg", "momentum_buffer", "grad_avg", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 <= eps, "epsilon value", eps)
        check(0.0 <= momentum, "momentum value", momentum)
        check(0.0 <= weight_decay, "weight_decay value", weight_decay)
        check(0.0 <= alpha, "alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        state = {"step": scalar_state(), "square_avg": state_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = state_like(p)
        if group["centered"]:
            state["grad_avg"] = state_like(p)
        return state

    def _update(self, group: ParamGroup) -> None:
        names = [
            "square_avg",
            "grad_avg" if group["centered"] else None,
            "momentum_buffer" if group["momentum"] > 0 else None,
        ]
        for bucket in self._buckets(group, names):
            bucket.run(
                "rmsprop_update",
                lr=to_number(group["lr"], group),
                alpha=group["alpha"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                maximize=group["maximize"],
            )


@document_functional(
    RMSprop,
    "[tt.zeros(2)], [], [], [tt.tensor(0.0)], lr=0.1, alpha=0.9, eps=1e-8, "
    "weight_decay=0, momentum=0, centered=False",
)
def rmsprop(
    params: list[Tensor], grads: list[Tensor], square_avgs: list[Tensor],
    grad_avgs: list[Tensor], momentum_buffer_list: list[Tensor], state_steps: list[Tensor],
    foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    capturable: bool = False, has_complex: bool = False, *, lr: float, alpha: float, eps: float,
    weight_decay: float, momentum: float, centered: bool,
) -> None:  # fmt: skip
    run_functional(RMSprop, params, grads, locals())
