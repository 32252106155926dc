"""Discrete Fourier transforms: three linear primitives, and how arguments become theirs.

A primitive has a sign, that of the exponent (``forward`` is minus), and a scale: none, one
over the number of points (``"full"``) or over its root (``"ortho"``). The matrix of a transform
is symmetric, so each primitive's gradient is a primitive of the same sign and scale.

Discrete Fourier transforms along one dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Nodes, composite, op
from ...dispatch.out import scalar_name
from ...state import default_dtype
from ..checks import as_int
from ..memory_order import as_row_major, copy_in_memory_order, restore_order
from ..results import write_result
from ..shape.sizes import normalize_dim

_FORWARD_NORM = {"none": "backward", "full": "forward", "ortho": "ortho"}
_INVERSE_NORM = {"none": "forward", "full": "backward", "ortho": "ortho"}

# -- primitives ------------------------------------------------------------------------------------


@op(node="FftC2CBackward0")
def _complex_transform(
    xp: Backend, input: Array, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Complex numbers to complex numbers."""
    if not dims or not input.size:
        return copy_in_memory_order(xp, input)
    norm = (_FORWARD_NORM if forward else _INVERSE_NORM)[scale]
    order = _outside_in(input, _by_steps(input, dims))
    points = as_row_major(xp, xp.transpose(input, order))
    if len(dims) == 1:
        out = (xp.fft.fft if forward else xp.fft.ifft)(points, norm=norm)
    else:
        axes = tuple(range(-len(dims), 0))
        out = (xp.fft.fftn if forward else xp.fft.ifftn)(points, axes=axes, norm=norm)
    return restore_order(xp, as_row_major(xp, out), order)


def _by_steps(array: Array, dims: Sequence[int]) -> list[int]:
    """``dims`` from the one with the longest steps in memory to the shortest."""
    return sorted(dims, key=lambda d: -abs(array.strides[d]))


def _outside_in(array: Array, inner: Sequence[int]) -> list[int]:
    """The order in memory of a transform's result, as torch's: ``inner``, its dims, last."""
    return _by_steps(array, [d for d in range(array.ndim) if d not in inner]) + list(inner)


_complex_transform.vjp(
    input=lambda xp, g, dims, forward, scale: xp.call(_complex_transform, g, dims, forward, scale)
)


@op(node=Nodes("FftR2CBackward0", frees=True))
def _real_transform(
    xp: Backend, input: Array, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Real numbers to complex numbers."""
    wide = xp.astype(input, xp.native_dtype(xp.dtype_of(input).to_complex()))
    return xp.call(_complex_transform, wide, dims, forward, scale)


_real_transform.vjp(
    input=lambda xp, g, dims, forward, scale: xp.call(_complex_transform, g, dims, forward, scale)
)


@op(node=Nodes("FftR2CBackward0", frees=True))
def _to_half(xp: Backend, input: Array, dims: tuple[int, ...], forward: bool, scale: str) -> Array:
    """Real numbers to the half of their spectrum that says all, along the last of ``dims``."""
    if not input.size:
        shape = list(input.shape)
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
        return xp.zeros(shape, xp.native_dtype(xp.dtype_of(input).to_complex()))
    order = _outside_in(input, [*_by_steps(input, dims[:-1]), dims[-1]])
    points, norm = as_row_major(xp, xp.transpose(input, order)), _FORWARD_NORM[scale]
    if len(dims) == 1:
        half = xp.fft.rfft(points, norm=norm)
    else:
        half = xp.fft.rfftn(points, axes=tuple(range(-len(dims), 0)), norm=norm)
    return restore_order(xp, as_row_major(xp, half if forward else xp.conj(half)), order)


@op(node="FftC2RBackward0")
def _from_half(
    xp: Backend, input: Array, size: int, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Half a spectrum to the ``size`` real numbers that have it."""
    if not input.size:
        shape = list(input.shape)
        shape[dims[-1]] = size
        return xp.zeros(shape, input.real.dtype)
    order = _outside_in(input, [*_by_steps(input, dims[:-1]), dims[-1]])
    half, norm = as_row_major(xp, xp.transpose(input, order)), _INVERSE_NORM[scale]
    half = xp.conj(half) if forward else half
    if len(dims) == 1:
        out = xp.fft.irfft(half, size, norm=norm)
    else:
        sizes = [*half.shape[-len(dims) : -1], size]
        out = xp.fft.irfftn(half, sizes, axes=tuple(range(-len(dims), 0)), norm=norm)
    return restore_order(xp, as_row_major(xp, out), order)


@op
def _scale_inside(xp: Backend, input: Array, size: int, dim: int, factor: float) -> Array:
    """Half a spectrum with all but the first point, and the middle one, times ``factor``.

    The whole spectrum of ``size`` points has these twice.
    """
    out = copy_in_memory_order(xp, input)
    out[(slice(None),) * dim + (slice(1, (size + 1) // 2),)] *= factor
    return out


_scale_inside.vjp(
    input=lambda xp, g, size, dim, factor: xp.call(_scale_inside, g, size, dim, factor)
)


def _to_half_rule(
    xp: Any, g: Any, in_shape: Any, dims: tuple[int, ...], forward: bool, scale: str
) -> Any:
    size = in_shape[dims[-1]]
    g = xp.call(_scale_inside, g, size, dims[-1], 0.5)
    return xp.call(_from_half, g, size, dims, forward, scale)


def _from_half_rule(
    xp: Any, g: Any, size: int, dims: tuple[int, ...], forward: bool, scale: str
) -> Any:
    half = xp.call(_to_half, g, dims, forward, scale)
    return xp.call(_scale_inside, half, size, dims[-1], 2.0)


_to_half.vjp(input=_to_half_rule)
_from_half.vjp(input=_from_half_rule)


@op
def _resized(xp: Backend, input: Array, dims: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """``input`` cut off or followed by zeros along ``dims``, so that it has ``sizes`` there."""
    shape = list(input.shape)
    keep = [slice(None)] * input.ndim
    for d, n in zip(dims, sizes, strict=True):
        keep[d] = slice(min(n, shape[d]))
        shape[d] = n
    part = input[tuple(keep)]
    if tuple(part.shape) == tuple(shape):
        return copy_in_memory_order(xp, part)
    out = xp.zeros(tuple(shape), input.dtype)
    out[tuple(slice(n) for n in part.shape)] = part
    return out


def _resized_rule(xp: Any, g: Any, in_shape: Any, dims: tuple[int, ...]) -> Any:
    return xp.call(_resized, g, dims, tuple(in_shape[d] for d in dims))


_resized.vjp(input=_resized_rule)

# -- arguments -------------------------------------------------------------------------------------


def _scale(norm: str | None, forward: bool) -> str:
    """The scale that torch's ``norm`` asks for in a transform of this direction."""
    if norm == "ortho":
        return "ortho"
    if norm not in (None, "backward", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return "full" if (norm == "forward") == forward else "none"


def _dims(ndim: int, dim: Any, sizes: Any) -> tuple[int, ...]:
    """The dimensions to transform; without ``dim`` the last ones, as many as there are sizes."""
    if dim is None:
        if sizes is None:
            return tuple(range(ndim))
        if len(sizes) > ndim:
            raise RuntimeError(
                f"Got shape with {len(sizes)} values but input tensor only has {ndim} dimensions."
            )
        return tuple(range(ndim - len(sizes), ndim))
    given = (dim,) if hasattr(dim, "__index__") else tuple(dim)
    if given and not ndim:
        raise IndexError(f"Dimension specified as {given[0]} but tensor has no dimensions")
    dims = tuple(normalize_dim("fft", d, ndim) for d in given)
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"FFT dims must be unique, got {list(given)}")
    if sizes is not None and len(sizes) != len(dims):
        raise RuntimeError(
            "When given, dim and shape arguments must have the same length, got "
            f"{list(given)} and {list(sizes)}"
        )
    return dims


def _several(sizes: Any) -> Any:
    """An int for one dimension as what several are given as."""
    return (sizes,) if hasattr(sizes, "__index__") and not hasattr(sizes, "__len__") else sizes


def _sizes(have: Sequence[int], wanted: Any) -> list[int]:
    """The number of points along each dimension; -1 keeps one."""
    sizes = list(have) if wanted is None else [
        n if s == -1 else s for n, s in zip(have, wanted, strict=True)
    ]  # fmt: skip
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return sizes


def _promoted(input: Tensor, to_complex: bool) -> Tensor:
    dtype = input.dtype
    if dtype.category < 2:
        dtype = default_dtype()
    if dtype.itemsize < 4:
        raise RuntimeError(f"Unsupported dtype {scalar_name(dtype)}")
    if to_complex:
        dtype = dtype.to_complex()
    return input if dtype is input.dtype else input.to(dtype)


def _with_sizes(input: Tensor, dims: tuple[int, ...], sizes: Sequence[int]) -> Tensor:
    if all(input.shape[d] == n for d, n in zip(dims, sizes, strict=True)):
        return input
    return _resized(input, dims, tuple(sizes))


def transform(
    input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool, one: bool = False
) -> Tensor:
    """The transform of complex numbers along ``dim``; real ones are converted.

    To torch the conversion is part of the transform along ``one`` dimension.
    """
    s = _several(s)
    dims = _dims(input.ndim, dim, s)
    sizes = _sizes([input.shape[d] for d in dims], s)
    scale = _scale(norm, forward)
    points = _with_sizes(_promoted(input, not one), dims, sizes)
    primitive = _complex_transform if points.is_complex() else _real_transform
    return primitive(points, dims, forward, scale)


def half_spectrum(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    """The transform of real numbers along ``dim``, halved along the last of them."""
    if input.is_complex():
        real = "real-valued" if name[-1] in "n2" else "real"
        raise RuntimeError(
            f"{name} expects a {real} input tensor, but got {scalar_name(input.dtype)}"
        )
    s = _several(s)
    dims = _some_dims(name, _dims(input.ndim, dim, s))
    sizes = _sizes([input.shape[d] for d in dims], s)
    points = _with_sizes(_promoted(input, False), dims, sizes)
    return _to_half(points, dims, forward, _scale(norm, forward))


def real_signal(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    """The real numbers whose transform of the other sign is the given half spectrum."""
    s = _several(s)
    dims = _some_dims(name, _dims(input.ndim, dim, s))
    have = [input.shape[d] for d in dims]
    have[-1] = 2 * (have[-1] - 1)
    sizes = _sizes(have, s)
    scale = _scale(norm, forward)
    points = _with_sizes(_promoted(input, True), dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    return _from_half(points, sizes[-1], dims, forward, scale)


def _some_dims(name: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return dims


def _points(n: int | None) -> tuple[int] | None:
    """What ``transform`` takes; its -1 for "as many as there are" is not for one dimension."""
    if n == -1:
        raise RuntimeError("Invalid number of data points (-1) specified")
    return None if n is None else (as_int("fft", "n", n),)


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
        out: The output tensor.

    Returns:
        Complex tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.fft(tt.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _points(n)
    result = transform(input, sizes, dim, norm, forward=True, one=True)
    return write_result(out, result, "fft.fft")  # type: ignore[no-any-return]


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
        out: The output tensor.

    Returns:
        Complex tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ifft(tt.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _points(n)
    result = transform(input, sizes, dim, norm, forward=False, one=True)
    return write_result(out, result, "fft.ifft")  # type: ignore[no-any-return]


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
        out: The output tensor.

    Returns:
        Complex tensor of size ``n // 2 + 1`` along ``dim``.

    Raises:
        RuntimeError: For complex input, fewer than one point, an unknown ``norm`` or half
            precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.rfft(tt.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _points(n)
    result = half_spectrum("rfft", input, sizes, (dim,), norm, forward=True)
    return write_result(out, result, "fft.rfft")  # type: ignore[no-any-return]


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
        out: The output tensor.

    Returns:
        Real tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.irfft(tt.tensor([1.0, 1.0, 1.0]))
        tensor([1., 0., 0., 0.])
    """
    sizes = _points(n)
    result = real_signal("irfft", input, sizes, (dim,), norm, forward=False)
    return write_result(out, result, "fft.irfft")  # type: ignore[no-any-return]


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
        out: The output tensor.

    Returns:
        Real tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.hfft(tt.tensor([1.0, 1.0, 1.0]))
        tensor([4., 0., 0., 0.])
    """
    sizes = _points(n)
    result = real_signal("hfft", input, sizes, (dim,), norm, forward=True)
    return write_result(out, result, "fft.hfft")  # type: ignore[no-any-return]


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
        out: The output tensor.

    Returns:
        Complex tensor of size ``n // 2 + 1`` along ``dim``.

    Raises:
        RuntimeError: For complex input, fewer than one point, an unknown ``norm`` or half
            precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.ihfft(tt.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.-0.j, 1.-0.j, 1.-0.j])
    """
    sizes = _points(n)
    result = half_spectrum("ihfft", input, sizes, (dim,), norm, forward=False)
    return write_result(out, result, "fft.ihfft")  # type: ignore[no-any-return]
