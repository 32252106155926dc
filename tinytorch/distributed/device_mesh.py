"""``DeviceMesh`` of one dimension over the default process group, and placements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..core.tensor import Tensor
from ..ops.create.factories import tensor
from .process_group import ProcessGroup, init_process_group, is_initialized, world

__all__ = ["DeviceMesh", "init_device_mesh"]

_DIMENSIONS = "DeviceMesh: tinytorch has meshes of one dimension over all ranks"


class DeviceMesh:
    """The ranks of the default process group as a mesh of one dimension.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``.
        mesh: All ranks, in order.
        mesh_dim_names: The name of the dimension, in a tuple.

    Raises:
        NotImplementedError: If ``mesh`` is not the list of all ranks in order.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> mesh = tt.distributed.device_mesh.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
        >>> mesh.size(), mesh.get_local_rank("dp"), mesh.get_group().size()
        (1, 0, 1)
        >>> mesh.get_rank(), mesh.get_coordinate(), len(mesh.get_all_groups())
        (0, [0], 1)
        >>> tt.distributed.destroy_process_group()
    """

    def __init__(
        self, device_type: str, mesh: Any, *, mesh_dim_names: Sequence[str] | None = None,
        backend_override: Any = None,
    ) -> None:  # fmt: skip
        if not is_initialized():
            init_process_group()
        self._group = world()
        ranks = mesh.tolist() if isinstance(mesh, Tensor) else list(mesh)
        if ranks != list(range(self._group.size())):
            raise NotImplementedError(f"{_DIMENSIONS}, got {ranks}")
        self.device_type = device_type
        self.mesh_dim_names: tuple[str, ...] | None = (
            None if mesh_dim_names is None else tuple(mesh_dim_names)
        )
        self.mesh: Tensor = tensor(ranks)

    @property
    def ndim(self) -> int:
        """Number of dimensions: 1."""
        return 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Tuple of the number of ranks."""
        return (self._group.size(),)

    def size(self, mesh_dim: int | None = None) -> int:
        """Number of ranks."""
        self._check_dim(mesh_dim)
        return self._group.size()

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The process group."""
        self._check_dim(mesh_dim)
        return self._group

    def get_all_groups(self) -> list[ProcessGroup]:
        """List of the process group."""
        return [self._group]

    def get_rank(self) -> int:
        """The rank of this process."""
        return self._group.rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The rank of this process along the dimension."""
        self._check_dim(mesh_dim)
        return self._group.rank()

    def get_coordinate(self) -> list[int]:
        """Coordinates of this process in the mesh: a list of its rank."""
        return [self._group.rank()]

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else mesh_dim_names
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        if tuple(names) != self.mesh_dim_names:
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are "
                           f"{self.mesh_dim_names}.")  # fmt: skip
        return self

    def __repr__(self) -> str:
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()})"

    def _get_root_mesh(self) -> DeviceMesh:
        return self

    def _check_dim(self, mesh_dim: int | str | None) -> None:
        """Raise an ``IndexError`` unless an argument is None or names the mesh's one dimension."""
        if mesh_dim not in (None, 0, -1, *(self.mesh_dim_names or ())):
            raise IndexError(f"DeviceMesh of 1 dimension: there is no dimension {mesh_dim!r}")


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:  # fmt: skip
    """Create a mesh of all ranks; call ``init_process_group`` first if necessary.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``.
        mesh_shape: The number of ranks, in a tuple.
        mesh_dim_names: The name of the dimension, in a tuple. Default: none.
        backend_override: Accepted and ignored.

    Raises:
        RuntimeError: If the shape is not ``(number of ranks,)``, or the names do not fit it.
        NotImplementedError: For more than one dimension.

    Example:
        >>> tt.distributed.init_process_group("mpi")
        >>> tt.distributed.init_device_mesh("cpu", (1,))
        DeviceMesh('cpu', [0])
        >>> tt.distributed.destroy_process_group()
    """
    shape = tuple(mesh_shape)
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError("Each mesh_dim_name must be unique. Found repeated mesh_dim_name in "
                               f"mesh_dim_names {mesh_dim_names}")  # fmt: skip
        if len(mesh_dim_names) != len(shape):
            raise RuntimeError("mesh_shape and mesh_dim_names should have same length! Found len("
                               f"mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):"
                               f"{len(shape)}.")  # fmt: skip
    if len(shape) != 1:
        raise NotImplementedError(f"{_DIMENSIONS}, got the shape {shape}")
    if not is_initialized():
        init_process_group()
    if shape[0] != world().size():
        raise RuntimeError(f"Mesh should not be bigger than default world size {world().size()}, "
                           f"but found {shape[0]} ranks!")  # fmt: skip
    return DeviceMesh(device_type, range(shape[0]), mesh_dim_names=mesh_dim_names)


class Placement:
    """Base of the placements of a tensor along one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the tensor is split among the processes, along ``dim`` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the tensor is a reduction over the processes, ``reduce_op`` if that is given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Placement of a tensor that is split among the processes.

    Args:
        dim: The dimension along which it is split.

    Example:
        >>> from tinytorch.distributed.tensor import Shard
        >>> Shard(0)
        Shard(dim=0)
    """

    dim: int


@dataclass(frozen=True)
class Replicate(Placement):
    """Placement of a tensor that each process has as a whole.

    Example:
        >>> from tinytorch.distributed.tensor import Replicate
        >>> Replicate() == Replicate()
        True
    """


@dataclass(frozen=True)
class Partial(Placement):
    """Placement of a tensor that is a reduction of the tensors of all processes.

    Args:
        reduce_op: The reduction. Default: ``"sum"``.

    Example:
        >>> from tinytorch.distributed.tensor import Partial
        >>> Partial().is_partial("sum")
        True
    """

    reduce_op: str = "sum"
