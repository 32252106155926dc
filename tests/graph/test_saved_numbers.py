"""Which values a node reads in its backward pass, and which may change before it."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, call_with_names, words
from tests.oracles import libraries

CALLS: list[Call] = [
    lambda x: 2.5 / x, lambda x: x / 2.5, lambda x: 2.5 * x, lambda x: 2.5 - x, lambda x: x + 1,
    lambda x: x**2, lambda x: x**1, lambda x: x.reciprocal(), lambda x: x.exp(),
    lambda x: x.sqrt(), lambda x: x.rsqrt(), lambda x: x.tanh(), lambda x: x.sigmoid(),
    lambda x: x.tan(), lambda x: x.sin(), lambda x: x.log(), lambda x: x.abs(), lambda x: x.relu(),
    lambda x: x.square(), lambda x: x.expm1(), lambda x: x.exp2(), lambda x: x.erf(),
    lambda x: x.clamp(0.5, 1), lambda x: x.sum(), lambda x: x.mean(), lambda x: x.std(),
    lambda x: x.softmax(0), lambda x: x.log_softmax(0), lambda x: x.logsumexp(0),
    lambda x: x.cumsum(0), lambda x: x.max(), lambda x: x.max(0)[0], lambda x: x.sort()[0],
    lambda x: x.norm(), lambda x: x.flip(0), lambda x: x[[0, 1]], lambda x: x.repeat(2),
    lambda L, x: L.nn.functional.elu(x), lambda L, x: L.nn.functional.silu(x),
    lambda L, x: L.nn.functional.gelu(x), lambda L, x: L.nn.functional.softplus(x),
    lambda L, x: L.nn.functional.leaky_relu(x), lambda L, x: L.nn.functional.hardtanh(x),
    lambda L, x: L.where(x > 1, x, 0.0), lambda L, x: L.maximum(x, L.ones(4)),
    lambda L, x: L.atan2(x, L.ones(4)), lambda L, x: L.lerp(x, L.ones(4), 0.3),
    lambda L, x: L.cat([x, x]), lambda L, x: L.nn.functional.mse_loss(x, L.ones(4)),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("changed", ["input", "result"])
@pytest.mark.parametrize("call", CALLS, ids=words)
def test_a_tensor_may_change_before_backward_where_pytorch_allows_it(
    call: Call, changed: str
) -> None:
    outcomes: list[Any] = []
    for library in libraries():
        leaf = library.tensor([0.3, 0.7, 1.2, 2.1], requires_grad=True)
        x = leaf * 1
        y = call_with_names(call, {"L": library, "x": x})
        with library.no_grad():
            (x if changed == "input" else y).add_(0.5)
        try:
            y.sum().backward()
            outcomes.append("works")
        except RuntimeError:
            outcomes.append("raises")
    assert outcomes[0] == outcomes[1]


#: Operations whose gradient reads the input or the result.
READS: list[Call] = [
    lambda x: x.prod(), lambda x: x.prod(0), lambda x: 2.5**x, lambda x: x**2.5, lambda x: x**2,
    lambda L, x: L.linalg.det(x.reshape(2, 2)), lambda L, x: L.linalg.inv(x.reshape(2, 2)),
    lambda L, x: L.fft.fft(x).abs(), lambda L, x: L.kron(x, x), lambda L, x: L.outer(x, x),
    lambda L, x: L.index_add(L.zeros(4), 0, L.tensor([0, 1, 2, 3]), x), lambda x: x / x.flip(0),
    lambda L, x: L.nn.functional.cross_entropy(x[None], L.tensor([1])), lambda x: x.exp(),
    lambda L, x: L.softmax(x, 0), lambda x: x.cumprod(0), lambda x: x.logsumexp(0),
    lambda x: x.norm(), lambda x: x.amax(), lambda x: x.std(), lambda x: x.tanh(),
    lambda x: x.sqrt(), lambda x: 2.5 / x, lambda L, x: L.xlogy(x, x.flip(0)),
    lambda L, x: L.nn.functional.layer_norm(x, (4,)), lambda x: x.logcumsumexp(0),
    lambda L, x: L.linalg.slogdet(x.reshape(2, 2))[1], lambda L, x: L.dist(x, x.flip(0)),
]  # fmt: skip


@pytest.mark.parametrize("changed", ["input", "result"])
@pytest.mark.parametrize("call", READS, ids=words)
def test_after_a_change_the_gradient_is_that_of_the_original_or_raises(
    call: Call, changed: str
) -> None:
    grads = []
    for write in (False, True):
        leaf = tt.tensor([0.3, 0.7, 1.2, 2.1], requires_grad=True)
        x = leaf * 1
        y = call_with_names(call, {"L": tt, "x": x})
        if write:
            with tt.no_grad():
                (x if changed == "input" else y).add_(0.5)
        try:
            y.sum().backward()
        except RuntimeError as error:
            assert write and "modified by an inplace operation" in str(error)
            return
        assert leaf.grad is not None
        grads.append(leaf.grad.tolist())
    assert grads[0] == grads[1]
