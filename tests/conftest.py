"""What every test shares: fixed seeds, and the backend the suite runs on.

``pytest --backend strict`` runs everything on the stand-in for CuPy, so that no operation can
call NumPy behind its backend's back; ``--backend cupy`` on a real GPU.

What compares with PyTorch is marked ``torch``: ``pytest -m torch`` runs it where PyTorch is, and
``-m "not torch"`` the rest. A test has the mark if it takes the fixture ``torch``; where only a
helper needs PyTorch, the test or its module's ``pytestmark`` says so.
"""

from __future__ import annotations

import gc
import importlib
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.warnings
from tests import torch_versions
from tests.runner import Runner


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backend", default="numpy", help="backend the suite runs on: numpy, strict or cupy"
    )
    parser.addoption(
        "--sample", type=int, default=0,
        help="seed of the sample of long tables that runs on another backend than numpy",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until `pytest_collection_finish`
    name = config.getoption("--backend")
    if name != "numpy":
        from strictcupy.suite import run_on

        run_on(name)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """A module that is marked as a whole may import PyTorch: without it, it is not imported."""
    if collection_path.suffix != ".py" or torch_versions.installed():
        return None
    marked = re.search(
        r"(?m)^pytestmark = (\[\s*)?pytest\.mark\.torch\b", collection_path.read_text()
    )
    return True if marked else None


@pytest.hookimpl(tryfirst=True)  # before ``-m`` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs PyTorch; leave out what another backend, or an older one, has no part in."""
    version = torch_versions.installed()
    for item in items:
        if "torch" in getattr(item, "fixturenames", ()):
            item.add_marker("torch")
        if version is None and item.get_closest_marker("torch"):
            item.add_marker(
                pytest.mark.skip(reason="compares with PyTorch, which is not installed")
            )
        path = item.nodeid.removeprefix("tests/")
        if reason := torch_versions.needs_newer(path, version):
            item.add_marker(pytest.mark.skip(reason=reason))
    if config.getoption("--backend") != "numpy":
        from strictcupy.suite import on_numpy_alone, sampled

        running = [item for item in items if not on_numpy_alone(item)]
        if len({item.path for item in items}) > 1:  # A file that is named runs whole.
            running = sampled(running, config.getoption("--sample"))
        chosen = {*running}
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = running


def pytest_collection_finish() -> None:
    """Hide what all tests are made of from the garbage collector: a full collection takes a second.

    Tests of reference cycles collect in full, and so does CPython now and then.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, the oracle."""
    return importlib.import_module("torch")


@pytest.fixture(params=["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def lib(request: pytest.FixtureRequest) -> Any:
    """tinytorch and PyTorch in turn, for what must hold of either."""
    return importlib.import_module(request.param)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A folder in which commands are run."""
    return Runner(tmp_path)


def _leaks() -> tuple[Any, ...]:
    """Global state that a test restores: of tinytorch, its GPU, and NumPy's error handling."""
    return tt.get_state(), tt.backends._registry["cupy"], np.geterr()


@pytest.fixture(autouse=True)
def isolated() -> Iterator[None]:
    """Start each test from the same state, and fail the one that leaves another behind."""
    tinytorch.warnings._said.clear()  # so that each test sees the warnings that come once
    random.seed(0)
    np.random.seed(0)
    tt.manual_seed(0)
    main, before = sys.modules["__main__"], _leaks()
    yield
    # IPython's shell puts a module of its own there, which processes cannot start from.
    sys.modules["__main__"] = main
    assert _leaks() == before, "the test left something behind"
