"""PyTorch's random streams for a backend: drawn on the host, handed out as its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .formulas import NDArray
from .mt19937 import NO_CHANCE, TorchMT19937
from .words import DEFAULT_SEED

if TYPE_CHECKING:
    from ..base import Array, Backend


class HostGenerator(TorchMT19937):
    """The engine for a backend that has none of its own: draws on the host, then copies.

    So one seed gives the same numbers on every backend. What only compares or sorts them with
    given arrays is done where those are; laws that read them number by number fetch them.
    """

    def __init__(self, backend: Backend, seed: int = DEFAULT_SEED) -> None:
        self._backend = backend
        super().__init__(seed)

    @property
    def _library(self) -> Any:
        return self._backend.library

    def bernoulli(self, p: float | Array, shape: Sequence[int], dtype: Any) -> Array:
        """The same, compared where ``p`` is: an array of chances is not fetched."""
        if isinstance(p, (int, float)):
            return super().bernoulli(p, shape, dtype)
        self._check_all((p >= 0) & (p <= 1), NO_CHANCE)
        return (self._place(self._units_for(p, shape)) < p).astype(dtype)

    def _check_all(self, valid: Array, message: str) -> None:
        self._backend.check_all(valid, message)

    def _place(self, array: NDArray) -> Array:
        return self._backend.from_numpy(array)

    def _fetch(self, array: Array) -> NDArray:
        return self._backend.to_numpy(array)
