"""How elements may lie in memory: PyTorch's words, for programs that use them."""

from __future__ import annotations


class _Named:
    """A constant that is known by its name, and pickled by it."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"tinytorch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class layout(_Named):  # noqa: N801  # as torch calls it
    """Whether a tensor is dense; every tensor is ``tinytorch.strided``.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(2).layout is tt.strided
        True
    """

    __slots__ = ()
    __hash__ = _Named.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other or other == self._name


class memory_format(_Named):  # noqa: N801  # as torch calls it
    """In which order dimensions lie in memory; accepted everywhere, and row-major it stays.

    Example:
        >>> import tinytorch as tt
        >>> tt.ones(1, 2, 3, 3).to(memory_format=tt.channels_last).shape
        tinytorch.Size([1, 2, 3, 3])
    """

    __slots__ = ()


strided: layout = layout("strided")
contiguous_format: memory_format = memory_format("contiguous_format")
preserve_format: memory_format = memory_format("preserve_format")
channels_last: memory_format = memory_format("channels_last")
channels_last_3d: memory_format = memory_format("channels_last_3d")
