"""Window functions: their kernels, ``hann_window`` and related functions, ``signal.windows``.

The kernels compute in float64 and round once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ... import dtypes
from ...dispatch.creation import creation
from ...dispatch.op import Array, Backend
from ..checks import as_int, find_special


_DOUBLE = dtypes.float64.dtype


def span(count: int, symmetric: bool) -> float:
    """The period in samples of a window of ``count`` points.

    A periodic window omits the last point of its period, so the period is ``count``.
    """
    return count - 1 if symmetric else count


def cast_window(xp: Backend, count: int, window: Array, dtype: Any) -> Array:
    """Cast a window of ``count`` points to ``dtype``; a window of one point is 1."""
    return xp.astype(window, dtype) if count > 1 else xp.ones((count,), dtype)


def sample_numbers(xp: Backend, count: int) -> Array:
    """The numbers k of the samples, 0 to ``count - 1``, in float64."""
    return xp.arange(count, dtype=_DOUBLE)


def cosine_sum(
    xp: Backend, count: int, weights: Sequence[float], symmetric: bool, dtype: Any
) -> Array:
    """``sum((-1)^i weights[i] cos(2 pi i k / n))`` for each sample k, with the period n."""
    first, *others = map(float, weights)
    if count < 2:
        return xp.ones((count,), dtype)
    angle = sample_numbers(xp, count) * (2 * math.pi / span(count, symmetric))
    window = xp.full((count,), first, _DOUBLE)
    for i, weight in enumerate(others, 1):
        window += (-1) ** i * weight * xp.cos(i * angle)
    return xp.astype(window, dtype)


def triangle(xp: Backend, count: int, symmetric: bool, dtype: Any) -> Array:
    """Triangular window: ``1 - abs(2 k / n - 1)`` for each sample k, with the period n."""
    x = sample_numbers(xp, count) * (2 / (span(count, symmetric) or 1)) - 1
    return cast_window(xp, count, 1 - abs(x), dtype)


def kaiser_shape(xp: Backend, count: int, beta: float, symmetric: bool, dtype: Any) -> Array:
    """``I0(beta sqrt(1 - x^2)) / I0(beta)`` for x from -1 to 1.

    Reference:
        Kaiser & Schafer, "On the use of the I0-sinh window for spectrum analysis", IEEE Trans.
        Acoustics, Speech, Signal Processing 28 (1980).
    """
    i0 = find_special(xp, "i0", "kaiser")
    if count < 2:
        return xp.ones((count,), dtype)
    x = sample_numbers(xp, count) * (2 / span(count, symmetric)) - 1
    root = xp.sqrt(xp.maximum(1 - x * x, 0))
    return xp.astype(i0(beta * root) / i0(xp.full((1,), float(beta))), dtype)


def _check(name: str, window_length: int, dtype: Any) -> None:
    """Raise RuntimeError for a negative length, or a dtype that is not floating-point."""
    if dtype.kind != "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if as_int(name, "window_length", window_length) < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={window_length}"
        )


@creation
def hann_window(
    xp: Backend, window_length: int, periodic: bool = True, *, dtype: Any = None
) -> Array:
    """The Hann window, a raised cosine; see ``signal.windows.hann``.

    Args:
        window_length: Number of points, at least 0.
        periodic: Omit the last point of the symmetric window, so that the window can be repeated
            (default); symmetric windows are for filters.
        dtype: A floating-point dtype; the default is the default dtype.

    Returns:
        ``(window_length,)``.

    Raises:
        RuntimeError: For a negative length or another dtype.

    Example:
        >>> tt.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    _check("hann_window", window_length, dtype)
    return cosine_sum(xp, window_length, (0.5, 0.5), not periodic, dtype)


@creation(like=hann_window)
def hamming_window(
    xp: Backend,
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
) -> Array:
    """The Hamming window ``alpha - beta cos(2 pi k / n)``; see ``signal.windows.hamming``.

    Args:
        alpha: The constant term; default 0.54.
        beta: The factor of the cosine; default 0.46.

    Returns:
        ``(window_length,)``.

    Example:
        >>> tt.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    _check("hamming_window", window_length, dtype)
    return cosine_sum(xp, window_length, (alpha, beta), not periodic, dtype)


@creation(like=hann_window)
def blackman_window(
    xp: Backend, window_length: int, periodic: bool = True, *, dtype: Any = None
) -> Array:
    """The Blackman window, a sum of three cosines; see ``signal.windows.blackman``.

    Returns:
        ``(window_length,)``.

    Example:
        >>> tt.blackman_window(4)
        tensor([-1.3878e-17,  3.4000e-01,  1.0000e+00,  3.4000e-01])
    """
    _check("blackman_window", window_length, dtype)
    return cosine_sum(xp, window_length, (0.42, 0.5, 0.08), not periodic, dtype)


@creation(like=hann_window)
def bartlett_window(
    xp: Backend, window_length: int, periodic: bool = True, *, dtype: Any = None
) -> Array:
    """The Bartlett window, a triangle; see ``signal.windows.bartlett``.

    Returns:
        ``(window_length,)``.

    Example:
        >>> tt.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    _check("bartlett_window", window_length, dtype)
    return triangle(xp, window_length, not periodic, dtype)


@creation(like=hann_window)
def kaiser_window(
    xp: Backend, window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None
) -> Array:
    """The Kaiser window; see ``signal.windows.kaiser``.

    Args:
        beta: The shape, larger for a narrower window; default 12.

    Returns:
        ``(window_length,)``.

    Example:
        >>> tt.kaiser_window(4)
        tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01])
    """
    _check("kaiser_window", window_length, dtype)
    return kaiser_shape(xp, window_length, beta, not periodic, dtype)


def _check_length(name: str, M: Any, dtype: Any) -> int:
    """``M`` as an int; ValueError if it is negative or ``dtype`` is not float32 or float64."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if dtype.kind != "f" or dtype.itemsize < 4:
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return int(operator.index(M))


@creation(namespaces=("signal.windows",))
def general_cosine(
    xp: Backend, M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None
) -> Array:
    """Sum of cosines: ``sum((-1)^i a[i] cos(2 pi i k / n))``.

    Args:
        M: Number of points, at least 0.
        a: The coefficients.
        sym: Whether the window is symmetric (default), for filters, or omits the last point, so
            that it can be repeated, for spectra.
        dtype: float32 or float64; the default is the default dtype.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M``, another dtype or no coefficients.

    Example:
        >>> tt.signal.windows.general_cosine(5, a=[0.5, 0.5])
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    M = _check_length("general_cosine", M, dtype)
    if not isinstance(a, (list, tuple)):
        raise TypeError(f"Coefficients must be a list/tuple, got {type(a).__name__}")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return cosine_sum(xp, M, a, sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def general_hamming(
    xp: Backend, M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None
) -> Array:
    """Generalized Hamming window: ``alpha - (1 - alpha) cos(2 pi k / n)``.

    Args:
        alpha: The coefficient; default 0.54.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.general_hamming(5, alpha=0.6)
        tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    M = _check_length("general_hamming", M, dtype)
    return cosine_sum(xp, M, (alpha, 1 - alpha), sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def hann(xp: Backend, M: int, *, sym: bool = True, dtype: Any = None) -> Array:
    """The Hann window, a raised cosine: ``sin(pi k / n)^2``.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.hann(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    M = _check_length("hann", M, dtype)
    return cosine_sum(xp, M, (0.5, 0.5), sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def hamming(xp: Backend, M: int, *, sym: bool = True, dtype: Any = None) -> Array:
    """The Hamming window: ``0.54 - 0.46 cos(2 pi k / n)``.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.hamming(5)
        tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    M = _check_length("hamming", M, dtype)
    return cosine_sum(xp, M, (0.54, 0.46), sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def blackman(xp: Backend, M: int, *, sym: bool = True, dtype: Any = None) -> Array:
    """The Blackman window, a sum of three cosines.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.blackman(5)
        tensor([-1.3878e-17,  3.4000e-01,  1.0000e+00,  3.4000e-01, -1.3878e-17])
    """
    M = _check_length("blackman", M, dtype)
    return cosine_sum(xp, M, (0.42, 0.5, 0.08), sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def nuttall(xp: Backend, M: int, *, sym: bool = True, dtype: Any = None) -> Array:
    """Nuttall's window with minimal sidelobes, a sum of four cosines.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.nuttall(5)
        tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])

    Reference:
        Nuttall, "Some windows with very good sidelobe behavior", IEEE Trans. Acoustics, Speech,
        Signal Processing 29 (1981).
    """
    M = _check_length("nuttall", M, dtype)
    return cosine_sum(xp, M, (0.3635819, 0.4891775, 0.1365995, 0.0106411), sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def bartlett(xp: Backend, M: int, *, sym: bool = True, dtype: Any = None) -> Array:
    """The Bartlett window, a triangle: ``1 - abs(2 k / n - 1)``.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    M = _check_length("bartlett", M, dtype)
    return triangle(xp, M, sym, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def cosine(xp: Backend, M: int, *, sym: bool = True, dtype: Any = None) -> Array:
    """Half a period of the sine: ``sin(pi (k + 1/2) / M)``.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M`` or another dtype.

    Example:
        >>> tt.signal.windows.cosine(5)
        tensor([0.3090, 0.8090, 1.0000, 0.8090, 0.3090])
    """
    M = _check_length("cosine", M, dtype)
    points = M if sym else M + 1
    window = xp.sin((sample_numbers(xp, M) + 0.5) * (math.pi / (points or 1)))
    return cast_window(xp, M, window, dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def exponential(
    xp: Backend,
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
) -> Array:
    """Exponential decay on both sides of the center: ``exp(-abs(k - center) / tau)``.

    Args:
        center: The position of the value 1; default the middle. Only for ``sym=False``.
        tau: The time constant of the decay; default 1.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M``, another dtype or a nonpositive ``tau``.

    Example:
        >>> tt.signal.windows.exponential(5)
        tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """
    M = _check_length("exponential", M, dtype)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = span(M, sym) / 2 if center is None else center
    return cast_window(xp, M, xp.exp(-abs(sample_numbers(xp, M) - middle) / tau), dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def gaussian(
    xp: Backend, M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None
) -> Array:
    """Gaussian window: ``exp(-((k - middle) / std)^2 / 2)``.

    Args:
        std: The standard deviation; default 1.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M``, another dtype or a nonpositive ``std``.

    Example:
        >>> tt.signal.windows.gaussian(5)
        tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    M = _check_length("gaussian", M, dtype)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    x = (sample_numbers(xp, M) - span(M, sym) / 2) / std
    return cast_window(xp, M, xp.exp(-0.5 * x * x), dtype)


@creation(namespaces=("signal.windows",), like=general_cosine)
def kaiser(
    xp: Backend, M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None
) -> Array:
    """The Kaiser window: ``I0(beta sqrt(1 - x^2)) / I0(beta)`` for x from -1 to 1.

    Args:
        beta: The shape, larger for a narrower window; default 12.

    Returns:
        ``(M,)``, at most 1.

    Raises:
        ValueError: For a negative ``M``, another dtype or a negative ``beta``.

    Example:
        >>> tt.signal.windows.kaiser(5)
        tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01, 5.2773e-05])
    """
    M = _check_length("kaiser", M, dtype)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return kaiser_shape(xp, M, beta, sym, dtype)
