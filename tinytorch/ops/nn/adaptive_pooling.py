"""Pooling to a given size: windows that cover the input evenly, overlapping where they must."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Nodes, composite, op, piecewise
from ...graph.nodes import Node
from ..checks import as_int_among
from ..index.gathering import largest_at_places
from ..reduce.reduction import mean
from ..shape.views import contiguous, following, following_sequence
from .normalization import single
from .pooling import WITH_INDICES, check_numbers
from .unfolding import Size, Slide, slide_max, slide_place, slide_sum

_F = ("nn.functional",)
_BOTH = ("nn.functional", "")
#: By the number of dimensions that are pooled: in which order in memory torch writes the result.
_LAID: dict[int, Callable[..., Tensor]] = {
    1: following_sequence, 2: following, 3: lambda out, _: contiguous(out),
}  # fmt: skip


def _bounds(length: int, size: int) -> list[tuple[int, int]]:
    """Where each of ``size`` windows over ``length`` elements begins and ends."""
    return [(i * length // size, -(-(i + 1) * length // size)) for i in range(size)]


def _most(length: int, size: int) -> int:
    """How many elements the longest window has: one more than the shortest at most."""
    if not size:
        return 0
    return _fewest(length, size) + (length % size > math.gcd(length, size))


def _fewest(length: int, size: int) -> int:
    return -(-length // size)


def _lengths(xp: Backend, ndim: int, axis: int, length: int, size: int) -> Array:
    """How many elements each of the windows has, along ``axis`` of so many dimensions."""
    ends = xp.arange(size + 1, dtype="int64") * length
    shape = [-1 if d == axis % ndim else 1 for d in range(ndim)]
    return xp.reshape(-(-ends[1:] // size) - ends[:-1] // size, shape)


class _Places:
    """The windows as indices: of their first elements, their second ones, and so on."""

    def __init__(self, xp: Backend, input: Array, axis: int, size: int) -> None:
        self.xp, self.input, self.axis = xp, input, axis
        length = input.shape[axis]
        self.first = xp.arange(size, dtype="int64") * length // size
        self.lengths = _lengths(xp, input.ndim, axis, length, size)
        self.last = length - 1
        self.fewest = _fewest(length, size)
        self.most = _most(length, size)

    def elements(self, number: int) -> Array:
        """Each window's element of that number; of too short a window another of the input's."""
        return self.xp.take(
            self.input, self.xp.minimum(self.first + number, self.last), axis=self.axis
        )

    def have(self, number: int) -> Array:
        """Which windows have one of that number."""
        return self.lengths > number


def _even(length: int, size: int, axis: int) -> Slide | None:
    """The windows as steps along ``axis``, where all have one size."""
    if size and length % size == 0:
        return Slide(axis, length // size, length // size, 0, 1, size)
    return None


def _resized(shape: Any, axis: int, size: int) -> tuple[int, ...]:
    at = axis % len(shape)
    return (*shape[:at], size, *shape[at + 1 :])


# -- means ---------------------------------------------------------------------------------------


def _window_sums(xp: Backend, input: Array, axis: int, size: int) -> Array:
    """The sums of ``size`` windows along a dimension: one by one, or one place after another."""
    length = input.shape[axis]
    if length and size > _most(length, size):
        places = _Places(xp, input, axis, size)
        out = places.elements(0)
        for number in range(1, places.most):
            part = places.elements(number)
            out += (
                part
                if number < places.fewest
                else xp.masked(part, xp.broadcast_to(places.have(number), part.shape))
            )
        return out
    lead = (slice(None),) * (axis % input.ndim)
    out = xp.empty(_resized(input.shape, axis, size), input.dtype)
    for i, (a, b) in enumerate(_bounds(length, size)):
        out[(*lead, i)] = xp.sum(input[(*lead, slice(a, b))], axis=axis)
    return out


@op
def _uneven_mean(xp: Backend, input: Array, axis: int, size: int) -> Array:
    """The means of windows of several sizes along a dimension."""
    out = _window_sums(xp, input, axis, size)
    out /= _lengths(xp, out.ndim, axis, input.shape[axis], size).astype(out.dtype)
    return out


@op
def _uneven_spread(xp: Backend, input: Array, axis: int, length: int) -> Array:
    """Each element of ``input`` shared out among the places of its window.

    A place lies in the windows that its own window, of as many of them, covers.
    """
    lengths = _lengths(xp, input.ndim, axis, length, input.shape[axis])
    return _window_sums(xp, input / lengths.astype(input.dtype), axis, length)


_uneven_mean.vjp(input=piecewise(
    lambda xp, g, in_shape, axis: xp.call(_uneven_spread, g, axis, in_shape[axis])
))  # fmt: skip
_uneven_spread.vjp(
    input=lambda xp, g, in_shape, axis: xp.call(_uneven_mean, g, axis, in_shape[axis])
)


@composite(namespaces=_BOTH, node="SqueezeBackward1")
def adaptive_avg_pool1d(input: Tensor, output_size: Size) -> Tensor:
    """The means of ``output_size`` windows that cover a sequence evenly.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        output_size: How many.

    Returns:
        ``(batch, channels, output_size)``.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.adaptive_avg_pool1d(tt.tensor([[[1.0, 2.0, 4.0]]]), 2)
        tensor([[[1.5000, 3.0000]]])
    """
    return _average("adaptive_avg_pool1d", 1, input, output_size)


def _adaptive_name(node: Node) -> str:
    whole = tuple(node.shape[-2:]) == (1, 1)
    return "MeanBackward1" if whole else "AdaptiveAvgPool2DBackward0"


@composite(namespaces=_F, node=_adaptive_name)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of windows that cover an image evenly.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        output_size: How many in each dimension, one int for both or each; None keeps a size.

    Returns:
        ``(batch, channels, *output_size)``.

    Raises:
        RuntimeError: If shapes do not fit.
        ValueError: For too few dimensions.

    Example:
        >>> tt.nn.functional.adaptive_avg_pool2d(tt.arange(4.0).reshape(1, 1, 2, 2), 1)
        tensor([[[[1.5000]]]])
    """
    return _average("adaptive_avg_pool2d", 2, input, output_size)


@composite(namespaces=_F, node="AdaptiveAvgPool3DBackward0")
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of windows that cover a volume evenly.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        output_size: How many in each dimension, one int for all or each; None keeps a size.

    Returns:
        ``(batch, channels, *output_size)``.

    Raises:
        RuntimeError: If shapes do not fit.
        ValueError: For too few dimensions.

    Example:
        >>> tt.nn.functional.adaptive_avg_pool3d(tt.ones(1, 1, 2, 2, 2), 1)
        tensor([[[[[1.]]]]])
    """
    return _average("adaptive_avg_pool3d", 3, input, output_size)


def _average(name: str, spatial: int, input: Tensor, output_size: Any) -> Tensor:
    sizes = _sizes(name, spatial, input, output_size)
    whole = sizes == [1] * spatial
    check_numbers(name, input, "biu" if whole else "biuc")
    if whole:
        return mean(input, tuple(range(-spatial, 0)), True)
    means = _means(single(input)[0], sizes).to(input.dtype)  # halves are rounded once
    return keep_versions(means, input)


@composite(node=Nodes(frees=True))
def _means(input: Tensor, sizes: list[int]) -> Tensor:
    spatial = len(sizes)
    out: Any = input
    if sizes == list(input.shape[-spatial:]):  # a copy, and the same by all of its derivatives
        out = slide_sum(input, Slide(-1, 1, 1, 0, 1, sizes[-1]))
    shares = 1
    for axis, size in reversed(list(zip(range(-spatial, 0), sizes, strict=True))):
        length = input.shape[axis]
        if size == length:
            continue
        slide = _even(length, size, axis)
        if slide is None:
            out = _uneven_mean(out, axis, size)
        else:
            out = slide_sum(out, slide)
            shares *= slide.kernel
    out = out / shares if shares > 1 else out
    return _LAID[spatial](out, input)


def _sizes(name: str, spatial: int, input: Tensor, output_size: Any) -> list[int]:
    """One size per dimension, checked."""
    if not isinstance(input, Tensor):
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    several = isinstance(output_size, (tuple, list))
    given = list(output_size) if several else [output_size] * spatial
    if several and spatial > 1 and input.ndim <= len(given):
        raise ValueError(
            f"{name}: Input dimension should be at least {len(given) + 1}, got {input.ndim}"
        )
    if len(given) != spatial:
        words = (
            "'output_size' should contain one int"
            if spatial == 1
            else (f"internal error: output_size must be {spatial}")
        )
        raise RuntimeError(f"{name}() argument {words} (got {len(given)})")
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}(): Expected {spatial + 1}D or {spatial + 2}D tensor, but got "
            f"{list(input.shape)}"
        )
    image = input.shape[-spatial:]
    sizes = [
        n if size is None else as_int_among(name, "output_size", size, given)
        for n, size in zip(image, given, strict=True)
    ]
    if min(sizes) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 (Trying to create "
            f"tensor with negative dimension) but received {sizes}"
        )
    _check_not_empty(name, input, sizes)
    return sizes


def _check_not_empty(name: str, input: Tensor, sizes: list[int]) -> None:
    """RuntimeError for empty images, or no channels.

    PyTorch's averages of rows and images accept no channels, and averages of whole images, which
    are means there, accept empty ones.
    """
    spatial = len(sizes)
    image = input.shape[-spatial:]
    whole = name.startswith("adaptive_avg") and sizes == [1] * spatial
    lenient = name in ("adaptive_avg_pool1d", "adaptive_avg_pool2d")
    if 0 in (image if lenient else input.shape[1:]) and not whole:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(input.shape)} with a dimension being empty"
        )


# -- largest elements ----------------------------------------------------------------------------


@op(public=False)
def largest_at(xp: Backend, input: Array, axis: int, size: int) -> Array:
    """Where along ``axis`` the largest element of each window is, as int64."""
    slide = _even(input.shape[axis], size, axis)
    if slide is not None:
        starts = slide.along(xp, slide.starts(xp), input.ndim, "int64")
        return starts + slide_place.kernel(xp, input, slide)
    if size > _most(input.shape[axis], size):
        return _largest_by_places(xp, _Places(xp, input, axis, size))
    lead = (slice(None),) * (axis % input.ndim)
    out = xp.empty(_resized(input.shape, axis, size), "int64")
    for i, (a, b) in enumerate(_bounds(input.shape[axis], size)):
        out[(*lead, i)] = xp.argmax(input[(*lead, slice(a, b))], axis=axis) + a
    return out


def _largest_by_places(xp: Backend, places: _Places) -> Array:
    """The same, of all windows at once: of equals the first, and the last NaN."""
    best = places.elements(0)
    found = xp.zeros(best.shape, "int64")
    for number in range(1, places.most):
        here = places.elements(number)
        better = (here > best) | (here != here)
        if number >= places.fewest:
            better &= places.have(number)
        best = xp.where(better, here, best)
        found = xp.where(better, number, found)
    return found + xp.reshape(places.first, places.lengths.shape)


@op(public=False)
def largest_in_image(xp: Backend, input: Array, sizes: list[int]) -> Array:
    """Where in the flattened image the largest element of each window is."""
    found, best, step = None, input, 1
    for axis, size in reversed(list(zip(range(-len(sizes), 0), sizes, strict=True))):
        here = largest_at.kernel(xp, best, axis, size)
        best = xp.take_along_axis(best, here, axis)
        # What was found along later dimensions, at the place that won along this one.
        later = 0 if found is None else xp.take_along_axis(found, here, axis)
        found = here * step + later
        step *= input.shape[axis]
    return found


@composite(namespaces=_F, forms=WITH_INDICES, node="SqueezeBackward1")
def adaptive_max_pool1d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """The largest elements of ``output_size`` windows that cover a sequence evenly.

    Args:
        input: ``(batch, channels, length)``, or without ``batch``.
        output_size: How many.
        return_indices: Whether to return where they were, too; default False.

    Returns:
        ``(batch, channels, output_size)``, or a tuple of it and the int64 indices.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.nn.functional.adaptive_max_pool1d(tt.tensor([[[1.0, 2.0, 4.0]]]), 2)
        tensor([[[2., 4.]]])
    """
    return _largest("adaptive_max_pool1d", 1, input, output_size, return_indices)


@composite(namespaces=_F, forms=WITH_INDICES, node="AdaptiveMaxPool2DBackward0")
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows that cover an image evenly.

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        output_size: How many in each dimension, one int for both or each; None keeps a size.
        return_indices: Whether to return where they were, too; default False.

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
    return _largest("adaptive_max_pool2d", 2, input, output_size, return_indices)


@composite(namespaces=_F, forms=WITH_INDICES, node="AdaptiveMaxPool3DBackward0")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows that cover a volume evenly.

    Args:
        input: ``(batch, channels, depth, height, width)``, or without ``batch``.
        output_size: How many in each dimension, one int for all or each; None keeps a size.
        return_indices: Whether to return where they were, too; default False.

    Returns:
        ``(batch, channels, *output_size)``, or a tuple of it and the int64 indices.

    Raises:
        RuntimeError: If shapes do not fit.
        ValueError: For too few dimensions.

    Example:
        >>> tt.nn.functional.adaptive_max_pool3d(tt.arange(8.0).reshape(1, 1, 2, 2, 2), 1)
        tensor([[[[[7.]]]]])
    """
    return _largest("adaptive_max_pool3d", 3, input, output_size, return_indices)


def _largest(name: str, spatial: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    sizes = _sizes(name, spatial, input, output_size)
    check_numbers(name, input, "biuc")
    out: Any = input
    for axis, size in reversed(list(zip(range(-spatial, 0), sizes, strict=True))):
        slide = _even(input.shape[axis], size, axis)
        if slide is not None:
            out = slide_max(out, slide)
        else:
            out = largest_at_places(out, axis, largest_at(out, axis, size))
    out = _LAID[spatial](out, input)
    if not return_indices:
        return out
    indices = _LAID[spatial](largest_in_image(input, sizes), input)
    return keep_versions(out, indices), indices
