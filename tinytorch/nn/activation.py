"""Activation functions as modules: sigmoids, shrinkage, softmax, gates."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = [
    "GELU", "GLU", "Hardshrink", "LogSigmoid", "LogSoftmax", "Sigmoid", "Softmax", "Softmax2d",
    "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
]  # fmt: skip


def _is_make_fx_tracing() -> bool:
    """Return False: nothing is traced; copies of MultiheadAttention import it, and the next."""
    return False


def _arg_requires_grad(x: Tensor | None) -> bool:
    """Whether an argument is a tensor that requires grad."""
    return x is not None and x.requires_grad


def _check_arg_device(x: Tensor | None) -> bool:
    """Whether an argument is None or on a device with a fast path in PyTorch."""
    return x is None or x.device.type in ("cpu", "cuda")


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    Example:
        >>> tt.nn.Sigmoid()(tt.tensor([-1.0, 2.0]))
        tensor([0.2689, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.sigmoid(input)


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x))), computed without overflow.

    Example:
        >>> tt.nn.LogSigmoid()(tt.tensor([-100.0, 2.0]))
        tensor([-100.0000,   -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.logsigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent of the input.

    Example:
        >>> tt.nn.Tanh()(tt.tensor([-1.0, 2.0]))
        tensor([-0.7616,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.tanh(input)


class Tanhshrink(Module):
    """x - tanh(x).

    Example:
        >>> tt.nn.Tanhshrink()(tt.tensor([-1.0, 2.0]))
        tensor([-0.2384,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|).

    Example:
        >>> tt.nn.Softsign()(tt.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.softsign(input)


class GELU(Module):
    """x · Φ(x), with the cumulative distribution function Φ of the normal distribution.

    Args:
        approximate: ``"none"`` for the exact Φ, ``"tanh"`` for an approximation with tanh.
            Default: ``"none"``.

    Example:
        >>> tt.nn.GELU()(tt.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])

    Reference:
        D. Hendrycks and K. Gimpel, "Gaussian error linear units" (2016).
    """

    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """a · sigmoid(b), where a and b are the two halves of the input.

    Args:
        dim: Dimension along which the input is halved. Default: -1.

    Example:
        >>> tt.nn.GLU()(tt.tensor([1.0, 2.0, 0.0, 0.0]))
        tensor([0.5000, 1.0000])

    Reference:
        Y. Dauphin et al., "Language modeling with gated convolutional networks" (2016).
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function; the result has half the size of the input along ``dim``."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Shrink(Module):
    """Base class of functions that are 0 between -lambd and lambd.

    Args:
        lambd: Threshold, not negative. Default: 0.5.
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0.

    Example:
        >>> tt.nn.Hardshrink()(tt.tensor([-1.0, 0.3]))
        tensor([-1.,  0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, and 0 where |x| ≤ lambd.

    Example:
        >>> tt.nn.Softshrink()(tt.tensor([-1.0, 0.3]))
        tensor([-0.5000,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.softshrink(input, self.lambd)


class Softplus(Module):
    """log(1 + exp(beta · x)) / beta, or x where beta · x is above the threshold.

    Args:
        beta: Factor of the input. Default: 1.
        threshold: Value of beta · x above which the function is x. Default: 20.

    Example:
        >>> tt.nn.Softplus()(tt.tensor([-1.0, 2.0]))
        tensor([0.3133, 2.1269])
    """

    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class _AlongDim(Module):
    """Base class of softmax and related functions along a dimension.

    Args:
        dim: Dimension along which the probabilities sum to 1. Omitting it is deprecated.
    """

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x) divided by its sum along a dimension.

    Example:
        >>> tt.nn.Softmax(dim=0)(tt.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.softmax(input, self.dim)


class Softmin(_AlongDim):
    """exp(-x) divided by its sum along a dimension.

    Example:
        >>> tt.nn.Softmin(dim=0)(tt.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """Logarithm of softmax along a dimension, computed without overflow.

    Example:
        >>> tt.nn.LogSoftmax(dim=0)(tt.tensor([0.0, 0.0]))
        tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to a tensor of any shape."""
        return F.log_softmax(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of an image.

    Example:
        >>> tt.nn.Softmax2d()(tt.zeros(1, 2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function to shape ``(batch, channels, height, width)``, or without batch.

        Raises:
            ValueError: If the input has neither three nor four dimensions.
        """
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)
