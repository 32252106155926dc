"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import composite
from ...dispatch.out import scalar_name
from .attention_products import attended, attention_in_blocks, attention_weights
from .dropout import dropout

#: Scores above which they are not kept for the backward pass, but computed block by block again.
_MANY = 1 << 22


@composite(namespaces=("nn.functional",), method=False, keeps_dtype=True)
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
    """``softmax(query keyᵀ scale + mask) value``: each query's mean of the values it attends to.

    Args:
        query: ``(*, queries, features)``.
        key: ``(*, keys, features)``; leading dimensions broadcast.
        value: ``(*, keys, out_features)``.
        attn_mask: Bool tensor that broadcasts to ``(*, queries, keys)``, True where a key takes
            part; or numbers that are added to the scores. A query that may attend to nothing
            gets zeros.
        dropout_p: Probability that a weight becomes zero, also outside training; default 0.
        is_causal: Whether query i attends to keys 0 to i alone; default False. With a mask beside
            it everything must be 4-d, the features the same, and without dropout, as in PyTorch.
        scale: Default ``1 / sqrt(features)``.
        enable_gqa: Whether keys and values have fewer heads (the third dimension from the
            end) than queries, each for a group of neighbouring query heads; default False.

    Returns:
        ``(*, queries, out_features)``.

    Raises:
        RuntimeError: If shapes, dtypes or arguments do not fit.

    Example:
        >>> import tinytorch as tt
        >>> q, k, v = tt.zeros(1, 2), tt.zeros(3, 2), tt.tensor([[1.0], [2.0], [6.0]])
        >>> tt.nn.functional.scaled_dot_product_attention(q, k, v)
        tensor([[3.]])

    Reference:
        Vaswani et al.: Attention Is All You Need, arXiv:1706.03762; Ainslie et al.: GQA,
        arXiv:2305.13245.
    """
    _check(query, key, value, attn_mask, is_causal, dropout_p)
    bias = _bias(query, attn_mask)
    q, k, v = query, key, value
    grouped = enable_gqa and query.shape[-3:-2] != key.shape[-3:-2]
    if grouped:
        _check_groups(query, key, value)
        if not dropout_p and _has_many_scores(query, key):
            k, v = (t.repeat_interleave(query.shape[1] // t.shape[1], 1) for t in (key, value))
            grouped = False  # these are far fewer numbers than the scores, then not kept
        else:
            q, k, v, bias = _in_groups(query, key, value, bias)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1]) if query.shape[-1] else 0.0
    if query.dtype is dtypes.float16:
        q, k, v = (t.to(dtypes.float32) for t in (q, k, v))
        bias = None if bias is None else bias.to(dtypes.float32)
    three = (("query", query), ("key", key), ("value", value))
    if dropout_p or not _is_fused(three, attn_mask):
        # As in PyTorch, which keeps those products: query and key may be changed afterwards.
        q, k, scale = *_scaled(q, k, scale), 1.0
    ordered = not dropout_p and _is_ordered(query, key, value, attn_mask)
    if not dropout_p and _is_large(q, k, v, bias):
        out = attention_in_blocks(q, k, v, bias, scale, is_causal, ordered)
    else:
        weights = attention_weights(q, k, bias, scale, 0 if is_causal else None)
        if dropout_p:
            weights = dropout(weights, dropout_p)
        out = attended(weights, v, query) if ordered else weights @ v
    if grouped:
        out = out.reshape(*out.shape[:-4], query.shape[-3], *out.shape[-2:])
    return out if out.dtype is query.dtype else out.to(query.dtype)


def _scaled(query: Any, key: Any, scale: float) -> tuple[Any, Any]:
    """Query and key times a root of the scale each, which keeps the products in bounds."""
    root = math.sqrt(abs(scale))
    return query * math.copysign(root, scale), key * root


def _check(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, dropout_p: float
) -> None:
    name = "scaled_dot_product_attention"
    three = (("query", query), ("key", key), ("value", value))
    for argument, tensor in three:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): argument '{argument}' must be Tensor, not {type(tensor).__name__}"
            )
    if any(tensor.ndim < 2 for _, tensor in three):
        dims = " ".join(f"{argument}.dim: {tensor.ndim}" for argument, tensor in three)
        raise RuntimeError(
            f"{name}: Expected query, key, and value to all be at least 2 dimensional, but got "
            f"{dims} instead."
        )
    if any(tensor.dtype is not query.dtype for _, tensor in three):
        kinds = " ".join(f"{argument}.dtype: {tensor.dtype}" for argument, tensor in three)
        raise RuntimeError(
            f"{name}: Expected query, key, and value to have the same dtype, but got {kinds} "
            "instead."
        )
    if not query.is_floating_point():
        raise RuntimeError(
            f"{name}: expected scalar type Float but found {scalar_name(query.dtype)}"
        )
    if causal and mask is not None and (dropout_p or not _is_fused(three, mask)):
        raise RuntimeError(f"{name}: Explicit attn_mask should not be set when is_causal=True")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        shapes = ", ".join(f"{argument} {list(tensor.shape)}" for argument, tensor in three)
        raise RuntimeError(
            f"{name}: Expected size for first two dimensions of batch2 tensor to match: query and "
            f"key need the same features, key and value the same length, but got {shapes}"
        )


def _is_fused(three: tuple[tuple[str, Tensor], ...], mask: Tensor | None) -> bool:
    """Whether PyTorch's fused kernel runs, which takes a mask and ``is_causal`` together."""
    images = all(t.ndim == 4 and t.shape[-1] == three[0][1].shape[-1] for _, t in three)
    return images and (mask is None or mask.ndim in (2, 4) and not mask.requires_grad)


def _is_ordered(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Whether the result has the query's order in memory, and that is not row-major."""
    steps = query._data.strides
    if query.ndim != 4 or steps[0] >= steps[1] >= steps[2] or not query.numel():
        return False
    three = query, key, value
    whole = all(t._data.strides[-1] == t._data.itemsize for t in three)
    whole = whole and query.shape[0] == key.shape[0] == value.shape[0]
    return whole and _is_fused(tuple(("", t) for t in three), mask)


def _is_large(query: Tensor, key: Tensor, value: Tensor, bias: Any) -> bool:
    """Whether the scores of images are too many to be kept; never where a bias learns."""
    if not _has_many_scores(query, key):
        return False
    shape = query.shape
    alike = shape[:2] == key.shape[:2] == value.shape[:2] and key.ndim == value.ndim == 4
    if bias is None or not alike:
        return alike
    fits = all(n in (1, m) for n, m in zip(bias.shape[::-1], (key.shape[-2], *shape[2::-1])))
    return fits and bias.ndim <= 4 and not bias.requires_grad


def _has_many_scores(query: Tensor, key: Tensor) -> bool:
    return query.ndim == 4 and math.prod(query.shape[:3]) * key.shape[-2] >= _MANY


def _bias(query: Tensor, mask: Any) -> Any:
    """What a mask adds to the scores."""
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
    if min(t.ndim for t in (query, key, value)) < 3:
        raise RuntimeError("enable_gqa: query, key and value need a dimension of heads")
    heads, shared = query.shape[-3], key.shape[-3]
    if heads % shared or value.shape[-3] != shared:
        raise RuntimeError(
            "enable_gqa: Number of heads in key and value must divide the number of heads in "
            f"query, and be equal; got {heads}, {shared} and {value.shape[-3]}"
        )


def _in_groups(query: Any, key: Any, value: Any, bias: Any) -> tuple[Any, ...]:
    """Query heads in groups that share a head of the keys and values, which broadcasts."""
    heads, shared = query.shape[-3], key.shape[-3]
    q = query.reshape(*query.shape[:-3], shared, heads // shared, *query.shape[-2:])
    if bias is not None and bias.ndim > 2:
        parts = (shared, heads // shared) if bias.shape[-3] == heads else (1, 1)
        bias = bias.reshape(*bias.shape[:-3], *parts, *bias.shape[-2:])
    return q, key.unsqueeze(-3), value.unsqueeze(-3), bias
