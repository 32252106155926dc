"""Rprop: steps from the signs of gradients."""

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

__all__ = ["Rprop", "rprop"]


class Rprop(ArrayOptimizer):
    r"""Rprop: steps that depend only on the signs of the gradients.

    Each element has a step size of its own. It grows while the gradient keeps its sign and
    shrinks when the sign flips. After a flip the element does not move in that step. Rprop is
    intended for gradients of the full data set, not of batches.

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Initial step size. Default: 0.01.
        etas: The factor that shrinks a step size, in (0, 1), and the factor that grows it, above
            1. Default: (0.5, 1.2).
        step_sizes: Smallest and largest step size. Default: (1e-6, 50).
        capturable: Accepted and ignored. Default: False.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.
        differentiable: Record the step, so that gradients flow through it. Default: False.

    Raises:
        ValueError: If ``lr`` is negative, or a factor is out of range.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.Rprop([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.9000, -1.9000], requires_grad=True)

    Reference:
        M. Riedmiller, H. Braun, "A direct adaptive method for faster backpropagation learning:
        the RPROP algorithm", IEEE ICNN 1993.
    """

    _listed_state = ("prev", "step_size", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check(0.0 < etas[0] < 1.0 < etas[1], "eta values", f"{etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        size = to_number(group["lr"])
        # A complex tensor is updated as its real and imaginary parts; each has a step size.
        size = state_like(p, complex(size, size) if p.is_complex() else size)
        return {"step": scalar_state(), "prev": state_like(p), "step_size": size}

    def _update(self, group: ParamGroup) -> None:
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        for bucket in self._buckets(group, ["prev", "step_size"]):
            bucket.run(
                "rprop_update",
                shrink=shrink,
                grow=grow,
                smallest=smallest,
                largest=largest,
                maximize=group["maximize"],
            )


@document_functional(
    Rprop,
    "[tt.zeros(2)], [tt.ones(2)], [tt.tensor(0.0)], step_size_min=1e-6, step_size_max=50, "
    "etaminus=0.5, etaplus=1.2",
)
def rprop(
    params: list[Tensor], grads: list[Tensor], prevs: list[Tensor], step_sizes: list[Tensor],
    state_steps: list[Tensor], foreach: bool | None = None, capturable: bool = False,
    maximize: bool = False, differentiable: bool = False, has_complex: bool = False, *,
    step_size_min: float, step_size_max: float, etaminus: float, etaplus: float,
) -> None:  # fmt: skip
    run_functional(
        Rprop,
        params,
        grads,
        locals(),
        etas=(etaminus, etaplus),
        step_sizes=(step_size_min, step_size_max),
    )
