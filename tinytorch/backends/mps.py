"""``torch.backends.mps``: Apple's GPUs, which no backend here uses."""

from __future__ import annotations


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.backends.mps.is_available()
        False
    """
    return False


def is_built() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.backends.mps.is_built()
        False
    """
    return False
