"""Fourier transforms beside PyTorch's and NumPy's, their gradients, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.linalg.matrices import agrees_with_torch, draw, has_derivatives

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = tuple(name + suffix for suffix in ("2", "n") for name in ONE)
REAL_ONLY = ("rfft", "ihfft")
NORMS = (None, "ortho", "forward")


def signal(name: str, *shape: int) -> np.ndarray[Any, Any]:
    return draw(*shape, complex_=not name.startswith(REAL_ONLY))


@pytest.mark.torch
@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 1, 3, 4, 7])
def test_transforms_of_one_dimension_are_pytorchs(
    name: str, norm: str | None, n: int | None
) -> None:
    agrees_with_torch(lambda lib, x: getattr(lib.fft, name)(x, n, 0, norm), [signal(name, 5, 2)])


@pytest.mark.torch
@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("s", "dim"), [(None, (0, 2)), ((4, 3), (2, 1)), ((5, -1), (-1, -2))])
def test_transforms_of_several_dimensions_are_pytorchs(
    name: str, norm: Any, s: Any, dim: Any
) -> None:
    agrees_with_torch(
        lambda lib, x: getattr(lib.fft, name)(x, s, dim, norm), [signal(name, 3, 4, 4)]
    )


@pytest.mark.parametrize("name", ONE + MANY)
def test_first_and_second_derivatives_of_transforms_are_finite_differences(name: str) -> None:
    has_derivatives(getattr(tt.fft, name), [signal(name, 2, 3)])


@pytest.mark.torch
@pytest.mark.parametrize("name", ["irfft", "hfft", "fft", "ifft"])
def test_real_input_counts_as_complex(name: str) -> None:
    agrees_with_torch(lambda lib, x: getattr(lib.fft, name)(x), [draw(2, 5)])


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_without_dim_use_numpys_axes(name: str) -> None:
    x = signal(name, 2, 3, 4)
    for s in (None, (6,), (2, 4)):
        axes = None if s is None else tuple(range(3 - len(s), 3))
        wanted = getattr(np.fft, name)(x, s, axes)
        np.testing.assert_allclose(getattr(tt.fft, name)(tt.tensor(x), s).numpy(), wanted)


def test_a_transform_over_no_dimension_changes_the_dtype_alone() -> None:
    assert tt.fft.fftn(tt.ones(2), dim=()).dtype is tt.complex64
    assert tt.fft.fftn(tt.tensor(2.0)).item() == 2


def test_transforms_of_empty_batches_have_the_right_shape() -> None:
    for name in ONE:
        size = {"rfft": 3, "ihfft": 3, "irfft": 6, "hfft": 6}.get(name, 4)
        assert getattr(tt.fft, name)(tt.ones(0, 4)).shape == (0, size)


@pytest.mark.parametrize(
    ("given", "got"),
    [(tt.float32, tt.complex64), (tt.float64, tt.complex128), (tt.complex64, tt.complex64),
     (tt.int32, tt.complex64), (tt.bool, tt.complex64)],
)  # fmt: skip
def test_transforms_return_complex_and_real_dtypes_of_the_input_precision(
    given: Any, got: Any
) -> None:
    assert tt.fft.fft(tt.ones(4, dtype=given)).dtype is got
    assert tt.fft.irfft(tt.ones(4, dtype=given)).dtype is got.to_real()


@pytest.mark.parametrize("size", [1, 4, 5])
def test_bins_and_their_order_are_numpys(size: int) -> None:
    np.testing.assert_allclose(tt.fft.fftfreq(size, 0.5).numpy(), np.fft.fftfreq(size, 0.5))
    np.testing.assert_allclose(tt.fft.rfftfreq(size, 0.5).numpy(), np.fft.rfftfreq(size, 0.5))
    x = draw(size, 4)
    np.testing.assert_array_equal(tt.fft.fftshift(tt.tensor(x)).numpy(), np.fft.fftshift(x))
    shifted = tt.fft.fftshift(tt.tensor(x), dim=0)
    np.testing.assert_array_equal(tt.fft.ifftshift(shifted, dim=[0]).numpy(), x)


def test_fft_writes_to_out() -> None:
    out = tt.empty(0, dtype=tt.complex64)
    assert tt.fft.fft(tt.ones(2), out=out) is out
    assert out.tolist() == [2, 0]


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tt.fft.fft(tt.tensor(1.0)), IndexError, "Dimension specified as -1 but tensor has no"),
    (lambda: tt.fft.fft(tt.ones(2), dim=2), IndexError, "Dimension out of range"),
    (lambda: tt.fft.fft(tt.ones(2), n=0), RuntimeError, r"number of data points \(0\)"),
    (lambda: tt.fft.irfft(tt.ones(1)), RuntimeError, r"number of data points \(0\)"),
    (lambda: tt.fft.rfft(tt.ones(2), n=-1), RuntimeError, r"number of data points \(-1\)"),
    (lambda: tt.fft.fft(tt.ones(2), norm="x"), RuntimeError, 'normalization mode: "x"'),
    (lambda: tt.fft.fft(tt.ones(2).half()), RuntimeError, "Unsupported dtype Half"),
    (lambda: tt.fft.rfft(tt.ones(2, dtype=tt.complex64)), RuntimeError,
     "rfft expects a real input tensor, but got ComplexFloat"),
    (lambda: tt.fft.fftn(tt.ones(2, 2), dim=(0, 0)), RuntimeError, "dims must be unique"),
    (lambda: tt.fft.fftn(tt.ones(2, 2), (1, 2), (0,)), RuntimeError, "must have the same length"),
    (lambda: tt.fft.fftn(tt.ones(2), (1, 2)), RuntimeError, "Got shape with 2 values"),
    (lambda: tt.fft.rfftn(tt.ones(2), dim=()), RuntimeError, "must transform at least one axis"),
    (lambda: tt.fft.fftfreq(3, dtype=tt.int64), RuntimeError, "floating point or complex dtype"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_wrong_use_of_transforms_is_refused(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


# -- short pieces ----------------------------------------------------------------------------------

WINDOW = np.hanning(9)[:8]
STFT: list[dict[str, Any]] = [
    {"n_fft": 8},
    {"n_fft": 8, "hop_length": 3, "normalized": True},
    {"n_fft": 8, "win_length": 5, "center": False},
    {"n_fft": 8, "win_length": 4, "center": False, "align_to_window": True},
    {"n_fft": 7, "onesided": False, "pad_mode": "constant"},
    {"n_fft": 8, "hop_length": 16, "pad_mode": "circular"},
]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:A window was not provided", "ignore:stft with return_complex")
@pytest.mark.parametrize("options", STFT)
@pytest.mark.parametrize("return_complex", [False, True])
def test_stft_is_torchs(options: dict[str, Any], return_complex: bool) -> None:
    agrees_with_torch(
        lambda lib, x: lib.stft(x, return_complex=return_complex, **options), [draw(2, 40)]
    )


@pytest.mark.torch
def test_stft_has_a_gradient_for_its_window() -> None:
    def function(lib: Any, x: Any, w: Any) -> Any:
        return lib.stft(x, 8, window=w, return_complex=True)

    agrees_with_torch(function, [draw(40), WINDOW])
    agrees_with_torch(function, [draw(40, complex_=True), WINDOW])
    has_derivatives(lambda x, w: function(tt, x, w).abs().square(), [draw(12), WINDOW])


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:The length of signal is shorter")
@pytest.mark.parametrize(
    "options",
    [{"hop_length": 2}, {"hop_length": 3, "normalized": True}, {"length": 17}, {"length": 30},
     {"return_complex": True, "onesided": False}],
)  # fmt: skip
def test_istft_is_torchs(options: dict[str, Any]) -> None:
    rows = 8 if options.get("onesided") is False else 5
    agrees_with_torch(
        lambda lib, x, w: lib.istft(x, 8, window=w, **options),
        [draw(2, rows, 9, complex_=True), WINDOW + 0.1],
    )


@pytest.mark.filterwarnings("ignore:A window was not provided")
def test_istft_undoes_stft() -> None:
    x, window = draw(3, 50), tt.hann_window(16, dtype=tt.float64)
    spectrum = tt.stft(tt.tensor(x), 16, window=window, return_complex=True)
    back = tt.istft(spectrum, 16, window=window, length=50)
    np.testing.assert_allclose(back.numpy(), x, atol=1e-12)
    whole = tt.stft(tt.tensor(x), 16, window=window, onesided=False, return_complex=True)
    for onesided in (None, False):
        undone = tt.istft(whole, 16, window=window, length=50, onesided=onesided)
        np.testing.assert_allclose(undone.numpy(), x, atol=1e-12)
    has_derivatives(lambda s: tt.istft(s, 4), [draw(3, 3, complex_=True)])


X = tt.ones(40)
SPECTRUM = tt.ones(5, 3, dtype=tt.complex64)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tt.stft(X, 8), "return_complex parameter be given"),
        (lambda: tt.stft(X[None, None], 8, return_complex=True), "expected a 1D or 2D tensor"),
        (lambda: tt.stft(X.int(), 8, return_complex=True), "floating point or complex"),
        (lambda: tt.stft(X, 50, center=False, return_complex=True), "0 < n_fft < 40"),
        (lambda: tt.stft(X, 8, 0, return_complex=True), "expected hop_length > 0"),
        (lambda: tt.stft(X, 8, win_length=9, return_complex=True), "0 < win_length <= n_fft"),
        (lambda: tt.stft(X, 8, window=tt.ones(5), return_complex=True), "window with size"),
        (lambda: tt.stft(X + 0j, 8, onesided=True), "Cannot have onesided output"),
        (lambda: tt.stft(X, 8, align_to_window=True, return_complex=True), "center = false"),
        (lambda: tt.istft(tt.ones(5, 3, 2), 8), "requires a complex-valued input"),
        (lambda: tt.istft(SPECTRUM, 10), "match n_fft / 2 . 1 when onesided=True, but got 5"),
        (lambda: tt.istft(SPECTRUM, 8, onesided=False), "match n_fft when onesided=False"),
        (lambda: tt.istft(SPECTRUM, 8, window=tt.zeros(8)), "window overlap add min"),
        (lambda: tt.istft(SPECTRUM[:, :0], 8), "cannot be empty"),
        (lambda: tt.istft(SPECTRUM, 8, hop_length=9), "0 < hop_length <= win_length"),
    ],
)
def test_stft_and_istft_refuse_signals_that_are_too_short(
    call: Callable[[], Any], text: str
) -> None:
    with pytest.raises(RuntimeError, match=text):
        call()


def test_frequencies_of_samples_at_one_place_are_infinite(torch: Any) -> None:
    for name in ("fftfreq", "rfftfreq"):
        for n, d in ((4, 0.0), (5, -0.0), (0, 0.0)):
            ours, theirs = (getattr(lib.fft, name)(n, d).numpy() for lib in (tt, torch))
            np.testing.assert_array_equal(ours, theirs)
