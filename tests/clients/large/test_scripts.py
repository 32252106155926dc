"""Larger libraries that are written for PyTorch, each by a script that ``make clients`` runs.

They are installed without torch in a virtual environment of their own; a script says what it found
by an assertion that fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fresh import program
from tests.runner import Runner

pytestmark = pytest.mark.clients

#: The scripts by the library that they need.
SCRIPTS = {
    "botorch": "botorch_optimization",
    "captum": "captum_attribution",
    "e3nn": "e3nn_layers",
    "gpytorch": "gpytorch_regression",
    "ignite": "ignite_training",
    "keras": "keras_models",
    "lightning": "lightning_training",
    "peft": "peft_adapters",
    "pyro": "pyro_inference",
    "skorch": "skorch_estimators",
    "stable_baselines3": "stable_baselines3_agents",
    "torch_geometric": "pyg_dense",
    "torchdiffeq": "torchdiffeq_equations",
    "torchmetrics": "torchmetrics_scores",
    "torchvision": "torchvision_detection",
    "transformers": "transformers_models",
}
#: Further scripts of a library.
FURTHER = [
    ("torch_geometric", "pyg_sparse"),
    ("torch_geometric", "pyg_hetero"),
    ("torchvision", "torchvision_features"),
]
FOLDER = Path(__file__).parent

#: Scripts that start ranks of their own, and so need MPI.
OF_RANKS = {"lightning": "lightning_ranks"}


def find(library: str) -> None:
    import importlib.util

    assert importlib.util.find_spec(library)


@pytest.mark.parametrize("library", OF_RANKS)
def test_a_script_that_starts_ranks_runs(runner: Runner, library: str) -> None:
    if any(runner.python("-c", program(find, name)).returncode for name in (library, "mpi4py")):
        pytest.skip(f"{library} and mpi4py are not installed: make clients, pip install .[mpi]")
    out = runner.output(str(FOLDER / f"{OF_RANKS[library]}.py"))
    assert sorted(out.splitlines()[-2:]) == ["rank 0 of 2: done", "rank 1 of 2: done"]


@pytest.mark.parametrize(("library", "script"), [*SCRIPTS.items(), *FURTHER])
def test_script_runs_on_tinytorch(runner: Runner, library: str, script: str) -> None:
    if runner.python("-c", program(find, library)).returncode:
        pytest.skip(f"{library} is not installed: make clients")
    assert runner.output(str(FOLDER / f"{script}.py")).splitlines()[-1] == "done"


def test_every_script_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {
        *SCRIPTS.values(), *(script for _, script in FURTHER), *OF_RANKS.values(),
        Path(__file__).stem,
    }  # fmt: skip
