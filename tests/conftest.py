"""What every test shares: fixed seeds, and the backend the suite runs on.

``pytest --backend strict`` runs everything on the stand-in for CuPy, so that no operation can
call NumPy behind its backend's back; ``--backend cupy`` on a real GPU.
"""

from __future__ import annotations

import random

import numpy as np
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backend", default="numpy", help="backend the suite runs on: numpy, strict or cupy"
    )


def pytest_configure(config: pytest.Config) -> None:
    name = config.getoption("--backend")
    if name == "numpy":
        return
    import tinytorch as tt

    if name == "strict":
        tt.register_backend("strict", "strictcupy.backend:StrictBackend")
    tt.set_default_backend(name)


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Seed the generators a test may draw its samples from, so that a failure repeats."""
    random.seed(0)
    np.random.seed(0)
