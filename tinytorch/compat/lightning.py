"""Lightning's choice of a launcher, on which the start of its own ranks depends.

Reference: https://lightning.ai/docs/fabric/stable/api/environments.html
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..distributed.rendezvous import launched


def register(module: ModuleType) -> None:
    """Have Lightning look for a launcher of MPI in the environment before it starts MPI.

    ``MPIEnvironment.detect`` imports ``mpi4py.MPI``, which starts MPI for one rank. Ranks that
    Lightning starts itself could not find each other after that.

    Args:
        module: ``lightning.fabric.plugins.environments.mpi``.
    """
    environment: Any = vars(module)["MPIEnvironment"]
    detect = environment.detect
    environment.detect = staticmethod(lambda: launched() and detect())
