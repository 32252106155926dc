"""Collectives and messages against NumPy, on real processes; the oracle's program under gloo."""

from __future__ import annotations

import pytest

import tinytorch as tt
from tests.distributed.ranks import gloo, mpiexec, needs_mpi, passed_tests

pytestmark = pytest.mark.slow

PASSED = {
    "test_all_reduce", "test_broadcast_and_reduce", "test_gathers", "test_reduce_scatter",
    "test_all_to_all", "test_objects", "test_messages", "test_works", "test_groups",
}  # fmt: skip


@needs_mpi
@pytest.mark.parametrize(("count", "debug"), [(2, "DETAIL"), (3, "OFF")])
def test_every_test_of_the_collectives_program_passes_under_mpi(count: int, debug: str) -> None:
    """In the monitored mode, too: it agrees where the ranks do."""
    done = mpiexec(count, "collectives.py", TORCH_DISTRIBUTED_DEBUG=debug)
    assert done.returncode == 0, done.stderr
    assert passed_tests(done.stdout) == PASSED | {"test_strides", "test_refusals"}


@needs_mpi
def test_a_result_does_not_depend_on_the_rank() -> None:
    done = mpiexec(3, "awkward.py")
    assert done.returncode == 0, done.stderr


@needs_mpi
@pytest.mark.parametrize("memory", ["shared", "none"])
def test_calls_that_do_not_fit_together_are_an_error_on_all_ranks(memory: str) -> None:
    done = mpiexec(3, "disagreeing.py", memory)
    errors = [line for line in done.stdout.splitlines() if "mismatch between" in line]
    exchanges = [line for line in done.stdout.splitlines() if "all_to_all: expected" in line]
    assert "no error" not in done.stderr, done.stderr
    assert done.returncode == 0 and len(errors) == 3 * 13, done.stdout
    assert len(exchanges) == 3


@pytest.mark.torch
def test_pytorchs_gloo_passes_the_same_program() -> None:
    ranks = gloo(2, "collectives.py")
    assert [rank.returncode for rank in ranks] == [0, 0], ranks[0].stderr
    assert passed_tests(ranks[0].stdout) == PASSED


@pytest.mark.parametrize("call", [
    lambda dist: dist.all_reduce(tt.ones(1)),
    lambda dist: dist.broadcast(tt.ones(1), 0),
    lambda dist: dist.barrier(),
    lambda dist: dist.get_rank(),
    lambda dist: dist.get_world_size(),
    lambda dist: dist.new_group([0]),
    lambda dist: dist.nn.all_reduce(tt.ones(1)),
    lambda dist: tt.nn.parallel.DistributedDataParallel(tt.nn.Linear(1, 1)),
    lambda dist: tt.utils.data.DistributedSampler(range(3)),
])  # fmt: skip
def test_before_init_process_group_calls_are_pytorchs_error(call: object) -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        call(tt.distributed)  # type: ignore[operator]
    assert not tt.distributed.is_initialized()


@pytest.mark.parametrize(("arguments", "kind", "text"), [
    ({"backend": "foo"}, AssertionError, "Unknown backend type foo"),
    ({"backend": 3}, ValueError, "must be string-ish"),
    ({"backend": "mpi", "timeout": 3}, TypeError, "datetime.timedelta, got 3"),
    ({"backend": "mpi", "init_method": "foo://x"}, RuntimeError, "No rendezvous handler for foo"),
    ({"backend": "gloo", "init_method": "file:///a"}, ValueError, "rank parameter missing"),
    ({"backend": "gloo"}, ValueError, "environment variable RANK expected, but not set"),
    ({"backend": "mpi", "store": tt.distributed.HashStore()}, AssertionError, "world_size must be"),
    ({"backend": "mpi", "store": tt.distributed.HashStore(), "init_method": "env://"},
     AssertionError, "Cannot specify both init_method and store"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:tinytorch carries the messages")
def test_bad_arguments_are_pytorchs_errors(
    arguments: dict[str, object], kind: type[Exception], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(kind, match=text):
        tt.distributed.init_process_group(**arguments)  # type: ignore[arg-type]
    assert not tt.distributed.is_initialized()


@needs_mpi
def test_ranks_cannot_join_once_mpi_has_started_alone_and_the_error_says_how_they_can() -> None:
    tt.distributed.init_process_group("mpi")  # else it would wait for the other rank
    tt.distributed.destroy_process_group()
    store = tt.distributed.HashStore()
    with pytest.raises(ValueError, match=r"mpiexec -n 2"):
        tt.distributed.init_process_group("mpi", store=store, rank=0, world_size=2)


def test_without_mpi4py_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("tinytorch.distributed.mpi.Library._started", None)
    assert not tt.distributed.is_available() and not tt.distributed.is_mpi_available()
    with pytest.raises(RuntimeError, match="pip install mpi4py mpich"):
        tt.distributed.init_process_group("mpi")


@needs_mpi
def test_nccl_collectives_call_the_stand_in_correctly() -> None:
    done = mpiexec(3, "nccl.py")
    assert done.returncode == 0, done.stderr
    expected = "allGather allReduce bcast recv reduce reduceScatter send"
    assert done.stdout.split() == expected.split()


def test_without_cupy_nccl_is_not_available() -> None:
    if tt.distributed.is_nccl_available():
        pytest.skip("NCCL is there")
    assert not tt.distributed.is_backend_available("nccl")


@needs_mpi
def test_without_cupy_the_error_says_what_to_install() -> None:
    if tt.distributed.is_nccl_available():
        pytest.skip("NCCL is there")
    with pytest.raises(RuntimeError, match="pip install 'cupy"):
        store = tt.distributed.HashStore()
        tt.distributed.init_process_group("nccl", rank=0, world_size=1, store=store)
    assert not tt.distributed.is_initialized()
