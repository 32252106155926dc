"""Threads on different backends, devices and streams at the same time.

``together`` runs each worker in a thread of its own and holds them at the same points, so that
they do interleave; the stand-in pretends two GPUs and refuses a kernel on the wrong one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from strictcupy.backend import PretendedCuda, pretended_cuda
from strictcupy.cuda import hooks as cuda_hooks

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.backends import load

Meet = Callable[[], object]


@pytest.fixture(autouse=True)
def cuda() -> Iterator[PretendedCuda]:
    with pretended_cuda(2) as backend:
        yield backend


def together(*workers: Callable[[Meet], Any]) -> list[Any]:
    """Run workers at once; each is given a function that waits until all have called it."""
    barrier = threading.Barrier(len(workers), timeout=300)

    def run(worker: Callable[[Meet], Any]) -> Any:
        try:
            return worker(barrier.wait)
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(len(workers)) as pool:
        return [future.result() for future in [pool.submit(run, worker) for worker in workers]]


def train(meet: Meet, where: str | None = None) -> list[float]:
    """Losses of a few steps on the active backend, or on a device."""
    tt.manual_seed(0)
    generator = tt.Generator("cpu").manual_seed(1)
    data = tt.rand(8, 3, generator=generator, backend="numpy")
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
    for i, p in enumerate(model.parameters()):
        values = tt.linspace(-1, 1, p.numel(), backend="numpy").reshape(p.shape)
        p.data = values.to(p.device) * (i + 1)
    if where is not None:
        model.to(where)
    x = data.to(next(model.parameters()).device)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = (model(x) - 1).square().mean()
        meet()
        loss.backward()
        meet()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_two_threads_use_numpy_and_cuda_at_once() -> None:
    def on_numpy(meet: Meet) -> Any:
        tt.set_backend("numpy")
        return train(meet), tt.get_backend()

    def on_cuda(meet: Meet) -> Any:
        tt.set_backend("cupy")
        tt.cuda.set_device(1)
        return train(meet), tt.get_backend(), tt.cuda.current_device(), tt.zeros(1).device

    (first, name), (second, *found) = together(on_numpy, on_cuda)
    assert name == "numpy"
    assert found == ["cupy", 1, tt.device("cuda:1")]
    assert first == pytest.approx(second, rel=1e-5)
    assert len(set(first)) == 5


def test_two_threads_use_two_devices_at_once() -> None:
    losses = together(*[lambda meet, n=n: train(meet, f"cuda:{n}") for n in (0, 1, 0, 1)])
    assert all(found == pytest.approx(losses[0]) for found in losses)


def test_the_current_device_is_of_the_thread() -> None:
    def choose(meet: Meet, number: int) -> tuple[int, tt.device]:
        before = tt.cuda.current_device()
        tt.cuda.set_device(number)
        meet()
        found = tt.cuda.current_device(), tt.zeros(1, device="cuda").device
        meet()
        assert before == 0, "a new thread begins on device 0"
        return found

    found = together(lambda meet: choose(meet, 0), lambda meet: choose(meet, 1))
    assert found == [(0, tt.device("cuda:0")), (1, tt.device("cuda:1"))]
    assert tt.cuda.current_device() == 0


def test_the_peak_is_counted_in_every_thread_that_asks_for_it() -> None:
    def hooks(meet: Meet) -> list[Any]:
        meet()
        for _ in range(2):
            tt.cuda.reset_peak_memory_stats()
        return list(cuda_hooks.by_name.values())

    (first,), (second,) = together(hooks, hooks)
    assert first is second


def test_the_current_stream_is_of_the_thread() -> None:
    shared = tt.cuda.Stream("cuda:1")

    def inside(meet: Meet) -> tuple[Any, Any, Any]:
        with tt.cuda.stream(shared):
            meet()
            found = tt.cuda.current_stream(), tt.cuda.current_device()
            meet()
        return *found, tt.cuda.current_stream("cuda:1")

    def outside(meet: Meet) -> tuple[Any, Any]:
        meet()
        found = tt.cuda.current_stream("cuda:1"), tt.cuda.current_stream()
        meet()
        return found

    (stream, number, after), others = together(inside, outside)
    assert (stream, number) == (shared, 1)
    assert after == tt.cuda.default_stream(1) != shared
    assert others == (tt.cuda.default_stream("cuda:1"), tt.cuda.default_stream("cuda:0"))


class TestStreams:
    def test_leaving_a_stream_restores_the_stream_of_its_device(self) -> None:
        first, second = tt.cuda.Stream(0), tt.cuda.Stream(1)
        assert (first.device, second.device) == (tt.device("cuda:0"), tt.device("cuda:1"))
        with tt.cuda.stream(second):
            with tt.cuda.stream(first):
                assert tt.cuda.current_stream() == first
                assert tt.cuda.current_stream(1) == second
                tt.ones(2, device="cuda:1").exp()  # leaves the other device current
            assert tt.cuda.current_stream() == second
            assert tt.cuda.current_stream(0) == tt.cuda.default_stream(0)
            tt.ones(2, device="cuda:0").exp()
        assert tt.cuda.current_stream(1) == tt.cuda.default_stream(1)
        assert tt.cuda.current_stream() == tt.cuda.default_stream(0)
        assert tt.cuda.current_device() == 0

    def test_streams_are_of_cuda_under_any_name_of_the_device(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # As where the whole suite runs on a GPU, which is then the device "cpu".
        monkeypatch.setattr(load("cupy").at(1), "device_type", "cpu")
        stream = tt.cuda.current_stream(1)
        assert stream.device == tt.device("cuda:1")
        tt.cuda.set_stream(stream)
        assert tt.cuda.current_device() == 1
        tt.cuda.set_device(0)

    def test_a_stream_is_left_after_an_error(self) -> None:
        with pytest.raises(ZeroDivisionError), tt.cuda.stream(tt.cuda.Stream(1)):
            raise ZeroDivisionError
        assert tt.cuda.current_stream(1) == tt.cuda.default_stream(1)
        assert tt.cuda.current_device() == 0

    def test_a_stream_of_none_changes_nothing(self) -> None:
        with tt.cuda.stream(None):
            assert tt.cuda.current_stream() == tt.cuda.default_stream()

    def test_set_stream_sets_the_current_stream(self) -> None:
        stream = tt.cuda.Stream(1)
        try:
            tt.cuda.set_stream(stream)
            assert tt.cuda.current_stream() == stream
        finally:
            tt.cuda.set_stream(tt.cuda.default_stream(1))

    def test_streams_of_two_devices_wait_for_each_other(self) -> None:
        first, second = tt.cuda.Stream(0), tt.cuda.Stream(1)
        second.wait_stream(first)
        event = first.record_event()
        second.wait_event(event)
        event.wait(second)
        assert event.query()
        with pytest.raises(ValueError, match="enable_timing"):
            event.elapsed_time(second.record_event())

    def test_events_belong_to_the_device_they_are_recorded_on(self) -> None:
        start, end = tt.cuda.Event(enable_timing=True), tt.cuda.Event(enable_timing=True)
        with pytest.raises(ValueError, match="recorded"):
            start.elapsed_time(end)
        tt.zeros(1, device="cuda:0")
        with tt.cuda.device(1):
            start.record()
            tt.zeros(1, device="cuda:0")
            end.record()
        assert start.elapsed_time(end) >= 0


class TestTransfersBetweenThreads:
    def test_a_tensor_made_in_one_thread_is_usable_in_another(self) -> None:
        box: dict[str, tt.Tensor] = {}

        def produce(meet: Meet) -> None:
            tt.set_backend("numpy")
            box["host"] = tt.arange(4.0)
            meet()
            meet()

        def consume(meet: Meet) -> list[float]:
            tt.set_backend("cupy")
            tt.cuda.set_device(1)
            meet()
            x = box["host"].to("cuda")
            assert x.device == tt.device("cuda:1")
            meet()
            return (x * x).cpu().tolist()  # type: ignore[no-any-return]

        assert together(produce, consume)[1] == [0, 1, 4, 9]

    def test_many_threads_move_tensors_at_once(self) -> None:
        def move(meet: Meet, number: int) -> bool:
            x = tt.full((64,), float(number), backend="numpy")
            meet()
            for i in range(30):
                there = x.to(f"cuda:{(number + i) % 2}")
                back = (there + 1).to(f"cuda:{number % 2}").cpu()
                if not tt.equal(back, x + 1):
                    return False
            return True

        assert together(*[lambda meet, n=n: move(meet, n) for n in range(4)]) == [True] * 4

    def test_backward_runs_on_the_device_of_the_graph(self) -> None:
        """Forward in one thread, backward in another that is on another backend and device."""
        x = tt.arange(3.0, device="cuda:1").requires_grad_()
        loss = (x.square().to("cuda:0") * 2).sum() + x.exp().cpu().sum()

        def backward(meet: Meet) -> None:
            tt.set_backend("numpy")
            tt.cuda.set_device(0)
            with tt.cuda.stream(tt.cuda.Stream(0)):
                loss.backward()
            assert tt.get_backend() == "numpy"
            assert tt.cuda.current_device() == 0

        together(backward)
        assert x.grad.device == tt.device("cuda:1")
        assert x.grad.tolist() == pytest.approx([4 * v + math.exp(v) for v in range(3)])

    def test_several_backwards_at_once_over_one_leaf_each(self) -> None:
        def differentiate(meet: Meet, number: int) -> list[float]:
            x = tt.ones(3, device=f"cuda:{number % 2}", requires_grad=True)
            y = (x * (number + 1)).square().sum().to("cpu")
            meet()
            y.backward()
            return x.grad.tolist()  # type: ignore[no-any-return]

        found = together(*[lambda meet, n=n: differentiate(meet, n) for n in range(4)])
        assert found == [[2.0 * (n + 1) ** 2] * 3 for n in range(4)]
