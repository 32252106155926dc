"""Tensors handed to other libraries: DLPack, array interfaces, Arrow's arrays, SymPy's numbers.

References:
    https://arrow.apache.org/docs/python/extending_types.html
    https://docs.sympy.org/latest/modules/core.html#sympy.core.sympify.sympify
    https://numpy.org/doc/stable/reference/arrays.interface.html
    https://dmlc.github.io/dlpack/latest/python_spec.html
    https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
"""

from __future__ import annotations

import ctypes
from typing import Any

from ..state import grad_enabled
from .lazy_bits import LazyView
from .storage import RefusedAttribute
from .tensor import Tensor


def dlpack(
    self: Tensor,
    *,
    stream: Any = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Export the tensor's memory as a DLPack capsule, for ``np.from_dlpack(tensor)`` and others.

    Args:
        stream: The consumer's stream on a GPU; -1, the default, leaves it to the library. On the
            CPU None or -1.
        max_version: The newest version of DLPack that the consumer supports, as ``(major, minor)``;
            default any.
        dl_device: The consumer's device, as ``(type, number)``; default the tensor's.
        copy: True for a copy, False for none, None, the default, for a copy only if ``dl_device``
            requires it.

    Raises:
        BufferError: If the tensor requires grad, or its memory cannot be exported.

    Example:
        >>> import numpy as np
        >>> x = tt.zeros(2)
        >>> np.from_dlpack(x.cpu())[0]
        np.float32(0.0)
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if isinstance(self, LazyView):
        raise BufferError("Can't export tensors with the conjugate bit set")
    if self.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    wanted = {name: value for name, value in options.items() if value is not None}
    if stream != -1:
        wanted["stream"] = stream
    code = _CODES.get(self.dtype.name)
    if code is None:
        return self._data.__dlpack__(**wanted)
    # Libraries export these elements as unsigned integers only; the capsule then gets the dtype.
    capsule = self._data.view(f"uint{8 * self.dtype.itemsize}").__dlpack__(**wanted)
    capsule_field(capsule, _DTYPE, ctypes.c_uint8)[0] = code
    return capsule


#: DLPack's codes of the dtypes that NumPy does not have.
_CODES = {
    "bfloat16": 4, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
}  # fmt: skip
_UNSIGNED = 1
_ADDRESS = ctypes.sizeof(ctypes.c_void_p)
#: Offsets of fields of a ``DLTensor``: after the elements' address come two integers for the
#: device, the number of dimensions, and the dtype as code, bits and lanes.
_DEVICE, _DTYPE = _ADDRESS, _ADDRESS + 12


def capsule_field(capsule: Any, start: int, kind: type[ctypes._SimpleCData[int]]) -> Any:
    """Return two numbers in the ``DLTensor`` of a capsule, as a writable array.

    Args:
        capsule: A DLPack capsule, which has not been consumed.
        start: Offset of the first number in the ``DLTensor``, in bytes.
        kind: C type of the numbers.
    """
    versioned = '"dltensor_versioned"' in repr(capsule)
    read = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    address = read(capsule, b"dltensor_versioned" if versioned else b"dltensor")
    # Version and flags, of 8 bytes each, and two pointers come before the versioned ``DLTensor``.
    offset = 16 + 2 * _ADDRESS if versioned else 0
    return (kind * 2).from_address(address + offset + start)


def capsule_device(capsule: Any) -> tuple[int, int]:
    """Device of a capsule's memory in DLPack's numbers: ``(type, number)``."""
    kind, number = capsule_field(capsule, _DEVICE, ctypes.c_int32)
    return kind, number


def read_as_unsigned(capsule: Any) -> str | None:
    """Relabel a capsule of a dtype that NumPy lacks as unsigned integers; return the dtype's name.

    None if NumPy can read the capsule itself.
    """
    code_and_bits = capsule_field(capsule, _DTYPE, ctypes.c_uint8)
    names = {code: name for name, code in _CODES.items()}
    name = names.get(code_and_bits[0])
    if name is not None:
        code_and_bits[0] = _UNSIGNED
    return name


def dlpack_device(self: Tensor) -> tuple[Any, int]:
    """Device of the tensor in DLPack's numbers: ``(type, number)``, with type 1 for the CPU.

    Example:
        >>> kind, number = tt.zeros(2).cpu().__dlpack_device__()
        >>> int(kind), number
        (1, 0)
    """
    return self._data.__dlpack_device__()  # type: ignore[no-any-return]


def cuda_array_interface(self: Tensor) -> dict[str, Any]:
    """Address, shape and dtype of a tensor on a GPU, for CuPy, Numba and other libraries.

    Raises:
        AttributeError: If the tensor is not on a GPU.
        RuntimeError: If it requires grad; it is an AttributeError, too.
    """
    if self.device.type != "cuda":
        raise AttributeError(
            "Can't get __cuda_array_interface__ on non-CUDA tensor type: "
            f"{self.type()}. If CUDA data is required use tensor.cuda() to copy it there."
        )
    if self.requires_grad:
        raise RefusedAttribute(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients are "
            "not required, use var.detach() to get Variable that doesn't require grad."
        )
    return self._data.__cuda_array_interface__  # type: ignore[no-any-return]


def array_interface(self: Tensor) -> dict[str, Any]:
    """Address, shape, strides and dtype of a tensor on the CPU, for Pillow, Cython and others.

    Raises:
        AttributeError: If the tensor is on another device, or on meta, or requires grad. NumPy
            then calls ``__array__``, which warns.
    """
    if self.requires_grad and grad_enabled():
        raise AttributeError(
            "Can't get __array_interface__ of a tensor that requires grad. Use tensor.detach()."
        )
    array = _on_cpu(self, "__array_interface__")
    return {**array.__array_interface__, "strides": array.strides}


def ctypes_of(self: Tensor) -> Any:
    """``numpy.ndarray.ctypes`` of the tensor, with ``data`` and ``data_as`` for functions of C.

    Raises:
        AttributeError: If the tensor is not on the CPU.
    """
    return _on_cpu(self, "ctypes").ctypes


def _on_cpu(tensor: Tensor, attribute: str) -> Any:
    """Return a NumPy array on a tensor's memory.

    Args:
        tensor: The tensor.
        attribute: The attribute that is read, for the error.

    Raises:
        AttributeError: If NumPy cannot access the memory.
    """
    if tensor.device.type == "cpu" and not isinstance(tensor, LazyView):
        array = tensor.detach().numpy()
        if array.__array_interface__["data"][0] == tensor.data_ptr() or not array.size:
            return array
    raise AttributeError(
        f"Can't get {attribute} of a tensor on {tensor.device}: NumPy cannot access its memory. "
        "Use tensor.cpu() to copy it."
    )


def arrow_array(self: Tensor, type: Any = None) -> Any:
    """Convert the tensor to a ``pyarrow.Array``, for ``pyarrow.array(tensor)``.

    Args:
        type: The Arrow type of the elements; by default the type of the dtype.

    Raises:
        pyarrow.ArrowInvalid: If the tensor does not have exactly one dimension.
    """
    import pyarrow

    return pyarrow.array(self.__array__(), type=type)


def sympy_value(self: Tensor) -> Any:
    """Convert the tensor to a number or an array of SymPy, for ``sympy.sympify(tensor)``.

    A 0-d tensor becomes a number with as many digits as its dtype has.
    """
    import sympy

    return sympy.sympify(self.__array__()[()])
