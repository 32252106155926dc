"""Images sampled at given coordinates, and grids of such coordinates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor, wrap
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.out import scalar_name
from ...graph.nodes import Node
from ...warnings import warn
from ..checks import as_ints, check_supported
from ..linalg.matmul import matmul
from ..pointwise.selection import where

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


@op
def _clip(xp: Backend, input: Array, first: int, last: int) -> Array:
    """Coordinates clipped to ``first`` and ``last``; NaN becomes ``first``."""
    return xp.fmin(xp.fmax(input, first), last)


_clip.vjp(
    input=lambda xp, g, input, first, last: xp.where(
        (input > first) & (input < last), g, xp.zeros_like(g)
    )
)


@op
def _reflect(xp: Backend, input: Array, low: float, span: float) -> Array:
    """Coordinates reflected at ``low`` and ``low + span`` until they lie between them."""
    distance = xp.abs(input - low)
    count = xp.floor(distance / span)
    rest = distance - count * span
    return xp.where(count % 2 == 0, rest + low, span - rest + low)


def _reflect_rule(xp: Any, g: Any, input: Any, low: float, span: float) -> Any:
    """Gradient rule of ``_reflect``: ``g``, negated where the reflection reverses the axis."""
    even = xp.floor(xp.abs(input - low) / span) % 2 == 0
    return xp.where(even == (input >= low), g, -g)


_reflect.vjp(input=_reflect_rule)


def _pad_coordinates(x: Any, size: int, padding: str, corners: bool) -> Any:
    """Coordinates ``x`` mapped into an image of ``size`` pixels by the padding mode.

    ``"zeros"`` leaves coordinates outside. ``corners`` is as in ``_pixel_coordinates``.
    """
    if padding == "zeros":
        return x
    if padding == "reflection":
        if corners:
            x = _reflect(x, 0.0, float(size - 1)) if size > 1 else x * 0
        else:
            x = _reflect(x, -0.5, float(size))
    return _clip(x, 0, size - 1)


def _pixel_coordinates(x: Any, size: int, corners: bool) -> Any:
    """Coordinates in pixels, from coordinates ``x`` that are -1 and 1 at the ends of the image.

    The ends are the centers of the corner pixels with ``corners``, else their outer edges.
    """
    return (x + 1) * ((size - 1) / 2) if corners else ((x + 1) * size - 1) / 2


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
    corners = _default_corners(align_corners)
    image = tuple(input.shape[2:])
    points: Any = grid
    # x, the first coordinate, is for the last dimension of the image.
    at = [
        _pixel_coordinates(points[..., i], size, corners).flatten(1)
        for i, size in enumerate(reversed(image))
    ][::-1]
    flat = _append_zero(input.flatten(2))
    if mode == "bicubic":
        out = _bicubic(flat, at, image, padding_mode, corners)
    else:
        at = [_pad_coordinates(x, n, padding_mode, corners) for x, n in zip(at, image, strict=True)]
        if len(image) == 3 and padding_mode == "zeros":
            # Infinite coordinates give zeros for volumes, as in PyTorch; for images they give NaN.
            at = [_clip(x, -2, n + 1) for x, n in zip(at, image, strict=True)]
        sample = _bilinear if mode == "bilinear" else _nearest
        out = sample(flat, at, image)
    return keep_versions(out.reshape((*input.shape[:2], *grid.shape[1:-1])), input, grid)


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
    sizes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {sizes}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(input.shape)} with dimension {input.shape.index(0, 2)} being empty"
        )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
            f"got {sizes}"
        )
    if mode == "bicubic" and input.ndim == 5:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    _check_same_float_dtype(input, grid)


def _check_same_float_dtype(input: Tensor, grid: Tensor) -> None:
    """Raise RuntimeError for two dtypes, NotImplementedError for one that is not floating-point."""
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected scalar type {scalar_name(input.dtype)} but found "
            f"{scalar_name(grid.dtype)}"
        )
    check_supported(input._xp, "grid_sampler", input._data, unsupported="biuc")


def _pixels_at(flat: Any, coordinates: Sequence[Array], image: tuple[int, ...]) -> Any:
    """Pixels ``(N, C, points)`` at integer coordinates; 0 outside the image.

    Args:
        flat: The flat images of ``_append_zero``.
        coordinates: For each dimension of the image a raw array ``(N, points)``.
        image: Size of the image.
    """
    xp = flat._xp
    index: Any = 0
    inside: Any = True
    for coordinate, size in zip(coordinates, image, strict=True):
        valid = (coordinate >= 0) & (coordinate < size)
        inside = inside & valid
        index = index * size + xp.where(valid, coordinate, 0).astype("int64")
    return _pixels(flat, wrap(xp.where(inside, index, math.prod(image)), xp))


def _nearest(flat: Any, at: list[Any], image: tuple[int, ...]) -> Any:
    """Pixels nearest to each point.

    ``at`` holds coordinates in pixels, one tensor ``(N, points)`` per dimension of the ``image``.
    """
    xp = flat._xp
    out = _pixels_at(flat, [xp.rint(x._data) for x in at], image)
    if not at[0].requires_grad:
        return out
    never = wrap(xp.zeros((), "bool"), xp)
    return where(never, at[0].unsqueeze(1), out)  # so that the gradient of the grid is zeros


def _bilinear(flat: Any, at: list[Any], image: tuple[int, ...]) -> Any:
    """Weighted sum of the 4 pixels (of a volume, 8) around each point.

    ``at`` holds coordinates in pixels, one tensor ``(N, points)`` per dimension of the ``image``.
    """
    xp = flat._xp
    first = [xp.floor(x._data) for x in at]
    fractions = [x - wrap(start, xp) for x, start in zip(at, first, strict=True)]
    out: Any = 0
    for corner in itertools.product((0, 1), repeat=len(at)):
        pixels = [start + step for start, step in zip(first, corner, strict=True)]
        weight = math.prod(t if step else 1 - t for t, step in zip(fractions, corner, strict=True))
        out = out + _pixels_at(flat, pixels, image) * weight.unsqueeze(1)
    return out


def _bicubic(flat: Any, at: list[Any], image: tuple[int, ...], padding: str, corners: bool) -> Any:
    """Weighted sum of the 16 pixels around each point; the padding applies to each pixel.

    ``at`` holds coordinates in pixels, one tensor ``(N, points)`` per dimension of the ``image``.
    """
    xp = flat._xp
    first = [xp.floor(x._data) for x in at]
    y, x = (_cubic_weights(x - wrap(start, xp)) for x, start in zip(at, first, strict=True))
    out: Any = 0
    for steps in itertools.product(range(4), repeat=2):
        pixels = [
            _pad_coordinates(wrap(start + (step - 1), xp), size, padding, corners)._data
            for start, step, size in zip(first, steps, image, strict=True)
        ]
        weight = y[steps[0]] * x[steps[1]]
        out = out + _pixels_at(flat, pixels, image) * weight.unsqueeze(1)
    return out


def _cubic_weights(t: Any) -> list[Any]:
    """Weights of four neighboring pixels, by Keys' kernel with a = -3/4.

    The point is at distance ``t`` after the second pixel.
    """
    a = -0.75
    u = 1 - t

    def far(x: Any) -> Any:  # 1 <= x <= 2
        return ((x - 5) * x + 8) * (x * a) - 4 * a

    def near(x: Any) -> Any:  # 0 <= x <= 1
        return ((a + 2) * x - (a + 3)) * x * x + 1

    return [far(t + 1), near(t), near(u), far(u + 1)]


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
