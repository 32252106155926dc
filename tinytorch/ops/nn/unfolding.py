"""Sliding windows: im2col and col2im (``unfold``, ``fold``), and maxima and sums along one axis.

Max and average pooling use ``AxisWindows``, one dimension after the other: windows of size
(h, w) take h + w passes over the array, not h * w. Elements of a window that lie outside the array
are skipped, so these kernels need no padded copy.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...backends import load
from ...core.tensor import Tensor
from ...dispatch.arguments import is_leading_bool
from ...dispatch.op import Array, Backend, composite, op, piecewise
from ..checks import check_supported

Sizes = Sequence[int]


class Windows(NamedTuple):
    """Sliding windows over an image, with one int per spatial dimension in each field.

    Attributes:
        kernel: Size of a window.
        stride: Distance between windows.
        padding: Zeros before the image; the last window determines how many follow it.
        dilation: Distance between the elements of a window.
        size: Number of windows.
    """

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    size: Sizes

    def padded_size(self) -> tuple[int, ...]:
        """Size of the smallest padded image that contains all windows."""
        return tuple(
            (o - 1) * s + (k - 1) * d + 1
            for k, s, d, o in zip(self.kernel, self.stride, self.dilation, self.size, strict=True)
        )

    def element_indices(self, batch_last: bool) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """For each element of a window, its index in the columns and in the padded images.

        The layouts are those of ``Columns``.
        """
        return _element_indices(*self[:2], *self[3:], batch_last)

    def rows(self, rows: slice) -> Windows:
        """The windows of some rows: a part along the first spatial dimension."""
        shift = rows.start * self.stride[0]
        return self._replace(
            padding=(self.padding[0] - shift, *self.padding[1:]),
            size=(rows.stop - rows.start, *self.size[1:]),
        )

    def flip(self) -> tuple[Sizes, Sizes, Sizes]:
        """Stride, padding and dilation of a convolution with the flipped kernel that transposes."""
        padding = tuple(
            d * (k - 1) - p
            for d, k, p in zip(self.dilation, self.kernel, self.padding, strict=True)
        )
        return (1,) * len(padding), padding, self.dilation

    def is_identity(self, image: Sizes) -> bool:
        """Whether each window is one element of the image, in the same order."""
        return (
            math.prod(self.kernel) == 1
            and tuple(self.size) == tuple(image)
            and all(s == 1 and p == 0 for s, p in zip(self.stride, self.padding, strict=True))
        )


@functools.lru_cache(maxsize=256)
def _element_indices(
    kernel: Sizes, stride: Sizes, dilation: Sizes, size: Sizes, batch_last: bool
) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """The cached results of ``Windows.element_indices``, from the fields of ``Windows``."""
    lead = (slice(None),) if batch_last else (slice(None), slice(None))
    found = []
    for element in itertools.product(*map(range, kernel)):
        starts = (p * d for p, d in zip(element, dilation, strict=True))
        pixels = tuple(
            slice(a, a + (o - 1) * s + 1, s) for a, o, s in zip(starts, size, stride, strict=True)
        )
        found.append(((slice(None), *element), (*lead, *pixels)))
    return found


def image_slices(
    image: Sizes, windows: Windows, spread: Sizes | None = None
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Slices of an image and of its padded copy that select the same elements.

    Args:
        image: Size of the image.
        windows: The windows.
        spread: Distance of the image's elements in the copy; default 1 in each dimension. If it is
            larger, the padding must not be negative.
    """
    inside, outside = [], []
    sizes = zip(image, windows.padding, windows.padded_size(), strict=True)
    for (length, before, padded), step in zip(sizes, spread or (1,) * len(image), strict=True):
        first = max(0, -before)
        last = max(first, min(length, -(-(padded - before) // step)))
        inside.append(slice(first, last))
        start = first + before
        outside.append(slice(start, max(start, start + (last - first - 1) * step + 1), step))
    return tuple(inside), tuple(outside)


class Columns:
    """im2col and col2im of a few images at a time, with buffers that the next images reuse.

    The columns of N images are one array of shape ``(C, *kernel, N, *size)``, a matrix with a row
    for each channel and element of the window. With ``batch_last`` they are
    ``(C, *kernel, *size, N)``, which is faster to write for images with short rows.
    """

    def __init__(self, xp: Backend, dtype: Any, batch_last: bool = False) -> None:
        self.xp = xp
        self.dtype = dtype
        self.batch_last = batch_last
        self.memory: dict[str, Array] = {}
        #: Shape of the padded images and slices of the images in them, if the rest is 0.
        self.zeroed: Any = None

    def buffer(self, name: str, shape: tuple[int, ...]) -> Array:
        """Uninitialized array; it reuses the memory of the last call with that name."""
        size = math.prod(shape)
        memory = self.memory.get(name)
        if memory is None or memory.size < size:
            memory = self.memory[name] = self.xp.empty((size,), self.dtype)
        return self.xp.reshape(memory[:size], shape)

    def move_batch(self, images: Array) -> Array:
        """View of ``(N, C, *image)`` as ``(C, N, *image)``, or ``(C, *image, N)``."""
        return self.xp.moveaxis(images, 0, -1 if self.batch_last else 1)

    def shape(self, lead: Sizes, count: int, image: Sizes) -> tuple[int, ...]:
        """``(*lead, count, *image)``, or ``(*lead, *image, count)`` with ``batch_last``."""
        return (*lead, *image, count) if self.batch_last else (*lead, count, *image)

    def im2col(self, images: Array, windows: Windows) -> Array:
        """The windows of ``images``, ``(N, C, *image)``, as columns."""
        count, channels, *image = images.shape
        if windows.is_identity(image) and count == 1:
            return self.xp.reshape(images, (channels, *windows.kernel, count, *windows.size))
        padded = self._pad(images, windows)
        out = self.buffer("columns", self.shape((channels, *windows.kernel), count, windows.size))
        for element, pixels in windows.element_indices(self.batch_last):
            out[element] = padded[pixels]
        return out

    def _pad(self, images: Array, windows: Windows) -> Array:
        """The padded ``images``, with the dimension of the batch where the columns have it."""
        count, channels, *image = images.shape
        shape = windows.padded_size()
        inside, outside = image_slices(image, windows)
        part = images[(slice(None), slice(None), *inside)]
        if part.shape[2:] == shape and not self.batch_last:
            return self.move_batch(part)
        padded = self.buffer("padded", self.shape((channels,), count, shape))
        if self.zeroed != (padded.shape, outside):
            padded[...] = 0  # the padding then stays 0 for the next images
            self.zeroed = (padded.shape, outside)
        padded[self._region(outside)] = self.move_batch(part)
        return padded

    def _region(self, image: tuple[slice, ...]) -> tuple[slice, ...]:
        """Index of the region ``image``, slices of each spatial dimension, in padded images."""
        lead = (slice(None),) if self.batch_last else (slice(None), slice(None))
        return (*lead, *image)

    def col2im(self, columns: Array, windows: Windows, images: Array) -> None:
        """Sum the columns' elements that belong to the same pixel, and write them to ``images``."""
        count, channels, *image = images.shape
        inside, outside = image_slices(image, windows)
        padded = self.buffer("padded", self.shape((channels,), count, windows.padded_size()))
        padded[...] = 0
        self.zeroed = None
        for element, pixels in windows.element_indices(self.batch_last):
            padded[pixels] += columns[element]
        if math.prod(s.stop - s.start for s in inside) < math.prod(image):
            images[...] = 0
        part = images[(slice(None), slice(None), *inside)]
        self.move_batch(part)[...] = padded[self._region(outside)]


class Block(NamedTuple):
    """Some images of a batch and some rows of their windows."""

    images: slice
    rows: slice


def split_batch(count: int, rows: int, row_bytes: int, limit: int, split: bool) -> list[Block]:
    """Split a batch into blocks of at most a quarter of it, whose columns fit in ``limit`` bytes.

    Args:
        count: Images in the batch.
        rows: Rows of windows in an image.
        row_bytes: Size of a row's columns.
        limit: Largest size of a block's columns.
        split: Whether an image whose columns are too large may be split by rows.
    """
    image = max(rows * row_bytes, 1)
    parts = -(-image // limit)
    if parts == 1 or not split:
        step = max(min(limit // image, -(-count // 4)), 1)
        return [
            Block(slice(i, min(i + step, count)), slice(0, rows)) for i in range(0, count, step)
        ]
    step = -(-rows // parts)
    return [
        Block(slice(i, i + 1), slice(r, min(r + step, rows)))
        for i in range(count)
        for r in range(0, rows, step)
    ]


_F = ("nn.functional",)

#: One int for every dimension, or one int for each.
Size = int | Sequence[int]


@op(node="Im2ColBackward0")
def _im2col(xp: Backend, input: Array, windows: Windows) -> Array:
    """Windows of ``(N, C, *image)`` as columns, ``(N, C * prod(kernel), prod(size))``."""
    batch, channels = input.shape[:2]
    found = Columns(xp, input.dtype).im2col(input, windows)
    spatial = len(windows.kernel)
    batch_first = (spatial + 1, *range(spatial + 1), *range(spatial + 2, found.ndim))
    shape = (batch, channels * math.prod(windows.kernel), math.prod(windows.size))
    out = xp.reshape(xp.transpose(found, batch_first), shape)
    if windows.is_identity(input.shape[2:]):  # out may be a view of the input
        out = xp.array(out)
    return xp.ascontiguousarray(out)


@op(node="Col2ImBackward0")
def _col2im(xp: Backend, input: Array, windows: Windows, image: tuple[int, ...]) -> Array:
    """Images ``(N, C, *image)`` whose pixels are sums of the columns' elements for them."""
    batch = input.shape[0]
    channels = input.shape[1] // math.prod(windows.kernel)
    columns = xp.reshape(input, (batch, channels, *windows.kernel, *windows.size))
    spatial = len(windows.kernel)
    batch_inside = (*range(1, spatial + 2), 0, *range(spatial + 2, columns.ndim))
    out = xp.empty((batch, channels, *image), input.dtype)
    Columns(xp, input.dtype).col2im(xp.transpose(columns, batch_inside), windows, out)
    return out


_im2col.vjp(
    input=lambda xp, g, in_shape, windows: xp.call(_col2im, g, windows, tuple(in_shape[2:]))
)
_col2im.vjp(input=lambda xp, g, windows: xp.call(_im2col, g, windows))


@composite(namespaces=_F)
def unfold(
    input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """Sliding windows of an image, each as a column (im2col).

    Args:
        input: ``(batch, channels, height, width)``, or without ``batch``.
        kernel_size: Size of a window, one int for all dimensions or one for each.
        dilation: Distance between the elements of a window; default 1.
        padding: Zeros on every side; default 0.
        stride: Distance between windows; default 1.

    Returns:
        ``(batch, channels * prod(kernel_size), windows)``; the windows in row-major order.

    Raises:
        RuntimeError: If shapes or numbers do not fit.
        IndexError: If ``input`` has fewer than 3 dimensions.

    Example:
        >>> tt.nn.functional.unfold(tt.arange(4.0).reshape(1, 1, 2, 2), (1, 2))
        tensor([[[0., 2.],
                 [1., 3.]]])
    """
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        kind = IndexError if input.ndim < 3 else RuntimeError  # as torch's
        raise kind(
            "unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    check_supported(input._xp, "unfold", input._data, unsupported="iu")
    windows = _make_windows("unfold", input.shape[-2:], kernel_size, dilation, padding, stride)
    if min(windows.size) < 1:
        raise RuntimeError(
            f"unfold: Given input with spatial size {tuple(input.shape[-2:])}, "
            f"{_describe(windows)}, calculated shape of the array of sliding blocks as "
            f"{tuple(windows.size)}, but its components must be at least one."
        )
    x: Any = input
    return _im2col(x, windows) if x.ndim == 4 else _im2col(x.unsqueeze(0), windows).squeeze(0)


@composite(namespaces=_F, like=unfold)
def fold(
    input: Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> Tensor:
    """Image that is the sum of sliding windows, the columns of ``unfold`` (col2im).

    Args:
        input: ``(batch, channels * prod(kernel_size), windows)``, or without ``batch``.
        output_size: Height and width of the image, one int for both or one for each.

    Returns:
        ``(batch, channels, *output_size)``.

    Raises:
        RuntimeError: If shapes or numbers do not fit.

    Example:
        >>> tt.nn.functional.fold(tt.ones(1, 2, 2), (1, 3), (1, 2))
        tensor([[[[1., 2., 1.]]]])
    """
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "fold: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    check_supported(input._xp, "fold", input._data, unsupported="iu")
    image = _check_pair("fold", "output_size", output_size)
    windows = _make_windows("fold", image, kernel_size, dilation, padding, stride)
    _check_columns(input, image, windows)
    x: Any = input
    if x.ndim == 3:
        return _col2im(x, windows, image)
    return _col2im(x.unsqueeze(0), windows, image).squeeze(0)


def _check_columns(input: Tensor, image: tuple[int, ...], windows: Windows) -> None:
    """Raise RuntimeError for columns that do not fit ``fold``."""
    elements, (height, width) = math.prod(windows.kernel), windows.kernel
    if elements >= 2**63:
        raise RuntimeError(
            f"fold: Given kernel_width = {width} and kernel_height = {height} the product of "
            "kernel_width and kernel_height overflowed."
        )
    if input.shape[-2] % elements:
        raise RuntimeError(
            f"fold: Expected size of input's dimension {input.ndim - 2} to be divisible by the "
            f"product of kernel_size, but got input.size({input.ndim - 2})={input.shape[-2]} and "
            f"kernel_size={tuple(windows.kernel)}."
        )
    count = math.prod(windows.size)
    given = (
        f"fold: Given output_size={image}, {_describe(windows)}, stride={tuple(windows.stride)}, "
    )
    if input.shape[-1] != count:
        raise RuntimeError(
            f"{given}expected size of input's dimension {input.ndim - 1} to match the calculated "
            f"number of sliding blocks {windows.size[0]} * {windows.size[1]} = {count}, but got "
            f"input.size({input.ndim - 1})={input.shape[-1]}."
        )
    if min(windows.size) < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as {tuple(windows.size)}, "
            "which is too small (non-positive)"
        )


def _describe(windows: Windows) -> str:
    """Kernel size, dilation and padding, for an error message."""
    return (
        f"kernel_size={tuple(windows.kernel)}, dilation={tuple(windows.dilation)}, "
        f"padding={tuple(windows.padding)}"
    )


def _check_pair(name: str, argument: str, value: Any) -> tuple[int, ...]:
    """``value``, an int or a pair of ints, as a pair; ``name`` and ``argument`` are for errors."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(hasattr(n, "__index__") and not is_leading_bool(n, given) for n in given):
        raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, got {value!r}")
    if isinstance(value, (tuple, list)) and len(given) != 2:
        raise RuntimeError(
            f"{name}: It is expected {argument} equals to 2, but got size {len(given)}"
        )
    return tuple(int(n) for n in (given * 2)[:2])


def _make_windows(
    name: str, image: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Windows:
    """Windows of ``unfold`` or ``fold`` over an image of size ``image``.

    Raises RuntimeError for numbers out of range; ``name`` is the function, for errors.
    """
    kernel = _check_pair(name, "kernel_size", kernel_size)
    dilation = _check_pair(name, "dilation", dilation)
    padding = _check_pair(name, "padding", padding)
    stride = _check_pair(name, "stride", stride)
    for argument, values in (("kernel_size", kernel), ("dilation", dilation), ("stride", stride)):
        if min(values) <= 0:
            raise RuntimeError(f"{name}: {argument} should be greater than zero, but got {values}")
    if min(padding) < 0:
        raise RuntimeError(f"{name}: padding should be non-negative, but got {padding}")
    size = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(image, kernel, dilation, padding, stride, strict=True)
    )
    return Windows(kernel, stride, padding, dilation, size)


#: Longer windows that tile the array are reduced by one call, others element after element.
_LONG = 8


class AxisWindows(NamedTuple):
    """Sliding windows along one axis; the fields are as in ``Windows``.

    The windows of an array of shape ``(*a, length, *b)`` along ``axis`` give ``(*a, size, *b)``.
    """

    axis: int
    kernel: int
    stride: int
    padding: int
    dilation: int
    size: int

    def element_indices(self, length: int, ndim: int) -> list[tuple[int, Any, Any]]:
        """Number of each element of a window, and where it lies inside the array.

        Args:
            length: Size of the array along ``axis``.
            ndim: Dimensions of the array.

        Returns:
            For each element that lies inside the array in a window: its number k, the index of the
            windows whose k-th element is inside, and the index of these elements in the array.
        """
        return _axis_element_indices(self, length, ndim)

    def element_ranges(self, length: int) -> list[range]:
        """Indices of each window's elements inside an axis of ``length`` elements."""
        found = []
        for start in range(-self.padding, self.size * self.stride - self.padding, self.stride):
            before = max(0, -(start // self.dilation))
            stop = min(length, start + (self.kernel - 1) * self.dilation + 1)
            found.append(range(start + before * self.dilation, stop, self.dilation))
        return found

    def are_long_tiles(self, length: int) -> bool:
        """Whether long windows tile the array, so that a reshape turns them into rows."""
        return (
            self.kernel > _LONG
            and self.dilation == 1
            and self.stride == self.kernel
            and not self.padding
            and self.size * self.kernel == length
        )

    def tiled_shape(self, shape: Any) -> tuple[int, ...]:
        """``shape`` with the axis replaced by two: windows and their elements."""
        axis = self.axis % len(shape)
        return (*shape[:axis], self.size, self.kernel, *shape[axis + 1 :])

    def starts(self, xp: Any) -> Array:
        """Index in the array of each window's first element; negative in the padding."""
        return xp.arange(self.size, dtype="int64") * self.stride - self.padding

    def replace_size(self, shape: Any, size: int) -> tuple[int, ...]:
        """``shape`` with another size along the axis."""
        axis = self.axis % len(shape)
        return (*shape[:axis], size, *shape[axis + 1 :])

    def broadcast(self, xp: Any, values: Array, ndim: int, dtype: Any) -> Array:
        """One value per window, in a shape that broadcasts with arrays of ``ndim`` dimensions."""
        after = ndim - 1 - self.axis % ndim
        return xp.reshape(values.astype(dtype), (-1, *(1,) * after))


@functools.lru_cache(maxsize=256)
def _axis_element_indices(
    windows: AxisWindows, length: int, ndim: int
) -> list[tuple[int, Any, Any]]:
    """The cached results of ``AxisWindows.element_indices``."""
    before = (slice(None),) * (windows.axis % ndim)
    stride, found = windows.stride, []
    for number in range(windows.kernel):
        shift = number * windows.dilation - windows.padding
        first = max(0, -(shift // stride))
        last = min(windows.size, (length - 1 - shift) // stride + 1)
        if first < last:
            start, stop = first * stride + shift, (last - 1) * stride + shift + 1
            elements = (*before, slice(start, stop, stride))
            found.append((number, (*before, slice(first, last)), elements))
    return found


#: Windows of up to this many elements, of one image and of a batch, are read by a table.
_FEW_IN_IMAGE, _FEW = 4096, 16384


class WindowTable(NamedTuple):
    """Indices of the elements of all windows, for images that are flattened.

    Attributes:
        size: Number of windows in each dimension.
        indices: NumPy array ``(windows, elements)``. Shorter windows end with the number of pixels.
        repeated: The same, but shorter windows end with their first element again.
        counts: Number of elements of each window: an int if they are all equal, else a NumPy array.
    """

    size: Sizes
    indices: Any
    repeated: Any
    counts: Any

    def elements(self, xp: Backend, input: Array) -> Array:
        """Elements ``(N * C, windows, elements)`` of images ``(N, C, *image)``.

        Shorter windows repeat an element.
        """
        return self._flatten(input).take(xp.from_numpy(self.repeated), 1)

    def maxima(self, xp: Backend, input: Array) -> Array:
        """Maximum of each window, which is NaN if an element is."""
        return self._restore(input, self.elements(xp, input).max(-1))

    def maxima_and_indices(self, xp: Backend, input: Array) -> tuple[Array, Array] | None:
        """Maxima, and their indices in the flattened image; None if one is infinite or NaN."""
        elements = self.elements(xp, input)
        number = elements.argmax(-1)
        maxima = elements.reshape(-1)[number + xp.row_starts[elements.shape]]
        if input.dtype.kind == "f" and not xp.is_finite(maxima):
            return None
        number = number + xp.row_starts[self.repeated.shape]
        index = xp.from_numpy(self.repeated).reshape(-1)[number]
        return self._restore(input, maxima), self._restore(input, index)

    def sums(self, xp: Backend, input: Array) -> Array:
        """Sum of each window."""
        flat = self._flatten(input)
        if self.counts.__class__ is not int:
            flat = xp.concatenate([flat, xp.zeros((flat.shape[0], 1), flat.dtype)], 1)
        return self._restore(input, xp.sum(flat.take(xp.from_numpy(self.indices), 1), 2))

    def _flatten(self, input: Array) -> Array:
        """Images as ``(N * C, pixels)``."""
        lead = input.ndim - len(self.size)
        return input.reshape(math.prod(input.shape[:lead]), math.prod(input.shape[lead:]))

    def _restore(self, input: Array, results: Array) -> Array:
        """``results``, ``(N * C, windows)``, as ``(N, C, *size)``."""
        return results.reshape(input.shape[: -len(self.size)] + self.size)


def make_table(shape: Sizes, axes: Sequence[Sequence[range]]) -> WindowTable | None:
    """Table of the windows of images; None if they have many elements, or a window has none.

    Args:
        shape: ``(N, C, *image)``, or without the first dimensions.
        axes: For each dimension of the image, the elements of each window along it.
    """
    image = shape[len(shape) - len(axes) :]
    count = math.prod(sum(map(len, windows)) for windows in axes)
    lead = math.prod(shape[: len(shape) - len(axes)])
    if count > _FEW_IN_IMAGE or count * lead > _FEW:
        return None
    if not all(windows and all(windows) for windows in axes):
        return None
    rows: list[list[int]] = [[0]]
    for length, windows in zip(image, axes, strict=True):
        rows = [[at * length + i for at in row for i in each] for row in rows for each in windows]
    longest, np = max(map(len, rows)), load("numpy").library
    ends = [longest - len(row) for row in rows]
    return WindowTable(
        tuple(map(len, axes)),
        np.array([row + [math.prod(image)] * n for row, n in zip(rows, ends, strict=True)]),
        np.array([row + row[:1] * n for row, n in zip(rows, ends, strict=True)]),
        np.reshape([len(row) for row in rows], tuple(map(len, axes))) if any(ends) else longest,
    )


@functools.lru_cache(maxsize=128)
def table_of_windows(shape: Sizes, windows: tuple[AxisWindows, ...]) -> WindowTable | None:
    """``make_table`` for sliding windows along the last dimensions of an array of ``shape``."""
    return make_table(shape, [each.element_ranges(shape[each.axis]) for each in windows])


def lowest(xp: Backend, dtype: Any) -> Any:
    """Smallest value of a dtype, the initial value of a maximum."""
    return xp.iinfo(dtype).min if dtype.kind in "iu" else -xp.inf


@op(public=False)
def window_max(xp: Backend, input: Array, windows: AxisWindows) -> Array:
    """Maximum of each window, which is NaN if an element is."""
    if windows.are_long_tiles(input.shape[windows.axis]):
        axis = windows.axis % input.ndim
        return xp.max(xp.reshape(input, windows.tiled_shape(input.shape)), axis=axis + 1)
    out, steps = _start_max(xp, input, windows)
    for _, at, elements in steps:
        part = out[at]
        xp.maximum(part, input[elements], out=part)
    return out


def _start_max(xp: Backend, input: Array, windows: AxisWindows) -> tuple[Array, list[Any]]:
    """Initial maxima of ``window_max``, and the ``element_indices`` that are still to be compared.

    The maxima are the windows' first elements if all are inside the array, else ``lowest``.
    """
    steps = windows.element_indices(input.shape[windows.axis], input.ndim)
    if steps and steps[0][0] == 0 and steps[0][1][-1] == slice(0, windows.size):
        return xp.array(input[steps[0][2]]), steps[1:]
    shape = windows.replace_size(input.shape, windows.size)
    return xp.full(shape, lowest(xp, input.dtype), input.dtype), steps


window_max.vjp(
    input=piecewise(
        lambda xp, g, in_shape, input, windows: xp.call(
            window_scatter, g, xp.call(window_argmax, input, windows), windows,
            in_shape[windows.axis],
        )
    )
)  # fmt: skip


@op(public=False)
def window_argmax(xp: Backend, input: Array, windows: AxisWindows) -> Array:
    """Number of the largest element within each window.

    Of equal elements it is the first, but of several NaN the last.
    """
    dtype = xp.dtype("uint8" if windows.kernel <= 256 else "int32")
    best, steps = _start_max(xp, input, windows)
    out = xp.zeros(best.shape, dtype)
    if windows.padding:
        first_inside = xp.maximum(-(windows.starts(xp) // windows.dilation), 0)
        out += windows.broadcast(xp, first_inside, input.ndim, dtype)
    for number, at, elements in steps:
        # A contiguous copy, as it is read three times.
        value, old = xp.ascontiguousarray(input[elements]), best[at]
        better = value > old
        if input.dtype.kind == "f":
            better |= xp.isnan(value)
        if number < steps[-1][0]:
            xp.maximum(old, value, out=old)
        # The numbers increase, so the largest one is that of the last improvement.
        xp.maximum(out[at], xp.multiply(better, number, dtype=dtype), out=out[at])
    return out


@op(public=False)
def window_scatter(
    xp: Backend, input: Array, index: Array, windows: AxisWindows, length: int
) -> Array:
    """Zeros with each window's value in ``input`` added to its element number ``index``."""
    out = xp.zeros(windows.replace_size(input.shape, length), input.dtype)
    disjoint = windows.stride >= (windows.kernel - 1) * windows.dilation + 1
    for number, at, elements in windows.element_indices(length, input.ndim):
        value = xp.masked(input[at], index[at] == number)
        if disjoint:
            out[elements] = value
        else:
            out[elements] += value
    return out


window_scatter.vjp(input=lambda xp, g, index, windows: xp.call(window_gather, g, index, windows))


@op(public=False)
def window_gather(xp: Backend, input: Array, index: Array, windows: AxisWindows) -> Array:
    """Element number ``index`` of each window."""
    out = xp.zeros(index.shape, input.dtype)
    for number, at, elements in windows.element_indices(input.shape[windows.axis], input.ndim):
        out[at] = xp.where(index[at] == number, input[elements], out[at])
    return out


window_gather.vjp(
    input=lambda xp, g, in_shape, index, windows: xp.call(
        window_scatter, g, index, windows, in_shape[windows.axis]
    )
)


@op(public=False)
def window_sum(xp: Backend, input: Array, windows: AxisWindows) -> Array:
    """Sum of each window."""
    if windows.are_long_tiles(input.shape[windows.axis]):
        axis = windows.axis % input.ndim
        return xp.sum(xp.reshape(input, windows.tiled_shape(input.shape)), axis=axis + 1)
    out = xp.zeros(windows.replace_size(input.shape, windows.size), input.dtype)
    for _, at, elements in windows.element_indices(input.shape[windows.axis], input.ndim):
        out[at] += input[elements]
    return out


window_sum.vjp(input=piecewise(
    lambda xp, g, in_shape, windows: xp.call(window_spread, g, windows, in_shape[windows.axis])
))  # fmt: skip


@op(public=False)
def window_spread(xp: Backend, input: Array, windows: AxisWindows, length: int) -> Array:
    """Zeros with each window's value in ``input`` added to all of its elements."""
    if windows.are_long_tiles(length):
        axis = windows.axis % input.ndim
        wide = windows.tiled_shape(windows.replace_size(input.shape, length))
        spread = xp.broadcast_to(xp.expand_dims(input, axis + 1), wide)
        return xp.reshape(spread, windows.replace_size(input.shape, length))
    out = xp.zeros(windows.replace_size(input.shape, length), input.dtype)
    for _, at, elements in windows.element_indices(length, input.ndim):
        out[elements] += input[at]
    return out


window_spread.vjp(input=lambda xp, g, windows: xp.call(window_sum, g, windows))
