"""NumPy's meaning at the edges: nothing, numbers, no dimension, small integers, other dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_names.data import ARRAYS
from numpy_names.evaluation import assert_same, evaluate, numpys, tensors

import tinytorch as tt
import tinytorch.numpy as tnp

#: What every reduction that takes several dimensions is asked.
REDUCTIONS = """sum prod mean var std max min all any count_nonzero ptp median nanmedian nansum
    nanprod nanmean nanvar nanstd nanmax nanmin""".split()
FORMS = ["m, axis=()", "m, axis=(0, -1)", "lib.array(2.5)", "h, axis=0", "x, axis=(2, 0)"]

METHODS = """linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf weibull hazen
    closest_observation interpolated_inverted_cdf median_unbiased normal_unbiased""".split()

CALLS = [
    # starts, masks and dtypes
    "sum(h, initial=1.5)",
    "sum([1.5, 1.5], dtype='int64')",
    "prod([1.5, 2.5], dtype='int64')",
    "max(i, initial=7)",
    "min(lib.zeros((0, 2)), axis=0, initial=3)",
    "max(i, initial=2.9)",
    "sum(b, initial=True, dtype='bool')",
    "prod(lib.array([2, 3], dtype='uint8'))",
    "cumsum(3)",
    "cumprod(lib.array(2), axis=-1)",
    "cumulative_sum(4)",
    "argmax(lib.array(3), 0)",
    "cumulative_sum(lib.array([1, 2], dtype='uint8'))",
    "cumsum([1.5, 1.5], dtype='int64')",
    "nancumsum(lib.array([1, 2], dtype='uint8'))",
    "nancumprod(n, dtype='float32')",
    "nanprod(h, axis=0)",
    "nansum(n, initial=2)",
    "nanargmax(b)",
    "amin(b)",
    "median(lib.zeros(0))",
    "median(lib.zeros((0, 2)), axis=0)",
    "std(m, axis=(), ddof=0)",
    "var(m, axis=0, where=m > 0)",
    "average(m, axis=())",
    # joined in the dtype that NumPy finds
    "append(f, i)",
    "append(f, 5)",
    "dot(h, 3)",
    "inner(3, h)",
    "outer(f, i)",
    "union1d(f, i)",
    "intersect1d(h, f)",
    "setdiff1d(h, f)",
    "setxor1d(f, i)",
    "convolve(h, b)",
    "correlate(h, h)",
    "block([[f, i], [h, v]])",
    "vecdot(h, h)",
    "einsum('i->', h)",
    "trace(q.astype('int8'), 1)",
    "einsum(lib.zeros((2, 3), dtype='int64'), [0, 1], f, [1])",
    "dot(b, b)",
    "outer(b, b)",
    "einsum('i,i', h, f)",
    "hstack([f, 1])",
    "concatenate([f, v], dtype='float32')",
    "dot(lib.zeros((2, 0)), lib.zeros((3, 0, 4)))",
    "trace(q, dtype='int8')",
    "vander(f)",
    # shapes
    "roll(m, 1, axis=())",
    "squeeze(lib.array(3), axis=0)",
    "repeat(3, 2)",
    "repeat([], [])",
    "moveaxis(x, (0, 1), (-1, -2))",
    "take(3, [0, 0])",
    "take(m, [5, -7], mode='wrap')",
    "take(m, [9, -9], mode='clip', axis=1)",
    "argsort(3)",
    "split(m, [1, 2], axis=1)",
    # quantiles
    "quantile([1, 2, 4], 1)",
    "quantile([1, 2, 4], 0.3, method='lower')",
    "quantile(f, [0.3])",
    "quantile(f, 0.5)",
    "quantile(b, 1, method='nearest')",
    "quantile(m, 0.3, axis=())",
    "nanquantile([], 0.5)",
    "median([lib.inf])",
    "median([-lib.inf, 1, lib.inf, 2])",
    "median(f)",
    "quantile(i, [[0.2, 0.5], [0.9, 1]], axis=0)",
    "percentile(n, 0)",
    "nanpercentile(n2, [[0, 30], [60, 100]], axis=1, keepdims=True)",
    "median(m, axis=())",
    *(
        f"{name}(m, {q}, {axis}, method='{method}')"
        for method in METHODS
        for name, q, axis in (
            ("quantile", [0.1, 0.25, 0.5, 0.8, 1], None),
            ("nanpercentile", [0, 40], 1),
        )
    ),
    # histograms
    "histogram2d(f, f, 2)",
    "histogram2d(f, i, 2, density=True)",
    "histogramdd(q, [2, 3, 2])",
    "histogramdd([f, v], 2, density=True)",
    "histogram(w, 'doane')",
    "histogram(f, 2, density=True)",
    # the rest
    "asarray(m) is m",
    "asarray(m, dtype='float32') is m",
    "array(m) is m",
    "imag([-1.5, lib.inf])",
    "imag(b)",
    "angle(-0.0)",
    "angle(h)",
    "angle([-1.0, 2.0], deg=True)",
    "round(lib.array([15, -25, 38]), -1)",
    "round(b)",
    "round(i, 2)",
    "fix(b)",
    "fix(i)",
    "geomspace(-1, -8, 4)",
    "geomspace(1j, 16j, 5)",
    "geomspace(2, 32, 1)",
    "geomspace(1, 1j, 3)",
    "geomspace(-3, 100, 4)[0]",
    "bincount(b)",
    "diff(m, 0)",
    "unwrap([])",
    "isneginf(i)",
    "cov(f)",
    "corrcoef(f, f)",
    "cov(m[:1], rowvar=False).shape",
    "clip(h, -300, 300)",
    "clip(lib.array([1, 9], dtype='uint8'), -1, 5)",
    "nan_to_num(n, nan=3)",
    "rint([1.5 + 2.5j])",
    "abs(b)",
    "where(b, 1, f)",
    "full(2, 1.5, dtype='int64')",
]
ERRORS = {
    "mean(2.5, axis=0)": ValueError, "flip(2.5, 0)": ValueError, "sum(m, axis=(0, 0))": ValueError,
    "sum(m, axis=2)": IndexError, "max([])": ValueError, "argmin([])": ValueError,
    "expand_dims(v, (0, 0))": ValueError, "swapaxes(3, 0, -1)": ValueError,
    "moveaxis(3, 0, 0)": ValueError, "vsplit(v, 3)": ValueError, "add(v, w)": ValueError,
    "dsplit(m, 2)": ValueError, "concatenate([v, m])": ValueError,
    "concatenate([v, [[]]], axis=0)": ValueError, "split(v, 2)": ValueError,
    "concatenate([v, i], dtype='int64')": TypeError, "stack([v, v], casting='no', dtype='int8')":
    TypeError, "unravel_index(6, (2, 3))": ValueError, "take(v, [3])": IndexError,
    "copyto(i, 1.5)": TypeError, "copyto(i, v)": TypeError, "arange(0, 5, 0)": ZeroDivisionError,
    "geomspace(0, 5)": ValueError, "average(v, weights=[1, -1, 0])": ZeroDivisionError,
    "cov(v, fweights=[0, 0, 0])": ZeroDivisionError, "isneginf(c)": TypeError,
    "array([1j], dtype='float64')": TypeError, "max(lib.array([1], dtype='uint8'), initial=-1)":
    OverflowError, "take(v, [1], mode='near')": ValueError, "bitwise_and(v, 1)": TypeError,
    "power(i, -1)": ValueError, "sign(b)": TypeError, "negative(b)": TypeError,
    "sqrt(i, dtype='int64')": TypeError, "quantile(v, 1.5)": ValueError,
    "quantile(v, 0.5, method='best')": ValueError, "percentile([], 5)": IndexError,
    "histogram(v, [3, 1])": ValueError, "histogram(v, 'fd', weights=v)": TypeError,
    "histogram2d(v, w)": ValueError, "median(3, axis=0)": ValueError, "quantile(c, 0.5)": TypeError,
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("form", FORMS)
def test_reduction(name: str, form: str) -> None:
    check(f"{name}({form})")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_number_has_a_first_dimension_to_some(name: str) -> None:
    try:
        wanted = getattr(np, name)(2.5, axis=-1)
    except np.exceptions.AxisError:
        with pytest.raises(np.exceptions.AxisError):
            getattr(tnp, name)(2.5, axis=-1)
    else:
        assert_same(getattr(tnp, name)(2.5, axis=-1), wanted)


@pytest.mark.parametrize("text", CALLS)
def test_call(text: str) -> None:
    check(text)


@pytest.mark.parametrize("text", ERRORS)
def test_error_is_of_numpys_type(text: str) -> None:
    for lib, data in ((np, ARRAYS), (tnp, tensors())):
        with pytest.raises(ERRORS[text]):
            evaluate(f"lib.{text}", lib, data)


def check(text: str) -> None:
    with np.errstate(all="ignore"):
        theirs = numpys(f"lib.{text}")
    assert_same(evaluate(f"lib.{text}", tnp, tensors()), theirs)


def test_what_lies_beyond_the_mask_keeps_its_value() -> None:
    x = tnp.array([1, 2, 3])
    tnp.copyto(x, 7, where=[True, False, True])
    assert x.tolist() == [7, 2, 7]
    tnp.putmask(x, x > 2, [])
    tnp.put(x, [0], [])
    assert x.tolist() == [7, 2, 7]


def test_ranks_in_long_rows_of_half_precision() -> None:
    x = np.arange(4001).astype("float16")
    assert tnp.quantile(tt.tensor(x), 0.75).item() == np.sort(x)[3000]


@pytest.mark.parametrize("method", METHODS)
def test_gradient_of_quantiles(method: str) -> None:
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
