"""Keys of the children of containers, and their text, such as ``['weights'][0]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["GetAttrKey", "MappingKey", "SequenceKey"]


@dataclass(frozen=True)
class SequenceKey:
    """Index of a child of a list, tuple or deque.

    Attributes:
        idx: The index.
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        """Return the child of a sequence."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """Key of a child of a dict.

    Attributes:
        key: The key.
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        """Return the child of a dict."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """Name of a field of a named tuple, or of an attribute.

    Attributes:
        name: The name.
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the field or attribute of an object."""
        return getattr(obj, self.name)


def sequence_keys(tree: Sequence[Any]) -> list[Any]:
    """Keys of the children of a list, tuple or deque."""
    return [*map(SequenceKey, range(len(tree)))]


def mapping_keys(tree: Mapping[Any, Any]) -> list[Any]:
    """Keys of the children of a dict."""
    return [*map(MappingKey, tree)]


def named_tuple_keys(tree: Any) -> list[Any]:
    """Keys of the children of a named tuple."""
    return [*map(GetAttrKey, tree._fields)]
