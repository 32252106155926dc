"""Errors of unknown and unavailable backends."""

from __future__ import annotations

import sys

__all__ = ["BackendUnavailableError", "OutOfMemoryError", "UnknownBackendError"]

#: Command that installs CuPy and the CUDA libraries, as in README and the extra ``cupy``.
INSTALL_CUPY = "pip install 'cupy-cuda12x[ctk]' (CUDA 13: 'cupy-cuda13x[ctk]')"


def how_to_install(package: str) -> str:
    """Command that installs a package here: pip, or Pyodide's in a browser."""
    if sys.platform == "emscripten":
        return f"import micropip; await micropip.install({package!r})"
    return f"pip install {package}"


class UnknownBackendError(ValueError):
    """Error for a name under which no backend is registered. The message lists the others.

    Attributes:
        name: The unknown name.
        known: The registered names.

    Example:
        >>> try:
        ...     tt.set_backend("nunpy")
        ... except ValueError as error:
        ...     print(error)
        unknown backend 'nunpy'; the registered backends are: numpy, cupy... Did you mean 'numpy'?
    """

    def __init__(self, message: str, *, name: str = "", known: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.known = known

    def within(self, context: str) -> UnknownBackendError:
        """Return the same error with ``context`` in front of its message."""
        return UnknownBackendError(f"{context}: {self}", name=self.name, known=self.known)


class BackendUnavailableError(ImportError, RuntimeError):
    """Error for a backend that cannot be used here. The message says why and what to do.

    It is an ImportError and also a RuntimeError, as programs written for PyTorch expect.

    Attributes:
        backend: Name of the backend.
        reason: Cause as a fixed text: ``"not installed"`` (a package is missing), ``"broken"``
            (the package fails to import), or one of the backend's own, such as ``"no driver"``,
            ``"driver too old"``, ``"no device"``.
    """

    def __init__(self, message: str, *, backend: str = "", reason: str = "broken") -> None:
        super().__init__(message, name=backend)
        self.backend = backend
        self.reason = reason

    def within(self, context: str) -> BackendUnavailableError:
        """Return the same error with ``context`` in front of its message."""
        return BackendUnavailableError(
            f"{context}: {self}", backend=self.backend, reason=self.reason
        )


class AcceleratorError(RuntimeError):
    """Error of a GPU in PyTorch. It exists for ``except`` clauses and is not raised here.

    Example:
        >>> issubclass(tt.AcceleratorError, RuntimeError)
        True
    """


class OutOfMemoryError(RuntimeError):
    """Error for a device without enough memory for an allocation.

    CuPy's out-of-memory errors are also of this class, and of ``MemoryError``.

    Example:
        >>> issubclass(tt.cuda.OutOfMemoryError, RuntimeError)
        True
    """
