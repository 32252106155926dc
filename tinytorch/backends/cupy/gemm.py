"""Products of two matrices straight to cuBLAS: a third of the host's time of ``cupy.dot``.

Those of bfloat16 are summed in float32 and rounded once, together with what is added to them.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..base import Array

#: Host memory that cuBLAS reads its factors from: 1 and 0 in each type.
_FACTORS = {char: numpy.array([1, 0], char) for char in "fd"}
#: Where they are, which NumPy takes longer to say than cuBLAS to be called.
_ADDRESSES = {char: int(factors.ctypes.data) for char, factors in _FACTORS.items()}
_ROUTINES = {"f": "sgemm", "d": "dgemm"}


def gemm(xp: Any, a: Array, b: Array) -> Array | None:
    """``a @ b`` of two real matrices; None for what it does not take.

    cuBLAS counts columns first, so it is asked for the transposed product, ``b.T @ a.T``, which
    is the same memory.
    """
    char = a.dtype.char
    if char not in _ROUTINES or b.dtype.char != char or not a.size or not b.size:
        return None
    if char == "f" and _asks_for_tf32(xp, a.dtype):
        return None  # this routine computes in full precision
    if a.shape[1] != b.shape[0]:
        return None
    left, right = _laid_out(xp, a), _laid_out(xp, b)
    (m, k), n = a.shape, b.shape[1]
    out = xp.empty((m, n), a.dtype)
    one = _ADDRESSES[char]
    getattr(xp.cuda.cublas, _ROUTINES[char])(
        xp.cuda.device.get_cublas_handle(), right[1], left[1], n, m, k, one,
        right[0].data.ptr, right[2], left[0].data.ptr, left[2],
        one + a.dtype.itemsize, out.data.ptr, n,
    )  # fmt: skip
    return out


def _asks_for_tf32(xp: Any, dtype: Any) -> bool:
    """Whether CuPy is told, by ``CUPY_TF32=1``, to multiply float32 on tensor cores, rounded."""
    core = xp._core._routines_linalg
    return bool(core.get_compute_type(dtype) == core.COMPUTE_TYPE_TF32)


def _laid_out(xp: Any, array: Array) -> tuple[Array, int, int]:
    """The matrix, whether cuBLAS must transpose it, and its leading dimension."""
    flags = array.flags
    if flags.c_contiguous:
        return array, 0, array.shape[1]
    if flags.f_contiguous:
        return array, 1, array.shape[0]
    return xp.ascontiguousarray(array), 0, array.shape[1]


def linear(xp: Any, input: Array, weight: Array, bias: Array) -> Array | None:
    """``input @ weight.T + bias`` of bfloat16, rounded once; None for what it does not take."""
    arrays = input, weight, bias
    if any(a.dtype.char != "E" or not a.size for a in arrays):
        return None
    k, n = input.shape[-1], weight.shape[0]
    if weight.shape != (n, k) or bias.shape != (n,):
        return None
    rows = xp.ascontiguousarray(input).reshape(-1, k)
    out = xp.empty((len(rows), n), input.dtype)
    out[...] = bias
    left, right = _laid_out(xp, rows), _laid_out(xp, weight.T)
    one, cublas = _ADDRESSES["f"], xp.cuda.cublas
    kind = xp.cuda.runtime.CUDA_R_16BF
    cublas.gemmEx(
        xp.cuda.device.get_cublas_handle(), right[1], left[1], n, len(rows), k, one,
        right[0].data.ptr, kind, right[2], left[0].data.ptr, kind, left[2],
        one, out.data.ptr, kind, n, cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT,
    )  # fmt: skip
    return out.reshape(*input.shape[:-1], n)
