"""DataLoader: batches, order, workers and errors."""

from __future__ import annotations

import gc
import math
import os
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.processes import wait_until
from tinytorch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    SequentialSampler,
    TensorDataset,
    get_worker_info,
)

X = np.arange(40.0, dtype="f4").reshape(20, 2)
Y = np.arange(20)


class Squares(Dataset[int]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> int:
        return index * index


class Count(IterableDataset[int]):
    """Counts to 7, in a worker only its share."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        return iter(range(7) if info is None else range(info.id, 7, info.num_workers))


class Sized(Count):
    def __len__(self) -> int:
        return 3


#: On a small machine.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

THREADS: Any = {"multiprocessing_context": "thread"}
#: Workers as they come; the stand-in for a GPU's library, as that, does not survive a fork.
WORKERS: Any = {} if tt.get_backend() == "numpy" else THREADS


def lists(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


ORDERS: list[dict[str, Any]] = [
    {},
    {"batch_size": 3},
    {"batch_size": 3, "drop_last": True},
    {"batch_size": 3, "shuffle": True},
    {"batch_size": None, "shuffle": True},
]
ORDERS_OF_WORKERS: list[dict[str, Any]] = [
    {"batch_size": 4, "shuffle": True, "num_workers": 2},
    {"batch_size": 4, "shuffle": True, "num_workers": 2, "prefetch_factor": 1},
    {"batch_size": 4, "shuffle": True, "num_workers": 3, "persistent_workers": True},
]


def batches_and_what_comes_next(lib: Any, setting: dict[str, Any], own: bool) -> list[Any]:
    lib.manual_seed(11)
    generator = lib.Generator("cpu").manual_seed(3) if own else None
    dataset = lib.utils.data.TensorDataset(lib.tensor(X), lib.tensor(Y))
    loader = lib.utils.data.DataLoader(dataset, generator=generator, **setting)
    found = [len(loader)]
    for _ in range(3):
        found += [[(str(t.dtype)[-7:], t.tolist()) for t in batch] for batch in loader]
    # Both have drawn as many numbers, so what comes next is equal too.
    return [*found, lib.rand(3, generator=generator, device="cpu").tolist()]


@pytest.mark.parametrize("setting", ORDERS)
@pytest.mark.parametrize("own", [True, False])
def test_batches_and_random_numbers_match(torch: Any, setting: dict[str, Any], own: bool) -> None:
    ours, theirs = (batches_and_what_comes_next(lib, setting, own) for lib in (tt, torch))
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("setting", ORDERS_OF_WORKERS)
@pytest.mark.parametrize("own", [True, False])
def test_workers_batches_and_random_numbers_match(
    torch: Any, setting: dict[str, Any], own: bool
) -> None:
    ours, theirs = (batches_and_what_comes_next(lib, setting, own) for lib in (tt, torch))
    assert ours == theirs


def test_a_tensor_dataset_gives_what_its_rows_would() -> None:
    class Rows(TensorDataset):
        def __getitem__(self, index: Any) -> Any:
            return super().__getitem__(index)

    tensors = tt.tensor(X), tt.tensor(Y)
    fast = DataLoader(TensorDataset(*tensors), batch_size=6)
    slow = DataLoader(Rows(*tensors), batch_size=6)
    for a, b in zip(fast, slow, strict=True):
        assert type(a) is type(b) is list
        assert [(t.dtype, t.tolist()) for t in a] == [(t.dtype, t.tolist()) for t in b]


def test_a_batch_shares_no_memory_with_the_dataset() -> None:
    x = tt.tensor(X)
    (batch,) = next(iter(DataLoader(TensorDataset(x), batch_size=20)))
    batch.zero_()
    assert x[3].tolist() == [6.0, 7.0]


def test_a_loader_accepts_a_user_defined_dataset() -> None:
    loader = DataLoader(Squares(), batch_size=4)
    assert lists(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    assert len(loader) == 3
    assert lists(loader) == lists(loader)


def test_any_sequence_is_a_dataset() -> None:
    assert lists(DataLoader([3, 4, 5], batch_size=2)) == [[3, 4], [5]]  # type: ignore[arg-type]


def test_a_loader_accepts_a_user_defined_collate_function() -> None:
    assert list(DataLoader(Squares(), batch_size=5, collate_fn=sum)) == [30, 255]
    assert list(DataLoader(Squares(), batch_size=None))[:3] == [0, 1, 4]


def test_a_loader_accepts_user_defined_samplers() -> None:
    assert lists(DataLoader(Squares(), sampler=[3, 1], batch_size=2)) == [[9, 1]]
    loader = DataLoader(Squares(), batch_sampler=[[1, 2], [3]])
    assert lists(loader) == [[1, 4], [9]]
    assert loader.batch_size is None and loader.drop_last is False


def test_iterable_datasets_are_batched() -> None:
    assert lists(DataLoader(Count(), batch_size=3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert lists(DataLoader(Count(), batch_size=3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert list(DataLoader(Count(), batch_size=None)) == [*range(7)]


def test_the_length_of_a_loader_over_an_iterable_dataset_is_the_number_of_batches() -> None:
    with pytest.raises(TypeError, match="has no len"):
        len(DataLoader(Count()))
    assert len(DataLoader(Sized(), batch_size=2)) == 2
    assert len(DataLoader(Sized(), batch_size=2, drop_last=True)) == 1
    assert len(DataLoader(Sized(), batch_size=None)) == 3


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_longer_than_it_said_is_warned_of(workers: int) -> None:
    loader = DataLoader(Sized(), batch_size=1, num_workers=workers, **(WORKERS if workers else {}))
    assert len(loader) == 3
    with pytest.warns(UserWarning) as caught:
        assert len(list(loader)) == 7
    text = "was reported to be 3 (when accessing len(dataloader)), but {} samples have been fetched"
    assert len(caught) == 4
    assert all(text.format(4 + i) in str(w.message) for i, w in enumerate(caught))
    blamed = ["For multiprocessing data-loading, this could be" in str(w.message) for w in caught]
    assert blamed == [workers > 0] * 4


# -- workers -------------------------------------------------------------------------------


class Slow(Dataset[int]):
    """Early samples take longest, so that batches come out of order."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        time.sleep(0.002 * (8 - index))
        return index


def test_more_workers_than_processors_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5, 7}, raising=False)
    with pytest.warns(UserWarning, match="create 4 worker processes.* current system is 3, which"):
        DataLoader(Squares(), num_workers=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DataLoader(Squares(), num_workers=3)
        DataLoader(Squares(), num_workers=4, multiprocessing_context="thread")


def test_workers_keep_the_order() -> None:
    loader = DataLoader(Slow(), batch_size=2, num_workers=4, **WORKERS)
    assert lists(loader) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_workers_need_not_keep_the_order() -> None:
    batches = lists(DataLoader(Slow(), batch_size=1, num_workers=4, in_order=False, **WORKERS))
    assert sorted(batches) == [[i] for i in range(8)]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("batch_size", [None, 1, 2, 4])
def test_workers_share_a_stream_as_in_pytorch(
    torch: Any, workers: int, batch_size: int | None
) -> None:

    class Theirs(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[int]:
            info = torch.utils.data.get_worker_info()
            return iter(range(info.id, 7, info.num_workers))

    ours = DataLoader(Count(), batch_size=batch_size, num_workers=workers)
    theirs = torch.utils.data.DataLoader(Theirs(), batch_size=batch_size, num_workers=workers)
    assert [np.asarray(b).tolist() for b in ours] == [np.asarray(b).tolist() for b in theirs]


class Noise(Dataset[Any]):
    def __init__(self, lib: Any) -> None:
        self.lib = lib

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> Any:
        return self.lib.rand(2, device="cpu")


@pytest.mark.slow
def test_workers_draw_pytorchs_random_numbers(torch: Any) -> None:

    def run(lib: Any) -> list[Any]:
        lib.manual_seed(2)
        loader = lib.utils.data.DataLoader(Noise(lib), batch_size=3, num_workers=2)
        return [*lists(loader), lib.rand(2, device="cpu").tolist()]

    assert run(tt) == run(torch)


def test_get_worker_info_describes_the_worker() -> None:
    class Who(Dataset[Any]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, index: int) -> Any:
            info = get_worker_info()
            assert info is not None and info.dataset is self
            return info.id, info.num_workers, info.seed

    rows = list(DataLoader(Who(), num_workers=2, **WORKERS, collate_fn=lambda batch: batch[0]))
    assert [row[:2] for row in rows] == [(0, 2), (1, 2), (0, 2), (1, 2)]
    assert rows[1][2] == rows[0][2] + 1
    assert get_worker_info() is None


def test_worker_init_fn_runs_once_in_each_worker() -> None:
    seen: list[tuple[int, str]] = []

    def init(worker: int) -> None:
        seen.append((worker, threading.current_thread().name))

    list(DataLoader(Squares(), num_workers=2, worker_init_fn=init, **THREADS))
    assert sorted(seen) == [(0, "DataLoader worker 0"), (1, "DataLoader worker 1")]


class Marked(Squares):
    """Elements with the worker that made them, which a method of the dataset was told."""

    worker: int | None = None

    def mark(self, worker: int) -> None:
        self.worker = worker

    def __getitem__(self, index: int) -> Any:
        return self.worker, index


def test_workers_call_methods_of_their_copy(torch: Any) -> None:
    data, found = Marked(), []
    for loader in (DataLoader, torch.utils.data.DataLoader):
        rows = loader(data, None, num_workers=2, worker_init_fn=data.mark)
        found.append([tuple(row) for row in rows])
        assert data.worker is None
    assert found[0] == found[1] and {worker for worker, _ in found[0]} == {0, 1}


class Span(IterableDataset[int]):
    """The numbers of a range, which a worker may narrow down."""

    def __init__(self, start: int, stop: int) -> None:
        super().__init__()
        self.start, self.stop = start, stop

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, self.stop))


@pytest.mark.parametrize("passes", [1, 2])
def test_each_worker_takes_its_share_of_a_stream(passes: int) -> None:
    """As PyTorch's documentation of ``IterableDataset`` does it, by ``worker_init_fn``."""

    def init(worker: int) -> None:
        info = get_worker_info()
        assert info is not None
        first, last = info.dataset.start, info.dataset.stop
        share = math.ceil((last - first) / info.num_workers)
        info.dataset.start = first + worker * share
        info.dataset.stop = min(info.dataset.start + share, last)

    span = Span(3, 10)
    loader = DataLoader(
        span, None, num_workers=2, **WORKERS, worker_init_fn=init, persistent_workers=passes > 1
    )
    for _ in range(passes):
        assert list(loader) == [3, 7, 4, 8, 5, 9, 6]  # of one worker and the other in turn
    assert (span.start, span.stop) == (3, 10)


def alive() -> int:
    return sum(t.name.startswith("DataLoader worker") for t in threading.enumerate())


def wait_for_workers(count: int) -> None:
    def are_alive() -> bool:
        gc.collect()
        return alive() == count

    wait_until(are_alive)


def test_threads_end_with_their_pass() -> None:
    wait_for_workers(0)  # those of the tests before may still be ending
    iterator = iter(DataLoader(Squares(), num_workers=2, **THREADS))
    next(iterator)
    assert alive() == 2
    del iterator
    wait_for_workers(0)


def test_persistent_worker_threads_are_reused() -> None:
    wait_for_workers(0)
    loader = DataLoader(Squares(), batch_size=5, num_workers=2, persistent_workers=True, **THREADS)
    first = lists(loader)
    names = {t for t in threading.enumerate() if t.name.startswith("DataLoader worker")}
    assert lists(loader) == first
    iterator = iter(loader)
    next(iterator)
    # A pass that is given up leaves nothing behind for the next.
    assert lists(loader) == first
    assert names <= set(threading.enumerate())
    del loader, iterator
    wait_for_workers(0)


def test_persistent_workers_open_a_stream_anew() -> None:
    loader = DataLoader(Count(), batch_size=2, num_workers=2, persistent_workers=True, **WORKERS)
    assert lists(loader) == lists(loader) == [[0, 2], [1, 3], [4, 6], [5]]


def test_an_error_in_a_worker_is_raised_by_next_of_the_loader() -> None:
    class Broken(Squares):
        def __getitem__(self, index: int) -> int:
            if index == 1:
                raise KeyError("no such sample")
            return index

    iterator = iter(DataLoader(Broken(), num_workers=2, **WORKERS))
    assert next(iterator).tolist() == [0]
    with pytest.raises(KeyError, match="no such sample") as caught:
        next(iterator)
    assert str(caught.value).startswith(
        "Caught KeyError in DataLoader worker process 1.\n"
        "Original Traceback (most recent call last)"
    )
    assert "in __getitem__" in str(caught.value)
    assert next(iterator).tolist() == [2]


@pytest.mark.parametrize("error", [
    ValueError("bad"), IndexError(3, 4), RuntimeError(), UnicodeDecodeError("utf8", b"a", 0, 1, "x")
], ids=repr)  # fmt: skip
def test_workers_errors_are_as_in_pytorch(torch: Any, error: Exception) -> None:
    said = []
    for library in (tt, torch):

        class Broken(library.utils.data.Dataset):
            def __len__(self) -> int:
                return 2

            def __getitem__(self, index: int) -> int:
                raise error

        loader = library.utils.data.DataLoader(
            Broken(), num_workers=1, multiprocessing_context="fork"
        )
        with pytest.raises(Exception) as caught:
            next(iter(loader))
        lines = str(caught.value).splitlines()
        said.append((caught.type, lines[:2], lines[-1]))
    assert said[0] == said[1]


def test_an_error_in_worker_init_fn_is_raised() -> None:
    def init(worker: int) -> None:
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        next(iter(DataLoader(Squares(), num_workers=1, worker_init_fn=init, **WORKERS)))


def test_a_worker_that_exceeds_the_timeout_is_an_error() -> None:
    release = threading.Event()

    class Stuck(Squares):
        def __getitem__(self, index: int) -> int:
            release.wait(300)
            return index

    iterator = iter(DataLoader(Stuck(), num_workers=1, timeout=0.05, **THREADS))
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.05 seconds"):
        next(iterator)
    release.set()


def test_workers_run_on_the_backend_of_the_program() -> None:
    name = tt.get_backend()
    with tt.backend_context(name):
        (batch,) = DataLoader(Squares(), batch_size=10, num_workers=1, **WORKERS)
    assert batch.backend.name == name


# -- arguments --------------------------------------------------------------------------------

STREAM = "DataLoader with IterableDataset: expected unspecified {} option, but got {}="
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
    ({"prefetch_factor": -2, "num_workers": 1}, "prefetch_factor option should be non-negative"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"multiprocessing_context": "spawn"}, "multiprocessing_context can only be used with"),
    ({"multiprocessing_context": "x", "num_workers": 1}, "should specify a valid start method"),
    ({"multiprocessing_context": 3, "num_workers": 1}, "context object or a string specifying the"),
    ({"sampler": [1], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
    ({"batch_sampler": [[1]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
    ({"batch_sampler": [[1]], "shuffle": True}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "mutually exclusive with drop_last"),
    ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
    ({"batch_size": 2.5}, "batch_size should be a positive integer value"),
]


@pytest.mark.parametrize(("setting", "text"), WRONG)
def test_arguments_that_exclude_each_other_are_refused(setting: dict[str, Any], text: str) -> None:
    error = TypeError if setting.get("multiprocessing_context") == 3 else ValueError
    with pytest.raises(error) as caught:
        DataLoader(Squares(), **setting)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"), [("shuffle", True), ("sampler", [0]), ("batch_sampler", [[0]])]
)
def test_a_stream_takes_no_order(name: str, value: Any) -> None:
    with pytest.raises(ValueError) as caught:
        DataLoader(Count(), **{name: value})
    assert str(caught.value) == STREAM.format(name, name) + str(value)


def test_a_prefetch_factor_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="prefetch_factor must be greater than 0, got 0"):
        iter(DataLoader(Squares(), num_workers=1, prefetch_factor=0))


def test_an_empty_dataset_yields_no_batches() -> None:
    assert list(DataLoader([])) == []  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_samples should be a positive integer value"):
        DataLoader([], shuffle=True)  # type: ignore[arg-type]


def test_attributes_of_a_loader_cannot_be_replaced() -> None:
    loader = DataLoader(Squares())
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset"):
        with pytest.raises(ValueError, match="attribute should not be set after DataLoader"):
            setattr(loader, name, 1)
    loader.num_workers = 2
    assert isinstance(loader.sampler, SequentialSampler)
