"""Products of two matrices by cuBLAS directly, in a third of the host time of ``cupy.dot``.

Products of bfloat16 and the bias added to them are summed in float32 and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy

from ..base import Array

#: Host memory of the scalars alpha and beta of cuBLAS, 1 and 0, by dtype.
_FACTORS = {char: numpy.array([1, 0], char) for char in "fd"}
#: Their addresses. Reading them from NumPy would take longer than the call of cuBLAS.
_ADDRESSES = {char: int(factors.ctypes.data) for char, factors in _FACTORS.items()}
_ROUTINES = {"f": "sgemm", "d": "dgemm"}


def gemm(xp: Any, a: Array, b: Array) -> Array | None:
    """``a @ b`` of two real matrices; None if cuBLAS cannot be called for them.

    cuBLAS is column-major, so it computes the transposed product ``b.T @ a.T``, which has the
    same memory.
    """
    char = a.dtype.char
    if char not in _ROUTINES or b.dtype.char != char or not a.size or not b.size:
        return None
    if char == "f" and _uses_tf32(xp, a.dtype):
        return None  # this routine computes in full float32 precision
    if a.shape[1] != b.shape[0]:
        return None
    left, right = _gemm_operand(xp, a), _gemm_operand(xp, b)
    (m, k), n = a.shape, b.shape[1]
    out = xp.empty((m, n), a.dtype)
    one = _ADDRESSES[char]
    getattr(xp.cuda.cublas, _ROUTINES[char])(
        xp.cuda.device.get_cublas_handle(), right[1], left[1], n, m, k, one,
        right[0].data.ptr, right[2], left[0].data.ptr, left[2],
        one + a.dtype.itemsize, out.data.ptr, n,
    )  # fmt: skip
    return out


def _uses_tf32(xp: Any, dtype: Any) -> bool:
    """Whether CuPy multiplies float32 on tensor cores, in TF32, because ``CUPY_TF32=1``."""
    core = xp._core._routines_linalg
    return bool(core.get_compute_type(dtype) == core.COMPUTE_TYPE_TF32)


def _gemm_operand(xp: Any, array: Array) -> tuple[Array, int, int]:
    """Return the matrix, whether cuBLAS must transpose it, and its leading dimension."""
    flags = array.flags
    if flags.c_contiguous:
        return array, 0, array.shape[1]
    if flags.f_contiguous:
        return array, 1, array.shape[0]
    return xp.ascontiguousarray(array), 0, array.shape[1]


def linear(xp: Any, input: Array, weight: Array, bias: Array) -> Array | None:
    """``input @ weight.T + bias`` of bfloat16, rounded once; None for other arrays."""
    arrays = input, weight, bias
    if any(a.dtype.char != "E" or not a.size for a in arrays):
        return None
    k, n = input.shape[-1], weight.shape[0]
    if weight.shape != (n, k) or bias.shape != (n,):
        return None
    rows = xp.ascontiguousarray(input).reshape(-1, k)
    out = xp.empty((len(rows), n), input.dtype)
    out[...] = bias
    left, right = _gemm_operand(xp, rows), _gemm_operand(xp, weight.T)
    one, cublas = _ADDRESSES["f"], xp.cuda.cublas
    bfloat16 = xp.cuda.runtime.CUDA_R_16BF
    cublas.gemmEx(
        xp.cuda.device.get_cublas_handle(), right[1], left[1], n, len(rows), k, one,
        right[0].data.ptr, bfloat16, right[2], left[0].data.ptr, bfloat16, left[2],
        one, out.data.ptr, bfloat16, n, cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT,
    )  # fmt: skip
    return out.reshape(*input.shape[:-1], n)
