"""``python -m tinytorch --info``: versions, backends and devices, and advice for a faster BLAS."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

from .. import backends
from ..state import current_backend

#: The instructions that OpenBLAS's kernels for a processor family use, best family first.
_KERNELS = (
    ("SkylakeX", "AVX-512", {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}),
    ("Haswell", "AVX2", {"avx2", "fma"}),
)
#: Other names of OpenBLAS's for kernels with the same instructions.
_EQUALS = {
    "SkylakeX": {"skylakex", "cooperlake", "sapphirerapids"},
    "Haswell": {"haswell", "zen"},
}


def report(version: str) -> str:
    """Return the text of ``--info``: versions, backends with state and devices, the BLAS kernels.

    Loads every registered backend that can be loaded, except those that take seconds to import.

    Args:
        version: The version of tinytorch.
    """
    system = f"{platform.system()} {platform.machine()}"
    head = [f"tinytorch  {version}", f"Python     {platform.python_version()} on {system}"]
    return "\n".join([*head, "", "Backends", *_backend_lines(), "", "BLAS", *_blas_lines()])


def _backend_lines() -> Iterator[str]:
    """Yield the lines of the report about all registered backends."""
    active = ""
    try:
        active = current_backend().name
    except (
        ValueError,
        ImportError,
    ) as error:  # the environment variable names a backend that cannot be used
        yield f"  none active: {error}"
    for name in backends.list_backends():
        yield from _describe(name, name == active)


def _describe(name: str, active: bool) -> Iterator[str]:
    """Yield the lines of the report about one backend; load it, unless that takes seconds."""
    installed = backends.is_installed(name)
    if installed is not None and backends.loaded(name) is None:
        yield f"  {name:<8} {'installed, not loaded' if installed else 'not installed'}"
        return
    try:
        backend = backends.load(name)
    except backends.BackendUnavailableError as error:
        yield f"  {name:<8} {error.reason}"
        yield f"    {error}"
        return
    yield f"  {name:<8} {'loaded, active' if active else 'available'}"
    facts = {"devices": ", ".join(backend.devices()), **backend.info()}
    for key, value in facts.items():
        yield f"    {key}: {value}"


def _blas_lines() -> Iterator[str]:
    """Yield the lines of the report about the kernels that OpenBLAS uses."""
    facts = backends.load("numpy").info()
    core = facts.get("blas core")
    if core is None:
        yield "  NumPy does not run on OpenBLAS here; OPENBLAS_CORETYPE has no effect."
        return
    chosen = os.environ.get("OPENBLAS_CORETYPE")
    yield f"  OpenBLAS runs its kernels for {core}" + (
        f" (OPENBLAS_CORETYPE={chosen})." if chosen else ", its own choice."
    )
    yield from _blas_advice(core, processor_flags())


def _blas_advice(core: str, flags: frozenset[str]) -> Iterator[str]:
    """Yield the lines that say whether other kernels would be faster; see ``better_core``."""
    if not flags:
        yield "  The instructions of this processor are not known on this system."
        return
    better = better_core(core, flags)
    if better is None:
        yield "  This processor has no instructions that better kernels would use."
        return
    instructions = {name: words for name, words, _ in _KERNELS}[better]
    yield f"  This processor has {instructions}, which they do not use. Matrix products may be"
    yield "  up to twice as fast with the variable set before Python starts:"
    yield f"    OPENBLAS_CORETYPE={better} python -m tinytorch script.py"


def better_core(core: str, flags: frozenset[str]) -> str | None:
    """Return the value of ``OPENBLAS_CORETYPE`` that suits the processor better, or None.

    OpenBLAS recognizes processors by their model number and uses older kernels for an unknown
    one, as in many virtual machines.

    Args:
        core: The kernels in use, as OpenBLAS names them.
        flags: The processor's instruction sets, as Linux names them.

    Example:
        >>> from tinytorch.facade.info import better_core
        >>> better_core("Prescott", frozenset({"avx2", "fma"}))
        'Haswell'
    """
    for name, _, needed in _KERNELS:
        if core.lower() in _EQUALS[name]:
            return None
        if needed <= flags:
            return name
    return None


def processor_flags(path: str = "/proc/cpuinfo") -> frozenset[str]:
    """Instruction sets of this processor in Linux' names; empty on other systems."""
    file = Path(path)
    if not file.exists():
        return frozenset()
    for line in file.read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "flags":
            return frozenset(value.split())
    return frozenset()
