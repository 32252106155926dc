"""Compiled functions on CuPy: kernels and calls of CuPy's, equal to eager code on CuPy.

They run on the strict stand-in for CuPy, and their kernels on the host, thread by thread.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import strictcupy
from strictcupy.backend import pretended_cuda

import tinytorch
from tests.capture.cuda_host import make_module
from tests.capture.test_guards import breaks, no_warnings, recordings
from tests.capture.training_steps import STEPS, make_mlp, train
from tinytorch import nn, optim
from tinytorch.capture import c_compiler, cuda_graph
from tinytorch.nn import functional as F

tt: Any = tinytorch
pytestmark = pytest.mark.skipif(
    c_compiler.find_compiler() is None, reason="there is no C compiler to run kernels on the host"
)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A backend with a GPU's manners, active, whose kernels are compiled for the host."""
    monkeypatch.setenv("TINYTORCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(strictcupy, "RawModule", make_module, raising=False)
    with pretended_cuda(1) as backend, tt.backend_context(backend):
        tt.manual_seed(0)
        yield backend


def compare_steps(make: Callable[[], Any], tolerance: float, count: int = 6) -> Any:
    """Compare compiled steps with eager ones, and what they change; return the compiled step."""
    found = []
    for is_compiled in (False, True):
        tt.manual_seed(0)
        step, state = make()
        step = tt.compile(step, fullgraph=True) if is_compiled else step
        with no_warnings():
            results = [each.detach().cpu().numpy() for _ in range(count) for each in step()]
        found.append([*results, *[each.detach().cpu().numpy() for each in state]])
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, tolerance, tolerance)
    return step


def waits(function: Callable[[], Any]) -> list[str]:
    """What makes the host wait in a call of a function."""
    with strictcupy.record_syncs() as log:
        function()
    return [f"{entry.kind} at {entry.where}" for entry in log if entry.kind != "upload"]


# -- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [tt.float64, tt.float32], ids=str)
@pytest.mark.parametrize("make", STEPS, ids=lambda f: f.__name__)
def test_steps_are_those_of_eager_code(make: Callable[[], Any], dtype: Any, gpu: Any) -> None:
    with tt.default_dtype_context(dtype):
        step = compare_steps(make, 1e-9 if dtype is tt.float64 else 2e-3)
        assert recordings(step) == 1
        assert not waits(step)


@pytest.mark.parametrize("make_optimizer", [
    lambda p: optim.SGD(p, 0.05, momentum=0.9, dampening=0.1), optim.Adam,
    lambda p: optim.Adam(p, amsgrad=True, maximize=True), optim.AdamW, optim.NAdam, optim.RAdam,
    optim.Adagrad, optim.Adamax, optim.Adadelta, lambda p: optim.Rprop(p, 0.01),
    lambda p: optim.ASGD(p, 0.05, t0=2), optim.Adafactor,
])  # fmt: skip
def test_every_optimizer_takes_the_steps_that_it_takes_eagerly(
    make_optimizer: Any, gpu: Any
) -> None:
    def make() -> Any:
        net, x = nn.Linear(3, 2), tt.randn(5, 3)
        return train(net, lambda: net(x).square().sum(), make_optimizer(net.parameters()))

    with tt.default_dtype_context(tt.float64):
        step = compare_steps(make, 1e-9, 8)
        assert not waits(step)


def test_a_scheduler_compiles_nothing_again(gpu: Any) -> None:
    step, _ = make_mlp()
    compiled = tt.compile(step, fullgraph=True)
    for _ in range(3):
        compiled()
    count = recordings(compiled)
    rates = {float(compiled()[0]) for _ in range(20)}
    assert len(rates) == 20 and recordings(compiled) == count


# -- random numbers ------------------------------------------------------------------------------


def draw_all(x: Any) -> Any:
    kept = F.dropout(x, 0.4)
    return kept, tt.randn(3), tt.rand(2, dtype=tt.float64), tt.randperm(9), tt.randint(5, (3,))


def draw_by_values(x: Any) -> Any:
    return tt.rand(3), tt.bernoulli(x * 0.5), F.dropout(x, 0.5)


@pytest.mark.parametrize("function", [draw_all, draw_by_values])
def test_random_numbers_are_those_of_eager_code(function: Any, gpu: Any) -> None:
    compiled, x = tt.compile(function, fullgraph=True), tt.ones(40)
    tt.manual_seed(3)
    expected = [each.tolist() for _ in range(4) for each in function(x)]
    state = tt.get_rng_state().tolist()
    tt.manual_seed(3)
    assert [each.tolist() for _ in range(4) for each in compiled(x)] == expected
    assert tt.get_rng_state().tolist() == state and recordings(compiled) == 1
    assert not waits(lambda: compiled(x))


def test_a_checkpoint_draws_the_same_numbers_again(gpu: Any) -> None:
    net, x = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), tt.ones(3, 4)

    def step() -> Any:
        net.zero_grad()
        out = tt.utils.checkpoint.checkpoint(net, x, use_reentrant=False)
        out.sum().backward()
        return out.detach(), net[0].bias.grad

    compiled = tt.compile(step, fullgraph=True)
    for _ in range(4):
        out, grad = compiled()
        np.testing.assert_allclose(grad.cpu().numpy(), (out.cpu().numpy() != 0).sum(0) * 2.0)


# -- CUDA graphs ---------------------------------------------------------------------------------


@pytest.fixture
def graphs(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pretended graphs, which call the captured function again; the list has one item a launch."""
    launches: list[int] = []

    def capture(run: Any, function: Callable[[], list[Any]]) -> bool:
        run._results = [array.copy("K") for array in function()]

        def launch() -> None:
            launches.append(1)
            for target, source in zip(run._results, function(), strict=True):
                target[...] = source

        run._graph = SimpleNamespace(launch=launch)
        return True

    monkeypatch.setattr(cuda_graph.CapturedRun, "_capture", capture)
    return launches


