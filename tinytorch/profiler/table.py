"""The table of a profile, with PyTorch's columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_WIDTH = 12


def time_text(microseconds: float, unit: str | None = None) -> str:
    """Text of a time in a unit; by default in the largest unit in which it is at least 1.

    Example:
        >>> from tinytorch.profiler.table import time_text
        >>> time_text(1500.0), time_text(1500.0, "s")
        ('1.500ms', '0.002s')
    """
    if unit not in _UNITS:
        unit = next((name for name, size in _UNITS.items() if microseconds >= size), "us")
    return f"{microseconds / _UNITS[unit]:.3f}{unit}"


def _share(part: float, whole: float) -> str:
    return f"{part * 100.0 / whole:.2f}%" if whole else "NaN"


def _bytes_text(count: int) -> str:
    """Text of a number of bytes, in the largest unit in which it is at least 1."""
    for name, size in (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024)):
        if abs(count) >= size:
            return f"{count / size:.2f} {name}"
    return f"{count} B"


class _TableColumn(NamedTuple):
    """Column of the table.

    Attributes:
        heading: Its heading.
        width: Number of characters.
        text: Returns the text of the cell for an event.
        left: Whether cells are aligned to the left.
    """

    heading: str
    width: int
    text: Callable[[Any], str]
    left: bool = False

    def cell(self, text: str) -> str:
        """Pad a text to the column's width; a longer text is not cut."""
        return (text.ljust if self.left else text.rjust)(self.width) + "  "


def layout(
    events: Sequence[Any], *, row_limit: int, widths: tuple[int | None, int | None, int | None],
    header: str | None, top_level_only: bool, unit: str | None, memory: bool, flops: bool,
) -> str:  # fmt: skip
    """Return the table of events; see ``EventList.table``.

    Args:
        events: The events, in the order of the rows.
        row_limit: Largest number of events, or -1.
        widths: Largest widths of the columns of names, shapes and stacks; None for no limit.
        header: Text above the table, or None.
        top_level_only: Whether nested events are left out.
        unit: Unit of times; None for one that fits each time.
        memory: Whether there are columns of memory.
        flops: Whether there is a column of floating-point operations.
    """
    if not events:
        return ""
    total = sum(event.self_cpu_time_total for event in events)
    columns = _columns(events, total, widths, unit, memory, flops)
    rule = "".join("-" * column.width + "  " for column in columns)
    lines = ["=" * (len(rule) - 2), header] if header is not None else []
    if top_level_only:
        lines += ["=" * (len(rule) - 2), "This report only display top-level ops statistics"]
    lines += [rule, "".join(column.cell(column.heading) for column in columns), rule]
    chosen = [event for event in events if not (top_level_only and event.cpu_parent is not None)]
    for event in chosen if row_limit < 0 else chosen[:row_limit]:
        lines.append("".join(column.cell(column.text(event)) for column in columns))
        if columns[-1].left:
            lines += _further_lines(event, columns)
    return "\n".join([*lines, rule, f"Self CPU time total: {time_text(total, unit)}", ""])


def _columns(
    events: Sequence[Any], total: float, widths: tuple[int | None, int | None, int | None],
    unit: str | None, memory: bool, flops: bool,
) -> list[_TableColumn]:  # fmt: skip
    """Columns of the table; see ``layout``. ``total`` is the time that is 100 %."""

    def time_column(heading: str, attribute: str) -> _TableColumn:
        return _TableColumn(heading, _WIDTH, lambda e: time_text(getattr(e, attribute), unit))

    def share_column(heading: str, attribute: str) -> _TableColumn:
        return _TableColumn(heading, _WIDTH, lambda e: _share(getattr(e, attribute), total))

    def memory_column(heading: str, attribute: str) -> _TableColumn:
        return _TableColumn(heading, _WIDTH, lambda e: _bytes_text(getattr(e, attribute)))

    columns = [
        _name_column(events, widths[0]),
        share_column("Self CPU %", "self_cpu_time_total"),
        time_column("Self CPU", "self_cpu_time_total"),
        share_column("CPU total %", "cpu_time_total"), time_column("CPU total", "cpu_time_total"),
        time_column("CPU time avg", "cpu_time"),
    ]  # fmt: skip
    if any(event.module for event in events):
        width = max(len(event.module) for event in events) + 4
        columns.insert(1, _TableColumn("Module", width, lambda e: e.module))
    if memory:
        columns += [
            memory_column("CPU Mem", "cpu_memory_usage"),
            memory_column("Self CPU Mem", "self_cpu_memory_usage"),
        ]
    columns.append(_TableColumn("# of Calls", _WIDTH, lambda event: str(event.count)))
    if any(event.input_shapes for event in events):
        width = _limit_width(max(len(str(event.input_shapes)) for event in events) + 4, widths[1])
        columns.append(_TableColumn("Input Shapes", width, lambda e: str(e.input_shapes)[:width]))
    if flops and any(event.flops > 0 for event in events):
        columns.append(_flops_column([event.flops for event in events if event.flops > 0]))
    if any(event.stack for event in events):
        columns.append(_stack_column(events, widths[2]))
    return columns


def _limit_width(width: int, limit: int | None) -> int:
    return width if limit is None else min(width, limit)


def _name_column(events: Sequence[Any], limit: int | None) -> _TableColumn:
    """Column of the names of the events, cut to at most ``limit`` characters."""

    def name(event: Any) -> str:
        key: str = event.key
        is_long = limit is not None and len(key) >= limit - 3
        return f"{key[: (limit or 0) - 3]}..." if is_long else key

    return _TableColumn("Name", _limit_width(max(len(e.key) for e in events) + 4, limit), name)


def _flops_column(counts: list[int]) -> _TableColumn:
    """Column of floating-point operations, in a unit chosen for the smallest count.

    ``counts`` are the positive counts of all events.
    """
    power = min(5, int(math.log10(min(counts)) / 3))

    def text(event: Any) -> str:
        return f"{event.flops * 10.0 ** (-3 * power):8.3f}" if event.flops > 0 else "--"

    return _TableColumn(f"Total {('', 'K', 'M', 'G', 'T', 'P')[power]}FLOPs", _WIDTH, text)


def _stack_column(events: Sequence[Any], limit: int | None) -> _TableColumn:
    """Column of the innermost lines of the events' stacks, of at most ``limit`` characters."""
    width = _limit_width(max(len(line) for event in events for line in event.stack) + 4, limit)

    def text(event: Any) -> str:
        return _cut_start(event.stack[0], width) if event.stack else ""

    return _TableColumn("Source Location", width, text, left=True)


def _cut_start(line: str, width: int) -> str:
    """Cut the beginning of a line that is longer than ``width``, and put three dots there."""
    cut = line[-width:]
    return cut if len(line) <= width or len(cut) <= 3 else f"...{cut[3:]}"


def _further_lines(event: Any, columns: list[_TableColumn]) -> list[str]:
    """Rows for the lines of an event's stack after the first one, and an empty row.

    Only the last column, that of stacks, has text in these rows.
    """
    before = "".join(column.cell("") for column in columns[:-1])
    last = columns[-1]
    return [before + last.cell(_cut_start(line, last.width)) for line in (*event.stack[1:], "")]
