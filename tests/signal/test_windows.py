"""Window functions beside PyTorch's, closed forms, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

windows = tt.signal.windows

OPTIONS: dict[str, dict[str, Any]] = {
    "bartlett": {}, "blackman": {}, "cosine": {}, "hamming": {}, "hann": {}, "nuttall": {},
    "exponential": {"tau": 2.78}, "gaussian": {"std": 1.92}, "kaiser": {"beta": 8.0},
    "general_cosine": {"a": [0.46, 0.23, 0.31]}, "general_hamming": {"alpha": 0.6},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_windows_are_pytorchs(
    torch: Any, name: str, symmetric: bool, size: int, dtype: str
) -> None:
    options = {"sym": symmetric, **OPTIONS[name]}
    wanted = getattr(torch.signal.windows, name)(size, dtype=getattr(torch, dtype), **options)
    got = getattr(windows, name)(size, dtype=getattr(tt, dtype), **options)
    assert got.dtype.name == dtype
    atol = 1e-6 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), atol=atol)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann", "kaiser"])
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("size", [0, 1, 6])
def test_top_level_form_is_torchs(torch: Any, name: str, periodic: bool, size: int) -> None:
    wanted = getattr(torch, f"{name}_window")(size, periodic, dtype=torch.float64)
    got = getattr(tt, f"{name}_window")(size, periodic, dtype=tt.float64)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), atol=1e-12)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming"])
def test_symmetric_window_is_numpys(name: str) -> None:
    got = getattr(windows, name)(9, dtype=tt.float64)
    np.testing.assert_allclose(got.numpy(), getattr(np, name)(9), atol=1e-12)


def test_windows_equal_their_closed_forms() -> None:
    k = np.arange(5)
    decay = windows.exponential(5, center=1.0, tau=2.0, sym=False, dtype=tt.float64)
    np.testing.assert_allclose(decay.numpy(), np.exp(-abs(k - 1) / 2))
    bell = windows.gaussian(5, std=0.5, dtype=tt.float64)
    np.testing.assert_allclose(bell.numpy(), np.exp(-0.5 * ((k - 2) / 0.5) ** 2))
    np.testing.assert_allclose(
        tt.hamming_window(4, True, 0.5, 0.25, dtype=tt.float64).numpy(), [0.25, 0.5, 0.75, 0.5]
    )


def test_windows_accept_the_keywords_of_creation_functions() -> None:
    assert windows.hann(4, requires_grad=True).requires_grad
    out = tt.empty(4, dtype=tt.float64)
    assert windows.hann(4, out=out) is out
    assert tt.hann_window(4, device="cpu").device.type == "cpu"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: windows.hann(-1), ValueError, "non-negative window length, got M=-1"),
        (lambda: windows.hann(3, dtype=tt.int64), ValueError, "expects float32 or float64"),
        (lambda: windows.hann(3, dtype=tt.float16), ValueError, "expects float32 or float64"),
        (lambda: windows.gaussian(3, std=-1), ValueError, "must be positive, got: -1"),
        (lambda: windows.exponential(3, tau=-1), ValueError, "Tau must be positive, got: -1"),
        (lambda: windows.exponential(3, center=1), ValueError, "Center must be None"),
        (lambda: windows.kaiser(3, beta=-1), ValueError, "beta must be non-negative, got: -1"),
        (lambda: windows.general_cosine(3, a=None), TypeError, "must be a list/tuple"),
        (lambda: windows.general_cosine(3, a=[]), ValueError, "cannot be empty"),
        (lambda: tt.hann_window(-2), RuntimeError, "non-negative window_length"),
        (lambda: tt.hann_window(2, dtype=tt.int64), RuntimeError, "floating point dtypes"),
    ],
)
def test_windows_refuse_wrong_arguments(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()
