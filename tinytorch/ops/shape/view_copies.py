"""Copying variants of view operations: ``name_copy`` for each ``name`` that returns a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...dispatch.op import Out, composite
from ..index.slicing import select, unfold
from ..pointwise.complex_numbers import view_as_complex, view_as_real
from .diagonal import diagonal
from .rearranging import t
from .sizes import expand, normalize_dim, permute, reshape, squeeze, transpose, unsqueeze
from .splitting import split, split_with_sizes, unbind
from .views import own_copy, view


@composite(node="AliasBackward0_copy", out=Out.EXACT)
def alias_copy(input: Tensor) -> Tensor:
    """Copy of ``input``.

    Example:
        >>> tt.alias_copy(tt.arange(2))
        tensor([0, 1])
    """
    return input.clone()


@composite(out=Out.EXACT)
def detach_copy(input: Tensor) -> Tensor:
    """Copy of ``input`` that is detached from the graph.

    Example:
        >>> tt.detach_copy(tt.ones(2, requires_grad=True))
        tensor([1., 1.])
    """
    return input.detach().clone()


@composite(node="DiagonalBackward0_copy", out=Out.EXACT, like=diagonal)
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Copy of the view that ``diagonal`` returns.

    Example:
        >>> tt.diagonal_copy(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    return own_copy(diagonal(input, offset, dim1, dim2))


@composite(node="ExpandBackward0_copy", out=Out.EXACT)
def expand_copy(input: Tensor, size: Any, *more: Any, implicit: bool = False) -> Tensor:
    """Copy of the view that ``expand`` returns.

    Args:
        input: Tensor whose dimensions of size 1 are repeated.
        size: The shape, as a sequence or as ints one by one; -1 means the present size.
        *more: The other sizes, one by one.
        implicit: Accepted for compatibility.

    Example:
        >>> tt.expand_copy(tt.tensor([1]), (2, 2))
        tensor([[1, 1],
                [1, 1]])
    """
    return own_copy(expand(input, size, *more))


@composite(node="PermuteBackward0_copy", out=Out.EXACT)
def permute_copy(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """Copy of the view that ``permute`` returns.

    Args:
        input: Tensor of any shape.
        dims: The dimensions in their new order, as a sequence or as ints one by one.
        *more: The other dimensions, one by one.

    Example:
        >>> tt.permute_copy(tt.tensor([[1, 2]]), (1, 0))
        tensor([[1],
                [2]])
    """
    return own_copy(permute(input, dims, *more))


@composite(out=Out.EXACT, like=select)
def select_copy(input: Tensor, dim: int, index: int) -> Tensor:
    """Copy of the view that ``select`` returns.

    Example:
        >>> tt.select_copy(tt.tensor([[1, 2], [3, 4]]), 0, 1)
        tensor([3, 4])
    """
    return own_copy(select(input, dim, index))


@composite(out=Out.EXACT)
def slice_copy(
    input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Copy of the slice ``start:end:step`` along a dimension.

    Args:
        input: Tensor of at least one dimension.
        dim: The dimension to slice. Default 0.
        start: Index of the first element. Default None: 0.
        end: Index after the last element. Default None: the size.
        step: Distance between elements. Default 1.

    Example:
        >>> tt.slice_copy(tt.arange(5), 0, 1, 4, 2)
        tensor([1, 3])
    """
    if step <= 0:
        raise RuntimeError(f"slice_copy: slice step must be positive, got {step}")
    dim = normalize_dim("slice_copy", dim, input.ndim)
    return own_copy(input[(*(slice(None),) * dim, slice(start, end, step))])


@composite(out=Out.CAST)
def split_copy(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of the views that ``split`` returns.

    Args:
        input: Tensor of at least one dimension.
        split_size: The size of each piece, the last of which may be smaller, or a list of sizes.
        dim: The dimension to split. Default 0.

    Example:
        >>> tt.split_copy(tt.arange(3), 2)
        (tensor([0, 1]), tensor([2]))
    """
    return tuple(own_copy(piece) for piece in split(input, split_size, dim))


@composite(out=Out.CAST, node="SplitWithSizesBackward0_copy", like=split_with_sizes)
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Copies of the views that ``split_with_sizes`` returns.

    Example:
        >>> tt.split_with_sizes_copy(tt.arange(3), [1, 2])
        (tensor([0]), tensor([1, 2]))
    """
    return tuple(own_copy(piece) for piece in split_with_sizes(input, split_sizes, dim))


@composite(node="SqueezeBackward0_copy", out=Out.EXACT, like=squeeze)
def squeeze_copy(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Copy of the view that ``squeeze`` returns.

    Example:
        >>> tt.squeeze_copy(tt.tensor([[1, 2]]))
        tensor([1, 2])
    """
    return own_copy(squeeze(input, dim))


@composite(node="TBackward0_copy", out=Out.EXACT, like=t)
def t_copy(input: Tensor) -> Tensor:
    """Copy of the view that ``t`` returns.

    Example:
        >>> tt.t_copy(tt.tensor([[1, 2]]))
        tensor([[1],
                [2]])
    """
    return own_copy(t(input))


@composite(node="TransposeBackward0_copy", out=Out.EXACT, like=transpose)
def transpose_copy(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Copy of the view that ``transpose`` returns.

    Example:
        >>> tt.transpose_copy(tt.tensor([[1, 2]]), 0, 1)
        tensor([[1],
                [2]])
    """
    return own_copy(transpose(input, dim0, dim1))


@composite(out=Out.CAST, node="UnbindBackward0_copy", like=unbind)
def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Copies of the views that ``unbind`` returns.

    Example:
        >>> tt.unbind_copy(tt.arange(2))
        (tensor(0), tensor(1))
    """
    return tuple(own_copy(piece) for piece in unbind(input, dim))


@composite(node="UnfoldBackward0_copy", out=Out.EXACT, like=unfold)
def unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Copy of the view that ``Tensor.unfold`` returns.

    Example:
        >>> tt.unfold_copy(tt.arange(3), 0, 2, 1)
        tensor([[0, 1],
                [1, 2]])
    """
    return own_copy(unfold(input, dimension, size, step))


@composite(node="UnsqueezeBackward0_copy", out=Out.EXACT, like=unsqueeze)
def unsqueeze_copy(input: Tensor, dim: int) -> Tensor:
    """Copy of the view that ``unsqueeze`` returns.

    Example:
        >>> tt.unsqueeze_copy(tt.arange(2), 0)
        tensor([[0, 1]])
    """
    return own_copy(unsqueeze(input, dim))


@composite(node="ViewBackward0_copy", out=Out.EXACT)
def view_copy(input: Tensor, size: Any = None, *more: Any, dtype: Any = None) -> Tensor:
    """Copy of the view that ``view`` returns.

    Args:
        input: Tensor of any shape.
        size: The shape, as a sequence or as ints one by one, with at most one -1; or a dtype, as
            which the bytes are read.
        *more: The other sizes, one by one.
        dtype: The dtype, as a keyword. Default None.

    Example:
        >>> tt.view_copy(tt.arange(2), (2, 1))
        tensor([[0],
                [1]])
    """
    sizes = more if size is None else (size, *more)
    if dtype is None and sizes and isinstance(sizes[0], (tuple, list, int)):
        return own_copy(reshape(input, *sizes))  # strides do not matter, since the result is a copy
    return own_copy(view(input, *sizes, dtype=dtype))


@composite(out=Out.CAST, like=view_as_complex)
def view_as_complex_copy(input: Tensor) -> Tensor:
    """Copy of the view that ``view_as_complex`` returns.

    Example:
        >>> tt.view_as_complex_copy(tt.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    return own_copy(view_as_complex(input))


@composite(out=Out.CAST, like=view_as_real)
def view_as_real_copy(input: Tensor) -> Tensor:
    """Copy of the view that ``view_as_real`` returns.

    Example:
        >>> tt.view_as_real_copy(tt.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    return own_copy(view_as_real(input))
