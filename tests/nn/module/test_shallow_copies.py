"""``copy.copy`` of a module: the copy shares the registries, as in PyTorch."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt


def parameter(L: Any, *size: int) -> Any:
    return L.nn.Parameter(L.zeros(*size))


#: What is made, what is done to it, and what is asked of it.
CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    "append to Sequential": (
        lambda L: L.nn.Sequential(L.nn.ReLU()), lambda L, m: m.append(L.nn.Tanh()), str),
    "replace in Sequential": (
        lambda L: L.nn.Sequential(L.nn.ReLU()), lambda L, m: m.__setitem__(0, L.nn.Tanh()), str),
    "append to ModuleList": (
        lambda L: L.nn.ModuleList([L.nn.ReLU()]), lambda L, m: m.append(L.nn.Tanh()), str),
    "delete from ModuleList": (
        lambda L: L.nn.ModuleList([L.nn.ReLU()]), lambda L, m: m.__delitem__(0), str),
    "add to ModuleDict": (
        lambda L: L.nn.ModuleDict({"a": L.nn.ReLU()}),
        lambda L, m: m.__setitem__("b", L.nn.Tanh()), lambda m: sorted(m.keys())),
    "append to ParameterList": (
        lambda L: L.nn.ParameterList([parameter(L, 1)]), lambda L, m: m.append(parameter(L, 2)),
        lambda m: [tuple(p.shape) for p in m.parameters()]),
    "add to ParameterDict": (
        lambda L: L.nn.ParameterDict({"a": parameter(L, 1)}),
        lambda L, m: m.__setitem__("b", parameter(L, 2)),
        lambda m: sorted(name for name, _ in m.named_parameters())),
    "another parameter": (
        lambda L: L.nn.Linear(2, 1), lambda L, m: setattr(m, "weight", parameter(L, 1, 2)),
        lambda m: (m.weight == 0).all().item()),
    "a parameter in its registry": (
        lambda L: L.nn.Linear(2, 1),
        lambda L, m: m._parameters.__setitem__("weight", parameter(L, 1, 2)),
        lambda m: (m.weight == 0).all().item()),
    "no parameter": (
        lambda L: L.nn.Linear(2, 1), lambda L, m: m.register_parameter("bias", None),
        lambda m: m.bias),
    "delete a parameter": (
        lambda L: L.nn.Linear(2, 1), lambda L, m: delattr(m, "bias"),
        lambda m: hasattr(m, "bias")),
    "another buffer": (
        lambda L: L.nn.BatchNorm1d(2), lambda L, m: setattr(m, "running_mean", L.ones(2)),
        lambda m: m.running_mean.tolist()),
    "a new child": (
        lambda L: L.nn.Linear(2, 1), lambda L, m: setattr(m, "extra", L.nn.ReLU()), str),
    "a buffer that is not saved": (
        lambda L: L.nn.Linear(1, 1, bias=False),
        lambda L, m: m.register_buffer("b", L.ones(1), persistent=False),
        lambda m: ([name for name, _ in m.named_buffers()], sorted(m.state_dict()))),
    "convert": (
        lambda L: L.nn.Linear(2, 1), lambda L, m: m.double(), lambda m: m.weight.dtype.itemsize),
    "evaluate": (lambda L: L.nn.Linear(2, 1), lambda L, m: m.eval(), lambda m: m.training),
    "a hook": (
        lambda L: L.nn.Linear(2, 1), lambda L, m: m.register_forward_hook(lambda *args: None),
        lambda m: len(m._forward_hooks)),
    "other registries": (
        lambda L: L.nn.Linear(2, 1, bias=False),
        lambda L, m: setattr(m, "_parameters", {"weight": parameter(L, 1, 2)}),
        lambda m: (m.weight == 0).all().item()),
}  # fmt: skip


def after(L: Any, name: str, of_copy: bool, copies: Callable[[Any], Any] = copy.copy) -> Any:
    """What is asked of a module and of its copy after one of them was changed."""
    make, change, ask = CHANGES[name]
    L.manual_seed(0)
    module = make(L)
    made = copies(module)
    change(L, made if of_copy else module)
    return ask(module), ask(made)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("of_copy", [True, False])
def test_copies_share_what_pytorchs_share(torch: Any, name: str, of_copy: bool) -> None:
    assert after(tt, name, of_copy) == after(torch, name, of_copy)


SHARED = [name for name in CHANGES if name not in ("evaluate", "other registries")]


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("of_copy", [True, False])
def test_a_change_of_a_shallow_copy_is_seen_by_the_module(name: str, of_copy: bool) -> None:
    module, made = after(tt, name, of_copy)
    assert module == made
    module, made = after(tt, name, of_copy, lambda m: copy.copy(copy.copy(m)))
    assert module == made


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_change_of_a_deep_copy_is_not_seen_by_the_module(name: str, copy_of: Any) -> None:
    make, change, ask = CHANGES[name]
    tt.manual_seed(0)
    module = make(tt)
    before, copied = ask(module), copy_of(module)
    change(tt, copied)
    assert ask(module) == before
    assert ask(copied) != before


def test_a_copy_outlives_the_module() -> None:
    layer = tt.nn.Linear(2, 2)
    made = copy.copy(layer)
    del layer
    gc.collect()
    made.weight = tt.nn.Parameter(tt.zeros(2, 2))
    assert (made(tt.ones(1, 2)) == made.bias).all()


def test_deep_copies_of_both_share_as_they_did() -> None:
    layer = tt.nn.Linear(2, 2)
    first, second = copy.deepcopy([layer, copy.copy(layer)])
    first.weight = tt.nn.Parameter(tt.zeros(2, 2))
    assert second.weight is first.weight and second._parameters is first._parameters
    assert not (layer.weight == 0).any()


def test_a_module_may_share_the_registry_of_another() -> None:
    first, second = tt.nn.Linear(2, 2), tt.nn.Linear(2, 2)
    old = second.weight
    second._parameters = first._parameters
    first.weight = tt.nn.Parameter(tt.zeros(2, 2))
    assert second.weight is first.weight and second.weight is not old
    second._parameters = {"weight": old}  # type: ignore[assignment]
    first.bias = None
    assert second.weight is old and not hasattr(second, "bias")


def test_a_class_with_its_own_getstate_is_copied() -> None:
    class Counted(tt.nn.Sequential):
        def __getstate__(self) -> dict[str, Any]:
            state: dict[str, Any] = super().__getstate__()
            return {**state, "copies": 1 + state.get("copies", 0)}

    made: Any = copy.copy(Counted(tt.nn.ReLU()))
    assert made.copies == 1 and isinstance(made[0], tt.nn.ReLU)
