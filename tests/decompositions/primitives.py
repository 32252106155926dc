"""``torch._prims``: the few operations that PyTorch's references are written in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tinytorch as tt

#: By their own names, where tinytorch says something else or in another place.
erf_inv, shift_left = tt.erfinv, tt.bitwise_left_shift
shift_right_arithmetic = tt.bitwise_right_shift
bessel_i0, bessel_i0e = tt.special.i0, tt.special.i0e
bessel_i1, bessel_i1e = tt.special.i1, tt.special.i1e


def __getattr__(name: str) -> Any:
    if name == "utils":
        import importlib

        return importlib.import_module("decomposed._prims_common")
    return getattr(tt, name, None) or getattr(tt.special, name)


def convert_element_type(a: Any, dtype: Any) -> Any:
    return a.to(dtype)


def view_of(a: Any) -> Any:
    return a.view_as(a)


def view_element_type(a: Any, dtype: Any) -> Any:
    return a.view(dtype)


def transpose(a: Any, permutation: Sequence[int]) -> Any:
    return a.permute(permutation)


def broadcast_in_dim(a: Any, shape: Sequence[int], places: Sequence[int]) -> Any:
    for dim in range(len(shape)):
        if dim not in places:
            a = a.unsqueeze(dim)
    return a.expand(shape)


def split_dim(a: Any, dim: int, outer: int) -> Any:
    return a.view(*a.shape[:dim], outer, a.shape[dim] // outer, *a.shape[dim + 1 :])


def copy_to(a: Any, b: Any) -> Any:
    return a.copy_(b)


def sum(a: Any, dims: Sequence[int], output_dtype: Any = None) -> Any:
    return tt.sum(a, dims, dtype=output_dtype) if dims else a.clone()


def prod(a: Any, dims: Sequence[int], output_dtype: Any = None) -> Any:
    for dim in sorted(dims, reverse=True):
        a = tt.prod(a, dim)
    return a


def amin(a: Any, dims: Sequence[int], output_dtype: Any = None) -> Any:
    return tt.amin(a, dims) if dims else a.clone()


def amax(a: Any, dims: Sequence[int], output_dtype: Any = None) -> Any:
    return tt.amax(a, dims) if dims else a.clone()


def var(a: Any, dims: Sequence[int], correction: float, output_dtype: Any = None) -> Any:
    return tt.var(a, dims, correction=correction)


def squeeze(a: Any, dims: Sequence[int]) -> Any:
    return a.squeeze(tuple(dims)) if dims else a


def iota(length: int, *, start: int, step: int, dtype: Any, **others: Any) -> Any:
    return start + step * tt.arange(length, dtype=dtype)


def fill(a: Any, value: Any) -> Any:
    return tt.full_like(a, value)


def device_put(a: Any, device: Any, non_blocking: bool = False) -> Any:
    return a.clone()


def copy_strided(a: Any, stride: Sequence[int]) -> Any:
    return tt.empty_strided(a.shape, stride, dtype=a.dtype).copy_(a)


def cat(tensors: Sequence[Any], dim: int) -> Any:
    return tt.cat(list(tensors), dim)


def collapse_view(a: Any, start: int, end: int) -> Any:
    size = math.prod(a.shape[start : end + 1])
    return a.view(*a.shape[:start], size, *a.shape[end + 1 :])


def collapse(a: Any, start: int, end: int) -> Any:
    size = math.prod(a.shape[start : end + 1])
    return a.reshape(*a.shape[:start], size, *a.shape[end + 1 :])


def _collapse_view_helper(a: Any, start: int, end: int, must_be_valid: Any = None) -> Any:
    """Shape and strides of the view, None for both where there is none."""
    if a.ndim and start == end:
        return a.shape, a.stride()
    try:
        view = collapse_view(a, start, end)
    except RuntimeError:
        return None, None
    return view.shape, view.stride()


def svd(a: Any, *, full_matrices: bool) -> Any:
    return tt.linalg.svd(a, full_matrices=full_matrices)


def scalar_tensor(value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return tt.tensor(value, dtype=dtype)


def rev(a: Any, dims: Sequence[int]) -> Any:
    return tt.flip(a, tuple(dims))


def item(a: Any) -> Any:
    return a.item()


def expand_dims(a: Any, dims: Sequence[int], ndim: Any = None) -> Any:
    for dim in sorted(dims):
        a = a.unsqueeze(dim)
    return a


def empty_strided(shape: Any, strides: Any, *, dtype: Any, **others: Any) -> Any:
    return tt.empty_strided(shape, strides, dtype=dtype)


def empty_permuted(shape: Any, order: Any, *, dtype: Any, **others: Any) -> Any:
    return tt.empty_permuted(shape, order, dtype=dtype)


def fft_r2c(a: Any, *, dim: Any, onesided: bool) -> Any:
    return tt.fft.rfftn(a, dim=list(dim)) if onesided else tt.fft.fftn(a, dim=list(dim))


def fft_c2c(a: Any, *, dim: Any, forward: bool) -> Any:
    if forward:
        return tt.fft.fftn(a, dim=list(dim))
    return tt.fft.ifftn(a, dim=list(dim), norm="forward")


def fft_c2r(a: Any, *, dim: Any, last_dim_size: int) -> Any:
    size = [a.shape[d] for d in dim[:-1]] + [last_dim_size]
    return tt.fft.irfftn(a, s=size, dim=list(dim), norm="forward")
