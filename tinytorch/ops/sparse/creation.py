"""Creation of sparse tensors, and the methods of dense tensors that convert to and from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.device import backend_for
from ...core.layout import layout as Layout
from ...core.layout import sparse_coo, sparse_csc, sparse_csr, strided
from ...core.tensor import Size, Tensor, wrap
from ...dispatch.op import composite
from ...state import default_dtype, no_grad
from ..create.conversion import to
from ..create.factories import as_tensor, tensor
from ..shape.joining import stack
from . import elementwise as elementwise  # which register functions of sparse tensors
from . import products as products
from . import shapes as shapes
from .gradients import make_of_gradient as make_of_gradient
from .kernels import gather
from .layouts import convert
from .layouts import sparse_mask as mask_sparse
from .pattern import Pattern, compress_rows
from .tensor import SparseTensor, handles, make_sparse, name_node

__all__ = [
    "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
]  # fmt: skip

# -- creation --------------------------------------------------------------------------------------


@composite
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
    backend: Any = None,
) -> Tensor:
    """Create a sparse tensor from the indices of its elements (COO).

    Elements of the same position are added up when they are used. Gradients flow to ``values``.

    Args:
        indices: Integers of shape ``(sparse dimensions, nnz)``; or the size, for a tensor without
            elements.
        values: The elements, ``(nnz,)``, or ``(nnz, *dense sizes)``: a tensor, array or lists.
        size: Shape of the tensor. Default: the smallest shape that has all indices.
        dtype: Dtype of the elements. Default: that of ``values``.
        device: Device. Default: that of ``values``.
        pin_memory: Must be False.
        requires_grad: Whether the result is a leaf that requires grad.
        check_invariants: Accepted for compatibility: indices are always checked.
        is_coalesced: True states that the indices are sorted and distinct.
        backend: Backend of the result, instead of that of ``values``.

    Raises:
        RuntimeError: If sizes do not fit, or an index is out of range.

    Example:
        >>> tt.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
        tensor(indices=tensor([[0, 1, 1],
                               [2, 0, 2]]),
               values=tensor([3., 4., 5.]),
               size=(2, 3), nnz=3, layout=tinytorch.sparse_coo)
    """
    if values is None:
        shape = Size(size if indices is None else indices)  # type: ignore[arg-type]
        return _empty(shape, dtype, device, backend, requires_grad)
    elements = _to_elements(values, dtype, device, backend)
    index = _to_index(indices, elements, dtypes.int64)
    if index.ndim == 1 and not index.numel():
        index = index.reshape(1, 0)
    if index.ndim == 1:
        index = index.reshape(-1, 1) if elements.ndim == 0 else index
    if index.ndim != 2:
        raise RuntimeError(
            f"indices must be sparse_dim x nnz, but got: [{', '.join(map(str, index.shape))}]"
        )
    if elements.ndim == 0:
        elements = elements.reshape(1)
    _check_counts(index, elements)
    shape = _coo_shape(index, elements, size)
    pattern = Pattern(sparse_coo, (index,), shape, index.shape[1] < 2 or bool(is_coalesced))
    return _finish(pattern, elements, requires_grad, "SparseCooTensorWithDimsAndTensorsBackward0")


def _empty(
    shape: tuple[int, ...], dtype: Any, device: Any, backend: Any, requires_grad: bool
) -> Tensor:  # fmt: skip
    """Return a COO tensor without elements."""
    xp = backend_for(device, backend)
    wanted = default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    index = wrap(xp.zeros((len(shape), 0), "int64"), xp)
    elements = wrap(xp.zeros((0,), xp.native_dtype(wanted)), xp)
    pattern = Pattern(sparse_coo, (index,), shape, True)
    return make_sparse(pattern, elements).requires_grad_(requires_grad)


def _to_elements(values: Any, dtype: Any, device: Any, backend: Any) -> Tensor:
    """Convert the argument ``values`` to a dense tensor."""
    if isinstance(values, SparseTensor):
        raise RuntimeError("expected values to be a strided tensor, got a sparse one")
    if isinstance(values, Tensor):
        return to(values, dtype=dtype, device=device, backend=backend)
    if hasattr(values, "dtype"):
        return as_tensor(values, dtype, device, backend=backend)
    return tensor(values, dtype=dtype, device=device, backend=backend)


def _to_index(index: Any, elements: Tensor, dtype: dtypes.dtype | None) -> Tensor:
    """Convert indices to an integer tensor on the device of the elements."""
    found = as_tensor(index, backend=elements.backend)
    found = to(found, device=elements.device, backend=elements.backend).detach()
    if dtype is None:
        return found if found.dtype is dtypes.int32 else to(found, dtypes.int64)
    return to(found, dtype)


def _check_counts(index: Tensor, elements: Tensor) -> None:
    """Raise RuntimeError if there are not as many indices as elements."""
    if index.shape[1] != elements.shape[0]:
        raise RuntimeError(
            "indices and values must have same nnz, but got nnz from indices: "
            f"{index.shape[1]}, nnz from values: {elements.shape[0]}"
        )


def _coo_shape(index: Tensor, elements: Tensor, size: Any) -> Size:
    """Return the shape of a COO tensor: ``size``, or the smallest one; check the indices."""
    sparse_dim, dense = int(index.shape[0]), tuple(elements.shape[1:])
    largest = [int(n) for n in index.amax(1).tolist()] if index.numel() else [-1] * sparse_dim
    smallest = [int(n) for n in index.amin(1).tolist()] if index.numel() else [0] * sparse_dim
    if size is None:
        if min(smallest, default=0) < 0:
            raise RuntimeError(f"found negative index {min(smallest)} for dim {sparse_dim}")
        return Size((*(n + 1 for n in largest), *dense))
    shape = Size(size)
    if len(shape) != sparse_dim + len(dense):
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = "
            f"{len(shape)}, sparse_dim = {sparse_dim}, dense_dim = {len(dense)}"
        )
    if tuple(shape[sparse_dim:]) != dense:
        raise RuntimeError(
            f"values has incorrect size, expected {[elements.shape[0], *shape[sparse_dim:]]}, got "
            f"{list(elements.shape)}"
        )
    for dim, (low, high) in enumerate(zip(smallest, largest, strict=True)):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= shape[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but found "
                f"index {high}"
            )
    return shape


def _finish(pattern: Pattern, elements: Tensor, requires_grad: bool, name: str) -> Tensor:
    """Return the tensor of a pattern: a leaf, or recorded as computed from ``elements``."""
    if requires_grad or not elements.requires_grad:
        own = elements.detach().requires_grad_(requires_grad)
    else:
        own = name_node(elements.view_as(elements), name)
    return make_sparse(pattern, own)


@composite
def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    backend: Any = None,
) -> Tensor:
    """Create a sparse matrix whose elements are given row by row (CSR).

    Args:
        crow_indices: Number of elements before each row, and of all: ``(rows + 1,)``.
        col_indices: Column of each element, ``(nnz,)``.
        values: The elements, ``(nnz,)``.
        size: Shape, ``(rows, columns)``. Default: the smallest one that has all columns.
        dtype: Dtype of the elements. Default: that of ``values``.
        device: Device. Default: that of ``values``.
        pin_memory: Must be False.
        requires_grad: Whether the result is a leaf that requires grad.
        check_invariants: Accepted for compatibility: indices are always checked.
        backend: Backend of the result, instead of that of ``values``.

    Raises:
        RuntimeError: If sizes do not fit, or an index is out of range.
        NotImplementedError: For batches and dense dimensions.

    Example:
        >>> tt.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0]).to_dense()
        tensor([[0., 0., 3.],
                [4., 0., 5.]])
    """
    return _make_compressed(
        sparse_csr, crow_indices, col_indices, _to_elements(values, dtype, device, backend), size,
        requires_grad,
    )  # fmt: skip


@composite(like=sparse_csr_tensor)
def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    backend: Any = None,
) -> Tensor:
    """Create a sparse matrix whose elements are given column by column (CSC).

    Args:
        ccol_indices: Number of elements before each column, and of all: ``(columns + 1,)``.
        row_indices: Row of each element, ``(nnz,)``.

    Example:
        >>> tt.sparse_csc_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense()
        tensor([[0., 4.],
                [3., 0.]])
    """
    return _make_compressed(
        sparse_csc, ccol_indices, row_indices, _to_elements(values, dtype, device, backend), size,
        requires_grad,
    )  # fmt: skip


@composite(like=sparse_csr_tensor)
def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    backend: Any = None,
) -> Tensor:
    """Create a sparse matrix in the layout ``sparse_csr`` or ``sparse_csc``.

    Args:
        compressed_indices: ``crow_indices`` or ``ccol_indices``.
        plain_indices: ``col_indices`` or ``row_indices``.
        layout: ``sparse_csr`` or ``sparse_csc``; other layouts raise.

    Example:
        >>> tt.sparse_compressed_tensor([0, 1], [0], [2.0], layout=tt.sparse_csr)._nnz()
        1
    """
    if layout not in (sparse_csr, sparse_csc):
        raise NotImplementedError(
            f"sparse_compressed_tensor: the layout {layout} is not supported; expected sparse_csr "
            "or sparse_csc"
        )
    elements = _to_elements(values, dtype, device, backend)
    return _make_compressed(
        layout, compressed_indices, plain_indices, elements, size, requires_grad
    )


def _make_compressed(
    kind: Layout, compressed: Any, plain: Any, elements: Tensor, size: Any, requires_grad: bool
) -> Tensor:
    """Return a CSR or CSC matrix."""
    index = _to_index(compressed, elements, None), _to_index(plain, elements, None)
    if (index[0].ndim, index[1].ndim, elements.ndim) != (1, 1, 1):
        raise NotImplementedError(
            f"{kind}: batches and dense dimensions are not supported; expected one-dimensional "
            f"indices and values, got {[list(x.shape) for x in (*index, elements)]}"
        )
    shape = _compressed_shape(kind, *index, size)
    _check_compressed(kind, *index, elements, shape)
    pattern = Pattern(kind, index, shape, False)
    return _finish(pattern, elements, requires_grad, "SparseCompressedTensorBackward0")


def _compressed_shape(kind: Layout, compressed: Tensor, plain: Tensor, size: Any) -> Size:
    """Return the shape of a CSR or CSC matrix: ``size``, or the smallest one."""
    if size is not None:
        return Size(size)
    sizes = int(compressed.shape[0]) - 1, int(plain.max()) + 1 if plain.numel() else 0
    return Size(sizes if kind is sparse_csr else sizes[::-1])


def _check_compressed(
    kind: Layout, compressed: Tensor, plain: Tensor, elements: Tensor, shape: tuple[int, ...]
) -> None:
    """Raise RuntimeError unless the parts of a CSR or CSC matrix fit."""
    if len(shape) != 2:
        raise RuntimeError(f"{kind}: expected a size of 2 dimensions, got {list(shape)}")
    outer, inner = shape if kind is sparse_csr else shape[::-1]
    nnz = int(plain.shape[0])
    first, second = ("crow", "col") if kind is sparse_csr else ("ccol", "row")
    if nnz != elements.shape[0]:
        raise RuntimeError(
            f"number of elements in {second}_indices ({nnz}) and values ({elements.shape[0]}) must "
            "match"
        )
    if compressed.shape[0] != outer + 1:
        raise RuntimeError(
            f"{first}_indices.shape[-1] must be equal to the number of "
            f"{'rows' if kind is sparse_csr else 'columns'} + 1 = {outer + 1}, but got "
            f"{compressed.shape[0]}"
        )
    steps = compressed[1:] - compressed[:-1]
    if int(compressed[0]) or int(compressed[-1]) != nnz or bool((steps < 0).any()):
        raise RuntimeError(f"{first}_indices must begin with 0, not decrease, and end with {nnz}")
    if nnz and not (int(plain.min()) >= 0 and int(plain.max()) < inner):
        raise RuntimeError(f"`0 <= {second}_indices < {inner}` is not satisfied.")


@composite(public=True)
def _convert_indices_from_coo_to_csr(
    input: Tensor, size: int, *, out_int32: bool = False
) -> Tensor:  # fmt: skip
    """Number of elements before each row, and of all: ``crow_indices`` of ascending row indices.

    Args:
        input: Row of each element, ``(nnz,)``, ascending.
        size: Number of rows.
        out_int32: Whether the result is int32, not int64. Default: False.

    Returns:
        ``(size + 1,)``.

    Example:
        >>> tt._convert_indices_from_coo_to_csr(tt.tensor([0, 2, 2]), 3)
        tensor([0, 1, 1, 3])
    """
    found = compress_rows(to(input, dtypes.int64), size)
    return to(found, dtypes.int32) if out_int32 else found


@composite(public=True)
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Row and column of each element of a CSR matrix.

    Args:
        crow_indices: Number of elements before each row, and of all: ``(rows + 1,)``.
        col_indices: Column of each element, ``(nnz,)``.
        out_int32: Whether the result is int32, not int64. Default: False.
        transpose: Whether the columns come first. Default: False.

    Returns:
        ``(2, nnz)``.

    Example:
        >>> tt._convert_indices_from_csr_to_coo(tt.tensor([0, 1, 3]), tt.tensor([2, 0, 2]))
        tensor([[0, 1, 1],
                [2, 0, 2]])
    """
    shape = crow_indices.shape[0] - 1, 0
    rows = Pattern(sparse_csr, (crow_indices, col_indices), shape, False).coordinates
    found = stack(rows[::-1] if transpose else rows)
    return to(found, dtypes.int32) if out_int32 else found


@handles("_rebuild")
def _rebuild_sparse(
    kind: Layout, index: tuple[Tensor, ...], shape: tuple[int, ...], is_coalesced: bool,
    elements: Tensor, requires_grad: bool,
) -> SparseTensor:  # fmt: skip
    """Unpickle a sparse tensor."""
    pattern = Pattern(kind, index, shape, is_coalesced)
    return make_sparse(pattern, elements.requires_grad_(requires_grad))


# -- methods of tensors ----------------------------------------------------------------------------


@composite(namespaces=("Tensor",))
def to_sparse(
    input: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:  # fmt: skip
    """Sparse tensor of the elements that are not zero.

    Args:
        input: Tensor of any shape, dense or sparse.
        sparse_dim: Number of sparse dimensions; the others are dense. Default: all.
        layout: ``sparse_coo``, the default, ``sparse_csr`` or ``sparse_csc``.
        blocksize: Must be None: layouts with blocks are not supported.
        dense_dim: Number of dense dimensions of CSR and CSC: None or 0.

    Raises:
        NotImplementedError: For layouts with blocks, and batches of CSR.

    Example:
        >>> tt.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
        tensor(indices=tensor([[0],
                               [1]]),
               values=tensor([2.]),
               size=(2, 2), nnz=1, layout=tinytorch.sparse_coo)
    """
    if blocksize is not None:
        raise NotImplementedError("to_sparse: layouts with blocks are not supported")
    if dense_dim:
        raise NotImplementedError("to_sparse: dense dimensions of CSR and CSC are not supported")
    if layout is strided:
        return input
    dims = input.ndim if sparse_dim is None else sparse_dim
    if not 0 <= dims <= input.ndim or not dims and input.ndim:
        raise IndexError(f"to_sparse: expected sparse_dim from 1 to {input.ndim}, got {sparse_dim}")
    found = _nonzero(input, dims)
    return found if layout in (None, sparse_coo) else convert(found, layout)


def _nonzero(input: Tensor, dims: int) -> SparseTensor:
    """Return the COO tensor of a dense one, with ``dims`` sparse dimensions."""
    shape = tuple(input.shape)
    lead = math.prod(shape[:dims])
    with no_grad():
        rows = (input.detach().reshape(lead, -1) != 0).any(1) if input.numel() else (
            wrap(input._xp.zeros((lead,), "bool"), input._xp)
        )  # fmt: skip
        flat = rows.nonzero()[:, 0]
    pattern = Pattern.from_flat(flat, shape, dims)
    return make_sparse(pattern, gather(pattern, input))


@composite(namespaces=("Tensor",))
def to_sparse_coo(input: Tensor) -> Tensor:
    """``to_sparse()``: a sparse tensor of the elements that are not zero.

    Example:
        >>> tt.eye(2).to_sparse_coo().layout
        tinytorch.sparse_coo
    """
    return to_sparse(input)


@composite(namespaces=("Tensor",))
def to_sparse_csr(input: Tensor, dense_dim: int | None = None) -> Tensor:
    """Sparse matrix of the layout ``sparse_csr``, of the elements that are not zero.

    Args:
        input: Matrix, dense or sparse.
        dense_dim: Number of dense dimensions: None or 0.

    Example:
        >>> tt.eye(2).to_sparse_csr().crow_indices()
        tensor([0, 1, 2])
    """
    return to_sparse(input, layout=sparse_csr, dense_dim=dense_dim)


@composite(namespaces=("Tensor",), like=to_sparse_csr)
def to_sparse_csc(input: Tensor, dense_dim: int | None = None) -> Tensor:
    """Sparse matrix of the layout ``sparse_csc``, of the elements that are not zero.

    Example:
        >>> tt.eye(2).to_sparse_csc().ccol_indices()
        tensor([0, 1, 2])
    """
    return to_sparse(input, layout=sparse_csc, dense_dim=dense_dim)


@composite(namespaces=("Tensor",))
def sparse_mask(input: Tensor, mask: Tensor) -> Tensor:
    """Elements of ``input`` at the positions of a sparse tensor.

    Args:
        input: Tensor of any shape.
        mask: Sparse tensor of the same shape, whose elements do not matter.

    Raises:
        RuntimeError: If the shapes differ, or ``mask`` is dense.

    Example:
        >>> tt.ones(2, 2).sparse_mask(tt.eye(2).to_sparse()).to_dense()
        tensor([[1., 0.],
                [0., 1.]])
    """
    if mask.layout is strided:
        raise RuntimeError("sparse_mask(): expected a sparse mask, got a dense one")
    return mask_sparse(input, mask)  # type: ignore[arg-type]


# -- parts -----------------------------------------------------------------------------------------
# ``layouts`` has the functions of sparse tensors: these run for dense ones.


def _part_error(name: str, layout: str, input: Tensor) -> RuntimeError:
    """Return PyTorch's error for a part of a sparse tensor that ``input``, a dense one, lacks."""
    kind = "Strided" if input.layout is strided else input.layout
    return RuntimeError(f"{name} expected sparse {layout} layout but got {kind}")


@composite(namespaces=("Tensor",))
def coalesce(input: Tensor) -> Tensor:
    """Sparse tensor with one element for each position, in row-major order.

    A tensor that has this form already is returned itself.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> s = tt.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,))
        >>> s.coalesce().values()
        tensor([3.])
    """
    raise _part_error("coalesce", "coordinate tensor", input)


@composite(namespaces=("Tensor",))
def is_coalesced(input: Tensor) -> bool:
    """Whether the positions of a sparse tensor are in row-major order and none repeats.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse().is_coalesced()
        True
    """
    raise _part_error("is_coalesced", "coordinate tensor", input)


@composite(namespaces=("Tensor",))
def indices(input: Tensor) -> Tensor:
    """Indices of the elements of a coalesced COO tensor, ``(sparse dimensions, nnz)``.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse().indices()
        tensor([[0, 1],
                [0, 1]])
    """
    raise _part_error("indices", "coordinate tensor", input)


@composite(namespaces=("Tensor",))
def values(input: Tensor) -> Tensor:
    """Elements of a sparse tensor, ``(nnz, *dense sizes)``; a COO tensor must be coalesced.

    Gradients flow through them.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse().values()
        tensor([1., 1.])
    """
    raise _part_error("values", "tensor", input)


@composite(namespaces=("Tensor",))
def crow_indices(input: Tensor) -> Tensor:
    """Number of elements before each row of a CSR matrix, and of all.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse_csr().crow_indices()
        tensor([0, 1, 2])
    """
    raise _part_error("crow_indices", "row compressed tensor", input)


@composite(namespaces=("Tensor",))
def col_indices(input: Tensor) -> Tensor:
    """Column of each element of a CSR matrix.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse_csr().col_indices()
        tensor([0, 1])
    """
    raise _part_error("col_indices", "row compressed tensor", input)


@composite(namespaces=("Tensor",))
def ccol_indices(input: Tensor) -> Tensor:
    """Number of elements before each column of a CSC matrix, and of all.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse_csc().ccol_indices()
        tensor([0, 1, 2])
    """
    raise _part_error("ccol_indices", "column compressed tensor", input)


@composite(namespaces=("Tensor",))
def row_indices(input: Tensor) -> Tensor:
    """Row of each element of a CSC matrix.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a tensor of another layout.

    Example:
        >>> tt.eye(2).to_sparse_csc().row_indices()
        tensor([0, 1])
    """
    raise _part_error("row_indices", "column compressed tensor", input)


@composite(namespaces=("Tensor",), public=True)
def _nnz(input: Tensor) -> int:
    """Number of stored elements, or dense parts, of a sparse tensor.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a dense tensor.

    Example:
        >>> tt.eye(2).to_sparse()._nnz()
        2
    """
    raise _part_error("_nnz", "tensor", input)


@composite(namespaces=("Tensor",), public=True)
def _indices(input: Tensor) -> Tensor:
    """Indices of a COO tensor, coalesced or not.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a dense tensor.

    Example:
        >>> tt.eye(2).to_sparse()._indices().shape
        tinytorch.Size([2, 2])
    """
    raise _part_error("_indices", "tensor", input)


@composite(namespaces=("Tensor",), public=True)
def _values(input: Tensor) -> Tensor:
    """Elements of a COO tensor without history, coalesced or not.

    Args:
        input: Sparse tensor.

    Raises:
        RuntimeError: For a dense tensor.

    Example:
        >>> tt.eye(2).to_sparse()._values()
        tensor([1., 1.])
    """
    raise _part_error("_values", "tensor", input)


# -- dense tensors ---------------------------------------------------------------------------------


@composite(namespaces=("Tensor",))
def dense_dim(input: Tensor) -> int:
    """Number of dense dimensions: all of a dense tensor, those of an element of a sparse one.

    Example:
        >>> tt.ones(2, 3).dense_dim(), tt.ones(2, 3).to_sparse().dense_dim()
        (2, 0)
    """
    return input.ndim


@composite(namespaces=("Tensor",))
def sparse_dim(input: Tensor) -> int:
    """Number of sparse dimensions: 0 for a dense tensor.

    Example:
        >>> tt.ones(2, 3).sparse_dim(), tt.ones(2, 3).to_sparse().sparse_dim()
        (0, 2)
    """
    return 0


@composite(namespaces=("Tensor",))
def to_dense(input: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """Dense tensor of the same elements; a dense tensor itself.

    Args:
        input: Tensor of any shape and layout.
        dtype: Dtype of the result. Default None: that of ``input``.
        masked_grad: Accepted for compatibility: gradients of a sparse tensor have its pattern.

    Example:
        >>> x = tt.ones(2)
        >>> x.to_dense() is x, x.to_sparse().to_dense()
        (True, tensor([1., 1.]))
    """
    return input if dtype is None else input.to(dtypes.as_dtype(dtype))
