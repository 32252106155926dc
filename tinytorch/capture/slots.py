"""Descriptors that show the recording thread recorded arrays in all tensors, and no other thread.

While any thread records, descriptors replace the slots ``_data``, ``_xp`` and ``_grad`` of tensors
and ``xp`` of nodes of autograd. In the thread that records, the array of a tensor that was not
listed becomes an input when it is first read, wherever that is; the backend is the recording one.
All other threads read what the slots hold. Without a recording the slots are as they were, so that
eager code pays nothing; see also ``follow_devices`` in ``core/storage.py``, which does the same for
devices.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy

from ..autograd.function import FunctionCtx
from ..backends.base import Backend
from ..core.storage import Storage
from ..core.tensor import Tensor
from ..graph.nodes import Node
from ..graph.saved_tensors import SavedOutput
from ..state.bindings import contextmanager
from .arrays import ProgramArray
from .backend import NUMPY, RECORDING
from .recorder import ProgramRecorder, _recorders, find_recorder, is_users, thread_id
from .traced_memory import map_tree

_lock = threading.Lock()
#: The recorders of all threads.
_users: set[ProgramRecorder] = set()
#: The class and name of each slot, its descriptor without a recording, and that of recordings.
_replaced: list[tuple[type, str, Any, Any]] = []


class _DataSlot:
    """The array of a tensor."""

    def __init__(self, slot: Any, backend: Any) -> None:
        self.read, self.store, self.backend = slot.__get__, slot.__set__, backend.__get__

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        data = self.read(owner)
        recorder = find_recorder(thread_id())
        if data.__class__ is ProgramArray:
            return data if recorder is data.recorder else data.note_break("tensor")
        if recorder is None or not recorder.hosts.is_array(data):
            return data
        return recorder.lift(data) if is_recorded(self.backend(owner), recorder) else data

    def __set__(self, owner: Any, data: Any) -> None:
        recorder = find_recorder(thread_id())
        if recorder is not None:
            if isinstance(data, numpy.ndarray) and not recorder.knows(data):
                data = recorder.constant(data)
            if data.__class__ is ProgramArray:
                recorder.track(owner)
        self.store(owner, data)


class _BackendSlot:
    """The backend of a tensor, or of a node of autograd."""

    def __init__(self, slot: Any) -> None:
        self.read, self.store = slot.__get__, slot.__set__

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        backend = self.read(owner)
        recorder = find_recorder(thread_id())
        if recorder is not None and is_recorded(backend, recorder):
            return RECORDING
        return backend

    def __set__(self, owner: Any, backend: Any) -> None:
        if backend is RECORDING:
            recorder = find_recorder(thread_id())
            backend = NUMPY if recorder is None else recorder.backend
        self.store(owner, backend)


class _NodeSlot(_BackendSlot):
    """The backend of a node of autograd; a node of this recording gets it here."""

    def __set__(self, owner: Any, backend: Any) -> None:
        recorder = find_recorder(thread_id())
        if recorder is not None:
            recorder.track_node(owner)
        super().__set__(owner, backend)

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        backend = super().__get__(owner, cls)
        if backend is RECORDING and owner.seq < recorder_of_thread().first_node:
            if any(isinstance(arg, numpy.ndarray) for arg in owner.args or ()):
                recorder_of_thread().note_break("a graph that was there before")
        return backend


class _GradSlot:
    """The gradient of a tensor: whether the function reads any is noted."""

    def __init__(self, slot: Any) -> None:
        self.read, self.store = slot.__get__, slot.__set__

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        if owner is None:
            return self
        recorder = find_recorder(thread_id())
        if recorder is not None:
            recorder.reads_grads = True
        return self.read(owner)

    def __set__(self, owner: Any, grad: Any) -> None:
        self.store(owner, grad)


class _VersionSlot:
    """The version of a tensor's memory, which differs between replays."""

    def __init__(self, original: Any) -> None:
        self.read = original.__get__

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        recorder = find_recorder(thread_id())
        if owner is not None and recorder is not None:
            if is_users(sys._getframe(1).f_code.co_filename):
                recorder.note_break("_version")
        return self.read(owner, cls)


def recorder_of_thread() -> ProgramRecorder:
    """Return the recorder of this thread, which records."""
    return _recorders[thread_id()]


@contextmanager
def replace_slots(recorder: ProgramRecorder) -> Iterator[None]:
    """Scope of a recording in which the slots are replaced, for all threads."""
    try:
        _install(recorder)
        yield
    finally:
        try:
            _leave(recorder)
        except BaseException:  # such as a KeyboardInterrupt, of which no tensor may be left
            _leave(recorder)
            raise


def _leave(recorder: ProgramRecorder) -> None:
    """Undo what a recording did to tensors and slots; a second call does nothing."""
    if recorder in _users:
        release(recorder)
    _uninstall(recorder)


def _install(recorder: ProgramRecorder) -> None:
    """Replace the slots, if no other thread has done so."""
    with _lock:
        if not _replaced:
            places = (
                (Storage, "_data"), (Storage, "_xp"), (Node, "xp"), (Tensor, "_version"),
                (Storage, "_grad"),
            )  # fmt: skip
            data, backend, node, version, grad = (vars(cls)[name] for cls, name in places)
            _replaced[:] = (
                (Storage, "_data", data, _DataSlot(data, backend)),
                (Storage, "_xp", backend, _BackendSlot(backend)),
                (Node, "xp", node, _NodeSlot(node)),
                (Tensor, "_version", version, _VersionSlot(version)),
                (Storage, "_grad", grad, _GradSlot(grad)),
            )
        _users.add(recorder)
        Backend.recordings = len(_users)
        for cls, name, original, slot in _replaced:
            if vars(cls)[name] is original:
                setattr(cls, name, slot)


def _uninstall(recorder: ProgramRecorder) -> None:
    """Restore the slots, if no other thread records."""
    with _lock:
        _users.discard(recorder)
        Backend.recordings = len(_users)
        if _users:
            return
        for cls, name, original, slot in _replaced:
            current = vars(cls)[name]
            if current is slot:
                setattr(cls, name, original)
            elif current is not original:  # a second device appeared in a recording
                for _, _, before, own in _replaced:
                    current.replace(own, before)
        _replaced.clear()


def is_recorded(backend: Any, recorder: ProgramRecorder) -> bool:
    """Whether tensors of a backend are recorded: NumPy's, and those of the active backend."""
    return backend is NUMPY or backend is recorder.backend


def _to_real(recorder: ProgramRecorder, backend: Any, item: Any) -> Any:
    """Return what eager code has in the place of an item of a tensor or a node of a backend."""
    if item.__class__ is ProgramArray:
        return item.host if backend is NUMPY else recorder.hosts.restore(item.host)
    if item is RECORDING:
        return backend
    if item.__class__ is FunctionCtx:
        for saved in item._saved:
            if saved.__class__ is SavedOutput:
                saved.data = _to_real(recorder, backend, saved.data)
                saved.xp = _to_real(recorder, backend, saved.xp)
    return item


def release(recorder: ProgramRecorder) -> None:
    """Put the real arrays into the tensors and nodes of autograd that still exist."""
    recorder.hosts.write_back()
    tensors, nodes = recorder.live_holders()
    data, backend, node_backend = (slot for *_, slot in _replaced[:3])
    for tensor in tensors:
        if not hasattr(tensor, "_xp"):  # Ctrl-C interrupted its creation
            continue
        data.store(tensor, _to_real(recorder, backend.read(tensor), data.read(tensor)))
    for node in nodes:
        convert = functools.partial(_to_real, recorder, node_backend.read(node))
        node.args = map_tree(convert, node.args)
        node.out = map_tree(convert, node.out)
        if node.extra:
            node.extra = map_tree(convert, node.extra)
