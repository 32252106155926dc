"""Kernels of convolution: forward, gradient of the input and gradient of the weight.

``_conv(x, w)``, ``_conv_input(g, w)`` and ``_conv_weight(x, g)`` are the partial derivatives of
one trilinear form, the sum of ``x[n, c, s i + d k - p] w[o, c, k] g[n, o, i]``. The gradients of
each are the other two, so derivatives of every order come from these kernels.

Most convolutions are a matrix product of the weight and the columns of ``im2col`` (Chellapilla et
al.: High Performance Convolutional Neural Networks for Document Processing, 2006), for a few images
at a time. Two cases are faster in another way:

*Runs*, at stride 1: the pixels that one element of the kernel reads are a contiguous run of the
padded image's memory, except for a few between two rows of windows. A row of the columns is a copy
of the whole run, with these pixels; their products are dropped when the result is copied.

*Lines*, for depthwise convolutions: see ``conv_lines``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...dispatch.op import Array, Backend, op
from ..memory_order import as_row_major
from .conv_lines import can_shift_lines, convolve_lines, transpose_lines, weight_grad_of_lines
from .unfolding import (
    Block,
    Columns,
    Sizes,
    Windows,
    WindowView,
    image_slices,
    split_batch,
    view_of_windows,
)

#: Largest ratio of the length of a run to the number of its windows.
_WASTE = 1.5

#: For rows of fewer windows, runs are not faster than copies row by row.
_FEW_WINDOWS = 10


def can_use_runs(windows: Windows) -> bool:
    """Whether the stride is 1 and few elements of a run belong to no window."""
    if (
        any(s != 1 for s in windows.stride)
        or math.prod(windows.kernel) == 1
        or windows.size[-1] < _FEW_WINDOWS
    ):
        return False
    return _run_length(_strides(windows), windows.size) <= _WASTE * math.prod(windows.size)


def _strides(windows: Windows) -> list[int]:
    """Strides of a channel of the padded image, in elements."""
    padded = windows.padded_size()
    return [math.prod(padded[d + 1 :]) for d in range(len(padded))]


def _run_length(strides: Sizes, size: Sizes) -> int:
    """Elements of a run, from the first of ``size`` windows to the last, at these ``strides``."""
    return 1 + sum(t * (o - 1) for t, o in zip(strides, size, strict=True))


def convolve_runs(
    xp: Backend, input: Array, rows: Array, bias: Array | None, windows: Windows, limit: int
) -> Array:
    """Convolution with stride 1, ``(N, O, *size)``, by runs.

    Args:
        xp: The backend.
        input: ``(N, C, *image)``.
        rows: The weight as ``(groups, O / groups, C / groups * prod(kernel))``.
        bias: ``(O,)`` or None.
        windows: The windows, for which ``can_use_runs`` is true.
        limit: Bytes that the columns may take, in each thread.
    """
    outputs = rows.shape[0] * rows.shape[1]
    out = xp.empty((input.shape[0], outputs, *windows.size), input.dtype)
    row = input.shape[1] * math.prod(windows.kernel) * math.prod(windows.size[1:]) * input.itemsize
    blocks = split_batch(input.shape[0], windows.size[0], int(_WASTE * row), limit, True)
    shaped_bias = None if bias is None else xp.reshape(bias, (-1, *(1,) * (out.ndim - 1)))

    def compute_blocks(start: int, stop: int) -> None:
        if start == stop:
            return
        runs = _RunBuffers(xp, input, rows, windows, blocks[0])
        for block in blocks[start:stop]:
            product = runs.product(block)
            target = xp.swapaxes(out[block.images, :, block.rows], 0, 1)
            if shaped_bias is None:
                target[...] = product
            else:
                xp.add(product, shaped_bias, out=target)

    xp.in_parts(compute_blocks, len(blocks), True)
    return out


class _RunBuffers:
    """Buffers of one thread for convolutions by runs, and views of them that are made once.

    Args:
        xp: The backend.
        input: ``(N, C, *image)``.
        rows: The weight, as for ``convolve_runs``.
        windows: The windows.
        first: The first block, which is the largest one.
    """

    def __init__(
        self, xp: Backend, input: Array, rows: Array, windows: Windows, first: Block
    ) -> None:
        self.xp, self.input, self.rows, self.windows = xp, input, rows, windows
        self.strides = _strides(windows)
        count, channels = first.images.stop, input.shape[1]
        self.padded = xp.zeros((count, channels, *windows.padded_size()), input.dtype)
        self.inside, self.outside = image_slices(input.shape[2:], windows)
        #: The images that ``padded`` contains.
        self.images: slice | None = None
        length = _run_length(self.strides, (first.rows.stop, *windows.size[1:]))
        self.columns = xp.empty((channels, *windows.kernel, count, length), input.dtype)
        self.products = xp.empty((*rows.shape[:2], count, length), input.dtype)
        self.views: dict[tuple[int, int, int], tuple[Array, ...]] = {}

    def product(self, block: Block) -> Array:
        """Result ``(O, N, *size)`` of a block, in a buffer that the next block overwrites."""
        count = int(block.images.stop - block.images.start)
        if block.images != self.images:
            every = slice(None)
            part = self.input[(block.images, every, *self.inside)]
            self.padded[(slice(count), every, *self.outside)] = part
            self.images = block.images
        key = count, block.rows.start, block.rows.stop
        if key not in self.views:
            self.views[key] = self._make_views(*key)
        runs, columns, matrix, product, result = self.views[key]
        columns[...] = runs
        self.xp.matmul(self.rows, matrix, out=product)
        return result

    def _make_views(self, count: int, start: int, stop: int) -> tuple[Array, ...]:
        """Views for ``count`` images and the rows of windows from ``start`` to ``stop``.

        Returns:
            The runs of the padded images in the shape of the columns; the columns; the columns as
            matrices; the products as matrices; the products without those of no window.
        """
        xp, groups, item = self.xp, self.rows.shape[0], self.padded.itemsize
        size = (stop - start, *self.windows.size[1:])
        length = _run_length(self.strides, size)
        columns = self.columns[..., :count, :length]
        source = self.padded[:count, :, start:]
        steps = [s * item for s in self.strides]
        kernel_steps = [s * d for s, d in zip(steps, self.windows.dilation, strict=True)]
        strides = (source.strides[1], *kernel_steps, source.strides[0], item)
        runs = xp.as_strided(source, columns.shape, strides)
        product = self.products[:, :, :count, :length]
        result = xp.as_strided(
            product, (groups * product.shape[1], count, *size), (*product.strides[1:3], *steps)
        )
        matrix = xp.reshape(columns, (groups, self.rows.shape[2], count * length))
        flat = xp.reshape(product, (*product.shape[:2], count * length))
        return runs, columns, matrix, flat, result


#: Products of single rows of up to this length are sums in order, as PyTorch computes them; BLAS
#: adds in another order.
_FEW_TERMS = 64

#: Columns of up to this many bytes are computed for the whole batch at once.
_FEW_BYTES = 1 << 19
#: A weight of up to this many elements stays in the cache of a core.
_FEW_WEIGHTS = 1 << 16

#: Columns may be this many times larger than the weight, up to a number of bytes in each thread.
_COLUMNS_PER_WEIGHT, _MOST_BYTES = 4, 32 << 20

#: The gradient of a weight from this many windows is computed as its transpose.
_MANY_WINDOWS = 1024

#: With this many pixels, a product for each image is as fast as one for several.
_MANY_PIXELS = 64

#: With ``stride`` 1, rows of fewer windows count as short.
_SHORT_ROW = 16


@op(node="ConvolutionBackward0")
def _conv(
    xp: Backend, input: Array, weight: Array, bias: Array | None, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int, size: Sizes,
) -> Array:  # fmt: skip
    """Convolution ``(N, O, *size)`` of ``(N, C, *image)`` and ``(O, C / groups, *kernel)``."""
    fused = xp.fused("conv", input, weight, bias, stride, padding, dilation, groups, size)
    if fused is not None:
        return fused
    windows = Windows(weight.shape[2:], stride, padding, dilation, size)
    few = _few_columns(xp.column_bytes, input.shape, input.itemsize, weight.size, windows, groups)
    if few is not None:
        return _convolve_few(xp, input, weight, bias, few)
    if can_shift_lines(xp, weight.shape, groups, input.shape[0], size):
        return convolve_lines(xp, input, weight, bias, windows)
    rows = _weight_matrices(xp, weight, groups)
    if can_use_runs(windows):
        limit = _column_bytes(xp, input.dtype, weight.shape)
        return convolve_runs(xp, input, rows, bias, windows, limit)
    out = xp.empty((input.shape[0], weight.shape[0], *size), input.dtype)
    if windows.is_identity(input.shape[2:]) and math.prod(size) >= _MANY_PIXELS:
        _convolve_pixels(xp, input, rows, bias, out)
        return out

    def compute(block: Block, columns: Columns) -> None:
        found = columns.im2col(input[block.images], windows.rows(block.rows))
        target = out[block.images, :, block.rows]
        found = xp.reshape(found, (groups, rows.shape[2], _count_windows(target)))
        _write_product(xp, rows, found, bias, target, columns)

    _map_blocks(xp, compute, input.dtype, input.shape, windows, weight.shape, split=True)
    return out


@op(node="ConvolutionBackward0")
def _conv_input(
    xp: Backend, input: Array, weight: Array, bias: Array | None, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int, size: Sizes,
) -> Array:  # fmt: skip
    """Transposed convolution ``(N, C, *size)`` of ``(N, O, *windows)``.

    It is also the gradient of the input of ``_conv``; ``input`` is then the gradient of the result.
    """
    fused = xp.fused("conv_input", input, weight, stride, padding, dilation, groups, size)
    if fused is not None:
        return fused if bias is None else fused + xp.reshape(bias, (-1, *(1,) * len(size)))
    windows = Windows(weight.shape[2:], stride, padding, dilation, input.shape[2:])
    few = _transposed_columns(
        xp.column_bytes, input.shape, input.itemsize, weight.size, windows, groups, size
    )
    if few is not None and xp.is_finite(weight):
        return _convolve_few(xp, input, _flip_kernel(xp, weight, groups), bias, few)
    out = _transpose(xp, input, weight, windows, groups, size)
    if bias is not None:
        out += xp.reshape(bias, (-1, *(1,) * len(size)))
    return out


def _transpose(
    xp: Backend, input: Array, weight: Array, windows: Windows, groups: int, size: Sizes
) -> Array:
    """``_conv_input`` without a bias, for many elements or a weight that is not finite."""
    count, kernel = input.shape[0], windows.kernel
    if _should_flip_kernel(xp, weight, windows.stride, groups, _count_windows(input)):
        flipped, args = _flip_kernel(xp, weight, groups), windows.flip()
        return _conv.kernel(xp, input, flipped, None, *args, groups, size)
    if can_shift_lines(xp, weight.shape, groups, count, input.shape[2:]):
        spread = transpose_lines(xp, input, weight, windows, groups, size)
        if spread is not None:
            return spread
    transposed = xp.swapaxes(_weight_matrices(xp, weight, groups), 1, 2)
    out = xp.empty((count, groups * weight.shape[1], *size), input.dtype)
    rows = windows.size[0]
    row = out.shape[1] * math.prod(kernel) * math.prod(windows.size[1:]) * input.itemsize
    step = max(1, rows if rows * row <= _MOST_BYTES else _MOST_BYTES // row)

    def compute(block: Block, columns: Columns) -> None:
        if step < rows:
            out[block.images] = 0
        for first in range(0, rows, step) or (0,):
            spread_rows(block.images, slice(first, min(first + step, rows)), columns)

    def spread_rows(images: slice, some: slice, columns: Columns) -> None:
        part = input[images, :, some]
        matrix = _grad_matrices(xp, part, groups, columns)
        found = columns.buffer(
            "columns", columns.shape((out.shape[1], *kernel), part.shape[0], part.shape[2:])
        )
        products = xp.reshape(found, (groups, transposed.shape[1], matrix.shape[2]))
        xp.matmul(transposed, matrix, out=products)
        columns.col2im(found, windows.rows(some), out[images], add=step < rows)

    _map_blocks(xp, compute, input.dtype, out.shape, windows, weight.shape, split=False)
    return out


@op
def _conv_weight(
    xp: Backend, input: Array, grad: Array, stride: Sizes, padding: Sizes, dilation: Sizes,
    groups: int, size: Sizes,
) -> Array:  # fmt: skip
    """Gradient of the weight of ``_conv``, ``(O, C / groups, *size)``.

    ``input`` is ``(N, C, *image)`` and ``grad``, the gradient of the result, ``(N, O, *windows)``.
    """
    fused = xp.fused("conv_weight", input, grad, stride, padding, dilation, groups, size)
    if fused is not None:
        return fused
    outputs, channels = grad.shape[1], input.shape[1]
    windows = Windows(size, stride, padding, dilation, grad.shape[2:])
    shape: tuple[int, ...] = (outputs, channels // groups, *size)
    few = _few_columns(
        xp.column_bytes, input.shape, input.itemsize, math.prod(shape), windows, groups
    )
    if few is not None:
        return _weight_grad_of_few(xp, input, grad, few)
    if can_shift_lines(xp, shape, groups, input.shape[0], windows.size):
        found = weight_grad_of_lines(xp, input, grad, windows)
        if found is not None:
            return found
    depth, width = channels // groups * math.prod(size), outputs // groups
    # BLAS is a quarter faster for the product of the transposes, which has to be transposed.
    transposes = _count_windows(grad) > _MANY_WINDOWS

    def compute(block: Block, columns: Columns) -> Array:
        found = columns.im2col(input[block.images], windows.rows(block.rows))
        matrix = _grad_matrices(xp, grad[block.images, :, block.rows], groups, columns)
        found = xp.reshape(found, (groups, depth, matrix.shape[2]))
        if transposes:
            return xp.matmul(found, xp.swapaxes(matrix, 1, 2))
        out = xp.empty(shape, input.dtype)
        target = xp.reshape(out, (groups, width, depth))
        xp.matmul(matrix, xp.swapaxes(found, 1, 2), out=target)
        return out

    parts = _map_blocks(xp, compute, input.dtype, input.shape, windows, shape, split=True)
    for part in parts[1:]:
        parts[0] += part
    if not parts:
        return xp.zeros(shape, input.dtype)
    if not transposes:
        return parts[0]
    out = xp.empty(shape, input.dtype)  # no view, so that the engine need not copy it
    xp.reshape(out, (groups, width, depth))[...] = xp.swapaxes(parts[0], 1, 2)
    return out


class _FewColumns(NamedTuple):
    """Columns of a batch that are computed at once: a view, and the shape of its copy.

    The shape is ``(N, groups, C / groups * prod(kernel), prod(size))``.
    """

    view: WindowView
    shape: tuple[int, int, int, int]

    def read(self, xp: Backend, input: Array) -> Array:
        """Columns of a batch, one matrix for each image and group."""
        return self.view.read(xp, input).reshape(self.shape)


@functools.lru_cache(maxsize=256)
def _few_columns(
    limit: int, shape: tuple[int, ...], itemsize: int, weights: int, windows: Windows, groups: int,
    spread: tuple[int, ...] | None = None,
) -> _FewColumns | None:  # fmt: skip
    """Columns of a batch of ``shape``, ``(N, C, *image)``, if they are small, else None.

    None for more than ``limit`` bytes, too, or if the weight has many elements, which are read for
    each image. ``weights`` is their number, and ``spread`` is as for ``view_of_windows``.
    """
    count, depth = shape[0], shape[1] * math.prod(windows.kernel)
    of_image = math.prod(windows.size)
    if count * depth * of_image * itemsize > min(limit, _FEW_BYTES) or weights > _FEW_WEIGHTS:
        return None
    view = view_of_windows(shape, itemsize, windows, spread or (1,) * len(windows.size))
    return _FewColumns(view, (count, groups, depth // groups, of_image))


@functools.lru_cache(maxsize=256)
def _transposed_columns(
    limit: int, shape: tuple[int, ...], itemsize: int, weights: int, windows: Windows, groups: int,
    size: tuple[int, ...],
) -> _FewColumns | None:  # fmt: skip
    """``_few_columns`` for a transposed convolution of a batch of ``shape``, ``(N, O, *windows)``.

    It is a convolution with the flipped kernel and stride 1 of images with zeros between their
    elements. None if elements at the edges have no effect, too.
    """
    _, padding, dilation = windows.flip()
    if min(padding) < 0:
        return None
    flipped = Windows(windows.kernel, (1,) * len(size), padding, dilation, size)
    return _few_columns(limit, shape, itemsize, weights, flipped, groups, windows.stride)


def _convolve_few(
    xp: Backend, input: Array, weight: Array, bias: Array | None, few: _FewColumns
) -> Array:
    """``_conv`` with the columns of the whole batch."""
    count, groups, depth, _ = few.shape
    rows, columns = weight.reshape(groups, weight.shape[0] // groups, depth), few.read(xp, input)
    if rows.shape[1] == 1 and depth <= _FEW_TERMS:
        product = xp.einsum("gok,ngkp->ngop", rows, columns)
    else:
        product = xp.matmul(rows, columns)
    size = few.view.shape[input.ndim :]
    out = product.reshape((count, weight.shape[0], *size))
    if bias is not None:
        out += bias.reshape((-1, *(1,) * len(size)))
    return out


def _weight_grad_of_few(xp: Backend, input: Array, grad: Array, few: _FewColumns) -> Array:
    """``_conv_weight`` with the columns of the whole batch."""
    (count, groups, _, windows), outputs = few.shape, grad.shape[1]
    grads = grad.reshape(count, groups, outputs // groups, windows)
    products = xp.matmul(grads, xp.swapaxes(few.read(xp, input), 2, 3))
    total = products[0] if count == 1 else xp.sum(products, axis=0)
    kernel = few.view.shape[2 : input.ndim]
    return total.reshape((outputs, input.shape[1] // groups, *kernel))


def _convolve_pixels(xp: Backend, input: Array, rows: Array, bias: Any, out: Array) -> None:
    """Write a convolution with a kernel of one element to ``out``, without columns.

    The pixels of an image are a matrix already. ``rows`` are the weight as matrices.
    """
    groups, outputs, depth = rows.shape
    pixels = math.prod(input.shape[2:])
    images = xp.reshape(as_row_major(xp, input), (input.shape[0], groups, depth, pixels))
    target = xp.reshape(out, (input.shape[0], groups, outputs, pixels))
    column = None if bias is None else xp.reshape(bias, (groups, outputs, 1))

    def compute(start: int, stop: int) -> None:
        for i in range(start, stop):
            _matmul(xp, rows, images[i], target[i])
            if column is not None:
                xp.add(target[i], column, out=target[i])

    xp.in_parts(compute, input.shape[0], True)


def _weight_matrices(xp: Backend, weight: Array, groups: int) -> Array:
    """Weight ``(O, C / groups, *kernel)`` as ``(groups, O / groups, C / groups * elements)``."""
    shape = (groups, weight.shape[0] // groups, math.prod(weight.shape[1:]))
    return xp.reshape(weight, shape)


def _grad_matrices(xp: Backend, grad: Array, groups: int, columns: Columns) -> Array:
    """``(N, O, *size)`` as matrices ``(groups, O / groups, N * prod(size))`` in columns' order."""
    shape = (groups, grad.shape[1] // groups, _count_windows(grad))
    return xp.reshape(columns.move_batch(grad), shape)


def _count_windows(results: Array) -> int:
    """Number of windows whose results are ``(N, O, *size)``."""
    return int(results.shape[0] * math.prod(results.shape[2:]))


def _write_product(
    xp: Backend, a: Array, b: Array, bias: Array | None, target: Array, columns: Columns
) -> None:
    """Write ``a @ b``, plus a bias per channel if given, to ``target``, ``(N, O, *size)``.

    ``a`` are the matrices of the weight and ``b`` the columns, one matrix per group each. The
    buffers of ``columns`` hold the product if ``target`` is not contiguous in its order.
    """
    shape = (a.shape[0], a.shape[1], b.shape[2])
    shaped_bias = None if bias is None else xp.reshape(bias, (-1, *(1,) * (target.ndim - 1)))
    view = columns.move_batch(target)
    if view.flags.c_contiguous:
        _matmul(xp, a, b, xp.reshape(view, shape))
        if shaped_bias is not None:
            xp.add(view, shaped_bias, out=view)
        return
    product = columns.buffer("product", shape)
    _matmul(xp, a, b, product)
    product = xp.reshape(product, view.shape)
    if shaped_bias is None:
        view[...] = product
    else:
        xp.add(product, shaped_bias, out=view)


def _matmul(xp: Backend, a: Array, b: Array, out: Array) -> None:
    """Write the matrix products ``a @ b`` of all groups to ``out``.

    Products of short single rows are summed in order, as in PyTorch.
    """
    if a.shape[1] == 1 and a.shape[2] <= _FEW_TERMS:
        out[...] = xp.einsum("gok,gkn->gon", a, b)
    else:
        xp.matmul(a, b, out=out)


def _map_blocks(
    xp: Backend, compute: Callable[[Block, Columns], Any], dtype: Any, shape: Sequence[int],
    windows: Windows, weight: Sequence[int], split: bool,
) -> list[Any]:  # fmt: skip
    """Call ``compute`` on the blocks of a batch of ``shape``, ``(N, C, ...)``.

    Args:
        xp: The backend.
        compute: Function of a block and the thread's columns, which returns an array or None.
        dtype: The dtype of the columns.
        shape: The shape of the batch.
        windows: The windows of an image.
        weight: The shape of the weight.
        split: Whether an image may be split by rows.

    Returns:
        For each thread the sum of the arrays that ``compute`` returned.
    """
    row = shape[1] * math.prod(windows.kernel) * math.prod(windows.size[1:]) * dtype.itemsize
    limit = _column_bytes(xp, dtype, weight)
    # Each block reads the weight, so there is one if the weight is larger than all columns.
    is_wide = math.prod(weight) * dtype.itemsize > shape[0] * windows.size[0] * row
    blocks = split_batch(shape[0], windows.size[0], row, limit, split, 1 if is_wide else 4)
    batch_last = bool(blocks) and _should_put_batch_last(blocks[0].images.stop, windows)

    def compute_blocks(start: int, stop: int) -> Any:
        columns, total = Columns(xp, dtype, batch_last), None
        for block in blocks[start:stop]:
            result = compute(block, columns)
            total = result if total is None or result is None else xp.add(total, result, out=total)
        return total

    return [total for total in xp.in_parts(compute_blocks, len(blocks), True) if total is not None]


def _should_put_batch_last(images: int, windows: Windows) -> bool:
    """Whether the columns of this many images are faster to copy with the batch last.

    With the batch last, one copy moves a row of windows of all images at stride 1, else one window
    of all images. With the batch first, it moves a row of windows of one image.
    """
    return 1 < images and windows.size[-1] < (_SHORT_ROW if windows.stride[-1] == 1 else images)


def _column_bytes(xp: Backend, dtype: Any, weight: Sequence[int]) -> int:
    """Largest size of the columns of a block, in bytes, for a weight of the shape ``weight``.

    Each product reads the whole weight, so the columns should be larger than the weight.
    """
    by_weight = _COLUMNS_PER_WEIGHT * math.prod(weight) * int(dtype.itemsize)
    return max(xp.column_bytes, min(by_weight, _MOST_BYTES))


def _should_flip_kernel(
    xp: Backend, weight: Array, stride: Sizes, groups: int, windows: int
) -> bool:
    """Whether a transposed convolution is faster as a convolution with the flipped kernel.

    The convolution reads columns of the gradient's channels; the alternative sums into columns of
    the image's channels. The convolution multiplies the weight by padding, so the weight must be
    finite: infinity times 0 would be NaN.
    """
    if any(s != 1 for s in stride) or 2 * groups * weight.shape[1] < weight.shape[0]:
        return False
    if windows < weight.shape[0]:  # the flipped copy would be larger than the columns
        return False
    return xp.is_finite(weight) is not False


def _flip_kernel(xp: Any, weight: Array, groups: int) -> Array:
    """Weight ``(O, C / groups, *kernel)`` as ``(C, O / groups, *kernel)``, the kernel reversed."""
    outputs, inputs = weight.shape[:2]
    kernel = weight.shape[2:]
    flipped = weight[(..., *(slice(None, None, -1),) * len(kernel))]
    flipped = xp.reshape(flipped, (groups, outputs // groups, inputs, *kernel))
    return xp.reshape(xp.swapaxes(flipped, 1, 2), (groups * inputs, outputs // groups, *kernel))


@_conv.vjp_joint("input", "weight", "bias")
def _conv_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input, weight and bias of ``_conv``; None for each None in ``in_shape``."""
    args = (stride, padding, dilation, groups)
    input_shape, weight_shape, bias_shape = in_shape
    return (
        None
        if input_shape is None
        else xp.call(_conv_input, g, weight, None, *args, input_shape[2:]),
        None if weight_shape is None else xp.call(_conv_weight, input, g, *args, weight_shape[2:]),
        None if bias_shape is None else xp.sum(g, axis=(0, *range(2, g.ndim))),
    )


@_conv_input.vjp_joint("input", "weight", "bias")
def _conv_input_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, weight: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input, weight and bias of ``_conv_input``; see ``_conv_rule``."""
    args = (stride, padding, dilation, groups)
    input_shape, weight_shape, bias_shape = in_shape
    return (
        None if input_shape is None else xp.call(_conv, g, weight, None, *args, input_shape[2:]),
        None if weight_shape is None else xp.call(_conv_weight, g, input, *args, weight_shape[2:]),
        None if bias_shape is None else xp.sum(g, axis=(0, *range(2, g.ndim))),
    )


@_conv_weight.vjp_joint("input", "grad")
def _conv_weight_rule(
    xp: Any, g: Any, in_shape: Any, input: Any, grad: Any, stride: Any, padding: Any, dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input and ``grad`` of ``_conv_weight``; None for each None in ``in_shape``."""
    args = (stride, padding, dilation, groups)
    input_shape, grad_shape = in_shape
    return (
        None
        if input_shape is None
        else xp.call(_conv_input, grad, g, None, *args, input_shape[2:]),
        None if grad_shape is None else xp.call(_conv, input, g, None, *args, grad_shape[2:]),
    )
