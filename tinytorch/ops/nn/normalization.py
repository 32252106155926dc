"""Layer, RMS and group normalization, and the kernel of batch and instance normalization.

``standardize`` serves batch, instance and group normalization, ``_layer_norm`` the last dimensions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.call import write_if_unrecorded
from ...dispatch.op import (
    Array,
    Backend,
    Reduced,
    Shape,
    accepts_none,
    composite,
    op,
    reads_results,
)
from ...dispatch.out import scalar_name
from ..checks import as_int, as_ints, check_supported
from ..memory_order import as_row_major, suggest_memory_format
from ..reduce.norms import p_norm
from ..shape.views import contiguous, following


#: Arrays with fewer elements are normalized at once, not block by block.
_FEW = 16384


@op(public=False, node="NativeBatchNormBackward0")
def standardize(
    xp: Backend,
    input: Array,
    weight: Array | None,
    bias: Array | None,
    layout: Layout,
    eps: float,
) -> tuple[Array, Array, Array]:
    """``(input - mean) / sqrt(var + eps) * weight + bias``, the mean and the variance.

    Args:
        xp: The backend.
        input: Array of any shape.
        weight: Array that ``layout`` reshapes, or None.
        bias: Array that ``layout`` reshapes, or None.
        layout: Dimensions of the input and its parameters. Mean and variance have size 1 in those
            that they are taken over.
        eps: Added to the variance.
    """
    if xp.fuses and layout.is_batch(input.ndim):
        fused = xp.fused("batch_norm", input, weight, bias, eps)
        if fused is not None:
            return fused  # type: ignore[no-any-return]
    x = layout.view(xp, input)
    w, b = layout.parameter(xp, weight), layout.parameter(xp, bias)

    def compute(index: Any, out: Any) -> tuple[Array, ...]:
        v, c = (_index_parameter(given, index, x.ndim) for given in (w, b))
        return _standardize_block(xp, x[index], v, c, layout.axes, eps, out)

    if x.size < _FEW:
        out, mean, var = _standardize_block(xp, x, w, b, layout.axes, eps, None)
    else:
        out, mean, var = _map_blocks(xp, compute, x, layout.axes)
    return out if x is input else xp.reshape(out, input.shape), mean, var


class Layout(NamedTuple):
    """Dimensions of an array that ``standardize`` normalizes.

    Attributes:
        axes: The dimensions that mean and variance are taken over.
        parameters: Shape of weight and bias, which broadcasts with the input.
        shape: Shape as which the input is read; None for its own.
    """

    axes: tuple[int, ...]
    parameters: tuple[int, ...]
    shape: tuple[int, ...] | None = None

    def is_batch(self, ndim: int) -> bool:
        """Whether statistics are over all dimensions but the second of ``ndim``."""
        return self.shape is None and self.axes == (0, *range(2, ndim))

    def view(self, xp: Any, array: Any) -> Any:
        """``array``, which has the input's shape, in ``shape``."""
        return array if self.shape is None else xp.reshape(array, self.shape)

    def parameter(self, xp: Any, given: Any) -> Any:
        """A parameter in a shape that broadcasts with the input; None stays None."""
        return None if given is None else xp.reshape(given, self.parameters)


def _standardize_block(
    xp: Backend, input: Array, weight: Any, bias: Any, axes: tuple[int, ...], eps: float, out: Any
) -> tuple[Array, Array, Array]:
    """The results of ``standardize``: the normalized input, the mean and the variance.

    The first is written to ``out``, or is a new array if that is None.
    """
    mean = xp.mean(input, axis=axes, keepdims=True)
    out = xp.subtract(input, mean, out=out)
    var = _sum_of_products(xp, out, out, axes)
    number = xp.number(var.dtype)
    var /= number(_count(input, axes))
    factor = var + number(eps)
    factor = number(1.0) / xp.sqrt(factor, factor)
    # factor and weight are small arrays: multiply them first, for one pass over the input.
    out *= factor if weight is None else factor * weight
    if bias is not None:
        out += bias
    return out, mean, var


def _map_blocks(xp: Backend, compute: Any, input: Array, axes: Any) -> tuple[Any, ...]:
    """Joined results of ``compute`` for blocks of the input that fit the processor's cache.

    Args:
        xp: The backend.
        compute: Function of the index of a block and an array for its first result, which has
            the block's shape; None for a new array. Further results are small arrays or None.
        input: Array; it is cut along the first dimension that is not in ``axes``.
        axes: Dimensions that a block has in full.
    """
    axis = next((i for i in range(input.ndim) if i not in axes), None)
    row = math.prod(input.shape[_first_of_trailing(input, axes) :])
    block = xp.block_elements
    if axis is None or not block or input.size < 2 * block or not input.flags.c_contiguous:
        with xp.row_after_row(row, input.size):
            return compute((), None)  # type: ignore[no-any-return]
    out, length = xp.empty(input.shape, input.dtype), input.shape[axis]
    step = max(1, block * length // input.size)  # length of a block along ``axis``

    def compute_blocks(start: int, stop: int) -> list[Any]:
        slices = (slice(i, i + step) for i in range(start * step, min(stop * step, length), step))
        indices = ((*(slice(None),) * axis, each) for each in slices)
        with xp.row_after_row(row, input.size):
            return [compute(index, out[index])[1:] for index in indices]

    small = [
        found for results in xp.in_parts(compute_blocks, -(-length // step)) for found in results
    ]
    whole = (None if x[0] is None else xp.concatenate(x, axis) for x in zip(*small, strict=True))
    return out, *whole


def _first_of_trailing(array: Any, axes: Any) -> int:
    """First of the trailing dimensions that are all in ``axes``; ``ndim`` if there are none."""
    first: int = array.ndim
    while first - 1 in axes:
        first -= 1
    return first


def _index_parameter(array: Any, index: tuple[slice, ...], ndim: int) -> Any:
    """Part of the parameter ``array`` that belongs to ``input[index]``, with which it broadcasts.

    ``ndim`` is the number of dimensions of ``input``. None stays None.
    """
    if array is None or not index:
        return array
    axis = len(index) - 1 - (ndim - array.ndim)
    if axis < 0 or array.shape[axis] == 1:
        return array
    return array[(*(slice(None),) * axis, index[-1])]


@op(public=False)
def mean_and_scale(
    xp: Backend, input: Array, axes: tuple[int, ...], eps: float
) -> tuple[Array, Array]:
    """Mean and ``1 / sqrt(var + eps)`` over ``axes``, which keep size 1."""
    mean = xp.mean(input, axis=axes, keepdims=True)
    centered = input - mean
    variance = _sum_of_products(xp, centered, centered, axes)
    number = xp.number(variance.dtype)
    variance = variance / number(_count(input, axes))
    return mean, number(1.0) / xp.sqrt(variance + number(eps))


def _mean_and_scale_rule(xp: Any, g: Any, input: Any, axes: tuple[int, ...], eps: float) -> Any:
    """Gradient rule of ``mean_and_scale``; ``g`` are the gradients of both results."""
    normal, scale = _standardize_and_scale(xp, input, axes, eps)
    return (g[0] - g[1] * (scale * scale) * normal) / _count(input, axes)


mean_and_scale.vjp(input=_mean_and_scale_rule)


@standardize.vjp_joint("input", "weight", "bias")
@accepts_none
@reads_results(1, 2)
def _standardize_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, input: Any, weight: Any, layout: Layout, eps: float
) -> tuple[Any, ...]:
    """Gradients of the input, the weight and the bias of ``standardize``.

    ``in_shape`` holds the shapes of the three, with None where no gradient is needed.
    """
    # The gradients of the other results, mean and variance, are never needed.
    if not xp.records and xp.fuses and layout.is_batch(input.ndim):
        needs_grad = tuple(shape is not None for shape in in_shape)
        fused = xp.fused("batch_norm_backward", g[0], input, weight, *out[1:], eps, needs_grad)
        if fused is not None:
            return fused  # type: ignore[no-any-return]
    g, x = layout.view(xp, g[0]), layout.view(xp, input)
    w, axes = layout.parameter(xp, weight), layout.axes
    if xp.records:
        normal, scale = _standardize_and_scale(xp, x, axes, eps)
        by_input = None if in_shape[0] is None else _input_backward(xp, g, w, normal, scale, axes)
        gradients = by_input, None if in_shape[1] is None else g * normal, g
    else:

        def compute(index: Any, out: Any) -> tuple[Any, ...]:
            part = _index_parameter(w, index, x.ndim)
            return _standardize_backward(xp, g[index], in_shape, x[index], part, layout, eps, out)

        gradients = _map_blocks(xp, compute, x, axes)
    return (
        None if in_shape[0] is None else xp.reshape(gradients[0], in_shape[0]),
        *(
            None if shape is None else _sum_to_parameter(xp, part, layout.parameters, shape)
            for part, shape in zip(gradients[1:], in_shape[1:], strict=True)
        ),
    )


def _sum_to_parameter(xp: Any, array: Any, form: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Sum of ``array`` over the dimensions that a parameter lacks.

    ``shape`` is the parameter's, and ``form`` the one in which it broadcasts with the array.
    """
    lead = array.ndim - len(form)
    axes = (*range(lead), *(lead + i for i, n in enumerate(form) if n == 1))
    axes = tuple(axis for axis in axes if array.shape[axis] != 1)
    return xp.reshape(xp.sum(array, axis=axes) if axes else array, shape)


def _standardize_and_scale(xp: Any, input: Any, axes: tuple[int, ...], eps: float) -> Any:
    """``(input - mean) / sqrt(var + eps)`` and ``1 / sqrt(var + eps)`` over ``axes``."""
    centered = input - xp.mean(input, axis=axes, keepdims=True)
    scale = 1.0 / xp.sqrt(xp.mean(centered * centered, axis=axes, keepdims=True) + eps)
    return centered * scale, scale


def _input_backward(xp: Any, g: Any, weight: Any, normal: Any, scale: Any, axes: Any) -> Any:
    """Gradient of an input that was normalized over ``axes`` and multiplied by ``weight``.

    ``scale * (h - mean(h) - normal * mean(h * normal))`` with ``h = g * weight``; ``normal`` is
    the normalized input and ``scale`` the reciprocal of its standard deviation.
    Ioffe, Szegedy 2015, arXiv:1502.03167; Ba et al. 2016, arXiv:1607.06450.
    """
    h = g if weight is None else g * weight
    mean = xp.mean(h, axis=axes, keepdims=True)
    return scale * (h - mean - normal * xp.mean(h * normal, axis=axes, keepdims=True))


def _standardize_backward(
    xp: Backend, g: Array, in_shape: Any, input: Array, weight: Any, layout: Layout, eps: float,
    out: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input, weight and bias on raw arrays, in few passes over them.

    With the standardized input n, ``g`` and ``g * n`` are first summed over the axes along which
    the parameters are constant. These sums are the gradients of bias and weight. The input's
    gradient is computed from the same sums, times the weight and summed over the other ``axes``.

    Args:
        in_shape: Shapes of input, weight and bias; None for a gradient that is not needed.
        out: Array to write the input's gradient to, or None.
    """
    axes, shape = layout.axes, layout.parameters
    if weight is None and in_shape[2] is None:
        shape = ()
    parameter_axes, other_axes = _split_axes(axes, input.ndim, shape)
    count = _count(input, axes)
    centered = input - xp.mean(input, axis=axes, keepdims=True)
    var = _sum_of_products(xp, centered, centered, axes) / count
    scale = 1.0 / xp.sqrt(var + eps)
    sums = xp.sum(g, axis=parameter_axes, keepdims=True)
    products = _sum_of_products(xp, g, centered, parameter_axes) * scale
    weight_grad = None if in_shape[1] is None else products
    bias_grad = None if in_shape[2] is None else sums
    if in_shape[0] is None:
        return None, weight_grad, bias_grad
    if weight is not None:
        sums, products = sums * weight, products * weight
    if other_axes:
        sums, products = (xp.sum(x, axis=other_axes, keepdims=True) for x in (sums, products))
    input_grad = xp.multiply(g, scale if weight is None else scale * weight, out=out)
    centered *= products * (scale * scale / count)
    input_grad -= centered
    input_grad -= sums * (scale / count)
    return input_grad, weight_grad, bias_grad


def _split_axes(axes: Any, ndim: int, shape: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ``axes`` along which parameters of ``shape`` have size 1, and the other axes.

    The shape broadcasts with ``ndim`` dimensions.
    """
    varying = {i + ndim - len(shape) for i, size in enumerate(shape) if size != 1}
    axes = [axis % ndim for axis in axes]
    return tuple(a for a in axes if a not in varying), tuple(a for a in axes if a in varying)


def _count(array: Any, axes: Any) -> int:
    """Number of elements over which a statistic along ``axes`` is computed."""
    return math.prod(array.shape[axis] for axis in axes)


def _sum_of_products(xp: Backend, a: Array, b: Array, axes: tuple[int, ...]) -> Array:
    """Sum of ``a * b`` over ``axes``, which keep size 1.

    Trailing axes are summed without an array of all products.
    """
    ndim, last = a.ndim, _first_of_trailing(a, axes)
    if last == ndim or a.shape != b.shape or (a.size < _FEW and len(axes) != ndim - last):
        return xp.sum(a * b, axis=axes, keepdims=True)
    form = (*a.shape[:last], math.prod(a.shape[last:]))
    sums = xp.sum_of_products(xp.reshape(a, form), xp.reshape(b, form))
    sums = xp.reshape(sums, (*a.shape[:last], *(1,) * (ndim - last)))
    before = tuple(axis for axis in axes if axis < last)
    return xp.sum(sums, axis=before, keepdims=True) if before else sums


def check_float(name: str, input: Tensor) -> None:
    """Raise NotImplementedError unless ``input`` has a real floating-point dtype."""
    if input._data.dtype.kind not in "fV":
        check_supported(input._xp, name, input._data, unsupported="biuc")


def check_parameter_dtypes(name: str, input: Tensor, *given: Tensor | None) -> None:
    """Raise RuntimeError unless parameters have the input's dtype, or float32 for 16-bit input."""
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
    """The tensors, with 16-bit dtypes converted to float32, in which statistics are computed."""
    for t in tensors:
        if t is not None and t._data.dtype.itemsize == 2:
            break
    else:
        return tensors
    return tuple([
        t.to(dtypes.float32)
        if t is not None and t._data.dtype.itemsize == 2 and t.dtype in _HALVES
        else t
        for t in tensors
    ])  # fmt: skip


_HALVES = (dtypes.float16, dtypes.bfloat16)


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

    def compute(x: Array) -> Array:
        mean = xp.sum_along(x, -1)
        mean /= xp.number(x.dtype)(size)
        out = x - mean
        out *= _row_scale(xp, out, eps)
        if weight is not None:
            out *= weight
        if bias is not None:
            out += bias
        return out

    if input.size < _FEW and len(shape) == 2 and count == 1:
        out = compute(input)
        if out.flags.c_contiguous and native.char != "e":
            return out
    else:
        out = xp.blockwise(compute, input.reshape(-1, size), unit=size).reshape(shape)
    return as_row_major(xp, xp.astype(out, native) if native.char == "e" else out)


def _single(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    """The arrays, with float16 converted to float32, in which statistics are computed."""
    return tuple(
        xp.astype(a, "float32") if a is not None and a.dtype == "float16" else a for a in arrays
    )


@_layer_norm.vjp_joint("input", "weight", "bias")
def _layer_norm_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, count: int, eps: float
) -> tuple[Any, ...]:
    """Gradients of the input, the weight and the bias of ``_layer_norm``.

    ``in_shape`` holds the shapes of the three, with None where no gradient is needed.
    """
    g, input, weight = _single(xp, g, input, weight)
    if not xp.records:
        return _layer_norm_backward(xp, g, in_shape, input, weight, count, eps)
    axes = tuple(range(-count, 0))
    normal, scale = _standardize_and_scale(xp, input, axes, eps)
    lead = tuple(range(g.ndim - count))
    return (
        _input_backward(xp, g, weight, normal, scale, axes) if in_shape[0] is not None else None,
        None if in_shape[1] is None else xp.sum(g * normal, axis=lead),
        None if in_shape[2] is None else xp.sum(g, axis=lead),
    )


def _layer_norm_backward(
    xp: Backend, g: Array, in_shape: Any, input: Array, weight: Any, count: int, eps: float
) -> tuple[Any, ...]:
    """Gradients of input, weight and bias on raw arrays, a few rows at a time.

    A row is flattened from the last ``count`` dimensions. A gradient is None if its shape in
    ``in_shape`` is None.
    """
    if xp.fuses:
        needs_grad = tuple(shape is not None for shape in in_shape)
        fused = xp.fused("layer_norm_backward", g, input, weight, count, eps, needs_grad)
        if fused is not None:
            return fused  # type: ignore[no-any-return]
    shape = input.shape[input.ndim - count :]
    form = (math.prod(input.shape[: input.ndim - count]), math.prod(shape))
    x, gs, w = input.reshape(form), g.reshape(form), None if weight is None else weight.reshape(-1)
    out = None if in_shape[0] is None else xp.empty(x.shape, input.dtype)
    step = max(1, (xp.block_elements or x.size) // max(1, form[1]))

    def compute_rows(start: int, stop: int) -> list[Array | None]:
        """Write the input's gradient for some rows; return the other gradients' sums over them."""
        sums = [None if s is None else xp.zeros(form[1], input.dtype) for s in in_shape[1:]]
        starts = range(start * step, min(stop * step, len(x) if x.size else 0), step)
        for rows in (slice(i, i + step) for i in starts):
            into = None if out is None else out[rows]
            with xp.row_after_row(form[1], x.size):
                normal = _rows_backward(xp, gs[rows], x[rows], w, eps, into)
            if sums[0] is not None:
                sums[0] += xp.sum(xp.multiply(normal, gs[rows], out=normal), axis=0)
            if sums[1] is not None:
                sums[1] += xp.sum(gs[rows], axis=0)
        return sums

    parts = xp.in_parts(compute_rows, -(-len(x) // step))
    weight_grad, bias_grad = (_total(xp, column, shape) for column in zip(*parts, strict=True))
    return None if out is None else out.reshape(input.shape), weight_grad, bias_grad


def _rows_backward(xp: Backend, g: Array, x: Array, weight: Any, eps: float, out: Any) -> Any:
    """Write the input's gradient for the rows ``x`` to ``out``; return the normalized rows.

    ``g`` is the gradient of the rows' result. Nothing is written if ``out`` is None.
    """
    normal = x - xp.mean(x, axis=1, keepdims=True)
    scale = _row_scale(xp, normal, eps)
    normal *= scale
    if out is not None:
        h = g if weight is None else g * weight
        xp.multiply(normal, xp.sum_of_products(h, normal) / -x.shape[1], out=out)
        out += h
        out -= xp.mean(h, axis=1, keepdims=True)
        out *= scale
    return normal


def _row_scale(xp: Backend, centered: Array, eps: float) -> Array:
    """``1 / sqrt(var + eps)`` of each row of ``centered``, whose rows have mean 0."""
    number = xp.number(centered.dtype)
    squares = xp.sum_of_products(centered, centered)
    squares /= number(centered.shape[-1])
    squares += number(eps)
    return number(1.0) / xp.sqrt(squares, squares)


def _total(xp: Backend, sums: Any, shape: Any) -> Any:
    """Sum of ``sums``, one array per thread, in the shape ``shape``.

    It is None if the sums are, as the gradient is not needed.
    """
    if sums[0] is None:
        return None
    total = sums[0]
    for thread_sum in sums[1:]:
        total = total + thread_sum
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
    shape = _check_normalized_shape("layer_norm", input, normalized_shape)
    _check_shape("weight", weight, shape)
    _check_shape("bias", bias, shape)
    check_parameter_dtypes("layer_norm", input, weight, bias)
    check_float("LayerNormKernelImpl", input)
    return _layer_norm(input, weight, bias, len(shape), eps)


def _check_shape(name: str, given: Tensor | None, shape: tuple[int, ...]) -> None:
    """Raise RuntimeError if the parameter ``given``, named ``name``, does not have ``shape``."""
    if given is not None and given._data.shape != shape:
        raise RuntimeError(
            f"layer_norm: Expected {name} to be of same shape as normalized_shape, but got "
            f"{name} of shape {list(given.shape)} and normalized_shape = {list(shape)}"
        )


def _check_normalized_shape(name: str, input: Tensor, sizes: Any) -> tuple[int, ...]:
    """``normalized_shape`` as ints; raise unless the last dimensions have these sizes."""
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
    shape = _check_normalized_shape("rms_norm", input, normalized_shape)
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
        num_groups: Number of groups of consecutive channels, each with its own statistics.
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
    if input._data.ndim < 2:
        raise RuntimeError(
            f"group_norm: Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    shape = input._data.shape
    batch, channels = shape[:2]
    num_groups = as_int("group_norm", "num_groups", num_groups)
    if num_groups <= 0 or channels % num_groups:
        raise RuntimeError(
            "group_norm: Expected number of channels in input to be divisible by num_groups, but "
            f"got input of shape {list(input.shape)} and num_groups={num_groups}"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given._data.shape != (channels,):
            raise RuntimeError(
                f"group_norm: Expected {name} to be a vector of size equal to the number of "
                f"channels in input, but got {name} of shape {list(given.shape)} and input of "
                f"shape {list(input.shape)}"
            )
    check_float("group_norm", input)
    check_parameter_dtypes("group_norm", input, weight, bias)
    x, weight, bias = single(input, weight, bias)
    members, spatial = channels // num_groups, math.prod(shape[2:])
    if batch * members * spatial == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)}"
        )
    if not members * spatial:
        return input.clone()
    layout = Layout((2, 3), (num_groups, members, 1), (batch, num_groups, members, spatial))
    out = standardize(x, weight, bias, layout, eps)[0]
    out = out if x is input else out.to(input.dtype)
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
        p: Order of the norm; default 2, as for ``"fro"`` and None.
        dim: The dimension; default 1.
        eps: Smaller norms are replaced by it; default 1e-12.
        out: Where to write the result.

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
