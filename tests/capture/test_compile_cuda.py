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
    """What makes the host wait in a call of a function, when graphs have been tried."""
    for _ in range(3):
        function()
    with strictcupy.record_syncs() as log:
        function()
    return [f"{entry.kind} at {entry.where}" for entry in log if entry.kind != "upload"]


# -- training ------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [tt.float64, tt.float32], ids=str)
@pytest.mark.parametrize("make", STEPS, ids=lambda f: f.__name__)
def test_steps_are_those_of_eager_code(make: Callable[[], Any], dtype: Any, gpu: Any) -> None:
    with tt.default_dtype_context(dtype):
        step = compare_steps(make, 1e-9 if dtype is tt.float64 else 2e-3)
        assert recordings(step) == 1
        assert not waits(step)


@pytest.mark.sampled(3)
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
    """Pretended graphs, whose launch calls the captured function; the list has an item for each."""
    launches: list[int] = []

    def capture(run: Any, function: Callable[[], list[Any]]) -> bool:
        def launch() -> None:
            launches.append(1)
            run._results = function()

        run._graph = SimpleNamespace(launch=launch)
        return True

    monkeypatch.setattr(cuda_graph.CapturedRun, "_capture", capture)
    return launches


def test_steps_on_changing_batches_are_launched_as_one_graph(graphs: list[int], gpu: Any) -> None:
    data, labels = tt.randn(64, 4), tt.randint(2, (64,))

    def make() -> Any:
        net = nn.Sequential(
            nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6), nn.Dropout(0.3), nn.ReLU(),
            nn.Linear(6, 2),
        )  # fmt: skip
        optimizer = optim.AdamW(net.parameters(), lr=0.05)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step, net

    found = []
    for is_compiled in (False, True):
        tt.manual_seed(1)
        step, net = make()
        step = tt.compile(step, fullgraph=True) if is_compiled else step
        batches = [slice(k, k + 8) for k in range(0, 64, 8)] * 2
        losses = [step(data[batch], labels[batch]).item() for batch in batches]
        found.append([*losses, *[each.cpu().numpy() for each in net.state_dict().values()]])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, 2e-4, 2e-5)
    assert len(graphs) == 11, "the third call is recorded, and of later ones the fourth captured"
    assert recordings(step) == 1


def test_a_graph_that_fails_leaves_the_kernels(gpu: Any) -> None:
    # The stand-in has no captures, as a stream that waits would have none.
    compiled, x = tt.compile(lambda x: (x * 2).sin(), fullgraph=True), tt.ones(5)
    for _ in range(6):
        assert compiled(x).tolist() == pytest.approx([np.sin(2.0)] * 5)
    (entry,) = compiled._compiled.entries
    assert "begin_capture" in entry.call.lanes.prepare().graph.failure


# -- what the function reads and writes ----------------------------------------------------------


def test_arguments_and_buffers_are_written(gpu: Any) -> None:
    counts = tt.zeros(3, dtype=tt.int64)

    def step(x: Any, out: Any) -> Any:
        counts[1] += 2
        x[:, 1] = 7.0
        x.t()[0].mul_(2)
        tt.add(x, 1.0, out=out)
        return x.sum(0), counts

    compiled = tt.compile(step, fullgraph=True)
    results = []
    for function in (step, compiled):
        counts.zero_()
        x, out = tt.arange(6.0).reshape(2, 3), tt.empty(2, 3)
        found = [[each.tolist() for each in function(x, out)] for _ in range(4)]
        results.append([found, x.tolist(), out.tolist()])
    assert results[0] == results[1] and recordings(compiled) == 1
    assert not waits(lambda: compiled(x, out))


def test_arguments_may_share_memory(gpu: Any) -> None:
    tokens = tt.arange(12.0).reshape(2, 6)
    compiled = tt.compile(lambda x, y: (x * 2 + y, x[0]), fullgraph=True)
    for _ in range(3):
        found, part = compiled(tokens[:, :-1], tokens[:, 1:])
        expected = tokens.cpu().numpy()[:, :-1] * 2 + tokens.cpu().numpy()[:, 1:]
        assert found.tolist() == expected.tolist()
        tokens.add_(1)
        assert part.tolist() == tokens[0, :-1].tolist()
    assert recordings(compiled) == 1
    written = tt.compile(lambda x, y: x.add_(1) + y)
    memory = tt.zeros(4)
    with pytest.warns(UserWarning, match="shares memory"):
        found = [written(memory[:3], memory[1:]).tolist() for _ in range(3)]
    assert found == [[2.0 * n, 2.0 * n, 1.0 * n] for n in (1, 2, 3)]


def test_tensors_of_a_module_may_share_memory(gpu: Any) -> None:
    def make() -> Any:
        net = nn.Module()
        net.register_buffer("memory", tt.arange(12.0))
        net.register_buffer("part", net.memory[2:8].view(2, 3).t())
        net.register_buffer("strided", net.memory.as_strided((3,), (4,), 1))

        def step(x: Any) -> Any:
            net.memory.mul_(1.5)
            net.part.add_(x)
            return net.strided * 2, net.part.sum()

        return net, step

    found = []
    for is_compiled in (False, True):
        net, step = make()
        step = tt.compile(step, fullgraph=True) if is_compiled else step
        results = [each.tolist() for _ in range(4) for each in step(tt.ones(3, 2))]
        found.append([*results, net.memory.tolist(), net.part.tolist()])
    assert found[0] == found[1] and recordings(step) == 1


def test_of_a_large_set_of_data_the_batch_is_copied(gpu: Any) -> None:
    data = tt.zeros(1000, 4)
    copied: list[int] = []

    def to_numpy(array: Any) -> Any:
        copied.append(array.size)
        return type(gpu).to_numpy(gpu, array)

    compiled = tt.compile(lambda x: x.exp(), fullgraph=True)
    gpu.to_numpy = to_numpy
    try:
        assert compiled(data[500:508]).sum().item() == 32
    finally:
        del gpu.to_numpy
    assert copied == [32]


def test_results_may_be_inputs_and_views(gpu: Any) -> None:
    weight = tt.ones(2, 3, requires_grad=True)

    def function(x: Any) -> Any:
        out = (x @ weight).tanh()
        whole = x * 2
        return out, x[0], x, whole, whole[:, 1], out.t()

    compiled = tt.compile(function, fullgraph=True)
    for _ in range(4):
        x = tt.ones(4, 2)
        out, part, same, whole, column, _ = compiled(x)
        assert same is x and out.backend is gpu is part.backend and out.device.type == "cuda"
        out.sum().backward()
        x.zero_()
        whole[:, 1] = 5.0
        assert part.tolist() == [0.0, 0.0] and column.tolist() == [5.0] * 4
    np.testing.assert_allclose(
        weight.grad.cpu().numpy(), 4 * 4 * (1 - np.tanh(2.0) ** 2), rtol=1e-5
    )


def test_layouts_are_those_of_the_recording(gpu: Any) -> None:
    images = tt.randn(2, 3, 4, 5).to(memory_format=tt.channels_last)
    weight = tt.randn(3, 1, 1, requires_grad=True)

    def function(x: Any) -> Any:
        return (x * weight).relu() + x.flip(2)[:, :, ::2].sum(), x.permute(3, 2, 0, 1) * 2

    compiled = tt.compile(function, fullgraph=True)
    for _ in range(3):
        for a, b in zip(compiled(images), function(images), strict=True):
            np.testing.assert_allclose(
                a.detach().cpu().numpy(), b.detach().cpu().numpy(), 1e-6, 1e-6
            )
            assert a.shape == b.shape and a.dtype == b.dtype
    assert recordings(compiled) == 1


def test_a_scalar_tensor_of_the_gpu_is_not_read(gpu: Any) -> None:
    scale = tt.tensor(3.0, dtype=tt.float64)
    compiled = tt.compile(lambda x, y: (x * scale + y, scale * y), fullgraph=True)
    x, y = tt.ones(4), tt.tensor(0.5, dtype=tt.float64)
    for number in (3.0, 4.0, 5.0):
        scale.fill_(number)
        found, product = compiled(x, y)
        assert found.tolist() == [number + 0.5] * 4 and product.item() == number / 2
    assert not waits(lambda: compiled(x, y)) and recordings(compiled) == 1


def test_tensors_on_the_cpu_are_copied_to_the_gpu(gpu: Any) -> None:
    table, scale = tt.arange(4.0, device="cpu"), tt.tensor(2.0, device="cpu")

    def function(x: Any) -> Any:
        return x * scale + table.to(x.device)

    compiled = tt.compile(function)
    for number in (1.0, 2.0, 3.0):
        scale.fill_(number)
        assert compiled(tt.ones(4)).tolist() == [number + k for k in range(4)]
        table.copy_(tt.arange(4.0, device="cpu"))


# -- guards --------------------------------------------------------------------------------------


def test_other_shapes_dtypes_and_flags_are_recorded_anew(gpu: Any) -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    net.scale = 1.0

    def forward(x: Any) -> Any:
        return net(x) * net.scale

    compiled = tt.compile(forward, fullgraph=True)
    x = tt.ones(2, 3)
    wanted = 0
    for change in (
        lambda: None, net.eval, lambda: setattr(net, "scale", 2.0), net.double,
        lambda: net[0].weight.requires_grad_(False),
    ):  # fmt: skip
        change()
        wanted += 1
        given = x.to(net[0].weight.dtype)
        for _ in range(2):
            found = compiled(given)
        assert recordings(compiled) == wanted
        if not net.training:
            np.testing.assert_allclose(
                found.detach().cpu().numpy(), forward(given).detach().cpu().numpy(), 1e-6
            )
    assert compiled(tt.ones(5, 3, dtype=tt.float64)).shape == (5, 3)
    assert recordings(compiled) == wanted + 1


def test_each_backend_has_recordings_of_its_own(gpu: Any) -> None:
    compiled = tt.compile(lambda: tt.ones(2) * 3, fullgraph=True)
    for backend in ("numpy", gpu, "numpy", gpu):
        with tt.backend_context(backend):
            found = compiled()
            assert found.backend is tt.backends.load(backend) and found.tolist() == [3.0, 3.0]
    assert recordings(compiled) == 2


def test_an_engine_of_another_backend_runs_eagerly(gpu: Any) -> None:
    for engine, backend in (("numpy", gpu), ("cuda", "numpy")):
        compiled = tt.compile(lambda x: x * 3, backend=engine)
        with tt.backend_context(backend):
            x = tt.ones(2)
            with pytest.warns(UserWarning, match=f"engine '{engine}' cannot"):
                found = compiled(x)
            assert found.tolist() == [3.0, 3.0] and not breaks(compiled)
    assert tt.compile(lambda x: x * 3, backend="cuda", fullgraph=True)(tt.ones(1)).item() == 3.0


# -- what cannot be recorded or run --------------------------------------------------------------


def test_reading_a_number_names_the_line(gpu: Any) -> None:
    def step(x: Any) -> Any:
        if x.sum() > 0:  # read here
            return x * 2
        return x

    line = inspect.getsourcelines(step)[1] + 1
    with pytest.raises(tt._dynamo.exc.Unsupported, match=f"test_compile_cuda.py:{line}"):
        tt.compile(step, fullgraph=True)(tt.ones(2))
    compiled = tt.compile(step)
    with pytest.warns(UserWarning, match=f"test_compile_cuda.py:{line}"):
        found = [compiled(tt.full((2,), value)).tolist() for value in (1.0, -1.0, 3.0)]
    assert found == [[2.0, 2.0], [-1.0, -1.0], [6.0, 6.0]]


def test_what_cupy_cannot_run_runs_eagerly(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: Any) -> Any:
        raise RuntimeError("NVRTC_ERROR_COMPILATION")

    monkeypatch.setattr(strictcupy, "RawModule", fail)
    weight = tt.zeros(2)

    def step(x: Any) -> Any:
        weight.add_(x)
        return (weight * 2).sin() + tt.rand(2)

    tt.manual_seed(2)
    compiled = tt.compile(step)
    with pytest.warns(UserWarning, match="CuPy cannot run the program: .*NVRTC_ERROR"):
        found = [compiled(tt.ones(2)).tolist() for _ in range(3)]
    weight.zero_()
    tt.manual_seed(2)
    assert found == [pytest.approx(step(tt.ones(2)).tolist()) for _ in range(3)]


def test_a_function_that_calls_cupy_runs_eagerly(gpu: Any) -> None:
    def unwrap_twice(x: Any) -> Any:
        return tt.as_tensor(gpu.unwrap(x) * 2)

    def call_library(x: Any) -> Any:
        return tt.as_tensor(strictcupy.sqrt(gpu.array(x.cpu().numpy())) * 2)

    for function in (unwrap_twice, call_library, lambda x: tt.compiler.disable(unwrap_twice)(x)):
        compiled = tt.compile(function)
        with pytest.warns(UserWarning, match="calls CuPy itself"):
            assert [compiled(tt.ones(2)).tolist() for _ in range(2)] == [[2.0, 2.0]] * 2


def test_a_label_out_of_range_raises_at_the_next_copy(gpu: Any) -> None:
    compiled = tt.compile(lambda x, y: F.cross_entropy(x, y))
    x = tt.ones(3, 4)
    for _ in range(3):
        assert compiled(x, tt.tensor([0, 1, 3])).item() == pytest.approx(np.log(4))
    loss = compiled(x, tt.tensor([0, 1, 4]))
    with pytest.raises(IndexError, match="4 is out of bounds"):
        loss.item()


def test_an_error_of_the_program_leaves_what_it_wrote(gpu: Any) -> None:
    weight = tt.zeros(2)

    def step(x: Any) -> Any:
        weight.add_(x)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        tt.compile(step)(tt.ones(2))
    assert weight.tolist() == [1.0, 1.0] and weight.backend is gpu


# -- gradients, threads and profiles -------------------------------------------------------------


def test_gradients_pass_through_a_compiled_module(gpu: Any) -> None:
    def run_module(is_compiled: bool) -> list[Any]:
        tt.manual_seed(0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        x = tt.randn(5, 3, requires_grad=True)
        called = tt.compile(net, fullgraph=True) if is_compiled else net
        for _ in range(3):
            net.zero_grad()
            x.grad = None
            (called(x * 2) ** 2).sum().backward()
        (slope,) = tt.autograd.grad(called(x).sum(), x, create_graph=True)
        (second,) = tt.autograd.grad(slope.sum(), net[0].weight)
        return [x.grad, second, *[p.grad for p in net.parameters()]]

    with no_warnings():
        found = run_module(True)
    for a, b in zip(found, run_module(False), strict=True):
        np.testing.assert_allclose(a.cpu().numpy(), b.cpu().numpy(), 1e-4, 1e-6)


def test_gradients_that_are_kept_are_added_to(gpu: Any) -> None:
    weight = tt.ones(3, requires_grad=True)

    def step(x: Any) -> Any:
        loss = (weight * x).sum()
        loss.backward()
        return loss.detach()

    compiled = tt.compile(step, fullgraph=True)
    for count in range(1, 6):
        assert compiled(tt.full((3,), 2.0)).item() == 6.0
        assert weight.grad.tolist() == [2.0 * count] * 3
    assert not waits(lambda: compiled(tt.ones(3)))


def test_a_stream_waits_for_the_run_before(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, x = tt.compile(lambda x: x.exp() + 1, fullgraph=True), tt.zeros(3)
    events: list[int] = []
    monkeypatch.setattr(
        strictcupy.cuda.Stream, "wait_event", lambda stream, event: events.append(stream.ptr)
    )
    other = strictcupy.cuda.Stream()
    for _ in range(2):
        compiled(x)
        with other:
            assert compiled(x).tolist() == [2.0, 2.0, 2.0]
    assert events.count(other.ptr) == 2 and len(events) >= 3


def test_two_threads_run_one_program(gpu: Any) -> None:
    net, found = nn.Linear(5, 5), dict[float, Any]()
    compiled = tt.compile(lambda x: net(x).tanh(), fullgraph=True)
    compiled(tt.ones(2, 5))

    def work(value: float) -> None:
        with tt.backend_context(gpu):
            for _ in range(20):
                found[value] = compiled(tt.full((2, 5), value)).tolist()

    threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for value in (1.0, 2.0):
        expected = net(tt.full((2, 5), value)).tanh().tolist()
        np.testing.assert_allclose(found[value], expected, 1e-5)


def test_a_profile_has_a_row_for_each_group(gpu: Any) -> None:
    compiled, x = tt.compile(lambda x: (x * 2).exp() @ x, fullgraph=True), tt.ones(4, 4)
    compiled(x)
    with tt.profiler.profile() as profile:
        assert compiled(x).sum().item() == pytest.approx(64 * np.exp(2.0))
    names = {event.key for event in profile.key_averages()}
    assert {"mul+exp", "matmul"} <= names


def test_explain_names_the_engine(gpu: Any) -> None:
    text = str(tt.compiler.explain(nn.Linear(3, 2))(tt.ones(4, 3)))
    assert "engine cuda" in text and "linear" in text


def test_each_of_two_gpus_has_recordings_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TINYTORCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(strictcupy, "RawModule", make_module, raising=False)
    with pretended_cuda(2), tt.backend_context("cupy"):
        compiled = tt.compile(lambda x: x.exp() * tt.ones(2, device=x.device), fullgraph=True)
        for number in (0, 1, 0, 1):
            with tt.cuda.device(number):
                found = compiled(tt.zeros(2, device=f"cuda:{number}"))
            assert found.device.index == number and found.tolist() == [1.0, 1.0]
        assert recordings(compiled) == 2


def test_export_records_a_model_on_a_gpu_and_leaves_its_buffers(gpu: Any) -> None:
    net, x = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)), tt.randn(4, 3)
    before = {name: each.tolist() for name, each in net.state_dict().items()}
    program = tt.export.export(net, (x,))
    assert {name: each.tolist() for name, each in net.state_dict().items()} == before
    net.train()
    np.testing.assert_allclose(
        program.module()(x).detach().cpu().numpy(), net(x).detach().cpu().numpy(), 1e-5, 1e-6
    )
