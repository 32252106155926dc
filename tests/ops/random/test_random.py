"""Random tensors against PyTorch's: the same seed, the same numbers, the same place after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.random.random_oracle import (
    COMPLEX,
    FLOATS,
    SHAPED,
    SIZES,
    assert_close,
    assert_exact,
    draw_both,
    dtype_of,
)

pytestmark = pytest.mark.torch


# -- creation ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("size", SIZES)
def test_rand_is_torchs(size: int, dtype: str) -> None:
    assert_exact(lambda lib: lib.rand(size, dtype=dtype_of(lib, dtype)))


@pytest.mark.parametrize("dtype", FLOATS + COMPLEX)
@pytest.mark.parametrize("size", SIZES)
def test_randn_is_torchs(size: int, dtype: str) -> None:
    assert_close(lambda lib: lib.randn(size, dtype=dtype_of(lib, dtype)))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 2), (-5, 100), (0, 1 << 20), (3, 2**28 + 2), (0, 2**28), (-(2**62), 2**62),
     (-(2**63), 2**63 - 1)],
)  # fmt: skip
def test_randint_is_torchs(low: int, high: int, size: int) -> None:
    assert_exact(lambda lib: lib.randint(low, high, (size,)))


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int16", "int32", "float16", "float32", "float64"]
)
def test_randint_in_each_dtype_is_pytorchs(dtype: str) -> None:
    assert_exact(lambda lib: lib.randint(0, 2, (3, 40), dtype=dtype_of(lib, dtype)))


@pytest.mark.parametrize("high", [2**24 + 5, 2**30, 2**31 + 129, 2**40 + 3])
def test_randint_bounds_round_to_a_float(high: int) -> None:
    with pytest.warns(UserWarning, match="is out of bounds .* within this range"):
        assert_exact(lambda lib: lib.randint(-high, high, (200,), dtype=lib.float32))


def test_randint_warns_of_gaps_in_a_float() -> None:
    with pytest.warns(UserWarning, match=r"from is out of bounds \[-\(2\^11\), 2\^11\]"):
        tt.randint(-3000, 5, (2,), dtype=tt.float16)


def test_randint_accepts_pytorchs_argument_forms() -> None:
    assert_exact(lambda lib: lib.randint(10, (4,)))
    assert_exact(lambda lib: lib.randint(low=2, high=10, size=(4, 2)))
    assert_exact(lambda lib: lib.randint(high=10, size=[4]))
    assert_exact(lambda lib: lib.randint(10, ()))


@pytest.mark.parametrize("n", [*SIZES, 999, 1000, 1001, 1500])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float64"])
def test_randperm_is_torchs(n: int, dtype: str) -> None:
    assert_exact(lambda lib: lib.randperm(n, dtype=dtype_of(lib, dtype)))


def test_random_functions_accept_sizes_in_every_form() -> None:
    assert_exact(lambda lib: lib.rand(2, 3))
    assert_exact(lambda lib: lib.rand((2, 3)))
    assert_exact(lambda lib: lib.rand(size=(2, 3)))
    assert_exact(lambda lib: lib.rand(()))
    assert_close(lambda lib: lib.randn([2, 3, 4]))


def test_random_functions_use_the_default_dtype() -> None:
    with tt.default_dtype_context(tt.float64):
        assert tt.rand(2).dtype == tt.randn(2).dtype == tt.normal(0, 1, (2,)).dtype == tt.float64
    assert tt.rand(2).dtype == tt.float32
    assert tt.randint(3, (2,)).dtype == tt.randperm(3).dtype == tt.int64


def test_requires_grad_makes_a_leaf() -> None:
    x = tt.rand(3, requires_grad=True)
    assert x.requires_grad and x.is_leaf
    assert tt.randn_like(x, requires_grad=True).requires_grad
    assert not tt.randn_like(x).requires_grad
    with pytest.raises(RuntimeError, match="floating point and complex dtype"):
        tt.randint(3, (2,), requires_grad=True)


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_the_dtype_of_out_is_the_dtype_drawn(name: str) -> None:
    assert_close(lambda lib: getattr(lib, name)(40, out=lib.zeros(40, dtype=lib.float64)))
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        getattr(tt, name)(3, dtype=tt.float64, out=tt.zeros(3))


def test_random_functions_accept_device_and_backend() -> None:
    with tt.backend_context("numpy"):
        assert tt.rand(3, device="cpu").backend.name == "numpy"
        assert tt.randperm(3, backend="numpy").backend.name == "numpy"
        assert tt.normal(0.0, 1.0, (3,), device=tt.device("cpu")).backend.name == "numpy"


# -- like another tensor -------------------------------------------------------------------


LIKE: dict[str, Callable[[Any, Any], Any]] = {
    "rand_like": lambda lib, x: lib.rand_like(x),
    "randn_like": lambda lib, x: lib.randn_like(x),
    "randint_like": lambda lib, x: lib.randint_like(x, -3, 50),
}


@pytest.mark.parametrize("shaped", SHAPED)
@pytest.mark.parametrize("name", LIKE)
def test_random_like_functions_keep_the_strides(name: str, shaped: str) -> None:
    draw = lambda lib: LIKE[name](lib, SHAPED[shaped](lib))  # noqa: E731
    assert_close(draw)
    ours, theirs = draw_both(draw)
    if 1 not in ours.shape:
        assert ours.stride() == theirs.stride()


def test_random_like_functions_accept_a_dtype() -> None:
    assert_exact(lambda lib: lib.rand_like(lib.zeros(20, dtype=lib.int64), dtype=lib.float32))
    assert_exact(lambda lib: lib.randint_like(lib.zeros(20), 5, dtype=lib.int8))


# -- from given parameters -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_is_torchs(dtype: str) -> None:
    chances = np.linspace(0, 1, 600).reshape(20, 30).astype(dtype)

    def given(lib: Any) -> Any:
        return lib.tensor(chances.tolist(), dtype=dtype_of(lib, dtype))

    assert_exact(lambda lib: lib.bernoulli(given(lib)))
    assert_exact(lambda lib: lib.bernoulli(given(lib).t()))
    assert_exact(lambda lib: lib.bernoulli(given(lib), 0.3))
    assert_exact(lambda lib: given(lib).bernoulli(0.3))
    assert_exact(lambda lib: lib.zeros(20, 30).bernoulli_(given(lib)))
    assert_exact(lambda lib: lib.zeros(30, 20).t().bernoulli_(given(lib)))
    assert_exact(lambda lib: lib.zeros(20, 30, dtype=lib.int64).bernoulli_(given(lib)[3]))
    assert_exact(lambda lib: lib.zeros(20, 1, 30).bernoulli_(given(lib).reshape(20, 1, 30)))
    assert_exact(lambda lib: lib.zeros(30, 1, 20).permute(2, 1, 0).bernoulli_(given(lib)[:, None]))


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multinomial_is_torchs(count: int, replacement: bool, dtype: str) -> None:
    weights = np.random.default_rng(0).random((7, 50))
    weights[:, ::9] = 0

    def draw(lib: Any) -> Any:
        given = lib.tensor(weights.tolist(), dtype=dtype_of(lib, dtype))
        first = given[2].multinomial(count, replacement)
        return lib.cat([first, lib.multinomial(given, count, replacement).view(-1)])

    assert_exact(draw)


def test_multinomial_of_halves_is_torchs() -> None:
    assert_exact(lambda lib: lib.multinomial(lib.tensor([1.0, 2.0, 0.5], dtype=lib.float16), 1))


def test_normal_forms_are_torchs() -> None:
    def mean(lib: Any) -> Any:
        return lib.linspace(-1, 1, 30).reshape(5, 6)

    def std(lib: Any) -> Any:
        return lib.linspace(0.1, 1, 30).reshape(5, 6)

    assert_close(lambda lib: lib.normal(mean(lib), std(lib)))
    assert_close(lambda lib: lib.normal(mean(lib).t(), std(lib).t()))
    assert_close(lambda lib: lib.normal(mean(lib), 0.5))
    assert_close(lambda lib: lib.normal(mean(lib)))
    assert_close(lambda lib: lib.normal(0.5, std(lib)))
    assert_close(lambda lib: lib.normal(mean(lib)[:1], std(lib)[:, :1]))
    assert_close(lambda lib: lib.normal(mean(lib), std(lib).to(lib.float64)))
    assert_close(lambda lib: lib.normal(2.0, 3.0, (4, 5)))
    assert_close(lambda lib: lib.normal(2.0, 3.0, size=(20,), dtype=lib.float64))
    assert_close(lambda lib: lib.normal(mean(lib), 0.5, out=lib.zeros(5, 6)))
