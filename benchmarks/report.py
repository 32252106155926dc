"""Rows of figures: as a table to read, as JSON to keep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .libraries import NAMES

UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9, "×": 1.0}


@dataclass(frozen=True)
class Row:
    """One piece of work in every library that can do it.

    Attributes:
        work: What was done.
        unit: The unit the table shows; ``values`` are seconds, or bare ratios where it is ``×``.
        values: The median for each library.
        budget: The bound of DESIGN.md §10 on ``figure``; ``None`` where it sets none.
        figure: What the bound is on: tinytorch's time over PyTorch's or over NumPy's, what it
            takes above NumPy's, or its own.
        at_least: Whether the bound is a lower one.
    """

    work: str
    unit: str
    values: dict[str, float]
    budget: float | None = None
    figure: str = "over torch"
    at_least: bool = False

    def ratio(self, other: str) -> float | None:
        """Return tinytorch's value over that of ``other``."""
        if "tinytorch" not in self.values or other not in self.values:
            return None
        return self.values["tinytorch"] / self.values[other]

    def measured(self) -> float | None:
        """Return the number that stands beside the budget."""
        if self.figure == "own":
            return self.values.get("tinytorch")
        if self.figure == "above numpy":
            return self.values["tinytorch"] - self.values["numpy"]
        return self.ratio("numpy" if self.figure == "over numpy" else "torch")

    def met(self) -> bool | None:
        """Tell whether the budget is met; ``None`` without a budget or a measurement."""
        measured = self.measured()
        if self.budget is None or measured is None:
            return None
        return measured >= self.budget if self.at_least else measured <= self.budget

    def as_json(self) -> dict[str, Any]:
        ratios = {name: self.ratio(name) for name in self.values if name != "tinytorch"}
        return asdict(self) | {"ratios": ratios, "measured": self.measured(), "met": self.met()}


def cells(row: Row) -> list[str]:
    """Return a row of the table: the values, the ratio that counts, its budget, the verdict."""
    scale = UNITS[row.unit]
    values = [f"{row.values[name] * scale:.3g}" if name in row.values else "–" for name in NAMES]
    measured, verdict = row.measured(), {True: "met", False: "MISSED", None: ""}[row.met()]
    bound = "≥" if row.at_least else "≤"
    own_scale = scale if row.figure in ("own", "above numpy") else 1.0
    figure = "–" if measured is None else f"{measured * own_scale:.2f}"
    budget = "" if row.budget is None else f"{bound} {row.budget * own_scale:g}"
    over_numpy = row.ratio("numpy")
    return [
        row.work,
        row.unit,
        *values,
        "–" if over_numpy is None else f"{over_numpy:.2f}",
        figure,
        budget,
        verdict,
    ]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text, the first column to the left, the rest to the right."""
    head = ["work", "unit", *NAMES, "/numpy", "figure", "budget", ""]
    lines = [head, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    )


def write(path: Path, machine: dict[str, Any], rows: Sequence[Row]) -> None:
    """Write the machine and the rows as JSON."""
    content = {"machine": machine, "rows": [row.as_json() for row in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
