"""A backend of a third party: NumPy, with every call of a library function on record."""

from __future__ import annotations

from collections import Counter
from functools import wraps
from typing import Any

from tinytorch.backends.numpy import NumpyBackend


class LedgerBackend(NumpyBackend):
    """NumPy under another name; ``ledger`` counts the functions that operations called."""

    name = "ledger"

    def __init__(self) -> None:
        self.ledger: Counter[str] = Counter()

    def served(self, name: str, value: Any) -> Any:
        if isinstance(value, type) or not callable(value):
            return value

        @wraps(value)
        def count_call(*args: Any, **kwargs: Any) -> Any:
            self.ledger[name] += 1
            return value(*args, **kwargs)

        return count_call
