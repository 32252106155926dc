"""``torch._utils``: flattening of tensors, rebuilding from storages, errors of workers."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from .. import cuda
from ..core.device import device as as_device
from ..core.tensor import Tensor
from ..nn.parameter import Parameter
from ..ops.create.factories import empty
from ..ops.shape.joining import cat

__all__ = [
    "ExceptionWrapper", "KeyErrorMessage", "_element_size", "_flatten_dense_tensors",
    "_get_all_device_indices", "_get_available_device_type", "_get_device_index",
    "_import_dotted_name", "_rebuild_parameter", "_rebuild_tensor", "_rebuild_tensor_v2",
    "_unflatten_dense_tensors",
]  # fmt: skip


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate the elements of several tensors of one dtype, ``(n,)``.

    Args:
        tensors: The tensors.

    Example:
        >>> from tinytorch._utils import _flatten_dense_tensors
        >>> _flatten_dense_tensors([tt.zeros(2), tt.ones(1, 1)])
        tensor([0., 0., 1.])
    """
    return cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    """Return views of a flat tensor with the shapes of others, the inverse of flattening them.

    Args:
        flat: The flat tensor, ``(n,)``.
        tensors: Tensors of the shapes.

    Example:
        >>> from tinytorch._utils import _unflatten_dense_tensors
        >>> parts = _unflatten_dense_tensors(tt.arange(3), [tt.zeros(2), tt.ones(1, 1)])
        >>> [part.tolist() for part in parts]
        [[0, 1], [[2]]]
    """
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.reshape(tensor.shape) for part, tensor in zip(parts, tensors, strict=True))


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """Return the tensor of this shape and these strides in a storage.

    Args:
        storage: A result of ``Tensor.storage``.
        storage_offset: The offset of the first element.
        size: The shape.
        stride: The strides.

    Example:
        >>> from tinytorch._utils import _rebuild_tensor
        >>> storage = tt.storage.TypedStorage(wrap_storage=tt.arange(4).untyped_storage(),
        ...                                   dtype=tt.int64, _internal=True)
        >>> _rebuild_tensor(storage, 1, (3,), (1,))
        tensor([1, 2, 3])
    """
    made = empty(0, dtype=storage.dtype, device=storage.device)
    return made.set_(storage._untyped_storage, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool,
    backward_hooks: Any, metadata: Any = None,
) -> Tensor:  # fmt: skip
    """Return the tensor of this shape and these strides in a storage, for pickles of tensors.

    Args:
        storage: A result of ``Tensor.storage``.
        storage_offset: The offset of the first element.
        size: The shape.
        stride: The strides.
        requires_grad: Whether it requires grad.
        backward_hooks: Its hooks; empty or None.
        metadata: Not used: the conj and neg bits of the tensor.

    Example:
        >>> from tinytorch._utils import _rebuild_tensor_v2
        >>> storage = tt.storage.TypedStorage(wrap_storage=tt.ones(2).untyped_storage(),
        ...                                   dtype=tt.float32, _internal=True)
        >>> _rebuild_tensor_v2(storage, 0, (2,), (1,), True, None)
        tensor([1., 1.], requires_grad=True)
    """
    if backward_hooks:
        raise NotImplementedError("_rebuild_tensor_v2: hooks of tensors are not rebuilt")
    made = _rebuild_tensor(storage, storage_offset, size, stride)
    return made.requires_grad_(requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """Return a parameter, for pickles of parameters.

    Args:
        data: Its tensor.
        requires_grad: Whether it requires grad.
        backward_hooks: Its hooks; empty or None.

    Example:
        >>> from tinytorch._utils import _rebuild_parameter
        >>> _rebuild_parameter(tt.ones(1), False, None).requires_grad
        False
    """
    if backward_hooks:
        raise NotImplementedError("_rebuild_parameter: hooks of tensors are not rebuilt")
    return Parameter(data, requires_grad)


def _element_size(dtype: Any) -> int:
    """Number of bytes of an element of a dtype.

    Args:
        dtype: The dtype.

    Example:
        >>> from tinytorch._utils import _element_size
        >>> _element_size(tt.float64)
        8
    """
    return int(dtype.itemsize)


def _import_dotted_name(name: str) -> Any:
    """Return the object at the end of a dotted path from a module.

    Args:
        name: The path.

    Example:
        >>> from tinytorch._utils import _import_dotted_name
        >>> _import_dotted_name("math.pi")
        3.141592653589793
    """
    first, *rest = name.split(".")
    found: Any = import_module(first)
    for part in rest:
        found = getattr(found, part)
    return found


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Number of a device; -1 for the CPU, if it is allowed.

    Args:
        device: A device, its name, its number, or None.
        optional: Whether None, or a device without a number, means the present device.
        allow_cpu: Whether the CPU is accepted.

    Raises:
        ValueError: If there is no number.

    Example:
        >>> from tinytorch._utils import _get_device_index
        >>> _get_device_index("cuda:1"), _get_device_index("cpu", allow_cpu=True)
        (1, -1)
    """
    if isinstance(device, int):
        return device
    place = None if device is None else as_device(device)
    if place is not None and place.type == "cpu":
        if not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        return -1
    index = None if place is None else place.index
    if index is None and not optional:
        raise ValueError(f"Expected a device with a specified index or an integer, got {device!r}")
    return cuda.current_device() if index is None else index


def _get_all_device_indices() -> list[int]:
    """Numbers of the GPUs.

    Example:
        >>> from tinytorch._utils import _get_all_device_indices
        >>> len(_get_all_device_indices()) == tt.cuda.device_count()
        True
    """
    return list(range(cuda.device_count()))


def _get_available_device_type() -> str | None:
    """``"cuda"`` if there is a GPU, else None.

    Example:
        >>> from tinytorch._utils import _get_available_device_type
        >>> _get_available_device_type() == ("cuda" if tt.cuda.is_available() else None)
        True
    """
    return "cuda" if cuda.is_available() else None


class KeyErrorMessage(str):
    """Text of a KeyError, which shows texts by their ``repr``, shown as it is."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """Exception and its traceback, to be raised on another thread or in another process.

    Args:
        exc_info: As ``sys.exc_info`` returns it. Default: the exception that is handled.
        where: The place, for the text of the error that is raised.

    Example:
        >>> from tinytorch._utils import ExceptionWrapper
        >>> try:
        ...     1 / 0
        ... except ZeroDivisionError:
        ...     wrapped = ExceptionWrapper(where="in worker 1")
        >>> wrapped.exc_type.__name__, wrapped.where
        ('ZeroDivisionError', 'in worker 1')
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        # The exception itself is not held: its frames hold this object.
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg: str = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class, with the place and the traceback in its text."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:  # its class takes other arguments
            raise RuntimeError(text) from None
        raise error
