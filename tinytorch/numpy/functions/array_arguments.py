"""Arguments of functions that NumPy alone has: tensors, and whatever else it takes for arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...backends import load
from ...core.tensor import Tensor
from ...ops.create.factories import as_tensor
from ...ops.shape.joining import stack
from ...ops.shape.sizes import ravel
from ...state import default_dtype


def backend_of(*values: Any) -> Any:
    """The backend of the first tensor among ``values`` or in their sequences; None if none."""
    for value in values:
        if isinstance(value, Tensor):
            return value._xp
        if isinstance(value, (list, tuple)):
            found = backend_of(*value)
            if found is not None:
                return found
    return None


def array_of(value: Any, backend: Any = None) -> Tensor:
    """A tensor from anything NumPy takes for an array; sequences of tensors are stacked."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (list, tuple)):
        found = backend_of(*value)
        if found is not None:
            return stack([array_of(item, found) for item in value])
    return as_tensor(value, backend=backend)


def arrays_of(*values: Any) -> list[Any]:
    """Tensors of one backend from anything NumPy takes for arrays."""
    backend = backend_of(*values)
    return [array_of(value, backend) for value in values]


def alike(*values: Any) -> list[Any]:
    """``arrays_of``, in one dtype."""
    found = arrays_of(*values)
    dtype = functools.reduce(dtypes.promote_types, (x.dtype for x in found))
    return [x.to(dtype) for x in found]


def float_array(value: Any) -> Tensor:
    """``array_of``, with integers and bools in the default dtype."""
    tensor = array_of(value)
    return tensor if tensor.dtype.category > 1 else tensor.to(default_dtype())


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """NumPy's ``axis`` as dimensions counted from the front; None means all of them.

    Raises:
        numpy.exceptions.AxisError: For a dimension that is not there: a 0-d tensor has none.
        ValueError: For one that comes twice.
    """
    if axis is None:
        return tuple(range(ndim))
    given = tuple(map(operator.index, axis if isinstance(axis, (tuple, list)) else (axis,)))
    for d in given:
        if not -ndim <= d < ndim:
            refused = load("numpy").library.exceptions.AxisError
            raise refused(f"{name}(): axis {d} is out of bounds for array of dimension {ndim}")
    found = tuple(d + ndim if d < 0 else d for d in given)
    if len(set(found)) < len(found):
        raise ValueError(f"{name}(): repeated axis in {given}")
    return found


def reduction_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """``axes_of``, but a number may be reduced along its first dimension as if it had one."""
    return () if not ndim and axis in (0, -1) else axes_of(name, axis, ndim)


def flat_if_none(name: str, tensor: Tensor, axis: int | None) -> tuple[Any, int]:
    """The tensor and a dimension of it; None means the flattened tensor."""
    if axis is None:
        return ravel(tensor), 0
    (at,) = axes_of(name, axis, tensor.ndim)
    return tensor, at


def reduced(tensor: Any, method: str, axes: tuple[int, ...], keepdims: bool) -> Any:
    """A reduction over some dimensions; over none, which to torch are all, a copy."""
    if not axes:
        return tensor.clone()
    return getattr(tensor, method)(axes, keepdim=keepdims)


def in_bounds(name: str, places: Any, size: int, mode: str) -> Any:
    """Indices below ``size``: as they are for ``"raise"``, else wrapped around or clipped.

    Raises:
        ValueError: For another mode.
        IndexError: If there is nothing to index.
    """
    if mode == "raise":
        return places
    if mode not in ("wrap", "clip"):
        raise ValueError(f"{name}(): clipmode must be raise, wrap or clip, got {mode!r}")
    if not size and places.numel():
        raise IndexError(f"{name}(): cannot take from an empty dimension")
    return places % max(size, 1) if mode == "wrap" else places.clamp(0, max(size - 1, 0))


def indices_of(values: Sequence[int], like: Tensor) -> Any:
    """An int64 tensor that indexes ``like``."""
    return as_tensor(list(values), dtypes.int64, backend=like._xp)
