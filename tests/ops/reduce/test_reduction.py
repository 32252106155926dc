"""Reductions: sums, products, means, variances, extrema, norms, quantiles, and running ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.calls import Call, words
from tests.oracles import (
    assert_all_close,
    assert_same_outcome,
    compare,
    complexes,
    host,
    libraries,
    numbers,
)
from tinytorch.autograd import gradcheck, gradgradcheck

NAN, INF = math.nan, math.inf
X = numbers(3, 4)
Z = complexes(3, 4)
WITH_ZEROS = np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0], [1.0, -2.0, 4.0]])
WITH_NANS = np.array([[1.0, NAN, 3.0], [NAN, NAN, NAN], [4.0, 5.0, 6.0]])

CASES: dict[str, tuple[Any, ...]] = {
    "sum": (lambda lib, x: lib.sum(x), X),
    "sum dims": (lambda lib, x: lib.sum(x, (0, -1), True), X),
    "sum complex": (lambda lib, x: x.sum(1), Z),
    "nansum": (lambda lib, x: lib.nansum(x, 1), WITH_NANS),
    "mean": (lambda lib, x: lib.mean(x, 0, keepdim=True), X),
    "nanmean": (lambda lib, x: lib.nanmean(x, 0), WITH_NANS[::2]),
    "prod": (lambda lib, x: lib.prod(x), X),
    "prod with zeros": (lambda lib, x: lib.prod(x, 1), WITH_ZEROS),
    "prod keepdim": (lambda lib, x: lib.prod(x, 0, True), Z),
    "logsumexp": (lambda lib, x: lib.logsumexp(x, (0, 1)), X),
    "logsumexp complex": (lambda lib, x: lib.logsumexp(x, 1, True), Z * 0.3),
    "var": (lambda lib, x: lib.var(x), X),
    "var biased": (lambda lib, x: x.var(1, unbiased=False), X),
    "var complex": (lambda lib, x: x.var(0, correction=0.5, keepdim=True), Z),
    "std": (lambda lib, x: lib.std(x, (0, 1)), X),
    "std of one value": (lambda lib, x: lib.std(x, 1), np.full((2, 3), 1.5)),
    "std True": (lambda lib, x: lib.std(x, True), X),
    "var_mean": (lambda lib, x: lib.var_mean(x, 1), X),
    "std_mean": (lambda lib, x: lib.std_mean(x, 0, correction=2), X),
    "amax": (lambda lib, x: lib.amax(x, (0, 1)), X),
    "amax ties": (lambda lib, x: lib.amax(x, 1), np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])),
    "amin": (lambda lib, x: lib.amin(x, -1, keepdim=True), X),
    "aminmax": (lambda lib, x: lib.aminmax(x, dim=1), X),
    "aminmax all": (lambda lib, x: lib.aminmax(x, keepdim=True), X),
    "max": (lambda lib, x: lib.max(x), np.array([1.0, 3.0, 3.0])),
    "max with nan": (lambda lib, x: lib.max(x), np.array([1.0, NAN, 3.0])),
    "max dim": (lambda lib, x: lib.max(x, 1), X),
    "max of two": (lambda lib, x, y: lib.max(x, y), X, X[::-1]),
    "min dim keepdim": (lambda lib, x: x.min(0, keepdim=True), X),
    "min of bools": (lambda lib, x: lib.min(x, 1), X > 0),
    "argmax": (lambda lib, x: (lib.argmax(x), lib.argmax(x, 1), x.argmax(0, True)), X),
    "argmin": (lambda lib, x: (lib.argmin(x, keepdim=True), x.argmin(-1)), X),
    "all": (lambda lib, x: (lib.all(x), lib.all(x, 1), lib.all(x, (0, 1))), X > -5),
    "any of uint8": (lambda lib, x: lib.any(x, 0), np.array([[0, 2], [0, 0]], "uint8")),
    "count_nonzero": (lambda lib, x: lib.count_nonzero(x, (0,)), WITH_ZEROS),
    "norm": (lambda lib, x: lib.norm(x), X),
    "norm 1": (lambda lib, x: lib.norm(x, 1, 0), X),
    "norm 3": (lambda lib, x: lib.norm(x, 3, 1, True), X),
    "norm 0.5": (lambda lib, x: lib.norm(x, 0.5, 1), X),
    "norm inf": (lambda lib, x: lib.norm(x, INF, 1), X),
    "norm -inf": (lambda lib, x: lib.norm(x, -INF, 0), X),
    "norm of zeros": (lambda lib, x: lib.norm(x, 2, 1), np.zeros((2, 3))),
    "norm complex": (lambda lib, x: lib.norm(x, 4), Z),
    "dist": (lambda lib, x, y: lib.dist(x, y, 3), X, X[::-1] + 0.1),
    "renorm": (lambda lib, x: lib.renorm(x, 2, 0, 1.5), X),
    "median": (lambda lib, x: lib.median(x), X),
    "median dim": (lambda lib, x: lib.median(x, 1), X),
    "median with nan": (lambda lib, x: lib.median(x, 1), WITH_NANS),
    "nanmedian": (lambda lib, x: lib.nanmedian(x), WITH_NANS),
    "nanmedian dim": (lambda lib, x: lib.nanmedian(x, 1, True), WITH_NANS),
    "mode": (lambda lib, x: lib.mode(x, 1), np.array([[3.0, 1.0, 3.0, 1.0], [2.0, 5.0, 5.0, 2.0]])),
    "kthvalue": (lambda lib, x: lib.kthvalue(x, 2, 0), X),
    "quantile": (lambda lib, x, q: lib.quantile(x, q, 1), X, np.array([0.1, 0.6])),
    "quantile of all": (lambda lib, x: lib.quantile(x, 0.3, keepdim=True), X),
    "nanquantile": (lambda lib, x: lib.nanquantile(x, 0.7, 1), WITH_NANS),
    "cumsum": (lambda lib, x: lib.cumsum(x, 1), X),
    "cumprod": (lambda lib, x: lib.cumprod(x, 1), WITH_ZEROS),
    "cumprod complex": (lambda lib, x: lib.cumprod(x, 0), Z),
    "cummax": (
        lambda lib, x: lib.cummax(x, 1), np.array([[1.0, 3.0, 2.0, 3.0], [2.0, NAN, 9.0, 1.0]])
    ),
    "cummin": (lambda lib, x: lib.cummin(x, 0), X),
    "logcumsumexp": (lambda lib, x: lib.logcumsumexp(x, 1), X),
    "diff": (lambda lib, x, y: lib.diff(x, 2, 1, prepend=y), X, X[:, :1]),
    "diff of bools": (lambda lib, x: lib.diff(x), X > 0),
    "trapezoid": (lambda lib, y, x: lib.trapezoid(y, x), X, numbers(4).cumsum()),
    "trapezoid dx": (lambda lib, y: lib.trapezoid(y, dx=0.5, dim=0), X),
    "cumulative_trapezoid": (lambda lib, y, x: lib.cumulative_trapezoid(y, x, dim=0), X, X + 2),
    "cov": (lambda lib, x: lib.cov(x, correction=0), X),
    "cov weighted": (
        lambda lib, x, f, a: lib.cov(x, fweights=f, aweights=a),
        X, np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 0.2, 0.7]),
    ),
    "cov complex": (lambda lib, x: lib.cov(x), Z),
    "corrcoef": (lambda lib, x: lib.corrcoef(x), X**2),
    "histc": (lambda lib, x: lib.histc(x, 5, -2, 3), X),
    "histc of one value": (lambda lib, x: lib.histc(x, 4), np.ones(3)),
    "histogram": (lambda lib, x: lib.histogram(x.detach(), 4), X),
    "histogram weighted": (
        lambda lib, x, w: lib.histogram(
            x.detach(), 3, range=(-3.0, 2.0), weight=w.detach(), density=True
        ), X, X**2,
    ),
    "histogram edges": (
        lambda lib, x, e: lib.histogram(x.detach(), e.detach()), X, np.array([-3.0, -1.0, 0.0, 4.0])
    ),
    "histogramdd": (lambda lib, x: lib.histogramdd(x.detach(), [2, 3]), numbers(7, 2)),
    "bincount": (lambda lib, x: lib.bincount(x, minlength=6), np.array([1, 4, 1, 0])),
    "bincount weighted": (
        lambda lib, x, w: lib.bincount(x, w.detach()), np.array([1, 4, 1]), np.array([0.5, 1, 2])
    ),
    "hash_tensor": (lambda lib, x: lib.hash_tensor(x.detach(), 1, keepdim=True), X),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_results_and_derivatives_of_reductions_are_pytorchs(name: str) -> None:
    call, *arrays = CASES[name]
    # torch has no second derivative here, or a wrong one at ties and NaN.
    first_only = ("amax ties", "max with nan", "std of one value", "norm of zeros", "renorm")
    compare(call, *arrays, orders=1 if name in first_only else 2)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32"])
@pytest.mark.parametrize(
    "name", "sum nansum prod amax amin all any count_nonzero max median cumsum cumprod".split()
)
def test_result_dtypes_of_reductions_are_pytorchs(name: str, dtype: str) -> None:
    if name == "median" and dtype == "bool":
        pytest.skip("torch has no median of bools")
    argument = (0,) if name.startswith("cum") else ()
    values = np.array([1, 0, 1]).astype(dtype)
    compare(lambda lib, x: getattr(lib, name)(x, *argument), values, orders=0)


#: What torch warns about.
NO_FREEDOM = pytest.mark.filterwarnings("ignore:.*degrees of freedom:UserWarning")


@pytest.mark.torch
@NO_FREEDOM
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize("name", "sum prod mean nansum logsumexp any all count_nonzero var".split())
def test_reductions_of_nothing_are_torchs(name: str, shape: tuple[int, ...]) -> None:
    compare(lambda lib, x: getattr(lib, name)(x, 0), np.zeros(shape), orders=0)
    if name != "logsumexp":
        compare(lambda lib, x: getattr(lib, name)(x), np.zeros(shape), orders=0)


@pytest.mark.torch
@NO_FREEDOM
@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize(
    "name", "sum prod amax cumsum cumprod cummax logcumsumexp median mode sort max std".split()
)
def test_numbers_without_dimensions_reduce_to_themselves(name: str, dim: int) -> None:
    compare(lambda lib, x: getattr(lib, name)(x, dim), np.array(2.5), orders=0)


@pytest.mark.parametrize("name", "prod cumprod".split())
def test_a_real_product_of_complex_numbers_is_that_of_their_real_parts(name: str) -> None:
    found = []
    for part in (lambda z: z, lambda z: z.real):
        z = tt.tensor([1 + 2j, 0j, 3 - 1j, -0.5 + 1j], requires_grad=True)
        out = getattr(tt, name)(part(z), 0, dtype=tt.float64)
        (first,) = tt.autograd.grad(out.sum(), z, create_graph=True)
        (second,) = tt.autograd.grad((first.real**2).sum(), z)
        found.append((out.detach(), first.detach(), second))
    assert_all_close(*found)


@pytest.mark.parametrize("name", "prod cumprod".split())
def test_products_with_zeros_have_true_derivatives(name: str) -> None:
    argument = (0,) if name == "cumprod" else ()
    for values in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0]):
        x = tt.tensor(values, dtype=tt.float64, requires_grad=True)
        assert gradcheck(lambda x: getattr(tt, name)(x, *argument), (x,))
        assert gradgradcheck(lambda x: getattr(tt, name)(x, *argument), (x,))


@pytest.mark.parametrize(
    "name", "logsumexp logcumsumexp var std cumsum cumprod prod norm quantile".split()
)
def test_derivatives_of_reductions_are_finite_differences(name: str) -> None:
    x = tt.tensor(numbers(2, 3), requires_grad=True)
    arguments: dict[str, tuple[Any, ...]] = {"norm": (3, 1), "quantile": (0.4, 1)}
    call = lambda x: getattr(tt, name)(x, *arguments.get(name, (1,)))  # noqa: E731
    assert gradcheck(call, (x,)) and gradgradcheck(call, (x,))


# -- edges -----------------------------------------------------------------------------------------


def test_logsumexp_is_right_at_its_edges() -> None:
    values = {(1000.0, 1000.0): 1000 + math.log(2), (-INF, -INF): -INF, (INF, 1.0): INF,
              (-1000.0, -1000.0): -1000 + math.log(2), (-INF, 3.0): 3.0}  # fmt: skip
    for given, expected in values.items():
        found = tt.logsumexp(tt.tensor(given, dtype=tt.float64), 0).item()
        assert found == expected or found == pytest.approx(expected, rel=1e-14)
    assert math.isnan(tt.logsumexp(tt.tensor([NAN, 1.0]), 0).item())


@pytest.mark.parametrize(
    ("name", "exact", "spread"),
    [("cumsum", np.cumsum, 1.0), ("cumprod", np.cumprod, 1e-4),
     ("logcumsumexp", np.logaddexp.accumulate, 1.0)],
)  # fmt: skip
def test_long_running_results_are_rounded_once(name: str, exact: Any, spread: float) -> None:
    x = (1 + spread * np.random.default_rng(0).uniform(-1, 1, 100_000)).astype("float32")
    found = getattr(tt, name)(tt.tensor(x), 0).numpy()
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, exact(x.astype("float64")), rtol=1.2e-7)


def test_long_gradients_of_cumsum_are_rounded_once() -> None:
    g = np.random.default_rng(0).uniform(0, 1, 100_000).astype("float32")
    x = tt.zeros(g.size, requires_grad=True)
    x.cumsum(0).backward(tt.tensor(g))
    wanted = np.cumsum(g[::-1].astype("float64"))[::-1]
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1.2e-7)


def test_logcumsumexp_keeps_small_gradients_exact() -> None:
    x = tt.tensor([10000.0, 1.0, -1.0], dtype=tt.float32, requires_grad=True)
    tt.logcumsumexp(x, 0).sum().backward()
    np.testing.assert_allclose(x.grad, [3.0, 0.0, 0.0])
    y = tt.tensor([-INF, 1.0], requires_grad=True)
    tt.logcumsumexp(y, 0).sum().backward()
    np.testing.assert_allclose(y.grad, [0.0, 1.0])


def test_mean_of_half_precision_does_not_overflow() -> None:
    assert tt.full((10000,), 100.0, dtype=tt.float16).mean().item() == 100


def test_float32_is_computed_in_float32() -> None:
    x = tt.ones(3, 3)
    for name in "sum mean var std logsumexp norm nansum nanmean prod amax".split():
        arguments = (0,) if name == "logsumexp" else ()
        assert getattr(tt, name)(x, *arguments).dtype is tt.float32


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, which programs do not see
def test_variance_without_freedom_is_infinite_or_nan() -> None:
    for name in ("var", "var_mean", "std", "std_mean"):
        with pytest.warns(UserWarning, match=rf"{name}\(\): degrees of freedom is <= 0") as seen:
            found = getattr(tt, name)(tt.tensor([1.0]))
        assert seen[0].filename == __file__
        assert math.isnan(found[0] if isinstance(found, tuple) else found)
    with pytest.warns(UserWarning, match="strictly less than the reduction factor"):
        assert tt.var(tt.tensor([1.0, 2.0]), correction=3).item() == INF


def test_reductions_of_strided_views_are_right() -> None:
    x = numbers(4, 6)
    flipped = tt.tensor(x)[::2].transpose(0, 1)
    np.testing.assert_array_equal(flipped.sum(0), x[::2].T.sum(0))
    np.testing.assert_array_equal(flipped.cumsum(1), x[::2].T.cumsum(1))
    np.testing.assert_array_equal(flipped.flip(0).max(0).values, x[::2].T[::-1].max(0))


def test_histogram_puts_the_upper_end_into_the_last_bin() -> None:
    hist = tt.histogram(tt.tensor([0.0, 1.0, 2.0, NAN, 3.0]), 2, range=(0.0, 2.0)).hist
    assert hist.tolist() == [1.0, 2.0]


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("value", [0.1, 0.0, -0.3, 1e-8, 1 / 3, 7.7, 100.0])
def test_histc_of_a_constant_is_pytorchs(dtype: str, value: float) -> None:
    results = []
    for library in libraries():
        x = library.full((10,), value, dtype=getattr(library, dtype))
        found = [library.histc(x, bins) for bins in (1, 2, 3, 4, 5, 7, 10, 100)]
        found += [library.histc(x, bins, value, value) for bins in (2, 4, 10)]
        if dtype != "float16":
            found += [part for bins in (1, 4, 10, 100) for part in library.histogram(x, bins)]
        results.append([host(part) for part in found])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.torch
@pytest.mark.parametrize("ends", [(0, 1), (-1, 1), (0, 3), (-0.3, 0.7), (0, 0.1), (-0.9, 1.1)])
@pytest.mark.parametrize("bins", [3, 7, 10, 13])
def test_histc_of_the_edges_of_its_bins_is_pytorchs(ends: Any, bins: int) -> None:
    for dtype in ("float32", "float64"):
        results = []
        for library in libraries():
            x = library.linspace(*ends, bins + 1, dtype=getattr(library, dtype))
            found = [library.histc(x, bins, *ends), library.histc(x, bins)]
            found += [*library.histogram(x, bins, range=ends), *library.histogram(x, bins)]
            results.append([host(part) for part in found])
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(ours, theirs)


# -- NumPy's dialect -----------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("name", "sum prod mean any all amax quantile".split())
def test_axis_gives_numpys_values_where_both_agree(name: str, axis: Any) -> None:
    argument = (0.3,) if name == "quantile" else ()
    ours = getattr(tt, name)(tt.tensor(X), *argument, axis=axis)
    np.testing.assert_allclose(ours, getattr(np, name)(X, *argument, axis=axis))
    if axis is not None:
        kept = getattr(tt, name)(tt.tensor(X), *argument, axis=axis, keepdims=True)
        assert tuple(kept.shape) == getattr(np, name)(X, *argument, axis=axis, keepdims=True).shape


ALONG: list[Call] = [
    lambda L, M: L.max(M, axis=1), lambda L, M: L.min(M, axis=0, keepdims=True),
    lambda M: M.max(axis=0), lambda M: M.min(axis=-1), lambda L, M: L.max(M, 1, keepdims=True),
    lambda L, M: L.std(M, axis=0), lambda L, M: L.var(M, axis=(0, 1), keepdims=True),
    lambda M: M.std(axis=None), lambda M: M.std(keepdims=True), lambda M: M.var(axis=1),
    lambda M: M.std(axis=1, correction=0), lambda L, M: L.std(M, 0, True, keepdims=True),
    lambda L, M: L.var_mean(M, axis=0), lambda L, M: L.std_mean(M, axis=1, keepdims=True),
    lambda L, M: L.median(M, axis=0), lambda M: M.median(axis=1, keepdims=True),
    lambda L, M: L.nanmedian(M, axis=0), lambda L, M: L.mode(M, axis=0),
    lambda L, M: L.sort(M, axis=1), lambda M: M.sort(axis=0, descending=True),
    lambda L, M: L.sort(M, axis=0, stable=True), lambda L, M: L.argsort(M, axis=0),
    lambda L, M: L.kthvalue(M, 1, axis=0), lambda L, M: L.topk(M, 1, axis=0),
    lambda L, M: L.cummax(M, axis=0), lambda L, M: L.aminmax(M, axis=1, keepdims=True),
    lambda L, M: L.gradient(M, axis=0), lambda L, M: L.gradient(M, axis=0, spacing=2.0),
    lambda L, M: L.quantile(M, 0.5, axis=0), lambda L, M: L.split(M, 1, axis=1),
    lambda M: M.split(1, axis=0), lambda L, M: L.max(M, dim=0, axis=0),
    lambda L, M: L.sum(M, dim=0, axis=0), lambda L, M: L.sort(M, dim=0, axis=1),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("call", ALONG, ids=words)
def test_axis_and_keepdims_never_change_pytorchs_meaning(call: Call) -> None:
    assert_same_outcome(call)


def test_ddof_has_numpys_meaning() -> None:
    x = tt.tensor(X)
    np.testing.assert_allclose(x.std(ddof=1), X.std(ddof=1))
    np.testing.assert_allclose(x.std(axis=1, ddof=0), X.std(axis=1))
    np.testing.assert_allclose(x.var(axis=0, ddof=1), X.var(axis=0, ddof=1))


def test_several_dimensions_of_an_extreme_mean_numpy() -> None:
    x = tt.tensor(X)
    for name in ("max", "min"):
        for options in ({"axis": (0, 1)}, {"axis": None}, {"keepdims": True}):
            wanted = getattr(np, name)(X, **options)
            np.testing.assert_array_equal(getattr(tt, name)(x, **options), wanted)
    assert x.median(keepdims=True).shape == (1, 1)


def test_means_of_integers_are_floats() -> None:
    assert tt.tensor([1, 2]).mean().item() == 1.5
    assert tt.quantile(tt.tensor([1, 2, 3]), 0.5).item() == 2


def test_a_row_with_nan_adds_nothing_to_the_gradient_of_a_probability() -> None:
    x = tt.tensor([[1.0, 2.0, NAN], [1.0, 3.0, 5.0]])
    q = tt.tensor(0.25, requires_grad=True)
    tt.quantile(x, q, 1).sum().backward()
    assert q.grad is not None and q.grad.item() == 4.0  # the slope 3 - 1, times the last rank


def test_cumsum_without_dimension_flattens() -> None:
    assert tt.cumsum(tt.tensor([[1, 2], [3, 4]])).tolist() == [1, 3, 6, 10]


def test_results_of_max_sort_and_cummax_have_pytorchs_type_names() -> None:
    x = tt.tensor([[1.0, 3.0], [2.0, 0.0]])
    for name in "max min median nanmedian mode sort cummax cummin".split():
        result = getattr(tt, name)(x, 1)
        assert type(result).__name__ == name and result._fields == ("values", "indices")
        assert type(result) is getattr(tt.return_types, name)
    assert tt.aminmax(x)._fields == ("min", "max")
    assert tt.histogram(x, 2)._fields == ("hist", "bin_edges")


# -- errors --------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "no dimension": (lambda: tt.ones(2).sum(3), IndexError, r"sum: Dimension out of range.*got 3"),
    "twice": (
        lambda: tt.ones(2, 2).amax((0, -2)), RuntimeError, "appears multiple times in the list"
    ),
    "amax of nothing": (lambda: tt.amax(tt.ones(0)), RuntimeError, "Expected reduction dim"),
    "amax along nothing": (lambda: tt.amax(tt.ones(2, 0), 1), IndexError, "non-zero size"),
    "max of nothing": (
        lambda: tt.max(tt.ones(0)), RuntimeError, r"max\(\): Expected reduction dim"
    ),
    "max along nothing": (lambda: tt.max(tt.ones(0, 2), 0), IndexError, "non-zero size"),
    "max of a number": (lambda: tt.max(2, tt.ones(2)), TypeError, "must be Tensor, not int"),
    "max of complex": (lambda: tt.max(tt.tensor([1j])), NotImplementedError, "not implemented"),
    "argmax of nothing": (lambda: tt.argmax(tt.ones(0)), IndexError, "input.numel"),
    "argmax of bools": (lambda: tt.argmax(tt.tensor([True])), RuntimeError, "bool input"),
    "mean as int": (
        lambda: tt.ones(2).mean(dtype=tt.int64), RuntimeError, "floating point or complex"
    ),
    "nanmean of ints": (lambda: tt.nanmean(tt.tensor([1])), RuntimeError, "but got Long"),
    "nansum of complex": (lambda: tt.nansum(tt.tensor([1j])), RuntimeError, "complex"),
    "var of ints": (lambda: tt.var(tt.tensor([1, 2])), RuntimeError, "only support floating point"),
    "norm of ints": (lambda: tt.norm(tt.tensor([1])), RuntimeError, "Got Long"),
    "norm name": (lambda: tt.norm(tt.ones(2), "abc"), RuntimeError, "Order abc not supported"),
    "norm of nothing": (lambda: tt.norm(tt.ones(0), INF), RuntimeError, "identity"),
    "renorm of vector": (
        lambda: tt.renorm(tt.ones(2), 2, 0, 1), RuntimeError, "at least 2 dimensions"
    ),
    "renorm limit": (lambda: tt.renorm(tt.ones(2, 2), 2, 0, -1), RuntimeError, "maxnorm"),
    "kthvalue": (lambda: tt.kthvalue(tt.ones(2), 3), RuntimeError, r"k out of range.*k=3, size 2"),
    "kthvalue of nothing": (
        lambda: tt.kthvalue(tt.ones(3, 0), 1), IndexError, "dim 1 to have non-zero size"
    ),
    "quantile range": (
        lambda: tt.quantile(tt.ones(2), 1.5), RuntimeError, "range .0, 1. but got 1.5"
    ),
    "quantile name": (
        lambda: tt.quantile(tt.ones(2), 0.5, interpolation="x"), RuntimeError,
        "interpolation must be",
    ),
    "quantile of nothing": (lambda: tt.quantile(tt.ones(0), 0.5), RuntimeError, "non-empty"),
    "mode of nothing": (lambda: tt.mode(tt.ones(0)), IndexError, "non-zero size"),
    "diff order": (lambda: tt.diff(tt.ones(2), -1), RuntimeError, "non-negative but got -1"),
    "diff of number": (lambda: tt.diff(tt.tensor(1)), RuntimeError, "at least one-dimensional"),
    "histogram of bools": (
        lambda: tt.histogram(tt.tensor([True]), 2), NotImplementedError, "\"histogramdd\" not impl"
    ),
    "histc bins": (lambda: tt.histc(tt.ones(2), 0), RuntimeError, "bins must be > 0"),
    "histc range": (lambda: tt.histc(tt.ones(2), 2, 3, 1), RuntimeError, "max must be larger"),
    "histc of nan": (lambda: tt.histc(tt.tensor([NAN])), RuntimeError, "not finite"),
    "histogramdd": (lambda: tt.histogramdd(tt.ones(2, 2), [1]), RuntimeError, "size of bins"),
    "bincount": (lambda: tt.bincount(tt.tensor([-1])), RuntimeError, "1-d non-negative integral"),
    "bincount of the largest": (
        lambda: tt.bincount(tt.tensor([1, 2**63 - 1])), RuntimeError, "overflowed"
    ),
    "bincount of floats": (lambda: tt.bincount(tt.ones(1)), NotImplementedError, "Float"),
    "cov": (lambda: tt.cov(tt.ones(1, 1, 1)), RuntimeError, "two or fewer dimensions"),
    "cov weights": (
        lambda: tt.cov(tt.ones(2), fweights=tt.tensor([1, -1])), RuntimeError, "cannot be negative"
    ),
    "hash mode": (
        lambda: tt.hash_tensor(tt.ones(1), mode=1), RuntimeError, "Unknown hash_tensor mode"
    ),
    "trapezoid": (
        lambda: tt.trapezoid(tt.ones(3), tt.ones(2)), RuntimeError, "one `x` value for each"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_use_of_reductions_is_refused(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (2000,)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float16", "complex64", "int32", "uint8", "bool"])
def test_the_sum_of_everything_is_an_array(dtype: str, shape: tuple[int, ...]) -> None:
    values = (numbers(*shape) * 3).astype(dtype)
    total = tt.tensor(values).sum()
    expected = values.sum(dtype=None if values.dtype.kind in "fc" else "int64")
    assert isinstance(total.numpy(), np.ndarray) and total.numpy().dtype == expected.dtype
    np.testing.assert_allclose(total.numpy(), expected, rtol=1e-2 if dtype == "float16" else 1e-5)


def test_spread_of_halves_whose_squares_are_beyond_them() -> None:
    values = np.array([[1.5, -900.0, 700.0], [3.0, 4.0, 5.0]], "float16")
    x, wide = tt.tensor(values), values.astype("float64")
    std, mean = tt.std_mean(x, 1)
    np.testing.assert_allclose(std.numpy(), wide.std(1, ddof=1), rtol=1e-3)
    np.testing.assert_allclose(mean.numpy(), wide.mean(1), rtol=1e-3)
    np.testing.assert_allclose(x[1].var().numpy(), wide[1].var(ddof=1), rtol=1e-3)
    assert std.dtype is mean.dtype is x.var().dtype is tt.float16


@pytest.mark.parametrize("name", ["max", "min", "median", "nanmedian"])
def test_an_infinite_gradient_goes_to_what_was_chosen(name: str) -> None:
    x = tt.tensor([3.0, 1.0, 2.0, 1.0, 3.0], requires_grad=True)
    getattr(x, name)().backward(tt.tensor(INF))
    chosen = x.detach() == getattr(x.detach(), name)()
    assert x.grad.tolist() == [INF if picked else 0.0 for picked in chosen.tolist()]


@pytest.mark.torch
@pytest.mark.parametrize("text", [
    "x.quantile(0.5, interpolation='midpoint')", "(-x).nanquantile(0.3, interpolation='midpoint')",
    "L.tensor([[1.5, 0.5]]).cov(correction=0, aweights=L.tensor([1e30, 1.0]))",
    "L.tensor([[1.5, 0.5]]).cov(correction=0, fweights=L.tensor([7, 4]), "
    "aweights=L.tensor([1e30, 1.0]))",
])  # fmt: skip
def test_infinite_and_huge_elements_are_averaged_as_in_pytorch(torch: Any, text: str) -> None:
    found = [eval(text, {"L": L, "x": L.tensor([float("inf"), -1.75])}).item() for L in (tt, torch)]
    np.testing.assert_allclose(*found, rtol=1e-5)
