"""Initialization of parameters.

Every function fills its tensor in place, without autograd, and returns it. With the same seed the
values equal PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ..core.tensor import Tensor
from ..core.tensor import wrap as _wrap
from ..ops.random.sampling import randperm
from ..state import no_grad
from ..state.tracebacks import short as _short
from ..warnings import warn as _warn


def _fill_truncated_normal(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Fill with samples of the normal distribution restricted to [a, b], by rejection sampling.

    Candidates are drawn from the normal distribution if more than 0.3 of it lies in the interval,
    else from the uniform distribution over the interval.
    """
    if tensor.is_meta:  # it has no values
        return
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    fill = _reject_normal if inside > 0.3 else _reject_uniform
    fill(tensor, mean, std, a, b, generator)


def _normal_cdf(x: float) -> float:
    """Cumulative distribution function of the standard normal distribution."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _reject_normal(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Draw from the normal distribution; redraw the elements outside of [a, b]."""
    # Round the bounds to the tensor's dtype, so that a value rounded to a bound is inside.
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    result = tensor.normal_(mean, std, generator=generator)
    while (outside := (result < low) | (result > high)).any():
        redrawn = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator)
        result = redrawn.where(outside, result)
    if result is not tensor:
        tensor.copy_(result)


def _reject_uniform(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any
) -> None:
    """Draw uniformly from [a, b]; redraw the elements that are rejected.

    An element is accepted with the probability density / (largest density in [a, b]).
    """
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    result: Any = tensor.uniform_(a, b, generator=generator)
    samples: Any = result
    pending: Any = None
    while pending is None or pending.any():
        if pending is not None:
            samples = tensor.new_empty(tensor.shape).uniform_(a, b, generator=generator)
            result = samples.where(pending, result)
        log_ratio = (samples - mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        height = tensor.new_empty(tensor.shape).uniform_(generator=generator)
        rejected = height.log_() > log_ratio
        pending = rejected if pending is None else pending & rejected
    if result is not tensor:
        tensor.copy_(result)


__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_",
    "xavier_uniform_", "zeros_",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

_GAINS = {
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


@_short
def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended gain, a factor of the standard deviation, for a nonlinearity.

    1 for linear layers, convolutions and sigmoid, 5/3 for tanh, √2 for relu,
    √(2 / (1 + slope²)) for leaky_relu, 3/4 for selu.

    Args:
        nonlinearity: Name of the function in ``nn.functional``.
        param: Negative slope of leaky_relu. Default: 0.01.

    Raises:
        ValueError: If the name is unknown, or the slope is not a number.

    Example:
        >>> tt.nn.init.calculate_gain("leaky_relu", 0.2)
        1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        known = ", ".join(sorted([*_GAINS, "leaky_relu"]))
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; choose one of {known}")
    return _GAINS[nonlinearity]


@_short
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with samples of the uniform distribution over [a, b).

    Args:
        tensor: Any floating point tensor.
        a: Lower bound. Default: 0.
        b: Upper bound. Default: 1.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.nn.init.uniform_(tt.empty(2))
        tensor([0.4963, 0.7682])
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


@_short
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with samples of the normal distribution.

    Args:
        tensor: Any floating point tensor.
        mean: Mean of the distribution. Default: 0.
        std: Standard deviation of the distribution. Default: 1.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> _ = tt.manual_seed(0)
        >>> tt.nn.init.normal_(tt.empty(2))
        tensor([ 1.5410, -0.2934])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    """Call ``uniform_``; other libraries import this private name of PyTorch, and the next."""
    return uniform_(tensor, a, b, generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    """Call ``normal_``."""
    return normal_(tensor, mean, std, generator)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    """Call ``constant_``."""
    return constant_(tensor, val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    """Call ``zeros_``."""
    return zeros_(tensor)


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any = None
) -> Tensor:
    """Call ``trunc_normal_``."""
    return trunc_normal_(tensor, mean, std, a, b, generator)


@_short
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with samples of the normal distribution restricted to [a, b].

    They are drawn by rejection sampling: from the normal distribution itself if more than 0.3 of
    it lies in the interval, else from the uniform distribution over the interval.

    Args:
        tensor: Any floating point tensor.
        mean: Mean before the restriction. Default: 0.
        std: Standard deviation before the restriction. Default: 1.
        a: Lower bound. Default: -2.
        b: Upper bound. Default: 2.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> x = tt.nn.init.trunc_normal_(tt.empty(1000))
        >>> bool((x.abs() <= 2).all())
        True

    Reference:
        J. von Neumann, "Various techniques used in connection with random digits" (1951).
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        _warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect."
        )
    with no_grad():
        _fill_truncated_normal(tensor, mean, std, a, b, generator)
    return tensor


@_short
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value.

    Example:
        >>> tt.nn.init.constant_(tt.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


@_short
def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Example:
        >>> tt.nn.init.ones_(tt.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


@_short
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Example:
        >>> tt.nn.init.zeros_(tt.empty(2))
        tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


@_short
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity, which preserves as many inputs of a Linear as possible.

    Raises:
        ValueError: If the tensor is not a matrix.

    Example:
        >>> tt.nn.init.eye_(tt.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_()
        for place in range(min(tensor.shape)):
            tensor[place, place] = 1
    return tensor


@_short
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight with Dirac deltas, which preserve as many channels as possible.

    Args:
        tensor: Shape ``(out_channels, in_channels / groups, *kernel)`` with 1 to 3 kernel sizes.
        groups: Number of groups of the convolution. Default: 1.

    Raises:
        ValueError: If the tensor has not 3 to 5 dimensions, or ``groups`` does not divide the
            number of output channels.

    Example:
        >>> tt.nn.init.dirac_(tt.empty(2, 2, 3))[0]
        tensor([[0., 1., 0.],
                [0., 0., 0.]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    center = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, tensor.shape[1])):
                tensor[(group * per_group + channel, channel, *center)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Return the numbers of inputs of one output and of outputs of one input of a weight."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    fan_out, fan_in, *kernel = tensor.shape
    field = math.prod(kernel)
    return fan_in * field, fan_out * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return the fan of a weight that ``mode`` names: ``"fan_in"`` or ``"fan_out"``."""
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


@_short
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with samples of U(-a, a), a = gain · √(6 / (fan_in + fan_out)).

    Args:
        tensor: A weight of at least 2 dimensions, ``(outputs, inputs, *kernel)``.
        gain: See ``calculate_gain``. Default: 1.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> tt.nn.init.xavier_uniform_(tt.empty(3, 5)).shape
        tinytorch.Size([3, 5])

    Reference:
        X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward
        neural networks" (2010).
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


@_short
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with samples of N(0, std²), std = gain · √(2 / (fan_in + fan_out)).

    Args:
        tensor: A weight of at least 2 dimensions, ``(outputs, inputs, *kernel)``.
        gain: See ``calculate_gain``. Default: 1.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> tt.nn.init.xavier_normal_(tt.empty(3, 5)).shape
        tinytorch.Size([3, 5])

    Reference:
        X. Glorot and Y. Bengio, "Understanding the difficulty of training deep feedforward
        neural networks" (2010).
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    """Standard deviation of ``xavier_normal_``."""
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


@_short
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with samples of U(-bound, bound), bound = gain · √(3 / fan).

    Args:
        tensor: A weight of at least 2 dimensions, ``(outputs, inputs, *kernel)``.
        a: Negative slope of leaky_relu. Default: 0.
        mode: ``"fan_in"`` preserves the variance in the forward pass, ``"fan_out"`` in the
            backward pass. Default: ``"fan_in"``.
        nonlinearity: Function that follows the layer. Default: ``"leaky_relu"``.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> tt.nn.init.kaiming_uniform_(tt.empty(3, 5), nonlinearity="relu").shape
        tinytorch.Size([3, 5])

    Reference:
        K. He et al., "Delving deep into rectifiers" (2015).
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


@_short
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with samples of N(0, std²), std = gain / √fan.

    Args:
        tensor: A weight of at least 2 dimensions, ``(outputs, inputs, *kernel)``.
        a: Negative slope of leaky_relu. Default: 0.
        mode: ``"fan_in"`` preserves the variance in the forward pass, ``"fan_out"`` in the
            backward pass. Default: ``"fan_in"``.
        nonlinearity: Function that follows the layer. Default: ``"leaky_relu"``.
        generator: Source of the random numbers. Default: the default generator.

    Example:
        >>> tt.nn.init.kaiming_normal_(tt.empty(3, 5), mode="fan_out").shape
        tinytorch.Size([3, 5])

    Reference:
        K. He et al., "Delving deep into rectifiers" (2015).
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _is_empty(tensor: Tensor) -> bool:
    """Whether a tensor has no elements; warns if so."""
    if 0 not in tensor.shape:
        return False
    _warn("Initializing zero-element tensors is a no-op")
    return True


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    """Standard deviation of ``kaiming_normal_``."""
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@_short
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix, drawn from the uniform distribution over these.

    Args:
        tensor: At least 2 dimensions; those after the first are flattened into one.
        gain: Factor of the matrix. Default: 1.
        generator: Source of the random numbers. Default: the default generator.

    Raises:
        ValueError: If the tensor has fewer than 2 dimensions.

    Example:
        >>> q = tt.nn.init.orthogonal_(tt.empty(2, 3))
        >>> tt.allclose(q @ q.T, tt.eye(2), atol=1e-6)
        True

    Reference:
        A. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
        neural networks" (2013).
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        matrix: Any = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        q: Any = _orthonormal(matrix.T if rows < columns else matrix)
        tensor.copy_((q.T if rows < columns else q).reshape(tensor.shape))
        return tensor.mul_(gain)


def _orthonormal(matrix: Tensor) -> Tensor:
    """Return Q of the QR decomposition whose R has a positive diagonal."""
    xp = matrix._xp
    q, r = xp.linalg.qr(matrix._data)
    # The signs make Q unique: the routine's choice of signs would change the distribution.
    return _wrap(q * xp.sign(xp.diagonal(r)), xp)


@_short
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with samples of N(0, std²), and a fraction of each column with zeros.

    Args:
        tensor: A matrix.
        sparsity: Fraction of zeros in each column.
        std: Standard deviation of the other elements. Default: 0.01.
        generator: Source of the normal values. Default: the default generator.

    Raises:
        ValueError: If the tensor is not a matrix.

    Example:
        >>> (tt.nn.init.sparse_(tt.empty(4, 2), sparsity=0.5) == 0).sum(0)
        tensor([2, 2])

    Reference:
        J. Martens, "Deep learning via Hessian-free optimization" (2010).
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    with no_grad():
        for column in range(columns):
            tensor[randperm(rows, device=tensor.device)[:zeros], column] = 0
    return tensor


def _deprecated_alias(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function under its deprecated name, which lacks the underscore."""
    name = function.__name__.removesuffix("_")

    def alias(*args: P.args, **kwargs: P.kwargs) -> R:
        _warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return function(*args, **kwargs)

    alias.__name__ = alias.__qualname__ = name
    alias.__doc__ = f"Deprecated name of ``nn.init.{name}_``."
    return alias


uniform = _deprecated_alias(uniform_)
normal = _deprecated_alias(normal_)
constant = _deprecated_alias(constant_)
eye = _deprecated_alias(eye_)
dirac = _deprecated_alias(dirac_)
xavier_uniform = _deprecated_alias(xavier_uniform_)
xavier_normal = _deprecated_alias(xavier_normal_)
kaiming_uniform = _deprecated_alias(kaiming_uniform_)
kaiming_normal = _deprecated_alias(kaiming_normal_)
orthogonal = _deprecated_alias(orthogonal_)
sparse = _deprecated_alias(sparse_)
