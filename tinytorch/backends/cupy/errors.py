"""Errors of CuPy as PyTorch's, and the reasons why CuPy cannot be used, with the remedies."""

from __future__ import annotations

import importlib
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from ..base import Backend
from ..errors import INSTALL_CUPY, BackendUnavailableError, OutOfMemoryError

_IN_BROWSER = "CUDA does not run in a browser: use the backend 'numpy'"
_REINSTALL = "leave one CuPy package in this environment (see `pip list`) and reinstall it"
_UPDATE = "update it: pip install -U and the package that `pip list` shows"
_LIBRARIES = f"install CUDA's libraries beside CuPy: {INSTALL_CUPY}"
_OTHER_CUPY = "install the CuPy of a CUDA that knows this GPU, or use the backend 'numpy'"
_NO_DRIVER = "install one on a machine with an NVIDIA GPU, or use the backend 'numpy'"

#: Oldest supported major version of CuPy.
_OLDEST = 14

#: ``reason``, description and remedy by CUDA's status.
_STATUS = {
    2: (
        "no memory",
        "the GPU has no memory left",
        "see with `nvidia-smi` what holds it and stop that, or choose another GPU",
    ),
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
    802: (
        "not initialised",
        "CUDA's system is not ready",
        "on a machine of several GPUs start the service nvidia-fabricmanager",
    ),
    803: ("driver mismatch", "driver and CUDA libraries disagree", "reboot after a driver update"),
    804: (
        "driver too old",
        "this GPU does not run a CUDA newer than its driver",
        "update the driver, or remove CUDA's compatibility package (cuda-compat)",
    ),
}
#: CUDA libraries that namespaces of CuPy load at the first call of one of their functions.
_BEHIND = {"fft": "cufft", "linalg": "cusolver"}


def open_cupy(backend: str) -> tuple[Any, Any]:
    """Import ``cupy`` and ``cupyx`` and check by a first call that a GPU works.

    Args:
        backend: The name to use in error messages.

    Raises:
        BackendUnavailableError: With ``reason`` one of ``"not installed"``, ``"broken"``,
            ``"no driver"``, ``"driver too old"``, ``"driver mismatch"``, ``"no device"``,
            ``"device busy"``, ``"no memory"``, ``"not initialised"``,
            ``"CUDA libraries missing"``, ``"GPU not supported"``, ``"CuPy too old"``.
    """
    cupy = _import(backend, "cupy")
    try:
        version = cupy.__version__
    except AttributeError as error:  # perhaps an empty folder that an uninstallation left behind
        raise _import_failure(backend, error) from error
    if int(version.partition(".")[0]) < _OLDEST:
        problem = f"CuPy {version} is installed, which is older than {_OLDEST}"
        raise _unavailable(backend, "CuPy too old", problem, _UPDATE)
    try:
        if not cupy.cuda.runtime.getDeviceCount():
            raise _unavailable(backend, *_STATUS[100])
        # CuPy loads these libraries at first use, which may be deep inside a computation.
        cupy.cuda.nvrtc.getVersion()
        cupy.cuda.cublas  # noqa: B018
        cupy.ones(1)  # allocates memory and compiles a kernel
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _status_error(backend, cupy.cuda.runtime, error) from error
    except cupy.cuda.compiler.CompileException as error:
        raise _compile_error(backend, error) from error
    except MemoryError as error:
        raise _unavailable(backend, *_STATUS[2]) from error
    except BackendUnavailableError:
        raise
    except (ImportError, OSError, RuntimeError) as error:
        raise _library_missing(backend, error) from error
    # ``import cupyx`` does not import this module, whose functions CuPy itself lacks.
    _import(backend, "cupyx.scipy.special")
    return cupy, _import(backend, "cupyx")


def load_cuda_library(namespace: str, cupy: Any, backend: str) -> None:
    """Load the CUDA library that a namespace of CuPy needs. Most namespaces need none.

    Raises:
        BackendUnavailableError: If the library is missing.
    """
    if namespace in _BEHIND:
        cuda = cupy.cuda
        try:
            getattr(cuda, _BEHIND[namespace])
        except (ImportError, OSError) as error:
            raise _library_missing(backend, error) from error


def _import(backend: str, module: str) -> Any:
    """Import a module of CuPy, or raise BackendUnavailableError with the cause and a remedy."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise _import_failure(backend, error) from error
        cure = _IN_BROWSER if sys.platform == "emscripten" else INSTALL_CUPY
        raise _unavailable(backend, "not installed", "CuPy is not installed", cure) from error
    except Exception as error:
        raise _import_failure(backend, error) from error


def _import_failure(backend: str, error: Exception) -> BackendUnavailableError:
    """Build the error for a module of CuPy that is installed but cannot be imported."""
    # CuPy puts a page about its installation before the text of the original error.
    _, page, original = str(error).rpartition("Original error:")
    message = original if page else f"{type(error).__name__}: {error}"
    message = " ".join(message.strip("= \n").split())
    problem = f"CuPy is installed but cannot be imported ({message})"
    return _unavailable(backend, "broken", problem, _REINSTALL)


def _status_error(backend: str, runtime: Any, error: Any) -> BackendUnavailableError:
    """Build the error for a CUDA call that failed.

    Args:
        backend: Name of the backend.
        runtime: ``cupy.cuda.runtime``.
        error: Its ``CUDARuntimeError``, whose ``status`` is CUDA's error code.
    """
    version = runtime.driverGetVersion()
    # The runtime also returns 35 if there is no driver; the version is then 0.
    if error.status == 35 and not version:
        return _unavailable(backend, "no driver", "there is no NVIDIA driver", _NO_DRIVER)
    unknown = ("broken", f"CUDA fails ({error})", "check that `nvidia-smi` works")
    reason, problem, cure = _STATUS.get(error.status, unknown)
    if error.status == 35:
        needed = format_version(runtime.runtimeGetVersion())
        problem += f" (CUDA {format_version(version)} against {needed})"
    return _unavailable(backend, reason, problem, cure)


def _compile_error(backend: str, error: Exception) -> BackendUnavailableError:
    """Build the error for a kernel that CuPy cannot compile."""
    message = " ".join(str(error).split())
    problem = f"CuPy compiles no kernel ({message[:300]})"
    if "cannot open source file" in message:  # CUDA's headers
        return _unavailable(backend, "CUDA libraries missing", problem, _LIBRARIES)
    return _unavailable(backend, "GPU not supported", problem, _OTHER_CUPY)


def _library_missing(backend: str, error: Exception) -> BackendUnavailableError:
    """Build the error for a CUDA library that cannot be loaded."""
    problem = f"CuPy does not find CUDA's libraries ({' '.join(str(error).split())})"
    return _unavailable(backend, "CUDA libraries missing", problem, _LIBRARIES)


def _unavailable(backend: str, reason: str, problem: str, cure: str) -> BackendUnavailableError:
    """Build the error with the ``reason`` (a fixed text), the problem and its remedy ``cure``."""
    text = f"backend {backend!r} is not available: {problem}; {cure}"
    return BackendUnavailableError(text, backend=backend, reason=reason)


class _ForkedLibrary:
    """Placeholder of the library in a forked child, where CUDA cannot be used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise _fork_error(self._name)


def _fork_error(backend: str) -> BackendUnavailableError:
    """Build the error for the use of a backend in a child that was forked after its creation."""
    problem = "this process was forked after CUDA was in use, which CUDA does not survive"
    cure = "start processes with multiprocessing.set_start_method('spawn')"
    return _unavailable(backend, "forked", problem, cure)


def refuse_after_fork(backend: Backend) -> None:
    """Make every use of ``backend`` in a forked child raise, instead of CUDA's status 3.

    A switch to the backend raises, too, before it changes the state.
    """
    from .. import withdraw

    alive = weakref.ref(backend)

    def disable_in_child() -> None:
        forked: Any = alive()
        if forked is not None:
            withdraw(forked, _fork_error(forked.name))
            attributes = {"array_type": forked.array_type, "library": _ForkedLibrary(forked.name)}
            # Names of the library are attributes of the instance, and all must be removed.
            vars(forked).clear()
            vars(forked).update(attributes, extras=attributes["library"])

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=disable_in_child)


def format_version(version: int) -> str:
    """Format a CUDA version: 12080 as ``12.8``."""
    return f"{version // 1000}.{version % 1000 // 10}"


#: Attribute that marks an allocator of this module.
_MARK = "of_tinytorch"


def raise_torchs_error(cupy: Any) -> None:
    """Make CuPy's current allocator raise an error that is also a ``tt.OutOfMemoryError``.

    Programs catch ``torch.cuda.OutOfMemoryError`` or RuntimeError to retry with a smaller batch.
    The error is also CuPy's own MemoryError.
    """
    allocate = cupy.cuda.get_allocator()
    if hasattr(allocate, _MARK):
        return
    try:
        cupy.cuda.set_allocator(_wrap_allocator(allocate, cupy.cuda.memory.OutOfMemoryError))
    except ValueError:  # inside ``using_allocator``: the program has chosen the allocator
        return


def _wrap_allocator(allocate: Callable[[int], Any], error: type[Exception]) -> Callable[[int], Any]:
    """Wrap ``allocate`` so that its ``error`` is also raised as an ``OutOfMemoryError``."""
    # The __init__ of CuPy's class takes sizes, and Python 3.14 finds it before RuntimeError's.
    members = {"__module__": "tinytorch", "__reduce__": _reduce, "__init__": Exception.__init__}
    combined = type("OutOfMemoryError", (OutOfMemoryError, error), members)

    def allocating(size: int) -> Any:
        try:
            return allocate(size)
        except error as found:
            raise combined(
                f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB. {found}"
            ) from found

    setattr(allocating, _MARK, True)
    return allocating


def _reduce(self: Exception) -> tuple[type[Exception], tuple[Any, ...]]:
    """Pickle as an ``OutOfMemoryError``, which a process without CuPy can load."""
    return OutOfMemoryError, self.args
