"""Functions of neural networks: activations, losses, convolution, normalization, attention.

The operations are defined in ``tinytorch.ops``.
"""

from __future__ import annotations

from ._attention_inputs import (
    _canonical_mask as _canonical_mask,
    _in_projection as _in_projection,
    _in_projection_packed as _in_projection_packed,
    _mha_shape_check as _mha_shape_check,
    _none_or_dtype as _none_or_dtype,
)
from ..facade import resolve

__getattr__, __dir__ = resolve.namespace(__name__, "nn.functional")
