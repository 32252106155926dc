"""``torch.distributed.tensor`` for programs that ask whether a tensor is spread: none is."""

from __future__ import annotations

from ..compat.module_aliases import publish
from ..compat.unsupported import Absent, absent

__all__ = [
    "DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
    "distribute_tensor",
]  # fmt: skip

_WHY = "tinytorch works in one process: no tensor is spread over several"
distribute_tensor = absent("distributed.tensor.distribute_tensor", _WHY)
distribute_module = absent("distributed.tensor.distribute_module", _WHY)
implicit_replication = absent("distributed.tensor.experimental.implicit_replication", _WHY)
compute_local_shape_and_global_offset = absent(
    "distributed.tensor.compute_local_shape_and_global_offset", _WHY
)


class DTensor(Absent, why=_WHY):
    """A tensor that is spread over processes, which none is here."""


class Placement(Absent, why=_WHY):
    """How a tensor is spread over processes; nothing is one here."""


class Shard(Placement, why=_WHY):
    """A part along a dimension in each process."""


class _StridedShard(Shard, why=_WHY):
    """Several parts along a dimension in each process."""


class Replicate(Placement, why=_WHY):
    """All of it in each process."""


class Partial(Placement, why=_WHY):
    """A term of it in each process."""


publish(__name__, "placement_types experimental _utils api")
