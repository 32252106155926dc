"""Names that PyTorch's files import, and that programs import from them.

Written by ``tests/compat/let_through.py``. By module: sources, each with the names that come from
it: ``here=there`` where the two differ, ``name=`` for the source itself. A source that begins with
a slash is a module of this package. A module that has no file is made of its row.
"""

from typing import Final

FILES: Final[dict[str, str]] = {
    "":
        "/ Storage=FloatStorage _segment_reduce=segment_reduce _sym_sqrt=sym_sqrt; /_compile "
        "_compile=; /_jit_internal _jit_internal=; /_linalg_utils _linalg_utils=; /_lobpcg "
        "_lobpcg=; /_lowrank _lowrank=; /_utils _import_dotted_name; /nn/init "
        "_ParamSpec=ParamSpec; /random thread_safe_generator; /signal/windows windows=; "
        "collections.abc _Callable=Callable; ctypes ctypes=; functools functools=; glob glob=; "
        "importlib importlib=; inspect inspect=; math math=; os os=; platform platform=; sys "
        "sys=; textwrap textwrap=; threading threading=; typing _Any=Any _TypeGuard=TypeGuard "
        "_TypeVar=TypeVar _get_origin=get_origin _overload=overload",
    "__config__": "/ torch=",
    "_compile":
        "/ _disable_dynamo; /nn/init ParamSpec; collections.abc Callable; functools functools=; "
        "typing TypeVar overload",
    "_dynamo": "/ torch=",
    "_jit_internal":
        "/ CFuture=Future torch=; /jit Future _overload _overload_method export ignore "
        "is_scripting unused; /nn/init ParamSpec; _thread _thread=; ast ast=; collections "
        "collections=; contextlib contextlib=; enum enum=; functools functools=; inspect "
        "inspect=; io io=; pickle pickle=; sys sys=; textwrap textwrap=; threading threading=; "
        "types BuiltinUnionType=UnionType types=; typing Any Callable Dict Final ForwardRef List "
        "Optional Protocol Tuple TypeVar Union get_args get_origin typing=; warnings warnings=; "
        "weakref weakref=",
    "_linalg_utils": "/ Tensor _symeig=symeig eig lstsq matrix_rank solve torch=",
    "_lobpcg":
        "/ Tensor lobpcg torch=; /_linalg_utils _utils=; /overrides handle_torch_function "
        "has_torch_function",
    "_lowrank":
        "/ Tensor pca_lowrank svd_lowrank torch=; /_linalg_utils _utils=; /overrides "
        "handle_torch_function has_torch_function",
    "_subclasses": "/ torch=",
    "_tensor_str":
        "/ torch=; contextlib contextlib=; dataclasses dataclasses=; math math=; textwrap "
        "textwrap=; typing Any",
    "accelerator": "/ torch=; /accelerator/memory memory=; functools cache",
    "accelerator.memory":
        "/ torch=; /accelerator empty_cache empty_host_cache get_memory_info max_memory_allocated "
        "max_memory_reserved memory_allocated memory_reserved memory_stats "
        "reset_accumulated_memory_stats reset_peak_memory_stats; collections OrderedDict; typing "
        "Any",
    "amp.autocast_mode":
        "/ _dtype=dtype torch=; collections collections=; numpy np=; warnings warnings=",
    "amp.grad_scaler":
        "/ torch=; collections.abc abc=; enum Enum; inspect inspect=; typing cast; warnings "
        "warnings=",
    "autograd":
        "/ torch=; /autograd/profiler_util profiler_util=; /overrides handle_torch_function "
        "has_torch_function is_tensor_like; /profiler ProfilerActivity kineto_available; "
        "collections.abc Mapping Sequence; typing cast overload; warnings warnings=",
    "autograd.anomaly": "/ torch=; warnings warnings=",
    "autograd.forward_ad": "/ torch=; os os=",
    "autograd.function":
        "/ torch=; /autograd/function _ContextMethodMixin=FunctionCtx; /nn/init ParamSpec; "
        "/utils/hooks hooks=; collections OrderedDict; itertools itertools=; typing Concatenate; "
        "warnings warnings=",
    "autograd.functional": "/ torch=; /autograd/forward_ad fwAD=",
    "autograd.grad_mode": "/ torch=; typing Any",
    "autograd.gradient_check":
        "/ torch=; /overrides is_tensor_like; collections collections=; collections.abc Iterable; "
        "functools functools=; warnings warnings=",
    "autograd.graph":
        "/ torch=; /autograd Variable; /utils/_python_dispatch TorchDispatchMode; abc abc=; "
        "collections defaultdict deque; collections.abc Generator MutableMapping; contextlib "
        "contextlib=; contextvars contextvars=; functools functools=; logging logging=; typing "
        "Optional TypeAlias Union cast; weakref WeakKeyDictionary WeakValueDictionary",
    "autograd.profiler":
        "/ torch=; /autograd _disable_profiler; /jit Future; /profiler ProfilerActivity "
        "kineto_available; collections defaultdict; collections.abc Iterable; contextlib "
        "_ContextDecorator=ContextDecorator; copy copy=; dataclasses dataclass; logging logging=; "
        "time perf_counter_ns; typing Any Optional; uuid uuid=; warnings warn",
    "autograd.profiler_util":
        "/ torch=; /autograd/profiler EventList FunctionEvent; bisect bisect=; collections "
        "defaultdict namedtuple; collections.abc Callable; itertools itertools=; json json=; math "
        "math=; operator attrgetter; typing Any NamedTuple",
    "autograd.variable": "/ torch=",
    "backends": "/backends m=",
    "backends.cpu": "/ torch=",
    "backends.cuda": "/ torch=; /nn/attention SDPBackend; contextlib contextlib=",
    "backends.cudnn": "/backends/cudnn m=",
    "backends.cusparselt": "/ torch=; typing Optional",
    "backends.kleidiai": "/ torch=",
    "backends.mha": "/ torch=",
    "backends.miopen": "/backends/miopen m=",
    "backends.mkl": "/ torch=",
    "backends.mkldnn": "/backends/mkldnn m=",
    "backends.mps":
        "/ torch=; /library _Library=Library; functools _lru_cache=lru_cache; typing Optional",
    "backends.nnpack": "/ torch=; contextlib contextmanager",
    "backends.openmp": "/ torch=",
    "backends.opt_einsum": "/backends/opt_einsum m=",
    "backends.quantized": "/backends/quantized m=",
    "backends.xnnpack": "/backends/xnnpack m=",
    "compat.reductions":
        "/ torch=; multiprocessing multiprocessing=; multiprocessing.reduction reduction=; "
        "multiprocessing.util register_after_fork; os os=; threading threading=",
    "compat.utils":
        "/ torch=; /nn/init ParamSpec; collections defaultdict; collections.abc Callable; copyreg "
        "copyreg=; functools functools=; importlib importlib=; logging logging=; math math=; os "
        "os=; pickle pickle=; re re=; typing Generic NotRequired TypedDict cast; warnings "
        "warnings=",
    "compiler": "/ torch=; /nn/init ParamSpec; io io=",
    "core.tensor":
        "/ torch=; /nn/init ParamSpec; /overrides handle_torch_function has_torch_function "
        "has_torch_function_unary has_torch_function_variadic; collections OrderedDict; copyreg "
        "copyreg=; enum enum=; functools functools=; numbers Number; typing Concatenate Union; "
        "warnings warnings=",
    "cpu":
        "/ _device=device torch=; collections.abc Mapping; contextlib AbstractContextManager; "
        "functools lru_cache; typing Any",
    "cpu.amp.autocast_mode": "/ torch=; sys sys=",
    "cpu.amp.grad_scaler": "/ torch=",
    "cuda":
        "/ AcceleratorError torch=; collections.abc Callable; functools lru_cache; importlib "
        "importlib=; os os=; platform platform=; threading threading=; traceback traceback=; "
        "typing NewType Optional cast; warnings warnings=",
    "cuda.amp.autocast_mode": "/ torch=; functools functools=; sys sys=",
    "cuda.amp.grad_scaler": "/ torch=; /amp/grad_scaler OptState",
    "cuda.graphs":
        "/ Tensor torch=; /nn/init ParamSpec; collections.abc Callable; gc gc=; typing Self "
        "TypeAlias Union overload typing=",
    "cuda.memory":
        "/ torch=; /cuda is_initialized list_gpu_processes; collections collections=; contextlib "
        "contextlib=; ctypes ctypes=; inspect signature; pickle pickle=; sys sys=; typing "
        "Literal; warnings warnings=",
    "cuda.profiler": "/cuda cudart; contextlib contextlib=",
    "cuda.random": "/ torch=; /cuda current_device is_initialized",
    "cuda.streams": "/ torch=; ctypes ctypes=",
    "distributed":
        "/ torch=; /distributed _Work=Work; datetime timedelta; logging logging=; sys sys=; "
        "traceback traceback=; typing typing=",
    "distributions.categorical":
        "/ torch=; /distributions/beta broadcast_all; /distributions/utils lazy_property "
        "logits_to_probs probs_to_logits",
    "distributions.constraints": "/ torch=; collections.abc Callable",
    "distributions.continuous": "/ torch=",
    "distributions.discrete":
        "/ torch=; /distributions Distribution; /distributions/utils logits_to_probs "
        "probs_to_logits; /nn/functional F= binary_cross_entropy_with_logits",
    "distributions.distribution": "/ torch=; warnings warnings=",
    "distributions.exp_family": "/ torch=",
    "distributions.extreme_values":
        "/ torch=; /distributions Distribution; numbers Number Real; typing Optional",
    "distributions.gamma": "/ torch=; /autograd Function; /autograd/function once_differentiable",
    "distributions.half": "/ torch=",
    "distributions.independent": "/ torch=; typing Generic TypeVar",
    "distributions.kl":
        "/ torch=; /distributions Distribution; /distributions/lowrank_multivariate_normal "
        "_batch_lowrank_logdet _batch_lowrank_mahalanobis; /distributions/multivariate_normal "
        "_batch_mahalanobis; collections.abc Callable; functools total_ordering; warnings "
        "warnings=",
    "distributions.lowrank_multivariate_normal": "/ torch=; /distributions Distribution",
    "distributions.mixture": "/ torch=; /distributions/constraints MixtureSameFamilyConstraint",
    "distributions.multivariate_normal": "/ torch=",
    "distributions.normal":
        "/ torch=; /distributions Independent; /distributions/beta broadcast_all",
    "distributions.random_matrices":
        "/ torch=; /distributions/multivariate_normal _precision_to_scale_tril; "
        "/distributions/utils lazy_property; warnings warnings=",
    "distributions.relaxed":
        "/ torch=; /distributions Categorical Distribution; /distributions/utils lazy_property "
        "logits_to_probs probs_to_logits",
    "distributions.transformed_distribution": "/ torch=",
    "distributions.transforms":
        "/ torch=; /distributions Distribution; /distributions/utils lazy_property "
        "tril_matrix_to_vec vec_to_tril_matrix; /nn/functional F= pad; collections.abc Sequence; "
        "functools functools=; operator operator=",
    "distributions.unit_interval":
        "/ torch=; /distributions/utils probs_to_logits; /nn/functional "
        "binary_cross_entropy_with_logits",
    "distributions.utils":
        "/ SymInt _dtype=dtype torch=; /nn/functional F=; /overrides is_tensor_like; "
        "collections.abc Sequence; typing Final",
    "distributions.von_mises":
        "/ torch=; /distributions Distribution; /distributions/utils lazy_property",
    "fft": "/ Tensor torch=",
    "functional":
        "/ Tensor torch=; /_VF _VF=; /jit overload=_overload; /overrides handle_torch_function "
        "has_torch_function has_torch_function_unary has_torch_function_variadic; collections.abc "
        "Sequence; itertools itertools=; operator operator=; typing Any",
    "futures": "/ torch=; typing cast",
    "hub":
        "/ torch=; contextlib contextlib=; errno errno=; hashlib hashlib=; json json=; pathlib "
        "Path; shutil shutil=; sys sys=; tempfile tempfile=; urllib.error HTTPError URLError; "
        "urllib.request Request urlopen; uuid uuid=; warnings warnings=; zipfile zipfile=",
    "jit":
        "/ torch=; /jit _fork=fork _set_fusion_strategy=set_fusion_strategy _wait=wait; /utils "
        "set_module; collections.abc Iterator; contextlib contextmanager; warnings warnings=",
    "jit.annotations":
        "/ TensorType torch=; /jit Future; ast ast=; dis dis=; enum enum=; inspect inspect=; re "
        "re=; textwrap dedent; typing typing=; warnings warnings=",
    "library":
        "/ _dtype=dtype torch=; /nn/init ParamSpec; contextlib contextlib=; inspect inspect=; re "
        "re=; sys sys=; typing Union overload; weakref weakref=",
    "masked": "/masked/_ops _ops=; /masked/maskedtensor maskedtensor=",
    "masked._ops":
        "/ Tensor sym_float torch=; /masked MaskedTensor amax amin argmax argmin as_masked_tensor "
        "cumprod cumsum is_masked_tensor log_softmax logaddexp logsumexp mean median norm "
        "normalize prod softmax softmin std sum var; /nn/init ParamSpec; /types DType=_int; "
        "collections.abc Callable; typing Any TypeAlias TypeVar; warnings warnings=",
    "masked.maskedtensor":
        "/masked MaskedTensor is_masked_tensor; /masked/maskedtensor/core core=; "
        "/masked/maskedtensor/creation creation=",
    "masked.maskedtensor.core":
        "/ torch=; /masked MaskedTensor is_masked_tensor; typing Any; warnings warnings=",
    "masked.maskedtensor.creation": "/masked MaskedTensor as_masked_tensor masked_tensor",
    "mps": "/ Tensor torch=",
    "multiprocessing": "/ torch=; multiprocessing.resource_tracker _RT=ResourceTracker",
    "multiprocessing.spawn":
        "/multiprocessing ProcessContext ProcessExitedException ProcessRaisedException "
        "SpawnContext spawn start_processes; concurrent.futures._base as_completed; "
        "concurrent.futures.thread ThreadPoolExecutor; logging logging=; multiprocessing "
        "multiprocessing=; os os=; pickle pickle=; signal signal=; sys sys=; tempfile tempfile=; "
        "time time=; warnings warnings=",
    "nested":
        "/ DType=dtype Device=device SymInt Tensor torch=; /nn/functional F=; typing Optional "
        "Union",
    "nn._reduction": "warnings warnings=",
    "nn.attention":
        "/ torch=; collections.abc Iterable; contextlib contextlib=; typing Union; warnings warn",
    "nn.attention.flex_attention":
        "/ torch=; /utils/_pytree GetAttrKey TreeSpec tree_flatten tree_map_only tree_unflatten; "
        "enum Enum; functools functools=; inspect inspect=; itertools itertools=; math math=; "
        "operator operator=; types types=; typing Literal Never NotRequired Self TypeVar cast "
        "overload typing=; warnings warnings=",
    "nn.common_types": "/ Tensor; typing TypeVar _TypeAlias=TypeAlias",
    "nn.functional":
        "/ Tensor _sym_int=sym_int torch=; /_VF _VF=; /jit _jit_unused=unused _overload; "
        "/nn/_reduction _Reduction=; /nn/functional _threshold=threshold; /nn/grad grad=; "
        "/nn/modules/conv _pair _single _triple; /overrides handle_torch_function "
        "has_torch_function has_torch_function_unary has_torch_function_variadic; /types "
        "DType=_int; collections.abc Callable; dataclasses dataclasses=; importlib importlib=; "
        "math math=; numpy np=; typing Optional _Any=Any; warnings warnings=",
    "nn.grad": "/ torch=; /nn/modules/conv _pair _single _triple",
    "nn.init": "/ torch=; typing Literal; warnings warnings=",
    "nn.modules": "/nn/modules/linear_cross_entropy_options linear_cross_entropy_options=",
    "nn.modules.activation":
        "/ Tensor torch=; /nn Parameter; /nn/functional F=; /nn/init constant_ xavier_normal_ "
        "xavier_uniform_; warnings warnings=",
    "nn.modules.adaptive":
        "/ Tensor torch=; /nn/functional F=; collections namedtuple; itertools itertools=",
    "nn.modules.batchnorm":
        "/ Tensor torch=; /nn Parameter UninitializedBuffer UninitializedParameter; "
        "/nn/functional F=; /nn/init init=",
    "nn.modules.channelshuffle": "/ Tensor; /nn/functional F=",
    "nn.modules.container":
        "/ torch=; /nn Parameter; collections OrderedDict; collections.abc container_abcs=; "
        "itertools chain islice; operator operator=; typing Self TypeVar overload",
    "nn.modules.conv":
        "/ Tensor torch=; /nn Parameter UninitializedParameter; /nn/common_types _size_1_t "
        "_size_2_t _size_3_t; /nn/functional F=; /nn/init init=; math math=; typing Literal",
    "nn.modules.distance": "/ Tensor; /nn/functional F=",
    "nn.modules.dropout": "/ Tensor; /nn/functional F=",
    "nn.modules.flatten": "/ Tensor",
    "nn.modules.fold": "/ Tensor; /nn/common_types _size_any_t; /nn/functional F=",
    "nn.modules.instancenorm": "/ Tensor; /nn/functional F=; warnings warnings=",
    "nn.modules.lazy": "/ torch=; /nn/parameter is_lazy; itertools itertools=; typing Protocol",
    "nn.modules.linear":
        "/ Tensor torch=; /nn Parameter UninitializedParameter; /nn/functional F=; /nn/init "
        "init=; math math=",
    "nn.modules.linear_cross_entropy_options":
        "/ torch=; /nn LinearCrossEntropyOptions; dataclasses dataclasses=; typing Literal "
        "NamedTuple",
    "nn.modules.loss": "/ Tensor; /nn/_reduction _Reduction=; /nn/functional F=; math math=",
    "nn.modules.module":
        "/ Tensor device dtype torch=; /nn Buffer Parameter; /utils/_python_dispatch "
        "is_traceable_wrapper_subclass; /utils/hooks RemovableHandle; collections OrderedDict "
        "namedtuple; collections.abc Iterator Mapping; functools functools=; inspect inspect=; "
        "itertools itertools=; typing Optional Self TypeVar Union overload; warnings warnings=; "
        "weakref weakref=",
    "nn.modules.normalization":
        "/ Size Tensor torch=; /nn Parameter; /nn/functional F=; /nn/init init=; numbers numbers=",
    "nn.modules.padding":
        "/ Tensor; /nn/common_types _size_2_t _size_4_t _size_6_t; /nn/functional F=",
    "nn.modules.pixelshuffle": "/ Tensor; /nn/functional F=",
    "nn.modules.pooling":
        "/ Tensor; /nn/common_types _ratio_2_t _ratio_3_t _size_1_t _size_2_opt_t _size_2_t "
        "_size_3_opt_t _size_3_t _size_any_opt_t _size_any_t; /nn/functional F=",
    "nn.modules.rnn":
        "/ Tensor torch=; /_VF _VF=; /nn Parameter; /nn/init init=; /nn/utils/rnn PackedSequence; "
        "math math=; numbers numbers=; typing overload; warnings warnings=; weakref weakref=",
    "nn.modules.sparse": "/ Tensor torch=; /nn Parameter; /nn/functional F=; /nn/init init=",
    "nn.modules.transformer":
        "/ Tensor torch=; /nn/functional F=; /nn/init xavier_uniform_; copy copy=; warnings "
        "warnings=",
    "nn.modules.upsampling":
        "/ Tensor; /nn/common_types _ratio_2_t _ratio_any_t _size_2_t _size_any_t; /nn/functional "
        "F=",
    "nn.modules.utils": "collections collections=",
    "nn.parallel.data_parallel":
        "/ torch=; /nn/parallel data_parallel gather parallel_apply replicate; itertools chain; "
        "operator operator=; typing Generic TypeVar; warnings warnings=",
    "nn.parallel.distributed":
        "/ torch=; /autograd Function Variable; /distributed dist=; /nn/parallel gather; "
        "/utils/_pytree tree_flatten tree_unflatten; collections defaultdict deque; copy copy=; "
        "dataclasses dataclass fields is_dataclass; enum Enum auto; functools functools=; "
        "itertools itertools=; logging logging=; os os=; sys sys=; typing Optional; warnings "
        "warnings=; weakref weakref=",
    "nn.parallel.parallel_apply":
        "/ torch=; /_utils ExceptionWrapper; /nn Module; /nn/parallel parallel_apply; "
        "collections.abc Sequence; threading threading=; typing Any cast",
    "nn.parallel.replicate":
        "/ torch=; /nn Module; /nn/parallel replicate; collections OrderedDict; collections.abc "
        "Iterator Sequence; typing TypeVar cast",
    "nn.parallel.scatter_gather":
        "/ torch=; collections.abc Sequence; typing Any TypeVar overload",
    "nn.parameter": "/ torch=; collections OrderedDict",
    "nn.utils.clip_grad":
        "/ torch=; /nn/init ParamSpec; /nn/utils _clip_grads_with_norm_=clip_grads_with_norm_ "
        "_get_total_norm=get_total_norm; /optim/optimizer _group_tensors_by_device_and_dtype; "
        "collections.abc Callable; functools functools=; types types=; typing TypeAlias TypeVar "
        "cast typing=; warnings warnings=",
    "nn.utils.convert_parameters": "/ torch=",
    "nn.utils.fusion": "/ torch=; typing TypeVar",
    "nn.utils.init": "/ torch=",
    "nn.utils.memory_format": "/ torch=",
    "nn.utils.parametrizations":
        "/ torch=; /nn/functional F=; /nn/utils/parametrize parametrize=; enum Enum auto",
    "nn.utils.parametrize":
        "/ torch=; /__future__ get_swap_module_params_on_conversion; /utils/_python_dispatch "
        "is_traceable_wrapper_subclass; collections collections=; copy deepcopy; copyreg copyreg=",
    "nn.utils.prune": "/ torch=; abc ABC abstractmethod; numbers numbers=",
    "nn.utils.rnn":
        "/ torch=; /_VF _VF=; collections.abc Callable; typing TypeVar; warnings warnings=",
    "nn.utils.spectral_norm": "/ torch=; /nn/functional F=; typing TypeVar",
    "nn.utils.stateless": "/ torch=; contextlib contextlib=",
    "nn.utils.weight_norm": "/ norm_except_dim; /nn UninitializedParameter; typing TypeVar",
    "onnx": "/ torch=",
    "optim._functional": "/ Tensor; math math=",
    "optim.adadelta": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing Any cast",
    "optim.adafactor": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.adagrad": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.adam": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.adamax": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.adamw": "/optim Adam; /optim/adam adam",
    "optim.asgd": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.lbfgs": "/ torch=; /optim/optimizer _to_scalar",
    "optim.lr_scheduler":
        "/ Tensor; /optim Optimizer; /optim/optimizer _to_scalar; bisect bisect_right; "
        "collections Counter; functools partial wraps; math math=; types types=; typing Any "
        "Literal Self SupportsFloat TypedDict cast; warnings warnings=; weakref ref=ReferenceType",
    "optim.muon":
        "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; collections.abc MutableMapping; "
        "math math=",
    "optim.nadam": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.optimizer":
        "/ torch=; /nn/init ParamSpec; /utils/_foreach_utils "
        "_get_foreach_kernels_supported_devices; /utils/hooks RemovableHandle hooks=; collections "
        "OrderedDict; collections.abc Sequence; functools functools=; typing Self TypeVar cast "
        "overload; warnings warnings=",
    "optim.radam": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.rmsprop": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.rprop": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.sgd": "/ torch=; /optim Optimizer; /optim/optimizer _to_scalar; typing cast",
    "optim.sparse_adam": "/ torch=; /optim/_functional F=; /optim/optimizer _to_scalar",
    "optim.swa_utils":
        "/ torch=; /optim/optimizer _group_tensors_by_device_and_dtype; /utils/_foreach_utils "
        "_get_foreach_kernels_supported_devices; copy deepcopy; itertools itertools=; typing "
        "Literal cast; warnings warnings=",
    "overrides":
        "/ torch=; /overrides _has_torch_function=has_torch_function "
        "_has_torch_function_unary=has_torch_function_unary "
        "_has_torch_function_variadic=has_torch_function_variadic; collections collections=; "
        "contextlib contextlib=; functools wraps; sys sys=; typing cast",
    "profiler":
        "/optim Optimizer; /optim/optimizer register_optimizer_step_post_hook; os os=; typing Any",
    "profiler.profiler":
        "/ torch=; /autograd/profiler prof=; abc ABC abstractmethod; enum Enum; functools "
        "partial; gzip gzip=; json json=; os os=; shutil shutil=; tempfile tempfile=; typing Any "
        "Self; warnings warn",
    "quasirandom": "/ torch=",
    "random": "/ torch=; warnings warnings=",
    "return_types":
        "/ torch=; /return_types _attr=triangular_solve_out; /utils/_pytree SequenceKey "
        "register_pytree_node; inspect inspect=",
    "serialization":
        "/ torch=; /_utils _import_dotted_name; /types FileLike Storage; contextlib closing "
        "contextmanager; copyreg copyreg=; difflib difflib=; enum Enum; functools functools=; re "
        "re=; shutil shutil=; struct struct=; tarfile tarfile=; tempfile tempfile=; threading "
        "threading=; typing Generic TypeVar cast; warnings warnings=",
    "signal.windows": "/signal/windows/windows windows=",
    "signal.windows.windows":
        "/ Tensor torch=; /signal/windows bartlett blackman cosine exponential gaussian "
        "general_cosine general_hamming hamming hann kaiser nuttall; collections.abc Callable "
        "Iterable; math sqrt; typing TypeVar",
    "sparse": "/ torch=; /sparse/semi_structured semi_structured=; /types DType=_int",
    "sparse.semi_structured":
        "/ torch=; /sparse to_sparse_semi_structured; collections namedtuple; collections.abc "
        "Callable; typing Any; warnings warnings=",
    "special": "/ Tensor torch=",
    "storage":
        "/ torch=; /types Storage _bool _int; collections collections=; copy copy=; functools "
        "functools=; io io=; numpy np=; threading threading=; typing Any Self TypeVar cast; "
        "warnings warnings=",
    "testing._comparison":
        "/ torch=; abc abc=; cmath cmath=; collections collections=; collections.abc Collection; "
        "contextlib contextlib=; numpy np=",
    "testing._creation":
        "/ torch=; collections collections=; functools functools=; warnings warnings=",
    "torch_version": "collections.abc Iterable",
    "types": "/ DispatchKey SymBool SymFloat SymInt _layout=layout; typing Any Self Union",
    "utils": "/ torch=; copyreg copyreg=; posixpath _osp=; weakref weakref=",
    "utils._foreach_utils": "/ no_grad torch=; typing TypeAlias",
    "utils._python_dispatch":
        "/ DispatchKey torch=; collections deque; contextlib contextlib=; dataclasses dataclass; "
        "functools functools=; typing Protocol cast overload; warnings warnings=",
    "utils._pytree":
        "/torch_version _TorchVersion=TorchVersion; /utils/_pytree "
        "_odict_flatten=_ordereddict_flatten _odict_unflatten=_ordereddict_unflatten; "
        "collections.abc Hashable Sequence; enum Enum; functools functools=; logging logging=; "
        "sys sys=; threading threading=; types types=; typing ClassVar Final Generic NoReturn "
        "Protocol Self TypeVar cast overload; warnings warnings=",
    "utils.benchmark": "/ torch=; math math=; numbers Number",
    "utils.checkpoint":
        "/ torch=; /utils/_python_dispatch TorchDispatchMode; /utils/_pytree tree_map; "
        "collections defaultdict; itertools itertools=; platform platform=; typing AbstractSet "
        "Annotated AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable "
        "BinaryIO ByteString ChainMap ClassVar Collection Concatenate Container ContextManager "
        "Coroutine Counter DefaultDict Deque Dict Final ForwardRef FrozenSet Generator Generic "
        "Hashable IO ItemsView Iterable KeysView List Literal LiteralString Mapping MappingView "
        "Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn "
        "NotRequired Optional OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Pattern "
        "Protocol Required Reversible Self Set Sized SupportsAbs SupportsBytes SupportsComplex "
        "SupportsFloat SupportsIndex SupportsInt SupportsRound TextIO Tuple Type TypeAlias "
        "TypeGuard TypeVar TypeVarTuple TypedDict Union Unpack ValuesView assert_never "
        "assert_type cast clear_overloads dataclass_transform final get_args get_origin "
        "get_overloads get_type_hints is_typeddict no_type_check no_type_check_decorator overload "
        "reveal_type runtime_checkable; uuid uuid=; warnings warnings=; weakref ReferenceType "
        "weakref=",
    "utils.collect_env":
        "/ torch=; collections namedtuple; datetime datetime=; json json=; locale locale=; re "
        "re=; subprocess subprocess=; typing _Dict=Dict _cast=cast",
    "utils.cpp_extension":
        "/ torch=; /torch_version TorchVersion; collections collections=; copy copy=; errno "
        "errno=; glob glob=; importlib importlib=; logging logging=; os os=; pathlib Path; re "
        "re=; shlex shlex=; shutil shutil=; subprocess subprocess=; sys sys=; sysconfig "
        "sysconfig=; threading threading=; types types=",
    "utils.data": "/utils/data/dataloader _DatasetKind",
    "utils.data._utils": "/_utils ExceptionWrapper; atexit atexit=; numpy numpy=; sys sys=",
    "utils.data._utils.collate":
        "/ torch=; collections collections=; collections.abc Callable; contextlib contextlib=; "
        "copy copy=; numpy np=",
    "utils.data._utils.fetch": "typing NoReturn",
    "utils.data._utils.pin_memory":
        "/ torch=; /_utils ExceptionWrapper; collections collections=; copy copy=; queue queue=",
    "utils.data._utils.worker":
        "/ torch=; /_utils ExceptionWrapper; dataclasses dataclass; os os=; queue queue=; random "
        "random=",
    "utils.data.dataloader":
        "/ torch=; /_utils ExceptionWrapper; /distributed dist=; /utils/data/_utils _utils=; "
        "contextlib contextlib=; functools functools=; logging logging=; multiprocessing "
        "python_multiprocessing=; queue queue=; threading threading=; typing NoReturn Self; "
        "warnings warnings=; weakref weakref=",
    "utils.data.dataset": "/ Generator randperm; warnings warnings=",
    "utils.data.distributed": "/ torch=; /distributed dist=; /utils/data Dataset; typing TypeVar",
    "utils.data.sampler": "/ torch=",
    "utils.deterministic": "/ torch=; types types=",
    "utils.dlpack": "/ torch=; enum enum=",
    "utils.flop_counter":
        "/ torch=; /nn/init ParamSpec; /utils/_python_dispatch TorchDispatchMode; /utils/_pytree "
        "tree_flatten tree_map tree_unflatten; functools wraps; logging logging=; math prod; "
        "warnings warnings=",
    "utils.hooks":
        "/ torch=; collections OrderedDict; typing Any; warnings warnings=; weakref weakref=",
    "utils.weak": "collections.abc Mapping _collections_abc=; weakref ref=ReferenceType",
    "version": "typing Optional",
}  # fmt: skip
