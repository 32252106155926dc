"""Windows into a tensor's memory, by strides."""

from __future__ import annotations

import math
from typing import Any

from .._op import Array, Backend, composite, op
from .._tensor import Tensor
from ..backends.storage import extent
from ._positions import counting, row_major
from .layout import in_order


@op(view=True, method=False)
def _as_strided(
    xp: Backend, input: Array, size: Any, stride: Any, start: int, order: str
) -> Array:
    """A window into the memory of ``input``, whose elements lie there in ``order``."""
    flat = (input.T if order == "F" else input).reshape(-1)
    span = extent(size, stride)
    if start < 0 or start + span > flat.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {start}, and "
            f"itemsize {input.itemsize} requiring a storage size of "
            f"{(start + span) * input.itemsize} are out of bounds for storage of size "
            f"{flat.size * input.itemsize}"
        )
    return xp.as_strided(flat[start:], size, tuple(s * input.itemsize for s in stride))


_as_strided.vjp(
    input=lambda xp, g, in_shape, size, stride, start, order: xp.call(
        _strided_sum, g, in_shape, size, stride, start, order
    )
)


@op(method=False)
def _strided_sum(
    xp: Backend, input: Array, shape: Any, size: Any, stride: Any, start: int, order: str
) -> Array:
    """Zeros of ``shape`` with ``input`` added where the window's elements lie."""
    shape = tuple(shape)
    places: Any = start
    for d, (n, s) in enumerate(zip(size, stride, strict=True)):
        steps = counting(xp, n, s) if s else counting(xp, n) * 0
        places = places + steps.reshape(tuple(-1 if i == d else 1 for i in range(len(size))))
    flat = xp.zeros(math.prod(shape), input.dtype)
    places = xp.broadcast_to(xp.asarray(places), tuple(size)).reshape(-1)
    xp.index_add(flat, places, input.reshape(-1))
    return flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape)


_strided_sum.vjp(
    input=lambda xp, g, size, stride, start, order: xp.call(
        _as_strided, _in_order(xp, g, order), size, stride, start, order
    )
)


def _in_order(xp: Any, g: Any, order: str) -> Any:
    """``g`` with its elements in memory as those of the tensor it belongs to."""
    if order == "F":
        return xp.transpose(xp.call(in_order, xp.transpose(g)))
    return xp.call(in_order, g)


def checked_window(size: Any, stride: Any, start: int | None) -> tuple[Any, Any]:
    """Sizes and strides as tuples of ints; RuntimeError if they make no window."""
    sizes, strides = tuple(int(n) for n in size), tuple(int(s) for s in stride)
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"as_strided: mismatch in length of strides and shape, got {list(sizes)} and "
            f"{list(strides)}"
        )
    if min(strides, default=0) < 0 or (start or 0) < 0:
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(strides)}, storage_offset: {start}"
        )
    return sizes, strides


def window(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None
) -> tuple[Tensor, tuple[Any, ...]]:
    """The tensor that a window is cut from, and the arguments of ``_as_strided`` that cut it."""
    size, stride = checked_window(size, stride, storage_offset)
    xp, base = input._xp, input._base
    here = 0
    if base is not None and base._data.dtype == input._data.dtype:
        here = (xp.address(input._data) - xp.address(base._data)) // input.itemsize
    start = here if storage_offset is None else storage_offset
    inside = here <= start and start + extent(size, stride) <= here + input.numel()
    if base is None or (inside and _order(input)):
        source, start = input, start - here
    else:
        source = base
    return source, (size, stride, start, _order(source) or "C")


def _order(tensor: Tensor) -> str:
    """How a tensor's elements lie in memory without gaps: row-major, column-major, or not."""
    flags = tensor._data.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else ""


@composite
def as_strided(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A window into the memory of ``input``, or of the tensor that it is a view of.

    Args:
        input: Tensor of any shape.
        size: The window's sizes.
        stride: Steps, in elements, along each dimension; not negative.
        storage_offset: The window's first element, counted from the start of the memory; the
            default is ``input``'s own.

    Returns:
        A view; its elements may overlap.

    Raises:
        RuntimeError: If the window reaches beyond the memory.

    Example:
        >>> import tinytorch as tt
        >>> tt.arange(5).as_strided((3, 2), (1, 2))
        tensor([[0, 2],
                [1, 3],
                [2, 4]])
    """
    source, arguments = window(input, size, stride, storage_offset)
    return _as_strided(source, *arguments)


@composite(out=True)
def as_strided_copy(
    input: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """What ``as_strided`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.as_strided_copy(tt.arange(4), (2,), (2,))
        tensor([0, 2])
    """
    return as_strided(input, size, stride, storage_offset).clone()


@op(method=False)
def _strided_scatter(
    xp: Backend, input: Array, src: Array, size: Any, stride: Any, start: int
) -> Array:
    out = row_major(xp, input)
    xp.call(_as_strided, out, size, stride, start, "C")[...] = src
    return out


def _strided_keep(xp: Any, g: Any, in_shape: Any, size: Any, stride: Any, start: int) -> Any:
    """The gradient of ``input``, as torch has it: nothing but what was written over."""
    part = _strided_read(xp, g, size, stride, start)
    return xp.call(_strided_sum, part, in_shape, size, stride, start, "C")


def _strided_read(xp: Any, g: Any, size: Any, stride: Any, start: int) -> Any:
    return xp.call(_as_strided, xp.call(in_order, g), size, stride, start, "C")


_strided_scatter.vjp(input=_strided_keep, src=_strided_read)


@composite
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """``input`` with ``src`` in a window of its memory; see ``as_strided``.

    The gradient of ``input`` is that of PyTorch 2.13, which is not the derivative: it holds
    what belongs to the window and zeros elsewhere, the wrong way round.

    Args:
        input: Tensor of any shape; its elements count in row-major order.
        src: Tensor of the window's shape.
        size: The window's sizes.
        stride: Steps, in elements, along each dimension.
        storage_offset: The window's first element; default 0.

    Returns:
        A copy.

    Raises:
        RuntimeError: If ``src`` has another shape, or the window reaches beyond the memory.

    Example:
        >>> import tinytorch as tt
        >>> tt.as_strided_scatter(tt.zeros(4), tt.ones(2), (2,), (2,))
        tensor([1., 0., 1., 0.])
    """
    sizes, strides = checked_window(size, stride, storage_offset)
    if tuple(src.shape) != sizes:
        raise RuntimeError(
            "as_strided_scatter: expected src to have a size equal to the slice of self. src size "
            f"= {list(src.shape)}, slice size = {list(sizes)}"
        )
    return _strided_scatter(input, src, sizes, strides, storage_offset or 0)
