"""Images sampled at given coordinates, and grids of such coordinates."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ...backends import load
from ...core.tensor import Tensor, wrap
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.out import scalar_name
from ...graph.nodes import Node
from ...state import grad_enabled
from ...warnings import warn
from ..checks import as_ints, check_supported
from ..linalg.matmul import matmul
from ..pointwise.selection import where
from ..shape.joining import stack

Sizes = tuple[int, ...]

_F = ("nn.functional",)
_PADDINGS = ("zeros", "border", "reflection")


# -- pixels by index -----------------------------------------------------------------------------


@op
def _append_zero(xp: Backend, input: Array) -> Array:
    """Flat images ``(N, C, pixels)`` with a 0 appended, which stands for all pixels outside.

    A product with a mask instead would be NaN for an infinite pixel.
    """
    return xp.concatenate([input, xp.zeros((*input.shape[:2], 1), input.dtype)], axis=2)


_append_zero.vjp(input=lambda xp, g: g[..., :-1])


@op
def _pixels(xp: Backend, input: Array, index: Index) -> Array:
    """Pixels ``(N, C, points)`` of flat images ``(N, C, pixels)`` at ``index``, ``(N, points)``."""
    return xp.take_in_each(input, index)


@op
def _add_pixels(xp: Backend, input: Array, index: Index, size: int) -> Array:
    """Flat images ``(N, C, size)``: zeros to which ``input`` is added at ``index``.

    ``input`` is ``(N, C, points)`` and ``index`` ``(N, points)``.
    """
    batch, channels = input.shape[:2]
    # A single vector for all images, so that index_add gets one index.
    plane = xp.arange(batch * channels).reshape(batch, channels, 1) * size
    out = xp.zeros((batch * channels * size,), input.dtype)
    xp.index_add(out, xp.reshape(plane + index[:, None, :], (-1,)), xp.reshape(input, (-1,)))
    return xp.reshape(out, (batch, channels, size))


_pixels.vjp(input=lambda xp, g, in_shape, index: xp.call(_add_pixels, g, index, in_shape[2]))
_add_pixels.vjp(input=lambda xp, g, index: xp.call(_pixels, g, index))


# -- coordinates ---------------------------------------------------------------------------------
# Coordinates are ``(N, points, d)``, with x, for the last dimension of the image, first.


@functools.lru_cache(maxsize=256)
def _vector(numbers: tuple[float, ...], dtype: Any) -> Any:
    """Numbers for the dimensions of an image, as a NumPy array in the order of coordinates."""
    return load("numpy").library.array(numbers[::-1], dtype)


@op
def _clip(xp: Backend, input: Array, first: int, last: tuple[int, ...]) -> Array:
    """Coordinates clipped to ``first`` and, in each dimension, ``last``; NaN becomes ``first``."""
    return xp.fmin(xp.fmax(input, first), xp.from_numpy(_vector(last, input.dtype)))


@op
def _clip_backward(
    xp: Backend, grad: Array, input: Index, first: int, last: tuple[int, ...]
) -> Array:
    """Gradient of ``_clip``: ``grad``, and 0 where a coordinate was clipped."""
    inside = (input > first) & (input < xp.from_numpy(_vector(last, input.dtype)))
    return xp.where(inside, grad, xp.zeros_like(grad))


_clip.vjp(input=lambda xp, g, input, first, last: xp.call(_clip_backward, g, input, first, last))
_clip_backward.vjp(
    grad=lambda xp, g, input, first, last: xp.call(_clip_backward, g, input, first, last)
)


@op
def _reflect(xp: Backend, input: Array, low: float, spans: tuple[float, ...]) -> Array:
    """Coordinates reflected at ``low`` and ``low + span`` until they lie between them.

    ``spans`` has one number for each dimension. All coordinates are 0 where it is 0.
    """
    span, exists = _nonzero_spans(xp, spans, input.dtype)
    distance = xp.abs(input - low)
    count = xp.floor(distance / span)
    rest = distance - count * span
    return xp.where(count % 2 == 0, rest + low, span - rest + low) * exists


@op
def _reflect_backward(
    xp: Backend, grad: Array, input: Index, low: float, spans: tuple[float, ...]
) -> Array:
    """Gradient of ``_reflect``: ``grad``, negated where the reflection reverses the axis."""
    span, exists = _nonzero_spans(xp, spans, input.dtype)
    even = xp.floor(xp.abs(input - low) / span) % 2 == 0
    return xp.where(even == (input >= low), grad, -grad) * exists


_reflect.vjp(
    input=lambda xp, g, input, low, spans: xp.call(_reflect_backward, g, input, low, spans)
)
_reflect_backward.vjp(
    grad=lambda xp, g, input, low, spans: xp.call(_reflect_backward, g, input, low, spans)
)


def _nonzero_spans(xp: Backend, spans: tuple[float, ...], dtype: Any) -> tuple[Array, Array]:
    """Spans, with 1 in place of 0, and 1 for each that is not 0."""
    given = _vector(spans, dtype)
    exists = (given != 0).astype(dtype)
    return xp.from_numpy(given + (1 - exists)), xp.from_numpy(exists)


def _pad_coordinates(xp: Any, at: Any, image: Sizes, padding: str, corners: bool) -> Any:
    """Coordinates ``at`` mapped into an image by the padding mode.

    ``"zeros"`` leaves coordinates outside. ``corners`` is as in ``_pixel_coordinates``.
    """
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, spans = (0.0, [n - 1.0 for n in image]) if corners else (-0.5, map(float, image))
        at = xp.call(_reflect, at, low, tuple(spans))
    return xp.call(_clip, at, 0, tuple([n - 1 for n in image]))


def _pixel_coordinates(xp: Any, points: Any, image: Sizes, corners: bool) -> Any:
    """Coordinates in pixels, from ``points`` whose coordinates are -1 and 1 at the image's ends.

    The ends are the centers of the corner pixels with ``corners``, else their outer edges.
    """
    dtype = (points._data if xp.records else points).dtype
    if corners:
        halves = tuple([(n - 1) / 2 for n in image])
        return (points + 1) * xp.from_numpy(_vector(halves, dtype))
    return ((points + 1) * xp.from_numpy(_vector(image, dtype)) - 1) / 2


@op(public=False)
def _floor(xp: Backend, input: Array) -> Array:
    """Coordinates rounded down; their gradient is 0."""
    return xp.floor(input)


#: Distances of the pixels around a point from the first one, along each dimension.
_STEPS = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}


@op(public=False)
def _pixel_indices(
    xp: Backend, at: Index, image: Sizes, mode: str, padding: str, corners: bool
) -> Array:
    """Indices ``(N, pixels around a point, points)`` in the flat images of ``_append_zero``.

    ``at`` are coordinates in pixels. With ``"bicubic"``, the padding applies to each pixel.
    """
    steps, dims = _STEPS[mode], len(image)
    first = xp.rint(at) if mode == "nearest" else xp.floor(at)
    pixels = first + xp.asarray(steps, at.dtype).reshape(-1, 1, 1, 1)
    if mode == "bicubic":
        pixels = _pad_coordinates(xp, pixels, image, padding, corners)
    valid = (pixels >= 0) & (pixels < xp.from_numpy(_vector(image, at.dtype)))
    distances = tuple(math.prod(image[i + 1 :]) for i in range(dims))
    parts = xp.where(valid, pixels, 0).astype("int64")
    parts *= xp.from_numpy(_vector(distances, "int64"))
    parts = xp.where(valid, parts, _OUTSIDE)
    index = _coordinate(parts, 0, dims)
    for i in range(1, dims):
        index = index + _coordinate(parts, i, dims)
    index = xp.where(index < 0, math.prod(image), index)
    return _points_last(index, len(at), at.shape[1])


#: Part of the index of a pixel outside of the image: the sum of all parts is then negative.
_OUTSIDE = -(1 << 60)


def _coordinate(values: Any, i: int, dims: int) -> Any:
    """Coordinate i of ``values``, ``(steps, N, points, d)``, to broadcast with the others."""
    count, *rest = values.shape[:-1]
    form = (*(1,) * (dims - 1 - i), count, *(1,) * i, *rest)
    return values[..., i].reshape(form)


def _points_last(values: Any, count: int, points: int) -> Any:
    """``(steps, ..., N, points)`` as ``(N, pixels around a point, points)``."""
    return values.reshape(math.prod(values.shape[:-2]), count, points).swapaxes(0, 1)


def _weights(xp: Any, at: Any, mode: str) -> Any:
    """Weights ``(N, pixels around a point, points)`` of the pixels of ``_pixel_indices``."""
    t = at - xp.call(_floor, at)
    each = xp.call(stack, (1 - t, t) if mode == "bilinear" else _cubic_weights(t), 0)
    count, points, dims = at.shape
    weight = _coordinate(each, 0, dims)
    for i in range(1, dims):
        weight = weight * _coordinate(each, i, dims)
    return _points_last(weight, count, points)


def _cubic_weights(t: Any) -> tuple[Any, ...]:
    """Weights of four neighboring pixels, by Keys' kernel with a = -3/4.

    The point is at distance ``t`` after the second pixel.
    """
    a = -0.75
    u = 1 - t

    def far(x: Any) -> Any:  # 1 <= x <= 2
        return ((x - 5) * x + 8) * (x * a) - 4 * a

    def near(x: Any) -> Any:  # 0 <= x <= 1
        return ((a + 2) * x - (a + 3)) * x * x + 1

    return far(t + 1), near(t), near(u), far(u + 1)


# -- sampling ------------------------------------------------------------------------------------


def _sampler_node_name(node: Node) -> str:
    """PyTorch's name of the node of ``grid_sample`` for an image or a volume."""
    return f"GridSampler{len(node.shape) - 2}DBackward0"


@composite(namespaces=_F, node=_sampler_node_name)
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Pixels of images at the coordinates in ``grid``, by interpolation.

    Args:
        input: ``(batch, channels, height, width)``, or with a depth before the height.
        grid: ``(batch, *points, 2)`` or ``(batch, *points, 3)``: coordinates x, y (and z), which
            are -1 and 1 at the edges of the image.
        mode: ``"bilinear"`` (default; trilinear for volumes), ``"nearest"``, or ``"bicubic"``,
            for images.
        padding_mode: Pixels beyond the edges: ``"zeros"`` (default), those of the ``"border"``,
            or their ``"reflection"``.
        align_corners: Whether -1 and 1 are the centers of the corner pixels, not their outer
            edges; default False.

    Returns:
        ``(batch, channels, *points)``.

    Raises:
        ValueError: For an unknown mode.
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> image, point = tt.arange(4.0).reshape(1, 1, 2, 2), tt.zeros(1, 1, 1, 2)
        >>> tt.nn.functional.grid_sample(image, point, align_corners=False)
        tensor([[[[1.5000]]]])

    Reference:
        Jaderberg et al.: Spatial Transformer Networks, arXiv:1506.02025.
    """
    _check(input, grid, mode, padding_mode)
    args = (mode, padding_mode, _default_corners(align_corners))
    if grad_enabled() and (input.requires_grad or grid.requires_grad):
        return keep_versions(_sample.kernel(_OnTensors(input._xp), input, grid, *args), input, grid)
    return _sample(input, grid, *args)


class _OnTensors:
    """``xp`` of a kernel that runs on tensors, so that its operations are recorded."""

    records = True

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def call(self, operation: Any, *args: Any) -> Any:
        """Call an operation."""
        return operation(*args)

    def from_numpy(self, array: Any) -> Any:
        """Convert a NumPy array to a tensor."""
        return wrap(self.backend.from_numpy(array), self.backend)


#: Up to this many pixels are read at once.
_FEW = 16384


@op(public=False)
def _sample(xp: Any, input: Array, grid: Array, mode: str, padding: str, corners: bool) -> Array:
    """``grid_sample``, on arrays or, with ``_OnTensors`` as ``xp``, on tensors."""
    count, channels, *rest = input.shape
    image, shape = tuple(rest), (count, channels, *grid.shape[1:-1])
    points = math.prod(shape[2:])
    at = _pixel_coordinates(xp, grid.reshape(count, points, len(image)), image, corners)
    if mode != "bicubic":
        at = _pad_coordinates(xp, at, image, padding, corners)
    if len(image) == 3 and padding == "zeros":
        # Infinite coordinates give zeros for volumes, as in PyTorch; for images they give NaN.
        at = xp.call(_clip, at, -2, tuple([n + 1 for n in image]))
    return _interpolate(xp, input, at, mode, padding, corners).reshape(shape)


def sample_pixels(input: Tensor, at: Tensor) -> Tensor:
    """Pixels of images by linear interpolation, with zeros outside.

    Args:
        input: ``(N, channels, height, width)``.
        at: Coordinates x, y in pixels, ``(N, points, 2)``.

    Returns:
        ``(N, channels, points)``.
    """
    on_tensors = _OnTensors(input._xp)
    return _interpolate(on_tensors, input, at, "bilinear", "zeros", True)  # type: ignore[no-any-return]


def _interpolate(xp: Any, input: Any, at: Any, mode: str, padding: str, corners: bool) -> Any:
    """Pixels ``(N, channels, points)`` of images at coordinates in pixels, ``(N, points, d)``."""
    count, channels, *rest = input.shape
    image, points = tuple(rest), at.shape[1]
    flat = xp.call(_append_zero, input.reshape(count, channels, math.prod(image)))
    index = xp.call(_pixel_indices, at, image, mode, padding, corners)
    if mode == "nearest":
        return _depend_on(xp, xp.call(_pixels, flat, index.reshape(count, points)), at)
    weights = _weights(xp, at, mode)
    around = index.shape[1]
    if count * channels * around * points <= _FEW:
        found = xp.call(_pixels, flat, index.reshape(count, around * points))
        found = found.reshape(count, channels, around, points)
        return (found * weights.reshape(count, 1, around, points)).sum(2)
    total: Any = 0
    for k in range(around):
        found = xp.call(_pixels, flat, index[:, k])
        total = total + found * weights[:, k].reshape(count, 1, points)
    return total


def _depend_on(xp: Any, out: Any, at: Any) -> Any:
    """``out``; as a tensor it depends on ``at``, whose gradient is zeros."""
    if not xp.records or not at.requires_grad:
        return out
    never = xp.from_numpy(load("numpy").library.zeros((), "bool"))
    return where(never, at[..., 0].unsqueeze(1), out)


def _default_corners(align_corners: bool | None) -> bool:
    """``align_corners`` as a bool: None, after a warning, is False."""
    if align_corners is None:
        warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False "
            "since 1.3.0. Please specify align_corners=True if the old behavior is desired. See "
            "the documentation of grid_sample for details.",
        )
    return bool(align_corners)


def _check(input: Tensor, grid: Tensor, mode: str, padding_mode: str) -> None:
    """Raise an error for arguments of ``grid_sample`` that do not fit."""
    name = "nn.functional.grid_sample()"
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"{name}: expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"{name}: expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    shape, points = input._data.shape, grid._data.shape
    sizes = f"input with sizes {list(shape)} and grid with sizes {list(points)}"
    if shape[0] != points[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {sizes}"
        )
    if points[-1] != len(shape) - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, but "
            f"got grid with sizes {list(points)}"
        )
    if 0 in shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(shape)} with dimension {shape.index(0, 2)} being empty"
        )
    if len(shape) not in (4, 5) or len(points) != len(shape):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
            f"got {sizes}"
        )
    if mode == "bicubic" and len(shape) == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    _check_same_float_dtype(input, grid)


def _check_same_float_dtype(input: Tensor, grid: Tensor) -> None:
    """Raise RuntimeError for two dtypes, NotImplementedError for one that is not floating-point."""
    if input._data.dtype is not grid._data.dtype and input.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected scalar type {scalar_name(input.dtype)} but found "
            f"{scalar_name(grid.dtype)}"
        )
    check_supported(input._xp, "grid_sampler", input._data, unsupported="biuc")


# -- grids ---------------------------------------------------------------------------------------


@composite(namespaces=_F, node="AffineGridGeneratorBackward0")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Grid for ``grid_sample`` that transforms images by affine matrices.

    Args:
        theta: ``(batch, 2, 3)`` for images, ``(batch, 3, 4)`` for volumes.
        size: ``(batch, channels, *image)``, the size of the sampled images.
        align_corners: The argument that ``grid_sample`` gets; default False.

    Returns:
        ``(batch, *image, 2)`` or ``(batch, *image, 3)``.

    Raises:
        ValueError: If shapes or the dtype do not fit.
        RuntimeError: If the batch sizes differ.
        NotImplementedError: For other numbers of dimensions.

    Example:
        >>> identity = tt.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> tt.nn.functional.affine_grid(identity, (1, 1, 1, 2), False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])

    Reference:
        Jaderberg et al.: Spatial Transformer Networks, arXiv:1506.02025.
    """
    sizes = as_ints("affine_grid", "size", size)
    _check_affine(theta, sizes)
    if align_corners and 1 in sizes[2:]:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    return _affine_points(theta, sizes[2:], _default_corners(align_corners))


def affine_grid_without_warnings(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """``affine_grid`` for ``affine_grid_generator``, which does not warn of ``align_corners``."""
    sizes = as_ints("affine_grid", "size", size)
    _check_affine(theta, sizes)
    return _affine_points(theta, sizes[2:], align_corners)


@op
def _affine_points(xp: Backend, input: Array, image: tuple[int, ...], corners: bool) -> Array:
    """Coordinates ``(N, *image, d)`` to which matrices ``(N, d, d + 1)`` map an image's pixels."""
    centers = _pixel_centers(xp, image, corners, input.dtype)
    points = xp.call(matmul, centers, xp.swapaxes(input, 1, 2))
    return xp.reshape(points, (len(input), *image, len(image)))


@op
def _affine_points_backward(xp: Backend, input: Array, corners: bool) -> Array:
    """Gradient of the matrices, ``(N, d, d + 1)``, from that of the points."""
    image = input.shape[1:-1]
    columns = xp.swapaxes(xp.reshape(input, (len(input), -1, len(image))), 1, 2)
    return xp.call(matmul, columns, _pixel_centers(xp, image, corners, input.dtype))


_affine_points.vjp(input=lambda xp, g, corners: xp.call(_affine_points_backward, g, corners))
_affine_points_backward.vjp(
    input=lambda xp, g, in_shape, corners: xp.call(_affine_points, g, in_shape[1:-1], corners)
)


def _pixel_centers(xp: Any, image: tuple[int, ...], corners: bool, dtype: Any) -> Array:
    """Homogeneous coordinates x, y (, z), 1 of an image's pixels, ``(pixels, d + 1)``."""
    axes = [_axis_centers(xp, n, corners, dtype) for n in image]
    columns = [xp.reshape(axis, (-1,)) for axis in reversed(xp.meshgrid(*axes, indexing="ij"))]
    return xp.stack([*columns, xp.ones_like(columns[0])], axis=1)


def _axis_centers(xp: Any, size: int, corners: bool, dtype: Any) -> Array:
    """Coordinates of the centers of ``size`` pixels, of which the ends are -1 and 1.

    The ends are the outermost centers with ``corners``, else the outer edges of the pixels.
    """
    if size == 1:
        return xp.zeros((1,), dtype)
    end = 1.0 if corners else (size - 1) / size
    return xp.linspace(-end, end, size).astype(dtype)


def _check_affine(theta: Tensor, sizes: tuple[int, ...]) -> None:
    """Raise an error for matrices or sizes that do not fit ``affine_grid``."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(sizes) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {sizes}."
        )
    spatial = len(sizes) - 2
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (spatial, spatial + 1):
        raise ValueError(
            f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x{spatial + 1} "
            f"for size {sizes}. Got {list(theta.shape)}."
        )
    if len(theta) != sizes[0]:
        raise RuntimeError(
            "affine_grid: Expected size for first two dimensions of batch2 tensor to be: "
            f"{[sizes[0], spatial + 1]} but got: {[len(theta), spatial + 1]}."
        )
    if min(sizes) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {sizes}")
