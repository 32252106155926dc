"""Where a child is in its container, and how that is written: ``['weights'][0]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["GetAttrKey", "MappingKey", "SequenceKey"]


@dataclass(frozen=True)
class SequenceKey:
    """A place in a list, tuple or deque.

    Attributes:
        idx: The index.
    """

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        """What is there."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """A place in a dict.

    Attributes:
        key: The key.
    """

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        """What is there."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """A field of a named tuple, or an attribute.

    Attributes:
        name: Its name.
    """

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """What is there."""
        return getattr(obj, self.name)


def of_sequence(tree: Sequence[Any]) -> list[Any]:
    """The keys of a list's children."""
    return [*map(SequenceKey, range(len(tree)))]


def of_mapping(tree: Mapping[Any, Any]) -> list[Any]:
    """The keys of a dict's children."""
    return [*map(MappingKey, tree)]


def of_named_tuple(tree: Any) -> list[Any]:
    """The keys of a named tuple's children."""
    return [*map(GetAttrKey, tree._fields)]
