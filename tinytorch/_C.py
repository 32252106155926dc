"""What libraries call of PyTorch's compiled part, ``torch._C``."""

from __future__ import annotations

__all__ = ["_log_api_usage_once"]


def _log_api_usage_once(event: str) -> None:
    """Nothing: no use of the library is counted.

    Args:
        event: What was used.
    """
