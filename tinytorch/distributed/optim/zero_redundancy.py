"""An optimizer whose state is sharded across the ranks.

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
    """Wrap an optimizer class, and shard its state across the ranks.

    Each rank updates some of the parameters by ``optimizer_class``, with the state of these alone,
    and broadcasts them to the other ranks.

    Args:
        params: Parameters or parameter groups, the same on all ranks.
        optimizer_class: Class of the local optimizer.
        process_group: Process group. Default: the default group.
        parameters_as_bucket_view: Accepted and ignored.
        overlap_with_ddp: True is not supported. Default: False.
        **defaults: Arguments of ``optimizer_class``.

    Raises:
        ValueError: Before ``init_process_group``.
        NotImplementedError: With ``overlap_with_ddp``.

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
        self, params: ParamsT, optimizer_class: Callable[..., Optimizer], process_group: Any = None,
        parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any,
    ) -> None:  # fmt: skip
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not there")
        self.process_group: Any = world() if process_group is None else process_group
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._join_config = JoinConfig()
        self._load = [0] * self.process_group.size()
        self._owner: dict[Tensor, int] = {}
        self._consolidated: list[dict[str, Any]] | None = None
        super().__init__(params, defaults)
        self.optim: Optimizer = optimizer_class(self._local_groups(), **defaults)
        self._copy_options(self.optim, to_local=False)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a parameter group, on all ranks; see ``Optimizer.add_param_group``.

        Args:
            param_group: The parameter group.
        """
        super().add_param_group(param_group)
        # The largest parameters first, each to the rank with the fewest elements.
        for param in sorted(self.param_groups[-1]["params"], key=lambda p: -p.numel()):
            rank = self._load.index(min(self._load))
            self._owner[param] = rank
            self._load[rank] += param.numel()
        if hasattr(self, "optim"):
            self.optim.add_param_group(self._local_groups()[-1])

    def _owned_params(self, group: dict[str, Any], rank: int) -> list[Tensor]:
        return [param for param in group["params"] if self._owner[param] == rank]

    def _local_groups(self) -> list[dict[str, Any]]:
        """Copies of the parameter groups with this rank's parameters alone, for `optim`."""
        rank = self.process_group.rank()
        return [
            {**{k: v for k, v in group.items() if k != "param_names"},
             "params": self._owned_params(group, rank)}
            for group in self.param_groups
        ]  # fmt: skip

    def _copy_options(self, local: Optimizer, to_local: bool) -> None:
        """Copy the options of parameter groups, such as ``lr``, between two optimizers.

        Args:
            local: The local optimizer.
            to_local: Whether to copy from this optimizer to the local one, not the reverse.
        """
        for group, local_group in zip(self.param_groups, local.param_groups, strict=True):
            source, target = (group, local_group) if to_local else (local_group, group)
            excluded = ("params", "param_names")
            target.update({k: v for k, v in source.items() if k not in excluded})

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update this rank's parameters, and broadcast those of each rank.

        Args:
            closure: Function that reevaluates the model and returns the loss. Default: None.
            **kwargs: Arguments of the local optimizer's ``step``.
        """
        Join.notify_join_context(self)
        self._copy_options(self.optim, to_local=True)
        args = () if closure is None else (closure,)
        loss = self.optim.step(*args, **kwargs)
        for rank in range(self.process_group.size()):
            params = [p for group in self.param_groups for p in self._owned_params(group, rank)]
            broadcast_coalesced(params, rank, self.process_group)
        self._copy_options(self.optim, to_local=False)
        return loss

    # -- state -------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the state of all ranks on one, so that ``state_dict`` can be called there.

        All ranks call this.

        Args:
            to: Rank in the group. Default: 0.
        """
        group = self.process_group
        found: list[Any] | None = [None] * group.size() if group.rank() == to else None
        gather_object(self.optim.state_dict(), found, group=group, group_dst=to)
        self._consolidated = found

    def state_dict(self) -> dict[str, Any]:
        """State dict of ``optimizer_class`` with all parameters, as in one process.

        Raises:
            RuntimeError: If ``consolidate_state_dict`` has not been called for this rank.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.process_group.rank()})` on all ranks beforehand "
                "if you meant to save the global state."
            )
        whole = super().state_dict()
        for rank, part in enumerate(self._consolidated):
            indices = self._param_indices(rank)
            whole["state"].update({indices[i]: value for i, value in part["state"].items()})
        return whole

    def _param_indices(self, rank: int) -> list[int]:
        """Indices of the parameters that a rank updates, in the list of all parameters."""
        params = [p for group in self.param_groups for p in group["params"]]
        return [index for index, p in enumerate(params) if self._owner[p] == rank]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state dict of this class or of ``optimizer_class``.

        Args:
            state_dict: State dict of all parameters; each rank loads its part.

        Raises:
            ValueError: If the parameter groups do not match.
        """
        super().load_state_dict({**state_dict, "state": {}})
        indices = self._param_indices(self.process_group.rank())
        own = self.optim.state_dict()
        state = {
            local: state_dict["state"][index]
            for local, index in enumerate(indices)
            if index in state_dict["state"]
        }
        self.optim.load_state_dict({"state": state, "param_groups": own["param_groups"]})
        self._copy_options(self.optim, to_local=True)

    # -- inputs of unequal number --------------------------------------------------------------

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return a hook that takes steps while other ranks have inputs.

        Args:
            **kwargs: Ignored.
        """
        return _ZeROJoinHook(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        """The process group."""
        return self.process_group


class _ZeROJoinHook(JoinHook):
    """Hook that takes part in the steps of ranks that still have inputs."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        """Take a step, with the gradients of the shadowed reductions."""
        self.optimizer.step()
