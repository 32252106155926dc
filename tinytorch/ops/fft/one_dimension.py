"""Discrete Fourier transforms along one dimension."""

from __future__ import annotations

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..checks import integer
from ..out import written
from .transforms import half_spectrum, real_signal, transform


def _points(n: int | None) -> tuple[int] | None:
    """What ``transform`` takes; its -1 for "as many as there are" is not for one dimension."""
    if n == -1:
        raise RuntimeError("Invalid number of data points (-1) specified")
    return None if n is None else (integer("fft", "n", n),)


@composite(namespaces=("fft",))
def fft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Discrete Fourier transform along a dimension: ``sum(x[j] exp(-2 pi i j k / n))``.

    Args:
        input: Real or complex tensor; integers count as the default dtype.
        n: Number of points: the input is cut off or followed by zeros; default its size.
        dim: The dimension; default the last.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by n,
            ``"ortho"`` by the root of n.
        out: Where to write the result.

    Returns:
        Complex tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.fft.fft(tt.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _points(n)
    result = transform(input, sizes, dim, norm, forward=True, one=True)
    return written(out, result, "fft.fft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def ifft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.fft``: ``sum(x[k] exp(2 pi i j k / n)) / n``.

    Args:
        input: Real or complex tensor; integers count as the default dtype.
        n: Number of points: the input is cut off or followed by zeros; default its size.
        dim: The dimension; default the last.
        norm: ``"backward"``, the default, divides by n, ``"forward"`` not at all, ``"ortho"`` by
            the root of n.
        out: Where to write the result.

    Returns:
        Complex tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.fft.ifft(tt.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _points(n)
    result = transform(input, sizes, dim, norm, forward=False, one=True)
    return written(out, result, "fft.ifft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def rfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of real numbers: the points of ``fft.fft`` up to the middle one.

    Args:
        input: Real tensor; integers count as the default dtype.
        n: Number of points: the input is cut off or followed by zeros; default its size.
        dim: The dimension; default the last.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by n,
            ``"ortho"`` by the root of n.
        out: Where to write the result.

    Returns:
        Complex tensor of size ``n // 2 + 1`` along ``dim``.

    Raises:
        RuntimeError: For complex input, fewer than one point, an unknown ``norm`` or half
            precision.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.fft.rfft(tt.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _points(n)
    result = half_spectrum("rfft", input, sizes, (dim,), norm, forward=True)
    return written(out, result, "fft.rfft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def irfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.rfft``: the real numbers that have half a spectrum.

    Args:
        input: Half a spectrum, complex or real; what it implies for the other half is assumed.
        n: Number of points of the result; default ``2 * (size - 1)``, which is even.
        dim: The dimension; default the last.
        norm: ``"backward"``, the default, divides by n, ``"forward"`` not at all, ``"ortho"`` by
            the root of n.
        out: Where to write the result.

    Returns:
        Real tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.fft.irfft(tt.tensor([1.0, 1.0, 1.0]))
        tensor([1., 0., 0., 0.])
    """
    sizes = _points(n)
    result = real_signal("irfft", input, sizes, (dim,), norm, forward=False)
    return written(out, result, "fft.irfft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def hfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of a signal that is Hermitian in time, given by half: a real spectrum.

    Args:
        input: Half a signal, complex or real.
        n: Number of points of the result; default ``2 * (size - 1)``, which is even.
        dim: The dimension; default the last.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by n,
            ``"ortho"`` by the root of n.
        out: Where to write the result.

    Returns:
        Real tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.fft.hfft(tt.tensor([1.0, 1.0, 1.0]))
        tensor([4., 0., 0., 0.])
    """
    sizes = _points(n)
    result = real_signal("hfft", input, sizes, (dim,), norm, forward=True)
    return written(out, result, "fft.hfft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def ihfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.hfft``: half of the Hermitian signal that has a real spectrum.

    Args:
        input: Real tensor; integers count as the default dtype.
        n: Number of points: the input is cut off or followed by zeros; default its size.
        dim: The dimension; default the last.
        norm: ``"backward"``, the default, divides by n, ``"forward"`` not at all, ``"ortho"`` by
            the root of n.
        out: Where to write the result.

    Returns:
        Complex tensor of size ``n // 2 + 1`` along ``dim``.

    Raises:
        RuntimeError: For complex input, fewer than one point, an unknown ``norm`` or half
            precision.
        IndexError: If there is no such dimension.

    Example:
        >>> import tinytorch as tt
        >>> tt.fft.ihfft(tt.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.-0.j, 1.-0.j, 1.-0.j])
    """
    sizes = _points(n)
    result = half_spectrum("ihfft", input, sizes, (dim,), norm, forward=False)
    return written(out, result, "fft.ihfft")  # type: ignore[no-any-return]
