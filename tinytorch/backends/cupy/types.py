"""The element types of our CUDA sources."""

from __future__ import annotations

#: C++ types of the dtypes the kernels take, and the type they compute in.
TYPES = {
    "float16": ("__half", "float"), "float32": ("float", "float"), "float64": ("double", "double"),
}  # fmt: skip
#: What a source for the dtype includes.
INCLUDES = {"float16": "#include <cuda_fp16.h>"}
