"""Post-local SGD: each rank takes its own steps, and parameters are averaged every few steps.

Lin et al., "Don't Use Large Mini-Batches, Use Local SGD", 2018.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ...optim.optimizer import Optimizer, ParamGroup
from ..algorithms.model_averaging.averagers import ModelAverager

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Optimizer that averages the parameters over the ranks after steps of a local optimizer.

    Args:
        optim: The local optimizer of this rank.
        averager: Averages the parameters every few steps.

    Example:
        >>> from tinytorch.distributed.algorithms.model_averaging import averagers
        >>> from tinytorch.distributed.optim import PostLocalSGDOptimizer
        >>> tt.distributed.init_process_group("mpi")
        >>> w = tt.ones(2, requires_grad=True)
        >>> averager = averagers.PeriodicModelAverager(period=4)
        >>> optimizer = PostLocalSGDOptimizer(tt.optim.SGD([w], lr=0.5), averager)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.5000, 0.5000], requires_grad=True)
        >>> optimizer.state_dict()["step"]
        1
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim: Optimizer = optim
        self.averager: ModelAverager = averager
        self.param_groups: list[ParamGroup] = optim.param_groups

    @property
    def state(self) -> Any:  # type: ignore[override]
        """State of the local optimizer."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """State dict of the local optimizer, with the averager's ``step``."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state of the local optimizer and the averager's ``step``."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warnings.warn(
                "Loaded state dict does not contain a step counter for an averager. "
                "Setting step counter to 0.",
                stacklevel=2,
            )
        self.averager.step = state_dict.get("step", 0)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step, and average the parameters if that is due."""
        loss = self.optim.step(closure)
        self.averager.average_parameters(self.param_groups)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a parameter group to the local optimizer."""
        self.optim.add_param_group(param_group)
