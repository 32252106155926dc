"""State dicts of several ranks in one folder.

Each rank writes a file of the entries that no lower rank has, in the format of ``tt.save``, and
rank 0 an index in JSON. Files are read with ``weights_only=True``: nothing in them is executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ... import serialization
from ...core.tensor import Tensor
from ...ops.index.filling import copy_
from ...state import no_grad
from ..object_collectives import all_gather_object
from ..process_group import is_initialized, world

__all__ = ["CheckpointException", "FileSystemReader", "FileSystemWriter", "load", "save"]

_INDEX = "index.json"


class CheckpointException(BaseException):
    """Error of some ranks that saved or loaded.

    Args:
        msg: What failed.
        failures: The errors, by rank.
    """

    def __init__(self, msg: str, failures: dict[int, Exception | str]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Exception | str]:
        """The errors, by rank."""
        return self._failures

    def __str__(self) -> str:
        ranks = ", ".join(f"rank {rank}: {error}" for rank, error in self._failures.items())
        return f"CheckpointException ranks:{set(self._failures)} ({self.args[0]}) {ranks}"


class _Folder:
    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self.path = Path(path)


class FileSystemWriter(_Folder):
    """The folder that ``save`` writes to.

    Args:
        path: The folder, which is made.

    Example:
        >>> from tinytorch.distributed.checkpoint import FileSystemWriter
        >>> FileSystemWriter("folder").path.name
        'folder'
    """


class FileSystemReader(_Folder):
    """The folder that ``load`` reads.

    Args:
        path: The folder.

    Example:
        >>> from tinytorch.distributed.checkpoint import FileSystemReader
        >>> FileSystemReader("folder").path.name
        'folder'
    """


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Save the state dicts of all ranks in a folder; an entry of several ranks is saved once.

    Args:
        state_dict: Tensors, numbers and texts, in dicts and lists, or objects with ``state_dict``.
        checkpoint_id: The folder.
        storage_writer: The folder, by ``FileSystemWriter``.
        planner: Not supported.
        process_group: The process group. Default: all ranks.
        no_dist: Whether this rank saves alone. Default: False.

    Raises:
        CheckpointException: On each rank, if one could not write.

    Example:
        >>> import tempfile
        >>> from tinytorch.distributed import checkpoint
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     checkpoint.save({"w": tt.ones(2)}, checkpoint_id=folder)
        ...     found = {"w": tt.zeros(2)}
        ...     checkpoint.load(found, checkpoint_id=folder)
        >>> found["w"]
        tensor([1., 1.])
    """
    folder = _find_folder(checkpoint_id, storage_writer, planner)
    group = _find_group(process_group, no_dist)
    rank = 0 if group is None else group.rank()
    entries = dict(_flatten(_take_states(state_dict)))
    owners: dict[str, int] = {}
    for owner, keys in enumerate(_gather(list(entries), group)):
        for key in keys:
            owners.setdefault(key, owner)

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        own = {key: value for key, value in entries.items() if owners[key] == rank}
        serialization.save(own, folder / _name(rank))
        if rank == 0:
            (folder / _INDEX).write_text(json.dumps(owners))

    _agree("saving", write, rank, group)


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: FileSystemReader | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Load the entries of a state dict from a folder: tensors are written in place.

    Args:
        state_dict: Which entries, and the tensors to write to.
        checkpoint_id: The folder.
        storage_reader: The folder, by ``FileSystemReader``.
        planner: Not supported.
        process_group: The process group. Default: all ranks.
        no_dist: Whether this rank loads alone. Default: False.

    Raises:
        CheckpointException: On each rank, if one lacks an entry or has a tensor of another size.

    Example:
        >>> import tempfile
        >>> from tinytorch.distributed import checkpoint
        >>> weights = {"w": tt.zeros(2)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     checkpoint.save({"w": tt.ones(2)}, checkpoint_id=folder)
        ...     checkpoint.load(weights, checkpoint_id=folder)
        >>> weights["w"]
        tensor([1., 1.])
    """
    folder = _find_folder(checkpoint_id, storage_reader, planner)
    group = _find_group(process_group, no_dist)

    def read() -> None:
        owners = {k: int(v) for k, v in json.loads((folder / _INDEX).read_text()).items()}
        states = _take_states(state_dict)
        missing = [key for key, _ in _flatten(states) if key not in owners]
        if missing:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {', '.join(missing)}.")
        files = {
            rank: serialization.load(folder / _name(rank), weights_only=True)
            for rank in {owners[key] for key, _ in _flatten(states)}
        }
        _fill(states, "", lambda key: files[owners[key]][key])
        for name, value in state_dict.items():
            if hasattr(value, "load_state_dict"):
                value.load_state_dict(states[name])
            else:
                state_dict[name] = states[name]

    _agree("loading", read, 0 if group is None else group.rank(), group)


def _find_folder(checkpoint_id: Any, storage: _Folder | None, planner: Any) -> Path:
    if planner is not None:
        raise NotImplementedError("distributed.checkpoint: planners are not there in tinytorch")
    if checkpoint_id is None and storage is None:
        raise RuntimeError("`checkpoint_id` must be specified if storage is None.")
    return Path(checkpoint_id) if storage is None else storage.path


def _find_group(process_group: Any, no_dist: bool) -> Any:
    if no_dist or not is_initialized():
        return None
    return world() if process_group is None else process_group


def _gather(value: Any, group: Any) -> list[Any]:
    if group is None:
        return [value]
    found: list[Any] = [None] * group.size()
    all_gather_object(found, value, group)
    return found


def _agree(what: str, action: Callable[[], None], rank: int, group: Any) -> None:
    """Run an action on each rank; raise on all of them if it fails on one."""
    problem = None
    try:
        action()
    except Exception as error:
        problem = error
    texts = _gather(None if problem is None else f"{type(problem).__name__}: {problem}", group)
    failures = {each: text for each, text in enumerate(texts) if text is not None}
    if failures:
        raise CheckpointException(what, {**failures, **({rank: problem} if problem else {})})


def _take_states(state_dict: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.state_dict() if hasattr(value, "load_state_dict") else value
        for name, value in state_dict.items()
    }


def _name(rank: int) -> str:
    return f"__{rank}_0.distcp"


def _items(value: Any) -> Iterator[tuple[Any, Any]] | None:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) else None


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    items = _items(value)
    if items is None:
        yield path, value
        return
    for key, each in items:
        yield from _flatten(each, f"{path}.{key}" if path else str(key))


def _fill(value: Any, path: str, find: Callable[[str], Any]) -> Any:
    """Write what ``find`` returns for each entry into it, and return the value to keep."""
    items = _items(value)
    if items is not None:
        for key, each in list(items):
            value[key] = _fill(each, f"{path}.{key}" if path else str(key), find)
        return value
    found = find(path)
    if not isinstance(value, Tensor):
        return found
    if value.shape != found.shape:
        raise ValueError(
            f"Size mismatch between saved {found.shape} and current: {value.shape} for {path}"
        )
    with no_grad():
        copy_(value, found)
    return value
