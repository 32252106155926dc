"""The backend ``strict``: CuPy's own backend class on the stand-in, a plug-in of tinytorch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import strictcupy
from tinytorch import backends
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


class PretendedCuda(StrictCudaBackend):
    """The stand-in in CuPy's place: it goes by ``cupy`` and its devices are ``cuda:0``, …"""

    name = "cupy"
    device_type = "cuda"


@contextlib.contextmanager
def pretended_cuda(devices: int = 2) -> Iterator[PretendedCuda]:
    """Have a CUDA backend with so many devices inside the block."""
    with strictcupy.pretend_devices(devices):
        backend = PretendedCuda()
        registry = backends._registry
        real = registry["cupy"]
        backends.register_backend("cupy", backend, replace=True)
        try:
            yield backend
        finally:
            registry["cupy"] = real
