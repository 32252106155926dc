"""Wrong use of random functions: PyTorch's type of error, and words that say what to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tests.ops.random.random_oracle import torch

pytestmark = pytest.mark.torch


# -- wrong use -----------------------------------------------------------------------------


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "empty range": (lambda lib: lib.randint(5, 5, (2,)), "from=5 >= to=5"),
    "too high": (lambda lib: lib.randint(0, 300, (2,), dtype=lib.uint8), "to - 1 is out of bounds"),
    "too low": (lambda lib: lib.randint(-1, 3, (2,), dtype=lib.uint8), "from is out of bounds"),
    "complex": (lambda lib: lib.randint(0, 3, (2,), dtype=lib.complex64), "check_random_bounds"),
    "no tuple": (lambda lib: lib.randint(3, 2), "'size'.* must be tuple of ints"),
    "no int": (lambda lib: lib.randint(0, 5.5, (2,)), "randint"),
    "negative n": (lambda lib: lib.randperm(-1), "negative dimension -1"),
    "n": (lambda lib: lib.randperm(300, dtype=lib.uint8), "without overflow"),
    "half": (lambda lib: lib.randperm(3000, dtype=lib.float16), "n cannot be greater than 2049"),
    "randperm bool": (lambda lib: lib.randperm(3, dtype=lib.bool), "randperm.*implem.*'Bool'"),
    "negative size": (lambda lib: lib.randn(-1), "negative dimension -1"),
    "rand int": (lambda lib: lib.rand(3, dtype=lib.int64), "check_uniform_bounds.*Long"),
    "randn int": (lambda lib: lib.randn(3, dtype=lib.int64), "normal_kernel_cpu.*Long"),
    "like int": (lambda lib: lib.rand_like(lib.zeros(3, dtype=lib.int64)), "not implemented"),
    "std": (lambda lib: lib.zeros(3).normal_(0, -1), r"std >= 0\.0, but found std -1"),
    "nan std": (lambda lib: lib.zeros(3).normal_(std=math.nan), "found std nan"),
    "std tensor": (lambda lib: lib.normal(lib.zeros(3), -lib.ones(3)), "all elements of std >= 0"),
    "shapes": (lambda lib: lib.normal(lib.zeros(3), lib.ones(4)), "must match the size of tensor"),
    "normal int": (lambda lib: lib.zeros(3, dtype=lib.int64).normal_(), "not implemented"),
    "normal size": (lambda lib: lib.normal(1.0, 2.0), r"normal\(\)"),
    "uniform order": (lambda lib: lib.zeros(3).uniform_(2, 1), "found from=2 > to=1"),
    "uniform bound": (lambda lib: lib.zeros(3).uniform_(0, math.inf), "to is out of bounds"),
    "uniform span": (
        lambda lib: lib.zeros(3, dtype=lib.float16).uniform_(-6e4, 6e4), "exceed the limit"
    ),
    "p": (lambda lib: lib.zeros(3).bernoulli_(1.5), r"p to be in \[0, 1\], but got p=1.5"),
    "p of sample": (lambda lib: lib.bernoulli(lib.rand(3), 1.5), r"p to be in \[0, 1\]"),
    "p tensor": (lambda lib: lib.bernoulli(lib.full((2,), 1.5)), "p_in >= 0 && p_in <= 1"),
    "p int": (lambda lib: lib.bernoulli(lib.ones(2, dtype=lib.int64)), "not implemented for"),
    "p shape": (lambda lib: lib.zeros(3).bernoulli_(lib.rand(2)), "size of the tensor"),
    "bernoulli complex": (
        lambda lib: lib.zeros(3, dtype=lib.complex64).bernoulli_(), "ComplexFloat"
    ),
    "rate": (lambda lib: lib.zeros(3).exponential_(0), "lambda > 0.0, but found lambda=0"),
    "exponential int": (
        lambda lib: lib.zeros(3, dtype=lib.int64).exponential_(), "dtype must be a floating point"
    ),
    "geometric 0": (lambda lib: lib.zeros(3).geometric_(0), r"p to be in \(0, 1\), but got p=0"),
    "geometric 1": (lambda lib: lib.zeros(3).geometric_(1), r"p to be in \(0, 1\), but got p=1"),
    "geometric bool": (lambda lib: lib.zeros(3, dtype=lib.bool).geometric_(0.5), "geometric_cpu"),
    "sigma": (lambda lib: lib.zeros(3).cauchy_(0, 0), "sigma > 0.0, but found sigma=0"),
    "cauchy int": (lambda lib: lib.zeros(3, dtype=lib.int64).cauchy_(), "continuous probability"),
    "log std": (lambda lib: lib.zeros(3).log_normal_(0, 0), "std > 0.0, but found std=0"),
    "log int": (lambda lib: lib.zeros(3, dtype=lib.int64).log_normal_(), "log_normal_cpu"),
    "random range": (lambda lib: lib.zeros(3).random_(0), "from=0 >= to=0"),
    "random bool": (lambda lib: lib.zeros(3, dtype=lib.bool).random_(5), "out of bounds for"),
    "random float": (lambda lib: lib.zeros(3).random_(2.5), "random_"),
    "weights int": (lambda lib: lib.multinomial(lib.tensor([1, 2]), 1), "floating-point dtypes"),
    "weights 3-d": (lambda lib: lib.multinomial(lib.ones(2, 2, 2), 1), "must be 1 or 2 dim"),
    "weights 0-d": (lambda lib: lib.multinomial(lib.tensor(1.0), 1), "must be 1 or 2 dim"),
    "too many": (lambda lib: lib.multinomial(lib.ones(2), 3), "n_sample > prob_dist.size"),
    "no sample": (lambda lib: lib.multinomial(lib.ones(2), 0), "n_sample <= 0 samples"),
    "negative weight": (lambda lib: lib.multinomial(lib.tensor([1.0, -2.0]), 1), "element < 0"),
    "nan weight": (lambda lib: lib.multinomial(lib.tensor([1.0, math.nan]), 1), "`nan`"),
    "zero weights": (lambda lib: lib.multinomial(lib.zeros(2), 1), r"sum of probabilities <= 0"),
    "seed text": (lambda lib: lib.manual_seed("a"), "invalid literal"),
    "seed range": (lambda lib: lib.manual_seed(2**64), "Overflow when unpacking long"),
    "short state": (lambda lib: lib.set_rng_state(lib.zeros(3, dtype=lib.uint8)), "of size 5056"),
    "zero state": (
        lambda lib: lib.set_rng_state(lib.zeros(5056, dtype=lib.uint8)), "Invalid mt19937 state"
    ),
    "float state": (lambda lib: lib.set_rng_state(lib.zeros(5056)), "must be a torch.ByteTensor"),
    "generator": (lambda lib: lib.rand(2, generator=5), r"rand\(\)"),
    "expanded": (lambda lib: lib.zeros(1).expand(3).normal_(), "single memory location"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_refused_as_in_torch(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(theirs.type, match=words):
        call(tt)


def test_a_generator_of_another_backend_is_refused() -> None:
    class Elsewhere:
        _engine = object()
        backend = type("Backend", (), {"device_type": "mars", "name": "mars"})()

    with pytest.raises(RuntimeError, match="device type for generator but found 'mars'"):
        tt.rand(2, generator=Elsewhere())
