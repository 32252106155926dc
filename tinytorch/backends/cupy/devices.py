"""Devices of the CuPy backend: the current GPU of a thread, and copies between GPUs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Self

import numpy

from ..base import Array, Backend
from .errors import refuse_after_fork

_Host = numpy.ndarray[Any, Any]


class _Choice(threading.local):
    """A thread's device.

    Attributes:
        chosen: Index that the thread has chosen, through this package or through CuPy.
        made: Index that this class made current last. If another device is current, the program
            has chosen it through CuPy.
    """

    chosen = 0
    made = 0


class CudaDevices(Backend):
    """Backend with one object per GPU if there are several.

    The object registered under the backend's name represents the device that the thread has
    chosen (``tt.cuda.set_device``). Tensors belong to the objects that ``at`` returns.
    """

    #: The module ``cupyx``: CuPy's functions beyond NumPy's.
    extras: Any
    #: Index of the device; None for the object that represents the thread's device.
    ordinal: int | None = None
    _home: Any

    def __init__(self) -> None:
        super().__init__()
        self._home = self
        self._of_device: dict[int, Self] = {}
        self._lock = threading.Lock()
        self._choice = _Choice()
        self._held: list[tuple[Any, _Host]] = []

    def look_for_devices(self) -> None:
        """Set ``several``, and call the hooks ``when_several``, if there are several devices.

        The library must be open.
        """
        if self.library.cuda.runtime.getDeviceCount() > 1:
            self.several = True
            for hook in self.when_several:
                hook()

    def __reduce__(self) -> tuple[Callable[..., Backend], tuple[Any, ...]]:
        if self.ordinal is None:
            return super().__reduce__()
        return _backend_at, (self.name, self.ordinal)

    # -- the thread's device ----------------------------------------------------------------

    def chosen_device(self) -> int:
        """Return the index of the device that the calling thread has chosen."""
        choice, real = self._choice, int(self.library.cuda.runtime.getDevice())
        if real != choice.made or not self.several:
            choice.chosen = choice.made = real
        return choice.chosen

    def choose(self, number: int) -> None:
        """Choose a device for the calling thread and make it current."""
        self._check(number)
        self.library.cuda.runtime.setDevice(number)
        self._choice.chosen = self._choice.made = number

    def _check(self, index: int) -> None:
        """Raise RuntimeError unless there is a device ``index``."""
        count = int(self.library.cuda.runtime.getDeviceCount())
        if not 0 <= index < count:
            raise RuntimeError(
                f"CUDA error: invalid device ordinal: there is no {self.device_type}:{index}, "
                f"only {', '.join(self.devices())}"
            )

    def here(self) -> Self:
        """Make the device of this object current and return the object.

        The registered object, which has no device of its own, returns that of the thread's device.
        """
        if not self.several:
            return self
        if self.ordinal is None:
            return self._object_of(self.chosen_device()).here()
        runtime, choice = self.library.cuda.runtime, self._choice
        real = runtime.getDevice()
        if real != choice.made:  # the program has chosen a device through CuPy
            choice.chosen = real
        if real != self.ordinal:
            runtime.setDevice(self.ordinal)
        choice.made = self.ordinal
        return self

    def at(self, index: int | None) -> Self:
        if index is None:
            home: Self = self._home.here()
            return home
        self._check(index)
        return self._object_of(index).here()

    def _object_of(self, index: int) -> Self:
        """Return the backend object of device ``index``, which is created on first use."""
        if not self.several:
            return self
        found: Self | None = self._of_device.get(index)
        if found is None:
            with self._lock:
                found = self._of_device.setdefault(index, self._twin(index))
        return found

    def _twin(self, index: int) -> Self:
        """Create the object of one device, without pending checks or copies."""
        twin = object.__new__(type(self))
        shared = {name: vars(self)[name] for name in self._SHARED if name in vars(self)}
        vars(twin).update(shared, ordinal=index)
        twin._start_empty()
        refuse_after_fork(twin)
        return twin

    _SHARED = (
        "name", "device_type", "library", "extras", "array_type", "immediate", "several",
        "_home", "_of_device", "_lock", "_choice",
    )  # fmt: skip

    def _start_empty(self) -> None:
        """Initialize the state that the objects of several devices do not share."""
        self._held = []

    def holding(self, array: Array) -> Self:
        return self.at(int(array.device.id)) if self.several else self

    def in_use(self) -> list[Self]:
        return list(self._of_device.values()) if self.several else [self]

    def device_index(self, array: Array) -> int | None:
        return int(array.device.id) if self.several else 0

    def devices(self) -> list[str]:
        count = self.library.cuda.runtime.getDeviceCount()
        return [f"{self.device_type}:{index}" for index in range(count)]

    # -- transfers ---------------------------------------------------------------------------

    def receive(self, array: Array, source: Any, non_blocking: bool = False) -> Array:
        """Copy an array of another device or of the host to this device. See ``Placement``."""
        if isinstance(source, CudaDevices) and source.library is self.library:
            return self._from_device(array, source)
        host: _Host = source.to_numpy(array)
        self.here()
        pinned = self.is_pinned_host(host)
        if not (non_blocking and pinned and host.flags.c_contiguous):
            # CuPy does not wait for a copy from pinned memory, which the program may overwrite.
            # From other memory it copies before it returns.
            return self.library.asarray(host, blocking=pinned)
        out = self.library.empty(host.shape, host.dtype)
        stream = self.library.cuda.get_current_stream()
        out.set(host, stream=stream)
        self._hold(host)
        return out

    def download(self, array: Array, non_blocking: bool = False) -> _Host:
        """Copy an array to the host, with ``non_blocking`` to pinned memory without waiting."""
        if not (non_blocking and array.size):
            return self.to_numpy(array)
        host: _Host = self.extras.empty_pinned(array.shape, array.dtype)
        stream = self.library.cuda.get_current_stream()
        array.get(stream=stream, out=host, blocking=False)
        self._hold(host)  # the memory must not be reused before the copy is done
        return host

    def _from_device(self, array: Array, source: Any) -> Array:
        """Copy an array of another GPU, in the order of both GPUs' streams."""
        source.here()
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            array = array.copy()  # CuPy copies no array with gaps to another device
        theirs, ready = self.library.cuda.get_current_stream(), source._mark()
        self.here()
        self.library.cuda.get_current_stream().wait_event(ready)
        out = self.library.array(array)  # a copy on the current device
        done = self._mark()
        source.here()
        theirs.wait_event(done)  # the memory of the source may be reused only after the copy
        self.here()
        return out

    def _mark(self) -> Any:
        """Record an event in the current stream of the current device."""
        event = self.library.cuda.Event(disable_timing=True)
        event.record()
        return event

    def _hold(self, host: _Host) -> None:
        """Keep ``host`` alive until the last copy in the stream is done."""
        done = self._mark()
        self.let_go()
        with self._lock:
            self._held.append((done, host))

    def let_go(self) -> None:
        """Release host memory that no pending copy uses."""
        if self._held:
            with self._lock:
                self._held = [pair for pair in self._held if not pair[0].done]

    # -- pinned host memory ------------------------------------------------------------------

    def pinned(self, array: Array) -> Array:
        raise RuntimeError(
            f"cannot pin an array on {self.device_type}: only dense CPU tensors can be pinned"
        )

    def is_pinned(self, array: Array) -> bool:
        return False

    def pinned_copy(self, host: _Host) -> _Host:
        """Copy a host array to pinned memory."""
        if not host.size:
            return host.copy()
        for xp in self.in_use():
            xp.let_go()  # so that its memory can be reused
        copy: _Host = self.extras.empty_pinned(host.shape, host.dtype)
        copy[...] = host
        return copy

    def is_pinned_host(self, host: _Host) -> bool:
        """Whether a host array is in pinned memory."""
        runtime = self.library.cuda.runtime
        if not host.size:
            return False
        return bool(runtime.pointerGetAttributes(host.ctypes.data).type == runtime.memoryTypeHost)


def _backend_at(name: str, number: int) -> Backend:
    """Unpickle the backend object of device ``number``."""
    from .. import load

    return load(name).at(number)
