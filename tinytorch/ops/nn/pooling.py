"""Pooling: the largest element, the mean or the p-norm of each window.

The first functions check the arguments of every pooling and turn them into windows along each
dimension.

Pooling by the p-norm of each window.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...backends import load
from ...core.tensor import Tensor, wrap
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Out, composite, op
from ...dispatch.out import scalar_name
from ...dtypes import int64
from ..checks import as_int, as_repeated_ints
from ..shape.views import following, following_sequence
from .normalization import single
from .unfolding import Size, Slide, slide_max, slide_pick, slide_place, slide_sum

#: The signatures of a pooling that can tell where its elements came from.
WITH_INDICES = (
    "(..., return_indices: Literal[False] = False) -> Tensor",
    "(..., return_indices: Literal[True]) -> tuple[Tensor, Tensor]",
)

#: An argument as one int per pooled dimension.
per_dimension = partial(
    as_repeated_ints,
    "{name}: {argument} must either be a single int, or a tuple of {words} (it should contain "
    "{words}), got {given}",
)


def check_input(name: str, input: Any, spatial: int) -> None:
    """Error unless ``input`` is a batch of images, or one, with nothing empty but the batch."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    low = spatial + 1
    shape = tuple(input.shape)
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


def check_numbers(name: str, input: Tensor, refused: str) -> None:
    """NotImplementedError for a dtype whose kind is one of ``refused``."""
    if input._data.dtype.kind in refused:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


def slides(
    name: str,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    spatial: int,
) -> list[Slide]:
    """The windows along each of the last ``spatial`` dimensions.

    Raises:
        RuntimeError: For numbers out of range, or if there is not one window.
    """
    kernel = per_dimension(name, "kernel_size", kernel_size, spatial)
    unsaid = stride is None or (isinstance(stride, (tuple, list)) and not stride)
    steps = kernel if unsaid else per_dimension(name, "stride", stride, spatial)
    pads = per_dimension(name, "padding", padding, spatial)
    gaps = per_dimension(name, "dilation", dilation, spatial)
    _check_positive(name, kernel_size=kernel, stride=steps, dilation=gaps)
    sizes = tuple(input.shape[-spatial:])
    found = []
    for i, (n, k, s, p, d) in enumerate(zip(sizes, kernel, steps, pads, gaps, strict=True)):
        _check_padding(name, p, k, d)
        found.append(Slide(i - spatial, k, s, p, d, windows(n, k, s, p, d, ceil_mode)))
    if any(slide.size < 1 for slide in found):
        planes = input.shape[-spatial - 1]
        given = "x".join(map(str, (planes, *sizes)))
        computed = "x".join(map(str, (planes, *(max(s.size, 0) for s in found))))
        raise RuntimeError(
            f"{name}: Given input size: ({given}). Calculated output size: ({computed}). Output "
            f"size is too small (Invalid computed output size: {min(s.size for s in found)})"
        )
    return found


def windows(length: int, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> int:
    """How many windows fit; with ``ceil``, the last may reach over the end but not start there."""
    room = length + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil else 0)) // stride + 1
    if ceil and (count - 1) * stride >= length + padding:
        count -= 1
    return count


def _check_positive(name: str, **given: tuple[int, ...]) -> None:
    for argument, values in given.items():
        if min(values) <= 0:
            zero = f" ({argument} should not be zero)" if argument == "stride" else ""
            raise RuntimeError(
                f"{name}: {argument} must be greater than zero, but got {min(values)}{zero}"
            )


def _check_padding(name: str, padding: int, kernel: int, dilation: int) -> None:
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


@composite(namespaces=_BOTH, forms=WITH_INDICES, node="SqueezeBackward1")
def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of a sequence; see ``max_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        kernel_size: Elements in a window.
        stride: Steps from one window to the next; default ``kernel_size``.
        padding: Places before and after that are never the largest; default 0.
        dilation: Steps from one place in a window to the next; default 1.
        ceil_mode: Whether a last window may reach over the end; default False.
        return_indices: Whether to return where they were, too; default False.

    Returns:
        ``(batch, channels, windows)``, or a tuple of it and the int64 indices.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.max_pool1d(tt.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
        tensor([[[3., 2.]]])
    """
    return _max_pool(
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


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
    """The largest element of each window of an image; NaN where there is one.

    The gradient goes to the first of equal elements, in row-major order.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Sides of a window, one for both or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        padding: Places on every side that are never the largest; default 0.
        dilation: Steps from one place in a window to the next; default 1.
        ceil_mode: Whether the last windows may reach over the end; default False.
        return_indices: Whether to return where they were, too; default False.

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
    return _max_pool(
        "max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


@composite(namespaces=_BOTH, forms=WITH_INDICES, node="MaxPool3DWithIndicesBackward0")
def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window of a volume; see ``max_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        kernel_size: Sides of a window, one for all or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        padding: Places on every side that are never the largest; default 0.
        dilation: Steps from one place in a window to the next; default 1.
        ceil_mode: Whether the last windows may reach over the end; default False.
        return_indices: Whether to return where they were, too; default False.

    Returns:
        ``(batch, channels, *windows)``, or a tuple of it and the int64 indices.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.max_pool3d(tt.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
        tensor([[[[[7.]]]]])
    """
    return _max_pool(
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def _max_pool(
    name: str,
    spatial: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    check_input(name, input, spatial)
    if spatial == 1 and not return_indices:
        check_numbers("max_pool1d_impl", input, "biuc")
    check_numbers(f"max_pool{max(spatial, 2)}d", input, "bc")
    windows = slides(name, input, kernel_size, stride, padding, dilation, ceil_mode, spatial)
    out = input
    for slide in reversed(windows):
        out = slide_max(out, slide)
    follow = _following_volume if (spatial, input.ndim) == (3, 4) else following
    out = follow(out, input)
    if not return_indices:
        return out
    indices = follow(max_indices(input, windows), input)
    return keep_versions(out, indices), indices


def _following_volume(out: Tensor, input: Tensor) -> Tensor:
    """``out`` in the format of ``input``, a volume without a batch."""
    if input._data.flags.c_contiguous:
        return out
    return following(out.unsqueeze(0), input.unsqueeze(0)).squeeze(0)


@op(public=False)
def max_indices(xp: Backend, input: Array, windows: list[Slide]) -> Array:
    """Where in the flattened image the largest element of each window is."""
    best, index = input, None
    step = 1
    for slide in reversed(windows):
        place = slide_place.kernel(xp, best, slide)
        starts = slide.along(xp, slide.starts(xp), input.ndim, "int64")
        here = (starts + xp.multiply(place, slide.dilation, dtype="int64")) * step
        # What was found along later dimensions, at the place that won along this one.
        index = here if index is None else here + slide_pick.kernel(xp, index, place, slide)
        step *= input.shape[slide.axis]
        best = slide_max.kernel(xp, best, slide)
    return index


# -- means ---------------------------------------------------------------------------------------


@composite(namespaces=_BOTH, node="SqueezeBackward1")
def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of a sequence; see ``avg_pool2d``.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        kernel_size: Elements in a window.
        stride: Steps from one window to the next; default ``kernel_size``.
        padding: Zeros before and after; default 0.
        ceil_mode: Whether a last window may reach over the end; default False.
        count_include_pad: Whether the padding counts in the mean; default True.

    Returns:
        ``(batch, channels, windows)``.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.avg_pool1d(tt.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
        tensor([[[2., 1.]]])
    """
    return _avg_pool(
        "avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None
    )


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
    """The mean of each window of an image.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Sides of a window, one for both or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        padding: Zeros on every side; default 0.
        ceil_mode: Whether the last windows may reach over the end; default False.
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
    return _avg_pool(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override,
    )  # fmt: skip


@composite(namespaces=_F, node="AvgPool3DBackward0", out=Out.EXACT)
def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of a volume; see ``avg_pool2d``.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        kernel_size: Sides of a window, one for all or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        padding: Zeros on every side; default 0.
        ceil_mode: Whether the last windows may reach over the end; default False.
        count_include_pad: Whether the padding counts in the mean; default True.
        divisor_override: Divide the sum by this instead of the number of elements.

    Returns:
        ``(batch, channels, *windows)``.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.nn.functional.avg_pool3d(tt.arange(8.0).reshape(1, 1, 2, 2, 2), 2)
        tensor([[[[[3.5000]]]]])
    """
    return _avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override,
    )  # fmt: skip


def _avg_pool(
    name: str,
    spatial: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    check_input(name, input, spatial)
    if input.dtype is not int64:  # of all integers PyTorch averages these alone
        check_numbers("avg_pool3d_out_frame" if spatial == 3 else "avg_pool2d", input, "biuc")
    if divisor_override is not None:
        divisor_override = as_int(name, "divisor_override", divisor_override)
    if divisor_override == 0:
        raise RuntimeError(f"{name}: divisor must be not zero")
    windows = slides(name, input, kernel_size, stride, padding, 1, ceil_mode, spatial)
    if spatial == 3:
        _check_covered(name, input, windows)
    total: Any = single(input)[0]  # halves are rounded once, at the end
    divisor = divisor_override or _divisor(total, windows, count_include_pad)
    for slide in reversed(windows):
        total = slide_sum(total, slide)
    mean = _divided(total, divisor, input).to(input.dtype)
    if spatial == 3:
        return mean
    return (following if spatial == 2 else following_sequence)(mean, input)


def _check_covered(name: str, input: Tensor, windows: list[Slide]) -> None:
    """RuntimeError for an input that is smaller than a window, whatever its padding."""
    sides = list(zip("THW", input.shape[-3:], (w.kernel for w in windows), strict=True))
    if any(length < kernel for _, length, kernel in sides):
        raise RuntimeError(
            f"{name}: input image ({' '.join(f'{side}: {length}' for side, length, _ in sides)}) "
            "smaller than kernel size "
            f"({' '.join(f'k{side}: {kernel}' for side, _, kernel in sides)})"
        )


def _divisor(input: Tensor, windows: list[Slide], include_pad: bool) -> Any:
    """How many elements count in each window: a number if they are as many in all."""
    counts = [_counts(slide, input.shape[slide.axis], include_pad) for slide in windows]
    if all(count.size and (count == count[0]).all() for count in counts):
        return math.prod(int(count[0]) for count in counts)
    xp = input._xp
    divisor: Any = None
    for slide, count in zip(windows, counts, strict=True):
        along = slide.along(xp, xp.from_numpy(count), input.ndim, input._data.dtype)
        divisor = along if divisor is None else divisor * along
    return wrap(divisor, xp)


def _counts(slide: Slide, length: int, include_pad: bool) -> Any:
    """How many elements of each window count, on the host: what is beyond padding never does."""
    np = load("numpy").library
    start = slide.starts(np)
    stop = np.minimum(start + slide.kernel, length + slide.padding)
    if not include_pad:
        start, stop = np.maximum(start, 0), np.minimum(stop, length)
    return stop - start


def _divided(total: Any, divisor: Any, input: Tensor) -> Tensor:
    if total.is_floating_point():
        return keep_versions(total / divisor, input)
    return total.div(divisor, rounding_mode="trunc")  # type: ignore[no-any-return]


@composite(namespaces=_F)
def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: int,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ x^p)^(1/p)`` over each window of a sequence.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        norm_type: The p; infinity takes the largest magnitude, -infinity the smallest.
        kernel_size: Elements in a window.
        stride: Steps from one window to the next; default ``kernel_size``.
        ceil_mode: Whether a last window may reach over the end; default False.

    Returns:
        ``(batch, channels, windows)``.

    Example:
        >>> tt.nn.functional.lp_pool1d(tt.tensor([[[3.0, 4.0]]]), 2, 2)
        tensor([[[5.]]])
    """
    return _lp_pool(avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


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
        norm_type: The p; infinity takes the largest magnitude, -infinity the smallest.
        kernel_size: Sides of a window, one for both or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        ceil_mode: Whether the last windows may reach over the end; default False.

    Returns:
        ``(batch, channels, *windows)``.

    Example:
        >>> tt.nn.functional.lp_pool2d(tt.ones(1, 1, 2, 2), 2, 2)
        tensor([[[[2.]]]])
    """
    return _lp_pool(avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


@composite(namespaces=_F)
def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``(Σ x^p)^(1/p)`` over each window of a volume.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        norm_type: The p; infinity takes the largest magnitude, -infinity the smallest.
        kernel_size: Sides of a window, one for all or each.
        stride: Steps from one window to the next; default ``kernel_size``.
        ceil_mode: Whether the last windows may reach over the end; default False.

    Returns:
        ``(batch, channels, *windows)``.

    Example:
        >>> tt.nn.functional.lp_pool3d(tt.ones(1, 1, 2, 2, 2), 3, 2).round()
        tensor([[[[[2.]]]]])
    """
    return _lp_pool(avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(
    pool: Any,
    spatial: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Any,
    stride: Any,
    ceil_mode: bool,
) -> Tensor:
    kernel = per_dimension("lp_pool", "kernel_size", kernel_size, spatial)
    x: Any = input
    if abs(norm_type) == math.inf:
        most = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[spatial]
        sign = math.copysign(1.0, norm_type)
        largest: Any = most(sign * x.abs(), kernel, stride, 0, 1, ceil_mode)
        return sign * largest  # type: ignore[no-any-return]
    mean = pool(x.pow(norm_type), kernel, stride, 0, ceil_mode)
    # A sum that rounds below 0 has no root: the sign is put back around relu, as torch does.
    positive = mean.sign() * mean.abs().relu()
    out: Any = (positive * math.prod(kernel)).pow(1.0 / norm_type)
    if spatial == 3:
        return out  # type: ignore[no-any-return]
    return (following if spatial == 2 else following_sequence)(out, input)
