"""Multi-head attention, and the names of PyTorch's attention backends."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.factories import empty
from ...state.bindings import contextmanager
from .. import functional as F
from .. import init
from ..linear import Linear
from ..module import Module
from ..parameter import Parameter

__all__ = ["MultiheadAttention", "SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """Names of PyTorch's attention backends; tinytorch has a single implementation.

    Example:
        >>> from tinytorch.nn.attention import SDPBackend, sdpa_kernel
        >>> with sdpa_kernel([SDPBackend.MATH]):
        ...     pass
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[dict[Any, Any]]:
    """Select PyTorch's attention backends; it has no effect here.

    Args:
        backends: A member of ``SDPBackend``, or a list of them.
        set_priority: Whether the order of the list is an order of priority. Default: False.

    Raises:
        AssertionError: If ``backends`` is something else.

    Example:
        >>> from tinytorch.nn.attention import SDPBackend, sdpa_kernel
        >>> x = tt.ones(1, 1, 2, 4)
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     tt.nn.functional.scaled_dot_product_attention(x, x, x).shape
        tinytorch.Size([1, 1, 2, 4])
    """
    members = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(each, SDPBackend) for each in members):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, "
            f"got {type(backends).__name__}"
        )
    yield {}


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under the name that PyTorch shows for it in ``MultiheadAttention``."""


class MultiheadAttention(Module):
    """Multi-head attention: each head is softmax(Q Kᵀ / √head_dim) V of projected inputs.

    Args:
        embed_dim: Size of queries and output.
        num_heads: Number of heads; it must divide ``embed_dim``.
        dropout: Probability of an attention weight to be zeroed. Default: 0.
        bias: Whether the projections have biases. Default: True.
        add_bias_kv: Whether a learned key and value are added to each sequence. Default: False.
        add_zero_attn: Whether a key and value of zeros are added to each sequence. Default: False.
        kdim: Size of the keys. Default: ``embed_dim``.
        vdim: Size of the values. Default: ``embed_dim``.
        batch_first: Whether inputs and output have shape ``(batch, time, features)`` instead of
            ``(time, batch, features)``. Default: False.

    Attributes:
        in_proj_weight: Concatenated weights of the three input projections, shape ``(3 *
            embed_dim, embed_dim)``. If ``kdim`` or ``vdim`` differs from ``embed_dim``, it is
            None, and there are ``q_proj_weight``, ``k_proj_weight`` and ``v_proj_weight``.
        in_proj_bias: Shape ``(3 * embed_dim,)``, or None.
        out_proj: Linear that computes the output.
        bias_k: Shape ``(1, 1, embed_dim)``, or None.
        bias_v: Shape ``(1, 1, embed_dim)``, or None.

    Raises:
        ValueError: If ``embed_dim`` or ``num_heads`` is not positive.
        AssertionError: If ``num_heads`` does not divide ``embed_dim``.

    Example:
        >>> attention = tt.nn.MultiheadAttention(16, 4, batch_first=True)
        >>> x = tt.randn(2, 5, 16)
        >>> output, weights = attention(x, x, x)
        >>> output.shape, weights.shape
        (tinytorch.Size([2, 5, 16]), tinytorch.Size([2, 5, 5]))

    Reference:
        A. Vaswani et al., "Attention is all you need" (2017).
    """

    embed_dim: int
    kdim: int
    vdim: int
    num_heads: int
    head_dim: int
    dropout: float
    batch_first: bool
    add_zero_attn: bool
    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        _check_sizes(embed_dim, num_heads)
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self._make_projections(bias, device=device, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            extra = empty((1, 1, embed_dim), device=device, dtype=dtype) if add_bias_kv else None
            setattr(self, name, None if extra is None else Parameter(extra))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _make_projections(self, bias: bool, **factory: Any) -> None:
        """Register the projections; ``factory`` has their device and dtype."""
        size, same = self.embed_dim, self._qkv_same_embed_dim
        joint = Parameter(empty((3 * size, size), **factory)) if same else None
        self.register_parameter("in_proj_weight", joint)
        for name, inputs in (("q", size), ("k", self.kdim), ("v", self.vdim)):
            weight = None if same else Parameter(empty((size, inputs), **factory))
            self.register_parameter(f"{name}_proj_weight", weight)
        in_bias = Parameter(empty(3 * size, **factory)) if bias else None
        self.register_parameter("in_proj_bias", in_bias)
        self.out_proj: NonDynamicallyQuantizableLinear = NonDynamicallyQuantizableLinear(
            size, size, bias=bias, **factory
        )

    def _reset_parameters(self) -> None:
        """Draw the weights by Xavier initialization, and set the biases to 0."""
        names = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")
        for weight in (getattr(self, name) for name in names):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Compute the attention of each query to all keys.

        Args:
            query: Shape ``(targets, batch, embed_dim)``, or without batch.
            key: Shape ``(sources, batch, kdim)``, or without batch.
            value: Shape ``(sources, batch, vdim)``, or without batch.
            key_padding_mask: Shape ``(batch, sources)``: bool, True where a key is ignored, or
                floats that are added to the scores. Default: None.
            need_weights: Whether to return the attention weights as well. Default: True.
            attn_mask: Shape ``(targets, sources)`` or ``(batch * num_heads, targets, sources)``:
                bool, True where a query must not attend to a key, or floats that are added to the
                scores. Default: None.
            average_attn_weights: Whether the weights are averaged over the heads.
                Default: True.
            is_causal: Hint that ``attn_mask`` is the causal mask. Default: False.

        Returns:
            The output, of the shape of ``query``, and the weights, shape ``(batch, targets,
            sources)``, or ``(batch, num_heads, targets, sources)``, or None.
        """
        if _overrides_merge_masks(self) and query is key is value and not self.training:
            key_padding_mask, attn_mask = self._call_merge_masks(attn_mask, key_padding_mask, query)
        swap = self.batch_first and query.ndim == 3
        if swap:
            query, key, value = _swap_batch_and_time(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout,
            self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (output.transpose(0, 1) if swap else output), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Merge the two masks of a self-attention into one.

        In evaluation, ``forward`` calls it if a subclass overrides it; else masks are not merged.

        Args:
            attn_mask: Shape ``(time, time)`` or ``(batch, heads, time, time)``, or None.
            key_padding_mask: Shape ``(batch, time)``, or None.
            query: The input, whose shape gives the sizes.

        Returns:
            The mask and its type: 1 for ``key_padding_mask`` alone, 2 for a mask of shape
            ``(batch, heads, time, time)``; ``(None, None)`` without any mask.

        Example:
            >>> attention = tt.nn.MultiheadAttention(4, 2, batch_first=True)
            >>> attention.merge_masks(tt.zeros(3, 3), None, tt.zeros(1, 3, 4))[1]
            2
        """
        merged, kind = key_padding_mask, None if key_padding_mask is None else 1
        if attn_mask is not None:
            kind, (batch, time) = 2, query.shape[:2]
            if attn_mask.ndim == 3:
                merged = attn_mask.reshape(batch, -1, time, time)
            else:
                merged = attn_mask.reshape(1, 1, time, time).expand(
                    batch, self.num_heads, time, time
                )
            if key_padding_mask is not None:
                merged = merged + key_padding_mask.reshape(batch, 1, 1, time)
        return merged, kind

    def _call_merge_masks(
        self, attn_mask: Any, key_padding_mask: Any, query: Tensor
    ) -> tuple[Any, Any]:
        """Call an override of ``merge_masks``.

        Returns:
            The key padding mask and the attention mask to use. One is None if the merged mask
            includes it.
        """
        merged, mask_type = self.merge_masks(attn_mask, key_padding_mask, query)
        # Type 1: a key padding mask alone. Type 2: an attention mask, with the padding merged in.
        if mask_type == 1:
            return merged, None
        if mask_type == 2 and merged is not None and merged.ndim == 4:
            merged = merged.flatten(0, 1)
        return None, merged


def _overrides_merge_masks(attention: MultiheadAttention) -> bool:
    """Whether the class of a module overrides ``merge_masks``."""
    return type(attention).merge_masks is not MultiheadAttention.merge_masks


def _check_sizes(embed_dim: int, num_heads: int) -> None:
    """Check that both sizes are positive, and that the heads divide the embedding."""
    if embed_dim <= 0 or num_heads <= 0:
        raise ValueError(
            "embed_dim and num_heads must be greater than 0, "
            f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
        )
    if embed_dim % num_heads:
        raise AssertionError(
            f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}"
        )


def _swap_batch_and_time(*inputs: Tensor) -> list[Any]:
    """Transpose each input; inputs that are the same tensor stay so, to be projected once."""
    swapped = {id(each): each.transpose(0, 1) for each in inputs}
    return [swapped[id(each)] for each in inputs]
