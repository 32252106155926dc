"""Discrete Fourier transforms along several dimensions, and along two."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.tensor import Tensor
from ...dispatch.op import composite
from ..results import write_result
from .transforms import half_spectrum, real_signal, transform


@composite(namespaces=("fft",))
def fftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Discrete Fourier transform along several dimensions.

    Args:
        input: Real or complex tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, to which the input is truncated or padded with zeros;
            -1 is the size. Default: the sizes.
        dim: The dimensions; default all, or the last ``len(s)`` if ``s`` is given.
        norm: ``"backward"`` (default): no factor; ``"forward"``: one over the number n of points;
            ``"ortho"``: ``1 / sqrt(n)``.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a repeated dimension, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.fftn(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.fftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fftn)
def ifftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.fftn``.

    Args:
        norm: ``"backward"`` (default): one over the number n of points; ``"forward"``: no factor;
            ``"ortho"``: ``1 / sqrt(n)``.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.ifftn(tt.ones(2, 2))
        tensor([[1.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ifftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fftn)
def rfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of real numbers: half of ``fft.fftn``, along the last dimension.

    Args:
        input: Real tensor; integers count as the default dtype.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Raises:
        RuntimeError: For complex input, a repeated dimension, fewer than one point, an
            unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.rfftn(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = half_spectrum("rfftn", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.rfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=ifftn)
def irfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.rfftn``: the real signal of a half spectrum.

    Args:
        input: Half spectrum along the last of ``dim``, complex or real.
        s: Numbers of points of the result along ``dim``; default the sizes, and
            ``2 * (size - 1)``, which is even, along the last.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.irfftn(tt.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    result = real_signal("irfftn", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.irfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fftn)
def hfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Real spectrum of a signal that is Hermitian in time, from half of the signal.

    Args:
        input: Half of the signal along the last of ``dim``, complex or real.
        s: Numbers of points of the result along ``dim``; default the sizes, and
            ``2 * (size - 1)``, which is even, along the last.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.hfftn(tt.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    result = real_signal("hfftn", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.hfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=ifftn)
def ihfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.hfftn``: half of the Hermitian signal of a real spectrum.

    Args:
        input: Real tensor; integers count as the default dtype.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Raises:
        RuntimeError: For complex input, a repeated dimension, fewer than one point, an
            unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ihfftn(tt.ones(2, 2))
        tensor([[1.-0.j, 0.-0.j],
                [0.-0.j, 0.-0.j]])
    """
    result = half_spectrum("ihfftn", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ihfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fftn)
def fft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Discrete Fourier transform along two dimensions.

    Args:
        dim: The dimensions; default the last two.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.fft2(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.fft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=ifftn)
def ifft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.fft2``.

    Args:
        dim: The dimensions; default the last two.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.ifft2(tt.ones(2, 2))
        tensor([[1.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ifft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=rfftn)
def rfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of real numbers: half of ``fft.fft2``, along the last dimension.

    Args:
        dim: The dimensions; default the last two.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Example:
        >>> tt.fft.rfft2(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = half_spectrum("rfft2", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.rfft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=irfftn)
def irfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.rfft2``: the real signal of a half spectrum.

    Args:
        dim: The dimensions; default the last two.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.irfft2(tt.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    result = real_signal("irfft2", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.irfft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=hfftn)
def hfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Real spectrum of a signal that is Hermitian in time, from half of the signal.

    Args:
        dim: The dimensions; default the last two.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Example:
        >>> tt.fft.hfft2(tt.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    result = real_signal("hfft2", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.hfft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=ihfftn)
def ihfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.hfft2``: half of the Hermitian signal of a real spectrum.

    Args:
        dim: The dimensions; default the last two.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Example:
        >>> tt.fft.ihfft2(tt.ones(2, 2))
        tensor([[1.-0.j, 0.-0.j],
                [0.-0.j, 0.-0.j]])
    """
    result = half_spectrum("ihfft2", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ihfft2")  # type: ignore[no-any-return]
