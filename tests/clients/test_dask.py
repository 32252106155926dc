"""Dask: tensors as arguments and results of tasks, and workers with backends of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import search_path
from tinytorch.backends.numpy import NumpyBackend

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
serialize = pytest.importorskip("distributed.protocol.serialize")

pytestmark = [
    pytest.mark.slow,  # a cluster starts
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Dask's own
    pytest.mark.filterwarnings("ignore:.*unclosed.*:ResourceWarning"),  # of its event loop
]


# -- alone -------------------------------------------------------------------------------------


def test_tokens_differ_where_the_values_of_tensors_differ() -> None:
    x = tt.arange(6.0)
    token = dask.tokenize.tokenize
    assert token(x) == token(tt.arange(6.0)) == token(x.clone())
    others = [x + 1, x.to(tt.float64), x.reshape(2, 3), x.clone().requires_grad_(), x.numpy()]
    tokens = {token(each) for each in (x, *others, tt.nn.Parameter(x))}
    assert len(tokens) == len(others) + 2


def test_sizes_are_the_numbers_of_bytes() -> None:
    x = tt.zeros(1000, 1000)
    assert 4_000_000 <= dask.sizeof.sizeof(x) < 4_001_000
    assert dask.sizeof.sizeof(x[0]) < 5000


def test_frames_are_the_memory_itself() -> None:
    x = tt.arange(10_000.0).reshape(100, 100).requires_grad_()
    header, frames = serialize.serialize(x)
    assert header["serializer"] == "dask"
    assert len(frames) == 1 and len(header["sub-header"]["pickle"]) < 1000
    there = np.frombuffer(frames[0], "f4")
    assert np.shares_memory(there, x.detach().numpy())
    again = serialize.deserialize(header, frames)
    assert again.equal(x) and again.requires_grad and again.is_leaf


def test_a_part_goes_without_the_rest_and_may_be_changed() -> None:
    x = tt.arange(1_000_000.0)
    header, frames = serialize.serialize(x[10:2000])
    assert sum(memoryview(each).nbytes for each in frames) == 4 * 1990
    again = serialize.deserialize(header, [bytes(each) for each in frames])
    again += 1
    assert again.equal(x[11:2001])


def test_parameters_keep_their_class() -> None:
    weight = tt.nn.Parameter(tt.ones(2000))
    again = serialize.deserialize(*serialize.serialize(weight))
    assert type(again) is tt.nn.Parameter and again.requires_grad


# -- on a cluster ------------------------------------------------------------------------------


class Marked(NumpyBackend):
    name = "marked"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    settings = {
        "distributed.nanny.pre-spawn-environ.PYTHONPATH": search_path(),
        "distributed.comm.timeouts.connect": "60s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def add(x: Any, y: Any) -> Any:
    return x + y


def test_tensors_travel_between_workers(client: Any) -> None:
    first, second = client.scheduler_info()["workers"]
    x = client.submit(tt.arange, 5000.0, workers=[first])
    y = client.submit(add, x, 1, workers=[second])  # which gets it from the other one
    found = client.submit(add, y, tt.ones(5000), workers=[first]).result()
    assert found.equal(tt.arange(5000.0) + 2)


def loss(weight: Any, x: Any) -> Any:
    value = (x @ weight).square().mean()
    value.backward()
    return weight.grad


def test_gradients_computed_on_workers_are_returned(client: Any) -> None:
    weight = tt.randn(3).requires_grad_()
    parts = [tt.randn(4, 3) for _ in range(3)]
    found = client.gather([client.submit(loss, weight, part) for part in parts])
    for grad, part in zip(found, parts, strict=True):
        assert tt.allclose(grad, 2 / 4 * part.mT @ (part @ weight.detach()))


def test_a_function_runs_on_a_worker_in_the_programs_state(client: Any) -> None:
    with tt.no_grad():
        asked = client.submit(tt.propagate(tt.is_grad_enabled), pure=False)
        assert asked.result() is False
    assert client.submit(tt.is_grad_enabled, pure=False).result() is True


def test_each_worker_has_its_backend(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tinytorch.compat.dask_worker import WorkerState

    monkeypatch.setattr(tt.backends, "_registry", dict(tt.backends._registry))
    tt.register_backend("marked", Marked())
    tt.set_default_dtype(tt.float64)
    try:
        client.register_plugin(WorkerState({1: "marked"}))
    finally:
        tt.set_default_dtype(tt.float32)
    names = {info["id"]: place for place, info in client.scheduler_info()["workers"].items()}
    asked = {
        name: client.submit(describe, workers=[place], pure=False).result()
        for name, place in names.items()
    }
    assert asked == {
        0: ("numpy", "tinytorch.float64"),
        1: ("marked", "tinytorch.float64"),
    }
    # A tensor of a backend comes home to it.
    made = client.submit(tt.ones, 3, workers=[names[1]], pure=False).result()
    assert made.backend.name == "marked" and made.tolist() == [1, 1, 1]


def describe() -> tuple[str, str]:
    return tt.ones(1).backend.name, str(tt.ones(1).dtype)


def test_without_dask_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "tinytorch.compat.dask_worker", raising=False)
    with pytest.raises(ImportError, match=r'pip install "dask\[distributed\]"'):
        import tinytorch.compat.dask_worker  # noqa: F401
