"""AdamW."""

from __future__ import annotations

from ..core.tensor import Tensor
from ._base import document_functional, run_functional
from .adam import AdamW as AdamW

__all__ = ["AdamW", "adamw"]


@document_functional(
    AdamW,
    "[tt.zeros(2)], [tt.zeros(2)], [], [tt.tensor(0.0)], amsgrad=False, beta1=0.9, "
    "beta2=0.99, lr=0.1, weight_decay=0, eps=1e-8, maximize=False",
)
def adamw(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor], max_exp_avg_sqs: list[Tensor], state_steps: list[Tensor],
    foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
    fused: bool | None = None, grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None, has_complex: bool = False, *, amsgrad: bool,
    beta1: float | Tensor, beta2: float | Tensor, lr: float | Tensor, weight_decay: float,
    eps: float, maximize: bool,
) -> None:  # fmt: skip
    run_functional(
        AdamW, params, grads, locals(), betas=(beta1, beta2), decoupled_weight_decay=True
    )
