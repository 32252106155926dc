"""Collectives and messages of any objects, which are pickled on their way.

Only ranks of one job exchange objects: reading a pickle runs what it says (docs/security.md).
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from .buffers import host
from .launch import launch, root_of
from .point_to_point import _peer as peer_of
from .process_group import ProcessGroup, member

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list",
    "scatter_object_list", "send_object_list",
]  # fmt: skip

#: The tag of messages that carry objects.
_TAG = 0


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Give every rank the objects of all.

    Args:
        object_list: A list with a place for each rank, which is filled.
        obj: This rank's.
        group: Among whom. Default: all.

    Raises:
        ValueError: Before ``init_process_group``, or if the list has another length.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> found = [None]
        >>> tt.distributed.all_gather_object(found, {"loss": 0.5})
        >>> found
        [{'loss': 0.5}]
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "all_gather_object")
    if found is not None:
        _check_list(object_list, found.size(), "object_list")
        object_list[:] = _gathered(found, "all_gather_object", obj)


def _check_list(values: Any, size: int, name: str) -> None:
    if len(values) != size:
        raise ValueError(
            f"{name}: expected a list of {size} objects, one a rank, got {len(values)}"
        )


def _gathered(group: ProcessGroup, name: str, obj: Any, root: str = "") -> list[Any]:
    content = _bytes(obj)
    sizes = host.zeros(group.size(), host.int64)
    own = host.array([content.size], host.int64)
    launch(group, name, lambda: group.engine.on_host.all_gather(sizes, own), [], f"sizes{root}")
    # Padded to the largest, as in PyTorch.
    padded = host.zeros(int(sizes.max()), host.uint8)
    padded[: content.size] = content
    rows = host.empty((group.size(), padded.size), host.uint8)
    launch(group, name, lambda: group.engine.on_host.all_gather(rows, padded), [], f"objects{root}")
    return [pickle.loads(row[:size].tobytes()) for row, size in zip(rows, sizes, strict=True)]


def _bytes(obj: Any) -> Any:
    return host.frombuffer(bytearray(pickle.dumps(obj)), host.uint8)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Give one rank the objects of all.

    Args:
        obj: This rank's.
        object_gather_list: On ``dst`` a list with a place for each rank; None elsewhere.
        dst: The rank in the world that gets them. Default: rank 0 of the group.
        group: Among whom. Default: all.
        group_dst: The rank in the group, in place of ``dst``.

    Raises:
        ValueError: If the list is given elsewhere than on ``dst``, or not there.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> found = [None]
        >>> tt.distributed.gather_object("a", found)
        >>> found
        ['a']
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "gather_object")
    if found is None:
        return
    root = root_of(found, "gather", dst, group_dst, 0)
    here = found.rank() == root
    if here and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if object_gather_list and not here:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    if object_gather_list:
        _check_list(object_gather_list, found.size(), "object_gather_list")
    objects = _gathered(found, "gather_object", obj, f", Root={root}")
    if object_gather_list is not None:
        object_gather_list[:] = objects


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Send objects from one rank to all.

    Args:
        object_list: On ``src`` the objects; elsewhere a list as long, which is filled.
        src: The rank in the world that sends. Default: rank 0 of the group.
        group: Among whom. Default: all.
        device: Accepted; means nothing.
        group_src: The rank in the group, in place of ``src``.

    Raises:
        ValueError, RuntimeError: As ``broadcast``; if a list has another length.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.broadcast_object_list(["a", 1], src=0)
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "broadcast_object_list")
    if found is None:
        return
    root = root_of(found, "broadcast", src, group_src, 0)
    sent = _broadcast(found, root, object_list if found.rank() == root else None)
    if len(sent) != len(object_list):
        raise ValueError(
            f"object_list: rank {found.ranks[root]} sent {len(sent)} objects, and this list has "
            f"{len(object_list)} places"
        )
    object_list[:] = sent


def _broadcast(group: ProcessGroup, root: int, value: Any) -> Any:
    """What one rank of a group gives, on all."""
    here = group.rank() == root
    content = _bytes(value) if here else None
    size = host.array([content.size if content is not None else 0], host.int64)
    launch(
        group,
        "broadcast",
        lambda: group.engine.on_host.broadcast(size, root),
        [],
        f"size, Root={root}",
    )
    flat = host.empty(int(size[0]), host.uint8) if content is None else content
    launch(
        group,
        "broadcast",
        lambda: group.engine.on_host.broadcast(flat, root),
        [],
        f"objects, Root={root}",
    )
    return value if here else pickle.loads(flat.tobytes())


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Give each rank its own of one rank's objects.

    Args:
        scatter_object_output_list: A list whose first place is filled.
        scatter_object_input_list: On ``src`` an object for each rank; not looked at elsewhere.
        src: The rank in the world that has them. Default: rank 0 of the group.
        group: Among whom. Default: all.
        group_src: The rank in the group, in place of ``src``.

    Raises:
        ValueError: For an empty output list, or an input list of another length.

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
    found = member(group, "scatter_object_list")
    if found is None:
        return
    root = root_of(found, "scatter", src, group_src, 0)
    values = None
    if found.rank() == root:
        values = scatter_object_input_list or []
        _check_list(values, found.size(), "scatter_object_input_list")
    # One pickle for all of them: they are small, and one call is faster than two.
    scatter_object_output_list[0] = _broadcast(found, root, values)[found.rank()]


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to one rank.

    Args:
        object_list: The objects.
        dst: The rank in the world that they go to.
        group: Whose message it is. Default: all processes'.
        device: Accepted; means nothing.
        group_dst: The rank in the group, in place of ``dst``.
        use_batch: Accepted; means nothing.

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
    found = member(group, "send_object_list")
    if found is None:
        return
    peer = peer_of(found, dst, group_dst, "destination")
    content = _bytes(list(object_list))
    size = host.array([content.size], host.int64)
    launch(found, "send", lambda: found.engine.on_host.send(size, peer, _TAG), [])
    launch(found, "send", lambda: found.engine.on_host.send(content, peer, _TAG), [])


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive objects from one rank.

    Args:
        object_list: A list as long as the sender's, which is filled.
        src: The rank in the world that they come from. Default: any.
        group: Whose message it is. Default: all processes'.
        device: Accepted; means nothing.
        group_src: The rank in the group, in place of ``src``.
        use_batch: Accepted; means nothing.

    Returns:
        The rank in the world that they came from; -1 for a process that is no member.

    Raises:
        ValueError: As ``recv``; if the list has another length.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.recv_object_list([None], src=0)
        Traceback (most recent call last):
            ...
        ValueError: Invalid source rank: source rank should not be the same as the rank \
of the current process.
        >>> tt.distributed.destroy_process_group()
    """
    found = member(group, "recv_object_list")
    if found is None:
        return -1
    anyone = src is None and group_src is None
    peer = None if anyone else peer_of(found, src, group_src, "source")
    size = host.zeros(1, host.int64)
    work = launch(
        found, "recv", lambda: found.engine.on_host.receive(size, peer, _TAG), [], async_op=True
    )
    work.wait()  # type: ignore[union-attr]
    source = work.source_rank()  # type: ignore[union-attr]
    content = host.empty(int(size[0]), host.uint8)
    launch(found, "recv", lambda: found.engine.on_host.receive(content, source, _TAG), [])
    sent = pickle.loads(content.tobytes())
    _check_received(object_list, sent)
    object_list[:] = sent
    return found.ranks[source]


def _check_received(places: Sequence[Any], sent: Sequence[Any]) -> None:
    if len(places) != len(sent):
        raise ValueError(
            f"object_list: {len(sent)} objects were sent, and this list has {len(places)} places"
        )
