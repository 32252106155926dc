"""``torch.distributed`` for programs that ask whether it is there: it is not."""

from __future__ import annotations

import enum

from ..compat.tables.distributed import TABLES, fill

__all__ = ["Backend", "GroupMember", "ProcessGroup", "ReduceOp", "group"]


class ProcessGroup:
    """What processes that work together are in PyTorch; nothing here is an instance of it.

    Example:
        >>> import tinytorch as tt
        >>> isinstance(None, tt.distributed.ProcessGroup)
        False
    """


class ReduceOp:
    """How ``all_reduce`` puts together what the processes give.

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

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = RedOpType


class Backend(str):
    """The name of what carries messages between processes, in lower case.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.Backend("GLOO") == tt.distributed.Backend.GLOO
        True
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI = "undefined", "gloo", "nccl", "ucc", "mpi"

    def __new__(cls, name: str) -> Backend:
        return super().__new__(cls, name.lower())


class group:
    """The group of all processes: None, there is none.

    Example:
        >>> import tinytorch as tt
        >>> tt.distributed.group.WORLD
    """

    WORLD = None


GroupMember = group
fill(globals(), TABLES["distributed"])
