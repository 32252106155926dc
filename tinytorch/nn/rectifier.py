"""Rectifiers and similar activation functions as modules; most can work in place."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import empty
from ..warnings import warn
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = [
    "CELU", "ELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "PReLU", "ReLU",
    "ReLU6", "RReLU", "SELU", "SiLU", "Threshold",
]  # fmt: skip


class _InPlace(Module):
    """Base class of activation functions that can overwrite their input.

    Args:
        inplace: Whether to overwrite the input. Default: False.
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _configuration(self, **values: object) -> str:
        """Return ``name=value`` of each value, and ``inplace=True`` if the layer is in place."""
        shown = [f"{name}={value}" for name, value in values.items()]
        return ", ".join([*shown, "inplace=True"] if self.inplace else shown)


class ReLU(_InPlace):
    """max(0, x).

    Example:
        >>> tt.nn.ReLU()(tt.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.relu_(input) if self.inplace else F.relu(input)


class SiLU(_InPlace):
    """x · sigmoid(x), also called swish.

    Example:
        >>> tt.nn.SiLU()(tt.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])

    Reference:
        S. Elfwing et al., "Sigmoid-weighted linear units for neural network function
        approximation in reinforcement learning" (2017).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """x · tanh(softplus(x)).

    Example:
        >>> tt.nn.Mish()(tt.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])

    Reference:
        D. Misra, "Mish: a self regularized non-monotonic activation function" (2019).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.mish(input, inplace=self.inplace)


class SELU(_InPlace):
    """ELU with the scale and alpha that keep mean 0 and variance 1.

    Example:
        >>> tt.nn.SELU()(tt.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])

    Reference:
        G. Klambauer et al., "Self-normalizing neural networks" (2017).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.selu(input, self.inplace)


class Hardsigmoid(_InPlace):
    """min(max(x + 3, 0), 6) / 6.

    Example:
        >>> tt.nn.Hardsigmoid()(tt.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        # PyTorch shows no inplace for this class.
        return ""


class Hardswish(_InPlace):
    """x · min(max(x + 3, 0), 6) / 6.

    Example:
        >>> tt.nn.Hardswish()(tt.tensor([-4.0, 0.0, 3.0]))
        tensor([-0.,  0.,  3.])

    Reference:
        A. Howard et al., "Searching for MobileNetV3" (2019).
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        # PyTorch shows no inplace for this class.
        return ""


class ELU(_InPlace):
    """x where x > 0, else alpha · (exp(x) - 1).

    Args:
        alpha: The function tends to -alpha at minus infinity. Default: 1.

    Example:
        >>> tt.nn.ELU()(tt.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])

    Reference:
        D. Clevert et al., "Fast and accurate deep network learning by exponential linear
        units" (2015).
    """

    alpha: float

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return self._configuration(alpha=self.alpha)


class CELU(_InPlace):
    """max(0, x) + min(0, alpha · (exp(x / alpha) - 1)).

    Args:
        alpha: The function tends to -alpha at minus infinity. Default: 1.

    Example:
        >>> tt.nn.CELU(2.0)(tt.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])

    Reference:
        J. Barron, "Continuously differentiable exponential linear units" (2017).
    """

    alpha: float

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return self._configuration(alpha=self.alpha)


class LeakyReLU(_InPlace):
    """x where x > 0, else negative_slope · x.

    Args:
        negative_slope: Slope for negative x. Default: 0.01.

    Example:
        >>> tt.nn.LeakyReLU(0.1)(tt.tensor([-1.0, 2.0]))
        tensor([-0.1000,  2.0000])
    """

    negative_slope: float

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._configuration(negative_slope=self.negative_slope)


class RReLU(_InPlace):
    """x where x > 0, else a · x with random a from U(lower, upper); in eval mode a is the mean.

    Args:
        lower: Lower bound of a. Default: 1/8.
        upper: Upper bound of a. Default: 1/3.

    Example:
        >>> tt.nn.RReLU(0.1, 0.3).eval()(tt.tensor([-1.0, 2.0]))
        tensor([-0.2000,  2.0000])

    Reference:
        B. Xu et al., "Empirical evaluation of rectified activations in convolutional network"
        (2015).
    """

    lower: float
    upper: float

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self._configuration(lower=self.lower, upper=self.upper)


class Threshold(_InPlace):
    """x where x > threshold, else value.

    Args:
        threshold: Bound above which the result is x.
        value: Result for all other x.

    Example:
        >>> tt.nn.Threshold(1.0, 5.0)(tt.tensor([-1.0, 2.0]))
        tensor([5., 2.])
    """

    threshold: float
    value: float

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._configuration(threshold=self.threshold, value=self.value)


class Hardtanh(_InPlace):
    """x restricted to [min_val, max_val].

    Args:
        min_val: Lower bound of the result. Default: -1.
        max_val: Upper bound of the result; AssertionError if it is not above ``min_val``.
            Default: 1.
        min_value: Deprecated name of ``min_val``.
        max_value: Deprecated name of ``max_val``.

    Example:
        >>> tt.nn.Hardtanh()(tt.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    min_val: float
    max_val: float

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        self.min_val = _deprecated_argument("min_value", "min_val", min_value, min_val)
        self.max_val = _deprecated_argument("max_value", "max_val", max_value, max_val)
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self._configuration(min_val=self.min_val, max_val=self.max_val)


def _deprecated_argument(old: str, new: str, given: float | None, value: float) -> float:
    """Return ``given``, passed under a deprecated name, with a warning; ``value`` if it is None."""
    if given is None:
        return value
    warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning)
    return given


class ReLU6(Hardtanh):
    """min(max(0, x), 6).

    Example:
        >>> tt.nn.ReLU6()(tt.tensor([-1.0, 7.0]))
        tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return self._configuration()


class PReLU(Module):
    """x where x > 0, else weight · x with a learned weight for all channels or for each.

    Args:
        num_parameters: 1, or the number of channels of the input. Default: 1.
        init: Initial value of the weight. Default: 0.25.

    Example:
        >>> tt.nn.PReLU()(tt.tensor([-1.0, 2.0])).detach()
        tensor([-0.2500,  2.0000])

    Reference:
        K. He et al., "Delving deep into rectifiers" (2015).
    """

    num_parameters: int
    weight: Parameter

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to its initial value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to shape ``(batch, channels, *)``, or with one weight to any shape."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
