"""Writing that PyTorch refuses: to shared memory, or to a dtype that cannot hold the result."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.oracles import assert_both_raise, call_result

pytestmark = pytest.mark.torch

Refused = list[tuple[Call, str]]

#: ``out=`` of a dtype that PyTorch does not cast the result to.
OTHER_DTYPES: Refused = [
    (
        lambda L: L.any(L.ones(3), out=L.zeros((), dtype=L.float32)),
        "any only supports bool tensor for result",
    ),
    (lambda L: L.any(L.ones(3), 0, out=L.zeros((), dtype=L.int64)), "got: Long"),
    (
        lambda L: L.all(L.ones(3), out=L.zeros((), dtype=L.complex64)),
        "all only supports bool tensor for result",
    ),
    (
        lambda L, T: L.lu_solve(L.ones(1, 1), L.eye(1), T([1]), out=L.zeros(1, 1).double()),
        "to have dtype",
    ),
    (
        lambda L, T: L.linalg.lu_solve(L.eye(1), T([1]), L.ones(1, 1), out=L.zeros(1, 1).double()),
        "to have dtype",
    ),
    (lambda L: L.complex(L.ones(2), L.ones(2), out=L.zeros(2, dtype=L.complex128)), ""),
    (lambda L: L.polar(L.ones(2), L.ones(2), out=L.zeros(2, dtype=L.complex128)), ""),
    (lambda L: L.hash_tensor(L.ones(2), out=L.zeros((), dtype=L.float64)), "Expected"),
]

#: ``out=`` that shares memory with what is read.
OVERLAPS: list[tuple[tuple[int, ...], Call]] = [
    (
        (
            4,
            3,
        ),
        lambda L, B: L.addbmm(B[:3], L.ones(2, 3, 3), L.ones(2, 3, 3), out=B[1:]),
    ),
    (
        (
            3,
            3,
        ),
        lambda L, B: L.cross(B[:2], B[1:], dim=1, out=B[:2]),
    ),
    (
        (
            3,
            3,
        ),
        lambda L, B: L.cross(B, L.ones(3, 3), dim=1, out=B),
    ),
    (
        (
            3,
            3,
        ),
        lambda L, B: L.linalg.cross(L.ones(3, 3), B, out=B),
    ),
    (
        (
            3,
            3,
        ),
        lambda L, B: L.kron(B[:2], L.ones(1, 1), out=B[1:]),
    ),
    ((4,), lambda L, B: L.normal(B[:3], 1.0, out=B[1:])),
    ((4,), lambda L, B: L.normal(0.0, B[1:], out=B[:3])),
    ((4,), lambda L, B: L.bernoulli(B[:3], out=B[1:])),
]

#: Writing where one element stands for many.
MANY_PLACES: list[Call] = [
    lambda X: X.add_(1),
    lambda X: X.asin_(),
    lambda L, X: X.copy_(L.ones(2, 3)),
    lambda L, X: L.add(L.ones(2, 3), 1, out=X),
]

#: What looks much the same and is taken.
TAKEN: list[Call] = [
    lambda L: L.addbmm(B := L.ones(3, 3), L.ones(2, 3, 3), L.ones(2, 3, 3), out=B),
    lambda L: L.kron(B := L.ones(3, 3), L.ones(1, 1), out=B),
    lambda L: L.any(L.ones(3).byte(), 0, out=L.zeros((), dtype=L.bool)),
    lambda L: L.all(L.ones(3), 0, out=L.zeros((), dtype=L.uint8)),
    lambda L: L.zeros(2, 3).movedim([0, True], [1, False]),
    lambda L: L.tensor_split(L.arange(4), [1, True])[1],
    lambda L: L.as_strided(L.ones(3), (2, 3), (0, 1))[0].add_(1),
    lambda L: L.as_strided(L.arange(3.0), (2, 2), (1, 1)) + 1,
    lambda L, F: F.layer_norm(L.tensor([[1.0, 3.0]]), [2]),
]


@pytest.mark.parametrize(("call", "phrase"), OTHER_DTYPES, ids=words)
def test_dtypes_that_do_not_fit_are_refused(call: Call, phrase: str) -> None:
    assert_both_raise(call, RuntimeError, phrase)


@pytest.mark.parametrize(("shape", "call"), OVERLAPS, ids=words)
def test_out_that_shares_memory_is_refused(shape: tuple[int, ...], call: Call) -> None:
    assert_both_raise(
        call, RuntimeError, "refer to a single memory location", B=lambda L: L.ones(*shape)
    )


@pytest.mark.parametrize("call", MANY_PLACES, ids=words)
def test_one_element_that_stands_for_many_is_not_written(call: Call) -> None:
    phrase = "more than one element of the written-to tensor"
    assert_both_raise(
        call, RuntimeError, phrase, X=lambda L: L.as_strided(L.ones(3), (2, 3), (0, 1))
    )


@pytest.mark.parametrize("call", TAKEN, ids=words)
def test_calls_similar_to_the_refused_ones_are_accepted(torch: Any, call: Call) -> None:
    assert call_result(tt, call).tolist() == call_result(torch, call).tolist()
