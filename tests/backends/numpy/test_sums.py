"""Sums, products and scaled additions of large arrays: against exact arithmetic and NumPy's."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from tinytorch.backends.numpy import sums

DRAWS = np.random.RandomState(0)
#: Arrays of at least ``sums.FEW`` elements whose memory is laid out in different ways.
ARRAYS: dict[str, Any] = {
    "vector": DRAWS.standard_normal(10_001),
    "matrix": DRAWS.standard_normal((700, 33)),
    "wide": DRAWS.standard_normal((3, 9_000)),
    "cube": DRAWS.standard_normal((20, 30, 40)),
    "transposed": DRAWS.standard_normal((200, 90)).T,
    "permuted": DRAWS.standard_normal((20, 30, 40)).transpose(2, 0, 1),
    "every second row": DRAWS.standard_normal((400, 60))[::2],
    "every second column": DRAWS.standard_normal((60, 2_000))[:, ::2],
    "reversed": DRAWS.standard_normal((1_200, 10))[::-1],
}


def exact_sum(array: Any, axes: tuple[int, ...]) -> Any:
    """The sums over ``axes`` of the elements, each rounded once."""
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    rows = array.transpose(*kept, *axes).reshape(*(array.shape[axis] for axis in kept), -1)
    return np.apply_along_axis(math.fsum, -1, np.asarray(rows, "float64"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ARRAYS)
def test_sums_over_any_dimensions_are_as_near_as_pairwise_summation(name: str, dtype: str) -> None:
    array = ARRAYS[name].astype(dtype, order="K")
    axes = range(array.ndim)
    for count in range(1, array.ndim + 1):
        for chosen in itertools.combinations(axes, count):
            found = sums.float_sum(array, chosen, False)
            if found is None:  # NumPy's reduction is to do it
                continue
            wanted = exact_sum(array, chosen)
            assert found.dtype == dtype and np.shape(found) == wanted.shape
            largest = exact_sum(abs(array), chosen)
            bound = 16 * np.finfo(dtype).eps * largest
            assert (abs(np.asarray(found, "float64") - wanted) <= bound).all()
            kept = sums.float_sum(array, chosen, True)
            assert kept.shape == tuple(1 if a in chosen else n for a, n in enumerate(array.shape))
            np.testing.assert_array_equal(kept.reshape(wanted.shape), found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [3, 1_000, 20_001, 600_011])
def test_sums_of_squares_are_as_near_as_pairwise_summation(size: int, dtype: str) -> None:
    array = np.random.RandomState(size).normal(3, 1, size).astype(dtype)
    wide = array.astype("float64")
    wanted = math.fsum(wide * wide)
    assert abs(float(sums.square_total(array)) - wanted) <= 16 * np.finfo(dtype).eps * wanted
    mean = array.mean()
    wanted = math.fsum((wide - mean) ** 2)
    assert abs(float(sums.squared_deviation(array, mean)) - wanted) <= 1e-14 * wanted


def test_the_sum_of_contiguous_arrays_does_not_fall_back_on_numpys() -> None:
    for name in ("vector", "matrix", "wide", "cube", "transposed", "permuted"):
        assert sums.float_sum(ARRAYS[name], None, False) is not None, name


@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, 3, 2), (2, 2000)])
def test_short_sums_equal_numpys(shape: tuple[int, ...]) -> None:
    array = DRAWS.standard_normal(shape)
    for axis in range(-len(shape), len(shape)):
        for keepdims in (False, True):
            found = sums.short_sum(array, axis, keepdims)
            if found is not None:
                wanted = array.sum(axis, keepdims=keepdims)
                assert np.shape(found) == wanted.shape
                np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("shape", [(5, 700), (3000, 2), (1, 4099)])
def test_products_of_signs_and_powers_of_two_are_exact(shape: Any, axis: Any) -> None:
    exponents = DRAWS.randint(-1, 2, shape)
    signs = DRAWS.choice([-1.0, 1.0], shape)
    found = sums.float_prod(signs * 2.0**exponents, axis, None, False)
    if found is not None:
        np.testing.assert_array_equal(found, signs.prod(axis) * 2.0 ** exponents.sum(axis))
    assert found is not None or axis == 0


@pytest.mark.parametrize("places", [3, 40, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_are_added_at_repeated_and_negative_indices(places: int, dtype: str) -> None:
    index = DRAWS.randint(-places, places, 900)
    values = DRAWS.randint(-9, 10, (900, 8)).astype(dtype)  # whose sums are exact
    found, wanted = (np.ones((places, 8), dtype) for _ in range(2))
    assert sums.add_rows(found, index, values)
    np.add.at(wanted, index, values)
    np.testing.assert_array_equal(found, wanted)


def test_rows_that_numpy_adds_as_fast_are_left_alone() -> None:
    target, values = np.zeros((3, 8)), np.ones((2, 8))
    assert not sums.add_rows(target, np.array([0, 1]), values)
    assert not sums.add_rows(target, [0] * 900, np.ones((900, 8)))
    assert not target.any()


@pytest.mark.parametrize("keep", [1.0, 0.5, -2.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_add_scaled_equals_the_sum_in_float64(dtype: str, keep: float) -> None:
    x, y = (DRAWS.standard_normal((40, 500)).astype(dtype) for _ in range(2))
    wanted = keep * y.astype("float64") + 0.25 * x.astype("float64")
    assert sums.add_scaled(y, x, 0.25, keep)
    np.testing.assert_allclose(y, wanted, rtol=0, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("scale", "keep"), [(0.0, 1.0), (1.0, 0.0)])
def test_a_factor_of_zero_is_left_to_numpy_which_makes_nan_of_infinity(
    scale: float, keep: float
) -> None:
    x, y = np.full(20_000, np.inf), np.ones(20_000)
    assert not sums.add_scaled(y, x, scale, keep)
    np.testing.assert_array_equal(y, 1)


def test_add_scaled_without_blas_has_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "_blas_function", lambda char, name: None)
    x, y = DRAWS.standard_normal(150_000), DRAWS.standard_normal(150_000)
    wanted = 0.5 * y + 2.0 * x
    assert sums.add_scaled(y, x, 2.0, 0.5)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logaddexp_is_within_rounding_of_numpys_in_float64(dtype: str) -> None:
    a, b = (DRAWS.uniform(-90, 90, 2_000).astype(dtype) for _ in range(2))
    a[:4], b[:4] = [np.inf, -np.inf, -np.inf, np.nan], [np.inf, -np.inf, 1.0, 1.0]
    assert sums.is_faster(a, b)
    with np.errstate(invalid="ignore"):  # of infinities that are subtracted
        found = sums.logaddexp(a, b)
        wanted = np.logaddexp(a.astype("float64"), b.astype("float64"))
    np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(dtype).eps)


def test_other_arrays_take_numpys_logaddexp() -> None:
    long = np.ones(2_000)
    assert not sums.is_faster(long, 1.0)
    assert not sums.is_faster(long, long.astype("float32"))
    assert not sums.is_faster(long[:5], long[:5])
