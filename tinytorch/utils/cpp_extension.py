"""``torch.utils.cpp_extension`` for programs that import it: no extension is compiled."""

from __future__ import annotations

from ..compat.unsupported import absent

__all__ = [
    "BuildExtension", "CUDA_HOME", "CUDAExtension", "CppExtension", "ROCM_HOME", "include_paths",
    "load", "load_inline",
]  # fmt: skip

_WHY = "extensions are compiled against PyTorch's own code, of which there is none here"
#: Where compilers for GPUs are: none is looked for.
CUDA_HOME = ROCM_HOME = None
IS_HIP_EXTENSION = False
load = absent("utils.cpp_extension.load", _WHY)
load_inline = absent("utils.cpp_extension.load_inline", _WHY)
CppExtension, CUDAExtension, BuildExtension, include_paths = (
    absent(f"utils.cpp_extension.{name}", _WHY)
    for name in ("CppExtension", "CUDAExtension", "BuildExtension", "include_paths")
)
