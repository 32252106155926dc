"""Dask told of tensors: how they are named by their numbers, how large they are, how they travel.

Reference: https://distributed.dask.org/en/stable/serialization.html
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ..core.tensor import Tensor, without_the_rest


def register(module: ModuleType) -> None:
    """Register tensors with what one of Dask's modules keeps.

    Args:
        module: ``dask.tokenize``, ``dask.sizeof`` or ``distributed.protocol.serialize``.
    """
    found = vars(module)
    if "normalize_token" in found:
        found["normalize_token"].register(Tensor, _tokens(found["normalize_token"]))
    if "sizeof" in found:
        found["sizeof"].register(Tensor, _size)
    if "dask_serialize" in found:
        found["dask_serialize"].register(Tensor, _serialize)
        found["dask_deserialize"].register(Tensor, _deserialize)


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
    small = pickle.dumps(without_the_rest(tensor), 5, buffer_callback=buffers.append)
    return {"pickle": small}, [buffer.raw() for buffer in buffers]


def _deserialize(header: dict[str, Any], frames: Sequence[Any]) -> Tensor:
    own = [bytearray(each) if memoryview(each).readonly else each for each in frames]
    made: Tensor = pickle.loads(header["pickle"], buffers=own)
    return made
