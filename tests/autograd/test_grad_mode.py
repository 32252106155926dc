"""``autograd.grad_mode``, by the names that programs import from it."""

from __future__ import annotations

import importlib

import pytest

import tinytorch as tt
from tinytorch.autograd import grad_mode


def test_the_module_has_the_switches() -> None:
    assert importlib.import_module("tinytorch.autograd.grad_mode") is tt.autograd.grad_mode
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
        assert getattr(grad_mode, name) is getattr(tt, name)
    assert set(grad_mode.__all__) <= set(dir(tt.autograd))


def test_backward_passes_take_one_thread() -> None:
    assert not tt.autograd.is_multithreading_enabled()
    x = tt.ones(2, requires_grad=True)
    with tt.autograd.set_multithreading_enabled(True):
        (x * 3).sum().backward()
    tt.autograd.set_multithreading_enabled(False)
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]


def test_set_multithreading_enabled_requires_a_bool() -> None:
    with pytest.raises(TypeError, match="argument 'mode' must be bool, not str"):
        tt.autograd.set_multithreading_enabled("no")  # type: ignore[arg-type]
