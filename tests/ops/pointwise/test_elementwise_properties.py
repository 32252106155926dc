"""Element-by-element functions on shapes, strides and operands that nobody chose by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinytorch as tt
from tinytorch import autograd

SETTINGS = settings(max_examples=60, deadline=None)
#: Functions by NumPy's name for them, defined everywhere.
UNARY = {
    "sin": "sin", "tanh": "tanh", "exp": "exp", "abs": "abs", "atan": "arctan", "neg": "negative"
}  # fmt: skip
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "maximum": "maximum", "fmin": "fmin",
    "atan2": "arctan2", "lt": "less", "logaddexp": "logaddexp", "copysign": "copysign",
}  # fmt: skip


@st.composite
def arrays(draw: Any, shape: tuple[int, ...] | None = None) -> np.ndarray[Any, Any]:
    """float64 arrays, contiguous or not: transposed, reversed, with steps, 0-d, empty."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    seed = draw(st.integers(0, 2**16))
    steps = [draw(st.sampled_from((1, 2, -1))) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    base = np.random.default_rng(seed).standard_normal(
        tuple(shape[d] * abs(steps[d]) for d in order)
    )
    array = base.transpose(np.argsort(order)) if shape else base
    return np.asarray(array[tuple(slice(None, None, step) for step in steps)])


@st.composite
def pairs(draw: Any) -> tuple[Any, Any]:
    """Two arrays whose shapes broadcast."""
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    sides = []
    for _ in range(2):
        cut = draw(st.integers(0, len(shape)))
        sides.append(tuple(draw(st.sampled_from((n, 1))) if n else 0 for n in shape[cut:]))
    return draw(arrays(sides[0])), draw(arrays(sides[1]))


@pytest.mark.parametrize("name", UNARY)
@SETTINGS
@given(array=arrays())
def test_unary_functions_of_any_array_are_numpys(name: str, array: Any) -> None:
    wanted = getattr(np, UNARY[name])(array)
    got = getattr(tt, name)(tt.from_numpy(array))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-15)


@pytest.mark.parametrize("name", BINARY)
@SETTINGS
@given(operands=pairs())
def test_binary_functions_of_any_arrays_are_numpys(name: str, operands: Any) -> None:
    a, b = operands
    wanted = getattr(np, BINARY[name])(a, b)
    got = getattr(tt, name)(tt.from_numpy(a), tt.from_numpy(b))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-15)


@SETTINGS
@given(operands=pairs())
def test_gradients_have_the_operands_shapes_and_the_right_sum(operands: Any) -> None:
    x, y = (tt.tensor(v, requires_grad=True) for v in operands)
    out = tt.mul(x, y) + tt.where(x < y, x, y)
    gx, gy = autograd.grad(out.sum(), (x, y))
    a, b = np.broadcast_arrays(*operands)
    wanted = (b + (a < b)).sum(), (a + (a >= b)).sum()
    assert gx.shape == x.shape and gy.shape == y.shape
    np.testing.assert_allclose([gx.sum().item(), gy.sum().item()], wanted, atol=1e-10)


@SETTINGS
@given(array=arrays((3, 4)), dim=st.integers(-2, 1))
def test_softmax_sums_to_1(array: Any, dim: int) -> None:
    shares = tt.softmax(tt.from_numpy(array), dim)
    np.testing.assert_allclose(shares.sum(dim).numpy(), 1, rtol=1e-14)
    logs = tt.log_softmax(tt.from_numpy(array), dim)
    np.testing.assert_allclose(logs.exp().numpy(), shares.numpy(), rtol=1e-14)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize(
    "row",
    [(0, 1), (39, -200), (-39, 39.9), (-41, -90), (41, 300), (-np.inf, 5), (7, -np.inf),
     (-np.inf, -np.inf), (np.inf, 0), (np.nan, 0), (0, np.nan), (-1000, -1001)],
)  # fmt: skip
def test_softmax_takes_the_largest_off_wherever_exp_needs_it(row: Any, dim: int) -> None:
    # Many numbers within 40 of 0 are not shifted, from 4096 elements on.
    x = np.random.randn(20, 24, 28).astype("float32")
    x[3, 4, 5], x[3, 4, 6] = row
    x[5, 6, :], x[5, :, 6], x[:, 5, 6] = row[0], row[0], row[0]
    exact = x.astype("float64")
    with np.errstate(invalid="ignore"):
        exact = np.exp(exact - exact.max(dim, keepdims=True))
    exact /= exact.sum(dim, keepdims=True)
    got = tt.softmax(tt.tensor(x), dim).numpy()
    np.testing.assert_allclose(got, exact, rtol=1e-5, atol=1e-37)


@pytest.mark.parametrize("size", [16383, 16384, 131072, 600001])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_arrays_are_computed_as_small_ones(size: int, dtype: str) -> None:
    # Blocks, threads and selection by bits begin at these sizes.
    x = np.random.randn(size).astype(dtype)
    x[:3] = np.inf, -np.inf, np.nan
    t = tt.tensor(x)
    for f in (tt.sigmoid, tt.erf, tt.nn.functional.gelu, tt.nn.functional.elu, tt.relu):
        head = f(t[:1000]).numpy()
        np.testing.assert_array_equal(f(t).numpy()[:1000], head)
        np.testing.assert_array_equal(f(t[-1000:]).numpy(), f(t).numpy()[-1000:])
    half = np.full_like(x, 0.5)
    np.testing.assert_array_equal(tt.where(t > 0, t, 0.5).numpy(), np.where(x > 0, x, half))
    np.testing.assert_array_equal(tt.where(t > 0, 0.5, t).numpy(), np.where(x > 0, half, x))
