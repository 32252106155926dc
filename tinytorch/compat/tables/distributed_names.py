"""Modules below ``torch.distributed`` that are out of scope: they import, and raise when used.

The names are written by ``tests/compat/distributed_names.py``. After each module: ``C``, a class;
``f()``, a function; ``E!Base``, an exception; ``C=A:0``, a member of an enumeration; ``x@module``,
a name that another module of the table defines.
"""

from __future__ import annotations

from ..module_tables import Row, Table, alias, choices, exception, fill, missing, refusal

__all__ = ["TABLES", "fill"]

#: Why, by the beginning of a module's path.
_REASONS = {
    "_shard": "tinytorch keeps whole tensors in each process: no tensor is spread over several",
    "algorithms": "call the functions of torch.distributed, or hooks of algorithms.ddp_comm_hooks",
    "checkpoint": "checkpoints are read and written by distributed.checkpoint.save and load",
    "elastic": "start the processes with python -m tinytorch.distributed.run",
    "flight_recorder": "no collectives are recorded: profile them with tinytorch.profiler",
    "fsdp": "tinytorch keeps whole modules in each process: nothing is sharded",
    "nn": "tinytorch calls no functions of other processes",
    "optim": "call the optimizers of tinytorch.optim",
    "pipelining": "tinytorch keeps whole modules in each process: there are no pipelines of stages",
    "rpc": "tinytorch calls no functions of other processes",
    "tensor": "tinytorch keeps whole tensors in each process: no tensor is spread over several",
    "": "it is a part of PyTorch's own processes; use the functions of torch.distributed",
}


def _row(module: str, word: str, why: str) -> tuple[str, Row]:
    name, mark, rest = next(
        (parts for sign in "@!" if (parts := word.partition(sign))[1]), (word, "", "")
    )
    if mark == "@":
        return name, alias(f"distributed.{rest}:")
    if mark == "!":
        return name, exception(f"An error of ``torch.distributed.{module}``; never raised.", rest)
    if name.endswith("()"):
        return name[:-2], refusal(why)
    return name, missing(f"``torch.distributed.{module}.{name}``, which is not here.", why)


def _table(module: str, words: list[str]) -> Table:
    why = next(why for start, why in _REASONS.items() if module.startswith(start))
    rows = dict(_row(module, word, why) for word in words if "=" not in word)
    members: dict[str, dict[str, int | str]] = {}
    for name, _, member in (word.partition("=") for word in words if "=" in word):
        key, value = member.split(":")
        members.setdefault(name, {})[key] = int(value) if value.lstrip("-").isdigit() else value
    for name, values in members.items():
        rows[name] = choices(f"PyTorch's ``{name}``; nothing here reads it.", **values)
    return Table(doc=f"``torch.distributed.{module}``: {why}.", names=rows)


_NAMES = {
    "_composable.checkpoint_activation":
        "_CheckpointState _no_hook() checkpoint() contract@_composable.contract",
    "_composable.contract":
        "RegistryItem _ContractFn _get_registry() contract() generate_state_key()",
    "_composable.fsdp.fully_shard": "",
    "_composable.replicate":
        "DDP _ReplicateState _is_fully_sharded() contract@_composable.contract replicate() "
        "unimplemented_deepcopy()",
    "_composable.replicate_with_fsdp":
        "DDPMeshInfo@fsdp._fully_shard._fsdp_common FSDPState@fsdp._fully_shard._fsdp_state "
        "FSDPStateContext@fsdp._fully_shard._fsdp_state ReplicateModule _ReplicateState "
        "_ReplicateStateContext _get_module_replicate_state() _validate_mesh() "
        "_validate_module() contract@_composable.contract is_composable_with_replicate() "
        "replicate()",
    "_composable_state": "_State _get_module_state() _insert_module_state()",
    "_shard":
        "load_with_process_group@_shard.api shard_module@_shard.api shard_parameter@_shard.api",
    "_shard._utils": "ShardMetadata@_shard.metadata narrow_tensor() narrow_tensor_by_index()",
    "_shard.api":
        "ChunkShardingSpec@_shard.sharding_spec.chunk_sharding_spec "
        "ShardedTensor@_shard.sharded_tensor.api Sharder@_shard.sharder "
        "ShardingPlan@_shard.sharding_plan.api ShardingSpec@_shard.sharding_spec.api "
        "_collect_local_shard() _get_current_process_group() _reshard_output() _shard_tensor() "
        "load_with_process_group() shard_module() shard_parameter()",
    "_shard.checkpoint": "QuantizedHuggingFaceStorageReader@checkpoint.quantized_hf_storage",
    "_shard.common_op_utils": "_basic_validation() _register_default_op()",
    "_shard.metadata": "ShardMetadata",
    "_shard.op_registry_utils": "_decorator_func() _register_op()",
    "_shard.sharded_optim":
        "ShardedOptimizer@_shard.sharded_optim.api ShardedTensor@_shard.sharded_tensor.api "
        "named_params_with_sharded_tensor()",
    "_shard.sharded_optim.api": "ShardedOptimizer ShardedTensor@_shard.sharded_tensor.api",
    "_shard.sharded_tensor":
        "Shard@_shard.sharded_tensor.shard ShardMetadata@_shard.metadata "
        "ShardedTensor@_shard.sharded_tensor.api ShardedTensorBase@_shard.sharded_tensor.api "
        "ShardedTensorMetadata@_shard.sharded_tensor.metadata "
        "TensorProperties@_shard.sharded_tensor.metadata _sharded_op_impl() "
        "custom_sharded_op_impl() empty() full() init_from_local_shards() ones() "
        "pre_load_state_dict_hook() rand() randn() state_dict_hook() zeros()",
    "_shard.sharded_tensor.api":
        "Shard@_shard.sharded_tensor.shard ShardedTensor ShardedTensorBase "
        "ShardedTensorMetadata@_shard.sharded_tensor.metadata "
        "TensorProperties@_shard.sharded_tensor.metadata _create_tensor_from_params() "
        "_register_remote_shards() build_global_metadata@_shard.sharded_tensor.utils "
        "build_metadata_from_local_shards@_shard.sharded_tensor.utils "
        "check_tensor@_shard.sharding_spec._internals "
        "reshard_local_shard@_shard.sharded_tensor.reshard "
        "reshuffle_local_shard@_shard.sharded_tensor.reshard "
        "validate_non_overlapping_shards_metadata@_shard.sharding_spec._internals",
    "_shard.sharded_tensor.metadata":
        "MEM_FORMAT_ENCODING=TORCH_CONTIGUOUS_FORMAT:0 "
        "MEM_FORMAT_ENCODING=TORCH_CHANNELS_LAST:1 MEM_FORMAT_ENCODING=TORCH_PRESERVE_FORMAT:2 "
        "ShardMetadata@_shard.metadata ShardedTensorMetadata TensorProperties",
    "_shard.sharded_tensor.reshard":
        "Shard@_shard.sharded_tensor.shard ShardMetadata@_shard.metadata "
        "build_reshard_metadata() get_chunked_dim_size@_shard.sharding_spec._internals "
        "get_idx_from_placements() get_split_size@_shard.sharding_spec._internals "
        "reshard_local_shard() reshuffle_local_shard()",
    "_shard.sharded_tensor.shard": "Shard ShardMetadata@_shard.metadata",
    "_shard.sharded_tensor.utils":
        "Shard@_shard.sharded_tensor.shard ShardedTensorMetadata@_shard.sharded_tensor.metadata "
        "TensorProperties@_shard.sharded_tensor.metadata _flatten_tensor_size() "
        "_parse_and_validate_remote_device() _raise_if_mismatch() "
        "_validate_output_tensor_for_gather() build_global_metadata() "
        "build_metadata_from_local_shards() check_tensor@_shard.sharding_spec._internals "
        "recalc_global_sharded_tensor_metadata() "
        "validate_non_overlapping_shards_metadata@_shard.sharding_spec._internals",
    "_shard.sharder": "Sharder",
    "_shard.sharding_plan":
        "ShardingPlan@_shard.sharding_plan.api ShardingPlanner@_shard.sharding_plan.api",
    "_shard.sharding_plan.api":
        "Sharder@_shard.sharder ShardingPlan ShardingPlanner "
        "ShardingSpec@_shard.sharding_spec.api",
    "_shard.sharding_spec":
        "ChunkShardingSpec@_shard.sharding_spec.chunk_sharding_spec "
        "DevicePlacementSpec@_shard.sharding_spec.api "
        "EnumerableShardingSpec@_shard.sharding_spec.api PlacementSpec@_shard.sharding_spec.api "
        "ShardMetadata@_shard.metadata ShardingSpec@_shard.sharding_spec.api",
    "_shard.sharding_spec._internals":
        "ShardMetadata@_shard.metadata _check_shard_metadata_pair_overlap() "
        "_find_1d_overlapping_shards() _find_nd_overlapping_shards() check_tensor() "
        "get_chunk_sharding_params() get_chunked_dim_size() get_split_size() "
        "validate_non_overlapping_shards_metadata()",
    "_shard.sharding_spec.api":
        "DevicePlacementSpec EnumerableShardingSpec PlacementSpec ShardMetadata@_shard.metadata "
        "ShardingSpec _dispatch_custom_op() _has_custom_op() "
        "_infer_sharding_spec_from_shards_metadata() "
        "check_tensor@_shard.sharding_spec._internals custom_sharding_spec_op() "
        "get_chunked_dim_size@_shard.sharding_spec._internals "
        "get_split_size@_shard.sharding_spec._internals "
        "validate_non_overlapping_shards_metadata@_shard.sharding_spec._internals",
    "_shard.sharding_spec.chunk_sharding_spec":
        "ChunkShardingSpec Shard@_shard.sharded_tensor.shard ShardMetadata@_shard.metadata "
        "ShardingSpec@_shard.sharding_spec.api "
        "get_chunked_dim_size@_shard.sharding_spec._internals "
        "get_split_size@_shard.sharding_spec._internals narrow_tensor@_shard._utils",
    "_sharded_tensor":
        "Shard@_shard.sharded_tensor.shard ShardMetadata@_shard.metadata "
        "ShardedTensor@_shard.sharded_tensor.api ShardedTensorBase@_shard.sharded_tensor.api "
        "ShardedTensorMetadata@_shard.sharded_tensor.metadata "
        "TensorProperties@_shard.sharded_tensor.metadata _sharded_op_impl() "
        "custom_sharded_op_impl() empty() full() init_from_local_shards() ones() "
        "pre_load_state_dict_hook() rand() randn() state_dict_hook() zeros()",
    "_sharding_spec":
        "ChunkShardingSpec@_shard.sharding_spec.chunk_sharding_spec "
        "DevicePlacementSpec@_shard.sharding_spec.api "
        "EnumerableShardingSpec@_shard.sharding_spec.api PlacementSpec@_shard.sharding_spec.api "
        "ShardMetadata@_shard.metadata ShardingSpec@_shard.sharding_spec.api",
    "_state_dict_utils":
        "CompanionMismatch!Exception ShardedTensor@_shard.sharded_tensor.api _TensorInfo "
        "_all_gather_sharded_tensor() _broadcast_state_dict() _broadcast_tensors() "
        "_check_state_dict_similarity() _copy_state_dict() _create_cpu_state_dict() "
        "_distribute_state_dict() _distribute_tensors() _flatten_state_dict() "
        "_gather_state_dict() _identity_func() _iterate_state_dict() "
        "_offload_state_dict_to_cpu() _set_element() _traverse_state_dict() "
        "_unflatten_state_dict()",
    "_symmetric_memory":
        "Work _ScaleMode _all_to_all_vdev_2d_meta() _all_to_all_vdev_2d_offset_meta() "
        "_check_and_verify_fp8_all_gather_scale_mode() _fused_all_gather_matmul() "
        "_fused_all_gather_matmul_fallback() _fused_all_gather_matmul_impl() "
        "_fused_all_gather_matmul_last_gather_dim_impl() _fused_all_gather_matmul_native() "
        "_fused_all_gather_scaled_matmul() _fused_all_gather_scaled_matmul_fallback() "
        "_fused_matmul_reduce_scatter() _fused_matmul_reduce_scatter_fallback() "
        "_fused_matmul_reduce_scatter_impl() _fused_scaled_matmul_reduce_scatter() "
        "_fused_scaled_matmul_reduce_scatter_fallback() "
        "_fused_scaled_matmul_reduce_scatter_impl() _get_backend_stream() "
        "_get_remote_tensors_default() _get_remote_tensors_meta() _low_contention_all_gather() "
        "_low_contention_all_gather_meta() _low_contention_reduce_scatter() "
        "_low_contention_reduce_scatter_meta() "
        "_low_contention_reduce_scatter_with_symm_mem_input() "
        "_low_contention_reduce_scatter_with_workspace() "
        "_maybe_convert_scalar_types_to_dtypes() _multimem_all_gather_matmul() "
        "_pipelined_all_gather_and_consume() _pipelined_all_gather_and_consume_last_dim() "
        "_pipelined_multi_all_gather_and_consume() _pipelined_produce_and_all2all() "
        "_should_use_fused_all_gather_matmul_native() _should_use_implicit_mempool() "
        "_should_use_multimem_all_gather_matmul() _test_mode() empty() "
        "enable_symm_mem_for_group() get_backend() get_mem_pool() get_mempool_allocator() "
        "get_signal_pad_size() get_symm_mem_workspace() is_nvshmem_available() "
        "is_symm_mem_enabled_for_group() is_symm_mem_tensor() make_contiguous_for_perm() "
        "put_signal() reduce_scatter_offset() rendezvous() "
        "restride_A_for_fused_matmul_reduce_scatter() "
        "restride_A_shard_for_fused_all_gather_matmul() set_backend() set_signal_pad_size() "
        "wait_signal()",
    "algorithms._checkpoint": "",
    "algorithms._checkpoint.checkpoint_wrapper":
        "ActivationWrapper CheckpointImpl=REENTRANT:1 CheckpointImpl=NO_REENTRANT:2 "
        "CheckpointWrapper OffloadWrapper apply_activation_checkpointing() checkpoint_wrapper() "
        "offload_wrapper()",
    "algorithms._comm_hooks": "",
    "algorithms._comm_hooks.default_hooks":
        "DefaultState LowPrecisionState _decompress() _low_precision_hook() allreduce_hook() "
        "bf16_compress_hook() fp16_compress_hook() reduce_scatter_hook()",
    "algorithms._optimizer_overlap": "",
    "algorithms._optimizer_overlap.optimizer_overlap":
        "OverlappedOptimizer _OverlappedStandardOptimizer _as_overlapped_optim() "
        "as_functional_optim@optim.utils register_overlapped()",
    "algorithms._quantization": "",
    "algorithms._quantization.quantization":
        "DQuantType _dequantize_tensor() _dequantize_tensor_list() _fp32_to_fp16_with_clamp() "
        "_quantize_tensor() _quantize_tensor_list() auto_quantize()",
    "algorithms.ddp_comm_hooks.ddp_zero_hook":
        "hook_with_zero_step() hook_with_zero_step_interleaved()",
    "algorithms.ddp_comm_hooks.mixed_precision_hooks": "",
    "algorithms.ddp_comm_hooks.optimizer_overlap_hooks": "",
    "argparse_util": "check_env env",
    "c10d_logger": "",
    "checkpoint._async_executor": "_AsyncCheckpointExecutor",
    "checkpoint._checkpointer": "_Checkpointer",
    "checkpoint._dedup_tensors": "dedup_tensors() init_logger()",
    "checkpoint._extension": "Extension ExtensionRegistry StreamTransformExtension ZStandard",
    "checkpoint._fsspec_filesystem":
        "FileSystem FsspecReader FsspecWriter StreamTransformExtension@checkpoint._extension",
    "checkpoint._hf_utils":
        "_HFStorageInfo _gen_file_name() _get_dcp_custom_metadata() _get_dtype() "
        "_get_safetensors_file_metadata()",
    "checkpoint._nested_dict":
        "flatten_state_dict() set_element@checkpoint._traverse "
        "traverse_state_dict@checkpoint._traverse "
        "traverse_state_dict_v_2_3@checkpoint._traverse unflatten_state_dict()",
    "checkpoint._sharded_tensor_utils":
        "Shard@_shard.sharded_tensor.shard ShardMetadata@_shard.metadata "
        "ShardedTensor@_shard.sharded_tensor.api _flatten_sharded_tensors() "
        "set_element@checkpoint._traverse traverse_state_dict@checkpoint._traverse",
    "checkpoint._state_dict_stager": "StateDictStager",
    "checkpoint._storage_utils": "_storage_setup()",
    "checkpoint._traverse":
        "ShardedTensor@_shard.sharded_tensor.api _keep_visiting_tensors() _print_nested() "
        "get_element() print_tensor() set_element() traverse_state_dict() "
        "traverse_state_dict_v_2_3()",
    "checkpoint._version": "",
    "checkpoint.logger": "",
    "checkpoint.logging_handlers": "",
    "checkpoint.planner_helpers":
        "ShardMetadata@_shard.metadata ShardedTensor@_shard.sharded_tensor.api "
        "create_read_items_for_chunk_list()",
    "checkpoint.quantized_hf_storage": "QuantizedHuggingFaceStorageReader",
    "checkpoint.resharding": "",
    "collective_utils": "SyncPayload all_gather() all_gather_object_enforce_type() broadcast()",
    "config": "",
    "elastic.agent": "",
    "elastic.agent.server":
        "ElasticAgent@elastic.agent.server.api RunResult@elastic.agent.server.api "
        "SimpleElasticAgent@elastic.agent.server.api Worker@elastic.agent.server.api "
        "WorkerGroup@elastic.agent.server.api WorkerSpec@elastic.agent.server.api "
        "WorkerState@elastic.agent.server.api",
    "elastic.agent.server.api":
        "ElasticAgent Event@elastic.events.api EventSource@elastic.events.api "
        "RendezvousGracefulExitError@elastic.rendezvous.api RunResult "
        "SignalException@elastic.multiprocessing.api SimpleElasticAgent Worker WorkerGroup "
        "WorkerSpec WorkerState=UNKNOWN:UNKNOWN WorkerState=INIT:INIT "
        "WorkerState=HEALTHY:HEALTHY WorkerState=UNHEALTHY:UNHEALTHY "
        "WorkerState=STOPPED:STOPPED WorkerState=SUCCEEDED:SUCCEEDED WorkerState=FAILED:FAILED "
        "get_logger@elastic.utils.logging prof@elastic.metrics.api "
        "put_metric@elastic.metrics.api record@elastic.events",
    "elastic.agent.server.health_check_server":
        "HealthCheckServer create_healthcheck_server() get_logger@elastic.utils.logging",
    "elastic.agent.server.local_elastic_agent":
        "HealthCheckServer@elastic.agent.server.health_check_server LocalElasticAgent "
        "LogsSpecs@elastic.multiprocessing.api PContext@elastic.multiprocessing.api "
        "RunResult@elastic.agent.server.api SimpleElasticAgent@elastic.agent.server.api "
        "WorkerGroup@elastic.agent.server.api WorkerSpec@elastic.agent.server.api "
        "WorkerState@elastic.agent.server.api "
        "create_healthcheck_server@elastic.agent.server.health_check_server "
        "get_logger@elastic.utils.logging is_uninterruptible_state@elastic.utils.process_state "
        "macros@elastic.utils.api prof@elastic.metrics.api "
        "read_proc_state@elastic.utils.process_state",
    "elastic.control_plane": "worker_main()",
    "elastic.events":
        "Event@elastic.events.api EventSource@elastic.events.api NodeState@elastic.events.api "
        "RdzvEvent@elastic.events.api construct_and_record_rdzv_event() "
        "get_logging_handler@elastic.events.handlers record() record_rdzv_event()",
    "elastic.events.api":
        "Event EventSource=AGENT:AGENT EventSource=WORKER:WORKER NodeState=INIT:INIT "
        "NodeState=RUNNING:RUNNING NodeState=SUCCEEDED:SUCCEEDED NodeState=FAILED:FAILED "
        "RdzvEvent",
    "elastic.events.handlers": "get_logging_handler()",
    "elastic.metrics":
        "ConsoleMetricHandler@elastic.metrics.api MetricData@elastic.metrics.api "
        "MetricHandler@elastic.metrics.api MetricsConfig@elastic.metrics.api "
        "NullMetricHandler@elastic.metrics.api configure@elastic.metrics.api "
        "getStream@elastic.metrics.api get_elapsed_time_ms@elastic.metrics.api "
        "initialize_metrics() prof@elastic.metrics.api profile@elastic.metrics.api "
        "publish_metric@elastic.metrics.api put_metric@elastic.metrics.api",
    "elastic.metrics.api":
        "ConsoleMetricHandler MetricData MetricHandler MetricStream MetricsConfig "
        "NullMetricHandler configure() getStream() get_elapsed_time_ms() prof() profile() "
        "publish_metric() put_metric()",
    "elastic.multiprocessing.api":
        "DefaultLogsSpecs LogsDest LogsSpecs MultiprocessContext PContext RunProcsResult "
        "SignalException!Exception Std=NONE:0 Std=OUT:1 Std=ERR:2 Std=ALL:3 SubprocessContext "
        "SubprocessHandler@elastic.multiprocessing.subprocess_handler.subprocess_handler "
        "TailLog@elastic.multiprocessing.tail_log get_std_cm() "
        "get_subprocess_handler@elastic.multiprocessing.subprocess_handler.handlers to_map()",
    "elastic.multiprocessing.redirects": "get_libc() redirect()",
    "elastic.multiprocessing.subprocess_handler":
        "SubprocessHandler@elastic.multiprocessing.subprocess_handler.subprocess_handler "
        "get_subprocess_handler@elastic.multiprocessing.subprocess_handler.handlers",
    "elastic.multiprocessing.subprocess_handler.handlers":
        "SubprocessHandler@elastic.multiprocessing.subprocess_handler.subprocess_handler "
        "get_subprocess_handler()",
    "elastic.multiprocessing.subprocess_handler.subprocess_handler": "SubprocessHandler",
    "elastic.multiprocessing.tail_log": "TailLog tail_logfile()",
    "elastic.rendezvous":
        "RendezvousClosedError@elastic.rendezvous.api "
        "RendezvousConnectionError@elastic.rendezvous.api "
        "RendezvousError@elastic.rendezvous.api "
        "RendezvousGracefulExitError@elastic.rendezvous.api "
        "RendezvousHandler@elastic.rendezvous.api "
        "RendezvousHandlerRegistry@elastic.rendezvous.api RendezvousInfo@elastic.rendezvous.api "
        "RendezvousParameters@elastic.rendezvous.api "
        "RendezvousStateError@elastic.rendezvous.api RendezvousStoreInfo@elastic.rendezvous.api "
        "RendezvousTimeoutError@elastic.rendezvous.api",
    "elastic.rendezvous.api":
        "RendezvousClosedError!Exception RendezvousConnectionError!Exception "
        "RendezvousError!Exception RendezvousGracefulExitError!Exception RendezvousHandler "
        "RendezvousHandlerRegistry RendezvousInfo RendezvousParameters "
        "RendezvousStateError!Exception RendezvousStoreInfo RendezvousTimeoutError!Exception "
        "get_free_port@elastic.utils.distributed",
    "elastic.rendezvous.c10d_rendezvous_backend":
        "C10dRendezvousBackend NodeState@elastic.events.api "
        "RendezvousBackend@elastic.rendezvous.dynamic_rendezvous "
        "RendezvousConnectionError@elastic.rendezvous.api "
        "RendezvousError@elastic.rendezvous.api RendezvousParameters@elastic.rendezvous.api "
        "RendezvousStateError@elastic.rendezvous.api "
        "construct_and_record_rdzv_event@elastic.events create_backend() "
        "parse_rendezvous_endpoint@elastic.rendezvous.utils",
    "elastic.rendezvous.dynamic_rendezvous":
        "DynamicRendezvousHandler NodeState@elastic.events.api RendezvousBackend "
        "RendezvousClosedError@elastic.rendezvous.api RendezvousError@elastic.rendezvous.api "
        "RendezvousGracefulExitError@elastic.rendezvous.api "
        "RendezvousHandler@elastic.rendezvous.api RendezvousInfo@elastic.rendezvous.api "
        "RendezvousParameters@elastic.rendezvous.api RendezvousSettings "
        "RendezvousStateError@elastic.rendezvous.api RendezvousStoreInfo@elastic.rendezvous.api "
        "RendezvousTimeout RendezvousTimeoutError@elastic.rendezvous.api "
        "construct_and_record_rdzv_event@elastic.events create_handler() get_method_name()",
    "elastic.rendezvous.etcd_rendezvous":
        "EtcdRendezvous EtcdRendezvousHandler EtcdRendezvousRetryImmediately!Exception "
        "EtcdRendezvousRetryableFailure!Exception EtcdStore@elastic.rendezvous.etcd_store "
        "RendezvousClosedError@elastic.rendezvous.api RendezvousError@elastic.rendezvous.api "
        "RendezvousHandler@elastic.rendezvous.api RendezvousInfo@elastic.rendezvous.api "
        "RendezvousParameters@elastic.rendezvous.api RendezvousStoreInfo@elastic.rendezvous.api "
        "RendezvousTimeoutError@elastic.rendezvous.api cas_delay@elastic.rendezvous.etcd_store "
        "create_rdzv_handler() parse_rendezvous_endpoint@elastic.rendezvous.utils",
    "elastic.rendezvous.etcd_server": "EtcdServer find_free_port() stop_etcd()",
    "elastic.rendezvous.etcd_store": "EtcdStore cas_delay()",
    "elastic.rendezvous.registry":
        "RendezvousHandler@elastic.rendezvous.api RendezvousParameters@elastic.rendezvous.api "
        "create_handler@elastic.rendezvous.dynamic_rendezvous get_rendezvous_handler()",
    "elastic.rendezvous.static_tcp_rendezvous":
        "RendezvousHandler@elastic.rendezvous.api RendezvousInfo@elastic.rendezvous.api "
        "RendezvousParameters@elastic.rendezvous.api RendezvousStoreInfo@elastic.rendezvous.api "
        "StaticTCPRendezvous create_rdzv_handler() "
        "parse_rendezvous_endpoint@elastic.rendezvous.utils",
    "elastic.rendezvous.utils": "parse_rendezvous_endpoint()",
    "elastic.timer":
        "FileTimerClient@elastic.timer.file_based_local_timer "
        "FileTimerRequest@elastic.timer.file_based_local_timer "
        "FileTimerServer@elastic.timer.file_based_local_timer "
        "LocalTimerClient@elastic.timer.local_timer LocalTimerServer@elastic.timer.local_timer "
        "TimerClient@elastic.timer.api TimerRequest@elastic.timer.api "
        "TimerServer@elastic.timer.api configure@elastic.timer.api expires@elastic.timer.api",
    "elastic.timer.api": "RequestQueue TimerClient TimerRequest TimerServer configure() expires()",
    "elastic.timer.debug_info_logging":
        "get_logger@elastic.utils.logging log_debug_info_for_expired_timers()",
    "elastic.timer.file_based_local_timer":
        "FileTimerClient FileTimerRequest FileTimerServer TimerClient@elastic.timer.api "
        "TimerRequest@elastic.timer.api get_logger@elastic.utils.logging "
        "log_debug_info_for_expired_timers@elastic.timer.debug_info_logging",
    "elastic.timer.local_timer":
        "LocalTimerClient LocalTimerServer MultiprocessingRequestQueue "
        "RequestQueue@elastic.timer.api TimerClient@elastic.timer.api "
        "TimerRequest@elastic.timer.api TimerServer@elastic.timer.api",
    "elastic.utils":
        "get_env_variable_or_raise@elastic.utils.api get_socket_with_port@elastic.utils.api "
        "macros@elastic.utils.api",
    "elastic.utils.api": "get_env_variable_or_raise() get_socket_with_port() macros",
    "elastic.utils.data":
        "CyclingIterator@elastic.utils.data.cycling_iterator "
        "ElasticDistributedSampler@elastic.utils.data.elastic_distributed_sampler",
    "elastic.utils.data.cycling_iterator": "CyclingIterator",
    "elastic.utils.data.elastic_distributed_sampler": "ElasticDistributedSampler",
    "elastic.utils.distributed":
        "barrier@elastic.utils.store create_c10d_store() get_free_port() "
        "get_logger@elastic.utils.logging get_socket_with_port()",
    "elastic.utils.log_level": "get_log_level()",
    "elastic.utils.logging": "get_log_level@elastic.utils.log_level get_logger()",
    "elastic.utils.process_state": "is_uninterruptible_state() read_proc_state()",
    "elastic.utils.store": "barrier() get_all() store_timeout() synchronize()",
    "flight_recorder": "",
    "flight_recorder.components": "",
    "flight_recorder.components.builder":
        "Collective@flight_recorder.components.types Database@flight_recorder.components.types "
        "EntryState@flight_recorder.components.types "
        "FlightRecorderLogger@flight_recorder.components.fr_logger "
        "Group@flight_recorder.components.types "
        "MatchStateRecord@flight_recorder.components.types "
        "Membership@flight_recorder.components.types NCCLCall@flight_recorder.components.types "
        "Op@flight_recorder.components.types Traceback@flight_recorder.components.types "
        "add_stack_id_in_entries@flight_recorder.components.utils "
        "align_trace_from_beginning@flight_recorder.components.utils build_collectives() "
        "build_db() build_groups_memberships() "
        "check_current_entry_match@flight_recorder.components.utils "
        "check_no_missing_dump_files@flight_recorder.components.utils "
        "check_version@flight_recorder.components.utils "
        "error_analysis@flight_recorder.components.utils "
        "find_coalesced_group_with_non_p2p@flight_recorder.components.utils "
        "get_version_detail@flight_recorder.components.utils "
        "just_print_entries@flight_recorder.components.utils "
        "match_coalesced_groups_with_non_p2p@flight_recorder.components.utils tabulate() "
        "transform_ft()",
    "flight_recorder.components.config_manager":
        "FlightRecorderLogger@flight_recorder.components.fr_logger JobConfig",
    "flight_recorder.components.fr_logger": "FlightRecorderLogger",
    "flight_recorder.components.loader":
        "FlightRecorderLogger@flight_recorder.components.fr_logger read_dir() read_dump()",
    "flight_recorder.components.types":
        "Collective Database EntryState "
        "FlightRecorderLogger@flight_recorder.components.fr_logger Group MatchInfo "
        "MatchState=FULLY_MATCHED:1 MatchState=COLLECTIVE_TYPE_MISMATCH:2 "
        "MatchState=SIZE_OR_SYNTAX_MISMATCH:3 MatchState=COLLECTIVE_STATE_MISMATCH:4 "
        "MatchState=COLLECTIVE_DTYPE_MISMATCH:5 MatchState=UNDECIDED:6 MatchStateRecord "
        "Membership NCCLCall Op Ref Traceback TypeInfo",
    "flight_recorder.components.utils":
        "Collective@flight_recorder.components.types "
        "EntryState@flight_recorder.components.types "
        "FlightRecorderLogger@flight_recorder.components.fr_logger "
        "Group@flight_recorder.components.types MatchInfo@flight_recorder.components.types "
        "MatchState@flight_recorder.components.types "
        "MatchStateRecord@flight_recorder.components.types "
        "Membership@flight_recorder.components.types Op@flight_recorder.components.types "
        "add_stack_id_in_entries() align_trace_from_beginning() check_current_entry_match() "
        "check_no_missing_dump_files() check_size_alltoall() check_version() error_analysis() "
        "find_coalesced_group() find_coalesced_group_with_non_p2p() format_frame() "
        "format_frames() get_version_detail() just_print_entries() match_coalesced_groups() "
        "match_coalesced_groups_with_non_p2p() match_one_event()",
    "flight_recorder.fr_trace":
        "JobConfig@flight_recorder.components.config_manager "
        "build_db@flight_recorder.components.builder main() "
        "read_dir@flight_recorder.components.loader "
        "transform_ft@flight_recorder.components.builder",
    "fsdp._common_utils":
        "HandleTrainingState=IDLE:1 HandleTrainingState=FORWARD:2 "
        "HandleTrainingState=BACKWARD_PRE:3 HandleTrainingState=BACKWARD_POST:4 "
        "HandleTrainingState=SUMMON_FULL_PARAMS:5 TrainingState=IDLE:1 "
        "TrainingState=FORWARD_BACKWARD:2 TrainingState=SUMMON_FULL_PARAMS:3 _FSDPDeviceHandle "
        "_FSDPState _UninitializedDeviceHandle _apply_to_modules() _assert_in_training_states() "
        "_collect_grad_tensors() _get_handle_fqns_from_root() _get_module_fsdp_state() "
        "_get_module_fsdp_state_if_fully_sharded_module() _get_param_to_fqns() "
        "_get_root_modules() _get_sharding_strategy() _has_fsdp_params() _is_composable() "
        "_is_fsdp_flattened() _is_namedtuple() _log_post_backward_hook() _module_handle() "
        "_named_parameters_with_duplicates() _no_dispatch_record_stream() "
        "_override_module_mixed_precision() _replace_grad_tensors() _set_fsdp_flattened() "
        "clean_tensor_name() collect_grad_tensors() replace_grad_tensors()",
    "fsdp._debug_utils":
        "SimpleProfiler _get_sharded_module_tree_with_module_name_to_fqns() "
        "clean_tensor_name@fsdp._common_utils",
    "fsdp._flat_param":
        "FSDPExtensions@fsdp._fsdp_extensions FlatParamHandle FlatParamShardMetadata "
        "FlatParameter HandleShardingStrategy=FULL_SHARD:1 "
        "HandleShardingStrategy=SHARD_GRAD_OP:2 HandleShardingStrategy=NO_SHARD:3 "
        "HandleShardingStrategy=HYBRID_SHARD:4 HandleShardingStrategy=_HYBRID_SHARD_ZERO2:5 "
        "HandleTrainingState@fsdp._common_utils ParamInfo SharedParamInfo _FlatParameterMeta "
        "_ShardParamInfo _construct_padding_tensor() _convert_to_params() _detach_if_needed() "
        "_get_aligned_numel() _is_truly_contiguous() _safe_setattr_tensor_or_param() "
        "_same_storage() _same_storage_size() _storage_size_allocated() _unsafe_setattr_param() "
        "_unsafe_setattr_tensor()",
    "fsdp._fsdp_extensions":
        "FSDPExtensions Shard@_shard.sharded_tensor.shard "
        "ShardedTensor@_shard.sharded_tensor.api _ext_all_gather_dtensor() _ext_chunk_dtensor() "
        "_ext_chunk_tensor() _ext_post_unflatten_transform() _ext_pre_flatten_transform() "
        "_ext_pre_load_state_dict_transform() _set_fsdp_extensions()",
    "fsdp._fully_shard":
        "CPUOffloadPolicy DataParallelMeshDims FSDPModule MixedPrecisionPolicy OffloadPolicy "
        "UnshardHandle fully_shard() register_fsdp_forward_method() share_comm_ctx()",
    "fsdp._fully_shard._fsdp_api": "AllGather Comm ReduceScatter",
    "fsdp._fully_shard._fsdp_common":
        "DDPMeshInfo DTensorSpec@tensor._dtensor_spec DataParallelMeshInfo FSDPMeshInfo "
        "HSDPMeshInfo ShardPlacementResult TrainingState=FORWARD:1 TrainingState=PRE_BACKWARD:2 "
        "TrainingState=POST_BACKWARD:3 TrainingState=IDLE:4 _cast_fp_tensor() "
        "_chunk_with_empty() _disable_functorch_if_active() _dynamo_disable() "
        "_from_local_no_grad() _get_dim0_padded_size() _get_dim_chunked_size() "
        "_is_composable_with_fsdp() _raise_assert_with_print() _to_dtype_if_needed() is_bw() "
        "resolve_shard_placement()",
    "fsdp._fully_shard._fsdp_init":
        "DDPMeshInfo@fsdp._fully_shard._fsdp_common "
        "DataParallelMeshInfo@fsdp._fully_shard._fsdp_common "
        "FSDPMeshInfo@fsdp._fully_shard._fsdp_common "
        "HSDPMeshInfo@fsdp._fully_shard._fsdp_common _adjust_managed_modules() "
        "_apply_to_module() _get_device_from_mesh() _get_managed_modules() "
        "_get_managed_states() _get_mesh_info() _get_mesh_info_from_named_dims() "
        "_get_modules_and_states() _get_post_forward_mesh_info() _ignore_module() "
        "_init_default_fully_shard_mesh() _init_default_mesh() _init_param_group() "
        "_move_states_to_device() _validate_mesh() _validate_module() _verify_managed_param()",
    "fsdp._fully_shard._fsdp_param":
        "DDPMeshInfo@fsdp._fully_shard._fsdp_common DTensorSpec@tensor._dtensor_spec "
        "DataParallelMeshInfo@fsdp._fully_shard._fsdp_common ExtensionsData "
        "FSDPMeshInfo@fsdp._fully_shard._fsdp_common FSDPParam "
        "HSDPMeshInfo@fsdp._fully_shard._fsdp_common ParamModuleInfo ShardedState=SHARDED:1 "
        "ShardedState=SHARDED_POST_FORWARD:2 ShardedState=UNSHARDED:3 "
        "TensorMeta@tensor._dtensor_spec _get_orig_param_uid() alloc_storage() copy_() "
        "copy__functionalize() free_storage() "
        "resolve_shard_placement@fsdp._fully_shard._fsdp_common set_requires_grad_if_needed() "
        "unsafe_setattr_param()",
    "fsdp._fully_shard._fsdp_param_group":
        "AllGather@fsdp._fully_shard._fsdp_api AllGatherState AllReduceState "
        "DDPMeshInfo@fsdp._fully_shard._fsdp_common "
        "DataParallelMeshInfo@fsdp._fully_shard._fsdp_common FSDPCommContext "
        "FSDPMeshInfo@fsdp._fully_shard._fsdp_common FSDPParam@fsdp._fully_shard._fsdp_param "
        "FSDPParamGroup HSDPMeshInfo@fsdp._fully_shard._fsdp_common "
        "ParamModuleInfo@fsdp._fully_shard._fsdp_param "
        "ReduceScatter@fsdp._fully_shard._fsdp_api ReduceScatterState "
        "RegisterPostBackwardFunction ShardedState@fsdp._fully_shard._fsdp_param "
        "TrainingState@fsdp._fully_shard._fsdp_common _get_param_module_infos() "
        "alloc_storage@fsdp._fully_shard._fsdp_param collect_grad_tensors@fsdp._common_utils "
        "is_bw@fsdp._fully_shard._fsdp_common replace_grad_tensors@fsdp._common_utils",
    "fsdp._fully_shard._fsdp_state":
        "FSDPCommContext@fsdp._fully_shard._fsdp_param_group "
        "FSDPParamGroup@fsdp._fully_shard._fsdp_param_group FSDPState FSDPStateContext "
        "RegisterPreBackwardFunction TrainingState@fsdp._fully_shard._fsdp_common "
        "_get_module_fsdp_state() _register_group_forward_hooks() "
        "collect_grad_tensors@fsdp._common_utils",
    "fsdp._fully_shard._fully_shard":
        "AllGather@fsdp._fully_shard._fsdp_api FSDPMeshInfo@fsdp._fully_shard._fsdp_common "
        "FSDPModule FSDPState@fsdp._fully_shard._fsdp_state "
        "ReduceScatter@fsdp._fully_shard._fsdp_api UnshardHandle _UnshardHandleImpl "
        "_assert_all_fsdp_modules() _unimplemented_deepcopy() contract@_composable.contract "
        "disable_fsdp_module_new_init() fully_shard() get_cls_to_fsdp_cls() "
        "register_fsdp_forward_method() share_comm_ctx()",
    "fsdp._init_utils":
        "FlatParamHandle@fsdp._flat_param FlatParameter@fsdp._flat_param "
        "HandleShardingStrategy@fsdp._flat_param TrainingState@fsdp._common_utils "
        "_check_ignored_states() _check_module_states_for_sync_module_states() "
        "_check_orig_params_flattened() _check_single_device_module() _get_buffer_names() "
        "_get_compute_device() _get_default_comm_hook() _get_default_comm_hook_state() "
        "_get_device_from_device_id() _get_ignored_buffer_names() _get_ignored_modules() "
        "_get_ignored_params() _get_modules_to_materialize() _get_orig_params() "
        "_init_buffer_state() _init_core_state() _init_device_handle() _init_extension() "
        "_init_ignored_module_states() _init_inter_node_process_group() "
        "_init_intra_and_inter_node_groups() _init_intra_node_process_group() "
        "_init_param_handle_from_module() _init_param_handle_from_params() "
        "_init_prefetching_state() _init_process_group_state() "
        "_init_process_group_state_for_hybrid_shard() _init_runtime_state() "
        "_init_state_dict_state() _is_valid_hybrid_shard_device_mesh() "
        "_is_valid_hybrid_shard_pg_type() _materialize_meta_module() "
        "_materialize_with_param_init_fn() _move_module_to_device() _move_states_to_device() "
        "_need_to_materialize_module() _sync_module_params_and_buffers() "
        "_verify_managed_params() _warn_cpu_init() clean_tensor_name@fsdp._common_utils",
    "fsdp._optim_utils":
        "FSDPParamInfo FlatParamHandle@fsdp._flat_param FlatParameter@fsdp._flat_param "
        "SimpleProfiler@fsdp._debug_utils StateInfo _ConsolidatedOptimState _OptimStateKey "
        "_PosDimTensorInfo _allgather_orig_param_states() _allgather_state_info() "
        "_broadcast_processed_state() _broadcast_state() _check_missing_keys_on_rank() "
        "_communicate_optim_state() _convert_all_state_info() _convert_state_with_flat_params() "
        "_convert_state_with_orig_params() _flatten_non_tensor_optim_state() "
        "_flatten_optim_state() _flatten_optim_state_dict() _flatten_tensor_optim_state() "
        "_flatten_zero_dim_tensor_optim_state() _gather_all_orig_param_state() "
        "_get_flat_param_to_fqn() _get_fqn_to_fsdp_param_info() "
        "_get_param_id_to_param_from_optim_input() _get_param_key_to_param() "
        "_get_param_to_param_id_from_optim_input() _get_param_to_param_key() "
        "_is_named_optimizer() _is_zero_dim_tensor() _map_param_key_to_optim_keys() "
        "_optim_state_dict() _rekey_sharded_optim_state_dict() _set_optim_use_dtensor() "
        "_shard_orig_param_state() _unflatten_communicated_optim_state() "
        "_unflatten_optim_state() _unflatten_orig_param_states() _unflatten_param_groups() "
        "clean_tensor_name@fsdp._common_utils sorted_items()",
    "fsdp._runtime_utils":
        "FlatParamHandle@fsdp._flat_param FlatParameter@fsdp._flat_param "
        "HandleShardingStrategy@fsdp._flat_param HandleTrainingState@fsdp._common_utils "
        "TrainingState@fsdp._common_utils _PrefetchMode=BACKWARD:1 _PrefetchMode=FORWARD:2 "
        "_accumulate_sharded_grad() _cast_buffers_to_dtype_and_device() "
        "_cast_grad_to_param_dtype() _catch_all_reshard() "
        "_check_flat_params_on_expected_device() _check_grad_to_accumulate() _div_if_needed() "
        "_finalize_params() _get_buffers_and_dtypes_for_computation() _get_fsdp_root_states() "
        "_get_fsdp_root_states_with_modules() _get_handle_to_prefetch() "
        "_get_orig_buffer_dtypes() _get_reduce_scatter_tensors() _get_training_state() "
        "_init_streams() _is_fsdp_root() _lazy_init() _low_precision_hook_enabled() "
        "_offload_grad() _post_backward_final_callback() _post_backward_hook() "
        "_post_backward_reshard() _post_backward_reshard_only_hook() "
        "_post_backward_use_sharded_grad_views() _post_forward() _post_forward_reshard() "
        "_post_reduce_grad_callback() _pre_backward_hook() _pre_forward() "
        "_pre_forward_unshard() _prefetch_handle() _reduce_grad() _reduce_grad_no_shard() "
        "_register_post_backward_final_callback() _register_post_backward_hook() "
        "_register_post_backward_reshard_only_hook() _register_post_forward_hook() "
        "_register_pre_backward_hooks() _register_pre_forward_hook() "
        "_register_root_pre_forward_hook() _reset_flat_param_grad_info_if_needed() _reshard() "
        "_reshard_grads() _root_cast_forward_input() _root_pre_forward() "
        "_share_state_and_init_handle_attrs() _should_free_in_backward() _unshard() "
        "_unshard_grads() _wait_for_computation_stream() clean_tensor_name@fsdp._common_utils",
    "fsdp._state_dict_utils":
        "Shard@_shard.sharded_tensor.shard ShardedTensor@_shard.sharded_tensor.api "
        "SimpleProfiler@fsdp._debug_utils _common_pre_state_dict_hook() "
        "_common_unshard_post_state_dict_hook() _common_unshard_pre_state_dict_hook() "
        "_convert_to_wrapped_module_name() _enter_unshard_params_ctx() "
        "_exit_unshard_params_ctx() _full_post_load_state_dict_hook() "
        "_full_post_state_dict_hook() _full_pre_load_state_dict_hook() "
        "_full_pre_state_dict_hook() _local_post_load_state_dict_hook() "
        "_local_post_state_dict_hook() _local_pre_load_state_dict_hook() "
        "_local_pre_state_dict_hook() _param_name_infos() _post_load_state_dict_hook() "
        "_post_state_dict_hook() _pre_load_state_dict_hook() _pre_state_dict_hook() "
        "_register_all_state_dict_hooks() _register_state_dict_hooks_base() "
        "_replace_with_full_state_dict_type() _set_use_dtensor() "
        "_sharded_post_load_state_dict_hook() _sharded_post_state_dict_hook() "
        "_sharded_pre_load_state_dict_hook() _sharded_pre_state_dict_hook() "
        "_shared_param_name_infos() _should_unshard_params() "
        "clean_tensor_name@fsdp._common_utils init_from_local_shards@_shard.sharded_tensor",
    "fsdp._traversal_utils":
        "_composable() _get_fsdp_handles() _get_fsdp_states() _get_fsdp_states_with_modules()",
    "fsdp._unshard_param_utils":
        "FlatParamHandle@fsdp._flat_param HandleTrainingState@fsdp._common_utils "
        "TrainingState@fsdp._common_utils _deregister_flat_param() _deregister_orig_params() "
        "_register_flat_param() _register_orig_params() _unflatten_as_params() "
        "_unshard_fsdp_state_params() _unshard_params() _unshard_params_for_summon() "
        "_validate_unshard_params_args() _writeback_to_local_shard()",
    "fsdp._wrap_utils":
        "_auto_wrap() _check_nested_wrapping() _get_managed_param_to_fqn() "
        "_get_post_order_named_modules() _validate_frozen_params() "
        "_warn_on_overridden_mixed_precision()",
    "logging_handlers": "",
    "nn.api": "",
    "nn.api.remote_module": "RemoteModule",
    "nn.jit": "",
    "nn.jit.instantiator":
        "get_arg_return_types_from_interface() "
        "get_remote_module_template@nn.jit.templates.remote_module_template "
        "instantiate_non_scriptable_remote_module_template() "
        "instantiate_scriptable_remote_module_template()",
    "nn.jit.templates": "",
    "nn.jit.templates.remote_module_template": "get_remote_module_template()",
    "optim._deprecation_warning": "_scripted_functional_optimizer_deprecation_warning()",
    "optim.apply_optimizer_in_backward": "",
    "optim.functional_adadelta": "",
    "optim.functional_adagrad": "",
    "optim.functional_adam": "",
    "optim.functional_adamax": "",
    "optim.functional_adamw": "",
    "optim.functional_rmsprop": "",
    "optim.functional_rprop": "",
    "optim.functional_sgd": "",
    "optim.named_optimizer": "ShardedTensor@_shard.sharded_tensor.api",
    "optim.optimizer": "DistributedOptimizer RRef@rpc.api",
    "optim.utils": "as_functional_optim() register_functional_optim()",
    "pipelining._backward":
        "_autograd_grad_for_inputs() _get_grad_fn_or_grad_acc() _null_coalesce_accumulate() "
        "construct_reverse_graph() get_param_groups() map_debug_info@pipelining._debug "
        "reverse_closure() stage_backward() stage_backward_input() stage_backward_weight()",
    "pipelining._debug": "friendly_debug_info() map_debug_info()",
    "pipelining._utils":
        "GetMeshCallback InferenceMode=STATIC:static InferenceMode=DYNAMIC:dynamic PipeInfo "
        "PipeliningMetadataError!RuntimeError _DTensorMeta _MeshCache _StageBackwardMeta "
        "_StageForwardMeta _StageMeta _TensorMeta _derive_grad_metas() _make_tensor_from_meta() "
        "extract_tensor_meta() extract_tensor_metas() flatten_args() flatten_args_detach() "
        "generate_rank_to_stage_mapping() generate_stage_to_rank_mapping() "
        "to_local_if_dtensor() validate_and_normalize_to_tuple() validate_metadata() "
        "validate_static_arg_grad_correspondence() validate_tensors_metadata()",
    "remote_device": "",
    "rpc.api":
        "AllGatherStates PythonUDF@rpc.internal RPCExecMode@rpc.internal RRef get_worker_info() "
        "method_factory() new_method() remote() rpc_async() rpc_sync() shutdown()",
    "rpc.backend_registry":
        "BackendType BackendValue backend_registered() construct_rpc_backend_options() "
        "init_backend() register_backend()",
    "rpc.constants": "",
    "rpc.functions": "async_execution()",
    "rpc.internal":
        "PythonUDF RPCExecMode=SYNC:sync RPCExecMode=ASYNC:async "
        "RPCExecMode=ASYNC_JIT:async_jit RPCExecMode=REMOTE:remote RemoteException "
        "deserialize() serialize()",
    "rpc.options": "TensorPipeRpcBackendOptions",
    "rpc.rref_proxy": "RRefProxy rpc_async@rpc.api",
    "rpc.server_process_global_profiler": "",
    "tensor._api":
        "DTensor DTensorSpec@tensor._dtensor_spec Redistribute@tensor._redistribute "
        "TensorMeta@tensor._dtensor_spec _FromTorchTensor _ToTorchTensor _dtensor_init_helper() "
        "_normalize_placements_for_grad() _shard_tensor() "
        "check_tensor_meta@tensor._collective_utils distribute_module() distribute_tensor() "
        "empty() from_local() full() mesh_broadcast@tensor._collective_utils ones() rand() "
        "randn() redistribute_local_tensor@tensor._redistribute zeros()",
    "tensor._collective_utils":
        "MeshTopoInfo _compute_placement_transition_cost() _mesh_get_process_group_fake() "
        "_shard_dim_alltoall_meta() allgather_cost() allreduce_cost() check_tensor_meta() "
        "fill_empty_tensor_to_shards() mesh_broadcast() mesh_scatter() "
        "one_step_redistribute_cost() pad_tensor() redistribute_cost() reduce_scatter_cost() "
        "shard_dim_alltoall() spec_to_bytes() unpad_tensor()",
    "tensor._dtensor_spec":
        "DTensorSpec ShardOrderEntry TensorMeta _StridedShardNotDecodableError!ValueError",
    "tensor._op_schema":
        "DTensorSpec@tensor._dtensor_spec OpInfo OpSchema OpSpec OpStrategy OutputSharding "
        "RuntimeSchemaInfo StrategyType TensorMeta@tensor._dtensor_spec TupleStrategy "
        "_pretty_print_spec() _rebuild_tensor_from_dtensor_meta()",
    "tensor._random":
        "DTensorSpec@tensor._dtensor_spec OffsetBasedRNGTracker _PhiloxState _RNGStateTracker "
        "_calc_first_shard_size() _calc_shard_info() _calc_shard_linear_idx() _resolve_device() "
        "is_rng_supported_mesh() manual_seed()",
    "tensor._redistribute":
        "DTensorRedistributePlanner DTensorSpec@tensor._dtensor_spec NestedRedistribute "
        "Redistribute ShardOrderEntry@tensor._dtensor_spec TensorMeta@tensor._dtensor_spec "
        "_BackwardDtypeConfig _DtypeConfig _FlattenedTransformInfo _TransformInfo "
        "_gen_transform_infos_non_cached() _get_flattened_mesh_by_layout() "
        "_get_flattened_mesh_by_layout_impl() _optimize_transform_infos() "
        "_redistribute_backward() _redistribute_cost_sort_key() "
        "_update_shard_order_and_placements() _warn_flatten_optimization_not_possible() "
        "clear_redistribute_planner_cache() disable_redistribute_transform_optimization() "
        "get_redistribute_planner() one_step_redistribute_cost@tensor._collective_utils "
        "redistribute_local_tensor() use_min_cost_redistribution_plan()",
    "tensor.device_mesh": "DeviceMesh init_device_mesh()",
    "tensor.experimental._attention":
        "_CausalBehavior=SKIP:None _CausalBehavior=NOT_IS_CAUSAL:False "
        "_CausalBehavior=IS_CAUSAL:True _ContextParallel _HeadTailLoadBalancer _LoadBalancer "
        "_PTRRLoadBalancer _PerDocumentHeadTailLoadBalancer _RotateMethod=ALL_TO_ALL:1 "
        "_RotateMethod=ALL_GATHER:2 _context_parallel_shard() "
        "_disable_context_parallel_dispatcher() _enable_context_parallel_dispatcher() "
        "_is_causal_behavior() _templated_ring_attention() context_parallel() "
        "context_parallel_unshard() set_rotate_method()",
    "utils": "",
}  # fmt: skip

TABLES = {
    f"distributed.{module}": _table(module, words.split()) for module, words in _NAMES.items()
}
