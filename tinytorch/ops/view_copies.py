"""Copies of what views show: ``name_copy`` for each ``name`` that gives a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._layouts import contiguous_format
from .._op import composite
from .._tensor import Tensor
from .diagonal import diagonal
from .layout import view
from .shape import expand, permute, squeeze, transpose, unsqueeze
from .slicing import unfold
from .splitting import split_with_sizes, unbind
from .transposition import t


def _own(view: Tensor) -> Tensor:
    """What a view shows in memory of its own, in row-major order."""
    return view.clone(memory_format=contiguous_format)


@composite(out=True, method=False)
def alias_copy(input: Tensor) -> Tensor:
    """``input`` as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.alias_copy(tt.arange(2))
        tensor([0, 1])
    """
    return input.clone()


@composite(out=True, method=False)
def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """What ``diagonal`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.diagonal_copy(tt.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    return _own(diagonal(input, offset, dim1, dim2))


@composite(out=True, method=False)
def expand_copy(input: Tensor, size: Any, *more: Any, implicit: bool = False) -> Tensor:
    """What ``expand`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.expand_copy(tt.tensor([1]), (2, 2))
        tensor([[1, 1],
                [1, 1]])
    """
    return _own(expand(input, size, *more))


@composite(out=True, method=False)
def permute_copy(input: Tensor, dims: Any, *more: Any) -> Tensor:
    """What ``permute`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.permute_copy(tt.tensor([[1, 2]]), (1, 0))
        tensor([[1],
                [2]])
    """
    return _own(permute(input, dims, *more))


@composite(out=True, method=False)
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """What ``split_with_sizes`` shows, as copies.

    Example:
        >>> import tinytorch as tt
        >>> tt.split_with_sizes_copy(tt.arange(3), [1, 2])
        (tensor([0]), tensor([1, 2]))
    """
    return tuple(_own(piece) for piece in split_with_sizes(input, split_sizes, dim))


@composite(out=True, method=False)
def squeeze_copy(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """What ``squeeze`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.squeeze_copy(tt.tensor([[1, 2]]))
        tensor([1, 2])
    """
    return _own(squeeze(input, dim))


@composite(out=True, method=False)
def t_copy(input: Tensor) -> Tensor:
    """What ``t`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.t_copy(tt.tensor([[1, 2]]))
        tensor([[1],
                [2]])
    """
    return _own(t(input))


@composite(out=True, method=False)
def transpose_copy(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """What ``transpose`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.transpose_copy(tt.tensor([[1, 2]]), 0, 1)
        tensor([[1],
                [2]])
    """
    return _own(transpose(input, dim0, dim1))


@composite(out=True, method=False)
def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """What ``unbind`` shows, as copies.

    Example:
        >>> import tinytorch as tt
        >>> tt.unbind_copy(tt.arange(2))
        (tensor(0), tensor(1))
    """
    return tuple(_own(piece) for piece in unbind(input, dim))


@composite(out=True, method=False)
def unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """What ``Tensor.unfold`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.unfold_copy(tt.arange(3), 0, 2, 1)
        tensor([[0, 1],
                [1, 2]])
    """
    return _own(unfold(input, dimension, size, step))


@composite(out=True, method=False)
def unsqueeze_copy(input: Tensor, dim: int) -> Tensor:
    """What ``unsqueeze`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.unsqueeze_copy(tt.arange(2), 0)
        tensor([[0, 1]])
    """
    return _own(unsqueeze(input, dim))


@composite(out=True, method=False)
def view_copy(input: Tensor, size: Any = None, *more: Any, dtype: Any = None) -> Tensor:
    """What ``view`` shows, as a copy.

    Example:
        >>> import tinytorch as tt
        >>> tt.view_copy(tt.arange(2), (2, 1))
        tensor([[0],
                [1]])
    """
    sizes = more if size is None else (size, *more)
    return _own(view(input, *sizes, dtype=dtype))
