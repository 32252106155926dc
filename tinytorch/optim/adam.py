"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import (
    ArrayOptimizer,
    check_adam_arguments,
    check_implementation,
    document_functional,
    run_functional,
    scalar_state,
    state_like,
    to_number,
)
from .optimizer import ParamGroup, ParamsT

__all__ = ["Adam", "AdamW", "adam"]


class Adam(ArrayOptimizer):
    r"""Adam: steps scaled by running averages of the gradient and of its square.

    With gradient ``g`` at step ``t``::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        p = p - lr * m / (1 - beta1**t) / (sqrt(v / (1 - beta2**t)) + eps)

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        betas: Decay rates of the two averages, in [0, 1). Default: (0.9, 0.999).
        eps: Number added to the denominator. Default: 1e-8.
        weight_decay: Factor of the L2 penalty. Default: 0.
        amsgrad: Divide by the largest ``v`` so far, for which convergence can be proved.
            Default: False.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        capturable: Use ``lr`` and betas that are tensors on a device without copying their values
            to the host. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        fused: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: None.
        decoupled_weight_decay: Shrink the parameters by ``lr * weight_decay`` instead of adding
            the penalty, as AdamW does. Default: False.

    Raises:
        ValueError: If ``lr``, ``eps`` or ``weight_decay`` is negative, or a beta outside [0, 1).

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.Adam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -1.9000], requires_grad=True)

    Reference:
        D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015;
        S. J. Reddi, S. Kale, S. Kumar, "On the Convergence of Adam and Beyond", ICLR 2018.
    """

    _listed_state = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check_tensors(lr, betas, bool(foreach and not capturable))
        check_adam_arguments(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_implementation(fused, foreach, differentiable)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        state = {"step": scalar_state(), "exp_avg": state_like(p), "exp_avg_sq": state_like(p)}
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = state_like(p)
        return state

    def _update_sparse(self, p: Tensor, grad: Any, group: ParamGroup) -> None:
        raise RuntimeError(
            "Adam does not support sparse gradients, please consider SparseAdam instead"
        )

    def _update(self, group: ParamGroup) -> None:
        names = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq" if group["amsgrad"] else None]
        beta1, beta2 = group["betas"]
        for bucket in self._buckets(group, names):
            bucket.run(
                "adam_update",
                step=bucket.key,
                lr=to_number(group["lr"], group),
                beta1=to_number(beta1, group),
                beta2=to_number(beta2, group),
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                decoupled=group["decoupled_weight_decay"],
                maximize=group["maximize"],
            )


class AdamW(Adam):
    r"""Adam with decoupled weight decay: ``p`` shrinks by ``lr * weight_decay`` per step.

    The decay does not enter the running averages, so it acts equally on all parameters.

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Learning rate. Default: 0.001.
        betas: Decay rates of the two averages, in [0, 1). Default: (0.9, 0.999).
        eps: Number added to the denominator. Default: 1e-8.
        weight_decay: The decay per step, relative to ``lr``. Default: 0.01.
        amsgrad: Divide by the largest second moment so far. Default: False.
        maximize: Ascend instead of descending. Default: False.
        foreach: Accepted and ignored. Default: None.
        capturable: Use ``lr`` and betas that are tensors on a device without copying their values
            to the host. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.
        fused: Use an ``lr`` tensor on a device without copying its value to the host.
            Default: None.

    Raises:
        ValueError: If ``lr``, ``eps`` or ``weight_decay`` is negative, or a beta outside [0, 1).

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8500, -1.8000], requires_grad=True)

    Reference:
        I. Loshchilov, F. Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # A checkpoint of Adam must not disable decoupled weight decay.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def _check_tensors(lr: Any, betas: tuple[Any, Any], noncapturable_foreach: bool) -> None:
    """Raise for combinations of tensors as hyperparameters that PyTorch rejects.

    ``noncapturable_foreach`` is True for ``foreach=True`` without ``capturable``.
    """
    tensors = [isinstance(beta, Tensor) for beta in betas]
    if noncapturable_foreach and isinstance(lr, Tensor):
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    if any(tensors) and not all(tensors):
        raise ValueError("betas must be either both floats or both Tensors")
    for index, beta in enumerate(betas):
        if not tensors[index]:
            continue
        if noncapturable_foreach:
            raise ValueError(
                f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True"
            )
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")


@document_functional(
    Adam,
    "[tt.zeros(2)], [tt.zeros(2)], [], [tt.tensor(0.0)], amsgrad=False, beta1=0.9, "
    "beta2=0.99, lr=0.1, weight_decay=0, eps=1e-8, maximize=False",
)
def adam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor], max_exp_avg_sqs: list[Tensor], state_steps: list[Tensor],
    foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
    fused: bool | None = None, grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None, has_complex: bool = False,
    decoupled_weight_decay: bool = False, *, amsgrad: bool, beta1: float | Tensor,
    beta2: float | Tensor, lr: float | Tensor, weight_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    run_functional(Adam, params, grads, locals(), betas=(beta1, beta2))
