"""Functions of neural networks: activations, losses, convolution, normalisation, attention.

The operations themselves live in ``tinytorch.ops``; this is the name they are reached by.
"""

from __future__ import annotations

from ..facade import resolve

__getattr__, __dir__ = resolve.namespace(__name__, "nn.functional")
