"""Several GPUs: everything runs where its inputs are, whatever device the thread has chosen.

The stand-in pretends two; it refuses a kernel on arrays of another device than the current one,
so that an operation that does not switch devices is caught.
"""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from strictcupy.backend import pretended_cuda

import tinytorch as tt
from tinytorch import backends, nn, optim
from tinytorch.backends.numpy import NumpyBackend
from tinytorch.nn import functional as F


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    with pretended_cuda(2), tt.backend_context("numpy"):
        yield


def on(number: int) -> tt.device:
    return tt.device("cuda", number)


def leave(where: tt.device) -> None:
    """Have the other device be current, as after an operation there."""
    assert where.index is not None
    tt.zeros(1, device=on(1 - where.index))


def test_a_gradient_to_start_with_is_on_the_root_s_device() -> None:
    x = tt.ones(2, device="cuda:1", requires_grad=True)
    (x * 3).sum().backward(tt.tensor(2.0))
    assert x.grad is not None and x.grad.device == on(1) and x.grad.tolist() == [6, 6]
    for wrong in (tt.ones(2), tt.ones(2, device="cuda:0")):
        with pytest.raises(RuntimeError, match=f"expected device cuda:1 but got {wrong.device}"):
            (x * 3).backward(wrong)


class TestWhereTensorsAreMade:
    @pytest.mark.parametrize("name", ["cuda:0", "cuda:1"])
    @pytest.mark.parametrize(
        "make",
        [
            lambda where: tt.zeros(2, device=where), lambda where: tt.arange(3, device=where),
            lambda where: tt.tensor([1.0], device=where), lambda where: tt.randn(2, device=where),
            lambda where: tt.full((2,), 3.0, device=where), lambda where: tt.eye(2, device=where),
            lambda where: tt.ones(2).to(where), lambda where: tt.ones(2, device="cuda").to(where),
            lambda where: tt.zeros_like(tt.ones(2), device=where),
            lambda where: tt.as_tensor([1, 2], device=where),
            lambda where: tt.normal(0.0, 1.0, (2,), device=where),
            lambda where: tt.rand_like(tt.ones(2), device=where),
            lambda where: nn.Linear(2, 2, device=where).weight,
            lambda where: nn.Linear(2, 2).to(where).bias,
            lambda where: tt.ones(2).cuda(where), lambda where: tt.ones(2).cuda(tt.device(where)),
        ],
    )  # fmt: skip
    def test_a_tensor_is_made_on_the_device_of_a_name(
        self, make: Callable[[str], tt.Tensor], name: str
    ) -> None:
        assert make(name).device == tt.device(name)

    def test_a_tensor_is_made_on_the_device_of_a_number(self) -> None:
        assert tt.ones(2).cuda(1).device == on(1)
        assert tt.zeros(2, device=1).device == on(1)

    def test_a_device_scope_sets_the_device_of_new_tensors(self) -> None:
        with tt.device("cuda:1"):
            assert tt.zeros(2).device == on(1)
            assert tt.get_backend() == "cupy"
            with tt.device("cuda:0"):
                assert tt.zeros(2).device == on(0)
            assert tt.rand(2).device == on(1)
            assert tt.zeros(2, device="cpu").device == tt.device("cpu")
        assert tt.zeros(2).device == tt.device("cpu")

    def test_new_tensors_are_on_the_device_of_set_device(self) -> None:
        tt.cuda.set_device(1)
        assert tt.cuda.current_device() == 1
        assert tt.zeros(2, device="cuda").device == on(1)
        assert tt.ones(2).cuda().device == on(1)
        with tt.backend_context("cupy"):
            assert tt.zeros(2).device == on(1)
            tt.cuda.set_device("cuda:0")
            assert tt.zeros(2).device == on(0)

    def test_new_tensors_are_on_the_device_of_the_cuda_device_block(self) -> None:
        with tt.cuda.device(1):
            assert tt.zeros(2, device="cuda").device == on(1)
            with tt.cuda.device("cuda:0"):
                assert tt.zeros(2, device="cuda").device == on(0)
            assert tt.cuda.current_device() == 1
        assert tt.cuda.current_device() == 0
        assert tt.zeros(2, device="cuda").device == on(0)

    def test_new_tensors_are_on_the_device_chosen_through_cupy(self) -> None:
        tt.zeros(2, device="cuda:1").exp()
        with tt.zeros(0, device="cuda").backend.cuda.Device(1):
            assert tt.zeros(2, device="cuda").device == on(1)

    def test_an_unknown_device_is_named(self) -> None:
        with pytest.raises(RuntimeError, match="no cuda:2, only cuda:0, cuda:1"):
            tt.zeros(2, device="cuda:2")
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            tt.cuda.set_device(7)
        with pytest.raises(RuntimeError, match="CPU device index"):
            tt.zeros(2, device="cpu:1")

    def test_new_tensors_follow_their_tensor(self) -> None:
        x = tt.ones(2, device="cuda:1")
        made = [x.new_zeros(3), x.new_tensor([1.0]), tt.rand_like(x), x.clone(), x.detach()]
        assert {t.device for t in made} == {on(1)}

    def test_an_array_of_a_device_stays_there(self) -> None:
        raw = tt.ones(2, device="cuda:1")._data
        with tt.backend_context("cupy"):
            x = tt.as_tensor(raw)
        assert x.device == on(1)
        assert (x * 2).tolist() == [2.0, 2.0]


class TestOperations:
    """The device that happens to be current is another one than the inputs'."""

    def test_moving_memory_of_the_cpu_looks_at_no_tensor_of_a_gpu(self) -> None:
        with pretended_cuda(3):
            beside = tt.zeros(2, device=on(2))
        whole = tt.zeros(4, 5, device="cpu").t()
        whole[1:3].share_memory_()  # any use of the third device is an error now
        assert whole.is_shared()
        del beside

    @pytest.fixture(params=[0, 1])
    def where(self, request: pytest.FixtureRequest) -> Iterator[tt.device]:
        tt.cuda.set_device(1 - request.param)
        yield on(request.param)
        assert tt.cuda.current_device() == 1 - request.param, "an operation is no choice"

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: x + x, lambda x: 2 * x - 1, lambda x: x.exp(), lambda x: x.sum(0),
            lambda x: x @ x, lambda x: x[x > 0], lambda x: x.T.reshape(-1), lambda x: x.sort()[0],
            lambda x: F.softmax(x, 1), lambda x: F.gelu(x), lambda x: x.max(1)[0], lambda x: x ** 2,
            lambda x: tt.cat([x, x]), lambda x: tt.linalg.inv(x + 5 * tt.eye(3, device=x.device)),
            lambda x: F.conv2d(x[None, None], x[None, None, :2, :2]), lambda x: x.cumsum(0),
            lambda x: F.layer_norm(x, (3,)), lambda x: x.index_select(0, (x[0] > 9).long()),
            lambda x: tt.where(x > 0, x, 0.0), lambda x: x.std(1), lambda x: -x, lambda x: 1 / x,
        ],
    )  # fmt: skip
    def test_result_and_gradient_are_on_the_inputs_device_and_equal_the_cpus(
        self, function: Callable[[tt.Tensor], tt.Tensor], where: tt.device
    ) -> None:
        values = tt.linspace(-2.0, 2.5, 9).reshape(3, 3)
        x = values.to(where).requires_grad_()
        leave(where)
        y = function(x)
        assert y.device == where
        total = y.sum()
        leave(where)
        total.backward()
        assert x.grad.device == where
        host = values.clone().requires_grad_()
        expected = function(host)
        expected.sum().backward()
        assert tt.allclose(y.cpu(), expected)
        assert tt.allclose(x.grad.cpu(), host.grad)

    def test_in_place_operations_and_out_write_on_the_device_of_their_tensor(
        self, where: tt.device
    ) -> None:
        x, out = tt.ones(2, 2, device=where), tt.empty(2, 2, device=where)
        steps: list[Callable[[], Any]] = [
            lambda: x.add_(1).mul_(x), lambda: x.__setitem__((0, 0), 7), lambda: x.zero_(),
            lambda: x.__setitem__(x > 5, 0), lambda: x[1].fill_(3), lambda: tt.exp(x, out=out),
            lambda: x.copy_(tt.eye(2)),
        ]  # fmt: skip
        for step in steps:
            leave(where)
            step()
        assert x.tolist() == [[1, 0], [0, 1]]
        assert out.device == where

    def test_second_derivative_is_on_the_inputs_device(self, where: tt.device) -> None:
        x = tt.tensor([2.0], device=where, requires_grad=True)
        total = (x * x * x).sum()
        leave(where)
        (g,) = tt.autograd.grad(total, x, create_graph=True)
        total = g.sum()
        leave(where)
        (h,) = tt.autograd.grad(total, x)
        assert (h.item(), h.device) == (12.0, where)

    @pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
    def test_a_model_trains_on_the_device_of_its_parameters(
        self, where: tt.device, name: str
    ) -> None:
        tt.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
        model.to(where)
        optimizer = getattr(optim, name)(model.parameters(), lr=0.05)
        x, y = tt.randn(16, 3).to(where), tt.randint(0, 2, (16,)).to(where)
        losses = []
        for _ in range(8):
            optimizer.zero_grad()
            loss = F.cross_entropy(model.eval()(x), y)
            leave(where)
            loss.backward()
            leave(where)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            leave(where)
            optimizer.step()
            leave(where)
            losses.append(loss.item())
        assert losses[-1] < losses[0]
        assert {p.grad.device for p in model.parameters()} == {where}

    def test_a_tensors_repr_and_pickle_name_its_device(self, where: tt.device) -> None:
        x = tt.tensor([1.5, 2.0], device=where)
        leave(where)
        assert repr(x) == f"tensor([1.5000, 2.0000], device='{where}')"
        again = pickle.loads(pickle.dumps(x))
        assert again.device == where
        assert again.tolist() == [1.5, 2.0]


class TestBetweenDevices:
    def test_a_model_split_over_two_devices_has_the_cpus_gradients(self) -> None:
        tt.manual_seed(0)
        first, second = nn.Linear(3, 4), nn.Linear(4, 2)
        x = tt.randn(5, 3)
        expected = second(first(x).tanh()).square().sum()
        expected.backward()
        grads = [p.grad.clone() for p in (*first.parameters(), *second.parameters())]
        first.zero_grad()
        second.zero_grad()
        first.to("cuda:0"), second.to("cuda:1")
        loss = second(first(x.to("cuda:0")).tanh().to("cuda:1")).square().sum()
        loss.backward()
        assert loss.device == on(1)
        for p, g in zip((*first.parameters(), *second.parameters()), grads, strict=True):
            assert p.grad.device == p.device
            assert tt.allclose(p.grad.cpu(), g, atol=1e-6)
        both = optim.SGD([*first.parameters(), *second.parameters()], lr=0.1, momentum=0.9)
        before = first.weight.detach().cpu()
        both.step()
        assert not tt.equal(before, first.weight.detach().cpu())
        assert first.weight.device == on(0)

    def test_gradients_meet_on_their_device(self) -> None:
        x = tt.tensor([1.0, 2.0], device="cuda:0", requires_grad=True)
        y = x * x
        total = (y.to("cuda:1") * 3).sum() + (y * 5).sum().to("cuda:1") + y.cpu().sum()
        total.backward()
        assert x.grad.device == on(0)
        assert x.grad.tolist() == [18.0, 36.0]

    def test_second_derivative_over_a_move(self) -> None:
        x = tt.tensor([2.0], device="cuda:1", requires_grad=True)
        y = x.to("cuda:0") ** 3
        (g,) = tt.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = tt.autograd.grad(g.sum(), x)
        assert (g.device, h.item()) == (on(1), 12.0)

    def test_to_another_device_copies_and_to_the_same_does_not(self) -> None:
        x = tt.zeros(3, device="cuda:0")
        y = x.to("cuda:1")
        y += 1
        assert x.tolist() == [0.0, 0.0, 0.0]
        assert x.to("cuda:0") is x

    def test_a_strided_view_moves(self) -> None:
        x = tt.arange(6.0, device="cuda:0").reshape(2, 3).T[::2]
        assert x.to("cuda:1").tolist() == [[0, 3], [2, 5]]

    def test_copy_accepts_a_source_on_another_device(self) -> None:
        x = tt.zeros(2, device="cuda:0")
        x.copy_(tt.tensor([1.0, 2.0], device="cuda:1"))
        assert x.tolist() == [1.0, 2.0]

    @pytest.mark.parametrize(
        ("call", "op", "arguments"),
        [
            (lambda a, b: a + b, "add", ("input", "other")),
            (lambda a, b: a @ b, "matmul", ("input", "other")),
            (lambda a, b: a.add_(b), "add", ("input", "other")),
            (lambda a, b: tt.cat([a, b]), "cat", ("tensors",)),
            (lambda a, b: tt.where(a > 0, a, b), "where", ("condition", "other")),
            (lambda a, b: F.linear(a, b), "linear", ("input", "weight")),
            (lambda a, b: tt.maximum(a, b), "maximum", ("input", "other")),
        ],
    )
    def test_mixed_devices_are_refused_by_name(
        self, call: Callable[..., Any], op: str, arguments: tuple[str, ...]
    ) -> None:
        a, b = tt.ones(2, 2, device="cuda:0"), tt.ones(2, 2, device="cuda:1")
        with pytest.raises(RuntimeError) as caught:
            call(a, b)
        text = str(caught.value)
        assert "cuda:0 and cuda:1" in text
        assert text.startswith(f"{op}()")
        for name in arguments:
            assert f"'{name}'" in text

    def test_out_on_another_device_is_refused(self) -> None:
        with pytest.raises(RuntimeError, match="cuda:0.*cuda:1"):
            tt.exp(tt.ones(2, device="cuda:0"), out=tt.ones(2, device="cuda:1"))

    def test_numbers_from_the_cpu_go_with_every_device(self) -> None:
        x = tt.ones(2, device="cuda:1")
        assert (x * tt.tensor(3.0)).device == on(1)
        with pytest.raises(RuntimeError, match=r"cupy \(cuda:1\) and numpy \(cpu\)"):
            x * tt.ones(2)


class TestModules:
    @pytest.mark.parametrize(
        ("make", "shape"),
        [
            (
                lambda: nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2)),
                (2, 1, 8, 8),
            ),
            (lambda: nn.LSTM(4, 5, batch_first=True), (2, 3, 4)),
            (lambda: nn.GRU(4, 5, bidirectional=True), (2, 3, 4)),
            (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 3, 8)),
        ],
        ids=["convolution", "LSTM", "GRU", "transformer"],
    )
    def test_layers_compute_and_differentiate_on_the_device_of_their_input(
        self, make: Callable[[], nn.Module], shape: tuple[int, ...]
    ) -> None:
        module, x = make().to("cuda:1"), tt.randn(*shape, device="cuda:1", requires_grad=True)
        leave(on(1))
        out = module(x)
        total = (out[0] if isinstance(out, tuple) else out).square().sum()
        leave(on(1))
        total.backward()
        grads = [x.grad, *[p.grad for p in module.parameters()]]
        assert {g.device for g in grads} == {on(1)}
        assert all(tt.isfinite(g).all() for g in grads)

    def test_copies_and_states_go_where_their_owner_is(self) -> None:
        net = nn.Linear(3, 2).to("cuda:1")
        net(tt.ones(1, 3, device="cuda:1")).sum().backward()
        leave(on(1))
        optimizer = optim.Adam(net.parameters())
        optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
        for entry in saved["state"].values():
            entry.update({name: value.cpu() for name, value in entry.items()})
        again = optim.Adam(net.parameters())
        again.load_state_dict(saved)
        leave(on(1))
        again.step()
        assert {s["exp_avg"].device for s in again.state.values()} == {on(1)}
        leave(on(1))
        twin = copy.deepcopy(net)
        twin.load_state_dict({name: value.cpu() for name, value in net.state_dict().items()})
        assert {p.device for p in twin.parameters()} == {on(1)}
        assert tt.equal(twin.weight, net.weight)


class TestRandomNumbers:
    def test_each_device_has_a_generator(self) -> None:
        tt.manual_seed(3)
        expected = tt.rand(4).tolist()
        assert tt.rand(4, device="cuda:0").tolist() == expected
        assert tt.rand(4, device="cuda:1").tolist() == expected

    def test_manual_seed_all_seeds_every_device_and_manual_seed_the_current_one(self) -> None:
        tt.cuda.manual_seed_all(5)
        first = tt.rand(3, device="cuda:1").tolist()
        assert first == tt.rand(3, device="cuda:0").tolist()
        with tt.cuda.device(1):
            tt.cuda.manual_seed(5)
        assert tt.rand(3, device="cuda:1").tolist() == first
        assert tt.rand(3, device="cuda:0").tolist() != first

    def test_manual_seed_reaches_devices_in_use(self) -> None:
        tt.manual_seed(1)
        first = tt.rand(3, device="cuda:1").tolist()
        tt.manual_seed(1)
        assert tt.rand(3, device="cuda:1").tolist() == first

    def test_a_generator_belongs_to_a_device(self) -> None:
        generator = tt.Generator("cuda:1").manual_seed(0)
        assert generator.device == on(1)
        assert tt.rand(2, device="cuda:1", generator=generator).device == on(1)
        with pytest.raises(RuntimeError, match="is on cuda:1, the numbers are wanted on cuda:0"):
            tt.rand(2, device="cuda:0", generator=generator)


class TestState:
    def test_a_thread_takes_the_device_of_its_spawners_scope(self) -> None:
        found: list[tt.device] = []
        with tt.device("cuda:1"):
            thread = threading.Thread(target=lambda: found.append(tt.zeros(1).device))
            thread.start()
            thread.join()
        assert found == [on(1)]

    def test_a_state_carries_the_device(self) -> None:
        with tt.device("cuda:1"):
            state = pickle.loads(pickle.dumps(tt.get_state()))
        with state.apply():
            assert tt.zeros(1).device == on(1)
        assert tt.zeros(1).device == tt.device("cpu")

    def test_checks_that_failed_are_found_on_their_device(self) -> None:
        table = tt.ones(3, 2, device="cuda:1")
        F.embedding(tt.tensor([5], device="cuda:1"), table)
        tt.cuda.synchronize(0)
        with pytest.raises(IndexError, match="5"):
            tt.cuda.synchronize(1)


class Elsewhere(NumpyBackend):
    """A plug-in whose devices have not its own name."""

    name = "elsewhere"
    device_type = "npu"


@pytest.mark.parametrize("registered", [True, False], ids=["registered", "by its class"])
def test_a_plug_ins_devices_lead_back_to_it(
    registered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "_registry", dict(backends._registry))
    monkeypatch.setattr(backends, "_of_class", {})
    if registered:
        tt.register_backend("elsewhere", Elsewhere)
    backend: Any = "elsewhere" if registered else Elsewhere
    y = tt.ones(2, backend=backend)
    assert y.device == tt.device("npu")
    x = tt.tensor([1.0, 2.0], requires_grad=True)
    moved = x.to(y.device)
    assert moved.backend is y.backend and moved.device == y.device
    (moved * y).sum().backward()
    assert x.grad is not None and x.grad.device == tt.device("cpu")
    assert tt.zeros(2, device="npu").backend is y.backend
    with tt.device("npu"):
        assert tt.zeros(2).backend is y.backend
    with pytest.raises(RuntimeError, match="Expected one of .* device type .*: abacus"):
        x.to("abacus")
