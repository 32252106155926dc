"""Parameters from ``filter`` for an optimizer; mypy takes the first overload of ``filter``."""

# mypy: disable-error-code="arg-type"
from __future__ import annotations

from tinytorch import nn, optim

layer = nn.Linear(2, 3)
layer.bias.requires_grad_(False)
optim.SGD(filter(lambda p: p.requires_grad, layer.parameters()), lr=0.1)
