"""``torch._tensor_str``, which libraries print tensors of their own with."""

from __future__ import annotations

from typing import Any

from ..core.printing import _contents, _options, _with_suffixes
from ..core.printing import printoptions as printoptions
from ..core.printing import set_printoptions as set_printoptions

__all__ = ["PRINT_OPTS", "_add_suffixes", "_tensor_str", "printoptions", "set_printoptions"]


class _Current:
    """The settings as they are, ``PRINT_OPTS.threshold``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_options(), name)


PRINT_OPTS = _Current()


def _tensor_str(self: Any, indent: int) -> str:
    """The numbers of a tensor.

    Args:
        self: The tensor.
        indent: Columns in front of the lines after the first.
    """
    return _contents(self.detach(), indent, _options())


def _add_suffixes(
    tensor_str: str, suffixes: list[str], indent: int, force_newline: bool = False
) -> str:
    """A text with what follows the numbers, ``dtype=...``, and a bracket.

    Args:
        tensor_str: The text so far.
        suffixes: What follows.
        indent: Columns in front of a new line.
        force_newline: Accepted for compatibility.
    """
    return _with_suffixes(tensor_str, suffixes, indent, _options().linewidth)
