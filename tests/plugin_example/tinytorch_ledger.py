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
        super().__init__()
        self.ledger: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name.startswith("_") or isinstance(found, type) or not callable(found):
            return found

        @wraps(found)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.ledger[name] += 1
            return found(*args, **kwargs)

        setattr(self, name, counted)
        return counted
