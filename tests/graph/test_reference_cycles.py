"""A training step leaves no reference cycles: what it made goes away without the collector."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.utils.checkpoint import checkpoint


class Square(tt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: tt.Tensor) -> tt.Tensor:
        out = x * x
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: tt.Tensor) -> tt.Tensor:
        x, _ = ctx.saved_tensors
        return 2 * x * g


def function(x: tt.Tensor) -> tt.Tensor:
    return ((x @ x).tanh() * x).exp().sum()


def with_checkpoint(x: tt.Tensor) -> None:
    checkpoint(function, x * 2, use_reentrant=False).backward()


def with_checkpoint_twice(x: tt.Tensor) -> None:
    (g,) = tt.autograd.grad(checkpoint(function, x, use_reentrant=False), x, create_graph=True)
    g.sum().backward()


def with_reentrant_checkpoint(x: tt.Tensor) -> None:
    checkpoint(function, x * 2, use_reentrant=True).backward()


def with_hooks(x: tt.Tensor) -> None:
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    z = y.exp()
    z.grad_fn.register_hook(lambda inputs, outputs: None)
    z.sum().backward()


def with_saved_tensors_hooks(x: tt.Tensor) -> None:
    with tt.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        loss = function(x)
    loss.backward()


def with_retained_graph(x: tt.Tensor) -> None:
    loss = function(x)
    loss.backward(retain_graph=True)
    loss.backward()


def with_custom_function(x: tt.Tensor) -> None:
    Square.apply(x * 2).sum().backward()


def with_second_derivatives(x: tt.Tensor) -> None:
    (g,) = tt.autograd.grad(function(x), x, create_graph=True)
    g.pow(2).sum().backward()


def with_views(x: tt.Tensor) -> None:
    y = x * 1
    part = y[0]
    y.t_()
    part.mul_(2)
    y[1] = part.detach()
    (y * y).sum().backward()


def with_module_hooks(x: tt.Tensor) -> None:
    layer = tt.nn.Linear(4, 4)
    layer.register_full_backward_hook(lambda module, before, after: None)
    layer.register_forward_hook(lambda module, args, out: out * 2)
    layer(x).sum().backward()


STEPS: list[Callable[[tt.Tensor], None]] = [
    value for name, value in list(globals().items()) if name.startswith("with_")
]


def count_cyclic(step: Callable[[tt.Tensor], None], x: tt.Tensor) -> int:
    """Number of objects in reference cycles that the process leaves during a step."""
    gc.collect()
    gc.disable()
    try:
        step(x)
        return gc.collect()
    finally:
        gc.enable()


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_a_training_step_leaves_no_reference_cycles(step: Callable[[tt.Tensor], None]) -> None:
    x = tt.linspace(-1, 1, 16).reshape(4, 4).clone().requires_grad_()
    for _ in range(2):  # what is done once in a process
        step(x)
    # A step would leave its cycles each time; another thread of the tests leaves some now and then.
    assert any(count_cyclic(step, x) == 0 for _ in range(10))
