"""``WorkerState``, the plug-in that propagates the state to workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..backends import Loader, register_backend, registered
from ..state import State, get_state, set_default_backend, set_default_dtype

try:
    from distributed import WorkerPlugin
except ImportError as error:
    raise ImportError(
        "WorkerState is a plug-in for workers of Dask, which is not installed; "
        'pip install "dask[distributed]"'
    ) from error


class WorkerState(WorkerPlugin):
    """Plug-in that propagates the program's backends and default dtype to workers.

    The program's registrations by ``register_backend`` are repeated in each worker, and the
    program's backend and default dtype become the worker's defaults, for all its threads. Grad
    mode and settings of scopes are propagated with a function: ``tt.propagate``.

    Args:
        backends: The backends of single workers, by their names, which are numbers in a
            ``LocalCluster``. Default: the program's backend for all workers.

    Raises:
        UnknownBackendError, BackendUnavailableError: In a worker that cannot use its backend.

    Example:
        >>> from distributed import Client, LocalCluster  # doctest: +SKIP
        >>> from tinytorch.compat.dask_worker import WorkerState  # doctest: +SKIP
        >>> with LocalCluster(n_workers=2) as cluster, Client(cluster) as client:  # doctest: +SKIP
        ...     client.register_plugin(WorkerState({0: "numpy", 1: "cupy"}))
        ...     print(client.run(tt.get_backend))

    Reference: https://distributed.dask.org/en/stable/plugins.html
    """

    name = "tinytorch"

    def __init__(self, backends: Mapping[Any, str] | None = None) -> None:
        self.state: State = get_state()
        self.backends: dict[Any, str] = dict(backends or {})
        self.loaders: dict[str, Loader] = registered()

    def setup(self, worker: Any) -> None:
        """Set up a worker; Dask calls this."""
        for name, loader in self.loaders.items():
            register_backend(name, loader, replace=True)
        set_default_backend(self.backends.get(worker.name, self.state.backend))
        set_default_dtype(self.state.default_dtype)
