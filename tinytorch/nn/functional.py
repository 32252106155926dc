"""Functions of neural networks: activations, losses, convolution, normalization, attention.

The operations are defined in ``tinytorch.ops``.
"""

from __future__ import annotations

from ..facade import resolve

__getattr__, __dir__ = resolve.namespace(__name__, "nn.functional")
