"""Window functions.

The operations themselves live in ``tinytorch.ops``; this is the name they are reached by.
"""

from __future__ import annotations

from ..facade import resolve

#: PyTorch has a package of this name: ``facade.reexports`` knows the modules in it.
__path__: list[str] = []

__getattr__, __dir__ = resolve.namespace(__name__, "signal.windows")
