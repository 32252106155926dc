"""Messages over a pipe with arrays in shared memory, and a callback at the parent's end.

A pipe has one sender and one receiver. The buffers of objects, mostly arrays, are written to
unnamed files, whose descriptors are sent with the message. The system keeps them until the message
is read, and frees them with the pipe, so that nothing is left behind however the processes end.

Reference: PEP 574, pickle protocol 5 with out-of-band data.
"""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import pickle
import socket
import struct
import threading
import time
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

from ..backends.numpy import memory
from ..compat.reductions import check_leaf, place
from ..core.lazy_bits import stored_array
from ..core.pickling import Memory
from ..core.tensor import Tensor, copy_part

#: Smaller buffers than a page are copied into the message, which is faster than mapping.
_SMALL = 4096
#: Most descriptors in one message: the system has a limit of 253, and one of unread descriptors.
_MOST = 64
#: Header: the number of the message and the number of descriptors. A byte for each descriptor
#: follows, which is 1 if the memory was shared before.
_HEADER = struct.Struct("<qI")


def send(connection: Connection, number: int, content: Any) -> None:
    """Send a message with a number and an object.

    Large buffers, such as the memory of tensors, are sent as file descriptors of shared memory.
    Tensors are copied to it, unless they were there before. Errors of pickling are raised before
    anything is sent.

    Args:
        connection: End of a pipe.
        number: The number, such as that of a task.
        content: The object.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(content)
        descriptors = [each for each, _ in pickler.sent]
        flags = bytes(was_shared for _, was_shared in pickler.sent)
        start = _HEADER.pack(number, len(descriptors)) + flags
        connection.send_bytes(start + file.getbuffer())
        for first in range(0, len(descriptors), _MOST):
            _send_descriptors(connection, descriptors[first : first + _MOST])
    finally:
        for descriptor, was_shared in pickler.sent:
            if not was_shared:
                os.close(descriptor)


def receive(connection: Connection) -> tuple[int, Callable[[], Any]]:
    """Receive a message; return its number, and a function that unpickles its object."""
    message = memoryview(connection.recv_bytes())
    number, count = _HEADER.unpack_from(message)
    shared_flags, content = message[_HEADER.size :][:count], message[_HEADER.size + count :]
    descriptors: list[int] = []
    for first in range(0, count, _MOST):
        with _socket(connection) as channel:
            descriptors += reduction.recvfds(channel, min(_MOST, count - first))

    def unpickle() -> Any:
        buffers = [_map(*each) for each in zip(descriptors, map(bool, shared_flags), strict=True)]
        return pickle.loads(content, buffers=buffers)

    return number, unpickle


#: The first version of pickles with out-of-band buffers.
_PROTOCOL = 5


class _Pickler(reduction.ForkingPickler):
    """Pickler with out-of-band buffers, which writes large buffers to unnamed files."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, _PROTOCOL, True, self._on_buffer if memory.POSSIBLE else None)
        #: Descriptors of out-of-band buffers, and whether their memory was shared before.
        self.sent: list[tuple[int, bool]] = []

    def reducer_override(self, obj: Any) -> Any:
        """Reduce a tensor or a memory; NotImplemented leaves other objects to the base class.

        A tensor that is a part of a larger memory is copied unless that is shared, so that the rest
        is not sent.
        """
        if isinstance(obj, Memory):
            return place(obj, _pickle_root)
        if isinstance(obj, Tensor):
            check_leaf(obj)
            shared = obj._xp.is_shared(stored_array(obj))
            return (obj if shared else copy_part(obj)).__reduce_ex__(_PROTOCOL)
        return NotImplemented

    def _on_buffer(self, buffer: pickle.PickleBuffer) -> bool:
        """Buffer callback: send a large or shared buffer by a descriptor.

        Returns:
            Whether the buffer is pickled in-band instead.
        """
        with buffer.raw() as content:
            segment = memory.segment_of(content.obj)
            if segment is not None and memory.root_of(segment) is content.obj:
                self.sent.append((segment.descriptor, True))
                return False
            if content.nbytes < _SMALL or len(self.sent) >= _MOST:
                return True
            descriptor = memory.unnamed_file()
            self.sent.append((descriptor, False))
            _write(descriptor, content)
        return False


def _pickle_root(segment: memory.Segment) -> pickle.PickleBuffer:
    return pickle.PickleBuffer(memory.root_of(segment))


def _write(descriptor: int, content: memoryview) -> None:
    """Write all bytes to a file, which takes several calls for more than 2 GiB."""
    with open(descriptor, "wb", buffering=0, closefd=False) as file:
        done = 0
        while done < content.nbytes:
            with content[done:] as rest:
                done += file.write(rest)


def _socket(connection: Connection) -> socket.socket:
    """Socket object of a pipe, which is needed to send descriptors."""
    result = socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)
    result.setblocking(True)  # the program's default timeout must not apply to the pipe
    return result


def _send_descriptors(connection: Connection, descriptors: list[int]) -> None:
    """Send descriptors over a pipe."""
    with _socket(connection) as channel:
        while True:
            try:
                return reduction.sendfds(channel, descriptors)
            except OSError as error:  # too many unread descriptors: wait for the receiver
                if error.errno != errno.ETOOMANYREFS:
                    raise
                time.sleep(0.001)


def _map(descriptor: int, was_shared: bool) -> Any:
    """Map the memory of a descriptor; copy it if more than half of all descriptors are in use.

    A mapping holds a descriptor, whose number the system limits, and a program may keep every batch
    that it receives. Memory that was shared before the message is never copied.
    """
    import resource  # missing on Windows, where this is not called

    found = memory.attach(descriptor)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return found if was_shared or memory.mapped_count() <= limit // 2 else found.copy()


#: Seconds between checks of the parent.
_INTERVAL = 1.0


def call_when_parent_ends(action: Callable[[], object]) -> None:
    """Start a thread that calls ``action`` within seconds after the parent process ends.

    Args:
        action: Function without arguments. It is never called in a process that was not started
            by ``multiprocessing``.

    Example:
        >>> import os
        >>> from tinytorch.multiprocessing.messages import call_when_parent_ends
        >>> call_when_parent_ends(lambda: os._exit(1))
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent, action), daemon=True).start()


def _watch(parent: multiprocessing.process.BaseProcess, action: Callable[[], object]) -> None:
    """Wait for the end of the parent, then call ``action``."""
    # Processes that the parent forked later can keep its pipe open, but getppid() still changes.
    parent_id = os.getppid()
    while parent.is_alive() and os.getppid() == parent_id:
        time.sleep(_INTERVAL)
    action()
