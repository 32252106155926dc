"""Many tensors into one, and combinations of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.layout import contiguous_format, memory_format
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ..create.factories import as_tensor
from ..memory_order import arranged, back, in_rows, suggested
from .broadcasting import tensors_of
from .sizes import normalize_dim, reshape, unsqueeze

_ONE_OR_SEVERAL = (
    "(tensor: Tensor, /) -> Tensor",
    "(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]",
    "(*tensors: Tensor) -> tuple[Tensor, ...]",
)


@op(promote="arithmetic", strict=True, moves=True, aliases=("concat", "concatenate"))
def cat(xp: Backend, tensors: Sequence[Array], dim: int = 0) -> Array:
    """``tensors`` one after the other along an existing dimension.

    Args:
        tensors: Tensors whose shapes agree but for ``dim``; 1-d empty ones are skipped.
        dim: The dimension; default 0.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        ValueError: If there are none.
        RuntimeError: If the shapes do not agree.

    Example:
        >>> import tinytorch as tt
        >>> tt.cat((tt.zeros(1, 2), tt.ones(1, 2)))
        tensor([[0., 0.],
                [1., 1.]])
    """
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    if dim.__class__ is int and tensors[0].ndim < 4:
        try:
            out = xp.concatenate(tensors, dim)
            return out if out.flags.c_contiguous else in_rows(xp, out)
        except ValueError:
            pass  # what is wrong is told below, unless an empty one is to be left out
    kept = [a for a in tensors if a.shape != (0,)] or list(tensors[:1])
    for i, array in enumerate(tensors):
        if not array.ndim:
            raise RuntimeError(
                f"cat: zero-dimensional tensor (at position {i}) cannot be concatenated"
            )
    if kept[0].shape == (0,):  # all are skipped, and any dimension will do
        dim = 0
    at = normalize_dim("cat", dim, kept[0].ndim)
    _check_shapes(kept, at)
    return arranged(xp, xp.concatenate(kept, axis=at), _common_format(kept))


def _common_format(arrays: Sequence[Array]) -> memory_format:
    """The format of images that all agree on; row-major if they do not."""
    wanted = suggested(arrays[0])
    if wanted is contiguous_format or all(suggested(array) is wanted for array in arrays[1:]):
        return wanted
    return contiguous_format


@cat.numpy
def _numpy_cat(tensors: Any, axis: int | None = 0, **options: Any) -> Tensor:
    """With ``axis=None`` the tensors are flattened first."""
    if axis is None:
        return cat([tensor.reshape(-1) for tensor in tensors], 0, **options)
    return cat(tensors, axis, **options)


def _check_shapes(arrays: Sequence[Array], at: int) -> None:
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


def _pieces(xp: Any, g: Any, in_shapes: Any, dim: int) -> list[Any]:
    """The parts of ``g`` that belong to each tensor of a concatenation."""
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


cat.vjp(tensors=_pieces)


@op(promote="arithmetic")
def stack(xp: Backend, tensors: Sequence[Array], dim: int = 0) -> Array:
    """``tensors`` of one shape, side by side along a new dimension.

    Args:
        tensors: Tensors of equal shape.
        dim: Where the new dimension goes; default 0.

    Raises:
        RuntimeError: If there are none, or the shapes differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.stack((tt.zeros(2), tt.ones(2)), dim=1)
        tensor([[0., 1.],
                [0., 1.]])
    """
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    if dim.__class__ is int and dim == 0 and tensors[0].ndim < 4:
        try:
            out = xp.stack(tensors)
            return out if out.flags.c_contiguous else in_rows(xp, out)
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
        return _stacked_images(xp, tensors, wanted)
    new = (*(slice(None),) * at, None)
    return in_rows(xp, xp.concatenate([array[new] for array in tensors], at))


def _stacked_images(xp: Backend, tensors: Sequence[Array], wanted: memory_format) -> Array:
    """Images of one format, each lying so in the result."""
    order = wanted.order(tensors[0].ndim) or ()
    stacked = xp.stack([array.transpose(order) for array in tensors])
    return stacked.transpose((0, *(1 + d for d in back(order))))


stack.vjp(
    tensors=lambda xp, g, in_shapes, dim: [
        g[(slice(None),) * (dim % g.ndim) + (i,)] for i in range(len(in_shapes))
    ]
)


# -- stacks of rows and columns ------------------------------------------------------------------


def at_least(tensor: Tensor, ndim: int) -> Tensor:
    """The tensor with dimensions of size 1, where NumPy's ``atleast_nd`` puts them."""
    if ndim > 0 and not tensor.ndim:
        tensor = reshape(tensor, (1,))
    if ndim > 1 and tensor.ndim == 1:
        tensor = unsqueeze(tensor, 0)
    if ndim > 2 and tensor.ndim == 2:
        tensor = unsqueeze(tensor, -1)
    return tensor


def _is_numbers(value: Any) -> bool:
    """Whether a sequence holds numbers, and none or several tensors of its own."""
    if not isinstance(value, (tuple, list)) or not value:
        return False
    return not any(isinstance(v, (Tensor, str)) or v is None for v in value)


def _each(tensors: tuple[Any, ...], ndim: int) -> Any:
    tensors = tuple(
        as_tensor(t) if isinstance(t, (int, float, complex)) or _is_numbers(t) else t
        for t in tensors
    )
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return at_least(tensors[0], ndim)
    return tuple(at_least(tensor, ndim) for tensor in tensors_of(tensors))


@composite(forms=_ONE_OR_SEVERAL)
def atleast_1d(*tensors: Any) -> Any:
    """The tensors with at least one dimension.

    Args:
        *tensors: One tensor, or several as arguments or in a sequence.

    Returns:
        A view of a single tensor, else a tuple of views.

    Example:
        >>> import tinytorch as tt
        >>> tt.atleast_1d(tt.tensor(2)).shape
        tinytorch.Size([1])
    """
    return _each(tensors, 1)


@composite(forms=_ONE_OR_SEVERAL)
def atleast_2d(*tensors: Any) -> Any:
    """The tensors with at least two dimensions; a vector becomes one row.

    Args:
        *tensors: One tensor, or several as arguments or in a sequence.

    Returns:
        A view of a single tensor, else a tuple of views.

    Example:
        >>> import tinytorch as tt
        >>> tt.atleast_2d(tt.arange(3)).shape
        tinytorch.Size([1, 3])
    """
    return _each(tensors, 2)


@composite(forms=_ONE_OR_SEVERAL)
def atleast_3d(*tensors: Any) -> Any:
    """The tensors with at least three dimensions; a matrix gets a last one of size 1.

    Args:
        *tensors: One tensor, or several as arguments or in a sequence.

    Returns:
        A view of a single tensor, else a tuple of views.

    Example:
        >>> import tinytorch as tt
        >>> tt.atleast_3d(tt.zeros(2, 3)).shape
        tinytorch.Size([2, 3, 1])
    """
    return _each(tensors, 3)


def _stacked(name: str, tensors: Any, ndim: int, dim: int | None) -> Tensor:
    many = tensors_of((tensors,) if not isinstance(tensors, Tensor) else (tuple(tensors),))
    if not many:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    grown = tuple(at_least(tensor, ndim) for tensor in many)
    if dim is None:
        dim = 0 if grown[0].ndim == 1 else 1
    return cat(grown, dim)


@composite(out=True)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """``tensors`` side by side: along dimension 1, or 0 for vectors.

    Args:
        tensors: Tensors whose shapes agree but for that dimension; 0-d ones count as vectors.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are none, or the shapes do not agree.

    Example:
        >>> import tinytorch as tt
        >>> tt.hstack((tt.arange(2), tt.arange(2)))
        tensor([0, 1, 0, 1])
    """
    return _stacked("hstack", tensors, 1, None)


@composite(out=True, aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """``tensors`` one above the other, along dimension 0; vectors count as rows.

    Args:
        tensors: Tensors whose shapes agree but for that dimension.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are none, or the shapes do not agree.

    Example:
        >>> import tinytorch as tt
        >>> tt.vstack((tt.arange(2), tt.arange(2)))
        tensor([[0, 1],
                [0, 1]])
    """
    return _stacked("vstack", tensors, 2, 0)


@composite(out=True)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """``tensors`` one behind the other, along the third dimension.

    Args:
        tensors: Tensors whose shapes agree but for that dimension, after ``atleast_3d``.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are none, or the shapes do not agree.

    Example:
        >>> import tinytorch as tt
        >>> tt.dstack((tt.arange(2), tt.arange(2))).shape
        tinytorch.Size([1, 2, 2])
    """
    return _stacked("dstack", tensors, 3, 2)


@composite(out=True)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """``tensors`` side by side along dimension 1; vectors count as columns.

    Args:
        tensors: Tensors whose shapes agree but for that dimension.

    Returns:
        A tensor of their promoted dtype.

    Raises:
        RuntimeError: If there are none, or the shapes do not agree.

    Example:
        >>> import tinytorch as tt
        >>> tt.column_stack((tt.arange(2), tt.arange(2)))
        tensor([[0, 0],
                [1, 1]])
    """
    columns = [reshape(t, (-1, 1)) if t.ndim < 2 else t for t in tensors]
    return _stacked("column_stack", columns, 2, 1)
