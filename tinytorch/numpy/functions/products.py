"""NumPy's products of vectors, matrices and tensors, and its comparisons with a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import composite
from ...ops.linalg import einsum as einsum_ops
from ...ops.linalg import matmul as matmul_ops
from ...ops.linalg import vector_products
from ...ops.pointwise import comparison
from ...ops.shape import strides
from .conversion import axes_of, cast, promote, promote_strong, tensor_of, unify_dtypes, write_out
from .reductions import total_dtype
from .registration import describe, numpy_function, promote_first, register_shared


@numpy_function
def dot(a: Any, b: Any, out: Tensor | None = None) -> Tensor:
    """Dot product: sum over the last dimension of ``a`` and the second to last of ``b``.

    Args:
        a: Tensor or array-like; a 0-d argument multiplies all elements of the other one.
        b: Tensor or array-like; the sum over a vector is over its only dimension.
        out: Tensor for the result.

    Raises:
        ValueError: If the sizes of these dimensions differ.

    Example:
        >>> np.dot([[1, 2], [3, 4]], [1, 1])
        array([3, 7])
    """
    x, y = promote_strong(a, b)
    if not x.ndim or not y.ndim:
        return write_out(_multiply(x, y), out)  # type: ignore[no-any-return]
    along = -1 if y.ndim == 1 else -2
    if x.shape[-1] != y.shape[along]:
        raise ValueError(f"shapes {tuple(x.shape)} and {tuple(y.shape)} not aligned")
    if x.ndim <= 2 and y.ndim <= 2:
        return write_out(_matmul(x, y), out)  # type: ignore[no-any-return]
    before, after = tuple(x.shape[:-1]), tuple(y.shape[:-2]) + tuple(y.shape[-1:])[: y.ndim - 1]
    # The sizes are explicit because -1 is ambiguous for a tensor without elements.
    rows = x.reshape(math.prod(before), x.shape[-1])
    columns = y.movedim(along, 0).reshape(y.shape[along], math.prod(after))
    found = _matmul(rows, columns).reshape(before + after)
    return write_out(found, out)  # type: ignore[no-any-return]


def _multiply(x: Any, y: Any) -> Any:
    """Product of two tensors of one dtype, element by element; of bools the logical and."""
    return x & y if x.dtype is dtypes.bool else x * y


def _matmul(x: Any, y: Any) -> Any:
    """Matrix product of two tensors of one dtype, also of bools."""
    return _sum_products(matmul_ops.matmul, x, y)


def _sum_products(function: Any, x: Any, y: Any, *rest: Any) -> Any:
    """Call a function of PyTorch that sums products, also with bools.

    PyTorch's functions raise for bools, so bools are cast to int64 and the result back to bool.

    Args:
        function: PyTorch's function, such as ``matmul``.
        x: The first operand.
        y: The second operand, of the same dtype.
        *rest: Further arguments of ``function``.
    """
    if x.dtype is dtypes.bool:
        return function(x.to(dtypes.int64), y.to(dtypes.int64), *rest).bool()
    return function(x, y, *rest)


@numpy_function
def matmul(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, order: str = "K", dtype: Any = None,
    subok: bool = True,
) -> Tensor:  # fmt: skip
    """Matrix product, also of vectors and of stacks of matrices.

    Args:
        x1: Tensor or array-like of shape ``(k,)``, ``(n, k)`` or ``(..., n, k)``.
        x2: Tensor or array-like of shape ``(k,)``, ``(k, m)`` or ``(..., k, m)``; leading
            dimensions broadcast.
        out: Tensor for the result.
        order, subok: Accepted and ignored.
        dtype: Dtype of the computation; default by NumPy's promotion rules.

    Example:
        >>> np.matmul([[1, 2], [3, 4]], [[0, 1], [1, 0]])
        array([[2, 1],
               [4, 3]])
    """
    x, y = (cast(t, dtype) for t in promote_strong(x1, x2))
    return _write_product(_matmul(x, y), out)


def _write_product(found: Any, out: Any) -> Tensor:
    """``write_out``, but the result ``found`` may have fewer dimensions than ``out``.

    It is then broadcast along the leading dimensions of ``out``.
    """
    target = out[0] if isinstance(out, tuple) else out
    if isinstance(target, Tensor) and found.ndim < target.ndim:
        found = found.expand(tuple(target.shape))
    return write_out(found, out)  # type: ignore[no-any-return]


@numpy_function
def vdot(a: Any, b: Any, /) -> Tensor:
    """Dot product of the flattened arguments; that of complex numbers conjugates the first.

    Args:
        a: Tensor or array-like.
        b: Tensor or array-like with as many elements.

    Example:
        >>> np.vdot([1 + 2j, 3.0], [1 + 2j, 3.0])
        (14+0j)
    """
    x, y = promote_strong(a, b)
    return _matmul(x.reshape(-1).conj_physical(), y.reshape(-1))  # type: ignore[no-any-return]


@numpy_function
def inner(a: Any, b: Any, /) -> Tensor:
    """Inner product: sum over the last dimension of both.

    Args:
        a: Tensor or array-like; a 0-d argument multiplies all elements of the other one.
        b: Tensor or array-like with the same last size.

    Example:
        >>> np.inner([1, 2, 3], [0, 1, 0])
        2
    """
    x, y = promote_strong(a, b)
    if not x.ndim or not y.ndim:
        return _multiply(x, y)  # type: ignore[no-any-return]
    return _sum_products(einsum_ops.inner, x, y)  # type: ignore[no-any-return]


@numpy_function
def outer(a: Any, b: Any, out: Tensor | None = None) -> Tensor:
    """Outer product of the flattened arguments: the matrix ``a[i] * b[j]``.

    Args:
        a, b: Tensor or array-like of any shape.
        out: Tensor for the result.

    Example:
        >>> np.outer([1, 2], [3, 4])
        array([[3, 4],
               [6, 8]])
    """
    x, y = promote_strong(a, b)
    return write_out(matmul_ops.outer(x.reshape(-1), y.reshape(-1)), out)  # type: ignore[no-any-return]


@numpy_function
def kron(a: Any, b: Any) -> Tensor:
    """Kronecker product: block tensor in which each element of ``a`` multiplies all of ``b``.

    Args:
        a, b: Tensor or array-like.

    Example:
        >>> np.kron([1, 10], [1, 2])
        array([ 1,  2, 10, 20])
    """
    return einsum_ops.kron(*promote_strong(a, b))


@numpy_function
def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sum of products over several dimensions of both arguments.

    Args:
        a, b: Tensor or array-like.
        axes: Number of dimensions to sum over, the last of ``a`` and the first of ``b``; or a
            pair of the dimensions of each.

    Example:
        >>> np.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
        (2, 4)
    """
    x, y = promote_strong(a, b)
    given = axes
    if isinstance(axes, (tuple, list)):
        given = [list(d) if isinstance(d, (tuple, list)) else [d] for d in axes]
    return _sum_products(einsum_ops.tensordot, x, y, given)  # type: ignore[no-any-return]


@numpy_function
def einsum(
    subscripts: Any, *operands: Any, out: Tensor | None = None, optimize: Any = False,
    dtype: Any = None, **options: Any,
) -> Tensor:  # fmt: skip
    """Sum of products in Einstein's notation.

    Args:
        subscripts: Indices of the operands and the result, such as ``"ij,jk->ik"``. Instead,
            each operand may be followed by the list of its indices.
        *operands: Tensors or array-likes.
        out: Tensor for the result.
        optimize: Accepted and ignored; the order of the products is always optimized.
        dtype: Dtype of the computation; default by NumPy's promotion rules.
        **options: ``order`` and ``casting`` are accepted.

    Example:
        >>> np.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1])
        array([3, 7])
    """
    given = [subscripts, *operands]
    # Either a string of subscripts comes first, or each operand's subscripts follow it.
    positions = slice(1, None) if isinstance(subscripts, str) else slice(0, len(given) // 2 * 2, 2)
    tensors = [cast(t, dtype) for t in promote_strong(*given[positions])]
    # PyTorch's function raises for bools, so they are multiplied as integers.
    dtype = dtypes.int64 if tensors[0].dtype is dtypes.bool else None
    given[positions] = [cast(t, dtype) for t in tensors]
    found = einsum_ops.einsum(*given)
    return write_out(found.to(tensors[0].dtype), out)  # type: ignore[no-any-return]


@numpy_function
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Sum of the elements on a diagonal.

    Args:
        a: Tensor of at least two dimensions.
        offset: Index of the diagonal; default 0, the main diagonal; positive ones are above it.
        axis1: The dimension of the rows.
        axis2: The dimension of the columns.
        dtype: Dtype of the sum.
        out: Tensor for the result.

    Example:
        >>> np.trace([[1, 2], [3, 4]])
        5
    """
    x = tensor_of(a)
    rows, columns = axes_of("trace", (axis1, axis2), x.ndim)
    wanted = total_dtype(x, dtype)
    found: Any = vector_products.trace(x if dtype is None else x.to(wanted), offset, rows, columns)
    return write_out(found.to(wanted), out)  # type: ignore[no-any-return]


@numpy_function
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Cross products of vectors of three elements.

    Args:
        a, b: Tensor or array-like.
        axisa: The dimension of ``a``'s vectors; default the last.
        axisb: The dimension of ``b``'s vectors.
        axisc: The dimension of the result's vectors.
        axis: The dimension of all three, instead of the other arguments.

    Raises:
        ValueError: If a vector does not have three elements.

    Example:
        >>> np.cross([1, 0, 0], [0, 1, 0])
        array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promote_strong(a, b)
    x, y = x.movedim(axisa, -1), y.movedim(axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(
            f"incompatible dimensions for cross product (both must be 3), got {x.shape[-1]} and "
            f"{y.shape[-1]}"
        )
    x, y = strides.broadcast_tensors(x, y)
    found: Any = vector_products.cross(x, y, -1)
    return found.movedim(-1, axisc)  # type: ignore[no-any-return]


@numpy_function
def isclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether elements are equal within a tolerance: ``abs(a - b) <= atol + rtol * abs(b)``.

    Args:
        a, b: Tensor or array-like.
        rtol: The tolerance relative to ``b``.
        atol: The absolute tolerance.
        equal_nan: Whether NaNs are equal to each other.

    Example:
        >>> np.isclose([1.0, 2.0], [1.0 + 1e-9, 2.1])
        array([ True, False])
    """
    x, y = (cast(t, dtypes.int64 if t.dtype is dtypes.bool else None) for t in promote(a, b))
    if isinstance(rtol, Tensor) or isinstance(atol, Tensor):
        near = (x - y).abs() <= tensor_of(atol) + tensor_of(rtol) * y.abs()
        same = (x == y) | (near & y.isfinite())
        return same | ((x != x) & (y != y)) if equal_nan else same  # type: ignore
    x, y = strides.broadcast_tensors(x, y)
    return comparison.isclose(x, y, rtol, atol, equal_nan)


@composite(namespaces=("numpy",), like=isclose)
def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are equal within a tolerance; see ``isclose``.

    Example:
        >>> np.allclose([1.0, 2.0], [1.0 + 1e-9, 2.0])
        True
    """
    found: Any = isclose(a, b, rtol, atol, equal_nan)
    return bool(found.all())


@register_shared(prepare=promote_first(2))
def vecdot(
    x1: Any, x2: Any, /, out: Tensor | None = None, *, axis: int = -1, order: str = "K",
    dtype: Any = None, subok: bool = True,
) -> Tensor:  # fmt: skip
    """Dot products of vectors along a dimension; the first argument is conjugated if complex.

    Args:
        x1: Tensor of at least one dimension.
        x2: Tensor that broadcasts with ``x1``.
        out: Tensor for the result.
        axis: The dimension; default the last.
        order, subok: Accepted and ignored.
        dtype: Dtype of the computation; default by the promotion rules.

    Example:
        >>> tt.vecdot(tt.tensor([[1, 2], [3, 4]]), tt.tensor([1, 1]))
        tensor([3, 7])
    """
    a, b = (cast(t, dtype) for t in unify_dtypes(x1, x2))
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(
            f"vecdot(): dimension {axis} of the operands differs: {a.shape[axis]} and "
            f"{b.shape[axis]}"
        )
    return _write_product((a.conj_physical() * b).sum(axis).to(a.dtype), out)


def _make_vector_product(
    name: str, summary: str, shapes: tuple[str, str, str], compute: Callable[[Any, Any], Any],
    *example: str,
) -> Callable[..., Tensor]:  # fmt: skip
    """Make and register ``matvec`` or ``vecmat``.

    Args:
        name: Name of the function.
        summary: First line of its docstring.
        shapes: Texts of the shapes of the first operand, the second one and the result, for the
            docstring.
        compute: Function of two tensors of one dtype.
        *example: Lines of the docstring's example.
    """

    def function(
        x1: Any, x2: Any, /, out: Tensor | None = None, *, order: str = "K", dtype: Any = None,
        subok: bool = True,
    ) -> Tensor:  # fmt: skip
        return _write_product(compute(*(cast(t, dtype) for t in unify_dtypes(x1, x2))), out)

    doc = f"""{summary}

    Args:
        x1: Tensor of shape ``{shapes[0]}``.
        x2: Tensor of shape ``{shapes[1]}``.
        out: Tensor for the result.
        order, subok: Accepted and ignored.
        dtype: Dtype of the computation; default by the promotion rules.

    Returns:
        Tensor of shape ``{shapes[2]}``.

    Raises:
        RuntimeError: If the inner sizes differ.
    """
    return register_shared(prepare=promote_first(2))(describe(function, name, doc, *example))


matvec: Callable[..., Tensor] = _make_vector_product(
    "matvec", "Products of matrices and vectors.", ("(*, n, k)", "(*, k)", "(*, n)"),
    lambda a, b: (a @ b.unsqueeze(-1)).squeeze(-1),
    ">>> tt.matvec(tt.tensor([[1, 2], [3, 4]]), tt.tensor([1, 1]))", "tensor([3, 7])",
)  # fmt: skip
vecmat: Callable[..., Tensor] = _make_vector_product(
    "vecmat", "Products of vectors, conjugated if complex, and matrices.",
    ("(*, n)", "(*, n, k)", "(*, k)"),
    lambda a, b: (a.conj_physical().unsqueeze(-2) @ b).squeeze(-2),
    ">>> tt.vecmat(tt.tensor([1, 1]), tt.tensor([[1, 2], [3, 4]]))", "tensor([4, 6])",
)  # fmt: skip
