"""Conversion of tensors to flat arrays for an engine, checks of tensors, and ``ReduceOp``."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ..backends import load as load_backend
from ..core.tensor import Tensor, wrap
from ..state import no_grad

#: Backend of the arrays that MPI reads and writes.
host: Any = load_backend("numpy")


class Buffers:
    """Conversion of tensors to the flat arrays that an engine reads and writes.

    Attributes:
        xp: Backend of the engine's arrays.
    """

    xp: Any = host

    def flat_memory(self, tensor: Tensor) -> Any:
        """A tensor's memory as a flat array of the backend `xp`, without a copy.

        Returns:
            None if the memory cannot be used as it is: for a lazily conjugated or negated tensor,
            an array of another backend, and memory that is not contiguous or not writable.
        """
        if tensor._is_lazy:
            return None
        data = tensor._data
        if type(data) is not self.xp.ndarray or not data.flags.c_contiguous:
            return None
        return data.reshape(-1) if getattr(data.flags, "writeable", True) else None

    def load(self, tensor: Tensor) -> Any:
        """Flat array of a tensor's values: its memory if possible, otherwise a copy."""
        flat = self.flat_memory(tensor)
        if flat is not None:
            return flat
        return self.xp.ascontiguousarray(self.fetch(tensor)).reshape(-1)

    def fetch(self, tensor: Tensor) -> Any:
        """A tensor's values in an array of the backend `xp`."""
        return tensor.numpy(force=True)

    def empty_flat(self, tensor: Tensor) -> Any:
        """Flat array for a result: the tensor's memory if possible, otherwise uninitialized."""
        flat = self.flat_memory(tensor)
        return self.xp.empty_like(self.load(tensor)) if flat is None else flat

    def store(self, tensor: Tensor, flat: Any) -> None:
        """Copy a flat array into a tensor, unless it is the tensor's own memory."""
        own = self.flat_memory(tensor)
        if own is not None:
            if not self.xp.shares_memory(own, flat):
                own[...] = flat
            tensor._bump()
            return
        with no_grad():
            shaped = wrap(tensor._xp.asarray(flat.reshape(tensor._data.shape)), tensor._xp)
            tensor.detach().copy_(shaped)


def check_tensor(value: Any, name: str) -> None:
    """Raise PyTorch's ``TypeError`` if the argument ``name`` is not a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )


def check_tensors(values: Any, name: str) -> None:
    """Raise PyTorch's ``TypeError`` if the argument ``name`` is not a list of tensors."""
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, Tensor) for v in values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} instead."
        )


def check_shape_and_dtype(
    tensors: Sequence[Tensor], shape: Sequence[int], dtype: Any, name: str
) -> None:
    """Check that each tensor has the given shape and dtype.

    ``name`` is the name of the collective in the error.

    Raises:
        ValueError: If a dtype differs.
        RuntimeError: If a shape differs.
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
    """Raise a ``ValueError`` if the tensors have different dtypes."""
    for tensor in tensors:
        if tensor.dtype != tensors[0].dtype:
            raise ValueError(
                "Invalid usage of tensors with different dtypes"
                f"Found {tensors[0].dtype} and  {tensor.dtype}"
            )


def check_length(tensors: Sequence[Any], size: int, name: str, argument: str) -> None:
    """Raise a ``RuntimeError`` if the number of tensors is not the number of ranks.

    Args:
        tensors: The tensors.
        size: Number of ranks.
        name: PyTorch's name of the collective, for the error.
        argument: Description of the argument, for the error.
    """
    if len(tensors) != size:
        raise RuntimeError(
            f"ProcessGroupMPI::{name}: invalid {argument} at index 0 (expected length {size}, got "
            f"{len(tensors)})"
        )


def store_rows(engine: Buffers, tensors: Sequence[Tensor], rows: Any) -> None:
    """Copy each row of an array into the tensor of the same index."""
    for tensor, row in zip(tensors, rows, strict=True):
        engine.store(tensor, row)


def check_concatenated(whole: Tensor, part: Tensor, size: int, large: str, small: str) -> None:
    """Check that a tensor has the shape of all ranks' parts, concatenated or stacked.

    Args:
        whole: The tensor.
        part: The part of one rank.
        size: Number of ranks.
        large: Name of ``whole`` in errors: ``"input"`` or ``"output"``.
        small: Name of ``part`` in errors.

    Raises:
        ValueError: If the shape or the dtype does not fit.
    """
    shape, each = tuple(whole._data.shape), tuple(part._data.shape)
    concatenated = (size * each[0], *each[1:]) if each else (size,)
    if shape not in (concatenated, (size, *each)):
        raise ValueError(
            f"{large} tensor size must be equal to world_size times {small} tensor size: expected "
            f"{concatenated} or {(size, *each)}, got {shape}"
        )
    if whole.dtype != part.dtype:
        raise ValueError(
            f"Invalid usage of tensors with different dtypesFound {whole.dtype} and  {part.dtype}"
        )


class ReduceOp:
    """Reduction operations of ``all_reduce``, ``reduce`` and ``reduce_scatter``.

    ``AVG`` needs floating-point or complex tensors, and ``BAND``, ``BOR`` and ``BXOR`` need
    integers or bools. Complex tensors support ``SUM`` and ``AVG`` alone. ``PREMUL_SUM`` is not
    supported.

    Example:
        >>> tt.distributed.ReduceOp.SUM.name
        'SUM'
    """

    class RedOpType(enum.Enum):
        """The reduction operations."""

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
    """Check that a dtype supports a reduction.

    Args:
        op: A ``ReduceOp``.
        dtype: The dtype of the tensors.
        name: Name of the collective, for errors.

    Raises:
        TypeError: If ``op`` is not a ``ReduceOp``.
        ValueError: For complex tensors, unless ``op`` is ``SUM`` or ``AVG``.
        RuntimeError: For a bitwise reduction of floating-point tensors, ``AVG`` of integers, and
            ``PREMUL_SUM``.
    """
    if not isinstance(op, ReduceOp.RedOpType):
        raise TypeError(f"{name}: expected op to be a torch.distributed.ReduceOp, got {op!r}")
    if op is ReduceOp.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with MPI or NCCL")
    is_integral = not (dtype.is_floating_point or dtype.is_complex)
    if dtype.is_complex and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(f"{name} does not support {op} on complex tensors")
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and not is_integral:
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    if op is ReduceOp.AVG and is_integral:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {dtype}: "
            "expected floating-point tensors for ReduceOp.AVG"
        )
