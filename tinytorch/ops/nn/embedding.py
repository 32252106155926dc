"""Look-up tables: rows by integer index, one-hot vectors."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...autograd.inference import check_mapped
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.out import check_writable, scalar_name
from ..checks import OUT_OF_RANGE, integer
from ..memory_order import in_rows


@op(method=False, moves=True)
def _embedding(xp: Backend, input: Index, weight: Array, padding_idx: int) -> Array:
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got shape {list(weight.shape)}")
    _check_indices(input, 1, "embedding")
    xp.check_indices("embedding", input, weight.shape[0], 0, False, OUT_OF_RANGE)
    return xp.take(weight, input, 0)


def _check_indices(index: Array, position: int, name: str) -> None:
    if index.dtype.kind not in "iu" or index.dtype.itemsize < 4:
        raise RuntimeError(
            f"Expected tensor for argument #{position} 'indices' to have one of the following "
            f"scalar types: Long, Int; but got {index.dtype} instead (while checking arguments "
            f"for {name})"
        )


_embedding.vjp(
    weight=lambda xp, g, in_shape, input, padding_idx: xp.call(
        _embedding_sum, g, in_shape, input, padding_idx
    )
)


@op(method=False)
def _embedding_sum(xp: Backend, input: Array, shape: Any, index: Index, padding_idx: int) -> Array:
    """Rows of ``input`` added up by index: the gradient of the table."""
    out = xp.zeros(tuple(shape), input.dtype)
    xp.index_add(out, xp.reshape(index, (-1,)), xp.reshape(input, (-1, shape[1])))
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


_embedding_sum.vjp(
    input=lambda xp, g, index, padding_idx: xp.call(_masked_rows, g, index, padding_idx)
)


@op(method=False)
def _masked_rows(xp: Backend, input: Array, index: Index, padding_idx: int) -> Array:
    """Rows of ``input`` by index, zeros for the padding."""
    rows = xp.take(input, index, axis=0)
    if padding_idx >= 0:
        rows[index == padding_idx] = 0
    return rows


_masked_rows.vjp(
    input=lambda xp, g, in_shape, index, padding_idx: xp.call(
        _embedding_sum, g, in_shape, index, padding_idx
    )
)


@composite(namespaces=("nn.functional",), method=False)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of ``weight``, one for each index in ``input``.

    Args:
        input: int32 or int64 tensor of any shape ``(*)``.
        weight: The table, ``(num_embeddings, embedding_dim)``.
        padding_idx: A row that gets no gradient; negative counts from the end.
        max_norm: Rows of a larger norm are scaled down to it first, in place.
        norm_type: The p of that norm; default 2.
        scale_grad_by_freq: Divide a row's gradient by how often it occurs in ``input``.
        sparse: Must be False: there are no sparse gradients.

    Returns:
        ``(*, embedding_dim)``.

    Raises:
        IndexError: If an index names no row.
        RuntimeError: For a table that is no matrix or indices that are no integers.
        NotImplementedError: For ``sparse=True``.

    Example:
        >>> import tinytorch as tt
        >>> table = tt.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> tt.nn.functional.embedding(tt.tensor([1, 0]), table)
        tensor([[3., 4.],
                [1., 2.]])
    """
    if sparse:
        raise NotImplementedError("embedding: sparse gradients are not supported")
    rows = weight.shape[0] if weight.ndim else 0
    if padding_idx is not None:
        padding_idx = integer("embedding", "padding_idx", padding_idx)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        renormalize(input, weight, max_norm, norm_type)
    if scale_grad_by_freq:
        weight = scaled_gradient(input, weight)
    return _embedding(input, weight, -1 if padding_idx is None else padding_idx)


def renormalize(input: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows in use down to ``max_norm``, in place and unrecorded."""
    check_mapped("embedding_renorm", weight)
    check_writable("embedding_renorm", weight)
    _check_indices(input._data, 2, "embedding_renorm_")
    xp, table = weight._xp, weight._data
    if table.dtype.kind not in "fcV":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{scalar_name(weight.dtype)} instead."
        )
    used = xp.unique(input._data)
    picked = computable_rows(xp, table, used)
    norms = xp.sum(abs(picked) ** norm_type, axis=1, keepdims=True) ** (1.0 / norm_type)
    factor = xp.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
    table[used] = picked * factor.astype(picked.dtype)
    weight._bump()


def computable_rows(xp: Backend, table: Array, index: Array) -> Array:
    """Rows of a table, those below float32 as float32."""
    rows = xp.take(table, index, axis=0)
    return rows.astype("float32") if rows.dtype.num > 255 else rows


def scaled_gradient(input: Tensor, weight: Tensor) -> Tensor:
    """``weight``, its gradient's rows divided by how often ``input`` names them."""
    _check_indices(input._data, 1, "embedding")
    xp, index = weight._xp, input._data.reshape(-1)
    # Not ``bincount``: CuPy's has the host wait for the largest index.
    counts = xp.zeros(weight.shape[0], "int64")
    xp.index_add(counts, index, xp.ones(index.shape, "int64"))
    factor = (1.0 / xp.maximum(counts, 1)).astype(weight._data.dtype)[:, None]
    return _scale_gradient(weight, wrap(factor, xp))


@op(method=False)
def _scale_gradient(xp: Backend, input: Array, factor: Array) -> Array:
    return xp.array(input)


_scale_gradient.vjp(input=lambda xp, g, factor: g * factor)


@composite(namespaces=("nn.functional",), method=False)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Vectors with a one at each index and zeros elsewhere.

    Args:
        tensor: int64 tensor of any shape ``(*)``.
        num_classes: Length of the vectors; -1, the default, means the largest index + 1.

    Returns:
        int64 tensor ``(*, num_classes)``.

    Raises:
        RuntimeError: For a negative index or one too large.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.one_hot(tt.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}"
        )
    num_classes = integer("one_hot", "num_classes", num_classes)
    xp, index = tensor._xp, tensor._data
    if not index.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    xp.check_all(index >= 0, "Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(index.max()) + 1
    else:
        xp.check_all(index < num_classes, "Class values must be smaller than num_classes.")
    index = in_rows(xp, index)
    return wrap((index[..., None] == xp.arange(num_classes)).astype(index.dtype), xp)
