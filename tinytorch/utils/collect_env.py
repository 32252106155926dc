"""``python -m torch.utils.collect_env`` and ``torch.__config__``: versions, backends, threads."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..facade import info
from ..facade.info import report
from ..state import settings
from ..version import __version__

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """Output of ``python -m tinytorch --info``: versions, backends, devices and the BLAS.

    Example:
        >>> from tinytorch.utils.collect_env import get_pretty_env_info
        >>> get_pretty_env_info().startswith("tinytorch")
        True
    """
    return report(__version__)


def main() -> None:
    """Print the output of ``get_pretty_env_info``.

    Example:
        >>> from tinytorch.utils.collect_env import main
        >>> main()  # doctest: +ELLIPSIS
        tinytorch...
    """
    sys.stdout.write(get_pretty_env_info() + "\n")


if __name__ == "__main__":
    main()


def parallel_info() -> str:
    """Numbers of threads, and the environment variables that set them.

    Example:
        >>> "get_num_threads" in tt.__config__.parallel_info()
        True
    """
    values: dict[str, Any] = {
        "get_num_threads()": settings.get_num_threads(),
        "get_num_interop_threads()": settings.get_num_interop_threads(),
        "os.cpu_count()": os.cpu_count(),
    }
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        values[name] = os.environ.get(name, "not set")
    return "".join(f"{name}: {value}\n" for name, value in values.items())


def show() -> str:
    """Output of ``python -m tinytorch --info``: backends, devices and versions.

    Example:
        >>> "numpy" in tt.__config__.show()
        True
    """
    return info.report(__version__)
