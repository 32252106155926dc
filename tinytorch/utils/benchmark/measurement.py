"""``Measurement``: times of a statement and their statistics."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Measurement", "TaskSpec", "ordered_unique", "select_unit", "trim_sigfig", "unit_to_english",
]  # fmt: skip

_UNITS = {"ns": ("nanosecond", 1e-9), "us": ("microsecond", 1e-6), "ms": ("millisecond", 1e-3),
          "s": ("second", 1)}  # fmt: skip
#: Resolution of a clock in seconds, and the largest number of significant figures.
_FINEST, _MOST_FIGURES = 25e-9, 5
#: Interquartile ranges, divided by the median, from which there are warnings.
_HIGH_SPREAD, _VERY_HIGH_SPREAD = 0.1, 0.25


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The distinct elements, in the order of their first occurrence.

    Example:
        >>> from tinytorch.utils.benchmark import ordered_unique
        >>> ordered_unique([2, 1, 2])
        [2, 1]
    """
    return list(dict.fromkeys(elements))


def select_unit(t: float) -> tuple[str, float]:
    """Unit in which to write a time, and its length in seconds.

    Args:
        t: The time in seconds.

    Example:
        >>> from tinytorch.utils.benchmark import select_unit
        >>> select_unit(0.002)
        ('ms', 0.001)
    """
    fitting = [(unit, scale) for unit, (_, scale) in _UNITS.items() if scale <= t]
    return fitting[-1] if fitting else ("ns", 1e-9)


def unit_to_english(u: str) -> str:
    """English name of a unit.

    Example:
        >>> from tinytorch.utils.benchmark import unit_to_english
        >>> unit_to_english("us")
        'microsecond'
    """
    return _UNITS[u][0]


def trim_sigfig(x: float, n: int) -> float:
    """Round a number to ``n`` significant figures.

    Args:
        x: A positive number.
        n: Number of figures.

    Example:
        >>> from tinytorch.utils.benchmark import trim_sigfig
        >>> trim_sigfig(1234.5, 2)
        1200.0
    """
    scale = 10.0 ** (math.ceil(math.log10(x)) - n)
    return float(round(x / scale) * scale)


@dataclass(frozen=True)
class TaskSpec:
    """The statement of a measurement, and its labels in tables.

    Args:
        stmt: The statement.
        setup: Statement that is executed first.
        global_setup: Not used for Python.
        label: Title of the table.
        sub_label: Name of the row.
        description: Name of the column.
        env: Name of the environment, if the same statement is measured in several.
        num_threads: Number of threads of operations.

    Example:
        >>> from tinytorch.utils.benchmark import TaskSpec
        >>> TaskSpec("x + 1", "x = 1", label="sum").title
        'sum'
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label and sub-label, or the statement if there is no label."""
        if self.label is None:
            return self.stmt
        return self.label + (f": {self.sub_label}" if self.sub_label else "")

    def summarize(self) -> str:
        """Text with the title, the description and the setup.

        Example:
            >>> from tinytorch.utils.benchmark import TaskSpec
            >>> print(TaskSpec("x + 1", "x = 1", label="sum").summarize())
            sum
            setup: x = 1
        """
        setup = "" if self.setup == "pass" else f"setup: {self.setup}"
        return "\n".join(filter(None, [self.title, self.description, setup]))


@dataclass(init=True, repr=False, eq=False)
class Measurement:
    """Times of a statement.

    Args:
        number_per_run: Number of runs in a block.
        raw_times: Total time of each block in seconds.
        task_spec: The statement and its labels.
        metadata: Further data of the program. Default: None.

    Example:
        >>> from tinytorch.utils.benchmark import Measurement, TaskSpec
        >>> times = Measurement(10, [0.01, 0.03, 0.02], TaskSpec("f()", "pass"))
        >>> times.median, times.title
        (0.002, 'f()')
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if (
            name.startswith("__") or name == "task_spec"
        ):  # copy looks them up before task_spec is set
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """Time of one run in seconds, for each block."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def median(self) -> float:
        """Median of the times."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Mean of the times."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """Interquartile range of the times."""
        low, high = self._quartiles()
        return high - low

    def _quartiles(self) -> tuple[float, float]:
        """First and third quartile of the times."""
        if len(self.times) == 1:
            return self.times[0], self.times[0]
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return low, high

    @property
    def significant_figures(self) -> int:
        """Number of significant figures of the median.

        It is estimated from a 90 % confidence interval (1.645 standard errors) of the middle half
        of the times.
        """
        times, count = sorted(self.times), len(self.times)
        middle = times[count // 4 : math.ceil(3 * count / 4)]
        interval = max(1.645 * statistics.pstdev(middle) / math.sqrt(len(middle)), _FINEST)
        figures = math.floor(math.log10(self.median / interval))
        return min(max(figures, 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the interquartile range is high."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _HIGH_SPREAD) -> bool:
        """Whether the interquartile range, divided by the median, is below a threshold.

        Example:
            >>> from tinytorch.utils.benchmark import Measurement, TaskSpec
            >>> Measurement(1, [0.1, 0.2, 0.3], TaskSpec("f()", "pass")).meets_confidence()
            False
        """
        return self.iqr / self.median < threshold

    @property
    def as_row_name(self) -> str:
        """Name of the row in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        lines = [object.__repr__(self), self.summarize(), *self._figures()]
        return "\n".join(lines)

    def _figures(self) -> list[str]:
        """Lines of ``repr`` with the median, the interquartile range and the counts."""
        unit, scale = select_unit(self.median)
        count, runs = len(self.times), f"{self.number_per_run} runs"
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        if count == 1:
            return [f"  {self.median / scale:.2f} {unit}",
                    f"  1 measurement, {runs} , {threads}"]  # fmt: skip
        low, high = (each / scale for each in self._quartiles())
        spread = f"  IQR:    {high - low:.2f} {unit} ({low:.2f} to {high:.2f})"
        return [
            f"  Median: {self.median / scale:.2f} {unit}",
            *([spread] if count > 3 else []),
            f"  {count} measurements, {runs} per measurement, {threads}",
            *self._warnings(),
        ]

    def _warnings(self) -> list[str]:
        """Lines of ``repr`` that warn of a high interquartile range."""
        if self.meets_confidence():
            return []
        reason = "could indicate system fluctuation"
        if not self.meets_confidence(_VERY_HIGH_SPREAD):
            reason = "suggests significant environmental influence"
        return [
            f"  WARNING: Interquartile range is {self.iqr / self.median:.1%} of the median "
            "measurement.",
            f"           This {reason}.",
        ]

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Merge the measurements of each task into one.

        Example:
            >>> from tinytorch.utils.benchmark import Measurement, TaskSpec
            >>> first, second = (Measurement(1, [t], TaskSpec("f()", "pass")) for t in (1.0, 3.0))
            >>> [times.median for times in Measurement.merge([first, second])]
            [2.0]
        """
        found: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            found.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, spec) for spec, times in found.items()]
