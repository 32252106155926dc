"""The headings of the reference and the names under each, in PyTorch's and NumPy's order.

The folder ``purposes/`` has a file for each module whose page has headings, and ``modules.txt`` for
the page of all modules. A block of such a file is a heading, an optional sentence about it, and the
names in indented lines. In-place forms stand with the function that is not in-place, unsupported
names and NumPy's functions at the top level under headings of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "purposes"


@dataclass(frozen=True)
class Heading:
    """A heading, a sentence about it, and the names under it."""

    title: str
    text: str
    names: tuple[str, ...]

    @property
    def slug(self) -> str:
        """The title as part of a path."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


@cache
def headings(module: str) -> tuple[Heading, ...]:
    """The headings of a module; none for a module without a file."""
    path = FOLDER / f"{module}.txt"
    blocks = path.read_text(encoding="utf-8").split("\n\n") if path.exists() else []
    return tuple(_read(block) for block in blocks)


def _read(block: str) -> Heading:
    """Read one block of a file."""
    title, *lines = block.strip("\n").splitlines()
    text = " ".join(line for line in lines if not line.startswith(" "))
    return Heading(title, text, tuple(" ".join(line for line in lines if line[0] == " ").split()))


@cache
def names_with_heading(module: str) -> frozenset[str]:
    """Every name under a heading of a module."""
    return frozenset(name for heading in headings(module) for name in heading.names)
