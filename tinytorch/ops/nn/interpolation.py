"""Interpolation: images, sequences and volumes resized.

Resampling goes along one dimension at a time: each output element is a weighted sum of a few input
elements. Their indices and weights depend on the sizes only, and are computed on the host, once for
each pair of sizes. Coordinates are rounded as in PyTorch, to single precision for float32, since a
coordinate just below an integer selects another pixel than the integer.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from ... import dtypes
from ...backends import load
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...dispatch.out import scalar_name
from ...graph.nodes import Node
from ...graph.special_nodes import argument
from ...warnings import warn
from ..checks import as_int_among
from ..shape.views import following
from .adaptive_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

Rounding = Callable[[Any], Any]

#: Resamplings between sizes up to this one are cached.
_CACHED_SIZE = 1 << 14


class Taps(NamedTuple):
    """Indices and weights of the input elements of each output element, as NumPy arrays.

    Output element i is the sum over k of ``weights[k, i] * input[indices[k, i]]``, without the
    terms whose index is -1.
    """

    indices: Any
    weights: Any


class Resampling:
    """Resampling of ``length`` elements by ``taps``, in a mode of ``resampling``.

    ``transpose`` holds the taps of the transpose if they are known already.
    """

    def __init__(self, mode: str, taps: Taps, length: int, transpose: Taps | None = None) -> None:
        self.mode = mode
        self.taps = taps
        self.length = length
        if transpose is not None:
            self.transposed_taps = transpose
        self._terms: dict[Any, list[tuple[Any, Any, Any]]] = {}

    def terms(self, dtype: Any) -> list[tuple[Any, Any, Any]]:
        """Indices, weights and mask of each term of the sum, for elements of ``dtype``.

        The weights are None if all are 1, and the mask if no index is -1.
        """
        found = self._terms.get(dtype)
        if found is None:
            found = self._terms[dtype] = [
                (
                    indices,
                    weights.astype(dtype) if (weights != 1).any() else None,
                    indices >= 0 if (indices < 0).any() else None,
                )
                for indices, weights in zip(*self.taps, strict=True)
            ]
        return found

    @functools.cached_property
    def transposed_taps(self) -> Taps:
        """Taps of the transpose: the output elements of each input element, and its weights."""
        np = _host()
        indices = np.ravel(self.taps.indices.T)
        terms = np.flatnonzero(indices >= 0)
        terms = terms[np.argsort(indices[terms], kind="stable")]
        indices = indices[terms]
        # The number k of each term among the terms of its input element.
        k = np.arange(len(indices)) - np.searchsorted(indices, indices)
        count = int(k.max(initial=0)) + 1
        taps = Taps(np.full((count, self.length), -1), np.ones((count, self.length)))
        taps.indices[k, indices] = terms // len(self.taps.indices)
        taps.weights[k, indices] = np.ravel(self.taps.weights.T)[terms]
        return taps

    def transpose(self) -> Resampling:
        """The resampling by the transposed matrix of weights, which computes gradients."""
        return Resampling(self.mode, self.transposed_taps, self.taps.indices.shape[1], self.taps)

    @functools.cached_property
    def fixed_point(self) -> tuple[Resampling, int]:
        """Resampling of uint8 with integer weights, and the integer that stands for a weight of 1.

        As in PyTorch, it is the largest power of 2 for which every weight fits an int16.
        """
        np = _host()
        indices, weights = (array.copy() for array in self.taps)
        for k in range(1, len(indices)):  # merge equal indices: clipped coordinates at the edges
            again = indices[k] == self.taps.indices[k - 1]
            again &= indices[k] >= 0
            weights[k] += np.where(again, weights[k - 1], 0.0)
            indices[k - 1][again] = -1
        largest = weights[indices >= 0].max(initial=0.0)
        bits = next((b for b in range(22) if int(0.5 + largest * 2 ** (b + 1)) >= 2**15), 22)
        whole = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
        return Resampling(self.mode, Taps(indices, whole), self.length), 2**bits

    @functools.cached_property
    def is_identity(self) -> bool:
        """Whether the resampling copies every element to its own position."""
        indices, np = self.taps.indices, _host()
        return indices.shape == (1, self.length) and bool((indices == np.arange(self.length)).all())


def _host() -> Any:
    """NumPy, which computes indices and weights on the host."""
    return load("numpy").library


#: PyTorch's names of the modes, for 1 to 3 spatial dimensions.
_NAMES = {
    "nearest": ("", "Nearest1D", "Nearest2D", "Nearest3D"),
    "nearest-exact": ("", "NearestExact1D", "NearestExact2D", "NearestExact3D"),
    "linear": ("", "Linear1D", "Bilinear2D", "Trilinear3D"),
    "cubic": ("", "", "Bicubic2D"),
    "linear-antialias": ("", "", "Bilinear2DAa"),
    "cubic-antialias": ("", "", "Bicubic2DAa"),
    "lanczos-antialias": ("", "", "Lanczos2DAa"),
}


def _upsample_node_name(node: Node) -> str:
    """PyTorch's name of the node of ``resample``, by its mode and the result's dimensions."""
    return f"Upsample{_NAMES[argument(node, 'how').mode][len(node.shape) - 2]}Backward0"


@op(public=False, node=_upsample_node_name)
def resample(xp: Backend, input: Array, axis: int, how: Resampling) -> Array:
    """``input`` with another size along ``axis``, computed by the resampling ``how``."""
    form = (-1, *(1,) * (input.ndim - 1 - axis % input.ndim))
    out: Array = None
    for indices, weights, mask in how.terms(input.dtype):
        part = xp.take(input, xp.from_numpy(indices), axis)
        if weights is not None:
            part *= xp.from_numpy(weights).reshape(form)
        if mask is not None:  # a weight of 0 instead would give NaN for an infinite element
            part = xp.masked(part, xp.from_numpy(mask).reshape(form))
        if out is None:
            out = part
        else:
            out += part
    return out


resample.vjp(input=lambda xp, g, axis, how: xp.call(resample, g, axis, how.transpose()))


def resampling(
    mode: str, length: int, size: int, scale: float | None, corners: bool, single: bool
) -> Resampling:
    """The resampling from ``length`` elements to ``size``, from a cache if they are few.

    Args:
        mode: ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"cubic"``, or a filter that
            averages when the size decreases: ``"linear-antialias"``, ``"cubic-antialias"``,
            ``"lanczos-antialias"``.
        length: Number of input elements.
        size: Number of output elements.
        scale: The caller's scale factor; None for the ratio of the sizes.
        corners: Whether the centers of the end elements are aligned, not their outer edges.
        single: Whether coordinates are rounded to single precision.
    """
    make = _resampling if max(length, size) <= _CACHED_SIZE else _resampling.__wrapped__
    return make(mode, length, size, scale, corners, single)


@functools.lru_cache(maxsize=256)
def _resampling(
    mode: str, length: int, size: int, scale: float | None, corners: bool, single: bool
) -> Resampling:
    """``resampling``, whose results are cached. The arguments are the same."""
    rounding: Rounding = _round_single if single else lambda values: values
    step = _step(length, size, scale, corners)
    if single:
        step = float(struct.unpack("f", struct.pack("f", step))[0])
    i = _host().arange(size)
    if mode.endswith("-antialias"):
        taps = _antialias_taps(mode, i, length, step)
    elif mode.startswith("nearest"):
        # PyTorch rounds these coordinates to single precision for every dtype.
        source = _round_single((i + (0.5 if mode == "nearest-exact" else 0.0)) * step)
        taps = _clip_taps([(source, 1.0)], length)
    else:
        make = _linear_taps if mode == "linear" else _cubic_taps
        taps = make(_source(i, step, corners, rounding), length, rounding)
    return Resampling(mode, taps, length)


def _round_single(values: Any) -> Any:
    """Float64 ``values`` rounded to single precision."""
    return values.astype("float32").astype("float64")


def _clip_taps(pairs: list[tuple[Any, Any]], length: int) -> Taps:
    """Taps from pairs of coordinates and their weights, one pair for each term of the sum.

    The coordinates are rounded down and clipped to an input of ``length`` elements.
    """
    np = _host()
    indices = [np.clip(np.floor(coordinate), 0, length - 1) for coordinate, _ in pairs]
    return Taps(
        np.stack(indices).astype("int64"),
        np.stack([np.broadcast_to(weight, coordinate.shape) for coordinate, weight in pairs]),
    )


def _step(length: int, size: int, scale: float | None, corners: bool) -> float:
    """Distance of two neighboring output elements, in units of the distance of input elements.

    The arguments are those of ``resampling``.
    """
    if corners:
        return (length - 1) / (size - 1) if size > 1 else 0.0
    return 1.0 / scale if scale else length / size


def _source(i: Any, step: float, corners: bool, rounding: Rounding) -> Any:
    """Input coordinates of the output elements ``i``, whose distance is ``step``.

    ``corners`` is whether the end elements are aligned by their centers; ``rounding`` rounds to
    the precision of the coordinates.
    """
    if corners:
        return rounding(i * step)
    return rounding(rounding(step * (i + 0.5)) - 0.5)


def _split_coordinates(source: Any, length: int, rounding: Rounding) -> tuple[Any, Any]:
    """Integer and fractional parts of the coordinates ``source``.

    As in PyTorch, the integer part is that of the coordinate in single precision.
    """
    np = _host()
    first = np.minimum(np.floor(_round_single(source)), length - 1)
    return first, np.clip(rounding(source - first), 0.0, 1.0)


def _linear_taps(source: Any, length: int, rounding: Rounding) -> Taps:
    """Taps of linear interpolation at the coordinates ``source``."""
    first, t = _split_coordinates(_host().maximum(source, 0.0), length, rounding)
    return _clip_taps([(first, rounding(1.0 - t)), (first + 1, t)], length)


def _cubic_taps(source: Any, length: int, rounding: Rounding) -> Taps:
    """Taps of cubic interpolation at the coordinates ``source``.

    Reference:
        Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -3/4.
    """
    first, t = _split_coordinates(source, length, lambda values: values)
    return _clip_taps([(first + k, cubic_kernel(t - k, -0.75)) for k in range(-1, 3)], length)


def cubic_kernel(x: Any, a: float) -> Any:
    """Keys' cubic convolution kernel at the distances ``x``, with his parameter ``a``."""
    np = _host()
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _triangle(x: Any) -> Any:
    """Triangle filter: ``1 - |x|``, and 0 for ``|x| > 1``."""
    np = _host()
    return np.maximum(1.0 - np.abs(x), 0.0)


def _cubic(x: Any) -> Any:
    """Keys' kernel with a = -1/2, the cubic filter of antialiasing."""
    return cubic_kernel(x, -0.5)


def _lanczos(x: Any) -> Any:
    """Lanczos filter: ``sinc(x) sinc(x / 3)``, and 0 for ``|x| > 3``."""
    np = _host()
    inside = (-3 <= x) & (x < 3)
    angle = math.pi * np.where(inside & (x != 0), x, 1.0)
    value = 3 * np.sin(angle) * np.sin(angle / 3) / (angle * angle)
    return np.where(x == 0, 1.0, np.where(inside, value, 0.0))


#: Filters, and the distance from 0 beyond which they are 0.
_FILTERS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "linear": (_triangle, 1), "cubic": (_cubic, 2), "lanczos": (_lanczos, 3),
}  # fmt: skip


def _antialias_taps(mode: str, i: Any, length: int, step: float) -> Taps:
    """Taps of the filter ``mode`` around the coordinates of the output elements ``i``.

    If the size decreases, the filter is stretched by the distance ``step`` of output elements. The
    weights of each output element sum to 1.
    """
    kernel, support = _FILTERS[mode.removesuffix("-antialias")]
    np = _host()
    width = max(step, 1.0)
    center = step * (i + 0.5)
    # Rounded toward zero, as in PyTorch.
    first = np.maximum(np.trunc(center - support * width + 0.5), 0)
    last = np.minimum(np.trunc(center + support * width + 0.5), length)
    index = first + np.arange(max(int((last - first).max(initial=0)), 1))[:, None]
    weights = np.where(index < last, kernel((index - center + 0.5) / width), 0.0)
    total = weights.sum(0)
    weights /= np.where(total == 0, 1.0, total)
    is_outside = index >= last
    indices = np.where(is_outside, -1, index).astype("int64")
    return Taps(indices, np.where(is_outside, 1.0, weights))


_F = ("nn.functional",)
_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
#: The kernel of each mode, and the number of spatial dimensions that it requires.
_KERNELS = {
    "nearest": ("nearest", None), "nearest-exact": ("nearest-exact", None),
    "linear": ("linear", 1), "bilinear": ("linear", 2), "trilinear": ("linear", 3),
    "bicubic": ("cubic", 2), "lanczos": ("lanczos", 2), "area": ("area", None),
}  # fmt: skip
_WITH_CORNERS = ("linear", "bilinear", "bicubic", "trilinear")
_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


@composite(namespaces=_F)
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize images, sequences or volumes.

    Args:
        input: ``(batch, channels, *image)`` with one to three spatial dimensions; floats, or
            uint8.
        size: Output size, one int for all dimensions or one for each; this or ``scale_factor``.
        scale_factor: Ratio of output to input size, for all dimensions or one for each.
        mode: ``"nearest"`` (default) and ``"nearest-exact"`` copy a pixel; ``"linear"``,
            ``"bilinear"``, ``"trilinear"`` interpolate linearly in one, two or three
            dimensions; ``"bicubic"`` interpolates between sixteen pixels; ``"area"`` is adaptive
            average pooling; ``"lanczos"`` (with ``antialias``) is a windowed sinc filter.
        align_corners: Whether the centers of the corner pixels are aligned; by default
            (None, False) their outer corners are.
        recompute_scale_factor: Whether coordinates are computed from the rounded sizes instead
            of ``scale_factor``.
        antialias: Whether to average over all pixels that an output pixel covers when the size
            decreases; with ``"bilinear"``, ``"bicubic"`` and ``"lanczos"``.

    Returns:
        ``(batch, channels, *size)``.

    Raises:
        ValueError: If arguments contradict each other.
        NotImplementedError: If the mode is unknown or for another number of dimensions.
        RuntimeError: For an empty image.

    Example:
        >>> tt.nn.functional.interpolate(tt.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
        >>> tt.nn.functional.interpolate(tt.tensor([[[1.0, 2.0]]]), size=3, mode="linear")
        tensor([[[1.0000, 1.5000, 2.0000]]])

    Reference:
        Keys: Cubic Convolution Interpolation for Digital Image Processing, 1981.
    """
    ndim = input._data.ndim
    _check_options(mode, align_corners, antialias, ndim)
    sizes, scales = _sizes(input, size, scale_factor, recompute_scale_factor)
    _check_mode(mode, ndim)
    _check_dtype(input, mode)
    if mode == "area":
        return _AREA[ndim - 2](input, sizes)
    _check_sizes(input, sizes)
    kernel = _KERNELS[mode][0] + ("-antialias" if antialias else "")
    return _resize(input, kernel, sizes, scales, align_corners)


def _resize(
    x: Any, kernel: str, sizes: list[int], scales: list[float | None], corners: bool | None
) -> Tensor:
    """``x`` resampled in ``mode`` to ``sizes``, one dimension after the other, the last one first.

    Args:
        x: ``(N, C, *image)``.
        kernel: A mode of ``resampling``.
        sizes: Sizes of the result in the spatial dimensions.
        scales: The scale factors given for them, or None.
        corners: Whether the centers of the end elements are aligned; None for False.
    """
    interpolates = not kernel.startswith("nearest")
    native, shape = x._data.dtype, x._data.shape
    out = x.to(dtypes.float32) if native.char == "e" and interpolates else x
    # uint8 is rounded after each dimension, as in image libraries; float16 at the end.
    is_uint8 = native.kind == "u" and interpolates
    single = native.itemsize < 8 and not is_uint8
    for axis in range(-1, -len(sizes) - 1, -1):
        length, size = shape[axis], sizes[axis]
        scale = None if _ignores_scale(kernel, length, size, len(sizes)) else scales[axis]
        how = resampling(kernel, length, size, scale, bool(corners), single)
        if not how.is_identity:
            out = _resample_uint8(out, axis, how) if is_uint8 else resample(out, axis, how)
    if out is x:
        out = x.clone()
    return following(out if out._data.dtype is native else out.to(x.dtype), x)


def _resample_uint8(x: Tensor, axis: int, how: Resampling) -> Tensor:
    """``resample`` of uint8 by integer weights, rounded and clipped to uint8 as in PyTorch."""
    fixed_point, one = how.fixed_point
    sums = resample(x.to(dtypes.float64), axis, fixed_point)  # float64 holds the integers exactly
    return ((sums + one // 2) / one).floor().clamp(0, 255).to(dtypes.uint8)


def _ignores_scale(kernel: str, length: int, size: int, spatial: int) -> bool:
    """Whether PyTorch computes coordinates from the sizes, not from the given scale factor.

    The two differ, for example, for a scale factor of 1.2 and a size of 4, which stays 4.
    """
    if kernel == "linear":
        return size == length
    return kernel == "nearest" and spatial == 2 and size in (length, 2 * length)


def _check_options(mode: str, corners: bool | None, antialias: bool, ndim: int) -> None:
    """Raise ValueError for ``align_corners`` or ``antialias`` with a mode that does not fit."""
    if corners is not None and mode not in _WITH_CORNERS:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")


def _check_mode(mode: str, ndim: int) -> None:
    """Raise NotImplementedError for an unknown mode, or one that does not fit ``ndim``."""
    if mode not in _KERNELS or not 3 <= ndim <= 5:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the "
            f"modes: {_MODES} (got {mode})"
        )
    spatial = _KERNELS[mode][1]
    if spatial is not None and spatial != ndim - 2:
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {spatial + 2}D input")


def _sizes(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """Output sizes, and the scale factor of each dimension that determines coordinates, or None.

    ``recompute`` is the argument ``recompute_scale_factor``: the sizes determine coordinates.
    """
    image = list(input._data.shape[2:])
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        given = _expand_argument("output size", size, image)
        sizes = [as_int_among("interpolate", "size", n, given) for n in given]
        return sizes, [None] * len(image)
    scales = [float(scale) for scale in _expand_argument("scale_factor", scale_factor, image)]
    sizes = [_scale_size(n, scale) for n, scale in zip(image, scales, strict=True)]
    return sizes, [None if recompute else scale for scale in scales]


def _scale_size(size: int, scale: float) -> int:
    """``floor(size * scale)``; RuntimeError if that does not fit in an int64."""
    scaled = size * scale
    if not abs(scaled) < 2.0**63:  # also for NaN
        raise RuntimeError(
            f"interpolate: value cannot be converted to type int64_t without overflow: {scaled} "
            f"elements, for a size of {size} and scale_factor={scale}"
        )
    return math.floor(scaled)


def _expand_argument(label: str, given: Any, image: list[int]) -> list[Any]:
    """``given`` as a list with one value per dimension of ``image``, a list of sizes.

    ``label`` names the argument in the error for another number of values.
    """
    values = list(given) if isinstance(given, (tuple, list)) else [given] * len(image)
    if len(values) != len(image):
        raise ValueError(
            f"Input and {label} must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {image} and {label} of {tuple(values)}. Please provide "
            f"input tensor in (N, C, d1, d2, ...,dK) format and {label} in (o1, o2, ...,oK) format."
        )
    return values


def _check_sizes(input: Tensor, sizes: list[int]) -> None:
    """Raise RuntimeError if the input or the result has no elements."""
    shape = input._data.shape
    if min(sizes) <= 0 or 0 in shape[2:]:
        raise RuntimeError(
            "interpolate: Input and output sizes should be greater than 0, but got input "
            f"{list(shape[2:])} and output {sizes}"
        )
    if not shape[1]:
        raise RuntimeError(
            f"interpolate: Non-empty {input.ndim}D data tensor expected but got a tensor with "
            f"sizes {list(input.shape)}"
        )


def _check_dtype(input: Tensor, mode: str) -> None:
    """Raise NotImplementedError unless the dtype is floating-point or, except for area, uint8."""
    if input._data.dtype.kind == "f":
        return
    if not input.is_floating_point() and (input.dtype is not dtypes.uint8 or mode == "area"):
        raise NotImplementedError(
            f"\"interpolate\" (mode {mode!r}) not implemented for '{scalar_name(input.dtype)}'"
        )


@composite(namespaces=_F, like=interpolate)
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """``interpolate`` under a deprecated name.

    Warns:
        UserWarning: That the function is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample(tt.ones(1, 1, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4])
    """
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite(namespaces=_F, like=interpolate)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` in mode ``"nearest"``, deprecated.

    Warns:
        UserWarning: That the function is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample_nearest(tt.ones(1, 1, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4])
    """
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor)


@composite(namespaces=_F, like=interpolate)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` in mode ``"bilinear"`` with aligned corners, deprecated.

    Args:
        input: ``(batch, channels, height, width)``.

    Warns:
        UserWarning: That the function is deprecated.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample_bilinear(tt.ones(1, 1, 2, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4, 4])
    """
    _warn("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


def _warn(name: str) -> None:
    """Warn that the function ``name`` is deprecated."""
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")
