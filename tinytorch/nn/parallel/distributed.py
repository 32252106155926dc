"""``DistributedDataParallel``: training of a module by several processes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ...core.device import device as Device
from ...core.tensor import Tensor
from ...distributed.algorithms.join import Join, Joinable, JoinConfig, JoinHook
from ...distributed.buffers import ReduceOp
from ...distributed.coalescing import broadcast_coalesced
from ...distributed.collectives import all_reduce
from ...distributed.object_collectives import all_gather_object
from ...distributed.process_group import ProcessGroup, is_initialized, world
from ...distributed.reducer import GradBucket, Reducer
from ...futures import Future
from ...ops.create.factories import tensor
from ...state import is_grad_enabled
from ...state.bindings import contextmanager
from ...warnings import warn
from ..module import Module
from ..parameter import UninitializedParameter

__all__ = ["DistributedDataParallel"]

_MIB = 1024 * 1024
#: Size of the first bucket, which is small so that its reduction begins early.
_FIRST = _MIB
_NO_GRADIENT = (
    "DistributedDataParallel is not needed when a module doesn't have any parameter that requires "
    "a gradient."
)
_CHECK_REDUCTION = (
    "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please "
    "avoid using it."
)
_BROADCAST_BUFFERS = (
    "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
    "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init."
)
_BOTH = (
    "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is "
    "deprecated and its value is ignored when `forward_sync_buffers` is provided."
)
_STATIC_FINDS_UNUSED = (
    "You passed find_unused_parameters=true to DistributedDataParallel, `_set_static_graph` will "
    "detect unused parameters automatically, so you do not need to set find_unused_parameters=true"
)


class DistributedDataParallel(Module, Joinable):
    """Wrapper of a module whose gradients are averaged over all ranks.

    Every rank wraps a copy of the same module. First, parameters and buffers are broadcast from
    rank 0. In a backward pass, gradients are collected in buckets, and each full bucket is reduced
    while the pass continues. After the pass, ``grad`` of every parameter is the mean over the
    ranks: for a loss that is a mean over batches of equal size, the gradient of one process with
    all the batches.

    Args:
        module: The module, which becomes the attribute ``module``: the names in ``state_dict``
            begin with ``module.``.
        device_ids: List of the GPU of this rank; None on the CPU. Default: None.
        output_device: The same GPU; None on the CPU. Default: None.
        dim: Has no effect.
        broadcast_buffers: Deprecated name of ``forward_sync_buffers``; if it is False, the
            buffers are not broadcast at first, either.
        init_sync: Whether to compare the parameters' shapes and broadcast the values at first.
            Default: True.
        process_group: The process group. Default: all ranks.
        bucket_cap_mb: Size of a bucket in MiB. Default: 25, but 1 for the first.
        find_unused_parameters: Whether a pass may leave parameters unused; the graph is traversed
            after each forward pass. Default: False.
        check_reduction: Deprecated; has no effect.
        gradient_as_bucket_view: Whether ``grad`` is a view of its bucket, which saves memory and
            copies. Default: False.
        static_graph: Whether each pass uses the same parameters, equally often. The first backward
            pass finds them and reduces at its end. Default: False.
        delay_all_reduce_named_params: Not supported.
        param_to_hook_all_reduce: Not supported.
        mixed_precision: Not supported.
        device_mesh: Mesh of one dimension, instead of ``process_group``.
        skip_all_reduce_unused_params: Whether unused parameters, the same on all ranks, are not
            reduced. Default: False.
        bucket_cap_mb_list: Sizes of the buckets in MiB; the last one applies to all that follow.
        batched_grad_copy: Has no effect.
        forward_sync_buffers: Whether to broadcast the buffers of rank 0 before every forward pass.
            Default: True.

    Raises:
        ValueError: Before ``init_process_group``; if ``device_ids`` is given for a module on the
            CPU, or has several elements.
        RuntimeError: If no parameter requires a gradient, if a parameter is uninitialized, or if
            ranks have different modules; in a forward pass, if the last backward pass started a
            reduction, but did not compute all expected gradients.
        NotImplementedError: For an argument that is not supported.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> model = tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(2, 1))
        >>> model(tt.ones(3, 2)).sum().backward()
        >>> model.module.bias.grad
        tensor([3.])
        >>> list(model.state_dict())
        ['module.weight', 'module.bias']
        >>> model.will_sync_module_buffers()  # it has no buffers
        False
        >>> with model.join():  # ranks may have different numbers of inputs
        ...     model(tt.ones(3, 2)).sum().backward()
        >>> hook = model.join_hook()
        >>> from tinytorch.distributed.algorithms.ddp_comm_hooks import default_hooks
        >>> model.register_comm_hook(None, default_hooks.allreduce_hook)
        >>> tt.distributed.destroy_process_group()

    Reference: https://docs.pytorch.org/docs/stable/notes/ddp.html
    """

    module: Module
    parameters_to_ignore: set[str]
    process_group: Any
    dim: int
    device_ids: list[Any] | None
    output_device: Any
    device: Device
    forward_sync_buffers: bool
    static_graph: bool
    require_backward_grad_sync: bool
    require_forward_param_sync: bool
    reducer: Reducer

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
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: Sequence[float] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        _check_unsupported(delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision)
        _check_flags(
            find_unused_parameters=find_unused_parameters, broadcast_buffers=broadcast_buffers,
            gradient_as_bucket_view=gradient_as_bucket_view, static_graph=static_graph,
            skip_all_reduce_unused_params=skip_all_reduce_unused_params,
            forward_sync_buffers=forward_sync_buffers,
        )  # fmt: skip
        self.process_group = _find_group(process_group, device_mesh)
        self._join_config = JoinConfig()
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        params = [p for n, p in module.named_parameters() if n not in self.parameters_to_ignore]
        _check_params(params)
        self.device_ids, self.output_device = _check_devices(device_ids, output_device, params)
        self.module, self.dim = module, dim
        self.device = params[0].device
        if check_reduction:
            warn(_CHECK_REDUCTION, FutureWarning)
        self.forward_sync_buffers = _choose_sync(broadcast_buffers, forward_sync_buffers)
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = False
        self.skip_all_reduce_unused_params = skip_all_reduce_unused_params
        self.batched_grad_copy = batched_grad_copy
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self._divides_by_all = True
        self._bucket_caps = _bucket_caps(bucket_cap_mb, bucket_cap_mb_list)
        if init_sync:
            self._check_shapes(params)
            sent = self.forward_sync_buffers or forward_sync_buffers is not None
            buffers = self._synced_buffers() if sent else []
            broadcast_coalesced([*params, *buffers], 0, self.process_group)
        self.reducer = self._make_reducer()
        if static_graph:
            self._set_static_graph()

    def _synced_parameters(self) -> list[tuple[str, Tensor]]:
        """Return the names and parameters that are not ignored."""
        named = self.module.named_parameters()
        return [(n, p) for n, p in named if n not in self.parameters_to_ignore]

    def _make_reducer(self) -> Reducer:
        """Return a reducer of the gradients of the parameters that require grad."""
        trained = [(n, p) for n, p in self._synced_parameters() if p.requires_grad]
        return Reducer(
            [n for n, _ in trained], [p for _, p in trained], self.process_group,
            self._bucket_caps, self.find_unused_parameters, self.gradient_as_bucket_view,
            self.static_graph, self.skip_all_reduce_unused_params,
        )  # fmt: skip

    def _set_static_graph(self) -> None:
        """Set ``static_graph=True``; PyTorch's private API."""
        if self.static_graph:
            warn("You've set static_graph to be True, no need to set it again.")
            return
        self.static_graph = self.reducer.static = True
        if self.find_unused_parameters:
            warn(_STATIC_FINDS_UNUSED)

    @property
    def broadcast_buffers(self) -> bool:
        """Deprecated name of ``forward_sync_buffers``."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    def __getstate__(self) -> dict[str, Any]:
        if not is_initialized() or self.process_group is not world():
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default "
                "process group. That is, when you have called init_process_group and have not "
                "passed process_group argument to DDP constructor"
            )
        excluded = {"process_group", "reducer", "_join_config"}
        state = {name: value for name, value in vars(self).items() if name not in excluded}
        return {**state, "broadcast_buffers": self.forward_sync_buffers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.process_group = world()
        self._join_config = JoinConfig()
        super().__setstate__({n: v for n, v in state.items() if n != "broadcast_buffers"})
        self.reducer = self._make_reducer()

    def _synced_buffers(self) -> list[Tensor]:
        """Return the buffers that are not ignored."""
        named = self.module.named_buffers()
        return [buffer for name, buffer in named if name not in self.parameters_to_ignore]

    def _check_shapes(self, params: Sequence[Tensor]) -> None:
        """Check that the parameters have the same shapes and dtypes on all ranks."""
        group = self.process_group
        own_params = [(tuple(p.shape), str(p.dtype)) for p in params]
        gathered: list[Any] = [None] * group.size()
        all_gather_object(gathered, own_params, group)
        for rank, other_params in enumerate(gathered):
            if len(other_params) != len(own_params):
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but Rank {group.rank()} has "
                    f"{len(own_params)} params, while rank {rank} has inconsistent "
                    f"{len(other_params)} params."
                )
            for index, (own, other) in enumerate(zip(own_params, other_params, strict=True)):
                if own != other:
                    raise RuntimeError(
                        f"[{group.rank()}]: params[{index}] in this process with sizes "
                        f"{list(own[0])} and dtype {own[1]} appears not to match sizes of the same "
                        f"param in process {rank}: {list(other[0])}, {other[1]}."
                    )

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        """Call the module; if autograd is on, prepare the reduction in the backward pass."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        self._notify_join_context()
        if is_grad_enabled():
            self.reducer.check_finished()
        if self.will_sync_module_buffers():
            self._sync_buffers()
        if self._join_config.enable:
            self._agree_on_sync(syncs)
        output = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = syncs or not is_grad_enabled()
        if syncs:
            self.reducer.prepare(output)
        return output  # type: ignore[no-any-return]

    def _notify_join_context(self) -> None:
        """Notify the join context that this rank has inputs, and set the divisor of gradients."""
        work = Join.notify_join_context(self)
        if work is not None:
            (count,) = work.result()
            size = self.process_group.size()
            self.reducer.divisor = size if self._divides_by_all else int(count)

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward pass broadcasts the buffers of rank 0."""
        return bool(
            self.require_forward_param_sync and self.forward_sync_buffers and self._synced_buffers()
        )

    def _sync_buffers(self, joined: bool = False) -> None:
        """Broadcast the buffers of rank 0, or in a join of the highest rank that has inputs."""
        source = self._highest_rank(not joined) if self._join_config.enable or joined else 0
        broadcast_coalesced(self._synced_buffers(), source, self.process_group)

    def _highest_rank(self, candidate: bool) -> int:
        """Return the highest of the ranks that call this with ``candidate=True``."""
        rank = tensor([self.process_group.rank() if candidate else -1], device=self.device)
        all_reduce(rank, ReduceOp.MAX, self.process_group)
        if int(rank) < 0:
            raise RuntimeError("BUG! Expected rank_cond to be true for at least one process.")
        return int(rank)

    def _agree_on_sync(self, own_sync: bool) -> bool:
        """Return whether any rank calls this with ``own_sync=True``; all ranks call it."""
        flag = tensor([1.0 if own_sync else 0.0], device=self.device)
        all_reduce(flag, group=self.process_group)
        return bool(flag)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Context in which gradients are accumulated without being reduced.

        The next backward pass outside of the context reduces the accumulated gradients.

        Example:
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
        """Register a function that reduces the buckets.

        Args:
            state: First argument of ``hook``.
            hook: Function of ``state`` and a ``GradBucket`` that returns a future of the bucket's
                reduced gradients: a flat tensor or a list of one.

        Raises:
            RuntimeError: If a hook is registered already.
            TypeError: If ``hook`` is not callable.
            ValueError: If the annotation of the bucket or of the result is another type.
        """
        _check_hook(hook)
        if self.reducer.hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called once."
            )
        self.reducer.hook = state, hook

    def _get_ddp_logging_data(self) -> dict[str, str | int]:
        """Return options and sizes that PyTorch logs; Lightning reads them."""
        params = self.reducer.params
        return {
            "backend_name": self.process_group._backend,
            "module_name": type(self.module).__name__,
            "find_unused_parameters": int(self.reducer.find_unused),
            "gradient_as_bucket_view": int(self.reducer.as_views),
            "num_parameter_tensors": len(params),
            "total_parameter_size_bytes": sum(param.nbytes for param in params),
            "rank": self.process_group.rank(),
            "world_size": self.process_group.size(),
        }

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """Return a context in which ranks may have different numbers of inputs; see ``Join``.

        Args:
            divide_by_initial_world_size: Whether gradients are divided by the number of all ranks
                instead of the number of those that still have inputs. Default: True.
            enable: Whether the context has any effect. Default: True.
            throw_on_early_termination: Whether all ranks raise when one has no inputs left.
                Default: False.
        """
        return Join(
            [self], enable, throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )  # fmt: skip

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the hook that joins the collectives of other ranks while this one has no inputs.

        Args:
            **kwargs: ``divide_by_initial_world_size``, see ``join``.
        """
        self._divides_by_all = kwargs.get("divide_by_initial_world_size", True)
        return _DDPJoinHook(self)

    @property
    def join_device(self) -> Any:
        """Device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """Process group of the ranks."""
        return self.process_group

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Any, params_and_buffers_to_ignore: Iterable[str]
    ) -> None:
        """Set the names of parameters and buffers of a module that are not synchronized."""
        module._ddp_params_and_buffers_to_ignore = list(params_and_buffers_to_ignore)


def _check_hook(hook: Any) -> None:
    """Check that a communication hook is callable, and its annotations."""
    if not callable(hook):
        raise TypeError("Communication hook must be callable.")
    signature = inspect.signature(hook)
    bucket = signature.parameters["bucket"].annotation
    if bucket not in (inspect.Parameter.empty, GradBucket, "GradBucket", "dist.GradBucket"):
        raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
    result = signature.return_annotation
    if result not in (inspect.Signature.empty, Future[Tensor]) and not isinstance(result, str):
        raise ValueError(
            "Communication hook: return annotation should be torch.futures.Future[torch.Tensor]."
        )


class _DDPJoinHook(JoinHook):
    """Joins the collectives of the ranks that still have inputs, on a rank that has none."""

    def __init__(self, ddp: DistributedDataParallel) -> None:
        self.ddp = ddp

    def main_hook(self) -> None:
        """Call the collectives of one forward and one backward pass."""
        ddp = self.ddp
        if ddp.will_sync_module_buffers():
            ddp._sync_buffers(joined=True)
        syncs = ddp._agree_on_sync(False)
        ddp.require_forward_param_sync = syncs
        if syncs:
            ddp.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Broadcast the parameters and buffers of a rank that had inputs until the end."""
        ddp = self.ddp
        ddp.reducer.divisor = ddp.process_group.size()
        source = ddp._highest_rank(is_last_joiner)
        params = [param for _, param in ddp._synced_parameters()]
        broadcast_coalesced([*params, *ddp._synced_buffers()], source, ddp.process_group)


def _check_unsupported(named_params: Any, hook_param: Any, mixed_precision: Any) -> None:
    """Raise if an argument is given that is not supported."""
    if (named_params is None) != (hook_param is None):
        raise ValueError(
            "delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same "
            "time."
        )
    for name, value in (
        ("delay_all_reduce_named_params", hook_param),
        ("mixed_precision", mixed_precision),
    ):
        if value is not None:
            raise NotImplementedError(
                f"DistributedDataParallel: {name} is not supported by tinytorch"
            )


def _check_flags(**flags: Any) -> None:
    """Check that each argument can be converted to bool."""
    for name, value in flags.items():
        if value is not None and not hasattr(type(value), "__bool__"):
            raise TypeError(
                f"DistributedDataParallel: argument '{name}' must be bool, not "
                f"{type(value).__name__}"
            )


def _find_group(process_group: Any, device_mesh: Any) -> Any:
    """Return the process group, that of the mesh, or the group of all ranks."""
    if device_mesh is None:
        group = world() if process_group is None else process_group
        if not isinstance(group, ProcessGroup):
            raise TypeError(
                "DistributedDataParallel: argument 'process_group' must be ProcessGroup, not "
                f"{type(group).__name__}"
            )
        return group
    if process_group:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if device_mesh.ndim != 1:
        raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
    return device_mesh.get_group(mesh_dim=0)


def _check_params(params: Sequence[Tensor]) -> None:
    """Check that at least one parameter requires grad, and that all are initialized."""
    if not any(param.requires_grad for param in params):
        raise RuntimeError(_NO_GRADIENT)
    if any(isinstance(param, UninitializedParameter) for param in params):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules"
        )


def _check_devices(
    device_ids: Sequence[Any] | None, output_device: Any, params: Sequence[Tensor]
) -> tuple[list[Any] | None, Any]:
    """Check the arguments; return ``([gpu], gpu)``, or ``(None, None)`` on the CPU."""
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    devices = {param.device for param in params}
    types = {device.type for device in devices}
    if len(types) != 1:
        raise ValueError(
            "DistributedDataParallel's input module must be on the same type of devices, but input "
            f"module parameters locate in {types}."
        )
    if device_ids and types != {"cpu"} and len(devices) == 1:
        return list(device_ids), device_ids[0] if output_device is None else output_device
    if device_ids or output_device:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
            f"{device_ids}, output_device {output_device}, and module parameters {devices}."
        )
    return None, None


def _choose_sync(broadcast_buffers: bool | None, forward_sync_buffers: bool | None) -> bool:
    """Return ``forward_sync_buffers``, given by that name or the deprecated one; default True."""
    if broadcast_buffers is not None:
        warn(_BOTH if forward_sync_buffers is not None else _BROADCAST_BUFFERS, FutureWarning)
    value = broadcast_buffers if forward_sync_buffers is None else forward_sync_buffers
    return value is None or value


def _bucket_caps(cap: float | None, caps: Sequence[float] | None) -> tuple[int, ...]:
    """Return the sizes of the buckets in bytes; the last one applies to all that follow."""
    if caps:
        return tuple(int(each * _MIB) for each in caps)
    return (_FIRST, 25 * _MIB) if cap is None else (int(cap * _MIB),)
