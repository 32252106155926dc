"""Mixed precision on GPUs, as ``torch.cuda.amp``; see ``tinytorch.amp``."""

from __future__ import annotations

from typing import Any

from .. import amp
from .._file_names import publish
from ..amp import custom_bwd as custom_bwd
from ..amp import custom_fwd as custom_fwd

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):  # noqa: N801  # a context manager, named as a function
    """``tinytorch.amp.autocast`` for ``"cuda"``.

    Args:
        enabled: Whether to switch it on. Default: True.
        dtype: What operations would compute in. Default: float16.
        cache_enabled: Accepted for compatibility.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch.cuda.amp import autocast
        >>> with autocast(enabled=False):
        ...     tt.ones(1).dtype
        tinytorch.float32
    """

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """``tinytorch.amp.GradScaler`` for ``"cuda"``.

    Args:
        init_scale: The first factor. Default: 65536.
        growth_factor: What it is multiplied by after ``growth_interval`` good steps. Default: 2.
        backoff_factor: What it is multiplied by after infinite gradients. Default: 0.5.
        growth_interval: Default: 2000.
        enabled: Whether to do anything. Default: True.

    Example:
        >>> from tinytorch.cuda.amp import GradScaler
        >>> GradScaler(enabled=False).get_scale()
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
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )

publish(__name__, "grad_scaler autocast_mode")
