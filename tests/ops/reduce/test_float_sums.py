"""Sums of float arrays: exact enough whatever the shape, the dimensions and the strides."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

SHAPES = [
    (100_000,), (1000, 100), (30, 40, 50), (4, 3000, 20), (5000, 7), (16, 8, 20, 20), (3, 1, 9000),
    (3_000_000,), (8192, 300), (1,), (17,), (1024,), (1025,), (3, 0, 2), (8, 4, 16), (600, 2),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_are_near_the_exact_ones(shape: tuple[int, ...], dtype: str) -> None:
    values = np.random.RandomState(0).randn(*shape).astype(dtype)
    x = tt.tensor(values)
    bound = np.finfo(dtype).eps * 4
    for count in range(1, len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), count):
            exact = values.astype("longdouble").sum(dims)
            size = np.abs(values.astype("longdouble")).sum(dims)
            found = x.sum(dims, keepdim=True)
            assert found.dtype.name == dtype
            assert tuple(found.shape) == values.sum(dims, keepdims=True).shape
            assert (np.abs(np.asarray(found).reshape(exact.shape) - exact) <= bound * size).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dims", [(-1,), (0, 2, 3), (2, 3), (0, -1)], ids=str)
def test_sums_of_rows_that_lie_apart(dims: tuple[int, ...], dtype: str) -> None:
    whole = np.random.RandomState(0).randn(6, 9, 40, 64).astype(dtype)
    some = slice(None)
    for part in ((some, slice(2, 5)), (slice(0, 6, 2), slice(1, 9, 3)), (..., slice(63))):
        values = whole[part]
        exact = values.astype("longdouble").sum(dims)
        size = np.abs(values.astype("longdouble")).sum(dims)
        found = tt.tensor(whole)[part].sum(dims)
        bound = np.finfo(dtype).eps * 4
        assert found.dtype.name == dtype and tuple(found.shape) == exact.shape
        assert (np.abs(np.asarray(found) - exact) <= bound * size).all()


def test_ones_are_counted_exactly() -> None:
    # Below 2**24 float32 holds every count, so an error is an element left out or added twice.
    assert tt.ones(16_000_001).sum().item() == 16_000_001
    assert tt.ones(100, 2000).sum(0).eq(100).all() and tt.ones(100, 2000).sum(1).eq(2000).all()


@pytest.mark.parametrize("size", [100, 3000, 70_001, 2_000_001])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_the_dtype_argument_is_the_dtype_of_sums_and_products(dtype: str, size: int) -> None:
    values = (np.arange(size) % 7 == 0) + 1.0 / (1 if dtype == "int64" else 3)
    x = tt.tensor(values.astype(dtype))
    for wanted in (tt.float64, tt.float32, tt.int64):
        exact = np.asarray(x).astype(wanted.name).sum(dtype="float64")
        for name in ("sum", "nansum"):
            found = getattr(x, name)(dtype=wanted)
            assert found.dtype is wanted and getattr(x, name)(0, dtype=wanted).dtype is wanted
            bound = 1e-5 if wanted is tt.float32 else 1e-12  # of blocks, one after another
            np.testing.assert_allclose(np.asarray(found), exact, bound)
        ones = (x * 0 + 1).reshape(-1, 1)
        assert ones.prod(dtype=wanted).dtype is wanted and ones.prod(dtype=wanted).item() == 1
        assert ones.prod(0, dtype=wanted).dtype is wanted
        if wanted.is_floating_point and dtype != "int64":
            assert x.mean(dtype=wanted).dtype is x.nanmean(dtype=wanted).dtype is wanted


def test_more_halves_than_a_half_can_count_have_a_mean() -> None:
    x = tt.full((70_001,), 0.5, dtype=tt.float16)
    x[3] = math.nan
    x.requires_grad_()
    assert x.nanmean().item() == x.reshape(-1, 1).nanmean(0).item() == 0.5
    (x[4:] * 1000).nanmean().backward()
    assert x.grad[5].item() == pytest.approx(1000 / 69_997, 5e-3)  # of a subnormal half


def test_halves_are_summed_in_single_precision_and_rounded_once() -> None:
    values = np.random.RandomState(0).randn(300, 40, 30).astype("float16")
    x = tt.tensor(values)
    for dims in (0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)):
        exact = values.astype("float64").sum(dims)
        # Sums of both signs may cancel, and leave the rounding of single precision.
        single = np.finfo("float32").eps * abs(values.astype("float64")).sum(dims)
        bound = 0.51 * np.spacing(abs(exact).astype("float16")) + single
        for found in (x.sum(dims), x.float().nansum(dims, dtype=tt.float16)):
            assert found.dtype is tt.float16
            assert (abs(np.asarray(found) - exact) <= bound).all()
    ones = tt.ones(5000, 2, dtype=tt.float16, requires_grad=True)
    bias = tt.zeros(2, dtype=tt.float16, requires_grad=True)
    out = ones + bias
    assert out.sum(0).tolist() == [5000, 5000]
    out.sum().backward()
    assert bias.grad.tolist() == [5000, 5000]
    large = tt.tensor([[6e4], [6e4], [-6e4]], dtype=tt.float16)
    assert large.sum(0).item() == large.sum().item() == 60_000


@pytest.mark.parametrize("name", ["addmm", "addbmm", "baddbmm"])
def test_added_products_of_halves_are_rounded_once(name: str) -> None:
    draw, batch = np.random.RandomState(0).randn, () if name == "addmm" else (6,)
    inputs = draw(5, 7), draw(*batch, 5, 40), draw(*batch, 40, 7)
    halves = [tt.tensor(x.astype("float16")) for x in inputs]
    found = np.asarray(getattr(tt, name)(*halves, beta=0.3, alpha=0.7))
    exact = np.asarray(getattr(tt, name)(*(x.double() for x in halves), beta=0.3, alpha=0.7))
    assert found.dtype == "float16"
    assert (abs(found - exact) <= 0.51 * np.spacing(abs(exact).astype("float16"))).all()


def test_gradients_of_log_softmax_over_many_float16_are_precise() -> None:
    x = tt.zeros(4096, 2, dtype=tt.float16, requires_grad=True)
    x.log_softmax(0).sum().backward()  # 1 - 4096 / 4096
    assert abs(x.grad).max().item() < 4e-3  # exp of a half near -8 has an error of 2**-9


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_of_means_reach_more_halves_than_a_half_can_count(recorded: bool) -> None:
    values = np.linspace(0.1, 0.9, 70_001).astype("float16")
    x = tt.tensor(values, requires_grad=True)
    centered = values.astype("float64") - values.mean(dtype="float64")
    for result, wanted in ((x.mean(), np.ones(70_001) / 70_001), (x.var(), centered / 35_000)):
        (g,) = tt.autograd.grad(result * 1000, x, create_graph=recorded)
        np.testing.assert_allclose(np.asarray(g.detach()), wanted * 1000, 3e-3, 2e-5)
    loss = tt.nn.functional.l1_loss(x, tt.zeros_like(x)) * 1000
    (g,) = tt.autograd.grad(loss, x, create_graph=recorded)
    np.testing.assert_allclose(np.asarray(g.detach()), 1000 / 70_001, 3e-3)


def test_sums_over_infinity_and_nan_are_infinity_and_nan() -> None:
    x = tt.ones(100, 200)
    x[3, 5], x[7, 5] = math.inf, -math.inf
    x[4, 6] = math.nan
    sums = x.sum(0)
    assert math.isnan(sums[5].item()) and math.isnan(sums[6].item()) and sums[7].item() == 100
    assert x.sum(1)[3].item() == math.inf


def test_sums_of_strided_views_are_right() -> None:
    values = np.random.RandomState(0).randn(300, 400)
    x = tt.tensor(values)
    np.testing.assert_allclose(x.t().sum(1), values.T.sum(1))
    np.testing.assert_allclose(x[::2, 5:].sum(0), values[::2, 5:].sum(0))
    np.testing.assert_allclose(x.flip(0).sum(), values.sum())
    np.testing.assert_allclose(x.t()[:5, 7:20].sum(), values[7:20, :5].sum())
    np.testing.assert_allclose(x[3, ::7].sum(), values[3, ::7].sum())


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T, lambda x: x[::2], lambda x: x[:, 1:3], lambda x: x.reshape(50, 4000, 4).T,
        lambda x: x.reshape(50, 4000, 4).swapaxes(0, 1), lambda x: x[None].repeat(2, 0),
        lambda x: np.broadcast_to(x[:, :1], (200_000, 4)),
    ],
)  # fmt: skip
def test_long_sums_of_views_are_near_the_exact_ones(view: Any) -> None:
    values = np.random.RandomState(0).uniform(1, 2, (200_000, 4)).astype("float32")
    wanted = view(values)
    x = tt.asarray(wanted)
    for dims in [(i,) for i in range(x.ndim)] + [tuple(range(x.ndim))]:
        np.testing.assert_allclose(
            x.sum(dims).numpy(), wanted.sum(dims, dtype="float64"), rtol=2e-6
        )
