"""Muon."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ._base import ArrayOptimizer, state_like, to_number
from .optimizer import ParamGroup, ParamsT

__all__ = ["Muon"]

_MOST_STEPS = 100


class Muon(ArrayOptimizer):
    r"""Muon: steps along the orthogonalized momentum, for weight matrices of hidden layers.

    With gradient ``g``::

        b = momentum * b + (1 - momentum) * g
        u = orthogonalize(momentum * b + (1 - momentum) * g  if nesterov else  b)
        p = p * (1 - lr * weight_decay) - lr * factor * u

    ``factor`` is ``sqrt(max(1, rows / columns))``, or ``0.2 * sqrt(max(rows, columns))``
    with ``adjust_lr_fn="match_rms_adamw"``. The iteration runs in the parameters' dtype.
    PyTorch's runs in bfloat16, so results agree with PyTorch's to about two digits of a step.

    Args:
        params: Matrices, as tensors, ``(name, tensor)`` pairs or parameter groups; see
            ``Optimizer``. Use another optimizer for vectors, embeddings and heads.
        lr: Learning rate. Default: 0.001.
        weight_decay: Decay per step, relative to ``lr``. Default: 0.1.
        momentum: Decay rate of the velocity ``b``. Default: 0.95.
        nesterov: Look ahead by one velocity step. Default: True.
        ns_coefficients: Coefficients of the Newton-Schulz polynomial. Default:
            (3.4445, -4.775, 2.0315).
        eps: Lower bound of the norm in the division. Default: 1e-7.
        ns_steps: Number of Newton-Schulz steps, below 100. Default: 5.
        adjust_lr_fn: Formula of ``factor``: ``"original"`` (the default) or
            ``"match_rms_adamw"``.

    Raises:
        ValueError: If a number is out of range, or a parameter is not a matrix.
        RuntimeError: In ``step``, if a parameter is complex.

    Example:
        >>> w = tt.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)
        >>> optimizer = tt.optim.Muon([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w[0, 0].item() < 2.0
        True

    Reference:
        K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024;
        J. Liu et al., "Muon is Scalable for LLM Training", 2025, arXiv:2502.16982.
    """

    _listed_state = ("momentum_buffer",)

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for value, name in (
            (to_number(lr), "Learning rate"),
            (momentum, "momentum"),
            (weight_decay, "weight decay"),
        ):
            if value < 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {p.shape}"
                    )

    def _initial_state(self, p: Tensor, group: ParamGroup) -> dict[str, Tensor]:
        return {"momentum_buffer": state_like(p)}

    def _advance(self, state: dict[str, Any], group: ParamGroup, fresh: bool) -> None:
        """Return one key for all parameters, since the update does not depend on the step count."""

    def _update(self, group: ParamGroup) -> None:
        if group["ns_steps"] >= _MOST_STEPS:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        if any(p.grad is not None and p.is_complex() for p in group["params"]):
            raise RuntimeError("Muon does not support complex parameters")
        for bucket in self._buckets(group, ["momentum_buffer"]):
            bucket.run(
                "muon_update",
                lr=to_number(group["lr"]),
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                nesterov=group["nesterov"],
                ns_coefficients=group["ns_coefficients"],
                eps=group["eps"],
                ns_steps=group["ns_steps"],
                adjust_lr_fn=group["adjust_lr_fn"],
            )
