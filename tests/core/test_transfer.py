"""Moves between backends keep the graph, in both directions and to any order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tinytorch as tt


@pytest.fixture(autouse=True)
def other() -> Iterator[None]:
    tt.register_backend("strict", "strictcupy.backend:StrictBackend")
    with tt.backend_context("numpy"):
        yield


def test_gradient_flows_back_over_a_move() -> None:
    x = tt.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 3).to(backend="strict")
    assert y.backend.name == "strict" and y.requires_grad
    (y * y).sum().backward()
    assert x.grad.backend.name == "numpy"
    assert x.grad.tolist() == [18.0, 36.0]


def test_gradient_flows_over_two_moves() -> None:
    x = tt.tensor([1.0, 2.0], requires_grad=True)
    y = x.to(backend="strict").exp().to(backend="numpy")
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(y.tolist())


def test_second_derivative_over_a_move() -> None:
    x = tt.tensor([2.0], requires_grad=True)
    y = x.to(backend="strict")
    (g,) = tt.autograd.grad((y * y * y).sum(), x, create_graph=True)
    (h,) = tt.autograd.grad(g.sum(), x)
    assert (g.item(), h.item()) == (12.0, 12.0)
    assert h.backend.name == "numpy"


def test_backward_follows_the_graph_whatever_is_active() -> None:
    x = tt.tensor([1.0, 2.0], backend="strict", requires_grad=True)
    y = (x * x).sum()
    with tt.backend_context("numpy"):
        y.backward()
    assert x.grad.backend.name == "strict"


def test_move_shares_nothing_and_keeps_dtype() -> None:
    x = tt.tensor([1, 2], dtype=tt.int32)
    y = x.to(backend="strict")
    assert y.dtype is tt.int32
    y.add_(1)
    assert x.tolist() == [1, 2]
