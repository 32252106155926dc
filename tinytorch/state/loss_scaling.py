"""Where an optimizer is between two steps with scaled gradients."""

from __future__ import annotations

import enum


class OptState(enum.Enum):
    """As PyTorch numbers it; ``GradScaler`` keeps its own account.

    Example:
        >>> from tinytorch.amp.grad_scaler import OptState
        >>> OptState(1)
        <OptState.UNSCALED: 1>
    """

    READY = 0
    UNSCALED = 1
    STEPPED = 2
