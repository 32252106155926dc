"""Tensors handed to other libraries without a copy: DLPack and CUDA's array interface.

References:
    https://dmlc.github.io/dlpack/latest/python_spec.html
    https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
"""

from __future__ import annotations

from typing import Any

from .tensor import Tensor


def dlpack(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule of the tensor's memory: what ``np.from_dlpack(tensor)`` asks for.

    Args:
        stream: The consumer's stream on a GPU; -1, the default, leaves it to the library. On the
            CPU None or -1.
        max_version: The newest DLPack the consumer knows, as ``(major, minor)``; default any.
        dl_device: Where the consumer wants it, as ``(type, number)``; default where it is.
        copy: Whether it must be a copy, or must not be one; None, the default, only where
            ``dl_device`` asks for it.

    Raises:
        BufferError: If the tensor requires grad, or its memory cannot be handed out.

    Example:
        >>> import numpy as np
        >>> import tinytorch as tt
        >>> x = tt.zeros(2)
        >>> np.from_dlpack(x.cpu())[0]
        np.float32(0.0)
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    wanted = {name: value for name, value in options.items() if value is not None}
    if stream != -1:
        wanted["stream"] = stream
    return self._data.__dlpack__(**wanted)


def dlpack_device(self: Tensor) -> tuple[Any, int]:
    """The tensor's device as DLPack counts: ``(type, number)``, the type 1 for the CPU.

    Example:
        >>> import tinytorch as tt
        >>> kind, number = tt.zeros(2).cpu().__dlpack_device__()
        >>> int(kind), number
        (1, 0)
    """
    return self._data.__dlpack_device__()  # type: ignore[no-any-return]


def cuda_array_interface(self: Tensor) -> dict[str, Any]:
    """Address, shape and dtype of a tensor on a GPU, for CuPy, Numba and the like.

    Raises:
        AttributeError: If the tensor is not on a GPU.
        RuntimeError: If it requires grad.
    """
    if self.device.type != "cuda":
        raise AttributeError(
            "Can't get __cuda_array_interface__ on non-CUDA tensor type: "
            f"{self.type()}. If CUDA data is required use tensor.cuda() to copy it there."
        )
    if self.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients are "
            "not required, use var.detach() to get Variable that doesn't require grad."
        )
    return self._data.__cuda_array_interface__  # type: ignore[no-any-return]
