"""What every optimizer shares: groups, state, hooks, and how they are saved."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.optim import SGD, Adam, AdamW, Optimizer
from tinytorch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)


def parameter(*values: float, dtype: Any = None) -> tt.Tensor:
    return tt.tensor(list(values), dtype=dtype or tt.float32, requires_grad=True)


def with_grad(*values: float) -> tt.Tensor:
    p = parameter(*values)
    p.grad = tt.ones_like(p)
    return p


# -- parameter groups --------------------------------------------------------------------


def test_groups_take_defaults_for_what_they_do_not_set() -> None:
    a, b = parameter(1.0), parameter(2.0)
    optimizer = SGD([{"params": [a], "lr": 0.5}, {"params": b}], lr=0.1, momentum=0.9)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.1]
    assert [group["momentum"] for group in optimizer.param_groups] == [0.9, 0.9]
    assert optimizer.param_groups[1]["params"] == [b]


def test_each_group_steps_with_its_own_rate() -> None:
    a, b = with_grad(1.0), with_grad(1.0)
    SGD([{"params": [a], "lr": 0.5}, {"params": [b]}], lr=0.25).step()
    assert (a.item(), b.item()) == (0.5, 0.75)


def test_a_changed_rate_takes_effect() -> None:
    p = with_grad(1.0)
    optimizer = SGD([p], lr=0.5)
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    assert p.item() == 0.75


def test_params_may_be_a_generator() -> None:
    tensors = [parameter(1.0), parameter(2.0)]
    assert SGD(p for p in tensors).param_groups[0]["params"] == tensors


def test_named_parameters_keep_their_names() -> None:
    a, b = parameter(1.0), parameter(2.0)
    optimizer = SGD([("weight", a), ("bias", b)])
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"][0] is a
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    assert "param_names" in repr(optimizer)


def test_a_tensor_that_retains_its_gradient_may_be_optimized() -> None:
    p = parameter(1.0) * 2
    p.retain_grad()
    assert SGD([p]).param_groups[0]["params"][0] is p


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: SGD(parameter(1.0)), TypeError,
     "params argument given to the optimizer should be an iterable of Tensors or dicts"),
    (lambda: SGD([]), ValueError, "optimizer got an empty parameter list"),
    (lambda: SGD([1]), TypeError,
     "optimizer can only optimize Tensors, but one of the params is int"),
    (lambda: SGD([parameter(1.0) * 2]), ValueError, "can't optimize a non-leaf Tensor"),
    (lambda: SGD([{"params": {parameter(1.0)}}]), TypeError,
     "optimizer parameters need to be organized in ordered collections"),
    (lambda: SGD([parameter(1.0)]).add_param_group([parameter(1.0)]), TypeError,
     "param_group must be a dict, but got <class 'list'>"),
    (lambda: SGD([parameter(1.0)]).add_param_group({"params": [("a", parameter(1.0))]}),
     ValueError, "cannot add param group with names to the optimizer"),
    (lambda: SGD([("a", parameter(1.0))]).add_param_group({"params": parameter(1.0)}),
     ValueError, "cannot add param group without names to the optimizer"),
    (lambda: SGD([("a", parameter(1.0)), parameter(1.0)]), ValueError,
     "all optimizer params should be with/without names. Some param names are missing"),
    (lambda: tt.optim.LBFGS([{"params": parameter(1.0)}, {"params": parameter(1.0)}]),
     ValueError, "LBFGS doesn't support per-parameter options"),
    (lambda: tt.optim.Muon([parameter(1.0)]), ValueError, "Muon only supports 2D parameters"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), WRONG)
def test_wrong_parameters_are_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


def test_a_parameter_in_two_groups_is_refused() -> None:
    p = parameter(1.0)
    with pytest.raises(ValueError, match="some parameters appear in more than one parameter group"):
        SGD([{"params": [p]}, {"params": [p]}])


def test_a_parameter_given_twice_is_warned_of() -> None:
    p = parameter(1.0)
    with pytest.warns(UserWarning, match="parameter group with duplicate parameters"):
        SGD([p, p])


# -- stepping ----------------------------------------------------------------------------


def test_parameters_without_gradient_are_skipped() -> None:
    a, b = with_grad(1.0), parameter(1.0)
    optimizer = Adam([a, b], lr=0.5)
    optimizer.step()
    assert b.item() == 1.0
    assert [*optimizer.state_dict()["state"]] == [0]


def test_step_returns_what_the_closure_returns() -> None:
    p = parameter(3.0)
    optimizer = SGD([p], lr=0.5)

    def closure() -> tt.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with tt.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert p.item() == 0.0
    assert optimizer.step() is None


def test_zero_grad_sets_gradients_to_zero_or_none() -> None:
    p = with_grad(1.0)
    optimizer = SGD([p])
    gradient = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is not None and p.grad.tolist() == [0.0]
    assert gradient is not None and gradient.tolist() == [0.0]
    optimizer.zero_grad()
    assert p.grad is None


def test_a_step_keeps_the_tensor_its_memory_and_its_dtype() -> None:
    p = with_grad(1.0, 2.0)
    view = p.detach()
    SGD([p], lr=0.5).step()
    assert view.tolist() == [0.5, 1.5]
    assert p.dtype == tt.float32 and p.is_leaf and p.requires_grad


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_state_has_the_dtype_of_its_parameter(dtype: str) -> None:
    p = parameter(1.0, 2.0, dtype=getattr(tt, dtype))
    p.grad = tt.ones_like(p)
    optimizer = Adam([p], eps=1e-4, amsgrad=True)
    optimizer.step()
    state = optimizer.state[p]
    assert p.dtype == dtype
    assert {state[k].dtype.name for k in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")} == {dtype}
    assert state["step"].dtype == tt.float32


def test_backward_notices_that_a_step_changed_what_it_saved() -> None:
    p = parameter(1.0, 2.0)
    loss = (p * p).sum()
    p.grad = tt.ones_like(p)
    SGD([p]).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("make", [SGD, Adam, AdamW, tt.optim.RMSprop, tt.optim.Adadelta])
def test_blocks_match_whole_arrays(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(layout: str) -> Any:
        rng = np.random.default_rng(0)
        p = tt.tensor(rng.standard_normal((7, 50)), requires_grad=True)
        if layout == "transposed":
            p = tt.tensor(p.detach().numpy(force=True).T.copy()).t().requires_grad_()
        xp = type(p.backend)
        monkeypatch.setattr(xp, "block_elements", 64 if layout == "blocks" else None)
        monkeypatch.setattr(xp, "kernel", tt.Backend.kernel)  # a fused one walks no blocks
        optimizer = make([p], lr=0.1, weight_decay=0.1, maximize=True)
        for _ in range(3):
            p.grad = tt.tensor(rng.standard_normal((7, 50)))
            optimizer.step()
        return p.detach().numpy(force=True)

    whole = run("whole")
    np.testing.assert_array_equal(run("blocks"), whole)
    np.testing.assert_array_equal(run("transposed"), whole)


def test_a_learning_rate_may_be_a_tensor() -> None:
    p = with_grad(1.0)
    SGD([p], lr=tt.tensor(0.5)).step()
    assert p.item() == 0.5


def test_mixed_tensor_betas_are_refused() -> None:
    with pytest.raises(ValueError, match="betas must be either both floats or both Tensors"):
        Adam([parameter(1.0)], betas=(tt.tensor(0.9), 0.9))
    with pytest.raises(ValueError, match="not supported for capturable=False and foreach=True"):
        Adam([parameter(1.0)], lr=tt.tensor(0.1), foreach=True)


def test_momentum_is_differentiable_through_two_steps() -> None:
    start = parameter(1.0, dtype=tt.float64)
    rate = tt.tensor(0.1, dtype=tt.float64, requires_grad=True)
    p = start.clone()
    optimizer = SGD([p], lr=rate, momentum=0.5, differentiable=True)
    for _ in range(2):
        p.grad = start * 2
        optimizer.step()
    p.sum().backward()
    # Velocities 2s and 3s: p = s - 5 * rate * s.
    assert p.item() == pytest.approx(0.5)
    assert start.grad is not None and start.grad.item() == pytest.approx(0.5)
    assert rate.grad is not None and rate.grad.item() == pytest.approx(-5.0)


def test_nadam_is_differentiable_in_the_product_of_its_momentum() -> None:
    def step(p: Any, grad: Any, product: Any) -> Any:
        p = p.clone()
        p.grad = grad
        optimizer = tt.optim.NAdam([p], lr=0.9, differentiable=True)
        state = {"exp_avg": grad * 0.5, "exp_avg_sq": grad**2, "mu_product": product.clone()}
        optimizer.state[p].update(step=tt.tensor(10.0, dtype=tt.float64), **state)
        optimizer.step()
        # What is computed counts as an output only if it requires grad, also between the steps.
        return p, *(value for value in optimizer.state[p].values() if value.requires_grad)

    values = [[0.3, -0.7], [0.5, 0.2], 0.9]
    inputs = [tt.tensor(v, dtype=tt.float64, requires_grad=True) for v in values]
    assert tt.autograd.gradcheck(step, inputs)


def test_lbfgs_takes_a_gradient_of_zeros() -> None:
    p = with_grad(1.0)
    p.grad = tt.zeros_like(p)
    optimizer = tt.optim.LBFGS([p], tolerance_grad=-1.0)
    assert optimizer.step(lambda: tt.tensor(3.0)).item() == 3.0 and p.item() == 1.0


def test_infinite_and_missing_numbers_pass_without_a_warning() -> None:
    p = parameter(1.0, 2.0, 3.0)
    p.grad = tt.tensor([float("inf"), float("nan"), 1e30])
    Adam([p], lr=0.5).step()
    assert p.isnan().tolist() == [True, True, False]


# -- hooks -------------------------------------------------------------------------------


def test_step_hooks_see_the_call_in_order() -> None:
    p = with_grad(1.0)
    optimizer = SGD([p], lr=0.5)
    seen: list[Any] = []

    def before(opt: Optimizer, args: Any, kwargs: Any) -> None:
        seen.append(("before", opt is optimizer, args[0] is optimizer, kwargs, p.item()))

    def after(opt: Optimizer, args: Any, kwargs: Any) -> None:
        seen.append(("after", opt is optimizer, args[0] is optimizer, kwargs, p.item()))

    handles = [optimizer.register_step_pre_hook(before), optimizer.register_step_post_hook(after)]
    optimizer.step()
    assert seen == [("before", True, True, {}, 1.0), ("after", True, True, {}, 0.5)]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 2


def test_a_pre_hook_may_replace_the_arguments() -> None:
    optimizer = SGD([with_grad(1.0)])
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((opt, lambda: 7), {}))
    assert optimizer.step() == 7


def test_a_pre_hook_that_returns_something_else_is_refused() -> None:
    optimizer = SGD([with_grad(1.0)])
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


def test_global_hooks_run_for_every_optimizer() -> None:
    seen: list[str] = []
    before = register_optimizer_step_pre_hook(lambda o, a, k: seen.append(type(o).__name__))
    after = register_optimizer_step_post_hook(lambda o, a, k: seen.append("after"))
    with before, after:
        SGD([with_grad(1.0)]).step()
        Adam([with_grad(1.0)]).step()
    SGD([with_grad(1.0)]).step()
    assert seen == ["SGD", "after", "Adam", "after"]


def test_hooks_run_around_the_step_of_a_users_optimizer() -> None:
    class Nothing(Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {})

        def step(self, closure: Any = None) -> str:
            return "stepped"

    optimizer = Nothing([parameter(1.0)])
    seen: list[str] = []
    optimizer.register_step_post_hook(lambda o, a, k: seen.append("after"))
    assert optimizer.step() == "stepped"
    assert seen == ["after"]
    assert Nothing.step.__name__ == "step"


def test_state_dict_hooks_run_in_order() -> None:
    optimizer = SGD([parameter(1.0)])
    order: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda o: order.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: order.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: order.append("loading"))
    optimizer.register_load_state_dict_post_hook(lambda o: order.append("loaded"))
    state = optimizer.state_dict()
    assert state["extra"] == 1
    optimizer.load_state_dict(state)
    assert order == ["first", "second", "loading", "loaded"]


# -- saving --------------------------------------------------------------------------------


def trained() -> tuple[tt.Tensor, Adam]:
    p = with_grad(1.0, 2.0)
    optimizer = Adam([p], lr=0.1, amsgrad=True)
    optimizer.step()
    return p, optimizer


def test_training_continues_from_a_state_dict() -> None:
    p, optimizer = trained()
    saved = copy.deepcopy(optimizer.state_dict())
    q = tt.tensor(p.tolist(), requires_grad=True)
    q.grad = tt.ones_like(q)
    other = Adam([q], lr=9.0)
    other.load_state_dict(saved)
    optimizer.step()
    other.step()
    assert q.tolist() == p.tolist()
    assert saved["state"][0]["step"].item() == 1.0


def test_loading_casts_state_but_not_the_step() -> None:
    _, optimizer = trained()
    p = parameter(1.0, 2.0, dtype=tt.float64)
    other = Adam([p])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[p]["exp_avg"].dtype == tt.float64
    assert other.state[p]["step"].dtype == tt.float32


def test_loading_leaves_the_state_dict_alone() -> None:
    p, optimizer = trained()
    saved = optimizer.state_dict()
    before = repr(saved)
    other = Adam([with_grad(1.0, 2.0)])
    other.load_state_dict(copy.deepcopy(saved))
    other.step()
    assert repr(saved) == before


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ([1, 1], "loaded state dict has a different number of parameter groups"),
        ([2], "a parameter group that doesn't match the size of optimizer's group"),
    ],
)
def test_a_state_dict_of_another_shape_is_refused(groups: list[int], text: str) -> None:
    other = SGD([{"params": [parameter(1.0) for _ in range(n)]} for n in groups])
    with pytest.raises(ValueError, match=text):
        SGD([parameter(1.0)]).load_state_dict(other.state_dict())


def test_names_of_the_optimizer_survive_loading() -> None:
    optimizer = SGD([("mine", parameter(1.0))])
    optimizer.load_state_dict(SGD([("saved", parameter(1.0))], lr=0.5).state_dict())
    assert optimizer.param_groups[0]["param_names"] == ["mine"]
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_adamw_stays_decoupled_after_loading_adams_state() -> None:
    optimizer = AdamW([parameter(1.0)])
    optimizer.load_state_dict(Adam([parameter(1.0)]).state_dict())
    assert optimizer.param_groups[0]["decoupled_weight_decay"] is True


def test_numbers_of_old_checkpoints_are_understood() -> None:
    p, optimizer = trained()
    saved = optimizer.state_dict()
    saved["state"][0]["step"] = 1
    other = Adam([p])
    other.load_state_dict(saved)
    other.step()
    assert other.state[p]["step"].item() == 2.0

    sgd = SGD([with_grad(1.0)], lr=0.5, momentum=0.9)
    state = sgd.state_dict()
    state["state"] = {0: {"momentum_buffer": None}}
    sgd.load_state_dict(state)
    sgd.step()
    assert sgd.param_groups[0]["params"][0].item() == 0.5


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_a_copied_optimizer_updates_the_copied_parameters(copied: Any) -> None:
    p, optimizer = trained()
    p.grad = None
    other = copied(optimizer)
    (q,) = other.param_groups[0]["params"]
    assert q is not p and [*other.state] == [q]
    p.grad, q.grad = tt.ones_like(p), tt.ones_like(q)
    optimizer.step()
    other.step()
    assert q.tolist() == p.tolist()


def test_an_optimizer_keeps_nothing_else_alive() -> None:
    p, optimizer = trained()
    ref = weakref.ref(optimizer)
    del optimizer
    assert ref() is None


def test_a_class_that_wraps_another_optimizer_needs_no_init_of_its_base(torch: Any) -> None:
    for library in (tt, torch):

        class Wrapper(library.optim.Optimizer):  # type: ignore[name-defined, misc]
            def __init__(self, optimizer: Any) -> None:
                self.optimizer = optimizer
                self.param_groups = optimizer.param_groups

            def step(self, closure: Any = None) -> Any:
                return self.optimizer.step(closure)

        x = library.ones(2, requires_grad=True)
        wrapper = Wrapper(library.optim.SGD([x], lr=0.5))
        x.sum().backward()
        wrapper.step()
        assert x.tolist() == [0.5, 0.5]
