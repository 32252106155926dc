"""Files and buffers as memory: ``from_file``, and what storages of them are made of.

Tensors in memory that processes share.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

from ... import dtypes
from ...backends import load
from ...backends.numpy import memory
from ...core.lazy_bits import in_memory
from ...core.relocation import share
from ...core.tensor import Tensor
from ...dispatch.op import Array, composite
from ...state import default_dtype
from .factories import from_numpy

#: NumPy's signs for orders of bytes.
_ORDERS = {"big": ">", "little": "<", "native": "="}


def mapped(filename: str | os.PathLike[str], shared: bool, nbytes: int) -> Array:
    """The first bytes of a file, as memory: read when they are looked at.

    Args:
        filename: The file; made, or made longer, if ``shared``.
        shared: Whether what is written to the memory is written to the file.
        nbytes: How many bytes.

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
        _make_room(file, filename, shared, nbytes)
        if shared and memory.POSSIBLE:
            return memory.attach(os.dup(file))[:nbytes]
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        return host.frombuffer(mmap.mmap(file, nbytes, access=access), "uint8")
    finally:
        os.close(file)


def numbers_in(
    buffer: Any, byte_order: str | None, count: int, offset: int, dtype: dtypes.dtype
) -> Array:
    """A copy of the numbers in a bytes-like object; see ``UntypedStorage.from_buffer``."""
    itemsize, length = dtype.itemsize, memoryview(buffer).nbytes
    if byte_order is None and itemsize > 1:
        raise RuntimeError("from_buffer(): missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, *_ORDERS):
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
    if kind.kind == "b":  # whatever is not 0 is True
        return host.frombuffer(buffer, "uint8", count, offset) != 0
    there = kind.newbyteorder(_ORDERS[byte_order or "native"])
    return host.frombuffer(buffer, there, count, offset).astype(kind)


def _make_room(file: int, filename: str | os.PathLike[str], shared: bool, nbytes: int) -> None:
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
    """The first numbers of a file, in a tensor of one dimension.

    On a backend of the CPU they are read when they are looked at.

    Args:
        filename: The file; made, or made longer, if ``shared``.
        shared: Whether what is written to the tensor is written to the file.
        size: How many numbers. Default: none.
        dtype: What the bytes stand for. Default: the default dtype.
        requires_grad: Whether it is a leaf whose gradient is wanted.

    Raises:
        RuntimeError: If the file cannot be opened or, unless ``shared``, is too short.

    Example:
        >>> import tempfile
        >>> import tinytorch as tt
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tt.from_file(f"{folder}/new", shared=True, size=2, dtype=tt.int32).fill_(7)
        tensor([7, 7], dtype=tinytorch.int32)
    """
    kind = default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    numbers = mapped(filename, bool(shared), size * kind.itemsize).view(kind.dtype)
    tensor: Any = from_numpy(numbers)
    return tensor.requires_grad_() if requires_grad else tensor  # type: ignore[no-any-return]


@composite(namespaces=("Tensor",))
def is_shared(input: Tensor) -> bool:
    """Whether other processes can be given the memory: after ``share_memory_``, and on a GPU.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(1, device="cpu").is_shared()
        False
    """
    return bool(input._xp.is_shared(in_memory(input)))


@composite(namespaces=("Tensor",))
def share_memory_(input: Tensor) -> Tensor:
    """Move the memory of ``input`` to where processes share it, and return ``input``.

    A process that is given the tensor, as an argument, through a queue or by a fork, sees what
    others write to it. Tensors that are parts of the same memory move with it; arrays of NumPy's
    stay. On a GPU, and if it is shared already, there is nothing to do.

    Raises:
        NotImplementedError: On a backend of the CPU whose memory cannot be shared, and where the
            system cannot pass memory to other processes.

    Example:
        >>> import tinytorch as tt
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
