"""The element types of our CUDA sources."""

from __future__ import annotations

#: C++ types of the dtypes the kernels take, and the type they compute in.
TYPES = {
    "float16": ("__half", "float"), "float32": ("float", "float"), "float64": ("double", "double"),
    "bfloat16": ("bfloat16", "float"),
}  # fmt: skip
#: The upper half of a float, rounded to the nearest, the even one of two. CUDA's own header is not
#: everywhere where CuPy is.
_BFLOAT16 = r"""
struct bfloat16 {
    unsigned short bits;
    union Float { float number; unsigned int bits; };
    bfloat16() = default;
    __device__ explicit bfloat16(float value) {
        Float whole;
        whole.number = value;
        if (value != value) bits = 0x7fc0;
        else bits = (whole.bits + 0x7fff + ((whole.bits >> 16) & 1)) >> 16;
    }
    __device__ explicit operator float() const {
        Float whole;
        whole.bits = (unsigned int)bits << 16;
        return whole.number;
    }
};
"""
#: What a source for the dtype begins with.
INCLUDES = {"float16": "#include <cuda_fp16.h>", "bfloat16": _BFLOAT16}
#: The letters that NumPy gives the dtypes; ``E`` is ``ml_dtypes``'s bfloat16.
LETTERS = "efdE"
