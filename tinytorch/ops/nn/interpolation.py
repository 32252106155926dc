"""Images in other sizes."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from ...warnings import warn
from ..checks import integer_among
from ..shape.views import following
from .adaptive_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .resample import Resampling, resample, resampling

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


@composite(namespaces=_F, method=False)
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
        >>> import tinytorch as tt
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
        sizes = [integer_among("interpolate", "size", n, given) for n in given]
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


@composite(namespaces=_F, method=False)
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
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample(tt.ones(1, 1, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4])
    """
    _warn("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite(namespaces=_F, method=False)
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
        >>> import tinytorch as tt
        >>> with warnings.catch_warnings(action="ignore"):
        ...     tt.nn.functional.upsample_nearest(tt.ones(1, 1, 2), scale_factor=2).shape
        tinytorch.Size([1, 1, 4])
    """
    _warn("upsample_nearest")
    return interpolate(input, size, scale_factor)


@composite(namespaces=_F, method=False)
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
        >>> import tinytorch as tt
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
