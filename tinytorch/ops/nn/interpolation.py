"""Images in other sizes.

Resampling goes along one dimension at a time: each new element is a weighted sum of a few old ones.
Which ones, and their weights, follow from the sizes alone. They are computed on the host, once for
each pair of sizes, and rounded as PyTorch rounds them, in single precision for float32: a
coordinate that falls on the other side of an integer is another pixel.
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

#: Ways between sizes up to this one are kept for the next time.
_KEPT = 1 << 14


class Taps(NamedTuple):
    """For every new element, old ones and their weights; shorter lists are filled with -1.

    ``places[k, i]`` is the k-th of the old elements that new element i is made of, or -1; both
    are arrays of the host's.
    """

    places: Any
    weights: Any


class Resampling:
    """A way from ``length`` elements to others, in a mode of ``resampling``; its transpose, too."""

    def __init__(self, mode: str, taps: Taps, length: int, transpose: Taps | None = None) -> None:
        self.mode = mode
        self.taps = taps
        self.length = length
        if transpose is not None:
            self.transpose = transpose

    @functools.cached_property
    def transpose(self) -> Taps:
        """For every old element, the new ones that it is in, and its weight there."""
        np = _host()
        places = np.ravel(self.taps.places.T)
        there = np.flatnonzero(places >= 0)
        there = there[np.argsort(places[there], kind="stable")]
        places = places[there]
        # The how manieth of its old element's each is.
        number = np.arange(len(places)) - np.searchsorted(places, places)
        taps = _blank(int(number.max(initial=0)) + 1, self.length)
        taps.places[number, places] = there // len(self.taps.places)
        taps.weights[number, places] = np.ravel(self.taps.weights.T)[there]
        return taps

    def turned(self) -> Resampling:
        """The transpose as a way of its own."""
        return Resampling(self.mode, self.transpose, self.taps.places.shape[1], self.taps)

    @functools.cached_property
    def in_bytes(self) -> tuple[Resampling, int]:
        """The way for bytes, whose weights are whole numbers, and how many of them make 1.

        That is the largest power of 2 for which every weight fits an int16.
        """
        np = _host()
        places, weights = (array.copy() for array in self.taps)
        for k in range(1, len(places)):  # a place at the edge may be there more than once, in a row
            again = places[k] == self.taps.places[k - 1]
            again &= places[k] >= 0
            weights[k] += np.where(again, weights[k - 1], 0.0)
            places[k - 1][again] = -1
        largest = weights[places >= 0].max(initial=0.0)
        bits = next((b for b in range(22) if int(0.5 + largest * 2 ** (b + 1)) >= 2**15), 22)
        whole = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
        return Resampling(self.mode, Taps(places, whole), self.length), 2**bits

    def is_identity(self) -> bool:
        """Whether it copies every element."""
        places, np = self.taps.places, _host()
        return places.shape == (1, self.length) and bool((places == np.arange(self.length)).all())


def _host() -> Any:
    return load("numpy").library


def _blank(count: int, size: int) -> Taps:
    np = _host()
    return Taps(np.full((count, size), -1), np.ones((count, size)))


#: PyTorch's names of the modes, by how many dimensions images have.
_NAMES = {
    "nearest": ("", "Nearest1D", "Nearest2D", "Nearest3D"),
    "nearest-exact": ("", "NearestExact1D", "NearestExact2D", "NearestExact3D"),
    "linear": ("", "Linear1D", "Bilinear2D", "Trilinear3D"),
    "cubic": ("", "", "Bicubic2D"),
    "linear-antialias": ("", "", "Bilinear2DAa"),
    "cubic-antialias": ("", "", "Bicubic2DAa"),
    "lanczos-antialias": ("", "", "Lanczos2DAa"),
}


def _resample_name(node: Node) -> str:
    return f"Upsample{_NAMES[argument(node, 'how').mode][len(node.shape) - 2]}Backward0"


@op(public=False, node=_resample_name)
def resample(xp: Backend, input: Array, axis: int, how: Resampling) -> Array:
    """``input`` with another size along ``axis``."""
    shape = [1] * input.ndim
    shape[axis] = -1
    out: Array = None
    for places, weights in zip(*how.taps, strict=True):
        part = xp.take(input, xp.from_numpy(places), axis=axis)
        if (weights != 1).any():
            part *= xp.reshape(xp.from_numpy(weights.astype(input.dtype)), shape)
        if (places < 0).any():  # not by a weight of 0, which would make NaN of an infinity
            part = xp.masked(part, xp.reshape(xp.from_numpy(places >= 0), shape))
        if out is None:
            out = part
        else:
            out += part
    return out


resample.vjp(input=lambda xp, g, axis, how: xp.call(resample, g, axis, how.turned()))


def resampling(
    mode: str, length: int, size: int, scale: float | None, corners: bool, single: bool
) -> Resampling:
    """The way from ``length`` elements to ``size``.

    Args:
        mode: ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"cubic"``, or a filter that
            averages when it makes smaller: ``"linear-antialias"``, ``"cubic-antialias"``,
            ``"lanczos-antialias"``.
        length: Elements there are.
        size: Elements wanted.
        scale: How many times as large the caller said it is to be; None: what sizes say.
        corners: Whether the end elements are mapped on one another, not their outer edges.
        single: Whether coordinates are rounded to single precision.
    """
    make = _resampling if max(length, size) <= _KEPT else _resampling.__wrapped__
    return make(mode, length, size, scale, corners, single)


@functools.lru_cache(maxsize=256)
def _resampling(
    mode: str, length: int, size: int, scale: float | None, corners: bool, single: bool
) -> Resampling:
    rounding: Rounding = _singles if single else lambda values: values
    step = (
        _single(_step(length, size, scale, corners))
        if single
        else (_step(length, size, scale, corners))
    )
    i = _host().arange(size)
    if mode.endswith("-antialias"):
        taps = _averaged(mode, i, length, step)
    elif mode.startswith("nearest"):
        # Here a coordinate is rounded to single precision for every dtype.
        source = _singles((i + (0.5 if mode == "nearest-exact" else 0.0)) * step)
        taps = _within([(source, 1.0)], length)
    else:
        make = _linear if mode == "linear" else _cubic
        taps = make(_source(i, step, corners, rounding), length, rounding)
    return Resampling(mode, taps, length)


def _single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _singles(values: Any) -> Any:
    return values.astype("float32").astype("float64")


def _within(pairs: list[tuple[Any, Any]], length: int) -> Taps:
    """Places, rounded down and no further than the ends, and their weights."""
    np = _host()
    places = [np.clip(np.floor(place), 0, length - 1) for place, _ in pairs]
    return Taps(
        np.stack(places).astype("int64"),
        np.stack([np.broadcast_to(weight, place.shape) for place, weight in pairs]),
    )


def _step(length: int, size: int, scale: float | None, corners: bool) -> float:
    """How far apart the new elements are, measured in old ones."""
    if corners:
        return (length - 1) / (size - 1) if size > 1 else 0.0
    return 1.0 / scale if scale else length / size


def _source(i: Any, step: float, corners: bool, rounding: Rounding) -> Any:
    """Where the new elements ``i`` lie among the old ones."""
    if corners:
        return rounding(i * step)
    return rounding(rounding(step * (i + 0.5)) - 0.5)


def _first_and_share(source: Any, length: int, rounding: Rounding) -> tuple[Any, Any]:
    """The element before each place, which PyTorch finds in single precision, and the rest."""
    np = _host()
    first = np.minimum(np.floor(_singles(source)), length - 1)
    return first, np.clip(rounding(source - first), 0.0, 1.0)


def _linear(source: Any, length: int, rounding: Rounding) -> Taps:
    first, share = _first_and_share(_host().maximum(source, 0.0), length, rounding)
    return _within([(first, rounding(1.0 - share)), (first + 1, share)], length)


def _cubic(source: Any, length: int, rounding: Rounding) -> Taps:
    """Keys: Cubic convolution interpolation for digital image processing, 1981, a = -3/4."""
    first, share = _first_and_share(source, length, lambda values: values)
    return _within([(first + k, cubic_kernel(share - k, -0.75)) for k in range(-1, 3)], length)


def cubic_kernel(x: Any, a: float) -> Any:
    """Keys' cubic convolution kernel."""
    np = _host()
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def _triangle(x: Any) -> Any:
    np = _host()
    return np.maximum(1.0 - np.abs(x), 0.0)


def _soft_cubic(x: Any) -> Any:
    return cubic_kernel(x, -0.5)


def _lanczos(x: Any) -> Any:
    np = _host()
    inside = (-3 <= x) & (x < 3)
    angle = math.pi * np.where(inside & (x != 0), x, 1.0)
    value = 3 * np.sin(angle) * np.sin(angle / 3) / (angle * angle)
    return np.where(x == 0, 1.0, np.where(inside, value, 0.0))


#: Filters and how far they reach on either side.
_FILTERS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "linear": (_triangle, 1), "cubic": (_soft_cubic, 2), "lanczos": (_lanczos, 3),
}  # fmt: skip


def _averaged(mode: str, i: Any, length: int, step: float) -> Taps:
    """A filter as wide as a new element's share of the old ones, its weights summing to 1."""
    kernel, reach = _FILTERS[mode.removesuffix("-antialias")]
    np = _host()
    width = max(step, 1.0)
    center = step * (i + 0.5)
    # Rounded toward zero, as PyTorch's are.
    first = np.maximum(np.trunc(center - reach * width + 0.5), 0)
    last = np.minimum(np.trunc(center + reach * width + 0.5), length)
    place = first + np.arange(max(int((last - first).max(initial=0)), 1))[:, None]
    weights = np.where(place < last, kernel((place - center + 0.5) / width), 0.0)
    total = weights.sum(0)
    weights /= np.where(total == 0, 1.0, total)
    filled = place >= last
    places = np.where(filled, -1, place).astype("int64")
    return Taps(places, np.where(filled, 1.0, weights))


_F = ("nn.functional",)
_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
#: What each mode does along a dimension, and to how many dimensions it does it.
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
    """Images, sequences or volumes in another size.

    Args:
        input: ``(batch, channels, *image)`` with one to three spatial dimensions; floats, or
            uint8.
        size: The new sizes, one int for all dimensions or each; this or ``scale_factor``.
        scale_factor: How many times as large, for all dimensions or each.
        mode: ``"nearest"`` (default) and ``"nearest-exact"`` copy a pixel; ``"linear"``,
            ``"bilinear"``, ``"trilinear"`` weigh neighbours by distance in one, two or three
            dimensions; ``"bicubic"`` weighs sixteen; ``"area"`` takes means, as adaptive
            pooling does; ``"lanczos"`` (with ``antialias``) weighs by a windowed sinc.
        align_corners: Whether the centres of the corner pixels stay where they are; by default
            (None, False) the corners of the corner pixels do.
        recompute_scale_factor: Whether positions follow from the sizes, which are rounded,
            instead of ``scale_factor``.
        antialias: Whether to average over all pixels that a new one covers, when it makes
            smaller; with ``"bilinear"``, ``"bicubic"`` and ``"lanczos"``.

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
    spatial = input.ndim - 2
    _check_options(mode, align_corners, antialias, input.ndim)
    sizes, scales = _sizes(input, size, scale_factor, recompute_scale_factor)
    _check_mode(mode, input.ndim)
    _check_dtype(input, mode)
    if mode == "area":
        return _AREA[spatial](input, sizes)
    _check_sizes(input, sizes)
    kernel = _KERNELS[mode][0] + ("-antialias" if antialias else "")
    return _resized(input, kernel, sizes, scales, align_corners)


def _resized(
    x: Any, kernel: str, sizes: list[int], scales: list[float | None], corners: bool | None
) -> Tensor:
    weighs = not kernel.startswith("nearest")
    out = x.to(dtypes.float32) if x.dtype is dtypes.float16 and weighs else x
    # Bytes are rounded after each dimension, as in image libraries, and their weights, too;
    # halves at the end.
    bytes_ = x.dtype is dtypes.uint8 and weighs
    single = x._data.dtype.itemsize < 8 and not bytes_
    for axis in range(-1, -len(sizes) - 1, -1):
        length, size = x.shape[axis], sizes[axis]
        scale = None if _exact(kernel, length, size, len(sizes)) else scales[axis]
        how = resampling(kernel, length, size, scale, bool(corners), single)
        if not how.is_identity():
            out = _resampled_bytes(out, axis, how) if bytes_ else resample(out, axis, how)
    return following(x.clone() if out is x else out.to(x.dtype), x)


def _resampled_bytes(x: Tensor, axis: int, how: Resampling) -> Tensor:
    whole, one = how.in_bytes
    sums = resample(x.to(dtypes.float64), axis, whole)  # whole numbers, too
    return ((sums + one // 2) / one).floor().clamp(0, 255).to(dtypes.uint8)


def _exact(kernel: str, length: int, size: int, spatial: int) -> bool:
    """Whether PyTorch goes by the sizes even where a scale factor was given, such as 1.2 of 4."""
    if kernel == "linear":
        return size == length
    return kernel == "nearest" and spatial == 2 and size in (length, 2 * length)


def _check_options(mode: str, corners: bool | None, antialias: bool, ndim: int) -> None:
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
    if mode not in _KERNELS or not 3 <= ndim <= 5:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the "
            f"modes: {_MODES} (got {mode})"
        )
    wanted = _KERNELS[mode][1]
    if wanted is not None and wanted != ndim - 2:
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {wanted + 2}D input")


def _sizes(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[list[int], list[float | None]]:
    """The new sizes, and the scale factors that positions follow from, or None."""
    image = list(input.shape[2:])
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        given = _each("output size", size, image)
        sizes = [as_int_among("interpolate", "size", n, given) for n in given]
        return sizes, [None] * len(image)
    scales = [float(scale) for scale in _each("scale_factor", scale_factor, image)]
    sizes = [_scaled(n, scale) for n, scale in zip(image, scales, strict=True)]
    return sizes, [None if recompute else scale for scale in scales]


def _scaled(size: int, scale: float) -> int:
    wanted = size * scale
    if not abs(wanted) < 2.0**63:  # nor if it is NaN
        raise RuntimeError(
            f"interpolate: value cannot be converted to type int64_t without overflow: {wanted} "
            f"elements, for a size of {size} and scale_factor={scale}"
        )
    return math.floor(wanted)


def _each(what: str, given: Any, image: list[int]) -> list[Any]:
    """``given`` for every dimension."""
    values = list(given) if isinstance(given, (tuple, list)) else [given] * len(image)
    if len(values) != len(image):
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {image} and {what} of {tuple(values)}. Please provide input "
            f"tensor in (N, C, d1, d2, ...,dK) format and {what} in (o1, o2, ...,oK) format."
        )
    return values


def _check_sizes(input: Tensor, sizes: list[int]) -> None:
    if min(sizes) <= 0 or 0 in input.shape[2:]:
        raise RuntimeError(
            "interpolate: Input and output sizes should be greater than 0, but got input "
            f"{list(input.shape[2:])} and output {sizes}"
        )
    if not input.shape[1]:
        raise RuntimeError(
            f"interpolate: Non-empty {input.ndim}D data tensor expected but got a tensor with "
            f"sizes {list(input.shape)}"
        )


def _check_dtype(input: Tensor, mode: str) -> None:
    if not input.is_floating_point() and (input.dtype is not dtypes.uint8 or mode == "area"):
        raise NotImplementedError(
            f"\"interpolate\" (mode {mode!r}) not implemented for '{scalar_name(input.dtype)}'"
        )


@composite(namespaces=_F)
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """``interpolate`` under its old name.

    Args:
        input: ``(batch, channels, *image)``.
        size: The new sizes; this or ``scale_factor``.
        scale_factor: How many times as large.
        mode: As for ``interpolate``.
        align_corners: As for ``interpolate``.

    Warns:
        UserWarning: That the name is an old one.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample(tt.ones(1, 1, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4])
    """
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite(namespaces=_F)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` in mode ``"nearest"``, under an old name.

    Args:
        input: ``(batch, channels, *image)``.
        size: The new sizes; this or ``scale_factor``.
        scale_factor: How many times as large.

    Warns:
        UserWarning: That the name is an old one.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample_nearest(tt.ones(1, 1, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4])
    """
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor)


@composite(namespaces=_F)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` in mode ``"bilinear"`` with aligned corners, under an old name.

    Args:
        input: ``(batch, channels, height, width)``.
        size: The new sizes; this or ``scale_factor``.
        scale_factor: How many times as large.

    Warns:
        UserWarning: That the name is an old one.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample_bilinear(tt.ones(1, 1, 2, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4, 4])
    """
    _warn("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)


def _warn(name: str) -> None:
    warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
    )
