"""Normalisation over the elements of one sample."""

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
    """A normalisation with an optional learned scale and shift, which start at 1 and 0."""

    #: None without one; typed as in PyTorch, where users write ``layer.weight.data``.
    weight: Parameter
    bias: Parameter

    def _make_parameters(self, shape: Any, weight: bool, bias: bool, **factory: Any) -> None:
        self.register_parameter("weight", Parameter(empty(shape, **factory)) if weight else None)
        self.register_parameter("bias", Parameter(empty(shape, **factory)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Normalization):
    """(x - mean) / √(variance + eps) · weight + bias over the last dimensions.

    The variance is the biased one.

    Args:
        normalized_shape: The sizes of those dimensions; an int for the last one.
        eps: Added to the variance. Default: 1e-5.
        elementwise_affine: Whether there are weight and bias. Default: True.
        bias: Whether there is a bias, given there is a weight. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.

    Attributes:
        weight: Shape ``normalized_shape``, at first 1; or None.
        bias: Shape ``normalized_shape``, at first 0; or None.

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
            self.normalized_shape,
            elementwise_affine,
            elementwise_affine and bias,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to a tensor of shape ``(*, *normalized_shape)``."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """x / √(mean of x² + eps) · weight over the last dimensions.

    Args:
        normalized_shape: The sizes of those dimensions; an int for the last one.
        eps: Added to the mean square. Default: the spacing of numbers next to 1 in the input's
            dtype.
        elementwise_affine: Whether there is a weight. Default: True.
        device: Where the weight lives. Default: the active backend's.
        dtype: Its dtype. Default: the default dtype.

    Attributes:
        weight: Shape ``normalized_shape``, at first 1; or None.

    Example:
        >>> tt.nn.RMSNorm(2)(tt.tensor([3.0, 3.0])).detach()
        tensor([1., 1.])

    Reference:
        B. Zhang and R. Sennrich, "Root mean square layer normalization" (2019).
    """

    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool
    #: None without one; typed as in PyTorch, where users write ``layer.weight.data``.
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
        """Set the scale to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to a tensor of shape ``(*, *normalized_shape)``."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Normalization):
    """Normalisation of each group of channels of each sample.

    Args:
        num_groups: How many groups the channels form.
        num_channels: How many channels there are.
        eps: Added to the variance. Default: 1e-5.
        affine: Whether there are weight and bias. Default: True.
        device: Where the parameters live. Default: the active backend's.
        dtype: Their dtype. Default: the default dtype.
        bias: Whether there is a bias, given there is a weight. Default: True.

    Attributes:
        weight: Shape ``(num_channels,)``, at first 1; or None.
        bias: Shape ``(num_channels,)``, at first 0; or None.

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
        """Apply it to a tensor of shape ``(batch, num_channels, *)``."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The configuration."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha · mean of the squares of the neighbouring channels)^beta.

    Args:
        size: How many neighbouring channels.
        alpha: Default: 1e-4.
        beta: Default: 0.75.
        k: Default: 1.

    Example:
        >>> tt.nn.LocalResponseNorm(2)(tt.randn(2, 5, 4, 4)).shape
        tinytorch.Size([2, 5, 4, 4])

    Reference:
        A. Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
        (2012).
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to a tensor of shape ``(batch, channels, *)``."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """``LocalResponseNorm`` as Torch 7 had it: an even ``size`` takes one channel less.

    PyTorch's forgets to take the first channel out of the sum again, so that it counts for every
    channel; here it counts for its neighbours.

    Args:
        size: How many neighbouring channels; the sum of the squares of those that are taken is
            divided by it.
        alpha: Default: 1e-4.
        beta: Default: 0.75.
        k: Default: 1.

    Raises:
        ValueError: If the input has not four dimensions.

    Example:
        >>> tt.nn.CrossMapLRN2d(3)(tt.randn(2, 5, 4, 4)).shape
        tinytorch.Size([2, 5, 4, 4])
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

    def forward(self, input: Tensor) -> Tensor:
        """Apply it to a tensor of shape ``(batch, channels, height, width)``."""
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        taken = self.size - 1 + self.size % 2  # as many on either side
        alpha = self.alpha * taken / self.size
        return F.local_response_norm(input, taken, alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The configuration."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _as_shape(sizes: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(sizes, Sequence):
        return tuple(sizes)
    return (operator.index(sizes),)
