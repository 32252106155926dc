"""Mixed precision: its state by device, PyTorch's lists of operations, and casts of arguments.

While it is on in any thread, no class is on the fast path (see ``core.torch_function``), so that
every call runs ``call``, which reads the state here. While it is off, it costs nothing.

The lists state for each type of device which operations ``autocast`` casts, and how. Their names
are ATen's, as ``aten_name`` returns them.

Reference: ``aten/src/ATen/autocast_mode.h`` and ``.cpp``: the kernels registered for the dispatch
keys ``AutocastCPU`` and ``AutocastCUDA``.
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..backends import BackendUnavailableError, load
from ..core import torch_function
from ..core.tensor import Tensor
from ..state import VariableScope, Variable, grad_enabled
from .operation import Op

#: Policies for floating arguments. ``LOWER``, ``WIDE``, ``WIDEST``: casts to the lower dtype, to
#: float32, to the widest dtype of the arguments. ``SUMS``: no cast, but the result is float32 if
#: there is no ``dtype=``. ``KEPT``: no cast, not even in the operations that it calls here.
#: ``ENDS_LOW``: a cast to float32, and of the result to the lower dtype, since in PyTorch the last
#: operation of such a composite is a matrix product.
LOWER, WIDE, WIDEST, SUMS, KEPT = "lower", "float32", "widest", "sums", "kept"
ENDS_LOW = "ends low"

_LOSSES = (
    "mse_loss cosine_embedding_loss nll_loss hinge_embedding_loss poisson_nll_loss smooth_l1_loss "
    "l1_loss huber_loss margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss "
    "kl_div multilabel_margin_loss binary_cross_entropy_with_logits cross_entropy"
)
_PRODUCTS = (
    "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d prelu addmm "
    "addbmm baddbmm bmm mm matmul linear linalg_vecdot scaled_dot_product_attention"
)
_NAMES: dict[str, dict[str, str]] = {
    "cpu": {
        # PyTorch computes tensordot, inner and einsum by matrix products.
        LOWER: f"{_PRODUCTS} _addmm_activation tensordot inner einsum",
        WIDE: f"""{_LOSSES} avg_pool3d binary_cross_entropy grid_sampler grid_sample polar prod
            quantile nanquantile stft cdist grid_sampler_2d grid_sampler_3d trace view_as_complex
            cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse
            max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d adaptive_max_pool3d
            reflection_pad replication_pad ctc_loss fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn
            fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft
            fft_ihfft linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky linalg_svdvals
            linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv
            linalg_tensorsolve geqrf qr svd triangular_solve fractional_max_pool2d
            fractional_max_pool3d linalg_qr linalg_cholesky_ex linalg_svd linalg_eig linalg_eigh
            linalg_lstsq linalg_inv_ex max_unpool1d linear_cross_entropy""",
        WIDEST: "cat stack index_copy",
        KEPT: "bilinear",
        ENDS_LOW: "linalg_pinv",
    },
    "cuda": {
        LOWER: f"""{_PRODUCTS} addmv addr mv einsum chain_matmul linalg_multi_dot lstm_cell
            gru_cell rnn_tanh_cell rnn_relu_cell""",
        WIDE: f"""{_LOSSES} acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt
            sinh tan pow softplus layer_norm native_layer_norm rms_norm group_norm frobenius_norm
            nuclear_norm norm cosine_similarity dist pdist cdist renorm logsumexp interpolate
            linalg_matrix_norm linalg_vector_norm""",
        SUMS: "prod softmax log_softmax cumprod cumsum sum",
        WIDEST: """addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler grid_sample index_put
            tensordot scatter_add""",
    },
}
POLICIES: dict[str, dict[str, str]] = {
    device: {name: policy for policy, names in lists.items() for name in names.split()}
    for device, lists in _NAMES.items()
}
_ALIASES = {
    "arccos": "acos", "arcsin": "asin", "linalg_cross": "cross", "linalg_matmul": "matmul",
    "special_expm1": "expm1", "special_log1p": "log1p",
    "special_softmax": "softmax", "special_log_softmax": "log_softmax",
    "special_logsumexp": "logsumexp",
}  # fmt: skip


def aten_name(op: Op) -> str:
    """Return ATen's name of an operation, such as ``linalg_inv`` for ``linalg.inv``."""
    space, _, name = op.qualname.rpartition(".")
    named = name if space in ("", "nn.functional", "Tensor") else f"{space}_{name}"
    return _ALIASES.get(named, named)


#: The dtype set in this context, by type of device.
_DTYPES: Variable[dict[str, dtypes.dtype]] = Variable("autocast_dtypes", {})
#: Types of devices for which autocast is on.
_ON: Variable[frozenset[str]] = Variable("autocast_on", frozenset())
NESTING: Variable[int] = Variable("autocast_nesting", 0)
_CACHES: Variable[bool] = Variable("autocast_caches", True)
#: Leaves with their casts to the lower dtype, until the outermost block exits.
_CASTS: Variable[dict[Any, tuple[Tensor, Tensor]] | None] = Variable("autocast_casts", None)


def is_on() -> bool:
    """Whether autocast is on for any device in this context."""
    return bool(_ON.get())


def is_autocast_available(device_type: str) -> bool:
    """Whether ``autocast`` supports a type of device: ``"cpu"`` and ``"cuda"``.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...

    Example:
        >>> tt.amp.is_autocast_available("cpu")
        True
    """
    return device_type in POLICIES


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on in this context.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ... Default: ``"cuda"``.

    Example:
        >>> tt.is_autocast_enabled()
        False
        >>> with tt.autocast("cpu", dtype=tt.float16):
        ...     tt.is_autocast_enabled("cpu")
        True
    """
    return (device_type or "cuda") in _ON.get()


def is_autocast_cache_enabled() -> bool:
    """Whether casts of leaves, such as weights, are cached until the outermost block exits.

    Example:
        >>> tt.is_autocast_cache_enabled()
        True
    """
    return _CACHES.get()


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """Return the dtype that ``autocast`` casts to by default: float16 on a GPU, else bfloat16.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...

    Example:
        >>> tt.get_autocast_dtype("cuda")
        tinytorch.float16
    """
    chosen = _DTYPES.get().get(device_type)
    return chosen or (dtypes.float16 if device_type == "cuda" else dtypes.bfloat16)


def is_autocast_cpu_enabled() -> bool:
    """``is_autocast_enabled("cpu")``, under its old name.

    Example:
        >>> tt.is_autocast_cpu_enabled()
        False
    """
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """``get_autocast_dtype("cpu")``, under its old name.

    Example:
        >>> tt.get_autocast_cpu_dtype().itemsize
        2
    """
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """``get_autocast_dtype("cuda")``, under its old name.

    Example:
        >>> tt.get_autocast_gpu_dtype()
        tinytorch.float16
    """
    return get_autocast_dtype("cuda")


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """Switch mixed precision on or off, in this thread.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...; or, alone, ``enabled`` for ``"cuda"``.
        enabled: Whether to switch it on.

    Example:
        >>> tt.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    on = _ON.get()
    if (device_type in on) is not bool(enabled):
        # Where Ctrl-C arrives in between the count is too large, which does no harm.
        if enabled:
            torch_function.count_watchers(1)
        _ON.set(on ^ {device_type})
        if not enabled:
            torch_function.count_watchers(-1)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the dtype that ``autocast`` casts to by default, in this thread.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...
        dtype: The dtype.

    Example:
        >>> before = tt.get_autocast_dtype("cpu")
        >>> tt.set_autocast_dtype("cpu", tt.float16)
        >>> tt.get_autocast_dtype("cpu")
        tinytorch.float16
        >>> tt.set_autocast_dtype("cpu", before)
    """
    _DTYPES.set({**_DTYPES.get(), device_type: dtypes.as_dtype(dtype)})


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """``set_autocast_dtype("cpu", dtype)``, under its old name.

    Args:
        dtype: The dtype.

    Example:
        >>> tt.set_autocast_cpu_dtype(tt.get_autocast_cpu_dtype())
    """
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """``set_autocast_dtype("cuda", dtype)``, under its old name.

    Args:
        dtype: The dtype.

    Example:
        >>> tt.set_autocast_gpu_dtype(tt.float16)
    """
    set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """``set_autocast_enabled("cpu", enabled)``, under its old name.

    Args:
        enabled: Whether to switch it on.

    Example:
        >>> tt.set_autocast_cpu_enabled(False)
    """
    set_autocast_enabled("cpu", enabled)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether casts of leaves are cached until the outermost block exits.

    Args:
        enabled: Whether they are cached.

    Example:
        >>> tt.set_autocast_cache_enabled(True)
    """
    _CACHES.set(bool(enabled))


def clear_autocast_cache() -> None:
    """Delete the cached casts.

    Example:
        >>> tt.clear_autocast_cache()
    """
    _CASTS.set(None)


def autocast_increment_nesting() -> int:
    """Count one more nested block of ``autocast``, as PyTorch's does on entry.

    Returns:
        The number of nested blocks.

    Example:
        >>> tt.autocast_increment_nesting(), tt.autocast_decrement_nesting()
        (1, 0)
    """
    return _count_nesting(1)


def autocast_decrement_nesting() -> int:
    """Count one nested block of ``autocast`` less.

    Returns:
        The number of nested blocks.

    Example:
        >>> tt.autocast_increment_nesting(), tt.autocast_decrement_nesting()
        (1, 0)
    """
    return _count_nesting(-1)


def _count_nesting(more: int) -> int:
    """Add ``more`` to the number of nested blocks, and return the number."""
    NESTING.set(NESTING.get() + more)
    return NESTING.get()


def has_gpu() -> bool:
    """Whether there is a GPU."""
    try:
        return int(load("cupy").cuda.runtime.getDeviceCount()) > 0
    except BackendUnavailableError:
        return False


class NoAutocast(VariableScope[frozenset[str]]):
    """Scope in which autocast is off for all devices, for operations with cast arguments."""

    _bound_variable = _ON

    def _bound_value(self, before: frozenset[str]) -> frozenset[str]:
        return frozenset()


def autocast_state() -> tuple[frozenset[str], dict[str, dtypes.dtype], bool]:
    """Return the state of this context: the devices, their dtypes, whether casts are cached."""
    return _ON.get(), _DTYPES.get(), _CACHES.get()


class AutocastState:
    """Scope with a state that ``autocast_state`` returned; it is not re-entrant."""

    __slots__ = ("before", "state")

    def __init__(self, state: tuple[frozenset[str], dict[str, dtypes.dtype], bool]) -> None:
        self.state = state

    def __enter__(self) -> None:
        nesting = NESTING.get()
        self.before = (*autocast_state(), nesting)
        try:
            _set_state(*self.state, nesting + 1)
        except BaseException:  # such as a KeyboardInterrupt between two settings
            _set_state(*self.before)
            raise

    def __exit__(self, *error: object) -> None:
        try:
            _set_state(*self.before)
        except BaseException:
            _set_state(*self.before)
            raise


def _set_state(
    on: frozenset[str], chosen: dict[str, dtypes.dtype], caches: bool, nesting: int
) -> None:  # fmt: skip
    """Set the state of this context: what ``autocast_state`` returns, and the nested blocks."""
    for device_type in on ^ _ON.get():
        set_autocast_enabled(device_type, device_type in on)
    _DTYPES.set(chosen)
    _CACHES.set(caches)
    NESTING.set(nesting)
    if nesting == 0:
        clear_autocast_cache()


# -- casts of arguments -------------------------------------------------------------------------


def cast_arguments(
    op: Op, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], dtypes.dtype | None] | None:
    """Cast the arguments of a call as ``autocast`` does.

    Args:
        op: The operation.
        args: Arguments by position.
        options: Arguments by name.

    Returns:
        The cast ``args`` and ``options``, and the dtype that the result has to be cast to or None.
        None instead of the tuple if the operation is on no list of the devices that are on.
    """
    for device_type in _ON.get():
        policy = _policy(op, device_type, args, options)
        if policy == SUMS:
            options = _widen_sum(op, device_type, args, options)
        elif policy not in (None, KEPT):
            dtype = get_autocast_dtype(device_type) if policy == LOWER else dtypes.float32
            if policy not in (LOWER, WIDE, ENDS_LOW):
                dtype = _widest(device_type, (*args, *options.values()), dtype)
            args = tuple([_cast(value, device_type, dtype) for value in args])
            options = {n: _cast(value, device_type, dtype) for n, value in options.items()}
        if policy is not None:
            low = policy == ENDS_LOW and any(_is_eligible(value, device_type) for value in args)
            return args, options, get_autocast_dtype(device_type) if low else None
    return None


def _policy(op: Op, device_type: str, args: Any, options: Any) -> str | None:
    """Return the policy (``LOWER``, ``WIDE``, ...) of a call on a type of device, or None."""
    name = aten_name(op)
    if name == "pad":  # two of ATen's functions
        mode = args[2] if len(args) > 2 else options.get("mode")
        name = {"reflect": "reflection_pad", "replicate": "replication_pad"}.get(mode, name)
    elif name == "interpolate" and options.get("mode") == "area":  # computed by averages
        return None
    elif name == "max_pool3d" and options.get("return_indices"):  # another function of ATen's
        return None
    elif name in _CONTRACTS and device_type == "cpu" and not _CONTRACTS[name](*args, **options):
        return None
    return POLICIES[device_type].get(name)


#: Whether a call of these operations is a matrix product, by name.
_CONTRACTS: dict[str, Any] = {
    "einsum": lambda equation, *operands: (
        not isinstance(equation, str) or _sums_over_shared(equation)
    ),
    "inner": lambda input, other: bool(input.ndim and other.ndim) and input.ndim + other.ndim > 2,
    "tensordot": lambda a, b, dims=2, **named: _has_several_elements(a, b, dims),
}


def _has_several_elements(a: Tensor, b: Tensor, dims: Any) -> bool:
    """Whether the result of ``tensordot`` has several elements; one element is a sum."""
    if isinstance(dims, int):
        dims = range(a.ndim - dims, a.ndim), range(dims)
    pairs = ((a, dims[0]), (b, dims[1]))
    summed = [(t, {int(d) % t.ndim for d in over}) for t, over in pairs]
    return any(n != 1 for t, over in summed for d, n in enumerate(t.shape) if d not in over)


def _sums_over_shared(equation: str) -> bool:
    """Whether ``einsum`` sums over letters of several operands, as a matrix product does."""
    operands, _, result = equation.replace(" ", "").partition("->")
    letters = "".join("".join(set(part)) for part in operands.split(","))
    shared = {letter for letter in letters if letters.count(letter) > 1 and letter.isalpha()}
    return not shared <= set(result) if "->" in equation else bool(shared)


def _is_eligible(value: Any, device_type: str) -> bool:
    """Whether ``autocast`` casts a value: a floating-point tensor, not float64, on the device."""
    return (
        isinstance(value, Tensor) and value._xp.device_type == device_type
        and value.is_floating_point() and value.dtype is not dtypes.float64
    )  # fmt: skip


def _cast(value: Any, device_type: str, dtype: dtypes.dtype) -> Any:
    """Return an eligible tensor in ``dtype``, also in lists and tuples; other values unchanged.

    The cast of a leaf to the lower dtype is cached until the outermost block exits.
    """
    if value.__class__ in (tuple, list):
        return value.__class__(_cast(v, device_type, dtype) for v in value)
    if not _is_eligible(value, device_type) or value.dtype is dtype:
        return value
    is_cached = (
        _CACHES.get() and value.is_leaf and value.requires_grad and value.dtype is dtypes.float32
        and dtype.itemsize < 4 and not value._is_view()
    )  # fmt: skip
    if not is_cached:
        return value.to(dtype)
    cache = _CASTS.get()
    if cache is None:
        cache = {}
        _CASTS.set(cache)
    key = id(value), dtype, grad_enabled()
    if key not in cache:
        cache[key] = value, value.to(dtype)
    return cache[key][1]


def cast_inside(value: Any, device_type: str, dtype: dtypes.dtype) -> Any:
    """Return ``value`` with its tensors of a device in ``dtype``, also inside containers."""
    if isinstance(value, dict):
        return {key: cast_inside(v, device_type, dtype) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([cast_inside(v, device_type, dtype) for v in value])
    return value.to(dtype) if _is_eligible(value, device_type) else value


def _widest(device_type: str, values: Any, dtype: dtypes.dtype) -> dtypes.dtype:
    """Return ``dtype``, which is float32, if one of the tensors has it, else the lower dtype.

    ``values`` are the arguments of a call; tensors in lists and tuples count, too.
    """
    flat = [v for value in values for v in (value if isinstance(value, (list, tuple)) else [value])]
    found = {v.dtype for v in flat if _is_eligible(v, device_type)}
    return dtype if dtypes.float32 in found else get_autocast_dtype(device_type)


def _widen_sum(op: Op, device_type: str, args: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a sum with ``dtype=float32``, unless the call has a ``dtype``."""
    has_dtype = options.get("dtype") is not None or len(args) > op.plan.index["dtype"]
    if has_dtype or not _is_eligible(args[0], device_type):
        return options
    return {**options, "dtype": dtypes.float32}


for _function in (
    is_autocast_enabled,
    is_autocast_cache_enabled,
    get_autocast_dtype,
    is_autocast_cpu_enabled,
    get_autocast_cpu_dtype,
    get_autocast_gpu_dtype,
    set_autocast_enabled,
    set_autocast_dtype,
    set_autocast_cpu_dtype,
    set_autocast_gpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_cache_enabled,
    clear_autocast_cache,
    autocast_increment_nesting,
    autocast_decrement_nesting,
):
    _function.__module__ = "tinytorch"
is_autocast_available.__module__ = "tinytorch.amp"
