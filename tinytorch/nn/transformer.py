"""The transformer: encoder and decoder of attention and feed-forward layers.

In evaluation, PyTorch puts a padded input of an encoder into a nested tensor if it can, computes
nothing for the padding, and pads the output with zeros. Layers after the encoder, such as a
normalization or a mean over time, read these zeros, so the encoders here write them too.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import full
from ..state import grad_enabled
from . import functional as F
from . import init
from .activation import GELU
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm
from .rectifier import ReLU


__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip

Activation = str | Callable[[Tensor], Tensor]


def can_nest(layer: Any) -> bool:
    """Whether PyTorch puts the padded input of an encoder of such layers into a nested tensor."""
    attention: Any = getattr(layer, "self_attn", None)
    if not isinstance(attention, MultiheadAttention):
        return False
    function = layer.activation
    return (
        not layer.norm_first
        and attention.batch_first
        and attention._qkv_same_embed_dim
        and attention.in_proj_bias is not None
        and (function in (F.relu, F.gelu) or isinstance(function, (ReLU, GELU)))
        and layer.norm1.eps == layer.norm2.eps
        and attention.num_heads % 2 == 0
    )


def zero_padding(encoder: Any, output: Any, src: Tensor, mask: Any, padding: Any) -> Any:
    """Set the output of an encoder to zero at the padding, where PyTorch would use nested tensors.

    Args:
        encoder: The encoder.
        output: The output of its layers, ``(batch, time, d_model)``.
        src: The encoder's input.
        mask: Attention mask of the call, or None.
        padding: Mask ``(batch, time)`` that is not 0 at the padding, or None.
    """
    if not encoder.use_nested_tensor or padding is None or mask is not None or src.ndim != 3:
        return output
    layer = encoder.layers[0]
    if layer.training or _is_recorded(layer, src):
        return output
    used = padding == 0
    if encoder.mask_check and not (used[:, 1:] <= used[:, :-1]).all():
        return output  # a nested tensor can omit padding at the end alone
    return output.masked_fill(~used.unsqueeze(-1), 0.0)


def _is_recorded(layer: Any, src: Tensor) -> bool:
    """Whether autograd records the layer's call."""
    return grad_enabled() and (
        src.requires_grad or any(parameter.requires_grad for parameter in layer.parameters())
    )


class _Transformer(Module):
    """Base class that describes the arguments of the layers and of the whole transformer.

    Args:
        d_model: Size of the features.
        nhead: Number of attention heads.
        dim_feedforward: Size of the hidden layer of the feed-forward network. Default: 2048.
        dropout: Probability of an element to be zeroed. Default: 0.1.
        activation: Activation of the hidden layer: ``"relu"``, ``"gelu"`` or a function. Default:
            relu.
        layer_norm_eps: ``eps`` of the layer normalizations. Default: 1e-5.
        batch_first: Whether tensors have shape ``(batch, time, features)`` instead of ``(time,
            batch, features)``. Default: False.
        norm_first: Whether the input of each block is normalized instead of the sum of its input
            and output. Default: False.
        bias: Whether the layers have biases. Default: True.

    Reference:
        A. Vaswani et al., "Attention is all you need" (2017).
    """


class _Layer(_Transformer):
    """Base class of encoder and decoder layers: self-attention and a feed-forward network."""

    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    norm_first: bool
    activation: Callable[[Tensor], Tensor]

    #: Number of blocks, each with a normalization and a dropout.
    _blocks: int

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn")[: self._blocks - 1]:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **factory
            )
            setattr(self, name, attention)
        self.linear1: Linear = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout: Dropout = Dropout(dropout)
        self.linear2: Linear = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        for block in range(1, self._blocks + 1):
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            setattr(self, f"norm{block}", norm)
        for block in range(1, self._blocks + 1):
            setattr(self, f"dropout{block}", Dropout(dropout))
        if isinstance(activation, str):
            activation = _get_activation_fn(activation)
        self.activation = activation

    def _add_block(self, x: Tensor, norm: Module, block: Callable[..., Tensor], *args: Any) -> Any:
        """Add ``block(x)`` to ``x``; normalize the block's input or the sum with ``norm``."""
        if self.norm_first:
            return x + block(norm(x), *args)
        return norm(x + block(x, *args))

    def _sa_block(
        self, x: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Self-attention and its dropout; subclasses override it."""
        attended = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout1(attended[0])

    def _ff_block(self, x: Tensor) -> Tensor:
        """Feed-forward network and its dropout; subclasses override it."""
        dropout: Dropout = getattr(self, f"dropout{self._blocks}")
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    """Return the function ``"relu"`` or ``"gelu"``."""
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)  # type: ignore[no-any-return]


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """Return the length of the sequence; None if there are more than three dimensions."""
    if src.ndim == 2:
        return src.shape[0]
    return src.shape[1 if batch_first else 0] if src.ndim == 3 else None


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """Return ``is_causal``; if it is None, whether ``mask`` is the causal mask of this size."""
    if is_causal is not None or mask is None:
        return is_causal is True
    size = mask.size(-2) if size is None else size
    causal = _generate_square_subsequent_mask(size, device=mask.device, dtype=mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """Return the causal mask ``(sz, sz)``: minus infinity above the diagonal, else 0."""
    return full((sz, sz), -math.inf, device=device, dtype=dtype).triu(1)


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each added to its input and normalized.

    Example:
        >>> layer = tt.nn.TransformerEncoderLayer(d_model=16, nhead=4)
        >>> layer(tt.randn(10, 2, 16)).shape
        tinytorch.Size([10, 2, 16])
    """

    _blocks = 2
    self_attn: MultiheadAttention

    @property
    def activation_relu_or_gelu(self) -> int:
        """1 if the activation is relu, 2 if it is gelu, else 0."""
        for number, (function, kind) in enumerate(((F.relu, ReLU), (F.gelu, GELU)), 1):
            if self.activation is function or isinstance(self.activation, kind):
                return number
        return 0

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Encode a sequence.

        Args:
            src: Shape ``(time, batch, d_model)``, or without batch.
            src_mask: Attention mask, see MultiheadAttention. Default: None.
            src_key_padding_mask: Mask of the padding, see MultiheadAttention. Default: None.
            is_causal: Hint that ``src_mask`` is the causal mask. Default: False.
        """
        x = self._add_block(
            src, self.norm1, self._sa_block, src_mask, src_key_padding_mask, is_causal
        )
        return self._add_block(x, self.norm2, self._ff_block)  # type: ignore[no-any-return]


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output (``memory``), and a feed-forward network.

    Example:
        >>> layer = tt.nn.TransformerDecoderLayer(d_model=16, nhead=4)
        >>> layer(tt.randn(5, 2, 16), memory=tt.randn(10, 2, 16)).shape
        tinytorch.Size([5, 2, 16])
    """

    _blocks = 3
    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode a sequence.

        Args:
            tgt: Shape ``(time, batch, d_model)``, or without batch.
            memory: Output of the encoder.
            tgt_mask: Mask of the self-attention, see MultiheadAttention. Default: None.
            memory_mask: Mask of the attention to the memory. Default: None.
            tgt_key_padding_mask: Mask of the padding of ``tgt``. Default: None.
            memory_key_padding_mask: Mask of the padding of ``memory``. Default: None.
            tgt_is_causal: Hint that ``tgt_mask`` is the causal mask. Default: False.
            memory_is_causal: Hint that ``memory_mask`` is the causal mask. Default: False.
        """
        x = self._add_block(
            tgt, self.norm1, self._sa_block, tgt_mask, tgt_key_padding_mask, tgt_is_causal
        )
        x = self._add_block(
            x, self.norm2, self._mha_block, memory, memory_mask, memory_key_padding_mask,
            memory_is_causal,
        )  # fmt: skip
        return self._add_block(x, self.norm3, self._ff_block)  # type: ignore[no-any-return]

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Attention to the memory and its dropout; subclasses override it."""
        attended = self.multihead_attn(
            x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal
        )
        return self.dropout2(attended[0])


class TransformerEncoder(Module):
    """Stack of encoder layers.

    Args:
        encoder_layer: The layer; each layer of the stack is a copy of it.
        num_layers: Number of layers.
        norm: Normalization of the output. Default: none.
        enable_nested_tensor: Whether the output (before ``norm``) is 0 at the padding where
            PyTorch uses nested tensors: in evaluation without autograd, for suitable layers with
            ``batch_first``. Default: True.
        mask_check: Whether this requires all padding to be at the end. Default: True.

    Example:
        >>> layer = tt.nn.TransformerEncoderLayer(d_model=16, nhead=4)
        >>> tt.nn.TransformerEncoder(layer, num_layers=2)(tt.randn(10, 2, 16)).shape
        tinytorch.Size([10, 2, 16])
    """

    num_layers: int
    norm: Module | None

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers: ModuleList = ModuleList(
            [copy.deepcopy(encoder_layer) for _ in range(num_layers)]
        )
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor: bool = enable_nested_tensor and can_nest(encoder_layer)
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Encode a sequence.

        Args:
            src: Shape ``(time, batch, d_model)``, or without batch.
            mask: Attention mask, see MultiheadAttention. Default: None.
            src_key_padding_mask: Mask of the padding, see MultiheadAttention. Default: None.
            is_causal: Hint that ``mask`` is the causal mask. Default: False.
        """
        output: Any = src
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=bool(is_causal),
            )
        output = zero_padding(self, output, src, mask, src_key_padding_mask)
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]


class TransformerDecoder(Module):
    """Stack of decoder layers.

    Args:
        decoder_layer: The layer; each layer of the stack is a copy of it.
        num_layers: Number of layers.
        norm: Normalization of the output. Default: none.

    Example:
        >>> layer = tt.nn.TransformerDecoderLayer(d_model=16, nhead=4)
        >>> decoder = tt.nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(tt.randn(5, 2, 16), tt.randn(10, 2, 16)).shape
        tinytorch.Size([5, 2, 16])
    """

    num_layers: int
    norm: Module | None

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers: ModuleList = ModuleList(
            [copy.deepcopy(decoder_layer) for _ in range(num_layers)]
        )
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode a sequence.

        Args:
            tgt: Shape ``(time, batch, d_model)``, or without batch.
            memory: Output of the encoder.
            tgt_mask: Mask of the self-attention, see MultiheadAttention. Default: None.
            memory_mask: Mask of the attention to the memory. Default: None.
            tgt_key_padding_mask: Mask of the padding of ``tgt``. Default: None.
            memory_key_padding_mask: Mask of the padding of ``memory``. Default: None.
            tgt_is_causal: Hint that ``tgt_mask`` is the causal mask. Default: False.
            memory_is_causal: Hint that ``memory_mask`` is the causal mask. Default: False.
        """
        output: Any = tgt
        for layer in self.layers:
            output = layer(
                output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]


class Transformer(_Transformer):
    """An encoder, and a decoder that attends to the encoder's output.

    Matrices are initialized by ``init.xavier_uniform_``.

    Args:
        d_model: Size of the features. Default: 512.
        nhead: Number of attention heads. Default: 8.
        num_encoder_layers: Number of layers of the encoder. Default: 6.
        num_decoder_layers: Number of layers of the decoder. Default: 6.
        custom_encoder: Replaces the encoder. Default: None.
        custom_decoder: Replaces the decoder. Default: None.

    Example:
        >>> model = tt.nn.Transformer(16, 4, 2, 2, dim_feedforward=32)
        >>> model(tt.randn(10, 2, 16), tt.randn(5, 2, 16)).shape
        tinytorch.Size([5, 2, 16])
    """

    d_model: int
    nhead: int
    batch_first: bool

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        layer: tuple[Any, ...] = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*layer, **factory)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*layer, **factory)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Initialize the matrices by ``init.xavier_uniform_``."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode ``src`` and decode ``tgt``; MultiheadAttention describes the masks.

        Args:
            src: Shape ``(sources, batch, d_model)``, or without batch.
            tgt: Shape ``(targets, batch, d_model)``, or without batch.
            src_mask: Mask of the encoder's self-attention. Default: None.
            tgt_mask: Mask of the decoder's self-attention. Default: None.
            memory_mask: Mask of the attention to the encoder's output. Default: None.
            src_key_padding_mask: Mask of the padding of ``src``. Default: None.
            tgt_key_padding_mask: Mask of the padding of ``tgt``. Default: None.
            memory_key_padding_mask: Mask of the padding of the encoder's output. Default: None.
            src_is_causal: Hint that ``src_mask`` is the causal mask. Default: False.
            tgt_is_causal: Hint that ``tgt_mask`` is the causal mask. Default: False.
            memory_is_causal: Hint that ``memory_mask`` is the causal mask. Default: False.

        Returns:
            Shape ``(targets, batch, d_model)``, or without batch.

        Raises:
            RuntimeError: If the batch sizes differ, or the number of features is not ``d_model``.
        """
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return the causal mask: minus infinity above the diagonal, else 0.

        Args:
            sz: Number of positions.
            device: Device of the mask. Default: the active backend's.
            dtype: Dtype of the mask. Default: the default dtype.

        Example:
            >>> tt.nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)
