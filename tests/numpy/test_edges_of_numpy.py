"""NumPy's meaning at the edges: nothing, numbers, no dimension, small integers, other dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import Call, words
from tests.numpy.data import ARRAYS
from tests.numpy.evaluation import Case, arrays, assert_same, evaluate, evaluate_in_numpy

#: What every reduction that takes several dimensions is asked.
REDUCTIONS = """sum prod mean var std max min all any count_nonzero ptp median nanmedian nansum
    nanprod nanmean nanvar nanstd nanmax nanmin""".split()
FORMS: list[Call] = [
    lambda named, m: named(m, axis=()),
    lambda named, m: named(m, axis=(0, -1)),
    lambda lib, named: named(lib.array(2.5)),
    lambda named, h: named(h, axis=0),
    lambda named, x: named(x, axis=(2, 0)),
]

METHODS = """linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf weibull hazen
    closest_observation interpolated_inverted_cdf median_unbiased normal_unbiased""".split()

CALLS: list[Call] = [
    # starts, masks and dtypes
    lambda lib, h: lib.sum(h, initial=1.5),
    lambda lib: lib.sum([1.5, 1.5], dtype="int64"),
    lambda lib: lib.prod([1.5, 2.5], dtype="int64"),
    lambda lib, i: lib.max(i, initial=7),
    lambda lib: lib.min(lib.zeros((0, 2)), axis=0, initial=3),
    lambda lib, i: lib.max(i, initial=2.9),
    lambda lib, b: lib.sum(b, initial=True, dtype="bool"),
    lambda lib: lib.prod(lib.array([2, 3], dtype="uint8")),
    lambda lib: lib.cumsum(3),
    lambda lib: lib.cumprod(lib.array(2), axis=-1),
    lambda lib: lib.cumulative_sum(4),
    lambda lib: lib.argmax(lib.array(3), 0),
    lambda lib: lib.cumulative_sum(lib.array([1, 2], dtype="uint8")),
    lambda lib: lib.cumsum([1.5, 1.5], dtype="int64"),
    lambda lib: lib.nancumsum(lib.array([1, 2], dtype="uint8")),
    lambda lib, n: lib.nancumprod(n, dtype="float32"),
    lambda lib, h: lib.nanprod(h, axis=0),
    lambda lib, n: lib.nansum(n, initial=2),
    lambda lib, b: lib.nanargmax(b),
    lambda lib, b: lib.amin(b),
    lambda lib: lib.median(lib.zeros(0)),
    lambda lib: lib.median(lib.zeros((0, 2)), axis=0),
    lambda lib, m: lib.std(m, axis=(), ddof=0),
    lambda lib, m: lib.var(m, axis=0, where=m > 0),
    lambda lib, m: lib.average(m, axis=()),
    # joined in the dtype that NumPy finds
    lambda lib, f, i: lib.append(f, i),
    lambda lib, f: lib.append(f, 5),
    lambda lib, h: lib.dot(h, 3),
    lambda lib, h: lib.inner(3, h),
    lambda lib, f, i: lib.outer(f, i),
    lambda lib, f, i: lib.union1d(f, i),
    lambda lib, f, h: lib.intersect1d(h, f),
    lambda lib, f, h: lib.setdiff1d(h, f),
    lambda lib, f, i: lib.setxor1d(f, i),
    lambda lib, h, b: lib.convolve(h, b),
    lambda lib, h: lib.correlate(h, h),
    lambda lib, v, f, h, i: lib.block([[f, i], [h, v]]),
    lambda lib, h: lib.vecdot(h, h),
    lambda lib, h: lib.einsum("i->", h),
    lambda lib, q: lib.trace(q.astype("int8"), 1),
    lambda lib, f: lib.einsum(lib.zeros((2, 3), dtype="int64"), [0, 1], f, [1]),
    lambda lib, b: lib.dot(b, b),
    lambda lib, b: lib.outer(b, b),
    lambda lib, f, h: lib.einsum("i,i", h, f),
    lambda lib, f: lib.hstack([f, 1]),
    lambda lib, v, f: lib.concatenate([f, v], dtype="float32"),
    lambda lib: lib.dot(lib.zeros((2, 0)), lib.zeros((3, 0, 4))),
    lambda lib, q: lib.trace(q, dtype="int8"),
    lambda lib, f: lib.vander(f),
    # shapes
    lambda lib, m: lib.roll(m, 1, axis=()),
    lambda lib: lib.squeeze(lib.array(3), axis=0),
    lambda lib: lib.repeat(3, 2),
    lambda lib: lib.repeat([], []),
    lambda lib, x: lib.moveaxis(x, (0, 1), (-1, -2)),
    lambda lib: lib.take(3, [0, 0]),
    lambda lib, m: lib.take(m, [5, -7], mode="wrap"),
    lambda lib, m: lib.take(m, [9, -9], mode="clip", axis=1),
    lambda lib: lib.argsort(3),
    lambda lib, m: lib.split(m, [1, 2], axis=1),
    # quantiles
    lambda lib: lib.quantile([1, 2, 4], 1),
    lambda lib: lib.quantile([1, 2, 4], 0.3, method="lower"),
    lambda lib, f: lib.quantile(f, [0.3]),
    lambda lib, f: lib.quantile(f, 0.5),
    lambda lib, b: lib.quantile(b, 1, method="nearest"),
    lambda lib, m: lib.quantile(m, 0.3, axis=()),
    lambda lib: lib.nanquantile([], 0.5),
    lambda lib: lib.median([lib.inf]),
    lambda lib: lib.median([-lib.inf, 1, lib.inf, 2]),
    lambda lib, f: lib.median(f),
    lambda lib, i: lib.quantile(i, [[0.2, 0.5], [0.9, 1]], axis=0),
    lambda lib, n: lib.percentile(n, 0),
    lambda lib, n2: lib.nanpercentile(n2, [[0, 30], [60, 100]], axis=1, keepdims=True),
    lambda lib, m: lib.median(m, axis=()),
    # histograms
    lambda lib, f: lib.histogram2d(f, f, 2),
    lambda lib, f, i: lib.histogram2d(f, i, 2, density=True),
    lambda lib, q: lib.histogramdd(q, [2, 3, 2]),
    lambda lib, v, f: lib.histogramdd([f, v], 2, density=True),
    lambda lib, w: lib.histogram(w, "doane"),
    lambda lib, f: lib.histogram(f, 2, density=True),
    # the rest
    lambda lib, m: lib.asarray(m) is m,
    lambda lib, m: lib.asarray(m, dtype="float32") is m,
    lambda lib, m: lib.array(m) is m,
    lambda lib: lib.imag([-1.5, lib.inf]),
    lambda lib, b: lib.imag(b),
    lambda lib: lib.angle(-0.0),
    lambda lib, h: lib.angle(h),
    lambda lib: lib.angle([-1.0, 2.0], deg=True),
    lambda lib: lib.round(lib.array([15, -25, 38]), -1),
    lambda lib, b: lib.round(b),
    lambda lib, i: lib.round(i, 2),
    lambda lib, b: lib.fix(b),
    lambda lib, i: lib.fix(i),
    lambda lib: lib.geomspace(-1, -8, 4),
    lambda lib: lib.geomspace(1j, 16j, 5),
    lambda lib: lib.geomspace(2, 32, 1),
    lambda lib: lib.geomspace(1, 1j, 3),
    lambda lib: lib.geomspace(-3, 100, 4)[0],
    lambda lib, b: lib.bincount(b),
    lambda lib, m: lib.diff(m, 0),
    lambda lib: lib.unwrap([]),
    lambda lib, i: lib.isneginf(i),
    lambda lib, f: lib.cov(f),
    lambda lib, f: lib.corrcoef(f, f),
    lambda lib, m: lib.cov(m[:1], rowvar=False).shape,
    lambda lib, h: lib.clip(h, -300, 300),
    lambda lib: lib.clip(lib.array([1, 9], dtype="uint8"), -1, 5),
    lambda lib, n: lib.nan_to_num(n, nan=3),
    lambda lib: lib.rint([1.5 + 2.5j]),
    lambda lib, b: lib.abs(b),
    lambda lib, f, b: lib.where(b, 1, f),
    lambda lib: lib.full(2, 1.5, dtype="int64"),
]
#: For each method.
QUANTILES: list[tuple[str, Any, int | None]] = [
    ("quantile", [0.1, 0.25, 0.5, 0.8, 1], None),
    ("nanpercentile", [0, 40], 1),
]
ERRORS: list[tuple[Call, type[Exception]]] = [
    (lambda lib: lib.mean(2.5, axis=0), ValueError),
    (lambda lib: lib.flip(2.5, 0), ValueError),
    (lambda lib, m: lib.sum(m, axis=(0, 0)), ValueError),
    (lambda lib, m: lib.sum(m, axis=2), IndexError),
    (lambda lib: lib.max([]), ValueError),
    (lambda lib: lib.argmin([]), ValueError),
    (lambda lib, v: lib.expand_dims(v, (0, 0)), ValueError),
    (lambda lib: lib.swapaxes(3, 0, -1), ValueError),
    (lambda lib: lib.moveaxis(3, 0, 0), ValueError),
    (lambda lib, v: lib.vsplit(v, 3), ValueError),
    (lambda lib, v, w: lib.add(v, w), ValueError),
    (lambda lib, m: lib.dsplit(m, 2), ValueError),
    (lambda lib, m, v: lib.concatenate([v, m]), ValueError),
    (lambda lib, v: lib.concatenate([v, [[]]], axis=0), ValueError),
    (lambda lib, v: lib.split(v, 2), ValueError),
    (lambda lib, v, i: lib.concatenate([v, i], dtype="int64"), TypeError),
    (lambda lib, v: lib.stack([v, v], casting="no", dtype="int8"), TypeError),
    (lambda lib: lib.unravel_index(6, (2, 3)), ValueError),
    (lambda lib, v: lib.take(v, [3]), IndexError),
    (lambda lib, i: lib.copyto(i, 1.5), TypeError),
    (lambda lib, v, i: lib.copyto(i, v), TypeError),
    (lambda lib: lib.arange(0, 5, 0), ZeroDivisionError),
    (lambda lib: lib.geomspace(0, 5), ValueError),
    (lambda lib, v: lib.average(v, weights=[1, -1, 0]), ZeroDivisionError),
    (lambda lib, v: lib.cov(v, fweights=[0, 0, 0]), ZeroDivisionError),
    (lambda lib, c: lib.isneginf(c), TypeError),
    (lambda lib: lib.array([1j], dtype="float64"), TypeError),
    (lambda lib: lib.max(lib.array([1], dtype="uint8"), initial=-1), OverflowError),
    (lambda lib, v: lib.take(v, [1], mode="near"), ValueError),
    (lambda lib, v: lib.bitwise_and(v, 1), TypeError),
    (lambda lib, i: lib.power(i, -1), ValueError),
    (lambda lib, b: lib.sign(b), TypeError),
    (lambda lib, b: lib.negative(b), TypeError),
    (lambda lib, i: lib.sqrt(i, dtype="int64"), TypeError),
    (lambda lib, v: lib.quantile(v, 1.5), ValueError),
    (lambda lib, v: lib.quantile(v, 0.5, method="best"), ValueError),
    (lambda lib: lib.percentile([], 5), IndexError),
    (lambda lib, v: lib.histogram(v, [3, 1]), ValueError),
    (lambda lib, v: lib.histogram(v, "fd", weights=v), TypeError),
    (lambda lib, v, w: lib.histogram2d(v, w), ValueError),
    (lambda lib: lib.median(3, axis=0), ValueError),
    (lambda lib, c: lib.quantile(c, 0.5), TypeError),
]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("form", FORMS, ids=words)
def test_reductions_of_edge_values_are_numpys(name: str, form: Call) -> None:
    check_case(Case(form, name))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_number_has_a_first_dimension_to_some(name: str) -> None:
    try:
        wanted = getattr(np, name)(2.5, axis=-1)
    except np.exceptions.AxisError:
        with pytest.raises(np.exceptions.AxisError):
            getattr(tnp, name)(2.5, axis=-1)
    else:
        assert_same(getattr(tnp, name)(2.5, axis=-1), wanted)


@pytest.mark.parametrize("call", CALLS, ids=words)
def test_calls_with_edge_values_are_numpys(call: Call) -> None:
    check_case(Case(call))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "q", "axis"), QUANTILES)
def test_quantiles_by_every_method_are_numpys(
    name: str, q: Any, axis: int | None, method: str
) -> None:
    check_case(Case(lambda named, m: named(m, q, axis, method=method), name))


@pytest.mark.parametrize(("call", "error"), ERRORS, ids=words)
def test_error_is_of_numpys_type(call: Call, error: type[Exception]) -> None:
    for lib, data in ((np, ARRAYS), (tnp, arrays())):
        with pytest.raises(error):
            evaluate(Case(call), lib, data)


def check_case(case: Case) -> None:
    with np.errstate(all="ignore"):
        theirs = evaluate_in_numpy(case)
    assert_same(evaluate(case, tnp, arrays()), theirs)


def test_elements_outside_of_the_mask_keep_their_value() -> None:
    x = tnp.array([1, 2, 3])
    tnp.copyto(x, 7, where=[True, False, True])
    assert x.tolist() == [7, 2, 7]
    tnp.putmask(x, x > 2, [])
    tnp.put(x, [0], [])
    assert x.tolist() == [7, 2, 7]


def test_quantiles_of_long_half_precision_rows_are_numpys() -> None:
    x = np.arange(4001).astype("float16")
    assert tnp.quantile(tt.tensor(x), 0.75).item() == np.sort(x)[3000]


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_by_every_method_have_gradients(method: str) -> None:
    x = tt.tensor([3.0, 1.0, 4.5, 1.5, 9.0], dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(lambda x: tnp.quantile(x, [0.3, 0.62], method=method), (x,))


def test_gradients_of_the_angles_of_real_numbers_are_zero() -> None:
    x = tt.tensor([0.5, 2.5], dtype=tt.float64, requires_grad=True)
    tnp.angle(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 0]


def test_order_may_be_descending_as_in_the_standard() -> None:
    x = np.array([[3.0, 1.0, 3.0], [0.0, 5.0, 4.0]])
    xp = tt.tensor(x).__array_namespace__()
    assert xp.sort(tt.tensor(x), axis=1, descending=True).tolist() == (-np.sort(-x)).tolist()
    found = xp.argsort(tt.tensor(x), axis=0, descending=True)
    assert found.tolist() == np.argsort(-x, axis=0, kind="stable").tolist()


def _fill_with_nines(line: Any, width: tuple[int, int], axis: int, options: dict[str, Any]) -> None:
    line[: width[0]] = options.get("first", 9)
    line[line.size - width[1] :] = 9 + axis


#: Values of kinds that are not the usual ones: arrays for numbers, functions, sets, shapes.
UNUSUAL: list[Any] = [
    lambda lib, m: lib.nan_to_num(m, nan=lib.array([5.0, 6.0, 7.0])),
    lambda lib, m: lib.nan_to_num(m, posinf=lib.array([[1.0], [2.0]]), neginf=-3),
    lambda lib, m: lib.pad(m, 1, _fill_with_nines),
    lambda lib, m: lib.pad(m, ((1, 0), (2, 1)), _fill_with_nines, first=4),
    *(lambda lib, m, w=w, kind=kind: lib.pad(lib.array([1.0, 5, 2]), w, kind, reflect_type="odd")
      for w in (1, (2, 5), (7, 3)) for kind in ("reflect", "symmetric")),
    lambda lib, m: lib.pad(lib.array([[1, 4], [3, 0]]), ((1, 2), (5, 0)), "reflect",
                           reflect_type="odd"),
    lambda lib, m: lib.pad(lib.array([3]), 2, "reflect", reflect_type="odd"),
    lambda lib, m: lib.fromiter(((i, i + 1) for i in range(3)), dtype=(int, 2)),
    lambda lib, m: lib.fromiter((), dtype=(float, (2, 2))),
    lambda lib, m: lib.isin(lib.array([1, 2, 3]), {1, 2}),
    lambda lib, m: lib.isin(lib.array([1, 2, 3]), frozenset((1,)), invert=True),
    lambda lib, m: lib.linspace(lib.array([0.0, 1.0]), lib.array([2.0, 3.0]), 3),
    lambda lib, m: lib.full((2, 2), lib.array([1.0, 2.0])),
    lambda lib, m: lib.percentile(lib.arange(5.0), lib.array([25, 50])),
    lambda lib, m: lib.sum(lib.arange(3.0), initial=lib.array(2.0), where=[True, False, True]),
]  # fmt: skip


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("call", range(len(UNUSUAL)))
def test_arguments_of_unusual_types_have_numpys_results(call: int, requires_grad: bool) -> None:
    data = np.array([[1.0, np.nan, np.inf], [-np.inf, 2.0, np.nan]])
    ours = tnp.array(data)
    ours.requires_grad = requires_grad
    found, wanted = UNUSUAL[call](tnp, ours), UNUSUAL[call](np, data)
    np.testing.assert_array_equal(np.asarray(found.detach()), wanted)
    assert found.dtype == wanted.dtype


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_reflection_is_differentiable(mode: str) -> None:
    x = tt.tensor([1.0, 5.0, 2.0, 0.5], dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(lambda x: tnp.pad(x, (5, 9), mode, reflect_type="odd"), (x,))
