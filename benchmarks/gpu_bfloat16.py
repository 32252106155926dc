"""Products of bfloat16 matrices by cuBLAS, which CuPy exposes, for a rate beside PyTorch's.

This is cuBLAS's rate and not tinytorch's. The bits of the elements are in arrays of uint16: those
of a float32 without the last 16, rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: Host memory from which cuBLAS reads its scale factors.
_FACTORS = np.array([1, 0], "float32")


def bits(values: Any) -> Any:
    """The bits of the nearest bfloat16, the even one of two; ``values`` are positive float32."""
    whole = values.view("uint32")
    return ((whole + 0x7FFF + ((whole >> 16) & 1)) >> 16).astype("uint16")


def numbers(found: Any) -> Any:
    """The float32 elements whose upper 16 bits an array of uint16 holds: undo ``bits``."""
    return (found.astype("uint32") << 16).view("float32")


def product(cupy: Any, left: Any, right: Any) -> Callable[[], Any]:
    """Return a function that multiplies two matrices, or two batches, into one array.

    Sums are float32, and rounded once. ``left`` is row-major; ``right`` may be a transposed view.
    """
    (m, k), n = left.shape[-2:], right.shape[-1]
    out = cupy.zeros((*left.shape[:-1], n), "uint16")
    transposed = not right.flags.c_contiguous
    cublas, kind = cupy.cuda.cublas, cupy.cuda.runtime.CUDA_R_16BF
    settings = cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT
    one = _FACTORS.ctypes.data
    zero = one + _FACTORS.itemsize
    # cuBLAS is column-major: the transposed product has the same memory.
    shape = int(transposed), 0, n, m, k
    operands = [(right.data.ptr, kind, k if transposed else n), (left.data.ptr, kind, k)]
    result = out.data.ptr, kind, n

    def multiply() -> Any:
        handle = cupy.cuda.device.get_cublas_handle()
        if left.ndim == 2:
            cublas.gemmEx(handle, *shape, one, *operands[0], *operands[1], zero, *result, *settings)
        else:
            cublas.gemmStridedBatchedEx(
                handle, *shape, one, *operands[0], k * n, *operands[1], m * k, zero, *result,
                m * n, len(left), *settings,
            )  # fmt: skip
        return out

    return multiply


def checked_product(cupy: Any, left: Any, right: Any, transposed: bool) -> Callable[[], Any]:
    """Return a ``product`` of positive float32 arrays as bfloat16, and check its corner.

    Raises:
        ArithmeticError: If the corner is wrong.
    """
    a, b = bits(cupy.asarray(left)), bits(cupy.asarray(right))
    if transposed:
        b = b.swapaxes(-1, -2)
    multiply = product(cupy, a, b)
    found = cupy.asnumpy(numbers(multiply()[..., :4, -4:]))
    rows, columns = (cupy.asnumpy(numbers(x)) for x in (a[..., :4, :], b[..., :, -4:]))
    if not np.allclose(found, rows @ columns, 2.0**-7, 0):
        raise ArithmeticError("cuBLAS's product of bfloat16 matrices is not their product")
    return multiply
