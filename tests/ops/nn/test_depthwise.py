"""Convolutions of channels by themselves, beside NumPy's windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.ops.nn import conv_kernels

#: Kernel, stride, padding, dilation, results per channel; images are long enough for the lines.
CASES = [
    ((3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((3, 2), (2, 3), (1, 0), (1, 2), 2),
    ((5, 7), (1, 1), (0, 3), (2, 1), 1),
    ((1, 4), (1, 2), (2, 5), (1, 1), 3),
]


@pytest.fixture(params=[None, 50], ids=["whole", "in parts"], autouse=True)
def cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements that fit the cache: of lines longer than that, parts are copied at a time."""
    backend = type(tt.ones(1)._xp)
    for name in ("_few_columns", "_transposed_columns"):  # small batches as large ones
        monkeypatch.setattr(conv_kernels, name, lambda *args: None)
    if request.param and backend.block_elements is not None:
        monkeypatch.setattr(backend, "block_elements", request.param)


def windows(x: np.ndarray, kernel: Any, stride: Any, padding: Any, dilation: Any) -> np.ndarray:
    """``(n, c, *windows, *kernel)``."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    reach = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation))
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(2, 3))
    return seen[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def make(kernel: Any, several: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((3 * several, 1, *kernel))
    return rng.standard_normal((5, 3, 17, 19)), weight, rng.standard_normal(3 * several)


def expected(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, *how: Any) -> np.ndarray:
    seen = windows(x, weight.shape[2:], *how)
    several = weight.shape[0] // x.shape[1]
    seen = np.repeat(seen, several, axis=1)
    return np.einsum("ncyxij,cij->ncyx", seen, weight[:, 0]) + bias[:, None, None]


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation", "several"), CASES)
def test_results_are_sums_over_windows(
    kernel: Any, stride: Any, padding: Any, dilation: Any, several: int
) -> None:
    x, weight, bias = make(kernel, several)
    found = tt.nn.functional.conv2d(
        tt.tensor(x), tt.tensor(weight), tt.tensor(bias), stride, padding, dilation, groups=3
    )
    how = (stride, padding, dilation)
    np.testing.assert_allclose(found.numpy(), expected(x, weight, bias, *how), rtol=1e-10)


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation", "several"), CASES)
def test_gradients_are_those_of_a_trilinear_form(
    kernel: Any, stride: Any, padding: Any, dilation: Any, several: int
) -> None:
    x, weight, bias = make(kernel, several)
    tensors = [tt.tensor(a, requires_grad=True) for a in (x, weight, bias)]
    out = tt.nn.functional.conv2d(*tensors, stride, padding, dilation, groups=3)
    g = np.random.default_rng(1).standard_normal(tuple(out.shape))
    out.backward(tt.tensor(g))
    rng = np.random.default_rng(2)
    nothing = np.zeros_like(bias)
    how = (stride, padding, dilation)
    other_x, other_weight = rng.standard_normal(x.shape), rng.standard_normal(weight.shape)
    grads = [t.grad.numpy() for t in tensors]
    along_x = np.sum(g * expected(other_x, weight, nothing, *how))
    along_weight = np.sum(g * expected(x, other_weight, nothing, *how))
    np.testing.assert_allclose(np.sum(grads[0] * other_x), along_x, rtol=1e-9)
    np.testing.assert_allclose(np.sum(grads[1] * other_weight), along_weight, rtol=1e-9)
    np.testing.assert_allclose(grads[2], g.sum((0, 2, 3)), rtol=1e-9)


def test_an_infinite_pixel_stays_in_the_windows_that_hold_it() -> None:
    x, weight, bias = make((3, 3), 1)
    x[1, 2, 4, 0] = np.inf
    how = ((1, 1), (1, 1), (1, 1))
    leaf = tt.tensor(weight, requires_grad=True)
    out = tt.nn.functional.conv2d(tt.tensor(x), leaf, tt.tensor(bias), 1, 1, groups=3)
    np.testing.assert_allclose(out.detach().numpy(), expected(x, weight, bias, *how), rtol=1e-10)
    out.backward(tt.ones_like(out))
    seen = windows(x, (3, 3), *how).sum((0, 2, 3))
    np.testing.assert_allclose(leaf.grad.numpy()[:, 0], seen, rtol=1e-9)
