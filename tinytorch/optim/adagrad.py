"""Adagrad."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check,
    check_implementation,
    check_lr,
    document_functional,
    increase,
    run_functional,
    scalar_state,
    state_like,
    to_number,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["Adagrad", "adagrad"]


class Adagrad(ArrayOptimizer):
    r"""Adagrad: each element's learning rate falls with the sum of its squared gradients.

    With gradient ``g`` at step ``t``::

        s = s + g**2
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.01.
        lr_decay: Decay of the learning rate with the number of steps. Default: 0.
        weight_decay: Factor of the L2 penalty. Default: 0.
        initial_accumulator_value: Initial value of the sums. Default: 0.
        eps: Number added to the denominator. Default: 1e-10.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        fused: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: None.

    Raises:
        ValueError: If a number is negative.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.Adagrad([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -1.9000], requires_grad=True)

    Reference:
        J. Duchi, E. Hazan, Y. Singer, "Adaptive Subgradient Methods for Online Learning and
        Stochastic Optimization", JMLR 12, 2011.
    """

    _listed_state = ("sum", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check(0.0 <= lr_decay, "lr_decay value", lr_decay)
        check(0.0 <= weight_decay, "weight_decay value", weight_decay)
        check(
            0.0 <= initial_accumulator_value,
            "initial_accumulator_value value",
            initial_accumulator_value,
        )
        check(0.0 <= eps, "epsilon value", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(fused, foreach, differentiable)
        # Unlike the other optimizers, Adagrad creates its state before the first step.
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = self._initial_state(p, group)

    def share_memory(self) -> None:
        """Move the sums of squares to shared memory.

        Example:
            >>> optimizer = tt.optim.Adagrad([tt.ones(2, requires_grad=True)])
            >>> optimizer.share_memory()
        """
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _init_group(
        self, group: ParamGroup, params: list[Tensor], grads: list[Tensor], *states: list[Any]
    ) -> tuple[bool, bool]:
        """List parameters, gradients and state.

        Returns:
            Whether a gradient is sparse, and whether a parameter is complex.
        """
        has_complex = super()._init_group(group, params, grads, *states)
        return any(grad.is_sparse for grad in grads), has_complex

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        start = group["initial_accumulator_value"]
        # A complex tensor is updated as its real and imaginary parts; each has a sum.
        total = state_like(p, complex(start, start) if p.is_complex() else start)
        return {"step": scalar_state(), "sum": total}

    def _update_sparse(self, p: Tensor, grad: Any, group: ParamGroup) -> None:
        """Update the rows of a sparse gradient, and their sums of squares."""
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self.state[p]
        step = increase(state["step"], 1.0)
        rate = to_number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        grad = (-grad if group["maximize"] else grad).coalesce()
        state["sum"].add_(grad.pow(2))
        sums = state["sum"].sparse_mask(grad).values()
        change = grad.make_like(grad.values() / (sums.sqrt() + group["eps"]))
        p.add_(change, alpha=-float(rate))

    def _update(self, group: ParamGroup) -> None:
        for bucket in self._buckets(group, ["sum"]):
            bucket.run(
                "adagrad_update",
                step=bucket.key,
                lr=to_number(group["lr"], group),
                lr_decay=group["lr_decay"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                maximize=group["maximize"],
            )


@document_functional(
    Adagrad,
    "[tt.zeros(2)], [tt.tensor(0.0)], lr=0.1, lr_decay=0, eps=1e-10, weight_decay=0, "
    "maximize=False",
)
def adagrad(
    params: list[Tensor], grads: list[Tensor], state_sums: list[Tensor],
    state_steps: list[Tensor], fused: bool | None = None, grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None, has_sparse_grad: bool = False, foreach: bool | None = None,
    differentiable: bool = False, has_complex: bool = False, *, lr: float, weight_decay: float,
    lr_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    run_functional(Adagrad, params, grads, locals())
