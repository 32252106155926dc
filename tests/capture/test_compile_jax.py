"""Compiled functions on the backend "jax": one XLA program, equal to eager code on NumPy."""

from __future__ import annotations

import copy
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch
from tests.capture.test_guards import breaks, no_warnings, recordings
from tests.capture.training_steps import STEPS, make_mlp, train
from tinytorch import nn, optim
from tinytorch.nn import functional as F

jax = pytest.importorskip("jax", reason="JAX is not installed")
tt: Any = tinytorch
#: Seconds of each compilation by XLA in this process.
_COMPILATIONS: list[float] = []


def _note(event: str, seconds: float, **_: Any) -> None:
    if event == "/jax/core/compile/backend_compile_duration":
        _COMPILATIONS.append(seconds)


jax.monitoring.register_event_duration_secs_listener(_note)


def run(backend: str, dtype: Any, make: Callable[[], Any], compiled: bool, count: int = 6) -> Any:
    """Run a program from one seed; return its results and what it changed as NumPy's arrays."""
    with tt.backend_context(backend), tt.default_dtype_context(dtype):
        tt.manual_seed(0)
        step, state = make()
        step = tt.compile(step, fullgraph=True) if compiled else step
        found = [each.numpy() for _ in range(count) for each in step()]
        return [np.array(each) for each in found] + [each.detach().numpy() for each in state]


@pytest.mark.parametrize("dtype", [tt.float64, tt.float32], ids=str)
@pytest.mark.parametrize("make", STEPS, ids=lambda f: f.__name__)
def test_steps_are_those_of_eager_code_on_numpy(make: Callable[[], Any], dtype: Any) -> None:
    expected = run("numpy", dtype, make, False)
    with no_warnings():
        found = run("jax", dtype, make, True)
    close = {"rtol": 1e-9, "atol": 1e-10} if dtype is tt.float64 else {"rtol": 2e-3, "atol": 2e-4}
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, **close)


@pytest.mark.parametrize("make_optimizer", [
    lambda p: optim.SGD(p, 0.05, momentum=0.9, dampening=0.1), optim.Adam,
    lambda p: optim.Adam(p, amsgrad=True, maximize=True), optim.AdamW, optim.NAdam, optim.RAdam,
    optim.Adagrad, optim.Adamax, optim.Adadelta, lambda p: optim.Rprop(p, 0.01),
    lambda p: optim.ASGD(p, 0.05, t0=2), optim.Adafactor,
])  # fmt: skip
def test_every_optimizer_takes_the_steps_that_it_takes_on_numpy(make_optimizer: Any) -> None:
    def make() -> Any:
        net, x = nn.Linear(3, 2), tt.randn(5, 3)
        return train(net, lambda: net(x).square().sum(), make_optimizer(net.parameters()))

    expected = run("numpy", tt.float64, make, False, 8)
    for a, b in zip(run("jax", tt.float64, make, True, 8), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.fixture
def on_jax() -> Any:
    """The backend "jax", active."""
    with tt.backend_context("jax"):
        tt.manual_seed(0)
        yield tt.backends.load("jax")


def test_a_scheduler_compiles_nothing_again(on_jax: Any) -> None:
    step, _ = make_mlp()
    compiled = tt.compile(step, fullgraph=True)
    for _ in range(3):
        compiled()
    before, count = len(_COMPILATIONS), recordings(compiled)
    rates = {float(compiled()[0]) for _ in range(50)}
    assert len(rates) == 50 and len(_COMPILATIONS) == before and recordings(compiled) == count


def test_one_step_is_one_program(on_jax: Any) -> None:
    net, x = nn.Linear(3, 2), tt.randn(5, 3)
    compiled = tt.compile(train(net, lambda: net(x).sum(), optim.Adam(net.parameters()))[0])
    for _ in range(4):
        compiled()
    names: list[str] = []
    library = on_jax.raw_library
    calls = {name: getattr(library.namespace, name) for name in ("matmul", "add", "multiply")}
    for name, call in calls.items():
        setattr(library.namespace, name, lambda *args, n=name, f=call: names.append(n) or f(*args))
    try:
        host_copies = on_jax.host_copies
        compiled()
        assert not names and on_jax.host_copies == host_copies
    finally:
        for name, call in calls.items():
            setattr(library.namespace, name, call)


# -- random numbers ------------------------------------------------------------------------------


def draw_all(x: Any) -> Any:
    kept = F.dropout(x, 0.4)
    return kept, tt.randn(3), tt.rand(2, dtype=tt.float64), tt.bernoulli(x * 0 + 0.5)


def test_draws_are_the_librarys_own(on_jax: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, x = tt.compile(draw_all, fullgraph=True), tt.ones(40)
    tt.manual_seed(3)
    found = [each.tolist() for _ in range(3) for each in compiled(x)]
    state = tt.get_rng_state()
    tt.manual_seed(3)
    assert [each.tolist() for _ in range(3) for each in compiled(x)] == found
    assert found[0] != found[4] != found[8] and recordings(compiled) == 1
    monkeypatch.setattr(on_jax, "own_random", True)
    tt.manual_seed(3)
    assert [each.tolist() for _ in range(3) for each in draw_all(x)] == found
    assert tt.get_rng_state().tolist() == state.tolist()
    assert 0 < found[0].count(0.0) < 40 and max(found[0]) == pytest.approx(1 / 0.6)


def test_other_distributions_are_drawn_on_the_host(on_jax: Any) -> None:
    def draw() -> Any:
        return tt.randperm(9), tt.empty(4).exponential_(), tt.randint(5, (3,))

    compiled = tt.compile(draw, fullgraph=True)
    tt.manual_seed(5)
    expected = [each.tolist() for _ in range(3) for each in draw()]
    tt.manual_seed(5)
    assert [each.tolist() for _ in range(3) for each in compiled()] == expected


def test_a_checkpoint_draws_the_same_numbers_again(on_jax: Any) -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    x = tt.ones(3, 4)

    def step() -> Any:
        net.zero_grad()
        out = tt.utils.checkpoint.checkpoint(net, x, use_reentrant=False)
        out.sum().backward()
        return out.detach(), net[0].bias.grad

    compiled = tt.compile(step, fullgraph=True)
    for _ in range(4):
        out, grad = compiled()
        np.testing.assert_allclose(grad.numpy(), (out.numpy() != 0).sum(0) * 2.0)


# -- what cannot be traced -----------------------------------------------------------------------


def test_reading_a_number_names_the_line(on_jax: Any) -> None:
    log: list[Any] = []

    def step(x: Any) -> Any:
        if x.sum() > 0:  # read here
            return x * 2
        return x

    line = inspect.getsourcelines(step)[1] + 1
    with pytest.raises(tt._dynamo.exc.Unsupported, match=f"test_compile_jax.py:{line}"):
        tt.compile(step, fullgraph=True)(tt.ones(2))
    compiled = tt.compile(step)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        log += [compiled(tt.full((2,), value)).tolist() for value in (1.0, -1.0, 3.0)]
    assert log == [[2.0, 2.0], [-1.0, -1.0], [6.0, 6.0]]
    assert len(caught) == 1 and f"test_compile_jax.py:{line}" in str(caught[0].message)


def test_what_jax_cannot_compile_names_the_line(on_jax: Any) -> None:
    def step(x: Any) -> Any:
        return tt.special.i0(x)

    line = inspect.getsourcelines(step)[1] + 1
    with pytest.raises(tt._dynamo.exc.Unsupported, match=f"JAX.*i0.*test_compile_jax.py:{line}"):
        tt.compile(step, fullgraph=True)(tt.ones(2))


def test_a_side_effect_happens_once_and_runs_eagerly_after(on_jax: Any) -> None:
    seen: list[int] = []
    weight = tt.zeros(2)

    def step(x: Any) -> Any:
        seen.append(1)
        weight.add_(x)
        return weight * 2

    compiled = tt.compile(step)
    with pytest.warns(UserWarning, match="it changes"):
        found = [compiled(tt.ones(2)).tolist() for _ in range(3)]
    assert found == [[2.0, 2.0], [4.0, 4.0], [6.0, 6.0]] and len(seen) == 3


def test_an_error_of_the_program_leaves_what_it_wrote(on_jax: Any) -> None:
    weight = tt.zeros(2)

    def step(x: Any) -> Any:
        weight.add_(x)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        tt.compile(step)(tt.ones(2))
    assert weight.tolist() == [1.0, 1.0] and weight.backend is on_jax


def test_a_label_out_of_range_raises_at_the_next_copy(on_jax: Any) -> None:
    compiled = tt.compile(lambda x, y: F.cross_entropy(x, y))
    x = tt.ones(3, 4)
    for _ in range(3):
        assert compiled(x, tt.tensor([0, 1, 3])).item() == pytest.approx(np.log(4))
    loss = compiled(x, tt.tensor([0, 1, 4]))
    with pytest.raises(IndexError, match="4 is out of bounds"):
        loss.item()


# -- guards --------------------------------------------------------------------------------------


def test_other_shapes_dtypes_and_flags_are_recorded_anew(on_jax: Any) -> None:
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
        for _ in range(2):
            found = compiled(x.to(net[0].weight.dtype))
        assert recordings(compiled) == wanted
        if not net.training:
            np.testing.assert_allclose(found.detach().numpy(), forward(
                x.to(net[0].weight.dtype)).detach().numpy(), rtol=1e-6)  # fmt: skip
    with tt.no_grad():
        assert not compiled(x.double()).requires_grad
    assert compiled(tt.ones(5, 3, dtype=tt.float64)).shape == (5, 3)
    assert recordings(compiled) == wanted + 2


def test_each_backend_has_recordings_of_its_own() -> None:
    compiled = tt.compile(lambda: tt.ones(2) * 3, fullgraph=True)
    for name in ("numpy", "jax", "numpy", "jax"):
        with tt.backend_context(name):
            found = compiled()
            assert found.backend.name == name and found.tolist() == [3.0, 3.0]
    assert recordings(compiled) == 2


@pytest.mark.parametrize(("engine", "backend"), [("numpy", "jax"), ("jax", "numpy")])
def test_an_engine_of_another_backend_runs_eagerly(engine: str, backend: str) -> None:
    compiled = tt.compile(lambda x: x * 3, backend=engine)
    with tt.backend_context(backend):
        x = tt.ones(2)
        with pytest.warns(UserWarning, match=f"engine '{engine}' cannot"):
            found = compiled(x)
        assert found.tolist() == [3.0, 3.0] and not breaks(compiled)


def test_a_users_trace_runs_compiled_functions_eagerly(on_jax: Any) -> None:
    compiled = tt.compile(lambda x: x.sin() * 2, fullgraph=True)
    compiled(tt.ones(3))

    def function(raw: Any) -> Any:
        return on_jax.unwrap(compiled(tt.as_tensor(raw)))

    raw = jax.numpy.arange(3.0)
    np.testing.assert_allclose(jax.jit(function)(raw), 2 * np.sin(np.arange(3.0)), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(function)(raw), 2 * np.sin(np.arange(3.0)), rtol=1e-6)


# -- gradients, memory and threads ---------------------------------------------------------------


def test_gradients_pass_through_a_compiled_module() -> None:
    def run_module(backend: str) -> list[Any]:
        with tt.backend_context(backend):
            tt.manual_seed(0)
            net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
            x = tt.randn(5, 3, requires_grad=True)
            called = tt.compile(net, fullgraph=True) if backend == "jax" else net
            for _ in range(3):
                net.zero_grad()
                x.grad = None
                (called(x * 2) ** 2).sum().backward()
            (slope,) = tt.autograd.grad(called(x).sum(), x, create_graph=True)
            (second,) = tt.autograd.grad(slope.sum(), net[0].weight)
            return [x.grad.numpy(), second.numpy(), *[p.grad.numpy() for p in net.parameters()]]

    with no_warnings():
        found = run_module("jax")
    for a, b in zip(found, run_module("numpy"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_arguments_may_share_memory(on_jax: Any) -> None:
    tokens = tt.arange(12.0).reshape(2, 6)
    compiled = tt.compile(lambda x, y: (x * 2 + y, x[0]), fullgraph=True)
    for _ in range(3):
        found, part = compiled(tokens[:, :-1], tokens[:, 1:])
        expected = tokens.numpy()[:, :-1] * 2 + tokens.numpy()[:, 1:]
        assert found.tolist() == expected.tolist()
        tokens.add_(1)
        assert part.tolist() == tokens[0, :-1].tolist()
    assert recordings(compiled) == 1
    written = tt.compile(lambda x, y: x.add_(1) + y)
    memory = tt.zeros(4)
    with pytest.warns(UserWarning, match="shares memory"):
        found = [written(memory[:3], memory[1:]).tolist() for _ in range(3)]
    assert found == [[2.0 * n, 2.0 * n, 1.0 * n] for n in (1, 2, 3)]


def test_the_first_call_returns_tensors_of_the_backend(on_jax: Any) -> None:
    weight = tt.ones(2, 3, requires_grad=True)
    compiled = tt.compile(lambda x: ((x @ weight).tanh(), x[0], x), fullgraph=True)
    for _ in range(3):
        x = tt.ones(4, 2)
        out, part, same = compiled(x)
        assert same is x and out.backend is on_jax is part.backend
        out.sum().backward()
        x.zero_()
        assert part.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(weight.grad.numpy(), 3 * 4 * (1 - np.tanh(2.0) ** 2), rtol=1e-5)


def test_memory_that_the_program_holds_is_not_reused(on_jax: Any) -> None:
    weight = tt.zeros(1000)
    compiled = tt.compile(lambda: weight.add_(1).sum(), fullgraph=True)
    for _ in range(3):
        compiled()

    def address() -> int:
        return int(on_jax.unwrap(weight).unsafe_buffer_pointer())

    before = address()
    compiled()
    assert address() == before  # XLA wrote over it
    held = [weight.clone(), copy.deepcopy(weight), on_jax.unwrap(weight), weight.numpy(),
            on_jax.unwrap(weight.detach())]  # fmt: skip
    view = weight[:2]
    for _ in range(3):
        compiled()
    assert [float(each[5]) for each in held] == [4.0] * 5
    assert view.tolist() == weight[:2].tolist() == [7.0, 7.0]


def test_a_step_writes_each_value_over_the_one_that_it_replaces(on_jax: Any) -> None:
    # XLA copies values that it writes elsewhere: with Adam three values have one shape.
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    optimizer = optim.Adam(net.parameters())
    compiled = tt.compile(train(net, lambda: net(tt.ones(2, 4)).sum(), optimizer)[0])
    for _ in range(4):
        compiled()
    names = "exp_avg", "exp_avg_sq"
    state = [optimizer.state[p][name] for p in net.parameters() for name in names]

    def addresses() -> list[int]:
        tensors = [*net.parameters(), *state]
        return [on_jax.unwrap(each.detach()).unsafe_buffer_pointer() for each in tensors]

    before = addresses()
    compiled()
    assert addresses() == before


def test_two_threads_run_one_program(on_jax: Any) -> None:
    weight, total = tt.zeros(50), []

    @tt.compile
    def step(x: Any) -> Any:
        weight.add_(x)
        return (x * 2).sum()

    @tt.compile
    def read(x: Any) -> Any:
        return (weight * x).sum()

    for _ in range(3):
        step(tt.zeros(50)), read(tt.ones(50))

    def work(function: Any, value: float) -> None:
        with tt.backend_context("jax"):
            total.append([float(function(tt.full((50,), value))) for _ in range(100)])

    threads = [threading.Thread(target=work, args=each) for each in
               ((step, 1.0), (step, 2.0), (read, 1.0))]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(total) == 3 and weight.tolist() == [300.0] * 50
    reads = next(values for values in total if len(set(values)) > 2 or values[0] not in (100, 200))
    assert reads == sorted(reads)


def test_another_thread_uses_the_module_while_one_records(on_jax: Any) -> None:
    net, x = nn.Linear(3, 3), tt.ones(2, 3)
    expected, found, started = net(x).tolist(), [], threading.Event()
    done = threading.Event()

    def evaluate() -> None:
        started.wait()
        with tt.backend_context("jax"):
            found.append(net(x).tolist())
        done.set()

    thread = threading.Thread(target=evaluate)
    thread.start()

    def forward(given: Any) -> Any:
        out = net(given)
        started.set()
        done.wait()
        return out

    tt.compile(forward)(x)
    thread.join()
    assert found == [expected]


def test_tensors_of_jax_on_a_gpu_have_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(tt.backends, "_registry", dict(tt.backends._registry))
    made = type(tt.backends.load("jax"))()
    tt.register_backend("jax", made, replace=True)
    with tt.backend_context(made):
        devices: set[str] = set()

        @tt.compile(fullgraph=True)
        def step(x: Any) -> Any:
            return x * tt.ones(2, device="cuda") + tt.zeros(2, device=x.device)

        for _ in range(3):
            devices.add(step(tt.ones(2, device="cuda")).device.type)
    assert devices == {"cuda"}


def test_explain_describes_a_recording(on_jax: Any) -> None:
    net = nn.Linear(3, 2)
    text = str(tt.compiler.explain(net)(tt.ones(4, 3)))
    assert "jax" in text and "linear" in text
