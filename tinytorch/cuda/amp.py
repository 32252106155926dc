"""Mixed precision on CUDA devices, as ``torch.cuda.amp``; see ``tinytorch.amp``."""

from __future__ import annotations

from typing import Any

from .. import amp
from ..facade.packages import publish
from ..warnings import warn

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _warn_deprecated(call: str, instead: str) -> None:
    """Warn that ``torch.cuda.amp.<call>`` is deprecated; ``torch.amp.<instead>`` replaces it."""
    warn(
        f"`torch.cuda.amp.{call}` is deprecated. Please use `torch.amp.{instead}` instead.",
        FutureWarning,
    )


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """``tinytorch.amp.custom_fwd`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import custom_fwd
        >>> with warnings.catch_warnings(action="ignore"):
        ...     custom_fwd(len).__name__
        'len'
    """
    _warn_deprecated("custom_fwd(args...)", "custom_fwd(args..., device_type='cuda')")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """``tinytorch.amp.custom_bwd`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import custom_bwd
        >>> with warnings.catch_warnings(action="ignore"):
        ...     custom_bwd(len).__name__
        'len'
    """
    _warn_deprecated("custom_bwd(args...)", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")


class autocast(amp.autocast):  # a context manager, named as a function
    """``tinytorch.amp.autocast`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Args:
        enabled: Whether autocasting is on. Default: True.
        dtype: The dtype that operations compute in. Default: float16.
        cache_enabled: Accepted for compatibility.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import autocast
        >>> with warnings.catch_warnings(action="ignore"):
        ...     autocast(enabled=False).fast_dtype
        tinytorch.float16
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn_deprecated("autocast(args...)", "autocast('cuda', args...)")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``tinytorch.amp.GradScaler`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Args:
        init_scale: The initial scale. Default: 65536.
        growth_factor: Multiplies the scale after ``growth_interval`` steps in succession without
            infinite or NaN gradients. Default: 2.
        backoff_factor: Multiplies the scale after infinite or NaN gradients. Default: 0.5.
        growth_interval: The number of those steps. Default: 2000.
        enabled: Whether the scaler does anything. Default: True.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import GradScaler
        >>> with warnings.catch_warnings(action="ignore"):
        ...     GradScaler(enabled=False).get_scale()
        1.0
    """

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        _warn_deprecated("GradScaler(args...)", "GradScaler('cuda', args...)")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


publish(__name__, "grad_scaler autocast_mode")
