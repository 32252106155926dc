"""Matrix products of which a factor is sparse."""

from __future__ import annotations

from typing import Any

from ...core.layout import sparse_coo, sparse_csr
from ...core.tensor import Tensor
from .kernels import merge, multiply, multiply_patterns, take
from .layouts import canonical, convert, to_dense
from .tensor import SparseTensor, handles, make_sparse, name_node


@handles("mm", "matmul", "mv", "spmm", "dsmm", "hsmm")
def matmul(input: Any, other: Any) -> Any:
    """Product of two matrices, or of a matrix and a vector; sparse if both factors are."""
    found = product(input, other)
    name = "MvBackward0" if other.ndim == 1 else "MmBackward0"
    if isinstance(found, SparseTensor):
        return found.make_like(name_node(found._elements, name))
    return name_node(found, name)


def product(input: Any, other: Any) -> Any:
    """Product of two tensors of which at least one is sparse."""
    check_factors(input, other)
    if not isinstance(input, SparseTensor):
        return _multiply_dense_by_sparse(input, other)
    if not isinstance(other, SparseTensor):
        return multiply(input._pattern, input._elements, other)
    a, b = canonical(input), canonical(other)
    of_a, of_b, pattern, positions = multiply_patterns(a._pattern, b._pattern)
    terms = take(a._elements, of_a) * take(b._elements, of_b)
    found = make_sparse(pattern, merge(terms, positions, pattern.nnz))
    return convert(found, sparse_coo if input.layout is sparse_coo else sparse_csr)


def _multiply_dense_by_sparse(input: Tensor, other: SparseTensor) -> Tensor:
    """Product of a dense matrix or vector and a sparse matrix."""
    pattern = other._pattern.transpose(0, 1)
    found = multiply(pattern, other._elements, input.t() if input.ndim == 2 else input)
    return found.t() if input.ndim == 2 else found


def check_factors(input: Any, other: Any) -> None:
    """Raise RuntimeError for factors that cannot be multiplied."""
    ranks = input.ndim, other.ndim
    hybrid = any(x._pattern.sparse_dim != 2 for x in (input, other) if isinstance(x, SparseTensor))
    if ranks not in ((2, 2), (2, 1), (1, 2)) or hybrid:
        raise RuntimeError(
            "sparse products are those of two matrices, or of a matrix and a vector, without dense "
            f"dimensions; got shapes {list(input.shape)} and {list(other.shape)}"
        )
    if input.shape[-1] != other.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, input.shape))} and {'x'.join(map(str, other.shape))})"
        )
    if input.dtype is not other.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{input.dtype.name} != {other.dtype.name}"
        )


@handles("addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``."""
    return name_node(add_product(input, mat1, mat2, beta, alpha), "AddmmBackward0")


def add_product(input: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` for a dense ``input``."""
    if isinstance(input, SparseTensor):
        raise NotImplementedError("addmm: expand is unsupported for Sparse tensors")
    found = product(mat1, mat2)
    found = to_dense(found) if isinstance(found, SparseTensor) else found
    found = found if alpha == 1 else found * alpha
    return found + (input if beta == 1 else input * beta) if beta else found


@handles("nn.functional.linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``."""
    found = matmul(input, weight.t())
    return found if bias is None else found + bias
