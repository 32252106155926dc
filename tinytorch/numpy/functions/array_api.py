"""What a namespace of the array API standard tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.device import device as device_
from ...dtypes import as_dtype
from ...state import current_backend

#: The versions of the standard whose functions are here.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class NamespaceInfo:
    """Devices, dtypes and limits of a namespace, by the standard's names.

    Args:
        device: Makes what the arrays of the namespace have for a device.
        dtype: Gives what they have for a dtype of tensors.
    """

    def __init__(
        self, device: Callable[[str], Any] = device_, dtype: Callable[[Any], Any] = as_dtype
    ) -> None:
        self._device = device
        self._dtype = dtype

    def capabilities(self) -> dict[str, Any]:
        """What depends on data, and how many dimensions there may be."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device of tensors made without one."""
        return self._device(current_backend().device_type)

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of tensors made without one."""
        found = {
            "real floating": dtypes.float64, "complex floating": dtypes.complex128,
            "integral": dtypes.int64, "indexing": dtypes.int64,
        }  # fmt: skip
        return {name: self._dtype(kind) for name, kind in found.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes there are, of a kind or of several."""
        from .inspection import isdtype

        beside = (dtypes.float16, *dtypes.LOW)  # which the standard does not know
        every = [d for d in dtypes.ALL if d not in beside]
        found = [d for d in every if kind is None or isdtype(d, kind)]
        return {d.name: self._dtype(d) for d in found}

    def devices(self) -> tuple[Any, ...]:
        """The devices of the active backend."""
        return tuple(self._device(name) for name in current_backend().devices())
