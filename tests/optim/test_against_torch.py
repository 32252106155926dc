"""Ten steps of every optimizer beside PyTorch's, over the settings that change the formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tinytorch as tt
from tests.oracles import FEW_STEPS

pytestmark = pytest.mark.torch


SHAPES: list[tuple[int, ...]] = [(4, 3), (3,), (), (2, 3, 2)]

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3},
        {"lr": 0.1, "maximize": True, "weight_decay": 0.1},
        {"momentum": 0.9, "maximize": True},
    ],
    "Adam": [
        {},
        {"lr": 0.1, "amsgrad": True},
        {"lr": 0.1, "weight_decay": 0.1},
        {"betas": (0.5, 0.7), "eps": 0.1, "maximize": True},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
    ],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}],
    "Adadelta": [{}, {"lr": 10.0, "rho": 0.5, "weight_decay": 0.1, "maximize": True}],
    "Adagrad": [
        {},
        {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.3},
        {"maximize": True},
    ],
    "Adamax": [{}, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}],
    "NAdam": [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    ],
    "RAdam": [
        {},
        {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "decoupled_weight_decay": True, "weight_decay": 0.1, "betas": (0.8, 0.9)},
        {"maximize": True},
    ],
    "RMSprop": [
        {},
        {"lr": 0.1, "centered": True, "momentum": 0.9},
        {"momentum": 0.5, "weight_decay": 0.1, "maximize": True},
    ],
    "Rprop": [{}, {"lr": 0.1, "etas": (0.3, 1.7), "step_sizes": (1e-3, 0.2), "maximize": True}],
    "ASGD": [
        {},
        {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "t0": 3, "weight_decay": 0.1, "maximize": True},
    ],
    "Adafactor": [
        {},
        {
            "lr": 0.5, "beta2_decay": -0.5, "eps": (1e-3, 1e-2), "d": 1.5,
            "weight_decay": 0.1, "maximize": True,
        },
    ],
}  # fmt: skip
CASES = [(name, setting) for name, settings in SETTINGS.items() for setting in settings]


def train(lib: Any, name: str, setting: dict[str, Any], dtype: str) -> tuple[list[Any], Any]:
    """Ten steps on fixed gradients; the second parameter has none in the fifth."""
    rng = np.random.default_rng(0)

    def draw(shape: tuple[int, ...]) -> Any:
        return lib.tensor(np.asarray(rng.standard_normal(shape), dtype))

    params = [draw(shape).requires_grad_() for shape in SHAPES]
    optimizer = getattr(lib.optim, name)(params, **setting)
    for step in range(10):
        for p in params:
            p.grad = draw(tuple(p.shape))
        if step == 4:
            params[1].grad = None
        optimizer.step()
    return params, optimizer.state_dict()


def numbers(tensor: Any) -> Any:
    return tensor.detach().cpu().numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "setting"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_ten_steps_of_each_optimizer_are_pytorchs(
    name: str, setting: dict[str, Any], dtype: str
) -> None:
    ours, our_state = train(tt, name, setting, dtype)
    theirs, their_state = train(torch, name, setting, dtype)
    close = {"rtol": FEW_STEPS[dtype], "atol": FEW_STEPS[dtype]}
    for a, b in zip(ours, theirs, strict=True):
        assert numbers(a).dtype == dtype
        np.testing.assert_allclose(numbers(a), numbers(b), **close)
    assert our_state["param_groups"] == their_state["param_groups"]
    assert [*our_state["param_groups"][0]] == [*their_state["param_groups"][0]]
    assert [*our_state["state"]] == [*their_state["state"]]
    for position, entry in their_state["state"].items():
        assert [*our_state["state"][position]] == [*entry]
        for key, value in entry.items():
            mine = numbers(our_state["state"][position][key])
            assert mine.dtype == numbers(value).dtype
            np.testing.assert_allclose(mine, numbers(value), **close)


@pytest.mark.parametrize(("name", "setting"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_complex_parameters_are_updated_as_their_parts(name: str, setting: dict[str, Any]) -> None:
    if name == "Adafactor":
        pytest.skip("Adafactor refuses complex parameters, here and in PyTorch")

    def run(lib: Any) -> Any:
        rng = np.random.default_rng(1)
        start = rng.standard_normal((3, 2)) + 1j * rng.standard_normal((3, 2))
        p = lib.tensor(start).requires_grad_()
        optimizer = getattr(lib.optim, name)([p], **setting)
        for _ in range(5):
            slope = rng.standard_normal((3, 2)) + 1j * rng.standard_normal((3, 2))
            p.grad = lib.tensor(slope)
            optimizer.step()
        return numbers(p)

    np.testing.assert_allclose(run(tt), run(torch), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_muon_differs_from_torch_by_bfloat16_alone(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PyTorch's iteration is kept in float32, the results are the same."""
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.clone)
    start = np.sin(np.arange(shape[0] * shape[1], dtype=np.float32)).reshape(shape)
    ends = []
    for lib in (tt, torch):
        p = lib.tensor(start, requires_grad=True)
        optimizer = lib.optim.Muon([p], lr=0.02)
        for _ in range(5):
            optimizer.zero_grad()
            (p * p * p).sum().backward()
            optimizer.step()
        ends.append(p.tolist())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("setting", [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}])
def test_muon_matches_to_the_precision_of_bfloat16(setting: dict[str, Any]) -> None:
    def run(lib: Any) -> list[Any]:
        rng = np.random.default_rng(0)
        params = [
            lib.tensor(rng.standard_normal(shape).astype("f4")).requires_grad_()
            for shape in [(6, 4), (3, 8), (5, 5)]
        ]
        optimizer = lib.optim.Muon(params, lr=0.02, **setting)
        for _ in range(10):
            for p in params:
                p.grad = lib.tensor(rng.standard_normal(tuple(p.shape)).astype("f4"))
            optimizer.step()
        return [numbers(p) for p in params]

    for ours, theirs in zip(run(tt), run(torch), strict=True):
        # Ten steps of about 0.02 each; PyTorch keeps eight bits of their direction.
        np.testing.assert_allclose(ours, theirs, atol=4e-3)


@pytest.mark.parametrize(
    "setting",
    [
        {"lr": 1e-3},
        {"lr": 0.05, "history_size": 2},
        {"lr": 0.1, "max_iter": 5, "max_eval": 3},
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 7},
        # The trials of a line search are evaluations, too: these end in the midst of one.
        {"line_search_fn": "strong_wolfe", "max_iter": 1},
        {"line_search_fn": "strong_wolfe", "max_iter": 4, "lr": 0.01},
        {"line_search_fn": "strong_wolfe", "max_eval": 6, "lr": 30.0},
    ],
)
def test_lbfgs_follows_the_same_path(setting: dict[str, Any]) -> None:
    def run(lib: Any) -> tuple[Any, dict[str, Any]]:
        x = lib.tensor([-1.2, 1.0], dtype=lib.float64, requires_grad=True)
        optimizer = lib.optim.LBFGS([x], **setting)

        def closure() -> Any:
            optimizer.zero_grad()
            a, b = x[0], x[1]
            slope = b - a * a
            loss = (1 - a) * (1 - a) + 100 * slope * slope
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(3)]
        return [*losses, *x.tolist()], optimizer.state_dict()["state"][0]

    ours, our_state = run(tt)
    theirs, their_state = run(torch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert [*our_state] == [*their_state]
    for key in ("func_evals", "n_iter"):
        assert our_state[key] == their_state[key]
    for key in ("old_dirs", "old_stps", "ro"):
        assert len(our_state[key]) == len(their_state[key])


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "NAdam", "RMSprop", "ASGD", "LBFGS"])
def test_state_dict_loads_into_pytorch_and_back(name: str) -> None:
    setting = {"momentum": 0.9} if name == "SGD" else {}

    def model(lib: Any) -> tuple[Any, Any]:
        p = lib.tensor([1.0, -2.0, 3.0], dtype=lib.float64, requires_grad=True)
        return p, getattr(lib.optim, name)([p], lr=0.1, **setting)

    def step(p: Any, optimizer: Any) -> None:
        def closure() -> Any:
            optimizer.zero_grad()
            loss = (p * p * p * p).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    def across(lib: Any, state: Any) -> Any:
        if hasattr(state, "detach"):
            return lib.tensor(numbers(state))
        if isinstance(state, dict):
            return {key: across(lib, value) for key, value in state.items()}
        return [across(lib, v) for v in state] if isinstance(state, list) else state

    ours, our_optimizer = model(tt)
    theirs, their_optimizer = model(torch)
    step(ours, our_optimizer)
    their_optimizer.load_state_dict(across(torch, our_optimizer.state_dict()))
    with torch.no_grad():
        theirs.copy_(torch.tensor(numbers(ours)))
    step(ours, our_optimizer)
    step(theirs, their_optimizer)
    # NAdam's float32 product of momenta is loaded as the parameter's float64.
    np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=1e-9)

    again, again_optimizer = model(tt)
    with tt.no_grad():
        again.copy_(tt.tensor(numbers(theirs)))
    again_optimizer.load_state_dict(across(tt, their_optimizer.state_dict()))
    step(again, again_optimizer)
    step(theirs, their_optimizer)
    np.testing.assert_allclose(numbers(again), numbers(theirs), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(SETTINGS) + ["LBFGS", "Muon"])
def test_repr_and_defaults_of_optimizers_are_pytorchs(name: str) -> None:
    def make(lib: Any) -> Any:
        groups = [lib.ones(2, 2, requires_grad=True) for _ in range(2)]
        if name == "LBFGS":
            return lib.optim.LBFGS(groups)
        return getattr(lib.optim, name)([{"params": [p]} for p in groups])

    assert repr(make(tt)) == repr(make(torch))
    assert list(make(tt).defaults.items()) == list(make(torch).defaults.items())


def test_a_parameter_given_twice_counts_at_its_last_place() -> None:
    kept = []
    for lib in (tt, torch):
        p = lib.ones(2, requires_grad=True)
        with pytest.warns(UserWarning, match="duplicate parameters"):
            optimizer = lib.optim.SGD([p, p], lr=0.1, momentum=0.9)
        p.sum().backward()
        optimizer.step()
        state = optimizer.state_dict()
        kept.append((list(state["state"]), state["param_groups"][0]["params"]))
    assert kept[0] == kept[1] == ([1], [1, 1])


def test_repr_shows_a_tensor_of_one_element_as_torch_does() -> None:
    for lr in (0.5, [0.5]):
        ours, theirs = (
            repr(lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=lib.tensor(lr)))
            for lib in (tt, torch)
        )
        assert ours == theirs


def test_complex_parameters_are_refused_where_pytorch_refuses_them() -> None:
    for lib in (tt, torch):
        p = lib.ones(2, 2, dtype=lib.complex64, requires_grad=True)
        with pytest.raises(ValueError, match=r"Complex params at indices \[\[0, 0\]\]: SparseAdam"):
            lib.optim.SparseAdam([p])
        optimizer = lib.optim.Muon([p])
        abs(p).sum().backward()
        with pytest.raises(RuntimeError, match="Muon does not support complex parameters"):
            optimizer.step()


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": -1}), ("SGD", {"momentum": -1}), ("SGD", {"weight_decay": -1}),
    ("SGD", {"nesterov": True}), ("SGD", {"nesterov": True, "momentum": 1, "dampening": 1}),
    ("SGD", {"fused": True, "foreach": True}), ("SGD", {"fused": True, "differentiable": True}),
    ("Adam", {"lr": -1}), ("Adam", {"eps": -1}), ("Adam", {"betas": (1.0, 0.9)}),
    ("Adam", {"betas": (0.9, 1.0)}), ("Adam", {"weight_decay": -1}),
    ("Adam", {"fused": True, "foreach": True}), ("Adam", {"fused": True, "differentiable": True}),
    ("AdamW", {"lr": -1}),
    ("Adadelta", {"lr": -1}), ("Adadelta", {"rho": 1.5}), ("Adadelta", {"eps": -1}),
    ("Adadelta", {"weight_decay": -1}),
    ("Adagrad", {"lr": -1}), ("Adagrad", {"lr_decay": -1}), ("Adagrad", {"weight_decay": -1}),
    ("Adagrad", {"initial_accumulator_value": -1}), ("Adagrad", {"eps": -1}),
    ("Adagrad", {"fused": True, "foreach": True}),
    ("Adamax", {"betas": (1, 0.9)}), ("Adamax", {"eps": -1}), ("Adamax", {"weight_decay": -1}),
    ("NAdam", {"betas": (0.9, 1)}), ("NAdam", {"momentum_decay": -1}), ("NAdam", {"eps": -1}),
    ("RAdam", {"betas": (1, 0.9)}), ("RAdam", {"weight_decay": -1}), ("RAdam", {"lr": -1}),
    ("RMSprop", {"alpha": -1}), ("RMSprop", {"momentum": -1}), ("RMSprop", {"eps": -1}),
    ("Rprop", {"lr": -1}), ("Rprop", {"etas": (1.5, 1.2)}),
    ("ASGD", {"lr": -1}), ("ASGD", {"weight_decay": -1}),
    ("Adafactor", {"lr": -1}), ("Adafactor", {"beta2_decay": 1}), ("Adafactor", {"d": 0.5}),
    ("Adafactor", {"eps": (-1, 1)}), ("Adafactor", {"eps": (None, -1)}),
    ("Adafactor", {"weight_decay": -1}),
    ("LBFGS", {"lr": -1}),
    ("Muon", {"lr": -1}), ("Muon", {"momentum": -1}), ("Muon", {"weight_decay": -1}),
    ("Muon", {"adjust_lr_fn": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "setting"), WRONG)
def test_arguments_are_refused_in_the_same_words(name: str, setting: dict[str, Any]) -> None:
    with pytest.raises((ValueError, RuntimeError)) as theirs:
        getattr(torch.optim, name)([torch.ones(2, 2, requires_grad=True)], **setting)
    with pytest.raises((ValueError, RuntimeError)) as ours:
        getattr(tt.optim, name)([tt.ones(2, 2, requires_grad=True)], **setting)
    assert type(ours.value) is type(theirs.value)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adadelta", "Adafactor", "Rprop", "ASGD", "Muon"])
def test_lr_tensors_of_several_elements_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        getattr(tt.optim, name)([tt.ones(2, 2, requires_grad=True)], lr=tt.ones(2))


DIFFERENTIABLE = [
    # PyTorch detaches the first velocity, so momentum has a test of its own.
    ("SGD", {"weight_decay": 0.1}), ("Adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("AdamW", {}), ("Adagrad", {}), ("Adadelta", {}), ("Adamax", {}), ("NAdam", {}), ("RAdam", {}),
    ("RMSprop", {"centered": True, "momentum": 0.5}), ("ASGD", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "setting"), DIFFERENTIABLE)
def test_gradients_flow_through_a_differentiable_step(name: str, setting: dict[str, Any]) -> None:
    def run(lib: Any) -> Any:
        start = lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64, requires_grad=True)
        p = start.clone()
        optimizer = getattr(lib.optim, name)([p], lr=0.1, differentiable=True, **setting)
        p.grad = start * start * start
        optimizer.step()
        (p * p).sum().backward()
        return numbers(start.grad)

    # PyTorch computes with the step count as a float32 tensor here.
    np.testing.assert_allclose(run(tt), run(torch), rtol=2e-6)


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_gradients_flow_to_the_rate_and_the_betas(name: str) -> None:
    def run(lib: Any) -> list[float]:
        rates = [lib.tensor(value, requires_grad=True) for value in (0.1, 0.8, 0.9)]
        p = lib.tensor([1.0, -2.0], requires_grad=True).clone()
        lr, *betas = rates
        optimizer = getattr(lib.optim, name)([p], lr, tuple(betas), differentiable=True)
        for grad in ([0.3, 0.1], [0.2, -0.4]):
            p.grad = lib.tensor(grad)
            optimizer.step()
        p.sum().backward()
        return [rate.grad.item() for rate in rates]

    np.testing.assert_allclose(run(tt), run(torch), rtol=1e-5)
