"""Where a backend's arrays live: its devices, and the ways from one place to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy

from .errors import BackendUnavailableError

#: A raw array of whatever library the backend wraps.
Array: TypeAlias = Any
_Host = numpy.ndarray[Any, Any]


class Registry(Protocol):
    """What backends need of the registry, which stands above them."""

    def load(self, backend: str) -> Any:
        """The backend of a name."""

    def loaded(self, name: str) -> Any:
        """The same, if it has been loaded, or None."""


class Placement:
    """The part of ``Backend`` that knows devices; these defaults are those of a single one.

    A library with several devices works on the one that is current in the calling thread. Such a
    backend is one object per device (``at``), and whoever is handed one, by a tensor or by the
    state, finds its device current. So an operation runs where its inputs are, and inputs on two
    devices are on two backends.

    Attributes:
        several: Whether there are several devices, so that ``here`` has something to do.
        can_be_shared: Whether arrays can be moved to memory that processes share.
    """

    several: bool = False
    can_be_shared: ClassVar[bool] = False
    #: What the layers above do once there is a backend of several devices.
    when_several: ClassVar[list[Callable[[], None]]] = []

    #: The module ``backends``, which hands itself over.
    registry: ClassVar[Registry]
    device_type: str
    to_numpy: Callable[[Any], numpy.ndarray[Any, Any]]
    from_numpy: Callable[[numpy.ndarray[Any, Any]], Any]

    def here(self) -> Self:
        """The backend, with its device current in the calling thread."""
        return self

    def at(self, index: int | None) -> Self:
        """The backend of device number ``index`` (None: the thread's), its device current.

        Raises:
            RuntimeError: If there is no such device.
        """
        if index:
            raise RuntimeError(
                f"{self.device_type.upper()} device index must be -1 or zero, got {index}"
            )
        return self

    def holding(self, array: Any) -> Self:
        """The backend of the device that holds ``array``, an array of this library."""
        return self

    def in_use(self) -> list[Self]:
        """The backends of the devices in use so far."""
        return [self]

    # -- from one place to another ----------------------------------------------------------

    def receive(self, array: Any, source: Any, non_blocking: bool = False) -> Any:
        """A copy, here, of an array of another backend or device.

        Args:
            array: An array of ``source``.
            source: Its backend.
            non_blocking: Whether the host may go on before the copy is done; then it may read
                what has come from a device only after waiting for that.
        """
        return self.from_numpy(source.download(array, non_blocking))

    def download(self, array: Any, non_blocking: bool = False) -> _Host:
        """A copy of ``array`` on the host; ``non_blocking``: perhaps still on its way."""
        return self.to_numpy(array)

    def pinned(self, array: Any) -> Any:
        """A copy of a host array in memory that a GPU reads and writes by itself.

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
        # Nobody pins memory but the accelerator's backend, so one not loaded has pinned none.
        accelerator: Any = self.registry.loaded("cupy")
        return accelerator is not None and accelerator.is_pinned_host(array)

    # -- among processes --------------------------------------------------------------------

    def is_shared(self, array: Any) -> bool:
        """Whether other processes can be given the memory of ``array``, a GPU's for example."""
        return self.device_type == "cuda"

    def move_to_shared(self, array: Any) -> Callable[[Any], Any]:
        """Copy the memory that ``array`` is a part of to where processes share it.

        Returns:
            A function from an array on the memory as it was to the same one there.

        Raises:
            NotImplementedError: If this library's memory cannot be shared.
        """
        raise NotImplementedError(
            f"share_memory_: arrays of the backend {self} cannot be shared among processes"
        )
