"""Sorted indices of NumPy arrays: against NumPy's stable sort, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tinytorch.backends import load
from tinytorch.backends.numpy import ordering

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
]  # fmt: skip
#: On either side of the sizes from which the module sorts packed integers, and uses threads.
SHAPES = [(7,), (3, 5), (600,), (40, 50), (5, 300, 7), (2, 90_000)]


def in_parts(work: Any, count: int) -> Any:
    return load("numpy").in_parts(work, count)


def draw(shape: tuple[int, ...], dtype: str) -> Any:
    """Elements of which many are equal; with NaN, infinities and -0 where there are such."""
    draws = np.random.RandomState(0)
    if dtype == "bool":
        return draws.rand(*shape) < 0.5
    if dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        array = draws.randint(0, 50, shape).astype(dtype)
        array.reshape(-1)[:2] = info.min, info.max
        return array
    array = (draws.randint(-20, 20, shape) / 4).astype(dtype)
    array.reshape(-1)[:6] = np.nan, np.inf, -np.inf, -0.0, 0.0, -np.nan
    return array


def stable_order(array: Any, axis: int, descending: bool) -> Any:
    """Indices by NumPy's stable sort of the elements' ranks, where NaN has the greatest one."""
    ranks = np.unique(array, return_inverse=True)[1].reshape(array.shape)
    return np.argsort(-ranks if descending else ranks, axis, kind="stable")


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_order_is_stable(shape: tuple[int, ...], dtype: str, descending: bool) -> None:
    array = draw(shape, dtype)
    for axis in range(len(shape)) if array.size < 20_000 else [len(shape) - 1]:
        found = ordering.order(array, axis, descending, in_parts)
        assert found.dtype == "int64"
        np.testing.assert_array_equal(found, stable_order(array, axis, descending))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [0, 1, 5, 70])
def test_leading_elements_are_those_of_the_order(count: int, dtype: str, descending: bool) -> None:
    for shape, axis in (((80,), 0), ((50, 100), 1), ((100, 90), 0), ((2, 90_000), 1)):
        array = draw(shape, dtype)
        found = ordering.leading(array, count, axis, descending, in_parts)
        assert found.shape[axis] == count and found.dtype == "int64"
        whole = stable_order(array, axis, descending) if array.size < 20_000 else None
        if whole is None:
            whole = ordering.order(array, axis, descending, in_parts)
        wanted = np.take_along_axis(array, np.take(whole, range(count), axis), axis)
        np.testing.assert_array_equal(np.take_along_axis(array, found, axis), wanted)
        listed = np.sort(found, axis)  # of equal elements each is listed once
        assert not (np.diff(listed, axis=axis) == 0).any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("place", [0, 3, 49])
def test_picked_elements_are_at_their_place_of_the_order(place: int, dtype: str) -> None:
    for shape, axis in (((50,), 0), ((50, 40), 0), ((40, 50), 1)):
        array = draw(shape, dtype)
        found = ordering.pick(array, axis, place, in_parts)
        wanted = np.take(stable_order(array, axis, False), [place], axis)
        np.testing.assert_array_equal(
            np.take_along_axis(array, found, axis), np.take_along_axis(array, wanted, axis)
        )


def test_each_row_may_have_its_own_place() -> None:
    array = draw((40, 50), "float32")
    places = np.arange(40).reshape(40, 1)
    found = ordering.pick(array, 1, places, in_parts)
    whole = stable_order(array, 1, False)
    np.testing.assert_array_equal(found, np.take_along_axis(whole, places, 1))
    same = ordering.pick(array, 1, np.full((40, 1), 7), in_parts)
    np.testing.assert_array_equal(
        np.take_along_axis(array, same, 1), np.take_along_axis(array, whole[:, 7:8], 1)
    )
