"""The partial inverse of max pooling: elements put back where they were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Index, composite, op
from ...dispatch.out import scalar_name
from ..shape.views import following
from .pool_arguments import Size, per_dimension
from .standardize import check_float

_F = ("nn.functional",)


@op(method=False)
def _put_back(xp: Backend, input: Array, index: Index, size: int) -> Array:
    """Zeros ``(planes, size)`` with ``input`` written at ``index``."""
    out = xp.zeros((input.shape[0], size), input.dtype)
    out[xp.arange(input.shape[0])[:, None], index] = input
    return out


@op(method=False)
def _fetch(xp: Backend, input: Array, index: Index) -> Array:
    """The elements of each plane that ``index`` names."""
    return xp.take_along_axis(input, index, axis=1)


@op(method=False)
def _add_back(xp: Backend, input: Array, index: Index, size: int) -> Array:
    """Zeros ``(planes, size)`` with ``input`` added at ``index``."""
    out = xp.zeros((input.shape[0], size), input.dtype)
    xp.index_add(out, (xp.arange(input.shape[0])[:, None], index), input)
    return out


# An element written over by another has torch's gradient, that of the place, all the same.
_put_back.vjp(input=lambda xp, g, index: xp.call(_fetch, g, index))
_fetch.vjp(input=lambda xp, g, in_shape, index: xp.call(_add_back, g, index, in_shape[1]))
_add_back.vjp(input=lambda xp, g, index: xp.call(_fetch, g, index))


@composite(namespaces=_F, method=False, node="SqueezeBackward1")
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the results of ``max_pool1d`` put back where they were.

    Args:
        input: ``(batch, channels, windows)``, or without ``batch``.
        indices: Where, as ``max_pool1d`` returns it; int64, of ``input``'s shape.
        kernel_size: As it was given to ``max_pool1d``.
        stride: Likewise; default ``kernel_size``.
        padding: Likewise; default 0.
        output_size: The size to restore, where several give the same windows.

    Returns:
        ``(batch, channels, length)``.

    Raises:
        RuntimeError: If shapes do not fit or an index is out of range.
        ValueError: If the pooling cannot have come from ``output_size``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.max_unpool1d(tt.tensor([[[3.0]]]), tt.tensor([[[1]]]), 2)
        tensor([[[0., 3.]]])
    """
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


@composite(namespaces=_F, method=False, node="MaxUnpool2DBackward0")
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the results of ``max_pool2d`` put back where they were.

    Args:
        input: ``(batch, channels, *windows)``, or without ``batch``.
        indices: Where, as ``max_pool2d`` returns it; int64, of ``input``'s shape.
        kernel_size: As it was given to ``max_pool2d``.
        stride: Likewise; default ``kernel_size``.
        padding: Likewise; default 0.
        output_size: The size to restore, where several give the same windows.

    Returns:
        ``(batch, channels, height, width)``.

    Raises:
        RuntimeError: If shapes do not fit or an index is out of range.
        ValueError: If the pooling cannot have come from ``output_size``.

    Example:
        >>> import tinytorch as tt
        >>> tt.nn.functional.max_unpool2d(tt.tensor([[[3.0]]]), tt.tensor([[[1]]]), (1, 2))
        tensor([[[0., 3.]]])
    """
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


@composite(namespaces=_F, method=False, node="MaxUnpool3DBackward0")
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the results of ``max_pool3d`` put back where they were.

    Args:
        input: ``(batch, channels, *windows)``, or without ``batch``.
        indices: Where, as ``max_pool3d`` returns it; int64, of ``input``'s shape.
        kernel_size: As it was given to ``max_pool3d``.
        stride: Likewise; default ``kernel_size``.
        padding: Likewise; default 0.
        output_size: The size to restore, where several give the same windows.

    Returns:
        ``(batch, channels, depth, height, width)``.

    Raises:
        RuntimeError: If shapes do not fit or an index is out of range.
        ValueError: If the pooling cannot have come from ``output_size``.

    Example:
        >>> import tinytorch as tt
        >>> x, index = tt.tensor([[[[3.0]]]]), tt.tensor([[[[1]]]])
        >>> tt.nn.functional.max_unpool3d(x, index, (1, 1, 2))
        tensor([[[[0., 3.]]]])
    """
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _unpool(
    spatial: int,
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Tensor:
    name = f"max_unpool{spatial}d"
    _check(name, spatial, input, indices)
    kernel = per_dimension(name, "kernel_size", kernel_size, spatial)
    steps = kernel if stride is None else per_dimension(name, "stride", stride, spatial)
    pads = per_dimension(name, "padding", padding, spatial)
    if min(steps) <= 0:
        raise RuntimeError(
            f"{name}: strides should be greater than zero, but got stride: {list(steps)}"
        )
    size = _size(tuple(input.shape[-spatial:]), kernel, steps, pads, output_size)
    places = math.prod(size)
    index = indices.reshape(math.prod(input.shape[:-spatial]), math.prod(input.shape[-spatial:]))
    xp = input._xp
    xp.check_all(
        (index._data >= 0) & (index._data < places),
        f"{name}: Found an invalid max index (output volumes are of size "
        f"{'x'.join(map(str, size))})",
    )
    out = _put_back(input.reshape(tuple(index.shape)), index, places)
    out = out.reshape(*input.shape[:-spatial], *size)
    return following(out, input) if spatial == 2 else out


def _check(name: str, spatial: int, input: Tensor, indices: Tensor) -> None:
    if input.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{name}: Input should be a {spatial + 1}d or {spatial + 2}d Tensor, but got a tensor "
            f"with {input.ndim} dimensions."
        )
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            f"{name}: elements in indices should be type int64 but got: "
            f"{scalar_name(indices.dtype)}"
        )
    check_float(f"max_unpool{max(spatial, 2)}d", input)
    if indices.shape != input.shape:
        raise RuntimeError(
            f"{name}: Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )


def _size(
    windows: tuple[int, ...], kernel: Any, steps: Any, pads: Any, output_size: Any
) -> tuple[int, ...]:
    """The size that was pooled: the smallest that gives these windows, or the one asked for."""
    default = tuple(
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(windows, kernel, steps, pads, strict=True)
    )
    if output_size is None:
        return default
    asked = tuple(int(n) for n in output_size)
    spatial = len(windows)
    if len(asked) == spatial + 2:
        asked = asked[2:]
    if len(asked) != spatial:
        raise ValueError(
            f"output_size should be a sequence containing {spatial} or {spatial + 2} elements, but "
            f"it has a length of '{len(asked)}'"
        )
    for dim, (n, usual, step) in enumerate(zip(asked, default, steps, strict=True)):
        if not usual - step < n < usual + step:
            raise ValueError(
                f'invalid output_size "{asked}" (dim {dim} must be between {usual - step} and '
                f"{usual + step})"
            )
    return asked
