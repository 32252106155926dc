"""``torch.autograd.profiler.profile``, and schedules of the steps that a profiler records."""

from __future__ import annotations

import enum
import os
import tracemalloc
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, Self

from ..core.torch_function import count_watchers
from ..state.recorder import RECORDER
from ..warnings import warn
from .chrome_trace import write_trace
from .events import EventList, FunctionEventAvg, events_of
from .recording import Recording

__all__ = ["ProfilerAction", "profile", "schedule"]


def disable() -> None:
    """End the active profile of this thread: ``torch.autograd._disable_profiler``.

    Raises:
        RuntimeError: If no profile is active.
    """
    if RECORDER.get() is None:
        raise RuntimeError("Can't disable Kineto profiler when it's not running")
    RECORDER.set(None)
    count_watchers(-1)


class Results:
    """Base class of the two classes ``profile``: methods that read the events."""

    def _completed_profile(self, action: str) -> profile:
        """Return the profile that has the events; raise if there is none.

        ``action`` is the text of the attempted action, for the error.
        """
        raise NotImplementedError

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False, *, group_by_module: bool = False,
    ) -> EventList:  # fmt: skip
        """Return the sums of the events of each name; ``print`` shows a table.

        Args:
            group_by_input_shape: Whether events of other shapes have sums of their own. Default:
                False.
            group_by_stack_n: Number of lines of the program that must be the same. Default: 0.
            group_by_overload_name: Without effect: operations have no overloads here.
            group_by_module: Whether events of other modules have sums of their own, which needs
                ``with_modules``; PyTorch has no such option. Default: False.

        Raises:
            AssertionError: If nothing has been recorded.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin().sin()
            >>> [(event.key, event.count) for event in prof.key_averages()]
            [('aten::ones', 1), ('aten::sin', 2)]
            >>> model, x = tt.nn.Sequential(tt.nn.Linear(2, 2), tt.nn.Linear(2, 2)), tt.ones(2)
            >>> program = tt.export.export(model, (x,))
            >>> with tt.profiler.profile(with_modules=True) as prof:
            ...     y = program(x)
            >>> [(e.key, e.module) for e in prof.key_averages(group_by_module=True)]
            [('aten::linear', 'Sequential.0'), ('aten::linear', 'Sequential.1')]
        """
        return self._completed_profile("getting key averages").function_events.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name,
            group_by_module=group_by_module,
        )  # fmt: skip

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:  # fmt: skip
        """Write lines of the program and the time spent there; see ``EventList.export_stacks``.

        Args:
            path: The file.
            metric: ``"self_cpu_time_total"``.

        Raises:
            AssertionError: Without ``with_stack=True``, or if nothing has been recorded.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2)
            >>> prof.export_stacks("stacks.txt")
            Traceback (most recent call last):
                ...
            AssertionError: export_stacks() requires with_stack=True
        """
        finished = self._completed_profile("exporting stacks")
        if not finished.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        finished.function_events.export_stacks(path, metric)


class profile(Results):
    """Profile of each operation, forward and backward, that runs in a block of this thread.

    ``tinytorch.profiler.profile`` can also record some of many steps.

    Args:
        enabled: Whether anything is recorded. Default: True.
        use_cuda: Deprecated; use ``use_device="cuda"``.
        use_device: ``"cuda"`` to synchronize the device after each operation, so that the
            operation's time includes the device's work. Default: None, the time is the host's.
        record_shapes: Whether shapes of arguments are recorded. Default: False.
        with_flops: Whether floating-point operations of products are counted. Default: False.
        profile_memory: Whether the memory of NumPy's arrays and Python's objects is measured, by
            ``tracemalloc``; a device's memory is not. Default: False.
        with_stack: Whether the lines of the program are recorded. Default: False.
        with_modules: Whether the module of each operation is recorded, where an exported program
            runs; as in PyTorch, other models have none. Default: False.
        use_kineto: Without effect.
        use_cpu: Has to be True.
        experimental_config: Without effect.
        acc_events: Whether a second block adds its events to those of the first. Default: False.
        custom_trace_id_callback: Without effect.

    Raises:
        RuntimeError: If a profile is active already, or this one was used before.
        ValueError: For another device.

    Example:
        >>> x = tt.ones(2, requires_grad=True)
        >>> with tt.autograd.profiler.profile() as prof:
        ...     x.sin().sum().backward()
        >>> [event.name for event in prof.function_events][:4]
        ['aten::sin', 'aten::sum', 'SumBackward0', 'SinBackward0']
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None,
        record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False,
        with_stack: bool = False, with_modules: bool = False, use_kineto: bool = False,
        use_cpu: bool = True, experimental_config: Any = None, acc_events: bool = False,
        custom_trace_id_callback: Any = None,
    ) -> None:  # fmt: skip
        self.enabled = enabled
        if use_cuda:
            warn(
                "The attribute `use_cuda` will be deprecated soon, please use "
                "``use_device = 'cuda'`` instead.", FutureWarning,
            )  # fmt: skip
            use_device = "cuda"
        if use_device not in (None, "cuda"):
            raise ValueError(f"The {use_device} is not a valid device option.")
        if not use_cpu:
            raise ValueError("use_cpu=False: operations are measured where they are called")
        self.use_device = use_device
        self.record_shapes: bool = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.acc_events = acc_events
        self._recording: Recording | None = None
        self._events: EventList | None = None
        self._since = 0
        self._traces = False

    def __enter__(self) -> Self | None:
        if not self.enabled:
            return None
        if self._recording is not None and not self.acc_events:
            raise RuntimeError("Profiler context manager is not reentrant")
        if RECORDER.get() is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        before = self._recording
        self._recording = Recording(
            self.record_shapes, self.profile_memory, self.with_stack, self.with_flops,
            self.use_device is not None, self.with_modules,
        )  # fmt: skip
        if before is not None:
            self._recording.records = before.records
        self._traces = self.profile_memory and not tracemalloc.is_tracing()
        if self._traces:
            tracemalloc.start()
        self._since = self._since or perf_counter_ns()
        count_watchers(1)
        try:
            RECORDER.set(self._recording)
        except BaseException:  # such as a KeyboardInterrupt
            self._stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stop()
        except BaseException:
            self._stop()
            raise

    def _stop(self) -> None:
        """Stop recording; a second call does nothing."""
        if not self.enabled:
            return
        if self._recording is not None and RECORDER.get() is self._recording:
            disable()
        if self._traces:
            tracemalloc.stop()
        self._events = None

    def _completed_profile(self, action: str) -> profile:
        return self

    @property
    def _is_finished(self) -> bool:
        return self._recording is not None and RECORDER.get() is not self._recording

    @property
    def _final_recording(self) -> Recording:
        """The recording, after the block has exited."""
        if self._recording is None or not self._is_finished:
            raise AssertionError("Expected profiling results")
        return self._recording

    @property
    def function_events(self) -> EventList:
        """All events, in the order of their starts.

        Raises:
            AssertionError: Before the block has exited.
        """
        recording = self._final_recording
        if self._events is None:
            self._events = events_of(
                recording.records, self._since, self.profile_memory, self.with_flops
            )
        return self._events

    def table(self, *args: Any, **kwargs: Any) -> str:
        """Return the table of all events, each in a row; see ``EventList.table``.

        Args:
            *args: Arguments of ``EventList.table``.
            **kwargs: Keyword arguments of it.

        Example:
            >>> with tt.autograd.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> prof.table(sort_by="cpu_time_total").count("aten::")
            2
        """
        return self.function_events.table(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """Return the sum of all events.

        Example:
            >>> with tt.autograd.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> prof.total_average().count
            2
        """
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events, without counting nested events twice."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(
        self, path: str | os.PathLike[str], metadata: dict[str, Any] | None = None
    ) -> None:  # fmt: skip
        """Write a file for ``chrome://tracing``, Perfetto or TensorBoard.

        Args:
            path: The file; it is compressed if its name ends with ``.gz``.
            metadata: Further values to write, by name. Default: none.

        Example:
            >>> import json, os, tempfile
            >>> with tt.autograd.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "trace.json")
            ...     prof.export_chrome_trace(path)
            ...     with open(path) as file:
            ...         spans = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
            >>> [span["name"] for span in spans]
            ['aten::ones', 'aten::sin']
        """
        fields = {
            "record_shapes": int(self.record_shapes), "profile_memory": int(self.profile_memory),
            "with_stack": int(self.with_stack), "with_flops": int(self.with_flops),
        }  # fmt: skip
        write_trace(path, self._final_recording.records, {**fields, **(metadata or {})})

    def toggle_collection_dynamic(self, enabled: bool, activities: Any) -> None:
        """Pause or resume recording.

        Args:
            enabled: Whether operations are recorded from now on.
            activities: Activities to pause or resume; only ``ProfilerActivity.CPU`` has an effect.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     prof.toggle_collection_dynamic(False, [tt.profiler.ProfilerActivity.CPU])
            ...     y = tt.ones(2)
            >>> len(prof.events())
            0
        """
        if self._recording is not None and any(each.name == "CPU" for each in activities):
            self._recording.enabled = enabled

    def __str__(self) -> str:
        text = "<unfinished torch.autograd.profile>"
        return str(self.function_events) if self._is_finished else text

    def __repr__(self) -> str:
        text = "<unfinished torch.autograd.profile>"
        return repr(self.function_events) if self._is_finished else text


class ProfilerAction(enum.Enum):
    """Action of a profiler during a step.

    Example:
        >>> tt.profiler.ProfilerAction.RECORD.value
        2
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:  # fmt: skip
    """Return the schedule of a profiler: a function of a step's number that repeats in cycles.

    Args:
        wait: Number of steps at the start of a cycle that are not recorded.
        warmup: Number of steps after these for warming up; they are not recorded either.
        active: Number of steps after these that are recorded.
        repeat: Number of cycles; 0 for no end. Default: 0.
        skip_first: Number of steps before the first cycle. Default: 0.
        skip_first_wait: Whether the first cycle has no ``wait`` steps. Default: 0, it has.

    Returns:
        Function that returns the ``ProfilerAction`` for the number of a step.

    Raises:
        AssertionError: If a number is negative, or ``active`` is 0.

    Example:
        >>> action = tt.profiler.schedule(wait=1, warmup=1, active=2)
        >>> [action(step).name for step in range(4)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step >= 0 and skip_first_wait:
            step += wait
        if step < 0 or (repeat and step / length >= repeat) or step % length < wait:
            return ProfilerAction.NONE
        if step % length < wait + warmup:
            return ProfilerAction.WARMUP
        last = step % length == length - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action
