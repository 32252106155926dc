"""Products of vectors: conjugated dot product, cross product; and the trace of a matrix."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, composite, op
from ...warnings import warn_once
from ..checks import refuse
from ..create.factories import as_tensor
from ..out import written
from ..shape.diagonal import diagonal
from ..shape.sizes import flip
from .matmul import dot
from .products import cross as linalg_cross
from .products import powers


@composite(method=True, node="VdotBackward0", exact_out=True)
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the products of two vectors' elements, those of the first conjugated.

    Args:
        input: ``(n,)``.
        other: ``(n,)``.
        out: Where to write the result.

    Returns:
        0-d tensor.

    Raises:
        RuntimeError: If they are no vectors of one length and dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.vdot(tt.tensor([1j, 2.0]), tt.tensor([1j, 1.0]))
        tensor(3.+0.j)
    """
    if not input.ndim == other.ndim == 1:  # dot() takes numbers, as NumPy's
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    return written(out, dot(_conjugated(input), other), "vdot")  # type: ignore[no-any-return]


def _conjugated(input: Tensor) -> Tensor:
    return input.conj() if input.is_complex() else input


@composite(method=True, exact_out=True, out=True, buffered="apart")
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross product of the vectors of three elements along a dimension.

    Args:
        input: Tensor with a dimension of size 3.
        other: Tensor that broadcasts with ``input``, of size 3 there too.
        dim: That dimension. By default the last one if its size is 3, as in NumPy and
            ``linalg.cross``, else the first of size 3.

    Raises:
        RuntimeError: If there is no dimension of size 3, or numbers of dimensions or dtypes
            differ.

    Example:
        >>> import tinytorch as tt
        >>> tt.cross(tt.tensor([1, 0, 0]), tt.tensor([0, 1, 0]), dim=0)
        tensor([0, 0, 1])
    """
    if dim is None:
        sizes = tuple(input.shape)
        if 3 not in sizes:
            raise RuntimeError(f"cross: no dimension of size 3 in input, got shape {list(sizes)}")
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated. Please either pass "
            "the dim explicitly or simply use torch.linalg.cross. The last dimension is taken if "
            "its size is 3, where PyTorch takes the first that has it."
        )
        dim = -1 if sizes[-1] == 3 else sizes.index(3)
    return linalg_cross(input, other, dim=dim)


@composite
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of the elements of a vector, a row for each.

    Args:
        x: Tensor of shape ``(n,)``, or what makes one.
        N: Number of columns; default n.
        increasing: Begin with ``x ** 0``; by default that comes last.

    Returns:
        ``(n, N)``; int64 for integers.

    Raises:
        RuntimeError: If ``x`` is no vector or ``N`` is negative.

    Example:
        >>> import tinytorch as tt
        >>> tt.vander(tt.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """
    x = x if isinstance(x, Tensor) else as_tensor(x)
    if x.ndim != 1:
        raise RuntimeError(f"vander: x must be a one-dimensional tensor, got {x.ndim}-D")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"vander: N must be non-negative, got {count}")
    columns = powers(x, max(count, 1))[:, :count]
    return columns if increasing else flip(columns, (-1,))


@composite(method=True)
def trace(
    input: Tensor, offset: int = 0, axis1: int | None = None, axis2: int | None = None
) -> Tensor:
    """Sum of the elements on a matrix's diagonal.

    With ``offset=``, ``axis1=`` or ``axis2=`` it is NumPy's, of tensors of more dimensions, too.

    Args:
        input: ``(n, m)``.
        offset: Which diagonal; default the main one, positive ones are above it.
        axis1: The dimension of the rows, for NumPy's meaning; default the first.
        axis2: That of the columns; default the second.

    Returns:
        0-d tensor, int64 for integers; a sum for each matrix of more dimensions.

    Raises:
        RuntimeError: If it is no matrix.
        NotImplementedError: For bools, where the meaning is not NumPy's.

    Example:
        >>> import tinytorch as tt
        >>> tt.trace(tt.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor(5.)
    """
    if offset == 0 and axis1 is None and axis2 is None:
        return _trace(input)
    lines: Any = diagonal(input, offset, axis1 or 0, 1 if axis2 is None else axis2)
    return lines.sum(-1)  # type: ignore[no-any-return]


@op
def _trace(xp: Backend, input: Array) -> Array:
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    refuse(xp, "trace", "b", input)
    total = xp.sum(xp.diagonal(input))
    if input.dtype.kind in "uib":
        return xp.astype(total, xp.native_dtype(dtypes.int64))
    return total


@op
def _scaled_identity(xp: Backend, input: Array, rows: int, columns: int) -> Array:
    """A number along the diagonal of a matrix of zeros."""
    return xp.where(xp.eye(rows, columns, dtype=bool), input, xp.zeros_like(input))


_trace.vjp(input=lambda xp, g, in_shape: xp.call(_scaled_identity, g, *in_shape))
_scaled_identity.vjp(input=lambda xp, g: xp.call(_trace, g))
