"""Normalization over a sample's features or over a batch.

Batch, instance and group normalization share the computation of zero mean and unit variance.
"""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.call import write_if_unrecorded
from ...dispatch.op import Array, Backend, Reduced, Shape, accepts_none, composite, op
from ...dispatch.out import scalar_name
from ..checks import as_int, as_ints
from ..memory_order import as_row_major, suggest_memory_format
from ..reduce.norms import p_norm
from ..shape.views import contiguous, following


@op(public=False, node="NativeBatchNormBackward0")
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
@accepts_none
def _standardize_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, axes: Any, eps: float
) -> tuple[Any, ...]:
    # Mean and variance, the other results, are only used where nothing is recorded.
    g = g[0]
    if not xp.records:

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


#: Fewer elements than this are normalized in one go.
_FEW = 16384


@op(node="NativeLayerNormBackward0")
def _layer_norm(
    xp: Backend, input: Array, weight: Array | None, bias: Array | None, count: int, eps: float
) -> Array:
    """Normalize over the last ``count`` dimensions; see ``layer_norm``."""
    fused = xp.fused("layer_norm", input, weight, bias, count, eps) if xp.fuses else None
    if fused is not None:
        return fused
    native, shape = input.dtype, input.shape
    if not input.size:
        return xp.zeros(shape, native)
    if native.char == "e":
        input, weight, bias = _single(xp, input, weight, bias)
    size = shape[-1] if count == 1 else math.prod(shape[len(shape) - count :])

    if count > 1:
        weight, bias = (None if p is None else p.reshape(-1) for p in (weight, bias))

    def part(x: Array) -> Array:
        mean = xp.sum_along(x, -1)
        mean /= xp.number(x.dtype)(size)
        out = x - mean
        out *= _scale(xp, out, eps)
        if weight is not None:
            out *= weight
        if bias is not None:
            out += bias
        return out

    if input.size < _FEW and len(shape) == 2 and count == 1:
        out = part(input)
        if out.flags.c_contiguous and native.char != "e":
            return out
    else:
        out = xp.blockwise(part, input.reshape(-1, size), unit=size).reshape(shape)
    return as_row_major(xp, xp.astype(out, native) if native.char == "e" else out)


def _single(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    """Halves in single precision, in which their statistics are taken; others as they are."""
    return tuple(
        xp.astype(a, "float32") if a is not None and a.dtype == "float16" else a for a in arrays
    )


def _rstd(xp: Any, centered: Any, axes: tuple[int, ...], eps: float) -> Any:
    """One over the standard deviation of what was centered."""
    return 1.0 / xp.sqrt(xp.mean(centered * centered, axis=axes, keepdims=True) + eps)


@_layer_norm.vjp_joint("input", "weight", "bias")
def _layer_norm_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, count: int, eps: float
) -> tuple[Any, ...]:
    g, input, weight = _single(xp, g, input, weight)
    if not xp.records:
        return _by_rows(xp, g, in_shape, input, weight, count, eps)
    axes = tuple(range(-count, 0))
    centered = input - xp.mean(input, axis=axes, keepdims=True)
    scale = _rstd(xp, centered, axes, eps)
    normal = centered * scale
    lead = tuple(range(g.ndim - count))
    for_input = None
    if in_shape[0] is not None:
        for_input = unstandardized(xp, g, weight, normal, scale, axes)
    return (
        for_input,
        None if in_shape[1] is None else xp.sum(g * normal, axis=lead),
        None if in_shape[2] is None else xp.sum(g, axis=lead),
    )


def _by_rows(
    xp: Backend, g: Array, in_shape: Any, input: Array, weight: Any, count: int, eps: float
) -> tuple[Any, ...]:
    """The same gradients on raw arrays, a few rows at a time."""
    shape = input.shape[input.ndim - count :]
    form = (math.prod(input.shape[: input.ndim - count]), math.prod(shape))
    x, gs, w = input.reshape(form), g.reshape(form), None if weight is None else weight.reshape(-1)
    out = None if in_shape[0] is None else xp.empty(x.shape, input.dtype)
    step = max(1, (xp.block_elements or x.size) // max(1, form[1]))

    def part(start: int, stop: int) -> list[Array | None]:
        sums = [None if s is None else xp.zeros(form[1], input.dtype) for s in in_shape[1:]]
        starts = range(start * step, min(stop * step, len(x) if x.size else 0), step)
        for rows in (slice(at, at + step) for at in starts):
            with xp.row_after_row(form[1], x.size):
                normal = _of_rows(xp, gs[rows], x[rows], w, eps, None if out is None else out[rows])
            if sums[0] is not None:
                sums[0] += xp.sum(xp.multiply(normal, gs[rows], out=normal), axis=0)
            if sums[1] is not None:
                sums[1] += xp.sum(gs[rows], axis=0)
        return sums

    parts = xp.in_parts(part, -(-len(x) // step))
    of_weight, of_bias = (_total(xp, column, shape) for column in zip(*parts, strict=True))
    return None if out is None else out.reshape(input.shape), of_weight, of_bias


def _of_rows(xp: Backend, g: Array, x: Array, weight: Any, eps: float, out: Any) -> Any:
    """Write the gradient for the rows ``x`` to ``out``, if any; return them normalized."""
    normal = x - xp.mean(x, axis=1, keepdims=True)
    scale = _scale(xp, normal, eps)
    normal *= scale
    if out is not None:
        h = g if weight is None else g * weight
        xp.multiply(normal, xp.sum_of_products(h, normal) / -x.shape[1], out=out)
        out += h
        out -= xp.mean(h, axis=1, keepdims=True)
        out *= scale
    return normal


def _scale(xp: Backend, centered: Array, eps: float) -> Array:
    """One over the standard deviation of rows that were centered."""
    number = xp.number(centered.dtype)
    squares = xp.sum_of_products(centered, centered)
    squares /= number(centered.shape[-1])
    squares += number(eps)
    return number(1.0) / xp.sqrt(squares, squares)


def _total(xp: Backend, sums: Any, shape: Any) -> Any:
    """The sum of what each part has summed; None if nobody wanted it."""
    if sums[0] is None:
        return None
    total = sums[0]
    for one in sums[1:]:
        total = total + one
    return xp.reshape(total, shape)


@composite(namespaces=("nn.functional",), reduced=Reduced.FIRST)
def layer_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions.

    Args:
        input: ``(*, *normalized_shape)``.
        normalized_shape: Sizes of the dimensions that mean and variance are taken over.
        weight: Tensor of that shape; default none.
        bias: Tensor of that shape; default none.
        eps: Added to the variance; default 1e-5.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes do not fit.

    Example:
        >>> tt.nn.functional.layer_norm(tt.tensor([[1.0, 3.0]]), (2,), eps=0.0)
        tensor([[-1.,  1.]])

    Reference:
        Ba, Kiros, Hinton: Layer Normalization, arXiv:1607.06450.
    """
    shape = _checked_sizes("layer_norm", input, normalized_shape)
    _check_shape("weight", weight, shape)
    _check_shape("bias", bias, shape)
    check_parameter_dtypes("layer_norm", input, weight, bias)
    check_float("LayerNormKernelImpl", input)
    return _layer_norm(input, weight, bias, len(shape), eps)


def _check_shape(name: str, given: Tensor | None, shape: tuple[int, ...]) -> None:
    if given is not None and given._data.shape != shape:
        raise RuntimeError(
            f"layer_norm: Expected {name} to be of same shape as normalized_shape, but got "
            f"{name} of shape {list(given.shape)} and normalized_shape = {list(shape)}"
        )


def _checked_sizes(name: str, input: Tensor, sizes: Any) -> tuple[int, ...]:
    """``normalized_shape`` as ints, which are those of the last dimensions."""
    shape = tuple(sizes)
    if shape and shape[0].__class__ is not int:
        shape = as_ints(name, "normalized_shape", shape)
    if not shape:
        raise RuntimeError(
            f"{name}: Expected normalized_shape to be at least 1-dimensional, i.e., containing at "
            "least one element, but got normalized_shape = []"
        )
    if input._data.shape[-len(shape) :] != shape:
        stars = ", ".join(["*", *map(str, shape)])
        raise RuntimeError(
            f"{name}: Given normalized_shape={list(shape)}, expected input with shape [{stars}], "
            f"but got input of size{list(input.shape)}"
        )
    return shape


@composite(namespaces=("nn.functional", ""), reduced=Reduced.FIRST)
def rms_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """``input / sqrt(mean(input ** 2) + eps) * weight`` over the last dimensions.

    Args:
        input: ``(*, *normalized_shape)``.
        normalized_shape: Sizes of the dimensions that the mean is taken over.
        weight: Tensor of that shape; default none.
        eps: Added to the mean; default the machine epsilon of ``input``'s dtype.

    Example:
        >>> tt.nn.functional.rms_norm(tt.tensor([3.0, 3.0]), (2,), eps=0.0)
        tensor([1., 1.])

    Reference:
        Zhang, Sennrich: Root Mean Square Layer Normalization, arXiv:1910.07467.
    """
    from ...dtypes import finfo

    if input.ndim < len(normalized_shape):
        raise ValueError(
            f"Input tensor must have at least {len(normalized_shape)} dimensions, but got "
            f"{input.ndim}"
        )
    shape = _checked_sizes("rms_norm", input, normalized_shape)
    if weight is not None and tuple(weight.shape) != shape:
        raise RuntimeError(
            "rms_norm: Expected weight to be of same shape as normalized_shape, but got weight of "
            f"shape {list(weight.shape)} and normalized_shape = {list(shape)}"
        )
    if not (input.is_floating_point() or input.is_complex()):
        check_float("rms_norm", input)
    x, w = single(input, weight)
    tiny = finfo(x.dtype).eps if eps is None else eps
    dims = tuple(range(-len(shape), 0))
    out = x * ((x * x).mean(dims, True) + tiny).rsqrt()
    out = out if w is None else out * w
    return following(out if out.dtype is input.dtype else out.to(input.dtype), input)


@composite(namespaces=("nn.functional",), reduced=Reduced.FIRST, node="NativeGroupNormBackward0")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias`` over groups of channels.

    Args:
        input: ``(batch, channels, *)``.
        num_groups: How many groups of neighbouring channels share their statistics.
        weight: ``(channels,)``; default none.
        bias: ``(channels,)``; default none.
        eps: Added to the variance; default 1e-5.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.
        ValueError: If there is one value per group.

    Example:
        >>> tt.nn.functional.group_norm(tt.tensor([[1.0, 3.0]]), 1, eps=0.0)
        tensor([[-1.,  1.]])

    Reference:
        Wu, He: Group Normalization, arXiv:1803.08494.
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"group_norm: Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    batch, channels = input.shape[:2]
    num_groups = as_int("group_norm", "num_groups", num_groups)
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            "group_norm: Expected number of channels in input to be divisible by num_groups, but "
            f"got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != (channels,):
            raise RuntimeError(
                f"group_norm: Expected {name} to be a vector of size equal to the number of "
                f"channels in input, but got {name} of shape {list(given.shape)} and input of "
                f"shape {list(input.shape)}"
            )
    check_float("group_norm", input)
    check_parameter_dtypes("group_norm", input, weight, bias)
    x, weight, bias = single(input, weight, bias)
    members, places = channels // num_groups, math.prod(input.shape[2:])
    if batch * members * places == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)}"
        )
    if not members * places:
        return input.clone()
    grouped = x.reshape(batch, num_groups, members, places)
    w, b = (None if p is None else p.reshape(num_groups, members, 1) for p in (weight, bias))
    out = standardize(grouped, w, b, (2, 3), eps)[0].reshape(x.shape).to(input.dtype)
    return contiguous(out, suggest_memory_format(input._data))


@composite(namespaces=("nn.functional",))
def normalize(
    input: Tensor,
    p: float | str | None = 2.0,
    dim: int = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """``input`` divided by its p-norm along ``dim``.

    Args:
        input: Tensor of any shape.
        p: Which norm; default 2, which is also that of ``"fro"`` and None.
        dim: The dimension; default 1.
        eps: The least to divide by; default 1e-12.
        out: Where to write the result.

    Returns:
        Tensor of ``input``'s shape.

    Raises:
        RuntimeError: For integers.
        IndexError: If there is no such dimension.

    Example:
        >>> tt.nn.functional.normalize(tt.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    x: Any = input
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            "normalize: linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {scalar_name(x.dtype)}"
        )
    order: Any = p.item() if isinstance(p, Tensor) else p
    size = p_norm(x, 2 if order in ("fro", None) else order, dim, True)
    result = x / size.clamp(min=eps)
    return result if out is None else write_if_unrecorded(out, result, normalize.op)  # type: ignore
