"""Registration of tensors with Dask: tokens of their values, their sizes, and serialization.

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
    """Register tensors in the dispatch tables of one of Dask's modules.

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
        found["normalize_token"].register(Tensor, _make_normalizer(found["normalize_token"]))
    if "sizeof" in found:
        found["sizeof"].register(Tensor, _size)
    if "dask_serialize" in found:
        found["dask_serialize"].register(Tensor, _serialize)
        found["dask_deserialize"].register(Tensor, _deserialize)


def _wrap_from_array(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``dask.array.from_array`` so that it gets a ``tinytorch.numpy`` array for a tensor.

    Dask indexes chunks with NumPy's small unsigned integers, which are masks for tensors.
    """

    @functools.wraps(function)
    def from_array(x: Any, *args: Any, **options: Any) -> Any:
        if isinstance(x, Tensor):
            from ..numpy.arrays import array_of_tensor

            x = array_of_tensor(x)
        return function(x, *args, **options)

    return from_array


def _replace(module: ModuleType, name: str, function: Any) -> None:
    """Replace a function in its module and in Dask's package, if that has imported it."""
    package = sys.modules.get("dask.array")
    if package is not None and name in vars(package):
        setattr(package, name, function)
    setattr(module, name, function)


def _make_normalizer(normalize: Callable[[Any], Any]) -> Callable[[Tensor], Any]:
    """Return a function of a tensor that returns a value for Dask's hash; see ``dask.tokenize``."""

    def normalize_tensor(tensor: Tensor) -> Any:
        host = tensor._xp.to_numpy(tensor.detach()._data)
        kind, backend = type(tensor), str(tensor._xp)
        return kind.__qualname__, backend, tensor.requires_grad, normalize(host)

    return normalize_tensor


def _size(tensor: Tensor) -> int:
    return object.__sizeof__(tensor) + tensor.nbytes


def _serialize(tensor: Tensor) -> tuple[dict[str, Any], list[Any]]:
    """Return the tensor as a small pickle, and its elements as buffers that are not copied.

    Of a larger memory only the tensor's part is sent.
    """
    buffers: list[pickle.PickleBuffer] = []
    small = pickle.dumps(copy_part(tensor), 5, buffer_callback=buffers.append)
    return {"pickle": small}, [buffer.raw() for buffer in buffers]


def _deserialize(header: dict[str, Any], frames: Sequence[Any]) -> Tensor:
    """Return the tensor of the header and the buffers that ``_serialize`` returned."""
    writable = [bytearray(each) if memoryview(each).readonly else each for each in frames]
    tensor: Tensor = pickle.loads(header["pickle"], buffers=writable)
    return tensor
