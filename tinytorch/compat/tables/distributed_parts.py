"""Parts of ``torch.distributed`` that are out of scope: their names import, and raise when used."""

from __future__ import annotations

from ..rows import Row, Table, alias, answer, exception, fill, missing, refusal

__all__ = ["TABLES", "fill"]

_SPREAD = "tinytorch keeps whole tensors in each process: no tensor is spread over several"
_STAGES = "tinytorch keeps whole modules in each process: there are no pipelines of stages"
_STARTED = "start the processes with python -m tinytorch.distributed.run"
_TRACED = "programs are not traced: use the functions of torch.distributed"
_CALLED = "tinytorch calls no functions of other processes"


def _absent(module: str, why: str, classes: str, functions: str = "") -> dict[str, Row]:
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
