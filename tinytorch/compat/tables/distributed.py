"""Modules for several processes of which tinytorch has no more than the names."""

from __future__ import annotations

from ..rows import Table, alias, answer, choices, fill, missing, refusal

__all__ = ["TABLES", "fill"]

_TRAINS = "tinytorch keeps whole modules in each process"
_WORKS = "tinytorch keeps whole tensors in each process"
_ENGINES = "messages are carried by MPI and NCCL: make groups with new_group"
_CALLED = "tinytorch calls no functions of other processes"
_SPREAD = f"{_WORKS}: no tensor is spread over several"
_SHARDED = f"{_TRAINS}: nothing is sharded"
_WHERE = missing("Whether parameters wait on the CPU.", _SHARDED)
_DTYPES = missing("The dtypes of a sharded module.", _SHARDED)
_TENSOR = {
    "distribute_tensor distribute_module compute_local_shape_and_global_offset "
    "implicit_replication": refusal(_SPREAD),
    "DTensor": missing("A tensor that is spread over processes, which none is here.", _SPREAD),
    "Placement Shard Replicate Partial": alias("distributed.placement_types:"),
    "_StridedShard":
        missing("Several parts along a dimension in each process.", _SPREAD),
    "assert_no_mixed_partial_types compute_global_tensor_shape compute_local_stride "
    "compute_local_tensor_info normalize_to_torch_size try_find_mesh_from_args": refusal(_SPREAD),
    "ExplicitRedistributionContext":
        missing("Block in which tensors are spread anew by calls alone.", _SPREAD),
    "context_parallel local_map register_sharding": refusal(_SPREAD),
    "empty full ones rand randn zeros": refusal(_SPREAD),
}  # fmt: skip

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
            "all_gather_single": alias("distributed.gathering:all_gather_into_tensor"),
            "reduce_scatter_single": alias("distributed.exchange:reduce_scatter_tensor"),
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
        doc="``torch.distributed.rpc`` for programs that ask whether it is there: it is not.",
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
        doc="``torch.distributed.tensor`` for programs that ask whether a tensor is spread: none "
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
        doc="The older home of ``torch.distributed.fsdp.fully_shard``.",
        names={"FSDPModule fully_shard": alias("distributed.fsdp:")},
        files="fsdp",
    ),
    "distributed.fsdp": Table(
        doc="``torch.distributed.fsdp`` for programs that ask whether a module is sharded: none "
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
                missing("Which parts of a module are sharded by themselves.", _SHARDED),
            "ShardedGradScaler": missing("``GradScaler`` for sharded modules.", _SHARDED),
            "ShardingStrategy": choices(
                "What is spread over the processes.",
                FULL_SHARD=1, SHARD_GRAD_OP=2, NO_SHARD=3, HYBRID_SHARD=4, _HYBRID_SHARD_ZERO2=5,
            ),
            "BackwardPrefetch": choices("When parameters are gathered during the backward pass.",
                                        BACKWARD_PRE=1, BACKWARD_POST=2),
            "CustomPolicy": missing("Which parts of a module are sharded.", _SHARDED),
            "OffloadPolicy": _WHERE,
            "FullOptimStateDictConfig FullStateDictConfig LocalOptimStateDictConfig "
            "LocalStateDictConfig OptimStateDictConfig ShardedOptimStateDictConfig "
            "ShardedStateDictConfig StateDictConfig StateDictSettings DataParallelMeshDims "
            "UnshardHandle": missing("How a sharded module is saved.", _SHARDED),
            "OptimStateKeyType": choices("How an optimizer's state names parameters.",
                                         PARAM_NAME=1, PARAM_ID=2),
            "always_wrap_policy enable_wrap share_comm_ctx wrap": refusal(_SHARDED),
            "StateDictType": choices(
                "The form of a sharded module's state dict.",
                FULL_STATE_DICT=1, LOCAL_STATE_DICT=2, SHARDED_STATE_DICT=3,
            ),
        },
        files="api wrap fully_sharded_data_parallel sharded_grad_scaler",
    ),
}  # fmt: skip
