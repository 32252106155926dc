"""``python -m torch.utils.collect_env``: what runs here, to be put into a report of a fault."""

from __future__ import annotations

import sys

from ..facade.info import report
from ..version import __version__

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """The text of ``python -m tinytorch --info``: versions, backends, devices, the BLAS.

    Example:
        >>> from tinytorch.utils.collect_env import get_pretty_env_info
        >>> get_pretty_env_info().startswith("tinytorch")
        True
    """
    return report(__version__)


def main() -> None:
    """Print it.

    Example:
        >>> from tinytorch.utils.collect_env import main
        >>> main()  # doctest: +ELLIPSIS
        tinytorch...
    """
    sys.stdout.write(get_pretty_env_info() + "\n")


if __name__ == "__main__":
    main()
