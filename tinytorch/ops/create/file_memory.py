"""Tensors and storages of mapped files, buffers and shared memory."""

from __future__ import annotations

import mmap
import os
from typing import Any

from ... import dtypes
from ...backends import load
from ...backends.numpy import memory
from ...core.lazy_bits import stored_array
from ...core.relocation import share
from ...core.tensor import Tensor
from ...dispatch.op import Array, composite
from ...state import default_dtype
from .factories import from_numpy

#: NumPy's symbols of byte orders.
_BYTE_ORDERS = {"big": ">", "little": "<", "native": "="}


def map_file(filename: str | os.PathLike[str], shared: bool, nbytes: int) -> Array:
    """Map the first bytes of a file into memory.

    Args:
        filename: The file; created or extended if ``shared``.
        shared: Whether writes to the memory are written to the file.
        nbytes: The number of bytes.

    Raises:
        RuntimeError: If the file cannot be opened or, unless ``shared``, is too short.
    """
    host = load("numpy").library
    if not nbytes:
        return host.empty(0, "uint8")
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        file = os.open(filename, flags, 0o600)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(
            f"unable to open file <{os.fspath(filename)}> in {mode} mode: "
            f"{error.strerror} ({error.errno})"
        ) from None
    try:
        _extend_file(file, filename, shared, nbytes)
        if shared and memory.POSSIBLE:
            return memory.attach(os.dup(file))[:nbytes]
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        return host.frombuffer(mmap.mmap(file, nbytes, access=access), "uint8")
    finally:
        os.close(file)


def read_numbers(
    buffer: Any, byte_order: str | None, count: int, offset: int, dtype: dtypes.dtype
) -> Array:
    """Copy the numbers in a bytes-like object; see ``UntypedStorage.from_buffer``."""
    itemsize, length = dtype.itemsize, memoryview(buffer).nbytes
    if byte_order is None and itemsize > 1:
        raise RuntimeError("from_buffer(): missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, *_BYTE_ORDERS):
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
        )
    if not 0 <= offset <= max(length - 1, 0):
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({length}), but got "
            f"{offset}"
        )
    if count < 0 and (length - offset) % itemsize:
        raise ValueError(
            f"buffer size ({length - offset}) must be a multiple of element size ({itemsize})"
        )
    if count * itemsize > length - offset:
        raise ValueError(
            f"buffer has only {(length - offset) // itemsize} elements after offset {offset}, but "
            f"specified a size of {count}"
        )
    host = load("numpy").library
    kind = host.dtype(dtype.dtype)
    if kind.kind == "b":  # every nonzero byte is True
        return host.frombuffer(buffer, "uint8", count, offset) != 0
    there = kind.newbyteorder(_BYTE_ORDERS[byte_order or "native"])
    return host.frombuffer(buffer, there, count, offset).astype(kind)


def _extend_file(file: int, filename: str | os.PathLike[str], shared: bool, nbytes: int) -> None:
    """Extend a shared file to ``nbytes``; raise RuntimeError if another file is too short."""
    size = os.fstat(file).st_size
    if size >= nbytes:
        return
    if not shared:
        raise RuntimeError(
            f"file <{os.fspath(filename)}> size <{size}> is smaller than the required mapping "
            f"size <{nbytes}>"
        )
    os.truncate(file, nbytes)


@composite
def from_file(
    filename: str, shared: bool | None = None, size: int = 0, *, dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Map the first numbers of a file to a tensor of one dimension.

    On a backend of the CPU the file is read lazily, when elements are accessed.

    Args:
        filename: The file; created or extended if ``shared``.
        shared: Whether writes to the tensor are written to the file.
        size: The number of elements. Default: 0.
        dtype: The dtype as which the bytes are read. Default: the default dtype.
        requires_grad: Whether the result is a leaf that requires grad.

    Raises:
        RuntimeError: If the file cannot be opened or, unless ``shared``, is too short.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tt.from_file(f"{folder}/new", shared=True, size=2, dtype=tt.int32).fill_(7)
        tensor([7, 7], dtype=tinytorch.int32)
    """
    kind = default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    numbers = map_file(filename, bool(shared), size * kind.itemsize).view(kind.dtype)
    tensor: Any = from_numpy(numbers)
    return tensor.requires_grad_() if requires_grad else tensor  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def is_shared(input: Tensor) -> bool:
    """Whether the memory can be shared with other processes: after ``share_memory_``, or on a GPU.

    Example:
        >>> tt.ones(1, device="cpu").is_shared()
        False
    """
    return bool(input._xp.is_shared(stored_array(input)))


@composite(namespaces=("Tensor",))
def share_memory_(input: Tensor) -> Tensor:
    """Move the memory of ``input`` to shared memory, and return ``input``.

    Processes that receive the tensor as an argument, through a queue or by a fork, share all later
    writes to it. Tensors that share the same memory move with it; NumPy arrays do not. If the
    tensor is on a GPU, or shared already, it is unchanged.

    Raises:
        NotImplementedError: If the memory of a CPU backend cannot be shared, or the operating
            system cannot pass memory to other processes.

    Example:
        >>> x = tt.zeros(3, device="cpu")
        >>> view = x[1:]
        >>> x.share_memory_().is_shared(), view.is_shared()
        (True, True)
        >>> view += 1
        >>> x
        tensor([0., 1., 1.])
    """
    share([input])
    return input
