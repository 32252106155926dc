"""NumPy's functions that reshape, repeat and take elements and that reorder dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.shape import rearranging, strides
from ...ops.shape.rearranging import repeat_interleave
from ...ops.shape.sizes import permute
from ...ops.shape.splitting import unbind
from ...ops.shape.strides import broadcast_tensors
from .conversion import (
    array_of, arrays_of, axes_of, flat_if_none, is_inexact, reduction_axes, tensor_of, wrap_or_clip,
    write_out,
)  # fmt: skip
from .registration import numpy_function, register_as, register_shared


@numpy_function
def reshape(
    a: Any, /, shape: int | Sequence[int], order: str = "C", *, copy: bool | None = None
) -> Tensor:
    """The elements in another shape.

    Args:
        a: Tensor or array-like.
        shape: The shape; one size may be -1, which is then computed.
        order: ``"C"`` (default), the last index changes fastest, ``"F"``, the first, or ``"A"``:
            ``"F"`` for a tensor that is column-major in memory, else ``"C"``.
        copy: Whether the result must be a copy (True), must not be one (False), or may (None).

    Raises:
        ValueError: If ``copy`` is False and a copy is necessary.

    Example:
        >>> np.reshape([1, 2, 3, 4], (2, -1))
        array([[1, 2],
               [3, 4]])
    """
    x = tensor_of(a)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    found = x.reshape(sizes) if order == "C" else x.reshape(sizes, order=order)
    if copy is False and x._xp.owner(found._data) != x._xp.owner(x._data):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return found.clone() if copy else found  # type: ignore[no-any-return]


@numpy_function
def ravel(a: Any, order: str | None = "C") -> Tensor:
    """The elements as a vector.

    Args:
        a: Tensor or array-like.
        order: ``"C"`` (default), the last index changes fastest, ``"F"``, the first, ``"A"``:
            ``"F"`` for a tensor that is column-major in memory, else ``"C"``, or ``"K"``: the
            order in memory.

    Example:
        >>> np.ravel([[1, 2], [3, 4]], order="F")
        array([1, 3, 2, 4])
    """
    x = tensor_of(a)
    order = "C" if order is None else order.upper()
    if order == "K":
        steps = [abs(step) for step in x._data.strides]
        x = x.permute(sorted(range(x.ndim), key=lambda d: -steps[d])) if x.ndim else x
    return x.ravel() if order in "CK" else x.ravel(order=order)  # type: ignore[no-any-return]


@numpy_function
def transpose(a: Any, axes: Any = None) -> Tensor:
    """Permute the dimensions.

    Args:
        a: Tensor or array-like.
        axes: The new order of the dimensions; default reversed.

    Example:
        >>> np.transpose([[1, 2, 3], [4, 5, 6]])
        array([[1, 4],
               [2, 5],
               [3, 6]])
    """
    x = tensor_of(a)
    order = tuple(range(x.ndim))[::-1] if axes is None else axes_of("transpose", axes, x.ndim)
    return x.permute(order) if x.ndim else x  # type: ignore[no-any-return]


@numpy_function
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Remove dimensions of size 1.

    Args:
        a: Tensor or array-like.
        axis: Dimension or dimensions to remove; default all of size 1.

    Raises:
        ValueError: For a dimension of another size.

    Example:
        >>> np.squeeze([[[1], [2]]]).shape
        (2,)
    """
    x = tensor_of(a)
    if axis is None:
        return x.squeeze()  # type: ignore[no-any-return]
    axes = reduction_axes("squeeze", axis, x.ndim)
    if any(x.shape[d] != 1 for d in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return x.squeeze(axes) if axes else x  # type: ignore[no-any-return]


@numpy_function
def tile(A: Any, reps: Any) -> Tensor:
    """Repeat a whole tensor along each dimension.

    Args:
        A: Tensor or array-like.
        reps: Number of repetitions: an int for the last dimension, or one for each of the last
            dimensions.

    Example:
        >>> np.tile([1, 2], 2)
        array([1, 2, 1, 2])
    """
    return rearranging.tile(tensor_of(A), tuple(_ints(reps)))


def _ints(given: Any) -> list[int]:
    """List of ints from a number, a sequence or an array."""
    values = given.tolist() if hasattr(given, "tolist") else given
    return [int(n) for n in values] if isinstance(values, (tuple, list)) else [int(values)]


@numpy_function
def flip(m: Any, axis: Any = None) -> Tensor:
    """View of the elements in reverse order along ``axis``.

    Args:
        m: Tensor or array-like.
        axis: Dimension or dimensions; None, the default, means all.

    Example:
        >>> np.flip([[1, 2], [3, 4]], axis=1)
        array([[2, 1],
               [4, 3]])
    """
    x = tensor_of(m)
    axes = axes_of("flip", axis, x.ndim)
    steps = (slice(None, None, -1 if d in axes else 1) for d in range(x.ndim))
    return x[tuple(steps)]  # type: ignore[no-any-return]


@numpy_function
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Shift the elements along ``axis``; those shifted past the end reappear at the beginning.

    Args:
        a: Tensor or array-like.
        shift: Number of positions, for each dimension or for all.
        axis: Dimension or dimensions; None, the default, flattens the tensor first.

    Example:
        >>> np.roll([1, 2, 3], 1)
        array([3, 1, 2])
    """
    x = tensor_of(a)
    shifts = _ints(shift)
    if axis is None:
        return x.ravel().roll(sum(shifts)).reshape(tuple(x.shape))  # type: ignore[no-any-return]
    axes = axes_of("roll", axis, x.ndim)
    if not axes:
        return x.clone()  # type: ignore[no-any-return]
    count = max(len(shifts), len(axes))
    pairs = [list(given) * (count if len(given) == 1 else 1) for given in (shifts, axes)]
    for n, d in zip(*pairs, strict=True):
        x = x.roll(n, d)
    return x  # type: ignore[no-any-return]


@numpy_function
def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """View of a tensor rotated by 90 degrees in the plane of two dimensions.

    Args:
        m: Tensor or array-like.
        k: Number of rotations; default 1.
        axes: The plane; the rotation is from the first of them towards the second.

    Raises:
        ValueError: If ``axes`` are not two different dimensions.

    Example:
        >>> np.rot90([[1, 2], [3, 4]])
        array([[2, 4],
               [1, 3]])
    """
    x = tensor_of(m)
    start, end = axes_of("rot90", tuple(axes), x.ndim)
    if k % 4 in (0, 2):
        return flip(x, (start, end) if k % 4 else ())
    if k % 4 == 1:
        return flip(x, end).swapaxes(start, end)
    return flip(x.swapaxes(start, end), end)


def _make_flip(name: str, order: str, axis: int, *example: str) -> Callable[..., Tensor]:
    """Make and register ``fliplr`` or ``flipud``.

    Args:
        name: Name of the function.
        order: The result in words, for the docstring.
        axis: The dimension to flip.
        *example: Lines of the docstring's example.
    """

    def function(m: Any) -> Tensor:
        x = tensor_of(m)
        if x.ndim <= axis:
            raise ValueError(f"{name}(): input must be >= {axis + 1}-d, got {x.ndim}-d")
        return flip(x, axis)

    doc = f"View of {order}.\n\n    Args:\n        m: Tensor or array-like.\n    "
    return register_as(function, name, doc, *example)


fliplr: Callable[..., Tensor] = _make_flip(
    "fliplr", "the columns in reverse order", 1,
    ">>> np.fliplr([[1, 2], [3, 4]])", "array([[2, 1],", "       [4, 3]])",
)  # fmt: skip
flipud: Callable[..., Tensor] = _make_flip(
    "flipud", "the rows in reverse order", 0,
    ">>> np.flipud([[1, 2], [3, 4]])", "array([[3, 4],", "       [1, 2]])",
)  # fmt: skip


@numpy_function
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other positions.

    Args:
        a: Tensor or array-like.
        source: The dimensions to move.
        destination: Their positions in the result.

    Example:
        >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
    """
    x = tensor_of(a)
    return x.movedim(  # type: ignore[no-any-return]
        axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    )


@numpy_function
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """Exchange two dimensions.

    Args:
        a: Tensor or array-like.
        axis1: The first dimension.
        axis2: The second dimension.

    Example:
        >>> np.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    x = tensor_of(a)
    (first,), (second,) = (axes_of("swapaxes", d, x.ndim) for d in (axis1, axis2))
    return x.transpose(first, second)  # type: ignore[no-any-return]


@numpy_function
def broadcast_to(array: Any, shape: int | Sequence[int], subok: bool = False) -> Tensor:
    """Broadcast a tensor to a shape.

    Args:
        array: Tensor or array-like.
        shape: The shape.
        subok: Accepted and ignored.

    Raises:
        ValueError: If a size is negative, or ``array`` does not broadcast to the shape.

    Example:
        >>> np.broadcast_to([1, 2], (2, 2))
        array([[1, 2],
               [1, 2]])
    """
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if any(size < 0 for size in sizes):
        raise ValueError("all elements of broadcast shape must be non-negative")
    return strides.broadcast_to(tensor_of(array), sizes)


@numpy_function
def take(
    a: Any, indices: Any, axis: int | None = None, out: Tensor | None = None, mode: str = "raise"
) -> Tensor:
    """The elements, or slices along ``axis``, at given indices.

    Args:
        a: Tensor or array-like.
        indices: Integers of any shape.
        axis: The dimension; None, the default, flattens the tensor first.
        out: Tensor for the result.
        mode: Treatment of an index out of range: ``"raise"`` (default), ``"wrap"`` or ``"clip"``.

    Raises:
        IndexError: For an index out of range with ``"raise"``.

    Example:
        >>> np.take([10, 20, 30], [2, 0])
        array([30, 10])
    """
    x = tensor_of(a)
    x, at = flat_if_none("take", x if x.ndim else x.reshape(1), axis)
    index = wrap_or_clip("take", tensor_of(indices, x._xp).long(), x.shape[at], mode)
    found = x[(slice(None),) * at + (index,)]
    return write_out(found, out)  # type: ignore[no-any-return]


@register_shared
def expand_dims(a: Any, axis: int | Sequence[int]) -> Tensor:
    """View with additional dimensions of size 1.

    Args:
        a: Tensor of any shape.
        axis: Position or positions of the new dimensions in the result.

    Raises:
        IndexError: If a position is out of range.

    Example:
        >>> tt.expand_dims(tt.ones(2), (0, 2)).shape
        tinytorch.Size([1, 2, 1])
    """
    x: Any = array_of(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    for d in sorted(axes_of("expand_dims", given, x.ndim + len(given))):
        x = x.unsqueeze(d)
    return x  # type: ignore[no-any-return]


@register_shared
def permute_dims(a: Any, axes: Sequence[int] | None = None) -> Tensor:
    """View with the dimensions in another order; see ``permute``.

    Args:
        a: Tensor of any shape.
        axes: The new order of the dimensions; default reversed.

    Example:
        >>> tt.permute_dims(tt.ones(2, 3, 4), (2, 0, 1)).shape
        tinytorch.Size([4, 2, 3])
    """
    x = array_of(a)
    order = tuple(range(x.ndim))[::-1] if axes is None else axes_of("permute_dims", axes, x.ndim)
    return permute(x, order)


@register_shared(aliases=("linalg.matrix_transpose",))
def matrix_transpose(x: Any, /) -> Tensor:
    """Transpose of each matrix: a view.

    Args:
        x: Tensor of shape ``(*, rows, columns)``.

    Raises:
        ValueError: For fewer than two dimensions.

    Example:
        >>> tt.matrix_transpose(tt.ones(2, 3, 4)).shape
        tinytorch.Size([2, 4, 3])
    """
    tensor: Any = array_of(x)
    if tensor.ndim < 2:
        raise ValueError(f"matrix_transpose(): expected at least two dimensions, got {tensor.ndim}")
    return tensor.transpose(-2, -1)  # type: ignore[no-any-return]


@register_shared
def rollaxis(a: Any, axis: int, start: int = 0) -> Tensor:
    """View with a dimension moved in front of another one.

    Args:
        a: Tensor of any shape.
        axis: The dimension to move.
        start: The dimension in front of which it is moved; default the first.

    Raises:
        IndexError: If a dimension is out of range.

    Example:
        >>> tt.rollaxis(tt.ones(3, 4, 5), 2).shape
        tinytorch.Size([5, 3, 4])
    """
    x: Any = array_of(a)
    (at,) = axes_of("rollaxis", axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise IndexError(f"rollaxis(): start must be from {-x.ndim} to {x.ndim}, got {start}")
    before = start + x.ndim if start < 0 else start
    return x.movedim(at, before - (at < before))  # type: ignore[no-any-return]


@register_shared
def broadcast_arrays(*args: Any, subok: Any = False) -> tuple[Tensor, ...]:
    """Views of tensors broadcast to their common shape, as a tuple.

    Args:
        *args: Tensors or array-likes.
        subok: Accepted and ignored; with True, NumPy preserves subclasses of its array.

    Raises:
        RuntimeError: If they do not broadcast.

    Example:
        >>> tt.broadcast_arrays(tt.ones(2), tt.zeros(1))[1]
        tensor([0., 0.])
    """
    return tuple(broadcast_tensors(*arrays_of(*args)))


@register_shared
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Tuple of the slices of a tensor along a dimension, which are views; see ``unbind``.

    Args:
        x: Tensor of at least one dimension.
        axis: The dimension; default the first.

    Example:
        >>> tt.unstack(tt.tensor([[1, 2], [3, 4]]), axis=1)
        (tensor([1, 3]), tensor([2, 4]))
    """
    tensor = array_of(x)
    (dim,) = axes_of("unstack", axis, tensor.ndim)
    return unbind(tensor, dim)  # type: ignore[return-value]


@register_shared
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Copy with each element repeated; PyTorch's ``Tensor.repeat`` repeats the whole tensor.

    Args:
        a: Tensor of any shape.
        repeats: Number of repetitions: an int, or one for each slice along ``axis``.
        axis: The dimension; None, the default, flattens the tensor first.

    Raises:
        RuntimeError: If a number is negative, or their count differs from that of the slices.

    Example:
        >>> tt.repeat([1, 2], 2)
        tensor([1, 1, 2, 2])
    """
    source: Any = array_of(a)
    x, at = flat_if_none("repeat", source if source.ndim else source.reshape(1), axis)
    counts: Any = repeats if isinstance(repeats, int) else array_of(repeats, x._xp)
    if isinstance(counts, Tensor) and (not is_inexact(counts) or not counts.numel()):
        counts = counts.long()  # A tensor of an empty list is of floats.
    return repeat_interleave(x, counts, at)
