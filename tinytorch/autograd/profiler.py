"""``torch.autograd.profiler``: the names of ``tinytorch.profiler``, and NVIDIA's marks."""

from __future__ import annotations

from ..compat.unsupported import Absent
from ..profiler import _WHY
from ..profiler import EventList as EventList
from ..profiler import profile as profile
from ..profiler import record_function as record_function

__all__ = ["EventList", "emit_itt", "emit_nvtx", "profile", "record_function"]


class emit_nvtx(Absent, why=_WHY):
    """What marks every operation for NVIDIA's profilers; making one raises.

    ``tinytorch.cuda.nvtx`` marks parts of a program.
    """


class emit_itt(Absent, why=_WHY):
    """What marks every operation for Intel's profilers; making one raises."""
