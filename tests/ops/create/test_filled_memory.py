"""New memory under deterministic algorithms: filled as PyTorch fills it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tinytorch as tt

#: What makes memory of a dtype; of the filled part only what ``resize_`` added is new.
MADE: dict[str, Callable[[Any, Any], Any]] = {
    "empty": lambda t, dtype: t.empty(2, 3, dtype=dtype),
    "in another order": lambda t, dtype: t.empty(
        1, 2, 2, 2, dtype=dtype, memory_format=t.channels_last
    ),
    "empty_like": lambda t, dtype: t.empty_like(t.zeros(2, 3, dtype=dtype).t()),
    "new_empty": lambda t, dtype: t.zeros(1, dtype=dtype).new_empty(3),
    "empty_strided": lambda t, dtype: t.empty_strided((2, 2), (1, 2), dtype=dtype),
    "empty_permuted": lambda t, dtype: t.empty_permuted((2, 2), (1, 0), dtype=dtype),
    "resized": lambda t, dtype: t.ones(3, dtype=dtype).resize_(5),
    "resized to less": lambda t, dtype: t.ones(3, dtype=dtype).resize_(2),
    "a former constructor": lambda t, dtype: t.zeros(1, dtype=dtype).new(2),
}
DTYPES = ("bool", "uint8", "int8", "int64", "uint16", "float16", "float64", "complex64")


@pytest.fixture(autouse=True)
def torch(torch: Any) -> Iterator[Any]:
    """PyTorch, which is told to be deterministic as tinytorch is."""
    libraries = (tt, torch)
    for library in libraries:
        library.use_deterministic_algorithms(True)
    yield torch
    for library in libraries:
        library.use_deterministic_algorithms(False)
        library.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MADE)
def test_uninitialized_memory_is_filled_in_deterministic_mode(
    torch: Any, name: str, dtype: str
) -> None:
    ours, theirs = (MADE[name](t, getattr(t, dtype)) for t in (tt, torch))
    assert str(ours.tolist()) == str(theirs.tolist()) and ours.stride() == theirs.stride()


def test_memory_is_not_filled_if_fill_uninitialized_memory_is_off() -> None:
    tt.utils.deterministic.fill_uninitialized_memory = False
    assert tt.utils.deterministic.fill_uninitialized_memory is False
    for mode in (True, False):
        tt.use_deterministic_algorithms(mode)
        tt.utils.deterministic.fill_uninitialized_memory = not mode
        # What new memory holds is not known, but it is not all the largest number.
        assert not (tt.empty(1000, dtype=tt.int64) == tt.iinfo(tt.int64).max).all()


def test_fill_uninitialized_memory_must_be_a_bool(torch: Any) -> None:
    for library in (tt, torch):
        assert library.utils.deterministic.fill_uninitialized_memory is True
        with pytest.raises(RuntimeError, match="expected a bool, but got int"):
            library.utils.deterministic.fill_uninitialized_memory = 1
