"""Concatenation and stacking of tensors, grids, combinations of elements, block matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.layout import contiguous_format, memory_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, Out, Reduced, Shape, composite, op
from ..checks import as_ints, check_tensor
from ..create.factories import as_tensor, zeros
from ..index.gathering import index_select
from ..index.positions import to_int64
from ..memory_order import (
    as_row_major,
    inverse_permutation,
    suggest_memory_format,
    to_memory_format,
)
from .sizes import flatten, normalize_dim, reshape, transpose, unsqueeze
from .strides import tensors_of

_ONE_OR_SEVERAL = (
    "(tensor: Tensor, /) -> Tensor",
    "(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]",
    "(*tensors: Tensor) -> tuple[Tensor, ...]",
)


@op(promote="arithmetic", strict=True, reduced=Reduced.NATIVE, aliases=("concat", "concatenate"))
def cat(xp: Backend, tensors: Sequence[Array], dim: int = 0) -> Array:
    """Concatenate ``tensors`` along an existing dimension.

    Args:
        tensors: Tensors whose shapes agree except in ``dim``; 1-d empty ones are skipped.
        dim: The dimension; default 0.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        ValueError: If there are no tensors.
        RuntimeError: If the shapes do not agree.

    Example:
        >>> tt.cat((tt.zeros(1, 2), tt.ones(1, 2)))
        tensor([[0., 0.],
                [1., 1.]])
    """
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if dim.__class__ is int and tensors[0].ndim < 4:
        try:
            out = xp.concatenate(tensors, dim)
            return out if out.flags.c_contiguous else as_row_major(xp, out)
        except ValueError:
            pass  # skip empty tensors, or raise PyTorch's error, below
    kept = [a for a in tensors if a.shape != (0,)] or list(tensors[:1])
    for i, array in enumerate(tensors):
        if not array.ndim:
            raise RuntimeError(
                f"cat: zero-dimensional tensor (at position {i}) cannot be concatenated"
            )
    if kept[0].shape == (0,):  # all are skipped, so any dimension is valid
        dim = 0
    at = normalize_dim("cat", dim, kept[0].ndim)
    _check_shapes(kept, at)
    return to_memory_format(xp, xp.concatenate(kept, axis=at), _common_format(kept))


def _common_format(arrays: Sequence[Array]) -> memory_format:
    """The memory format that all arrays have; row-major if they differ."""
    wanted = suggest_memory_format(arrays[0])
    if wanted is contiguous_format or all(
        suggest_memory_format(array) is wanted for array in arrays[1:]
    ):
        return wanted
    return contiguous_format


@cat.numpy
def _numpy_cat(tensors: Any, axis: int | None = 0, **options: Any) -> Tensor:
    """NumPy's form, which flattens the tensors first if ``axis`` is None."""
    if axis is None:
        return cat([tensor.reshape(-1) for tensor in tensors], 0, **options)
    return cat(tensors, axis, **options)


def _check_shapes(arrays: Sequence[Array], at: int) -> None:
    """Raise RuntimeError unless the shapes differ only at dimension ``at``."""
    first = arrays[0].shape
    for i, array in enumerate(arrays):
        if array.ndim != len(first):
            raise RuntimeError(
                f"cat: Tensors must have same number of dimensions: got {len(first)} and "
                f"{array.ndim}"
            )
        for d, (n, m) in enumerate(zip(first, array.shape, strict=True)):
            if d != at and n != m:
                raise RuntimeError(
                    f"cat: Sizes of tensors must match except in dimension {at}. Expected size "
                    f"{n} but got size {m} for tensor number {i} in the list."
                )


def _split_gradient(xp: Any, g: Any, in_shapes: Any, dim: int) -> list[Any]:
    """Split ``g`` into the gradients of the concatenated tensors."""
    pieces: list[Any] = []
    start = 0
    at = dim % g.ndim
    for shape in in_shapes:
        if shape == (0,) and g.ndim > 1:
            pieces.append(None)
            continue
        stop = start + shape[at]
        pieces.append(g[(slice(None),) * at + (slice(start, stop),)])
        start = stop
    return pieces


cat.vjp(tensors=_split_gradient)


@op(promote="arithmetic")
def stack(xp: Backend, tensors: Sequence[Array], dim: int = 0) -> Array:
    """Stack ``tensors`` of one shape along a new dimension.

    Args:
        tensors: Tensors of equal shape.
        dim: Position of the new dimension; default 0.

    Raises:
        RuntimeError: If there are no tensors, or the shapes differ.

    Example:
        >>> tt.stack((tt.zeros(2), tt.ones(2)), dim=1)
        tensor([[0., 1.],
                [0., 1.]])
    """
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    if dim.__class__ is int and dim == 0 and tensors[0].ndim < 4:
        try:
            out = xp.stack(tensors)
            return out if out.flags.c_contiguous else as_row_major(xp, out)
        except ValueError:  # the shapes differ
            pass
    first = tensors[0].shape
    for i, array in enumerate(tensors):
        if array.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(array.shape)} at entry {i}"
            )
    at = normalize_dim("stack", dim, len(first) + 1)
    if at == 0 and len(first) > 3 and (wanted := _common_format(tensors)) is not contiguous_format:
        return _stack_in_format(xp, tensors, wanted)
    new = (*(slice(None),) * at, None)
    return as_row_major(xp, xp.concatenate([array[new] for array in tensors], at))


def _stack_in_format(xp: Backend, tensors: Sequence[Array], wanted: memory_format) -> Array:
    """Stack images so that each keeps its memory format in the result."""
    order = wanted.order(tensors[0].ndim) or ()
    stacked = xp.stack([array.transpose(order) for array in tensors])
    return stacked.transpose((0, *(1 + d for d in inverse_permutation(order))))


stack.vjp(
    tensors=lambda xp, g, in_shapes, dim: [
        g[(slice(None),) * (dim % g.ndim) + (i,)] for i in range(len(in_shapes))
    ]
)


# -- stacks of rows and columns ------------------------------------------------------------------


def expand_to_ndim(tensor: Tensor, ndim: int) -> Tensor:
    """Add dimensions of size 1 up to ``ndim``, at the positions of NumPy's ``atleast_nd``."""
    if ndim > 0 and not tensor.ndim:
        tensor = reshape(tensor, (1,))
    if ndim > 1 and tensor.ndim == 1:
        tensor = unsqueeze(tensor, 0)
    if ndim > 2 and tensor.ndim == 2:
        tensor = unsqueeze(tensor, -1)
    return tensor


def _is_number_sequence(value: Any) -> bool:
    """Whether a value is a nonempty sequence without tensors, strings and None."""
    if not isinstance(value, (tuple, list)) or not value:
        return False
    return not any(isinstance(v, (Tensor, str)) or v is None for v in value)


def _expand_dims_of_all(tensors: tuple[Any, ...], ndim: int) -> Any:
    """``atleast_nd`` of one tensor or of several, which are returned as a tuple."""
    tensors = tuple(
        as_tensor(t) if isinstance(t, (int, float, complex)) or _is_number_sequence(t) else t
        for t in tensors
    )
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return expand_to_ndim(tensors[0], ndim)
    return tuple(expand_to_ndim(tensor, ndim) for tensor in tensors_of(tensors))


@composite(forms=_ONE_OR_SEVERAL)
def atleast_1d(*tensors: Any) -> Any:
    """View each tensor with at least one dimension.

    Args:
        *tensors: One tensor, or several as arguments or in a sequence.

    Returns:
        A view of a single tensor, else a tuple of views.

    Example:
        >>> tt.atleast_1d(tt.tensor(2)).shape
        tinytorch.Size([1])
    """
    return _expand_dims_of_all(tensors, 1)


@composite(forms=_ONE_OR_SEVERAL)
def atleast_2d(*tensors: Any) -> Any:
    """View each tensor with at least two dimensions; a vector becomes one row.

    Args:
        *tensors: One tensor, or several as arguments or in a sequence.

    Returns:
        A view of a single tensor, else a tuple of views.

    Example:
        >>> tt.atleast_2d(tt.arange(3)).shape
        tinytorch.Size([1, 3])
    """
    return _expand_dims_of_all(tensors, 2)


@composite(forms=_ONE_OR_SEVERAL)
def atleast_3d(*tensors: Any) -> Any:
    """View each tensor with at least three dimensions; a matrix gets a last one of size 1.

    Args:
        *tensors: One tensor, or several as arguments or in a sequence.

    Returns:
        A view of a single tensor, else a tuple of views.

    Example:
        >>> tt.atleast_3d(tt.zeros(2, 3)).shape
        tinytorch.Size([2, 3, 1])
    """
    return _expand_dims_of_all(tensors, 3)


def _concatenate_along(name: str, tensors: Any, ndim: int, dim: int | None) -> Tensor:
    """Concatenate tensors of at least ``ndim`` dimensions.

    ``dim`` None is NumPy's ``hstack``: dimension 0 of vectors, else dimension 1.
    """
    given = tensors_of((tensors,) if not isinstance(tensors, Tensor) else (tuple(tensors),))
    if not given:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return _cat_expanded(given, ndim, dim)


def _form_of(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """Shape with dimensions of size 1 added up to ``ndim``, as in ``expand_to_ndim``."""
    if ndim > 0 and not shape:
        shape = (1,)
    if ndim > 1 and len(shape) == 1:
        shape = (1, *shape)
    return (*shape, 1) if ndim > 2 and len(shape) == 2 else shape


@op(promote="arithmetic", node="CatBackward0", reduced=Reduced.NATIVE)
def _cat_expanded(xp: Backend, tensors: Sequence[Array], ndim: int, dim: int | None) -> Array:
    """``cat`` of arrays with at least ``ndim`` dimensions; see ``_concatenate_along``."""
    arrays = [
        array if array.ndim >= ndim else array.reshape(_form_of(array.shape, ndim))
        for array in tensors
    ]
    if dim is None:
        dim = 0 if arrays[0].ndim == 1 else 1
    return cat.kernel(xp, arrays, dim)


def _split_expanded(xp: Any, g: Any, in_shapes: Any, ndim: int, dim: int | None) -> list[Any]:
    """Gradients of the tensors of ``_cat_expanded``."""
    if dim is None:
        dim = 0 if g.ndim == 1 else 1
    pieces = _split_gradient(xp, g, [_form_of(shape, ndim) for shape in in_shapes], dim)
    pairs = zip(pieces, in_shapes, strict=True)
    return [piece if piece is None else piece.reshape(shape) for piece, shape in pairs]


_cat_expanded.vjp(tensors=_split_expanded)


@composite(out=Out.CAST)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate ``tensors`` horizontally: along dimension 1, or 0 for vectors.

    Args:
        tensors: Tensors whose shapes agree except in that dimension; 0-d ones count as vectors.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are no tensors, or the shapes do not agree.

    Example:
        >>> tt.hstack((tt.arange(2), tt.arange(2)))
        tensor([0, 1, 0, 1])
    """
    return _concatenate_along("hstack", tensors, 1, None)


@composite(out=Out.CAST, aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate ``tensors`` vertically, along dimension 0; vectors count as rows.

    Args:
        tensors: Tensors whose shapes agree except in that dimension.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are no tensors, or the shapes do not agree.

    Example:
        >>> tt.vstack((tt.arange(2), tt.arange(2)))
        tensor([[0, 1],
                [0, 1]])
    """
    return _concatenate_along("vstack", tensors, 2, 0)


@composite(out=Out.CAST)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate ``tensors`` along the third dimension, after ``atleast_3d``.

    Args:
        tensors: Tensors whose shapes, after ``atleast_3d``, agree except in that dimension.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are no tensors, or the shapes do not agree.

    Example:
        >>> tt.dstack((tt.arange(2), tt.arange(2))).shape
        tinytorch.Size([1, 2, 2])
    """
    return _concatenate_along("dstack", tensors, 3, 2)


@composite(out=Out.CAST, like=vstack)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate ``tensors`` along dimension 1; vectors count as columns.

    Returns:
        A tensor of their promoted dtype.

    Example:
        >>> tt.column_stack((tt.arange(2), tt.arange(2)))
        tensor([[0, 0],
                [1, 1]])
    """
    columns = [reshape(t, (-1, 1)) if t._data.ndim < 2 else t for t in tensors]
    return _concatenate_along("column_stack", columns, 2, 1)


@op(view=True, node="ExpandBackward0")
def _expand_along(xp: Backend, input: Array, at: int, shape: Any) -> Array:
    """View of shape ``shape`` in which the elements of ``input`` follow each other along ``at``."""
    column = input.reshape((1,) * at + (input.size,) + (1,) * (len(shape) - at - 1))
    return xp.broadcast_to(column, shape) if len(shape) > 1 else column


def _sum_across(xp: Any, g: Any, in_shape: Any, at: int) -> Any:
    """Gradient of ``_expand_along``: the sum over the other dimensions."""
    axes = tuple(d for d in range(g.ndim) if d != at)
    return xp.reshape(xp.sum(g, axis=axes) if axes else g, in_shape)


_expand_along.vjp(input=_sum_across)


@composite
def meshgrid(*tensors: Any, indexing: str | None = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid, one tensor for each dimension.

    Args:
        *tensors: Tensors of at most one dimension, one by one or as a sequence: the
            coordinates along each dimension of the grid.
        indexing: ``"ij"``, the default, or None: dimensions in the order of the tensors. ``"xy"``:
            the first two dimensions are swapped.

    Returns:
        A tuple of views of the grid's shape.

    Raises:
        RuntimeError: If a tensor has more dimensions, dtypes differ, or ``indexing`` is unknown.

    Example:
        >>> tt.meshgrid(tt.arange(2), tt.arange(3), indexing="ij")[1]
        tensor([[0, 1, 2],
                [0, 1, 2]])
    """
    many = tensors_of(tensors)
    if not many:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in ("ij", "xy", None):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in many:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got shape "
                f"{list(tensor.shape)}"
            )
        if tensor.dtype is not many[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(many) > 1
    ordered = (many[1], many[0], *many[2:]) if swap else many
    shape = tuple([tensor._data.size for tensor in ordered])
    grids = tuple([_expand_along(tensor, i, shape) for i, tensor in enumerate(ordered)])
    if not swap:
        return grids
    return (grids[1], grids[0], *grids[2:])


@composite
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Cartesian product: every combination of one element from each tensor.

    Args:
        *tensors: Tensors of one dimension.

    Returns:
        Tensor of shape ``(product of sizes, number of tensors)``; a single tensor itself.

    Raises:
        RuntimeError: If a tensor has another number of dimensions than one.

    Example:
        >>> tt.cartesian_prod(tt.tensor([1, 2]), tt.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    for tensor in tensors:
        _check_vector("cartesian_prod", tensor)
    if len(tensors) == 1:
        return tensors[0]
    if not tensors or any(t._data.dtype != tensors[0]._data.dtype for t in tensors):
        meshgrid(*tensors)  # raises
    return _all_combinations(tensors)


@op(node="StackBackward0")
def _all_combinations(xp: Backend, tensors: Sequence[Array]) -> Array:
    """Every combination of one element from each of several vectors, one in a row."""
    shape, count = tuple([array.size for array in tensors]), len(tensors)
    out = xp.empty((*shape, count), tensors[0].dtype)
    for i, array in enumerate(tensors):
        out[..., i] = array.reshape((array.size,) + (1,) * (count - i - 1))
    return out.reshape(math.prod(shape), count)


def _combinations_gradient(xp: Any, g: Any, in_shapes: Any) -> list[Any]:
    """Sums of the columns of ``g`` over the combinations with each element."""
    grid = g.reshape((*(n for (n,) in in_shapes), len(in_shapes)))
    return [_sum_across(xp, grid[..., i], shape, i) for i, shape in enumerate(in_shapes)]


_all_combinations.vjp(tensors=_combinations_gradient)


def _check_vector(name: str, tensor: Tensor) -> None:
    """Raise unless the argument is a tensor of one dimension."""
    check_tensor(name, tensor)
    if tensor.ndim != 1:
        raise RuntimeError(f"{name}: Expect a 1D vector, but got shape {list(tensor.shape)}")


@op
def _combination_indices(xp: Backend, input: Array, r: int, with_replacement: bool) -> Array:
    """Indices of all combinations of ``r`` elements, in order, of shape ``(r, count)``."""
    n = input.shape[0]
    grid = xp.indices((n,) * r, dtype=xp.native_dtype(dtypes.int64)).reshape(r, -1)
    rises = grid[:-1] <= grid[1:] if with_replacement else grid[:-1] < grid[1:]
    return grid[:, xp.all(rises, axis=0)]


@composite(method=True, node="StackBackward0")
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of ``r`` elements, in the order of ``itertools.combinations``.

    Args:
        input: Tensor of one dimension.
        r: Number of elements in a combination; default 2.
        with_replacement: Whether an element may be repeated; default False.

    Returns:
        Tensor of shape ``(number of combinations, r)``.

    Raises:
        RuntimeError: If ``input`` is not 1-d, or ``r`` is negative.

    Example:
        >>> tt.combinations(tt.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    _check_vector("combinations", input)
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    index = _combination_indices(input.detach(), r, with_replacement)
    picked = index_select(input, 0, flatten(transpose(index, 0, 1)))
    return reshape(picked, (index.shape[1], r))


@composite(node="BlockDiagBackward0")
def block_diag(*tensors: Tensor) -> Tensor:
    """Block diagonal matrix of the given matrices, with zeros elsewhere.

    Args:
        *tensors: Tensors of at most two dimensions; those with fewer count as one row.

    Returns:
        Tensor of shape ``(sum of rows, sum of columns)`` and of the promoted dtype, for which
        0-d tensors have lower priority. Its shape is ``(1, 0)`` if there are no tensors.

    Raises:
        RuntimeError: If a tensor has more than two dimensions.
        TypeError: If an argument is not a tensor.

    Example:
        >>> tt.block_diag(tt.tensor([[1, 2]]), tt.tensor([3]))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    if not tensors:
        return zeros((1, 0))
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"block_diag(): expected Tensor as element {i} in argument 0, but got "
                f"{type(tensor).__name__}"
            )
        if tensor.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {tensor.ndim} dimensions"
            )
    return _block_diagonal(tensors)


@op(promote="arithmetic", node="BlockDiagBackward0", reduced=Reduced.NATIVE)
def _block_diagonal(xp: Backend, tensors: Sequence[Array]) -> Array:
    """``block_diag`` of arrays of one dtype and at most two dimensions."""
    blocks = [array if array.ndim == 2 else array.reshape(1, array.size) for array in tensors]
    ends = [sum([block.shape[d] for block in blocks]) for d in (0, 1)]
    out = xp.zeros(ends, blocks[0].dtype)
    row = column = 0
    for block in blocks:
        height, width = block.shape
        out[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return out


def _blocks_of_gradient(xp: Any, g: Any, in_shapes: Any) -> list[Any]:
    """Blocks of ``g`` in the shapes of the tensors."""
    pieces, row, column = [], 0, 0
    for shape in in_shapes:
        height, width = shape if len(shape) == 2 else (1, math.prod(shape))
        pieces.append(g[row : row + height, column : column + width].reshape(shape))
        row, column = row + height, column + width
    return pieces


_block_diagonal.vjp(tensors=_blocks_of_gradient)


@op
def unravel_index(xp: Backend, indices: Index, shape: Shape) -> tuple[Array, ...]:
    """Convert flat indices into a tensor of shape ``shape`` to coordinates.

    Args:
        indices: Integer tensor of any shape.
        shape: The shape, an int or a sequence of ints.

    Returns:
        A tuple of int64 tensors of ``indices``'s shape, one for each dimension.

    Raises:
        TypeError: If ``indices`` are not integers.
        ValueError: If a size is negative.
        RuntimeError: If a size is 0.

    Example:
        >>> tt.unravel_index(tt.tensor([3]), (2, 2))
        (tensor([1]), tensor([1]))
    """
    if indices.dtype.kind not in "iu":
        raise TypeError(
            f"unravel_index: expected 'indices' to be integer dtype, but got {indices.dtype.name}"
        )
    sizes = _check_unravel_shape(xp, shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"unravel_index: 'shape' cannot have negative values, but got {sizes}")
    if 0 in sizes and indices.size:
        raise RuntimeError(f"unravel_index: there are no places in a tensor of shape {list(sizes)}")
    place = to_int64(xp, indices)
    return tuple(
        place // max(math.prod(sizes[d + 1 :]), 1) % max(n, 1) for d, n in enumerate(sizes)
    )


def _check_unravel_shape(xp: Backend, shape: Any) -> tuple[int, ...]:
    """Convert a shape to a tuple of ints; raise TypeError for other elements."""
    is_sequence = isinstance(shape, (tuple, list))
    try:
        for n in shape if is_sequence else (shape,):
            if isinstance(n, xp.array_type):
                raise TypeError
        return as_ints("unravel_index", "shape", shape)
    except TypeError:
        kind = "sequence to only contain ints" if is_sequence else "to be int or sequence of ints"
        kinds = sorted({type(n).__name__ for n in shape}) if is_sequence else [type(shape).__name__]
        raise TypeError(
            f"unravel_index: expected 'shape' {kind}, but got {' and '.join(kinds)}"
        ) from None
