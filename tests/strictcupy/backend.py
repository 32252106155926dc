"""The backend ``strict``: CuPy's own backend class on the stand-in, a plug-in of tinytorch."""

from __future__ import annotations

from typing import Any

import strictcupy
from tinytorch.backends.cupy import CupyBackend


class StrictBackend(CupyBackend):
    """Every line that runs on a GPU, on a library that runs anywhere and refuses more.

    It calls its device ``cpu`` and raises failed checks at once, so that the whole suite, which
    prints tensors and asks for ``.numpy()``, can run on it.
    """

    name = "strict"
    device_type = "cpu"
    _cublas = False

    def __init__(self) -> None:
        super().__init__()
        self.immediate = True

    def open(self) -> tuple[Any, Any]:
        return strictcupy, strictcupy.cupyx

    def kernel(self, name: str) -> None:
        """No CUDA source can run here: operations use their twins."""

    def device_index(self, array: Any) -> Any:
        return None

    def devices(self) -> list[str]:
        return [self.device_type]


class StrictCudaBackend(StrictBackend):
    """The same with a GPU's manners: a device of its own, checks that do not wait."""

    name = "strictcuda"
    device_type = "strictcuda"

    def __init__(self) -> None:
        super().__init__()
        self.immediate = False

    def device_index(self, array: Any) -> Any:
        return CupyBackend.device_index(self, array)

    def devices(self) -> list[str]:
        return CupyBackend.devices(self)
