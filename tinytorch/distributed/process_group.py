"""Process groups: who works together, and how that begins and ends."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from ..warnings import warn, warn_once
from . import mpi, nccl, rendezvous

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "default_pg_timeout", "destroy_process_group",
    "group", "init_process_group", "is_initialized", "new_group",
]  # fmt: skip

default_pg_timeout: timedelta = datetime.timedelta(minutes=30)
_UNINITIALIZED = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)
_BY_MPI = "tinytorch carries the messages of backend 'gloo' by MPI."


class Backend(str):
    """The name of what carries messages between processes, in lower case.

    Example:
        >>> tt.distributed.Backend("GLOO") == tt.distributed.Backend.GLOO
        True
    """

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI]
    #: The backend of each type of device, and the types of devices of each backend.
    default_device_backend_map: ClassVar[dict[str, str]] = {
        "cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO,
    }  # fmt: skip
    backend_capability: ClassVar[dict[str, list[str]]] = {
        GLOO: ["cpu", "cuda"], NCCL: ["cuda"], XCCL: ["xpu"], UCC: ["cpu", "cuda"],
        MPI: ["cpu", "cuda"],
    }  # fmt: skip

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Processes that work together; ``init_process_group`` and ``new_group`` make them.

    Args:
        engine: What carries its messages.
        ranks: Its members by their ranks in the world, in the order of their ranks in the group.
        rank: This process's rank in it.
        backend: The name that was asked for.
        timeout: How long its calls wait.
        description: What ``group_desc`` gives.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> group = tt.distributed.group.WORLD
        >>> group.rank(), group.size(), group.name()
        (0, 1, 'mpi')
        >>> from datetime import timedelta
        >>> group.set_timeout(timedelta(seconds=30))
        >>> tt.distributed.destroy_process_group()
    """

    BackendType: ClassVar[type[Backend]] = Backend

    def __init__(
        self,
        engine: Any,
        ranks: Sequence[int],
        rank: int,
        backend: Backend,
        timeout: timedelta,
        description: str,
    ) -> None:
        self.engine, self.ranks, self.timeout = engine, list(ranks), timeout
        self._rank, self._backend, self.group_desc = rank, backend, description
        self.group_name = str(len(_world.groups))
        #: Works of a coalescing block, while one is open.
        self.coalesced: list[Any] | None = None
        #: Calls of collectives so far.
        self.sequence = 0

    def rank(self) -> int:
        """This process's rank in the group."""
        return self._rank

    def size(self) -> int:
        """How many processes it has."""
        return len(self.ranks)

    def name(self) -> str:
        """The name of its backend."""
        return str(self._backend)

    def set_timeout(self, timeout: timedelta) -> None:
        """How long its calls wait from now on."""
        self.timeout = check_timeout(timeout)


class _World:
    """What this process belongs to.

    Attributes:
        default: The group of all processes, or None before ``init_process_group``.
        groups: All groups, that one included.
    """

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []


_world = _World()


class _GroupMeta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before ``init_process_group``."""
        return _world.default


class group(metaclass=_GroupMeta):
    """The group of all processes is ``group.WORLD``; None before ``init_process_group``.

    Example:
        >>> tt.distributed.group.WORLD
    """


class GroupMember(metaclass=_GroupMeta):
    """``GroupMember.WORLD`` is ``group.WORLD``; ``NON_GROUP_MEMBER`` what others get of a group.

    Example:
        >>> tt.distributed.GroupMember.NON_GROUP_MEMBER
        -100
    """

    NON_GROUP_MEMBER: ClassVar[int] = -100


def find(group: Any = None) -> ProcessGroup | None:
    """The group that an argument means; None for what a process outside of one has for it.

    Raises:
        ValueError: Before ``init_process_group``, and for what is no group, or one no longer.
    """
    default = world()
    if group is None:
        return default
    if group is GroupMember.NON_GROUP_MEMBER or group == GroupMember.NON_GROUP_MEMBER:
        return None
    if group not in _world.groups:
        raise ValueError(
            f"Process group {group} is not initialized in the world group map. Please initialize "
            "the group first."
        )
    return group  # type: ignore[no-any-return]


def member(group: Any, name: str) -> ProcessGroup | None:
    """``find``, with PyTorch's warning where this process is no member."""
    found = find(group)
    if found is None:
        warn(
            f"Running {name} on global rank {world().rank()} which does not belong to the given "
            "group."
        )
    return found


def world() -> ProcessGroup:
    """The group of all processes.

    Raises:
        ValueError: Before ``init_process_group``.
    """
    if _world.default is None:
        raise ValueError(_UNINITIALIZED)
    return _world.default


def count() -> int:
    """How many groups there are."""
    return len(_world.groups)


# -- beginning and end -------------------------------------------------------------------------


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Find the other processes; every one calls this, once, before all else.

    Started by ``mpiexec``, ``srun`` or ``python -m tinytorch.distributed.run``, a program needs no
    argument: MPI knows the ranks, and what is given has to agree with it. Processes that something
    else started, ``multiprocessing.spawn`` for instance, say by arguments or by ``torchrun``'s
    environment which rank each is and where rank 0 is; that wants MPICH. A process of which nothing
    is said is a world of its own.

    Args:
        backend: ``"mpi"``; ``"gloo"`` means it, too; ``"nccl"`` for tensors on GPUs, one GPU for
            each rank. Default: MPI, and NCCL for tensors on GPUs where it is.
        init_method: ``"env://"``, ``"file://..."`` or ``"tcp://..."``: what says which rank this
            is, and where rank 0 is, where MPI does not. Default: ``"env://"``, the variables
            ``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR`` and ``MASTER_PORT``.
        timeout: How long this and other calls wait for other ranks. Default: 30 minutes.
        world_size: How many processes there are. Default: as MPI says.
        rank: Which of them this is. Default: as MPI says.
        store: In place of ``init_method``: tells all where rank 0 is.
        group_name: Accepted; means nothing.
        pg_options: The same.
        device_id: The GPU of this rank, for ``"nccl"``. Default: its local rank.

    Raises:
        ValueError: If there is a group, if a rank is missing, is not MPI's or is there twice.
        RuntimeError: Without mpi4py and MPI; for an unknown ``init_method``; if the address of
            rank 0 is taken, or ranks do not come in time.
        AssertionError: For an unknown backend, or a store together with an ``init_method``.
        TypeError: If ``timeout`` is no ``timedelta``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_rank(), tt.distributed.get_world_size()
        (0, 1)
        >>> tt.distributed.destroy_process_group()
    """
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    wait = check_timeout(default_pg_timeout if timeout is None else timeout)
    name = _backend(backend)
    place = rendezvous.place(name, init_method, world_size, rank, store)
    library = mpi.Library.start(place.join(wait.total_seconds()), wait.total_seconds())
    place.check(library.world.rank, library.world.size)
    ranks = range(library.world.size)
    made = _make(library, ranks, name, wait, "default_pg", device_id)
    library.needed = True
    _world.default = made


def _make(
    library: Any, ranks: Sequence[int], name: Backend, wait: timedelta, said: str, device: Any
) -> ProcessGroup:
    def start() -> Any:
        engine = mpi.MPIEngine(library, ranks)
        if name in ("nccl", "cpu:mpi,cuda:nccl"):
            return nccl.NCCLEngine(engine, device, mixed="mpi" in name)
        return engine

    engine = library.call(start, wait.total_seconds(), said)
    engine.activate()
    made = ProcessGroup(engine, ranks, engine.comm.rank, name, wait, said)
    _world.groups.append(made)
    return made


def _backend(backend: Any) -> Backend:
    """The backend that is meant, by PyTorch's spellings of it."""
    if backend is None:
        return Backend("cpu:mpi,cuda:nccl" if nccl.available() else "mpi")
    name = Backend(backend)
    parts = {each.rpartition(":")[2] for each in name.split(",")}
    unknown = parts - {"mpi", "gloo", "nccl"}
    if unknown or not name:
        known = "known are mpi, gloo, which means it, and nccl"
        raise AssertionError(
            f"Unknown backend type {', '.join(sorted(unknown)) or repr(str(name))}: {known}"
        )
    if "gloo" in parts:
        warn_once(_BY_MPI)
    if ":" in name or "," in name:
        return Backend("cpu:mpi,cuda:nccl" if "nccl" in parts else "mpi")
    return name


def check_timeout(timeout: Any) -> timedelta:
    """A timeout.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    return timeout


def destroy_process_group(group: Any = None) -> None:
    """Leave a group; without an argument all of them.

    Args:
        group: The group. Default: all, so that ``init_process_group`` can be called again.

    Raises:
        ValueError: If there is no such group.
        AssertionError: If there is none at all.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.destroy_process_group()
        >>> tt.distributed.is_initialized()
        False
    """
    if group is GroupMember.NON_GROUP_MEMBER or group == GroupMember.NON_GROUP_MEMBER:
        return
    if _world.default is None and group is None:
        raise AssertionError("Process group cannot be None")
    found = find(group)
    if found is not _world.default:
        _world.groups.remove(found)  # type: ignore[arg-type]
        found.engine.close()  # type: ignore[union-attr]
        return
    library = found.engine.library  # type: ignore[union-attr]
    for each in reversed(_world.groups):
        each.engine.close()
    _world.groups.clear()
    _world.default = None
    library.needed = False


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """A group of some of the processes.

    All processes call this, in the same order, members or not.

    Args:
        ranks: The members. Default: all.
        timeout: How long its calls wait. Default: as long as the default group's.
        backend: As for ``init_process_group``. Default: that of the default group.
        pg_options: Accepted; means nothing.
        use_local_synchronization: Accepted: members alone need each other in any case.
        group_desc: What ``group_desc`` of the group gives.
        device_id: The GPU of this rank, for ``"nccl"``.
        sort_ranks: Whether ranks in the group follow those in the world. Default: True.

    Returns:
        The group; ``GroupMember.NON_GROUP_MEMBER`` for processes that are none of it.

    Raises:
        ValueError: For ranks that are not there, or are there twice.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.new_group([0]).size()
        1
        >>> tt.distributed.destroy_process_group()
    """
    default = world()
    chosen = list(range(default.size()) if ranks is None else ranks)
    _check_ranks(chosen, default.size())
    if sort_ranks:
        chosen.sort()
    wait = check_timeout(default.timeout if timeout is None else timeout)
    name = default._backend if backend is None else _backend(backend)
    if default.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    return _make(default.engine.library, chosen, name, wait, group_desc or "undefined", device_id)


def _check_ranks(ranks: list[int], size: int) -> None:
    if len(ranks) > size:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by "
            "init_process_group"
        )
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
    for rank in ranks:
        if not 0 <= rank < size:
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})"
            )


def is_initialized() -> bool:
    """Whether ``init_process_group`` has been called.

    Example:
        >>> tt.distributed.is_initialized()
        False
    """
    return _world.default is not None
