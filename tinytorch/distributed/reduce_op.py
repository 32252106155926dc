"""How numbers of several processes become one."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["ReduceOp"]


class ReduceOp:
    """How ``all_reduce`` puts together what the processes give.

    ``AVG`` is of floating-point and complex numbers, ``BAND``, ``BOR`` and ``BXOR`` of integers and
    bools; of complex numbers there are ``SUM`` and ``AVG`` alone. ``PREMUL_SUM`` is refused.

    Example:
        >>> import tinytorch as tt
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
