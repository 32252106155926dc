"""Numbers as operands: NumPy's before a tensor, and Python's without any tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import agree

Call = Callable[[Any], Any]

NUMPYS_NUMBERS: dict[str, Call] = {
    "2 * ints": lambda m: np.float64(2) * m.arange(3),
    "2 / ints": lambda m: np.float32(2) / m.arange(1, 4, dtype=m.int32),
    "an int / ints": lambda m: np.int64(3) / m.arange(1, 4, dtype=m.int32),
    "2 ** ints": lambda m: np.float64(2) ** m.arange(3),
    "2 - halves": lambda m: np.float64(2) - m.ones(2, dtype=m.float16),
    "an int + bools": lambda m: np.int64(2) + m.tensor([True, False]),
    "an int // ints": lambda m: np.int64(7) // m.tensor([2, 3], dtype=m.int16),
    "an int << ints": lambda m: np.int32(1) << m.tensor([2, 3], dtype=m.int16),
    "a complex number * floats": lambda m: np.complex128(2j) * m.ones(2),
}

NUMBERS_ALONE: dict[str, Call] = {
    "add": lambda m: m.add(1, 2.5),
    "add ints": lambda m: m.add(1, 2),
    "add bools": lambda m: m.add(True, False),
    "add scaled": lambda m: m.add(0.5, 0.5, alpha=2),
    "sub scaled": lambda m: m.sub(3, 1, alpha=2),
    "mul": lambda m: m.mul(0.5, 256),
    "mul of a complex number": lambda m: m.mul(2, 1j),
    "div": lambda m: m.div(1, 2),
    "div by an infinity": lambda m: m.div(1, float("inf")),
    "floor_divide": lambda m: m.floor_divide(7.5, 2),
}


@pytest.mark.parametrize("name", [*NUMPYS_NUMBERS, *NUMBERS_ALONE])
def test_numbers_of_numpys_first_and_numbers_alone(torch: Any, name: str) -> None:
    call = {**NUMPYS_NUMBERS, **NUMBERS_ALONE}[name]
    agree(call(tt), call(torch))


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift", "remainder", "pow"])
def test_numbers_alone_are_refused_where_pytorch_refuses_them(torch: Any, name: str) -> None:
    for library in (tt, torch):
        with pytest.raises(TypeError):
            getattr(library, name)(2, 3)
    assert getattr(tt, name)(2, tt.tensor([1, 2])).tolist() == (
        getattr(torch, name)(2, torch.tensor([1, 2])).tolist()
    )
