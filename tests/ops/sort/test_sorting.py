"""Order: sorting, the largest few, places in sorted sequences, distinct elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare, numbers
from tinytorch.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf
X = numbers(3, 5)
TIES = np.array([[2, 1, 2, 1, 0], [3, 3, 3, 3, 3], [1, 0, 1, 0, 1]])
EDGES = np.array([1.0, NAN, -INF, 0.0, -0.0, INF, NAN, 1.0])
ROWS = np.array([[1, 2], [0, 5], [1, 2], [0, 5], [1, 0]])

CASES: dict[str, tuple[Any, ...]] = {
    "sort": (lambda lib, x: lib.sort(x), X),
    "sort descending": (lambda lib, x: x.sort(0, True), X),
    "sort ties": (lambda lib, x: lib.sort(x, stable=True, dim=1), TIES),
    "sort ties descending": (lambda lib, x: lib.sort(x, stable=True, dim=1, descending=True), TIES),
    "sort nan": (lambda lib, x: lib.sort(x.detach(), stable=True), EDGES),
    "sort nan descending": (
        lambda lib, x: lib.sort(x.detach(), stable=True, descending=True), EDGES
    ),
    "sort bools": (lambda lib, x: lib.sort(x, stable=True), TIES > 1),
    "argsort": (lambda lib, x: lib.argsort(x, 0, True), X),
    "msort": (lambda lib, x: lib.msort(x), X),
    "topk": (lambda lib, x: lib.topk(x, 3), X),
    "topk smallest": (lambda lib, x: x.topk(2, 0, largest=False), X),
    "topk of many": (lambda lib, x: lib.topk(x, 4), numbers(2, 3000)),
    "topk smallest of many": (lambda lib, x: lib.topk(x, 4, 0, False), numbers(3000)),
    "topk of none": (lambda lib, x: lib.topk(x, 0), X),
    "searchsorted": (
        lambda lib, b, v: lib.searchsorted(b.detach(), v.detach()), np.sort(X[0]), X
    ),
    "searchsorted rows": (
        lambda lib, b, v: lib.searchsorted(b.detach(), v.detach(), right=True),
        np.sort(X), numbers(3, 4, seed=2),
    ),
    "searchsorted ties": (
        lambda lib, b, v: (lib.searchsorted(b, v), lib.searchsorted(b, v, side="right")),
        np.sort(TIES), TIES[:, :3],
    ),
    "searchsorted nan": (
        lambda lib, b, v: lib.searchsorted(b.detach(), v.detach()),
        np.array([[0.0, 1.0, 2.0]]), np.array([[NAN, INF, -INF, 1.0]]),
    ),
    "searchsorted number": (
        lambda lib, b: lib.searchsorted(b, 2, out_int32=True), np.array([1, 2, 3])
    ),
    "searchsorted other dtypes": (
        lambda lib, b, v: [lib.searchsorted(b, v.to(t)) for t in (lib.float32, lib.uint8)],
        np.array([1, 2, 3]), np.array([0.5, 1.0, 1.5, 2.5, 9.0]),
    ),
    "searchsorted whole numbers": (
        lambda lib, b, v: (lib.searchsorted(b, v), lib.bucketize(v, b, right=True)),
        np.array([0.5, 1.0, 2.5], "float32"), np.array([0, 1, 2, 3]),
    ),
    "bucketize between whole numbers": (
        lambda lib, b: (lib.bucketize(1.5, b), lib.searchsorted(b, 1.5)), np.array([1, 2, 3])
    ),
    "searchsorted sorter": (
        lambda lib, b, v: lib.searchsorted(b, v, sorter=lib.argsort(b)),
        np.array([3, 1, 2]), np.array([2, 5]),
    ),
    "bucketize": (
        lambda lib, x, b: lib.bucketize(x.detach(), b.detach(), right=True),
        X, np.array([-2.0, 0.0, 1.0]),
    ),
    "unique": (lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True), TIES),
    "unique dim": (
        lambda lib, x: lib.unique(x, dim=0, return_inverse=True, return_counts=True), ROWS
    ),
    "unique columns": (lambda lib, x: lib.unique(x, dim=1, return_inverse=True), ROWS),
    "unique nan": (lambda lib, x: lib.unique(x.detach(), return_counts=True), EDGES[1:3]),
    "unique of nothing": (lambda lib, x: lib.unique(x, return_inverse=True), np.zeros(0, int)),
    "unique_consecutive": (
        lambda lib, x: lib.unique_consecutive(x, return_inverse=True, return_counts=True), TIES
    ),
    "unique_consecutive dim": (
        lambda lib, x: lib.unique_consecutive(x, dim=0, return_counts=True), np.repeat(ROWS, 2, 0)
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_results_and_derivatives_of_sorting_are_pytorchs(name: str) -> None:
    call, *arrays = CASES[name]
    compare(call, *arrays)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "bool"])
def test_sort_keeps_dtypes(dtype: str) -> None:
    compare(lambda lib, x: lib.sort(x, stable=True), TIES.astype(dtype), orders=0)


@pytest.mark.parametrize("name", ["sort", "topk"])
def test_derivatives_of_sorting_are_finite_differences(name: str) -> None:
    x = tt.tensor(X, requires_grad=True)
    call = lambda x: getattr(tt, name)(x, *((2,) if name == "topk" else ())).values  # noqa: E731
    assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


def test_views_with_negative_strides_are_sorted() -> None:
    x = tt.tensor(X)[:, ::2].flip(1).transpose(0, 1)
    np.testing.assert_array_equal(x.sort(0).values, np.sort(X[:, ::2].T, axis=0))


def test_equal_elements_keep_their_order() -> None:
    x = tt.tensor(np.arange(2000) % 3)
    assert x.argsort().tolist() == np.argsort(np.arange(2000) % 3, kind="stable").tolist()


@pytest.mark.torch
def test_numbers_without_dimensions_are_sorted() -> None:
    compare(lambda lib, x: (lib.sort(x), lib.topk(x, 1), lib.unique(x)), np.array(3), orders=0)


# -- NumPy's dialect -----------------------------------------------------------------------------


def test_axis_and_kind_mean_numpy() -> None:
    x = tt.tensor(X)
    np.testing.assert_array_equal(tt.sort(x, axis=0, kind="stable"), np.sort(X, axis=0))
    np.testing.assert_array_equal(tt.sort(x, axis=None), np.sort(X, axis=None))
    np.testing.assert_array_equal(tt.argsort(x, kind="stable"), np.argsort(X, kind="stable"))


def test_unique_by_axis_means_numpy() -> None:
    values, first, counts = tt.unique(
        tt.tensor(ROWS), axis=0, return_index=True, return_counts=True
    )
    expected = np.unique(ROWS, axis=0, return_index=True, return_counts=True)
    for found, wanted in zip((values, first, counts), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert tt.unique(tt.tensor(EDGES), equal_nan=True).numel() == np.unique(EDGES).size


# -- errors --------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "sort dim": (lambda: tt.sort(tt.ones(2), 1), IndexError, "Dimension out of range"),
    "sort complex": (lambda: tt.sort(tt.tensor([1j])), RuntimeError, "complex"),
    "sort kind": (lambda: tt.sort(tt.ones(2), kind="bubble"), ValueError, "bubble"),
    "topk": (lambda: tt.topk(tt.ones(2), 3), RuntimeError, "k out of range: k=3, size 2"),
    "topk bools": (lambda: tt.topk(tt.tensor([True]), 1), NotImplementedError, "Bool"),
    "searchsorted complex": (
        lambda: tt.searchsorted(tt.ones(2), tt.tensor([1j])), NotImplementedError, "ComplexFloat"
    ),
    "searchsorted shape": (
        lambda: tt.searchsorted(tt.ones(2, 3), tt.ones(3, 3)), RuntimeError, "first N-1 dimensions"
    ),
    "searchsorted side": (
        lambda: tt.searchsorted(tt.ones(2), 1.0, side="middle"), RuntimeError, "middle"
    ),
    "searchsorted sides": (
        lambda: tt.searchsorted(tt.ones(2), 1.0, side="left", right=True), RuntimeError, "opposites"
    ),
    "bucketize": (lambda: tt.bucketize(tt.ones(2), tt.ones(2, 2)), RuntimeError, "1 dimension"),
    "unique dim": (lambda: tt.unique(tt.ones(2), dim=3), IndexError, "Dimension out of range"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_use_of_sorting_is_refused(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()
