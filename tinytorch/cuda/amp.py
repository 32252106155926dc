"""Mixed precision on GPUs, as ``torch.cuda.amp``; see ``tinytorch.amp``."""

from __future__ import annotations

from typing import Any

from .. import amp
from ..facade.packages import publish
from ..warnings import warn

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


def _warn(call: str, instead: str) -> None:
    warn(
        f"`torch.cuda.amp.{call}` is deprecated. Please use `torch.amp.{instead}` instead.",
        FutureWarning,
    )


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """``tinytorch.amp.custom_fwd`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import custom_fwd
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     custom_fwd(len).__name__
        'len'
    """
    _warn("custom_fwd(args...)", "custom_fwd(args..., device_type='cuda')")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """``tinytorch.amp.custom_bwd`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import custom_bwd
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     custom_bwd(len).__name__
        'len'
    """
    _warn("custom_bwd(args...)", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")


class autocast(amp.autocast):  # a context manager, named as a function
    """``tinytorch.amp.autocast`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Args:
        enabled: Whether to switch it on. Default: True.
        dtype: What operations would compute in. Default: float16.
        cache_enabled: Accepted for compatibility.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import autocast
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     autocast(enabled=False).fast_dtype
        tinytorch.float16
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn("autocast(args...)", "autocast('cuda', args...)")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``tinytorch.amp.GradScaler`` for ``"cuda"``; deprecated, as it is in PyTorch.

    Args:
        init_scale: The first factor. Default: 65536.
        growth_factor: What it is multiplied by after ``growth_interval`` good steps. Default: 2.
        backoff_factor: What it is multiplied by after infinite gradients. Default: 0.5.
        growth_interval: Default: 2000.
        enabled: Whether to do anything. Default: True.

    Example:
        >>> import warnings
        >>> from tinytorch.cuda.amp import GradScaler
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     GradScaler(enabled=False).get_scale()
        1.0
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler(args...)", "GradScaler('cuda', args...)")
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )


publish(__name__, "grad_scaler autocast_mode")
