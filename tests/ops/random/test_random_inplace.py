"""Fills against PyTorch's, in any order of memory, and what autograd makes of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.random.random_oracle import (
    COMPLEX,
    FLOATS,
    SHAPED,
    assert_close,
    assert_exact,
    dtype_of,
    host,
    torch,
)

pytestmark = pytest.mark.torch


# -- in place ------------------------------------------------------------------------------


FILL: dict[str, Callable[[Any], Any]] = {
    "normal_": lambda x: x.normal_(),
    "normal_ shifted": lambda x: x.normal_(1.3, 0.7),
    "uniform_": lambda x: x.uniform_(),
    "uniform_ scaled": lambda x: x.uniform_(-0.3, 0.77),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "random_": lambda x: x.random_(),
    "random_ below": lambda x: x.random_(1000),
    "random_ between": lambda x: x.random_(-7, 1000),
    "random_ above": lambda x: x.random_(5, None),
    "exponential_": lambda x: x.exponential_(2.5),
    "geometric_": lambda x: x.geometric_(0.2),
    "cauchy_": lambda x: x.cauchy_(1.0, 0.5),
    "log_normal_": lambda x: x.log_normal_(0.5, 0.3),
}
EXACT = [
    "uniform_", "uniform_ scaled", "bernoulli_", "random_", "random_ below", "random_ between",
    "random_ above", "geometric_",
]  # fmt: skip


def comparison(name: str) -> Callable[..., None]:
    return assert_exact if name in EXACT else assert_close


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 100, 40001])
@pytest.mark.parametrize("name", FILL)
def test_in_place_random_fills_are_pytorchs(name: str, size: int, dtype: str) -> None:
    comparison(name)(lambda lib: FILL[name](lib.zeros(size, dtype=dtype_of(lib, dtype))))


@pytest.mark.parametrize("shaped", ["transposed", "permuted", "every other", "float64"])
@pytest.mark.parametrize("name", FILL)
def test_in_place_random_fills_follow_the_memory_order(name: str, shaped: str) -> None:
    def draw(lib: Any) -> Any:
        x = SHAPED[shaped](lib)
        assert FILL[name](x) is x
        return x

    comparison(name)(draw)


def test_filling_a_view_leaves_the_rest_alone() -> None:
    def draw(lib: Any) -> Any:
        x = lib.zeros(8, 9)
        x[2:5, 1::3].normal_()
        x[6:].uniform_(1, 2)
        return x

    assert_close(draw)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_in_place_random_fills_of_integers_are_pytorchs(dtype: str) -> None:
    for fill in (lambda x: x.random_(), lambda x: x.random_(2), lambda x: x.bernoulli_(0.5)):
        assert_exact(lambda lib, fill=fill: fill(lib.zeros(50, dtype=dtype_of(lib, dtype))))
    if dtype != "bool":
        assert_exact(lambda lib: lib.zeros(50, dtype=dtype_of(lib, dtype)).geometric_(0.3))
        assert_exact(lambda lib: lib.zeros(50, dtype=dtype_of(lib, dtype)).random_(3, None))


def test_random_fills_all_64_bits() -> None:
    assert_exact(lambda lib: lib.zeros(9, dtype=lib.int64).random_(-(2**63), None))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_in_place_random_fills_of_complex_tensors_are_pytorchs(dtype: str) -> None:
    assert_close(lambda lib: lib.zeros(20, dtype=dtype_of(lib, dtype)).normal_(1.0, 2.0))
    assert_close(lambda lib: lib.zeros(6, 5, dtype=dtype_of(lib, dtype)).t().normal_())
    assert_exact(lambda lib: lib.zeros(20, dtype=dtype_of(lib, dtype)).uniform_())


@pytest.mark.parametrize("bounds", [(5, 5), (-2, 2), (1e-3, 1), (-30000, 30000), (1.0, 1.0005)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_rounds_as_torch(bounds: tuple[float, float], dtype: str) -> None:
    assert_exact(lambda lib: lib.zeros(3000, dtype=dtype_of(lib, dtype)).uniform_(*bounds))


def test_the_second_normal_of_a_pair_is_kept_for_the_next_call() -> None:
    def draw(lib: Any) -> Any:
        first = lib.randn(3)  # leaves the fourth behind
        between = lib.rand(5)
        second = lib.randn(2, dtype=lib.float64)
        blocks = lib.randn(16)
        last = lib.zeros(7).log_normal_()
        return lib.cat([first, between, second.to(lib.float32), blocks, last])

    assert_close(draw)


def test_initial_weights_of_linear_are_pytorchs() -> None:
    """What ``nn.Linear(30, 20)`` draws: both uniform in +-1/sqrt(30)."""
    bound = 1 / math.sqrt(30)
    tt.manual_seed(3)
    weight = tt.zeros(20, 30).uniform_(-bound, bound)
    bias = tt.zeros(20).uniform_(-bound, bound)
    torch.manual_seed(3)
    layer = torch.nn.Linear(30, 20)
    np.testing.assert_allclose(host(weight), host(layer.weight), rtol=0, atol=3e-8)
    np.testing.assert_allclose(host(bias), host(layer.bias), rtol=0, atol=3e-8)


# -- autograd ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILL)
def test_no_gradient_flows_through_a_fill(name: str) -> None:
    for lib in (tt, torch):
        x = lib.ones(4, requires_grad=True)
        y = x * 1
        FILL[name](y)
        assert y.requires_grad
        y.sum().backward()
        assert host(x.grad).tolist() == [0, 0, 0, 0]


def test_a_leaf_that_requires_grad_is_not_filled() -> None:
    x = tt.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.normal_()
    with tt.no_grad():
        x.normal_()
    assert x._version == 1


def test_no_gradient_flows_through_a_sample() -> None:
    x = tt.full((4,), 0.5, requires_grad=True)
    for sample in (tt.bernoulli(x), tt.normal(x, 1.0), tt.normal(0.0, x), tt.normal(x, x)):
        assert sample.requires_grad
        (grad,) = tt.autograd.grad(sample.sum(), x)
        assert host(grad).tolist() == [0, 0, 0, 0]
    assert not tt.multinomial(x, 2).requires_grad


def test_a_fill_is_seen_by_the_version_check() -> None:
    x = tt.ones(3, requires_grad=True)
    y = x.exp()
    y.normal_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
