"""Import of modules without a file of their name: other names of modules, and tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..facade.packages import alias as alias
from ..facade.packages import reexport

_OWN = __name__.partition(".")[0]
#: Modules that are made of tables, by the files of the tables in ``compat.tables``. Modules that
#: have a file and are completed by a table are not among them.
TABLED = {
    "unsupported": "_C _VF __config__ __future__ _custom_ops _dynamo _inductor _inductor.config "
    "_logging _subclasses _tensor_str autograd.profiler fx.experimental "
    "fx.experimental.proxy_tensor nested optim._functional utils._python_dispatch "
    "utils.cpp_extension "
    "utils.model_zoo",
    "devices": "backends.cpu backends.cusparselt backends.kleidiai backends.mha "
    "backends.miopen backends.mkl backends.mkldnn backends.mps backends.nnpack "
    "backends.openmp backends.opt_einsum backends.quantized backends.xnnpack",
    "distributed": "distributed._composable distributed._functional_collectives "
    "distributed._tensor distributed.autograd distributed.fsdp distributed.launcher "
    "distributed.nn distributed.pipelining distributed.rpc distributed.tensor "
    "distributed.tensor.debug distributed.tensor.parallel",
    "distributed_names": "distributed._composable.checkpoint_activation "
    "distributed._composable.contract distributed._composable.fsdp.fully_shard "
    "distributed._composable.replicate distributed._composable.replicate_with_fsdp "
    "distributed._composable_state distributed._shard distributed._shard._utils "
    "distributed._shard.api distributed._shard.checkpoint distributed._shard.common_op_utils "
    "distributed._shard.metadata distributed._shard.op_registry_utils "
    "distributed._shard.sharded_optim distributed._shard.sharded_optim.api "
    "distributed._shard.sharded_tensor distributed._shard.sharded_tensor.api "
    "distributed._shard.sharded_tensor.metadata distributed._shard.sharded_tensor.reshard "
    "distributed._shard.sharded_tensor.shard distributed._shard.sharded_tensor.utils "
    "distributed._shard.sharder distributed._shard.sharding_plan "
    "distributed._shard.sharding_plan.api distributed._shard.sharding_spec "
    "distributed._shard.sharding_spec._internals distributed._shard.sharding_spec.api "
    "distributed._shard.sharding_spec.chunk_sharding_spec distributed._sharded_tensor "
    "distributed._sharding_spec distributed._state_dict_utils distributed._symmetric_memory "
    "distributed.algorithms._checkpoint distributed.algorithms._checkpoint.checkpoint_wrapper "
    "distributed.algorithms._comm_hooks distributed.algorithms._comm_hooks.default_hooks "
    "distributed.algorithms._optimizer_overlap "
    "distributed.algorithms._optimizer_overlap.optimizer_overlap "
    "distributed.algorithms._quantization distributed.algorithms._quantization.quantization "
    "distributed.algorithms.ddp_comm_hooks.ddp_zero_hook "
    "distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks "
    "distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks distributed.argparse_util "
    "distributed.c10d_logger distributed.checkpoint._async_executor "
    "distributed.checkpoint._checkpointer distributed.checkpoint._dedup_tensors "
    "distributed.checkpoint._extension distributed.checkpoint._fsspec_filesystem "
    "distributed.checkpoint._hf_utils distributed.checkpoint._nested_dict "
    "distributed.checkpoint._sharded_tensor_utils distributed.checkpoint._state_dict_stager "
    "distributed.checkpoint._storage_utils distributed.checkpoint._traverse "
    "distributed.checkpoint._version distributed.checkpoint.logger "
    "distributed.checkpoint.logging_handlers distributed.checkpoint.planner_helpers "
    "distributed.checkpoint.quantized_hf_storage distributed.checkpoint.resharding "
    "distributed.collective_utils distributed.config distributed.elastic.agent "
    "distributed.elastic.agent.server distributed.elastic.agent.server.api "
    "distributed.elastic.agent.server.health_check_server "
    "distributed.elastic.agent.server.local_elastic_agent distributed.elastic.control_plane "
    "distributed.elastic.events distributed.elastic.events.api "
    "distributed.elastic.events.handlers distributed.elastic.metrics "
    "distributed.elastic.metrics.api distributed.elastic.multiprocessing.api "
    "distributed.elastic.multiprocessing.redirects "
    "distributed.elastic.multiprocessing.subprocess_handler "
    "distributed.elastic.multiprocessing.subprocess_handler.handlers "
    "distributed.elastic.multiprocessing.subprocess_handler.subprocess_handler "
    "distributed.elastic.multiprocessing.tail_log distributed.elastic.rendezvous "
    "distributed.elastic.rendezvous.api "
    "distributed.elastic.rendezvous.c10d_rendezvous_backend "
    "distributed.elastic.rendezvous.dynamic_rendezvous "
    "distributed.elastic.rendezvous.etcd_rendezvous "
    "distributed.elastic.rendezvous.etcd_server distributed.elastic.rendezvous.etcd_store "
    "distributed.elastic.rendezvous.registry "
    "distributed.elastic.rendezvous.static_tcp_rendezvous "
    "distributed.elastic.rendezvous.utils distributed.elastic.timer "
    "distributed.elastic.timer.api distributed.elastic.timer.debug_info_logging "
    "distributed.elastic.timer.file_based_local_timer distributed.elastic.timer.local_timer "
    "distributed.elastic.utils distributed.elastic.utils.api distributed.elastic.utils.data "
    "distributed.elastic.utils.data.cycling_iterator "
    "distributed.elastic.utils.data.elastic_distributed_sampler "
    "distributed.elastic.utils.distributed distributed.elastic.utils.log_level "
    "distributed.elastic.utils.logging distributed.elastic.utils.process_state "
    "distributed.elastic.utils.store distributed.flight_recorder "
    "distributed.flight_recorder.components distributed.flight_recorder.components.builder "
    "distributed.flight_recorder.components.config_manager "
    "distributed.flight_recorder.components.fr_logger "
    "distributed.flight_recorder.components.loader "
    "distributed.flight_recorder.components.types "
    "distributed.flight_recorder.components.utils distributed.flight_recorder.fr_trace "
    "distributed.fsdp._common_utils distributed.fsdp._debug_utils "
    "distributed.fsdp._flat_param distributed.fsdp._fsdp_extensions "
    "distributed.fsdp._fully_shard distributed.fsdp._fully_shard._fsdp_api "
    "distributed.fsdp._fully_shard._fsdp_common distributed.fsdp._fully_shard._fsdp_init "
    "distributed.fsdp._fully_shard._fsdp_param "
    "distributed.fsdp._fully_shard._fsdp_param_group "
    "distributed.fsdp._fully_shard._fsdp_state distributed.fsdp._fully_shard._fully_shard "
    "distributed.fsdp._init_utils distributed.fsdp._optim_utils "
    "distributed.fsdp._runtime_utils distributed.fsdp._state_dict_utils "
    "distributed.fsdp._traversal_utils distributed.fsdp._unshard_param_utils "
    "distributed.fsdp._wrap_utils distributed.logging_handlers distributed.nn.api "
    "distributed.nn.api.remote_module distributed.nn.jit distributed.nn.jit.instantiator "
    "distributed.nn.jit.templates distributed.nn.jit.templates.remote_module_template "
    "distributed.optim._deprecation_warning distributed.optim.apply_optimizer_in_backward "
    "distributed.optim.functional_adadelta distributed.optim.functional_adagrad "
    "distributed.optim.functional_adam distributed.optim.functional_adamax "
    "distributed.optim.functional_adamw distributed.optim.functional_rmsprop "
    "distributed.optim.functional_rprop distributed.optim.functional_sgd "
    "distributed.optim.named_optimizer distributed.optim.optimizer distributed.optim.utils "
    "distributed.pipelining._backward distributed.pipelining._debug "
    "distributed.pipelining._utils distributed.remote_device distributed.rpc.api "
    "distributed.rpc.backend_registry distributed.rpc.constants distributed.rpc.functions "
    "distributed.rpc.internal distributed.rpc.options distributed.rpc.rref_proxy "
    "distributed.rpc.server_process_global_profiler distributed.tensor._api "
    "distributed.tensor._collective_utils distributed.tensor._dtensor_spec "
    "distributed.tensor._op_schema distributed.tensor._random "
    "distributed.tensor._redistribute distributed.tensor.device_mesh "
    "distributed.tensor.experimental._attention distributed.utils",
}
_TABLE_OF = {name: file for file, names in TABLED.items() for name in names.split()}
#: Modules by their names in PyTorch and their former names in pickles.
ELSEWHERE = {
    "_dynamo.config": "capture.config",
    "_higher_order_ops": "compat.higher_order_ops",
    "_tensor": "core.tensor",
    "ao.quantization": "quantization",
    "autograd.anomaly_mode": "autograd.anomaly",
    "autograd.gradcheck": "autograd.gradient_check",
    "optim._adafactor": "optim.adafactor",
    "optim._muon": "optim.muon",
    "_utils": "compat.utils",
    "multiprocessing.reductions": "compat.reductions",
    "utils.tensorboard.summary": "utils.tensorboard_summary",
    # pickles of versions before 0.2
    "_device": "core.device",
    "_layouts": "core.layout",
    "_size": "core.size",
    "_state._backend": "state.backend",
    "_state._carry": "state.propagation",
    "_state._grad": "state.grad",
    "_state": "state",
    "_storage": "core.storage",
    "autograd.checking": "autograd.gradient_check",
    "autograd.nodes": "graph.hooks",
    "compat.unsupported": "facade.unsupported",
    "utils.swapping": "core.relocation",
    "backends.cuda_devices": "backends.cupy.devices",
    "dispatch.error_context": "dispatch.call",
    "dispatch.operators": "dispatch.tensor_protocols",
    "distributions.counts": "distributions.discrete",
    "distributions.extremes": "distributions.extreme_values",
    "ops._typed_storage": "ops.create.typed_storage",
    "ops._untyped_storage": "ops.create.untyped_storage",
    "numpy._errstate": "numpy.settings",
    "numpy.flat": "numpy.iteration",
    "numpy.functions.dialect": "numpy.functions.conversion",
    "ops.applied_functions": "numpy.functions.applied_functions",
    "ops.index.index_tools": "numpy.functions.index_grids",
    "ops.index_tools": "numpy.functions.index_grids",
    "ops.reduce.applied_functions": "numpy.functions.applied_functions",
    "nn.adaptive_pooling": "nn.pooling",
    "optim._lr_decay": "optim._lr_base",
    "nn.conv_transpose": "nn.conv",
    "nn.lazy_conv": "nn.lazy",
    "nn.lazy_norm": "nn.lazy",
    "nn.rnn_base": "nn.rnn",
    "backends.rng.host_generator": "backends.rng.mt19937",
    "compat.c_module": "compat.private_modules",
    "compat.config": "utils.collect_env",
    "compat.device_modules": "accelerator",
    "compat.dynamo": "compat.private_modules",
    "compat.future": "nn.module.conversion",
    "compat.tensor_str": "compat.private_modules",
    "core.holder": "core.tensor",
    "core.sharing": "core.relocation",
    "core.swapping": "core.relocation",
    "core.torch_function_members": "core.torch_function",
    "distributed.placement_types": "distributed.device_mesh",
    "distributed.reduce_op": "distributed.buffers",
    "nn._parameter_container": "nn.container",
    "compat.rows": "compat.module_tables",
    "core.waiting": "core.lazy_bits",
    "nn.class_loss": "nn.loss",
    "nn.flatten": "nn.rearrangement",
    "nn.fold": "nn.rearrangement",
    "nn.module.backward_hook": "nn.module.call",
    "nn.module.handle": "nn.module.global_hooks",
    "nn.shuffle": "nn.rearrangement",
    "nn.synchronized": "nn.batchnorm",
    "state.carry": "state.propagation",
    "state.loss_scaling": "amp.grad_scaler",
}


def install() -> None:
    """Install the finder of the names above, once."""
    if not any(isinstance(finder, _TableFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TableFinder())


class _TableLoader:
    """Loader that makes a module of its table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: Python makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        tables = import_module(f"{_OWN}.compat.tables.{_TABLE_OF[self._name]}")
        tables.fill(vars(module), tables.TABLES[self._name])
        reexport(module)


class _TableFinder:
    """Finder of the names above, and of modules in those of ``ELSEWHERE``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, name = fullname.partition(".")
        if root != _OWN:
            return None
        if name in _TABLE_OF:
            made: Any = _TableLoader(name)
            return ModuleSpec(fullname, made, is_package=True)
        place = _place(name)
        if place is None:
            return None
        return alias(fullname, f"{_OWN}.{place}")


def _place(name: str) -> str | None:
    """Return the path of our module for PyTorch's path ``name`` by ``ELSEWHERE``, or None."""
    for old, new in ELSEWHERE.items():
        if name == old or name.startswith(f"{old}."):
            return new + name[len(old) :]
    return None
