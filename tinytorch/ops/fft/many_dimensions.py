"""Discrete Fourier transforms along several dimensions.

Discrete Fourier transforms along two dimensions.
"""

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
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default all, or with ``s`` the last ones, as many as it has sizes.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by
            the number of points, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.fftn(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.fftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
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
        input: Real or complex tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default all, or with ``s`` the last ones, as many as it has sizes.
        norm: ``"backward"``, the default, divides by the number of points, ``"forward"`` not at
            all, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ifftn(tt.ones(2, 2))
        tensor([[1.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ifftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def rfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of real numbers along several dimensions: half, along the last, of ``fft.fftn``.

    Args:
        input: Real tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default all, or with ``s`` the last ones, as many as it has sizes.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by
            the number of points, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Raises:
        RuntimeError: For complex input, a dimension named twice, fewer than one point, an
            unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.rfftn(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = half_spectrum("rfftn", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.rfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def irfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.rfftn``: the real numbers that have half a spectrum.

    Args:
        input: Half a spectrum along the last of ``dim``, complex or real.
        s: Numbers of points of the result along ``dim``; default the sizes, for the last
            ``2 * (size - 1)``, which is even.
        dim: The dimensions; default all, or with ``s`` the last ones, as many as it has sizes.
        norm: ``"backward"``, the default, divides by the number of points, ``"forward"`` not at
            all, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.irfftn(tt.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    result = real_signal("irfftn", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.irfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def hfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of a signal that is Hermitian in time, given by half: a real spectrum.

    Args:
        input: Half a signal along the last of ``dim``, complex or real.
        s: Numbers of points of the result along ``dim``; default the sizes, for the last
            ``2 * (size - 1)``, which is even.
        dim: The dimensions; default all, or with ``s`` the last ones, as many as it has sizes.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by
            the number of points, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.hfftn(tt.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    result = real_signal("hfftn", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.hfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def ihfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.hfftn``: half of the Hermitian signal that has a real spectrum.

    Args:
        input: Real tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default all, or with ``s`` the last ones, as many as it has sizes.
        norm: ``"backward"``, the default, divides by the number of points, ``"forward"`` not at
            all, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Raises:
        RuntimeError: For complex input, a dimension named twice, fewer than one point, an
            unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ihfftn(tt.ones(2, 2))
        tensor([[1.-0.j, 0.-0.j],
                [0.-0.j, 0.-0.j]])
    """
    result = half_spectrum("ihfftn", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ihfftn")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
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
        input: Real or complex tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default the last two.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by
            the number of points, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.fft2(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.fft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
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
        input: Real or complex tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default the last two.
        norm: ``"backward"``, the default, divides by the number of points, ``"forward"`` not at
            all, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ifft2(tt.ones(2, 2))
        tensor([[1.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = transform(input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ifft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def rfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of real numbers along two dimensions: half, along the last, of ``fft.fft2``.

    Args:
        input: Real tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default the last two.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by
            the number of points, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Raises:
        RuntimeError: For complex input, a dimension named twice, fewer than one point, an
            unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.rfft2(tt.ones(2, 2))
        tensor([[4.+0.j, 0.+0.j],
                [0.+0.j, 0.+0.j]])
    """
    result = half_spectrum("rfft2", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.rfft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def irfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.rfft2``: the real numbers that have half a spectrum.

    Args:
        input: Half a spectrum along the last of ``dim``, complex or real.
        s: Numbers of points of the result along ``dim``; default the sizes, for the last
            ``2 * (size - 1)``, which is even.
        dim: The dimensions; default the last two.
        norm: ``"backward"``, the default, divides by the number of points, ``"forward"`` not at
            all, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.irfft2(tt.ones(2, 2))
        tensor([[1., 0.],
                [0., 0.]])
    """
    result = real_signal("irfft2", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.irfft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def hfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Transform of a signal that is Hermitian in time, given by half: a real spectrum.

    Args:
        input: Half a signal along the last of ``dim``, complex or real.
        s: Numbers of points of the result along ``dim``; default the sizes, for the last
            ``2 * (size - 1)``, which is even.
        dim: The dimensions; default the last two.
        norm: ``"backward"``, the default, leaves the sum as it is, ``"forward"`` divides it by
            the number of points, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Real tensor of the sizes ``s`` along ``dim``.

    Raises:
        RuntimeError: For a dimension named twice, fewer than one point, an unknown ``norm``
            or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.hfft2(tt.ones(2, 2))
        tensor([[4., 0.],
                [0., 0.]])
    """
    result = real_signal("hfft2", input, s, dim, norm, forward=True)
    return write_result(out, result, "fft.hfft2")  # type: ignore[no-any-return]


@composite(namespaces=("fft",))
def ihfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.hfft2``: half of the Hermitian signal that has a real spectrum.

    Args:
        input: Real tensor; integers count as the default dtype.
        s: Numbers of points along ``dim``, -1 for the size: the input is cut off or followed
            by zeros; default the sizes.
        dim: The dimensions; default the last two.
        norm: ``"backward"``, the default, divides by the number of points, ``"forward"`` not at
            all, ``"ortho"`` by the root of that.
        out: The output tensor.

    Returns:
        Complex tensor of the sizes ``s`` along ``dim``, of ``s[-1] // 2 + 1`` along the last.

    Raises:
        RuntimeError: For complex input, a dimension named twice, fewer than one point, an
            unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ihfft2(tt.ones(2, 2))
        tensor([[1.-0.j, 0.-0.j],
                [0.-0.j, 0.-0.j]])
    """
    result = half_spectrum("ihfft2", input, s, dim, norm, forward=False)
    return write_result(out, result, "fft.ihfft2")  # type: ignore[no-any-return]
