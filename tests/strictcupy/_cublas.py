"""``cupy.cuda.cublas``: the products that tinytorch asks for, on the memory that it names.

As the manual has it: matrices lie column after column, each column ``ld`` elements after the one
before, and ``C = alpha op(A) op(B) + beta C``.

Reference: https://docs.nvidia.com/cuda/cublas/#cublasgemmex
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT = 68, -1


def gemmEx(
    handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int, A: int, Atype: int,
    lda: int, B: int, Btype: int, ldb: int, beta: int, C: int, Ctype: int, ldc: int,
    computeType: int, algo: int,
) -> None:  # fmt: skip
    """``(m, n)`` of bfloat16, summed in float32 and rounded once."""
    import ml_dtypes

    from .cuda_runtime import CUDA_R_16BF

    if {Atype, Btype, Ctype} != {CUDA_R_16BF} or computeType != CUBLAS_COMPUTE_32F:
        raise NotImplementedError("strictcupy multiplies bfloat16 alone by gemmEx")
    dtype = numpy.dtype(ml_dtypes.bfloat16)
    a = _columns(A, dtype, *((k, m) if transa else (m, k)), lda)
    b = _columns(B, dtype, *((n, k) if transb else (k, n)), ldb)
    c = _columns(C, dtype, m, n, ldc)
    wide = (each.astype("float32") for each in (a.T if transa else a, b.T if transb else b))
    factor, more = (ctypes.c_float.from_address(each).value for each in (alpha, beta))
    total = factor * numpy.matmul(*wide)
    c[...] = total + more * c.astype("float32") if more else total


def _columns(address: int, dtype: Any, rows: int, columns: int, ld: int) -> Any:
    """The matrix whose columns lie at an address."""
    if ld < max(rows, 1):
        raise ValueError(f"cuBLAS: CUBLAS_STATUS_INVALID_VALUE (ld {ld} of {rows} rows)")
    size = (ld * (columns - 1) + rows) * dtype.itemsize
    memory = numpy.frombuffer((ctypes.c_char * size).from_address(address), dtype)
    steps = dtype.itemsize, ld * dtype.itemsize
    return numpy.lib.stride_tricks.as_strided(memory, (rows, columns), steps)
