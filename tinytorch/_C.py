"""What libraries call of PyTorch's compiled part, ``torch._C``."""

from __future__ import annotations

from ._asking import DisableTorchFunction as DisableTorchFunction
from ._asking import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._asking import is_on as _is_torch_function_enabled
from ._asking import refusing as _disabled_torch_function_impl

__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_disabled_torch_function_impl",
    "_get_tracing_state", "_is_torch_function_enabled", "_log_api_usage_once",
]  # fmt: skip


def _get_tracing_state() -> None:
    """None: nothing is being traced."""


def _log_api_usage_once(event: str) -> None:
    """Nothing: no use of the library is counted.

    Args:
        event: What was used.
    """
