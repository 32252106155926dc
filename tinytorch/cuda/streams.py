"""Streams and events of CUDA devices, as ``torch.cuda.streams``."""

from __future__ import annotations

from typing import Any

from ..backends import loaded
from ..core.device import device as _device
from .queries import backend, current_device, index_of_device, set_device

__all__ = [
    "Event", "ExternalStream", "Stream", "StreamContext", "current_stream", "default_stream",
    "get_stream_from_external", "is_current_stream_capturing", "set_stream", "stream",
]  # fmt: skip


class Stream:
    """CUDA stream: a queue of work on a device.

    Args:
        device: The device of the stream; default: the current device.
        priority: 0 (default), or a negative number for a higher priority.

    Attributes:
        device: The device of the stream.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> isinstance(None, tt.cuda.Stream)
        False
    """

    def __init__(self, device: Any = None, priority: int = 0, *, _raw: Any = None) -> None:
        index = index_of_device(device)
        xp = backend().at(index)
        if _raw is None:
            _raw = xp.cuda.Stream(non_blocking=True, priority=priority)
        self._raw = _raw
        self.priority = priority
        self.device: _device = _device("cuda", index)

    @property
    def cuda_stream(self) -> int:
        """Address of the underlying ``cudaStream_t``."""
        return int(self._raw.ptr)

    def __cuda_stream__(self) -> tuple[int, int]:
        """Protocol version and address, which ``cupy.cuda.Stream.from_external`` reads."""
        return 0, self.cuda_stream

    def _activate_device(self) -> Any:
        """Make the stream's device current and return CuPy's stream.

        The default streams of all devices have the same address, so that the current device
        determines which one is meant.
        """
        backend().at(self.device.index)
        return self._raw

    def synchronize(self) -> None:
        """Wait until the stream's work is done.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.synchronize()
        """
        self._activate_device().synchronize()

    def query(self) -> bool:
        """Whether the stream's work is done.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.synchronize()
            ...     assert stream.query()
        """
        return bool(self._activate_device().done)

    def wait_stream(self, stream: Stream) -> None:
        """Make this stream's later work wait for the work that ``stream`` holds now.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.wait_stream(tt.cuda.current_stream())
        """
        self.wait_event(stream.record_event())

    def wait_event(self, event: Event) -> None:
        """Make this stream's later work wait for ``event``.

        Example:
            >>> if tt.cuda.is_available():
            ...     stream = tt.cuda.Stream()
            ...     stream.wait_event(tt.cuda.current_stream().record_event())
        """
        if event._raw is not None:
            self._activate_device().wait_event(event._raw)

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (default: a new event) in this stream and return it.

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


class _StreamAddress:
    """Address of a stream of another library, in the form that CuPy accepts."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


class ExternalStream(Stream):
    """Stream that another library created and will destroy.

    Args:
        stream_ptr: Address of the stream.
        device: Device of the stream; default: the current device.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.Stream()
        ...     same = tt.cuda.ExternalStream(stream.cuda_stream)
    """

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        raw = backend().cuda.Stream.from_external(_StreamAddress(int(stream_ptr)))
        super().__init__(device, _raw=raw)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """Stream at an address; see ``ExternalStream``.

    Raises:
        BackendUnavailableError: Without a device.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.Stream()
        ...     same = tt.cuda.get_stream_from_external(stream.cuda_stream)
    """
    return ExternalStream(data_ptr, device)


class StreamContext:
    """Context manager that ``stream`` returns; the thread's work goes to a stream inside it.

    Args:
        stream: The stream; None does nothing.

    Example:
        >>> with tt.cuda.StreamContext(None):  # the current stream stays
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
            # CuPy restores the previous stream of the current device, so that must be the stream's.
            self.stream._activate_device().__exit__(*exception)
            set_device(self._before.pop())


def stream(stream: Stream | None) -> StreamContext:
    """Context manager in which the calling thread's work goes to ``stream``.

    The stream's device is current inside. Other threads are not affected. A backward pass runs on
    the stream that is current where it is called: call it inside the same block, or make its stream
    wait (``wait_stream``) for the stream that computed the results.

    Args:
        stream: The stream; None does nothing.

    Example:
        >>> with tt.cuda.stream(None):
        ...     pass
    """
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """Calling thread's current stream on a device (default: the current device).

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.current_stream()
    """
    index = index_of_device(device)
    return Stream(index, _raw=backend().at(index).cuda.get_current_stream())


def default_stream(device: Any = None) -> Stream:
    """Default stream of a device (default: the current device), current outside ``stream``.

    Example:
        >>> if tt.cuda.is_available():
        ...     stream = tt.cuda.default_stream()
    """
    index = index_of_device(device)
    return Stream(index, _raw=backend().at(index).cuda.Stream.null)


def set_stream(stream: Stream | None) -> None:
    """Make ``stream`` and its device the calling thread's current ones; None does nothing.

    Example:
        >>> if tt.cuda.is_available():
        ...     tt.cuda.set_stream(tt.cuda.current_stream())
    """
    if stream is not None:
        set_device(stream.device)
        stream._raw.use()


class Event:
    """Point in a stream's work, to wait for or to measure time with.

    Args:
        enable_timing: Whether ``elapsed_time`` is supported; default False.
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
        self._raw: Any = None  # created on the device of the first stream that records it
        backend()

    def record(self, stream: Stream | None = None) -> None:
        """Record the event in a stream (default: the current stream)."""
        stream = current_stream() if stream is None else stream
        raw = stream._activate_device()
        if self._raw is None:
            self._raw = backend().cuda.Event(**self._options)
        self._raw.record(raw)

    def synchronize(self) -> None:
        """Wait until the work before the event is done."""
        if self._raw is not None:
            self._raw.synchronize()

    def query(self) -> bool:
        """Whether the work before the event is done; True for an event that is not recorded.

        Example:
            >>> if tt.cuda.is_available():
            ...     event = tt.cuda.current_stream().record_event()
            ...     event.synchronize()
            ...     assert event.query()
        """
        return self._raw is None or bool(self._raw.done)

    def wait(self, stream: Stream | None = None) -> None:
        """Make a stream (default: the current stream) wait for the event.

        Example:
            >>> if tt.cuda.is_available():
            ...     event = tt.cuda.current_stream().record_event()
            ...     event.wait(tt.cuda.Stream())
        """
        (current_stream() if stream is None else stream).wait_event(self)

    def elapsed_time(self, end_event: Event) -> float:
        """Number of milliseconds from this event to ``end_event``.

        Raises:
            ValueError: If an event was created without ``enable_timing=True`` or is not recorded.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._raw is None or end_event._raw is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return float(backend().cuda.get_elapsed_time(self._raw, end_event._raw))


def is_current_stream_capturing() -> bool:
    """Whether CuPy is capturing the current stream for a CUDA graph; False without a device.

    Example:
        >>> tt.cuda.is_current_stream_capturing()
        False
    """
    return loaded("cupy") is not None and bool(current_stream()._raw.is_capturing())
