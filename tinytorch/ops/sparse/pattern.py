"""Patterns of sparse tensors: where their elements lie, and conversions between layouts.

A pattern has no elements: the tensors of ``s``, ``2 * s`` and ``s.relu()`` share one. Everything
derived from the indices, such as the rows of a CSR matrix, is therefore computed once.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

from ... import dtypes
from ...core.layout import layout as Layout
from ...core.layout import sparse_coo, sparse_csc, sparse_csr
from ...core.tensor import Size, Tensor
from ..create.conversion import to
from ..create.ranges import arange
from ..index.gathering import index_select
from ..index.index_writing import index_add
from ..reduce.cumulative import cumsum
from ..shape.joining import cat, stack
from ..shape.rearranging import repeat_interleave
from ..sort.sorting import argsort
from ..sort.unique import unique


class Merged(NamedTuple):
    """A pattern without repeated positions, and the new position of each element."""

    pattern: Pattern
    positions: Tensor


class Pattern:
    """Layout, indices and shape of a sparse tensor.

    Args:
        layout: ``sparse_coo``, ``sparse_csr`` or ``sparse_csc``.
        index: For COO one tensor, ``(sparse dimensions, nnz)`` of int64. For CSR and CSC the
            compressed indices, one more than rows (columns), and the plain indices, ``(nnz,)``.
        shape: Shape of the tensor. A COO tensor may end with dense dimensions.
        is_coalesced: Whether the positions are in row-major order and none repeats.
    """

    def __init__(
        self, layout: Layout, index: tuple[Tensor, ...], shape: tuple[int, ...], is_coalesced: bool
    ) -> None:
        self.layout = layout
        self.index = index
        self.shape: Size = Size(shape)
        self.is_coalesced = is_coalesced

    @property
    def sparse_dim(self) -> int:
        """Number of sparse dimensions."""
        return int(self.index[0].shape[0]) if self.layout is sparse_coo else 2

    @property
    def nnz(self) -> int:
        """Number of elements, or of dense parts, that are stored."""
        return int(self.index[-1].shape[-1])

    @cached_property
    def coordinates(self) -> tuple[Tensor, ...]:
        """Indices along each sparse dimension, ``(nnz,)`` each."""
        if self.layout is sparse_coo:
            return tuple(self.index[0])
        compressed, plain = (to(each, dtypes.int64) for each in self.index)
        expanded = repeat_interleave(compressed[1:] - compressed[:-1])
        return (expanded, plain) if self.layout is sparse_csr else (plain, expanded)

    @cached_property
    def flat(self) -> Tensor:
        """Number of each position in row-major order, ``(nnz,)``."""
        if not self.sparse_dim:
            return self.index[0].new_zeros(self.nnz)
        total, *others = self.coordinates
        for size, each in zip(self.shape[1:], others, strict=False):
            total = total * size + each
        return total

    @cached_property
    def distinct(self) -> Merged:
        """The coalesced COO pattern, and the position in it of each element."""
        found, inverse = unique(self.flat, return_inverse=True)
        return Merged(self.from_flat(found, self.shape, self.sparse_dim), inverse)

    @staticmethod
    def from_flat(flat: Tensor, shape: tuple[int, ...], sparse_dim: int) -> Pattern:
        """Return the coalesced COO pattern of ascending numbers of positions."""
        rows = []
        for size in reversed(shape[:sparse_dim]):
            rows.append(flat % max(size, 1))
            flat = flat // max(size, 1)
        index = stack(rows[::-1]) if rows else flat.new_zeros(0, flat.shape[0])
        return Pattern(sparse_coo, (index,), shape, True)

    @cached_property
    def coo(self) -> Pattern:
        """The same positions in the same order, as COO."""
        if self.layout is sparse_coo:
            return self
        return Pattern(sparse_coo, (stack(self.coordinates),), self.shape, False)

    def compress(self, target: Layout) -> Merged:
        """The CSR or CSC pattern of a matrix, and the new position of each element."""
        merged, positions = self.distinct if not self.is_coalesced else Merged(self, None)  # type: ignore[arg-type]
        rows, columns = merged.coordinates
        if target is sparse_csc:
            order = argsort(columns, stable=True)
            place = arange(merged.nnz, device=order.device, backend=order.backend)
            rank = place.new_zeros(merged.nnz).index_add(0, order, place)
            positions = rank if positions is None else index_select(rank, 0, positions)
            rows, columns = index_select(columns, 0, order), index_select(rows, 0, order)
        size = self.shape[0 if target is sparse_csr else 1]
        index = (compress_rows(rows, size), columns)
        return Merged(Pattern(target, index, self.shape, False), positions)

    def transpose(self, first: int, second: int) -> Pattern:
        """The pattern with two sparse dimensions exchanged; CSR becomes CSC without a copy."""
        shape = list(self.shape)
        shape[first], shape[second] = shape[second], shape[first]
        if first == second:
            return self
        if self.layout is not sparse_coo:
            other = sparse_csc if self.layout is sparse_csr else sparse_csr
            return Pattern(other, self.index, tuple(shape), False)
        rows = list(self.coordinates)
        rows[first], rows[second] = rows[second], rows[first]
        return Pattern(sparse_coo, (stack(rows),), tuple(shape), self.nnz < 2)

    @property
    def positions(self) -> int:
        """Number of positions: the product of the sparse sizes."""
        return math.prod(self.shape[: self.sparse_dim])

    def move(self, like: Tensor) -> Pattern:
        """The pattern on the device and backend of a tensor."""
        if like.backend is self.index[0].backend:
            return self
        index = tuple(to(each, device=like.device, backend=like.backend) for each in self.index)
        return Pattern(self.layout, index, self.shape, self.is_coalesced)


def compress_rows(rows: Tensor, size: int) -> Tensor:
    """Number of elements before each of ``size`` rows, and of all: the ``crow_indices`` of CSR."""
    counts = index_add(rows.new_zeros(size + 1), 0, rows + 1, rows.new_ones(rows.shape[0]))
    return cumsum(counts, 0)


def join(patterns: list[Pattern], shape: tuple[int, ...]) -> Pattern:
    """The positions of several COO patterns with as many sparse dimensions, one after the other."""
    index = cat([each.coo.index[0] for each in patterns], 1)
    return Pattern(sparse_coo, (index,), shape, int(index.shape[1]) < 2)
