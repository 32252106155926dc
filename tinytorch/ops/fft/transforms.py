"""Linear primitives of discrete Fourier transforms, and the transforms along one dimension.

A primitive has a direction, the sign of the exponent (minus for ``forward``), and a scale: 1
(``"none"``), one over the number of points (``"full"``) or over its root (``"ortho"``). The matrix
of a transform is symmetric, so each primitive's gradient is a primitive of the same direction and
scale.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Nodes, composite, op
from ...dispatch.out import scalar_name
from ...state import default_dtype
from ..checks import as_int
from ..memory_order import as_row_major, copy_in_memory_order, inverse_permutation
from ..results import write_result
from ..shape.sizes import normalize_dim

_FORWARD_NORM = {"none": "backward", "full": "forward", "ortho": "ortho"}
_INVERSE_NORM = {"none": "forward", "full": "backward", "ortho": "ortho"}

# -- primitives ------------------------------------------------------------------------------------


@op(node="FftC2CBackward0")
def _complex_transform(
    xp: Backend, input: Array, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Transform of complex numbers along ``dims``, to complex numbers."""
    if not dims or not input.size:
        return copy_in_memory_order(xp, input)
    norm = (_FORWARD_NORM if forward else _INVERSE_NORM)[scale]
    points, order = _move_last(xp, input, dims)
    if len(dims) == 1:
        out = (xp.fft.fft if forward else xp.fft.ifft)(points, norm=norm)
    else:
        axes = tuple(range(-len(dims), 0))
        out = (xp.fft.fftn if forward else xp.fft.ifftn)(points, axes=axes, norm=norm)
    return _move_back(xp, out, order)


def _move_last(
    xp: Backend, input: Array, dims: tuple[int, ...], last: tuple[int, ...] = ()
) -> tuple[Array, tuple[int, ...] | None]:
    """``input`` in row-major order with ``dims`` and then ``last`` as its last dimensions.

    Also returns the order of its dimensions, for ``_move_back``; None if it is the same.
    """
    order = _transform_order(input.strides, dims, last)
    return as_row_major(xp, input if order is None else input.transpose(order)), order


def _move_back(xp: Backend, array: Array, order: tuple[int, ...] | None) -> Array:
    """``array``, row-major in memory, with the order of ``_move_last`` undone."""
    array = as_row_major(xp, array)
    return array if order is None else array.transpose(_inverse(order))


_inverse = functools.lru_cache(maxsize=1024)(inverse_permutation)


@functools.lru_cache(maxsize=1024)
def _transform_order(
    strides: tuple[int, ...], dims: tuple[int, ...], last: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The memory order of a transform's result, as in PyTorch: ``dims`` and ``last`` come last.

    The dimensions before them are in the memory order of the array that has these strides, and so
    are ``dims``. None if no dimension moves.
    """
    outer = [d for d in range(len(strides)) if d not in dims + last]
    order = [d for part in (outer, dims) for d in sorted(part, key=lambda d: -abs(strides[d]))]
    order.extend(last)
    return None if order == sorted(order) else tuple(order)


_complex_transform.vjp(
    input=lambda xp, g, dims, forward, scale: xp.call(_complex_transform, g, dims, forward, scale)
)


@op(node=Nodes("FftR2CBackward0", frees=True))
def _real_transform(
    xp: Backend, input: Array, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Transform of real numbers along ``dims``, to the whole complex spectrum."""
    wide = xp.astype(input, xp.native_dtype(xp.dtype_of(input).to_complex()))
    return xp.call(_complex_transform, wide, dims, forward, scale)


_real_transform.vjp(
    input=lambda xp, g, dims, forward, scale: xp.call(_complex_transform, g, dims, forward, scale)
)


@op(node=Nodes("FftR2CBackward0", frees=True))
def _real_to_half(
    xp: Backend, input: Array, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Transform of real numbers, to the half spectrum along the last of ``dims``.

    The other half is redundant: it holds the complex conjugates.
    """
    if not input.size:
        shape = list(input.shape)
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
        return xp.zeros(shape, xp.native_dtype(xp.dtype_of(input).to_complex()))
    points, order = _move_last(xp, input, dims[:-1], dims[-1:])
    norm = _FORWARD_NORM[scale]
    if len(dims) == 1:
        half = xp.fft.rfft(points, norm=norm)
    else:
        half = xp.fft.rfftn(points, axes=tuple(range(-len(dims), 0)), norm=norm)
    return _move_back(xp, half if forward else xp.conj(half), order)


@op(node="FftC2RBackward0")
def _half_to_real(
    xp: Backend, input: Array, size: int, dims: tuple[int, ...], forward: bool, scale: str
) -> Array:
    """Transform of a half spectrum, such as ``_real_to_half`` returns, to real numbers.

    The last of ``dims`` has ``size`` elements in the result.
    """
    if not input.size:
        shape = list(input.shape)
        shape[dims[-1]] = size
        return xp.zeros(shape, input.real.dtype)
    half, order = _move_last(xp, input, dims[:-1], dims[-1:])
    # The forward transform is the inverse transform of the conjugate spectrum, up to the scale.
    half, norm = xp.conj(half) if forward else half, _INVERSE_NORM[scale]
    if len(dims) == 1:
        out = xp.fft.irfft(half, size, norm=norm)
    else:
        sizes = [*half.shape[-len(dims) : -1], size]
        out = xp.fft.irfftn(half, sizes, axes=tuple(range(-len(dims), 0)), norm=norm)
    return _move_back(xp, out, order)


@op
def _scale_inside(xp: Backend, input: Array, size: int, dim: int, factor: float) -> Array:
    """Multiply by ``factor`` the points of a half spectrum that the whole spectrum has twice.

    The whole spectrum has ``size`` points along ``dim``. It has each point of the half spectrum
    twice, except the first and, for an even ``size``, the middle one.
    """
    out = copy_in_memory_order(xp, input)
    out[(slice(None),) * dim + (slice(1, (size + 1) // 2),)] *= factor
    return out


_scale_inside.vjp(
    input=lambda xp, g, size, dim, factor: xp.call(_scale_inside, g, size, dim, factor)
)


def _real_to_half_gradient(
    xp: Any, g: Any, in_shape: Any, dims: tuple[int, ...], forward: bool, scale: str
) -> Any:
    """Gradient of the real input, of shape ``in_shape``, in ``_real_to_half``.

    Halves the points that the whole spectrum has twice, as ``_half_to_real`` counts them twice.
    """
    size = in_shape[dims[-1]]
    g = xp.call(_scale_inside, g, size, dims[-1], 0.5)
    return xp.call(_half_to_real, g, size, dims, forward, scale)


def _half_to_real_gradient(
    xp: Any, g: Any, size: int, dims: tuple[int, ...], forward: bool, scale: str
) -> Any:
    """Gradient of the half spectrum in ``_half_to_real``.

    It is doubled for the points that the whole spectrum has twice.
    """
    half = xp.call(_real_to_half, g, dims, forward, scale)
    return xp.call(_scale_inside, half, size, dims[-1], 2.0)


_real_to_half.vjp(input=_real_to_half_gradient)
_half_to_real.vjp(input=_half_to_real_gradient)


@op
def _resize(xp: Backend, input: Array, dims: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """``input`` truncated or padded with zeros to ``sizes`` along ``dims``."""
    shape = list(input.shape)
    index = [slice(None)] * input.ndim
    for d, n in zip(dims, sizes, strict=True):
        index[d] = slice(min(n, shape[d]))
        shape[d] = n
    part = input[tuple(index)]
    if list(part.shape) == shape:
        return copy_in_memory_order(xp, part)
    out = xp.zeros(tuple(shape), input.dtype)
    out[tuple([slice(n) for n in part.shape])] = part
    return out


def _resize_gradient(xp: Any, g: Any, in_shape: Any, dims: tuple[int, ...]) -> Any:
    """Gradient of the input of ``_resize``, whose shape is ``in_shape``."""
    return xp.call(_resize, g, dims, tuple(in_shape[d] for d in dims))


_resize.vjp(input=_resize_gradient)

# -- arguments -------------------------------------------------------------------------------------


def _scale(norm: str | None, forward: bool) -> str:
    """The scale of a transform, as in the module's docstring, for PyTorch's argument ``norm``.

    Raises RuntimeError for another ``norm``.
    """
    if norm == "ortho":
        return "ortho"
    if norm not in (None, "backward", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return "full" if (norm == "forward") == forward else "none"


def _dims(ndim: int, dim: Any, sizes: Any) -> tuple[int, ...]:
    """The dimensions to transform, counted from the front, from PyTorch's argument ``dim``.

    For None they are the last ``len(sizes)`` dimensions, or all if ``sizes`` is None, too.
    """
    if dim.__class__ is int and ndim and (sizes is None or len(sizes) == 1):
        return (normalize_dim("fft", dim, ndim),)
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


def _as_sizes(sizes: Any) -> Any:
    """A single size as a tuple; sizes and None unchanged."""
    return (sizes,) if hasattr(sizes, "__index__") and not hasattr(sizes, "__len__") else sizes


def _sizes(default: Sequence[int], requested: Any) -> list[int]:
    """Number of points along each dimension, from PyTorch's argument ``s`` (here ``requested``).

    It is ``default`` for None, and for each -1. Raises RuntimeError for a number less than 1.
    """
    sizes = list(default) if requested is None else [
        n if s == -1 else s for n, s in zip(default, requested, strict=True)
    ]  # fmt: skip
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return sizes


def _promote(input: Tensor, to_complex: bool) -> Tensor:
    """The input in a dtype that can be transformed; with ``to_complex`` in a complex one.

    Integers and bools become the default dtype. Raises RuntimeError for half precision.
    """
    if input._data.dtype.char in ("FD" if to_complex else "fdFD"):
        return input
    dtype = input.dtype
    if dtype.category < 2:  # bool or integer
        dtype = default_dtype()
    if dtype.itemsize < 4:
        raise RuntimeError(f"Unsupported dtype {scalar_name(dtype)}")
    if to_complex:
        dtype = dtype.to_complex()
    return input if dtype is input.dtype else input.to(dtype)


def _resize_dims(input: Tensor, dims: tuple[int, ...], sizes: list[int]) -> Tensor:
    """``input`` with ``sizes`` along ``dims``, by ``_resize`` unless it has these sizes."""
    shape = input._data.shape
    return input if [shape[d] for d in dims] == sizes else _resize(input, dims, tuple(sizes))


def transform(
    input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool, one: bool = False
) -> Tensor:
    """Transform to the whole spectrum along ``dim``.

    Real input is converted to complex numbers first. For a transform along one dimension, the
    conversion is part of the transform's node in PyTorch's graph.

    Args:
        input: The tensor.
        s: Number of points along each dimension, or None.
        dim: The dimensions, or None.
        norm: PyTorch's argument.
        forward: The direction.
        one: Whether the function transforms along one dimension.
    """
    s = _as_sizes(s)
    shape = input._data.shape
    dims = _dims(len(shape), dim, s)
    sizes = _sizes([shape[d] for d in dims], s)
    scale = _scale(norm, forward)
    points = _resize_dims(_promote(input, not one), dims, sizes)
    primitive = _complex_transform if points._data.dtype.kind == "c" else _real_transform
    return primitive(points, dims, forward, scale)


def half_spectrum(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    """Transform of real numbers along ``dim``, to the half spectrum along the last dimension in it.

    ``name`` is the function, for errors; the other arguments are those of ``transform``.
    """
    if input._data.dtype.kind == "c":
        real = "real-valued" if name[-1] in "n2" else "real"
        raise RuntimeError(
            f"{name} expects a {real} input tensor, but got {scalar_name(input.dtype)}"
        )
    s = _as_sizes(s)
    shape = input._data.shape
    dims = _check_any_dims(name, _dims(len(shape), dim, s))
    sizes = _sizes([shape[d] for d in dims], s)
    points = _resize_dims(_promote(input, False), dims, sizes)
    return _real_to_half(points, dims, forward, _scale(norm, forward))


def real_signal(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    """Transform of a half spectrum along ``dim`` to real numbers.

    ``name`` is the function, for errors; the other arguments are those of ``transform``.
    """
    s = _as_sizes(s)
    shape = input._data.shape
    dims = _check_any_dims(name, _dims(len(shape), dim, s))
    default = [shape[d] for d in dims]
    default[-1] = 2 * (default[-1] - 1)
    sizes = _sizes(default, s)
    scale = _scale(norm, forward)
    points = _resize_dims(_promote(input, True), dims, [*sizes[:-1], sizes[-1] // 2 + 1])
    return _half_to_real(points, sizes[-1], dims, forward, scale)


def _check_any_dims(name: str, dims: tuple[int, ...]) -> tuple[int, ...]:
    """``dims``; RuntimeError if there is no dimension."""
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return dims


def _check_points(n: int | None) -> tuple[int] | None:
    """The argument ``n`` as a tuple of sizes; RuntimeError for -1, which only ``s`` may have."""
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
        n: Number of points, to which the input is truncated or padded with zeros; default its size.
        dim: The dimension; default the last.
        norm: ``"backward"`` (default): no factor; ``"forward"``: a factor ``1 / n``; ``"ortho"``:
            ``1 / sqrt(n)``.

    Returns:
        Complex tensor of size n along ``dim``.

    Raises:
        RuntimeError: For fewer than one point, an unknown ``norm`` or half precision.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.fft.fft(tt.tensor([1.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _check_points(n)
    result = transform(input, sizes, dim, norm, forward=True, one=True)
    return write_result(out, result, "fft.fft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fft)
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
        norm: ``"backward"`` (default): a factor ``1 / n``; ``"forward"``: none; ``"ortho"``:
            ``1 / sqrt(n)``.

    Returns:
        Complex tensor of size n along ``dim``.

    Example:
        >>> tt.fft.ifft(tt.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    sizes = _check_points(n)
    result = transform(input, sizes, dim, norm, forward=False, one=True)
    return write_result(out, result, "fft.ifft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fft)
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
    sizes = _check_points(n)
    result = half_spectrum("rfft", input, sizes, (dim,), norm, forward=True)
    return write_result(out, result, "fft.rfft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=ifft)
def irfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.rfft``: the real signal of a half spectrum.

    Args:
        input: Half spectrum, complex or real; the other half is taken to be its conjugate.
        n: Number of points of the result; default ``2 * (size - 1)``, which is even.

    Returns:
        Real tensor of size n along ``dim``.

    Example:
        >>> tt.fft.irfft(tt.tensor([1.0, 1.0, 1.0]))
        tensor([1., 0., 0., 0.])
    """
    sizes = _check_points(n)
    result = real_signal("irfft", input, sizes, (dim,), norm, forward=False)
    return write_result(out, result, "fft.irfft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=fft)
def hfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Real spectrum of a signal that is Hermitian in time, from half of the signal.

    Args:
        input: Half of the signal, complex or real.
        n: Number of points of the result; default ``2 * (size - 1)``, which is even.

    Returns:
        Real tensor of size n along ``dim``.

    Example:
        >>> tt.fft.hfft(tt.tensor([1.0, 1.0, 1.0]))
        tensor([4., 0., 0., 0.])
    """
    sizes = _check_points(n)
    result = real_signal("hfft", input, sizes, (dim,), norm, forward=True)
    return write_result(out, result, "fft.hfft")  # type: ignore[no-any-return]


@composite(namespaces=("fft",), like=ifft)
def ihfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of ``fft.hfft``: half of the Hermitian signal of a real spectrum.

    Args:
        input: Real tensor; integers count as the default dtype.

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
    sizes = _check_points(n)
    result = half_spectrum("ihfft", input, sizes, (dim,), norm, forward=False)
    return write_result(out, result, "fft.ihfft")  # type: ignore[no-any-return]
