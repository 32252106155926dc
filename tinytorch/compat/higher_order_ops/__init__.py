"""PyTorch's functions of functions, ``torch.cond`` and the like, run as Python runs them.

PyTorch has them so that a compiler sees both branches, or a loop as one step; here nothing is
compiled, and they are the ``if`` and ``while`` that they look like.
"""

from __future__ import annotations

from .associative_scan import associative_scan as associative_scan
from .cond import cond as cond
from .map import map as map
from .scan import scan as scan
from .while_loop import while_loop as while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]

cond.__module__ = while_loop.__module__ = "tinytorch"
