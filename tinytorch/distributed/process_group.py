"""Process groups: ``init_process_group``, ``new_group`` and ``destroy_process_group``."""

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
_GLOO_BY_MPI = "tinytorch carries the messages of backend 'gloo' by MPI."


class Backend(str):
    """Name of a backend, in lower case.

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
    """Processes that communicate, as returned by ``new_group``; ``group.WORLD`` has all of them.

    Args:
        engine: The ``MPIEngine`` or ``NCCLEngine`` of the group.
        ranks: Ranks in the world of the members, in the order of their ranks in the group.
        rank: This process's rank in the group.
        backend: Name of the backend.
        timeout: Timeout of collectives and messages.
        description: Value of ``group_desc``.

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
        self, engine: Any, ranks: Sequence[int], rank: int, backend: Backend, timeout: timedelta,
        description: str,
    ) -> None:  # fmt: skip
        self.engine: Any = engine
        self.ranks: list[int] = list(ranks)
        self.timeout: timedelta = timeout
        self.group_desc: str = description
        self._rank, self._backend = rank, backend
        self.group_name: str = str(len(_world.groups))
        #: Works of the current ``coalescing_manager`` block, or None.
        self.coalesced: list[Any] | None = None
        #: Number of collectives that have been called.
        self.sequence = 0

    def rank(self) -> int:
        """This process's rank in the group."""
        return self._rank

    def size(self) -> int:
        """Number of processes in the group."""
        return len(self.ranks)

    def name(self) -> str:
        """Name of the backend."""
        return str(self._backend)

    def set_timeout(self, timeout: timedelta) -> None:
        """Set the timeout of collectives and messages."""
        self.timeout = check_timeout(timeout)


class _World:
    """The process groups of this process.

    Attributes:
        default: The group of all processes, or None before ``init_process_group``.
        groups: All groups, including the default one.
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
    """Namespace of ``group.WORLD``: the group of all processes, or None if not initialized.

    Example:
        >>> tt.distributed.group.WORLD
    """


class GroupMember(metaclass=_GroupMeta):
    """Namespace of ``WORLD``, the default group, and ``NON_GROUP_MEMBER``.

    ``new_group`` returns ``NON_GROUP_MEMBER`` to processes outside the group.

    Example:
        >>> tt.distributed.GroupMember.NON_GROUP_MEMBER
        -100
    """

    NON_GROUP_MEMBER: ClassVar[int] = -100


def find_group(group: Any = None) -> ProcessGroup | None:
    """The group of an argument ``group``, by default the default group.

    Returns:
        The group; None for ``NON_GROUP_MEMBER``, in a process outside the group.

    Raises:
        ValueError: Before ``init_process_group``, and if the argument is not a group or has been
            destroyed.
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


def member_group(group: Any, name: str) -> ProcessGroup | None:
    """The group of an argument ``group``; if this process is not in it, warn and return None.

    Args:
        group: A process group; None for the default group, ``NON_GROUP_MEMBER`` outside a group.
        name: PyTorch's name of the calling function, for the warning.
    """
    found = find_group(group)
    if found is None:
        warn(
            f"Running {name} on global rank {world().rank()} which does not belong to the given "
            "group."
        )
    return found


def world() -> ProcessGroup:
    """The default group, of all processes.

    Raises:
        ValueError: Before ``init_process_group``.
    """
    if _world.default is None:
        raise ValueError(_UNINITIALIZED)
    return _world.default


def group_count() -> int:
    """Number of process groups."""
    return len(_world.groups)


# -- initialization ----------------------------------------------------------------------------


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
    world_size: int = -1, rank: int = -1, store: Any = None, group_name: str = "",
    pg_options: Any = None, device_id: Any = None,
) -> None:  # fmt: skip
    """Initialize the default process group; every process calls this once, before other calls.

    A program that ``mpiexec``, ``srun`` or ``python -m tinytorch.distributed.run`` started needs no
    argument: MPI has the ranks, and arguments must agree with it. Processes that were started
    otherwise, for example by ``multiprocessing.spawn``, pass their rank and the address of rank 0
    by arguments or by ``torchrun``'s environment variables; this needs MPICH. Without either, the
    process is the only one in its world.

    Args:
        backend: ``"mpi"``, ``"gloo"`` (which is implemented with MPI), or ``"nccl"`` for tensors on
            GPUs, one GPU for each rank. Default: MPI, and NCCL for tensors on GPUs if available.
        init_method: ``"env://"``, ``"file://..."`` or ``"tcp://..."``: source of this process's
            rank and the address of rank 0, if MPI does not have them. Default: ``"env://"``, the
            variables ``RANK``, ``WORLD_SIZE``, ``MASTER_ADDR`` and ``MASTER_PORT``.
        timeout: Timeout of this and other calls. Default: 30 minutes.
        world_size: Number of processes. Default: from MPI.
        rank: Rank of this process. Default: from MPI.
        store: Holds the address of rank 0, instead of ``init_method``.
        group_name: Accepted and ignored.
        pg_options: Accepted and ignored.
        device_id: The GPU of this rank, for ``"nccl"``. Default: its local rank.

    Raises:
        ValueError: If the group exists already, or if a rank is missing, used twice or different
            from MPI's.
        RuntimeError: Without mpi4py and MPI; for an unknown ``init_method``; if the address of
            rank 0 is in use, or ranks do not arrive in time.
        AssertionError: For an unknown backend, or a store together with an ``init_method``.
        TypeError: If ``timeout`` is not a ``timedelta``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.get_rank(), tt.distributed.get_world_size()
        (0, 1)
        >>> tt.distributed.destroy_process_group()
    """
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    limit = check_timeout(default_pg_timeout if timeout is None else timeout)
    parsed = _parse_backend(backend)
    info = rendezvous.read_rank_info(parsed, init_method, world_size, rank, store)
    library = mpi.Library.start(info.join(limit.total_seconds()), limit.total_seconds())
    info.check(library.world.rank, library.world.size)
    ranks = range(library.world.size)
    pg = _create_group(library, ranks, parsed, limit, "default_pg", device_id)
    library.needed = True
    _world.default = pg


def _create_group(
    library: mpi.Library, ranks: Sequence[int], backend: Backend, timeout: timedelta,
    group_desc: str, device: Any,
) -> ProcessGroup:  # fmt: skip
    """Create and register a process group; all of its ranks must call this function.

    Args:
        library: The initialized MPI library.
        ranks: Ranks in the world of the group's members, of which this process is one.
        backend: A backend returned by ``_parse_backend``.
        timeout: Longest time to wait for the other ranks; also the timeout of the group.
        group_desc: Description of the group, also for errors.
        device: This rank's GPU, for NCCL; see ``NCCLEngine``.
    """

    def create_engine() -> Any:
        engine = mpi.MPIEngine(library, ranks)
        if backend in ("nccl", "cpu:mpi,cuda:nccl"):
            return nccl.NCCLEngine(engine, device, mixed="mpi" in backend)
        return engine

    # The creation blocks until all ranks of the group take part. In MPI's thread, ``library.call``
    # can time out, or raise if one of them ends.
    engine = library.call(create_engine, timeout.total_seconds(), group_desc)
    engine.activate()
    pg = ProcessGroup(engine, ranks, engine.comm.rank, backend, timeout, group_desc)
    _world.groups.append(pg)
    return pg


def _parse_backend(backend: Any) -> Backend:
    """Backend that is used for the argument ``backend`` of ``init_process_group``.

    Args:
        backend: A name, such as ``"gloo"``, or a name for each device type, such as
            ``"cpu:gloo,cuda:nccl"``. None means NCCL for GPUs if it is available, and MPI.

    Returns:
        ``"mpi"``, ``"gloo"`` (which runs on MPI, too), ``"nccl"``, or ``"cpu:mpi,cuda:nccl"``.

    Raises:
        AssertionError: For an unknown backend.
    """
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
        warn_once(_GLOO_BY_MPI)
    if ":" in name or "," in name:
        return Backend("cpu:mpi,cuda:nccl" if "nccl" in parts else "mpi")
    return name


def check_timeout(timeout: Any) -> timedelta:
    """Return a timeout; raise a ``TypeError`` if it is not a ``timedelta``."""
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    return timeout


def destroy_process_group(group: Any = None) -> None:
    """Destroy a process group, or all of them.

    Args:
        group: Process group. Default: all, so that ``init_process_group`` can be called again.

    Raises:
        ValueError: If there is no such group.
        AssertionError: If the default group has not been initialized.

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
    found = find_group(group)
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
    ranks: Sequence[int] | None = None, timeout: timedelta | None = None,
    backend: str | None = None, pg_options: Any = None, use_local_synchronization: bool = False,
    group_desc: str | None = None, device_id: Any = None, sort_ranks: bool = True,
) -> Any:  # fmt: skip
    """Create a group of some of the processes.

    All processes call this in the same order, including those outside the group.

    Args:
        ranks: Ranks in the world of the members. Default: all.
        timeout: Timeout of collectives and messages. Default: that of the default group.
        backend: As for ``init_process_group``. Default: that of the default group.
        pg_options: Accepted and ignored.
        use_local_synchronization: Accepted and ignored: members alone synchronize in any case.
        group_desc: Value of the group's ``group_desc``.
        device_id: The GPU of this rank, for ``"nccl"``.
        sort_ranks: Whether ranks in the group are in the order of those in the world. Default:
            True.

    Returns:
        The group; ``GroupMember.NON_GROUP_MEMBER`` in processes outside it.

    Raises:
        ValueError: If a rank does not exist or is repeated.

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
    name = default._backend if backend is None else _parse_backend(backend)
    if default.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    return _create_group(
        default.engine.library, chosen, name, wait, group_desc or "undefined", device_id
    )


def _check_ranks(ranks: list[int], size: int) -> None:
    """Raise a ``ValueError`` if ranks of a new group are repeated or not in ``range(size)``.

    ``size`` is the number of processes in the world.
    """
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
