"""``DistributedDataParallel``: PyTorch programs on several ranks, and one process's weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.distributed.ranks import PROGRAMS, gloo, launcher, mpiexec, needs_mpi, passed_tests
from tests.oracles import assert_same
from tests.runner import Runner

pytestmark = pytest.mark.slow

DDP = "equal weights ['hook', 'no_sync', 'plain', 'small buckets', 'static', 'unused', 'views']"


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process gives."""
    folder = tmp_path_factory.mktemp("alone")
    runner = Runner(folder)
    runner.output(str(PROGRAMS / "ddp.py"), str(folder / "weights.pt"), "alone")
    return folder / "weights.pt"


@needs_mpi
def test_ranks_give_one_processs_weights(alone: Path) -> None:
    """Three ranks; the launcher starts two below."""
    done = mpiexec(3, "ddp.py", alone)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == DDP


@needs_mpi
def test_the_launcher_runs_the_same_program(alone: Path) -> None:
    done = launcher("--nproc_per_node=2", PROGRAMS / "ddp.py", alone)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == DDP


@pytest.mark.torch
def test_pytorchs_ranks_reach_the_weights_of_one_process(alone: Path) -> None:
    """PyTorch's own ranks give the weights of one process of ours."""
    ranks = gloo(2, "ddp.py", alone)
    assert [rank.returncode for rank in ranks] == [0, 0], [rank.stderr for rank in ranks]
    assert ranks[0].stdout.strip() == DDP


FURTHER = {
    "test_join", "test_join_throws", "test_join_with_buffers", "test_sync_batch_norm", "test_zero",
    "test_join_with_zero", "test_comm_hooks", "test_uneven_use", "test_sampler",
    "test_copies_and_pickles", "test_arguments", "test_skipped_parameters",
    "test_averages", "test_meshes", "test_checkpoints", "test_batched_power", "test_state_dicts",
    "test_hooks_by_name",
}  # fmt: skip


@needs_mpi
def test_join_batch_norms_divided_optimizers_and_hooks() -> None:
    done = mpiexec(3, "further.py")
    assert done.returncode == 0, done.stderr
    assert passed_tests(done.stdout) == FURTHER | {"test_refusals"}


@pytest.mark.torch
def test_pytorch_passes_the_same_program() -> None:
    ranks = gloo(2, "further.py")
    assert [rank.returncode for rank in ranks] == [0, 0], [rank.stderr for rank in ranks]
    assert passed_tests(ranks[0].stdout) == FURTHER


#: PyTorch's gradients, or error, on each of two ranks.
PASSES = json.loads(Path(__file__).with_name("passes.json").read_text())
#: Static graphs whose gradients PyTorch leaves unreduced, each rank with its own, without a word:
#: it takes a pass without parameters, or `autograd.grad`, for the first pass.
UNREDUCED = {"no_parameters/static", "grads_of_parameters_alone/static"}


def read_passes(path: Path) -> dict[str, Any]:
    first, second = (json.loads(Path(f"{path}.{rank}").read_text()) for rank in range(2))
    return {name: [first[name], second[name]] for name in first}


@needs_mpi
def test_backward_passes_in_any_order_reduce_the_gradients(tmp_path: Path) -> None:
    done = mpiexec(2, "passes.py", tmp_path / "found")
    assert done.returncode == 0, done.stderr
    reduced = dict.fromkeys(UNREDUCED, [[1.5, 15.0]] * 2)
    assert read_passes(tmp_path / "found") == {**PASSES, **reduced}


@pytest.mark.torch
def test_passes_are_recorded_of_pytorch(tmp_path: Path) -> None:
    ranks = gloo(2, "passes.py", tmp_path / "found")
    assert [rank.returncode for rank in ranks] == [0, 0], [rank.stderr for rank in ranks]
    assert read_passes(tmp_path / "found") == PASSES


#: PyTorch's gradients after communication hooks, and parameters after averages, on two ranks.
COMPRESSED = json.loads(Path(__file__).with_name("compressed.json").read_text())


@needs_mpi
def test_hooks_compress_and_averagers_average_as_pytorchs(tmp_path: Path) -> None:
    done = mpiexec(2, "compressed.py", tmp_path / "found")
    assert done.returncode == 0, done.stderr
    assert_same(read_passes(tmp_path / "found"), COMPRESSED, rtol=5e-6, atol=5e-6)


@pytest.mark.torch
def test_compressed_gradients_are_recorded_of_pytorch(tmp_path: Path) -> None:
    ranks = gloo(2, "compressed.py", tmp_path / "found")
    assert [rank.returncode for rank in ranks] == [0, 0], [rank.stderr for rank in ranks]
    assert_same(read_passes(tmp_path / "found"), COMPRESSED, rtol=5e-6, atol=5e-6)


@pytest.mark.torch
def test_canonical_state_dicts_are_pytorchs(tmp_path: Path) -> None:
    Runner(tmp_path).output(str(PROGRAMS / "state_dicts.py"), str(tmp_path / "ours"))
    (done,) = gloo(1, "state_dicts.py", tmp_path / "pytorchs")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "ours").read_text())
    assert found == json.loads((tmp_path / "pytorchs").read_text()) and len(found) > 80
