"""The engine that carries messages by MPI, through mpi4py.

Everything is started by MPI's non-blocking calls and waited for by ``Work``, so that a rank which
does not answer is an error after the group's timeout and no hang. Engines take flat NumPy arrays.

Reference: https://www.mpi-forum.org/docs/mpi-4.1/mpi41-report.pdf, chapters 6 and 7.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import accumulate
from queue import SimpleQueue
from typing import Any

from .agreement import Agreement
from .buffers import Buffers, ReduceOp, host
from .errors import DistBackendError
from .rendezvous import Relay

#: Seconds between looks for ranks that are gone, and that others may take to end after an error.
_LOOK, _NAP, _LINGER = 0.05, 1e-3, 1.0
#: Shared memory of MPICH, of UCX below it, and of ``agreement``.
_SEGMENTS = ("/dev/shm/mpich_shm", "/dev/shm/ucx_shm", "/dev/shm/tinytorch-")
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

    Its blocking calls run in a thread of their own (``call``), so that a rank which does not answer
    is an error. After one MPI cannot be finalized: the process then ends without that.

    Args:
        relay: The connection to the server that started the ranks; None under MPI's launchers.

    Attributes:
        MPI: The module ``mpi4py.MPI``.
        world: A communicator of all ranks for what is agreed on between the calls of programs.
        needed: Whether there is a process group whose other ranks may wait for this one.
        seconds: The timeout of that group.
    """

    _started: Library | None = None

    def __init__(self, relay: Relay | None, seconds: float) -> None:
        import mpi4py

        mpi4py.rc.initialize = mpi4py.rc.finalize = False  # see ``_initialize`` and ``_end``
        from mpi4py import MPI

        self.MPI: Any = MPI
        self.world: Any = None
        self.needed, self.seconds = False, seconds
        self._relay, self._process = relay, os.getpid()
        self._departed: set[int] = set()
        self._failed = self._stuck = False
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        threading.Thread(target=self._run, name="tinytorch-mpi", daemon=True).start()
        atexit.register(self._end)
        self.call(self._initialize, seconds, "init_process_group")
        self._hook = sys.excepthook
        sys.excepthook = self._show

    @classmethod
    def start(cls, meeting: AbstractContextManager[Relay | None], seconds: float) -> Library:
        """MPI, started if it was not yet.

        Args:
            meeting: Entered while MPI starts: lets it find the other ranks.
            seconds: How long that may take, and later the calls that all ranks make.

        Raises:
            RuntimeError: Without mpi4py, or without a library of MPI; if a rank does not answer.
        """
        if cls._started is None:
            if not installed():
                raise RuntimeError(_MISSING)
            deadline = time.monotonic() + seconds
            try:
                with meeting as relay:
                    cls._started = cls(relay, max(deadline - time.monotonic(), 1.0))
            except ImportError as error:
                raise RuntimeError(f"{_MISSING} ({error})") from error
        cls._started.seconds = seconds
        return cls._started

    def _initialize(self) -> None:
        MPI = self.MPI
        if not MPI.Is_initialized():
            self._survive_abort()
            level = ctypes.c_int()
            self._run_released("MPI_Init_thread", None, None, MPI.THREAD_MULTIPLE,
                               ctypes.byref(level))  # fmt: skip
            for comm in (MPI.COMM_SELF, MPI.COMM_WORLD):
                comm.Set_errhandler(MPI.ERRORS_RETURN)  # an exception, as mpi4py sets it
        self.world = MPI.COMM_WORLD.Dup()
        _unlink_shared_memory(self.world)

    def _run_released(self, name: str, *arguments: Any) -> None:
        """Call a function of MPI's without the interpreter's lock, which mpi4py's own call keeps.

        The other threads of this process go on meanwhile: the relay, and what waits for this call.
        """
        if code := getattr(ctypes.CDLL(self.MPI.__file__), name)(*arguments):
            raise DistBackendError(f"{name}: {self.MPI.Get_error_string(code)}")

    def _survive_abort(self) -> None:
        """Make an error of the call that MPI answers by ``exit`` while it starts.

        The thread that calls it stops for ever in this handler, and the main thread goes on.
        """
        system: Any = ctypes.CDLL(None)
        if self._relay is None or not hasattr(system, "on_exit"):
            return  # MPI's own launcher ends all ranks
        call = self._current

        def stop(status: int, _: Any) -> None:
            call.error = DistBackendError(
                f"init_process_group: MPI failed with status {status} while it started: "
                f"rank {self._lost()} has ended"
            )
            self._failed = self._stuck = True
            for each in vars(self.MPI).values():  # MPI keeps a lock, for which their end would wait
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
            _unlink(_mapped())
            call.done.set()
            threading.Event().wait()

        # ``_leave_at_exit`` ends a process that has a relay before this handler is called again.
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(stop)
        system.on_exit(self._handler, None)

    # -- calls that block ------------------------------------------------------------------

    def call(self, function: Callable[[], Any], seconds: float, name: str) -> Any:
        """Return what a function returns that blocks until other ranks call it, too.

        Args:
            function: The function.
            seconds: How long to wait.
            name: Of the call, for errors.

        Raises:
            DistBackendError: If it takes longer, or a rank ends meanwhile.
        """
        if self._stuck:
            raise DistBackendError(f"{name}: a call of MPI before this one has not come back")
        call, deadline = _Call(function), time.monotonic() + seconds
        self._calls.put(call)
        while not call.done.wait(_LOOK):
            gone = self._lost()
            if gone or time.monotonic() > deadline:
                self.fail()
                self._stuck = True
                _unlink(_mapped())
                _leave_at_exit()
                raise DistBackendError(
                    f"{name}: Connection closed by peer: rank {gone} has ended"
                    if gone
                    else f"Timed out waiting {1000 * seconds:.0f}ms for {name} to complete"
                )
        if call.error is not None:
            raise call.error
        return call.result

    def _run(self) -> None:
        while True:
            self._current = self._calls.get()
            self._current.run()

    # -- ranks that leave ------------------------------------------------------------------

    def left(self) -> list[int]:
        """Ranks of the program that have ended without ``destroy_process_group``."""
        status = self.MPI.Status()
        while self.world.Iprobe(self.MPI.ANY_SOURCE, LEFT, status):
            self.world.Recv(bytearray(), status.source, LEFT)
            self._departed.add(status.source)
        return sorted(self._departed.union(self._lost()))

    def _lost(self) -> list[int]:
        """Ranks whose processes have ended, as the server reports."""
        return [] if self._relay is None else sorted(self._relay.gone)

    def fail(self) -> None:
        """Note that a call was given up: some ranks may never finalize MPI."""
        self._failed = True

    def _show(self, kind: Any, error: Any, trace: Any) -> None:
        """Show an uncaught exception, and end without waiting for the ranks that wait for this."""
        self._hook(kind, error, trace)
        if self.needed and self.world.size > 1:
            self._depart()
            self.needed, self._stuck = False, True
            _leave_at_exit()

    def _depart(self) -> None:
        """Send word to all ranks that this one ends."""
        for rank in range(self.world.size):
            if rank != self.world.rank:
                self.world.Isend(bytearray(), rank, LEFT)

    def _end(self) -> None:
        """Finalize MPI together with all ranks, or end without it where some are gone."""
        if os.getpid() != self._process or self._stuck or self.MPI.Is_finalized():
            if self._relay is not None:
                _leave_at_exit()
            return
        if self.needed:
            self._depart()
        # Under MPI's own launcher a rank that ends before the others ends them.
        patience = float("inf") if self._relay is None else self.seconds
        try:
            self._await_all(min(patience, _LINGER if self._failed else patience))
            self.call(lambda: self._run_released("MPI_Finalize"), _LINGER, "MPI_Finalize")
        except DistBackendError:
            _leave_at_exit()
        else:
            if self._relay is not None:  # it ends before MPI's exit handler, which asks the server
                self._relay.finalize()
                _leave_at_exit() if hasattr(ctypes.CDLL(None), "on_exit") else os._exit(0)

    def _await_all(self, seconds: float) -> None:
        """Wait until all ranks end.

        Raises:
            DistBackendError: If they do not in time, or one has ended without waiting.
        """
        request, deadline = self.world.Ibarrier(), time.monotonic() + seconds
        while not request.Test():
            if self._lost() or time.monotonic() > deadline:
                raise DistBackendError("MPI_Finalize: not all ranks have come")
            time.sleep(_NAP)


class _Call:
    """A function that ``Library.call`` runs in its thread, and what came of it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function, self.done = function, threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Run it."""
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        self.done.set()


def _leave_at_exit() -> None:
    """Have the process end with its own exit status, but without the C library's exit handlers.

    MPI's wait for the other ranks, or crash where MPI was not finalized.
    """
    system: Any = ctypes.CDLL(None)
    system.fflush(None)
    if not hasattr(system, "on_exit"):  # macOS, musl: the status of the exit is not to be had
        atexit.register(os._exit, 1)
        return
    system.on_exit(ctypes.cast(system._exit, ctypes.c_void_p), None)


def _unlink_shared_memory(world: Any) -> None:
    """Have the system free MPICH's shared memory with its last process, however that ends."""
    world.Barrier()
    paths = _mapped(_SEGMENTS[:1])  # the ranks may still open UCX's, at their first message
    world.Barrier()
    _unlink(paths)


def _mapped(names: Sequence[str] = _SEGMENTS) -> set[str]:
    if not os.path.exists("/proc/self/maps"):
        return set()
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if any(name in line for name in names)}


def _unlink(paths: set[str]) -> None:
    for path in paths:
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
        self.fail = library.fail
        world = library.world
        group = world.group.Incl(list(ranks))
        tag = hash(tuple(ranks)) % 30_000
        self.comm = world.Create_group(group, tag)
        #: For what ranks tell each other beside the program's own messages.
        self.control = self.comm.Dup()
        self.agreement = Agreement(self.MPI, self.control, list(ranks))

    @property
    def on_host(self) -> MPIEngine:
        """The engine for arrays of the host: this one."""
        return self

    def activate(self) -> None:
        """Nothing: MPI needs no device."""

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
        wire, operation, restore = self._reducible(array, op)
        started = self.comm.Iallreduce(self.MPI.IN_PLACE, wire, operation)
        return Request(self, started, _writer(array, wire, restore))

    def reduce(self, array: Any, op: Any, root: int) -> Request:
        """Reduce ``array`` in place on ``root``; on others it is left as it is."""
        wire, operation, restore = self._reducible(array, op)
        if self.comm.rank == root:
            started = self.comm.Ireduce(self.MPI.IN_PLACE, wire, operation, root)
            return Request(self, started, _writer(array, wire, restore))
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
        wire, operation, restore = self._reducible(array, op)
        into = host.empty(out.size, wire.dtype)
        back = _writer(out, into, restore or host.asarray)
        return Request(self, self.comm.Ireduce_scatter_block(wire, into, operation), back, wire)

    def all_to_all(
        self, out: Any, array: Any, received: Sequence[int], sent: Sequence[int]
    ) -> Request:
        """Send parts of ``array`` to the ranks, of so many elements, and receive theirs."""
        size = array.itemsize
        theirs = host.empty(self.comm.size, host.int64)
        announced = self.control.Ialltoall(host.array(sent, host.int64), theirs)
        byte = self.MPI.BYTE
        counts = [[size * n for n in numbers] for numbers in (sent, received)]
        starts = [list(accumulate([0, *each[:-1]])) for each in counts]
        started = self.comm.Ialltoallv(
            [_raw(array), counts[0], starts[0], byte], [_raw(out), counts[1], starts[1], byte]
        )
        return Exchange(self, started, announced, theirs, received)

    # -- messages --------------------------------------------------------------------------

    def send(self, array: Any, rank: int, tag: int) -> Request:
        """Start to send ``array``."""
        return Request(self, self.comm.Isend(_raw(array), rank, tag))

    def receive(self, array: Any, rank: int | None, tag: int) -> Request:
        """Start to receive into ``array``, from a rank or from any."""
        source = self.MPI.ANY_SOURCE if rank is None else rank
        return Message(self, self.comm.Irecv(_raw(array), source, tag), array.nbytes)

    # -- dtypes ----------------------------------------------------------------------------

    def _reducible(self, array: Any, op: Any) -> tuple[Any, Any, Callable[[Any], Any] | None]:
        """Array that MPI reduces, the operation, and a function from the result to values."""
        if array.dtype.kind == "b":
            return array.view(host.uint8), getattr(self.MPI, _OF_BOOLS[op.name]), None
        operation = getattr(self.MPI, _NAMES.get(op.name, op.name))
        wide = array.dtype.kind in "iufc" and array.dtype != host.float16
        wire = array if wide else array.astype(_NARROW)
        if wire.dtype.kind == "f" and op in (ReduceOp.MAX, ReduceOp.MIN):
            dtype = wire.dtype
            return _to_keys(wire, op), operation, lambda keys: _from_keys(keys, dtype)
        if op is ReduceOp.AVG:
            return wire, operation, lambda total: total / self.comm.size
        return wire, operation, None if wide else host.asarray


def _writer(
    array: Any, wire: Any, restore: Callable[[Any], Any] | None
) -> Callable[[], None] | None:
    """What writes a result into an array, unless it is there."""
    if restore is None:
        return None

    def write() -> None:
        array[...] = restore(wire).astype(array.dtype, copy=False)

    return write


def _to_keys(values: Any, op: Any) -> Any:
    """Integers in the order of floats, -0 before 0, with NaN as the result of a comparison.

    MPI's own comparison of a NaN depends on which operand it is, and so on the rank.
    """
    limits = host.iinfo(f"int{8 * values.itemsize}")
    keys = _flip(values.view(limits.dtype))
    keys[values != values] = limits.max if op is ReduceOp.MAX else limits.min
    return keys


def _from_keys(keys: Any, dtype: Any) -> Any:
    return _flip(keys).view(dtype)


def _flip(bits: Any) -> Any:
    """Invert all bits but the sign's of negative numbers; undoes itself."""
    return bits ^ ((bits >> (8 * bits.itemsize - 1)) & host.iinfo(bits.dtype).max)


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


class Exchange(Request):
    """An all_to_all, whose ranks also send each other how many elements go where."""

    def __init__(
        self, engine: MPIEngine, request: Any, announced: Any, theirs: Any, received: Sequence[int]
    ) -> None:
        super().__init__(engine, request)
        self._announced, self._theirs, self._received = announced, theirs, list(received)

    def test(self) -> bool:
        """Whether it is done.

        Raises:
            DistBackendError: If a rank sends another number of elements than this one expects.
        """
        if self._announced is not None:
            if not self._announced.Test():
                return False
            self._announced = None
            for rank, (sent, expected) in enumerate(zip(self._theirs, self._received, strict=True)):
                if sent != expected:
                    raise DistBackendError(
                        f"all_to_all: expected {expected} elements from rank {rank} of the group, "
                        f"which sends {sent}"
                    )
        return super().test()


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
