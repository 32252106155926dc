"""Numbers as operands: NumPy's before a tensor, and Python's without any tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close

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
    assert_all_close(call(tt), call(torch))


@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift", "remainder", "pow"])
def test_numbers_alone_are_refused_where_pytorch_refuses_them(torch: Any, name: str) -> None:
    for library in (tt, torch):
        with pytest.raises(TypeError):
            getattr(library, name)(2, 3)
    assert getattr(tt, name)(2, tt.tensor([1, 2])).tolist() == (
        getattr(torch, name)(2, torch.tensor([1, 2])).tolist()
    )


def item_set(index: Any) -> tt.Tensor:
    x = tt.ones(2)
    x[index] = -0.0
    return x


NEGATIVE_ZEROS: dict[str, Callable[[], tt.Tensor]] = {
    "tensor": lambda: tt.tensor(-0.0),
    "tensor of one": lambda: tt.tensor([-0.0]),
    "scalar_tensor": lambda: tt.scalar_tensor(-0.0, dtype=tt.float64),
    "full": lambda: tt.full((2,), -0.0),
    "fill_": lambda: tt.ones(2).fill_(-0.0),
    "masked_fill": lambda: tt.ones(2).masked_fill(tt.tensor([True, True]), -0.0),
    "where": lambda: tt.where(tt.tensor([True]), -0.0, tt.ones(1)),
    "product": lambda: tt.ones(2) * -0.0,
    "maximum": lambda: tt.mul(-0.0, tt.ones(())),
    "clone": lambda: tt.tensor(-0.0).clone(),
    "assigned": lambda: tt.ones(2).index_fill_(0, tt.tensor([0, 1]), -0.0),
    "scattered": lambda: tt.ones(2).scatter_(0, tt.tensor([0, 1]), -0.0),
    "at an index": lambda: item_set(tt.tensor([0, 1])),
    "at a place": lambda: item_set(0)[:1],
    "at a slice": lambda: item_set(slice(None)),
    "at a mask": lambda: item_set(tt.tensor([True, True])),
    "the diagonal": lambda: tt.ones(2, 2).fill_diagonal_(-0.0).diagonal(),
    "index_put": lambda: tt.ones(2).index_put_((tt.tensor([0, 1]),), tt.tensor(-0.0)),
    "imaginary": lambda: tt.tensor(complex(1.0, -0.0)).imag,
    "the real part": lambda: tt.tensor(complex(-0.0, -0.0)).real,
}


@pytest.mark.parametrize("name", NEGATIVE_ZEROS)
def test_the_sign_of_zero_is_kept(name: str) -> None:
    found = NEGATIVE_ZEROS[name]().numpy()
    assert (found == 0).all() and np.signbit(found).all()
