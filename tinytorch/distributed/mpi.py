"""Engine for MPI, through mpi4py.

The engine starts MPI's non-blocking calls, and ``Work`` waits for them, so that a rank which does
not respond is an error after the group's timeout and not a hang. Arrays are flat NumPy arrays.

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

#: Seconds between checks for ended ranks, between polls, and for other ranks to end after an error.
_LOOK, _NAP, _LINGER = 0.05, 1e-3, 1.0
#: Prefixes of files of shared memory: of MPICH, of UCX, which it uses, and of ``agreement``.
_SEGMENTS = ("/dev/shm/mpich_shm", "/dev/shm/ucx_shm", "/dev/shm/tinytorch-")
#: Tags of control messages: on ``Library.world`` and on ``MPIEngine.control``.
LEFT, OBJECT = 1, 2
_MISSING = (
    "Distributed package doesn't have MPI built in: install mpi4py and an MPI, "
    "for instance `pip install mpi4py mpich`"
)
#: MPI has no reductions of 16-bit floats, which are sent in this dtype, nor of bools, for which
#: another reduction of bytes has the same result.
_WIDE = host.dtype(host.float32)
_BOOL_OPERATIONS = {"SUM": "MAX", "MAX": "MAX", "BOR": "MAX", "PRODUCT": "MIN", "MIN": "MIN",
                    "BAND": "MIN", "BXOR": "BXOR"}  # fmt: skip
#: MPI's names of reductions, where they differ from PyTorch's.
_OPERATIONS = {"PRODUCT": "PROD", "AVG": "SUM"}


def is_installed() -> bool:
    """Whether mpi4py can be imported."""
    return importlib.util.find_spec("mpi4py") is not None


class Library:
    """The MPI library, initialized once in a process.

    Its blocking calls run in a thread of their own (``call``), so that a rank which does not
    respond is an error. MPI cannot be finalized after such an error: the process then ends without
    finalizing it.

    Args:
        relay: Connection to the PMI server of the job; None under MPI's launchers.
        seconds: Timeout of the initialization.

    Attributes:
        MPI: The module ``mpi4py.MPI``.
        world: Communicator of all ranks for control messages, separate from programs' calls.
        needed: Whether the default process group exists, so that other ranks may wait for this one.
        seconds: The timeout of that group.
    """

    _started: Library | None = None

    def __init__(self, relay: Relay | None, seconds: float) -> None:
        import mpi4py

        # ``_initialize`` and ``_finalize`` do it instead, in a thread that can time out.
        mpi4py.rc.initialize = mpi4py.rc.finalize = False
        from mpi4py import MPI

        self.MPI: Any = MPI
        self.world: Any = None
        self.needed: bool = False
        self.seconds: float = seconds
        self._relay, self._process = relay, os.getpid()
        self._departed: set[int] = set()
        self._failed = self._stuck = False
        self._calls: SimpleQueue[_BlockingCall] = SimpleQueue()
        threading.Thread(target=self._run, name="tinytorch-mpi", daemon=True).start()
        atexit.register(self._finalize)
        self.call(self._initialize, seconds, "init_process_group")
        self._previous_hook = sys.excepthook
        sys.excepthook = self._on_exception

    @classmethod
    def start(cls, rendezvous: AbstractContextManager[Relay | None], seconds: float) -> Library:
        """Return the library; initialize MPI in the first call.

        Args:
            rendezvous: Context manager that connects MPI to the other ranks while it initializes.
            seconds: Timeout of the initialization and of later blocking calls.

        Raises:
            RuntimeError: Without mpi4py or an MPI library, or after the timeout.
        """
        if cls._started is None:
            if not is_installed():
                raise RuntimeError(_MISSING)
            deadline = time.monotonic() + seconds
            try:
                with rendezvous as relay:
                    cls._started = cls(relay, max(deadline - time.monotonic(), 1.0))
            except ImportError as error:
                raise RuntimeError(f"{_MISSING} ({error})") from error
        cls._started.seconds = seconds
        return cls._started

    def _initialize(self) -> None:
        """Initialize MPI unless the program has, and create the communicator ``world``."""
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
        """Call a C function of MPI and release the interpreter's lock, which mpi4py would keep.

        Other threads must run meanwhile: the relay, and the thread that waits for this call.

        Args:
            name: Name of the C function.
            *arguments: Its arguments, for ``ctypes``.

        Raises:
            DistBackendError: If the function returns an error code.
        """
        if code := getattr(ctypes.CDLL(self.MPI.__file__), name)(*arguments):
            raise DistBackendError(f"{name}: {self.MPI.Get_error_string(code)}")

    def _survive_abort(self) -> None:
        """Install an exit handler, so that MPI raises an error where its initialization exits.

        MPI calls C's ``exit`` if it fails to initialize. The handler sets the error of the current
        ``call`` and never returns: MPI's thread stops in it, and the main thread continues.
        """
        system: Any = ctypes.CDLL(None)
        if self._relay is None or not hasattr(system, "on_exit"):
            return  # MPI's own launcher ends all ranks
        call = self._current

        def on_exit(status: int, _: Any) -> None:
            call.error = DistBackendError(
                f"init_process_group: MPI failed with status {status} while it started: "
                f"rank {self._ended_ranks()} has ended"
            )
            self._failed = self._stuck = True
            # The destructors of mpi4py's objects would wait for a lock that MPI holds.
            for each in vars(self.MPI).values():
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
            _unlink(_shared_memory_paths())
            call.done.set()
            threading.Event().wait()

        # ``_leave_at_exit`` ends a process that has a relay before this handler is called again.
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(on_exit)
        system.on_exit(self._handler, None)

    # -- calls that block ------------------------------------------------------------------

    def call(self, function: Callable[[], Any], seconds: float, name: str) -> Any:
        """Call a function that blocks until other ranks call it, too, in MPI's thread.

        Args:
            function: The function.
            seconds: Longest time to wait.
            name: Name of the call, for errors.

        Returns:
            The result of the function.

        Raises:
            DistBackendError: If the function takes longer, or a rank ends meanwhile.
        """
        if self._stuck:
            raise DistBackendError(f"{name}: an earlier call of MPI has not returned")
        call, deadline = _BlockingCall(function), time.monotonic() + seconds
        self._calls.put(call)
        while not call.done.wait(_LOOK):
            ended = self._ended_ranks()
            if ended or time.monotonic() > deadline:
                self.fail()
                self._stuck = True
                _unlink(_shared_memory_paths())
                _leave_at_exit()
                raise DistBackendError(
                    f"{name}: Connection closed by peer: rank {ended} has ended"
                    if ended
                    else f"Timed out waiting {1000 * seconds:.0f}ms for {name} to complete"
                )
        if call.error is not None:
            raise call.error
        return call.result

    def _run(self) -> None:
        """Body of MPI's thread: run the functions that ``call`` puts into the queue."""
        while True:
            self._current = self._calls.get()
            self._current.run()

    # -- ranks that end --------------------------------------------------------------------

    def departed_ranks(self) -> list[int]:
        """Ranks of the world that have ended without ``destroy_process_group``."""
        status = self.MPI.Status()
        while self.world.Iprobe(self.MPI.ANY_SOURCE, LEFT, status):
            self.world.Recv(bytearray(), status.source, LEFT)
            self._departed.add(status.source)
        return sorted(self._departed.union(self._ended_ranks()))

    def _ended_ranks(self) -> list[int]:
        """Ranks whose processes have ended, as reported by the PMI server."""
        return [] if self._relay is None else sorted(self._relay.gone)

    def fail(self) -> None:
        """Note that a call was abandoned: some ranks may never finalize MPI."""
        self._failed = True

    def _on_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """Exception hook: show the exception, notify other ranks, skip the finalization of MPI."""
        self._previous_hook(kind, error, trace)
        if self.needed and self.world.size > 1:
            self._notify_departure()
            self.needed, self._stuck = False, True
            _leave_at_exit()

    def _notify_departure(self) -> None:
        """Send an empty message with the tag ``LEFT`` to all other ranks: this rank ends."""
        for rank in range(self.world.size):
            if rank != self.world.rank:
                self.world.Isend(bytearray(), rank, LEFT)

    def _finalize(self) -> None:
        """Exit hook: finalize MPI with all ranks, or end without finalizing if some have ended."""
        # A forked child has not initialized MPI itself; a stuck call blocks MPI's thread forever.
        if os.getpid() != self._process or self._stuck or self.MPI.Is_finalized():
            if self._relay is not None:
                _leave_at_exit()
            return
        if self.needed:
            self._notify_departure()
        # MPI's own launcher ends all ranks if one ends early, so wait for the others forever.
        seconds = float("inf") if self._relay is None else self.seconds
        try:
            self._await_all(min(seconds, _LINGER) if self._failed else seconds)
            self.call(lambda: self._run_released("MPI_Finalize"), _LINGER, "MPI_Finalize")
        except DistBackendError:
            _leave_at_exit()
        else:
            # The relay ends before MPI's exit handler, which would need it to reach the server.
            if self._relay is not None:
                self._relay.finalize()
                _leave_at_exit() if hasattr(ctypes.CDLL(None), "on_exit") else os._exit(0)

    def _await_all(self, seconds: float) -> None:
        """Wait until all ranks call this function.

        Raises:
            DistBackendError: After ``seconds``, or if a rank has ended without calling it.
        """
        request, deadline = self.world.Ibarrier(), time.monotonic() + seconds
        while not request.Test():
            if self._ended_ranks() or time.monotonic() > deadline:
                raise DistBackendError("MPI_Finalize: not all ranks have called it")
            time.sleep(_NAP)


class _BlockingCall:
    """A function that ``Library.call`` runs in MPI's thread, and its result or error.

    Attributes:
        function: The function.
        done: Event that is set once the function has returned or raised.
        result: Result of the function.
        error: Exception of the function, or None.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function, self.done = function, threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Call the function, and set the result or the error."""
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        self.done.set()


def _leave_at_exit() -> None:
    """Let the process end with its own exit status, but without the C library's exit handlers.

    MPI's exit handlers wait for the other ranks, or crash if MPI was not finalized.
    """
    system: Any = ctypes.CDLL(None)
    system.fflush(None)
    if not hasattr(system, "on_exit"):  # macOS, musl: the exit status is not available
        atexit.register(os._exit, 1)
        return
    system.on_exit(ctypes.cast(system._exit, ctypes.c_void_p), None)


def _unlink_shared_memory(world: Any) -> None:
    """Unlink MPICH's shared memory, so that the system frees it with the last process."""
    world.Barrier()
    # UCX's memory stays: the ranks open it with their first message.
    paths = _shared_memory_paths(_SEGMENTS[:1])
    world.Barrier()
    _unlink(paths)


def _shared_memory_paths(names: Sequence[str] = _SEGMENTS) -> set[str]:
    """Files of shared memory that this process has mapped, from ``/proc/self/maps``."""
    if not os.path.exists("/proc/self/maps"):
        return set()
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if any(name in line for name in names)}


def _unlink(paths: set[str]) -> None:
    """Unlink files, unless another rank has done so."""
    for path in paths:
        with suppress(FileNotFoundError):  # another rank of this machine did it
            os.unlink(path)


class MPIEngine(Buffers):
    """Collectives and messages of one process group, by MPI.

    Args:
        library: The MPI library.
        ranks: Ranks in the world of the group's members.
    """

    name = "mpi"

    def __init__(self, library: Library, ranks: Sequence[int]) -> None:
        self.library: Library = library
        self.MPI: Any = library.MPI
        self.fail: Callable[[], None] = library.fail
        world = library.world
        group = world.group.Incl(list(ranks))
        tag = hash(tuple(ranks)) % 30_000
        self.comm: Any = world.Create_group(group, tag)
        #: Communicator for control messages, separate from the program's calls.
        self.control: Any = self.comm.Dup()
        self.agreement: Agreement = Agreement(self.MPI, self.control, list(ranks))

    @property
    def on_host(self) -> MPIEngine:
        """Engine for host tensors: this one."""
        return self

    def activate(self) -> None:
        """Do nothing: MPI needs no current device."""

    def engine_for(self, tensor: Any) -> Buffers:
        """Engine for a tensor: this one, which copies tensors on GPUs to the host."""
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
        """Start to broadcast ``array`` from ``root``."""
        return Request(self, self.comm.Ibcast(_raw(array), root))

    def all_reduce(self, array: Any, op: Any) -> Request:
        """Start to reduce ``array`` in place on all ranks."""
        wire, operation, restore = self._reducible(array, op)
        started = self.comm.Iallreduce(self.MPI.IN_PLACE, wire, operation)
        return Request(self, started, _writer(array, wire, restore))

    def reduce(self, array: Any, op: Any, root: int) -> Request:
        """Start to reduce ``array`` in place on ``root``; on others it is not changed."""
        wire, operation, restore = self._reducible(array, op)
        if self.comm.rank == root:
            started = self.comm.Ireduce(self.MPI.IN_PLACE, wire, operation, root)
            return Request(self, started, _writer(array, wire, restore))
        return Request(self, self.comm.Ireduce(wire, None, operation, root), keep=wire)

    def all_gather(self, out: Any, array: Any) -> Request:
        """Start to concatenate the ``array`` of all ranks in ``out``."""
        return Request(self, self.comm.Iallgather(_raw(array), _raw(out)))

    def gather(self, out: Any, array: Any, root: int) -> Request:
        """Start to concatenate the ``array`` of all ranks in ``out`` of ``root``, else None."""
        into = None if out is None else _raw(out)
        return Request(self, self.comm.Igather(_raw(array), into, root))

    def scatter(self, out: Any, array: Any, root: int) -> Request:
        """Start to scatter the parts of ``array`` on ``root``, None elsewhere, to each ``out``."""
        parts = None if array is None else _raw(array)
        return Request(self, self.comm.Iscatter(parts, _raw(out), root))

    def reduce_scatter(self, out: Any, array: Any, op: Any) -> Request:
        """Start to reduce ``array``, an equal part for each rank, and write one part to ``out``."""
        wire, operation, restore = self._reducible(array, op)
        into = host.empty(out.size, wire.dtype)
        finish = _writer(out, into, restore or host.asarray)
        return Request(self, self.comm.Ireduce_scatter_block(wire, into, operation), finish, wire)

    def all_to_all(
        self, out: Any, array: Any, received: Sequence[int], sent: Sequence[int]
    ) -> Request:
        """Start to send ``sent[r]`` elements to each rank r, and receive ``received[r]``."""
        size = array.itemsize
        theirs = host.empty(self.comm.size, host.int64)
        announced = self.control.Ialltoall(host.array(sent, host.int64), theirs)
        byte = self.MPI.BYTE
        counts = [[size * n for n in numbers] for numbers in (sent, received)]
        starts = [list(accumulate([0, *each[:-1]])) for each in counts]
        started = self.comm.Ialltoallv(
            [_raw(array), counts[0], starts[0], byte], [_raw(out), counts[1], starts[1], byte]
        )
        return AllToAllRequest(self, started, announced, theirs, received)

    # -- messages --------------------------------------------------------------------------

    def send(self, array: Any, rank: int, tag: int) -> Request:
        """Start to send ``array``."""
        return Request(self, self.comm.Isend(_raw(array), rank, tag))

    def receive(self, array: Any, rank: int | None, tag: int) -> Request:
        """Start to receive into ``array``, from a rank, or from any if that is None."""
        source = self.MPI.ANY_SOURCE if rank is None else rank
        return ReceiveRequest(self, self.comm.Irecv(_raw(array), source, tag), array.nbytes)

    # -- dtypes ----------------------------------------------------------------------------

    def _reducible(self, array: Any, op: Any) -> tuple[Any, Any, Callable[[Any], Any] | None]:
        """Prepare a reduction for MPI.

        Args:
            array: The array to reduce.
            op: A ``ReduceOp``.

        Returns:
            Three objects:

            - the array that MPI reduces in place: ``array`` or a view or converted copy of it;
            - MPI's operation;
            - a function that computes the result from the reduced array, or None if ``array``
              then has the result.
        """
        if array.dtype.kind == "b":
            return array.view(host.uint8), getattr(self.MPI, _BOOL_OPERATIONS[op.name]), None
        operation = getattr(self.MPI, _OPERATIONS.get(op.name, op.name))
        # Integers, unsigned integers, floats and complex numbers; bfloat16 has another kind.
        is_native = array.dtype.kind in "iufc" and array.dtype != host.float16
        wire = array if is_native else array.astype(_WIDE)
        if wire.dtype.kind == "f" and op in (ReduceOp.MAX, ReduceOp.MIN):
            dtype = wire.dtype
            return _to_keys(wire, op), operation, lambda keys: _from_keys(keys, dtype)
        if op is ReduceOp.AVG:
            return wire, operation, lambda total: total / self.comm.size
        return wire, operation, None if is_native else host.asarray


def _writer(
    array: Any, wire: Any, restore: Callable[[Any], Any] | None
) -> Callable[[], None] | None:
    """Function that writes the result of a reduction to ``array`` once it is complete.

    Args:
        array: Array to which the result is written.
        wire: The array that MPI reduced.
        restore: Function that computes the result from ``wire``; see ``_reducible``.

    Returns:
        The function; None if ``restore`` is None, since ``array`` then has the result.
    """
    if restore is None:
        return None

    def write() -> None:
        array[...] = restore(wire).astype(array.dtype, copy=False)

    return write


def _to_keys(values: Any, op: Any) -> Any:
    """Integers that compare as floats do, with -0 before 0, and NaN as the largest or smallest.

    ``op``, MAX or MIN, determines which: NaN is the result of either.

    MAX and MIN of the integers propagate NaN. MPI's own comparison of floats does not: its result
    depends on the order of the operands, and so on the rank.
    """
    limits = host.iinfo(f"int{8 * values.itemsize}")
    keys = _flip(values.view(limits.dtype))
    keys[values != values] = limits.max if op is ReduceOp.MAX else limits.min
    return keys


def _from_keys(keys: Any, dtype: Any) -> Any:
    """Inverse of ``_to_keys``."""
    return _flip(keys).view(dtype)


def _flip(bits: Any) -> Any:
    """Invert all bits except the sign in each negative integer.

    The bits of negative floats, as integers, are in the reverse order; inverted, they are in the
    order of the floats. The function is its own inverse.
    """
    return bits ^ ((bits >> (8 * bits.itemsize - 1)) & host.iinfo(bits.dtype).max)


class Request:
    """Non-blocking call of MPI.

    Args:
        engine: Engine that started it.
        request: MPI's request.
        finish: Called once, when the request is complete.
        keep: Object to keep alive until then.
    """

    def __init__(
        self, engine: MPIEngine, request: Any, finish: Callable[[], None] | None = None,
        keep: Any = None,
    ) -> None:  # fmt: skip
        self._MPI, self._request, self._finish, self._keep = engine.MPI, request, finish, keep

    def test(self) -> bool:
        """Progress the request, and return whether it is complete."""
        try:
            if not self._request.Test():
                return False
        except self._MPI.Exception as error:
            raise DistBackendError(f"MPI: {error.Get_error_string()}") from error
        if self._finish is not None:
            self._finish()
        return True


class AllToAllRequest(Request):
    """An ``all_to_all``, in which ranks also exchange and compare the numbers of elements."""

    def __init__(
        self, engine: MPIEngine, request: Any, announced: Any, theirs: Any, received: Sequence[int]
    ) -> None:
        super().__init__(engine, request)
        self._announced, self._theirs, self._received = announced, theirs, list(received)

    def test(self) -> bool:
        """Progress the request, and return whether it is complete.

        Raises:
            DistBackendError: If a rank sends a different number of elements than this one expects.
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


class ReceiveRequest(Request):
    """A message to receive, whose size must be ``nbytes``."""

    def __init__(self, engine: MPIEngine, request: Any, nbytes: int) -> None:
        super().__init__(engine, request)
        self._nbytes = nbytes
        self._status = engine.MPI.Status()

    def test(self) -> bool:
        """Progress the request, and return whether the message has been received."""
        try:
            if not self._request.Test(self._status):
                return False
        except self._MPI.Exception as error:
            raise DistBackendError(
                f"recv: a message that does not fit in {self._nbytes} bytes: "
                f"{error.Get_error_string()}"
            ) from error
        received = self._status.Get_count(self._MPI.BYTE)
        if received != self._nbytes:
            raise DistBackendError(
                f"recv: expected a message of {self._nbytes} bytes, got one of {received}: the "
                "tensors of both sides must have the same size"
            )
        return True

    def source(self) -> int:
        """Rank in the group of the sender."""
        return int(self._status.source)


def _raw(array: Any) -> Any:
    """View of an array as flat bytes."""
    return array.reshape(-1).view(host.uint8)
