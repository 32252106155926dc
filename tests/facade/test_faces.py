"""What every public function and class shows to a user, of whatever namespace."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import types
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.dispatch import registry
from tinytorch.dispatch.operation import OPS

SPACES = [
    "tinytorch", "tinytorch.nn", "tinytorch.nn.functional", "tinytorch.nn.init",
    "tinytorch.nn.utils", "tinytorch.linalg", "tinytorch.fft", "tinytorch.special",
    "tinytorch.signal.windows", "tinytorch.optim", "tinytorch.optim.lr_scheduler",
    "tinytorch.utils.data", "tinytorch.random", "tinytorch.cuda", "tinytorch.autograd",
    "tinytorch.serialization", "tinytorch.amp", "tinytorch.jit", "tinytorch.compiler",
    "tinytorch.cpu", "tinytorch.accelerator", "tinytorch.backends.cudnn", "tinytorch.func",
]  # fmt: skip


def public(space: str) -> list[tuple[str, Any]]:
    """The functions and classes of ours that a namespace lists."""
    module = importlib.import_module(space)
    names = getattr(module, "__all__", None) or dir(module)
    values = [(name, getattr(module, name)) for name in names if not name.startswith("_")]
    return [(name, value) for name, value in values
            if isinstance(value, types.FunctionType | type)
            and str(value.__module__).partition(".")[0] == "tinytorch"]  # fmt: skip


@pytest.mark.parametrize("space", SPACES)
def test_public_functions_and_classes_pickle_by_name(space: str) -> None:
    lost = [
        name
        for name, value in public(space)
        if pickle.loads(pickle.dumps(value)) is not value or copy.deepcopy(value) is not value
    ]
    assert public(space) and not lost


@pytest.mark.parametrize("space", SPACES)
def test_functions_say_where_they_are_public(space: str) -> None:
    private = {
        name: value.__module__
        for name, value in public(space)
        if isinstance(value, types.FunctionType)
        and any(part.startswith("_") for part in value.__module__.split("."))
    }
    assert not private


@pytest.mark.parametrize("space", SPACES)
def test_functions_have_signature_documentation_and_source(space: str) -> None:
    for name, value in public(space):
        if isinstance(value, types.FunctionType):
            assert inspect.signature(value) and inspect.getdoc(value), name
            assert "def " in inspect.getsource(value), name
            assert inspect.getfile(inspect.unwrap(value)).endswith(".py"), name


def test_unbound_methods_pickle_by_name() -> None:
    registry.load_all()
    methods = {
        name: value
        for name in dir(tt.Tensor)
        if not name.startswith("_")
        and isinstance(value := inspect.getattr_static(tt.Tensor, name), types.FunctionType)
    }
    assert len(methods) > 400
    lost = [
        name for name, method in methods.items() if pickle.loads(pickle.dumps(method)) is not method
    ]
    assert not lost


@pytest.mark.parametrize("space", SPACES)
def test_each_public_function_has_its_public_name(space: str) -> None:
    others = {
        name: value.__name__
        for name, value in public(space)
        if isinstance(value, types.FunctionType) and value.__name__ != name
    }
    assert not others


def test_an_alias_has_its_own_name_module_and_docstring() -> None:
    assert tt.swapdims.__name__ == tt.swapdims.__qualname__ == "swapdims"
    assert (tt.Tensor.absolute_.__name__, tt.special.expit.__module__) == (
        "absolute_", "tinytorch.special"
    )  # fmt: skip
    assert pickle.dumps(tt.ger) != pickle.dumps(tt.outer) and b"ger" in pickle.dumps(tt.ger)
    assert "Another name for ``outer``." in inspect.getdoc(tt.ger)
    assert inspect.signature(tt.ger) == inspect.signature(tt.outer)
    for name in ("absolute", "ger", "trapz", "negative", "concat"):
        with pytest.raises(TypeError, match=rf"^{name}\(\)"):
            getattr(tt, name)(3, 4, 5, 6, 7)


def test_an_alias_has_the_gradients_and_nodes_of_its_function() -> None:
    x = tt.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
    for one, other in ((tt.absolute, tt.abs), (tt.negative, tt.neg), (tt.clip, tt.clamp),
                       (tt.special.expit, tt.sigmoid), (tt.multiply, tt.mul)):  # fmt: skip
        given = (x, 2.0) if one in (tt.clip, tt.multiply) else (x,)
        a, b = one(*given), other(*given)
        assert a.grad_fn.name() == b.grad_fn.name()
        assert tt.equal(*(tt.autograd.grad(y.sum(), x)[0] for y in (a, b)))
    y = x.clone().absolute_()
    assert y.grad_fn is not None and y.grad_fn.name() == "AbsBackward0"
    assert tt.concat(tensors=[x, x], axis=1).shape == (2, 4)  # NumPy's spelling, too


def test_a_call_with_a_number_leaves_the_gradients_of_other_names() -> None:
    """What such a call keeps has rules for the tensor alone: its own, not its namesakes'."""
    named = [
        op
        for op in OPS.values()
        if op.registered.aliases and op.plan.numbers and op.backward.differentiable
    ]
    assert len(named) > 5
    for op in named:
        op.backward.drop_numbers([1] * len(op.plan.params))
        assert {alias.backward.differentiable for alias in op.registered.aliases} == {
            op.backward.differentiable
        }


def test_numbers_divided_by_another_name_have_both_gradients() -> None:
    tt.tensor(1j, requires_grad=True) / 2
    x, y = tt.tensor(3.0, requires_grad=True), tt.tensor(2.0, requires_grad=True)
    tt.divide(x, y).backward()
    assert (x.grad.item(), y.grad.item()) == (0.5, -0.75)


def test_namespaces_give_all_their_names_to_a_star_import() -> None:
    names: dict[str, object] = {}
    for space in ("fft", "linalg", "special", "nn.functional"):
        exec(f"from tinytorch.{space} import *", names)
    assert {"rfft", "cholesky", "erf", "gelu"} <= names.keys()
