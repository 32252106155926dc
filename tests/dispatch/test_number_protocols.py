"""Python's functions for numbers, called with tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

NUMBERS = [2.5, -2.5, 3.5, 0.5, 7.0, -0.3]


@pytest.mark.parametrize("function", [round, math.floor, math.ceil, math.trunc])
def test_round_floor_ceil_and_trunc_of_one_element_return_an_int(
    function: Callable[[Any], int],
) -> None:
    for number in (*NUMBERS, 3, True):
        for tensor in (tt.tensor(number), tt.tensor([number])):
            found = function(tensor)
            assert type(found) is int and found == function(number)


@pytest.mark.parametrize("function", [round, math.floor, math.ceil, math.trunc])
def test_round_floor_ceil_and_trunc_of_many_elements_return_a_tensor(
    function: Callable[[Any], Any],
) -> None:
    assert function(tt.tensor(NUMBERS)).tolist() == [function(number) for number in NUMBERS]


def test_round_to_decimal_places_keeps_the_gradient() -> None:
    assert round(tt.tensor([1.26, -3.14], dtype=tt.float64), 1).tolist() == [1.3, -3.1]
    x = tt.tensor(0.126, requires_grad=True)
    assert round(x, 2).grad_fn is not None and round(round(x, 2).item(), 6) == 0.13


@pytest.mark.parametrize(
    ("a", "b"),
    [([7, -7], 2), ([7.5, -7.5], 2), ([7.5, -7.5], -0.5), ([7, -7], [2, -3]), (7, [2, -2])],
)
def test_divmod_returns_numpys_quotient_and_remainder(a: Any, b: Any) -> None:
    left, right = (tt.tensor(v) if isinstance(v, list) else v for v in (a, b))
    for found, wanted in zip(divmod(left, right), divmod(np.array(a), np.array(b)), strict=True):
        np.testing.assert_array_equal(found.cpu().numpy(), wanted)


def test_number_protocols_refuse_text_complex_numbers_and_nan() -> None:
    with pytest.raises(TypeError):
        divmod(tt.ones(2), "a")
    with pytest.raises(TypeError):
        math.floor(tt.tensor(1j))
    with pytest.raises(ValueError, match="NaN"):
        round(tt.tensor(math.nan))
