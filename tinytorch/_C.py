"""What libraries call of PyTorch's compiled part, ``torch._C``."""

from __future__ import annotations

__all__ = ["_get_tracing_state", "_log_api_usage_once"]


def _get_tracing_state() -> None:
    """None: nothing is being traced."""


def _log_api_usage_once(event: str) -> None:
    """Nothing: no use of the library is counted.

    Args:
        event: What was used.
    """
