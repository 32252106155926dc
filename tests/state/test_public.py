"""The state's functions as ``tinytorch`` shows them."""

from __future__ import annotations

import importlib
import inspect
import pickle

import pytest

import tinytorch
from tinytorch.facade import resolve

STATE = importlib.import_module("tinytorch.state")
NAMES = resolve.HOMES["tinytorch.state"]


@pytest.mark.parametrize("name", NAMES)
def test_facade_and_state_share_one_object_with_source_and_documentation(name):
    public = getattr(tinytorch, name)
    assert public is getattr(STATE, name) is getattr(tinytorch, name)
    assert public.__name__ == public.__qualname__ == name
    assert f"class {name}" in inspect.getsource(public) or f"def {name}" in inspect.getsource(
        public
    )
    assert inspect.getdoc(public)
    assert pickle.loads(pickle.dumps(public)) is public


@pytest.mark.parametrize("name", [n for n in NAMES if inspect.isfunction(getattr(STATE, n))])
def test_functions_belong_to_the_public_module(name):
    assert getattr(tinytorch, name).__module__ == "tinytorch"
    assert "..." not in str(inspect.signature(getattr(tinytorch, name)))


def test_reloading_the_facade_keeps_the_state():
    import importlib

    tinytorch.set_backend("red")
    with tinytorch.no_grad():
        importlib.reload(tinytorch)
        assert (tinytorch.get_backend(), tinytorch.is_grad_enabled()) == ("red", False)
    assert (STATE.get_backend(), STATE.is_grad_enabled()) == ("red", True)
