"""Three steps of every optimizer's functional form beside PyTorch's, and what they refuse."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

SHAPES: list[tuple[int, ...]] = [(4, 3), (), (2, 2)]
SIMPLE = {"lr": 0.1, "weight_decay": 0.1, "eps": 1e-3}
BETAS = {"beta1": 0.8, "beta2": 0.95}
#: By form, the state of a parameter before the first step, and settings.
FORMS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "adadelta": ({"square_avgs": 0.0, "acc_deltas": 0.0},
                 [SIMPLE | {"rho": 0.8, "maximize": each} for each in (True, False)]),
    "adagrad": ({"state_sums": 0.3}, [SIMPLE | {"lr_decay": 0.1, "maximize": False}]),
    "adam": ({"exp_avgs": 0.0, "exp_avg_sqs": 0.0, "max_exp_avg_sqs": 0.0},
             [SIMPLE | BETAS | {"amsgrad": each, "maximize": each, "decoupled_weight_decay": each}
              for each in (True, False)]),
    "adamw": ({"exp_avgs": 0.0, "exp_avg_sqs": 0.0, "max_exp_avg_sqs": None},
              [SIMPLE | BETAS | {"amsgrad": False, "maximize": True}]),
    "adamax": ({"exp_avgs": 0.0, "exp_infs": 0.1}, [SIMPLE | BETAS, SIMPLE | BETAS | {"lr": 1.0}]),
    "asgd": ({"axs": 0.0, "mus": (1.0,), "etas": (0.1,)},
             [{"lambd": 0.1, "lr": 0.1, "t0": 1, "alpha": 0.7, "weight_decay": 0.1}]),
    "nadam": ({"exp_avgs": 0.0, "exp_avg_sqs": 0.0, "mu_products": (1.0,)},
              [SIMPLE | BETAS | {"momentum_decay": 0.1, "decoupled_weight_decay": each}
               for each in (True, False)]),
    "radam": ({"exp_avgs": 0.0, "exp_avg_sqs": 0.0}, [SIMPLE | BETAS]),
    "rmsprop": ({"square_avgs": 0.0, "grad_avgs": 0.0, "momentum_buffer_list": 0.0},
                [SIMPLE | {"alpha": 0.8, "momentum": 0.5, "centered": True},
                 SIMPLE | {"alpha": 0.8, "momentum": 0, "centered": False}]),
    "rprop": ({"prevs": 0.0, "step_sizes": 0.1},
              [{"step_size_min": 1e-3, "step_size_max": 1, "etaminus": 0.4, "etaplus": 1.3}]),
    "sgd": ({"momentum_buffer_list": None},
            [{"lr": 0.1, "weight_decay": 0.1, "momentum": m, "dampening": 0.3, "nesterov": False,
              "maximize": m > 0} for m in (0.0, 0.9)]),
}  # fmt: skip
CASES = [(form, index) for form, (_, settings) in FORMS.items() for index in range(len(settings))]


def form_of(library: Any, name: str) -> Any:
    return getattr(importlib.import_module(f"{library.__name__}.optim.{name}"), name)


def columns(library: Any, name: str) -> dict[str, list[Any]]:
    """The lists of state that a form takes: an entry is shaped as its parameter or, in a tuple,
    one number."""
    state = FORMS[name][0] | ({} if name == "sgd" else {"state_steps": (0.0,)})
    return {
        key: [] if value is None and name != "sgd" else [
            None if value is None
            else library.tensor(value[0]) if isinstance(value, tuple)
            else library.full(shape, value, dtype=library.float64)
            for shape in SHAPES
        ]
        for key, value in state.items()
    }  # fmt: skip


def steps(library: Any, name: str, index: int) -> list[Any]:
    """Parameters and state after three steps."""
    draws = np.random.default_rng(0)
    params = [library.tensor(draws.normal(size=shape)) for shape in SHAPES]
    state, settings = columns(library, name), FORMS[name][1][index]
    for _ in range(3):
        grads = [library.tensor(draws.normal(size=shape)) for shape in SHAPES]
        form_of(library, name)(params, grads, *state.values(), **settings)
    return [x if x is None else x.tolist() for x in params + sum(state.values(), [])]


@pytest.mark.parametrize(("name", "index"), CASES)
def test_three_steps_of_functional_optimizers_are_pytorchs(
    torch: Any, name: str, index: int
) -> None:
    ours, theirs = (steps(library, name, index) for library in (tt, torch))
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-6)


@pytest.mark.parametrize("name", FORMS)
def test_signatures_of_functional_optimizers_are_pytorchs(torch: Any, name: str) -> None:
    mine, other = (inspect.signature(form_of(library, name)) for library in (tt, torch))
    for parameter in other.parameters.values():
        same = mine.parameters[parameter.name]
        assert (same.kind, same.default) == (parameter.kind, parameter.default), parameter
    assert [*mine.parameters] == [*other.parameters]


@pytest.mark.parametrize("name", sorted({*FORMS} - {"asgd", "sgd"}))
def test_counts_of_steps_are_tensors(lib: Any, name: str) -> None:
    state = columns(lib, name) | {"state_steps": [0, 0, 0]}
    params = [lib.ones(shape, dtype=lib.float64) for shape in SHAPES]
    with pytest.raises(RuntimeError, match="must contain a list of singleton tensors"):
        form_of(lib, name)(params, params, *state.values(), **FORMS[name][1][0])


def test_all_of_them_are_in_one_module(lib: Any) -> None:
    module = importlib.import_module(f"{lib.__name__}.optim._functional")
    assert all(getattr(module, name) is form_of(lib, name) for name in FORMS)


def test_a_scale_of_gradients_is_refused() -> None:
    w = tt.ones(1)
    with pytest.raises(NotImplementedError, match="SGD: grad_scale"):
        form_of(tt, "sgd")([w], [w], [None], grad_scale=w, **FORMS["sgd"][1][0])


def test_gradients_flow_through_a_step(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        w = library.ones(2, requires_grad=True)
        p, g = w.clone(), (w * library.tensor([1.0, 2.0])).clone()
        state = [library.zeros(2)], [library.zeros(2)], [], [library.tensor(1.0)]
        settings = SIMPLE | BETAS | {"amsgrad": False, "maximize": False}
        form_of(library, "adam")([p], [g], *state, differentiable=True, **settings)
        p.sum().backward()
        found.append(w.grad.tolist())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
