"""Function forms of tensor methods, ``from_dlpack``, and some old methods."""

from __future__ import annotations

from typing import Any

from ... import backends, dtypes
from ...core import dlpack
from ...core.tensor import Size, Tensor, wrap
from ...dispatch.creation import backend_for, backend_of_device, make_from_legacy_arguments
from ...dispatch.op import OPS, composite
from ..pointwise.arithmetic import sub

#: Device types with a backend, by DLPack's numbers: https://dmlc.github.io/dlpack/
_DLPACK_DEVICES = {1: "cpu", 2: "cuda", 3: "cpu", 13: "cuda"}


@composite
def numel(input: Tensor) -> int:
    """The number of elements.

    Example:
        >>> tt.numel(tt.ones(2, 3))
        6
    """
    return input.numel()


@composite
def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex numbers.

    Example:
        >>> tt.is_complex(tt.tensor([1j]))
        True
    """
    return input.is_complex()


@composite
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are real floating-point numbers.

    Example:
        >>> tt.is_floating_point(tt.tensor([1, 2]))
        False
    """
    return input.is_floating_point()


@composite
def is_signed(input: Tensor) -> bool:
    """Whether the elements can be negative.

    Example:
        >>> tt.is_signed(tt.tensor([True]))
        False
    """
    return input.is_signed()


@composite
def get_device(input: Tensor) -> int:
    """The index of the device; -1 for the CPU.

    Example:
        >>> tt.get_device(tt.ones(1, device="cpu"))
        -1
    """
    return input.get_device()


@composite(elementwise=True)
def detach(input: Tensor) -> Tensor:
    """View of ``input`` that is detached from the graph.

    Example:
        >>> tt.detach(tt.ones(2, requires_grad=True))
        tensor([1., 1.])
    """
    return input.detach()


@composite
def detach_(input: Tensor) -> Tensor:
    """Detach ``input`` from the graph in place.

    Raises:
        RuntimeError: If ``input`` is a view.

    Example:
        >>> x = tt.ones(2, requires_grad=True) * 2
        >>> tt.detach_(x)
        tensor([2., 2.])
    """
    return input.detach_()


@composite(node="RsubBackward1", elementwise=True)
def rsub(input: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """``other - alpha * input``, element by element.

    Args:
        input: Tensor of any shape.
        other: Tensor or number.
        alpha: Factor of ``input``; default 1.

    Returns:
        Tensor of the broadcast shape and torch's promoted dtype.

    Example:
        >>> tt.rsub(tt.tensor([1.0, 2.0]), 5, alpha=2)
        tensor([3., 1.])
    """
    if not isinstance(input, Tensor):
        raise TypeError("rsub(): input must be a Tensor")  # re-raised with the position
    return sub(other, input, alpha=alpha)


@composite(namespaces=("Tensor",))
def new(input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """Create a tensor with the dtype and device of ``input``, uninitialized or from data.

    Prefer ``new_empty`` and ``new_tensor``.

    Args:
        input: Tensor.
        *args: Sizes, a Size, a sequence of numbers, or a tensor or storage of the same dtype,
            whose memory the result shares.
        size: The sizes, as a keyword.

    Raises:
        TypeError: For other arguments.

    Example:
        >>> tt.ones(1, dtype=tt.int64).new([1.5, 2]), tt.ones(1).new(2, 3).shape
        (tensor([1, 2]), tinytorch.Size([2, 3]))
    """
    if size is not None and not args:
        args = (Size(size),)
    return make_from_legacy_arguments(input._xp, input.dtype, *args)


@composite(namespaces=("Tensor",))
def as_subclass(input: Tensor, cls: type[Tensor]) -> Tensor:
    """View of ``input`` as a tensor of a subclass; gradients flow through it.

    Args:
        input: Tensor.
        cls: Tensor or a subclass of it.

    Raises:
        TypeError: If ``cls`` is not a subclass of Tensor.

    Example:
        >>> class Mine(tt.Tensor):
        ...     pass
        >>> type(tt.ones(2).as_subclass(Mine)).__name__
        'Mine'
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "as_subclass(): Creating a Tensor subclass from a class that does not inherit from "
            f"Tensor is not possible. Make sure your class inherits from Tensor, got {cls!r}"
        )
    out: Any = OPS["_getitem"].function(input, ...)
    out.__class__ = cls
    return out  # type: ignore[no-any-return]


@composite
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Create a tensor that shares the memory of another library's tensor, by DLPack.

    Args:
        ext_tensor: An object with ``__dlpack__`` and ``__dlpack_device__``, or a capsule, which
            can be consumed only once.
        device: Device of the tensor; default the device of the memory.
        copy: Whether to copy. None, the default, copies only if ``device`` requires it.

    Raises:
        TypeError: If ``ext_tensor`` is neither.
        BufferError, RuntimeError: If the memory is on a device without a backend, or if
            ``copy=False`` and ``device`` is another device.

    Example:
        >>> import numpy as np
        >>> array = np.zeros(2)
        >>> x = tt.from_dlpack(array)
        >>> array[0] = 1
        >>> x
        tensor([1., 0.], dtype=tinytorch.float64)
    """
    shared = _import_dlpack(ext_tensor)
    there = shared if device is None else shared.to(device)
    if there is shared:
        return shared.clone() if copy else shared
    if copy is False:
        raise BufferError(
            f"from_dlpack(): memory on {shared.device} cannot be used on {there.device} without "
            "a copy, got copy=False"
        )
    return there


def _import_dlpack(source: Any) -> Tensor:
    """Tensor on the memory of a DLPack object or capsule."""
    if isinstance(source, Tensor):
        return source.detach()
    active = backend_for()
    own = active.adopt(source)
    if own is not source:  # an array of the active backend's library
        return wrap(own, active)
    if type(source).__name__ == "PyCapsule":
        source = _CapsuleSource(source)
    if not hasattr(source, "__dlpack__"):
        raise TypeError(
            "from_dlpack(): expected an object with __dlpack__ and __dlpack_device__, or a "
            f"capsule, got {type(source).__name__}"
        )
    kind, number = source.__dlpack_device__()
    device_type = _DLPACK_DEVICES.get(int(kind))
    if device_type is None:
        raise BufferError(f"from_dlpack(): no backend has devices of DLPack's type {int(kind)}")
    if device_type == "cuda":
        xp = backend_of_device(f"cuda:{number}")
        return wrap(xp.library.from_dlpack(source), xp)
    xp = backend_of_device("cpu")
    library = backends.load("numpy").library
    is_bare = isinstance(source, _CapsuleSource)
    capsule = source if is_bare else _CapsuleSource(_request_capsule(source))
    name = dlpack.read_as_unsigned(capsule.capsule)
    array = library.from_dlpack(capsule)
    if is_bare:  # a capsule without a version has no read-only flag
        array = library.asarray(_WritableArray(array))
    return wrap(xp.from_numpy(array if name is None else array.view(dtypes.NAMES[name].dtype)), xp)


def _request_capsule(source: Any) -> Any:
    """Request the capsule of an object, in the newest version that it supports."""
    try:
        return source.__dlpack__(max_version=(1, 0))
    except TypeError:  # written before DLPack had versions
        return source.__dlpack__()


class _WritableArray:
    """Writable alias of a read-only array's memory; holds a reference to the array."""

    def __init__(self, array: Any) -> None:
        self.array = array
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


class _CapsuleSource:
    """Adapter that gives a bare capsule the methods of the DLPack protocol."""

    def __init__(self, capsule: Any) -> None:
        if '"dltensor' not in repr(capsule):
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be "
                "consumed only once, so you might have already constructed a tensor from it once."
            )
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.capsule_device(self.capsule)
