"""``torch.backends.openmp``: the threads here are Python's and BLAS's."""

from __future__ import annotations


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.backends.openmp.is_available()
        False
    """
    return False
