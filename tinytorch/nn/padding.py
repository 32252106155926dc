"""Padding: adding elements at the borders of sequences, images and volumes."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import functional as F
from .common_types import Sizes, each
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d",
    "ConstantPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d",
    "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip


class _Pad(Module):
    """Base class of layers that add elements at the borders, as ``F.pad`` in the mode ``_mode``.

    Args:
        padding: Number of elements to add: one int for all borders, or a tuple ``(left, right)``,
            ``(left, right, top, bottom)`` or ``(left, right, top, bottom, front, back)``.
    """

    _ndim: int
    _mode: str
    padding: tuple[int, ...]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = each(2 * self._ndim, padding)

    def forward(self, input: Tensor) -> Tensor:
        """Pad a tensor of shape ``(batch, channels, *)``, or without batch."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    """Base class of layers that add a constant at the borders.

    Args:
        value: Value of the added elements.
    """

    _mode = "constant"
    value: float

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad a tensor of shape ``(batch, channels, *)``, or without batch."""
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Pad sequences with a value.

    Example:
        >>> tt.nn.ConstantPad1d((1, 2), 9.0)(tt.tensor([[1.0, 2.0]]))
        tensor([[9., 1., 2., 9., 9.]])
    """

    _ndim = 1


class ConstantPad2d(_ConstantPad):
    """Pad images with a value.

    Example:
        >>> tt.nn.ConstantPad2d((1, 0, 0, 1), 9.0)(tt.tensor([[[1.0, 2.0]]]))
        tensor([[[9., 1., 2.],
                 [9., 9., 9.]]])
    """

    _ndim = 2


class ConstantPad3d(_ConstantPad):
    """Pad volumes with a value.

    Example:
        >>> tt.nn.ConstantPad3d(1, 9.0)(tt.zeros(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 2, 5, 6, 7])
    """

    _ndim = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pad sequences with zeros.

    Example:
        >>> tt.nn.ZeroPad1d(1)(tt.tensor([[1.0, 2.0]]))
        tensor([[0., 1., 2., 0.]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pad images with zeros.

    Example:
        >>> tt.nn.ZeroPad2d((1, 0, 0, 1))(tt.tensor([[[1.0, 2.0]]]))
        tensor([[[0., 1., 2.],
                 [0., 0., 0.]]])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pad volumes with zeros.

    Example:
        >>> tt.nn.ZeroPad3d(1)(tt.zeros(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 2, 5, 6, 7])
    """


class ReflectionPad1d(_Pad):
    """Pad sequences with their inner elements, mirrored at the outermost ones.

    Example:
        >>> tt.nn.ReflectionPad1d(2)(tt.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 2., 1., 2., 3., 2., 1.]])
    """

    _ndim = 1
    _mode = "reflect"


class ReflectionPad2d(_Pad):
    """Pad images with their inner elements, mirrored at the outermost ones.

    Example:
        >>> tt.nn.ReflectionPad2d((1, 1, 0, 1))(tt.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[2., 1., 2., 1.],
                 [4., 3., 4., 3.],
                 [2., 1., 2., 1.]]])
    """

    _ndim = 2
    _mode = "reflect"


class ReflectionPad3d(_Pad):
    """Pad volumes with their inner elements, mirrored at the outermost ones.

    Example:
        >>> tt.nn.ReflectionPad3d(1)(tt.zeros(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 2, 5, 6, 7])
    """

    _ndim = 3
    _mode = "reflect"


class ReplicationPad1d(_Pad):
    """Pad sequences with their outermost elements.

    Example:
        >>> tt.nn.ReplicationPad1d(2)(tt.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 1., 2., 3., 3., 3.]])
    """

    _ndim = 1
    _mode = "replicate"


class ReplicationPad2d(_Pad):
    """Pad images with their outermost elements.

    Example:
        >>> tt.nn.ReplicationPad2d((1, 1, 0, 1))(tt.tensor([[[1.0, 2.0]]]))
        tensor([[[1., 1., 2., 2.],
                 [1., 1., 2., 2.]]])
    """

    _ndim = 2
    _mode = "replicate"


class ReplicationPad3d(_Pad):
    """Pad volumes with their outermost elements.

    Example:
        >>> tt.nn.ReplicationPad3d(1)(tt.zeros(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 2, 5, 6, 7])
    """

    _ndim = 3
    _mode = "replicate"


class _CircularPad(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Pad a tensor of shape ``(batch, channels, *)``, or without batch.

        Raises:
            ValueError: If it has another number of dimensions.
        """
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Tensor) -> None:
        """Check the number of dimensions; ``forward`` calls it."""
        least = self._ndim + 1
        if input.ndim not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.ndim}D input)")


class CircularPad1d(_CircularPad):
    """Pad sequences with the elements at their other end.

    Example:
        >>> tt.nn.CircularPad1d(2)(tt.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 3., 1., 2., 3., 1., 2.]])
    """

    _ndim = 1


class CircularPad2d(_CircularPad):
    """Pad images with the elements at their other side.

    Example:
        >>> tt.nn.CircularPad2d((1, 0, 0, 1))(tt.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[2., 1., 2.],
                 [4., 3., 4.],
                 [2., 1., 2.]]])
    """

    _ndim = 2


class CircularPad3d(_CircularPad):
    """Pad volumes with the elements at their other side.

    Example:
        >>> tt.nn.CircularPad3d(1)(tt.zeros(1, 2, 3, 4, 5)).shape
        tinytorch.Size([1, 2, 5, 6, 7])
    """

    _ndim = 3
