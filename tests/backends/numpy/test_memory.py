"""Masks, copies and shared memory of NumPy arrays: against NumPy's functions."""

from __future__ import annotations

import gc
import os
from typing import Any

import numpy as np
import pytest

from tinytorch.backends import load
from tinytorch.backends.numpy import memory

FLOATS = ["float16", "float32", "float64"]
#: On either side of the sizes from which work is done in blocks and in threads.
SIZES = [1, 1_000, 70_000, 600_000]


def in_parts(work: Any, count: int) -> Any:
    return load("numpy").in_parts(work, count)


def draw(size: int, dtype: str, seed: int = 0) -> Any:
    array = np.random.RandomState(seed).standard_normal(size).astype(dtype)
    array[: size // 2 : 7] = np.nan
    array[1 : size // 2 : 7] = np.inf
    return array


def assert_same_bits(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_array_equal(
        found.view(f"u{found.itemsize}"), wanted.view(f"u{found.itemsize}")
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_masked_elements_are_zero_even_if_they_are_nan(size: int, dtype: str) -> None:
    array, mask = draw(size, dtype), np.random.RandomState(1).rand(size) < 0.5
    wanted = np.where(mask, array, np.zeros((), dtype))
    assert_same_bits(memory.zero_unmasked(array, mask, in_parts), wanted)
    # A layout other than the row-major one takes another path.
    apart, wide = array[::-1], mask[::-1]
    assert_same_bits(memory.zero_unmasked(apart, wide, in_parts).copy(), wanted[::-1].copy())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_elements_are_selected_by_a_mask(size: int, dtype: str) -> None:
    x, y = draw(size, dtype), draw(size, dtype, seed=2)
    mask = np.random.RandomState(1).rand(size) < 0.5
    assert_same_bits(memory.choose(mask, x, y, in_parts), np.where(mask, x, y))
    scalar = np.array(2.5, dtype)
    assert_same_bits(memory.choose(mask, scalar, y, in_parts), np.where(mask, scalar, y))
    assert_same_bits(memory.choose(mask, x, scalar, in_parts), np.where(mask, x, scalar))
    turned = memory.choose(mask[::-1], x[::-1], y[::-1], in_parts)
    assert_same_bits(np.ascontiguousarray(turned), np.where(mask, x, y)[::-1].copy())


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_row_major_copies_equal_numpys(dtype: str) -> None:
    base = np.random.RandomState(0).standard_normal((300, 400)).astype(dtype)
    for array in (
        base, base.T, base.T[::-1], base.T[:, ::2], base.reshape(3, 100, 400).transpose(0, 2, 1),
        base[:5].T, np.broadcast_to(base[:1], (300, 400)),
    ):  # fmt: skip
        found = memory.contiguous(array)
        assert found.flags.c_contiguous and found.dtype == dtype
        np.testing.assert_array_equal(found, array)
    assert memory.contiguous(base) is base


def test_numpys_buffer_has_its_size_again_after_operations_on_rows() -> None:
    before = np.getbufsize()
    with memory.row_after_row(1_000, 1_000_000):
        assert np.getbufsize() < 1_000
    assert np.getbufsize() == before
    with pytest.raises(ZeroDivisionError), memory.row_after_row(1_000, 1_000_000):
        raise ZeroDivisionError
    assert np.getbufsize() == before
    for row, size in ((10, 1_000_000), (100_000, 1_000_000), (1_000, 2_000)):
        with memory.row_after_row(row, size):
            assert np.getbufsize() == before


needs_descriptors = pytest.mark.skipif(not memory.POSSIBLE, reason="no descriptors to pass on")


@needs_descriptors
def test_two_mappings_of_one_file_are_one_array() -> None:
    first = memory.allocate(100)
    assert first.shape == (100,) and not first.any()
    segment = memory.segment_of(first[10:20])
    assert segment is not None
    again = memory.attach(os.dup(segment.descriptor))
    again[15] = 7
    assert first[15] == 7
    assert memory.root_of(segment) is again
    assert memory.segment_of(np.zeros(3)) is None


@needs_descriptors
def test_memory_is_unmapped_and_its_descriptor_closed_with_the_last_view() -> None:
    gc.collect()
    before = memory.mapped_count()
    array = memory.allocate(0)  # a mapping has at least one byte
    assert array.shape == (1,) and memory.mapped_count() == before + 1
    segment = memory.segment_of(array)
    assert segment is not None
    descriptor, view = segment.descriptor, array[:1]
    del array, segment
    os.fstat(descriptor)
    del view
    gc.collect()
    assert memory.mapped_count() == before
    with pytest.raises(OSError):
        os.fstat(descriptor)


@needs_descriptors
def test_a_move_copies_the_whole_block_and_keeps_the_layout_of_views() -> None:
    base = np.arange(24.0).reshape(4, 6)
    views = [base, base[1:3, ::2], base.T[::-1]]
    move = memory.Move(views[1])
    moved = [move(view) for view in views]
    for view, there in zip(views, moved, strict=True):
        np.testing.assert_array_equal(there, view)
        assert there.strides == view.strides and memory.segment_of(there) is not None
    moved[0][1, 2] = -1.0
    assert moved[1][0, 1] == -1.0 and base[1, 2] == 8.0
