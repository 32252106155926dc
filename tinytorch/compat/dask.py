"""Dask told of tensors: how they are named by their numbers, how large they are, how they travel.

Reference: https://distributed.dask.org/en/stable/serialization.html
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ..core.tensor import Tensor, copy_part


def register(module: ModuleType) -> None:
    """Register tensors with what one of Dask's modules keeps.

    Args:
        module: ``dask.tokenize``, ``dask.sizeof``, ``distributed.protocol.serialize``,
            ``dask.array.core`` or ``dask.array.backends``.
    """
    found = vars(module)
    if "from_array" in found:
        _replace(module, "from_array", _wrap_from_array(found["from_array"]))
    if "percentile_lookup" in found:
        from ..numpy.arrays import ndarray
        from ..numpy.functions.conversion import host

        percentile = found["percentile_lookup"].dispatch(host().ndarray)
        found["percentile_lookup"].register(ndarray, percentile)
    if "normalize_token" in found:
        found["normalize_token"].register(Tensor, _tokens(found["normalize_token"]))
    if "sizeof" in found:
        found["sizeof"].register(Tensor, _size)
    if "dask_serialize" in found:
        found["dask_serialize"].register(Tensor, _serialize)
        found["dask_deserialize"].register(Tensor, _deserialize)


def _wrap_from_array(function: Callable[..., Any]) -> Callable[..., Any]:
    """``dask.array.from_array`` with arrays of NumPy's dialect for tensors.

    Dask indexes chunks with NumPy's small unsigned integers, which are masks to tensors.
    """

    @functools.wraps(function)
    def from_array(x: Any, *args: Any, **options: Any) -> Any:
        if isinstance(x, Tensor):
            from ..numpy.arrays import array_of_tensor

            x = array_of_tensor(x)
        return function(x, *args, **options)

    return from_array


def _replace(module: ModuleType, name: str, function: Any) -> None:
    """Put a function in the place of another, also where Dask's package has it already."""
    package = sys.modules.get("dask.array")
    if package is not None and name in vars(package):
        setattr(package, name, function)
    setattr(module, name, function)


def _tokens(normalize: Callable[[Any], Any]) -> Callable[[Tensor], Any]:
    def tokens(tensor: Tensor) -> Any:
        host = tensor._xp.to_numpy(tensor.detach()._data)
        kind, backend = type(tensor), str(tensor._xp)
        return kind.__qualname__, backend, tensor.requires_grad, normalize(host)

    return tokens


def _size(tensor: Tensor) -> int:
    return object.__sizeof__(tensor) + tensor.nbytes


def _serialize(tensor: Tensor) -> tuple[dict[str, Any], list[Any]]:
    """The tensor as a small pickle, and its numbers as buffers that are not copied.

    A part of a larger memory goes without the rest.
    """
    buffers: list[pickle.PickleBuffer] = []
    small = pickle.dumps(copy_part(tensor), 5, buffer_callback=buffers.append)
    return {"pickle": small}, [buffer.raw() for buffer in buffers]


def _deserialize(header: dict[str, Any], frames: Sequence[Any]) -> Tensor:
    own = [bytearray(each) if memoryview(each).readonly else each for each in frames]
    made: Tensor = pickle.loads(header["pickle"], buffers=own)
    return made
