"""Adafactor."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..core.tensor import Tensor, wrap
from ._base import ArrayOptimizer, params_and_grads, scalar_state, state_like, to_number
from .optimizer import ParamGroup, ParamsT

__all__ = ["Adafactor"]


class Adafactor(ArrayOptimizer):
    r"""Adafactor: Adam whose second moment of a matrix is stored as row and column means.

    The state of an ``(n, m)`` matrix has ``n + m`` elements. With gradient ``g`` at step ``t``::

        V = V + t**beta2_decay * (g**2 - V)                (as row and column means)
        u = g / sqrt(max(V, eps1**2))
        u = u / max(1, rms(u) / d)
        p = p - max(eps2, rms(p)) * min(lr, 1 / sqrt(t)) * u

    Args:
        params: Tensors, ``(name, tensor)`` pairs or parameter groups; see ``Optimizer``.
        lr: Largest step, relative to the size of the parameter. Default: 0.01.
        beta2_decay: Exponent of the step count in the decay rate of the averages, at most 0.
            Default: -0.8.
        eps: ``(eps1, eps2)``: the first keeps divisors above 0, the second is the lower bound of
            the size of a parameter. Default: (the dtype's machine epsilon, 0.001).
        d: Root mean square of a step above which the step is clipped. Default: 1.
        weight_decay: Decay per step, relative to ``lr``. Default: 0.
        foreach: Accepted and ignored. Default: None.
        maximize: Ascend instead of descending. Default: False.

    Raises:
        ValueError: If a number is out of range.
        RuntimeError: If a parameter is complex.

    Example:
        >>> w = tt.tensor([1.0, -2.0], requires_grad=True)
        >>> optimizer = tt.optim.Adafactor([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([ 0.8419, -1.8419], requires_grad=True)

    Reference:
        N. Shazeer, M. Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory
        Cost", ICML 2018.
    """

    _listed_state = ("row_var", "col_var", "variance", "step")

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for valid, rule, value in (
            (to_number(lr) >= 0.0, "Learning rate should be >= 0", lr),
            (beta2_decay <= 0.0, "beta2_decay should be <= 0", beta2_decay),
            (eps[0] is None or eps[0] >= 0.0, "epsilon1 should be >= 0", eps[0]),
            (eps[1] >= 0.0, "epsilon2 should be >= 0", eps[1]),
            (d >= 1.0, "Clipping threshold d should be >= 1", d),
            (weight_decay >= 0.0, "weight_decay should be >= 0", weight_decay),
        ):
            if not valid:
                raise ValueError(f"{rule} but is: {value}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = {"step": scalar_state()}
        if p.ndim < 2:
            return {**state, "variance": state_like(p)}
        xp, (*batch, n, m), dtype = p._xp, p.shape, p._data.dtype
        state["row_var"] = wrap(xp.zeros((*batch, n, 1), dtype), xp)
        state["col_var"] = wrap(xp.zeros((*batch, 1, m), dtype), xp)
        return state

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> Any:
        """Count one step; return the step count and the machine epsilon of the state's dtype."""
        step = super()._advance(state, group, fresh)
        tensor = state["variance"] if "variance" in state else state["row_var"]
        return step, dtypes.finfo(tensor.dtype).eps

    def _update(self, group: ParamGroup) -> None:
        """Update the matrices of a group, then its vectors, whose state differs."""
        pairs = [(p, grad) for p, grad in params_and_grads(group) if grad is not None]
        for p, _ in pairs:
            self.state[p]  # Create the entry, so that a state dict lists parameters in order.
        matrices = [pair for pair in pairs if pair[0].ndim >= 2]
        vectors = [pair for pair in pairs if pair[0].ndim < 2]
        self._update_kind(_select(group, matrices), ["row_var", "col_var", None])
        self._update_kind(_select(group, vectors), [None, None, "variance"])

    def _update_kind(self, group: ParamGroup, names: list[str | None]) -> None:
        """Update the parameters of one kind: matrices or vectors.

        Args:
            group: The group with the parameters of this kind only.
            names: Names of the state for rows, columns and variance, each None for the other kind.
        """
        eps1, eps2 = group["eps"]
        for bucket in self._buckets(group, names):
            step, machine_epsilon = bucket.key
            bucket.run(
                "adafactor_update",
                step=step,
                lr=to_number(group["lr"]),
                beta2_decay=group["beta2_decay"],
                eps1=machine_epsilon if eps1 is None else eps1,
                eps2=eps2,
                d=group["d"],
                weight_decay=group["weight_decay"],
                maximize=group["maximize"],
            )


def _select(group: ParamGroup, pairs: list[tuple[Tensor, Any]]) -> ParamGroup:
    """Copy of the group that contains only these parameters and gradients."""
    return {**group, "params": [p for p, _ in pairs], "grads": [grad for _, grad in pairs]}
