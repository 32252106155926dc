"""The committed manifest of a real CuPy, read once (``make_manifest.py`` regenerates it)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MANIFEST: dict[str, Any] = json.loads(
    Path(__file__).with_name("manifest.json").read_text(encoding="utf-8")
)

ACCEPTED_DTYPES = frozenset(
    char for char, outcome in MANIFEST["dtypes"].items() if outcome == "accepted"
)


def names(namespace: str) -> dict[str, dict[str, Any]]:
    """Return what the manifest holds of each name in ``namespace``, such as ``"cupyx"``."""
    entries: dict[str, dict[str, Any]] = MANIFEST["namespaces"][namespace]["names"]
    return entries


def methods(cls: str) -> dict[str, dict[str, Any]]:
    """Return the parameters of each method of ``"ndarray"`` or ``"random.Generator"``."""
    entries: dict[str, dict[str, Any]] = MANIFEST[cls]["methods"]
    return entries
