"""Fixtures and options of every test: fixed seeds, and the backend the suite runs on.

``pytest --backend strict`` runs the suite on the stand-in for CuPy, where an operation that calls
NumPy past its backend fails; ``--backend cupy`` runs it on a GPU, and any other name on that
backend, without the tests that need what its library lacks (``tests/capabilities.py``).

Tests that compare with PyTorch are marked ``torch``: ``pytest -m torch`` runs them, and
``-m "not torch"`` runs the others. A test that takes the fixture ``torch`` has the mark; where only
a helper needs PyTorch, the test or its module's ``pytestmark`` sets it.
"""

from __future__ import annotations

import gc
import importlib
import random
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.warnings
from tests import capabilities, torch_versions
from tests.runner import Runner


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--backend", default="numpy",
        help="backend the suite runs on: numpy, strict, or the name of a registered one",
    )  # fmt: skip
    parser.addoption(
        "--tests", type=int, metavar="COUNT", help="run so many tests, chosen by --sample"
    )
    parser.addoption(
        "--sample", type=int, default=0,
        help="seed of the samples: of tables marked `sampled`, of long ones on other backends than "
        "numpy, and of --tests",
    )  # fmt: skip
    parser.addoption(
        "--shuffle", type=int, metavar="SEED", help="run the tests in a random order, by a seed"
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until `pytest_collection_finish`
    name = config.getoption("--backend")
    if name != "numpy":
        from strictcupy.suite import run_on

        run_on(name)
    if (count := config.getoption("--tests")) is not None:
        config.pluginmanager.register(capabilities.Sampler(count, config.getoption("--sample")))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out modules that this run does not need, so that they are not imported.

    A module that is marked ``torch`` as a whole may import PyTorch. Modules that run on NumPy alone
    import large libraries.
    """
    if config.getoption("--backend") != "numpy":
        from strictcupy.suite import is_about_numpy

        if is_about_numpy(collection_path):
            return True
    if collection_path.suffix != ".py" or torch_versions.installed_version():
        return None
    marked = re.search(
        r"(?m)^pytestmark = (\[\s*)?pytest\.mark\.torch\b", collection_path.read_text()
    )
    return True if marked else None


@pytest.hookimpl(tryfirst=True)  # before ``-m`` chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need PyTorch; deselect those that another backend does not run.

    With PyTorch older than 2.13, tests of newer behavior are skipped.
    """
    version = torch_versions.installed_version()
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
    running, seed = list(items), config.getoption("--sample")
    several = len({item.path for item in items}) > 1  # A file that is named runs whole.
    if config.getoption("--backend") != "numpy":
        from strictcupy.suite import on_numpy_alone, sample

        running = [item for item in items if not on_numpy_alone(item)]
        if several and config.getoption("--tests") is None:
            running = sample(running, seed)
        _skip_for_capabilities(config, running)
    if several:
        running = [item for item in running if is_in_sample(item, seed)]
    chosen = {*running}
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = running
    if (seed := config.getoption("--shuffle")) is not None:
        random.Random(seed).shuffle(items)


def is_in_sample(item: pytest.Item, seed: int) -> bool:
    """Whether a test runs: of a table marked ``sampled(n)`` one case of n does, by a hash.

    Args:
        item: The test.
        seed: Chooses the sample; every case is in the sample of some seed.
    """
    mark = item.get_closest_marker("sampled")
    return mark is None or zlib.crc32(f"{seed}{item.nodeid}".encode()) % mark.args[0] == 0


def _skip_for_capabilities(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests that need what the backend of the suite lacks."""
    found = capabilities.capabilities(tt.backends.load(config.getoption("--backend")))
    for item in items:
        if need := capabilities.missing(item, found):
            item.add_marker(pytest.mark.skip(reason=f"the library has no {need}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip a test on another backend if its error names what the library lacks."""
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        backend = tt.backends.load(item.config.getoption("--backend"))
        reason = capabilities.find_reason(error, backend)
        if reason is None:
            raise
        pytest.skip(reason)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Name the seed of a shuffled run in its output."""
    seed = config.getoption("--shuffle")
    return [] if seed is None else [f"shuffled: --shuffle {seed} repeats this order"]


def pytest_collection_finish() -> None:
    """Freeze the objects of the collected tests, so that garbage collections do not visit them.

    With them a full collection takes a second, and tests of reference cycles start several.
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
    """Each library in turn, tinytorch and PyTorch, for statements that hold for both."""
    return importlib.import_module(request.param)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Runner of commands in a temporary folder."""
    return Runner(tmp_path)


def _leaks() -> tuple[Any, ...]:
    """Global state that a test restores: of tinytorch, its GPU, and NumPy's error handling."""
    return tt.get_state(), tt.backends._registry["cupy"], np.geterr()


@pytest.fixture(autouse=True)
def restore_global_state() -> Iterator[None]:
    """Start each test from the same state, and fail the one that leaves another behind."""
    tinytorch.warnings._warned.clear()  # so that each test sees the warnings that come once
    random.seed(0)
    np.random.seed(0)
    tt.manual_seed(0)
    main, before = sys.modules["__main__"], _leaks()
    yield
    # IPython's shell puts a module of its own there, which processes cannot start from.
    sys.modules["__main__"] = main
    assert _leaks() == before, "the test left something behind"
