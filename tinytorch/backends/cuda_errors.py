"""Why CuPy cannot be used: each cause told apart, with what to do about it."""

from __future__ import annotations

import importlib
import os
import weakref
from typing import Any, NoReturn

from .base import Backend
from .errors import BackendUnavailableError

_INSTALL = "pip install 'tinytorch[cupy]' (for CUDA 13: cupy-cuda13x)"
_REINSTALL = "leave one CuPy package in this environment (see `pip list`) and reinstall it"
_LIBRARIES = "install CUDA's libraries beside CuPy: pip install 'cupy-cuda12x[ctk]'"
_NO_DRIVER = "install one on a machine with an NVIDIA GPU, or use the backend 'numpy'"

#: By CUDA's status: ``reason``, what is wrong, what to do.
_STATUS = {
    3: (
        "not initialised",
        "CUDA does not initialise, as in a process forked after CUDA was in use",
        "check that `nvidia-smi` works; start processes with 'spawn', not 'fork'",
    ),
    35: (
        "driver too old",
        "the NVIDIA driver is older than the CUDA that CuPy was built for",
        "update the driver, or install the CuPy of an older CUDA",
    ),
    46: ("device busy", "another program holds the GPU", "stop it, or choose another GPU"),
    100: (
        "no device",
        "there is an NVIDIA driver but no GPU that it may use",
        "check `nvidia-smi` and the variable CUDA_VISIBLE_DEVICES",
    ),
    803: ("driver mismatch", "driver and CUDA libraries disagree", "reboot after a driver update"),
}


def open_cupy(backend: str) -> tuple[Any, Any]:
    """The modules ``cupy`` and ``cupyx``, after a first call has shown that a GPU works.

    Args:
        backend: The name to use in error messages.

    Raises:
        BackendUnavailableError: With ``reason`` one of ``"not installed"``, ``"broken"``,
            ``"no driver"``, ``"driver too old"``, ``"driver mismatch"``, ``"no device"``,
            ``"device busy"``, ``"not initialised"``, ``"CUDA libraries missing"``.
    """
    cupy = _import(backend, "cupy")
    try:
        if not cupy.cuda.runtime.getDeviceCount():
            raise _unavailable(backend, *_STATUS[100])
        cupy.empty(1)
        # CuPy loads these when it first needs them, which may be deep inside a computation.
        cupy.cuda.nvrtc.getVersion()
        cupy.cuda.cublas  # noqa: B018
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _status_error(backend, cupy.cuda.runtime, error) from error
    except BackendUnavailableError:
        raise
    except (ImportError, OSError, RuntimeError) as error:
        what = f"CuPy does not find CUDA's libraries ({' '.join(str(error).split())})"
        raise _unavailable(backend, "CUDA libraries missing", what, _LIBRARIES) from error
    # It has functions that CuPy lacks, and does not come with ``import cupyx``.
    _import(backend, "cupyx.scipy.special")
    return cupy, _import(backend, "cupyx")


def _import(backend: str, module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise _broken(backend, error) from error
        raise _unavailable(backend, "not installed", "CuPy is not installed", _INSTALL) from error
    except Exception as error:
        raise _broken(backend, error) from error


def _broken(backend: str, error: Exception) -> BackendUnavailableError:
    what = f"CuPy is installed but cannot be imported ({type(error).__name__}: {error})"
    return _unavailable(backend, "broken", what, _REINSTALL)


def _status_error(backend: str, runtime: Any, error: Any) -> BackendUnavailableError:
    version = runtime.driverGetVersion()
    # The runtime answers 35 for no driver too, whose version is then 0.
    if error.status == 35 and not version:
        return _unavailable(backend, "no driver", "there is no NVIDIA driver", _NO_DRIVER)
    unknown = ("broken", f"CUDA fails ({error})", "check that `nvidia-smi` works")
    reason, what, cure = _STATUS.get(error.status, unknown)
    if error.status == 35:
        what += f" (CUDA {dotted(version)} against {dotted(runtime.runtimeGetVersion())})"
    return _unavailable(backend, reason, what, cure)


def _unavailable(backend: str, reason: str, what: str, cure: str) -> BackendUnavailableError:
    text = f"backend {backend!r} is not available: {what}; {cure}"
    return BackendUnavailableError(text, backend=backend, reason=reason)


class _Forked:
    """Stands for the library in a forked child, where CUDA cannot be used any more."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        what = "this process was forked after CUDA was in use, which CUDA does not survive"
        cure = "start processes with multiprocessing.set_start_method('spawn')"
        raise _unavailable(self._name, "forked", what, cure)


def refuse_after_fork(backend: Backend) -> None:
    """Have every use of ``backend`` in a forked child raise, instead of CUDA's puzzling 3."""
    alive = weakref.ref(backend)

    def refuse() -> None:
        forked: Any = alive()
        if forked is not None:
            kept = {"array_type": forked.array_type, "library": _Forked(forked.name)}
            # Names taken from the library are kept on the instance: all of them must go.
            vars(forked).clear()
            vars(forked).update(kept, extras=kept["library"])

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=refuse)


def dotted(version: int) -> str:
    """CUDA's 12080 as ``12.8``."""
    return f"{version // 1000}.{version % 1000 // 10}"
