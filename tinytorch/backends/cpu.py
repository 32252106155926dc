"""``torch.backends.cpu``: which of PyTorch's own kernels the processor gets."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """``"DEFAULT"``: none of those for vector instructions; NumPy chooses its own.

    Example:
        >>> from tinytorch.backends import cpu
        >>> cpu.get_cpu_capability()
        'DEFAULT'
    """
    return "DEFAULT"
