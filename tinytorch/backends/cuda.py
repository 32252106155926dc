"""``torch.backends.cuda``: switches that programs set; CuPy takes none of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from ..warnings import warn

__all__ = [
    "cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp",
    "enable_mem_efficient_sdp", "flash_sdp_enabled", "is_built", "is_flash_attention_available",
    "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled", "sdp_kernel",
]  # fmt: skip


class _Switches:
    """Attributes that can be set and have no effect."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


matmul: Any = _Switches(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True, allow_fp16_accumulation=False,
    fp32_precision="none",
)  # fmt: skip


def is_built() -> bool:
    """Whether CuPy is installed. ``cuda.is_available`` returns whether a GPU is usable.

    Example:
        >>> isinstance(tt.backends.cuda.is_built(), bool)
        True
    """
    return find_spec("cupy") is not None


def enable_flash_sdp(enabled: bool) -> None:
    """Do nothing: attention has one implementation here.

    Example:
        >>> tt.backends.cuda.enable_flash_sdp(True)
    """


def enable_math_sdp(enabled: bool) -> None:
    """Do nothing, as ``enable_flash_sdp``.

    Example:
        >>> tt.backends.cuda.enable_math_sdp(False)
    """


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Do nothing, as ``enable_flash_sdp``.

    Example:
        >>> tt.backends.cuda.enable_mem_efficient_sdp(False)
    """


def enable_cudnn_sdp(enabled: bool) -> None:
    """Do nothing, as ``enable_flash_sdp``.

    Example:
        >>> tt.backends.cuda.enable_cudnn_sdp(False)
    """


def math_sdp_enabled() -> bool:
    """Whether attention is computed by its formula: True.

    Example:
        >>> tt.backends.cuda.math_sdp_enabled()
        True
    """
    return True


def flash_sdp_enabled() -> bool:
    """Whether attention has a fused implementation: False.

    Example:
        >>> tt.backends.cuda.flash_sdp_enabled()
        False
    """
    return False


mem_efficient_sdp_enabled = flash_sdp_enabled
cudnn_sdp_enabled = flash_sdp_enabled
is_flash_attention_available = flash_sdp_enabled


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[dict[Any, Any]]:  # fmt: skip
    """Do nothing, as ``enable_flash_sdp``. Deprecated: see ``nn.attention.sdpa_kernel``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     with tt.backends.cuda.sdp_kernel(enable_flash=False):
        ...         tt.ones(1)
        tensor([1.])
    """
    warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
        "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
        "manager, with updated signature.",
        FutureWarning,
    )
    yield {}
