"""What a namespace of the array API standard tells of itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import dtypes
from ...core.device import device as device_
from ...state import current_backend

#: The versions of the standard whose functions are here.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class NamespaceInfo:
    """Devices, dtypes and limits of the namespace, by the standard's names.

    Args:
        device: Makes what the arrays of the namespace have for a device.
    """

    def __init__(self, device: Callable[[str], Any] = device_) -> None:
        self._device = device

    def capabilities(self) -> dict[str, Any]:
        """What depends on data, and how many dimensions there may be."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device of tensors made without one."""
        return self._device(current_backend().device_type)

    def default_dtypes(self, *, device: Any = None) -> dict[str, dtypes.dtype]:
        """The dtypes of tensors made without one."""
        return {
            "real floating": dtypes.float64, "complex floating": dtypes.complex128,
            "integral": dtypes.int64, "indexing": dtypes.int64,
        }  # fmt: skip

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, dtypes.dtype]:
        """The dtypes there are, of a kind or of several."""
        from ...ops.shape.array_facts import isdtype

        found = {d.name: d for d in dtypes.ALL if d.name not in ("float16", "bfloat16")}
        if kind is None:
            return found
        return {name: d for name, d in found.items() if isdtype(d, kind)}

    def devices(self) -> tuple[Any, ...]:
        """The devices of the active backend."""
        return tuple(self._device(name) for name in current_backend().devices())
