"""Embedding tables: rows by index, sums, means or maxima of bags of rows, and one-hot vectors."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.node_recording import keep_versions
from ...dispatch.op import Array, Backend, Index, Reduced, composite, op
from ...dispatch.out import check_writable, scalar_name
from ...graph.inference import check_mapped
from ...graph.sparse_gradients import SparseGradient
from ...warnings import warn
from ..checks import OUT_OF_RANGE, as_int
from ..index.gathering import gather_computed
from ..memory_order import as_row_major


@op(reduced=Reduced.NATIVE)
def _embedding(xp: Backend, input: Index, weight: Array, padding_idx: int) -> Array:
    """Rows of ``weight`` at the indices ``input``; the row ``padding_idx`` gets no gradient."""
    if weight.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got shape {list(weight.shape)}")
    _check_indices(input, 1, "embedding")
    fused = xp.fused("embedding", input, weight) if xp.fuses else None
    if fused is not None:
        return fused
    xp.check_indices("embedding", input, weight.shape[0], 0, False, OUT_OF_RANGE)
    return xp.take(weight, input, 0)


def _check_indices(index: Array, position: int, name: str) -> None:
    """Raise RuntimeError unless ``index`` is int32 or int64.

    ``position`` and ``name`` are the number of the argument and the function, for the error.
    """
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


@op
def _embedding_sum(xp: Backend, input: Array, shape: Any, index: Index, padding_idx: int) -> Array:
    """Gradient of the table, of shape ``shape``: rows of ``input`` summed by ``index``.

    The row ``padding_idx`` is 0; a negative number stands for no such row.
    """
    fused = (
        xp.fused("embedding_backward", input, index, shape[0], padding_idx) if xp.fuses else None
    )
    if fused is not None:
        return fused
    out = xp.zeros(tuple(shape), input.dtype)
    xp.index_add(out, xp.reshape(index, (-1,)), xp.reshape(input, (index.size, shape[1])))
    if padding_idx >= 0:
        out[padding_idx] = 0
    return out


_embedding_sum.vjp(
    input=lambda xp, g, index, padding_idx: xp.call(_masked_embedding, g, index, padding_idx)
)


@op(node="EmbeddingBackward0", reduced=Reduced.NATIVE)
def _sparse_embedding(xp: Backend, input: Index, weight: Array, padding_idx: int) -> Array:
    """``_embedding`` whose gradient is sparse if ``weight`` is a leaf."""
    return _embedding.kernel(xp, input, weight, padding_idx)


@_sparse_embedding.vjp_joint("weight")
def _sparse_rows(xp: Any, g: Any, in_shape: Any, input: Any, padding_idx: int) -> tuple[Any]:
    """Sparse gradient of the table; a dense one if the pass is recorded."""
    (shape,) = in_shape
    if isinstance(g, Tensor):
        return (xp.call(_embedding_sum, g, shape, input, padding_idx),)
    rows = xp.reshape(input, (-1,)).astype("int64")
    values = xp.reshape(g, (len(rows), shape[1]))
    if padding_idx >= 0:
        kept = xp.flatnonzero(rows != padding_idx)
        rows, values = xp.take(rows, kept), xp.take(values, kept, axis=0)
    return (SparseGradient(xp, rows, values, shape),)


@op
def _masked_embedding(xp: Backend, input: Array, index: Index, padding_idx: int) -> Array:
    """Rows of ``input`` at ``index``, zeros for the index ``padding_idx``."""
    rows = xp.take(input, index, axis=0)
    if padding_idx >= 0:
        rows = xp.where((index == padding_idx)[..., None], xp.zeros((), rows.dtype), rows)
    return rows


_masked_embedding.vjp(
    input=lambda xp, g, in_shape, index, padding_idx: xp.call(
        _embedding_sum, g, in_shape, index, padding_idx
    )
)


@composite(namespaces=("nn.functional",))
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
        padding_idx: Index of a row that gets no gradient; negative counts from the end.
        max_norm: Rows with a larger norm are scaled down to it first, in place.
        norm_type: Order of that norm; default 2.
        scale_grad_by_freq: Divide a row's gradient by the number of its indices.
        sparse: Whether the gradient of ``weight`` is sparse if it is a leaf: the rows that were
            used. A recorded backward pass (``create_graph``) computes a dense one.

    Returns:
        ``(*, embedding_dim)``.

    Raises:
        IndexError: If an index is out of range.
        RuntimeError: For a table that is not a matrix or indices that are not integers, and for
            ``scale_grad_by_freq`` with ``sparse``.

    Example:
        >>> table = tt.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> tt.nn.functional.embedding(tt.tensor([1, 0]), table)
        tensor([[3., 4.],
                [1., 2.]])
    """
    if sparse and scale_grad_by_freq:
        raise RuntimeError(_UNSCALED)
    rows = weight.shape[0] if weight.ndim else 0
    if padding_idx is not None:
        padding_idx = as_int("embedding", "padding_idx", padding_idx)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        renormalize(input, weight, max_norm, norm_type)
    if scale_grad_by_freq:
        weight = scale_gradient(input, weight)
    look_up = _sparse_embedding if sparse else _embedding
    return look_up(input, weight, -1 if padding_idx is None else padding_idx)


_UNSCALED = "embedding_backward: scale_grad_by_freq not supported with sparse gradients"


def renormalize(input: Tensor, weight: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale rows of ``weight`` whose norm exceeds ``max_norm`` down to it, in place and unrecorded.

    Only the rows at the indices ``input`` are scaled; ``norm_type`` is the order of the norm.
    """
    check_mapped("embedding_renorm", weight)
    check_writable("embedding_renorm", weight)
    _check_indices(input._data, 2, "embedding_renorm_")
    xp, table = weight._xp, weight._data
    if table.dtype.kind not in "fcV":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{scalar_name(weight.dtype)} instead."
        )
    index = xp.unique(input._data)
    rows = take_rows(xp, table, index)
    norms = xp.sum(abs(rows) ** norm_type, axis=1, keepdims=True) ** (1.0 / norm_type)
    factor = xp.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
    table[index] = rows * factor.astype(rows.dtype)
    weight._bump()


def take_rows(xp: Backend, table: Array, index: Array) -> Array:
    """Rows of ``table`` at ``index``.

    They are float32 for dtypes that NumPy does not have itself, such as bfloat16.
    """
    rows = xp.take(table, index, axis=0)
    is_extension = rows.dtype.num > 255  # NumPy's own dtypes have small numbers
    return rows.astype("float32") if is_extension else rows


def scale_gradient(input: Tensor, weight: Tensor) -> Tensor:
    """``weight``, with rows of its gradient divided by the number of their indices in ``input``."""
    _check_indices(input._data, 1, "embedding")
    xp, index = weight._xp, input._data.reshape(-1)
    # Not ``bincount``: CuPy's synchronizes to read the largest index.
    counts = xp.zeros(weight.shape[0], "int64")
    xp.index_add(counts, index, xp.ones(index.shape, "int64"))
    factor = (1.0 / xp.maximum(counts, 1)).astype(weight._data.dtype)[:, None]
    return _scale_gradient(weight, wrap(factor, xp))


@op
def _scale_gradient(xp: Backend, input: Array, factor: Array) -> Array:
    """A copy of ``input``, whose gradient is multiplied by ``factor``."""
    return xp.array(input)


_scale_gradient.vjp(input=lambda xp, g, factor: g * factor)


@composite(namespaces=("nn.functional",))
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Vectors with 1 at each index and 0 elsewhere.

    Args:
        tensor: int64 tensor of any shape ``(*)``.
        num_classes: Length of the vectors; -1, the default, means the largest index + 1.

    Returns:
        int64 tensor ``(*, num_classes)``.

    Raises:
        RuntimeError: For an index out of range.

    Example:
        >>> tt.nn.functional.one_hot(tt.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}"
        )
    num_classes = as_int("one_hot", "num_classes", num_classes)
    xp, index = tensor._xp, tensor._data
    if not index.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    xp.check_all(index >= 0, "Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(index.max()) + 1
    else:
        xp.check_all(index < num_classes, "Class values must be smaller than num_classes.")
    index = as_row_major(xp, index)
    return wrap((index[..., None] == xp.arange(num_classes)).astype(index.dtype), xp)


_NOT_A_ROW = (
    "{name}: an index of input takes value {index} which is not in the valid range [0, {size}): "
    "Expected idx >= 0 && idx < num_embeddings"
)


@op
def _bag_sums(xp: Backend, input: Array, bags: Index, count: int) -> Array:
    """Sums of the rows of ``count`` bags; ``bags`` has each row's bag, or ``count`` to drop it."""
    out = xp.zeros((count + 1, *input.shape[1:]), input.dtype)
    xp.index_add(out, bags, input)
    return out[:count]


@op
def _bag_rows(xp: Backend, input: Array, bags: Index, count: int) -> Array:
    """Row ``bags[i]`` of ``input`` for each i: the gradient of ``_bag_sums``.

    ``input`` has ``count`` rows; the bag ``count`` gets zeros.
    """
    padded = xp.concatenate([input, xp.zeros((1, *input.shape[1:]), input.dtype)])
    return xp.take(padded, bags, axis=0)


_bag_sums.vjp(input=lambda xp, g, bags, count: xp.call(_bag_rows, g, bags, count))
_bag_rows.vjp(input=lambda xp, g, bags, count: xp.call(_bag_sums, g, bags, count))


@composite(namespaces=("nn.functional",), node="EmbeddingBagBackward0")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of ``weight``.

    Args:
        input: Integer tensor: ``(bags, length)``, or ``(n,)`` with ``offsets``.
        weight: The table, ``(num_embeddings, embedding_dim)``.
        offsets: ``(bags,)``: where each bag begins in a 1-d ``input``.
        max_norm: Rows with a larger norm are scaled down to it first, in place.
        norm_type: Order of that norm; default 2.
        scale_grad_by_freq: Divide a row's gradient by the number of its indices; not for ``"max"``.
        mode: ``"sum"``, ``"mean"`` (default) or ``"max"``; an empty bag gives zeros.
        sparse: Whether the gradient of ``weight`` is sparse if it is a leaf; see ``embedding``.
            Not for ``"max"``.
        per_sample_weights: Factors of ``input``'s shape, for ``"sum"`` only.
        include_last_offset: Whether ``offsets`` ends with the end of the last bag.
        padding_idx: Index of a row that is left out of all bags; negative counts from the end.

    Returns:
        ``(bags, embedding_dim)``.

    Raises:
        ValueError: If arguments do not fit together.
        RuntimeError: For an index, offsets or a ``padding_idx`` out of range, or a wrong dtype.
        IndexError: For an index out of range with ``max_norm``.
        NotImplementedError: For weights in another mode than ``"sum"``.

    Example:
        >>> table = tt.tensor([[1.0, 2.0], [3.0, 6.0]])
        >>> tt.nn.functional.embedding_bag(tt.tensor([[0, 1]]), table)
        tensor([[2., 4.]])
    """
    if weight.dtype is dtypes.int64 and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    _check_bag_arguments(input, weight, offsets, mode, sparse, scale_grad_by_freq)
    _check_weights(input, weight, per_sample_weights, mode)
    error = RuntimeError if max_norm is None else IndexError  # as PyTorch
    weight._xp.check_indices(
        "embedding_bag", input._data, weight.shape[0], 0, False, _NOT_A_ROW, error
    )
    padding = _check_padding_idx(padding_idx, weight.shape[0])
    if max_norm is not None:
        renormalize(input, weight, max_norm, norm_type)
    if scale_grad_by_freq:
        weight = scale_gradient(input, weight)
    flat, bags, count = _split_bags(input, offsets, include_last_offset)
    length = input.shape[1] if input.ndim == 2 else None
    if mode == "max":
        return _max_bags(flat, weight, bags, count, length, padding)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    out = _sum_bags(flat, weight, bags, count, length, padding, factors, mode == "mean", sparse)
    needs_table = per_sample_weights is not None and per_sample_weights.requires_grad
    table = weight if needs_table else None  # PyTorch saves it for the gradient of the factors
    return keep_versions(out, input, offsets, per_sample_weights, table)


def _check_bag_arguments(
    input: Tensor, weight: Tensor, offsets: Any, mode: str, sparse: bool, by_frequency: bool
) -> None:
    """Raise an error for arguments of ``embedding_bag`` that do not fit."""
    if sparse and mode == "max":
        raise ValueError("max mode does not support sparse weights")
    if sparse and by_frequency:
        raise RuntimeError(_UNSCALED)
    ndim, form = input._data.ndim, None if offsets is None else getattr(offsets, "dtype", None)
    if weight._data.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {ndim}")
    if input.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {scalar_name(input.dtype)} instead (while checking arguments for "
            "embedding_bag)"
        )
    if not weight.is_floating_point():
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got torch.{scalar_name(weight.dtype)}Tensor "
            "instead (while checking arguments for embedding_bag)"
        )
    if ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            f"fixed length sequences. However, found offsets of type {type(offsets).__name__}"
        )
    if ndim == 1 and (not isinstance(offsets, Tensor) or offsets.ndim != 1):
        got = f"Tensor of dimension {offsets.ndim}" if isinstance(offsets, Tensor) else offsets
        raise ValueError(f"offsets has to be a 1D Tensor but got {got}")
    if offsets is not None and form not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'offsets' to have one of the following scalar types: "
            f"Long, Int; but got {scalar_name(offsets.dtype)} instead (while checking arguments "
            "for embedding_bag)"
        )
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and by_frequency:
        raise ValueError("max mode does not support scaling the gradient by the frequency")


def _check_weights(input: Tensor, weight: Tensor, factors: Tensor | None, mode: str) -> None:
    """Raise an error for ``per_sample_weights`` (here ``factors``) that do not fit."""
    if factors is None:
        return
    if mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )
    if factors.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({list(factors.shape)}) is not None, then it "
            f"must have the same shape as the input ({list(input.shape)})"
        )
    if factors.dtype is not weight.dtype:
        raise RuntimeError(
            "embedding_bag: Expected tensor for argument #1 'weight' to have the same type as "
            f"tensor for argument #1 'per_sample_weights'; but type {scalar_name(weight.dtype)} "
            f"does not equal {scalar_name(factors.dtype)}"
        )


def _check_padding_idx(index: int | None, rows: int) -> int | None:
    """``padding_idx`` as a non-negative int, or None; RuntimeError if out of range."""
    if index is None:
        return None
    index = as_int("embedding_bag", "padding_idx", index)
    if not -rows <= index < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
            f"got {index}"
        )
    return index % rows


def _split_bags(input: Any, offsets: Any, with_end: bool) -> tuple[Any, Array, int]:
    """The indices of all bags and their division into bags.

    ``with_end`` is whether ``offsets`` ends with the end of the last bag.

    Returns:
        The indices as a vector, a raw array with the number of the bag of each index, and the
        number of bags.
    """
    xp = input._xp
    shape = input._data.shape
    flat = input if len(shape) == 1 else input.reshape(-1)
    if len(shape) == 2:
        count, length = shape
        return flat, xp.repeat(xp.arange(count), length), count
    starts = offsets._data
    if with_end and not starts.shape[0]:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    xp.check_all(
        starts[:1] == 0,
        "embedding_bag: offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to "
        "start from position 0",
    )
    members = shape[0]
    xp.check_all(
        starts[-1:] <= members,
        f"embedding_bag: offsets[-1] can not be greater than input's length {members}",
    )
    bags = xp.searchsorted(starts, xp.arange(members), side="right") - 1
    return flat, bags, starts.shape[0] - with_end


def _sum_bags(
    flat: Any, weight: Any, bags: Array, count: int, length: int | None, padding: int | None,
    factors: Any, mean: bool, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Sums of bags, or means with ``mean``, ``(count, embedding_dim)``.

    Args:
        flat: Indices of the rows of all bags, ``(n,)``.
        weight: The table.
        bags: Raw array with the number of the bag of each index.
        count: Number of bags.
        length: Number of indices in each bag, or None if bags differ.
        padding: Index of the row that does not count, or None.
        factors: Factor of each row, ``(n,)``, or None.
        mean: Whether to compute means.
        sparse: Whether the gradient of the table is sparse.
    """
    xp = weight._xp
    row = -1 if padding is None else padding
    if sparse:
        rows = _sparse_embedding(flat, weight, row)
    else:
        rows = _masked_embedding(weight, flat, row)
    if factors is not None:
        if padding is not None:  # the factor may be infinite or NaN
            factors = factors.masked_fill(wrap(flat._data == padding, xp), 0)
        rows = rows * factors.unsqueeze(1)
    if length is None:
        out = _bag_sums(rows, wrap(bags, xp), count)
    else:
        out = rows.reshape(count, length, weight.shape[1]).sum(1)
    if not mean:
        return out
    counted = xp.ones(bags.shape, bool) if padding is None else flat._data != padding
    sizes = _bag_sums.kernel(xp, counted.astype(weight._data.dtype), bags, count)
    return out / wrap(xp.maximum(sizes, 1)[:, None], xp)


def _max_bags(
    flat: Any, weight: Any, bags: Array, count: int, length: int | None, padding: int | None
) -> Tensor:
    """Maxima of bags, ``(count, embedding_dim)``; 0 for an empty bag.

    Args:
        flat: Indices of the rows of all bags, ``(n,)``.
        weight: The table.
        bags: Raw array with the number of the bag of each index.
        count: Number of bags.
        length: Number of indices in each bag, or None if bags differ.
        padding: Index of the row that does not count, or None.
    """
    xp, rows = weight._xp, flat._data
    if not (rows.size and count):
        return weight.new_zeros((count, weight.shape[1])) + weight[:0].sum()  # type: ignore
    valid = xp.ones(rows.shape, bool) if padding is None else rows != padding
    values = xp.where(valid[:, None], take_rows(xp, weight._data, rows), -xp.inf)
    if length is None:
        position = _segment_argmax(xp, values, bags, count)
    else:
        position = xp.argmax(values.reshape(count, length, values.shape[1]), axis=1)
        position = position + xp.arange(count)[:, None] * length
    index = xp.take(rows, position).astype("int64")
    sizes = _bag_sums.kernel(xp, valid.astype("int64"), bags, count)
    empty = wrap(sizes[:, None] == 0, xp)
    return gather_computed(weight, 0, wrap(index, xp)).masked_fill(empty, 0)


def _segment_argmax(xp: Backend, values: Array, bags: Array, count: int) -> Array:
    """First position, ``(count, columns)``, of each bag's largest value; 0 for an empty bag.

    ``values`` is ``(n, columns)``, and ``bags``, ``(n,)``, has the bag of each row.
    """
    members, width = values.shape
    slot = (bags[:, None] * width + xp.arange(width)).reshape(-1)
    size = (count + 1) * width  # the bag ``count`` is dropped
    largest = xp.full(size, -xp.inf, dtype=values.dtype)
    xp.index_combine("maximum", largest, slot, values.reshape(-1))
    best = largest[slot].reshape(values.shape)
    is_best = (values == best) | (values != values)
    position = xp.where(is_best, xp.arange(members)[:, None], members).reshape(-1)
    first = xp.full(size, members)
    xp.index_combine("minimum", first, slot, position)
    return first[: count * width].reshape(count, width) % members


def bag_max_indices(weight: Any, flat: Any, bags: Any, valid: Any, count: int) -> Any:
    """Row of ``weight`` with each bag's maximum in each column, ``(count, embedding_dim)``.

    Args:
        weight: The table, ``(rows, embedding_dim)``.
        flat: Tensor of row numbers, those of all bags in turn, ``(n,)``.
        bags: Raw array, ``(n,)``: the number of the bag of each.
        valid: bool tensor, ``(n,)``: False for the padding.
        count: Number of bags; an empty one gets row 0.
    """
    if not (flat.numel() and count):
        return flat.new_zeros((count, weight.shape[1]))
    xp = weight._xp
    rows = take_rows(xp, weight._data, flat._data)
    values = xp.where(valid._data[:, None], rows, -xp.inf)
    first = wrap(_segment_argmax(xp, values, bags, count), xp)
    sizes: Any = _bag_sums(valid.to(dtypes.int64), wrap(bags, xp), count)
    return flat[first].masked_fill((sizes == 0).unsqueeze(1), 0)
