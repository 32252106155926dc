"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check,
    check_implementation,
    check_lr,
    document_functional,
    run_functional,
    state_like,
    to_number,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["SGD", "sgd"]


class SGD(ArrayOptimizer):
    r"""Stochastic gradient descent, with momentum in Polyak's or Nesterov's form.

    With gradient ``g`` (plus ``weight_decay * p``) and velocity ``b``::

        b = momentum * b + (1 - dampening) * g      (b = g at the first step)
        p = p - lr * (g + momentum * b  if nesterov else  b)

    The velocity does not contain the learning rate, so a change of ``lr`` acts at once.

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        momentum: Decay rate of the velocity; 0 means no velocity. Default: 0.
        dampening: Share of the gradient that is not added to the velocity. Default: 0.
        weight_decay: Factor of the L2 penalty. Default: 0.
        nesterov: Look ahead by one velocity step. Requires momentum and no dampening.
            Default: False.
        maximize: Ascend instead of descending. Default: False.
        foreach: Accepted and ignored. Default: None.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        fused: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: None.

    Raises:
        ValueError: If ``lr``, ``momentum`` or ``weight_decay`` is negative, or if ``nesterov`` is
            set without momentum or with dampening.

    Example:
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
        check(to_number(weight_decay) >= 0.0, "weight_decay value", weight_decay)
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
        # PyTorch saves None for a parameter before its first step with momentum.
        for entry in self.state.values():
            if entry.get("momentum_buffer", self) is None:
                del entry["momentum_buffer"]

    def _init_group(
        self, group: ParamGroup, params: list[Tensor], grads: list[Tensor], *states: list[Any]
    ) -> bool:
        """List parameters, gradients and, with momentum, buffers (None before the first step).

        Returns:
            Whether a gradient is sparse.
        """
        (momentum_buffer_list,) = states
        has_sparse = False
        for p in group["params"]:
            if p.grad is not None:
                params.append(p)
                grads.append(p.grad)
                has_sparse |= p.grad.is_sparse
                if group["momentum"]:
                    momentum_buffer_list.append(self.state[p].get("momentum_buffer"))
        return has_sparse

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {"momentum_buffer": state_like(p)}

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> bool:
        """Return the bucket's key: whether this is the first step of the momentum buffer."""
        return fresh

    def _update_sparse(self, p: Tensor, grad: Any, group: ParamGroup) -> None:
        """Update the rows of a sparse gradient; the velocity is sparse as well, as in PyTorch."""
        if group["weight_decay"]:
            raise RuntimeError(
                "SGD: weight_decay is not compatible with sparse gradients: add(sparse, dense) is "
                "not supported"
            )
        grad = -grad if group["maximize"] else grad
        momentum, state = group["momentum"], self.state[p]
        if momentum:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = grad.clone()
            else:  # coalesced, so that it does not grow with each step
                velocity = (velocity * momentum + grad * (1 - group["dampening"])).coalesce()
            state["momentum_buffer"] = velocity
            grad = grad + velocity * momentum if group["nesterov"] else velocity
        p.add_(grad, alpha=-float(to_number(group["lr"])))

    def _update(self, group: ParamGroup) -> None:
        name = "momentum_buffer" if group["momentum"] else None
        for bucket in self._buckets(group, [name]):
            bucket.run(
                "sgd_update",
                lr=to_number(group["lr"], group),
                momentum=group["momentum"],
                # In the first step the velocity is the gradient, without dampening.
                dampening=0 if bucket.key else group["dampening"],
                weight_decay=to_number(group["weight_decay"], group),
                nesterov=group["nesterov"],
                maximize=group["maximize"],
            )


@document_functional(
    SGD,
    "[None], weight_decay=0, momentum=0.9, lr=0.1, dampening=0, nesterov=False, maximize=False",
)
def sgd(
    params: list[Tensor], d_p_list: list[Tensor], momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False, foreach: bool | None = None, fused: bool | None = None,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None, *, weight_decay: float,
    momentum: float, lr: float, dampening: float, nesterov: bool, maximize: bool,
) -> None:  # fmt: skip
    run_functional(SGD, params, d_p_list, locals())
