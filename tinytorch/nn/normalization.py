"""Layer, group, root-mean-square and local response normalization."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _Normalization(Module):
    """Base class of normalizations with an optional learned weight and bias.

    Args:
        eps: Added to the variance. Default: 1e-5.
        bias: Whether there is a bias beside the weight. Default: True.
    """

    #: May be None, but typed as in PyTorch, so that ``layer.weight.data`` type-checks.
    weight: Parameter
    bias: Parameter

    def _make_parameters(self, shape: Any, weight: bool, bias: bool, **factory: Any) -> None:
        """Register weight and bias, each None if not wanted; ``factory``: device and dtype."""
        self.register_parameter("weight", Parameter(empty(shape, **factory)) if weight else None)
        self.register_parameter("bias", Parameter(empty(shape, **factory)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Normalization):
    """(x - mean) / √(variance + eps) · weight + bias over the last dimensions.

    The variance is the biased one.

    Args:
        normalized_shape: Sizes of these dimensions; an int is the size of the last one.
        elementwise_affine: Whether there are a learned weight and bias. Default: True.

    Attributes:
        weight: Shape ``normalized_shape``, initially 1; or None.
        bias: Shape ``normalized_shape``, initially 0; or None.

    Example:
        >>> tt.nn.LayerNorm(2)(tt.tensor([1.0, 3.0])).detach()
        tensor([-1.0000,  1.0000])

    Reference:
        J. Ba et al., "Layer normalization" (2016).
    """

    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._make_parameters(
            self.normalized_shape, elementwise_affine, elementwise_affine and bias, device=device,
            dtype=dtype,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(*, *normalized_shape)``."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / √(mean of x² + eps) · weight over the last dimensions.

    Args:
        normalized_shape: Sizes of these dimensions; an int is the size of the last one.
        eps: Added to the mean square. Default: ``finfo(input.dtype).eps``.
        elementwise_affine: Whether there is a learned weight. Default: True.

    Attributes:
        weight: Shape ``normalized_shape``, initially 1; or None.

    Example:
        >>> tt.nn.RMSNorm(2)(tt.tensor([3.0, 3.0])).detach()
        tensor([1., 1.])

    Reference:
        B. Zhang and R. Sennrich, "Root mean square layer normalization" (2019).
    """

    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool
    #: May be None, but typed as in PyTorch, so that ``layer.weight.data`` type-checks.
    weight: Parameter

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter("weight", None)
        if elementwise_affine:
            weight = empty(self.normalized_shape, device=device, dtype=dtype)
            self.weight = Parameter(weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(*, *normalized_shape)``."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Normalization):
    """Normalization of each group of channels of each sample.

    Args:
        num_groups: Number of groups into which the channels are divided.
        num_channels: Number of channels of the input.
        affine: Whether there are a learned weight and bias. Default: True.

    Attributes:
        weight: Shape ``(num_channels,)``, initially 1; or None.
        bias: Shape ``(num_channels,)``, initially 0; or None.

    Raises:
        ValueError: If ``num_groups`` does not divide ``num_channels``.

    Example:
        >>> tt.nn.GroupNorm(3, 6)(tt.randn(20, 6, 10, 10)).shape
        tinytorch.Size([20, 6, 10, 10])

    Reference:
        Y. Wu and K. He, "Group normalization" (2018).
    """

    num_groups: int
    num_channels: int
    eps: float
    affine: bool

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._make_parameters(num_channels, affine, affine and bias, device=device, dtype=dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(batch, num_channels, *)``."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _LocalResponse(Module):
    """Base class of normalizations by the neighboring channels.

    Args:
        size: Number of neighboring channels.
        alpha: Factor of the mean. Default: 1e-4.
        beta: Exponent of the denominator. Default: 0.75.
        k: Added to the mean. Default: 1.
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_LocalResponse):
    """x / (k + alpha · mean of the squares of the neighboring channels)^beta.

    Example:
        >>> tt.nn.LocalResponseNorm(2)(tt.randn(2, 5, 4, 4)).shape
        tinytorch.Size([2, 5, 4, 4])

    Reference:
        A. Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
        (2012).
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(batch, channels, *)``."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_LocalResponse):
    """``LocalResponseNorm`` as in Torch 7: with an even ``size``, one channel fewer counts.

    PyTorch's implementation never subtracts the first channel from its running sum, so that this
    channel counts for all others; here it counts for its neighbors alone.

    Args:
        size: Number of neighboring channels; the sum of the squares is divided by it even if
            fewer channels count.

    Raises:
        ValueError: If the input has not four dimensions.

    Example:
        >>> tt.nn.CrossMapLRN2d(3)(tt.randn(2, 5, 4, 4)).shape
        tinytorch.Size([2, 5, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Normalize a tensor of shape ``(batch, channels, height, width)``."""
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        channels = self.size - 1 + self.size % 2  # odd, so that as many lie on either side
        alpha = self.alpha * channels / self.size
        return F.local_response_norm(input, channels, alpha, self.beta, self.k)


def _as_shape(sizes: int | Sequence[int]) -> tuple[int, ...]:
    """Return sizes as a tuple; an int is the only size."""
    if isinstance(sizes, Sequence):
        return tuple(sizes)
    return (operator.index(sizes),)
