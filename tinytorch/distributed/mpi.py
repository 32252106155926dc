"""The engine that carries messages by MPI, through mpi4py.

Everything is started by MPI's non-blocking calls and waited for by ``Work``, so that a rank which
does not answer is an error after the group's timeout and no hang. Engines take flat NumPy arrays.

Reference: https://www.mpi-forum.org/docs/mpi-4.1/mpi41-report.pdf, chapters 6 and 7.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import accumulate
from typing import Any

from .buffers import Buffers, host
from .errors import DistBackendError
from .reduce_op import ReduceOp

#: Tags of the communicator that no program's messages go by.
LEFT, OBJECT = 1, 2
_MISSING = (
    "Distributed package doesn't have MPI built in: install mpi4py and an MPI, "
    "for instance `pip install mpi4py mpich`"
)
#: For 16-bit floats and bools, that MPI has no operations for: the dtype that is sent in place.
_NARROW = host.dtype(host.float32)
_OF_BOOLS = {"SUM": "MAX", "MAX": "MAX", "BOR": "MAX", "PRODUCT": "MIN", "MIN": "MIN",
             "BAND": "MIN", "BXOR": "BXOR"}  # fmt: skip
_NAMES = {"PRODUCT": "PROD", "AVG": "SUM"}


def installed() -> bool:
    """Whether mpi4py can be imported."""
    return importlib.util.find_spec("mpi4py") is not None


class Library:
    """MPI, started once in a process.

    Attributes:
        MPI: The module ``mpi4py.MPI``.
        world: A communicator of all ranks for what is agreed on between the calls of programs.
    """

    _started: Library | None = None

    def __init__(self) -> None:
        import mpi4py

        mpi4py.rc.finalize = False  # see ``_end``
        from mpi4py import MPI

        self.MPI: Any = MPI
        self.world = MPI.COMM_WORLD.Dup()
        _unlink_shared_memory(self.world)
        self._departed: set[int] = set()
        #: Whether a process group is there whose other ranks may wait for this one.
        self.needed = False
        atexit.register(self._end)
        self._hook = sys.excepthook
        sys.excepthook = self._abort

    @classmethod
    def start(cls, meeting: AbstractContextManager[None]) -> Library:
        """MPI, started if it was not yet.

        Args:
            meeting: Entered while MPI starts: lets it find the other ranks.

        Raises:
            RuntimeError: Without mpi4py, or without a library of MPI.
        """
        if cls._started is None:
            if not installed():
                raise RuntimeError(_MISSING)
            try:
                with meeting:
                    cls._started = cls()
            except ImportError as error:
                raise RuntimeError(f"{_MISSING} ({error})") from error
        return cls._started

    def _abort(self, kind: Any, error: Any, trace: Any) -> None:
        """Show an error that nobody caught, and end all ranks: they would wait for this one."""
        self._hook(kind, error, trace)
        if self.needed and self.world.size > 1:
            sys.stdout.flush()
            sys.stderr.flush()
            self.world.Abort(1)

    def left(self) -> list[int]:
        """Ranks of the program that have ended without ``destroy_process_group``."""
        status = self.MPI.Status()
        while self.world.Iprobe(self.MPI.ANY_SOURCE, LEFT, status):
            self.world.Recv(bytearray(), status.source, LEFT)
            self._departed.add(status.source)
        return sorted(self._departed)

    def _end(self) -> None:
        """Finish MPI, which waits for all ranks: those that still want this one are told."""
        if self.MPI.Is_finalized():
            return
        if self.needed:
            others = [rank for rank in range(self.world.size) if rank != self.world.rank]
            for rank in others:
                self.world.Isend(bytearray(), rank, LEFT)
        self.MPI.Finalize()


def _unlink_shared_memory(world: Any) -> None:
    """Have the system free MPICH's shared memory with its last process, however that ends."""
    world.Barrier()
    if os.path.exists("/proc/self/maps"):
        with open("/proc/self/maps") as maps:
            mapped = {line.split()[-1] for line in maps if "/dev/shm/mpich_shm" in line}
        world.Barrier()
        for path in mapped:
            with suppress(FileNotFoundError):  # another rank of this machine did it
                os.unlink(path)


class MPIEngine(Buffers):
    """Collectives and messages of one group.

    Args:
        library: MPI.
        ranks: Of the world, those in the group.
        collective: Whether all ranks of the world call this.
    """

    name = "mpi"

    def __init__(self, library: Library, ranks: Sequence[int]) -> None:
        self.library, self.MPI = library, library.MPI
        world = library.world
        group = world.group.Incl(list(ranks))
        tag = hash(tuple(ranks)) % 30_000
        self.comm = world.Create_group(group, tag)
        #: For what ranks tell each other beside the program's own messages.
        self.control = self.comm.Dup()

    @property
    def on_host(self) -> MPIEngine:
        """The engine for arrays of the host: this one."""
        return self

    def serving(self, tensor: Any) -> Buffers:
        """The engine for a tensor: this one, by way of the host for a GPU's."""
        return self

    def close(self) -> None:
        """Free the communicators."""
        self.comm.Free()
        self.control.Free()

    # -- collectives -----------------------------------------------------------------------

    def barrier(self) -> Request:
        """Start a barrier."""
        return Request(self, self.comm.Ibarrier())

    def broadcast(self, array: Any, root: int) -> Request:
        """Send ``array`` from ``root`` to all."""
        return Request(self, self.comm.Ibcast(_raw(array), root))

    def all_reduce(self, array: Any, op: Any) -> Request:
        """Reduce ``array`` in place, on all ranks."""
        wire, operation, back = self._reducible(array, op)
        return Request(self, self.comm.Iallreduce(self.MPI.IN_PLACE, wire, operation), back)

    def reduce(self, array: Any, op: Any, root: int) -> Request:
        """Reduce ``array`` in place on ``root``; on others it is left as it is."""
        wire, operation, back = self._reducible(array, op)
        if self.comm.rank == root:
            return Request(self, self.comm.Ireduce(self.MPI.IN_PLACE, wire, operation, root), back)
        return Request(self, self.comm.Ireduce(wire, None, operation, root), keep=wire)

    def all_gather(self, out: Any, array: Any) -> Request:
        """Put every rank's ``array`` into ``out``, one after the other."""
        return Request(self, self.comm.Iallgather(_raw(array), _raw(out)))

    def gather(self, out: Any, array: Any, root: int) -> Request:
        """The same on ``root`` alone; ``out`` is None elsewhere."""
        into = None if out is None else _raw(out)
        return Request(self, self.comm.Igather(_raw(array), into, root))

    def scatter(self, out: Any, array: Any, root: int) -> Request:
        """Give each rank its part of what ``root`` has; ``array`` is None elsewhere."""
        of = None if array is None else _raw(array)
        return Request(self, self.comm.Iscatter(of, _raw(out), root))

    def reduce_scatter(self, out: Any, array: Any, op: Any) -> Request:
        """Reduce ``array``, of equal parts for each rank, and keep this rank's part."""
        wire, operation, _ = self._reducible(array, op)
        into = host.empty(out.size, wire.dtype)

        def back() -> None:
            out[...] = self._averaged(into, op).astype(out.dtype)

        return Request(self, self.comm.Ireduce_scatter_block(wire, into, operation), back, wire)

    def all_to_all(
        self, out: Any, array: Any, received: Sequence[int], sent: Sequence[int]
    ) -> Request:
        """Send parts of ``array`` to the ranks, of so many elements, and receive theirs."""
        size = array.itemsize
        byte = self.MPI.BYTE
        counts = [[size * n for n in numbers] for numbers in (sent, received)]
        starts = [list(accumulate([0, *each[:-1]])) for each in counts]
        return Request(
            self,
            self.comm.Ialltoallv(
                [_raw(array), counts[0], starts[0], byte], [_raw(out), counts[1], starts[1], byte]
            ),
        )

    # -- messages --------------------------------------------------------------------------

    def send(self, array: Any, rank: int, tag: int) -> Request:
        """Start to send ``array``."""
        return Request(self, self.comm.Isend(_raw(array), rank, tag))

    def receive(self, array: Any, rank: int | None, tag: int) -> Request:
        """Start to receive into ``array``, from a rank or from any."""
        source = self.MPI.ANY_SOURCE if rank is None else rank
        return Message(self, self.comm.Irecv(_raw(array), source, tag), array.nbytes)

    # -- dtypes ----------------------------------------------------------------------------

    def _reducible(self, array: Any, op: Any) -> tuple[Any, Any, Callable[[], None] | None]:
        """What MPI reduces, its operation, and what puts the result into ``array``."""
        name = _NAMES.get(op.name, op.name)
        if array.dtype.kind == "b":
            return array.view(host.uint8), getattr(self.MPI, _OF_BOOLS[op.name]), None
        operation = getattr(self.MPI, name)
        wide = array.dtype.kind in "iufc" and array.dtype != host.float16
        wire = array if wide else array.astype(_NARROW)
        if wide and op is not ReduceOp.AVG:
            return wire, operation, None

        def back() -> None:
            array[...] = self._averaged(wire, op).astype(array.dtype, copy=False)

        return wire, operation, back

    def _averaged(self, wire: Any, op: Any) -> Any:
        if op is ReduceOp.AVG:
            wire /= self.comm.size
        return wire


class Request:
    """A call of MPI that has been started.

    Args:
        engine: Whose call.
        request: What MPI returned.
        back: Called once, when it is done.
        keep: What must live until then.
    """

    def __init__(
        self,
        engine: MPIEngine,
        request: Any,
        back: Callable[[], None] | None = None,
        keep: Any = None,
    ) -> None:
        self._MPI, self._request, self._back, self._keep = engine.MPI, request, back, keep

    def test(self) -> bool:
        """Whether it is done; moves it on."""
        try:
            if not self._request.Test():
                return False
        except self._MPI.Exception as error:
            raise DistBackendError(f"MPI: {error.Get_error_string()}") from error
        if self._back is not None:
            self._back()
        return True


class Message(Request):
    """A message that is received: its length, and where it came from."""

    def __init__(self, engine: MPIEngine, request: Any, nbytes: int) -> None:
        super().__init__(engine, request)
        self._nbytes = nbytes
        self._status = engine.MPI.Status()

    def test(self) -> bool:
        """Whether it has come, in full."""
        try:
            if not self._request.Test(self._status):
                return False
        except self._MPI.Exception as error:
            raise DistBackendError(
                f"recv: a message that does not fit in {self._nbytes} bytes: "
                f"{error.Get_error_string()}"
            ) from error
        came = self._status.Get_count(self._MPI.BYTE)
        if came != self._nbytes:
            raise DistBackendError(
                f"recv: expected a message of {self._nbytes} bytes, got one of {came}: the tensors "
                "of both sides must have the same size"
            )
        return True

    def source(self) -> int:
        """The rank of the group that it came from."""
        return int(self._status.source)


def _raw(array: Any) -> Any:
    return array.reshape(-1).view(host.uint8)
