"""``torch.backends.mkl``: which BLAS NumPy uses says ``python -m tinytorch --info``."""

from __future__ import annotations


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.backends.mkl.is_available()
        False
    """
    return False
