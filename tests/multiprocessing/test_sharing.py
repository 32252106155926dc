"""Tensors in memory that processes share: through queues, pipes, pools, forks and arguments."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from tests.fresh import search_path
from tests.processes import is_running, wait_until
from tests.shared_memory import assert_none_left, segments
from tinytorch import multiprocessing as mp
from tinytorch import nn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="memory is passed by descriptors"),
]

PROGRAM = Path(__file__).parent / "hogwild.py"


# -- sharing -----------------------------------------------------------------------------------


def test_share_memory_moves_a_tensor_and_its_views(lib: Any) -> None:
    x = lib.arange(6.0).reshape(2, 3)
    row, flat, alias = x[1], x.view(-1), x.detach()
    storage = x.untyped_storage()
    assert not x.is_shared() and not storage.is_shared()
    assert x.share_memory_() is x
    everything = (x, row, flat, alias, storage)
    assert all(each.is_shared() for each in everything)
    row += 1
    assert x.tolist() == [[0, 1, 2], [4, 5, 6]] and flat.tolist() == x.view(-1).tolist()
    assert row.storage_offset() == 3 and alias.data_ptr() == storage.data_ptr() == x.data_ptr()
    before = x.data_ptr()
    assert x.share_memory_().data_ptr() == before


def test_share_memory_of_a_view_moves_the_whole_storage(lib: Any) -> None:
    whole = lib.zeros(4, 5).t()
    whole[1:3].share_memory_()
    assert whole.is_shared() and whole.stride() == (1, 5)


def test_gradients_flow_after_share_memory(lib: Any) -> None:
    x = lib.ones(3, requires_grad=True)
    y = (x * x).sum()
    x.share_memory_()
    y.backward()
    assert x.grad.tolist() == [2, 2, 2] and not x.grad.is_shared()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_share_memory_of_a_storage_moves_its_tensor(lib: Any) -> None:
    x = lib.zeros(3)
    storage = x.untyped_storage()
    assert storage.share_memory_() is storage and x.is_shared()
    storage[0] = 0x7F
    assert x[0] != 0


def test_share_memory_of_a_module_moves_parameters_buffers_and_gradients(lib: Any) -> None:
    layer = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))
    layer(lib.randn(4, 2)).sum().backward()
    assert layer.share_memory() is layer
    tensors = [*layer.parameters(), *layer.buffers(), *(p.grad for p in layer.parameters())]
    assert all(each.is_shared() for each in tensors)


def test_empty_and_one_element_tensors_are_shared(lib: Any) -> None:
    for x in (lib.zeros(0, 3), lib.tensor(2.0), lib.zeros(2, dtype=lib.bool)):
        was = x.tolist()
        assert x.share_memory_().is_shared() and x.tolist() == was


def test_copies_of_shared_tensors_are_private(lib: Any) -> None:
    x = lib.zeros(2).share_memory_()
    for each in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        each += 1
        assert x.tolist() == [0, 0]


def test_shared_memory_is_released_with_its_last_view() -> None:
    gc.collect()
    held = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    x = tt.zeros(1000).share_memory_()
    view = x[3:]
    del x
    assert view.is_shared() and view.sum() == 0
    del view
    gc.collect()
    assert not held or len(os.listdir("/proc/self/fd")) == held


def test_arrays_without_processes_are_refused() -> None:
    from strictcupy.backend import StrictBackend

    class Far(StrictBackend):
        name = "far"
        device_type = "far"

    with tt.backend_context(Far()), pytest.raises(NotImplementedError, match="far cannot be"):
        tt.zeros(2).share_memory_()


# -- processes ---------------------------------------------------------------------------------


def double(x: Any) -> None:
    x *= 2


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_writes_what_others_see(method: str) -> None:
    x = tt.arange(6.0).share_memory_()
    process = mp.get_context(method).Process(target=double, args=(x[2:4],))
    process.start()
    process.join()
    assert process.exitcode == 0 and x.tolist() == [0, 1, 4, 6, 4, 5]


def answer(asked: Any, told: Any) -> None:
    while (got := asked.get()) is not None:
        for each in got:
            with tt.no_grad():
                each += 1
        told.put((got, [type(each).__name__ for each in got], [each.requires_grad for each in got]))
    asked.get()  # what it has sent is its own until it is received


def test_queues_share_memory_both_ways() -> None:
    asked, told = mp.Queue(), mp.Queue()
    process = mp.Process(target=answer, args=(asked, told), daemon=True)
    process.start()
    x = tt.zeros(3, 2)
    weight = nn.Parameter(tt.ones(2))
    weight.grad = tt.ones(2)
    asked.put([x, x[1], weight])
    (got, part, parameter), names, wanted = told.get(timeout=300)
    assert x.is_shared() and x.tolist() == [[1, 1], [2, 2], [1, 1]] and weight.tolist() == [2, 2]
    assert got.data_ptr() == x.data_ptr() == part.data_ptr() - 8  # it has come home
    assert part.storage_offset() == 2
    assert names == ["Tensor", "Tensor", "Parameter"] and wanted == [False, False, True]
    assert parameter.grad is None and parameter.is_leaf
    asked.put([x])
    again = told.get(timeout=300)[0][0]
    assert again.data_ptr() == x.data_ptr() and x[0, 0] == 2  # sent twice, it is one
    asked.put(None)
    asked.put(None)
    process.join()


SENDER = """
{imports}
import multiprocessing

def send(asked, told):
    if {named!r}:
        import tinytorch
        tinytorch.multiprocessing.Queue
    import tinytorch as tt
    x = tt.zeros(3)
    told.put(x)
    asked.get()
    told.put(x.tolist())
    try:
        multiprocessing.reduction.ForkingPickler.dumps(tt.ones(1, requires_grad=True) * 2)
        told.put("sent")
    except RuntimeError as error:
        told.put(str(error)[:18])
    asked.get()

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    asked, told = context.Queue(), context.Queue()
    process = context.Process(target=send, args=(asked, told), daemon=True)
    process.start()
    told.get(timeout=300).fill_(7)
    asked.put(None)
    print(told.get(timeout=300), told.get(timeout=300))
    asked.put(None)
    process.join()
"""


@pytest.mark.parametrize(
    ("method", "imports", "named"),
    [("spawn", "import tinytorch.multiprocessing as mp", False),
     ("forkserver", "import tinytorch", False), ("spawn", "import tinytorch", True),
     ("forkserver", "", False)],
)  # fmt: skip
def test_a_process_shares_whatever_it_has_named(
    tmp_path: Path, method: str, imports: str, named: bool
) -> None:
    script = tmp_path / "sender.py"
    script.write_text(SENDER.format(imports=imports, method=method, named=named))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "PYTHONPATH": search_path()},
    )  # fmt: skip
    assert done.stdout == "[7.0, 7.0, 7.0] Cowardly refusing \n", done.stderr


def echo(end: Any) -> None:
    x, storage = end.recv()
    x[0] = 5
    end.send(storage)
    end.recv()


def test_pipes_share_storages() -> None:
    here, there = mp.Pipe()
    process = mp.Process(target=echo, args=(there,), daemon=True)
    process.start()
    x = tt.zeros(2, dtype=tt.uint8)
    here.send((x, x.untyped_storage()))
    storage = here.recv()
    assert storage.tolist() == [5, 0] and storage.data_ptr() == x.data_ptr()
    here.send(None)
    process.join()


def squares(x: Any) -> Any:
    return x * x


def test_a_pool_maps_over_tensors() -> None:
    with mp.Pool(2) as pool:
        found = pool.map(squares, [tt.full((2,), float(i)) for i in range(4)])
    assert [each.tolist() for each in found] == [[i * i] * 2 for i in range(4)]


def test_results_of_recorded_operations_are_refused(lib: Any) -> None:
    from multiprocessing.reduction import ForkingPickler

    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        ForkingPickler.dumps(lib.ones(2, requires_grad=True) * 2)


def add_rank(rank: int, x: Any, total: int) -> None:
    x[rank] += rank + total


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_spawn_gives_arguments_without_a_copy(method: str) -> None:
    x = tt.zeros(3)
    if method == "fork":  # which sends nothing that could be moved on the way
        x.share_memory_()
    mp.start_processes(add_rank, (x, 10), nprocs=3, start_method=method)
    assert x.tolist() == [10, 11, 12]


def fail(rank: int) -> None:
    if rank == 1:
        raise ValueError("of rank 1")
    time.sleep(60)


def test_a_spawned_process_that_fails_ends_the_others() -> None:
    context = mp.spawn(fail, nprocs=2, join=False)
    with pytest.raises(mp.ProcessRaisedException, match="(?s)Process 1 terminated.*of rank 1") as e:
        while not context.join():
            pass
    again = pickle.loads(pickle.dumps(e.value))
    assert (again.error_index, again.error_pid, str(again)) == (1, e.value.error_pid, str(e.value))
    assert not any(process.is_alive() for process in context.processes)


def test_process_exceptions_survive_pickling(lib: Any) -> None:
    error = lib.multiprocessing.ProcessExitedException("gone", 0, 12, -9, "SIGKILL")
    again = pickle.loads(pickle.dumps(error))
    assert vars(again).get("exit_code", again.exit_code) == -9
    assert (again.error_index, again.error_pid, again.signal_name) == (0, 12, "SIGKILL")


def test_sharing_strategies_are_set_and_returned(lib: Any) -> None:
    strategies = lib.multiprocessing
    assert strategies.get_sharing_strategy() == "file_descriptor"
    for each in strategies.get_all_sharing_strategies():
        strategies.set_sharing_strategy(each)
        assert strategies.get_sharing_strategy() == each
    strategies.set_sharing_strategy("file_descriptor")
    for each in {"telepathy", "file_system"} - strategies.get_all_sharing_strategies():
        with pytest.raises(AssertionError, match=f"invalid sharing strategy '{each}'|{each}"):
            strategies.set_sharing_strategy(each)


def produce(told: Any, asked: Any, count: int) -> None:
    for i in range(count):
        told.put(tt.full((3,), float(i)))
    asked.get()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors in /proc")
def test_a_received_tensor_holds_one_descriptor() -> None:
    told, asked = mp.Queue(), mp.Queue()
    process = mp.Process(target=produce, args=(told, asked, 40), daemon=True)
    process.start()
    first = told.get(timeout=300)
    gc.collect()
    held = len(os.listdir("/proc/self/fd"))
    others = [told.get(timeout=300) for _ in range(39)]
    assert len(os.listdir("/proc/self/fd")) == held + 39
    assert [each[0].item() for each in [first, *others]] == list(range(40))
    asked.put(None)
    process.join()
    del first, others
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) < held


# -- programs ----------------------------------------------------------------------------------


def hogwild(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command, str(PROGRAM)], capture_output=True, text=True, timeout=300,
        check=False, env={**os.environ, "PYTHONPATH": search_path()},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pytorchs_hogwild_program_runs_under_tinytorch() -> None:
    """It trains, and leaves no shared memory."""
    before = segments("mpich")
    printed = dict(line.split(": ") for line in hogwild("-m", "tinytorch").splitlines())
    assert float(printed["loss after"]) < 0.5 * float(printed["loss before"])
    assert printed["steps"] == "128" and printed["workers moved it"] == "True"
    assert_none_left(before, "mpich")


@pytest.mark.torch
def test_hogwild_is_a_program_for_pytorch() -> None:
    printed = dict(line.split(": ") for line in hogwild().splitlines())
    assert float(printed["loss after"]) < 0.5 * float(printed["loss before"])


def parent_and_child(folder: Path) -> str:
    return f"""
import os, time
import tinytorch.multiprocessing as mp
from pathlib import Path

def wait(rank):
    Path({str(folder)!r}, str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    mp.spawn(wait, nprocs=2)
"""


@pytest.mark.parametrize("interrupt", [signal.SIG_DFL, signal.SIG_IGN])
def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path, interrupt: Any) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    script = tmp_path / "parent.py"
    script.write_text(parent_and_child(pids))
    environment = {**os.environ, "PYTHONPATH": search_path()}
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        env=environment, preexec_fn=lambda: signal.signal(signal.SIGINT, interrupt),
    )  # fmt: skip
    wait_until(lambda: len(list(pids.iterdir())) == 2, 60)
    children = [int(each.name) for each in pids.iterdir()]
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not any(map(is_running, children)))
