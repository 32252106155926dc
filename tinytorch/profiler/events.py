"""Events of a profile, in PyTorch's form: single events, and sums of the events of one name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from .recording import Record
from .table import layout, time_text

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "Interval"]


class Interval:
    """Interval of time, in microseconds since the profile began.

    Args:
        start: The start.
        end: The end.

    Example:
        >>> from tinytorch.profiler.events import Interval
        >>> Interval(1.0, 3.5).elapsed_us()
        2.5
    """

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Return the length of the interval.

        Example:
            >>> from tinytorch.profiler.events import Interval
            >>> Interval(0.0, 1.0).elapsed_us()
            1.0
        """
        return self.end - self.start


class _Times:
    """Base class of events and of sums of events. Times are in microseconds."""

    key: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    node_id = -1
    overload_name = ""
    is_async = False
    is_remote = False
    is_legacy = False

    @property
    def cpu_time(self) -> float:
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """Mean time of a call, as text."""
        return time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """Time of all calls, as text."""
        return time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """Time of all calls without nested calls, as text."""
        return time_text(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """Event of a profile: an operation, a gradient, or a named part of the program.

    Attributes:
        id: Its number, in the order of the starts.
        name: PyTorch's name, and ``key`` the same; ``trace_name`` has the number of a step, too.
        time_range: The ``Interval`` in which it ran.
        thread: Number of its thread, counted from 1.
        input_shapes: Shapes of its arguments, with ``record_shapes``.
        stack: Lines of the program that led to it, with ``with_stack``; for a gradient those that
            led to the operation itself.
        module: Name of the module whose operation an exported program ran, with ``with_modules``;
            for a gradient that of the operation itself. Otherwise "".
        flops: Number of floating-point operations, for operations with a formula; otherwise 0.
        cpu_memory_usage: Bytes in use at its end minus those at its start.
        sequence_nr: The same number for an operation and for its gradients, or -1.
        is_user_annotation: Whether it is a part of the program, not an operation.
        cpu_parent: The event in which it is nested, or None.
        cpu_children: The events nested in it.

    Example:
        >>> with tt.profiler.profile() as prof:
        ...     y = tt.ones(2).sin()
        >>> [event.name for event in prof.events()]
        ['aten::ones', 'aten::sin']
    """

    count = 1

    def __init__(self, id: int, record: Record, thread: int, since: int) -> None:
        self.id = id
        self.trace_name: str = record.name
        is_step = record.name.startswith("ProfilerStep#")  # the steps are one row
        self.name: str = "ProfilerStep*" if is_step else record.name
        self.key: str = self.name
        self.time_range: Interval = Interval(
            (record.start - since) / 1e3, (record.end - since) / 1e3
        )
        self.thread = thread
        self.input_shapes: list[Any] = record.shapes or []
        self.stack: list[str] = record.stack or []
        self.module: str = record.module
        self.flops: int = record.flops
        self.cpu_memory_usage: int = record.memory
        self.sequence_nr: int = record.sequence
        self.scope = 1 if record.backward else 0
        self.is_user_annotation: bool = record.kind == "user_annotation"
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Time that the event took."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Time that the event took without nested events."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Memory of the event without that of nested events."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(_Times):
    """Sum of ``count`` events: their times, memory and floating-point operations added up.

    Example:
        >>> with tt.profiler.profile() as prof:
        ...     y = tt.ones(2) + tt.ones(2)
        >>> [(event.key, event.count) for event in prof.key_averages()]
        [('aten::ones', 2), ('aten::add', 1)]
    """

    def __init__(self) -> None:
        self.key: str = ""
        self.count: int = 0
        self.cpu_time_total: float = 0.0
        self.self_cpu_time_total: float = 0.0
        self.cpu_memory_usage: int = 0
        self.self_cpu_memory_usage: int = 0
        self.flops: int = 0
        self.input_shapes: Any = ""
        self.stack: list[str] = []
        self.module: str = ""
        self.is_user_annotation = False
        self.cpu_parent: FunctionEvent | None = None

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add an event or another sum, and return this sum.

        Args:
            other: The event or sum; the first one also sets the name.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2)
            >>> tt.profiler.FunctionEventAvg().add(prof.events()[0]).count
            1
        """
        if not self.count:
            for name in ("key", "input_shapes", "stack", "module", "is_user_annotation",
                         "cpu_parent"):  # fmt: skip
                setattr(self, name, getattr(other, name))
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.flops += other.flops
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list[Any]):
    """List of events or of sums of events; its text is a table.

    Args:
        events: The events.
        profile_memory: Whether the table shows memory.
        with_flops: Whether it shows floating-point operations.

    Example:
        >>> with tt.profiler.profile() as prof:
        ...     y = tt.ones(2).sin()
        >>> print(prof.key_averages().table(row_limit=1).splitlines()[1].split()[:3])
        ['Name', 'Self', 'CPU']
    """

    def __init__(
        self, events: Iterable[Any] = (), *, profile_memory: bool = False, with_flops: bool = False
    ) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory
        self._with_flops = with_flops

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events, without counting nested events twice."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self, sort_by: str | None = None, row_limit: int = 100,
        max_src_column_width: int | None = 75, max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80, header: str | None = None,
        top_level_events_only: bool = False, time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """Return PyTorch's table of the events.

        Args:
            sort_by: Attribute to sort by, in descending order: ``"cpu_time_total"``, ``"count"``,
                ``"self_cpu_time_total"``, ``"cpu_memory_usage"``, ``"flops"``, ... Names with
                ``cuda`` and ``device`` mean the CPU's, which include a device's times. Default:
                not sorted.
            row_limit: Number of rows; -1 for all. Default: 100.
            max_src_column_width: Width of lines of the program; longer ones lose their beginning.
            max_name_column_width: Width of names; longer ones lose their end.
            max_shapes_column_width: Width of lists of shapes; longer ones lose their end.
            header: A line above the table.
            top_level_events_only: Whether nested events are left out. Default: False.
            time_unit: ``"s"``, ``"ms"`` or ``"us"`` for all times. Default: by the size of each.

        Raises:
            AttributeError: If events have no attribute ``sort_by``.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> "aten::sin" in prof.key_averages().table(sort_by="self_cpu_time_total")
            True
        """
        events = list(self)
        if sort_by is not None:
            name = sort_by
            for device in ("cuda", "xpu", "privateuse1", "device"):
                name = name.replace(device, "cpu")
            events.sort(key=lambda event: getattr(event, name), reverse=True)
        return layout(
            events,
            row_limit=row_limit,
            widths=(max_name_column_width, max_shapes_column_width, max_src_column_width),
            header=header,
            top_level_only=top_level_events_only,
            unit=time_unit,
            memory=self._profile_memory,
            flops=self._with_flops,
        )

    def __str__(self) -> str:
        return self.table()

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False, *, group_by_module: bool = False,
    ) -> EventList:  # fmt: skip
        """Return the sums of the events of each name.

        Args:
            group_by_input_shapes: Whether events of other shapes have sums of their own. Default:
                False.
            group_by_stack_n: Number of lines of the program that must be the same. Default: 0.
            group_by_overload_name: Without effect: operations have no overloads here.
            group_by_module: Whether events of other modules have sums of their own. Default: False.

        Example:
            >>> with tt.profiler.profile(record_shapes=True) as prof:
            ...     y = tt.ones(2).sin() + tt.ones(3, 1).sin()
            >>> for event in prof.key_averages(group_by_input_shape=True):
            ...     print(event.key, event.input_shapes)
            aten::ones [[]]
            aten::sin [[2]]
            aten::ones [[], []]
            aten::sin [[3, 1]]
            aten::add [[2], [3, 1]]
        """
        found: dict[tuple[Any, ...], FunctionEventAvg] = {}
        for event in self:
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            lines = tuple(event.stack[:group_by_stack_n])
            key = event.key, event.is_user_annotation, shapes, lines, event.module * group_by_module
            found.setdefault(key, FunctionEventAvg()).add(event)
        for each in found.values():
            each.stack = each.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                each.input_shapes = ""
            if not group_by_module:
                each.module = ""
        return EventList(
            found.values(), profile_memory=self._profile_memory, with_flops=self._with_flops
        )

    def total_average(self) -> FunctionEventAvg:
        """Return the sum of all events, under the name ``Total``.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> prof.key_averages().total_average().count
            2
        """
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:  # fmt: skip
        """Write lines of the program and the microseconds spent there, in the form of flame graphs.

        Args:
            path: The file.
            metric: ``"self_cpu_time_total"``; times of a device are not recorded.

        Raises:
            ValueError: For another metric.

        Example:
            >>> import os, tempfile
            >>> with tt.profiler.profile(with_stack=True) as prof:
            ...     y = tt.randn(1000).sort()
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "stacks.txt")
            ...     prof.export_stacks(path)
            ...     os.path.getsize(path) > 0
            True
        """
        if metric not in self.supported_export_stacks_metrics():
            known = self.supported_export_stacks_metrics()
            raise ValueError(f"metric should be one of: {known}, got {metric!r}")
        apart = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                microseconds = int(event.self_cpu_time_total)
                if event.stack and microseconds > 0:
                    lines = ";".join(line.translate(apart) for line in reversed(event.stack))
                    file.write(f"{lines} {microseconds}\n")

    def supported_export_stacks_metrics(self) -> list[str]:
        """Metrics that ``export_stacks`` accepts.

        Example:
            >>> tt.profiler.EventList().supported_export_stacks_metrics()
            ['self_cpu_time_total']
        """
        return ["self_cpu_time_total"]

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the times and threads of the events to a file for ``chrome://tracing``, Perfetto.

        Args:
            path: The file.

        Example:
            >>> import json, os, tempfile
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "trace.json")
            ...     prof.events().export_chrome_trace(path)
            ...     with open(path) as file:
            ...         [span["name"] for span in json.load(file)]
            ['aten::ones', 'aten::sin']
        """
        spans = [
            {
                "name": event.trace_name, "ph": "X", "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(), "tid": event.thread,
                "pid": "CPU functions", "args": {},
            }
            for event in self
        ]  # fmt: skip
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spans, file)


def events_of(records: list[Record], since: int, memory: bool, flops: bool) -> EventList:
    """Convert records to nested events, in the order of their starts.

    Args:
        records: The records, in the order of their ends.
        since: Start of the profile.
        memory: Whether the table shows memory.
        flops: Whether the table shows floating-point operations.
    """
    # Of two with the same start and end, the record that was added later contains the other.
    order = sorted(range(len(records)), key=lambda i: (records[i].start, -records[i].end, -i))
    threads: dict[int, int] = {}
    events = [
        FunctionEvent(
            n, records[i], threads.setdefault(records[i].thread, len(threads) + 1), since
        )
        for n, i in enumerate(order)
    ]  # fmt: skip
    _nest(events)
    events = _drop_repeats(events)
    _count_flops_once(events)
    _copy_forward_origins(events)
    return EventList(events, profile_memory=memory, with_flops=flops)


def _nest(events: list[FunctionEvent]) -> None:
    """Set ``cpu_parent`` and ``cpu_children`` of events, which are in the order of their starts."""
    running: dict[int, list[FunctionEvent]] = {}
    for event in events:
        stack = running.setdefault(event.thread, [])
        while stack and event.time_range.end > stack[-1].time_range.end:
            stack.pop()
        if stack:
            event.cpu_parent = stack[-1]
            stack[-1].cpu_children.append(event)
        stack.append(event)


def _drop_repeats(events: list[FunctionEvent]) -> list[FunctionEvent]:
    """Remove each event that is the only one nested in an event of the same name."""
    remaining = []
    for event in events:  # a parent comes before its children
        parent = event.cpu_parent
        if parent is None or parent.name != event.name or len(parent.cpu_children) > 1:
            remaining.append(event)
            continue
        parent.cpu_children = event.cpu_children
        parent.flops = max(parent.flops, event.flops)
        for child in event.cpu_children:
            child.cpu_parent = parent
    return remaining


def _count_flops_once(events: list[FunctionEvent]) -> None:
    """Set ``flops`` of an event to 0 if it is nested in an event with ``flops``."""
    for event in events:
        parent = event.cpu_parent
        while event.flops and parent is not None:
            event.flops = 0 if parent.flops else event.flops
            parent = parent.cpu_parent


def _copy_forward_origins(events: list[FunctionEvent]) -> None:
    """Copy stack and module of each operation to its gradient, with the same sequence number."""
    forward = {e.sequence_nr: e for e in reversed(events) if not e.scope}
    for event in events:
        if event.scope and event.sequence_nr in forward and event.sequence_nr >= 0:
            origin = forward[event.sequence_nr]
            event.stack, event.module = origin.stack, origin.module
