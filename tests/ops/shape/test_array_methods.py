"""NumPy's methods on tensors, and ``isin``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare, complexes, numbers

X = numbers(3, 4)
CALLS: dict[str, Any] = {
    "copy": lambda x: x.copy(),
    "flat": lambda x: x.flat[5],
    "compress": lambda x: x.compress([False, True, True], axis=0),
    "compress shorter": lambda x: x.compress([True], axis=1),
    "compress flat": lambda x: x.compress([False, True, True]),
    "conjugate": lambda x: x.conjugate(),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("values", [X, complexes(3, 4)], ids=["real", "complex"])
def test_array_methods_of_tensors_are_numpys(name: str, values: Any) -> None:
    ours, theirs = CALLS[name](tt.tensor(values)), CALLS[name](values)
    np.testing.assert_array_equal(ours.numpy(), theirs)
    assert tuple(ours.shape) == np.shape(theirs)


@pytest.mark.parametrize("name", CALLS)
def test_gradients_flow_through_array_methods(name: str) -> None:
    x = tt.tensor(X, requires_grad=True)
    CALLS[name](x).sum().backward()
    counts = np.zeros(X.shape)
    np.add.at(counts.reshape(-1), CALLS[name](np.arange(X.size).reshape(X.shape)), 1)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), counts)


def test_copy_does_not_share_memory() -> None:
    x = tt.ones(2)
    x.copy().fill_(5)
    assert x.tolist() == [1, 1]


def test_choose_is_numpys() -> None:
    number = np.array([[0, 1], [2, 0]])
    choices = [np.array([1, 2]), np.array([[3], [4]]), 5 * X[:2, :2]]
    ours = tt.tensor(number).choose([tt.tensor(c, dtype=tt.float64) for c in choices])
    np.testing.assert_array_equal(ours.numpy(), number.choose(choices))
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        tt.tensor([2]).choose([tt.ones(1), tt.zeros(1)])


@pytest.mark.parametrize("axis", [0, -1])
def test_argpartition_puts_smaller_ones_before(axis: int) -> None:
    places = tt.tensor(X).argpartition(1, axis=axis).numpy()
    ordered = np.take_along_axis(X, places, axis)
    np.testing.assert_array_equal(
        np.take(ordered, 1, axis), np.take(np.partition(X, 1, axis), 1, axis)
    )
    assert (np.take(ordered, 0, axis) <= np.take(ordered, 1, axis)).all()


def test_to_device_accepts_a_device_and_refuses_a_stream() -> None:
    x = tt.ones(2)
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="stream must be None"):
        x.to_device("cpu", stream=3)


ISIN: dict[str, Any] = {
    "ints": lambda lib: lib.isin(lib.tensor([[1, 2], [3, 4]]), lib.tensor([3, 1])),
    "inverted": lambda lib: lib.isin(lib.tensor([1, 2]), lib.tensor([[2, 9]]), invert=True),
    "no elements": lambda lib: lib.isin(lib.tensor([]), lib.tensor([1.0])),
    "nothing to be in": lambda lib: lib.isin(lib.tensor([1.0]), lib.tensor([])),
    "nan": lambda lib: lib.isin(lib.tensor([1.5, float("nan")]), lib.tensor([float("nan"), 1.5])),
    "a number": lambda lib: (lib.isin(2, lib.tensor([2, 3])), lib.isin(lib.tensor([2, 3]), 3)),
    "promoted": lambda lib: lib.isin(lib.tensor([1, 2]), lib.tensor([1.5, 2.0])),
    "infinite": lambda lib: lib.isin(lib.tensor([float("inf"), 0]), lib.tensor([float("inf")])),
    "unique": lambda lib: lib.isin(lib.tensor([4, 2]), lib.tensor([2]), assume_unique=True),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", ISIN)
def test_isin_is_torchs(name: str) -> None:
    compare(ISIN[name], orders=0)


def test_isin_of_two_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="isin"):
        tt.isin(1, 2)
