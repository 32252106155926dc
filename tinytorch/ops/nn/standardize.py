"""Zero mean and unit variance: what batch, instance and group normalization share."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, op
from ...dispatch.out import scalar_name


@op(public=False, materialize=False, node="NativeBatchNormBackward0")
def standardize(
    xp: Backend,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    axes: tuple[int, ...],
    eps: float,
) -> tuple[Array, Array, Array]:
    """``(input - mean) / sqrt(var + eps) * weight + bias``, the mean and the variance.

    Args:
        xp: The backend.
        input: Array of any shape.
        weight: Array that broadcasts with ``input``.
        bias: The same.
        axes: The dimensions that mean and variance are taken over; they keep size 1.
        eps: Added to the variance.
    """

    def part(at: Any, out: Any) -> tuple[Array, ...]:
        w, b = (_there(given, at, input.ndim) for given in (weight, bias))
        return _standardized(xp, input[at], w, b, axes, eps, out)

    return _in_pieces(xp, part, input, axes)


def _standardized(
    xp: Backend, input: Array, weight: Any, bias: Any, axes: tuple[int, ...], eps: float, out: Any
) -> tuple[Array, Array, Array]:
    mean = xp.mean(input, axis=axes, keepdims=True)
    out = xp.subtract(input, mean, out=out)
    var = _sum_of_products(xp, out, out, axes) / _count(input, axes)
    factor = 1.0 / xp.sqrt(var + eps)
    out *= factor if weight is None else factor * weight  # small, both: one pass over the input
    if bias is not None:
        out += bias
    return out, mean, var


def _in_pieces(xp: Backend, part: Any, input: Array, axes: Any) -> tuple[Any, ...]:
    """The results of ``part`` for pieces of the input that fit the processor's cache.

    Args:
        xp: The backend.
        part: Of the index of a piece and where its first result, of the piece's shape, goes
            (None: anywhere). The other results are small, or None.
        input: Array; it is cut along the first dimension that is not in ``axes``.
        axes: Dimensions.
    """
    axis = next((i for i in range(input.ndim) if i not in axes), None)
    row = math.prod(input.shape[_first_of_rows(input, axes) :])
    block = xp.block_elements
    if axis is None or not block or input.size < 2 * block or not input.flags.c_contiguous:
        with xp.row_after_row(row, input.size):
            return part((), None)  # type: ignore[no-any-return]
    out, length = xp.empty(input.shape, input.dtype), input.shape[axis]
    step = max(1, block * length // input.size)

    def work(start: int, stop: int) -> list[Any]:
        places = (slice(i, i + step) for i in range(start * step, min(stop * step, length), step))
        pieces = ((*(slice(None),) * axis, place) for place in places)
        with xp.row_after_row(row, input.size):
            return [part(at, out[at])[1:] for at in pieces]

    small = [found for some in xp.in_parts(work, -(-length // step)) for found in some]
    whole = (None if x[0] is None else xp.concatenate(x, axis) for x in zip(*small, strict=True))
    return out, *whole


def _first_of_rows(array: Any, axes: Any) -> int:
    """The first of the last dimensions that are all in ``axes``."""
    first: int = array.ndim
    while first - 1 in axes:
        first -= 1
    return first


def _there(array: Any, at: tuple[slice, ...], ndim: int) -> Any:
    """What of a parameter belongs to a piece of the input of so many dimensions."""
    if array is None or not at:
        return array
    axis = len(at) - 1 - (ndim - array.ndim)
    if axis < 0 or array.shape[axis] == 1:
        return array
    return array[(*(slice(None),) * axis, at[-1])]


@standardize.vjp_joint("input", "weight", "bias")
def _standardize_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, axes: Any, eps: float
) -> tuple[Any, ...]:
    # Mean and variance, the other results, are only used where nothing is recorded.
    g = g[0]
    if isinstance(xp, Backend):

        def part(at: Any, out: Any) -> tuple[Any, ...]:
            w = _there(weight, at, input.ndim)
            return _raw_gradients(xp, g[at], in_shape, input[at], w, axes, eps, out)

        found = _in_pieces(xp, part, input, axes)
        return found if in_shape[0] is not None else (None, *found[1:])
    centered = input - xp.mean(input, axis=axes, keepdims=True)
    scale = 1.0 / xp.sqrt(xp.mean(centered * centered, axis=axes, keepdims=True) + eps)
    normal = centered * scale
    for_input = None
    if in_shape[0] is not None:
        for_input = unstandardized(xp, g, weight, normal, scale, axes)
    return (
        for_input,
        None if in_shape[1] is None else g * normal,
        g if in_shape[2] is not None else None,
    )


def unstandardized(xp: Any, g: Any, weight: Any, normal: Any, scale: Any, axes: Any) -> Any:
    """The gradient of an input that was normalized over ``axes`` and multiplied by ``weight``.

    With n the normalized input and s one over its deviation, it is s (h - mean(h) - n mean(h n)),
    h = g w.  Ioffe, Szegedy 2015, arXiv:1502.03167; Ba et al. 2016, arXiv:1607.06450.
    """
    h = g if weight is None else g * weight
    mean = xp.mean(h, axis=axes, keepdims=True)
    return scale * (h - mean - normal * xp.mean(h * normal, axis=axes, keepdims=True))


def _raw_gradients(
    xp: Backend, g: Array, in_shape: Any, input: Array, weight: Any, axes: Any, eps: float,
    out: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The same on raw arrays, in as few passes over them as it takes.

    What is summed up is summed first over the axes along which the parameters are constant:
    these sums are the parameters' gradients, and all that the input's takes of ``g``.
    """
    shape = None if weight is None else weight.shape
    flat, rest = _constant_along(axes, input.ndim, shape, in_shape[2])
    count = _count(input, axes)
    centered = input - xp.mean(input, axis=axes, keepdims=True)
    var = _sum_of_products(xp, centered, centered, axes) / count
    scale = 1.0 / xp.sqrt(var + eps)
    sums = xp.sum(g, axis=flat, keepdims=True)
    products = _sum_of_products(xp, g, centered, flat) * scale
    of_weight = None if in_shape[1] is None else products
    of_bias = None if in_shape[2] is None else sums
    if in_shape[0] is None:
        return None, of_weight, of_bias
    if weight is not None:
        sums, products = sums * weight, products * weight
    if rest:
        sums, products = (xp.sum(x, axis=rest, keepdims=True) for x in (sums, products))
    slope = xp.multiply(g, scale if weight is None else scale * weight, out=out)
    centered *= products * (scale * scale / count)
    slope -= centered
    slope -= sums * (scale / count)
    return slope, of_weight, of_bias


def _constant_along(axes: Any, ndim: int, *shapes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those of the axes along which no array of these shapes varies, and the others."""
    varying = {
        i + ndim - len(shape)
        for shape in shapes if shape is not None
        for i, size in enumerate(shape) if size != 1
    }  # fmt: skip
    axes = [axis % ndim for axis in axes]
    return tuple(a for a in axes if a not in varying), tuple(a for a in axes if a in varying)


def _count(array: Any, axes: Any) -> int:
    return math.prod(array.shape[axis] for axis in axes)


def _sum_of_products(xp: Backend, a: Array, b: Array, axes: tuple[int, ...]) -> Array:
    """The sum of ``a * b`` over the axes, which keep size 1; products of rows are not stored."""
    ndim, last = a.ndim, _first_of_rows(a, axes)
    if last == ndim or a.shape != b.shape:
        return xp.sum(a * b, axis=axes, keepdims=True)
    form = (*a.shape[:last], math.prod(a.shape[last:]))
    sums = xp.sum_of_products(xp.reshape(a, form), xp.reshape(b, form))
    sums = xp.reshape(sums, (*a.shape[:last], *(1,) * (ndim - last)))
    before = tuple(axis for axis in axes if axis < last)
    return xp.sum(sums, axis=before, keepdims=True) if before else sums


def check_float(name: str, input: Tensor) -> None:
    """NotImplementedError unless ``input`` holds real floating-point numbers."""
    if input._data.dtype.kind not in "fV":
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


def check_parameter_dtypes(name: str, input: Tensor, *given: Tensor | None) -> None:
    """RuntimeError unless parameters have the input's dtype, or float32 for halves."""
    for parameter in given:
        if parameter is None or parameter._data.dtype is input._data.dtype:
            continue
        if parameter.dtype is input.dtype:
            continue
        if input._data.dtype.itemsize == 2 and parameter.dtype is dtypes.float32:
            continue
        raise RuntimeError(
            f"{name}: mixed dtype (CPU): expect parameter to have scalar type of "
            f"{scalar_name(input.dtype)}, got {scalar_name(parameter.dtype)}"
        )


def single(*tensors: Any) -> tuple[Any, ...]:
    """Halves in single precision, in which their statistics are taken; others as they are."""
    return tuple(
        t.to(dtypes.float32) if t is not None and t.dtype in _HALVES else t for t in tensors
    )


_HALVES = (dtypes.float16, dtypes.bfloat16)


def along_channels(parameter: Any, ndim: int) -> Any:
    """A number per channel, in the shape ``(channels, 1, ...)`` that broadcasts with a batch."""
    return None if parameter is None else parameter.reshape((-1, *(1,) * (ndim - 2)))
