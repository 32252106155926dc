"""NumPy's reshaping, repeating and reordering of dimensions."""

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
    array_of,
    arrays_of,
    axes_of,
    flat_if_none,
    reduction_axes,
    tensor_of,
    wrap_or_clip,
    write_out,
)
from .registration import numpy_function, register_as, register_shared


@numpy_function
def reshape(
    a: Any, /, shape: int | Sequence[int], order: str = "C", *, copy: bool | None = None
) -> Tensor:
    """``a`` in another shape.

    Args:
        a: Tensor, or what makes one.
        shape: The sizes; one of them may be -1.
        order: ``"C"``, the last index changes fastest, ``"F"``, the first, or ``"A"``.
        copy: Whether the result must be a copy (True), must not be one (False), or may (None).

    Raises:
        ValueError: If a copy is needed and ``copy`` is False.

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
    """The elements in one dimension.

    Args:
        a: Tensor, or what makes one.
        order: ``"C"``, the last index changes fastest, ``"F"``, the first, ``"A"``, ``"F"`` for
            what lies so in memory and else ``"C"``, or ``"K"``, as they lie in memory.

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
    """``a`` with its dimensions in another order.

    Args:
        a: Tensor, or what makes one.
        axes: The order; default reversed.

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
    """``a`` without dimensions of size 1.

    Args:
        a: Tensor, or what makes one.
        axis: Which; default all of them.

    Raises:
        ValueError: For one that has another size.

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
    """``A`` several times along each dimension.

    Args:
        A: Tensor, or what makes one.
        reps: How often: an int, or several, counted from the last dimension.

    Example:
        >>> np.tile([1, 2], 2)
        array([1, 2, 1, 2])
    """
    return rearranging.tile(tensor_of(A), tuple(_ints(reps)))


def _ints(given: Any) -> list[int]:
    plain = given.tolist() if hasattr(given, "tolist") else given
    return [int(n) for n in plain] if isinstance(plain, (tuple, list)) else [int(plain)]


@numpy_function
def flip(m: Any, axis: Any = None) -> Tensor:
    """The elements in reverse order along ``axis``, a view.

    Args:
        m: Tensor, or what makes one.
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
    """The elements moved along ``axis``; what leaves at one end comes in at the other.

    Args:
        a: Tensor, or what makes one.
        shift: How far, for each axis.
        axis: Dimension or dimensions; None, the default, means the flattened tensor.

    Example:
        >>> np.roll([1, 2, 3], 1)
        array([3, 1, 2])
    """
    x = tensor_of(a)
    shifts = _ints(shift)
    if axis is None:
        total = 0
        for n in shifts:
            total += n
        return x.ravel().roll(total).reshape(tuple(x.shape))  # type: ignore[no-any-return]
    axes = axes_of("roll", axis, x.ndim)
    if not axes:
        return x.clone()  # type: ignore[no-any-return]
    count = max(len(shifts), len(axes))
    many = [list(given) * (count if len(given) == 1 else 1) for given in (shifts, axes)]
    for n, d in zip(*many, strict=True):
        x = x.roll(n, d)
    return x  # type: ignore[no-any-return]


@numpy_function
def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """A plane of ``m`` turned by right angles, a view.

    Args:
        m: Tensor, or what makes one.
        k: How often.
        axes: From which dimension to which; default from the first to the second.

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


def _flip(name: str, summary: str, axis: int, *example: str) -> Callable[..., Tensor]:
    def function(m: Any) -> Tensor:
        x = tensor_of(m)
        if x.ndim <= axis:
            raise ValueError(f"{name}(): input must be >= {axis + 1}-d, got {x.ndim}-d")
        return flip(x, axis)

    doc = f"{summary}, a view.\n\n    Args:\n        m: Tensor, or what makes one.\n    "
    return register_as(function, name, doc, *example)


fliplr: Callable[..., Tensor] = _flip(
    "fliplr", "The columns in reverse order", 1,
    ">>> np.fliplr([[1, 2], [3, 4]])", "array([[2, 1],", "       [4, 3]])",
)  # fmt: skip
flipud: Callable[..., Tensor] = _flip(
    "flipud", "The rows in reverse order", 0,
    ">>> np.flipud([[1, 2], [3, 4]])", "array([[3, 4],", "       [1, 2]])",
)  # fmt: skip


@numpy_function
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """``a`` with dimensions moved to other places.

    Args:
        a: Tensor, or what makes one.
        source: Which dimensions.
        destination: Where they go.

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
    """``a`` with two dimensions exchanged.

    Args:
        a: Tensor, or what makes one.
        axis1: One of them.
        axis2: The other.

    Example:
        >>> np.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
        (4, 3, 2)
    """
    x = tensor_of(a)
    (first,), (second,) = (axes_of("swapaxes", d, x.ndim) for d in (axis1, axis2))
    return x.transpose(first, second)  # type: ignore[no-any-return]


@numpy_function
def broadcast_to(array: Any, shape: int | Sequence[int], subok: bool = False) -> Tensor:
    """``array`` stretched to a shape.

    Args:
        array: Tensor, or what makes one.
        shape: The sizes.
        subok: Accepted.

    Raises:
        ValueError: For a size below 0, or what cannot be stretched so.

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
    """The elements, or slices along ``axis``, at given places.

    Args:
        a: Tensor, or what makes one.
        indices: Integers of any shape.
        axis: The dimension; None, the default, means that of the flattened tensor.
        out: Where to write the result.
        mode: What happens to a place out of range: ``"raise"``, ``"wrap"`` or ``"clip"``.

    Raises:
        IndexError: For a place out of range.

    Example:
        >>> np.take([10, 20, 30], [2, 0])
        array([30, 10])
    """
    x = tensor_of(a)
    x, at = flat_if_none("take", x if x.ndim else x.reshape(1), axis)
    places = wrap_or_clip("take", tensor_of(indices, x._xp).long(), x.shape[at], mode)
    found = x[(slice(None),) * at + (places,)]
    return write_out(found, out)  # type: ignore[no-any-return]


@register_shared
def expand_dims(a: Any, axis: int | Sequence[int]) -> Tensor:
    """``a`` with a dimension of size 1 at each place of ``axis`` in the result.

    Args:
        a: Tensor of any shape.
        axis: Place or places.

    Returns:
        A view.

    Raises:
        IndexError: If there is no such place.

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
    """``a`` with its dimensions in another order; see ``permute``.

    Args:
        a: Tensor of any shape.
        axes: The order; default reversed.

    Returns:
        A view.

    Example:
        >>> tt.permute_dims(tt.ones(2, 3, 4), (2, 0, 1)).shape
        tinytorch.Size([4, 2, 3])
    """
    x = array_of(a)
    order = tuple(range(x.ndim))[::-1] if axes is None else axes_of("permute_dims", axes, x.ndim)
    return permute(x, order)


@register_shared(aliases=("linalg.matrix_transpose",))
def matrix_transpose(x: Any, /) -> Tensor:
    """The transpose of each matrix.

    Args:
        x: Tensor of shape ``(*, rows, columns)``.

    Returns:
        A view.

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
    """``a`` with a dimension moved before another one.

    Args:
        a: Tensor of any shape.
        axis: Which dimension.
        start: Before which it goes; default first.

    Returns:
        A view.

    Raises:
        IndexError: If there is no such dimension.

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
    """Tensors stretched to the shape they broadcast to.

    Args:
        *args: Tensors, or what makes them.
        subok: Accepted; NumPy keeps subclasses of its array with True.

    Returns:
        Views.

    Raises:
        RuntimeError: If they do not broadcast.

    Example:
        >>> tt.broadcast_arrays(tt.ones(2), tt.zeros(1))[1]
        tensor([0., 0.])
    """
    return tuple(broadcast_tensors(*arrays_of(*args)))


@register_shared
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of a tensor along a dimension; see ``unbind``.

    Args:
        x: Tensor of at least one dimension.
        axis: The dimension; default the first.

    Returns:
        Views.

    Example:
        >>> tt.unstack(tt.tensor([[1, 2], [3, 4]]), axis=1)
        (tensor([1, 3]), tensor([2, 4]))
    """
    tensor = array_of(x)
    (dim,) = axes_of("unstack", axis, tensor.ndim)
    return unbind(tensor, dim)  # type: ignore[return-value]


@register_shared
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element several times; the method ``Tensor.repeat`` is ``tile``.

    Args:
        a: Tensor of any shape.
        repeats: How often: an int, or one for each slice along ``axis``.
        axis: The dimension; None, the default, means that of the flattened tensor.

    Returns:
        A copy.

    Raises:
        RuntimeError: If the numbers are negative, or as many as there are no slices.

    Example:
        >>> tt.repeat([1, 2], 2)
        tensor([1, 1, 2, 2])
    """
    source: Any = array_of(a)
    x, at = flat_if_none("repeat", source if source.ndim else source.reshape(1), axis)
    counts: Any = repeats if isinstance(repeats, int) else array_of(repeats, x._xp)
    if isinstance(counts, Tensor) and (counts.dtype.category < 2 or not counts.numel()):
        counts = counts.long()  # an empty list is one of floats
    return repeat_interleave(x, counts, at)


# -- products of vectors and matrices ------------------------------------------------------------
