"""What the library is made of, as a text: ``torch.__config__.show()``."""

from __future__ import annotations

from . import _info
from .version import __version__

__all__ = ["show"]


def show() -> str:
    """What ``python -m tinytorch --info`` prints: backends, devices and versions.

    Example:
        >>> import tinytorch as tt
        >>> "numpy" in tt.__config__.show()
        True
    """
    return _info.report(__version__)
