"""Sparse gradients of a backward pass, such as those of embeddings with ``sparse=True``."""

from __future__ import annotations

from typing import Any

from .late_bound import LATE_BOUND
from .nodes import Edge, backend_of, node_of


class NotDenseError(NotImplementedError):
    """Error for code that reads the elements of a sparse tensor as those of a dense one."""


class SparseGradient:
    """Raw gradient of a table that is zero except in some rows; the engine's form of a COO tensor.

    It goes along edges to leaves only; along all others the dense array goes.

    Attributes:
        xp: The backend.
        rows: Indices of the rows, a one-dimensional array of int64, which may repeat.
        values: The rows, of shape ``(len(rows), *shape[1:])``.
        shape: Shape of the table.
    """

    __slots__ = ("xp", "rows", "values", "shape")
    #: As for an array that is not a view.
    base = None

    def __init__(self, xp: Any, rows: Any, values: Any, shape: Any) -> None:
        self.xp: Any = xp
        self.rows: Any = rows
        self.values: Any = values
        self.shape: tuple[int, ...] = tuple(shape)

    @property
    def dtype(self) -> Any:
        """Native dtype of the elements."""
        return self.values.dtype

    def add_to(self, table: Any) -> Any:
        """Add the rows to a dense array in place, and return the array."""
        self.xp.index_add(table, self.rows, self.values)
        return table

    def dense(self) -> Any:
        """Return the dense array."""
        return self.add_to(self.xp.zeros(self.shape, self.dtype))

    def conjugate(self) -> SparseGradient:
        """Return the complex conjugate."""
        return SparseGradient(self.xp, self.rows, self.xp.conj(self.values), self.shape)

    def join(self, other: SparseGradient) -> SparseGradient:
        """Return the sum with another sparse gradient: the rows of both, one after the other."""
        rows = self.xp.concatenate([self.rows, other.rows])
        values = self.xp.concatenate([self.values, other.values])
        return SparseGradient(self.xp, rows, values, self.shape)


def to_raw(task: Any, edge: Edge, h: Any) -> Any:
    """Convert what a rule computed to a gradient along ``edge``, for the pass ``task``.

    A scalar becomes an array. A sparse gradient becomes a dense one, except along edges to leaves.
    """
    if not isinstance(h, SparseGradient):
        return backend_of(edge).asarray(h)
    if node_of(edge) is not None:
        return h.dense()
    task.has_sparse = True
    return h


def wrap_gradient(g: Any, xp: Any) -> Any:
    """Wrap a raw gradient of backend ``xp``, dense or sparse, in a tensor."""
    return LATE_BOUND.sparse_tensor(g) if isinstance(g, SparseGradient) else LATE_BOUND.wrap(g, xp)


def unwrap_gradient(tensor: Any) -> Any:
    """Return the raw gradient of a tensor, dense or sparse."""
    return tensor.raw_gradient() if tensor.is_sparse else tensor._data


def add_gradients(pending: Any, g: Any, xp: Any) -> Any:
    """Return the sum of two raw gradients of backend ``xp``, either of which may be sparse."""
    if not isinstance(g, SparseGradient):
        pending, g = g, pending
    if not isinstance(g, SparseGradient):
        return xp.asarray(pending + g)
    return pending.join(g) if isinstance(pending, SparseGradient) else g.add_to(xp.array(pending))


def accumulate_sparse(leaf: Any, g: SparseGradient) -> None:
    """Add a sparse gradient to ``grad`` of a leaf; a dense ``grad`` changes in place."""
    if leaf._data.dtype.kind == "c":
        g = g.conjugate()
    if leaf._grad is None:
        leaf._grad = LATE_BOUND.sparse_tensor(g)
    elif leaf._grad.is_sparse:
        leaf._grad = leaf._grad + LATE_BOUND.sparse_tensor(g)
    else:
        leaf._grad._bump()
        g.add_to(leaf._grad._data)
