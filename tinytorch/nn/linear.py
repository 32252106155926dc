"""Identity, linear and bilinear layers."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Layer that returns its input; it accepts and ignores any arguments.

    Example:
        >>> tt.nn.Identity(54, unused=True)(tt.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return ``input``."""
        return input


def draw_by_inputs(weight: Parameter, bias: Parameter | None) -> None:
    """Draw a layer's parameters from U(-k, k), k = 1 / √(number of inputs of an output)."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))
    if bias is not None:
        fan_in, _ = init._calculate_fan_in_and_fan_out(weight)
        bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
        init.uniform_(bias, -bound, bound)


class Linear(Module):
    """``input @ weight.T + bias``.

    Initially, weight and bias are drawn from U(-k, k), k = 1 / √in_features.

    Args:
        in_features: Size of the input's last dimension.
        out_features: Size of the output's last dimension.
        bias: Whether to add a learned bias. Default: True.

    Attributes:
        weight: Shape ``(out_features, in_features)``.
        bias: Shape ``(out_features,)``, or None.

    Example:
        >>> layer = tt.nn.Linear(20, 30)
        >>> layer(tt.randn(128, 20)).shape
        tinytorch.Size([128, 30])
    """

    in_features: int
    out_features: int
    weight: Parameter
    #: May be None, but typed as in PyTorch, so that ``layer.bias.data`` type-checks.
    bias: Parameter

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        factory = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((out_features, in_features), **factory))
        self.register_parameter("bias", Parameter(empty(out_features, **factory)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        draw_by_inputs(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer.

        Args:
            input: Shape ``(*, in_features)``.

        Returns:
            Shape ``(*, out_features)``.
        """
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    """``input1 @ weight[k] @ input2 + bias[k]`` for each output k.

    Initially, weight and bias are drawn from U(-k, k), k = 1 / √in1_features.

    Args:
        in1_features: Size of the first input's last dimension.
        in2_features: Size of the second input's last dimension.
        out_features: Size of the output's last dimension.
        bias: Whether to add a learned bias. Default: True.

    Attributes:
        weight: Shape ``(out_features, in1_features, in2_features)``.
        bias: Shape ``(out_features,)``, or None.

    Raises:
        ValueError: If ``in1_features`` is not positive.

    Example:
        >>> layer = tt.nn.Bilinear(20, 30, 40)
        >>> layer(tt.randn(128, 20), tt.randn(128, 30)).shape
        tinytorch.Size([128, 40])
    """

    in1_features: int
    in2_features: int
    out_features: int
    weight: Parameter
    #: May be None, but typed as in PyTorch, so that ``layer.bias.data`` type-checks.
    bias: Parameter

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        factory = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((out_features, in1_features, in2_features), **factory))
        self.register_parameter("bias", Parameter(empty(out_features, **factory)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the layer.

        Args:
            input1: Shape ``(*, in1_features)``.
            input2: Shape ``(*, in2_features)``.

        Returns:
            Shape ``(*, out_features)``.
        """
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
