"""``Compare``: a table of measurements."""

from __future__ import annotations

import enum
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .measurement import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BEST, _RESET = "\033[92m\033[1m", "\033[0m\033[0m"


class Colorize(enum.Enum):
    """Scope in which ``Compare`` colors the best time: columns, rows or none.

    Example:
        >>> from tinytorch.utils.benchmark import Colorize
        >>> Colorize.ROWWISE.value
        'rowwise'
    """

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table of measurements for each label: rows are sub-labels, columns are descriptions.

    Args:
        results: The measurements; those of the same task are merged.

    Example:
        >>> from tinytorch.utils.benchmark import Compare, Measurement, TaskSpec
        >>> def times(way, ms):
        ...     spec = TaskSpec("f()", "pass", label="f", sub_label="10", description=way)
        ...     return Measurement(1, [ms / 1000], spec)
        >>> Compare([times("old", 3.0), times("new", 2.0)]).print()
        [--------- f ----------]
                  |  old  |  new
        1 threads: -------------
              10  |  3.0  |  2.0
        <BLANKLINE>
        ...
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trimmed = self._warned = False
        self._colorize = Colorize.NONE
        self.extend_results(results)

    def extend_results(self, results: Sequence[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: If an item is not a ``Measurement``.

        Example:
            >>> from tinytorch.utils.benchmark import Compare, Timer
            >>> table = Compare([])
            >>> table.extend_results([Timer("sum([1])").timeit(10)])
        """
        for each in results:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(each)} instead."
                )
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Round times to their significant figures.

        Example:
            >>> from tinytorch.utils.benchmark import Compare
            >>> Compare([]).trim_significant_figures()
        """
        self._trimmed = True

    def highlight_warnings(self) -> None:
        """Mark times with a high variance.

        Example:
            >>> from tinytorch.utils.benchmark import Compare
            >>> Compare([]).highlight_warnings()
        """
        self._warned = True

    def colorize(self, rowwise: bool = False) -> None:
        """Color the best time of each column, or of each row.

        Example:
            >>> from tinytorch.utils.benchmark import Compare
            >>> Compare([]).colorize()
        """
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def print(self) -> None:
        """Print the tables.

        Example:
            >>> from tinytorch.utils.benchmark import Compare
            >>> Compare([]).print()
            <BLANKLINE>
        """
        sys.stdout.write(f"{self}\n")

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(each.label for each in merged)
        tables = [self._table([each for each in merged if each.label == label], label)
                  for label in labels]  # fmt: skip
        return "\n".join(tables)

    def _table(self, results: list[Measurement], label: str | None) -> str:
        """Table of the measurements of one label; its rows are grouped by number of threads."""
        unit, scale = select_unit(min(each.median for each in results))
        columns = [
            _Column(name, [each for each in results if each.description == name], scale,
                    self._trimmed, self._warned)
            for name in ordered_unique(each.description for each in results)
        ]  # fmt: skip
        keys = ordered_unique((m.num_threads, m.env or "", m.as_row_name) for m in results)
        keys.sort(key=lambda key: key[:2])
        has_envs = len({env for _, env, _ in keys}) > 1
        names = [_row_name(env if has_envs else "", name, keys) for _, env, name in keys]
        first = max(map(len, names))
        pairs = zip(names, keys, strict=True)
        rows = [self._row(name.ljust(first), key, columns) for name, key in pairs]
        head = "  |  ".join([" " * first, *((c.name or "").center(c.width) for c in columns)])
        lines, threads = [f"[{f' {label or str()} '.center(len(head) - 2, '-')}]", head], None
        for (count, *_), row in zip(keys, rows, strict=True):
            if count != threads:
                lines.append(f"{count} threads: ".ljust(len(head), "-"))
                threads = count
            lines.append(row)
        end = f"Times are in {unit_to_english(unit)}s ({unit})."
        if self._warned and any(each.has_warnings for each in results):
            end += "\n(! XX%) Measurement has high variance, where XX is the IQR / median * 100."
        return "\n".join([*lines, "", end, ""])

    def _row(self, name: str, key: tuple[int, str, str], columns: list[_Column]) -> str:
        """Row of a table.

        Args:
            name: Padded text of the row's name.
            key: Number of threads, environment and name of the row's measurements.
            columns: Columns of the table.
        """
        found = [column.find(key) for column in columns]
        cells = [column.format(each) for column, each in zip(columns, found, strict=True)]
        if self._colorize is not Colorize.NONE:
            best = min(each.median for each in found if each is not None)
            for index, (column, each) in enumerate(zip(columns, found, strict=True)):
                if self._colorize is Colorize.COLUMNWISE:
                    best = min(other.median for other in column.results)
                if each is not None and each.median == best:
                    cells[index] = _BEST + cells[index] + _RESET
        return "  |  ".join([name, *cells])


def _row_name(env: str, name: str, keys: list[tuple[int, str, str]]) -> str:
    """Indented text of a row's name, after its environment unless that is empty.

    ``keys`` are the keys of all rows, whose longest environment determines the width.
    """
    longest = max(len(other) for _, other, _ in keys) if env else 0
    return "  " + (f"({env})" if env else "").ljust(longest + 4) + name


@dataclass
class _Column:
    """Column of a table: the measurements of one description.

    Attributes:
        name: The description.
        results: The measurements.
        scale: The table's unit in seconds.
        trimmed: Whether times are rounded to significant figures.
        warned: Whether times with a high variance have a warning.
        width: Number of characters.
    """

    name: str | None
    results: list[Measurement]
    scale: float
    trimmed: bool
    warned: bool

    def __post_init__(self) -> None:
        # Number of digits of each time before the decimal point.
        digits = [math.ceil(math.log10(each.median / self.scale)) for each in self.results]
        self._decimals = 1
        if self.trimmed:
            self._decimals = min(
                max(each.significant_figures - count, 0)
                for each, count in zip(self.results, digits, strict=True)
            )
        self._length = max(digits) + self._decimals + (self._decimals > 0)
        cells = [self._number(each) for each in self.results]
        self.width = max(len(text) for text in (*cells, self.name or ""))

    def find(self, key: tuple[int, str, str]) -> Measurement | None:
        """Measurement in the row of a key, or None."""
        for each in self.results:
            if key == (each.num_threads, each.env or "", each.as_row_name):
                return each
        return None

    def format(self, found: Measurement | None) -> str:
        """Text of a cell, padded to the width of the column."""
        return ("" if found is None else self._number(found)).center(self.width)

    def _number(self, result: Measurement) -> str:
        """Text of a measurement's median in the unit of the table, with its warning."""
        value = result.median / self.scale
        if self.trimmed:
            value = trim_sigfig(value, result.significant_figures)
        text = f"{value:{self._length}.{self._decimals}f}"
        if not self.warned:
            return text
        warning = f" (! {result.iqr / result.median:3.0%})" if result.has_warnings else " " * 9
        return text + warning
