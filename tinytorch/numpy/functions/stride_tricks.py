"""``numpy.lib.stride_tricks``: views with other shapes and strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape import strides as strides_ops
from .conversion import axes_of, tensor_of
from .registration import raise_numpy_errors

__all__ = ["as_strided", "sliding_window_view"]


@raise_numpy_errors
def as_strided(
    x: Any, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None,
    subok: bool = False, writeable: bool = True,
) -> Tensor:  # fmt: skip
    """View of the memory of ``x`` with another shape and other strides.

    Args:
        x: Tensor or array-like.
        shape: Shape of the view; default ``x``'s.
        strides: Strides of the view in bytes, as in NumPy; default ``x``'s.
        subok: Accepted and ignored.
        writeable: Accepted and ignored; the view can always be written to.

    Raises:
        ValueError: If the view exceeds the memory, or a stride is not a multiple of the item size.

    Example:
        >>> np.lib.stride_tricks.as_strided(np.arange(4), shape=(2, 2), strides=(8, 8))
        array([[0, 1],
               [1, 2]])
    """
    source = tensor_of(x)
    steps = source.strides if strides is None else tuple(strides)
    item = source.itemsize
    if any(step % item for step in steps):
        raise ValueError(f"as_strided(): strides must be multiples of {item} bytes, got {steps}")
    sizes = tuple(source.shape) if shape is None else tuple(shape)
    return strides_ops.as_strided(source, sizes, tuple(step // item for step in steps))


@raise_numpy_errors
def sliding_window_view(
    x: Any, window_shape: int | Sequence[int], axis: Any = None, *, subok: bool = False,
    writeable: bool = False,
) -> Tensor:  # fmt: skip
    """View of all windows of a shape, with the windows' dimensions last.

    Args:
        x: Tensor or array-like.
        window_shape: Size of a window along each dimension of ``axis``.
        axis: Dimension or dimensions; None, the default, means all.
        subok: Accepted and ignored.
        writeable: Accepted and ignored; the view can always be written to.

    Returns:
        Tensor of ``x``'s dimensions followed by ``window_shape``; each dimension of ``axis`` is
        shorter by the window's size less 1.

    Raises:
        ValueError: If ``window_shape`` and ``axis`` differ in length, or a size is out of range.

    Example:
        >>> np.lib.stride_tricks.sliding_window_view(np.arange(4), 3)
        array([[0, 1, 2],
               [1, 2, 3]])
    """
    found = tensor_of(x)
    sizes = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    given = axis if axis is None or isinstance(axis, (tuple, list)) else (axis,)
    dims = (
        range(found.ndim)
        if given is None
        else [axes_of("sliding_window_view", d, found.ndim)[0] for d in given]
    )
    if len(dims) != len(sizes):
        raise ValueError(
            f"sliding_window_view(): expected a size in window_shape for each of {len(dims)} "
            f"dimensions, got {tuple(sizes)}"
        )
    for d, size in zip(dims, sizes, strict=True):
        if not 0 <= size <= found.shape[d]:
            raise ValueError(
                f"sliding_window_view(): window shape cannot be larger than input array shape, "
                f"got {size} for {found.shape[d]}"
            )
        found = found.unfold(d, size, 1)
    return found  # type: ignore[no-any-return]
