"""Linear algebra: decompositions, solvers, norms, products of matrices.

The operations themselves live in ``tinytorch.ops``; this is the name they are reached by.
"""

from __future__ import annotations

from .facade import resolve
from .ops.linalg.shared import LinAlgError as LinAlgError

__getattr__, __dir__ = resolve.namespace(__name__, "linalg", ["LinAlgError"])
