"""Windows for spectra, at the top level: ``hann_window`` and its like."""

from __future__ import annotations

from typing import Any

from ...dispatch.creation import creation
from ...dispatch.op import Array, Backend
from ..checks import integer
from .window_shapes import cosine_sum, kaiser, triangle


def _check(name: str, window_length: int, dtype: Any) -> None:
    if dtype.kind != "f":
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if integer(name, "window_length", window_length) < 0:
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
        periodic: Leave the last end out, so that the window may be repeated (default); the
            form for filters has both ends.
        dtype: A floating-point dtype; the default is the default dtype.

    Returns:
        ``(window_length,)``.

    Raises:
        RuntimeError: For a negative length or another dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    _check("hann_window", window_length, dtype)
    return cosine_sum(xp, window_length, (0.5, 0.5), not periodic, dtype)


@creation
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
        window_length: Number of points, at least 0.
        periodic: Leave the last end out, so that the window may be repeated (default); the
            form for filters has both ends.
        alpha: Default 0.54.
        beta: Default 0.46.
        dtype: A floating-point dtype; the default is the default dtype.

    Returns:
        ``(window_length,)``.

    Raises:
        RuntimeError: For a negative length or another dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    _check("hamming_window", window_length, dtype)
    return cosine_sum(xp, window_length, (alpha, beta), not periodic, dtype)


@creation
def blackman_window(
    xp: Backend, window_length: int, periodic: bool = True, *, dtype: Any = None
) -> Array:
    """The Blackman window, a sum of three cosines; see ``signal.windows.blackman``.

    Args:
        window_length: Number of points, at least 0.
        periodic: Leave the last end out, so that the window may be repeated (default); the
            form for filters has both ends.
        dtype: A floating-point dtype; the default is the default dtype.

    Returns:
        ``(window_length,)``.

    Raises:
        RuntimeError: For a negative length or another dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.blackman_window(4)
        tensor([-1.3878e-17,  3.4000e-01,  1.0000e+00,  3.4000e-01])
    """
    _check("blackman_window", window_length, dtype)
    return cosine_sum(xp, window_length, (0.42, 0.5, 0.08), not periodic, dtype)


@creation
def bartlett_window(
    xp: Backend, window_length: int, periodic: bool = True, *, dtype: Any = None
) -> Array:
    """The Bartlett window, a triangle; see ``signal.windows.bartlett``.

    Args:
        window_length: Number of points, at least 0.
        periodic: Leave the last end out, so that the window may be repeated (default); the
            form for filters has both ends.
        dtype: A floating-point dtype; the default is the default dtype.

    Returns:
        ``(window_length,)``.

    Raises:
        RuntimeError: For a negative length or another dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    _check("bartlett_window", window_length, dtype)
    return triangle(xp, window_length, not periodic, dtype)


@creation
def kaiser_window(
    xp: Backend, window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None
) -> Array:
    """The Kaiser window; see ``signal.windows.kaiser``.

    Args:
        window_length: Number of points, at least 0.
        periodic: Leave the last end out, so that the window may be repeated (default); the
            form for filters has both ends.
        beta: How narrow it is; default 12.
        dtype: A floating-point dtype; the default is the default dtype.

    Returns:
        ``(window_length,)``.

    Raises:
        RuntimeError: For a negative length or another dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.kaiser_window(4)
        tensor([5.2773e-05, 2.1567e-01, 1.0000e+00, 2.1567e-01])
    """
    _check("kaiser_window", window_length, dtype)
    return kaiser(xp, window_length, beta, not periodic, dtype)
