"""What a namespace of the array API standard tells of itself."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ...core.device import device as device_
from ...state import current_backend

#: The versions of the standard whose functions are here.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class NamespaceInfo:
    """Devices, dtypes and limits of the namespace, by the standard's names."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on data, and how many dimensions there may be."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> device_:
        """The device of tensors made without one."""
        return device_(current_backend().device_type)

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

    def devices(self) -> tuple[device_, ...]:
        """The devices of the active backend."""
        return tuple(device_(name) for name in current_backend().devices())
