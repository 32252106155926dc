"""Adaptive pooling: average and maximum of windows that cover the input evenly.

Window i of ``size`` over ``length`` elements is ``input[floor(i * length / size) : ceil((i + 1) *
length / size)]``. Where ``length`` is no multiple of ``size``, windows overlap, and their lengths
differ by one at most.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ...backends import load
from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Nodes, composite, op, piecewise
from ...graph.nodes import Node
from ..checks import as_int_among, check_supported, check_tensor
from ..index.gathering import gather_sum, largest_at_places
from ..reduce.reduction import mean
from ..shape.views import as_contiguous, following, following_sequence
from .axis_windows import (
    AxisWindows,
    WindowTable,
    make_table,
    window_argmax,
    window_max,
    window_scatter,
    window_spread,
    window_sum,
)
from .normalization import single
from .pooling import WITH_INDICES, as_divisor
from .unfolding import Size

_F = ("nn.functional",)
_BOTH = ("nn.functional", "")
#: Function that sets PyTorch's memory format of the result, by the number of pooled dimensions.
_SET_FORMAT: dict[int, Callable[..., Tensor]] = {
    1: following_sequence, 2: following, 3: lambda out, _: as_contiguous(out),
}  # fmt: skip


def _bounds(length: int, size: int) -> list[tuple[int, int]]:
    """Start and stop of each of ``size`` windows over ``length`` elements."""
    return [(i * length // size, -(-(i + 1) * length // size)) for i in range(size)]


def _max_length(length: int, size: int) -> int:
    """Length of the longest of ``size`` windows over ``length`` elements."""
    return _min_length(length, size) + (length % size > math.gcd(length, size)) if size else 0


def _min_length(length: int, size: int) -> int:
    """Length of the shortest of ``size`` windows over ``length`` elements."""
    return -(-length // size)


def _window_lengths(xp: Backend, ndim: int, axis: int, length: int, size: int) -> Array:
    """Lengths of ``size`` windows over ``length`` elements.

    Their shape broadcasts along ``axis`` of an array of ``ndim`` dimensions.
    """
    _, lengths = _starts_and_lengths(length, size)
    return xp.reshape(xp.from_numpy(lengths), (-1, *(1,) * (ndim - 1 - axis % ndim)))


@functools.lru_cache(maxsize=256)
def _starts_and_lengths(length: int, size: int) -> tuple[Any, Any]:
    """Starts and lengths of ``size`` windows over ``length`` elements, as NumPy arrays."""
    ends = load("numpy").library.arange(size + 1, dtype="int64") * length
    starts = ends[:-1] // size
    return starts, -(-ends[1:] // size) - starts


class _WindowElements:
    """Windows along an axis, from which ``elements(k)`` reads element k of all windows at once.

    Args:
        xp: The backend.
        input: Array of any shape.
        axis: The dimension that is divided into windows.
        size: Number of windows.
    """

    def __init__(self, xp: Backend, input: Array, axis: int, size: int) -> None:
        self.xp, self.input, self.axis = xp, input, axis
        length = input.shape[axis]
        self.starts = xp.from_numpy(_starts_and_lengths(length, size)[0])
        self.lengths = _window_lengths(xp, input.ndim, axis, length, size)
        self.last = length - 1
        self.min_length = _min_length(length, size)
        self.max_length = _max_length(length, size)

    def elements(self, number: int) -> Array:
        """Element at position ``number`` of each window.

        It is an arbitrary element for a window without that position.
        """
        return self.xp.take(
            self.input, self.xp.minimum(self.starts + number, self.last), axis=self.axis
        )

    def mask(self, number: int) -> Array:
        """Whether each window has an element at position ``number``."""
        return self.lengths > number


@functools.lru_cache(maxsize=128)
def _adaptive_table(shape: tuple[int, ...], sizes: tuple[int, ...]) -> WindowTable | None:
    """``make_table`` for windows over the last dimensions of an array of ``shape``."""
    axes = []
    for length, size in zip(shape[len(shape) - len(sizes) :], sizes, strict=True):
        axes.append([range(*bounds) for bounds in _bounds(length, size)])
    return make_table(shape, axes)


def _equal_windows(length: int, size: int, axis: int) -> AxisWindows | None:
    """The windows along ``axis`` if all have one length and do not overlap, else None."""
    if size and length % size == 0:
        return AxisWindows(axis, length // size, length // size, 0, 1, size)
    return None


def _replace_size(shape: Any, axis: int, size: int) -> tuple[int, ...]:
    """``shape`` with ``size`` in dimension ``axis``."""
    axis %= len(shape)
    return (*shape[:axis], size, *shape[axis + 1 :])


# -- averages ------------------------------------------------------------------------------------


def _window_sums(xp: Backend, input: Array, axis: int, size: int) -> Array:
    """Sums of ``size`` windows along ``axis``, which has size ``size`` in the result.

    Adds position after position of all windows if that takes fewer steps than window after window.
    """
    length = input.shape[axis]
    if length and size > _max_length(length, size):
        windows = _WindowElements(xp, input, axis, size)
        out = windows.elements(0)
        for number in range(1, windows.max_length):
            part = windows.elements(number)
            if number >= windows.min_length:
                part = xp.masked(part, xp.broadcast_to(windows.mask(number), part.shape))
            out += part
        return out
    lead = (slice(None),) * (axis % input.ndim)
    out = xp.empty(_replace_size(input.shape, axis, size), input.dtype)
    for i, (a, b) in enumerate(_bounds(length, size)):
        out[(*lead, i)] = xp.sum(input[(*lead, slice(a, b))], axis=axis)
    return out


@op
def _uneven_mean(xp: Backend, input: Array, axis: int, size: int) -> Array:
    """Means of ``size`` windows of different lengths along ``axis``."""
    out = _window_sums(xp, input, axis, size)
    out /= _window_lengths(xp, out.ndim, axis, input.shape[axis], size).astype(out.dtype)
    return out


@op
def _uneven_spread(xp: Backend, input: Array, axis: int, length: int) -> Array:
    """Transpose of ``_uneven_mean``: distributes each value evenly over its window's elements.

    The windows that contain element j are window j of ``length`` windows over ``input``, so the
    values are sums over windows, too.
    """
    lengths = _window_lengths(xp, input.ndim, axis, length, input.shape[axis])
    return _window_sums(xp, input / lengths.astype(input.dtype), axis, length)


_uneven_mean.vjp(input=piecewise(
    lambda xp, g, in_shape, axis: xp.call(_uneven_spread, g, axis, in_shape[axis])
))  # fmt: skip
_uneven_spread.vjp(
    input=lambda xp, g, in_shape, axis: xp.call(_uneven_mean, g, axis, in_shape[axis])
)


@op(node=Nodes(frees=True))
def _adaptive_means(xp: Backend, input: Array, sizes: list[int]) -> Array:
    """Means of windows over the last ``len(sizes)`` dimensions, one dimension after the other."""
    table = _adaptive_table(input.shape, tuple(sizes))
    if table is not None:
        out = table.sums(xp, input)
        out /= as_divisor(xp, table.counts, input.dtype)
        return out
    out, divisor = input, 1
    for axis in range(-1, -len(sizes) - 1, -1):
        length, size = input.shape[axis], sizes[axis]
        if size == length:
            continue
        windows = _equal_windows(length, size, axis)
        if windows is None:
            out = _uneven_mean.kernel(xp, out, axis, size)
        else:
            out = window_sum.kernel(xp, out, windows)
            divisor *= windows.kernel
    if out is input:
        return xp.array(input)
    if divisor > 1:
        out /= divisor
    return out


def _adaptive_means_rule(xp: Any, g: Any, in_shape: Any, sizes: list[int]) -> Any:
    """Gradient rule of ``_adaptive_means``: each gradient goes to all elements of its window."""
    for axis, size in zip(range(-len(sizes), 0), sizes, strict=True):
        length = in_shape[axis]
        if size == length:
            continue
        windows = _equal_windows(length, size, axis)
        if windows is None:
            g = xp.call(_uneven_spread, g, axis, length)
        else:
            g = xp.call(window_spread, g / windows.kernel, windows, length)
    return g


_adaptive_means.vjp(input=piecewise(_adaptive_means_rule))


def _average_node_name(node: Node) -> str:
    """PyTorch's name of the node of ``adaptive_avg_pool2d``, which is a mean for 1x1 results."""
    is_global = tuple(node.shape[-2:]) == (1, 1)
    return "MeanBackward1" if is_global else "AdaptiveAvgPool2DBackward0"


@composite(namespaces=_F, node=_average_node_name)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows that cover an image evenly.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        output_size: Windows in each dimension, an int or one int for each; None keeps a size.

    Returns:
        ``(batch, channels, *output_size)``.

    Raises:
        RuntimeError: If shapes do not fit.
        ValueError: For too few dimensions.

    Example:
        >>> tt.nn.functional.adaptive_avg_pool2d(tt.arange(4.0).reshape(1, 1, 2, 2), 1)
        tensor([[[[1.5000]]]])
    """
    return _average(2, input, output_size)


@composite(namespaces=_BOTH, node="SqueezeBackward1", like=adaptive_avg_pool2d)
def adaptive_avg_pool1d(input: Tensor, output_size: Size) -> Tensor:
    """Means of windows that cover a sequence evenly; see ``adaptive_avg_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        output_size: Number of windows.

    Returns:
        ``(batch, channels, output_size)``.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.adaptive_avg_pool1d(tt.tensor([[[1.0, 2.0, 4.0]]]), 2)
        tensor([[[1.5000, 3.0000]]])
    """
    return _average(1, input, output_size)


@composite(namespaces=_F, node="AdaptiveAvgPool3DBackward0", like=adaptive_avg_pool2d)
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows that cover a volume evenly; see ``adaptive_avg_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.nn.functional.adaptive_avg_pool3d(tt.ones(1, 1, 2, 2, 2), 1)
        tensor([[[[[1.]]]]])
    """
    return _average(3, input, output_size)


def _average(spatial: int, input: Tensor, output_size: Any) -> Tensor:
    """Adaptive average pooling of the last ``spatial`` dimensions."""
    name = f"adaptive_avg_pool{spatial}d"
    sizes = _check_sizes(name, spatial, input, output_size)
    is_global = sizes == [1] * spatial
    check_supported(input._xp, name, input._data, unsupported="biu" if is_global else "biuc")
    if is_global:
        return mean(input, tuple(range(-spatial, 0)), True)
    wide = single(input)[0]
    means = _SET_FORMAT[spatial](_adaptive_means(wide, sizes), input)
    if wide is not input:  # 16-bit dtypes are rounded once
        means = means.to(input.dtype)
    return keep_versions(means, input)


def _check_sizes(name: str, spatial: int, input: Tensor, output_size: Any) -> list[int]:
    """Number of windows in each pooled dimension, from ``output_size``; None there keeps a size.

    Raises an error if ``output_size`` does not fit the input. ``name`` is the function, for errors.
    """
    check_tensor(name, input)
    is_sequence = isinstance(output_size, (tuple, list))
    given = list(output_size) if is_sequence else [output_size] * spatial
    shape = input._data.shape
    if is_sequence and spatial > 1 and len(shape) <= len(given):
        raise ValueError(
            f"{name}: Input dimension should be at least {len(given) + 1}, got {input.ndim}"
        )
    if len(given) != spatial:
        text = f"internal error: output_size must be {spatial}"
        text = "'output_size' should contain one int" if spatial == 1 else text
        raise RuntimeError(f"{name}() argument {text} (got {len(given)})")
    if len(shape) not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}(): Expected {spatial + 1}D or {spatial + 2}D tensor, but got {list(shape)}"
        )
    sizes = [
        size
        if size.__class__ is int
        else (n if size is None else as_int_among(name, "output_size", size, given))
        for n, size in zip(shape[-spatial:], given, strict=True)
    ]
    if min(sizes) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 (Trying to create "
            f"tensor with negative dimension) but received {sizes}"
        )
    _check_not_empty(name, input, sizes)
    return sizes


def _check_not_empty(name: str, input: Tensor, sizes: list[int]) -> None:
    """Raise RuntimeError for images without elements, or without channels.

    As in PyTorch, 1d and 2d averages accept an input without channels, and global averages accept
    images without elements. ``name`` is the function; ``sizes`` are the numbers of windows.
    """
    shape, spatial = input._data.shape, len(sizes)
    if 0 not in shape:
        return
    is_global = name.startswith("adaptive_avg") and sizes == [1] * spatial
    accepts_no_channels = name in ("adaptive_avg_pool1d", "adaptive_avg_pool2d")
    if 0 in (shape[-spatial:] if accepts_no_channels else shape[1:]) and not is_global:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(input.shape)} with a dimension being empty"
        )


# -- maxima --------------------------------------------------------------------------------------


@op(public=False)
def adaptive_argmax(xp: Backend, input: Array, axis: int, size: int) -> Array:
    """Index along ``axis``, int64, of the largest element of each of ``size`` windows."""
    windows = _equal_windows(input.shape[axis], size, axis)
    if windows is not None:
        starts = windows.broadcast(xp, windows.starts(xp), input.ndim, "int64")
        return starts + window_argmax.kernel(xp, input, windows)
    if size > _max_length(input.shape[axis], size):
        return _argmax_by_elements(xp, _WindowElements(xp, input, axis, size))
    lead = (slice(None),) * (axis % input.ndim)
    out = xp.empty(_replace_size(input.shape, axis, size), "int64")
    for i, (a, b) in enumerate(_bounds(input.shape[axis], size)):
        out[(*lead, i)] = xp.argmax(input[(*lead, slice(a, b))], axis=axis) + a
    return out


def _argmax_by_elements(xp: Backend, windows: _WindowElements) -> Array:
    """Index of the largest element of each window, found position by position.

    Of equal elements it is the first, but of several NaN the last.
    """
    best = windows.elements(0)
    found = xp.zeros(best.shape, "int64")
    for number in range(1, windows.max_length):
        value = windows.elements(number)
        better = (value > best) | (value != value)
        if number >= windows.min_length:
            better &= windows.mask(number)
        best = xp.where(better, value, best)
        found = xp.where(better, number, found)
    return found + xp.reshape(windows.starts, windows.lengths.shape)


@op(public=False)
def _adaptive_maxima(xp: Backend, input: Array, sizes: list[int]) -> Array:
    """Largest element of each of ``sizes`` windows over the last dimensions."""
    table = _adaptive_table(input.shape, tuple(sizes))
    if table is not None:
        return table.maxima(xp, input)
    for axis in range(-1, -len(sizes) - 1, -1):
        input = _axis_maxima(xp, input, axis, sizes[axis])
    return input


def _axis_maxima(xp: Any, input: Any, axis: int, size: int) -> Any:
    """Largest element of each of ``size`` windows along ``axis``."""
    windows = _equal_windows(input.shape[axis], size, axis)
    if windows is not None:
        return xp.call(window_max, input, windows)
    index = xp.call(adaptive_argmax, input, axis, size)
    return xp.call(largest_at_places, input, axis, index)


def _adaptive_maxima_rule(xp: Any, g: Any, input: Any, sizes: list[int]) -> Any:
    """Gradient rule of ``_adaptive_maxima``: the gradients go to the largest elements."""
    inputs = [input]
    for axis in range(-1, -len(sizes), -1):
        inputs.append(_axis_maxima(xp, inputs[-1], axis, sizes[axis]))
    for axis, size in zip(range(-len(sizes), 0), sizes, strict=True):
        before = inputs.pop()
        windows = _equal_windows(before.shape[axis], size, axis)
        if windows is not None:
            index = xp.call(window_argmax, before, windows)
            g = xp.call(window_scatter, g, index, windows, before.shape[axis])
        else:
            index = xp.call(adaptive_argmax, before, axis, size)
            g = xp.call(gather_sum, g, before.shape, axis, index)
    return g


_adaptive_maxima.vjp(input=piecewise(_adaptive_maxima_rule))


@op(public=False)
def _adaptive_maxima_and_indices(
    xp: Backend, input: Array, sizes: list[int]
) -> tuple[Array, Array]:
    """``_adaptive_maxima``, and the index of each maximum in the flattened image."""
    table = _adaptive_table(input.shape, tuple(sizes))
    at_once = None if table is None else table.maxima_and_indices(xp, input)
    if at_once is not None:
        return at_once
    found, best, stride = None, input, 1
    for axis, size in reversed(list(zip(range(-len(sizes), 0), sizes, strict=True))):
        index = adaptive_argmax.kernel(xp, best, axis, size)
        best = xp.take_along_axis(best, index, axis)
        # The index along the later dimensions of the element chosen along this one.
        later = 0 if found is None else xp.take_along_axis(found, index, axis)
        found = index * stride + later
        stride *= input.shape[axis]
    return best, found


_adaptive_maxima_and_indices.vjp(input=piecewise(
    lambda xp, g, input, sizes: _adaptive_maxima_rule(xp, g[0], input, sizes)
))  # fmt: skip


@composite(namespaces=_F, forms=WITH_INDICES, node="AdaptiveMaxPool2DBackward0")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of windows that cover an image evenly.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        output_size: Windows in each dimension, an int or one int for each; None keeps a size.
        return_indices: Whether to return their indices, too; default False.

    Returns:
        ``(batch, channels, *output_size)``, or a tuple of it and int64 indices into the
        flattened image.

    Raises:
        RuntimeError: If shapes do not fit.
        ValueError: For too few dimensions.

    Example:
        >>> tt.nn.functional.adaptive_max_pool2d(tt.arange(4.0).reshape(1, 1, 2, 2), 1)
        tensor([[[[3.]]]])
    """
    return _max_pool(2, input, output_size, return_indices)


@composite(namespaces=_F, forms=WITH_INDICES, node="SqueezeBackward1", like=adaptive_max_pool2d)
def adaptive_max_pool1d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Largest elements of windows that cover a sequence evenly; see ``adaptive_max_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        output_size: Number of windows.

    Returns:
        ``(batch, channels, output_size)``, or a tuple of it and the int64 indices.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.nn.functional.adaptive_max_pool1d(tt.tensor([[[1.0, 2.0, 4.0]]]), 2)
        tensor([[[2., 4.]]])
    """
    return _max_pool(1, input, output_size, return_indices)


@composite(
    namespaces=_F, forms=WITH_INDICES, node="AdaptiveMaxPool3DBackward0", like=adaptive_max_pool2d
)
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of windows that cover a volume evenly; see ``adaptive_max_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.nn.functional.adaptive_max_pool3d(tt.arange(8.0).reshape(1, 1, 2, 2, 2), 1)
        tensor([[[[[7.]]]]])
    """
    return _max_pool(3, input, output_size, return_indices)


def _max_pool(spatial: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    """Adaptive max pooling of the last ``spatial`` dimensions.

    Returns the maxima, or maxima and their indices in the flattened image.
    """
    name = f"adaptive_max_pool{spatial}d"
    sizes = _check_sizes(name, spatial, input, output_size)
    check_supported(input._xp, name, input._data, unsupported="biuc")
    follow = _SET_FORMAT[spatial]
    if not return_indices:
        return follow(_adaptive_maxima(input, sizes), input)
    out, indices = (follow(t, input) for t in _adaptive_maxima_and_indices(input, sizes))
    return keep_versions(out, indices), indices
