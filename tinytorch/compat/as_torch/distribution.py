"""``importlib.metadata.version("torch")`` where tinytorch stands in: libraries ask it."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any


class TorchDistribution(Distribution):
    """A distribution named torch, of the version that ``torch.__version__`` tells."""

    def read_text(self, filename: str) -> str | None:
        """What the file of the distribution says, of which there is one."""
        if filename != "METADATA":
            return None
        version = sys.modules[__name__.partition(".")[0]].__version__
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n"

    def locate_file(self, path: Any) -> Any:
        """Where a file of it would be."""
        return Path(__file__).parent / path
