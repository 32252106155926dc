"""The installed libraries, and the machine they run on."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

NAMES = ("tinytorch", "numpy", "torch", "autograd", "mygrad")
THREADS = 2


@dataclass(frozen=True)
class Libraries:
    """The libraries that could be imported, and the errors of the others."""

    modules: dict[str, ModuleType]
    absent: dict[str, str]

    def __contains__(self, name: str) -> bool:
        return name in self.modules

    def __getitem__(self, name: str) -> Any:
        return self.modules[name]

    def torch_like(self) -> dict[str, Any]:
        """Return the libraries with PyTorch's API, which run the same program."""
        return {name: self.modules[name] for name in ("tinytorch", "torch") if name in self}


def load(names: Sequence[str] = NAMES) -> Libraries:
    """Import libraries; PyTorch gets ``THREADS`` threads."""
    modules, absent = {}, {}
    for name in names:
        if is_installed(name):
            modules[name] = importlib.import_module(name)
        else:
            absent[name] = "not installed"
    if "torch" in modules:
        modules["torch"].set_num_threads(THREADS)
    return Libraries(modules, absent)


def is_installed(name: str) -> bool:
    """Whether there is such a package, and not just a folder of that name on the path."""
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None


def describe_machine(libraries: Libraries) -> dict[str, Any]:
    """Return what a reader needs to compare figures: processor, cores and versions."""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch_threads": THREADS,
        "load": load_average(),
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE"),
        "versions": {name: version(name) for name in libraries.modules},
        "absent": libraries.absent,
    }


def load_average() -> float | None:
    """Return the load average of the last minute; None on Windows, which has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def processor() -> str:
    """Return the processor's name; Linux alone has it in a file."""
    cpuinfo = Path("/proc/cpuinfo")
    if sys.platform == "linux" and cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version(name: str) -> str:
    """Return the version of an installed package; ``"source tree"`` if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "source tree"
