"""Subscripts at random: NumPy is the oracle, since PyTorch has no negative steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tinytorch as tt
from tests.ops.strategies import SETTINGS, arrays, places
from tests.oracles import host

#: Arrays that are stretched are among those that are shared.
pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning")


@st.composite
def subscripts(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """What may stand in brackets after an array of a shape."""
    bound = st.none() | st.integers(-5, 5)
    parts: list[Any] = []
    lists = draw(st.sampled_from(((), (1,), (2, 1), (2,))))
    for size in shape[: draw(st.integers(0, len(shape)))]:
        kind = draw(st.sampled_from(("slice", "slice", "int", "list", "mask", "none")))
        if kind == "none":
            parts.append(None)
        if kind == "int" and size:
            parts.append(draw(st.integers(-size, size - 1)))
        elif kind == "list" and size:
            parts.append(draw(places(size, lists, -size)))
        elif kind == "mask" and not any(isinstance(p, np.ndarray) for p in parts):
            parts.append(np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)),
                                  bool))  # fmt: skip
        else:
            step = draw(st.sampled_from((None, 1, 2, -1, -2)))
            parts.append(slice(draw(bound), draw(bound), step))
    if draw(st.booleans()):
        parts.append(...)
    return tuple(parts)


def as_tensors(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tt.tensor(part) if isinstance(part, np.ndarray) else part for part in index)


@settings(SETTINGS, max_examples=150)
@given(data=st.data())
def test_subscripts_read_what_numpy_reads(data: Any) -> None:
    array = data.draw(arrays("fi"))
    index = data.draw(subscripts(array.shape))
    try:
        wanted = array[index]
    except IndexError:
        with pytest.raises((IndexError, RuntimeError)):
            tt.from_numpy(array)[as_tensors(index)]
        return
    x = tt.from_numpy(array)
    if array.dtype.kind == "f":
        x.requires_grad_()
    got = x[as_tensors(index)]
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(host(got), wanted)
    if x.requires_grad:
        got.sum().backward()
        counts = np.zeros(array.shape)
        np.add.at(counts, index, 1)
        np.testing.assert_array_equal(host(x.grad), counts)


@settings(SETTINGS, max_examples=150)
@given(data=st.data())
def test_subscripts_write_where_numpy_writes(data: Any) -> None:
    array = np.array(data.draw(arrays("fi")))
    index = data.draw(subscripts(array.shape))
    try:
        part = array[index]
    except IndexError:
        assume(False)
    shape = tuple(n if data.draw(st.booleans()) else 1 for n in part.shape)
    value = np.full(shape, data.draw(st.integers(-9, 9)), array.dtype)
    x = tt.tensor(array)
    array[index] = value
    x[as_tensors(index)] = tt.tensor(value)
    np.testing.assert_array_equal(host(x), array)
