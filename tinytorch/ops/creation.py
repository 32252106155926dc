"""Making tensors: from data, filled, ranges, identity."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from .._convert import convert_sequence
from .._creation import creation
from .._op import Array, Backend, Shape, composite
from .._tensor import Tensor, wrap


@creation
def zeros(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """A tensor of zeros.

    Args:
        size: The shape, as a sequence or as ints one by one.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    return xp.zeros(size, dtype)


@creation
def ones(xp: Backend, size: Shape, *, dtype: Any = None) -> Array:
    """A tensor of ones.

    Args:
        size: The shape, as a sequence or as ints one by one.
        dtype: Default: the default dtype.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(3)
        tensor([1., 1., 1.])
    """
    return xp.ones(size, dtype)


@composite(method=False)
def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    backend: Any = None,
) -> Tensor:
    """A new tensor with a copy of ``data``.

    Args:
        data: A number, nested sequences of numbers or tensors, an array, or a tensor.
        dtype: Default: the array's own; the default dtype for Python floats, int64 for
            ints, bool for bools.
        device: Where; default the active backend.
        requires_grad: Whether it is a leaf whose gradient is wanted.
        pin_memory: Accepted for compatibility.
        backend: A backend or its name; overrides the active one.

    Raises:
        ValueError: If nested sequences are ragged.

    Example:
        >>> import tinytorch as tt
        >>> tt.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    from .._creation import backend_for

    xp = backend_for(device, backend)
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    out = wrap(_array_of(data, xp, wanted), xp)
    return out.requires_grad_() if requires_grad else out


def _array_of(data: Any, xp: Backend, dtype: dtypes.dtype | None) -> Array:
    if isinstance(data, Tensor):
        raw = data._data if data._xp is xp else xp.from_numpy(data._xp.to_numpy(data._data))
        return xp.array(raw, dtype=None if dtype is None else xp.native_dtype(dtype))
    if isinstance(data, xp.array_type):
        return xp.array(data, dtype=None if dtype is None else xp.native_dtype(dtype))
    if isinstance(data, (bool, int, float, complex, list, tuple)):
        plain = _plain(data) if isinstance(data, (list, tuple)) else [data]
        array = convert_sequence(plain, xp, dtype)
        return array if isinstance(data, (list, tuple)) else array.reshape(())
    array = xp.convert(data, dtype)
    xp.dtype_of(array)  # TypeError for what torch has no dtype for
    return array


def _plain(data: Any) -> Any:
    """Nested sequences with tensors in them as sequences of numbers."""
    if isinstance(data, Tensor):
        return data.tolist()
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    return data


