"""Short-time Fourier transforms of a signal, and their inverse."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, Backend, composite, op
from ...warnings import warn, warn_once
from ..nn.padding import pad
from ..pointwise.complex_numbers import view_as_real
from .transforms import half_spectrum, real_signal, transform

# -- frames ----------------------------------------------------------------------------------------


@op
def _frame(xp: Backend, input: Array, size: int, hop: int) -> Array:
    """Pieces ``(..., count, size)`` of signals ``(..., t)``, one every ``hop`` samples."""
    # CuPy's sliding_window_view would make the host wait for the GPU.
    *batch, last = input.strides
    count = (input.shape[-1] - size) // hop + 1
    shape, strides = (*input.shape[:-1], count, size), (*batch, last * hop, last)
    return xp.array(xp.as_strided(input, shape, strides))


@op
def _overlap_add(xp: Backend, input: Array, total: int, hop: int) -> Array:
    """Signals ``(..., total)``: sums of pieces ``(..., count, size)``.

    Each piece starts ``hop`` samples after the one before.
    """
    *batch, count, size = input.shape
    parts = math.ceil(size / hop)
    frames = xp.zeros((*batch, count, parts * hop), input.dtype)
    frames[..., :size] = input
    frames = xp.reshape(frames, (*batch, count, parts, hop))
    rows = max(count + parts, math.ceil(total / hop))
    out = xp.zeros((*batch, rows, hop), input.dtype)
    for k in range(parts):  # part k of all pieces at once
        out[..., k : k + count, :] += frames[..., :, k, :]
    return xp.reshape(out, (*batch, rows * hop))[..., :total]


_frame.vjp(input=lambda xp, g, in_shape, hop: xp.call(_overlap_add, g, in_shape[-1], hop))


def _overlap_add_gradient(xp: Any, g: Any, in_shape: Any, hop: int) -> Any:
    """Gradient of the pieces in ``_overlap_add``, whose shape is ``in_shape``."""
    size, needed = in_shape[-1], (in_shape[-2] - 1) * hop + in_shape[-1]
    return xp.call(_frame, g[..., :needed], size, hop)


_overlap_add.vjp(input=_overlap_add_gradient)

# -- arguments -------------------------------------------------------------------------------------


def _lengths(
    name: str, n_fft: int, hop_length: int | None, win_length: int | None
) -> tuple[int, int]:
    """The hop length and the window length, with PyTorch's defaults for None.

    ``name`` is the function, for errors.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    if not 0 < size <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={size}")
    return hop, size


def _pad_window(name: str, window: Tensor | None, like: Tensor, size: int, n_fft: int) -> Tensor:
    """The window padded with zeros to ``n_fft`` points; ones for None, with a warning.

    Args:
        name: The function, for errors.
        window: ``(size,)`` or None.
        like: Tensor whose dtype and backend a window of ones gets.
        size: The window length.
        n_fft: Number of points of a transform.
    """
    if window is None:
        warn(
            "A window was not provided. A rectangular window will be applied, which is known to "
            "cause spectral leakage. Please pass one such as hann_window, the same to stft and "
            "istft; for a rectangular one, pass ones."
        )
        xp = like._xp
        real = like._data.real.dtype
        window = wrap(xp.ones((size,), real), xp)
    elif window.ndim != 1 or window.shape[0] != size:
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={size}, but got "
            f"window with size {list(window.shape)}"
        )
    left = (n_fft - size) // 2
    return window if size == n_fft else pad(window, (left, n_fft - size - left))


def _pad_ends(signal: Tensor, amount: int, mode: str) -> Tensor:
    """Signals ``(b, t)`` padded by ``amount`` samples at both ends."""
    return pad(signal.unsqueeze(0), (amount, amount), mode).squeeze(0)


# -- stft ------------------------------------------------------------------------------------------


@composite(method=True)
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Short-time Fourier transform: transforms of overlapping pieces of a signal.

    Args:
        input: ``(t,)`` or ``(b, t)``, real or complex.
        n_fft: Number of samples in each transform.
        hop_length: Number of samples from one piece to the next; default ``n_fft // 4``.
        win_length: Number of samples of the window, at most ``n_fft``; default ``n_fft``.
        window: ``(win_length,)``; default ones.
        center: Pad the signal so that piece k is centered at sample ``k * hop_length``
            (default); otherwise it begins there.
        pad_mode: How to pad, as for ``nn.functional.pad``; default ``"reflect"``.
        normalized: Divide by the root of ``n_fft``; default False.
        onesided: Return the half spectrum; default True for real signals.
        return_complex: Return complex numbers, or real and imaginary parts along a last
            dimension. Required unless the input is complex.
        align_to_window: Without ``center``, align the window, not the transform, with sample
            ``k * hop_length``; default False.

    Returns:
        ``(b, frequencies, pieces)``, without b for one signal.

    Raises:
        RuntimeError: If shapes, lengths or dtypes do not fit.

    Example:
        >>> tt.stft(tt.ones(8), 4, window=tt.hann_window(4), return_complex=True).shape
        tinytorch.Size([3, 9])
    """
    has_complex = input.is_complex() or (window is not None and window.is_complex())
    _check_stft(input, has_complex, center, onesided, return_complex, align_to_window)
    hop, size = _lengths("stft", n_fft, hop_length, win_length)
    signal = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        signal = _pad_ends(signal, n_fft // 2, pad_mode)
    elif align_to_window:
        signal = _pad_ends(signal, (n_fft - size) // 2, "constant")
    if not 0 < n_fft <= signal.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {signal.shape[-1]}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    pieces = _frame(signal, n_fft, hop) * _pad_window("stft", window, input, size, n_fft)
    norm = "ortho" if normalized else None
    if not has_complex and (onesided is None or onesided):
        spectrum = half_spectrum("stft", pieces, None, (-1,), norm, True)
    else:
        spectrum = transform(pieces, None, (-1,), norm, True)
    spectrum = spectrum.mT if input.ndim == 2 else spectrum.mT.squeeze(0)
    complex_wanted = has_complex if return_complex is None else return_complex
    if not complex_wanted:
        warn_once(
            "stft with return_complex=False is deprecated: use return_complex=True, and "
            "view_as_real where real and imaginary parts are wanted."
        )
    return spectrum if complex_wanted else view_as_real(spectrum)


def _check_stft(
    input: Tensor, has_complex: bool, center: bool, onesided: Any, return_complex: Any, align: Any
) -> None:
    """Raise RuntimeError for arguments of ``stft`` that do not fit.

    ``has_complex`` is whether the signal or the window is complex.
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, got shape {list(input.shape)}")
    if input.dtype.kind not in "fc":
        raise RuntimeError(
            f"stft: expected a tensor of floating point or complex values, got {input.dtype.name}"
        )
    if has_complex and onesided:
        raise RuntimeError("stft: Cannot have onesided output if window or input is complex")
    if return_complex is None and not has_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    if center and align is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")


# -- istft -----------------------------------------------------------------------------------------


@composite(method=True, like=stft)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Inverse of ``stft``: the signal whose transforms are nearest, by least squares.

    Args:
        input: ``(frequencies, pieces)`` or ``(b, frequencies, pieces)``, complex, from ``stft``.
        center: The argument of ``stft``; default True.
        normalized: The argument of ``stft``; default False.
        onesided: Whether the input is a half spectrum; by default its size decides.
        length: Number of samples to return, truncated or padded with zeros; default all.
        return_complex: Whether the signal is complex; default False.

    Returns:
        ``(b, t)``, or ``(t,)`` for one signal.

    Raises:
        RuntimeError: If shapes or lengths do not fit, or no window covers some sample.

    Example:
        >>> spectrum = tt.stft(tt.ones(8), 4, window=tt.hann_window(4), return_complex=True)
        >>> tt.istft(spectrum, 4, window=tt.hann_window(4))
        tensor([1., 1., 1., 1., 1., 1., 1., 1.])

    Reference:
        Griffin & Lim, "Signal estimation from modified short-time Fourier transform", IEEE
        Trans. Acoustics, Speech, Signal Processing 32 (1984).
    """
    half = (input.shape[-2] != n_fft) if onesided is None and input.ndim > 1 else bool(onesided)
    _check_istft(input, n_fft, half, window, return_complex)
    hop, size = _lengths("istft", n_fft, hop_length, win_length)
    if not 0 < hop <= size:
        raise RuntimeError(f"istft: expected 0 < hop_length <= win_length, got hop_length={hop}")
    spectrum = (input if input.ndim == 3 else input.unsqueeze(0)).mT
    norm = "ortho" if normalized else None
    if return_complex:
        pieces = transform(spectrum, None, (-1,), norm, False)
    else:
        spectrum = spectrum if half else spectrum[..., : n_fft // 2 + 1]
        pieces = real_signal("istft", spectrum, (n_fft,), (-1,), norm, False)
    shape = _pad_window("istft", window, input, size, n_fft)
    start = n_fft // 2 if center else 0
    signal = _combine_pieces(pieces * shape, shape, hop, start, length, start if center else 0)
    return signal if input.ndim == 3 else signal.squeeze(0)


def _combine_pieces(
    pieces: Tensor, window: Tensor, hop: int, start: int, length: int | None, ends: int
) -> Tensor:
    """Signals from overlapping pieces: their sum divided by the sum of squared windows.

    Args:
        pieces: ``(b, count, n_fft)``, each times the window.
        window: ``(n_fft,)``.
        hop: Number of samples from one piece to the next.
        start: First sample of the sum that is returned.
        length: Number of samples to return; None for all but the last ``ends``.
        ends: Number of samples to omit at the end if there is no ``length``.
    """
    count, n_fft = pieces.shape[-2:]
    total = n_fft + hop * (count - 1)
    energy = (window * window).expand(count, n_fft)
    stop = min(start + length, total) if length is not None else total - ends
    signal = _overlap_add(pieces, total, hop)[..., start:stop]
    weight = _overlap_add(energy, total, hop)[start:stop]
    covered = weight._xp.abs(weight._data) > 1e-11
    weight._xp.check_all(
        covered, "istft: window overlap add min: 1 (some samples are under no window)"
    )
    signal = signal / weight
    if length is not None and signal.shape[-1] < length:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            f"with zeros in the tail to {length}. Please check center and hop_length."
        )
        signal = pad(signal, (0, length - signal.shape[-1]))
    return signal


def _check_istft(input: Tensor, n_fft: int, half: bool, window: Any, return_complex: bool) -> None:
    """Raise RuntimeError for arguments of ``istft`` that do not fit.

    ``half`` is whether ``input`` is a half spectrum.
    """
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if input.ndim not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {input.ndim}")
    if not input.numel():
        raise RuntimeError(f"istft: input tensor cannot be empty, got shape {list(input.shape)}.")
    wanted = n_fft // 2 + 1 if half else n_fft
    if input.shape[-2] != wanted:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {'n_fft / 2 + 1' if half else 'n_fft'} when onesided={half}, but got "
            f"{input.shape[-2]} for n_fft={n_fft}"
        )
    if return_complex and half:
        raise RuntimeError("istft: Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("istft: Complex windows are incompatible with return_complex=False")
