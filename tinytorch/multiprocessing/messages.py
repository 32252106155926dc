"""Messages over a pipe whose arrays lie in shared memory, and the end of the parent process.

A pipe has one sender and one receiver.

What objects hold in buffers, arrays above all, is written to files without a name, whose
descriptors travel with the message: the system holds them until it is read, or drops them with
the pipe. So nothing is left behind, however either process ends.

Reference: PEP 574, pickles with buffers beside them.
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

#: Buffers of less than a page go into the message: mapping them takes longer than copying.
_SMALL = 4096
#: The system passes 253 descriptors at once, and has a limit on those that nobody has read yet.
_MOST = 64
#: A number for the receiver, and how many descriptors follow. For each a byte comes after it: 1 if
#: the memory was shared before.
_HEADER = struct.Struct("<qI")


def send(connection: Connection, number: int, content: Any) -> None:
    """Send a number and an object; what cannot be pickled raises before anything is sent.

    Tensors arrive as copies, unless they were in shared memory before.
    """
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(content)
        descriptors = [each for each, _ in pickler.sent]
        start = _HEADER.pack(number, len(descriptors)) + bytes(old for _, old in pickler.sent)
        connection.send_bytes(start + file.getbuffer())
        for first in range(0, len(descriptors), _MOST):
            _send_descriptors(connection, descriptors[first : first + _MOST])
    finally:
        for descriptor, old in pickler.sent:
            if not old:
                os.close(descriptor)


def receive(connection: Connection) -> tuple[int, Callable[[], Any]]:
    """Return the number of the next message, and a function that makes its object or raises."""
    message = memoryview(connection.recv_bytes())
    number, count = _HEADER.unpack_from(message)
    olds, content = message[_HEADER.size :][:count], message[_HEADER.size + count :]
    descriptors: list[int] = []
    for first in range(0, count, _MOST):
        with _socket(connection) as there:
            descriptors += reduction.recvfds(there, min(_MOST, count - first))

    def unpickle() -> Any:
        buffers = [_mapped(*each) for each in zip(descriptors, map(bool, olds), strict=True)]
        return pickle.loads(content, buffers=buffers)

    return number, unpickle


class _Pickler(reduction.ForkingPickler):
    def __init__(self, file: Any) -> None:
        super().__init__(file, 5, True, self._take if memory.POSSIBLE else None)
        #: The descriptors that belong to the pickle, and whether their memory was shared before.
        self.sent: list[tuple[int, bool]] = []

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Memory):
            return place(obj, _pickle_root)
        if isinstance(obj, Tensor):
            check_leaf(obj)
            shared = obj._xp.is_shared(stored_array(obj))
            return (obj if shared else copy_part(obj)).__reduce_ex__(5)
        return NotImplemented

    def _take(self, buffer: pickle.PickleBuffer) -> bool:
        """Whether a buffer stays in the pickle; else its descriptor goes beside it."""
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
    with open(descriptor, "wb", buffering=0, closefd=False) as file:
        done = 0
        while done < content.nbytes:
            with content[done:] as rest:
                done += file.write(rest)


def _socket(connection: Connection) -> socket.socket:
    made = socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)
    made.setblocking(True)  # whatever the program's default is: the pipe is the same
    return made


def _send_descriptors(connection: Connection, descriptors: list[int]) -> None:
    with _socket(connection) as there:
        while True:
            try:
                return reduction.sendfds(there, descriptors)
            except OSError as error:  # too many are on their way: the receiver takes them
                if error.errno != errno.ETOOMANYREFS:
                    raise
                time.sleep(0.001)


def _mapped(descriptor: int, old: bool) -> Any:
    """The memory behind a descriptor; a copy of what is new if there could be too few for more.

    A mapping holds one of the descriptors that a process may have, and a program may keep every
    batch that it gets.
    """
    import resource  # which Windows lacks, where nothing comes here

    found = memory.attach(descriptor)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return found if old or memory.mapped_count() <= limit // 2 else found.copy()


#: Seconds between two looks.
_INTERVAL = 1.0


def when_parent_ends(action: Callable[[], object]) -> None:
    """Let a thread call ``action`` within seconds of the end of the process that started this one.

    Args:
        action: Function without arguments. It is never called in a process that was not started
            by ``multiprocessing``.

    Example:
        >>> import os
        >>> from tinytorch.multiprocessing.messages import when_parent_ends
        >>> when_parent_ends(lambda: os._exit(1))
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent, action), daemon=True).start()


def _watch(parent: multiprocessing.process.BaseProcess, action: Callable[[], object]) -> None:
    # Processes that the parent forked later may hold its pipe open, but they do not change the
    # parent's process number.
    born_to = os.getppid()
    while parent.is_alive() and os.getppid() == born_to:
        time.sleep(_INTERVAL)
    action()
