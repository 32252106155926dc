"""Which encoders leave padded positions out, so that zeros stand there in their output.

PyTorch computes nothing for padding where it can put an encoder's input into a nested tensor, and
pads the output with zeros. The other positions are the same either way, but what comes after, the
normalisation or a mean over time, sees the zeros.
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..state import grad_enabled
from . import functional as F
from .activation import GELU
from .attention import MultiheadAttention
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
