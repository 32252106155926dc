"""A module that several processes train together, each on inputs of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ...distributed.algorithms.join import Join, Joinable, JoinConfig, JoinHook
from ...distributed.coalescing import broadcast_coalesced
from ...distributed.collectives import all_reduce
from ...distributed.object_collectives import all_gather_object
from ...distributed.process_group import world
from ...distributed.reduce_op import ReduceOp
from ...distributed.reducer import Reducer
from ...ops.create.factories import tensor
from ...state import is_grad_enabled
from ..module import Module

__all__ = ["DistributedDataParallel"]

_MIB = 1024 * 1024
#: The first bucket is small, so that its reduction begins early.
_FIRST = _MIB
_NO_GRADIENT = (
    "DistributedDataParallel is not needed when a module doesn't have any parameters that require "
    "a gradient."
)


class DistributedDataParallel(Module, Joinable):
    """A module whose gradients are the means of those of all ranks.

    Every rank makes one of the same module. Parameters and buffers become those of rank 0. In a
    backward pass gradients are put into buckets, and a bucket that is full is reduced while the
    pass goes on; when the pass ends, ``grad`` of every parameter is the mean over the ranks. Losses
    that are means over equal batches so give the gradients of one process with all the batches.

    Args:
        module: The module, kept as ``module``: the names in ``state_dict`` begin with it.
        device_ids: The GPU of this rank, in a list; None on the CPU. Default: None.
        output_device: Accepted; means nothing.
        dim: The same.
        broadcast_buffers: Whether every forward pass begins with the buffers of rank 0. Default:
            True.
        init_sync: Whether parameters and buffers are compared and sent at first. Default: True.
        process_group: Among whom. Default: all.
        bucket_cap_mb: MiB of a bucket. Default: 25; the first has 1.
        find_unused_parameters: Whether a pass may leave parameters out; the graph is walked after
            each forward pass. Default: False.
        check_reduction: Accepted; means nothing.
        gradient_as_bucket_view: Whether ``grad`` is a part of its bucket, which saves memory and
            copies. Default: False.
        static_graph: The same as ``find_unused_parameters`` here. Default: False.
        delay_all_reduce_named_params: Refused.
        param_to_hook_all_reduce: Refused.
        mixed_precision: Refused.
        device_mesh: Refused.

    Raises:
        ValueError: Before ``init_process_group``; for ``device_ids`` of a module on the CPU.
        RuntimeError: If no parameter requires a gradient, if ranks have different modules, or, in
            a forward pass, if the pass before left out gradients that were expected.
        NotImplementedError: For what is refused.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(2, 1))
        >>> model(tt.ones(3, 2)).sum().backward()
        >>> model.module.bias.grad
        tensor([3.])
        >>> list(model.state_dict())
        ['module.weight', 'module.bias']
        >>> model.will_sync_module_buffers()  # it has none
        False
        >>> with model.join():  # this rank may have fewer inputs than others
        ...     model(tt.ones(3, 2)).sum().backward()
        >>> hook = model.join_hook()
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> model.register_comm_hook(None, default_hooks.allreduce_hook)
        >>> tt.distributed.destroy_process_group()

    Reference: https://docs.pytorch.org/docs/stable/notes/ddp.html
    """

    module: Module

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
    ) -> None:
        super().__init__()
        _refuse(
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce,
            mixed_precision=mixed_precision, device_mesh=device_mesh,
        )  # fmt: skip
        self.process_group = world() if process_group is None else process_group
        self._join_config = JoinConfig()
        self.module, self.dim = module, dim
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(n, p) for n, p in module.named_parameters() if n not in ignored]
        trained = [(n, p) for n, p in named if p.requires_grad]
        if not trained:
            raise RuntimeError(_NO_GRADIENT)
        self.device = trained[0][1].device
        _check_devices(device_ids, self.device)
        self.device_ids, self.output_device = device_ids, output_device
        self.broadcast_buffers = broadcast_buffers is None or broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self._divides_by_all = True
        self._synced = [p for _, p in named]
        self._buffers_ignored = ignored
        if init_sync:
            self._check_alike(named)
            broadcast_coalesced([*self._synced, *self._own_buffers()], 0, self.process_group)
        cap = 25.0 if bucket_cap_mb is None else bucket_cap_mb
        if cap <= 0 or math.isnan(cap):
            raise ValueError(f"bucket_cap_mb must be positive, got {bucket_cap_mb}")
        size = int(cap * _MIB)
        self.reducer = Reducer(
            [n for n, _ in trained], [p for _, p in trained], self.process_group,
            (min(size, _FIRST), size), find_unused_parameters or static_graph,
            gradient_as_bucket_view,
        )  # fmt: skip

    def _own_buffers(self) -> list[Tensor]:
        named = self.module.named_buffers()
        return [buffer for name, buffer in named if name not in self._buffers_ignored]

    def _check_alike(self, named: Sequence[tuple[str, Tensor]]) -> None:
        """Compare the parameters' shapes and dtypes with those of the other ranks."""
        group = self.process_group
        mine = [(tuple(p.shape), str(p.dtype)) for _, p in named]
        found: list[Any] = [None] * group.size()
        all_gather_object(found, mine, group)
        for rank, theirs in enumerate(found):
            if len(theirs) != len(mine):
                raise RuntimeError(
                    "DDP expects same model across all ranks, but Rank "
                    f"{group.rank()} has {len(mine)} params, while rank {rank} has inconsistent "
                    f"{len(theirs)} params."
                )
            for index, (own, other) in enumerate(zip(mine, theirs, strict=True)):
                if own != other:
                    raise RuntimeError(
                        f"[{group.rank()}]: params[{index}] in this process with sizes "
                        f"{list(own[0])} and dtype {own[1]} appears not to match sizes of the same "
                        f"param in process {rank}: {list(other[0])}, {other[1]}."
                    )

    # -- passes ------------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        """What the module computes; announces a backward pass if gradients are on."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs:
            self.reducer.check_finished()
        self._notify()
        if self.will_sync_module_buffers():
            self._sync_buffers()
        if self._join_config.enable:
            self._agree_on_sync(syncs)
        output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = syncs or not is_grad_enabled()
        if syncs:
            self.reducer.prepare(output)
        return output  # type: ignore[no-any-return]

    def _notify(self) -> None:
        work = Join.notify_join_context(self)
        if work is not None:
            (count,) = work.result()
            everyone = self.process_group.size()
            self.reducer.divisor = everyone if self._divides_by_all else int(count)

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass begins with the buffers of rank 0."""
        return bool(
            self.require_forward_param_sync and self.broadcast_buffers and self._own_buffers()
        )

    def _sync_buffers(self, joined: bool = False) -> None:
        source = self._highest(not joined) if self._join_config.enable or joined else 0
        broadcast_coalesced(self._own_buffers(), source, self.process_group)

    def _highest(self, candidate: bool) -> int:
        """The highest rank of those that are candidates."""
        rank = tensor([self.process_group.rank() if candidate else -1], device=self.device)
        all_reduce(rank, ReduceOp.MAX, self.process_group)
        if int(rank) < 0:
            raise RuntimeError("BUG! Expected rank_cond to be true for at least one process.")
        return int(rank)

    def _agree_on_sync(self, wanted: bool) -> bool:
        """Whether ranks that still have inputs reduce gradients in this iteration."""
        flag = tensor([1.0 if wanted else 0.0], device=self.device)
        all_reduce(flag, group=self.process_group)
        return bool(flag)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose passes leave gradients as they are on each rank; the next pass outside of
        it reduces what has been added up.

        Example:
            >>> import tinytorch as tt
            >>> tt.distributed.init_process_group("mpi")
            >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1))
            >>> with model.no_sync():
            ...     model(tt.ones(1, 1)).sum().backward()
            >>> tt.distributed.destroy_process_group()
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: object, hook: Callable[..., Any]) -> None:
        """Have a function reduce the buckets.

        Args:
            state: Its first argument.
            hook: Gets ``state`` and a ``GradBucket``, and returns a future of the bucket's reduced
                gradients, a flat tensor or a list of one.

        Raises:
            RuntimeError: If there is one.
            TypeError: If ``hook`` cannot be called.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self.reducer.hook = state, hook

    # -- inputs of unequal number -------------------------------------------------------------

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """A block in which ranks may have unequal numbers of inputs; see ``Join``.

        Args:
            divide_by_initial_world_size: Whether gradients are divided by the number of all ranks,
                and not of those that still have inputs. Default: True.
            enable: False does nothing. Default: True.
            throw_on_early_termination: Whether all raise when one is at its end. Default: False.
        """
        return Join(
            [self], enable, throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )  # fmt: skip

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What shadows the passes of others.

        Args:
            **kwargs: ``divide_by_initial_world_size``, as for ``join``.
        """
        self._divides_by_all = kwargs.get("divide_by_initial_world_size", True)
        return _Shadow(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group."""
        return self.process_group

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Any, params_and_buffers_to_ignore: Iterable[str]
    ) -> None:
        module._ddp_params_and_buffers_to_ignore = list(params_and_buffers_to_ignore)


class _Shadow(JoinHook):
    """What a rank without inputs does while others have some."""

    def __init__(self, ddp: DistributedDataParallel) -> None:
        self.ddp = ddp

    def main_hook(self) -> None:
        """The collectives of a forward and a backward pass."""
        ddp = self.ddp
        if ddp.will_sync_module_buffers():
            ddp._sync_buffers(joined=True)
        syncs = ddp._agree_on_sync(False)
        ddp.require_forward_param_sync = syncs
        if syncs:
            ddp.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """The model becomes that of a rank that came to its end last."""
        ddp = self.ddp
        ddp.reducer.divisor = ddp.process_group.size()
        source = ddp._highest(is_last_joiner)
        broadcast_coalesced([*ddp._synced, *ddp._own_buffers()], source, ddp.process_group)


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"DistributedDataParallel: {name} is not there in tinytorch")


def _check_devices(device_ids: Sequence[Any] | None, device: Any) -> None:
    if device_ids and str(device) == "cpu":
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            f"single-device/multiple-device GPU modules or CPU modules, but got device_ids "
            f"{list(device_ids)} and module parameters on cpu: leave device_ids out"
        )
