"""``torch._dynamo`` for programs that tell its compiler what to leave: nothing is compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

__all__ = ["TransformGetItemToIndex", "config", "optimize"]


class _Settings(SimpleNamespace):
    """Settings, and scopes in which they are others."""

    @contextlib.contextmanager
    def patch(self, arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Iterator[None]:
        """Other settings for a block, or while a function runs.

        Args:
            arg1: The name of one, or names and values in a dict. Default: none.
            arg2: The value of the one that is named.
            **kwargs: Names and values.
        """
        given = {arg1: arg2} if isinstance(arg1, str) else arg1 or {}
        before = dict(vars(self))
        vars(self).update(given, **kwargs)
        try:
            yield
        finally:
            vars(self).clear()
            vars(self).update(before)


#: Settings of the compiler, which programs set; nothing reads them.
config: _Settings = _Settings(
    cache_size_limit=8, recompile_limit=8, suppress_errors=False, verbose=False,
    capture_scalar_outputs=False, optimize_ddp=True, disable=False,
)  # fmt: skip


class TransformGetItemToIndex(contextlib.AbstractContextManager[None]):
    """A scope in which tensors may be indexed by those that ``vmap`` maps: they always may."""

    def __exit__(self, *error: object) -> None:
        """Nothing."""


def optimize(*args: Any, **kwargs: Any) -> Any:
    """A decorator that returns what it is given, as ``compile`` does."""
    return lambda function: function
