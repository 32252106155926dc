"""What may stand in the brackets after a tensor, in the words of annotations."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, SupportsIndex, TypeAlias

from ...backends.array_types import ArrayLike
from ...core.tensor import Tensor

_Part: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | ArrayLike | None
#: Text is a sequence, too, but not of these.
IndexLike: TypeAlias = (
    _Part | Sequence[_Part | Sequence[SupportsIndex] | list[Any]] | tuple[Any, ...]
)
#: What may be written there.
Values: TypeAlias = Tensor | ArrayLike | complex | list[Any] | tuple[Any, ...] | range
