"""Max, average and power-average pooling.

``check_input`` and ``make_windows`` check the arguments of a pooling and turn them into windows
along each dimension.
"""

from __future__ import annotations

import functools
import math
from functools import partial
from typing import Any

from ...backends import load
from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Nodes, Out, composite, op, piecewise
from ...dtypes import int64
from ..checks import as_int, as_repeated_ints, check_supported, check_tensor
from ..pointwise.division import div
from ..shape.views import following, following_sequence
from .axis_windows import (
    AxisWindows,
    table_of_windows,
    window_argmax,
    window_gather,
    window_max,
    window_scatter,
    window_spread,
    window_sum,
)
from .normalization import single
from .unfolding import Size

Sizes = tuple[int, ...]

#: The overloads of a pooling that can return indices.
WITH_INDICES = (
    "(..., return_indices: Literal[False] = False) -> Tensor",
    "(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor]",
)

#: An argument as one int per pooled dimension.
per_dimension: partial[tuple[int, ...]] = partial(
    as_repeated_ints,
    "{name}: {argument} must either be a single int, or a tuple of {words} (it should contain "
    "{words}), got {given}",
)


def check_input(name: str, input: Any, spatial: int) -> None:
    """Raise RuntimeError unless ``input`` is ``(N, C, *image)`` or ``(C, *image)``.

    All dimensions except the batch must be nonempty. ``spatial`` is the number of dimensions of an
    image, and ``name`` the function, for errors.
    """
    check_tensor(name, input)
    low = spatial + 1
    shape = input._data.shape
    if spatial > 1 and len(shape) not in (low, low + 1):
        raise RuntimeError(
            f"{name}: non-empty {low}D or {low + 1}D (batch mode) tensor expected for input, but "
            f"got:{list(shape)}"
        )
    if len(shape) not in (low, low + 1) or 0 in shape[-low:]:
        raise RuntimeError(
            f"{name}: Expected {low}D or {low + 1}D (batch mode) tensor with optional 0 dim batch "
            f"size for input (input's non-batch dimensions to have positive length), but "
            f"got:{list(shape)}"
        )


def make_windows(
    name: str, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, spatial: int,
) -> tuple[AxisWindows, ...]:  # fmt: skip
    """The windows along each of the last ``spatial`` dimensions.

    Raises:
        RuntimeError: For numbers out of range, or if a dimension has no window.
    """
    kernel = per_dimension(name, "kernel_size", kernel_size, spatial)
    is_default = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    stride = kernel if is_default else per_dimension(name, "stride", stride, spatial)
    padding = per_dimension(name, "padding", padding, spatial)
    dilation = per_dimension(name, "dilation", dilation, spatial)
    shape = input._data.shape[-spatial - 1 :]
    return _axis_windows(name, shape, kernel, stride, padding, dilation, bool(ceil_mode))


@functools.lru_cache(maxsize=256)
def _axis_windows(
    name: str, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    ceil_mode: bool,
) -> tuple[AxisWindows, ...]:  # fmt: skip
    """The cached results of ``make_windows``, for an input of ``shape``, ``(C, *image)``."""
    _check_positive(name, kernel_size=kernel, stride=stride, dilation=dilation)
    channels, *sizes = shape
    spatial, found = len(sizes), []
    for i, (n, k, s, p, d) in enumerate(zip(sizes, kernel, stride, padding, dilation, strict=True)):
        _check_padding(name, p, k, d)
        found.append(AxisWindows(i - spatial, k, s, p, d, count_windows(n, k, s, p, d, ceil_mode)))
    if any(windows.size < 1 for windows in found):
        given = "x".join(map(str, (channels, *sizes)))
        computed = "x".join(map(str, (channels, *(max(w.size, 0) for w in found))))
        raise RuntimeError(
            f"{name}: Given input size: ({given}). Calculated output size: ({computed}). Output "
            f"size is too small (Invalid computed output size: {min(w.size for w in found)})"
        )
    return tuple(found)


def count_windows(
    length: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool
) -> int:
    """Number of windows along a dimension of ``length`` elements.

    With ``ceil``, the last window may extend beyond the end of the padded dimension.
    """
    last_start = length + 2 * padding - dilation * (kernel - 1) - 1
    count = (last_start + (stride - 1 if ceil else 0)) // stride + 1
    # The last window must not start in the padding after the end.
    if ceil and (count - 1) * stride >= length + padding:
        count -= 1
    return count


def _check_positive(name: str, **given: tuple[int, ...]) -> None:
    """Raise RuntimeError unless all numbers of each argument in ``given`` are positive."""
    for argument, values in given.items():
        if min(values) <= 0:
            zero = f" ({argument} should not be zero)" if argument == "stride" else ""
            raise RuntimeError(
                f"{name}: {argument} must be greater than zero, but got {min(values)}{zero}"
            )


def _check_padding(name: str, padding: int, kernel: int, dilation: int) -> None:
    """Raise RuntimeError for padding that is negative or exceeds half a window."""
    if padding < 0:
        raise RuntimeError(f"{name}: pad must be non-negative, but got pad: {padding}")
    if padding > ((kernel - 1) * dilation + 1) // 2:
        raise RuntimeError(
            f"{name}: pad should be at most half of effective kernel size, but got pad={padding}, "
            f"kernel_size={kernel} and dilation={dilation}"
        )


_F = ("nn.functional",)
_BOTH = ("nn.functional", "")


# -- largest elements ----------------------------------------------------------------------------


@composite(namespaces=_BOTH, forms=WITH_INDICES, node="MaxPool2DWithIndicesBackward0")
def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of each window of an image; NaN if an element is.

    The gradient goes to the first of equal elements, in row-major order.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Size of a window, one int for all dimensions or one for each.
        stride: Distance between windows; default ``kernel_size``.
        padding: Elements added on every side that are never the largest; default 0.
        dilation: Distance between the elements of a window; default 1.
        ceil_mode: Whether the last window may extend beyond the end; default False.
        return_indices: Whether to return their indices, too; default False.

    Returns:
        ``(batch, channels, *windows)``, or a tuple of it and int64 indices into the flattened
        image.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.max_pool2d(tt.arange(16.0).reshape(1, 1, 4, 4), 2)
        tensor([[[[ 5.,  7.],
                  [13., 15.]]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite(namespaces=_BOTH, forms=WITH_INDICES, node="SqueezeBackward1", like=max_pool2d)
def max_pool1d(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    dilation: Size = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest element of each window of a sequence; see ``max_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        kernel_size: Elements in a window.

    Returns:
        ``(batch, channels, windows)``, or a tuple of it and the int64 indices.

    Example:
        >>> tt.max_pool1d(tt.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
        tensor([[[3., 2.]]])
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@composite(
    namespaces=_BOTH, forms=WITH_INDICES, node="MaxPool3DWithIndicesBackward0", like=max_pool2d
)
def max_pool3d(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    dilation: Size = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Largest element of each window of a volume; see ``max_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.max_pool3d(tt.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
        tensor([[[[[7.]]]]])
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _max_pool(
    spatial: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    """Max pooling of the last ``spatial`` dimensions.

    Returns the maxima or, with ``return_indices``, a pair of the maxima and their indices.
    """
    name = f"max_pool{spatial}d"
    check_input(name, input, spatial)
    if input._data.dtype.kind != "f":
        if spatial == 1 and not return_indices:
            check_supported(input._xp, "max_pool1d_impl", input._data, unsupported="biuc")
        check_supported(input._xp, f"max_pool{max(spatial, 2)}d", input._data, unsupported="bc")
    windows = make_windows(name, input, kernel_size, stride, padding, dilation, ceil_mode, spatial)
    follow = _following_volume if (spatial, input._data.ndim) == (3, 4) else following
    if not return_indices:
        return follow(window_maxima(input, windows), input)
    out, indices = maxima_and_indices(input, windows)
    out, indices = follow(out, input), follow(indices, input)
    return keep_versions(out, indices), indices


def _following_volume(out: Tensor, input: Tensor) -> Tensor:
    """``out`` in the memory format of ``input``, a volume without a batch dimension."""
    if input._data.flags.c_contiguous:
        return out
    return following(out.unsqueeze(0), input.unsqueeze(0)).squeeze(0)


@op(public=False)
def window_maxima(xp: Backend, input: Array, windows: tuple[AxisWindows, ...]) -> Array:
    """Largest element of each window, by the windows along each dimension, in order."""
    return _maxima_and_saved(xp, input, windows)[0]


def _maxima_and_saved(
    xp: Backend, input: Array, windows: tuple[AxisWindows, ...]
) -> tuple[Array, Array | None]:
    """Result of ``window_maxima``, and the indices of the maxima if a fused kernel returns them."""
    fused = _run_fused(xp, "max_pool", windows, input) if xp.fuses else None
    if fused is not None:
        return fused  # type: ignore[no-any-return]
    table = table_of_windows(input.shape, windows)
    if table is not None:
        return table.maxima(xp, input), None
    for each in reversed(windows):
        input = window_max.kernel(xp, input, each)
    return input, None


def _run_fused(xp: Backend, name: str, windows: tuple[AxisWindows, ...], *args: Any) -> Any:
    """Result of a fused kernel of pooling, or None.

    The kernel gets ``args``, and then the kernel sizes, strides, paddings, dilations and numbers of
    windows, each one int for each dimension of the image.
    """
    if xp.kernel(name) is None:
        return None
    _, *sizes = zip(*windows, strict=True)
    return xp.fused(name, *args, *sizes)


def _window_maxima_rule(
    xp: Any, g: Any, kept: Any, input: Any, windows: tuple[AxisWindows, ...]
) -> Any:
    """Gradient rule of ``window_maxima``: the gradients go to the first of equal elements."""
    if kept is not None:
        fused = _run_fused(xp, "max_pool_backward", windows, g, input, kept)
        if fused is not None:
            return fused
    inputs = [input]
    for each in reversed(windows[1:]):
        inputs.append(xp.call(window_max, inputs[-1], each))
    for each, before in zip(windows, reversed(inputs), strict=True):
        index = xp.call(window_argmax, before, each)
        g = xp.call(window_scatter, g, index, each, before.shape[each.axis])
    return g


window_maxima.vjp(input=piecewise(_window_maxima_rule))
window_maxima.op.registered.forward_with_saved = _maxima_and_saved


@op(public=False)
def maxima_and_indices(
    xp: Backend, input: Array, windows: tuple[AxisWindows, ...]
) -> tuple[Array, Array]:
    """``window_maxima``, and the index of each maximum in the flattened image."""
    fused = _run_fused(xp, "max_pool", windows, input) if xp.fuses else None
    if fused is not None:
        return fused  # type: ignore[no-any-return]
    table = table_of_windows(input.shape, windows)
    found = None if table is None else table.maxima_and_indices(xp, input)
    return found or _maxima_and_indices(xp, input, windows)


maxima_and_indices.vjp(input=piecewise(
    lambda xp, g, input, windows: _window_maxima_rule(xp, g[0], None, input, windows)
))  # fmt: skip


def _maxima_and_indices(
    xp: Backend, input: Array, windows: tuple[AxisWindows, ...]
) -> tuple[Array, Array]:
    """``maxima_and_indices``, one dimension after the other."""
    best, index = input, None
    stride = 1
    for each in reversed(windows):
        number = window_argmax.kernel(xp, best, each)
        starts = each.broadcast(xp, each.starts(xp), input.ndim, "int64")
        offset = (starts + xp.multiply(number, each.dilation, dtype="int64")) * stride
        if index is None:
            index = offset
        else:  # add the index along the later dimensions of the element chosen along this one
            index = offset + window_gather.kernel(xp, index, number, each)
        stride *= input.shape[each.axis]
        best = window_max.kernel(xp, best, each)
    return best, index


# -- means ---------------------------------------------------------------------------------------


@composite(namespaces=_F, node="AvgPool2DBackward0", out=Out.EXACT)
def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of each window of an image.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Size of a window, one int for all dimensions or one for each.
        stride: Distance between windows; default ``kernel_size``.
        padding: Zeros on every side; default 0.
        ceil_mode: Whether the last window may extend beyond the end; default False.
        count_include_pad: Whether the padding counts in the mean; default True.
        divisor_override: Divide the sum by this instead of the number of elements.

    Returns:
        ``(batch, channels, *windows)``.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.nn.functional.avg_pool2d(tt.arange(16.0).reshape(1, 1, 4, 4), 2)
        tensor([[[[ 2.5000,  4.5000],
                  [10.5000, 12.5000]]]])
    """
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _avg_pool(2, input, *options)


@composite(namespaces=_BOTH, node="SqueezeBackward1", like=avg_pool2d)
def avg_pool1d(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """Mean of each window of a sequence; see ``avg_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        kernel_size: Elements in a window.

    Returns:
        ``(batch, channels, windows)``.

    Example:
        >>> tt.avg_pool1d(tt.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
        tensor([[[2., 1.]]])
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@composite(namespaces=_F, node="AvgPool3DBackward0", out=Out.EXACT, like=avg_pool2d)
def avg_pool3d(
    input: Tensor, kernel_size: Size, stride: Size | None = None, padding: Size = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """Mean of each window of a volume; see ``avg_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.nn.functional.avg_pool3d(tt.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
        tensor([[[[[3.5000]]]]])
    """
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _avg_pool(3, input, *options)


def _avg_pool(
    spatial: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Tensor:  # fmt: skip
    """Average pooling of the last ``spatial`` dimensions."""
    name = f"avg_pool{spatial}d"
    check_input(name, input, spatial)
    # int64 is the only integer dtype that PyTorch averages
    if input._data.dtype.kind != "f" and input.dtype is not int64:
        check_supported(
            input._xp,
            "avg_pool3d_out_frame" if spatial == 3 else "avg_pool2d",
            input._data,
            unsupported="biuc",
        )
    if divisor_override is not None:
        divisor_override = as_int(name, "divisor_override", divisor_override)
    if divisor_override == 0:
        raise RuntimeError(f"{name}: divisor must be not zero")
    windows = make_windows(name, input, kernel_size, stride, padding, 1, ceil_mode, spatial)
    if spatial == 3:
        _check_covered(name, input, windows)
    image = input._data.shape[-spatial:]
    divisor = divisor_override or _window_sizes(image, windows, bool(count_include_pad))
    mean = pool_means(input, windows, divisor)
    if spatial == 3:
        return mean
    return (following if spatial == 2 else following_sequence)(mean, input)


def pool_means(input: Tensor, windows: tuple[AxisWindows, ...], divisor: Any) -> Tensor:
    """``window_means`` in the dtype of ``input``, whose 16-bit dtypes are rounded once."""
    wide = single(input)[0]
    mean = window_means(wide, windows, divisor)
    return keep_versions(mean if wide is input else mean.to(input.dtype), input)


@op(public=False, node=Nodes(frees=True))
def window_means(
    xp: Backend, input: Array, windows: tuple[AxisWindows, ...], divisor: Any
) -> Array:
    """Sum of each window, divided by ``divisor``; the quotient is truncated for integers.

    Args:
        xp: The backend.
        input: Array of any shape.
        windows: The windows along each dimension, in order.
        divisor: A number, or a NumPy array with a number for each window of an image.
    """
    input = _window_sums(xp, input, windows)
    divisor = as_divisor(xp, divisor, input.dtype)
    if input.dtype.kind in "iu":
        return xp.call(div, input, divisor, rounding_mode="trunc")
    input /= divisor
    return input


def _window_sums(xp: Backend, input: Array, windows: tuple[AxisWindows, ...]) -> Array:
    """Sum of each window, by the windows along each dimension, in order."""
    fused = _run_fused(xp, "sum_pool", windows, input) if xp.fuses else None
    if fused is not None:
        return fused
    table = table_of_windows(input.shape, windows)
    if table is not None:
        return table.sums(xp, input)
    for each in reversed(windows):
        input = window_sum.kernel(xp, input, each)
    return input


@op(public=False)
def _spread_means(
    xp: Backend, input: Array, windows: tuple[AxisWindows, ...], divisor: Any, shape: Any
) -> Array:
    """Transpose of ``window_means``, whose input has the shape ``shape``."""
    out = input / as_divisor(xp, divisor, input.dtype)
    fused = _run_fused(xp, "sum_pool_backward", windows, out, tuple(shape)) if xp.fuses else None
    if fused is not None:
        return fused
    for each in windows:
        out = window_spread.kernel(xp, out, each, shape[each.axis])
    return out


def as_divisor(xp: Backend, divisor: Any, dtype: Any) -> Any:
    """The argument ``divisor`` of ``window_means`` for arrays of ``dtype``."""
    return divisor if divisor.__class__ is int else xp.from_numpy(divisor.astype(dtype))


window_means.vjp(input=piecewise(
    lambda xp, g, in_shape, windows, divisor: xp.call(_spread_means, g, windows, divisor, in_shape)
))  # fmt: skip
_spread_means.vjp(input=lambda xp, g, windows, divisor: xp.call(window_means, g, windows, divisor))


def _check_covered(name: str, input: Tensor, windows: tuple[AxisWindows, ...]) -> None:
    """Raise RuntimeError if the input without its padding is smaller than a window."""
    lengths = input._data.shape[-3:]
    if any(n < each.kernel for n, each in zip(lengths, windows, strict=True)):
        sides = list(zip("THW", lengths, (each.kernel for each in windows), strict=True))
        raise RuntimeError(
            f"{name}: input image ({' '.join(f'{side}: {length}' for side, length, _ in sides)}) "
            "smaller than kernel size "
            f"({' '.join(f'k{side}: {kernel}' for side, _, kernel in sides)})"
        )


@functools.lru_cache(maxsize=256)
def _window_sizes(image: Sizes, windows: tuple[AxisWindows, ...], include_pad: bool) -> Any:
    """Number of elements of each window: an int if they are all equal, else a NumPy array.

    ``image`` is the size of the image, and ``include_pad`` whether elements in the padding count.
    """
    counts = [_axis_sizes(w, n, include_pad) for w, n in zip(windows, image, strict=True)]
    if all(count.size and (count == count[0]).all() for count in counts):
        return math.prod(int(count[0]) for count in counts)
    return functools.reduce(load("numpy").library.multiply.outer, counts)


def _axis_sizes(windows: AxisWindows, length: int, include_pad: bool) -> Any:
    """NumPy array of the windows' sizes along an axis of ``length`` elements.

    Elements beyond the padding do not count, and those in the padding only with ``include_pad``.
    """
    np = load("numpy").library
    start = windows.starts(np)
    stop = np.minimum(start + windows.kernel, length + windows.padding)
    if not include_pad:
        start, stop = np.maximum(start, 0), np.minimum(stop, length)
    return stop - start


@composite(namespaces=_F)
def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ x^p)^(1/p)`` over each window of an image.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        norm_type: The p; infinity for the largest magnitude, -infinity for the smallest.
        kernel_size: Size of a window, one int for all dimensions or one for each.
        stride: Distance between windows; default ``kernel_size``.
        ceil_mode: Whether the last window may extend beyond the end; default False.

    Returns:
        ``(batch, channels, *windows)``.

    Example:
        >>> tt.nn.functional.lp_pool2d(tt.ones(1, 1, 2, 2), 2, 2)
        tensor([[[[2.]]]])
    """
    return _lp_pool(avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


@composite(namespaces=_F, like=lp_pool2d)
def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """``(Σ x^p)^(1/p)`` over each window of a sequence; see ``lp_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        kernel_size: Elements in a window.

    Returns:
        ``(batch, channels, windows)``.

    Example:
        >>> tt.nn.functional.lp_pool1d(tt.tensor([[[3.0, 4.0]]]), 2, 2)
        tensor([[[5.]]])
    """
    return _lp_pool(avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


@composite(namespaces=_F, like=lp_pool2d)
def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Size, stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """``(Σ x^p)^(1/p)`` over each window of a volume; see ``lp_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.

    Example:
        >>> tt.nn.functional.lp_pool3d(tt.ones(1, 1, 2, 2, 2), 3, 2).round()
        tensor([[[[[2.]]]]])
    """
    return _lp_pool(avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(
    pool: Any, spatial: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any,
    ceil_mode: bool,
) -> Tensor:  # fmt: skip
    """Power-average pooling: the root of order ``norm_type`` of the sum of powers in each window.

    ``pool`` is the average pooling of ``spatial`` dimensions.
    """
    kernel = per_dimension("lp_pool", "kernel_size", kernel_size, spatial)
    x: Any = input
    if abs(norm_type) == math.inf:
        max_pool = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[spatial]
        sign = math.copysign(1.0, norm_type)
        largest: Any = max_pool(sign * x.abs(), kernel, stride, 0, 1, ceil_mode)
        return sign * largest  # type: ignore[no-any-return]
    mean = pool(x.pow(norm_type), kernel, stride, 0, ceil_mode)
    # Equal to ``mean``, computed as PyTorch does.
    positive = mean.sign() * mean.abs().relu()
    out: Any = (positive * math.prod(kernel)).pow(1.0 / norm_type)
    if spatial == 3:
        return out  # type: ignore[no-any-return]
    return (following if spatial == 2 else following_sequence)(out, input)
