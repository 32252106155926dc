"""Sliding windows over images: im2col and col2im, ``unfold`` and ``fold``."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.tensor import Tensor
from ...dispatch.arguments import is_rejected_bool
from ...dispatch.op import Array, Backend, composite, op
from ..checks import check_supported
from ..memory_order import as_row_major

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
    indices = []
    for element in itertools.product(*map(range, kernel)):
        starts = (p * d for p, d in zip(element, dilation, strict=True))
        pixels = tuple(
            slice(a, a + (o - 1) * s + 1, s) for a, o, s in zip(starts, size, stride, strict=True)
        )
        indices.append(((slice(None), *element), (*lead, *pixels)))
    return indices


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


class WindowView(NamedTuple):
    """All windows of a batch as a view of its padded images.

    Attributes:
        padded: Shape of the padded images; None if no padding is needed.
        inside, outside: Indices of the batch, and of the padded images, of the same elements.
        shape: ``(N, C, *kernel, *size)``, the shape of the view.
        strides: Its strides, in bytes.
    """

    padded: tuple[int, ...] | None
    inside: tuple[Any, ...]
    outside: tuple[Any, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def read(self, xp: Backend, input: Array) -> Array:
        """The windows of ``input``; a view of it, or of a padded copy."""
        if self.padded is None:
            input = as_row_major(xp, input)
        else:
            padded = xp.zeros(self.padded, input.dtype)
            padded[self.outside] = input[self.inside]
            input = padded
        return xp.as_strided(input, self.shape, self.strides)


@functools.lru_cache(maxsize=256)
def view_of_windows(
    shape: tuple[int, ...], itemsize: int, windows: Windows, spread: tuple[int, ...]
) -> WindowView:
    """View of the windows of a batch.

    Args:
        shape: Shape of the batch, ``(N, C, *image)``.
        itemsize: Size of an element in bytes.
        windows: The windows.
        spread: Distance of an image's elements in its padded copy, with zeros between them.
    """
    count, channels, *image = shape
    padded, lead = windows.padded_size(), (slice(None), slice(None))
    inside, outside = image_slices(image, windows, spread)
    fits = not any(windows.padding) and all(s == 1 for s in spread)
    fits = fits and all(p <= n for p, n in zip(padded, image, strict=True))
    whole = (count, channels, *(image if fits else padded))
    steps = [itemsize * math.prod(whole[i + 1 :]) for i in range(len(whole))]
    between = (t * d for t, d in zip(steps[2:], windows.dilation, strict=True))
    apart = (t * s for t, s in zip(steps[2:], windows.stride, strict=True))
    return WindowView(
        None if fits else whole, (*lead, *inside), (*lead, *outside),
        (count, channels, *windows.kernel, *windows.size), (*steps[:2], *between, *apart),
    )  # fmt: skip


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

    def col2im(self, columns: Array, windows: Windows, images: Array, add: bool = False) -> None:
        """Sum the columns' elements that belong to the same pixel, and write them to ``images``.

        With ``add``, they are added to those of other windows in ``images``.
        """
        count, channels, *image = images.shape
        inside, outside = image_slices(image, windows)
        padded = self.buffer("padded", self.shape((channels,), count, windows.padded_size()))
        padded[...] = 0
        self.zeroed = None
        for element, pixels in windows.element_indices(self.batch_last):
            padded[pixels] += columns[element]
        part = self.move_batch(images[(slice(None), slice(None), *inside)])
        if add:
            part += padded[self._region(outside)]
            return
        if math.prod(s.stop - s.start for s in inside) < math.prod(image):
            images[...] = 0
        part[...] = padded[self._region(outside)]


class Block(NamedTuple):
    """Some images of a batch and some rows of their windows."""

    images: slice
    rows: slice


def split_batch(
    count: int, rows: int, row_bytes: int, limit: int, split: bool, least: int = 4
) -> list[Block]:
    """Split a batch into at least ``least`` blocks, whose columns fit in ``limit`` bytes.

    Args:
        count: Images in the batch.
        rows: Rows of windows in an image.
        row_bytes: Size of a row's columns.
        limit: Largest size of a block's columns.
        split: Whether an image whose columns are too large may be split by rows.
        least: Number of blocks, if there are as many images.
    """
    image = max(rows * row_bytes, 1)
    parts = -(-image // limit)
    if parts == 1 or not split:
        step = max(min(limit // image, -(-count // least)), 1)
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
    view = view_of_windows(input.shape, input.itemsize, windows, (1,) * len(windows.size))
    shape = (
        input.shape[0],
        input.shape[1] * math.prod(windows.kernel),
        math.prod(windows.size),
    )
    return xp.array(view.read(xp, input), order="C").reshape(shape)


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
    shape = input._data.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        kind = IndexError if input.ndim < 3 else RuntimeError  # as torch's
        raise kind(
            "unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    check_supported(input._xp, "unfold", input._data, unsupported="iu")
    windows = _make_windows("unfold", shape[-2:], kernel_size, dilation, padding, stride)
    if min(windows.size) < 1:
        raise RuntimeError(
            f"unfold: Given input with spatial size {tuple(input.shape[-2:])}, "
            f"{_describe(windows)}, calculated shape of the array of sliding blocks as "
            f"{tuple(windows.size)}, but its components must be at least one."
        )
    x: Any = input
    return _im2col(x, windows) if len(shape) == 4 else _im2col(x.unsqueeze(0), windows).squeeze(0)


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
    prefix = (
        f"fold: Given output_size={image}, {_describe(windows)}, stride={tuple(windows.stride)}, "
    )
    if input.shape[-1] != count:
        raise RuntimeError(
            f"{prefix}expected size of input's dimension {input.ndim - 1} to match the calculated "
            f"number of sliding blocks {windows.size[0]} * {windows.size[1]} = {count}, but got "
            f"input.size({input.ndim - 1})={input.shape[-1]}."
        )
    if min(windows.size) < 1:
        raise RuntimeError(
            f"{prefix}calculated shape of the array of sliding blocks as {tuple(windows.size)}, "
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
    if value.__class__ is int:
        return value, value
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(hasattr(n, "__index__") and not is_rejected_bool(n, values) for n in values):
        raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, got {value!r}")
    if isinstance(value, (tuple, list)) and len(values) != 2:
        raise RuntimeError(
            f"{name}: It is expected {argument} equals to 2, but got size {len(values)}"
        )
    return tuple(int(n) for n in (values * 2)[:2])


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
    return _windows_over(name, tuple(image), kernel, dilation, padding, stride)


@functools.lru_cache(maxsize=256)
def _windows_over(
    name: str, image: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Windows:
    """The cached results of ``_make_windows``."""
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
