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

#: The first release of CuPy whose functions are the ones called here.
_OLDEST = 14

#: By CUDA's status: ``reason``, what is wrong, what to do.
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
#: The library of CUDA's that a namespace of CuPy's loads when its functions are first called.
_BEHIND = {"fft": "cufft", "linalg": "cusolver"}


def open_cupy(backend: str) -> tuple[Any, Any]:
    """The modules ``cupy`` and ``cupyx``, after a first call has shown that a GPU works.

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
    except AttributeError as error:  # a folder of that name, such as an uninstall leaves behind
        raise _broken(backend, error) from error
    if int(version.partition(".")[0]) < _OLDEST:
        what = f"CuPy {version} is installed, which is older than {_OLDEST}"
        raise _unavailable(backend, "CuPy too old", what, _UPDATE)
    try:
        if not cupy.cuda.runtime.getDeviceCount():
            raise _unavailable(backend, *_STATUS[100])
        # CuPy loads these when it first needs them, which may be deep inside a computation.
        cupy.cuda.nvrtc.getVersion()
        cupy.cuda.cublas  # noqa: B018
        cupy.ones(1)  # takes memory, and compiles a kernel
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
    # It has functions that CuPy lacks, and does not come with ``import cupyx``.
    _import(backend, "cupyx.scipy.special")
    return cupy, _import(backend, "cupyx")


def look_behind(namespace: str, cupy: Any, backend: str) -> None:
    """Load the library of CUDA's that a namespace of CuPy's needs; most need none.

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
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise _broken(backend, error) from error
        cure = _IN_BROWSER if sys.platform == "emscripten" else INSTALL_CUPY
        raise _unavailable(backend, "not installed", "CuPy is not installed", cure) from error
    except Exception as error:
        raise _broken(backend, error) from error


def _broken(backend: str, error: Exception) -> BackendUnavailableError:
    # CuPy writes a page about installing it around the error that it met.
    _, page, original = str(error).rpartition("Original error:")
    said = original if page else f"{type(error).__name__}: {error}"
    said = " ".join(said.strip("= \n").split())
    what = f"CuPy is installed but cannot be imported ({said})"
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


def _compile_error(backend: str, error: Exception) -> BackendUnavailableError:
    said = " ".join(str(error).split())
    what = f"CuPy compiles no kernel ({said[:300]})"
    if "cannot open source file" in said:  # CUDA's headers
        return _unavailable(backend, "CUDA libraries missing", what, _LIBRARIES)
    return _unavailable(backend, "GPU not supported", what, _OTHER_CUPY)


def _library_missing(backend: str, error: Exception) -> BackendUnavailableError:
    what = f"CuPy does not find CUDA's libraries ({' '.join(str(error).split())})"
    return _unavailable(backend, "CUDA libraries missing", what, _LIBRARIES)


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
        raise _forked(self._name)


def _forked(backend: str) -> BackendUnavailableError:
    what = "this process was forked after CUDA was in use, which CUDA does not survive"
    cure = "start processes with multiprocessing.set_start_method('spawn')"
    return _unavailable(backend, "forked", what, cure)


def refuse_after_fork(backend: Backend) -> None:
    """Have every use of ``backend`` in a forked child raise, instead of CUDA's puzzling 3.

    A switch to it raises too, before it changes anything.
    """
    from .. import withdraw

    alive = weakref.ref(backend)

    def refuse() -> None:
        forked: Any = alive()
        if forked is not None:
            withdraw(forked, _forked(forked.name))
            kept = {"array_type": forked.array_type, "library": _Forked(forked.name)}
            # Names taken from the library are kept on the instance: all of them must go.
            vars(forked).clear()
            vars(forked).update(kept, extras=kept["library"])

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=refuse)


def dotted(version: int) -> str:
    """CUDA's 12080 as ``12.8``."""
    return f"{version // 1000}.{version % 1000 // 10}"


#: What tells our allocator from CuPy's.
_MARK = "of_tinytorch"


def raise_torchs_error(cupy: Any) -> None:
    """Have CuPy's allocator, whichever it is, raise an ``OutOfMemoryError`` that is ours too.

    Programs catch it to try again with less, as ``torch.cuda.OutOfMemoryError`` or as a
    RuntimeError; those that know CuPy still get a MemoryError, of CuPy's own class.
    """
    allocate = cupy.cuda.get_allocator()
    if hasattr(allocate, _MARK):
        return
    try:
        cupy.cuda.set_allocator(_translating(allocate, cupy.cuda.memory.OutOfMemoryError))
    except ValueError:  # inside ``using_allocator`` the program has chosen one
        return


def _translating(allocate: Callable[[int], Any], error: type[Exception]) -> Callable[[int], Any]:
    # CuPy's own __init__ wants sizes; Python 3.14 finds it before that of RuntimeError.
    members = {"__module__": "tinytorch", "__reduce__": _reduce, "__init__": Exception.__init__}
    both = type("OutOfMemoryError", (OutOfMemoryError, error), members)

    def allocating(size: int) -> Any:
        try:
            return allocate(size)
        except error as found:
            raise both(
                f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB. {found}"
            ) from found

    setattr(allocating, _MARK, True)
    return allocating


def _reduce(self: Exception) -> tuple[type[Exception], tuple[Any, ...]]:
    """A process without CuPy can read it."""
    return OutOfMemoryError, self.args
