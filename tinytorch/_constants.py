"""Numbers by name."""

from __future__ import annotations

import math

e: float = math.e
inf: float = math.inf
nan: float = math.nan
pi: float = math.pi
#: An index that makes a dimension of size 1.
newaxis: None = None
