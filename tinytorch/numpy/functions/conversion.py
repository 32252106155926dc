"""Arguments and results of NumPy's functions: conversion, promotion, ``axis=``, ``out=``."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ...backends import load
from ...core.tensor import Holder, Tensor
from ...ops.create.factories import as_tensor
from ...ops.shape import joining
from ...ops.shape.joining import stack
from ...ops.shape.sizes import ravel
from ...state import default_dtype, default_dtype_context, grad_enabled


def backend_of(*values: Any) -> Any:
    """The backend of the first tensor among ``values`` or in their sequences; None without one."""
    for value in values:
        if isinstance(value, Tensor):
            return value._xp
        if isinstance(value, (list, tuple)):
            found = backend_of(*value)
            if found is not None:
                return found
    return None


def array_of(value: Any, backend: Any = None, dtype: Any = None) -> Any:
    """Tensor from anything NumPy accepts as an array; Python floats have the default dtype.

    If the default dtype is float64, as it is under ``tinytorch.numpy``, this is ``tensor_of``.
    """
    if isinstance(value, Tensor):
        return value
    if default_dtype() is dtypes.float64:
        return tensor_of(value, backend, dtype)
    found = backend_of(value)
    if found is not None:
        return stack([array_of(item, found) for item in value])
    return as_tensor(value, dtype=dtype, backend=backend)


def arrays_of(*values: Any) -> list[Any]:
    """``array_of`` each of ``values``, on one backend."""
    backend = backend_of(*values)
    return [array_of(value, backend) for value in values]


def unify_dtypes(*values: Any) -> list[Any]:
    """``arrays_of``, cast to their common dtype by PyTorch's rules."""
    found = arrays_of(*values)
    dtype = functools.reduce(dtypes.promote_types, (x.dtype for x in found))
    return [x.to(dtype) for x in found]


def float_array(value: Any) -> Tensor:
    """``array_of``, with integers and bools cast to the default dtype."""
    tensor = array_of(value)
    return tensor if is_inexact(tensor) else tensor.to(default_dtype())  # type: ignore[no-any-return]


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions, counted from the front, that NumPy's ``axis`` names; None means all of them.

    Raises:
        numpy.exceptions.AxisError: For a dimension out of bounds; for a 0-d tensor every one is.
        ValueError: For a repeated dimension.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        try:
            axis = (operator.index(axis),)
        except TypeError:  # NumPy accepts any iterable, for example an array or a set.
            axis = tuple(axis)
    given = tuple(map(operator.index, axis))
    for d in given:
        if not -ndim <= d < ndim:
            text = f"{name}(): axis {d} is out of bounds for array of dimension {ndim}"
            raise host().exceptions.AxisError(text)
    found = tuple(d + ndim if d < 0 else d for d in given)
    if len(set(found)) < len(found):
        raise ValueError(f"{name}(): repeated axis in {given}")
    return found


def reduction_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """``axes_of`` for a reduction, which accepts also ``axis=0`` and ``axis=-1`` of a 0-d tensor.

    Such a reduction has no dimension to reduce, so the result is ``()``.
    """
    return () if not ndim and axis in (0, -1) else axes_of(name, axis, ndim)


def flat_if_none(name: str, tensor: Tensor, axis: int | None) -> tuple[Any, int]:
    """Return the tensor and the dimension that ``axis`` names, counted from the front.

    For ``axis=None`` the result is the flattened tensor and 0.

    Args:
        name: Name of the calling function, for errors.
        tensor: The tensor.
        axis: The argument ``axis`` of the call.
    """
    if axis is None:
        return ravel(tensor), 0
    (at,) = axes_of(name, axis, tensor.ndim)
    return tensor, at


def reduce_axes(tensor: Any, method: str, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Reduce a tensor over ``axes`` by one of its methods; without axes return a copy.

    The methods cannot be called without axes: to PyTorch an empty tuple means all dimensions.
    """
    if not axes:
        return tensor.clone()
    return getattr(tensor, method)(axes, keepdim=keepdims)


def wrap_or_clip(name: str, indices: Any, size: int, mode: str) -> Any:
    """Map indices to valid ones of a dimension by NumPy's ``mode``.

    Args:
        name: Name of the calling function, for errors.
        indices: Tensor of indices.
        size: Size of the dimension.
        mode: ``"raise"`` leaves the indices alone, for indexing to check them; ``"wrap"`` and
            ``"clip"`` move those out of bounds.

    Raises:
        ValueError: For another mode.
        IndexError: If the dimension is empty and there are indices to move.
    """
    if mode == "raise":
        return indices
    if mode not in ("wrap", "clip"):
        raise ValueError(f"{name}(): clipmode must be raise, wrap or clip, got {mode!r}")
    if not size and indices.numel():
        raise IndexError(f"{name}(): cannot take from an empty dimension")
    return indices % max(size, 1) if mode == "wrap" else indices.clamp(0, max(size - 1, 0))


def index_tensor(values: Sequence[int], like: Tensor) -> Any:
    """An int64 tensor of ``values`` on the backend of ``like``, to index it with."""
    return as_tensor(list(values), dtypes.int64, backend=like._xp)


def float64_default() -> default_dtype_context:
    """Context manager in which Python floats are float64, as in NumPy."""
    return default_dtype_context(dtypes.float64)


def tensor_of(value: Any, backend: Any = None, dtype: Any = None) -> Any:
    """Tensor from anything NumPy accepts as an array; NumPy itself reads numbers and sequences.

    Args:
        value: Tensor, array, number or sequence.
        backend: Backend of the result unless ``value`` holds tensors; default the active one.
        dtype: Dtype for a number or a sequence of numbers.
    """
    if isinstance(value, Tensor):
        return value
    found = backend_of(value)
    if found is not None:  # a sequence with tensors in it
        return joining.stack(promote_strong(*(tensor_of(part, found) for part in value)))
    if not hasattr(value, "dtype"):
        made = value.__array__() if hasattr(type(value), "__array__") else value
        if isinstance(made, Holder):  # NumPy raises if ``__array__`` returns one.
            return made._tensor
        value = _numpy_array(made, dtype)
    return as_tensor(value, backend=backend)


def _numpy_array(value: Any, dtype: Any) -> Any:
    """NumPy array of a number or a sequence; Python's ints become int64 on every platform.

    Args:
        value: The number or the sequence.
        dtype: The wanted dtype, or None.

    Raises:
        TypeError: If tensors do not have the dtype.
    """
    if dtype is not None:
        return host().asarray(value, as_dtype(dtype).dtype)
    found = host().asarray(value)
    as_dtype(found.dtype)  # raises for a dtype such as that of strings
    return found.astype("int64") if found.dtype == _default_int() != "int64" else found


@functools.cache
def _default_int() -> Any:
    """NumPy's dtype for Python's ints, which has 32 bits on a platform of 32-bit addresses."""
    return host().asarray(1).dtype


def tensors_of(*values: Any) -> list[Any]:
    """``tensor_of`` each of ``values``, on one backend."""
    backend = backend_of(*values)
    return [tensor_of(value, backend) for value in values]


@functools.cache
def host() -> Any:
    """The module ``numpy``, imported on first use."""
    return load("numpy").library


def as_dtype(value: Any) -> dtypes.dtype:
    """Tensor dtype from anything NumPy accepts as one: ``"f4"``, ``int``, ``np.dtype("int8")``.

    Raises:
        TypeError: For a dtype that tensors do not have: of another byte order, of strings, dates,
            objects or structures.
    """
    if isinstance(value, dtypes.dtype):
        return value
    if value is int or value.__class__ is str and value == "int":  # NumPy's may have 32 bits.
        return dtypes.int64
    return _tensor_dtype(host().dtype(value))


#: By the kind letter of dtypes that only NumPy has: what they hold, and what to use instead.
_NUMPY_ONLY = {
    "O": "Python objects: keep them in lists", "U": "strings: keep them in lists",
    "S": "strings: keep them in lists", "T": "strings: keep them in lists",
    "M": "dates: use numbers of days or seconds", "m": "times: use numbers of days or seconds",
    "V": "structures: use an array for each field",
}  # fmt: skip


@functools.cache
def _tensor_dtype(kind: Any) -> dtypes.dtype:
    """The dtype of tensors that equals ``kind``, a dtype of NumPy."""
    found = dtypes.NAMES.get(kind.name)
    if found is None:
        use = _NUMPY_ONLY.get(kind.kind, "more bits than 64: use float64 or complex128")
        raise TypeError(f"dtype: {kind!r} is NumPy's alone, for {use}")
    if not kind.isnative:
        raise TypeError(f"dtype: expected the processor's order of bytes, got {kind!r}")
    return found


def common_dtype(*values: Any) -> dtypes.dtype:
    """NumPy's result type of tensors, dtypes and Python numbers; the numbers are weak."""
    found = host().result_type(*map(_result_type_argument, values))
    return dtypes.from_name(found.name)


def _result_type_argument(value: Any) -> Any:
    """Convert a tensor, dtype or number to an argument of ``numpy.result_type``.

    A Python number stays as it is; a tensor and a dtype become a dtype of NumPy.
    """
    if is_number(value):
        return value
    kind = value.dtype if hasattr(value, "dtype") else value
    return getattr(kind, "dtype", None) or kind


def promote(*values: Any) -> list[Any]:
    """``tensors_of``, cast to their common dtype by NumPy's rules; Python's numbers are weak."""
    found = tensors_of(*values)
    if len({t._data.dtype for t in found}) < 2:
        return found
    pairs = zip(values, found, strict=True)
    dtype = common_dtype(*(v if is_number(v) else t for v, t in pairs))
    return [t.to(dtype) for t in found]


def promote_strong(*values: Any) -> list[Any]:
    """``promote``, but Python's numbers count as arrays, as in ``concatenate`` and ``dot``."""
    return promote(*tensors_of(*values))


def cast_all(values: Sequence[Any], dtype: Any, casting: str = "same_kind") -> list[Any]:
    """Cast tensors to ``dtype``; None leaves them as they are.

    Raises:
        TypeError: If ``casting`` does not allow a cast.
    """
    if dtype is None:
        return list(values)
    wanted = as_dtype(dtype)
    for value in values:
        if not host().can_cast(value._data.dtype, wanted.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {value.dtype.name} to {wanted.name} according to "
                f"the rule {casting!r}"
            )
    return [value.to(wanted) for value in values]


def is_number(value: Any) -> bool:
    """Whether a value is a Python number, which is weak in promotion; NumPy's scalars are not."""
    return isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype")


def is_inexact(tensor: Any) -> bool:
    """Whether the dtype of a tensor is floating-point or complex, as ``numpy.inexact``."""
    return tensor.dtype.kind in "fc"


def is_recorded(tensor: Any) -> bool:
    """Whether a gradient may flow to a tensor, so that not even its zeros may be dropped."""
    return bool(tensor.requires_grad) and grad_enabled()


def as_float(value: Any) -> Any:
    """``tensor_of``, with integers and bools cast to float64."""
    found = tensor_of(value)
    return found if is_inexact(found) else found.to(dtypes.float64)


def as_floats(*values: Any) -> list[Any]:
    """Tensors of one backend and of one floating-point or complex dtype."""
    return [as_float(x) for x in promote_strong(*values)]


def cast(tensor: Any, dtype: Any) -> Any:
    """The tensor in ``dtype``; None leaves it as it is."""
    return tensor if dtype is None else tensor.to(as_dtype(dtype))


def write_out(result: Any, out: Any) -> Any:
    """Copy ``result`` to the Tensor ``out`` and return ``out``; return ``result`` for None.

    Args:
        result: The Tensor that a function has computed.
        out: The argument ``out`` of the call: a Tensor, a tuple of one, or None.

    Raises:
        TypeError: If ``out`` is not a Tensor.
        ValueError: If ``out`` does not have the shape of ``result``.
    """
    if out is None:
        return result
    target = out[0] if isinstance(out, tuple) else out
    if not isinstance(target, Tensor):
        raise TypeError(f"return arrays must be Tensors, got {type(target).__name__} for out=")
    if tuple(target.shape) != tuple(result.shape):
        raise ValueError(
            f"output array has shape {list(target.shape)}, the result {list(result.shape)}"
        )
    target.copy_(result)
    return target
