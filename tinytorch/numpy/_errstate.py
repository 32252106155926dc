"""``errstate``: how floating-point errors are treated for a while."""

from __future__ import annotations

from contextlib import AbstractContextManager, ContextDecorator
from typing import Any

from ..state import current_backend


class errstate(ContextDecorator):
    """Ignore, warn of or raise floating-point errors inside a ``with`` block or a function.

    It is the array library that sees them; one that computes on a device sees none, and there
    this does nothing. Fourier transforms and factorizations of matrices tell of none.

    Args:
        all: ``"ignore"``, ``"warn"`` or ``"raise"`` for all kinds of errors.
        divide: For divisions by zero.
        over: For results that are too large.
        under: For results that are too small.
        invalid: For results that are no number.
        call: A function for NumPy to call, with ``"call"`` for one of the above.

    Raises:
        FloatingPointError: Inside, for what is to be raised.

    Example:
        >>> import tinytorch as tt
        >>> with tt.errstate(divide="raise"):
        ...     tt.ones(1) / 0
        Traceback (most recent call last):
            ...
        FloatingPointError: divide by zero encountered in divide
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self._entered: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> None:
        context = current_backend().errstate(**self.options)
        context.__enter__()
        self._entered.append(context)

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)
