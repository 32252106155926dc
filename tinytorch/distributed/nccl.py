"""Engine for NCCL, between GPUs, through CuPy.

Each rank has one device. MPI connects the ranks, and transfers host tensors. Calls are enqueued on
the current stream, and a work is complete when the stream has executed them.

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

#: CuPy's names of NCCL's dtypes.
_DTYPES = {
    "int8": "INT8", "uint8": "UINT8", "int32": "INT32", "uint32": "UINT32", "int64": "INT64",
    "uint64": "UINT64", "float16": "FLOAT16", "float32": "FLOAT32", "float64": "FLOAT64",
    "complex64": "FLOAT32", "complex128": "FLOAT64",
}  # fmt: skip
_OPERATIONS = {"SUM": "SUM", "AVG": "SUM", "PRODUCT": "PROD", "MIN": "MIN", "MAX": "MAX"}
_BOOL_OPERATIONS = {"SUM": "MAX", "MAX": "MAX", "BOR": "MAX", "PRODUCT": "MIN", "MIN": "MIN",
                    "BAND": "MIN"}  # fmt: skip
_MISSING = (
    "Distributed package doesn't have NCCL built in: install CuPy and NCCL on a machine with "
    f"a GPU: {INSTALL_CUPY}, and `pip install nvidia-nccl-cu12`"
)


def available() -> bool:
    """Whether mpi4py, and CuPy with NCCL and a GPU, are available."""
    if not mpi.is_installed() or importlib.util.find_spec("cupy") is None:
        return False
    try:
        library = load_backend("cupy").library
        return bool(library.cuda.nccl.available and library.cuda.runtime.getDeviceCount())
    except (ImportError, RuntimeError, AttributeError):  # no driver, or no NCCL
        return False


class NCCLEngine(Buffers):
    """Collectives and messages of one process group, by NCCL.

    Args:
        host: The group's engine for host tensors.
        device: This rank's GPU: an index or a device; None for its rank on this machine.
        mixed: Whether host tensors are supported, too.

    Raises:
        RuntimeError: Without CuPy, NCCL or a GPU.
    """

    name = "nccl"

    def __init__(self, host: mpi.MPIEngine, device: Any, mixed: bool) -> None:
        try:
            self.xp: Any = load_backend("cupy")
            self.cuda: Any = self.xp.library.cuda
            self.nccl: Any = self.cuda.nccl
            count = self.cuda.runtime.getDeviceCount()
        except (ImportError, RuntimeError, AttributeError) as error:
            raise RuntimeError(f"{_MISSING} ({error})") from error
        self.on_host: mpi.MPIEngine = host
        self.mixed: bool = mixed
        self.library: mpi.Library = host.library
        self.MPI: Any = host.MPI
        self.comm: Any = host.comm
        self.control: Any = host.control
        chosen = getattr(device, "index", device)
        if chosen is None:
            chosen = int(os.environ.get("LOCAL_RANK", host.comm.rank)) % count
        self.device: Any = self.cuda.Device(chosen)
        self.device.use()  # in the thread that creates this engine
        name = self.nccl.get_unique_id() if host.comm.rank == 0 else None
        name = host.comm.bcast(name, 0)
        self.communicator: Any = self.nccl.NcclCommunicator(host.comm.size, name, host.comm.rank)

    def activate(self) -> None:
        """Make this rank's GPU the current device of the calling thread."""
        self.device.use()

    def engine_for(self, tensor: Any) -> Any:
        """Engine for a tensor: this one on a GPU, and the MPI engine on the host.

        Raises:
            RuntimeError: For a host tensor in a group of ``"nccl"`` alone.
        """
        if tensor._xp is self.xp:
            return self
        if self.mixed:
            return self.on_host
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")

    def fetch(self, tensor: Any) -> Any:
        """A tensor's values in an array of CuPy."""
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
        """Start to broadcast ``array`` from ``root``."""
        flat = self._bytes(array)
        return self._start(
            lambda stream: self.communicator.bcast(*self._as_buffer(flat), root, stream), array
        )

    def all_reduce(self, array: Any, op: Any) -> Any:
        """Start to reduce ``array`` in place on all ranks."""
        (pointer, count, dtype), operation = self._reducible(array, op)
        return self._start(
            lambda stream: self.communicator.allReduce(
                pointer, pointer, count, dtype, operation, stream
            ),
            array,
            lambda: self._divide_average(array, op),
        )

    def reduce(self, array: Any, op: Any, root: int) -> Any:
        """Start to reduce ``array`` in place on ``root``; on others it is not changed."""
        (pointer, count, dtype), operation = self._reducible(array, op)
        is_root = self.comm.rank == root
        into = array if is_root else array.copy()  # NCCL needs an output on every rank
        return self._start(
            lambda stream: self.communicator.reduce(
                pointer, into.data.ptr, count, dtype, operation, root, stream
            ),
            (array, into),
            (lambda: self._divide_average(array, op)) if is_root else None,
        )

    def all_gather(self, out: Any, array: Any) -> Any:
        """Start to concatenate the ``array`` of all ranks in ``out``."""
        pointer, count, dtype = self._as_buffer(self._bytes(array))
        return self._start(
            lambda stream: self.communicator.allGather(pointer, out.data.ptr, count, dtype, stream),
            (out, array),
        )

    def gather(self, out: Any, array: Any, root: int) -> Any:
        """Start to concatenate the ``array`` of all ranks in ``out`` of ``root``, else None."""
        size, is_root = self.comm.size, self.comm.rank == root
        rows = self._bytes(out).reshape(size, -1) if is_root else []
        sends = [(root, self._bytes(array))]
        return self._exchange(sends, list(enumerate(rows)), (out, array))

    def scatter(self, out: Any, array: Any, root: int) -> Any:
        """Start to scatter the parts of ``array`` on ``root``, None elsewhere, to each ``out``."""
        size, is_root = self.comm.size, self.comm.rank == root
        rows = self._bytes(array).reshape(size, -1) if is_root else []
        return self._exchange(list(enumerate(rows)), [(root, self._bytes(out))], (out, array))

    def reduce_scatter(self, out: Any, array: Any, op: Any) -> Any:
        """Start to reduce ``array``, an equal part for each rank, and write one part to ``out``."""
        (pointer, _, dtype), operation = self._reducible(array, op)
        _, count, _ = self._reducible(out, op)[0]
        return self._start(
            lambda stream: self.communicator.reduceScatter(
                pointer, out.data.ptr, count, dtype, operation, stream
            ),
            (out, array),
            lambda: self._divide_average(out, op),
        )

    def all_to_all(self, out: Any, array: Any, received: Sequence[int], sent: Sequence[int]) -> Any:
        """Start to send ``sent[r]`` elements to each rank r, and receive ``received[r]``."""
        sends = self._split(array, sent)
        return self._exchange(sends, self._split(out, received), (out, array))

    def _split(self, array: Any, counts: Sequence[int]) -> list[tuple[int, Any]]:
        """Split a flat array into the parts of the ranks.

        Args:
            array: The array.
            counts: Number of elements for each rank.

        Returns:
            A pair for each rank: the rank, and a view of its part as bytes.
        """
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
            RuntimeError: If ``rank`` is None: NCCL cannot receive from any rank.
        """
        if rank is None:
            raise RuntimeError("recv: NCCL receives from a rank that is named, not from any")
        request = self._exchange([], [(rank, self._bytes(array))], array)
        request.source = lambda: rank
        return request

    def _exchange(
        self, sends: list[tuple[int, Any]], receives: list[tuple[int, Any]], keep: Any
    ) -> Any:
        """Start sends and receives as one group; a message of this rank to itself is a copy.

        Args:
            sends: Pairs of rank and bytes to send.
            receives: Pairs of rank and bytes to write to.
            keep: Object to keep alive until the calls are complete.

        Returns:
            The request.
        """
        own_rank = self.comm.rank

        def start(stream: int) -> None:
            sources = [part for rank, part in sends if rank == own_rank]
            targets = [part for rank, part in receives if rank == own_rank]
            for target, source in zip(targets, sources, strict=True):
                target[...] = source
            self.nccl.groupStart()
            for rank, part in sends:
                if rank != own_rank and part.size:
                    self.communicator.send(*self._as_buffer(part), rank, stream)
            for rank, part in receives:
                if rank != own_rank and part.size:
                    self.communicator.recv(*self._as_buffer(part), rank, stream)
            self.nccl.groupEnd()

        return self._start(start, keep)

    # -- arrays ------------------------------------------------------------------------------

    def _start(
        self, start: Callable[[int], None], keep: Any, finish: Callable[[], None] | None = None
    ) -> StreamRequest:
        """Enqueue calls of NCCL on the current stream.

        Args:
            start: Makes the calls; its argument is the stream's pointer.
            keep: Object to keep alive until the calls are complete.
            finish: Called after ``start``, to enqueue work with the result.

        Returns:
            A request that is complete once the stream has reached its present end.

        Raises:
            DistBackendError: For an error of NCCL.
        """
        stream = self.cuda.get_current_stream()
        try:
            start(stream.ptr)
        except self.nccl.NcclError as error:
            raise DistBackendError(f"NCCL: {error}") from error
        if finish is not None:
            finish()  # enqueued on the same stream, so that it follows
        event = self.cuda.Event()
        event.record(stream)
        return StreamRequest(event, keep)

    def _bytes(self, array: Any) -> Any:
        return array.reshape(-1).view("uint8")

    def _as_buffer(self, array: Any) -> tuple[int, int, int]:
        """NCCL's arguments for an array of bytes: pointer, count and dtype."""
        return array.data.ptr, array.size, self._code("UINT8")

    def _code(self, name: str) -> int:
        """NCCL's constant of a dtype or an operation, such as ``"FLOAT32"`` or ``"SUM"``."""
        return int(getattr(self.nccl, f"NCCL_{name}"))

    def _reducible(self, array: Any, op: Any) -> tuple[tuple[int, int, int], int]:
        """NCCL's arguments for a reduction: (pointer, count, dtype), and the operation.

        Raises:
            RuntimeError: For an operation or a dtype that NCCL does not support.
        """
        kind = array.dtype.kind
        names = _BOOL_OPERATIONS if kind == "b" else _OPERATIONS
        if op.name not in names:
            raise RuntimeError(f"Cannot use ReduceOp.{op.name} with NCCL")
        dtype = "UINT8" if kind == "b" else _DTYPES.get(array.dtype.name)
        if dtype is None:
            raise RuntimeError(f"Input tensor data type is not supported for NCCL: {array.dtype}")
        count = array.size * (2 if kind == "c" else 1)
        return (array.data.ptr, count, self._code(dtype)), self._code(names[op.name])

    def _divide_average(self, array: Any, op: Any) -> None:
        """Divide a sum by the number of ranks if the reduction is AVG."""
        if op is ReduceOp.AVG:
            array /= self.comm.size


class StreamRequest:
    """Calls that are enqueued on a stream.

    Args:
        event: Event after them on the stream.
        keep: Object to keep alive until then.
    """

    source: Callable[[], int]

    def __init__(self, event: Any, keep: Any) -> None:
        self._event, self._keep = event, keep

    def test(self) -> bool:
        """Whether the calls are complete."""
        return bool(self._event.done)
