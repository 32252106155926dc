"""Compiled convolutions and their gradients are sums of products, as NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.capture import c_compiler, c_convolution, c_engine

pytestmark = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")
Array = np.ndarray[Any, Any]
#: Images, channels, height and width; results and kernel; padding; whether there is a bias.
CASES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, int], bool]] = [
    ((5, 1, 9, 11), (6, 5, 5), (2, 2), True),
    ((3, 6, 8, 7), (17, 3, 2), (0, 0), False),
    ((1, 3, 4, 5), (1, 1, 1), (0, 0), True),
    ((2, 2, 3, 12), (9, 3, 7), (1, 3), False),
    ((2, 5, 6, 6), (3, 4, 3), (3, 2), True),
]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of compiled nodes."""
    names: list[str] = []

    def write(node: Any) -> Any:
        names.append(node.name)
        return c_convolution.convolution_text(node)

    monkeypatch.setattr(c_engine, "convolution_text", write)
    return names


def expected_values(x: Array, w: Array, b: Array | None, g: Array, padding: Any) -> list[Array]:
    """The result and the gradients of input, weight and bias in float64."""
    x, w, g = (a.astype("float64") for a in (x, w, g))
    (rows, columns), (height, width) = padding, g.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    y, dx, dw = np.zeros_like(g), np.zeros_like(padded), np.zeros_like(w)
    for i, j in np.ndindex(*w.shape[2:]):
        part = np.s_[:, :, i : i + height, j : j + width]
        y += np.einsum("nchw,oc->nohw", padded[part], w[:, :, i, j])
        dx[part] += np.einsum("nohw,oc->nchw", g, w[:, :, i, j])
        dw[:, :, i, j] = np.einsum("nohw,nchw->oc", g, padded[part])
    if b is not None:
        y += b.astype("float64")[:, None, None]
    dx = dx[:, :, rows : rows + x.shape[2], columns : columns + x.shape[3]]
    return [y, dx, dw, *([] if b is None else [g.sum((0, 2, 3))])]


def make_arrays(case: Any, dtype: str) -> tuple[Array, Array, Array | None, Array]:
    """Input, weight, bias and the gradient of the result of a case."""
    image, (results, *kernel), padding, has_bias = case
    rng = np.random.default_rng(0)
    size = [s + 2 * p - k + 1 for s, p, k in zip(image[2:], padding, kernel, strict=True)]
    shapes = (image, (results, image[1], *kernel), (results,), (image[0], results, *size))
    x, w, b, g = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return x, w, b if has_bias else None, g


def run_compiled(x: Array, w: Array, b: Array | None, g: Array, padding: Any) -> list[Array]:
    """The result and the gradients of a compiled function."""
    tensors: Any = [tt.tensor(a).requires_grad_() for a in (x, w, b) if a is not None]

    @tt.compile(backend="c", fullgraph=True)
    def step(g: Any, *tensors: Any) -> Any:
        y = tt.nn.functional.conv2d(*tensors, padding=padding)  # type: ignore[misc]
        return y.detach(), *tt.autograd.grad(y, tensors, g)

    step(tt.tensor(g), *tensors)
    return [found.numpy() for found in step(tt.tensor(g), *tensors)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_are_sums_of_products(
    case: Any, dtype: str, compiled: list[str]
) -> None:
    x, w, b, g = make_arrays(case, dtype)
    found = run_compiled(x, w, b, g, case[2])
    assert {"op._conv", "op._conv_weight"} <= {*compiled}
    expected = expected_values(x, w, b, g, case[2])
    bias = None if b is None else np.abs(b)
    sizes = expected_values(np.abs(x), np.abs(w), bias, np.abs(g), case[2])
    for a, exact, size in zip(found, expected, sizes, strict=True):
        assert a.dtype == dtype and a.shape == exact.shape
        terms = 2 * max(w[0].size, g.size)
        assert (np.abs(a - exact) <= terms * np.finfo(dtype).eps * size).all()


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_infinite_elements_reach_the_elements_that_they_reach_in_eager_code(
    place: int, number: float
) -> None:
    case = CASES[0]
    arrays = make_arrays(case, "float32")
    changed: Any = arrays[place]
    changed[(1 % len(changed), 0, 1, 2)] = number
    x, w, b, g = arrays
    tensors: Any = [tt.tensor(a).requires_grad_() for a in (x, w, b) if a is not None]
    y = tt.nn.functional.conv2d(*tensors, padding=case[2])  # type: ignore[misc]
    expected = [y.detach(), *tt.autograd.grad(y, tensors, tt.tensor(g))]
    for a, eager in zip(run_compiled(x, w, b, g, case[2]), expected, strict=True):
        np.testing.assert_allclose(a, eager.numpy(), 1e-4, 1e-4)


def test_a_program_without_finite_weights_is_right_after_one_with() -> None:
    case = CASES[0]
    x, w, b, g = make_arrays(case, "float32")
    tensors: Any = [tt.tensor(a).requires_grad_() for a in (x, w, b) if a is not None]

    @tt.compile(backend="c", fullgraph=True)
    def gradient(g: Any, x: Any, w: Any) -> Any:
        return tt.autograd.grad(tt.nn.functional.conv2d(x, w, padding=2), x, g)[0]

    for _ in range(2):
        gradient(tt.tensor(g), *tensors[:2])
    with tt.no_grad():
        tensors[1][0, 0, 0, 0] = np.inf
    found = gradient(tt.tensor(g), *tensors[:2]).numpy()
    w[0, 0, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        exact = expected_values(x, w, None, g, case[2])[1]
    np.testing.assert_allclose(found, exact, 1e-4, 1e-4)


@pytest.mark.parametrize(
    "options", [{"stride": 2}, {"dilation": 2}, {"groups": 2}, {"padding": 1, "stride": (1, 2)}]
)
def test_other_convolutions_stay_with_numpy(options: dict[str, Any], compiled: list[str]) -> None:
    x = tt.ones(2, 4, 9, 9)
    w = tt.ones(6, 4 // options.get("groups", 1), 3, 3)
    conv = tt.nn.functional.conv2d
    found = tt.compile(lambda x: conv(x, w, **options), backend="c")(x)
    assert not compiled
    np.testing.assert_array_equal(found.numpy(), conv(x, w, **options).numpy())
