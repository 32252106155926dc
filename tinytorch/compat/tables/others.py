"""Modules of other kinds of tensors, of measuring and downloads, and older homes of names."""

from __future__ import annotations

from ..rows import Table, alias, answer, fill, missing, refusal

__all__ = ["TABLES", "fill"]

_DENSE = "tensors are dense here: none are sparse"
_WHOLE = "tensors are not quantized here"
_NESTED = "tensors are not nested here: pad them, or keep a list"
_UNMARKED = "operations are marked for no other program; tinytorch.profiler measures them"
_OLD_SPARSE = "The older name of a sparse tensor of"
_FORMS = "adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sgd"

TABLES = {
    "sparse": Table({
        "FloatTensor": missing(f"{_OLD_SPARSE} float32.", _DENSE),
        "DoubleTensor": missing(f"{_OLD_SPARSE} float64.", _DENSE),
        "HalfTensor": missing(f"{_OLD_SPARSE} float16.", _DENSE),
        "IntTensor": missing(f"{_OLD_SPARSE} int32.", _DENSE),
        "LongTensor": missing(f"{_OLD_SPARSE} int64.", _DENSE),
        "sum softmax log_softmax to_sparse_semi_structured": refusal(_DENSE),
    }),
    "quantization": Table(
        {
            "QConfig": missing("How a module would be quantized; making one raises.", _WHOLE),
            "convert fuse_modules fuse_modules_qat get_default_qat_qconfig get_default_qconfig "
            "prepare prepare_qat quantize quantize_dynamic": refusal(_WHOLE),
        },
        files="qconfig stubs",
        called="ao.quantization",
    ),
    "profiler": Table(files="profiler", names={
        "kineto_available":
            answer(True, "Whether ``profile`` measures steps and writes traces: True."),
        "ExecutionTraceObserver": missing(
            "What writes the graph of a run in PyTorch; making one raises.",
            "tinytorch writes Chrome's traces alone: profile.export_chrome_trace"),
    }),
    "autograd.profiler": Table(
        doc="``torch.autograd.profiler``: one stretch of a program that is measured, and NVIDIA's "
            "marks.",
        names={
            "EventList FunctionEvent FunctionEventAvg record_function": alias("profiler:"),
            "profile": alias("profiler.run:"),
            "emit_nvtx": missing(
                "What marks every operation for NVIDIA's profilers; making one raises.\n\n"
                "``tinytorch.cuda.nvtx`` marks parts of a program.", _UNMARKED),
            "emit_itt": missing(
                "What marks every operation for Intel's profilers; making one raises.",
                _UNMARKED),
        },
    ),
    "nested": Table(
        doc="``torch.nested`` for programs that name it: there are no tensors of several lengths.",
        names={"as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged "
               "to_padded_tensor": refusal(_NESTED)},
    ),
    "optim._functional": Table(
        doc="``torch.optim._functional``: the functional forms of the optimizers.",
        names={name: alias(f"optim.{name}:") for name in _FORMS.split()},
    ),
    "utils.model_zoo": Table(
        doc="``torch.utils.model_zoo``, the older name of ``hub``'s downloads: nothing is "
            "downloaded.",
        names={"load_url": alias("hub:load_state_dict_from_url"), "tqdm": alias("hub:")},
    ),
    "functional": Table({
        "F": alias("nn.functional"),
        "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors "
        "cartesian_prod cdist chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft "
        "svd_lowrank tensordot unique unique_consecutive unravel_index": alias(":"),
    }),
}  # fmt: skip
