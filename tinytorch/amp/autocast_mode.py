"""``autocast``, and decorators for the methods of an ``autograd.Function`` that it should affect.

The casts of operations are in ``dispatch.autocast``, and the lists of operations beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from .. import dtypes
from ..backends import load, low_precision
from ..dispatch.autocast import (
    NESTING,
    autocast_decrement_nesting as autocast_decrement_nesting,
    autocast_increment_nesting,
    cast_inside,
    clear_autocast_cache,
    get_autocast_dtype,
    has_gpu,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from ..warnings import warn

__all__ = ["autocast", "custom_bwd", "custom_fwd"]

_F = TypeVar("_F", bound=Callable[..., Any])


class autocast:
    """Mixed precision in a ``with`` block, or in a function that it decorates.

    The float32 arguments of products, convolutions and attention are cast to the lower dtype; the
    arguments of losses, norms and other sensitive operations are cast to float32. PyTorch's lists
    for the device decide. Other operations, in-place forms, calls with ``out=`` and float64
    tensors are not affected. Blocks may be nested, also with ``enabled=False``. Leave the block
    before ``backward``: gradients are computed in the precision of the forward pass.

    As in PyTorch, it is disabled with a warning for ``"cuda"`` without a GPU, and for float32 on
    the CPU.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``.
        dtype: The lower dtype, bfloat16 or float16. Default: float16 on a GPU, otherwise bfloat16,
            which requires the package ``ml_dtypes``.
        enabled: Whether to enable it in the block. Default: True.
        cache_enabled: Whether casts of leaves, such as weights, are cached until the outermost
            block ends. Default: ``is_autocast_cache_enabled()``, which is True initially.

    Raises:
        RuntimeError: For another type of device.
        ImportError: Without the package that implements the lower dtype.

    Example:
        >>> x = tt.ones(2, 2)
        >>> with tt.autocast("cpu", dtype=tt.float16):
        ...     (x @ x).dtype, (x + x).dtype
        (tinytorch.float16, tinytorch.float32)

    Reference:
        https://docs.pytorch.org/docs/stable/amp.html
    """

    __module__ = "tinytorch.amp"

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(
                f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`"
            )
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.device = device_type
        chosen = get_autocast_dtype(device_type) if dtype is None else dtype
        self.fast_dtype: dtypes.dtype = dtypes.as_dtype(chosen)
        self._enabled: bool = enabled and _is_usable(device_type, self.fast_dtype)
        self._cache_enabled: bool = (
            is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        self._before: list[tuple[bool, dtypes.dtype, bool, int]] = []

    def __enter__(self) -> Self:
        device = self.device
        before = (
            is_autocast_enabled(device), get_autocast_dtype(device), is_autocast_cache_enabled(),
            NESTING.get(),
        )  # fmt: skip
        try:
            self._before.append(before)
            set_autocast_enabled(device, self._enabled)
            set_autocast_dtype(device, self.fast_dtype)
            autocast_increment_nesting()
            set_autocast_cache_enabled(self._cache_enabled)
        except BaseException:  # such as a KeyboardInterrupt between two settings
            self._before[:] = [saved for saved in self._before if saved is not before]
            self._restore(*before)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        before = self._before[-1]
        del self._before[-1]
        try:
            self._restore(*before)
        except BaseException:  # such as a KeyboardInterrupt between two settings
            self._restore(*before)
            raise

    def _restore(self, enabled: bool, dtype: dtypes.dtype, caches: bool, nesting: int) -> None:
        """Set autocast, its dtype and its cache to the values from before ``__enter__``."""
        NESTING.set(nesting)
        if nesting == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(caches)

    def __call__(self, function: _F) -> _F:
        if not callable(function):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(function).__name__}"
            )

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


def _is_usable(device_type: str, dtype: dtypes.dtype) -> bool:
    """Whether ``autocast`` can be enabled for a device and a dtype; PyTorch's warning if not."""
    if device_type == "cuda" and not has_gpu():
        warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
        return False
    if dtype not in (dtypes.bfloat16, dtypes.float16):
        warn(
            f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling "
            f"autocast.\n{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, "
            "torch.float16 currently."
        )
        return False
    if not load("numpy" if device_type == "cpu" else "cupy").supports(dtype):
        raise ImportError(
            f"autocast: arrays of {dtype.name} are not supported on {device_type!r}"
            f"{low_precision.missing(dtype)}; or choose dtype=tinytorch.float16"
        )
    return True


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """Decorator of a Function's ``forward`` that sets the precision in which it runs.

    Args:
        fwd: The function, whose first argument is the context.
        device_type: ``"cpu"`` or ``"cuda"``.
        cast_inputs: A dtype. If ``autocast`` is enabled, floating-point tensors among the arguments
            are cast to it, and ``forward`` runs with ``autocast`` disabled. Default None:
            ``forward`` runs in the caller's state.

    Example:
        >>> class Square(tt.autograd.Function):
        ...     @staticmethod
        ...     @tt.amp.custom_fwd(device_type="cpu", cast_inputs=tt.float32)
        ...     def forward(ctx, x):
        ...         return x @ x
        >>> with tt.autocast("cpu", dtype=tt.float16):
        ...     Square.apply(tt.ones(2, 2)).dtype
        tinytorch.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if not on or cast_inputs is None:
            return fwd(*args, **kwargs)
        cast = functools.partial(cast_inside, device_type=device_type, dtype=cast_inputs)
        with autocast(device_type, enabled=False):
            return fwd(*map(cast, args), **{name: cast(v) for name, v in kwargs.items()})

    return wrapper


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """Decorator of a Function's ``backward``, which runs it in the precision of ``forward``.

    Args:
        bwd: The function, whose first argument is the context.
        device_type: ``"cpu"`` or ``"cuda"``.

    Example:
        >>> class Double(tt.autograd.Function):
        ...     @staticmethod
        ...     @tt.amp.custom_fwd(device_type="cpu")
        ...     def forward(ctx, x):
        ...         return x + x
        ...     @staticmethod
        ...     @tt.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, g):
        ...         return g + g
        >>> x = tt.ones(2, requires_grad=True)
        >>> Double.apply(x).sum().backward()
        >>> x.grad
        tensor([2., 2.])
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        if not ctx._fwd_used_autocast:
            with autocast(device_type, enabled=False):
                return bwd(*args, **kwargs)
        with autocast(device_type, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return wrapper


for _function in (custom_fwd, custom_bwd):
    _function.__module__ = "tinytorch.amp"
