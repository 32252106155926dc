"""Attention's products: of all scores at once, or block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...dispatch.op import Array, Backend, op
from .softmax import softmax_gradient

#: Scores in one block where there is no cache to stay in: fewer would not pay for the calls.
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
    """``softmax(query keyᵀ scale + bias)``; zeros where everything is masked.

    Args:
        xp: The backend.
        query: ``(*, queries, features)``.
        key: ``(*, keys, features)``.
        bias: Broadcasts to ``(*, queries, keys)``.
        scale: Of the products.
        first: The number of the first query, where each attends to the keys up to its own
            number alone; None where it attends to all.
    """
    weights, total = _exponentials(xp, query, key, bias, scale, first)
    weights /= total
    return weights


def _exponentials(
    xp: Backend, query: Array, key: Array, bias: Array | None, scale: float, first: int | None
) -> tuple[Array, Array]:
    """The weights before each query's are divided by their sum, and these sums, 1 for 0."""
    scores = xp.matmul(query if scale == 1 else query * scale, xp.swapaxes(key, -1, -2))
    if bias is not None:
        grows = xp.broadcast_shapes(scores.shape, bias.shape) != scores.shape
        scores = scores + bias if grows else xp.add(scores, bias, out=scores)
    if first is not None:
        _hide(xp, scores, first)
    if not scores.size:
        return scores, xp.ones((*scores.shape[:-1], 1), scores.dtype)
    if not xp.is_moderate(scores, -1):
        top = xp.max(scores, axis=-1, keepdims=True)
        scores -= xp.where(top == -xp.inf, 0, top)
    xp.exp(scores, out=scores)
    total = xp.sum(scores, axis=-1, keepdims=True)
    return scores, xp.where(total == 0, 1, total)


def _hide(xp: Backend, scores: Array, first: int) -> None:
    """No query attends to keys of a greater number than its own."""
    queries, keys = scores.shape[-2:]
    late = scores[..., first:]  # the keys before are seen by all
    seen = xp.arange(queries)[:, None] >= xp.arange(max(0, keys - first))
    late[...] = xp.where(seen, late, -xp.inf)


@attention_weights.vjp_joint("query", "key", "bias")
def _attention_weights_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, query: Any, key: Any, scale: float
) -> tuple[Any, ...]:
    slope = softmax_gradient(xp, g, out, out.ndim - 1)
    for_query, for_key, for_bias = in_shape
    return (
        None if for_query is None else xp.matmul(slope, key) * scale,
        None if for_key is None else xp.matmul(xp.swapaxes(slope, -1, -2), query) * scale,
        None if for_bias is None else slope,
    )


@op(public=False, node=_FUSED)
def attended(xp: Backend, weights: Array, value: Array, query: Array) -> Array:
    """``weights value`` in the order in memory of ``query``, as PyTorch's fused kernel gives it.

    Heads that were split off and transposed can then be transposed and put together in a view.
    """
    place = xp.empty_like(query, dtype=weights.dtype)
    place = place.reshape(weights.shape[:-1] + value.shape[-1:])
    xp.matmul(weights, value, out=place)
    return place


attended.vjp(
    weights=lambda xp, g, value: xp.matmul(g, xp.swapaxes(value, -1, -2)),
    value=lambda xp, g, weights: xp.matmul(xp.swapaxes(weights, -1, -2), g),
)


@op(public=False, node=_FUSED)
def attention_in_blocks(
    xp: Backend,
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    scale: float,
    causal: bool,
    ordered: bool,
) -> Array:
    """``softmax(query keyᵀ scale + bias) value`` of images, never holding all of the scores.

    The sums that the weights are divided by divide what has been attended to, which is smaller.
    Reference: Dao et al.: FlashAttention, arXiv:2205.14135.
    """
    shape = (*query.shape[:-1], value.shape[-1])
    out = xp.empty_like(query) if ordered else xp.empty(shape, query.dtype)
    size = (query.shape, key.shape[-2], _scores(xp))
    todo = [(heads, rows) for heads in _heads(*size) for rows in _rows(*size)]

    def part(start: int, stop: int) -> None:
        for heads, rows in todo[start:stop]:
            keys = _keys(rows, key, causal)
            block = _block(xp, query, key, bias, heads, rows, keys)
            weights, total = _exponentials(xp, *block, scale, rows.start if causal else None)
            found = xp.matmul(weights, value[heads][:, keys])
            xp.divide(found, total, out=out[(*heads, rows)])

    xp.in_parts(part, len(todo), True)
    return out


@attention_in_blocks.vjp_joint("query", "key", "value")
def _blocks_rule(
    xp: Any, g: Any, in_shape: Any, out: Any, query: Any, key: Any, value: Any, bias: Any,
    scale: float, causal: bool,
) -> tuple[Any, ...]:  # fmt: skip
    inner = xp.sum(g * out, axis=-1, keepdims=True)
    todo = list(_heads(query.shape, key.shape[-2], _scores(xp)))

    def part(start: int, stop: int) -> list[Any]:
        return [
            _slopes_of_heads(xp, g, inner, query, key, value, bias, scale, causal, heads)
            for heads in todo[start:stop]
        ]

    several = xp.in_parts(part, len(todo), True) if _raw(xp) else [part(0, len(todo))]
    found = [slopes for some in several for slopes in some]
    return tuple(
        xp.reshape(xp.concatenate(parts, axis=0), (*query.shape[:2], *parts[0].shape[1:]))
        for parts in zip(*found, strict=True)
    )


def _raw(xp: Any) -> bool:
    """Whether a rule runs on arrays, which it may write to."""
    return isinstance(xp, Backend)


def _slopes_of_heads(
    xp: Any, g: Any, inner: Any, query: Any, key: Any, value: Any, bias: Any,
    scale: float, causal: bool, heads: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients by some heads' queries, keys and values."""
    for_query, for_key, for_value = [], _zeros(xp, key[heads]), _zeros(xp, value[heads])
    for rows in _rows(query.shape, key.shape[-2], _scores(xp)):
        block, keys = (*heads, rows), _keys(rows, key, causal and _raw(xp))
        some = _block(xp, query, key, bias, heads, rows, keys)
        weights = xp.call(attention_weights, *some, scale, rows.start if causal else None)
        slope = xp.matmul(g[block], xp.swapaxes(value[heads][:, keys], -1, -2)) - inner[block]
        slope = slope * weights
        for_query.append(xp.matmul(slope, some[1]) * scale)
        by_key = xp.matmul(xp.swapaxes(slope, -1, -2), some[0]) * scale
        for_key = _added(xp, for_key, keys, by_key)
        by_value = xp.matmul(xp.swapaxes(weights, -1, -2), g[block])
        for_value = _added(xp, for_value, keys, by_value)
    return xp.concatenate(for_query, axis=-2), for_key, for_value


def _zeros(xp: Any, like: Any) -> Any:
    return xp.zeros(like.shape, like.dtype) if _raw(xp) else 0


def _added(xp: Any, total: Any, keys: slice, some: Any) -> Any:
    """``total`` with the gradients by some keys added."""
    if not _raw(xp):
        return total + some
    total[:, keys] += some
    return total


def _scores(xp: Any) -> int:
    """In one block: with what is computed from them they stay in the processor's cache."""
    return 4 * xp.block_elements if _raw(xp) and xp.block_elements else _BLOCK


def _heads(shape: Any, keys: int, scores: int) -> Iterator[tuple[int, slice]]:
    """The heads of which all scores make a block, image by image; one if its are more."""
    step = max(1, scores // (shape[2] * keys))
    for image in range(shape[0]):
        for start in range(0, shape[1], step):
            yield image, slice(start, start + step)


def _rows(shape: Any, keys: int, scores: int) -> Iterator[slice]:
    """The queries of a head in blocks."""
    step = max(1, scores // keys)
    for start in range(0, shape[2], step):
        yield slice(start, min(start + step, shape[2]))


def _keys(rows: slice, key: Any, causal: bool) -> slice:
    """The keys that any of some queries attends to."""
    return slice(0, min(rows.stop, key.shape[-2]) if causal else key.shape[-2])


def _block(
    xp: Any, query: Any, key: Any, bias: Any, heads: Any, rows: slice, keys: slice
) -> tuple[Any, Any, Any]:
    """Some queries of some heads, some of their keys, and the bias of their scores."""
    if bias is not None:
        bias = xp.broadcast_to(bias, (*query.shape[:-1], key.shape[-2]))[(*heads, rows)]
        bias = bias[..., keys]
    return query[(*heads, rows)], key[heads][:, keys], bias
