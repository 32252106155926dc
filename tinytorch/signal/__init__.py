"""Signal processing: window functions, in ``tinytorch.signal.windows``."""

from __future__ import annotations

from . import windows as windows
