"""Convolution and its gradients by XLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Sizes = Sequence[int]


def make_kernels(library: Any, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Return the kernels by the names that ``Backend.fused`` has.

    Args:
        library: The ``JaxLibrary``.
        wrap: Function that makes an array of the backend from one of JAX.
    """
    found = _XlaConvolutions(library, wrap)
    return {name: getattr(found, name) for name in ("conv", "conv_input", "conv_weight")}


class _XlaConvolutions:
    """Convolution, whose gradients are the transposes of two linear functions."""

    def __init__(self, library: Any, wrap: Callable[[Any], Any]) -> None:
        self.jax, self.wrap, self.widen = library.jax, wrap, library.widen

    def conv(
        self, input: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes,
        groups: int, size: Sizes,
    ) -> Any:  # fmt: skip
        """Convolution of the result size ``size``."""
        if input.dtype.kind not in "fc" or not input.size or input.dtype != weight.dtype:
            return None
        run = self.widen(_convolve)
        out = run(self.jax, input.raw, weight.raw, stride, padding, dilation, groups, size)
        return self.wrap(out) if bias is None else self.wrap(out) + bias.reshape(
            -1, *(1,) * len(size)
        )  # fmt: skip

    def conv_input(
        self, grad: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its input, of image size ``size``."""
        if grad.dtype.kind not in "fc" or not grad.size or grad.dtype != weight.dtype:
            return None
        shape = (grad.shape[0], groups * weight.shape[1], *size)
        args = stride, padding, dilation, groups, grad.shape[2:]
        return self._transpose(
            lambda input: _convolve(self.jax, input, weight.raw, *args), shape, grad
        )

    def conv_weight(
        self, input: Any, grad: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
        size: Sizes,
    ) -> Any:  # fmt: skip
        """Gradient of a convolution with respect to its weight, of kernel size ``size``."""
        if grad.dtype.kind not in "fc" or not grad.size or grad.dtype != input.dtype:
            return None
        shape = (grad.shape[1], input.shape[1] // groups, *size)
        args = stride, padding, dilation, groups, grad.shape[2:]
        return self._transpose(
            lambda weight: _convolve(self.jax, input.raw, weight, *args), shape, grad
        )

    def _transpose(self, function: Callable[[Any], Any], shape: Sizes, grad: Any) -> Any:
        """Apply the transpose of a linear function to ``grad``."""
        like = self.jax.ShapeDtypeStruct(tuple(shape), grad.dtype)

        def run(raw: Any) -> Any:
            return self.jax.linear_transpose(function, like)(raw)[0]

        return self.wrap(self.widen(run)(grad.raw))


def _convolve(
    jax: Any, input: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
    size: Sizes,
) -> Any:  # fmt: skip
    """Convolution by XLA, padded at each end as far as the result needs."""
    sizes = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, size, strict=True)
    pads = [
        (pad, (result - 1) * move + step * (kernel - 1) + 1 - image - pad)
        for image, kernel, move, pad, step, result in sizes
    ]
    axes = "DHW"[3 - len(size) :]
    names = f"NC{axes}", f"OI{axes}", f"NC{axes}"
    return jax.lax.conv_general_dilated(
        input, weight, tuple(stride), pads, None, tuple(dilation), names,
        feature_group_count=groups,
    )  # fmt: skip
