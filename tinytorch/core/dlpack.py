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
from .lazy_bits import Waiting
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
    if isinstance(self, Waiting):
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
    # Libraries export integers alone of as many bits; the capsule then says what they stand for.
    capsule = self._data.view(f"uint{8 * self.dtype.itemsize}").__dlpack__(**wanted)
    capsule_field(capsule, _DTYPE, ctypes.c_uint8)[0] = code
    return capsule


#: DLPack's codes of the dtypes that NumPy has not.
_CODES = {
    "bfloat16": 4, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
}  # fmt: skip
_UNSIGNED = 1
_ADDRESS = ctypes.sizeof(ctypes.c_void_p)
#: Where the fields of a ``DLTensor`` begin: behind the elements' address are two integers for the
#: device, the number of dimensions, and the dtype as code, bits and lanes.
_DEVICE, _DTYPE = _ADDRESS, _ADDRESS + 12


def capsule_field(capsule: Any, start: int, kind: type[ctypes._SimpleCData[int]]) -> Any:
    """Two numbers in the ``DLTensor`` of a capsule, which may be written to."""
    versioned = '"dltensor_versioned"' in repr(capsule)
    read = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    address = read(capsule, b"dltensor_versioned" if versioned else b"dltensor")
    # Version, owner, deleter and flags come before.
    before = 16 + 2 * _ADDRESS if versioned else 0
    return (kind * 2).from_address(address + before + start)


def capsule_device(capsule: Any) -> tuple[int, int]:
    """The device of a capsule's memory as DLPack counts: ``(type, number)``."""
    kind, number = capsule_field(capsule, _DEVICE, ctypes.c_int32)
    return kind, number


def read_as_unsigned(capsule: Any) -> str | None:
    """Have a capsule of a dtype that NumPy has not say unsigned integers; return that dtype's name.

    None means that NumPy reads the capsule as it is.
    """
    code_and_bits = capsule_field(capsule, _DTYPE, ctypes.c_uint8)
    names = {code: name for name, code in _CODES.items()}
    name = names.get(code_and_bits[0])
    if name is not None:
        code_and_bits[0] = _UNSIGNED
    return name


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
    """Address, shape, strides and dtype of a tensor on the CPU, for Pillow, Cython and the like.

    Raises:
        AttributeError: If the tensor is on another device, or on none, or requires grad. NumPy
            then asks ``__array__``, which warns.
    """
    if self.requires_grad and grad_enabled():
        raise AttributeError(
            "Can't get __array_interface__ of a tensor that requires grad. Use tensor.detach()."
        )
    array = _on_cpu(self, "__array_interface__")
    return {**array.__array_interface__, "strides": array.strides}


def ctypes_of(self: Tensor) -> Any:
    """What ``numpy.ndarray.ctypes`` is, ``data`` and ``data_as`` for functions of C among it.

    Raises:
        AttributeError: If the tensor is not on the CPU.
    """
    return _on_cpu(self, "ctypes").ctypes


def _on_cpu(tensor: Tensor, attribute: str) -> Any:
    """NumPy's array over a tensor's memory; AttributeError where NumPy cannot reach that."""
    if tensor.device.type == "cpu" and not isinstance(tensor, Waiting):
        array = tensor.detach().numpy()
        if array.__array_interface__["data"][0] == tensor.data_ptr() or not array.size:
            return array
    raise AttributeError(
        f"Can't get {attribute} of a tensor on {tensor.device}: NumPy cannot reach its memory. "
        "Use tensor.cpu() to copy it."
    )


def arrow_array(self: Tensor, type: Any = None) -> Any:
    """The array that ``pyarrow.array(tensor)`` asks for.

    Args:
        type: The Arrow type of the elements; default that of the dtype.

    Raises:
        pyarrow.ArrowInvalid: If the tensor has not one dimension.
    """
    import pyarrow

    return pyarrow.array(self.__array__(), type=type)


def sympy_value(self: Tensor) -> Any:
    """What ``sympy.sympify(tensor)`` asks for: a number, or an array of numbers.

    A tensor of no dimension is a number with the digits that its dtype holds.
    """
    import sympy

    return sympy.sympify(self.__array__()[()])
