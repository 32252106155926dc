"""Pooling: the maximum, mean or p-norm of each window of a sequence, an image or a volume.

Also pooling to a given output size, over random windows, and the inverse of max pooling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..core.tensor import Tensor
from . import functional as F
from .common_types import Sizes, each
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


class _Pool(Module):
    """Base class of pooling layers.

    Args:
        kernel_size: Size of a window: one int for every dimension, or one for each.
        stride: Step from one window to the next, likewise. Default: ``kernel_size``.
        padding: Number of elements added on both sides of each dimension, likewise: minus
            infinity for a maximum, zeros for a mean. Default: 0.
        dilation: Step between the elements of a window, likewise. Default: 1.
        return_indices: Whether to return the positions of the maxima as well: the layer then
            returns ``(maxima, indices)``. Default: False.
        ceil_mode: Whether a window that begins inside the input may end outside, which rounds
            the output size up instead of down. Default: False.
    """

    #: Name of the function in ``nn.functional`` that computes the output.
    _function: str

    def _settings(self) -> tuple[Any, ...]:
        """Return the arguments of that function after the input."""
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        """Pool a tensor.

        Args:
            input: Shape ``(batch, channels, *sizes)`` with one size for each pooled dimension,
                or without ``batch``.
        """
        # With ``return_indices`` a pair, which a type checker cannot derive from the class.
        pooled: Tensor = getattr(F, self._function)(input, *self._settings())
        return pooled


class _MaxPool(_Pool):
    kernel_size: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    return_indices: bool
    ceil_mode: bool

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _settings(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.stride, self.padding, self.dilation)
        return *sizes, self.ceil_mode, self.return_indices

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Maximum of each window of a sequence.

    Example:
        >>> tt.nn.MaxPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[3., 4.]])
    """

    _function = "max_pool1d"


class MaxPool2d(_MaxPool):
    """Maximum of each window of an image.

    Example:
        >>> tt.nn.MaxPool2d(2)(tt.arange(8.0).reshape(1, 2, 4))
        tensor([[[5., 7.]]])
    """

    _function = "max_pool2d"


class MaxPool3d(_MaxPool):
    """Maximum of each window of a volume.

    Example:
        >>> tt.nn.MaxPool3d(2)(tt.zeros(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    _function = "max_pool3d"


class _AvgPool(_Pool):
    """Base class of layers that compute means of windows.

    Args:
        count_include_pad: Whether the zeros of the padding count in the mean. Default: True.
        divisor_override: Number to divide the sum of each window by. Default: the number of its
            elements.
    """

    kernel_size: Sizes
    stride: Sizes
    padding: Sizes
    ceil_mode: bool
    count_include_pad: bool

    def _configure(
        self, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, counted: bool
    ) -> None:
        """Set the attributes; ``counted`` is ``count_include_pad``."""
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = counted

    def _settings(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.stride, self.padding)
        return *sizes, self.ceil_mode, self.count_include_pad

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """Mean of each window of a sequence.

    Example:
        >>> tt.nn.AvgPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[2., 3.]])
    """

    _function = "avg_pool1d"

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        step = each(1, kernel_size if stride is None else stride)
        sizes = each(1, kernel_size), step, each(1, padding)
        self._configure(*sizes, ceil_mode, count_include_pad)


class _AvgPoolWithDivisor(_AvgPool):
    divisor_override: int | None

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        step = kernel_size if stride is None else stride
        self._configure(kernel_size, step, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def _settings(self) -> tuple[Any, ...]:
        return *super()._settings(), self.divisor_override


class AvgPool2d(_AvgPoolWithDivisor):
    """Mean of each window of an image.

    Example:
        >>> tt.nn.AvgPool2d(2)(tt.arange(8.0).reshape(1, 2, 4))
        tensor([[[2.5000, 4.5000]]])
    """

    _function = "avg_pool2d"


class AvgPool3d(_AvgPoolWithDivisor):
    """Mean of each window of a volume.

    Example:
        >>> tt.nn.AvgPool3d(2)(tt.zeros(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    _function = "avg_pool3d"


class _LPPool(_Pool):
    """Base class of layers that compute p-norms of windows.

    Args:
        norm_type: The exponent p.
    """

    norm_type: float
    kernel_size: Sizes
    stride: Sizes | None
    ceil_mode: bool

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def _settings(self) -> tuple[Any, ...]:
        return float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """(Σ x^p)^(1/p) over each window of a sequence.

    Example:
        >>> tt.nn.LPPool1d(2, 2)(tt.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """

    _function = "lp_pool1d"


class LPPool2d(_LPPool):
    """(Σ x^p)^(1/p) over each window of an image.

    Example:
        >>> tt.nn.LPPool2d(2, (1, 2))(tt.tensor([[[3.0, 4.0]]]))
        tensor([[[5.]]])
    """

    _function = "lp_pool2d"


class LPPool3d(_LPPool):
    """(Σ x^p)^(1/p) over each window of a volume.

    Example:
        >>> tt.nn.LPPool3d(2, 2)(tt.ones(1, 3, 4, 6, 8)).shape
        tinytorch.Size([1, 3, 2, 3, 4])
    """

    _function = "lp_pool3d"


#: Sizes of an output: an int, or a tuple in which None stands for the input's size.
OutputSizes: TypeAlias = Any


class _AdaptivePool(_Pool):
    """Base class of layers that choose the windows so that the output has a given size.

    Args:
        output_size: Size of the output: one int for every dimension, or one for each. In two and
            three dimensions, None keeps the size of the input.
    """

    output_size: OutputSizes

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def _settings(self) -> tuple[Any, ...]:
        return (self.output_size,)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePool):
    """Means of the windows of a sequence; the output has the length ``output_size``.

    Example:
        >>> tt.nn.AdaptiveAvgPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[2., 3.]])
    """

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptivePool):
    """Means of the windows of an image; the output has the size ``output_size``.

    Example:
        >>> tt.nn.AdaptiveAvgPool2d((5, None))(tt.zeros(1, 64, 8, 9)).shape
        tinytorch.Size([1, 64, 5, 9])
    """

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptivePool):
    """Means of the windows of a volume; the output has the size ``output_size``.

    Example:
        >>> tt.nn.AdaptiveAvgPool3d(2)(tt.zeros(1, 3, 4, 5, 6)).shape
        tinytorch.Size([1, 3, 2, 2, 2])
    """

    _function = "adaptive_avg_pool3d"


class _AdaptiveMaxPool(_AdaptivePool):
    return_indices: bool

    def __init__(self, output_size: OutputSizes, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def _settings(self) -> tuple[Any, ...]:
        return self.output_size, self.return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maxima of the windows of a sequence; the output has the length ``output_size``.

    Example:
        >>> tt.nn.AdaptiveMaxPool1d(2)(tt.tensor([[1.0, 3.0, 2.0, 4.0]]))
        tensor([[3., 4.]])
    """

    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maxima of the windows of an image; the output has the size ``output_size``.

    Example:
        >>> tt.nn.AdaptiveMaxPool2d((5, None))(tt.zeros(1, 64, 8, 9)).shape
        tinytorch.Size([1, 64, 5, 9])
    """

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maxima of the windows of a volume; the output has the size ``output_size``.

    Example:
        >>> tt.nn.AdaptiveMaxPool3d(2)(tt.zeros(1, 3, 4, 5, 6)).shape
        tinytorch.Size([1, 3, 2, 2, 2])
    """

    _function = "adaptive_max_pool3d"


class _FractionalMaxPool(_Pool):
    """Base class of layers that compute maxima of windows at random positions.

    Args:
        output_size: Size of the output: one int for every dimension, or one for each. Default:
            given by ``output_ratio``.
        output_ratio: Size of the output divided by that of the input, between 0 and 1, likewise.
            Default: given by ``output_size``.

    Raises:
        ValueError: If not exactly one of ``output_size`` and ``output_ratio`` is given, if the
            ratio is not between 0 and 1, or if the kernel of a volume is not positive.

    Reference:
        B. Graham, "Fractional max-pooling" (2014).
    """

    _ndim: int
    kernel_size: tuple[int, ...]
    return_indices: bool
    output_size: tuple[int, ...] | None
    output_ratio: tuple[float, ...] | None
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | tuple[float, ...] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = each(self._ndim, kernel_size)
        if self._ndim == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else each(self._ndim, output_size)
        self.output_ratio = None if output_ratio is None else each(self._ndim, output_ratio)
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Check that either size or ratio is given, and that the ratio is in (0, 1)."""
        if self.output_size is None and self.output_ratio is None:
            raise ValueError(
                f"{self._get_name()} requires specifying either an output size, or a pooling ratio"
            )
        if self.output_size is not None and self.output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {self.output_ratio})")

    def _settings(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        return *sizes, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima of windows of an image that begin at random positions.

    Example:
        >>> tt.nn.FractionalMaxPool2d(3, output_size=(13, 12))(tt.randn(2, 3, 50, 32)).shape
        tinytorch.Size([2, 3, 13, 12])
    """

    _ndim = 2
    _function = "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima of windows of a volume that begin at random positions.

    Example:
        >>> tt.nn.FractionalMaxPool3d(2, output_size=3)(tt.randn(2, 3, 8, 8, 8)).shape
        tinytorch.Size([2, 3, 3, 3, 3])
    """

    _ndim = 3
    _function = "fractional_max_pool3d"


class _MaxUnpool(Module):
    """Base class of the inverses of max pooling.

    Args:
        kernel_size: Size of a window of the pooling: one int for every dimension, or one for each.
        stride: Step between the windows of the pooling, likewise. Default: ``kernel_size``.
        padding: Padding of the pooling, likewise. Default: 0.
    """

    _ndim: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = each(self._ndim, kernel_size)
        self.stride = each(self._ndim, kernel_size if stride is None else stride)
        self.padding = each(self._ndim, padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Put each maximum at its index, and zeros elsewhere.

        Args:
            input: The maxima, shape ``(batch, channels, *sizes)``, or without ``batch``.
            indices: Their positions, as the pooling with ``return_indices`` returned them.
            output_size: Size of the output. Default: the smallest size that the pooling can have
                had as its input.
        """
        unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[self._ndim - 1]
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Inverse of ``MaxPool1d``: puts maxima back at their positions, and zeros elsewhere.

    Example:
        >>> x = tt.tensor([[[1.0, 3.0, 2.0, 4.0]]])
        >>> tt.nn.MaxUnpool1d(2)(*tt.nn.MaxPool1d(2, return_indices=True)(x))
        tensor([[[0., 3., 0., 4.]]])
    """

    _ndim = 1


class MaxUnpool2d(_MaxUnpool):
    """Inverse of ``MaxPool2d``: puts maxima back at their positions, and zeros elsewhere.

    Example:
        >>> x = tt.arange(4.0).reshape(1, 1, 2, 2)
        >>> tt.nn.MaxUnpool2d(2)(*tt.nn.MaxPool2d(2, return_indices=True)(x))
        tensor([[[[0., 0.],
                  [0., 3.]]]])
    """

    _ndim = 2


class MaxUnpool3d(_MaxUnpool):
    """Inverse of ``MaxPool3d``: puts maxima back at their positions, and zeros elsewhere.

    Example:
        >>> x = tt.randn(2, 3, 4, 4, 4)
        >>> tt.nn.MaxUnpool3d(2)(*tt.nn.MaxPool3d(2, return_indices=True)(x)).shape
        tinytorch.Size([2, 3, 4, 4, 4])
    """

    _ndim = 3
