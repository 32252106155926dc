"""The transformer: encoder and decoder of attention and feed-forward layers.

PyTorch computes nothing for padding where it can put an encoder's input into a nested tensor, and
pads the output with zeros. The encoders that do so write these zeros here, too, since the layers
after them, a normalization or a mean over time, read them.
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


def can_leave_out(layer: Any) -> bool:
    """Whether layers like this one work without the padding."""
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


def leave_out(encoder: Any, output: Any, src: Tensor, mask: Any, padding: Any) -> Any:
    """The layers' output for ``src``, with zeros at the positions that the call leaves out."""
    if not encoder.use_nested_tensor or padding is None or mask is not None or src.ndim != 3:
        return output
    layer = encoder.layers[0]
    if layer.training or _is_recorded(layer, src):
        return output
    kept = padding == 0
    if encoder.mask_check and not (kept[:, 1:] <= kept[:, :-1]).all():
        return output  # only a tail can be left out
    return output.masked_fill(~kept.unsqueeze(-1), 0.0)


def _is_recorded(layer: Any, src: Tensor) -> bool:
    return grad_enabled() and (
        src.requires_grad or any(parameter.requires_grad for parameter in layer.parameters())
    )


__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


class _Layer(Module):
    """What the layers of encoder and decoder share: self-attention and two Linears."""

    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    norm_first: bool
    activation: Callable[[Tensor], Tensor]

    #: How many blocks there are, each with a normalisation and a dropout.
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
        """Add the output of ``block`` to ``x``; normalize its input or the sum."""
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
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)  # type: ignore[no-any-return]


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """Return the length of the sequence, or None if there are more than three dimensions."""
    if src.ndim == 2:
        return src.shape[0]
    return src.shape[1 if batch_first else 0] if src.ndim == 3 else None


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """Return ``is_causal``, or where it is None whether ``mask`` hides the future alone."""
    if is_causal is not None or mask is None:
        return is_causal is True
    size = mask.size(-2) if size is None else size
    causal = _generate_square_subsequent_mask(size, device=mask.device, dtype=mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    return full((sz, sz), -math.inf, device=device, dtype=dtype).triu(1)


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each added to its input and normalised.

    Args:
        d_model: Size of the features.
        nhead: How many heads.
        dim_feedforward: Size of the hidden layer. Default: 2048.
        dropout: Default: 0.1.
        activation: Of the hidden layer: ``"relu"``, ``"gelu"`` or a function. Default: relu.
        layer_norm_eps: Default: 1e-5.
        batch_first: Whether tensors have shape ``(batch, time, features)`` instead of ``(time,
            batch, features)``. Default: False.
        norm_first: Whether inputs are normalised instead of sums. Default: False.
        bias: Whether there are biases. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> layer = tt.nn.TransformerEncoderLayer(d_model=16, nhead=4)
        >>> layer(tt.randn(10, 2, 16)).shape
        tinytorch.Size([10, 2, 16])

    Reference:
        A. Vaswani et al., "Attention is all you need" (2017).
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
        """Encode.

        Args:
            src: Shape ``(time, batch, d_model)``, or without batch.
            src_mask: What a position must not see; see MultiheadAttention.
            src_key_padding_mask: What is ignored; see MultiheadAttention.
            is_causal: Says that ``src_mask`` hides the future. Default: False.
        """

        x = self._add_block(
            src, self.norm1, self._sa_block, src_mask, src_key_padding_mask, is_causal
        )
        return self._add_block(x, self.norm2, self._ff_block)  # type: ignore[no-any-return]


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory and a feed-forward network.

    Args:
        d_model: Size of the features.
        nhead: How many heads.
        dim_feedforward: Size of the hidden layer. Default: 2048.
        dropout: Default: 0.1.
        activation: Of the hidden layer: ``"relu"``, ``"gelu"`` or a function. Default: relu.
        layer_norm_eps: Default: 1e-5.
        batch_first: Whether tensors have shape ``(batch, time, features)`` instead of ``(time,
            batch, features)``. Default: False.
        norm_first: Whether inputs are normalised instead of sums. Default: False.
        bias: Whether there are biases. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> layer = tt.nn.TransformerDecoderLayer(d_model=16, nhead=4)
        >>> layer(tt.randn(5, 2, 16), memory=tt.randn(10, 2, 16)).shape
        tinytorch.Size([5, 2, 16])

    Reference:
        A. Vaswani et al., "Attention is all you need" (2017).
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
        """Decode.

        Args:
            tgt: Shape ``(time, batch, d_model)``, or without batch.
            memory: What the encoder returned.
            tgt_mask: What a position must not see of ``tgt``; see MultiheadAttention.
            memory_mask: What it must not see of the memory.
            tgt_key_padding_mask: What of ``tgt`` is ignored; see MultiheadAttention.
            memory_key_padding_mask: What of the memory is.
            tgt_is_causal: Says that ``tgt_mask`` hides the future. Default: False.
            memory_is_causal: Says that ``memory_mask`` does. Default: False.
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
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Any,
        key_padding_mask: Any,
        is_causal: bool = False,
    ) -> Tensor:
        """Attention to the memory and its dropout; subclasses override it."""
        attended = self.multihead_attn(
            x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal
        )
        return self.dropout2(attended[0])


class TransformerEncoder(Module):
    """Encoder layers one after the other.

    Args:
        encoder_layer: The layer, copied for each.
        num_layers: How many.
        norm: A normalisation of the output. Default: none.
        enable_nested_tensor: Whether padding is 0 in the output (before ``norm``) of evaluation
            that is not recorded, for ``batch_first`` layers that PyTorch can nest. Default: True.
        mask_check: Whether that is so only if all padding comes last. Default: True.

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
        self.use_nested_tensor: bool = enable_nested_tensor and can_leave_out(encoder_layer)
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Encode; see TransformerEncoderLayer.

        Args:
            src: Shape ``(time, batch, d_model)``, or without batch.
            mask: What a position must not see.
            src_key_padding_mask: What is ignored.
            is_causal: Says that ``mask`` hides the future. Default: no.
        """
        output: Any = src
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=bool(is_causal),
            )
        output = leave_out(self, output, src, mask, src_key_padding_mask)
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]


class TransformerDecoder(Module):
    """Decoder layers one after the other.

    Args:
        decoder_layer: The layer, copied for each.
        num_layers: How many.
        norm: A normalisation of the output. Default: none.

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
        """Decode; see TransformerDecoderLayer.

        Args:
            tgt: Shape ``(time, batch, d_model)``, or without batch.
            memory: What the encoder returned.
            tgt_mask: What a position must not see of ``tgt``.
            memory_mask: What it must not see of the memory.
            tgt_key_padding_mask: What of ``tgt`` is ignored.
            memory_key_padding_mask: What of the memory is.
            tgt_is_causal: Says that ``tgt_mask`` hides the future. Default: no.
            memory_is_causal: Says that ``memory_mask`` does. Default: False.
        """
        output: Any = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]


class Transformer(Module):
    """An encoder, and a decoder that attends to what it returns.

    Matrices are drawn as ``init.xavier_uniform_`` does.

    Args:
        d_model: Size of the features. Default: 512.
        nhead: How many heads. Default: 8.
        num_encoder_layers: Default: 6.
        num_decoder_layers: Default: 6.
        dim_feedforward: Size of the layers' hidden layers. Default: 2048.
        dropout: Default: 0.1.
        activation: Of the hidden layers: ``"relu"``, ``"gelu"`` or a function. Default: relu.
        custom_encoder: Another encoder. Default: none.
        custom_decoder: Another decoder. Default: none.
        layer_norm_eps: Default: 1e-5.
        batch_first: Whether tensors have shape ``(batch, time, features)`` instead of ``(time,
            batch, features)``. Default: False.
        norm_first: Whether inputs of the blocks are normalised instead of sums. Default: False.
        bias: Whether there are biases. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Example:
        >>> model = tt.nn.Transformer(16, 4, 2, 2, dim_feedforward=32)
        >>> model(tt.randn(10, 2, 16), tt.randn(5, 2, 16)).shape
        tinytorch.Size([5, 2, 16])

    Reference:
        A. Vaswani et al., "Attention is all you need" (2017).
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
        """Encode ``src`` and decode ``tgt``; see the layers for the masks.

        Args:
            src: Shape ``(sources, batch, d_model)``, or without batch.
            tgt: Shape ``(targets, batch, d_model)``, or without batch.
            src_mask: What a position of ``src`` must not see of it.
            tgt_mask: What a position of ``tgt`` must not see of it.
            memory_mask: What it must not see of the encoded ``src``.
            src_key_padding_mask: What of ``src`` is ignored.
            tgt_key_padding_mask: What of ``tgt`` is.
            memory_key_padding_mask: What of the encoded ``src`` is.
            src_is_causal: Says that ``src_mask`` hides the future. Default: no.
            tgt_is_causal: Says that ``tgt_mask`` does. Default: no.
            memory_is_causal: Says that ``memory_mask`` does. Default: False.

        Returns:
            Shape ``(targets, batch, d_model)``, or without batch.

        Raises:
            RuntimeError: If the batches differ or the features are not ``d_model``.
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
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask that hides the future: minus infinity above the diagonal, else 0.

        Args:
            sz: How many positions.
            device: Where it lives. Default: the active backend's.
            dtype: Its dtype. Default: the default dtype.

        Example:
            >>> tt.nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)
