"""``torch.backends.mkldnn``: a library that nothing here uses."""

from __future__ import annotations

#: A switch without effect.
enabled: bool = False


def is_available() -> bool:
    """False.

    Example:
        >>> import tinytorch as tt
        >>> tt.backends.mkldnn.is_available()
        False
    """
    return False
