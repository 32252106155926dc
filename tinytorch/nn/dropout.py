"""Dropout: zeroing elements at random while training."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    """Base class of the dropout layers.

    Args:
        p: Probability of an element, or of a channel, to be zeroed. Default: 0.5.
        inplace: Whether to overwrite the input. Default: False.

    Raises:
        ValueError: If ``p`` is not between 0 and 1.
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zero each element with probability p and scale the others by 1 / (1 - p).

    In evaluation mode the output is the input.

    Example:
        >>> tt.nn.Dropout(0.2).eval()(tt.ones(3))
        tensor([1., 1., 1.])

    Reference:
        G. Hinton et al., "Improving neural networks by preventing co-adaptation of feature
        detectors" (2012).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to a tensor of any shape."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Zero whole channels of a sequence with probability p.

    Example:
        >>> tt.nn.Dropout1d(0.2)(tt.ones(2, 3, 8)).shape
        tinytorch.Size([2, 3, 8])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to a tensor of shape ``(batch, channels, length)``, or without batch."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Zero whole channels of an image with probability p.

    Example:
        >>> tt.nn.Dropout2d(0.2)(tt.ones(2, 3, 8, 8)).shape
        tinytorch.Size([2, 3, 8, 8])

    Reference:
        J. Tompson et al., "Efficient object localization using convolutional networks" (2014).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to a tensor of shape ``(batch, channels, height, width)``."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Zero whole channels of a volume with probability p.

    Example:
        >>> tt.nn.Dropout3d(0.2)(tt.ones(2, 3, 4, 4, 4)).shape
        tinytorch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to a tensor of shape ``(batch, channels, depth, height, width)``."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout that preserves mean 0 and variance 1 of its input, for networks with SELU.

    Args:
        inplace: Has no effect; accepted as in PyTorch. Default: False.

    Example:
        >>> tt.nn.AlphaDropout(0.2)(tt.ones(3)).shape
        tinytorch.Size([3])

    Reference:
        G. Klambauer et al., "Self-normalizing neural networks" (2017).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to a tensor of any shape."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """Alpha dropout of whole channels.

    Args:
        inplace: Has no effect; accepted as in PyTorch. Default: False.

    Example:
        >>> tt.nn.FeatureAlphaDropout(0.2)(tt.ones(2, 3, 4, 4, 4)).shape
        tinytorch.Size([2, 3, 4, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout to a tensor of shape ``(batch, channels, *)``."""
        return F.feature_alpha_dropout(input, self.p, self.training)
