"""CuPy's ``nccl`` for processes without a GPU: its calls, on the host's memory, carried by MPI.

It takes what NCCL takes, pointers and counts and numbers for dtypes, and refuses what that refuses.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy

available = True
(NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN) = range(4)
(NCCL_INT8, NCCL_UINT8, NCCL_INT32, NCCL_UINT32, NCCL_INT64, NCCL_UINT64, NCCL_FLOAT16,
 NCCL_FLOAT32, NCCL_FLOAT64) = range(9)  # fmt: skip
_DTYPES = "int8 uint8 int32 uint32 int64 uint64 float16 float32 float64".split()
_waiting: list[Any] | None = None
#: The names of the calls, in their order.
called: list[str] = []


class NcclError(RuntimeError):
    """Error that NCCL's calls raise."""


def get_unique_id() -> tuple[int, ...]:
    return tuple(range(128))


def groupStart() -> None:
    global _waiting
    assert _waiting is None
    _waiting = []


def groupEnd() -> None:
    global _waiting
    assert _waiting is not None
    for request in _waiting:
        request.Wait()
    _waiting = None


def memory(pointer: int, count: int, dtype: int) -> Any:
    kind = numpy.dtype(_DTYPES[dtype])
    raw = (ctypes.c_char * (count * kind.itemsize)).from_address(pointer)
    return numpy.frombuffer(raw, kind)


class NcclCommunicator:
    def __init__(self, ndev: int, commId: tuple[int, ...], rank: int) -> None:
        from mpi4py import MPI

        assert commId == get_unique_id()
        self.MPI = MPI
        # The test's groups have all ranks, or one.
        self.comm = (MPI.COMM_WORLD if ndev == MPI.COMM_WORLD.size else MPI.COMM_SELF).Dup()
        assert (self.comm.size, self.comm.rank) == (ndev, rank)

    def operation(self, op: int) -> Any:
        return (self.MPI.SUM, self.MPI.PROD, self.MPI.MAX, self.MPI.MIN)[op]

    def allReduce(self, send: int, recv: int, count: int, dtype: int, op: int, stream: int) -> None:
        called.append("allReduce")
        given = memory(send, count, dtype).copy()
        self.comm.Allreduce(given, memory(recv, count, dtype), self.operation(op))

    def reduce(
        self, send: int, recv: int, count: int, dtype: int, op: int, root: int, stream: int
    ) -> None:
        called.append("reduce")
        given, into = memory(send, count, dtype).copy(), memory(recv, count, dtype)
        self.comm.Reduce(given, into, self.operation(op), root)

    def bcast(self, buffer: int, count: int, dtype: int, root: int, stream: int) -> None:
        called.append("bcast")
        self.comm.Bcast(memory(buffer, count, dtype), root)

    def allGather(self, send: int, recv: int, count: int, dtype: int, stream: int) -> None:
        called.append("allGather")
        into = memory(recv, count * self.comm.size, dtype)
        self.comm.Allgather(memory(send, count, dtype), into)

    def reduceScatter(
        self, send: int, recv: int, recvcount: int, dtype: int, op: int, stream: int
    ) -> None:
        called.append("reduceScatter")
        given = memory(send, recvcount * self.comm.size, dtype)
        self.comm.Reduce_scatter_block(given, memory(recv, recvcount, dtype), self.operation(op))

    def send(self, send: int, count: int, dtype: int, peer: int, stream: int) -> None:
        called.append("send")
        assert _waiting is not None
        _waiting.append(self.comm.Isend(memory(send, count, dtype), peer))

    def recv(self, recv: int, count: int, dtype: int, peer: int, stream: int) -> None:
        called.append("recv")
        assert _waiting is not None
        _waiting.append(self.comm.Irecv(memory(recv, count, dtype), peer))

    def destroy(self) -> None:
        self.comm.Free()
