"""DataLoader's workers as processes: what they know, what they send, and what they leave behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from tests.fresh import program, run, search_path
from tests.processes import is_running, wait_until
from tests.shared_memory import assert_none_left, segments
from tinytorch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
from tinytorch.utils.data._workers import stop_abandoned_workers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked"),
    # PyTorch's own, about what a machine can run.
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]

METHODS = ["fork", "spawn", "forkserver"]
Pair = namedtuple("Pair", "first second")


class Numbers(Dataset[Any]):
    """What each of the usual generators draws, and what is known of the worker."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch.__name__

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        torch = sys.modules[self.torch]
        info = torch.utils.data.get_worker_info()
        drawn = torch.rand(2, device="cpu").tolist(), np.random.rand(2).tolist(), random.random()
        return (*drawn, info.id, info.seed, torch.initial_seed())


@pytest.mark.parametrize("persistent", [False, True])
def test_every_generator_is_seeded_as_pytorchs(torch: Any, persistent: bool) -> None:
    found = []
    for library in (tt, torch):
        library.manual_seed(5)
        np.random.seed(1)
        random.seed(1)
        loader = library.utils.data.DataLoader(
            Numbers(library), 2, shuffle=True, num_workers=2, collate_fn=list,
            persistent_workers=persistent,
        )  # fmt: skip
        rows = [list(loader), list(loader)]
        # The program's own streams are where they were.
        found.append([rows, np.random.rand(), random.random(), library.rand(1).tolist()])
    assert found[0] == found[1]


class Drawn(Dataset[int]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        return int(np.random.randint(10**6))


def seed_numpy(worker: int) -> None:
    np.random.seed(tt.initial_seed() % 2**32)


def test_numpys_generator_is_the_workers_own() -> None:
    """As PyTorch's notes on reproducibility tell to seed it."""
    before = np.random.get_state()[1].tolist()
    rows = []
    for _ in range(2):
        tt.manual_seed(0)
        loader = DataLoader(Drawn(), num_workers=2, worker_init_fn=seed_numpy)
        rows.append([batch.item() for batch in loader])
    assert rows[0] == rows[1] and len(set(rows[0])) > 1
    assert np.random.get_state()[1].tolist() == before


class Kinds(Dataset[Any]):
    """A sample of whatever a batch may be."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        large = tt.arange(3000, dtype=tt.float32).reshape(3, 1000).mT + index
        return {
            "large": large, "part": large[2:4], "none": None, "word": "word",
            "numbers": np.full((2, 3000), index, "i2"), "small": tt.tensor(index),
            "pair": Pair(tt.zeros(0), [np.float32(index), 2.5]),
            "leaf": tt.ones(2, requires_grad=True),
        }  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_batches_arrive_as_they_are_made(method: str) -> None:
    got = list(DataLoader(Kinds(), None, num_workers=2, multiprocessing_context=method))
    for index, (sample, meant) in enumerate(zip(got, map(Kinds().__getitem__, range(3)))):
        for name in ("large", "part", "small", "leaf"):
            assert sample[name].equal(meant[name]) and sample[name].dtype == meant[name].dtype
        assert sample["large"].stride() == (1, 1000) and sample["leaf"].requires_grad
        assert (sample["none"], sample["word"]) == (None, "word")
        assert sample["numbers"].equal(tt.as_tensor(meant["numbers"]))
        assert type(sample["pair"]) is Pair and sample["pair"].second == [index, 2.5]
        sample["large"] += 1  # a batch is the program's own
        assert not sample["large"].equal(meant["large"])


class Rows(Dataset[Any]):
    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        return self.rows[index]


def test_tensors_in_shared_memory_are_not_copied() -> None:
    rows = tt.zeros(4, 3).share_memory_()
    for got in list(DataLoader(Rows(rows), None, num_workers=1)):
        assert got.is_shared()
        got += 1
    assert rows.equal(tt.ones(4, 3))


def test_large_batches_lie_in_shared_memory_and_are_not_pickled() -> None:
    batches = list(DataLoader(Rows(tt.zeros(4, 50_000)), 2, num_workers=2))
    assert all(batch.is_shared() for batch in batches)


def test_a_program_may_keep_more_batches_than_it_has_descriptors() -> None:
    def body() -> None:
        import resource

        import tinytorch as tt
        from tinytorch.utils.data import DataLoader, TensorDataset

        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        data = TensorDataset(tt.arange(400 * 2000).reshape(400, 2000))
        kept = list(DataLoader(data, 2, num_workers=2))
        print(len(kept), all(each[0][0, 0] == 4000 * i for i, each in enumerate(kept)))

    assert run(body) == "200 True"


def test_workers_have_the_programs_grad_mode_and_dtype() -> None:
    with tt.no_grad():
        loader = DataLoader(Modes(), None, num_workers=1, multiprocessing_context="spawn")
        (row,) = loader
    assert row == [False, "tinytorch.float32", 1]


class Modes(Dataset[Any]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        return tt.is_grad_enabled(), str(tt.get_default_dtype()), tt.get_num_threads()


class Counting(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        return iter(range(info.id, 7, info.num_workers))


@pytest.mark.parametrize("method", METHODS)
def test_worker_processes_share_an_iterable_dataset_in_every_pass(method: str) -> None:
    loader = DataLoader(
        Counting(), 2, num_workers=2, persistent_workers=True, multiprocessing_context=method
    )
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == [[0, 2], [1, 3], [4, 6], [5]]
    next(iter(loader))  # a pass that is given up leaves nothing for the next
    assert [batch.tolist() for batch in loader] == [[0, 2], [1, 3], [4, 6], [5]]


class Uneven(Dataset[int]):
    """The first sample is not ready before the second one, which another worker loads."""

    def __init__(self) -> None:
        self.second = multiprocessing.Event()

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        if index == 1:
            self.second.set()
        if index == 0:
            assert self.second.wait(300)
        return index


class Late(Dataset[int]):
    """The first sample is not ready before the loop has got another one."""

    def __init__(self) -> None:
        self.others = multiprocessing.Semaphore(0)

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        if index == 0:
            # The other worker is given a third sample when the loop has received its first one.
            for _ in range(3):
                assert self.others.acquire(timeout=300)
        else:
            self.others.release()
        return index


def test_batches_of_worker_processes_keep_their_order() -> None:
    assert [each.item() for each in DataLoader(Uneven(), num_workers=2)] == list(range(6))


def test_order_is_not_kept_if_it_need_not_be() -> None:
    kept = list(range(6))
    loose = [each.item() for each in DataLoader(Late(), num_workers=2, in_order=False)]
    assert sorted(loose) == kept and loose[0] != 0


class Lengths(IterableDataset[int]):
    """The first worker's stream ends at once."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        return iter(range(0 if info.id == 0 else 5))


@pytest.mark.parametrize("in_order", [True, False])
def test_iterable_datasets_of_different_lengths_are_batched_as_by_pytorch(
    torch: Any, in_order: bool
) -> None:
    found = []
    for library in (tt, torch):
        stream: Any = Lengths()
        if library is torch:
            stream = type("Theirs", (torch.utils.data.IterableDataset,), {"__iter__": theirs})()
        loader = library.utils.data.DataLoader(
            stream, None, num_workers=3, prefetch_factor=1, in_order=in_order
        )
        found.append(sorted(loader) if not in_order else list(loader))
    assert found[0] == found[1] and len(found[0]) == 10


def theirs(self: Any) -> Iterator[int]:
    worker = sys.modules["torch"].utils.data.get_worker_info().id
    return iter(range(0 if worker == 0 else 5))


def test_a_batch_may_have_more_tensors_than_a_message_has_descriptors() -> None:
    (found,) = DataLoader(Many(), None, num_workers=1)
    assert [each[0].item() for each in found] == [*range(150), *range(300)]
    assert all(each.is_shared() for each in found[-300:])


class Many(Dataset[Any]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        own = [tt.full((2000,), i) for i in range(150)]
        return own + [tt.full((2,), i).share_memory_() for i in range(300)]


# -- what goes wrong ---------------------------------------------------------------------------


class Failing(Dataset[Any]):
    def __init__(self, how: str) -> None:
        self.how = how

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        if index == 1 and self.how == "raise":
            raise KeyError("no such sample")
        if index == 1 and self.how == "unknown":

            class Local(Exception):
                pass

            raise Local("of this function")
        if index == 1 and self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if index == 1 and self.how == "leave":
            os._exit(3)
        if index == 1 and self.how == "wait":
            time.sleep(600)
        if index == 1 and self.how == "function":
            return lambda: index
        if index == 1 and self.how == "graph":
            return tt.ones(2, requires_grad=True) * 2
        return index


@pytest.mark.parametrize("method", METHODS)
def test_an_error_has_its_type_and_its_traceback(method: str) -> None:
    iterator = iter(DataLoader(Failing("raise"), num_workers=2, multiprocessing_context=method))
    assert next(iterator).item() == 0
    with pytest.raises(KeyError, match="(?s)^Caught KeyError in DataLoader worker process 1.*"
                       "Original Traceback .*in __getitem__.*no such sample"):  # fmt: skip
        next(iterator)
    assert [each.item() for each in iterator] == [2, 3]


@pytest.mark.parametrize(("how", "kind", "text"), [
    ("unknown", RuntimeError, "Caught Local in DataLoader worker process 1.*of this function"),
    ("function", Exception, "in DataLoader worker process 1.*[Cc]an't (get|pickle) local object"),
    ("graph", RuntimeError, "Cowardly refusing to serialize non-leaf tensor"),
])  # fmt: skip
def test_a_batch_that_cannot_be_pickled_is_an_error(how: str, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=f"(?s){text}"):
        list(DataLoader(Failing(how), None, num_workers=2))


@pytest.mark.parametrize(("how", "text"), [
    ("kill", "killed by signal SIGKILL"), ("leave", "with exit code 3"),
])  # fmt: skip
def test_a_worker_that_dies_is_an_error(how: str, text: str) -> None:
    before = set(multiprocessing.active_children())
    iterator = iter(DataLoader(Failing(how), num_workers=2))
    for _ in range(2):  # also when the program goes on
        with pytest.raises(
            RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexp"
        ) as e:
            list(iterator)
        assert text in str(e.value)
    assert set(multiprocessing.active_children()) <= before


def test_workers_whose_exit_code_is_lost_count_as_ended() -> None:
    """Ctrl-C between ``waitpid`` and the assignment of its result loses the exit code."""
    loader = DataLoader(range(8), num_workers=2, multiprocessing_context="fork")  # type: ignore[arg-type]
    iterator: Any = iter(loader)
    assert next(iterator).tolist() == [0]
    workers = iterator.workers
    processes = list(workers.processes)
    for process in processes:
        os.kill(process.pid, signal.SIGKILL)
        os.waitpid(process.pid, 0)  # multiprocessing now takes it for a running one
        assert process.is_alive()
    began = time.monotonic()
    workers.stop()
    assert workers.is_stopped and not workers.processes
    assert time.monotonic() - began < 5, "it waited for processes that have ended"


def test_a_worker_that_takes_too_long_is_an_error() -> None:
    before = set(multiprocessing.active_children())
    loader = DataLoader(Failing("wait"), sampler=[1], num_workers=1, timeout=0.2)
    iterator = iter(loader)
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.2 seconds"):
        next(iterator)
    for child in set(multiprocessing.active_children()) - before:
        child.kill()


def test_a_gpu_does_not_survive_a_fork() -> None:
    with pretended_cuda(), tt.backend_context("cupy"):
        loader = DataLoader(range(6), 6, num_workers=1, multiprocessing_context="fork")
        with pytest.raises(tt.BackendUnavailableError, match="set_start_method.'spawn'"):
            list(loader)


def test_a_dataset_that_cannot_be_sent_is_an_error() -> None:
    before = set(multiprocessing.active_children())
    data: Any = Rows([lambda: 0])
    with pytest.raises(Exception, match="(get|pickle) local object"):
        iter(DataLoader(data, num_workers=2, multiprocessing_context="spawn"))
    assert set(multiprocessing.active_children()) <= before


# -- what is left behind -----------------------------------------------------------------------


def children_of(parent: int) -> list[int]:
    """The processes that a process has started, by what the system lists."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return [int(each) for each in listed.stdout.split()]


def descriptors() -> int:
    """Return how many are open once the program has used a loader again."""
    stop_abandoned_workers()
    return len(os.listdir("/proc/self/fd"))


LINUX = pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="lists what Linux lists")


@LINUX
def test_a_dropped_iterator_leaves_nothing() -> None:
    gc.collect()
    others = set(multiprocessing.active_children())
    before, held = segments("mpich"), descriptors()
    iterator = iter(DataLoader(Rows(tt.zeros(4, 5000)), num_workers=2))
    batch = next(iterator)
    workers = set(multiprocessing.active_children()) - others
    assert len(workers) == 2
    assert_none_left(before, "mpich")
    del iterator, batch
    gc.collect()
    for each in workers:  # which end by themselves
        each.join(300)
        assert each.exitcode == 0
    workers.clear()
    del each
    assert_none_left(before, "mpich")
    assert descriptors() == held


@LINUX
def test_a_pass_leaves_nothing() -> None:
    gc.collect()
    others = set(multiprocessing.active_children())
    before, held = segments("mpich"), descriptors()
    for _ in DataLoader(Rows(tt.zeros(4, 5000)), num_workers=2):
        assert_none_left(before, "mpich")
    assert set(multiprocessing.active_children()) <= others
    del _
    gc.collect()
    assert descriptors() == held


def training(stage: str) -> None:
    """A program that is ended while it loads."""
    import signal
    import sys
    import time

    import tinytorch as tt
    from tinytorch.utils.data import DataLoader, Dataset

    class Slow(Dataset[tt.Tensor]):
        def __len__(self) -> int:
            return 1000

        def __getitem__(self, index: int) -> tt.Tensor:
            time.sleep(0.01 if stage != "busy" or index < 2 else 60)
            return tt.zeros(5000)

    # What runs in the background of a shell is told to ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    loader = DataLoader(Slow(), num_workers=2, multiprocessing_context="fork")
    for i, _ in enumerate(loader):
        if i == 1:
            print("ready", flush=True)
            if stage == "exit":
                sys.exit(0)
            if stage == "busy":
                time.sleep(60)


@LINUX
@pytest.mark.parametrize(("stage", "number", "code"), [
    ("load", signal.SIGINT, 1), ("load", signal.SIGKILL, -9), ("busy", signal.SIGKILL, -9),
    ("exit", None, 0),
])  # fmt: skip
def test_a_program_that_ends_leaves_nothing(stage: str, number: Any, code: int) -> None:
    before = segments("mpich")
    environment = {**os.environ, "PYTHONPATH": search_path()}
    started = subprocess.Popen(
        [sys.executable, "-c", program(training, stage)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert started.stdout is not None and started.stdout.readline() == b"ready\n"
    workers = children_of(started.pid)
    if number is signal.SIGINT:
        os.killpg(started.pid, number)  # as a terminal does
    elif number is not None:
        started.send_signal(number)
    _, said = started.communicate(timeout=300)
    if number is signal.SIGINT:
        assert said.count(b"KeyboardInterrupt") == 1 and started.returncode in (1, 130, -2)
    else:
        assert (started.returncode, said) == (code, b"")
    wait_until(lambda: not any(map(is_running, workers)))
    assert number is None or len(workers) == 2
    assert_none_left(before, "mpich")


def test_without_processes_the_loader_makes_batches_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    loader = DataLoader(range(6), 3, num_workers=2)
    with pytest.warns(UserWarning, match="there are no processes here") as said:
        assert [each.tolist() for each in [*loader, *loader]] == 2 * [[0, 1, 2], [3, 4, 5]]
    assert len(said) == 1
