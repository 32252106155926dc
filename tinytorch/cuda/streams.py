"""Queues of work on a device, and marks in them: ``torch.cuda.streams``."""

from __future__ import annotations

from typing import Any

from ..backends import loaded
from ..core.device import device as _device
from .queries import backend, current_device, number, set_device

__all__ = [
    "Event", "ExternalStream", "Stream", "StreamContext", "current_stream", "default_stream",
    "get_stream_from_external", "is_current_stream_capturing", "set_stream", "stream",
]  # fmt: skip


class Stream:
    """A queue of work on a device.

    Args:
        device: Whose queue; default the current device's.
        priority: 0 (default), or negative for a higher one.

    Attributes:
        device: The device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> isinstance(None, tt.cuda.Stream)
        False
    """

    def __init__(self, device: Any = None, priority: int = 0, *, _raw: Any = None) -> None:
        place = number(device)
        xp = backend().at(place)
        if _raw is None:
            _raw = xp.cuda.Stream(non_blocking=True, priority=priority)
        self._raw = _raw
        self.priority = priority
        self.device: _device = _device("cuda", place)

    @property
    def cuda_stream(self) -> int:
        """The address of CUDA's stream."""
        return int(self._raw.ptr)

    def __cuda_stream__(self) -> tuple[int, int]:
        """The stream for other libraries: ``cupy.cuda.Stream.from_external(stream)``."""
        return 0, self.cuda_stream

    def _at_home(self) -> Any:
        """CuPy's stream, with its device current: the default stream means that device's."""
        backend().at(self.device.index)
        return self._raw

    def synchronize(self) -> None:
        """Wait until the queue's work is done.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.synchronize()
        """
        self._at_home().synchronize()

    def query(self) -> bool:
        """Whether the queue's work is done.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.synchronize()
            ...     assert stream.query()
        """
        return bool(self._at_home().done)

    def wait_stream(self, stream: Stream) -> None:
        """Let this queue's later work wait for what ``stream`` holds now.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.wait_stream(tt.cuda.current_stream())
        """
        self.wait_event(stream.record_event())

    def wait_event(self, event: Event) -> None:
        """Let this queue's later work wait for ``event``.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.wait_event(tt.cuda.current_stream().record_event())
        """
        if event._raw is not None:
            self._at_home().wait_event(event._raw)

    def record_event(self, event: Event | None = None) -> Event:
        """Put an event (default: a new one) into the queue and return it.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     event = stream.record_event()
            ...     event.synchronize()
            ...     assert event.query()
        """
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return bool(self.device == other.device and self._raw == other._raw)

    def __hash__(self) -> int:
        return hash((self.device, self._raw))


class _Foreign:
    """A stream that was made elsewhere, in the form in which CuPy takes one."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


class ExternalStream(Stream):
    """A stream that another library has made, and takes care of.

    Args:
        stream_ptr: Its address.
        device: Its device; default the current one.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.Stream()
        ...     same = tt.cuda.ExternalStream(stream.cuda_stream)
    """

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        raw = backend().cuda.Stream.from_external(_Foreign(int(stream_ptr)))
        super().__init__(device, _raw=raw)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """The stream at an address; see ``ExternalStream``.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.Stream()
        ...     same = tt.cuda.get_stream_from_external(stream.cuda_stream)
    """
    return ExternalStream(data_ptr, device)


class StreamContext:
    """What ``stream`` returns: a context in which the thread's work goes to a stream.

    Args:
        stream: The queue; None does nothing.

    Example:
        >>> with tt.cuda.StreamContext(None):  # the stream that there is
        ...     y = tt.ones(1) + 1
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: list[int] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            self._before.append(current_device())
            set_device(self.stream.device)
            self.stream._raw.__enter__()

    def __exit__(self, *exception: Any) -> None:
        if self.stream is not None:
            # CuPy puts the stream before it back on the device that is current then.
            self.stream._at_home().__exit__(*exception)
            set_device(self._before.pop())


def stream(stream: Stream | None) -> StreamContext:
    """Context in which the calling thread's work goes to ``stream``; None does nothing.

    The stream's device is current inside. Other threads are not affected. A backward pass goes to
    the stream that is current where it is called: call it inside the same block, or let its stream
    wait (``wait_stream``) for the one that the results were computed on.

    Args:
        stream: The queue.

    Example:
        >>> with tt.cuda.stream(None):
        ...     pass
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The queue that the calling thread's work on a device (default: the current one) goes to.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.current_stream()
    """
    place = number(device)
    return Stream(place, _raw=backend().at(place).cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """The queue that work on a device (default: the current one) goes to outside ``stream``.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.default_stream()
    """
    place = number(device)
    return Stream(place, _raw=backend().at(place).cuda.Stream.null)


def set_stream(stream: Stream | None) -> None:
    """Have the calling thread's work go to ``stream`` from now on; None does nothing.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_stream(tt.cuda.current_stream())
    """
    if stream is not None:
        set_device(stream.device)
        stream._raw.use()


class Event:
    """A mark in a queue, to wait for or to measure time with.

    Args:
        enable_timing: Whether ``elapsed_time`` may be asked; default False.
        blocking: Whether ``synchronize`` sleeps instead of spinning; default False.
        interprocess: Accepted for compatibility; must be False.

    Example:
        >>> if tt.cuda.is_available():
        ...     begin, end = (tt.cuda.Event(enable_timing=True) for _ in range(2))
        ...     begin.record()
        ...     end.record()
        ...     end.synchronize()
        ...     milliseconds = begin.elapsed_time(end)
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError("cuda.Event: interprocess events are not supported")
        self._timing = enable_timing
        self._options = {"block": blocking, "disable_timing": not enable_timing}
        self._raw: Any = None  # made on the device of the first stream it is recorded in
        backend()

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark into a queue (default: the current one)."""
        stream = current_stream() if stream is None else stream
        raw = stream._at_home()
        if self._raw is None:
            self._raw = backend().cuda.Event(**self._options)
        self._raw.record(raw)

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._raw is not None:
            self._raw.synchronize()

    def query(self) -> bool:
        """Whether the work before the mark is done; True for a mark that is in no queue.

        Example:
            >>> if tt.cuda.is_available():
            ...     event = tt.cuda.current_stream().record_event()
            ...     event.synchronize()
            ...     assert event.query()
        """
        return self._raw is None or bool(self._raw.done)

    def wait(self, stream: Stream | None = None) -> None:
        """Let a queue (default: the current one) wait for the mark.

        Example:
            >>> if tt.cuda.is_available():
            ...     event = tt.cuda.current_stream().record_event()
            ...     event.wait(tt.cuda.Stream())
        """
        (current_stream() if stream is None else stream).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another.

        Raises:
            ValueError: If one of them was made without ``enable_timing=True``, or not recorded.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._raw is None or end_event._raw is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(backend().cuda.get_elapsed_time(self._raw, end_event._raw))


def is_current_stream_capturing() -> bool:
    """Whether the current queue's work is recorded for a graph, by CuPy; False without a device.

    Example:
        >>> tt.cuda.is_current_stream_capturing()
        False
    """
    return loaded("cupy") is not None and bool(current_stream()._raw.is_capturing())
