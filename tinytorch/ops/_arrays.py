"""Arguments of functions that NumPy alone has: tensors, and whatever else it takes for arrays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .. import _state, dtypes
from .._tensor import Tensor
from .creation import as_tensor
from .joining import stack
from .shape import normalize_dim, ravel


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
    return tensor if tensor.dtype.category > 1 else tensor.to(_state.default_dtype())


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """NumPy's ``axis`` as dimensions counted from the front; None means all of them."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(normalize_dim(name, d, ndim) for d in given)


def flat_if_none(tensor: Tensor, axis: int | None) -> tuple[Any, int]:
    """The tensor and a dimension of it; None means the flattened tensor."""
    return (ravel(tensor), 0) if axis is None else (tensor, axis)


def indices_of(values: Sequence[int], like: Tensor) -> Any:
    """An int64 tensor that indexes ``like``."""
    return as_tensor(list(values), dtypes.int64, backend=like._xp)
