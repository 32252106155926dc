"""What can go wrong when a backend is asked for."""

from __future__ import annotations

import sys

__all__ = ["BackendUnavailableError", "OutOfMemoryError", "UnknownBackendError"]

#: How CuPy and CUDA's libraries are installed; README and the extra ``cupy`` say the same.
INSTALL_CUPY = "pip install 'cupy-cuda12x[ctk]' (CUDA 13: 'cupy-cuda13x[ctk]')"


def how_to_install(package: str) -> str:
    """The command that installs a package here: in a browser, Pyodide's instead of pip."""
    if sys.platform == "emscripten":
        return f"import micropip; await micropip.install({package!r})"
    return f"pip install {package}"


class UnknownBackendError(ValueError):
    """No backend is registered under the name; the message lists those that are.

    Attributes:
        name: The name that was asked for.
        known: The registered names.

    Example:
        >>> import tinytorch as tt
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
        """The same error with ``context`` in front of its message."""
        return UnknownBackendError(f"{context}: {self}", name=self.name, known=self.known)


class BackendUnavailableError(ImportError, RuntimeError):
    """A registered backend cannot be used here; the message says why and what to do.

    It is an ImportError, and a RuntimeError too, as programs written for PyTorch expect.

    Attributes:
        backend: The backend's name.
        reason: What is wrong, in a few fixed words: ``"not installed"`` (a package is
            missing), ``"broken"`` (it is there and does not load), or a backend's own,
            such as ``"no driver"``, ``"driver too old"``, ``"no device"``.
    """

    def __init__(self, message: str, *, backend: str = "", reason: str = "broken") -> None:
        super().__init__(message, name=backend)
        self.backend = backend
        self.reason = reason

    def within(self, context: str) -> BackendUnavailableError:
        """The same error with ``context`` in front of its message."""
        return BackendUnavailableError(
            f"{context}: {self}", backend=self.backend, reason=self.reason
        )


class AcceleratorError(RuntimeError):
    """What a GPU reports in PyTorch; there to be named in ``except``, nothing here raises it.

    Example:
        >>> import tinytorch as tt
        >>> issubclass(tt.AcceleratorError, RuntimeError)
        True
    """


class OutOfMemoryError(RuntimeError):
    """A device has not the memory that was asked for.

    What CuPy raises is one of these, and a ``MemoryError`` as well.

    Example:
        >>> import tinytorch as tt
        >>> issubclass(tt.cuda.OutOfMemoryError, RuntimeError)
        True
    """
