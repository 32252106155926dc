"""Backends of array-API libraries: results are the NumPy backend's, and PyTorch's."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import run
from tinytorch import nn, optim
from tinytorch.backends.standard import (
    ArrayLibrary,
    StandardBackend,
    forbid_fallbacks,
    standard_backend,
)
from tinytorch.nn import functional as F


def _param(name: str, *marks: Any) -> Any:
    missing = find_spec("dask" if name == "dask" else name) is None
    return pytest.param(
        name, marks=[*marks, pytest.mark.skipif(missing, reason=f"{name} is not installed")]
    )


@pytest.fixture(params=[_param("array_api_strict"), _param("torch", pytest.mark.torch)])
def name(request: pytest.FixtureRequest) -> str:
    """Each backend whose operations take microseconds."""
    return str(request.param)


@pytest.fixture(params=[_param("array_api_strict"), _param("jax")])
def of_values(request: pytest.FixtureRequest) -> str:
    """Each backend whose arrays are immutable values."""
    return str(request.param)


def on(backend: str, program: Callable[[], Any]) -> Any:
    """Run a program on a backend, from one seed; its results are NumPy arrays."""
    with tt.backend_context(backend):
        tt.manual_seed(0)
        return program()


def train(model: nn.Module, optimizer: Any, x: tt.Tensor, loss: Callable[[Any], Any]) -> list[Any]:
    """Train for three steps; return the losses and the parameters."""
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        value = loss(model(x))
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return [np.array(losses), *(p.detach().numpy() for p in model.parameters())]


def train_mlp() -> list[Any]:
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 3))
    x, y = tt.randn(32, 8), tt.randint(3, (32,))
    return train(model, optim.Adam(model.parameters()), x, lambda out: F.cross_entropy(out, y))


def train_convolutions() -> list[Any]:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, stride=2, groups=2), nn.Flatten(), nn.Linear(4, 3),
    )  # fmt: skip
    x, y = tt.randn(6, 1, 8, 8), tt.randint(3, (6,))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return train(model, optimizer, x, lambda out: F.cross_entropy(out, y))


class LastOfLSTM(nn.Module):
    """LSTM with a linear layer on its last output."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.last = nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 2)

    def forward(self, x: tt.Tensor) -> tt.Tensor:
        out: tt.Tensor = self.last(self.lstm(x)[0][:, -1])
        return out


def train_lstm() -> list[Any]:
    model, x, y = LastOfLSTM(), tt.randn(5, 7, 4), tt.randn(5, 2)
    return train(model, optim.Adam(model.parameters()), x, lambda out: F.mse_loss(out, y))


@pytest.mark.parametrize(
    ("backend", "program"),
    [
        pytest.param(*pair.values, program, marks=pair.marks)
        for pair, program in (
            (_param("dask"), train_mlp),
            (_param("jax"), train_mlp),
            (_param("jax"), train_convolutions),
        )
    ],
)
def test_networks_train_to_numpys_numbers_on_libraries_that_compile(
    backend: str, program: Callable[[], Any]
) -> None:
    for found, expected in zip(on(backend, program), on("numpy", program), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("program", [train_mlp, train_convolutions, train_lstm])
def test_networks_train_to_numpys_numbers(name: str, program: Callable[[], Any]) -> None:
    for found, expected in zip(on(name, program), on("numpy", program), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_a_step_of_training_copies_nothing_to_the_host(name: str) -> None:
    def program() -> int:
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer, x, y = optim.Adam(model.parameters()), tt.randn(32, 8), tt.randint(3, (32,))
        backend = x.backend
        before = backend.host_copies
        for _ in range(2):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        copies: int = backend.host_copies - before
        backend.synchronize()  # reads the checks of the targets
        before = backend.host_copies - copies
        x.tolist()
        assert backend.host_copies == before + copies + 1  # the count counts
        return copies

    assert on(name, program) == 0


def write_views() -> list[Any]:
    """Write to arrays and views of them in all ways."""
    x = tt.arange(24.0).reshape(4, 6).clone()
    v, w, d = x[1:3, ::2], x.view(2, 12), x.diagonal()
    t, s = v.T, x.as_strided((3, 2), (6, 1), 2)
    r = t.reshape(-1)
    v += 10
    t.mul_(2)
    d.zero_()
    w[1] -= 1
    s.fill_(7)
    x[[0, 3], [1, 1]] = -5
    x[x > 50] = 0
    x[:, 4][1:] = tt.arange(3.0)
    u = tt.zeros(5)
    u.index_add_(0, tt.tensor([0, 0, 3]), tt.ones(3))
    u.scatter_(0, tt.tensor([1, 2]), 9.0)
    u[tt.tensor([4, 4])] = tt.tensor([1.0, 2.0])
    base = tt.zeros(3, 3)
    wide = base.expand(2, 3, 3)
    base[1] = 4
    shared = tt.zeros(2).expand(2, 2)
    with pytest.warns(UserWarning, match="expanded"):
        shared[tt.tensor([[True, False], [False, True]])] = tt.tensor([4.0, 6.0])
    odd = tt.zeros(5, 5)
    odd[::2, 1::2] = tt.arange(6.0).reshape(3, 2)
    odd.flip(0)[0] = 1
    y = tt.arange(1.0, 5.0).requires_grad_()
    z = y * 2
    z[1] = 0
    z.view(2, 2)[1].mul_(3)
    (z**2).sum().backward()
    return [
        each.detach().numpy() for each in (x, v, t, r, w, d, s, u, wide, shared, odd, z, y.grad)
    ]


def test_views_share_what_is_written_as_on_numpy(name: str) -> None:
    for found, expected in zip(on(name, write_views), on("numpy", write_views), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_views_of_jax_share_what_is_written_as_on_numpy() -> None:
    pytest.importorskip("jax")
    for found, expected in zip(on("jax", write_views), on("numpy", write_views), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_parts_of_complex_numbers_are_views(name: str) -> None:
    def program() -> list[Any]:
        z = tt.tensor([1 + 2j, 3 - 1j])
        imag = z.imag
        z.mul_(2)
        read = imag.tolist()
        imag[0] = 9.0
        return [read, z.tolist()]

    assert on(name, program) == on("numpy", program)


def test_writing_through_a_view_of_bits_raises_for_immutable_values(of_values: str) -> None:
    with tt.backend_context(of_values):
        z = tt.tensor([1 + 2j])
        bits = tt.view_as_real(z)
        z.mul_(2)
        assert bits.tolist() == [[2.0, 4.0]]  # reading is a view
        with pytest.raises(RuntimeError, match="bits of one cannot be written"):
            bits[0, 0] = 1
        with pytest.raises(RuntimeError, match="bits of one cannot be written"):
            tt.ones(2).view(tt.int32).add_(1)
        assert z.tolist() == [2 + 4j]


def test_threads_that_write_rows_lose_no_update(of_values: str) -> None:
    with tt.backend_context(of_values):
        x, gate = tt.zeros(4, 3), threading.Barrier(4)

        def write(row: int) -> None:
            gate.wait()
            for _ in range(25):
                x[row] += 1

        threads = [threading.Thread(target=write, args=(row,)) for row in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert x.tolist() == [[25.0] * 3] * 4


@pytest.mark.torch
def test_eight_threads_compute_on_four_backends() -> None:
    names = [each for each in ("numpy", "torch", "jax", "array_api_strict") if find_spec(each)]
    results: list[Any] = [None] * 8

    def work(at: int) -> None:
        with tt.backend_context(names[at % len(names)]):
            x = tt.arange(6.0).reshape(2, 3).requires_grad_()
            for _ in range(3):
                x.grad = None
                (x.sin() @ x.T).sum().backward()
            results[at] = tt.get_backend(), x.backend.name, x.grad.numpy()

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    x = np.arange(6.0).reshape(2, 3)
    expected = np.cos(x) * x.sum(0) + np.sin(x).sum(0)
    for at, (active, backend, grad) in enumerate(results):
        assert active == backend == names[at % len(names)]
        np.testing.assert_allclose(grad, expected, rtol=1e-5)


@pytest.mark.parametrize(
    "backend",
    [_param("torch", pytest.mark.torch), _param("jax"), _param("dask"), _param("array_api_strict")],
)
def test_random_numbers_are_the_librarys_on_request(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw() -> list[np.ndarray[Any, Any]]:
        numbers = tt.rand(4000), tt.randn(4000, dtype=tt.float64), tt.empty(4000).uniform_(2, 5)
        return [each.numpy() for each in (*numbers, F.dropout(tt.ones(4000), 0.25))]

    pytorchs = on(backend, draw)
    for found, expected in zip(pytorchs, on("numpy", draw), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    monkeypatch.setattr(tt.backends.load(backend), "own_random", True)
    uniform, normal, wide, dropped = own = on(backend, draw)
    for found, again in zip(own, on(backend, draw), strict=True):
        np.testing.assert_array_equal(found, again)  # from one seed the same numbers
    assert (own[0] == pytorchs[0]).all() == (backend == "array_api_strict")  # it has none
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(normal.mean()) < 0.06
    assert abs(normal.std() - 1) < 0.05
    assert 2 <= wide.min() < 2.1 < 4.9 < wide.max() < 5
    assert abs((dropped == 0).mean() - 0.25) < 0.03
    assert (uniform.dtype, normal.dtype) == (np.float32, np.float64)


def test_promotion_is_numpys(name: str) -> None:
    def program() -> list[str]:
        arrays = [tt.ones(2, dtype=d)._data for d in (tt.bool, tt.int8, tt.uint8, tt.int64)]
        arrays.append(tt.ones(2)._data)
        return [str((a + b).dtype) for a in arrays for b in (*arrays, 1, 1.0)]

    assert on(name, program) == on("numpy", program)


def test_numpys_functions_on_the_host_are_counted_and_can_be_forbidden(name: str) -> None:
    def program() -> None:
        xp = tt.zeros(2).backend
        array = xp.asarray([3.0, 1.0])
        before = xp.fallbacks["partition"]
        assert xp.partition(array, 1).tolist() == [1.0, 3.0]
        assert xp.fallbacks["partition"] == before + 1
        with forbid_fallbacks(), pytest.raises(RuntimeError, match="partition is computed by NumP"):
            xp.partition(array, 1)

    on(name, program)


def test_dtypes_that_a_library_lacks_raise_where_they_are_used() -> None:
    pytest.importorskip("array_api_strict")
    with tt.backend_context("array_api_strict"):
        assert tt.float16.itemsize == 2
        with pytest.raises(TypeError, match="backend 'array_api_strict' has no dtype"):
            tt.zeros(2, dtype=tt.float16)


def test_the_librarys_own_arrays_go_in_and_out_without_a_copy() -> None:
    library = pytest.importorskip("array_api_strict")
    raw = library.asarray([1.0, 2.0], dtype=library.float32)
    with tt.backend_context("array_api_strict"):
        x = tt.as_tensor(raw)
        assert x.backend.unwrap(x) is raw
        assert x.backend.unwrap(tt.from_dlpack(raw)) is raw
        assert tt.tensor(raw).tolist() == [1.0, 2.0]
        assert (x + 1).tolist() == [2.0, 3.0]


@pytest.mark.torch
def test_tensors_of_pytorch_share_memory(torch: Any) -> None:
    raw = torch.zeros(2, 2)
    with tt.backend_context("torch"):
        x = tt.as_tensor(raw)
        x[0] = 1
        x.T[1].add_(2)
        host = np.zeros(2)
        tt.as_tensor(host).add_(1)  # PyTorch's tensors share memory with NumPy's arrays
        tt.tensor(host).add_(1)
    assert raw.tolist() == [[1.0, 3.0], [0.0, 2.0]]
    assert x.backend.unwrap(x) is raw
    assert host.tolist() == [1.0, 1.0]


def test_a_device_belongs_to_the_active_backend(name: str) -> None:
    with tt.backend_context(name) as backend:
        assert tt.zeros(1, device="cpu").backend is backend
        assert tt.ones(1).cpu().backend is backend
        assert nn.Linear(2, 2, device=tt.device("cpu")).weight.to("cpu").backend is backend
        if name != "torch":  # which has one on some machines
            with pytest.raises(tt.BackendUnavailableError, match=f"{name}.*has no CUDA device"):
                tt.zeros(1, device="cuda")
    assert tt.zeros(1, device="cpu").backend is tt.backends.load("numpy")


def test_files_are_loaded_to_the_active_backend(name: str, tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    with tt.backend_context(name) as backend:
        layer = nn.Linear(2, 3)
        tt.save(layer.state_dict(), path)
        found = tt.load(path)
        assert found["weight"].backend is backend
        layer.load_state_dict(tt.load(path, map_location="cpu"))
        assert layer.weight.backend is backend
        assert found["weight"].tolist() == layer.weight.tolist()
    assert tt.load(path)["bias"].tolist() == layer.bias.tolist()


def test_jax_on_a_gpu_is_the_device_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("jax")
    monkeypatch.setattr(library, "default_backend", lambda: "gpu")
    monkeypatch.setattr(tt.backends, "_registry", dict(tt.backends._registry))
    made = type(tt.backends.load("jax"))()
    tt.register_backend("jax", made, replace=True)
    with tt.backend_context(made):
        x = tt.zeros(1, device="cuda")
        assert x.backend is made
        assert x.device.type == "cuda"


def test_tensors_of_two_backends_are_an_error_that_names_them() -> None:
    pytest.importorskip("array_api_strict")
    with tt.backend_context("array_api_strict"):
        x = tt.ones(2)
    with pytest.raises(RuntimeError, match=r"array_api_strict \(cpu\) and numpy \(cpu\)"):
        x + tt.ones(2)
    assert (x.to(backend="numpy") + tt.ones(2)).tolist() == [2.0, 2.0]


def test_tensors_are_copied_and_pickled(name: str) -> None:
    with tt.backend_context(name):
        x = tt.arange(4.0)
        for each in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            each.add_(1)
            assert each.backend is x.backend
            assert each.tolist() == [1.0, 2.0, 3.0, 4.0]
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


class Odd(ArrayLibrary):
    """ArrayLibrary that computes sines by itself."""

    calls = 0

    def elementwise(self, name: str) -> Any:
        found = super().elementwise(name)
        if name != "sin" or found is None:
            return found
        sine = found

        def count(raw: Any) -> Any:
            Odd.calls += 1
            return sine(raw)

        return count


def test_a_library_without_a_built_in_name_is_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's own namespace follows the standard."""
    monkeypatch.setattr(tt.backends, "_registry", dict(tt.backends._registry))
    tt.register_backend("odd", standard_backend("numpy", name="odd", library=Odd))
    assert issubclass(standard_backend("numpy"), StandardBackend)
    for found, expected in zip(on("odd", train_mlp), on("numpy", train_mlp), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    for found, expected in zip(on("odd", write_views), on("numpy", write_views), strict=True):
        np.testing.assert_array_equal(found, expected)
    with tt.backend_context("odd"):
        before = Odd.calls
        assert tt.zeros(2).sin().tolist() == [0.0, 0.0]
    assert Odd.calls == before + 1


@pytest.mark.skipif(find_spec("mlx") is None, reason="mlx is not installed")
def test_the_example_of_the_page_on_extending_is_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tt.backends, "_registry", dict(tt.backends._registry))
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
    (block,) = [b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "mlx.core" in b]
    assert block.count("\n") < 100
    exec(block, {"__name__": "page"})
    for program in (train_mlp, train_convolutions, write_views):
        for found, expected in zip(on("mlx", program), on("numpy", program), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("backend", "package"),
    [
        ("jax", "jax"),
        ("dask", "dask"),
        ("array_api_strict", "array_api_strict"),
        ("torch", "torch"),
    ],
)
def test_a_missing_library_is_named_with_what_to_install(
    backend: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tt.backends._registry, backend, copy.copy(tt.backends._registry[backend]))
    tt.backends._registry[backend].backend = None
    for module in (package, f"{package}.array"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(tt.BackendUnavailableError, match=f"(?s){package}.*pip install"):
        tt.set_backend(backend)


def test_tensorlys_name_is_pytorchs() -> None:
    pytest.importorskip("torch")
    with tt.backend_context("pytorch"):
        assert tt.get_backend() == "torch"


# -- functions that JAX traces ------------------------------------------------------------------


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX, with its backend active."""
    library = pytest.importorskip("jax")
    with tt.backend_context("jax"):
        tt.manual_seed(0)
        yield library


def test_functions_go_through_jit_grad_and_vmap(jax: Any) -> None:
    layer = nn.Linear(4, 3)

    def function(raw: Any) -> Any:
        x = tt.as_tensor(raw)
        buffer = tt.zeros_like(x)
        buffer[..., 0] = x[..., 1] * 2  # memory of the function's own may be written
        out = F.softmax(layer(x + buffer).tanh(), -1).detach()
        return out.backend.unwrap(out)

    raw = jax.numpy.arange(8.0).reshape(2, 4)
    expected = function(raw)
    np.testing.assert_allclose(jax.jit(function)(raw), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(function)(raw), expected, rtol=1e-6)
    x = tt.tensor(np.asarray(raw), backend="numpy", requires_grad=True)
    weight, bias = (tt.tensor(p.tolist(), backend="numpy") for p in layer.parameters())
    step = tt.cat([x[:, 1:2] * 2, tt.zeros(2, 3, backend="numpy")], 1)
    out = F.softmax(((x + step) @ weight.T + bias).tanh(), -1)
    out[:, 0].sum().backward()
    grad = jax.grad(lambda r: function(r)[:, 0].sum())(raw)
    np.testing.assert_allclose(grad, x.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_gradients_of_this_library_are_compiled(jax: Any) -> None:
    layer = nn.Linear(4, 3)

    def slope(raw: Any) -> Any:
        x = tt.as_tensor(raw).requires_grad_()
        (grad,) = tt.autograd.grad((layer(x) ** 2).sum(), x)
        return grad.backend.unwrap(grad)

    raw = jax.numpy.arange(8.0).reshape(2, 4)
    np.testing.assert_allclose(jax.jit(slope)(raw), slope(raw), rtol=1e-5)


def test_writing_to_state_from_a_traced_function_raises(jax: Any) -> None:
    state = tt.zeros(2)

    def write(raw: Any) -> Any:
        state.add_(tt.as_tensor(raw))
        return raw.sum()

    for transform in (jax.jit, jax.grad):
        with pytest.raises(RuntimeError, match="writes to an array that was made outside"):
            transform(write)(jax.numpy.ones(2))
    assert state.tolist() == [0.0, 0.0]


def test_training_in_a_compiled_function_changes_no_state(jax: Any) -> None:
    layer = nn.Linear(3, 2)
    optimizer = optim.Adam(layer.parameters())
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    norm = nn.BatchNorm1d(3)
    grads = [tt.ones_like(p) for p in layer.parameters()]

    def backward(raw: Any) -> Any:
        layer(tt.as_tensor(raw)).sum().backward()
        return raw

    def set_grad(raw: Any) -> Any:
        layer.bias.grad = tt.as_tensor(raw)[0, :2]
        return raw

    def step(raw: Any) -> Any:
        for p, grad in zip(layer.parameters(), grads, strict=True):
            p._grad = grad
        optimizer.step()
        return raw

    def normalize(raw: Any) -> Any:
        norm(tt.as_tensor(raw))
        return raw

    before = [p.tolist() for p in layer.parameters()]
    for function in (backward, set_grad, step, normalize):
        with pytest.raises(RuntimeError, match="writes to an array that was made outside") as found:
            jax.jit(function)(jax.numpy.ones((4, 3)))
        assert found.traceback[-1].path == Path(__file__)  # the line that writes is the last one
        layer.zero_grad()
    with pytest.raises(RuntimeError, match="a scheduler of learning rates steps while jax traces"):
        jax.jit(lambda raw: (scheduler.step(), raw)[1])(jax.numpy.ones(2))
    assert [p.tolist() for p in layer.parameters()] == before
    assert not optimizer.state
    assert scheduler.last_epoch == 0
    assert norm.num_batches_tracked is not None
    assert norm.num_batches_tracked.item() == 0
    step(jax.numpy.ones(2))  # outside of a trace it works
    assert [p.tolist() for p in layer.parameters()] != before


def test_an_optimizer_of_a_traced_functions_own_parameters_steps(jax: Any) -> None:
    def descend(raw: Any) -> Any:
        x = tt.as_tensor(raw).requires_grad_()
        optimizer = optim.SGD([x], lr=0.25, momentum=0.5)
        for _ in range(2):
            optimizer.zero_grad()
            (x**2).sum().backward()
            optimizer.step()
        return x.backend.unwrap(x.detach())

    # x = 8, gradient 16 -> 4; momentum 8 + 8 = 16 -> 0
    np.testing.assert_allclose(jax.jit(descend)(jax.numpy.full(2, 8.0)), [0.0, 0.0])


@pytest.mark.parametrize("own", [False, True])
def test_random_numbers_in_a_compiled_function_raise(
    own: bool, jax: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tt.backends.load("jax"), "own_random", own)
    draws: list[Callable[[], Any]] = [
        lambda: tt.rand(2),
        lambda: tt.randperm(2),
        lambda: F.dropout(tt.ones(2)),
        lambda: tt.numpy.random.rand(2),
        lambda: tt.manual_seed(0),
    ]
    for each in draws:

        def draw(raw: Any, each: Callable[[], Any] = each) -> Any:
            each()
            return raw

        with pytest.raises(RuntimeError, match=r"random numbers are drawn.* while jax traces"):
            jax.jit(draw)(jax.numpy.ones(2))
        assert draw(jax.numpy.ones(2)).shape == (2,)


def test_the_users_setting_of_64_bits_stays(jax: Any) -> None:
    before = jax.numpy.zeros(1, dtype=float).dtype
    assert tt.zeros(1, dtype=tt.float64).dtype == tt.float64
    assert tt.arange(3).sum().dtype == tt.int64
    assert jax.numpy.zeros(1, dtype=float).dtype == before


# -- Dask ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(6, 4), (2, 4, 3)])
def test_cross_entropy_on_dask_reads_nothing(shape: tuple[int, ...], reduction: str) -> None:
    pytest.importorskip("dask.array")
    numbers = np.random.default_rng(0)
    scores = numbers.standard_normal(shape).astype(np.float32)
    labels = numbers.integers(0, 4, (shape[0], *shape[2:]))
    labels.flat[2] = -100  # is ignored

    def program() -> list[Any]:
        x = tt.tensor(scores, requires_grad=True)
        before = getattr(x.backend, "host_copies", 0)
        loss = F.cross_entropy(x, tt.tensor(labels), reduction=reduction)
        loss.sum().backward()
        assert getattr(x.backend, "host_copies", 0) == before
        assert x.grad is not None
        return [loss.detach().numpy(), x.grad.numpy()]

    for found, expected in zip(on("dask", program), on("numpy", program), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    with tt.backend_context("dask"):
        loss = F.cross_entropy(tt.zeros(2, 3), tt.tensor([0, 7]))
        with pytest.raises(IndexError, match="Target 7 is out of bounds"):
            loss.item()


def test_arrays_of_dask_of_unknown_shape_raise() -> None:
    array = pytest.importorskip("dask.array")
    raw = array.arange(10.0)
    raw = raw[raw > 3]
    with tt.backend_context("dask"):
        for make in (tt.as_tensor, tt.tensor):
            with pytest.raises(ValueError, match=r"unknown shape.*compute_chunk_sizes"):
                make(raw)
        x = tt.arange(10.0)
        with pytest.raises(NotImplementedError, match="unknown shape"):
            x[x > 3]
        assert tt.as_tensor(raw.compute_chunk_sizes()).shape == (6,)


def reduce_with_dask() -> None:
    """Print results of reductions and a gradient of 256 MiB, and the memory that they took."""
    import resource

    import dask

    import tinytorch as tt

    dask.config.set({"array.chunk-size": "8MiB"}, scheduler="threads", num_workers=2)
    tt.set_backend("dask")
    tt.backends.load("dask").own_random = True  # chunks are drawn when they are read
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(tt.rand(16 * 1024, 4096).std().item(), tt.rand(16 * 1024, 4096).var(0).mean().item())
    x = tt.ones(16 * 1024, 4096)
    print(x.nbytes, (x * 2 + 1).mean().item(), x.std().item())
    print((x[:8192] @ tt.ones(4096, 8)).sum().item())
    w = tt.ones(4096, requires_grad=True)
    ((x[:8192] * w) ** 2).mean().backward()
    print(w.grad.sum().item())
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)


def test_reductions_of_dask_take_little_memory() -> None:
    pytest.importorskip("dask.array")
    std, var, *numbers, megabytes = run(reduce_with_dask, PYTHONHASHSEED="0").split()
    assert [float(std) ** 2, float(var)] == pytest.approx([1 / 12, 1 / 12], rel=1e-3)
    assert list(map(float, numbers)) == [256 << 20, 3.0, 0.0, 8192 * 4096 * 8, 2.0]
    assert int(megabytes) < 200  # of which two threads need some chunks of 8 MiB each
