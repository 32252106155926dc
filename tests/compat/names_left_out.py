"""Public names of PyTorch's that are not here, and why.

``names.py`` walks no module of ``UNTOUCHED``; of the others' names none may be missing that
``LEFT_OUT`` has not, and none may stand there that is not missing.
"""

from __future__ import annotations

#: Modules, with all below them.
UNTOUCHED = {
    "torch.ao torch.quantization torch.nn.intrinsic torch.nn.qat torch.nn.quantizable "
    "torch.nn.quantized": "tensors are not quantized; what programs import is in tables",
    "torch.distributed": "whole tensors in each process; tests on several ranks compare the rest",
    "torch.fx torch.export torch.onnx torch.nativert torch.package torch.utils.model_dump "
    "torch.utils.bundled_inputs torch.utils.mobile_optimizer torch.utils.jit":
        "no program is recorded as a graph; what programs import is in tables",
    "torch.contrib torch.mtia torch.numa torch.utils.mkldnn torch.utils.backend_registration "
    "torch.utils.cpp_extension torch.utils.hipify torch.utils.file_baton "
    "torch.utils.cpp_backtrace": "other devices, and code that is compiled for PyTorch",
    "torch.utils.tensorboard torch.utils.viz torch.utils.show_pickle "
    "torch.utils.throughput_benchmark torch.utils.debug_log torch.utils.backcompat":
        "programs to run, and what shows PyTorch's own state",
    "torch.utils.flop_counter torch.utils.module_tracker":
        "tests of what is counted compare these",
    "torch.utils.data.datapipes torch.utils.data.graph torch.utils.data.graph_settings":
        "data pipes, which PyTorch has given up",
    "torch.utils.benchmark.examples torch.utils.benchmark.op_fuzzers torch.utils.benchmark.utils":
        "scripts that measure PyTorch itself; the names in use are in utils.benchmark",
}  # fmt: skip

#: Why, and which: a module or class in each line, and names of it, ``*`` for whatever it has.
LEFT_OUT = {
    "parts of PyTorch's own making that it lists by accident": """
        torch: TYPE_CHECKING classproperty get_file_path prepare_multiprocessing_environment
            profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 USE_GLOBAL_DEPS
            USE_RTLD_GLOBAL_WITH_LIBTORCH FatalError BenchmarkConfig BenchmarkExecutionStats
            ThroughputBenchmark cpp StorageBase init_num_threads
            PRIVATE_OPS monitor compiled_with_cxx11_abi classes
        torch.autograd.function: FunctionMeta
        torch.autograd.variable: VariableMeta
        torch.func: rearrange debug_unwrap
        torch.nn: backends cpp
        torch.nn.backends: thnn
        torch.nn.common_types: T
        torch.nn.functional: assert_int_or_pair
        torch.return_types: pytree_register_structseq all_return_types
    """,
    "devices that no backend has": """
        torch: set_autocast_xla_enabled is_autocast_xla_enabled set_autocast_xla_dtype
            get_autocast_xla_dtype set_autocast_ipu_enabled is_autocast_ipu_enabled
            set_autocast_ipu_dtype get_autocast_ipu_dtype mtia
        torch.Tensor: mtia xpu ipu
        torch.nn.modules.module.Module: ipu xpu mtia
        torch.serialization: validate_cuda_device validate_hpu_device
        torch.storage.TypedStorage: is_hpu hpu
        torch.storage.UntypedStorage: is_hpu hpu mps
    """,
    "dtypes that PyTorch has names of and no operations for": """
        torch.dtype: abbr
        torch: bits1x8 bits2x4 bits4x2 bits8 bits16 uint1 bit uint2 uint3 uint4 uint5 uint6
            uint7 int1 int2 int3 int4 int5 int6 int7
    """,
    "tensors are not quantized; under the name torch the dtypes are named": """
        torch: qscheme QUInt8Storage QInt8Storage QInt32Storage QUInt4x2Storage QUInt2x4Storage
            per_tensor_affine per_channel_affine per_tensor_symmetric per_channel_symmetric
            per_channel_affine_float_qparams qint8 quint8 qint32 quint4x2 quint2x4
            empty_quantized quantized_lstm quantized_gru
    """,
    "what streams of all devices have in common; those here are CUDA's": """
        torch.Stream: is_capturing stream_id device_index device_type native_handle
        torch.Event: from_ipc_handle ipc_handle device event_id
        torch.cuda.streams.Event: from_ipc_handle ipc_handle
    """,
    "parts of TorchScript and of symbolic tracing, in C++": """
        torch: IODescriptor CompleteArgumentSpec ArgumentSpec Code ExecutionPlan Gradient
            GraphExecutorState DeserializationStorageContext parse_ir parse_schema
            unify_type_list FunctionSchema Argument ScriptClassFunction ScriptClass AliasDb
            Block Node Type AnyType NumberType IntType SymIntType SymBoolType FloatType
            ComplexType BoolType StringType DeviceObjType StreamObjType PyObjectType NoneType
            TupleType UnionType ListType DictType OptionalType RRefType FutureType AwaitType
            ClassType EnumType InterfaceType InferredType Use TracingState Capsule
            ScriptObjectProperty DeepCopyMemoTable ScriptModuleSerializer
            SerializationStorageContext LiteScriptModule ParameterDict BufferDict ModuleDict
            ErrorReport ScriptMethod CallStack parse_type_comment merge_type_from_type_comment
            import_ir_module import_ir_module_from_buffer OperatorInfo FileCheck
            ConcreteModuleTypeBuilder ConcreteModuleType LoggerBase AggregationType SUM AVG
            LockingLogger NoopLogger ScriptDictKeyIterator ScriptDictIterator ScriptDict
            ScriptListIterator ScriptList StaticModule sym_fresh_size sym_constrain_range
            sym_constrain_range_for_size
        torch.PyTorchFileWriter: *
        torch.PyTorchFileReader: *
        torch.Graph: *
        torch.Value: *
        torch.TensorType: *
        torch.ScriptObject: *
        torch.ScriptModule: *
        torch.SymInt: *
        torch.SymFloat: *
        torch.jit.CompilationUnit: *
        torch.jit.ScriptFunction: *
        torch.jit: strict_fusion frontend generate_bytecode mobile quantized supported_ops
            unsupported_tensor_ops
        torch.jit.annotations: is_tuple is_list is_dict is_optional is_union
            TupleType FloatType ComplexType IntType ListType StringType DictType AnyType Module
            get_signature check_fn get_param_names parse_type_line get_type_line split_type_line
            try_real_annotations try_ann_to_type ann_to_type
    """,
    "no kernel is chosen by keys here": """
        torch.DispatchKey: *
        torch.DispatchKeySet: *
        torch: ExcludeDispatchKeyGuard
        torch.library.Library: register_symm_mem_args fallback
        torch.overrides: enable_reentrant_dispatch redispatch_function
    """,
    "kernels and switches of libraries that PyTorch is built with": """
        torch: has_spectral has_openmp has_mkl has_lapack batch_norm_backward_elemt
            batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
            batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats
            cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
            cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose
            cudnn_grid_sampler cudnn_is_acceptable fbgemm_linear_fp16_weight
            fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
            fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
            fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix is_vulkan_available
            miopen_batch_norm miopen_convolution miopen_convolution_add_relu
            miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss
            miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d
            mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d
            mkldnn_max_pool3d mkldnn_rnn_layer native_norm slice_inverse
        torch.backends.cudnn: rnn
        torch.backends.cusparselt: get_max_alg_id
        torch.backends.mkl: verbose
        torch.backends.nnpack: flags
    """,
    "members that PyTorch does not document": """
        torch.Tensor: index storage_type const_data_ptr slice_inverse
    """,
    "dtypes without arrays; under the name torch some are named": """
        torch: complex32 float8_e8m0fnu float4_e2m1fn_x2
        torch.storage.TypedStorage: float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz
        torch.storage.UntypedStorage: float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz
    """,
    "PyTorch's runtime of CUDA; CuPy has its own": """
        torch.accelerator: Graph graphs
        torch.cuda: BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage
            ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage
            ShortStorage CudaError DeferredCudaCallError GreenContext check_error cudaStatus
            current_solver_handle jiterator nccl sparse tunable comm gds green_contexts
        torch.cuda.amp: amp_definitely_not_available common
        torch.cuda.graphs.CUDAGraph: *
        torch.cuda.graphs.graph: default_capture_stream
    """,
    "no program is recorded as a graph": """
        torch: package
    """,
    "parts of PyTorch's automatic differentiation": """
        torch.amp.autocast_mode: autocast_decorator
        torch.autograd: NestedIOFunction enforce_grad_layout_policy profiler_legacy
        torch.autograd.forward_ad.dual_level: clone
        torch.autograd.function.FunctionCtx: mark_shared_storage
        torch.autograd.function: BackwardCFunction NestedIOFunction
        torch.autograd.function.Function: clear_saved_tensors_on_access boxed_grads_call name
            maybe_clear_saved_tensors register_hook register_prehook saved_tensors
            saved_variables next_functions to_save non_differentiable dirty_tensors
            saved_for_forward needs_input_grad requires_grad metadata materialize_grads
        torch.autograd.grad_mode.no_grad: clone
        torch.autograd.grad_mode.enable_grad: clone
        torch.autograd.grad_mode.set_grad_enabled: clone
        torch.autograd.grad_mode.inference_mode: clone
        torch.autograd.grad_mode: enforce_grad_layout_policy
        torch.autograd.gradcheck: get_numerical_jacobian get_analytical_jacobian
            get_numerical_jacobian_wrt_specific_input
        torch.autograd.graph: region_activation_memory_budget
            set_warn_on_accumulate_grad_stream_mismatch set_override_stale_capture_stream
        torch.utils.checkpoint: set_checkpoint_debug_enabled SelectiveCheckpointContext
            DefaultDeviceType SAC_IGNORED_OPS GraphExecGroup
        torch.utils.dlpack: DLDeviceType
        torch.utils.hooks.RemovableHandle: next_id
        torch.utils.hooks: unserializable_hook warn_if_has_hooks BackwardHook
    """,
    "what reads and drives PyTorch's own tracing library": """
        torch.autograd.profiler.profile: default_trace_id create_trace_id config
        torch.autograd.profiler: load_nvprof EnforceUnique parse_nvprof_trace KinetoStepTracker
            MemRecordsAcc
        torch.profiler: DeviceType itt python_tracer
        torch.profiler.profiler.ExecutionTraceObserver: *
        torch.profiler.profiler.profile: set_custom_trace_id_callback get_trace_id prepare_trace
            start_trace stop_trace export_memory_timeline
        torch.autograd.profiler_util: EventMetadata FormattedTimesMixin Interval Kernel
            FunctionEventAvg StringTable MemRecordsAcc
        torch.autograd.profiler_util.FunctionEvent: *
        torch.sparse.semi_structured: SparseSemiStructuredTensor SparseSemiStructuredTensorCUTLASS
            SparseSemiStructuredTensorCUSPARSELT
    """,
    "which of PyTorch's kernels is used": """
        torch.backends.cuda: cuFFTPlanCacheAttrContextProp cuFFTPlanCache cuFFTPlanCacheManager
            cuBLASModule preferred_linalg_library preferred_blas_library cublas_workspace_size
            cublaslt_workspace_size blas_workspace_size preferred_rocm_fa_library
            is_ck_sdpa_available cufft_plan_cache SDPAParams allow_fp16_bf16_reduction_math_sdp
            fp16_bf16_reduction_math_sdp_allowed can_use_flash_attention
            can_use_efficient_attention can_use_cudnn_attention
        torch.backends.mps: get_core_count get_name is_macos13_or_newer is_macos_or_newer
        torch.backends: python_native xeon
        torch.backends.xeon: run_cpu
    """,
    "caches and guards of a compiler": """
        torch.compiler: config set_default_backend get_default_backend
            set_enable_guard_collectives load_compiled_function wrap_numpy save_cache_artifacts
            load_cache_artifacts keep_portable_guards_unsafe
            skip_guard_on_inbuilt_nn_modules_unsafe skip_guard_on_all_nn_modules_unsafe
            keep_tensor_guards_unsafe skip_guard_on_globals_unsafe skip_all_guards_unsafe
    """,
    "streams of the CPU, which do nothing in PyTorch": """
        torch.cpu: is_initialized current_stream stream Stream StreamContext Event
            get_capabilities
    """,
    "PyTorch's allocator; memory is in CuPy's pool": """
        torch.cuda: caching_allocator_alloc caching_allocator_delete caching_allocator_disabled
            caching_allocator_enable CUDAPluggableAllocator change_current_allocator
            host_memory_stats_as_nested_dict memory_snapshot MemPool use_mem_pool
            reset_accumulated_host_memory_stats reset_peak_host_memory_stats
        torch.cuda.memory: caching_allocator_alloc caching_allocator_delete
            caching_allocator_disabled caching_allocator_enable host_memory_stats_as_nested_dict
            reset_accumulated_host_memory_stats reset_peak_host_memory_stats memory_snapshot
            CUDAPluggableAllocator change_current_allocator MemPool
            use_mem_pool
    """,
    "no tensor has a mask": """
        torch.masked.maskedtensor.core.MaskedTensor: *
        torch.masked.maskedtensor: binary passthrough reductions unary
    """,
    "devices that no backend has; what programs ask is in tables": """
        torch.mps: compile_shader load_metallib Event profiler event
        torch.xpu: Event Stream StreamContext XPUPluggableAllocator XPUGraph
            can_device_access_peer change_current_allocator clock_rate current_stream
            default_generators device device_of device_memory_used get_arch_list
            get_device_capability get_device_properties get_gencode_flags
            get_per_process_memory_fraction get_rng_state_all get_stream_from_external graph
            graph_pool_handle init initial_seed is_current_stream_capturing is_tf32_supported
            make_graphed_callables mem_get_info memory_snapshot memory_stats
            memory_stats_as_nested_dict memory_usage MemPool power_draw use_mem_pool
            reset_accumulated_memory_stats reset_peak_memory_stats seed_all
            set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream
            streams temperature utilization graphs memory random
    """,
    "files of a package that is one module here": """
        torch.multiprocessing: pool queue
        torch.multiprocessing.reductions: fd_id rebuild_cuda_tensor rebuild_event
            rebuild_meta_tensor rebuild_nested_tensor rebuild_sparse_compressed_tensor
            rebuild_sparse_coo_tensor rebuild_storage_empty rebuild_storage_fd
            rebuild_storage_filename rebuild_tensor rebuild_typed_storage
            rebuild_typed_storage_child reduce_event reduce_nested_tensor reduce_sparse_tensor
            reduce_typed_storage reduce_typed_storage_child shared_cache SharedCache
            storage_from_cache StorageWeakRef
        torch.multiprocessing.spawn: ProcessException
    """,
    "inner parts of modules and optimizers, types for annotations": """
        torch.nn: factory_kwargs
        torch.nn.modules: linear_cross_entropy
        torch.nn.modules.module.Module: T_destination
        torch.nn.parameter: UninitializedTensorMixin
        torch.nn.utils.spectral_norm.SpectralNorm: remove apply
        torch.nn.utils.spectral_norm: SpectralNormLoadStateDictPreHook SpectralNormStateDictHook
        torch.nn.utils.weight_norm.WeightNorm: apply remove
        torch.optim: swap_in_optimizer_params_and_state
    """,
    "kernels of attention and products of float8 on some GPUs": """
        torch.nn.attention: WARN_FOR_UNFUSED_KERNELS register_flash_attention_impl
            activate_flash_attention_impl list_flash_attention_impls
            current_flash_attention_impl restore_flash_attention_impl bias experimental varlen
        torch.nn.attention.flex_attention.BlockMask: from_kv_blocks as_tuple to_string to
        torch.nn.attention.flex_attention: FlexKernelOptions
        torch.nn.functional: ScalingType SwizzleType scaled_mm scaled_grouped_mm
    """,
    "one process, one device": """
        torch.nn.parallel: comm
        torch.nn.parallel.data_parallel.DataParallel: replicate scatter parallel_apply gather
        torch.nn.parallel.distributed.DistributedDataParallel: *
        torch.nn.parallel.parallel_apply: get_a_var
        torch.nn.parallel.scatter_gather: scatter_kwargs
    """,
    "inner parts of PyTorch's reader": """
        torch.serialization: SourceChangeWarning mkdtemp check_module_version_greater_or_equal
            location_tag normalize_storage_type storage_to_tensor_type
            LoadEndianness StorageType
    """,
    "the name of a file": """
    """,
    "tensors are dense": """
        torch.sparse: solve SparseSemiStructuredTensor SparseSemiStructuredTensorCUTLASS
            SparseSemiStructuredTensorCUSPARSELT
    """,
    "storages stay where they are": """
        torch.storage.TypedStorage: cuda get_device pin_memory
        torch.storage.UntypedStorage: new is_sparse_csr cuda get_device pin_memory
    """,
    "how PyTorch collects its report": """
        torch.utils.collect_env: SystemEnv run run_and_read_all run_and_parse_first_match
            run_and_return_first_line get_conda_packages get_gcc_version get_clang_version
            get_cmake_version get_nvidia_driver_version get_gpu_info get_running_cuda_version
            get_cudnn_version get_nvidia_smi get_linux_pkg_version get_intel_gpu_driver_version
            get_intel_gpu_onboard get_intel_gpu_detected get_cpu_info get_platform
            get_mac_version get_windows_version get_lsb_version check_release_file get_os
            get_python_platform get_libc_version get_pip_packages get_cachingallocator_config
            get_cuda_module_loading_config is_xnnpack_available get_env_info pretty_str
    """,
    "data pipes, which PyTorch has given up, and misspelt names": """
        torch.utils.data: DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation
            functional_datapipe guaranteed_datapipes_determinism non_deterministic
            runtime_validation runtime_validation_disabled backward_compatibility
    """,
    "settings of a compiler and a file": """
        torch.utils: serialization
        torch.utils.serialization: config
    """,
}
