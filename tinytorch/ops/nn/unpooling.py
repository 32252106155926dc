"""Max unpooling, fractional max pooling, and the max poolings that always return indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.out import scalar_name
from ..checks import check_supported
from ..index.gathering import largest_at_places
from ..shape.views import following
from . import adaptive_pooling, pooling
from .normalization import check_float
from .pooling import WITH_INDICES, per_dimension
from .unfolding import Size

_F = ("nn.functional",)


@op
def _unpool_scatter(xp: Backend, input: Array, index: Index, size: int) -> Array:
    """Zeros ``(planes, size)`` with ``input`` written at ``index``, both ``(planes, n)``."""
    out = xp.zeros((input.shape[0], size), input.dtype)
    out.reshape(-1)[index + xp.row_starts[out.shape][:, None]] = input
    return out


@op
def _unpool_gather(xp: Backend, input: Array, index: Index) -> Array:
    """The elements of ``input``, ``(planes, size)``, at ``index``, ``(planes, n)``."""
    return xp.take_along_axis(input, index, axis=1)


@op
def _unpool_scatter_add(xp: Backend, input: Array, index: Index, size: int) -> Array:
    """Zeros ``(planes, size)`` with ``input`` added at ``index``, both ``(planes, n)``."""
    out = xp.zeros((input.shape[0], size), input.dtype)
    xp.index_add(out, (xp.arange(input.shape[0])[:, None], index), input)
    return out


# As in PyTorch, elements with the same index all get the gradient at that index.
_unpool_scatter.vjp(input=lambda xp, g, index: xp.call(_unpool_gather, g, index))
_unpool_gather.vjp(
    input=lambda xp, g, in_shape, index: xp.call(_unpool_scatter_add, g, index, in_shape[1])
)
_unpool_scatter_add.vjp(input=lambda xp, g, index: xp.call(_unpool_gather, g, index))


@composite(namespaces=_F, node="MaxUnpool2DBackward0")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Partial inverse of ``max_pool2d``: zeros with the maxima at their indices.

    Args:
        input: ``(batch, channels, *windows)``, or without ``batch``.
        indices: The indices that the pooling returned; int64, of ``input``'s shape.
        kernel_size: Argument of the pooling.
        stride: Argument of the pooling; default ``kernel_size``.
        padding: Argument of the pooling; default 0.
        output_size: Size of the image, where images of several sizes have these windows.

    Returns:
        ``(batch, channels, height, width)``.

    Raises:
        RuntimeError: If shapes do not fit or an index is out of range.
        ValueError: If an image of ``output_size`` does not have these windows.

    Example:
        >>> tt.nn.functional.max_unpool2d(tt.tensor([[[3.0]]]), tt.tensor([[[1]]]), (1, 2))
        tensor([[[0., 3.]]])
    """
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


@composite(namespaces=_F, node="SqueezeBackward1", like=max_unpool2d)
def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Size | None = None,
    padding: Size = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Partial inverse of ``max_pool1d``; see ``max_unpool2d``.

    Args:
        input: ``(batch, channels, windows)``, or without ``batch``.

    Returns:
        ``(batch, channels, length)``.

    Example:
        >>> tt.nn.functional.max_unpool1d(tt.tensor([[[3.0]]]), tt.tensor([[[1]]]), 2)
        tensor([[[0., 3.]]])
    """
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


@composite(namespaces=_F, node="MaxUnpool3DBackward0", like=max_unpool2d)
def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Size, stride: Size | None = None,
    padding: Size = 0, output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Partial inverse of ``max_pool3d``; see ``max_unpool2d``.

    Returns:
        ``(batch, channels, depth, height, width)``.

    Example:
        >>> x, index = tt.tensor([[[[3.0]]]]), tt.tensor([[[[1]]]])
        >>> tt.nn.functional.max_unpool3d(x, index, (1, 1, 2))
        tensor([[[[0., 3.]]]])
    """
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _unpool(
    spatial: int, input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any,
    output_size: Any,
) -> Tensor:  # fmt: skip
    """Max unpooling of the last ``spatial`` dimensions: ``input`` at ``indices``, else zeros."""
    name = f"max_unpool{spatial}d"
    _check_unpool(name, spatial, input, indices)
    kernel = per_dimension(name, "kernel_size", kernel_size, spatial)
    stride = kernel if stride is None else per_dimension(name, "stride", stride, spatial)
    padding = per_dimension(name, "padding", padding, spatial)
    if min(stride) <= 0:
        raise RuntimeError(
            f"{name}: strides should be greater than zero, but got stride: {list(stride)}"
        )
    xp, shape = input._xp, input._data.shape
    size = _unpooled_size(shape[-spatial:], kernel, stride, padding, output_size)
    pixels = math.prod(size)
    form = math.prod(shape[:-spatial]), math.prod(shape[-spatial:])
    index = indices.reshape(form)
    xp.check_all(
        (index._data >= 0) & (index._data < pixels),
        f"{name}: Found an invalid max index (output volumes are of size "
        f"{'x'.join(map(str, size))})",
    )
    out = _unpool_scatter(input.reshape(form), index, pixels)
    out = out.reshape(*shape[:-spatial], *size)
    # As in PyTorch, only images get the memory format of ``input``.
    return following(out, input) if spatial == 2 else out


def _check_unpool(name: str, spatial: int, input: Tensor, indices: Tensor) -> None:
    """Raise RuntimeError for an input or indices that do not fit."""
    if input._data.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}: Input should be a {spatial + 1}d or {spatial + 2}d Tensor, but got a tensor "
            f"with {input.ndim} dimensions."
        )
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            f"{name}: elements in indices should be type int64 but got: "
            f"{scalar_name(indices.dtype)}"
        )
    check_float(f"max_unpool{max(spatial, 2)}d", input)
    if indices._data.shape != input._data.shape:
        raise RuntimeError(
            f"{name}: Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )


def _unpooled_size(
    windows: tuple[int, ...], kernel: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    """Size of the image that was pooled: ``output_size``, or the smallest that has these windows.

    ``windows`` is the number of windows in each dimension.

    Raises:
        ValueError: If an image of ``output_size`` does not have these windows.
    """
    default = tuple(
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(windows, kernel, stride, padding, strict=True)
    )
    if output_size is None:
        return default
    size = tuple(int(n) for n in output_size)
    spatial = len(windows)
    if len(size) == spatial + 2:
        size = size[2:]
    if len(size) != spatial:
        raise ValueError(
            f"output_size should be a sequence containing {spatial} or {spatial + 2} elements, but "
            f"it has a length of '{len(size)}'"
        )
    for dim, (n, smallest, step) in enumerate(zip(size, default, stride, strict=True)):
        low, high = smallest - step, smallest + step
        if not low < n < high:
            raise ValueError(
                f'invalid output_size "{size}" (dim {dim} must be between {low} and {high})'
            )
    return size


def _window_starts(xp: Backend, samples: Array, length: int, size: int, kernel: int) -> Array:
    """Start of each of ``size`` windows along a dimension, ``(batch, channels, size)``.

    Window i starts at ``int((i + u) * a) - int(u * a)``, where a is the mean stride, and u the
    random number of the channel in ``samples``, ``(batch, channels)``. The last window ends with
    the input. ``length`` is the size of the dimension, and ``kernel`` that of a window.
    """
    u = samples[..., None]
    last_start = length - kernel
    step = last_start / max(size - 1, 1)
    i = xp.arange(size)
    found = xp.trunc((u + i.astype(u.dtype)) * step) - xp.trunc(u * step)
    return xp.where(i == size - 1, last_start, found.astype("int64"))


@op
def _fractional_indices(
    xp: Backend, input: Array, samples: Array, kernel: tuple[int, ...], size: tuple[int, ...]
) -> Array:
    """Index, in the flattened image, of each window's largest element.

    Args:
        xp: The backend.
        input: ``(batch, channels, *image)``.
        samples: Random numbers, ``(batch, channels, dimensions of the image)``.
        kernel: Size of a window.
        size: Number of windows in each dimension.
    """
    image = input.shape[2:]
    spatial = len(image)
    # The first random number is for the last dimension of an image, but the first of a volume.
    order = range(spatial) if spatial == 3 else range(spatial - 1, -1, -1)
    corner: Any = 0
    for d, sample in enumerate(order):
        start = _window_starts(xp, samples[:, :, sample], image[d], size[d], kernel[d])
        shape = (*start.shape[:2], *(size[d] if i == d else 1 for i in range(spatial)))
        corner = corner * image[d] + xp.reshape(start, shape)
    flat = xp.reshape(input, (*input.shape[:2], math.prod(image)))
    corner = xp.reshape(corner, (*input.shape[:2], math.prod(size)))
    return _argmax(xp, flat, corner, _offsets(kernel, image))


def _offsets(kernel: tuple[int, ...], image: tuple[int, ...]) -> list[int]:
    """Distances of a window's elements from its first one in an image that is flattened.

    ``kernel`` is the size of a window, and ``image`` the size of the image.
    """
    found = [0]
    for k, n in zip(kernel, image, strict=True):
        found = [start * n + i for start in found for i in range(k)]
    return found


def _argmax(xp: Backend, flat: Array, corner: Array, offsets: list[int]) -> Array:
    """Index of the largest of the elements ``corner + offsets`` of each window.

    ``flat`` are flattened images, and ``corner`` the indices of the windows' first elements.
    """
    best, index = xp.take_along_axis(flat, corner, axis=2), corner
    for offset in offsets[1:]:
        at = corner + offset
        value = xp.take_along_axis(flat, at, axis=2)
        better = (value > best) | xp.isnan(value)
        best, index = xp.where(better, value, best), xp.where(better, at, index)
    return index


@composite(namespaces=_F, forms=WITH_INDICES, node="FractionalMaxPool2DBackward0")
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Size,
    output_size: Size | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random distances.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Size of a window, one int for all dimensions or one for each.
        output_size: Windows in each dimension; either this or ``output_ratio``.
        output_ratio: Ratio of ``output_size`` to the image's size, between 0 and 1.
        return_indices: Whether to return their indices, too; default False.
        _random_samples: Random numbers in [0, 1) that determine the distances, of shape
            ``(batch, channels, 2)``; drawn by default.

    Returns:
        ``(batch, channels, *output_size)``, or a tuple of it and int64 indices into the
        flattened image.

    Raises:
        ValueError: If neither or both of size and ratio are given, or a ratio is out of range.
        RuntimeError: If shapes do not fit.

    Example:
        >>> x = tt.arange(16.0).reshape(1, 1, 4, 4)
        >>> tt.nn.functional.fractional_max_pool2d(x, 2, output_size=1)
        tensor([[[[15.]]]])

    Reference:
        Graham: Fractional Max-Pooling, arXiv:1412.6071.
    """
    return _fractional(
        2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


@composite(
    namespaces=_F, forms=WITH_INDICES, node="FractionalMaxPool3DBackward0",
    like=fractional_max_pool2d,
)  # fmt: skip
def fractional_max_pool3d(
    input: Tensor, kernel_size: Size, output_size: Size | None = None, output_ratio: Any = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> Any:  # fmt: skip
    """Largest elements of windows of a volume at random distances; see ``fractional_max_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        _random_samples: Random numbers in [0, 1) that determine the distances, of shape
            ``(batch, channels, 3)``; drawn by default.

    Example:
        >>> x = tt.arange(8.0).reshape(1, 1, 2, 2, 2)
        >>> tt.nn.functional.fractional_max_pool3d(x, 2, output_size=1)
        tensor([[[[[7.]]]]])
    """
    return _fractional(
        3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def _fractional(
    spatial: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any,
    return_indices: bool, samples: Any,
) -> Any:  # fmt: skip
    """Fractional max pooling of the last ``spatial`` dimensions.

    Returns the maxima, or maxima and indices with ``return_indices``.
    """
    name = f"fractional_max_pool{spatial}d"
    _check_input(name, spatial, input)
    kernel = _check_ints(name, "kernel_size", kernel_size, spatial)
    size = _fractional_size(name, tuple(input.shape[-spatial:]), output_size, output_ratio)
    sides = ("time", "height", "width")[-spatial:]
    for side, n, k, o in zip(sides, input.shape[-spatial:], kernel, size, strict=True):
        if o + k - 1 > n:
            raise RuntimeError(
                f"{name}(): pool {side} {k} too large relative to input {side} {n}, for {o} windows"
            )
    batch = input if input.ndim == spatial + 2 else input.unsqueeze(0)
    samples = _check_samples(name, spatial, batch, samples)
    index = _fractional_indices(batch, samples, kernel, size)
    planes = tuple(batch.shape[:2])
    out = largest_at_places(batch.flatten(2), 2, index).reshape((*planes, *size))
    index = index.reshape((*planes, *size))
    if batch is not input:
        out, index = out.squeeze(0), index.squeeze(0)
    return (out, index) if return_indices else out


def _check_input(name: str, spatial: int, input: Any) -> None:
    """Raise RuntimeError unless ``input`` is a batch or an image of ``spatial`` dimensions."""
    if input.ndim in (spatial + 1, spatial + 2) and 0 in input.shape[-spatial - 1 :]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got "
            f"{list(input.shape)}"
        )
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}(): Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with "
            f"optional 0 dim batch size for input, but got: {list(input.shape)}"
        )
    check_supported(input._xp, name, input._data, unsupported="biuc")


def _fractional_size(name: str, image: tuple[int, ...], size: Any, ratio: Any) -> tuple[int, ...]:
    """Number of windows in each dimension, from ``output_size`` or ``output_ratio``."""
    if size is None and ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if size is not None and ratio is not None:
        raise ValueError(f"{name}: only one of output_size and output_ratio may be specified")
    if size is not None:
        return _check_ints(name, "output_size", size, len(image))
    ratios = tuple(ratio) if isinstance(ratio, (tuple, list)) else (ratio,) * len(image)
    if len(ratios) != len(image):
        raise ValueError(
            f"{name} requires output_ratio to either be a single Int or tuple of Ints. (got "
            f"{ratio} for {len(image)} dimensions)"
        )
    if not all(0 < each < 1 for each in ratios):
        raise ValueError(f"{name}: output_ratio must be between 0 and 1 (got {ratio})")
    return tuple(int(n * each) for n, each in zip(image, ratios, strict=True))


def _check_ints(name: str, argument: str, given: Any, spatial: int) -> tuple[int, ...]:
    """``given`` as one int per dimension; RuntimeError for a sequence of another length."""
    if isinstance(given, (tuple, list)) and len(given) != spatial:
        raise RuntimeError(
            f"{name}: {argument} must either be a single int or a tuple of {spatial} ints, got "
            f"{given}"
        )
    return per_dimension(name, argument, given, spatial)


def _check_samples(name: str, spatial: int, batch: Any, given: Any) -> Any:
    """The random numbers, ``(N, C, spatial)``: ``given`` after a check, or new ones for None."""
    if given is None:
        from ..random.sampling import rand

        return rand(*batch.shape[:2], spatial, dtype=batch.dtype, backend=batch._xp)
    expected = (*batch.shape[:2], spatial)
    if given.dtype is not batch.dtype:
        raise RuntimeError(
            f"{name}: Expect _random_samples to have the same dtype as input, got {given.dtype} "
            f"and {batch.dtype}"
        )
    # PyTorch ignores numbers for a larger batch.
    given = given[: expected[0]]
    if tuple(given.shape) != expected:
        axis = next((i for i, n in enumerate(expected) if given.shape[i : i + 1] != (n,)), 0)
        raise RuntimeError(
            f"{name}: Expect _random_samples.size({axis}) equals to {expected[axis]}; got shape "
            f"{list(given.shape)}."
        )
    return given


@composite(namespaces=("", *_F), like=pooling.max_pool1d)
def max_pool1d_with_indices(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    dilation: Size = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``max_pool1d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> tt.nn.functional.max_pool1d_with_indices(tt.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
        (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    given = (input, kernel_size, stride or None, padding, dilation, ceil_mode)
    return pooling.max_pool1d(*given, True)  # type: ignore[no-any-return]


@composite(namespaces=_F, like=pooling.max_pool2d)
def max_pool2d_with_indices(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    dilation: Size = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``max_pool2d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> tt.nn.functional.max_pool2d_with_indices(tt.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
        (tensor([[[3.]]]), tensor([[[1]]]))
    """
    given = (input, kernel_size, stride or None, padding, dilation, ceil_mode)
    return pooling.max_pool2d(*given, True)  # type: ignore[no-any-return]


@composite(namespaces=_F, like=pooling.max_pool3d)
def max_pool3d_with_indices(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    dilation: Size = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``max_pool3d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> tt.nn.functional.max_pool3d_with_indices(tt.ones(1, 2, 2, 2), 2)[1].shape
        tinytorch.Size([1, 1, 1, 1])
    """
    given = (input, kernel_size, stride or None, padding, dilation, ceil_mode)
    return pooling.max_pool3d(*given, True)  # type: ignore[no-any-return]


@composite(like=adaptive_pooling.adaptive_max_pool1d)
def adaptive_max_pool1d(input: Tensor, output_size: Size) -> tuple[Tensor, Tensor]:
    """``nn.functional.adaptive_max_pool1d`` with the indices.

    Example:
        >>> tt.adaptive_max_pool1d(tt.tensor([[1.0, 2.0, 4.0]]), 2)
        (tensor([[2., 4.]]), tensor([[1, 2]]))
    """
    return adaptive_pooling.adaptive_max_pool1d(  # type: ignore[no-any-return]
        input, output_size, True
    )


@composite(namespaces=_F, like=adaptive_pooling.adaptive_max_pool1d)
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Size, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool1d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> F = tt.nn.functional
        >>> F.adaptive_max_pool1d_with_indices(tt.tensor([[1.0, 2.0, 4.0]]), 2)
        (tensor([[2., 4.]]), tensor([[1, 2]]))
    """
    return adaptive_max_pool1d(input, output_size)


@composite(namespaces=_F, like=adaptive_pooling.adaptive_max_pool2d)
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool2d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> F = tt.nn.functional
        >>> F.adaptive_max_pool2d_with_indices(tt.tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
        (tensor([[[3.]]]), tensor([[[1]]]))
    """
    return adaptive_pooling.adaptive_max_pool2d(  # type: ignore[no-any-return]
        input, output_size, True
    )


@composite(namespaces=_F, like=adaptive_pooling.adaptive_max_pool3d)
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """``adaptive_max_pool3d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> F = tt.nn.functional
        >>> F.adaptive_max_pool3d_with_indices(tt.ones(1, 2, 2, 2), 1)[1].shape
        tinytorch.Size([1, 1, 1, 1])
    """
    return adaptive_pooling.adaptive_max_pool3d(  # type: ignore[no-any-return]
        input, output_size, True
    )


@composite(namespaces=_F, like=fractional_max_pool2d)
def fractional_max_pool2d_with_indices(
    input: Tensor, kernel_size: Size, output_size: Size | None = None, output_ratio: Any = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``fractional_max_pool2d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> x = tt.arange(16.0).reshape(1, 4, 4)
        >>> tt.nn.functional.fractional_max_pool2d_with_indices(x, 2, output_size=1)
        (tensor([[[15.]]]), tensor([[[15]]]))
    """
    return fractional_max_pool2d(  # type: ignore[no-any-return]
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )


@composite(namespaces=_F, like=fractional_max_pool3d)
def fractional_max_pool3d_with_indices(
    input: Tensor, kernel_size: Size, output_size: Size | None = None, output_ratio: Any = None,
    return_indices: bool = False, _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``fractional_max_pool3d`` with ``return_indices=True``.

    Args:
        return_indices: Accepted for compatibility; the indices are always returned.

    Example:
        >>> x = tt.arange(8.0).reshape(1, 2, 2, 2)
        >>> tt.nn.functional.fractional_max_pool3d_with_indices(x, 2, output_size=1)
        (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return fractional_max_pool3d(  # type: ignore[no-any-return]
        input, kernel_size, output_size, output_ratio, True, _random_samples
    )
