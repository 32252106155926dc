"""An optimizer whose state is divided among the ranks.

Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", 2020,
stage 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...optim.optimizer import Optimizer, ParamsT
from ..algorithms.join import Join, Joinable, JoinConfig, JoinHook
from ..coalescing import broadcast_coalesced
from ..object_collectives import gather_object
from ..process_group import world

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Gives each rank some of the parameters to update, and sends them to the others.

    The steps are those of ``optimizer_class``; a rank keeps state for its own parameters alone.

    Args:
        params: As for any optimizer; the same on all ranks.
        optimizer_class: What updates a rank's parameters.
        process_group: Among whom. Default: all.
        parameters_as_bucket_view: Accepted; means nothing.
        overlap_with_ddp: Refused.
        **defaults: Arguments of ``optimizer_class``.

    Raises:
        ValueError: Before ``init_process_group``.
        NotImplementedError: For ``overlap_with_ddp``.

    Example:
        >>> from tinytorch.distributed.optim import ZeroRedundancyOptimizer
        >>> tt.distributed.init_process_group("mpi")
        >>> w = tt.ones(2, requires_grad=True)
        >>> optimizer = ZeroRedundancyOptimizer([w], tt.optim.SGD, lr=0.5)
        >>> w.sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.5000, 0.5000], requires_grad=True)
        >>> optimizer.consolidate_state_dict(to=0)
        >>> optimizer.load_state_dict(optimizer.state_dict())
        >>> optimizer.add_param_group({"params": [tt.ones(1, requires_grad=True)]})
        >>> hook = optimizer.join_hook()
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self,
        params: ParamsT,
        optimizer_class: Callable[..., Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not there")
        self.process_group = world() if process_group is None else process_group
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._join_config = JoinConfig()
        self._load = [0] * self.process_group.size()
        self._owner: dict[Tensor, int] = {}
        self._consolidated: list[dict[str, Any]] | None = None
        super().__init__(params, defaults)
        self.optim = optimizer_class(self._parts(), **defaults)
        self._copy_options(self.optim, to_local=False)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize further tensors; see ``Optimizer.add_param_group``. All ranks do.

        Args:
            param_group: The group.
        """
        super().add_param_group(param_group)
        # The largest first, each to the rank that has least.
        for param in sorted(self.param_groups[-1]["params"], key=lambda p: -p.numel()):
            rank = self._load.index(min(self._load))
            self._owner[param] = rank
            self._load[rank] += param.numel()
        if hasattr(self, "optim"):
            self.optim.add_param_group(self._parts()[-1])

    def _own(self, group: dict[str, Any], rank: int) -> list[Tensor]:
        return [param for param in group["params"] if self._owner[param] == rank]

    def _parts(self) -> list[dict[str, Any]]:
        """The groups, with this rank's parameters alone."""
        rank = self.process_group.rank()
        return [
            {**{k: v for k, v in group.items() if k != "param_names"},
             "params": self._own(group, rank)}
            for group in self.param_groups
        ]  # fmt: skip

    def _copy_options(self, local: Optimizer, to_local: bool) -> None:
        """Hyper-parameters, from where programs change them to where they are used, or back."""
        for mine, part in zip(self.param_groups, local.param_groups, strict=True):
            source, target = (mine, part) if to_local else (part, mine)
            kept = ("params", "param_names")
            target.update({k: v for k, v in source.items() if k not in kept})

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update this rank's parameters, and take those of the others.

        Args:
            closure: As for any optimizer.
            **kwargs: Handed on.
        """
        Join.notify_join_context(self)
        self._copy_options(self.optim, to_local=True)
        args = () if closure is None else (closure,)
        loss = self.optim.step(*args, **kwargs)
        for rank in range(self.process_group.size()):
            params = [p for group in self.param_groups for p in self._own(group, rank)]
            broadcast_coalesced(params, rank, self.process_group)
        self._copy_options(self.optim, to_local=False)
        return loss

    # -- state -------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the state of all ranks to one, so that ``state_dict`` can be called there.

        Args:
            to: The rank. Default: 0. All ranks call this.
        """
        group = self.process_group
        here = group.rank() == to
        found: list[Any] | None = [None] * group.size() if here else None
        gather_object(self.optim.state_dict(), found, group=group, group_dst=to)
        self._consolidated = found

    def state_dict(self) -> dict[str, Any]:
        """What ``optimizer_class`` would return for all parameters in one process.

        Raises:
            RuntimeError: If ``consolidate_state_dict`` has not been called, for this rank.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.process_group.rank()})` on all ranks beforehand "
                "if you meant to save the global state."
            )
        whole = super().state_dict()
        for rank, part in enumerate(self._consolidated):
            places = self._places(rank)
            whole["state"].update({places[i]: value for i, value in part["state"].items()})
        return whole

    def _places(self, rank: int) -> list[int]:
        """Where among all parameters a rank's are."""
        everyone = [p for group in self.param_groups for p in group["params"]]
        return [place for place, p in enumerate(everyone) if self._owner[p] == rank]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what ``state_dict`` returned, here or of ``optimizer_class``.

        Args:
            state_dict: The whole state; each rank takes its part.

        Raises:
            ValueError: If it is of other parameter groups.
        """
        super().load_state_dict({**state_dict, "state": {}})
        places = self._places(self.process_group.rank())
        own = self.optim.state_dict()
        state = {
            index: state_dict["state"][place]
            for index, place in enumerate(places)
            if place in state_dict["state"]
        }
        self.optim.load_state_dict({"state": state, "param_groups": own["param_groups"]})
        self._copy_options(self.optim, to_local=True)

    # -- inputs of unequal number --------------------------------------------------------------

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What steps while others have inputs.

        Args:
            **kwargs: Not looked at.
        """
        return _Stepping(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        """The group."""
        return self.process_group


class _Stepping(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        """The rank's own parameters are updated by the gradients that it shadowed."""
        self.optimizer.step()
