"""Devices: ``cpu`` is the NumPy backend, ``cuda:N`` is CuPy's device N."""

from __future__ import annotations

from typing import Any

from ..backends import (
    Backend,
    BackendLike,
    UnknownBackendError,
    list_backends,
    load,
    find_backend_of_type,
)
from ..state import (
    Scope,
    Settings,
    backend_settings,
    current_backend,
    reset_backend,
    set_backend,
)

#: Types of devices that PyTorch has names for, whether there is a backend for them or not.
_KINDS = frozenset(
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone".split()
)


def _parse(text: str, index: int | None) -> tuple[str, int | None]:
    """Split the text of a device, such as ``"cuda:1"``, into its type and number.

    Args:
        text: The text.
        index: The number, if it was passed separately.

    Raises:
        RuntimeError: For an invalid text, an unknown type, or two numbers.
    """
    kind, colon, number = text.partition(":")
    if not text:
        raise RuntimeError("Device string must not be empty")
    if colon:
        if index is not None:
            raise RuntimeError(
                "type (string) must not include an index because index was passed explicitly: "
                + text
            )
        if not number.isdecimal() or str(int(number)) != number:
            raise RuntimeError(f"Invalid device string: '{text}'")
        index = int(number)
    if not kind.isidentifier():
        raise RuntimeError(f"Invalid device string: '{text}'")
    if kind not in _KINDS and kind not in list_backends() and kind not in _kinds_of(Backend):
        raise unknown_kind_error(kind)
    return kind, index


def unknown_kind_error(kind: str) -> RuntimeError:
    """Error for a device type without a backend."""
    known = "cpu", "cuda", "meta", *list_backends(), *sorted(_kinds_of(Backend))
    kinds = ", ".join(dict.fromkeys(known))
    return RuntimeError(f"Expected one of {kinds} device type at start of device string: {kind}")


def _kinds_of(cls: type[Backend]) -> set[str]:
    """Device types of all subclasses of ``Backend``, registered or not."""
    own = vars(cls).get("device_type")
    kinds = {own} if isinstance(own, str) else set()  # a property depends on the instance
    return kinds.union(*map(_kinds_of, cls.__subclasses__()))


class device(Scope):
    """Device of tensors; as a context manager, the device on which new tensors are created.

    Args:
        type: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, a device, or a device's number.
        index: The number, if ``type`` does not hold it.
        device: The same as ``type`` alone.

    Raises:
        RuntimeError: If the text does not name a device, or the number is negative.
        TypeError: If ``type`` is none of the above, or ``index`` is not an int.

    Example:
        >>> tt.device("cpu")
        device(type='cpu')
    """

    __slots__ = ("type", "index")

    def __init__(
        self,
        type: str | int | device | None = None,
        index: int | None = None,
        *,
        device: str | int | device | None = None,
    ) -> None:
        if device is not None:
            if type is not None or index is not None:
                raise TypeError("device() got an unexpected keyword argument 'device'")
            type = device
        if isinstance(type, _Device) and index is None:
            index = type.index
            type = type.type
        elif isinstance(type, int) and not isinstance(type, bool) and index is None:
            index = type
            type = "cuda"
        elif not isinstance(type, str):
            raise TypeError(
                "device(): argument 'type' (position 1) must be str"
                f"{', int or device' if index is None else ''}, not {type.__class__.__name__}"
            )
        if index is not None and not isinstance(index, int):
            raise TypeError(
                "device(): argument 'index' (position 2) must be int, not "
                + index.__class__.__name__
            )
        type, index = _parse(type, index)
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        super().__init__()
        self.type: str = type
        self.index: int | None = index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, tuple[str, int | None]]:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        super().__enter__()
        return self

    def _settings(self) -> Settings:
        name = backend_of_type(self.type)
        try:
            return backend_settings(name if self.index is None else load(name).at(self.index))
        except UnknownBackendError:
            raise unknown_kind_error(self.type) from None


#: Device types whose backend has another name.
_BACKEND_OF_TYPE = {"cpu": "numpy", "cuda": "cupy"}


def backend_of_type(device_type: str) -> BackendLike:
    """Return the backend, or its name, whose arrays are on devices of this type.

    The active backend comes first: a library may have a CPU and a GPU of its own.
    """
    active = current_backend()
    if active.recorded is not None and device_type == active.device_type:
        return active
    own = active.on_device(device_type)
    if own is not None:
        return own
    return _BACKEND_OF_TYPE.get(device_type) or find_backend_of_type(device_type)


def backend_of_device(where: Any) -> Backend:
    """Return the backend whose arrays are on a device; RuntimeError for an unknown device."""
    if where.__class__ is str and where in _BACKEND_OF_TYPE:
        return load(backend_of_type(where)).at(None)
    found = where if where.__class__ is _Device else _Device(where)
    try:
        return load(backend_of_type(found.type)).at(found.index)
    except UnknownBackendError:
        raise unknown_kind_error(found.type) from None


def backend_for(where: Any = None, backend: Any = None) -> Backend:
    """Return the backend of a creation call: its argument's, its device's, or the active one."""
    if backend is not None:
        return load(backend).here()
    return current_backend() if where is None else backend_of_device(where)


def set_default_device(device: Any) -> None:
    """Set the device on which this thread creates tensors: ``set_backend`` by a device's name.

    Args:
        device: ``"cpu"``, ``"cuda:1"``, a device, a device's number; None to follow the default
            of the process again.

    Raises:
        RuntimeError: If there is no such device; nothing has changed then.
        BackendUnavailableError: If it cannot be used here.

    Example:
        >>> tt.set_default_device("cpu")
        >>> tt.set_default_device(None)
    """
    if device is None:
        reset_backend()
        return
    place = _Device(device)
    name = backend_of_type(place.type)
    try:
        backend = load(name)
    except UnknownBackendError:
        raise unknown_kind_error(place.type) from None
    set_backend(backend if place.index is None else backend.at(place.index))


def get_default_device() -> device:
    """Return the device on which this thread and task creates tensors.

    Example:
        >>> tt.get_default_device()
        device(type='cpu')
    """
    backend = current_backend()
    return device(backend.device_type, backend.device_index(backend.library.empty(0)))


_Device = device
for _function in (get_default_device, set_default_device):
    _function.__module__ = "tinytorch"
