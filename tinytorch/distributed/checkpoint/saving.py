"""Saving and loading state dicts of several ranks in one folder.

Each rank writes a file of its entries that no lower rank has, in the format of ``tt.save``, and
rank 0 writes an index in JSON. Files are read with ``weights_only=True``, which executes no code.
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
    """Error of ``save`` or ``load`` on some ranks.

    Args:
        msg: Name of the action.
        failures: The errors, by rank.
    """

    def __init__(self, msg: str, failures: dict[int, Exception | str]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, Exception | str]:
        """Errors, by rank."""
        return self._failures

    def __str__(self) -> str:
        ranks = ", ".join(f"rank {rank}: {error}" for rank, error in self._failures.items())
        return f"CheckpointException ranks:{set(self._failures)} ({self.args[0]}) {ranks}"


class _Folder:
    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self.path = Path(path)


class FileSystemWriter(_Folder):
    """Folder to which ``save`` writes.

    Args:
        path: The folder, which is created.

    Example:
        >>> from tinytorch.distributed.checkpoint import FileSystemWriter
        >>> FileSystemWriter("folder").path.name
        'folder'
    """


class FileSystemReader(_Folder):
    """Folder from which ``load`` reads.

    Args:
        path: The folder.

    Example:
        >>> from tinytorch.distributed.checkpoint import FileSystemReader
        >>> FileSystemReader("folder").path.name
        'folder'
    """


def save(
    state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: FileSystemWriter | None = None, planner: Any = None, process_group: Any = None,
    no_dist: bool = False,
) -> None:  # fmt: skip
    """Save the state dicts of all ranks in a folder; an entry of several ranks is saved once.

    Args:
        state_dict: Tensors, numbers and strings, in dicts and lists, or objects with
            ``state_dict``.
        checkpoint_id: The folder.
        storage_writer: The folder, instead of ``checkpoint_id``.
        planner: Not supported.
        process_group: Process group. Default: the default group.
        no_dist: Whether this rank saves without the others. Default: False.

    Raises:
        CheckpointException: On each rank, if one cannot write.

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
    entries = dict(_flatten(_state_dicts(state_dict)))
    owners: dict[str, int] = {}
    for owner, keys in enumerate(_gather(list(entries), group)):
        for key in keys:
            owners.setdefault(key, owner)

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        own = {key: value for key, value in entries.items() if owners[key] == rank}
        serialization.save(own, folder / _file_name(rank))
        if rank == 0:
            (folder / _INDEX).write_text(json.dumps(owners))

    _run_on_all_ranks("saving", write, rank, group)


def load(
    state_dict: dict[str, Any], *, checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: FileSystemReader | None = None, planner: Any = None, process_group: Any = None,
    no_dist: bool = False,
) -> None:  # fmt: skip
    """Load the entries of a state dict from a folder, into its tensors in place.

    Args:
        state_dict: The entries to load, with tensors to write to.
        checkpoint_id: The folder.
        storage_reader: The folder, instead of ``checkpoint_id``.
        planner: Not supported.
        process_group: Process group. Default: the default group.
        no_dist: Whether this rank loads without the others. Default: False.

    Raises:
        CheckpointException: On each rank, if an entry of one is missing or has another shape.

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
        states = _state_dicts(state_dict)
        missing = [key for key, _ in _flatten(states) if key not in owners]
        if missing:
            raise RuntimeError(f"Missing key in checkpoint state_dict: {', '.join(missing)}.")
        files = {
            rank: serialization.load(folder / _file_name(rank), weights_only=True)
            for rank in {owners[key] for key, _ in _flatten(states)}
        }
        _fill(states, "", lambda key: files[owners[key]][key])
        for name, value in state_dict.items():
            if hasattr(value, "load_state_dict"):
                value.load_state_dict(states[name])
            else:
                state_dict[name] = states[name]

    _run_on_all_ranks("loading", read, 0 if group is None else group.rank(), group)


def _find_folder(checkpoint_id: Any, storage: _Folder | None, planner: Any) -> Path:
    """Folder that the arguments of ``save`` or ``load`` name.

    Args:
        checkpoint_id: Path of the folder, or None.
        storage: The argument ``storage_writer`` or ``storage_reader``, which takes precedence.
        planner: Must be None.
    """
    if planner is not None:
        raise NotImplementedError("distributed.checkpoint: planners are not supported in tinytorch")
    if checkpoint_id is None and storage is None:
        raise RuntimeError("`checkpoint_id` must be specified if storage is None.")
    return Path(checkpoint_id) if storage is None else storage.path


def _find_group(process_group: Any, no_dist: bool) -> Any:
    """The process group; None if this rank saves or loads without others."""
    if no_dist or not is_initialized():
        return None
    return world() if process_group is None else process_group


def _gather(value: Any, group: Any) -> list[Any]:
    """Gather the value of each rank, in a list by rank; only this rank's if ``group`` is None."""
    if group is None:
        return [value]
    found: list[Any] = [None] * group.size()
    all_gather_object(found, value, group)
    return found


def _run_on_all_ranks(name: str, action: Callable[[], None], rank: int, group: Any) -> None:
    """Call a function on each rank; raise on all of them if it fails on one.

    Args:
        name: Name of the action, for the error.
        action: The function.
        rank: This process's rank in the group.
        group: Process group; None if this rank saves or loads without others.

    Raises:
        CheckpointException: With the errors of all ranks: this rank's own exception, and the texts
            of those of other ranks.
    """
    own_error = None
    try:
        action()
    except Exception as error:
        own_error = error
    text = None if own_error is None else f"{type(own_error).__name__}: {own_error}"
    texts = _gather(text, group)
    failures = {each: text for each, text in enumerate(texts) if text is not None}
    if failures:
        raise CheckpointException(name, {**failures, **({rank: own_error} if own_error else {})})


def _state_dicts(state_dict: dict[str, Any]) -> dict[str, Any]:
    """A state dict in which modules and optimizers are replaced by their state dicts."""
    return {
        name: value.state_dict() if hasattr(value, "load_state_dict") else value
        for name, value in state_dict.items()
    }


def _file_name(rank: int) -> str:
    return f"__{rank}_0.distcp"


def _items(value: Any) -> Iterator[tuple[Any, Any]] | None:
    """Keys and values of a dict or list; None for other values."""
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) else None


def _flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path, such as ``"model.weight"``, and the value of each leaf of a state dict.

    Args:
        value: Nested dicts and lists.
        path: Path of ``value`` itself.
    """
    items = _items(value)
    if items is None:
        yield path, value
        return
    for key, each in items:
        yield from _flatten(each, f"{path}.{key}" if path else str(key))


def _fill(value: Any, path: str, find: Callable[[str], Any]) -> Any:
    """Replace each leaf of a state dict by its saved value, in place.

    Args:
        value: Nested dicts and lists, which are changed. Tensors in them are kept: saved values
            are copied into their memory.
        path: Path of ``value`` itself, as in ``_flatten``.
        find: Returns the saved value of a path.

    Returns:
        The new value.

    Raises:
        ValueError: If a saved tensor has another shape.
    """
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
