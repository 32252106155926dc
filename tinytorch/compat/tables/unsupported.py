"""Modules for features that tinytorch does not have, and other names of those that it has.

TorchScript does not exist; tensors are neither nested nor quantized.
"""

from __future__ import annotations

from types import SimpleNamespace

from ..module_tables import Table, alias, answer, argument, choices, fill, missing, refusal

__all__ = [
    "TABLES",
    "fill",
]

_FAKE = "compile records with real values: tensors have elements"
_NO_DISPATCH = (
    "no operation is dispatched below autograd; override __torch_function__, or use a "
    "overrides.TorchFunctionMode"
)
_GRAPHS = "there are no graphs of PyTorch's operators here; use fx, export.export or onnx.export"
_SCRIPTED = (
    "tinytorch runs Python as it is written and has no TorchScript; call the function or module "
    "itself, and keep weights with save() and load()"
)
_NO_SCRIPT = "there is no TorchScript here"
_EXTENSIONS = "extensions are compiled against PyTorch's own code, of which there is none here"
_ITSELF = argument("``fn`` itself.")


class WithoutMode:
    """Context manager that leaves no mode: there are none below autograd."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


_FEW_LAYOUTS = "sparse tensors are COO, CSR and CSC, with the functions that graph networks use"
_WHOLE = "tensors are not quantized here"
_NESTED = "tensors are not nested here: pad them, or keep a list"
_UNMARKED = "operations are marked for no other program; tinytorch.profiler measures them"
_FORMS = "adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sgd"

TABLES = {
    "__config__": Table(
        doc="``torch.__config__``: backends, devices, versions and threads, as texts.",
        names={"parallel_info show": alias("utils.collect_env:")},
    ),
    "__future__": Table(
        doc="``torch.__future__``: how ``Module.to`` and ``load_state_dict`` give parameters new "
            "contents.",
        names={"get_overwrite_module_params_on_conversion "
               "get_swap_module_params_on_conversion "
               "set_overwrite_module_params_on_conversion "
               "set_swap_module_params_on_conversion": alias("nn.module.conversion:")},
    ),
    "_tensor_str": Table(
        doc="``torch._tensor_str``, by which libraries print tensors of their own.",
        names={"PRINT_OPTS _add_suffixes _tensor_str printoptions set_printoptions":
               alias("compat.private_modules:")},
    ),
    "compiler": Table({
        "allow_in_graph": _ITSELF,
        "assume_constant_result": argument("``fn`` itself: it is called each time."),
        "is_exporting": answer(False, "Whether a program is being exported: never."),
        "cudagraph_mark_step_begin":
            answer(None, "Do nothing: there are no graphs of GPU work."),
        "list_backends": answer(["c", "numpy"], "Names of the engines, values of ``backend``.",
                                "exclude_tags: Any = ()", gives="list[str]"),
    }),
    "_C": Table(
        doc="``torch._C``: names of PyTorch's compiled part that libraries use.",
        names={
            "Tensor device": alias(":"),
            "DisableTorchFunction DisableTorchFunctionSubclass": alias("core.torch_function:"),
            "_disabled_torch_function_impl": alias("core.torch_function:disabled_torch_function"),
            "_is_torch_function_enabled": alias("core.torch_function:is_enabled"),
            "_LinAlgError": alias("ops.linalg.shared:LinAlgError"),
            "DispatchKey DispatchKeySet _TensorMeta _VariableFunctions _functorch _nn":
                alias("compat.private_modules:"),
            "_are_functorch_transforms_active": alias("autograd.levels:is_transforming"),
            "_is_fwd_grad_enabled": answer(True, "True: dual tensors carry their tangents on."),
            "_get_tracing_state": answer(None, "None: nothing is being traced."),
            "_is_tracing": answer(False, "False: nothing is being traced."),
            "_log_api_usage_once": answer(None, "Do nothing: no use of the library is counted.",
                                          "event: str", shown="'mylib.start'"),
            "Graph": missing("TorchScript's record of a program, which symbolic functions of an "
                             "export are given.", _NO_SCRIPT),
            "PyTorchFileReader": missing("Reader of the records of a checkpoint in PyTorch; "
                                         "nothing is one here.", "read checkpoints with load()"),
            "PyTorchFileWriter": missing("Writer of the records of a checkpoint in PyTorch; "
                                         "nothing is one here.", "write checkpoints with save()"),
            "ScriptObject":
                missing("A value of a compiled class; nothing is one here.", _NO_SCRIPT),
            "TensorType":
                missing("TorchScript's type of tensors; nothing is one here.", _NO_SCRIPT),
            "JITException": alias("jit:Error"),
            "Tag": choices(
                "Properties of an operation for PyTorch's compiler; not used here.",
                core=0, cudagraph_unsafe=1, data_dependent_output=2,
                dynamic_output_shape=3, flexible_layout=4, generated=5,
                inplace=6, inplace_view=7, maybe_aliasing_or_mutating=8,
                needs_contiguous_strides=9, needs_exact_strides=10,
                needs_fixed_stride_order=11, nondeterministic_bitwise=12,
                nondeterministic_seeded=13, out=14, out_variant=15,
                pointwise=16, pt2_compliant_tag=17, reduction=18, view_copy=19,
            ),
            "Value": missing("A value in TorchScript's record of a program; nothing is one here.",
                             _NO_SCRIPT),
        },
    ),
    "_dynamo": Table(
        doc="``torch._dynamo`` for programs that set its switches, or exclude code from "
            "``compile``.",
        names={
            "allow_in_graph assume_constant_result disable is_compiling list_backends reset "
            "set_stance": alias("compiler:"),
            "TransformGetItemToIndex": alias("compat.private_modules:"),
            "config": alias("capture.config"),
            "OptimizedModule graph_break optimize": alias("capture.optimized_module:"),
            "FailOnRecompileLimitHit RecompileError TorchDynamoException Unsupported":
                alias("capture.errors:"),
            "explain": alias("compiler:"),
            "export": refusal(_GRAPHS),
            "is_dynamo_supported": answer(True, "Whether functions are compiled: True."),
            "is_compile_supported": answer(True, "Whether functions are compiled for a kind of "
                                           "device: True.", "device_type: str", shown="'cpu'"),
            "disallow_in_graph forbid_in_graph": _ITSELF,
            "mark_dynamic maybe_mark_dynamic mark_static":
                answer(None, "Do nothing: sizes may differ at each call.",
                       "t: Any, index: Any, **options: Any", shown="None, 0"),
            "mark_static_address": answer(None, "Do nothing: no addresses are stored.",
                                          "t: Any, guard: bool = True", shown="None"),
        },
        files="eval_frame exc external_utils utils _trace_wrapped_higher_order_op",
    ),
    "_inductor": Table(
        doc="``torch._inductor`` for programs that set its switches.",
        names={"config": alias("_inductor.config")},
    ),
    "_inductor.config": Table(
        doc="``torch._inductor.config``: switches of PyTorch's compiler, without effect.",
        names={
            "coordinate_descent_tuning conv_1x1_as_mm cpp_wrapper epilogue_fusion "
            "force_fuse_int_mm_with_mul freezing fx_graph_cache fx_graph_remote_cache "
            "max_autotune max_autotune_gemm "
            "shape_padding use_mixed_mm": False,
            "triton cpp trace": SimpleNamespace(),
        },
    ),
    "_logging": Table(
        doc="``torch._logging`` for programs that choose what PyTorch's compiler logs.",
        names={"set_logs": answer(None, "Do nothing: recordings are not logged.",
                                  "**options: Any", shown="recompiles=True")},
    ),
    "_subclasses": Table(
        doc="``torch._subclasses`` for programs that test whether a tensor is a compiler's: none "
            "is.",
        names={
            "FakeTensor": missing("A tensor of a shape and no elements, which a compiler computes "
                                  "with; nothing is one here.", _FAKE),
            "FakeTensorMode": missing("A scope that makes such tensors of others.", _FAKE),
            "unset_fake_temporarily": WithoutMode,
            "maybe_get_fake_mode": answer(None, "The mode that made ``t``: None.", "t: object",
                                          shown="None"),
            "is_fake": answer(False, "Whether ``x`` is such a tensor: False.", "x: object",
                              shown="None"),
        },
        files="fake_tensor",
    ),
    "_VF": Table(
        doc="``torch._VF``: functions of the top level, by which PyTorch's layers call them.",
        names={"__getattr__": alias("compat.private_modules:_find_function")},
    ),
    "utils._python_dispatch": Table(
        doc="``torch.utils._python_dispatch`` for programs that look for modes below autograd: "
            "there are none.",
        names={
            "TorchDispatchMode": missing(
                "A scope whose ``__torch_dispatch__`` gets each operation below autograd; making "
                "one raises.", _NO_DISPATCH),
            "BaseTorchDispatchMode": missing("The same, which calls the operation.", _NO_DISPATCH),
            "is_traceable_wrapper_subclass": answer(
                False, "Whether ``t`` is a tensor made of others for a compiler: False.",
                "t: object", shown="None"),
            "is_traceable_wrapper_subclass_type": answer(
                False, "Whether ``t`` is a class of such tensors: False.", "t: object",
                shown="None"),
            "is_in_torch_dispatch_mode": answer(
                False, "Whether such a mode is active: False.",
                "include_infra_modes: bool = True"),
            "any_torch_dispatch_mode_on_stack":
                answer(False, "Whether such a mode is active: False."),
            "_get_current_dispatch_mode": answer(None, "The innermost mode: None."),
            "_get_current_dispatch_mode_stack": answer([], "The active modes: none."),
            "_disable_current_modes _pop_mode_temporarily": WithoutMode,
            "transform_subclass return_and_correct_aliasing": refusal(_NO_DISPATCH),
        },
    ),
    "_custom_ops": Table(
        doc="``torch._custom_ops``, the older module of ``tinytorch.library``.",
        names={"custom_op impl impl_abstract": alias("library:")},
    ),
    "export": Table({
        "draft_export register_dataclass unflatten": refusal(_GRAPHS),
        "ShapesCollection":
            missing("Dimensions of tensors that may change; making one raises.", _GRAPHS),
    }),
    "fx.experimental": Table(
        doc="``torch.fx.experimental`` for programs that import it.", names={}
    ),
    "fx.experimental.proxy_tensor": Table(
        doc="``torch.fx.experimental.proxy_tensor``: no tracer below autograd is ever active.",
        names={"get_proxy_mode": answer(None, "The tracer that is active below autograd: None.")},
    ),
    "jit": Table({
        "ScriptFunction": missing("Result of ``torch.jit.script`` for a function; nothing here is "
                                  "an instance of it.", _SCRIPTED),
        "ScriptModule": missing("Result of ``torch.jit.script`` for a module; nothing here is an "
                                "instance of it.", _SCRIPTED, "nn.module:Module"),
        "freeze": refusal(_SCRIPTED, takes="mod: Any, *args: Any, **kwargs: Any"),
        "is_scripting is_tracing": answer(False),
        "CompilationUnit": missing("TorchScript's functions of a text; making one raises.",
                                   _SCRIPTED),
        "Future": alias("futures:"),
        "enable_onednn_fusion": answer(None, "Do nothing: nothing is fused.", "enabled: bool",
                                       shown="True"),
        "onednn_fusion_enabled": answer(False),
        "export_opnames": refusal(_SCRIPTED, takes="m: Any"),
        "optimize_for_inference": argument("``mod`` itself; ``compile`` makes it faster.",
                                           "mod: _F, other_methods: Any = None"),
        "set_fusion_strategy": answer([], "Return the former strategy: none.", "strategy: Any",
                                      shown="[('STATIC', 2)]", gives="list[tuple[str, int]]"),
        "export script_if_tracing unused interface _overload _overload_method _script_if_tracing":
            _ITSELF,
    }),
    "onnx": Table(
        {
            "is_in_onnx_export": answer(False),
        },
        files="symbolic_helper " + " ".join(f"symbolic_opset{n}" for n in range(7, 21)),
    ),
    "utils.cpp_extension": Table(
        doc="``torch.utils.cpp_extension`` for programs that import it: no extension is compiled.",
        names={
            "CUDA_HOME ROCM_HOME": None,  # where compilers for GPUs are: none is looked for
            "IS_HIP_EXTENSION": False,
            "BuildExtension CUDAExtension CppExtension include_paths load load_inline":
                refusal(_EXTENSIONS),
        },
    ),
    "sparse": Table({
        "as_sparse_gradcheck spdiags spsolve to_sparse_semi_structured": refusal(_FEW_LAYOUTS),
    }),
    "quantization": Table(
        {
            "QConfig": missing("Configuration of quantization; making one raises.", _WHOLE),
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
            "Writer of the graph of a run in PyTorch; making one raises.",
            "tinytorch writes Chrome's traces alone: profile.export_chrome_trace"),
    }),
    "autograd.profiler": Table(
        doc="``torch.autograd.profiler``: one stretch of a program that is measured, and NVIDIA's "
            "marks.",
        names={
            "EventList FunctionEvent FunctionEventAvg record_function": alias("profiler:"),
            "profile": alias("profiler.run:"),
            "emit_nvtx": missing(
                "Marks of every operation for NVIDIA's profilers; making one raises.\n\n"
                "``tinytorch.cuda.nvtx`` marks parts of a program.", _UNMARKED),
            "emit_itt": missing(
                "Marks of every operation for Intel's profilers; making one raises.",
                _UNMARKED),
        },
    ),
    "nested": Table(
        doc="``torch.nested`` for programs that use it: there are no tensors of several lengths.",
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
