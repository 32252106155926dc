"""Rows of figures, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .libraries import NAMES

UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9, "×": 1.0, "MB": 1.0}


@dataclass(frozen=True)
class ResultRow:
    """One piece of work in every library that can do it.

    Attributes:
        work: Name of the work.
        unit: The unit the table shows; ``values`` are seconds, bare ratios where it is ``×``, or
            megabytes.
        values: Median for each library.
        budget: Bound on ``figure``; ``None`` if there is none.
        figure: The bounded figure: the ratio of tinytorch's time to PyTorch's or NumPy's, its
            time above one of theirs, or its own time.
        at_least: Whether the bound is a lower bound.
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

    def figure_value(self) -> float | None:
        """Return the figure to compare with the budget."""
        if self.figure == "own":
            return self.values.get("tinytorch")
        if self.figure.startswith("above "):
            other = self.values.get(self.figure.removeprefix("above "))
            return None if other is None else self.values["tinytorch"] - other
        return self.ratio(self.figure.removeprefix("over "))

    def is_met(self) -> bool | None:
        """Whether the budget is met; ``None`` without a budget or a measurement."""
        measured = self.figure_value()
        if self.budget is None or measured is None:
            return None
        return measured >= self.budget if self.at_least else measured <= self.budget

    def as_json(self) -> dict[str, Any]:
        """Return the attributes, and the figures that follow from them, for JSON."""
        ratios = {name: self.ratio(name) for name in self.values if name != "tinytorch"}
        return asdict(self) | {
            "ratios": ratios,
            "measured": self.figure_value(),
            "met": self.is_met(),
        }


def cells(row: ResultRow) -> list[str]:
    """Return a row of the table: the values, the figure, its budget, and whether it is met."""
    scale = UNITS[row.unit]
    values = [f"{row.values[name] * scale:.3g}" if name in row.values else "–" for name in NAMES]
    measured, verdict = row.figure_value(), {True: "met", False: "MISSED", None: ""}[row.is_met()]
    bound = "≥" if row.at_least else "≤"
    own_scale = scale if row.figure.startswith(("own", "above ")) else 1.0
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


def table(rows: Sequence[ResultRow]) -> str:
    """Return the rows as aligned text, the first column to the left, the rest to the right."""
    head = ["work", "unit", *NAMES, "/numpy", "figure", "budget", ""]
    lines = [head, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    )


def write(path: Path, machine: dict[str, Any], rows: Sequence[ResultRow]) -> None:
    """Write the machine and the rows as JSON."""
    content = {"machine": machine, "rows": [row.as_json() for row in rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
