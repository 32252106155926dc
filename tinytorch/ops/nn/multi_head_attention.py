"""Attention of several heads, with its projections, as ``nn.MultiheadAttention`` uses it."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor, wrap
from ...dispatch.op import composite
from ...warnings import warn
from ..linalg.addmm import baddbmm
from ..linalg.matmul import bmm, linear
from ..shape.joining import cat
from .attention import scaled_dot_product_attention
from .dropout import dropout
from .softmax import softmax


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
        key: ``(keys, batch, key_features)``, likewise.
        value: ``(keys, batch, value_features)``, likewise.
        embed_dim_to_check: What ``embed`` must be.
        num_heads: How many heads share ``embed``.
        in_proj_weight: ``(3 embed, embed)``: the three projections, one after the other.
        in_proj_bias: ``(3 embed,)`` or None.
        bias_k: ``(1, 1, embed)``: a key added to every sequence, or None.
        bias_v: The value added with it.
        add_zero_attn: Whether to add a key and a value of zeros.
        dropout_p: Probability that a weight becomes zero in training.
        out_proj_weight: ``(embed, embed)``: the projection of the result.
        out_proj_bias: ``(embed,)`` or None.
        training: Whether dropout takes place; default True.
        key_padding_mask: ``(batch, keys)``: True where a key is padding, or numbers to add.
        need_weights: Whether to return the weights; default True.
        attn_mask: ``(queries, keys)`` or ``(batch num_heads, queries, keys)``: True where a
            query must not attend, or numbers to add to the scores.
        use_separate_proj_weight: Whether the projections are the next three arguments.
        q_proj_weight: ``(embed, embed)``.
        k_proj_weight: ``(embed, key_features)``.
        v_proj_weight: ``(embed, value_features)``.
        static_k: Keys already projected, ``(batch num_heads, keys, embed / num_heads)``.
        static_v: Values already projected, likewise.
        average_attn_weights: Whether the weights are their mean over the heads; default True.
        is_causal: A hint that ``attn_mask`` is the causal one; default False.

    Returns:
        ``(queries, batch, embed)``, and the weights ``(batch, queries, keys)``,
        ``(batch, num_heads, queries, keys)`` or None; without ``batch`` if ``query`` is.

    Raises:
        AssertionError: If shapes do not fit.
        RuntimeError: If masks do not fit, or for the hint without a mask.

    Example:
        >>> import tinytorch as tt
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
    hint = is_causal and key_padding_mask is None and not need_weights
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    kinds = {mask.dtype for mask in (key_padding_mask, attn_mask) if mask is not None}
    if len(kinds) > 1:
        warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type "
            "for both instead."
        )
    padding = _added(key_padding_mask, "key_padding_mask", query.dtype)
    mask = None if hint else _added(attn_mask, "attn_mask", query.dtype)
    weights_in = (
        (q_proj_weight, k_proj_weight, v_proj_weight)
        if use_separate_proj_weight
        else (in_proj_weight,)
    )
    q, k, v = _project(query, key, value, weights_in, in_proj_bias)
    mask = _check_mask(mask, query.shape[0], key.shape[0], query.shape[1] * num_heads)
    k, v, mask, padding = _with_bias(k, v, bias_k, bias_v, mask, padding, static_k, static_v)
    q, k, v = _heads(q, num_heads), _static(k, static_k, num_heads), _static(v, static_v, num_heads)
    if add_zero_attn:
        k, v = (cat([t, t.new_zeros((t.shape[0], 1, t.shape[2]))], 1) for t in (k, v))
        mask, padding = _one_more(mask), _one_more(padding)
    mask = _merged(mask, padding, query.shape[1], num_heads, k.shape[1])
    p = dropout_p if training else 0.0
    out, weights = _attend(q, k, v, mask, p, hint, need_weights)
    if weights is not None:
        weights = weights.reshape(query.shape[1], num_heads, *weights.shape[1:])
    return _results(out, weights, query, out_proj_weight, out_proj_bias, average_attn_weights,
                    batched)  # fmt: skip


def _check_ranks(
    query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any, num_heads: int
) -> bool:
    """Whether there is a batch."""
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


def _added(mask: Any, name: str, dtype: Any) -> Any:
    """A mask as numbers to add to the scores: -inf where a bool one is True."""
    if mask is None or mask.is_floating_point():
        return mask if mask is None else mask.to(dtype)
    if mask.dtype is not dtypes.bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    xp = mask._xp
    numbers = xp.where(mask._data, -xp.inf, 0.0)
    return wrap(xp.astype(numbers, xp.native_dtype(dtype)), xp)


def _project(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> tuple[Any, ...]:
    """The three projections; where the inputs are one, as one product."""
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
    """The mask with a dimension for batch and heads; RuntimeError for another shape."""
    if mask is None:
        return None
    wanted = (queries, keys) if mask.ndim == 2 else (heads, queries, keys)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be "
            f"{wanted}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _with_bias(
    k: Any, v: Any, bias_k: Any, bias_v: Any, mask: Any, padding: Any, static_k: Any, static_v: Any
) -> tuple[Any, ...]:
    """Keys, values and masks with the learnt key and value at the end."""
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given together")
    if bias_k is None:
        return k, v, mask, padding
    if static_k is not None or static_v is not None:
        raise AssertionError("bias cannot be added to static key or value")
    shape = (1, k.shape[1], k.shape[2])
    k = cat([k, bias_k.reshape(1, 1, -1).expand(shape)])
    v = cat([v, bias_v.reshape(1, 1, -1).expand(shape)])
    return k, v, _one_more(mask), _one_more(padding)


def _one_more(mask: Any) -> Any:
    """A mask with a last key that everything may attend to."""
    if mask is None:
        return None
    return cat([mask, mask.new_zeros((*mask.shape[:-1], 1))], -1)


def _heads(x: Any, num_heads: int) -> Any:
    """``(length, batch, embed)`` as ``(batch num_heads, length, embed / num_heads)``."""
    length, batch, embed = x.shape
    return x.reshape(length, batch * num_heads, embed // num_heads).transpose(0, 1)


def _static(x: Any, static: Any, num_heads: int) -> Any:
    """The heads of a projection, or what is given in its place."""
    if static is None:
        return _heads(x, num_heads)
    heads, features = x.shape[1] * num_heads, x.shape[2] // num_heads
    if static.shape[0] != heads or static.shape[2] != features:
        raise AssertionError(
            f"expecting static key or value of sizes ({heads}, *, {features}), but got "
            f"{list(static.shape)}"
        )
    return static


def _merged(mask: Any, padding: Any, batch: int, num_heads: int, keys: int) -> Any:
    """Both masks as one that broadcasts to ``(batch num_heads, queries, keys)``."""
    if padding is None:
        return mask
    if tuple(padding.shape) != (batch, keys):
        raise AssertionError(
            f"expecting key_padding_mask shape of {(batch, keys)}, but got {tuple(padding.shape)}"
        )
    spread = padding.reshape(batch, 1, 1, keys).expand(batch, num_heads, 1, keys)
    spread = spread.reshape(batch * num_heads, 1, keys)
    return spread if mask is None else mask + spread


def _attend(
    q: Any, k: Any, v: Any, mask: Any, p: float, causal: bool, need_weights: bool
) -> tuple[Any, Any]:
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


def _results(
    out: Any,
    weights: Any,
    query: Tensor,
    projection: Tensor,
    bias: Tensor | None,
    average: bool,
    batched: bool,
) -> tuple[Tensor, Tensor | None]:
    """Heads side by side again, projected; the weights per member of the batch."""
    queries, batch, embed = query.shape
    out = linear(out.transpose(0, 1).reshape(queries, batch, embed), projection, bias)
    if weights is not None and average:
        weights = weights.mean(1)
    if batched:
        return out, weights
    return out.squeeze(1), None if weights is None else weights.squeeze(0)
