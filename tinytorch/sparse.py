"""``torch.sparse``: products, sums and softmax of sparse tensors, and conversions to SciPy's.

The gradient of a sparse leaf is sparse and has the leaf's pattern, whichever function computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ContextDecorator
from typing import Any

from . import dtypes
from .backends.errors import how_to_install
from .compat.tables.unsupported import TABLES
from .compat.tables.unsupported import fill
from .core.layout import sparse_coo, sparse_csc, sparse_csr
from .core.tensor import Size, Tensor
from .dtypes import TENSOR_TYPES
from .ops.create.factories import as_tensor
from .ops.linalg.matmul import matmul
from .ops.linalg.products import addmm as _addmm
from .ops.shape.joining import stack
from .ops.shape.sizes import normalize_dim
from .ops.sparse import layouts, products, shapes
from .ops.sparse.creation import sparse_compressed_tensor, sparse_coo_tensor
from .ops.sparse.kernels import sample, segment_softmax, take
from .ops.sparse.tensor import HANDLERS, SparseTensor, name_node, warn_of_legacy

#: PyTorch has a package of this name; ``facade.reexports`` lists the modules in it.
__path__: list[str] = []

__all__ = [
    "addmm", "check_sparse_tensor_invariants", "from_scipy", "log_softmax", "mm", "sampled_addmm",
    "softmax", "sum", "to_scipy",
]  # fmt: skip


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """Product of two matrices, of which any may be sparse.

    Args:
        mat1: Matrix of shape ``(n, m)``.
        mat2: Matrix of shape ``(m, p)``.
        reduce: How the products of a row of a sparse ``mat1`` and a dense ``mat2`` are combined:
            ``"sum"``, the default, ``"mean"``, ``"amax"`` or ``"amin"``; 0 for an empty row.

    Returns:
        ``(n, p)``: sparse if both matrices are.

    Raises:
        RuntimeError: If shapes or dtypes do not fit.

    Example:
        >>> s = tt.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
        >>> tt.sparse.mm(s, tt.ones(3, 1)).flatten()
        tensor([3., 9.])
    """
    if not isinstance(mat1, SparseTensor) and not isinstance(mat2, SparseTensor):
        return matmul(mat1, mat2)
    if mat1.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(
            f"sparse.mm: expected two matrices, got shapes {list(mat1.shape)} and "
            f"{list(mat2.shape)}"
        )
    if reduce != "sum":
        return _mm_reduce(mat1, mat2, reduce)
    found: Any = products.product(mat1, mat2)
    if isinstance(found, SparseTensor):
        elements = name_node(found._elements, "SparseSparseMatmulBackward0")
        return found.make_like(elements)
    return name_node(found, "SparseAddmmBackward0")


def _mm_reduce(mat1: Any, mat2: Any, reduce: str) -> Tensor:
    """``mm`` with another reduction than the sum."""
    if reduce not in ("mean", "amax", "amin"):
        raise ValueError(
            f"sparse.mm: expected reduce to be 'sum', 'mean', 'amax' or 'amin', got {reduce!r}"
        )
    if not isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor):
        raise NotImplementedError(
            f"sparse.mm: reduce={reduce!r} needs a sparse and a dense matrix, in this order"
        )
    products.check_factors(mat1, mat2)
    factors: Any = mat1._elements
    rows: Any
    rows, columns = mat1._pattern.coordinates
    terms = take(mat2, columns) * factors.unsqueeze(1)
    index = rows.unsqueeze(1).expand(terms.shape)
    out = terms.new_zeros((mat1.shape[0], mat2.shape[1]))
    found = out.scatter_reduce(0, index, terms, reduce, include_self=False)
    return name_node(found, "SparseMmReduceImplBackward0")


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * mat + alpha * (mat1 @ mat2)``.

    Args:
        mat: Dense matrix of shape ``(n, p)``.
        mat1: Matrix of shape ``(n, m)``, sparse or dense.
        mat2: Matrix of shape ``(m, p)``, sparse or dense.
        beta: Factor of ``mat``. Default: 1.
        alpha: Factor of the product. Default: 1.

    Example:
        >>> tt.sparse.addmm(tt.ones(1, 1), tt.ones(1, 3).to_sparse(), tt.ones(3, 1)).item()
        4.0
    """
    if isinstance(mat1, SparseTensor) or isinstance(mat2, SparseTensor):
        found = products.add_product(mat, mat1, mat2, beta, alpha)
        return name_node(found, "SparseAddmmBackward0")
    result: Any = _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)
    return result  # type: ignore[no-any-return]


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` at the positions of ``input`` alone.

    Args:
        input: Sparse matrix of shape ``(n, p)``.
        mat1: Dense matrix of shape ``(n, m)``.
        mat2: Dense matrix of shape ``(m, p)``.
        beta: Factor of ``input``. Default: 1.
        alpha: Factor of the product. Default: 1.

    Example:
        >>> s = tt.eye(2).to_sparse_csr()
        >>> tt.sparse.sampled_addmm(s, tt.ones(2, 3), tt.ones(3, 2)).values()
        tensor([4., 4.])
    """
    if not isinstance(input, SparseTensor):
        raise RuntimeError("sampled_addmm: expected a sparse input, got a dense one")
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        raise RuntimeError(
            f"sampled_addmm: expected an input of shape {[mat1.shape[0], mat2.shape[1]]}, got "
            f"{list(input.shape)}"
        )
    former: Any = input._elements
    second: Any = mat2
    sampled: Any = sample(input._pattern, mat1, second.t())
    elements = sampled * alpha + former * beta
    return input.make_like(name_node(elements, "SparseSampledAddmmBackward0"))


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: Any = None) -> Tensor:
    """Sum of a sparse tensor over dimensions.

    Args:
        input: Sparse tensor.
        dim: Dimensions. Default None: all.
        dtype: Dtype of the sum. Default: that of ``input``.

    Returns:
        A dense tensor if no sparse dimension is left, else a sparse one.

    Example:
        >>> s = tt.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
        >>> tt.sparse.sum(s), tt.sparse.sum(s, 1).to_dense()
        (tensor(12.), tensor([3., 9.]))
    """
    if not isinstance(input, SparseTensor):
        raise _expected_sparse("sum", input)
    if dtype is None and input.dtype in (dtypes.bool, dtypes.int32, dtypes.int16, dtypes.int8):
        dtype = dtypes.int64
    return shapes.sum(input, dim, dtype=dtype)


def _expected_sparse(name: str, input: Any) -> RuntimeError:
    """Return the error for an argument that is not a sparse tensor."""
    got = f"a tensor of the layout {input.layout}" if isinstance(input, Tensor) else repr(input)
    return RuntimeError(f"sparse.{name}: expected a tensor of the layout sparse_coo, got {got}")


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    r"""Softmax of the stored elements along a dimension; all others count as -inf.

    Args:
        input: COO tensor.
        dim: The dimension.
        dtype: Dtype to which ``input`` is converted first. Default: its own.

    Example:
        >>> s = tt.tensor([[0.0, 2.0], [1.0, 1.0]]).to_sparse()
        >>> tt.sparse.softmax(s, 1).to_dense()
        tensor([[0.0000, 1.0000],
                [0.5000, 0.5000]])
    """
    return _softmax("softmax", input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Logarithm of ``softmax`` of the stored elements.

    Args:
        input: COO tensor.
        dim: The dimension.
        dtype: Dtype to which ``input`` is converted first. Default: its own.

    Example:
        >>> s = tt.tensor([[0.0, 2.0], [1.0, 1.0]]).to_sparse()
        >>> tt.sparse.log_softmax(s, 1).values()
        tensor([ 0.0000, -0.6931, -0.6931])
    """
    return _softmax("log_softmax", input, dim, dtype)


def _softmax(name: str, input: Tensor, dim: int, dtype: Any) -> Tensor:
    """``softmax`` or ``log_softmax`` of a COO tensor."""
    if not isinstance(input, SparseTensor) or input.layout is not sparse_coo:
        raise _expected_sparse(name, input)
    source = layouts.coalesce(input if dtype is None else HANDLERS["to"](input, dtype))
    dim = normalize_dim(name, dim, input.ndim)
    elements, sparse_dim = source._elements, source._pattern.sparse_dim
    if dim >= sparse_dim:
        found: Any = getattr(elements, name)(dim - sparse_dim + 1)
    else:
        found = segment_softmax(source._pattern, elements, dim, name == "log_softmax")
    node = "SparseLogSoftmaxBackward0" if name == "log_softmax" else "SparseSoftmaxBackward0"
    return source.make_like(name_node(found, node))


class check_sparse_tensor_invariants(ContextDecorator):
    """Scope or decorator in which indices of new sparse tensors are checked: they always are.

    Args:
        enable: Accepted for compatibility. Default: True.

    Example:
        >>> with tt.sparse.check_sparse_tensor_invariants():
        ...     tt.sparse_coo_tensor([[5]], [1.0], (2,))
        Traceback (most recent call last):
        ...
        RuntimeError: size is inconsistent with indices: for dim 0, size is 2 but found index 5
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable

    @staticmethod
    def is_enabled() -> bool:
        """Whether indices are checked: always True.

        Example:
            >>> tt.sparse.check_sparse_tensor_invariants.is_enabled()
            True
        """
        return True

    @staticmethod
    def enable() -> None:
        """Do nothing: indices are always checked.

        Example:
            >>> tt.sparse.check_sparse_tensor_invariants.enable()
        """

    @staticmethod
    def disable() -> None:
        """Do nothing: indices are always checked.

        Example:
            >>> tt.sparse.check_sparse_tensor_invariants.disable()
        """

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


# -- SciPy -----------------------------------------------------------------------------------------


def from_scipy(
    matrix: Any, *, dtype: Any = None, device: Any = None, backend: Any = None
) -> Tensor:
    """Convert a matrix of ``scipy.sparse`` to a sparse tensor.

    Args:
        matrix: Matrix or array of any format. ``csr`` and ``csc`` keep their layouts, and their
            elements are shared where possible; others become ``sparse_coo``.
        dtype: Dtype of the result. Default: that of ``matrix``.
        device: Device of the result. Default: that of the active backend.
        backend: Backend of the result, or its name.

    Example:
        >>> import scipy.sparse
        >>> tt.sparse.from_scipy(scipy.sparse.eye_array(2, format="csr")).layout
        tinytorch.sparse_csr
    """
    options = {"dtype": dtype, "device": device, "backend": backend}
    if matrix.format in ("csr", "csc"):
        layout = sparse_csr if matrix.format == "csr" else sparse_csc
        parts = matrix.indptr, matrix.indices, matrix.data
        return sparse_compressed_tensor(*parts, matrix.shape, layout=layout, **options)
    found = matrix.tocoo()
    ends: list[Any] = [as_tensor(each) for each in (found.row, found.col)]
    indices = stack([end.to(dtypes.int64) for end in ends])
    return sparse_coo_tensor(indices, found.data, found.shape, **options)


def to_scipy(input: Tensor) -> Any:
    """Convert a sparse matrix to an array of ``scipy.sparse``, in the format of its layout.

    Args:
        input: Sparse matrix; it is copied from a GPU, and detached.

    Raises:
        ImportError: If SciPy is not installed.
        RuntimeError: If ``input`` is not a sparse matrix.

    Example:
        >>> tt.sparse.to_scipy(tt.eye(2).to_sparse()).toarray()
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    try:
        import scipy.sparse as scipy_sparse
    except ImportError as error:
        raise ImportError(
            f"to_scipy: install SciPy with `{how_to_install('scipy')}`", name="scipy"
        ) from error
    if not isinstance(input, SparseTensor) or input.ndim != 2 or input._pattern.sparse_dim != 2:
        raise RuntimeError("to_scipy: expected a sparse matrix without dense dimensions")
    tensors: list[Any] = [input._elements, *input._pattern.index]
    elements, *index = [tensor.detach().cpu().numpy() for tensor in tensors]
    shape = tuple(input.shape)
    if input.layout is sparse_coo:
        return scipy_sparse.coo_array((elements, tuple(index[0])), shape=shape)
    kind = scipy_sparse.csr_array if input.layout is sparse_csr else scipy_sparse.csc_array
    return kind((elements, index[1], index[0]), shape=shape)


# -- legacy types ----------------------------------------------------------------------------------


class _SparseTensorType(type):
    """Metaclass of the legacy types: a call creates a COO tensor, which is an instance."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        first: Any = args[0] if args else Size((0,))
        options = {"dtype": cls.dtype, "device": device}
        if not isinstance(first, Tensor):
            warn_of_legacy("shape, *, device=")
            size = first if isinstance(first, (Size, tuple, list)) else args
            return sparse_coo_tensor(size=tuple(size), **options)
        warn_of_legacy("indices, values, shape, *, device=")
        if args[1].dtype is not cls.dtype:
            raise TypeError(f"expected values of {cls.dtype}, got {args[1].dtype}")
        return sparse_coo_tensor(first, args[1], *args[2:], **options)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, SparseTensor) and (
            instance.layout is sparse_coo and instance.dtype is cls.dtype
        )

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


def _legacy_type(name: str) -> Any:
    """Return the legacy type ``name`` of COO tensors of one dtype."""
    dtype = TENSOR_TYPES[name]
    doc = f"""COO tensors of dtype {dtype.name}: the legacy form of ``sparse_coo_tensor``.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     isinstance(tt.sparse.{name}(2, 3), tt.sparse.{name})
        True
    """
    members = {"__module__": "tinytorch.sparse", "__doc__": doc, "dtype": dtype}
    return _SparseTensorType(name, (), members)


FloatTensor: type[Tensor] = _legacy_type("FloatTensor")
DoubleTensor: type[Tensor] = _legacy_type("DoubleTensor")
HalfTensor: type[Tensor] = _legacy_type("HalfTensor")
BFloat16Tensor: type[Tensor] = _legacy_type("BFloat16Tensor")
LongTensor: type[Tensor] = _legacy_type("LongTensor")
IntTensor: type[Tensor] = _legacy_type("IntTensor")
ShortTensor: type[Tensor] = _legacy_type("ShortTensor")
CharTensor: type[Tensor] = _legacy_type("CharTensor")
ByteTensor: type[Tensor] = _legacy_type("ByteTensor")


fill(globals(), TABLES["sparse"])
