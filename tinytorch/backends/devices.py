"""Devices of a backend, and transfers between devices, backends and processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy

from .errors import BackendUnavailableError

#: Raw array of the library that the backend wraps.
Array: TypeAlias = Any
_Host = numpy.ndarray[Any, Any]


class Registry(Protocol):
    """Functions of the registry that backends call. The registry imports this module."""

    def load(self, backend: str) -> Any:
        """Return the backend registered under a name."""

    def loaded(self, name: str) -> Any:
        """Return that backend if it has been loaded, or None."""


class Placement:
    """Part of ``Backend`` that handles devices. The defaults are those of a single device.

    A library with several devices works on the one that is current in the calling thread. Such a
    backend has one object per device (``at``). Reading the backend of a tensor or of the state
    makes its device current. An operation therefore runs where its inputs are, and inputs on two
    devices belong to two backends.

    Attributes:
        several: Whether there are several devices; if not, ``here`` does nothing.
        can_be_shared: Whether arrays can be moved to memory that processes share.
    """

    #: Mark of the classes of backends, whose methods are not wrapped for short tracebacks.
    called_by_kernels: ClassVar[bool] = True
    several: bool = False
    can_be_shared: ClassVar[bool] = False
    #: Functions to call when the first backend with several devices is created.
    when_several: ClassVar[list[Callable[[], None]]] = []

    #: The module ``backends``, which sets this attribute.
    registry: ClassVar[Registry]
    device_type: str
    to_numpy: Callable[[Any], numpy.ndarray[Any, Any]]
    from_numpy: Callable[[numpy.ndarray[Any, Any]], Any]

    def here(self) -> Self:
        """Make the device current in the calling thread and return the backend."""
        return self

    def at(self, index: int | None) -> Self:
        """Make device ``index`` current (None: the thread's) and return its backend.

        Raises:
            RuntimeError: If there is no such device.
        """
        if index:
            raise RuntimeError(
                f"{self.device_type.upper()} device index must be -1 or zero, got {index}"
            )
        return self

    def on_device(self, device_type: str) -> Self | None:
        """Return the backend of this library's devices of a type.

        While this backend is active, ``tt.device(device_type)`` then means that device.

        Returns:
            The backend; None if ``device_type`` means the same as on NumPy: the CPU is NumPy's
            and CUDA CuPy's.
        """
        return None

    def holding(self, array: Any) -> Self:
        """Return the backend of the device that holds ``array``, an array of this library."""
        return self

    def in_use(self) -> list[Self]:
        """Backends of the devices used so far."""
        return [self]

    # -- transfers --------------------------------------------------------------------------

    def receive(self, array: Any, source: Any, non_blocking: bool = False) -> Any:
        """Copy an array of another backend or device to this one.

        Args:
            array: An array of ``source``.
            source: Its backend.
            non_blocking: Whether the call may return before the copy is done. The host must then
                wait for the source device before it reads the copy.
        """
        return self.from_numpy(source.download(array, non_blocking))

    def download(self, array: Any, non_blocking: bool = False) -> _Host:
        """Copy ``array`` to the host; with ``non_blocking`` the copy may be unfinished."""
        return self.to_numpy(array)

    def pinned(self, array: Any) -> Any:
        """Copy a host array to pinned memory, which a GPU reads and writes directly.

        Raises:
            RuntimeError: If there is no GPU, or the array is not on the host.
        """
        try:
            accelerator: Any = self.registry.load("cupy")
        except BackendUnavailableError as error:
            raise RuntimeError(
                f"Cannot access accelerator device when none is available: {error}"
            ) from error
        return accelerator.pinned_copy(array)

    def is_pinned(self, array: Any) -> bool:
        """Whether ``array`` lies in pinned host memory."""
        # Only the accelerator's backend pins memory, so no memory is pinned before it is loaded.
        accelerator: Any = self.registry.loaded("cupy")
        return accelerator is not None and accelerator.is_pinned_host(array)

    # -- among processes --------------------------------------------------------------------

    def is_shared(self, array: Any) -> bool:
        """Whether the memory of ``array`` can be shared with other processes."""
        return self.device_type == "cuda"

    def move_to_shared(self, array: Any) -> Callable[[Any], Any]:
        """Copy the memory block of ``array`` to memory that processes share.

        Returns:
            Function that maps a view of the former memory to the same view of the shared memory.

        Raises:
            NotImplementedError: If this library's memory cannot be shared.
        """
        raise NotImplementedError(
            f"share_memory_: arrays of the backend {self} cannot be shared among processes"
        )
