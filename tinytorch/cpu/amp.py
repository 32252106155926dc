"""Mixed precision on the CPU, as ``torch.cpu.amp``; see ``tinytorch.amp``."""

from __future__ import annotations

from typing import Any

from .. import amp
from ..facade.packages import publish
from ..warnings import warn

__all__ = ["GradScaler", "autocast"]


def _warn(name: str) -> None:
    warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
    )


class autocast(amp.autocast):  # a context manager, named as a function
    """``tinytorch.amp.autocast`` for ``"cpu"``; deprecated, as it is in PyTorch.

    Args:
        enabled: Whether to switch it on. Default: True.
        dtype: What operations would compute in. Default: bfloat16.
        cache_enabled: Accepted for compatibility.

    Example:
        >>> import warnings
        >>> from tinytorch.cpu.amp import autocast
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     autocast(enabled=False).fast_dtype
        tinytorch.bfloat16
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        _warn("autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``tinytorch.amp.GradScaler`` for ``"cpu"``; deprecated, as it is in PyTorch.

    Args:
        init_scale: The first factor. Default: 65536.
        growth_factor: What it is multiplied by after ``growth_interval`` good steps. Default: 2.
        backoff_factor: What it is multiplied by after infinite gradients. Default: 0.5.
        growth_interval: Default: 2000.
        enabled: Whether to do anything. Default: True.

    Example:
        >>> import warnings
        >>> from tinytorch.cpu.amp import GradScaler
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     GradScaler().get_scale()
        65536.0
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


publish(__name__, "grad_scaler autocast_mode")
