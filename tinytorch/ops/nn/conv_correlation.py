"""The three faces of convolution: its result, its transpose, and its weight's gradient.

``conv(x, w)``, ``conv_input(g, w)`` and ``conv_weight(x, g)`` are the partial derivatives of
one trilinear form, the sum of ``x[n, c, s i + d k - p] w[o, c, k] g[n, o, i]``. Each one's
gradients are the other two, so derivatives of every order come from these kernels.

Each is a product of matrices over columns (Chellapilla et al.: High Performance
Convolutional Neural Networks for Document Processing, 2006), for a few images at a time.

Convolution at stride 1, with columns that are whole runs of a padded image's memory.

The pixels that one place of the kernel meets lie in a row there, but that between two rows of
windows come a few which belong to none. To copy these too is quicker than to copy row by row, and
so is to multiply them: their products are left behind when the result is copied to its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.op import Array, Backend, op
from . import conv_depthwise
from .image_windows import SHORT, Block, Columns, Grid, Sizes, blocks, insides

#: How many columns there may be for each window.
_WASTE = 1.5

#: Rows of fewer windows are copied no faster with the columns between them.
_SHORT_ROW = 10


def can_flatten_rows(grid: Grid) -> bool:
    """Whether the windows are at stride 1, and few columns belong to none."""
    if any(s != 1 for s in grid.stride) or math.prod(grid.kernel) == 1 or grid.size[-1] < _SHORT_ROW:
        return False
    return _length(_steps(grid), grid.size) <= _WASTE * math.prod(grid.size)


def _steps(grid: Grid) -> list[int]:
    """How far apart two windows are in the padded image's memory, by dimension."""
    padded = grid.padded()
    return [math.prod(padded[d + 1 :]) for d in range(len(padded))]


def _length(steps: Sizes, size: Sizes) -> int:
    """Of a run from the first window to the last."""
    return 1 + sum(t * (o - 1) for t, o in zip(steps, size, strict=True))


def convolve_runs(
    xp: Backend, input: Array, rows: Array, bias: Array | None, grid: Grid, limit: int
) -> Array:
    """``(n, out, *size)``.

    Args:
        xp: The backend.
        input: ``(n, in, *image)``.
        rows: The weight as ``(groups, out / groups, in / groups * places)``.
        bias: ``(out,)`` or None.
        grid: The windows, which ``can_flatten_rows`` has looked at.
        limit: Bytes that the columns may take, in each thread.
    """
    outputs = rows.shape[0] * rows.shape[1]
    out = xp.empty((input.shape[0], outputs, *grid.size), input.dtype)
    row = input.shape[1] * math.prod(grid.kernel) * math.prod(grid.size[1:]) * input.itemsize
    todo = blocks(input.shape[0], grid.size[0], int(_WASTE * row), limit, True)
    column = None if bias is None else xp.reshape(bias, (-1, *(1,) * (out.ndim - 1)))

    def part(start: int, stop: int) -> None:
        if start == stop:
            return
        runs = _Runs(xp, input, rows, grid, todo[0])
        for block in todo[start:stop]:
            product = runs.product(block)
            target = xp.swapaxes(out[block.images, :, block.rows], 0, 1)
            if column is None:
                target[...] = product
            else:
                xp.add(product, column, out=target)

    xp.in_parts(part, len(todo), True)
    return out


class _Runs:
    """One thread's memory, and the windows into it, which are the same for every block."""

    def __init__(self, xp: Backend, input: Array, rows: Array, grid: Grid, first: Block) -> None:
        self.xp, self.input, self.rows, self.grid = xp, input, rows, grid
        self.steps = _steps(grid)
        count, lines = first.images.stop, first.rows.stop
        channels = input.shape[1]
        self.padded = xp.zeros((count, channels, *grid.padded()), input.dtype)
        self.inside, self.outside = insides(input.shape[2:], grid)
        self.held: slice | None = None
        length = _length(self.steps, (lines, *grid.size[1:]))
        self.columns = xp.empty((channels, *grid.kernel, count, length), input.dtype)
        self.products = xp.empty((*rows.shape[:2], count, length), input.dtype)
        self.views: dict[tuple[int, int, int], tuple[Array, ...]] = {}

    def product(self, block: Block) -> Array:
        """``(out, count, *size)`` of a block, in memory that the next one uses again."""
        if block.images != self.held:
            every = slice(None)
            part = self.input[(block.images, every, *self.inside)]
            self.padded[(slice(_count(block.images)), every, *self.outside)] = part
            self.held = block.images
        windows, columns, matrix, product, found = self._views(block)
        columns[...] = windows
        self.xp.matmul(self.rows, matrix, out=product)
        return found

    def _views(self, block: Block) -> tuple[Array, ...]:
        count, start, stop = _count(block.images), block.rows.start, block.rows.stop
        key = count, start, stop
        if key not in self.views:
            self.views[key] = self._make_views(count, start, (stop - start, *self.grid.size[1:]))
        return self.views[key]

    def _make_views(self, count: int, start: int, size: Sizes) -> tuple[Array, ...]:
        xp, groups, item = self.xp, self.rows.shape[0], self.padded.itemsize
        length = _length(self.steps, size)
        columns = self.columns[..., :count, :length]
        source = self.padded[:count, :, start:]
        steps = [s * item for s in self.steps]
        places = [s * d for s, d in zip(steps, self.grid.dilation, strict=True)]
        strides = (source.strides[1], *places, source.strides[0], item)
        windows = xp.as_strided(source, columns.shape, strides)
        product = self.products[:, :, :count, :length]
        found = xp.as_strided(
            product, (groups * product.shape[1], count, *size), (*product.strides[1:3], *steps)
        )
        matrix = xp.reshape(columns, (groups, self.rows.shape[2], count * length))
        flat = xp.reshape(product, (*product.shape[:2], count * length))
        return windows, columns, matrix, flat, found


def _count(images: slice) -> int:
    return int(images.stop - images.start)


#: Up to so many terms, single rows are multiplied term by term: in the order in which PyTorch
#: adds them, where BLAS takes several at once.
_FEW = 64

#: How many times larger than the weight the columns of a product may be in any case.
_WORTH = 4


@op(node="ConvolutionBackward0")
def _conv(
    xp: Backend,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    size: Sizes,
) -> Array:
    """``(n, out, *size)`` from ``(n, in, *image)`` and ``(out, in / groups, *kernel)``."""
    grid = Grid(weight.shape[2:], stride, padding, dilation, size)
    if conv_depthwise.can_shift_lines(xp, weight.shape, groups, input.shape[0], size):
        return conv_depthwise.convolve_lines(xp, input, weight, bias, grid)
    rows = xp.reshape(weight, (groups, weight.shape[0] // groups, _row(weight)))
    if can_flatten_rows(grid):
        return convolve_runs(xp, input, rows, bias, grid, _limit(xp, input.dtype, weight.shape))
    out = xp.empty((input.shape[0], weight.shape[0], *size), input.dtype)

    def some(block: Block, columns: Columns) -> None:
        found = columns.of(input[block.images], grid.rows(*_ends(block.rows)))
        target = out[block.images, :, block.rows]
        found = xp.reshape(found, (groups, rows.shape[2], _windows(target)))
        _product(xp, rows, found, bias, target, columns)

    _each_block(xp, some, input.dtype, input.shape, grid, weight.shape, split=True)
    return out


@op(node="ConvolutionBackward0")
def _conv_input(
    xp: Backend,
    input: Array,
    weight: Array,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    size: Sizes,
) -> Array:
    """``(n, in, *size)`` from what came of it, ``(n, out, *windows)``, and the weight."""
    count, outputs = input.shape[:2]
    kernel = weight.shape[2:]
    if _flips_well(weight, stride, groups):
        back = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        flipped = _flipped(xp, weight, groups)
        return _conv.kernel(xp, input, flipped, None, stride, back, dilation, groups, size)
    grid = Grid(kernel, stride, padding, dilation, input.shape[2:])
    if conv_depthwise.can_shift_lines(xp, weight.shape, groups, count, input.shape[2:]):
        spread = conv_depthwise.transpose_lines(xp, input, weight, grid, groups, size)
        if spread is not None:
            return spread
    rows = xp.reshape(weight, (groups, outputs // groups, _row(weight)))
    turned = xp.swapaxes(rows, 1, 2)
    out = xp.empty((count, groups * weight.shape[1], *size), input.dtype)

    def some(block: Block, columns: Columns) -> None:
        part = input[block.images]
        given = columns.inside_out(part)
        given = xp.reshape(given, (groups, outputs // groups, _windows(part)))
        into = columns.buffer(
            "columns", columns.shaped((out.shape[1], *kernel), part.shape[0], part.shape[2:])
        )
        xp.matmul(turned, given, out=xp.reshape(into, (groups, rows.shape[2], given.shape[2])))
        columns.back(into, grid, out[block.images])

    _each_block(xp, some, input.dtype, out.shape, grid, weight.shape, split=False)
    return out


@op
def _conv_weight(
    xp: Backend,
    input: Array,
    grad: Array,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    size: Sizes,
) -> Array:
    """``(out, in / groups, *size)`` from ``(n, in, *image)`` and ``(n, out, *windows)``."""
    outputs, channels = grad.shape[1], input.shape[1]
    grid = Grid(size, stride, padding, dilation, grad.shape[2:])
    shape: tuple[int, ...] = (outputs, channels // groups, *size)
    if conv_depthwise.can_shift_lines(xp, shape, groups, input.shape[0], grid.size):
        found = conv_depthwise.weight_gradient_of_lines(xp, input, grad, grid)
        if found is not None:
            return found
    depth = channels // groups * math.prod(size)

    def some(block: Block, columns: Columns) -> Array:
        found = columns.of(input[block.images], grid.rows(*_ends(block.rows)))
        part = grad[block.images, :, block.rows]
        given = columns.inside_out(part)
        given = xp.reshape(given, (groups, outputs // groups, _windows(part)))
        found = xp.reshape(found, (groups, depth, _windows(part)))
        # In this order BLAS is a quarter faster than the other way round.
        return xp.matmul(found, xp.swapaxes(given, 1, 2))

    shape = (groups, depth, outputs // groups)
    total = xp.zeros(shape, input.dtype)
    for part in _each_block(xp, some, input.dtype, input.shape, grid, shape, split=True):
        total += part
    return xp.reshape(xp.swapaxes(total, 1, 2), (outputs, channels // groups, *size))


def _row(weight: Array) -> int:
    return math.prod(weight.shape[1:])


def _windows(results: Array) -> int:
    """How many windows gave ``(count, channels, *size)``."""
    return int(results.shape[0] * math.prod(results.shape[2:]))


def _ends(part: slice) -> tuple[int, int]:
    return part.start, part.stop


def _product(
    xp: Backend, a: Array, b: Array, bias: Array | None, target: Array, columns: Columns
) -> None:
    """Write the product of matrices, plus a number per channel, to ``(count, channels, *size)``."""
    shape = (a.shape[0], a.shape[1], b.shape[2])
    column = None if bias is None else xp.reshape(bias, (-1, *(1,) * (target.ndim - 1)))
    inside = columns.inside_out(target)
    if inside.flags.c_contiguous:
        _multiply(xp, a, b, xp.reshape(inside, shape))
        if column is not None:
            xp.add(inside, column, out=inside)
        return
    product = columns.buffer("product", shape)
    _multiply(xp, a, b, product)
    product = xp.reshape(product, inside.shape)
    if column is None:
        inside[...] = product
    else:
        xp.add(product, column, out=inside)


def _multiply(xp: Backend, a: Array, b: Array, out: Array) -> None:
    """Write the products of stacks of matrices to ``out``."""
    if a.shape[1] == 1 and a.shape[2] <= _FEW:
        out[...] = xp.einsum("gok,gkn->gon", a, b)
    else:
        xp.matmul(a, b, out=out)


def _each_block(
    xp: Backend,
    some: Callable[[Block, Columns], Any],
    dtype: Any,
    shape: Sequence[int],
    grid: Grid,
    weight: Sequence[int],
    split: bool,
) -> list[Any]:
    """Run ``some`` on every block of a batch of ``shape``; the sums of its results, by thread."""
    row = shape[1] * math.prod(grid.kernel) * math.prod(grid.size[1:]) * dtype.itemsize
    todo = blocks(shape[0], grid.size[0], row, _limit(xp, dtype, weight), split)
    count_last = bool(todo) and _counts_last(todo[0].images.stop, grid)

    def part(start: int, stop: int) -> Any:
        columns, total = Columns(xp, dtype, count_last), None
        for block in todo[start:stop]:
            result = some(block, columns)
            total = result if total is None or result is None else xp.add(total, result, out=total)
        return total

    return [total for total in xp.in_parts(part, len(todo), True) if total is not None]


def _counts_last(images: int, grid: Grid) -> bool:
    """Whether the columns of so many images are best copied with the images side by side.

    Where rows are short, that makes one piece of memory of a row of every image, but with steps
    between windows only of the same pixel of every image.
    """
    return 1 < images and grid.size[-1] < (SHORT if grid.stride[-1] == 1 else images)


def _limit(xp: Backend, dtype: Any, weight: Sequence[int]) -> int:
    """Bytes of columns: every product reads the whole weight, and should be worth more work."""
    return max(xp.column_bytes, _WORTH * math.prod(weight) * int(dtype.itemsize))


def _flips_well(weight: Array, stride: Sizes, groups: int) -> bool:
    """Whether the transpose is best done as a convolution with the kernel turned around.

    It reads columns instead of adding to them, of the output's channels instead of the input's.
    """
    return all(s == 1 for s in stride) and 2 * groups * weight.shape[1] >= weight.shape[0]


def _flipped(xp: Any, weight: Array, groups: int) -> Array:
    outputs, inputs = weight.shape[:2]
    kernel = weight.shape[2:]
    turned = xp.flip(weight, tuple(range(2, weight.ndim)))
    turned = xp.reshape(turned, (groups, outputs // groups, inputs, *kernel))
    return xp.reshape(xp.swapaxes(turned, 1, 2), (groups * inputs, outputs // groups, *kernel))


@_conv.vjp_joint("input", "weight", "bias")
def _conv_rule(
    xp: Any,
    g: Any,
    in_shape: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:
    how = (stride, padding, dilation, groups)
    for_input, for_weight, for_bias = in_shape
    return (
        None if for_input is None else xp.call(_conv_input, g, weight, *how, for_input[2:]),
        None if for_weight is None else xp.call(_conv_weight, input, g, *how, for_weight[2:]),
        None if for_bias is None else xp.sum(g, axis=(0, *range(2, g.ndim))),
    )


@_conv_input.vjp_joint("input", "weight")
def _conv_input_rule(
    xp: Any,
    g: Any,
    in_shape: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:
    how = (stride, padding, dilation, groups)
    back, kernel = in_shape
    return (
        None if back is None else xp.call(_conv, g, weight, None, *how, back[2:]),
        None if kernel is None else xp.call(_conv_weight, g, input, *how, kernel[2:]),
    )


@_conv_weight.vjp_joint("input", "grad")
def _conv_weight_rule(
    xp: Any,
    g: Any,
    in_shape: Any,
    input: Any,
    grad: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> tuple[Any, ...]:
    how = (stride, padding, dilation, groups)
    image, windows = in_shape
    return (
        None if image is None else xp.call(_conv_input, grad, g, *how, image[2:]),
        None if windows is None else xp.call(_conv, input, g, None, *how, windows[2:]),
    )
