"""Tensors as flat arrays that an engine reads and writes, and the reductions of them."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ..backends import load as load_backend
from ..core.tensor import Tensor, wrap
from ..state import no_grad

#: What MPI's arrays are of.
host: Any = load_backend("numpy")


class Buffers:
    """What an engine reads and writes in the place of tensors.

    Attributes:
        xp: The engine's library of arrays.
    """

    xp: Any = host

    def place_of(self, tensor: Tensor) -> Any:
        """The tensor's own memory as a flat array of the engine's, or None where it is not one."""
        if tensor._is_lazy:
            return None
        data = tensor._data
        if type(data) is not self.xp.ndarray or not data.flags.c_contiguous:
            return None
        return data.reshape(-1) if getattr(data.flags, "writeable", True) else None

    def load(self, tensor: Tensor) -> Any:
        """The tensor's numbers in a flat array: its own memory where that is one."""
        flat = self.place_of(tensor)
        if flat is not None:
            return flat
        return self.xp.ascontiguousarray(self.fetch(tensor)).reshape(-1)

    def fetch(self, tensor: Tensor) -> Any:
        """The tensor's numbers in an array of the engine's."""
        return tensor.numpy(force=True)

    def room(self, tensor: Tensor) -> Any:
        """A flat array for its numbers, without them: its own memory where that is one."""
        flat = self.place_of(tensor)
        return self.xp.empty_like(self.load(tensor)) if flat is None else flat

    def store(self, tensor: Tensor, flat: Any) -> None:
        """Write a flat array's numbers into the tensor, unless it is the tensor's own memory."""
        own = self.place_of(tensor)
        if own is not None:
            if not self.xp.shares_memory(own, flat):
                own[...] = flat
            tensor._bump()
            return
        with no_grad():
            shaped = wrap(tensor._xp.asarray(flat.reshape(tensor._data.shape)), tensor._xp)
            tensor.detach().copy_(shaped)


def check_tensor(value: Any, name: str) -> None:
    """Refuse what is no tensor, in PyTorch's words.

    Raises:
        TypeError: Then.
    """
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )


def check_tensors(values: Any, name: str) -> None:
    """Refuse what is no list of tensors.

    Raises:
        TypeError: Then.
    """
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, Tensor) for v in values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} instead."
        )


def check_alike(tensors: Sequence[Tensor], shape: Sequence[int], dtype: Any, name: str) -> None:
    """Refuse tensors of other shapes or dtypes.

    Raises:
        ValueError: For another dtype.
        RuntimeError: For another shape.
    """
    for index, tensor in enumerate(tensors):
        if tensor.dtype is not dtype and tensor.dtype != dtype:
            raise ValueError(
                f"Invalid usage of tensors with different dtypesFound {dtype} and  {tensor.dtype}"
            )
        if tuple(tensor._data.shape) != tuple(shape):
            raise RuntimeError(
                f"{name}: invalid tensor size at index {index} "
                f"(expected {tuple(shape)}, got {tuple(tensor._data.shape)})"
            )


def check_one_dtype(tensors: Sequence[Tensor]) -> None:
    """Refuse tensors of different dtypes.

    Raises:
        ValueError: Then.
    """
    for tensor in tensors:
        if tensor.dtype != tensors[0].dtype:
            raise ValueError(
                "Invalid usage of tensors with different dtypes"
                f"Found {tensors[0].dtype} and  {tensor.dtype}"
            )


def check_length(tensors: Sequence[Any], size: int, name: str, what: str) -> None:
    """Refuse another number of tensors than there are ranks.

    Raises:
        RuntimeError: Then.
    """
    if len(tensors) != size:
        raise RuntimeError(
            f"ProcessGroupMPI::{name}: invalid {what} at index 0 (expected length {size}, got "
            f"{len(tensors)})"
        )


def part(engine: Buffers, tensors: Sequence[Tensor], rows: Any) -> None:
    """Write a row to each of some tensors."""
    for tensor, row in zip(tensors, rows, strict=True):
        engine.store(tensor, row)


def check_whole(whole: Tensor, part: Tensor, size: int, large: str, small: str) -> None:
    """Refuse a tensor that has not the size of all ranks' parts.

    Raises:
        ValueError: Then, and for different dtypes.
    """
    shape, each = tuple(whole._data.shape), tuple(part._data.shape)
    behind = (size * each[0], *each[1:]) if each else (size,)
    if shape not in (behind, (size, *each)):
        raise ValueError(
            f"{large} tensor size must be equal to world_size times {small} tensor size: expected "
            f"{behind} or {(size, *each)}, got {shape}"
        )
    if whole.dtype != part.dtype:
        raise ValueError(
            f"Invalid usage of tensors with different dtypesFound {whole.dtype} and  {part.dtype}"
        )


class ReduceOp:
    """How ``all_reduce`` puts together what the processes give.

    ``AVG`` is of floating-point and complex numbers, ``BAND``, ``BOR`` and ``BXOR`` of integers and
    bools; of complex numbers there are ``SUM`` and ``AVG`` alone. ``PREMUL_SUM`` is refused.

    Example:
        >>> tt.distributed.ReduceOp.SUM.name
        'SUM'
    """

    class RedOpType(enum.Enum):
        """The ways there are."""

        SUM = 0
        AVG = 1
        PRODUCT = 2
        MIN = 3
        MAX = 4
        BAND = 5
        BOR = 6
        BXOR = 7
        PREMUL_SUM = 8

        def __str__(self) -> str:
            return f"RedOpType.{self.name}"

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType

    def __new__(cls, op: Any) -> Any:
        return cls.RedOpType(op)


def check_op(op: Any, dtype: Any, name: str) -> None:
    """Refuse what cannot be done to numbers of a dtype, in PyTorch's words.

    Args:
        op: One of ``ReduceOp``.
        dtype: A dtype of tensors.
        name: Of the collective, for the error.

    Raises:
        TypeError: If ``op`` is none.
        ValueError: For another than ``SUM`` or ``AVG`` of complex numbers.
        RuntimeError: For bits of fractions, means of integers, and ``PREMUL_SUM``.
    """
    if not isinstance(op, ReduceOp.RedOpType):
        raise TypeError(f"{name}: expected op to be a torch.distributed.ReduceOp, got {op!r}")
    if op is ReduceOp.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with MPI or NCCL")
    whole = not (dtype.is_floating_point or dtype.is_complex)
    if dtype.is_complex and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(f"{name} does not support {op} on complex tensors")
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and not whole:
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is ReduceOp.AVG and whole:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {dtype}: "
            "ReduceOp.AVG takes floating-point tensors"
        )
