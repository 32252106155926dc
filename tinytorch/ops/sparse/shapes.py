"""Rearrangements, selections and sums of sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.layout import sparse_coo
from ...core.tensor import Tensor
from ..create.conversion import to
from ..shape.joining import cat as cat_dense
from ..shape.joining import stack as stack_dense
from ..shape.sizes import normalize_dim
from .kernels import pair, take
from .layouts import alias, as_coo, check_coo, coalesce
from .pattern import Pattern, join
from .tensor import HANDLERS, SparseTensor, handles, make_sparse, name_node

# -- shape -----------------------------------------------------------------------------------------


@handles("transpose", "swapaxes", "swapdims")
def transpose(input: SparseTensor, dim0: int, dim1: int) -> SparseTensor:
    """Exchange two sparse dimensions."""
    first, second = (normalize_dim("transpose", d, input.ndim) for d in (dim0, dim1))
    if max(first, second) >= input._pattern.sparse_dim:
        raise RuntimeError("transpose: dense dimensions of a sparse tensor cannot be exchanged")
    elements = name_node(alias(input._elements), "TransposeBackward0")
    return make_sparse(input._pattern.transpose(first, second), elements)


@handles("t")
def t(input: SparseTensor) -> SparseTensor:
    """Transpose a matrix."""
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.ndim}"
        )
    found = transpose(input, 0, input.ndim - 1) if input.ndim else input
    return found.make_like(name_node(found._elements, "TBackward0"))


HANDLERS["T"] = HANDLERS["numpy_T"] = lambda input: transpose(input, 0, max(input.ndim - 1, 0))
HANDLERS["mT"] = lambda input: transpose(input, -2, -1)
HANDLERS["adjoint"] = HANDLERS["mH"] = HANDLERS["H"] = lambda input: (
    HANDLERS["conj_physical"](transpose(input, -2, -1))
    if input.is_complex()
    else transpose(input, -2, -1)
)
HANDLERS["conj"] = lambda input: HANDLERS["conj_physical"](input) if input.is_complex() else input


def _check_all_coo(name: str, tensors: Sequence[Any]) -> None:
    """Raise RuntimeError unless all tensors are COO."""
    if not all(isinstance(each, SparseTensor) and each.layout is sparse_coo for each in tensors):
        raise RuntimeError(f"{name}: expected all tensors to be of the layout sparse_coo")


@handles("cat", "concat", "concatenate")
def cat(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Concatenate COO tensors along a sparse dimension."""
    _check_all_coo("cat", tensors)
    dim = normalize_dim("cat", dim, tensors[0].ndim)
    if dim >= tensors[0]._pattern.sparse_dim:
        raise NotImplementedError("cat: concatenation along dense dimensions is not supported")
    shape, parts, start = list(tensors[0].shape), [], 0
    for each in tensors:
        rows = list(each._pattern.coordinates)
        rows[dim] = rows[dim] + start
        start += each.shape[dim]
        shape[dim] = start
        parts.append(Pattern(sparse_coo, (stack_dense(rows),), tuple(shape), False))
    return make_sparse(join(parts, tuple(shape)), cat_dense([x._elements for x in tensors]))


@handles("index_select")
def index_select(input: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    """Select slices of a COO tensor along a sparse dimension; indices may repeat."""
    check_coo(input, "index_select")
    dim = normalize_dim("index_select", dim, input.ndim)
    size = input.shape[dim]
    if dim >= input._pattern.sparse_dim or index.ndim != 1:
        raise NotImplementedError("index_select: expected a sparse dimension and a list of indices")
    index = to(index, dtypes.int64)
    if bool(((index < 0) | (index >= size)).any()):
        raise IndexError(f"index_select(): index out of range for dimension {dim} of size {size}")
    count = int(index.shape[0])
    # Which elements a selected slice has is the pattern of a product with a 0-1 matrix.
    places = index.new_ones(count).cumsum(0) - 1
    rows = stack_dense([places, index])
    chosen = Pattern(sparse_coo, (rows,), (count, size), False)
    moved = input._pattern.coordinates
    order = moved[dim].argsort(stable=True)
    length = max(input._pattern.nnz, 1)
    source = Pattern(sparse_coo, (stack_dense([moved[dim][order], order]),), (size, length), True)
    of_chosen, of_source = pair(chosen, source)
    kept = order[of_source]
    parts = [of_chosen if at == dim else each[kept] for at, each in enumerate(moved)]
    shape = (*input.shape[:dim], count, *input.shape[dim + 1 :])
    pattern = Pattern(sparse_coo, (stack_dense(parts),), shape, len(kept) < 2)
    return make_sparse(pattern, name_node(take(input._elements, kept), "IndexSelectBackward0"))


@handles("select")
def select(input: SparseTensor, dim: int, index: int) -> Tensor:
    """Slice at one index along a sparse dimension; dense if no sparse dimension is left."""
    dim = normalize_dim("select", dim, input.ndim)
    source, size = as_coo(input), input.shape[dim]
    if dim >= source._pattern.sparse_dim:
        raise NotImplementedError("select: selection along dense dimensions is not supported")
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at "
            f"dimension {dim}"
        )
    coordinates = source._pattern.coordinates
    kept = (coordinates[dim] == index % size).nonzero()[:, 0]
    elements = name_node(take(source._elements, kept), "SelectBackward0")
    rows = [each[kept] for at, each in enumerate(coordinates) if at != dim]
    shape = (*input.shape[:dim], *input.shape[dim + 1 :])
    if not rows:
        return elements.sum(0)
    is_coalesced = source._pattern.is_coalesced or len(kept) < 2
    return make_sparse(Pattern(sparse_coo, (stack_dense(rows),), shape, is_coalesced), elements)


@handles("__getitem__")
def get_item(input: SparseTensor, index: Any) -> Any:
    """``input[i]`` and ``input[i, j]`` for integers."""
    found: Any = input
    for each in index if isinstance(index, tuple) else (index,):
        if isinstance(each, bool) or not isinstance(each, int):
            raise NotImplementedError(
                "sparse tensors are indexed by integers alone; got an index of type "
                f"{type(each).__name__}; convert them with to_dense() first"
            )
        found = select(found, 0, each) if isinstance(found, SparseTensor) else found[each]
    return found


@handles("unsqueeze")
def unsqueeze(input: SparseTensor, dim: int) -> SparseTensor:
    """Insert a sparse dimension of size 1 into a COO tensor."""
    check_coo(input, "unsqueeze")
    dim = normalize_dim("unsqueeze", dim, input.ndim + 1)
    if dim > input._pattern.sparse_dim:
        raise NotImplementedError("unsqueeze: dense dimensions cannot be inserted")
    rows = list(input._pattern.coordinates)
    rows.insert(dim, input._pattern.flat.new_zeros(input._pattern.nnz))
    shape = (*input.shape[:dim], 1, *input.shape[dim:])
    pattern = Pattern(sparse_coo, (stack_dense(rows),), shape, input._pattern.is_coalesced)
    return make_sparse(pattern, name_node(alias(input._elements), "UnsqueezeBackward0"))


@handles("stack")
def stack(tensors: Sequence[Any], dim: int = 0) -> SparseTensor:
    """Concatenate COO tensors along a new sparse dimension."""
    _check_all_coo("stack", tensors)
    return cat([HANDLERS["unsqueeze"](each, dim) for each in tensors], dim)


@handles("permute")
def permute(input: SparseTensor, *dims: Any) -> SparseTensor:
    """Reorder the sparse dimensions."""
    given = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    order = [normalize_dim("permute", each, input.ndim) for each in given]
    sparse_dim = input._pattern.sparse_dim
    if sorted(order) != list(range(input.ndim)):
        raise RuntimeError(f"permute(): expected an order of {input.ndim} dimensions, got {given}")
    if order[sparse_dim:] != list(range(sparse_dim, input.ndim)):
        raise NotImplementedError("permute: dense dimensions of a sparse tensor keep their order")
    if input.layout is not sparse_coo:
        return input if order == [0, 1] else transpose(input, 0, 1)
    rows = [input._pattern.coordinates[at] for at in order[:sparse_dim]]
    shape = tuple(input.shape[at] for at in order)
    pattern = Pattern(sparse_coo, (stack_dense(rows),), shape, input._pattern.nnz < 2)
    return make_sparse(pattern, name_node(alias(input._elements), "PermuteBackward0"))


HANDLERS["any"] = lambda input: (input._elements != 0).any()
HANDLERS["unbind"] = lambda input, dim=0: tuple(
    select(input, dim, at) for at in range(input.shape[dim])
)


# -- sums ------------------------------------------------------------------------------------------


@handles("sum")
def sum(
    input: SparseTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:  # fmt: skip
    """Sum over ``dim``: sparse if sparse dimensions remain, dense if not or over all dimensions."""
    elements = input._elements if dtype is None else to(input._elements, dtype=dtype)
    dims = _dims(dim, input.ndim)
    if len(dims) == input.ndim:
        total = name_node(elements.sum(), "SumBackward0")
        return total.reshape((1,) * input.ndim) if keepdim else total
    return sum_dims(as_coo(input.make_like(elements)), dims, keepdim)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions of an argument ``dim``, all of them for None or an empty list."""
    if dim is None or isinstance(dim, (tuple, list)) and not dim:
        return tuple(range(ndim))
    given = dim if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(sorted({normalize_dim("sum", each, ndim) for each in given}))


def sum_dims(input: SparseTensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """Sum of a COO tensor over some dimensions."""
    sparse_dim = input._pattern.sparse_dim
    inner = [d - sparse_dim + 1 for d in dims if d >= sparse_dim]
    elements = input._elements.sum(inner, keepdim=keepdim) if inner else input._elements
    kept = [d for d in range(sparse_dim) if d not in dims]
    if not kept and not keepdim:
        return name_node(elements.sum(0), "SparseSumBackward0")
    coordinates = input._pattern.coordinates
    if keepdim:
        zero = coordinates[0].new_zeros(input._pattern.nnz)
        rows = [zero if d in dims else coordinates[d] for d in range(sparse_dim)]
        shape = tuple(1 if d in dims else n for d, n in enumerate(input.shape))
    else:
        rows = [coordinates[d] for d in kept]
        shape = tuple(n for d, n in enumerate(input.shape) if d not in dims)
    found = coalesce(make_sparse(Pattern(sparse_coo, (stack_dense(rows),), shape, False), elements))
    return found.make_like(name_node(found._elements, "SparseSumBackward0"))


@handles("norm", "linalg.vector_norm")
def norm(input: SparseTensor, p: Any = 2, dim: Any = None, keepdim: bool = False) -> Tensor:
    """2-norm of all elements."""
    if p not in (2, 2.0, "fro", None) or dim is not None or keepdim:
        raise NotImplementedError("norm: expected the 2-norm of a whole sparse tensor")
    source = coalesce(input) if input.layout is sparse_coo else input
    return source._elements.norm()
