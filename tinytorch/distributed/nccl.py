"""The engine that carries numbers from GPU to GPU by NCCL, through CuPy.

One device for each rank. MPI brings the ranks together, and tensors of the host go by it. Calls are
put on the current stream, and a work is done when that has come past them.

Reference: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html and
https://docs.cupy.dev/en/stable/reference/generated/cupy.cuda.nccl.NcclCommunicator.html
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ..backends import load as load_backend
from ..backends.errors import INSTALL_CUPY
from . import mpi
from .buffers import Buffers, ReduceOp
from .errors import DistBackendError

#: NCCL's names of dtypes, as CuPy has them.
_DTYPES = {
    "int8": "INT8", "uint8": "UINT8", "int32": "INT32", "uint32": "UINT32", "int64": "INT64",
    "uint64": "UINT64", "float16": "FLOAT16", "float32": "FLOAT32", "float64": "FLOAT64",
    "complex64": "FLOAT32", "complex128": "FLOAT64",
}  # fmt: skip
_OPERATIONS = {"SUM": "SUM", "AVG": "SUM", "PRODUCT": "PROD", "MIN": "MIN", "MAX": "MAX"}
_OF_BOOLS = {"SUM": "MAX", "MAX": "MAX", "BOR": "MAX", "PRODUCT": "MIN", "MIN": "MIN",
             "BAND": "MIN"}  # fmt: skip
_MISSING = (
    "Distributed package doesn't have NCCL built in: install CuPy and NCCL on a machine with "
    f"a GPU: {INSTALL_CUPY}, and `pip install nvidia-nccl-cu12`"
)


def available() -> bool:
    """Whether there are mpi4py, and CuPy with NCCL and a GPU."""
    if not mpi.installed() or importlib.util.find_spec("cupy") is None:
        return False
    try:
        library = load_backend("cupy").library
        return bool(library.cuda.nccl.available and library.cuda.runtime.getDeviceCount())
    except (ImportError, RuntimeError, AttributeError):  # no driver, or no NCCL
        return False


class NCCLEngine(Buffers):
    """Collectives and messages of one group of GPUs.

    Args:
        host: The engine of the group's host tensors; its ranks are in the same order.
        device: This rank's GPU: a number or a device. Default: its rank on this machine.
        mixed: Whether tensors of the host are carried, too.

    Raises:
        RuntimeError: Without CuPy, NCCL or a GPU.
    """

    name = "nccl"

    def __init__(self, host: mpi.MPIEngine, device: Any, mixed: bool) -> None:
        try:
            self.xp = load_backend("cupy")
            self.cuda: Any = self.xp.library.cuda
            self.nccl: Any = self.cuda.nccl
            count = self.cuda.runtime.getDeviceCount()
        except (ImportError, RuntimeError, AttributeError) as error:
            raise RuntimeError(f"{_MISSING} ({error})") from error
        self.on_host, self.mixed = host, mixed
        self.library, self.MPI = host.library, host.MPI
        self.comm, self.control = host.comm, host.control
        chosen = getattr(device, "index", device)
        if chosen is None:
            chosen = int(os.environ.get("LOCAL_RANK", host.comm.rank)) % count
        self.device: Any = self.cuda.Device(chosen)
        self.device.use()  # of the thread that starts this engine
        name = self.nccl.get_unique_id() if host.comm.rank == 0 else None
        name = host.comm.bcast(name, 0)
        self.communicator: Any = self.nccl.NcclCommunicator(host.comm.size, name, host.comm.rank)

    def activate(self) -> None:
        """Use this rank's GPU in the calling thread."""
        self.device.use()

    def serving(self, tensor: Any) -> Any:
        """This engine for a GPU's tensor, MPI's for the host's.

        Raises:
            RuntimeError: For a tensor of the host in a group of ``"nccl"`` alone.
        """
        if tensor._xp is self.xp:
            return self
        if self.mixed:
            return self.on_host
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")

    def fetch(self, tensor: Any) -> Any:
        """The tensor's numbers in an array of the GPU's."""
        return tensor._data

    def close(self) -> None:
        """Free the communicators."""
        self.communicator.destroy()
        self.on_host.close()

    # -- collectives -------------------------------------------------------------------------

    def barrier(self) -> Any:
        """Start a barrier."""
        return self.all_reduce(self.xp.zeros(1, dtype="float32"), ReduceOp.SUM)

    def broadcast(self, array: Any, root: int) -> Any:
        """Send ``array`` from ``root`` to all."""
        flat = self._bytes(array)
        return self._started(
            lambda stream: self.communicator.bcast(*self._sized(flat), root, stream), array
        )

    def all_reduce(self, array: Any, op: Any) -> Any:
        """Reduce ``array`` in place, on all ranks."""
        (place, count, dtype), operation = self._reducible(array, op)
        return self._started(
            lambda stream: self.communicator.allReduce(
                place, place, count, dtype, operation, stream
            ),
            array,
            lambda: self._averaged(array, op),
        )

    def reduce(self, array: Any, op: Any, root: int) -> Any:
        """Reduce ``array`` in place on ``root``."""
        (place, count, dtype), operation = self._reducible(array, op)
        here = self.comm.rank == root
        into = array if here else array.copy()  # NCCL wants a place on every rank
        return self._started(
            lambda stream: self.communicator.reduce(
                place, into.data.ptr, count, dtype, operation, root, stream
            ),
            (array, into),
            (lambda: self._averaged(array, op)) if here else None,
        )

    def all_gather(self, out: Any, array: Any) -> Any:
        """Put every rank's ``array`` into ``out``, one after the other."""
        place, count, dtype = self._sized(self._bytes(array))
        return self._started(
            lambda stream: self.communicator.allGather(place, out.data.ptr, count, dtype, stream),
            (out, array),
        )

    def gather(self, out: Any, array: Any, root: int) -> Any:
        """The same on ``root`` alone; ``out`` is None elsewhere."""
        size, here = self.comm.size, self.comm.rank == root
        rows = self._bytes(out).reshape(size, -1) if here else []
        sends = [(root, self._bytes(array))]
        return self._exchange(sends, list(enumerate(rows)), (out, array))

    def scatter(self, out: Any, array: Any, root: int) -> Any:
        """Give each rank its part of what ``root`` has; ``array`` is None elsewhere."""
        size, here = self.comm.size, self.comm.rank == root
        rows = self._bytes(array).reshape(size, -1) if here else []
        return self._exchange(list(enumerate(rows)), [(root, self._bytes(out))], (out, array))

    def reduce_scatter(self, out: Any, array: Any, op: Any) -> Any:
        """Reduce ``array``, of equal parts for each rank, and keep this rank's part."""
        (place, _, dtype), operation = self._reducible(array, op)
        _, count, _ = self._reducible(out, op)[0]
        return self._started(
            lambda stream: self.communicator.reduceScatter(
                place, out.data.ptr, count, dtype, operation, stream
            ),
            (out, array),
            lambda: self._averaged(out, op),
        )

    def all_to_all(self, out: Any, array: Any, received: Sequence[int], sent: Sequence[int]) -> Any:
        """Send parts of ``array`` to the ranks, of so many elements, and receive theirs."""
        sends = self._parted(array, sent)
        return self._exchange(sends, self._parted(out, received), (out, array))

    def _parted(self, array: Any, counts: Sequence[int]) -> list[tuple[int, Any]]:
        size = array.itemsize
        ends = [size * end for end in accumulate(counts)]
        starts = [0, *ends[:-1]]
        flat = self._bytes(array)
        return [(rank, flat[a:b]) for rank, (a, b) in enumerate(zip(starts, ends, strict=True))]

    # -- messages ----------------------------------------------------------------------------

    def send(self, array: Any, rank: int, tag: int) -> Any:
        """Start to send ``array``; NCCL has no tags."""
        return self._exchange([(rank, self._bytes(array))], [], array)

    def receive(self, array: Any, rank: int | None, tag: int) -> Any:
        """Start to receive into ``array``.

        Raises:
            RuntimeError: If it may come from any rank.
        """
        if rank is None:
            raise RuntimeError("recv: NCCL receives from a rank that is named, not from any")
        made = self._exchange([], [(rank, self._bytes(array))], array)
        made.source = lambda: rank
        return made

    def _exchange(
        self, sends: list[tuple[int, Any]], receives: list[tuple[int, Any]], keep: Any
    ) -> Any:
        """Messages that go and come at once; one to this rank itself is a copy."""
        here = self.comm.rank

        def start(stream: int) -> None:
            own = [part for rank, part in sends if rank == here]
            for into, part in zip([p for r, p in receives if r == here], own, strict=True):
                into[...] = part
            self.nccl.groupStart()
            for rank, part in sends:
                if rank != here and part.size:
                    self.communicator.send(*self._sized(part), rank, stream)
            for rank, part in receives:
                if rank != here and part.size:
                    self.communicator.recv(*self._sized(part), rank, stream)
            self.nccl.groupEnd()

        return self._started(start, keep)

    # -- arrays ------------------------------------------------------------------------------

    def _started(
        self, start: Callable[[int], None], keep: Any, back: Callable[[], None] | None = None
    ) -> Launched:
        stream = self.cuda.get_current_stream()
        try:
            start(stream.ptr)
        except self.nccl.NcclError as error:
            raise DistBackendError(f"NCCL: {error}") from error
        if back is not None:
            back()  # on the same stream, behind it
        event = self.cuda.Event()
        event.record(stream)
        return Launched(event, keep)

    def _bytes(self, array: Any) -> Any:
        return array.reshape(-1).view("uint8")

    def _sized(self, array: Any) -> tuple[int, int, int]:
        return array.data.ptr, array.size, self._code("UINT8")

    def _code(self, name: str) -> int:
        return int(getattr(self.nccl, f"NCCL_{name}"))

    def _reducible(self, array: Any, op: Any) -> tuple[tuple[int, int, int], int]:
        """Place, count and dtype of what NCCL reduces, and its operation.

        Raises:
            RuntimeError: For what it has not.
        """
        kind = array.dtype.kind
        names = _OF_BOOLS if kind == "b" else _OPERATIONS
        if op.name not in names:
            raise RuntimeError(f"Cannot use ReduceOp.{op.name} with NCCL")
        dtype = "UINT8" if kind == "b" else _DTYPES.get(array.dtype.name)
        if dtype is None:
            raise RuntimeError(f"Input tensor data type is not supported for NCCL: {array.dtype}")
        count = array.size * (2 if kind == "c" else 1)
        return (array.data.ptr, count, self._code(dtype)), self._code(names[op.name])

    def _averaged(self, array: Any, op: Any) -> None:
        if op is ReduceOp.AVG:
            array /= self.comm.size


class Launched:
    """Calls that the GPU has still to come to.

    Args:
        event: Behind them on their stream.
        keep: What must live until then.
    """

    source: Callable[[], int]

    def __init__(self, event: Any, keep: Any) -> None:
        self._event, self._keep = event, keep

    def test(self) -> bool:
        """Whether it has come past them."""
        return bool(self._event.done)
