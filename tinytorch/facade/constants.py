"""Constants of NumPy's: ``pi``, ``e``, ``inf``, ``nan`` and others."""

from __future__ import annotations

import math

True_: bool = True
False_: bool = False
e: float = math.e
euler_gamma: float = 0.5772156649015329
inf: float = math.inf
nan: float = math.nan
pi: float = math.pi
#: Index that inserts a dimension of size 1.
newaxis: None = None
