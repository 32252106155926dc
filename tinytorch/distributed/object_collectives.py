"""Collectives and messages of arbitrary objects, which are sent as pickles.

Loading a pickle can execute code, so only ranks of one job exchange objects (docs/security.md).
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from .buffers import host
from .launch import launch, root_rank
from .point_to_point import find_peer
from .process_group import ProcessGroup, member_group

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list",
    "scatter_object_list", "send_object_list",
]  # fmt: skip

#: Tag of the messages of objects.
_TAG = 0


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Gather the objects of all ranks on every rank.

    Args:
        object_list: A list of the group's size, to write to.
        obj: Object of this rank.
        group: Process group. Default: the default group.

    Raises:
        ValueError: Before ``init_process_group``, or if the list has a different length.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> found = [None]
        >>> tt.distributed.all_gather_object(found, {"loss": 0.5})
        >>> found
        [{'loss': 0.5}]
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "all_gather_object")
    if pg is not None:
        _check_list(object_list, pg.size(), "object_list")
        object_list[:] = _gather(pg, "all_gather_object", obj)


def _check_list(values: Any, size: int, name: str) -> None:
    """Raise a ``ValueError`` if the argument ``name`` has not ``size`` objects, one for a rank."""
    if len(values) != size:
        raise ValueError(
            f"{name}: expected a list of {size} objects, one a rank, got {len(values)}"
        )


def _gather(group: ProcessGroup, name: str, obj: Any, root: str = "") -> list[Any]:
    """Gather the objects of all ranks of a group on every rank.

    Args:
        group: Process group.
        name: PyTorch's name of the collective.
        obj: Object of this rank.
        root: Text such as ``", Root=0"``, which must be the same on all ranks.

    Returns:
        The objects, by rank in the group.
    """
    engine = group.engine.on_host
    content = _pickle(obj)
    sizes = host.zeros(group.size(), host.int64)
    size = host.array([content.size], host.int64)
    launch(group, name, lambda: engine.all_gather(sizes, size), [], f"sizes{root}")
    # Pickles are padded to the largest one, as in PyTorch.
    padded = host.zeros(int(sizes.max()), host.uint8)
    padded[: content.size] = content
    rows = host.empty((group.size(), padded.size), host.uint8)
    launch(group, name, lambda: engine.all_gather(rows, padded), [], f"objects{root}")
    return [pickle.loads(row[:end].tobytes()) for row, end in zip(rows, sizes, strict=True)]


def _pickle(obj: Any) -> Any:
    """Pickle of an object, as an array of bytes."""
    return host.frombuffer(bytearray(pickle.dumps(obj)), host.uint8)


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None,
    group: Any = None, group_dst: int | None = None,
) -> None:  # fmt: skip
    """Gather the objects of all ranks on one rank.

    Args:
        obj: Object of this rank.
        object_gather_list: On ``dst`` a list of the group's size, to write to; None elsewhere.
        dst: Rank in the world that receives them. Default: rank 0 of the group.
        group: Process group. Default: the default group.
        group_dst: Rank in the group, instead of ``dst``.

    Raises:
        ValueError: If the list is missing on ``dst`` or given elsewhere.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> found = [None]
        >>> tt.distributed.gather_object("a", found)
        >>> found
        ['a']
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "gather_object")
    if pg is None:
        return
    root = root_rank(pg, "gather", dst, group_dst, 0)
    is_root = pg.rank() == root
    if is_root and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if object_gather_list and not is_root:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    if object_gather_list:
        _check_list(object_gather_list, pg.size(), "object_gather_list")
    objects = _gather(pg, "gather_object", obj, f", Root={root}")
    if object_gather_list is not None:
        object_gather_list[:] = objects


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None,
) -> None:  # fmt: skip
    """Broadcast objects from one rank to all.

    Args:
        object_list: On ``src`` the objects; elsewhere a list of the same length, to write to.
        src: Rank in the world of the sender. Default: rank 0 of the group.
        group: Process group. Default: the default group.
        device: Accepted and ignored.
        group_src: Rank in the group, instead of ``src``.

    Raises:
        ValueError, RuntimeError: As ``broadcast``, and if the lengths of the lists differ.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.broadcast_object_list(["a", 1], src=0)
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "broadcast_object_list")
    if pg is None:
        return
    root = root_rank(pg, "broadcast", src, group_src, 0)
    sent = _broadcast(pg, root, object_list if pg.rank() == root else None)
    if len(sent) != len(object_list):
        raise ValueError(
            f"object_list: rank {pg.ranks[root]} sent {len(sent)} objects, and this list has "
            f"{len(object_list)} places"
        )
    object_list[:] = sent


def _broadcast(group: ProcessGroup, root: int, value: Any) -> Any:
    """Broadcast the object of one rank of a group to all.

    Args:
        group: Process group.
        root: Rank in the group of the sender.
        value: The object; ignored on other ranks.

    Returns:
        The object of ``root``.
    """
    is_root = group.rank() == root
    content = _pickle(value) if is_root else None
    size = host.array([content.size if content is not None else 0], host.int64)
    engine = group.engine.on_host
    launch(group, "broadcast", lambda: engine.broadcast(size, root), [], f"size, Root={root}")
    flat = host.empty(int(size[0]), host.uint8) if content is None else content
    launch(group, "broadcast", lambda: engine.broadcast(flat, root), [], f"objects, Root={root}")
    return value if is_root else pickle.loads(flat.tobytes())


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
    src: int | None = None, group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """Scatter a list of objects of one rank to all ranks, one object to each.

    Args:
        scatter_object_output_list: A list whose first item is set to the object.
        scatter_object_input_list: On ``src`` an object for each rank; ignored elsewhere.
        src: Rank in the world of the sender. Default: rank 0 of the group.
        group: Process group. Default: the default group.
        group_src: Rank in the group, instead of ``src``.

    Raises:
        ValueError: If the output list is empty, or the input list does not have an object for each
            rank.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> found = [None]
        >>> tt.distributed.scatter_object_list(found, ["a"], src=0)
        >>> found
        ['a']
        >>> tt.distributed.destroy_process_group()
    """
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    pg = member_group(group, "scatter_object_list")
    if pg is None:
        return
    root = root_rank(pg, "scatter", src, group_src, 0)
    values = None
    if pg.rank() == root:
        values = scatter_object_input_list or []
        _check_list(values, pg.size(), "scatter_object_input_list")
    # All ranks receive all objects: they are small, and one call is faster than two.
    scatter_object_output_list[0] = _broadcast(pg, root, values)[pg.rank()]


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None, use_batch: bool = False,
) -> None:  # fmt: skip
    """Send objects to one rank.

    Args:
        object_list: List of the objects.
        dst: Rank in the world of the receiver.
        group: Process group. Default: the default group.
        device: Accepted and ignored.
        group_dst: Rank in the group, instead of ``dst``.
        use_batch: Accepted and ignored.

    Raises:
        ValueError: As ``send``.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.send_object_list(["a"], dst=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid destination rank: destination rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "send_object_list")
    if pg is None:
        return
    peer = find_peer(pg, dst, group_dst, "destination")
    content = _pickle(list(object_list))
    size = host.array([content.size], host.int64)
    launch(pg, "send", lambda: pg.engine.on_host.send(size, peer, _TAG), [])
    launch(pg, "send", lambda: pg.engine.on_host.send(content, peer, _TAG), [])


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None, use_batch: bool = False,
) -> int:  # fmt: skip
    """Receive objects from one rank.

    Args:
        object_list: A list of the same length as the sender's, to write to.
        src: Rank in the world of the sender. Default: any rank.
        group: Process group. Default: the default group.
        device: Accepted and ignored.
        group_src: Rank in the group, instead of ``src``.
        use_batch: Accepted and ignored.

    Returns:
        Rank in the world of the sender; -1 for a process outside the group.

    Raises:
        ValueError: As ``recv``, and if the lengths of the lists differ.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.recv_object_list([None], src=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid source rank: source rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    pg = member_group(group, "recv_object_list")
    if pg is None:
        return -1
    from_any = src is None and group_src is None
    peer = None if from_any else find_peer(pg, src, group_src, "source")
    size = host.zeros(1, host.int64)
    work = launch(
        pg, "recv", lambda: pg.engine.on_host.receive(size, peer, _TAG), [], async_op=True
    )
    work.wait()  # type: ignore[union-attr]
    source = work.source_rank()  # type: ignore[union-attr]
    content = host.empty(int(size[0]), host.uint8)
    launch(pg, "recv", lambda: pg.engine.on_host.receive(content, source, _TAG), [])
    sent = pickle.loads(content.tobytes())
    _check_received(object_list, sent)
    object_list[:] = sent
    return pg.ranks[source]


def _check_received(object_list: Sequence[Any], sent: Sequence[Any]) -> None:
    """Raise a ``ValueError`` unless the list has as many elements as there are objects sent."""
    if len(object_list) != len(sent):
        raise ValueError(
            f"object_list: {len(sent)} objects were sent, and this list has {len(object_list)} "
            "places"
        )
