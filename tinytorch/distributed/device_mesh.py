"""``torch.distributed.device_mesh`` for programs that name its classes."""

from __future__ import annotations

from ..compat.unsupported import Absent, absent

__all__ = ["DeviceMesh", "init_device_mesh"]

_WHY = "tinytorch works in one process: there is no mesh of devices"
init_device_mesh = absent("distributed.device_mesh.init_device_mesh", _WHY)


class DeviceMesh(Absent, why=_WHY):
    """Devices of several processes as an array, which nothing is here."""
