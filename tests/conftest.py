"""What every test shares: fixed seeds, and the backend the suite runs on.

``pytest --backend strict`` runs everything on the stand-in for CuPy, so that no operation can
call NumPy behind its backend's back; ``--backend cupy`` on a real GPU.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from tests import torch_versions


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backend", default="numpy", help="backend the suite runs on: numpy, strict or cupy"
    )


def pytest_configure(config: pytest.Config) -> None:
    name = config.getoption("--backend")
    if name != "numpy":
        from strictcupy.suite import run_on

        run_on(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another backend, or an older PyTorch, has no part in."""
    version = torch_versions.installed()
    for item in items:
        path = item.nodeid.removeprefix("tests/")
        if reason := torch_versions.needs_newer(path, version):
            item.add_marker(pytest.mark.skip(reason=reason))
    if config.getoption("--backend") != "numpy":
        from strictcupy.suite import on_numpy_alone

        left_out = [item for item in items if on_numpy_alone(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def main_module_stays() -> Iterator[None]:
    """IPython's shell puts a module of its own there, which processes cannot start from."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Seed the generators a test may draw its samples from, so that a failure repeats."""
    random.seed(0)
    np.random.seed(0)
