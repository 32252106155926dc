"""Softmax and its logarithm along a dimension."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes
from ...core.tensor import Tensor
from ...dispatch.op import Array, Backend, Out, composite, op
from ...warnings import warn
from ..checks import check_supported, compute_in_single, is_half
from ..memory_order import as_row_major
from ..shape.sizes import normalize_dim

#: Arrays with fewer elements are not cut into blocks.
_FEW = 16384


def _map_blocks(xp: Any, function: Any, dim: int, *arrays: Any) -> Any:
    """``function(axis, *arrays)`` for the dimension ``dim``; on large raw arrays, block by block.

    The axis may be -1 for the last dimension, and 1 for blocks that are reshaped to 3-d.
    """
    if xp.records:
        return function(dim, *arrays)
    shape = arrays[0].shape
    if arrays[0].size < _FEW:
        return function(-1 if dim == len(shape) - 1 else dim, *arrays)
    if dim == len(shape) - 1:
        return xp.blockwise(lambda *parts: function(-1, *parts), *arrays, unit=max(shape[-1], 1))
    size, inner = shape[dim], math.prod(shape[dim + 1 :])
    if not dim or not size * inner:
        return function(dim, *arrays)
    form = (-1, size, inner)

    def compute(*blocks: Array) -> Array:
        return function(1, *(x.reshape(form) for x in blocks)).reshape(blocks[0].shape)

    return xp.blockwise(compute, *arrays, unit=size * inner)


def _run_kernel(name: str, xp: Backend, input: Array, dim: int, kernel: Any) -> Array:
    """``kernel(xp, input, axis)`` along ``dim``, or the backend's fused function ``name``.

    Half precision is computed in single precision. Raises an error for dtypes that PyTorch does
    not support.
    """
    ndim, size = input.ndim, input.size
    if -ndim <= dim < ndim and 0 < size < _FEW and input.dtype.char in "fd" and not xp.fuses:
        out = kernel(xp, input, -1 if dim == ndim - 1 else dim)
        return out if out.flags.c_contiguous else as_row_major(xp, out)
    dtype = input.dtype
    if dtype.kind != "f" and size:
        last = "lastdim_kernel" if dim in (-1, ndim - 1) else "kernel"
        check_supported(xp, f"{name}_{last}_impl", input, unsupported="uibc")
    dim = normalize_dim(name, dim, ndim)
    fused = xp.fused(name, input, dim)
    if fused is not None:
        return fused
    if not size:
        return xp.zeros(input.shape, dtype)
    if not ndim:
        return kernel(xp, input.reshape(1), 0).reshape(())
    if dtype.itemsize < 4:
        return compute_in_single(xp, kernel, input, dim)
    return as_row_major(xp, _map_blocks(xp, lambda axis, x: kernel(xp, x, axis), dim, input))


@op
def _softmax(xp: Backend, input: Array, dim: int) -> Array:
    """Softmax along ``dim``."""
    return _run_kernel("softmax", xp, input, dim, _softmax_kernel)


def _softmax_kernel(xp: Backend, x: Array, axis: int) -> Array:
    """``exp(x) / sum(exp(x))`` along ``axis``."""
    if xp.is_moderate(x, axis):
        out = xp.exp(x)
    else:
        out = x - xp.highest(x, axis)  # so that exp cannot overflow
        xp.exp(out, out)
    out /= xp.sum_along(out, axis)
    return out


def softmax_backward(xp: Any, g: Any, out: Any, dim: int) -> Any:
    """Gradient of the input of softmax, from its result: ``out * (g - sum(g * out))``."""
    if not xp.records and is_half(g):
        return compute_in_single(xp, softmax_backward, g, out, dim=dim)
    if not g.ndim:
        return out * (g - g * out)
    dim %= g.ndim

    def compute(axis: int, g: Any, out: Any) -> Any:
        if axis != -1 or xp.records:
            return out * (g - xp.sum(g * out, axis=axis, keepdims=True))
        slope = g - xp.sum_of_products(g, out)
        return xp.multiply(slope, out, out=slope)

    return _map_blocks(xp, compute, dim, g, out)


_softmax.vjp(input=softmax_backward)


@op
def _log_softmax(xp: Backend, input: Array, dim: int) -> Array:
    """Logarithm of softmax along ``dim``."""
    return _run_kernel("log_softmax", xp, input, dim, _log_softmax_kernel)


def _log_softmax_kernel(xp: Backend, x: Array, axis: int) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``."""
    out = x - xp.highest(x, axis)
    total = xp.sum_along(xp.exp(out), axis)
    out -= xp.log(total, total)
    return out


def _log_softmax_backward(xp: Any, g: Any, out: Any, dim: int) -> Any:
    """Gradient of the input of log-softmax, from its result: ``g - exp(out) * sum(g)``."""
    if not xp.records and is_half(g):
        return compute_in_single(xp, _log_softmax_backward, g, out, dim=dim)
    if not g.ndim:
        return g - xp.exp(out) * g
    dim %= g.ndim

    def compute(axis: int, g: Any, out: Any) -> Any:
        if xp.records:
            return g - xp.exp(out) * xp.sum(g, axis=axis, keepdims=True)
        probabilities = xp.exp(out)
        probabilities *= xp.sum(g, axis=axis, keepdims=True)
        return xp.subtract(g, probabilities, out=probabilities)

    return _map_blocks(xp, compute, dim, g, out)


_log_softmax.vjp(input=_log_softmax_backward)


_SPACES = ("", "nn.functional", "special")


@composite(namespaces=_SPACES, method=True, out=Out.EXACT, fast=_softmax)
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``exp(x) / sum(exp(x))`` along ``dim``: positive elements that sum to 1.

    Args:
        input: Tensor of any shape; integers need ``dtype``.
        dim: The dimension. None is deprecated: dimension 0 of tensors with 0, 1 or 3
            dimensions, else dimension 1.
        dtype: Compute and return in this type; the default is the input's.

    Returns:
        Tensor of the same shape; NaN where all elements along ``dim`` are -inf.

    Raises:
        IndexError: If there is no such dimension.
        NotImplementedError: For integers without ``dtype``.

    Example:
        >>> tt.softmax(tt.zeros(2), 0)
        tensor([0.5000, 0.5000])
    """
    return softmax_call(_softmax, "softmax", input, dim, dtype, _stacklevel)


@composite(namespaces=_SPACES, method=True, out=Out.EXACT, fast=_log_softmax, like=softmax)
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Logarithm of ``softmax`` along ``dim``; finite also where ``softmax`` rounds to 0.

    Raises:
        IndexError: If there is no such dimension.
        NotImplementedError: For integers without ``dtype``.

    Example:
        >>> tt.log_softmax(tt.tensor([0.0, 0.0]), 0)
        tensor([-0.6931, -0.6931])
    """
    return softmax_call(_log_softmax, "log_softmax", input, dim, dtype, _stacklevel)


def softmax_call(
    function: Any, name: str, input: Tensor, dim: int | None, dtype: Any, stacklevel: int
) -> Tensor:
    """``function(tensor, dim)`` after the arguments of a softmax were checked and converted.

    Args:
        function: ``_softmax`` or ``_log_softmax``.
        name: The public function, for errors.
        input: The tensor.
        dim: The dimension; None chooses one, with a warning.
        dtype: The dtype to convert the input to first, or None.
        stacklevel: The public function's argument of that name.
    """
    x: Any = input
    if dtype is not None:
        x = x.to(dtypes.as_dtype(dtype))
    if dim is None:
        dim = _implicit_dim(name, x.ndim, stacklevel + 1)
    dim = normalize_dim(name, dim, x.ndim)
    if x._data.dtype.kind not in "fV" and x.numel():
        kernel = "lastdim_kernel" if dim >= x.ndim - 1 else "kernel"
        check_supported(
            x._xp, f"{function.op.name.lstrip('_')}_{kernel}_impl", x._data, unsupported="uibc"
        )
    out: Tensor = function(x, dim) if x.ndim else function(x.reshape(1), 0).reshape(())
    return out


def _implicit_dim(name: str, ndim: int, stacklevel: int) -> int:
    """PyTorch's dimension for ``dim=None``, with a warning."""
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
    )
    return 0 if ndim in (0, 1, 3) else 1
