"""Frequencies of the points of a discrete Fourier transform, and their order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.creation import check_size, creation
from ...dispatch.op import Array, Backend, Out, composite
from ..checks import as_int
from ..shape.rearranging import roll
from ..shape.sizes import normalize_dims


@creation(namespaces=("fft",), out=Out.RESHAPE_OR_WARN)
def fftfreq(xp: Backend, n: int, d: float = 1.0, *, dtype: Any = None) -> Array:
    """Frequencies of the points of ``fft.fft``: 0, then the positive, then the negative ones.

    Args:
        n: Number of points.
        d: Time between two samples; default 1.
        dtype: Floating-point or complex dtype. Default None: the default dtype.

    Returns:
        ``(n,)``.

    Raises:
        RuntimeError: For an integer dtype.

    Example:
        >>> tt.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    n = _check_count("fftfreq", n, dtype)
    steps = xp.arange(n)
    steps = xp.where(steps < (n + 1) // 2, steps, steps - n)
    return xp.astype(_frequencies(xp, steps, n * d), dtype)


@creation(namespaces=("fft",), out=Out.RESHAPE_OR_WARN, like=fftfreq)
def rfftfreq(xp: Backend, n: int, d: float = 1.0, *, dtype: Any = None) -> Array:
    """Frequencies of the points of ``fft.rfft``.

    Args:
        n: Number of points of the signal.

    Returns:
        ``(n // 2 + 1,)``.

    Example:
        >>> tt.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    n = _check_count("rfftfreq", n, dtype)
    return xp.astype(_frequencies(xp, xp.arange(n // 2 + 1), n * d), dtype)


def _frequencies(xp: Backend, steps: Array, length: float) -> Array:
    """Frequencies ``steps / length``, for integers ``steps``.

    If ``length`` is 0 they are infinite, and NaN for step 0.
    """
    if length:
        return steps * (1.0 / length)
    return xp.where(steps == 0, math.nan, xp.copysign(math.inf, steps * math.copysign(1, length)))


def _check_count(name: str, n: Any, dtype: Any) -> int:
    """``n`` as an int; RuntimeError if it is negative, or for an integer ``dtype``.

    ``name`` is the function, for errors.
    """
    if dtype.kind not in "fc":
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {dtype}")
    return check_size(name, as_int(f"fft_{name}", "n", n))[0]


@composite(namespaces=("fft",))
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The points of a transform in order of their frequencies, with frequency 0 in the middle.

    Args:
        input: Tensor of any shape.
        dim: Dimension or dimensions; None, the default, means all.

    Returns:
        Tensor of the same shape.

    Raises:
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.fftshift(tt.tensor([0, 1, -2, -1]))
        tensor([-2, -1,  0,  1])
    """
    dims = _dims("fftshift", input, dim)
    return roll(input, [input.shape[d] // 2 for d in dims], dims) if dims else input.clone()


@composite(namespaces=("fft",), like=fftshift)
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Inverse of ``fft.fftshift``: frequency 0 moves from the middle to the front.

    Returns:
        Tensor of the same shape.

    Example:
        >>> tt.fft.ifftshift(tt.tensor([-2, -1, 0, 1]))
        tensor([ 0,  1, -2, -1])
    """
    dims = _dims("ifftshift", input, dim)
    return roll(input, [-(input.shape[d] // 2) for d in dims], dims) if dims else input.clone()


def _dims(name: str, input: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    """The dimensions to shift, counted from the front: those in ``dim``, or all for None."""
    if dim is None:
        return list(range(input.ndim))
    return list(normalize_dims(name, dim, input.ndim))
