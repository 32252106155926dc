"""ONNX operators of neural networks: activations, convolutions, pools, normalizations, resizing."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..core.tensor import Tensor
from .operators import LINALG, F, T, integers, operator

# -- activations -------------------------------------------------------------------------------


@operator("LeakyRelu")
def _leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Any:
    return F.leaky_relu(x, alpha)


@operator("PRelu")
def _prelu(x: Tensor, slope: Tensor) -> Any:
    return T.where(x < 0, x * slope, x)


@operator("Elu")
def _elu(x: Tensor, *, alpha: float = 1.0) -> Any:
    return F.elu(x, alpha)


@operator("Celu")
def _celu(x: Tensor, *, alpha: float = 1.0) -> Any:
    return F.celu(x, alpha)


@operator("Selu")
def _selu(
    x: Tensor, *, alpha: float = 1.67326319217681884765625,
    gamma: float = 1.05070102214813232421875,
) -> Any:  # fmt: skip
    return gamma * F.elu(x, alpha)


@operator("Gelu")
def _gelu(x: Tensor, *, approximate: str = "none") -> Any:
    return F.gelu(x, approximate=approximate)


@operator("Softplus")
def _softplus(x: Tensor) -> Any:
    return T.logaddexp(x, T.zeros_like(x))


@operator("Softsign")
def _softsign(x: Tensor) -> Any:
    return F.softsign(x)


@operator("HardSigmoid")
def _hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Any:
    return T.clamp(alpha * x + beta, 0, 1)


@operator("HardSwish")
def _hard_swish(x: Tensor) -> Any:
    return F.hardswish(x)


@operator("Mish")
def _mish(x: Tensor) -> Any:
    return F.mish(x)


@operator("Swish")
def _swish(x: Tensor, *, alpha: float = 1.0) -> Any:
    return x * T.sigmoid(alpha * x)


@operator("ThresholdedRelu")
def _thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Any:
    return T.where(x > alpha, x, T.zeros_like(x))


@operator("Shrink")
def _shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Any:
    zero = T.zeros_like(x)
    return T.where(x < -lambd, x + bias, T.where(x > lambd, x - bias, zero)).to(x.dtype)


@operator("Softmax")
def _softmax(x: Tensor, *, axis: int = -1) -> Any:
    return F.softmax(x, dim=axis)


@operator("LogSoftmax")
def _log_softmax(x: Tensor, *, axis: int = -1) -> Any:
    return F.log_softmax(x, dim=axis)


@operator("Hardmax")
def _hardmax(x: Tensor, *, axis: int = -1) -> Any:
    largest = T.argmax(x, axis, keepdim=True)
    return T.zeros_like(x).scatter(axis, largest, T.ones_like(x).narrow(axis, 0, 1))


@operator("Dropout")
def _dropout(
    x: Tensor, ratio: Tensor | None = None, training: Tensor | None = None, *,
    seed: int | None = None, outputs: int = 1,
) -> Any:  # fmt: skip
    probability = 0.5 if ratio is None else float(ratio.item())
    if training is None or not bool(training) or probability == 0.0:
        return (x, T.ones_like(x, dtype=dtypes.bool)) if outputs > 1 else x
    mask = T.rand_like(x.detach()) >= probability
    return x * mask / (1 - probability), mask


# -- matrices and convolutions -----------------------------------------------------------------


@operator("Gemm")
def _gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1.0, beta: float = 1.0,
    transA: int = 0, transB: int = 0,
) -> Any:  # fmt: skip
    y = T.matmul(a.t() if transA else a, b.t() if transB else b)
    y = y if alpha == 1.0 else alpha * y
    return y if c is None or beta == 0.0 else y + (c if beta == 1.0 else beta * c)


def explicit_pads(
    x: Tensor, kernel: list[int], strides: list[int], dilations: list[int], auto_pad: str,
    pads: list[int] | None,
) -> tuple[list[int], list[int]]:  # fmt: skip
    """Return the amounts of padding before and after each spatial dimension.

    Args:
        x: The input, of shape ``(batch, channels, ...)``.
        kernel: Sizes of the window.
        strides: Its steps.
        dilations: Distances between its elements.
        auto_pad: ONNX's attribute: ``"NOTSET"``, ``"VALID"``, ``"SAME_UPPER"``, ``"SAME_LOWER"``.
        pads: ONNX's attribute, for ``"NOTSET"``.
    """
    n = len(kernel)
    if auto_pad in ("NOTSET", ""):
        amounts = pads or [0] * (2 * n)
        return amounts[:n], amounts[n:]
    before, after = [0] * n, [0] * n
    if auto_pad != "VALID":
        for i, size in enumerate(x.shape[2:]):
            reach = (kernel[i] - 1) * dilations[i] + 1
            total = max(0, (-(-size // strides[i]) - 1) * strides[i] + reach - size)
            small, large = total // 2, total - total // 2
            upper = auto_pad == "SAME_UPPER"
            before[i], after[i] = (small, large) if upper else (large, small)
    return before, after


def pad_sides(x: Tensor, before: list[int], after: list[int], value: float = 0.0) -> Any:
    """Return ``x`` padded with a constant before and after each spatial dimension."""
    sides = [each for pair in zip(before[::-1], after[::-1], strict=True) for each in pair]
    return F.pad(x, sides, value=value) if any(sides) else x


@operator("Conv")
def _convolve(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, auto_pad: str = "NOTSET",
    dilations: list[int] | None = None, group: int = 1, kernel_shape: list[int] | None = None,
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    n = x.dim() - 2
    strides, dilations = strides or [1] * n, dilations or [1] * n
    before, after = explicit_pads(x, [*weight.shape[2:]], strides, dilations, auto_pad, pads)
    padding = before
    if before != after:
        x, padding = pad_sides(x, before, after), [0] * n
    function = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    return function(x, weight, bias, strides, padding, dilations, group)


@operator("ConvTranspose")
def _convolve_transposed(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, auto_pad: str = "NOTSET",
    dilations: list[int] | None = None, group: int = 1, kernel_shape: list[int] | None = None,
    output_padding: list[int] | None = None, output_shape: list[int] | None = None,
    pads: list[int] | None = None, strides: list[int] | None = None,
) -> Any:  # fmt: skip
    n = x.dim() - 2
    strides, dilations = strides or [1] * n, dilations or [1] * n
    more = output_padding or [0] * n
    kernel = [*weight.shape[2:]]
    function = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}[n]
    y = function(x, weight, None, strides, 0, 0, group, dilations)
    y = pad_sides(y, [0] * n, more)
    before, after = (pads or [0] * (2 * n))[:n], (pads or [0] * (2 * n))[n:]
    if output_shape is not None or auto_pad.startswith("SAME"):
        wanted = output_shape or [x.shape[2 + i] * strides[i] for i in range(n)]
        for i in range(n):
            full = strides[i] * (x.shape[2 + i] - 1) + more[i] + (kernel[i] - 1) * dilations[i] + 1
            total = full - wanted[-n:][i]
            half = total // 2
            upper = auto_pad == "SAME_UPPER"
            before[i], after[i] = (half, total - half) if upper else (total - half, half)
    y = pad_sides(y, [-each for each in before], [-each for each in after])
    return y if bias is None else y + bias.reshape([1, -1, *[1] * n])


# -- pools -------------------------------------------------------------------------------------


def _extend_for_ceil(
    x: Tensor, kernel: list[int], strides: list[int], dilations: list[int], before: list[int],
    after: list[int],
) -> list[int]:  # fmt: skip
    """Return the padding after each dimension with which the last, partial window fits."""
    more = []
    for i, size in enumerate(x.shape[2:]):
        reach = (kernel[i] - 1) * dilations[i] + 1
        room = size + before[i] + after[i] - reach
        count = -(-room // strides[i]) + 1
        if (count - 1) * strides[i] >= size + before[i]:  # it would begin in the padding
            count -= 1
        more.append(max(0, (count - 1) * strides[i] + reach - size - before[i]))
    return more


@operator("MaxPool")
def _max_pool(
    x: Tensor, *, kernel_shape: list[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
    dilations: list[int] | None = None, pads: list[int] | None = None, storage_order: int = 0,
    strides: list[int] | None = None, outputs: int = 1,
) -> Any:  # fmt: skip
    n = len(kernel_shape)
    strides, dilations = strides or [1] * n, dilations or [1] * n
    before, after = explicit_pads(x, kernel_shape, strides, dilations, auto_pad, pads)
    if ceil_mode:
        after = _extend_for_ceil(x, kernel_shape, strides, dilations, before, after)
    integral = not x.is_floating_point()
    y = x.float() if integral else x
    y = pad_sides(y, before, after, -math.inf)
    function = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[n]
    if outputs == 1:
        return function(y, kernel_shape, strides, 0, dilations).to(x.dtype)
    values, places = function(y, kernel_shape, strides, 0, dilations, return_indices=True)
    return values.to(x.dtype), _places_without_padding(
        places, [*x.shape], [*y.shape], before, storage_order
    )


def _places_without_padding(
    places: Tensor, shape: list[int], padded: list[int], before: list[int], storage_order: int
) -> Any:
    """Return ONNX's indices of a pool: into the whole tensor, without padding."""
    sizes = shape[2:]
    parts, rest = [], places
    for size, offset in zip(padded[:1:-1], before[::-1], strict=True):
        parts.append(rest % size - offset)
        rest = T.div(rest, size, rounding_mode="floor")
    axes = [*zip(parts[::-1], sizes, strict=True)]
    found = T.zeros_like(places)
    for part, size in axes[::-1] if storage_order else axes:
        found = found * size + part
    rows = T.arange(math.prod(shape[:2])).reshape([*shape[:2], *[1] * len(sizes)])
    return found + rows * math.prod(sizes)


def _window_sums(x: Tensor, kernel: list[int], strides: list[int], dilations: list[int]) -> Any:
    """Return the sum of each window, for each channel."""
    channels, n = x.shape[1], len(kernel)
    ones = T.ones([channels, 1, *kernel], dtype=x.dtype, device=x.device)
    function = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[n]
    return function(x, ones, None, strides, 0, dilations, channels)


@operator("AveragePool")
def _average_pool(
    x: Tensor, *, kernel_shape: list[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
    count_include_pad: int = 0, dilations: list[int] | None = None, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    n = len(kernel_shape)
    strides, dilations = strides or [1] * n, dilations or [1] * n
    before, after = explicit_pads(x, kernel_shape, strides, dilations, auto_pad, pads)
    last = after
    if ceil_mode:
        last = _extend_for_ceil(x, kernel_shape, strides, dilations, before, after)
    ones = T.ones_like(x[:1, :1].detach())
    ones = pad_sides(ones, before, after, 1.0 if count_include_pad else 0.0)
    ones = pad_sides(ones, [0] * n, [b - a for a, b in zip(after, last, strict=True)])
    total = _window_sums(pad_sides(x, before, last), kernel_shape, strides, dilations)
    return total / _window_sums(ones, kernel_shape, strides, dilations)


@operator("LpPool")
def _norm_pool(
    x: Tensor, *, kernel_shape: list[int], auto_pad: str = "NOTSET", ceil_mode: int = 0,
    dilations: list[int] | None = None, p: int = 2, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Any:  # fmt: skip
    n = len(kernel_shape)
    strides, dilations = strides or [1] * n, dilations or [1] * n
    before, after = explicit_pads(x, kernel_shape, strides, dilations, auto_pad, pads)
    if ceil_mode:
        after = _extend_for_ceil(x, kernel_shape, strides, dilations, before, after)
    powers = pad_sides(T.abs(x) ** p, before, after)
    return _window_sums(powers, kernel_shape, strides, dilations) ** (1 / p)


@operator("GlobalAveragePool")
def _global_average_pool(x: Tensor) -> Any:
    return T.mean(x, tuple(range(2, x.dim())), keepdim=True)


@operator("GlobalMaxPool")
def _global_max_pool(x: Tensor) -> Any:
    return T.amax(x, tuple(range(2, x.dim())), keepdim=True)


# -- normalizations ----------------------------------------------------------------------------


@operator("BatchNormalization")
def _batch_normalize(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, *, epsilon: float = 1e-5,
    momentum: float = 0.9, training_mode: int = 0, outputs: int = 1,
) -> Any:  # fmt: skip
    if not training_mode:
        return F.batch_norm(x, mean, var, scale, bias, False, 0.0, epsilon)
    dims = tuple(i for i in range(x.dim()) if i != 1)
    now, spread = T.mean(x, dims), T.var(x, dims, correction=0)
    y = F.batch_norm(x, None, None, scale, bias, True, 0.0, epsilon)
    running = mean * momentum + now * (1 - momentum), var * momentum + spread * (1 - momentum)
    return (y, *running)


@operator("InstanceNormalization")
def _instance_normalize(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5) -> Any:
    return F.group_norm(x, x.shape[1], scale, bias, epsilon)


@operator("LayerNormalization")
def _layer_normalize(
    x: Tensor, scale: Tensor, bias: Tensor | None = None, *, axis: int = -1,
    epsilon: float = 1e-5, stash_type: int = 1, outputs: int = 1,
) -> Any:  # fmt: skip
    dims = tuple(range(axis % x.dim(), x.dim()))
    mean = T.mean(x, dims, keepdim=True)
    scaled = T.rsqrt(T.var(x, dims, correction=0, keepdim=True) + epsilon)
    y = (x - mean) * scaled * scale
    y = y if bias is None else y + bias
    return (y, mean, scaled) if outputs > 1 else y


@operator("RMSNormalization")
def _rms_normalize(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    dims = tuple(range(axis % x.dim(), x.dim()))
    return x * T.rsqrt(T.mean(T.square(x), dims, keepdim=True) + epsilon) * scale


@operator("GroupNormalization")
def _group_normalize(
    x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Any:  # fmt: skip
    if scale.numel() != x.shape[1]:  # one for each group, up to opset 20
        scale, bias = (T.repeat_interleave(v, x.shape[1] // num_groups) for v in (scale, bias))
    return F.group_norm(x, num_groups, scale, bias, epsilon)


@operator("LRN")
def _normalize_locally(
    x: Tensor, *, size: int, alpha: float = 0.0001, beta: float = 0.75, bias: float = 1.0
) -> Any:
    before = (size - 1) // 2
    squares = T.square(x).reshape(x.shape[0], 1, x.shape[1], -1)
    squares = F.pad(squares, (0, 0, before, size - 1 - before))
    sums = F.avg_pool2d(squares, (size, 1), 1) * size
    return x / (bias + alpha / size * sums.reshape(x.shape)) ** beta


@operator("LpNormalization")
def _norm_normalize(x: Tensor, *, axis: int = -1, p: int = 2) -> Any:
    norm = LINALG.vector_norm(x, p, axis, keepdim=True)
    return x / T.where(norm == 0, T.ones_like(norm), norm)


@operator("MeanVarianceNormalization")
def _normalize_mean_and_variance(x: Tensor, *, axes: list[int] | None = None) -> Any:
    dims = tuple([0, 2, 3] if axes is None else axes)
    mean = T.mean(x, dims, keepdim=True)
    return (x - mean) / (T.sqrt(T.mean(x * x, dims, keepdim=True) - mean * mean) + 1e-9)


@operator("GridSample")
def _sample_grid(
    x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear",
    padding_mode: str = "zeros",
) -> Any:  # fmt: skip
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    return F.grid_sample(x, grid, mode, padding_mode, bool(align_corners))


# -- resizing ----------------------------------------------------------------------------------


@operator("Resize")
def _resize(
    x: Tensor, roi: Tensor | None = None, scales: Tensor | None = None,
    sizes: Tensor | None = None, *, antialias: int = 0, axes: list[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel", cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0, extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch", mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Any:  # fmt: skip
    """Resize each axis by a matrix of weights, which is what every mode is."""
    if coordinate_transformation_mode == "tf_crop_and_resize":
        raise NotImplementedError(
            f"coordinate_transformation_mode={coordinate_transformation_mode!r} is not supported"
        )
    chosen = [*range(x.dim())] if axes is None else [axis % x.dim() for axis in axes]
    known = scales is not None and scales.numel() > 0
    factors, lengths = _output_sizes(
        x, chosen, scales.reshape(-1).tolist() if known else None,  # type: ignore[union-attr]
        None if sizes is None else integers(sizes), keep_aspect_ratio_policy,
    )  # fmt: skip
    for axis, factor, length in zip(chosen, factors, lengths, strict=True):
        if factor != 1.0 or length != x.shape[axis]:
            weights = _resize_weights(
                x.shape[axis], length, factor, coordinate_transformation_mode, mode, nearest_mode,
                cubic_coeff_a, bool(exclude_outside), bool(antialias),
            )  # fmt: skip
            matrix = T.tensor(weights, dtype=dtypes.float64).to(
                x.dtype if x.is_floating_point() else dtypes.float32
            )
            y = T.matmul(x.movedim(axis, -1).to(matrix.dtype), matrix.t().to(x.device))
            x = y.movedim(-1, axis).to(x.dtype)
    return x


def _output_sizes(
    x: Tensor, axes: list[int], scales: list[float] | None, sizes: list[int] | None, policy: str
) -> tuple[list[float], list[int]]:
    """Return the factor and the new size of each resized axis."""
    old = [x.shape[axis] for axis in axes]
    if scales is not None:
        return scales, [math.floor(n * s) for n, s in zip(old, scales, strict=True)]
    if sizes is None:
        raise ValueError("Resize: expected the input scales or the input sizes, got neither")
    factors = [size / n for size, n in zip(sizes, old, strict=True)]
    if policy != "stretch":
        factor = min(factors) if policy == "not_larger" else max(factors)
        factors = [factor] * len(axes)
        sizes = [math.floor(n * factor + 0.5) for n in old]
    return factors, sizes


def _resize_weights(
    size: int, length: int, factor: float, transform: str, mode: str, nearest: str, a: float,
    exclude_outside: bool, antialias: bool,
) -> list[list[float]]:  # fmt: skip
    """Return the weights of the input's elements for each output element of one axis."""
    rows = []
    for i in range(length):
        x = _source_position(i, size, length, factor, transform)
        row = [0.0] * size
        if mode == "nearest":
            row[min(max(_round_position(x, nearest), 0), size - 1)] = 1.0
        else:
            weights = _interpolation_weights(x, mode, a, min(factor, 1.0) if antialias else 1.0)
            if exclude_outside:
                weights = {j: w for j, w in weights.items() if 0 <= j < size}
            total = sum(weights.values())
            for j, weight in weights.items():
                row[min(max(j, 0), size - 1)] += weight / total
        rows.append(row)
    return rows


def _source_position(i: int, size: int, length: int, factor: float, transform: str) -> float:
    """Return the position in the input of an output element."""
    if transform == "align_corners":
        return 0.0 if length == 1 else i * (size - 1) / (factor * size - 1)
    if transform == "asymmetric":
        return i / factor
    if transform == "pytorch_half_pixel" and length == 1:
        return 0.0
    center = 0.0
    if transform == "half_pixel_symmetric":
        center = size / 2 * (1 - length / (factor * size))
    return center + (i + 0.5) / factor - 0.5


def _round_position(x: float, mode: str) -> int:
    """Return the index nearest to a position."""
    if mode == "round_prefer_floor":
        return math.ceil(x - 0.5)
    if mode == "round_prefer_ceil":
        return math.floor(x + 0.5)
    return math.floor(x) if mode == "floor" else math.ceil(x)


def _interpolation_weights(x: float, mode: str, a: float, scale: float) -> dict[int, float]:
    """Return the weights of the elements around a position; ``scale`` below 1 widens the kernel."""
    reach = (1 if mode == "linear" else 2) / scale
    kernel = _linear_kernel if mode == "linear" else _cubic_kernel
    first, last = math.floor(x - reach) + 1, math.ceil(x + reach) - 1
    if scale == 1.0:  # a position on an element has the same neighbors as one beside it
        base = math.floor(x)
        first, last = (base, base + 1) if mode == "linear" else (base - 1, base + 2)
    return {j: kernel((x - j) * scale, a) for j in range(first, last + 1)}


def _linear_kernel(d: float, a: float) -> float:
    return max(0.0, 1.0 - abs(d))


def _cubic_kernel(d: float, a: float) -> float:
    """Keys: Cubic convolution interpolation, IEEE Transactions on ASSP 29 (1981)."""
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0
