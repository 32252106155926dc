"""Fused kernels of PyTorch's: convolution and its gradients, linear, norms, softmax, and others.

Each kernel refuses, by returning None, the dtypes and shapes for which PyTorch's function computes
something else than the operation of this library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

_FLOATS = frozenset(("float32", "float64"))
Sizes = Sequence[int]


def make_kernels(torch: Any, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Return the kernels by the names that ``Backend.fused`` has.

    Args:
        torch: The module.
        wrap: Function that makes an array of the backend from a tensor of PyTorch.
    """
    found = _Kernels(torch, wrap)
    names = "conv conv_input conv_weight linear layer_norm gelu softmax log_softmax".split()
    return {name: getattr(found, name) for name in names}


class _Kernels:
    """Kernels on arrays of the backend."""

    def __init__(self, torch: Any, wrap: Callable[[Any], Any]) -> None:
        self.torch, self.wrap, self.functional = torch, wrap, torch.nn.functional
        self._conv_backward = torch.ops.aten.convolution_backward.default

    # -- convolution ------------------------------------------------------------------------

    def conv(
        self, input: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
        groups: int, size: Sizes,
    ) -> Any:  # fmt: skip
        """Convolution of the result size ``size``."""
        if not _fits(input, weight, stride, padding, dilation, size):
            return None
        added = None if bias is None else bias.raw
        zeros = (0,) * len(size)
        return self.wrap(
            self.torch.convolution(
                input.raw, weight.raw, added, stride, padding, dilation, False, zeros, groups
            )
        )

    def conv_input(
        self, grad: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its input, of image size ``size``."""
        shape = (grad.shape[0], groups * weight.shape[1], *size)
        like = grad.raw.new_empty(1).expand(shape)
        if not _fits(like, weight, stride, padding, dilation, grad.shape[2:], grad):
            return None
        return self._backward(grad, like, weight.raw, stride, padding, dilation, groups, 0)

    def conv_weight(
        self, input: Any, grad: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its weight, of kernel size ``size``."""
        like = grad.raw.new_empty(1).expand((grad.shape[1], input.shape[1] // groups, *size))
        if not _fits(input, like, stride, padding, dilation, grad.shape[2:], grad):
            return None
        return self._backward(grad, input.raw, like, stride, padding, dilation, groups, 1)

    def _backward(
        self, grad: Any, input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
        groups: int, which: int,
    ) -> Any:  # fmt: skip
        """One of the gradients of PyTorch's convolution."""
        wanted = (which == 0, which == 1, False)
        zeros = [0] * len(stride)
        found = self._conv_backward(
            grad.raw, input, weight, None, stride, padding, dilation, False, zeros, groups, wanted
        )
        return self.wrap(found[which])

    # -- layers -----------------------------------------------------------------------------

    def linear(self, input: Any, weight: Any, bias: Any) -> Any:
        """``input @ weight.T + bias``."""
        if not _have_one_dtype(input, weight, bias) or bias.ndim != 1:
            return None
        return self.wrap(self.functional.linear(input.raw, weight.raw, bias.raw))

    def layer_norm(self, input: Any, weight: Any, bias: Any, count: int, eps: float) -> Any:
        """Normalization over the last ``count`` dimensions."""
        given = [part for part in (weight, bias) if part is not None]
        if not _have_one_dtype(input, *given):
            return None
        raws = [None if part is None else part.raw for part in (weight, bias)]
        shape = input.shape[len(input.shape) - count :]
        return self.wrap(self.functional.layer_norm(input.raw, shape, *raws, eps))

    def gelu(self, input: Any) -> Any:
        """``x * P(X <= x)``."""
        return self.wrap(self.functional.gelu(input.raw)) if _have_one_dtype(input) else None

    def softmax(self, input: Any, dim: int) -> Any:
        """Softmax along one dimension."""
        return self.wrap(self.torch.softmax(input.raw, dim)) if _have_one_dtype(input) else None

    def log_softmax(self, input: Any, dim: int) -> Any:
        """Logarithm of softmax."""
        return self.wrap(self.torch.log_softmax(input.raw, dim)) if _have_one_dtype(input) else None


def _have_one_dtype(*arrays: Any) -> bool:
    """Whether arrays have one dtype, float32 or float64, and elements."""
    dtype = arrays[0].dtype
    return dtype.name in _FLOATS and all(each.dtype == dtype and each.size for each in arrays)


def _fits(
    input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes,
    grad: Any = None,
) -> bool:  # fmt: skip
    """Whether PyTorch's convolution has results of the image size ``size``.

    It pads both ends of a dimension alike; the operation here may pad one end more.
    """
    arrays = [each for each in (input, weight, grad) if hasattr(each, "itemsize")]
    is_float = _have_one_dtype(*[each for each in arrays if hasattr(each, "library")])
    sizes = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, size, strict=True)
    return is_float and min(padding, default=0) >= 0 and all(
        (image + 2 * pad - step * (kernel - 1) - 1) // move + 1 == result
        for image, kernel, move, pad, step, result in sizes
    )  # fmt: skip
