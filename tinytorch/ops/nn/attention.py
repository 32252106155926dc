"""Scaled dot-product attention, for all scores at once or block by block, and multi-head attention.

In the shapes below, L is the number of queries, S that of keys and values, and E their features.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import Array, Backend, Reduced, accepts_none, composite, op
from ...dispatch.out import scalar_name
from ...warnings import warn
from ..linalg.matmul import bmm, linear
from ..linalg.products import baddbmm
from ..memory_order import as_row_major
from ..shape.joining import cat
from .dropout import dropout
from .softmax import softmax, softmax_backward

#: Scores in one block for backends without a cache size.
_BLOCK = 1 << 20
#: PyTorch's name for the gradient of its fused kernel.
_FUSED = "ScaledDotProductFlashAttentionForCpuBackward0"


@op(public=False)
def attention_weights(
    xp: Backend,
    query: Array,
    key: Array,
    bias: Array | None,
    scale: float,
    first: int | None,
) -> Array:
    """``softmax(query keyᵀ scale + bias)``; zeros for queries whose keys are all masked.

    Args:
        xp: The backend.
        query: ``(*, L, E)``.
        key: ``(*, S, E)``.
        bias: Broadcasts to ``(*, L, S)``.
        scale: Factor of the products.
        first: For causal attention the position of the first query, which attends to the keys up
            to its position; None for attention to all keys.
    """
    weights, total = _unnormalized_weights(xp, query, key, bias, scale, first)
    weights /= total
    return weights


def _unnormalized_weights(
    xp: Backend, query: Array, key: Array, bias: Array | None, scale: float, first: int | None
) -> tuple[Array, Array]:
    """Exponentials of the scores, ``(*, L, S)``, and their sums over the keys, ``(*, L, 1)``.

    A sum of 0 is replaced by 1, so that the caller can divide by it. The arguments are those of
    ``attention_weights``.
    """
    scores = xp.matmul(query if scale == 1 else query * scale, xp.swapaxes(key, -1, -2))
    if bias is not None:
        needs_broadcast = xp.broadcast_shapes(scores.shape, bias.shape) != scores.shape
        scores = scores + bias if needs_broadcast else xp.add(scores, bias, out=scores)
    if first is not None:
        _mask_later_keys(xp, scores, first)
    if not scores.size:
        return scores, xp.ones((*scores.shape[:-1], 1), scores.dtype)
    if not xp.is_moderate(scores, -1):  # subtract the largest score: exp could overflow
        top = xp.max(scores, axis=-1, keepdims=True)
        scores -= xp.where(top == -xp.inf, 0, top)
    xp.exp(scores, out=scores)
    total = xp.sum(scores, axis=-1, keepdims=True)
    return scores, xp.where(total == 0, 1, total)


def _mask_later_keys(xp: Backend, scores: Array, first: int) -> None:
    """Set the scores ``(*, L, S)`` of keys after each query's position to -inf, in place.

    ``first`` is the position of query 0.
    """
    queries, keys = scores.shape[-2:]
    late = scores[..., first:]  # all queries attend to the keys before
    mask = xp.arange(queries)[:, None] >= xp.arange(max(0, keys - first))
    late[...] = xp.where(mask, late, -xp.inf)


@attention_weights.vjp_joint("query", "key", "bias")
def _attention_weights_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, query: Any, key: Any, scale: float
) -> tuple[Any, ...]:
    """Gradients of query, key and bias: None for each whose shape in ``in_shape`` is None."""
    grad = softmax_backward(xp, g, out, out.ndim - 1)
    query_shape, key_shape, bias_shape = in_shape
    return (
        None if query_shape is None else xp.matmul(grad, key) * scale,
        None if key_shape is None else xp.matmul(xp.swapaxes(grad, -1, -2), query) * scale,
        None if bias_shape is None else grad,
    )


@op(public=False, node=_FUSED)
def weighted_values(xp: Backend, weights: Array, value: Array, query: Array) -> Array:
    """``weights @ value`` in the memory order of ``query``, as PyTorch's fused kernel returns it.

    A model that split the heads and transposed them can then merge them in a view.
    """
    out = xp.empty_like(query, dtype=weights.dtype)
    out = out.reshape(weights.shape[:-1] + value.shape[-1:])
    xp.matmul(weights, value, out=out)
    return out


weighted_values.vjp(
    weights=lambda xp, g, value: xp.matmul(g, xp.swapaxes(value, -1, -2)),
    value=lambda xp, g, weights: xp.matmul(xp.swapaxes(weights, -1, -2), g),
)


@op(public=False, node=_FUSED)
def attention_in_blocks(
    xp: Backend, query: Array, key: Array, value: Array, bias: Array | None, scale: float,
    causal: bool, ordered: bool,
) -> tuple[Array, Array]:  # fmt: skip
    """``softmax(query keyᵀ scale + bias) value`` without an array of all scores.

    All arrays are 4-d, ``(N, heads, L or S, E)``. Each block divides the weighted sums of the
    values by the sums of the weights, as there are fewer of them than weights. With ``ordered``,
    the result has the memory order of ``query``; ``causal`` masks keys after each query.

    The second result is the logarithm of each query's sum of weights if a fused kernel returns it,
    else an array without elements.

    Reference: Dao et al.: FlashAttention, arXiv:2205.14135.
    """
    fused = xp.fused("attention", query, key, value, bias, scale, causal) if xp.fuses else None
    if fused is not None:
        out = fused[0] if ordered else as_row_major(xp, fused[0])
        return out, fused[1]
    shape = (*query.shape[:-1], value.shape[-1])
    out = xp.empty_like(query) if ordered else xp.empty(shape, query.dtype)
    size = (query.shape, key.shape[-2], _block_scores(xp))
    blocks = [(heads, rows) for heads in _head_blocks(*size) for rows in _query_blocks(*size)]

    def compute_blocks(start: int, stop: int) -> None:
        for heads, rows in blocks[start:stop]:
            keys = _attended_keys(rows, key, causal)
            block = _index_block(xp, query, key, bias, heads, rows, keys)
            first = rows.start if causal else None
            weights, total = _unnormalized_weights(xp, *block, scale, first)
            sums = xp.matmul(weights, value[heads][:, keys])
            xp.divide(sums, total, out=out[(*heads, rows)])

    xp.in_parts(compute_blocks, len(blocks), True)
    return out, xp.empty(0, out.dtype)


@attention_in_blocks.vjp_joint("query", "key", "value")
@accepts_none
def _blocks_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, query: Any, key: Any, value: Any, bias: Any,
    scale: float, causal: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of query, key and value, computed a block of heads at a time and concatenated."""
    (g, _), (out, sums) = g, out
    if sums.size and not xp.records:
        fused = xp.fused("attention_backward", g, query, key, value, bias, out, sums, scale, causal)
        if fused is not None:
            return fused  # type: ignore[no-any-return]
    inner = xp.sum(g * out, axis=-1, keepdims=True)
    blocks = list(_head_blocks(query.shape, key.shape[-2], _block_scores(xp)))

    def head_gradients(start: int, stop: int) -> list[Any]:
        return [
            _heads_backward(xp, g, inner, query, key, value, bias, scale, causal, heads)
            for heads in blocks[start:stop]
        ]

    gradients = [grads for part in xp.in_parts(head_gradients, len(blocks), True) for grads in part]
    return tuple(
        xp.reshape(xp.concatenate(parts, axis=0), (*query.shape[:2], *parts[0].shape[1:]))
        for parts in zip(*gradients, strict=True)
    )


def _heads_backward(
    xp: Any, g: Any, inner: Any, query: Any, key: Any, value: Any, bias: Any,
    scale: float, causal: bool, heads: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradients of the queries, keys and values of some heads of one sample.

    The weights are computed again, block by block.

    Args:
        xp: The backend.
        g: Gradient of the result.
        inner: ``sum(g * out)`` over the features, for each query.
        query: Queries of all heads.
        key: Keys of all heads.
        value: Values of all heads.
        bias: Bias of the scores of all heads, or None.
        scale: Factor of the products.
        causal: Whether keys after each query are masked.
        heads: Index of a sample and slice of its heads.
    """
    query_grads, key_grad, value_grad = [], _zeros(xp, key[heads]), _zeros(xp, value[heads])
    for rows in _query_blocks(query.shape, key.shape[-2], _block_scores(xp)):
        at, keys = (*heads, rows), _attended_keys(rows, key, causal and not xp.records)
        q, k, b = _index_block(xp, query, key, bias, heads, rows, keys)
        weights = xp.call(attention_weights, q, k, b, scale, rows.start if causal else None)
        grad = xp.matmul(g[at], xp.swapaxes(value[heads][:, keys], -1, -2)) - inner[at]
        grad = grad * weights
        query_grads.append(xp.matmul(grad, k) * scale)
        part = xp.matmul(xp.swapaxes(grad, -1, -2), q) * scale
        key_grad = _add_part(xp, key_grad, keys, part)
        part = xp.matmul(xp.swapaxes(weights, -1, -2), g[at])
        value_grad = _add_part(xp, value_grad, keys, part)
    return xp.concatenate(query_grads, axis=-2), key_grad, value_grad


def _zeros(xp: Any, like: Any) -> Any:
    """Start of a sum of gradients of the shape of ``like``; 0 if gradients are recorded."""
    return 0 if xp.records else xp.zeros(like.shape, like.dtype)


def _add_part(xp: Any, total: Any, keys: slice, part: Any) -> Any:
    """``total`` with the gradients ``part`` of the keys in the slice ``keys`` added.

    Adds in place, unless gradients are recorded; then ``part`` has all keys.
    """
    if xp.records:
        return total + part
    total[:, keys] += part
    return total


def _block_scores(xp: Any) -> int:
    """Number of scores in a block.

    The scores and the arrays computed from them fit the processor's cache.
    """
    return 4 * xp.block_elements if xp.block_elements else _BLOCK


def _head_blocks(shape: Any, keys: int, scores: int) -> Iterator[tuple[int, slice]]:
    """Yield blocks of heads: the index of a sample and a slice of its heads.

    A block has as many heads as have at most ``scores`` scores, but at least one. ``shape`` is the
    queries', ``(N, heads, L, E)``, and ``keys`` the number of keys.
    """
    step = max(1, scores // (shape[2] * keys))
    for image in range(shape[0]):
        for start in range(0, shape[1], step):
            yield image, slice(start, start + step)


def _query_blocks(shape: Any, keys: int, scores: int) -> Iterator[slice]:
    """Yield slices of the queries of a head.

    A slice has as many queries as have at most ``scores`` scores, but at least one. ``shape`` is
    the queries', ``(N, heads, L, E)``, and ``keys`` the number of keys.
    """
    step = max(1, scores // keys)
    for start in range(0, shape[2], step):
        yield slice(start, min(start + step, shape[2]))


def _attended_keys(rows: slice, key: Any, causal: bool) -> slice:
    """Slice of the keys of ``key`` that at least one query in the slice ``rows`` attends to."""
    return slice(0, min(rows.stop, key.shape[-2]) if causal else key.shape[-2])


def _index_block(
    xp: Any, query: Any, key: Any, bias: Any, heads: Any, rows: slice, keys: slice
) -> tuple[Any, Any, Any]:
    """Queries, keys and bias of a block.

    ``heads`` is a sample's index and a slice of its heads, ``rows`` and ``keys`` are slices of the
    queries and keys.
    """
    if bias is not None:
        bias = xp.broadcast_to(bias, (*query.shape[:-1], key.shape[-2]))[(*heads, rows)]
        bias = bias[..., keys]
    return query[(*heads, rows)], key[heads][:, keys], bias


#: For more scores, attention is computed in blocks, and the backward pass computes them again.
_MANY = 1 << 22


@composite(namespaces=("nn.functional",), reduced=Reduced.FIRST)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query keyᵀ scale + mask) value``: weighted means of the values for each query.

    Args:
        query: ``(*, queries, features)``.
        key: ``(*, keys, features)``; leading dimensions broadcast.
        value: ``(*, keys, out_features)``.
        attn_mask: Bool tensor that broadcasts to ``(*, queries, keys)``, True where a query attends
            to a key; or a float tensor that is added to the scores. The result is 0 for a query
            whose keys are all masked.
        dropout_p: Probability that a weight becomes zero, also outside training; default 0.
        is_causal: Whether query i attends to keys 0 to i only; default False. A mask beside it
            needs 4-d tensors of the same features and no dropout, as in PyTorch.
        scale: Default ``1 / sqrt(features)``.
        enable_gqa: Whether keys and values may have fewer heads (dimension -3) than queries, each
            for a group of consecutive query heads; default False.

    Returns:
        ``(*, queries, out_features)``.

    Raises:
        RuntimeError: If shapes, dtypes or arguments do not fit.

    Example:
        >>> q, k, v = tt.zeros(1, 2), tt.zeros(3, 2), tt.tensor([[1.0], [2.0], [6.0]])
        >>> tt.nn.functional.scaled_dot_product_attention(q, k, v)
        tensor([[3.]])

    Reference:
        Vaswani et al.: Attention Is All You Need, arXiv:1706.03762; Ainslie et al.: GQA,
        arXiv:2305.13245.
    """
    _check_attention(query, key, value, attn_mask, is_causal, dropout_p)
    bias = _mask_to_bias(query, attn_mask)
    q, k, v = query, key, value
    grouped = enable_gqa and query.shape[-3:-2] != key.shape[-3:-2]
    if grouped:
        _check_groups(query, key, value)
        if not dropout_p and _has_many_scores(query, key):
            k, v = (t.repeat_interleave(query.shape[1] // t.shape[1], 1) for t in (key, value))
            grouped = False  # repeated keys and values are small beside the scores
        else:
            q, k, v, bias = _group_heads(query, key, value, bias)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1]) if query.shape[-1] else 0.0
    if query.dtype is dtypes.float16:
        q, k, v = (t.to(dtypes.float32) for t in (q, k, v))
        bias = None if bias is None else bias.to(dtypes.float32)
    named_tensors = (("query", query), ("key", key), ("value", value))
    if dropout_p or not _is_fused(named_tensors, attn_mask):
        # PyTorch saves these products, so query and key may be changed in place afterwards.
        q, k, scale = *_scale_both(q, k, scale), 1.0
    ordered = not dropout_p and _is_ordered(query, key, value, attn_mask)
    if not dropout_p and _should_use_blocks(q, k, v, bias):
        out = attention_in_blocks(q, k, v, bias, scale, is_causal, ordered)[0]
    else:
        weights = attention_weights(q, k, bias, scale, 0 if is_causal else None)
        if dropout_p:
            weights = dropout(weights, dropout_p)
        out = weighted_values(weights, v, query) if ordered else weights @ v
    if grouped:
        out = out.reshape(*out.shape[:-4], query.shape[-3], *out.shape[-2:])
    return out if out.dtype is query.dtype else out.to(query.dtype)


def _scale_both(query: Any, key: Any, scale: float) -> tuple[Any, Any]:
    """Query and key, each times the square root of the scale, against overflow of the products."""
    root = math.sqrt(abs(scale))
    return query * math.copysign(root, scale), key * root


def _check_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, dropout_p: float
) -> None:
    """Raise an error for arguments of ``scaled_dot_product_attention`` that do not fit."""
    name = "scaled_dot_product_attention"
    named_tensors = (("query", query), ("key", key), ("value", value))
    for argument, tensor in named_tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' must be Tensor, not {type(tensor).__name__}"
            )
    if any(tensor.ndim < 2 for _, tensor in named_tensors):
        dims = " ".join(f"{argument}.dim: {tensor.ndim}" for argument, tensor in named_tensors)
        raise RuntimeError(
            f"{name}: Expected query, key, and value to all be at least 2 dimensional, but got "
            f"{dims} instead."
        )
    if any(tensor.dtype is not query.dtype for _, tensor in named_tensors):
        kinds = " ".join(f"{argument}.dtype: {tensor.dtype}" for argument, tensor in named_tensors)
        raise RuntimeError(
            f"{name}: Expected query, key, and value to have the same dtype, but got {kinds} "
            "instead."
        )
    if not query.is_floating_point():
        raise RuntimeError(
            f"{name}: expected scalar type Float but found {scalar_name(query.dtype)}"
        )
    if causal and mask is not None and (dropout_p or not _is_fused(named_tensors, mask)):
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        shapes = ", ".join(f"{argument} {list(tensor.shape)}" for argument, tensor in named_tensors)
        raise RuntimeError(
            f"{name}: Expected size for first two dimensions of batch2 tensor to match: query and "
            f"key need the same features, key and value the same length, but got {shapes}"
        )


def _is_fused(named: tuple[tuple[str, Tensor], ...], mask: Tensor | None) -> bool:
    """Whether PyTorch uses its fused kernel, which accepts a mask and ``is_causal`` together.

    ``named`` are query, key and value, each after its name.
    """
    is_4d = all(t.ndim == 4 and t.shape[-1] == named[0][1].shape[-1] for _, t in named)
    return is_4d and (mask is None or mask.ndim in (2, 4) and not mask.requires_grad)


def _is_ordered(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Whether PyTorch's result has the memory order of ``query``, which is not row-major."""
    strides = query._data.strides
    if query.ndim != 4 or strides[0] >= strides[1] >= strides[2] or not query.numel():
        return False
    tensors = query, key, value
    matches = all(t._data.strides[-1] == t._data.itemsize for t in tensors)
    matches = matches and query.shape[0] == key.shape[0] == value.shape[0]
    return matches and _is_fused(tuple(("", t) for t in tensors), mask)


def _should_use_blocks(query: Tensor, key: Tensor, value: Tensor, bias: Any) -> bool:
    """Whether ``attention_in_blocks`` is used: for many scores of 4-d tensors, or a fused kernel.

    It broadcasts neither batch nor heads, and has no gradient of ``bias``.
    """
    if not _has_many_scores(query, key) and not _has_fused_kernel(query):
        return False
    shape = query.shape
    alike = shape[:2] == key.shape[:2] == value.shape[:2] and key.ndim == value.ndim == 4
    if bias is None or not alike:
        return alike
    fits = all(n in (1, m) for n, m in zip(bias.shape[::-1], (key.shape[-2], *shape[2::-1])))
    return fits and bias.ndim <= 4 and not bias.requires_grad


def _has_many_scores(query: Tensor, key: Tensor) -> bool:
    """Whether the tensors are 4-d with so many scores that a block at a time is better."""
    return query.ndim == 4 and math.prod(query.shape[:3]) * key.shape[-2] >= _MANY


def _has_fused_kernel(query: Tensor) -> bool:
    """Whether the backend has a fused kernel of attention, for 4-d tensors."""
    return query._xp.kernel("attention") is not None and query.ndim == 4 and query.numel() > 0


def _mask_to_bias(query: Tensor, mask: Any) -> Any:
    """Mask as a bias of the scores: -inf where a bool mask is False."""
    if mask is None or mask.dtype is query.dtype:
        return mask
    if mask.dtype is dtypes.bool:
        xp = query._xp
        return wrap(xp.where(mask._data, 0.0, -xp.inf).astype(query._data.dtype), xp)
    if mask.dtype is dtypes.float32:
        return mask.to(query.dtype)
    raise RuntimeError(
        "scaled_dot_product_attention: Expected attn_mask dtype to be bool or float or to match "
        f"query dtype, but got attn_mask.dtype: {mask.dtype} and query.dtype: {query.dtype} "
        "instead."
    )


def _check_groups(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise RuntimeError unless the heads of key and value divide those of the query."""
    if min(t.ndim for t in (query, key, value)) < 3:
        raise RuntimeError("enable_gqa: query, key and value need a dimension of heads")
    heads, key_heads = query.shape[-3], key.shape[-3]
    if heads % key_heads or value.shape[-3] != key_heads:
        raise RuntimeError(
            "enable_gqa: Number of heads in key and value must divide the number of heads in "
            f"query, and be equal; got {heads}, {key_heads} and {value.shape[-3]}"
        )


def _group_heads(query: Any, key: Any, value: Any, bias: Any) -> tuple[Any, ...]:
    """Tensors for grouped attention, in which each key head serves a group of query heads.

    Returns:
        Queries ``(*, key heads, group, L, E)``; keys and values with a dimension of size 1 for the
        group; the bias of the scores, reshaped to fit, or None.
    """
    heads, key_heads = query.shape[-3], key.shape[-3]
    q = query.reshape(*query.shape[:-3], key_heads, heads // key_heads, *query.shape[-2:])
    if bias is not None and bias.ndim > 2:
        parts = (key_heads, heads // key_heads) if bias.shape[-3] == heads else (1, 1)
        bias = bias.reshape(*bias.shape[:-3], *parts, *bias.shape[-2:])
    return q, key.unsqueeze(-3), value.unsqueeze(-3), bias


@composite(namespaces=("nn.functional",))
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of ``num_heads`` heads between projections of queries, keys and values.

    Args:
        query: ``(queries, batch, embed)``, or without ``batch``.
        key: ``(keys, batch, key_features)``, or without ``batch``.
        value: ``(keys, batch, value_features)``, or without ``batch``.
        embed_dim_to_check: Expected ``embed``.
        num_heads: Number of heads, which divides ``embed``.
        in_proj_weight: ``(3 embed, embed)``: the weights of the three projections, concatenated.
        in_proj_bias: ``(3 embed,)`` or None.
        bias_k: ``(1, 1, embed)``: a key appended to every sequence, or None.
        bias_v: The value appended with it.
        add_zero_attn: Whether to append a key and a value of zeros.
        dropout_p: Probability that a weight becomes zero in training.
        out_proj_weight: ``(embed, embed)``: the projection of the result.
        out_proj_bias: ``(embed,)`` or None.
        training: Whether dropout is applied; default True.
        key_padding_mask: ``(batch, keys)``: True where a key is padding, or a float tensor that is
            added to the scores.
        need_weights: Whether to return the weights; default True.
        attn_mask: ``(queries, keys)`` or ``(batch num_heads, queries, keys)``: True where a
            query must not attend, or a float tensor that is added to the scores.
        use_separate_proj_weight: Whether the next three arguments are the projections' weights.
        q_proj_weight: ``(embed, embed)``.
        k_proj_weight: ``(embed, key_features)``.
        v_proj_weight: ``(embed, value_features)``.
        static_k: Keys already projected, ``(batch num_heads, keys, embed / num_heads)``.
        static_v: Values already projected, of the same shape.
        average_attn_weights: Whether to return the mean of the weights over heads; default True.
        is_causal: A hint that ``attn_mask`` is the causal one; default False.

    Returns:
        ``(queries, batch, embed)``, and the weights ``(batch, queries, keys)``,
        ``(batch, num_heads, queries, keys)`` or None; without ``batch`` if ``query`` is.

    Raises:
        AssertionError: If shapes do not fit.
        RuntimeError: If masks do not fit, or for the hint without a mask.

    Example:
        >>> x, w = tt.ones(3, 1, 2), tt.ones(6, 2)
        >>> out, weights = tt.nn.functional.multi_head_attention_forward(
        ...     x, x, x, 2, 1, w, None, None, None, False, 0.0, tt.eye(2), None)
        >>> weights.shape
        tinytorch.Size([1, 3, 3])

    Reference:
        Vaswani et al.: Attention Is All You Need, arXiv:1706.03762.
    """
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    causal = is_causal and key_padding_mask is None and not need_weights
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if len({mask.dtype for mask in (key_padding_mask, attn_mask) if mask is not None}) > 1:
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead."
        )
    padding = _additive_mask(key_padding_mask, "key_padding_mask", query.dtype)
    mask = None if causal else _additive_mask(attn_mask, "attn_mask", query.dtype)
    separate_weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    proj_weights = separate_weights if use_separate_proj_weight else (in_proj_weight,)
    q, k, v = _project(query, key, value, proj_weights, in_proj_bias)
    mask = _check_mask(mask, query.shape[0], key.shape[0], query.shape[1] * num_heads)
    k, v, mask, padding = _append_bias(k, v, bias_k, bias_v, mask, padding, static_k, static_v)
    q = _split_heads(q, num_heads)
    k = _choose_static(k, static_k, num_heads)
    v = _choose_static(v, static_v, num_heads)
    if add_zero_attn:
        k, v = (cat([t, t.new_zeros((t.shape[0], 1, t.shape[2]))], 1) for t in (k, v))
        mask, padding = _append_key(mask), _append_key(padding)
    mask = _merge_masks(mask, padding, query.shape[1], num_heads, k.shape[1])
    p = dropout_p if training else 0.0
    out, weights = _attend(q, k, v, mask, p, causal, need_weights)
    if weights is not None:
        weights = weights.reshape(query.shape[1], num_heads, *weights.shape[1:])
    queries, batch, embed = query.shape
    out = linear(out.transpose(0, 1).reshape(queries, batch, embed), out_proj_weight, out_proj_bias)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if batched:
        return out, weights
    return out.squeeze(1), None if weights is None else weights.squeeze(0)


def _check_ranks(
    query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any, num_heads: int
) -> bool:
    """Whether the tensors have a batch dimension; raise AssertionError for other ranks."""
    ndim = query.ndim
    if ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor"
        )
    given = f"For {'batched (3-D)' if ndim == 3 else 'unbatched (2-D)'} `query`, expected"
    if key.ndim != ndim or value.ndim != ndim:
        raise AssertionError(
            f"{given} `key` and `value` to be {ndim}-D but found {key.ndim}-D and {value.ndim}-D "
            "tensors respectively"
        )
    if padding is not None and padding.ndim != ndim - 1:
        raise AssertionError(
            f"{given} `key_padding_mask` to be `None` or {ndim - 1}-D but found {padding.ndim}-D "
            "tensor instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"{given} `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead"
        )
    if ndim == 2 and mask is not None and mask.ndim == 3 and mask.shape[0] != num_heads:
        raise AssertionError(
            f"Expected attn_mask shape to start with {num_heads} heads but got {list(mask.shape)}"
        )
    return ndim == 3


def _check_sizes(
    query: Tensor, key: Tensor, value: Tensor, embed: int, num_heads: int, separate: bool
) -> None:
    """Raise AssertionError for sizes that do not fit the projections or the number of heads.

    ``separate``: whether query, key and value have weights of their own, which may differ in size.
    """
    if query.shape[-1] != embed:
        raise AssertionError(
            f"was expecting embedding dimension of {embed}, but got {query.shape[-1]}"
        )
    if embed % num_heads:
        raise AssertionError(f"embed_dim {embed} not divisible by num_heads {num_heads}")
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {list(key.shape[:2])} do not match value's "
                f"{list(value.shape[:2])}"
            )
    elif key.shape != value.shape:
        raise AssertionError(
            f"key shape {list(key.shape)} does not match value shape {list(value.shape)}"
        )


def _additive_mask(mask: Any, name: str, dtype: Any) -> Any:
    """``mask`` as a tensor of ``dtype`` that is added to the scores.

    A bool mask becomes -inf where it is True, else 0; None stays None. ``name`` is the argument,
    for errors.
    """
    if mask is None or mask.is_floating_point():
        return mask if mask is None else mask.to(dtype)
    if mask.dtype is not dtypes.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    xp = mask._xp
    values = xp.where(mask._data, -xp.inf, 0.0)
    return wrap(xp.astype(values, xp.native_dtype(dtype)), xp)


def _project(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> tuple[Any, ...]:
    """Projections of query, key and value: one product if the three are the same tensor.

    ``weights`` has one weight for each of the three, or a single one, their concatenation.
    """
    biases = (None, None, None) if bias is None else bias.chunk(3)
    if len(weights) == 3:
        if any(weight is None for weight in weights):
            raise AssertionError("use_separate_proj_weight is True but a projection is None")
        return tuple(map(linear, (query, key, value), weights, biases))
    (weight,) = weights
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    if query is key is value:
        return tuple(linear(query, weight, bias).chunk(3, -1))
    return tuple(map(linear, (query, key, value), weight.chunk(3), biases))


def _check_mask(mask: Any, queries: int, keys: int, heads: int) -> Any:
    """The mask as ``(1 or heads, queries, keys)``; raise RuntimeError for another shape."""
    if mask is None:
        return None
    expected = (queries, keys) if mask.ndim == 2 else (heads, queries, keys)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be "
            f"{expected}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _append_bias(
    k: Any, v: Any, bias_k: Any, bias_v: Any, mask: Any, padding: Any, static_k: Any, static_v: Any
) -> tuple[Any, ...]:
    """Keys, values and both masks, with ``bias_k`` and ``bias_v`` appended to the sequences."""
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given together")
    if bias_k is None:
        return k, v, mask, padding
    if static_k is not None or static_v is not None:
        raise AssertionError("bias cannot be added to static key or value")
    shape = (1, k.shape[1], k.shape[2])
    k = cat([k, bias_k.reshape(1, 1, -1).expand(shape)])
    v = cat([v, bias_v.reshape(1, 1, -1).expand(shape)])
    return k, v, _append_key(mask), _append_key(padding)


def _append_key(mask: Any) -> Any:
    """Additive mask with one more key, which is not masked."""
    if mask is None:
        return None
    return cat([mask, mask.new_zeros((*mask.shape[:-1], 1))], -1)


def _split_heads(x: Any, num_heads: int) -> Any:
    """``(length, batch, embed)`` as ``(batch num_heads, length, embed / num_heads)``."""
    length, batch, embed = x.shape
    return x.reshape(length, batch * num_heads, embed // num_heads).transpose(0, 1)


def _choose_static(x: Any, static: Any, num_heads: int) -> Any:
    """Heads of the projection ``x``, or the already projected ``static`` if it is given."""
    if static is None:
        return _split_heads(x, num_heads)
    heads, features = x.shape[1] * num_heads, x.shape[2] // num_heads
    if static.shape[0] != heads or static.shape[2] != features:
        raise AssertionError(
            f"expecting static key or value of sizes ({heads}, *, {features}), but got "
            f"{list(static.shape)}"
        )
    return static


def _merge_masks(mask: Any, padding: Any, batch: int, num_heads: int, keys: int) -> Any:
    """Sum of both masks, which broadcasts to ``(batch * num_heads, queries, keys)``."""
    if padding is None:
        return mask
    if tuple(padding.shape) != (batch, keys):
        raise AssertionError(
            f"expecting key_padding_mask shape of {(batch, keys)}, but got {tuple(padding.shape)}"
        )
    padding = padding.reshape(batch, 1, 1, keys).expand(batch, num_heads, 1, keys)
    padding = padding.reshape(batch * num_heads, 1, keys)
    return padding if mask is None else mask + padding


def _attend(
    q: Any, k: Any, v: Any, mask: Any, p: float, causal: bool, need_weights: bool
) -> tuple[Any, Any]:
    """Attention of tensors ``(batch num_heads, length, features)``.

    Returns the weighted values, and the weights, or None unless they are needed. ``p`` is the
    probability of dropout.
    """
    if not need_weights:
        q, k, v, mask = (None if t is None else t.unsqueeze(0) for t in (q, k, v, mask))
        out: Any = scaled_dot_product_attention(q, k, v, mask, p, causal)
        return out.squeeze(0), None
    queries, keys = q * (1.0 / math.sqrt(q.shape[-1])), k.transpose(1, 2)
    scores: Any = bmm(queries, keys) if mask is None else baddbmm(mask, queries, keys)
    weights = softmax(scores, -1)
    if p:
        weights = dropout(weights, p)
    return weights @ v, weights
