"""Windows by the names and with the arguments that NumPy gives them: symmetric, by length."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.factories import ones
from ...ops.create.ranges import arange
from ...ops.special.bessel_functions import i0
from ...state import default_dtype
from .registration import shared


def _places(M: Any) -> Any:
    """Where the samples lie, from -1 to 1; the only one is None."""
    count = M.item() if hasattr(M, "item") else M
    if count <= 1:
        return None
    return arange(1 - count, count, 2, dtype=default_dtype()) / (count - 1)


def _few(M: Any) -> Tensor:
    """What one sample and fewer are: 1, and nothing."""
    return ones(int(M >= 1))


def _cosines(M: int, *weights: float) -> Tensor:
    """A sum of cosines."""
    places = _places(M)
    if places is None:
        return _few(M)
    angle = places * math.pi
    waves = [w * (angle * k).cos() for k, w in enumerate(weights) if k]
    return sum(waves, waves[0] * 0 + weights[0])  # type: ignore[no-any-return]


@shared
def hamming(M: int) -> Tensor:
    """The Hamming window, a raised cosine that minimises the nearest side lobe.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return _cosines(M, 0.54, 0.46)


@shared
def hanning(M: int) -> Tensor:
    """The Hann window, a raised cosine that ends at 0.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.hanning(3)
        tensor([0., 1., 0.])
    """
    return _cosines(M, 0.5, 0.5)


@shared
def blackman(M: int) -> Tensor:
    """The Blackman window, a sum of three cosines.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _cosines(M, 0.42, 0.5, 0.08)


@shared
def bartlett(M: int) -> Tensor:
    """The Bartlett window, a triangle that ends at 0.

    Args:
        M: The number of samples; none if it is below 1.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    places = _places(M)
    return _few(M) if places is None else 1 - places.abs()


@shared
def kaiser(M: int, beta: float) -> Tensor:
    """The Kaiser window, made of Bessel functions.

    Args:
        M: The number of samples; none if it is below 1.
        beta: How fast it falls; 0 is a rectangle.

    Returns:
        Tensor of shape ``(M,)`` of the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.kaiser(3, 2.0)
        tensor([0.4387, 1.0000, 0.4387])
    """
    places = _places(M)
    if places is None:
        return _few(M)
    height: Any = i0(beta * (1 - places**2).clamp(min=0).sqrt())
    return height / height.new_full((), beta).i0()  # type: ignore[no-any-return]
