"""How a tensor of several processes is placed on them; no tensor here is one."""

from __future__ import annotations

from dataclasses import dataclass


class Placement:
    """How a tensor is placed along one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part, along ``dim`` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a term of it, for ``reduce_op`` if that is given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """A part in each process.

    Args:
        dim: The dimension that is divided.

    Example:
        >>> from tinytorch.distributed.tensor import Shard
        >>> Shard(0)
        Shard(dim=0)
    """

    dim: int


@dataclass(frozen=True)
class Replicate(Placement):
    """All of it in each process.

    Example:
        >>> from tinytorch.distributed.tensor import Replicate
        >>> Replicate() == Replicate()
        True
    """


@dataclass(frozen=True)
class Partial(Placement):
    """A term of it in each process.

    Args:
        reduce_op: How the terms are put together. Default: ``"sum"``.

    Example:
        >>> from tinytorch.distributed.tensor import Partial
        >>> Partial().is_partial("sum")
        True
    """

    reduce_op: str = "sum"
