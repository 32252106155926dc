"""What type checkers make of ``Function.apply``: it returns what ``forward`` does."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

R = TypeVar("R", covariant=True)


class Applied(Protocol[R]):
    """A ``Function`` by the result of its ``forward``, whatever that takes."""

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> R:
        """As in ``Function``."""
