"""Syntax trees of sources, which the tests of the text share."""

from __future__ import annotations

import ast
import gc
from functools import cache


@cache
def parse(text: str) -> ast.Module:
    """Syntax tree of a source, parsed once for all tests."""
    gc.disable()  # Collections that start meanwhile visit the trees again and again.
    try:
        return ast.parse(text)
    finally:
        gc.freeze()
        gc.enable()
