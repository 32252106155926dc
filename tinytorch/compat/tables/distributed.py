"""Parts of ``torch.distributed`` that are out of scope: their names import, and raise when used."""

from __future__ import annotations

from ..module_tables import Row, Table, alias, answer, choices, exception, fill, missing, refusal

__all__ = [
    "TABLES",
    "fill",
]

_TRAINS = "tinytorch keeps whole modules in each process"
_WORKS = "tinytorch keeps whole tensors in each process"
_ENGINES = "messages are carried by MPI and NCCL: make groups with new_group"
_CALLED = "tinytorch calls no functions of other processes"
_SPREAD = f"{_WORKS}: no tensor is spread over several"
_SHARDED = f"{_TRAINS}: nothing is sharded"
_WHERE = missing("Whether parameters are offloaded to the CPU.", _SHARDED)
_DTYPES = missing("The dtypes of a sharded module.", _SHARDED)
_TENSOR = {
    "distribute_tensor distribute_module compute_local_shape_and_global_offset "
    "implicit_replication": refusal(_SPREAD),
    "DTensor": missing("A tensor that is spread over processes, which none is here.", _SPREAD),
    "Placement Shard Replicate Partial": alias("distributed.device_mesh:"),
    "_StridedShard":
        missing("Several parts along a dimension in each process.", _SPREAD),
    "assert_no_mixed_partial_types compute_global_tensor_shape compute_local_stride "
    "compute_local_tensor_info normalize_to_torch_size try_find_mesh_from_args": refusal(_SPREAD),
    "ExplicitRedistributionContext":
        missing("Block in which tensors are spread anew by calls alone.", _SPREAD),
    "context_parallel local_map register_sharding": refusal(_SPREAD),
    "empty full ones rand randn zeros": refusal(_SPREAD),
}  # fmt: skip
_STAGES = "tinytorch keeps whole modules in each process: there are no pipelines of stages"
_STARTED = "start the processes with python -m tinytorch.distributed.run"
_TRACED = "programs are not traced: use the functions of torch.distributed"


def _absent(module: str, why: str, classes: str, functions: str = "") -> dict[str, Row]:
    """Rows of classes and functions of a module that raise.

    Args:
        module: The module's name below ``torch.distributed``.
        why: The reason.
        classes: Names of classes, separated by spaces.
        functions: Names of functions, separated by spaces.
    """
    rows = {functions: refusal(why)} if functions else {}
    for name in classes.split():
        rows[name] = missing(f"``torch.distributed.{module}.{name}``, which is not here.", why)
    return rows


_PARALLEL = _absent(
    "tensor.parallel", _SPREAD,
    "ParallelStyle ColwiseParallel RowwiseParallel SequenceParallel PrepareModuleInput "
    "PrepareModuleInputOutput PrepareModuleOutput DTensorExtensions",
    "loss_parallel parallelize_module input_reshard",
)  # fmt: skip
_PIPELINES = _absent(
    "pipelining", _STAGES,
    "Pipe PipelineStage Schedule1F1B ScheduleDualPipeV ScheduleGPipe ScheduleInterleaved1F1B "
    "ScheduleInterleavedZeroBubble ScheduleLoopedBFS ScheduleZBVZeroBubble SplitPoint "
    "PipelineScheduleMulti PipelineScheduleSingle TensorChunkSpec",
    "build_stage pipe_split pipeline get_schedule_class merge_chunks sum_reducer "
    "split_args_kwargs_into_chunks",
)  # fmt: skip
_FORMAT = "checkpoints are read and written by distributed.checkpoint.save and load"

TABLES = {
    "distributed": Table(
        {
            "device_mesh": alias("distributed.device_mesh"),
            "DeviceMesh init_device_mesh": alias("distributed.device_mesh:"),
            "nn": alias("distributed.nn"),
            "rpc": alias("distributed.rpc"),
            "AllToAllOptions AllreduceCoalescedOptions AllreduceOptions BackendConfig "
            "BarrierOptions BroadcastOptions GatherOptions ProcessGroupGloo ReduceOptions "
            "ReduceScatterOptions ScatterOptions":
                missing("Options of PyTorch's own groups of processes; making one raises.",
                        _ENGINES),
            "GroupName record_comm shrink_group split_group supports_complex": refusal(_ENGINES),
            "all_gather_single": alias("distributed.collectives:all_gather_into_tensor"),
            "reduce_scatter_single": alias("distributed.collectives:reduce_scatter_tensor"),
        },
        files="constants distributed_c10d",
    ),
    "distributed.nn": Table(
        doc="The forms of these functions that can be differentiated.",
        names={"all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter":
               alias("distributed.functional:"),
               "all_to_all_single": refusal("call all_to_all, which can be differentiated")},
        files="functional",
    ),
    "distributed.rpc": Table(
        doc="``torch.distributed.rpc`` for programs that test whether it is available: it is not.",
        names={
            "is_available": answer(False),
            "init_rpc": refusal(_CALLED),
            "AllGatherStates RRef get_worker_info method_factory new_method remote rpc_async "
            "rpc_sync shutdown": alias("distributed.rpc.api:"),
            "BackendType BackendValue backend_registered construct_rpc_backend_options "
            "init_backend register_backend": alias("distributed.rpc.backend_registry:"),
            "TensorPipeRpcBackendOptions": alias("distributed.rpc.options:"),
        },
    ),
    "distributed.tensor": Table(
        doc="``torch.distributed.tensor`` for programs that test whether a tensor is spread: none "
            "is.",
        names=_TENSOR,
        files="placement_types experimental _utils api",
    ),
    "distributed._tensor": Table(
        doc="The older name of ``torch.distributed.tensor``.",
        names={" ".join(_TENSOR): alias("distributed.tensor:")},
        files="api experimental placement_types",
    ),
    "distributed._composable": Table(
        doc="The older module of ``torch.distributed.fsdp.fully_shard``.",
        names={"FSDPModule fully_shard": alias("distributed.fsdp:")},
        files="fsdp",
    ),
    "distributed.fsdp": Table(
        doc="``torch.distributed.fsdp`` for programs that test whether a module is sharded: none "
            "is.",
        names={
            "fully_shard lambda_auto_wrap_policy register_fsdp_forward_method "
            "size_based_auto_wrap_policy transformer_auto_wrap_policy": refusal(_SHARDED),
            "FullyShardedDataParallel": missing("A module whose parameters are spread over "
                                                "processes, which none is here.", _SHARDED,
                                                "nn.module:Module"),
            "FSDPModule":
                missing("A module that ``fully_shard`` has spread, which none is here.", _SHARDED),
            "CPUOffload CPUOffloadPolicy": _WHERE,
            "MixedPrecision MixedPrecisionPolicy": _DTYPES,
            "ModuleWrapPolicy":
                missing("Policy for the parts of a module to shard by themselves.", _SHARDED),
            "ShardedGradScaler": missing("``GradScaler`` for sharded modules.", _SHARDED),
            "ShardingStrategy": choices(
                "Values that are spread over the processes.",
                FULL_SHARD=1, SHARD_GRAD_OP=2, NO_SHARD=3, HYBRID_SHARD=4, _HYBRID_SHARD_ZERO2=5,
            ),
            "BackwardPrefetch": choices("Time when parameters are gathered in the backward pass.",
                                        BACKWARD_PRE=1, BACKWARD_POST=2),
            "CustomPolicy": missing("Policy for the parts of a module that are sharded.", _SHARDED),
            "OffloadPolicy": _WHERE,
            "FullOptimStateDictConfig FullStateDictConfig LocalOptimStateDictConfig "
            "LocalStateDictConfig OptimStateDictConfig ShardedOptimStateDictConfig "
            "ShardedStateDictConfig StateDictConfig StateDictSettings DataParallelMeshDims "
            "UnshardHandle": missing("Options for saving a sharded module.", _SHARDED),
            "OptimStateKeyType": choices("Kinds of names of parameters in an optimizer's state.",
                                         PARAM_NAME=1, PARAM_ID=2),
            "always_wrap_policy enable_wrap share_comm_ctx wrap": refusal(_SHARDED),
            "StateDictType": choices(
                "The form of a sharded module's state dict.",
                FULL_STATE_DICT=1, LOCAL_STATE_DICT=2, SHARDED_STATE_DICT=3,
            ),
        },
        files="api wrap fully_sharded_data_parallel sharded_grad_scaler",
    ),
    "distributed.checkpoint": Table(
        names={
            "async_save": refusal("call save, which returns when it is done"),
            **_absent(
                "checkpoint", _FORMAT,
                "BlockingAsyncStager BytesStorageMetadata ChunkStorageMetadata DefaultLoadPlanner "
                "DefaultSavePlanner DefaultStager HuggingFaceStorageReader "
                "HuggingFaceStorageWriter LoadPlan LoadPlanner Metadata MetadataIndex ReadItem "
                "AsyncCheckpointerType AsyncSaveResponse AsyncStager BroadcastingTorchSaveReader "
                "BytesIOWriteData DynamicMetaLoadPlanner FileSystem FileSystemBase LoadItemType "
                "SerializationFormat StagingOptions StatefulT StorageMeta TensorProperties "
                "TensorWriteData WriteItemType WriteResult "
                "SavePlan SavePlanner Stateful StorageReader StorageWriter "
                "TensorStorageMetadata WriteItem",
                "dcp_to_torch_save torch_save_to_dcp load_sharded_optimizer_state_dict "
                "load_state_dict save_state_dict create_default_global_load_plan "
                "create_default_global_save_plan create_default_local_load_plan "
                "create_default_local_save_plan find_state_dict_object find_tensor_shard",
            ),
        },
        files="api default_planner filesystem format_utils hf_storage metadata optimizer planner "
        "staging state_dict_loader state_dict_saver stateful storage utils",
    ),
    "distributed.optim": Table(
        names=_absent("optim", _CALLED, "DistributedOptimizer", "as_functional_optim"),
    ),
    "distributed._functional_collectives": Table(
        doc="Collectives that return their result, for programs that PyTorch's compiler reads.",
        names={
            "all_reduce broadcast": alias("distributed.returned_collectives:"),
            "wait_tensor": alias("distributed.returned_collectives:"),
            **_absent(
                "_functional_collectives", _TRACED, "AsyncCollectiveTensor",
                "all_gather_single all_gather_single_autograd all_gather_tensor "
                "all_gather_tensor_autograd all_gather_into_tensor_coalesced "
                "all_reduce_coalesced all_to_all_single all_to_all_single_autograd "
                "permute_tensor reduce_scatter_single reduce_scatter_single_autograd "
                "reduce_scatter_tensor reduce_scatter_tensor_autograd "
                "reduce_scatter_tensor_coalesced",
            ),
        },
    ),
    "distributed.tensor.parallel": Table(
        doc="``torch.distributed.tensor.parallel``: no module is spread over processes.",
        names=_PARALLEL,
        files="api style loss input_reshard ddp fsdp",
    ),
    "distributed.tensor.debug": Table(
        doc="``torch.distributed.tensor.debug``: no tensor is spread over processes.",
        names=_absent("tensor.debug", _SPREAD, "CommDebugMode", "visualize_sharding"),
    ),
    "distributed.pipelining": Table(
        doc="``torch.distributed.pipelining``: no module is divided into stages.",
        names=_PIPELINES,
        files="microbatch schedules stage",
    ),
    "distributed.elastic.multiprocessing": Table(
        names={
            "DefaultLogsSpecs LogsDest LogsSpecs MultiprocessContext PContext RunProcsResult "
            "SignalException Std SubprocessContext to_map":
                alias("distributed.elastic.multiprocessing.api:"),
            "ProcessFailure": alias("distributed.elastic.multiprocessing.errors:"),
            "start_processes": refusal(_STARTED),
        },
    ),
    "distributed.elastic.multiprocessing.errors": Table(
        names={
            **_absent("elastic.multiprocessing.errors", _STARTED, "ErrorHandler ProcessFailure",
                      "get_error_handler"),
            "ChildFailedError": exception(
                "The error of a process that a launcher has started; never raised.", "Exception"),
        },
        files="error_handler handlers",
    ),
    "distributed.launcher": Table(
        doc="``torch.distributed.launcher``: processes are started by ``distributed.run``.",
        names=_absent("launcher", _STARTED, "LaunchConfig elastic_launch", "launch_agent"),
        files="api",
    ),
    "distributed.autograd": Table(
        doc="``torch.distributed.autograd``: graphs stay within a process.",
        names={
            "is_available": answer(False),
            "backward get_gradients": refusal(_CALLED),
            "context": missing("Block whose graph spans processes, which none does.", _CALLED),
        },
    ),
}  # fmt: skip
