"""Indexing as CuPy does it: out-of-bounds indices in arrays wrap, masks make the host wait."""

from __future__ import annotations

from typing import Any

import numpy

from . import _devices
from ._array import ndarray, unwrap, view_of, wrap
from ._sync import log_sync

_BASIC = frozenset({int, slice, type(None), type(...)})


def device_index(shape: tuple[int, ...], key: Any) -> tuple[Any, ...]:
    """Return ``key`` as a NumPy index whose integer arrays are wrapped into range."""
    items = tuple(map(_truncate_bounds, key if type(key) is tuple else (key,)))
    if all(type(item) in _BASIC for item in items):
        return items if _has_ellipsis(items) else (*items, ...)
    items = tuple(map(_host_item, items))
    if not any(isinstance(item, numpy.ndarray) for item in items):
        return items if _has_ellipsis(items) else (*items, ...)
    return _wrap_indices(shape, items)


def _truncate_bounds(item: Any) -> Any:
    """Return an item; CuPy takes the floats of a slice as integers."""
    if type(item) is not slice:
        return item
    bounds = item.start, item.stop, item.step
    return slice(*(int(each) if isinstance(each, float) else each for each in bounds))


def getitem(array: ndarray, key: Any) -> ndarray:
    """Return ``array[key]``: a view where the key is basic, 0-d arrays instead of scalars."""
    index = device_index(array.shape, key)
    if _is_advanced(index):
        _devices.check(array)
    try:
        host = array._host[index]
        return wrap(host) if _is_advanced(index) else view_of(host, array)
    except IndexError as error:
        raise _as_cupy(error) from None


def setitem(array: ndarray, key: Any, value: Any) -> None:
    """Store ``value`` at ``array[key]``; host arrays are refused where CuPy refuses them."""
    _devices.check(array, value)
    index = device_index(array.shape, key)
    advanced = _is_advanced(index)
    host = _host_value(value, array.dtype, advanced)
    try:
        with numpy.errstate(all="ignore"):
            array._host[index] = host
            if advanced and numpy.ndim(host) and not _has_mask(index):
                _store_backwards(array._host, index, host)
    except IndexError as error:
        raise _as_cupy(error) from None


def _store_backwards(target: Any, index: tuple[Any, ...], values: Any) -> None:
    """Let the first of several values for one element win: on a GPU any of them may."""
    places = numpy.arange(target.size).reshape(target.shape)[index]
    if len(numpy.unique(places)) < places.size:
        values = numpy.broadcast_to(values, places.shape)
        target.flat[places.ravel()[::-1]] = values.ravel()[::-1]


def _has_mask(index: tuple[Any, ...]) -> bool:
    return any(isinstance(item, numpy.ndarray) and item.dtype.kind == "b" for item in index)


def _is_advanced(index: tuple[Any, ...]) -> bool:
    return any(type(item) is numpy.ndarray for item in index)


def _has_ellipsis(items: tuple[Any, ...]) -> bool:
    return any(item is ... for item in items)


def _host_value(value: Any, dtype: Any, advanced: bool) -> Any:
    if isinstance(value, ndarray):
        return value._host
    if advanced and isinstance(value, (list, tuple, numpy.ndarray)):
        log_sync("upload")
    host = numpy.asarray(unwrap(value) if isinstance(value, (list, tuple)) else value, dtype)
    if not advanced and host.shape != ():
        raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
    return host if host.ndim or host else numpy.zeros_like(host)  # CuPy fills: -0.0 loses its sign


def _host_item(item: Any) -> Any:
    if type(item) is ndarray:
        _devices.check(item)
        item = item._host
    elif isinstance(item, (list, tuple, numpy.ndarray, bool, numpy.bool_)):
        log_sync("upload")
        empty_list = isinstance(item, (list, tuple)) and not len(item)
        item = numpy.asarray(unwrap(item) if isinstance(item, (list, tuple)) else item)
        item = item.astype(numpy.int32) if empty_list else item
    if isinstance(item, numpy.ndarray) and item.dtype.kind not in "biu":
        raise IndexError(
            "arrays used as indices must be of integer or boolean type. "
            f"(actual: {item.dtype.type})"
        )
    return item


def _wrap_indices(shape: tuple[int, ...], items: tuple[Any, ...]) -> tuple[Any, ...]:
    consumed = sum(map(_consumes, items))
    if consumed > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, "
            f"but {consumed} were indexed"
        )
    axis, wrapped = 0, []
    for item in items:
        if isinstance(item, numpy.ndarray) and item.dtype.kind == "b":
            log_sync("mask")
        elif isinstance(item, numpy.ndarray) and shape[axis]:
            item = numpy.remainder(item.astype(numpy.int64, copy=False), shape[axis])
        axis += len(shape) - consumed if item is ... else _consumes(item)
        # asarray: NumPy's remainder makes a scalar of a 0-d array, which would give a view.
        wrapped.append(numpy.asarray(item) if isinstance(item, numpy.generic) else item)
    return tuple(wrapped)


def _consumes(item: Any) -> int:
    """Return how many axes of the array an index item uses up."""
    if item is None or item is ...:
        return 0
    if isinstance(item, numpy.ndarray) and item.dtype.kind == "b":
        return item.ndim
    return 1


def _as_cupy(error: IndexError) -> IndexError:
    text = str(error)
    return IndexError("Index" + text[5:] if text.startswith("index ") else text)
