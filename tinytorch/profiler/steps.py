"""``torch.profiler.profile``: which steps of a program are measured, and what becomes of it."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Self

from .. import backends
from ..warnings import warn
from . import run
from .events import EventList
from .recording import record_function
from .run import ProfilerAction

__all__ = ["ProfilerActivity", "profile", "supported_activities", "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """What a profile looks at.

    ``CPU`` is every operation. ``CUDA`` says that a GPU is to be waited for after each, so that its
    work is in the operation's time; the others have no effect.

    Example:
        >>> tt.profiler.ProfilerActivity.CPU.name
        'CPU'
    """

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 4
    HPU = 5
    PrivateUse1 = 6


def supported_activities() -> set[ProfilerActivity]:
    """What can be looked at here: the CPU, and a GPU where the CuPy backend has one.

    Example:
        >>> tt.profiler.ProfilerActivity.CPU in tt.profiler.supported_activities()
        True
    """
    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if backends.loaded("cupy") is not None else found


def _default_schedule_fn(step: int) -> ProfilerAction:  # PyTorch's name
    """Record each step."""
    return ProfilerAction.RECORD


class profile:
    """Measures each operation that runs in a block of this thread, forward and backward.

    The times are those of the call: from when an operation is asked for until its result is there,
    what it calls included (``cpu_time_total``) or not (``self_cpu_time_total``). Names are
    PyTorch's. While a profile is active, calls take the way on which it is told, which adds some
    microseconds to each; without one nothing is added. Threads that start inside are not measured.

    Args:
        activities: Kinds of ``ProfilerActivity``; see there. Default: all that are supported.
        schedule: Function of a step's number that says what is done; ``step()`` begins the next
            one. Default: everything is measured.
        on_trace_ready: Called with the profile each time a stretch has been measured.
        record_shapes: Whether shapes of arguments are kept. Default: False.
        profile_memory: Whether memory is measured, by ``tracemalloc``: NumPy's arrays and Python's
            objects, no device's memory. Default: False.
        with_stack: Whether the program's lines are kept. Default: False.
        with_flops: Whether floating-point operations of products are counted; see
            ``utils.flop_counter``. Default: False.
        with_modules: Without effect, as in PyTorch for modules that are not scripted.
        experimental_config: Without effect.
        execution_trace_observer: Has to be None.
        acc_events: Whether each stretch adds to the events before. Default: False.
        use_cuda: The older way to add ``ProfilerActivity.CUDA``, or to leave it out.
        custom_trace_id_callback: Without effect.

    Raises:
        AssertionError: If there are no activities.
        NotImplementedError: For an ``execution_trace_observer``.

    Example:
        >>> model, x = tt.nn.Linear(3, 2), tt.ones(4, 3)
        >>> with tt.profiler.profile(record_shapes=True) as prof:
        ...     with tt.profiler.record_function("forward"):
        ...         loss = model(x).sum()
        ...     loss.backward()
        >>> for event in prof.events()[:4]:
        ...     print(event.name, event.input_shapes)
        forward []
        aten::linear [[4, 3], [2, 3], [2]]
        aten::sum [[4, 2]]
        SumBackward0 [[]]
        >>> table = prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=5)
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Any = None,
    ) -> None:
        self.activities = supported_activities() if activities is None else set(activities)
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
            cuda = {ProfilerActivity.CUDA}
            self.activities = self.activities | cuda if use_cuda else self.activities - cuda
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        if execution_trace_observer is not None:
            raise NotImplementedError(
                "profile(execution_trace_observer=...): tinytorch writes Chrome's traces alone"
            )
        self.schedule = _default_schedule_fn if schedule is None else schedule
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops = with_stack, with_flops
        self.with_modules, self.acc_events = with_modules, acc_events
        self.step_num = 0
        self.current_action = self._action(0)
        self.profiler: run.profile | None = None
        self._step: AbstractContextManager[Any] | None = None
        self._metadata: dict[str, Any] = {}

    def _action(self, step: int) -> ProfilerAction:
        action = self.schedule(step)
        if action is ProfilerAction.DEVICE_STOPPED:
            raise ValueError(
                "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be "
                "returned by a user-provided schedule"
            )
        return action

    # -- steps ---------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; ``with`` does it.

        Example:
            >>> prof = tt.profiler.profile()
            >>> prof.start()
            >>> y = tt.ones(2)
            >>> prof.stop()
            >>> len(prof.events())
            1
        """
        self._change(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End; ``with`` does it. What was measured is handed to ``on_trace_ready``.

        Example:
            >>> prof = tt.profiler.profile(on_trace_ready=lambda prof: print(len(prof.events())))
            >>> prof.start()
            >>> y = tt.ones(2).sin()
            >>> prof.stop()
            2
        """
        self._end_step()
        self._change(self.current_action, None)

    def step(self) -> None:
        """Say that the next step of the program begins.

        Example:
            >>> schedule = tt.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
            >>> seen = []
            >>> def ready(prof):
            ...     seen.extend(event.key for event in prof.key_averages())
            >>> with tt.profiler.profile(schedule=schedule, on_trace_ready=ready) as prof:
            ...     for _ in range(6):
            ...         y = tt.ones(2)
            ...         prof.step()
            >>> seen
            ['ProfilerStep*', 'aten::ones']
        """
        self._end_step()
        before, after = self.current_action, self._action(self.step_num + 1)
        self.step_num += 1
        self.current_action = after
        self._change(before, after)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _change(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """Go from one action to the next, or to the end."""
        measured, measures = (
            action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
            for action in (before, after)
        )
        saves = before is ProfilerAction.RECORD_AND_SAVE
        if measured and (saves or not measures):
            if after is not None and not saves:
                warn(f"Incorrect schedule: RECORD followed by {after.name}")
            self._end_stretch(hand_over=saves or after is None)
        elif before is ProfilerAction.WARMUP and after is ProfilerAction.NONE:
            warn("Incorrect schedule: WARMUP followed by NONE")
        if measures and (saves or not measured):
            self._begin_stretch()

    def _begin_stretch(self) -> None:
        if self.profiler is None or not self.acc_events:
            cuda = ProfilerActivity.CUDA in self.activities
            self.profiler = run.profile(
                use_device="cuda" if cuda else None, record_shapes=self.record_shapes,
                with_flops=self.with_flops, profile_memory=self.profile_memory,
                with_stack=self.with_stack, acc_events=self.acc_events,
            )  # fmt: skip
        self.profiler.__enter__()

    def _end_stretch(self, hand_over: bool) -> None:
        assert self.profiler is not None
        self.profiler.__exit__(None, None, None)
        if hand_over and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # -- what was measured -----------------------------------------------------------------

    def _stretch(self, what: str) -> run.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    def events(self) -> EventList:
        """Every event of the last stretch, in the order in which they began.

        Raises:
            AssertionError: Before anything was measured.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> [event.name for event in prof.events()]
            ['aten::ones', 'aten::sin']
        """
        return self._stretch("accessing events").function_events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """The sums of the events of each name; ``print`` shows a table.

        Args:
            group_by_input_shape: Whether those of other shapes are apart. Default: False.
            group_by_stack_n: How many of the program's lines have to be the same. Default: 0.
            group_by_overload_name: Without effect: operations have one form each.

        Raises:
            AssertionError: Before anything was measured.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin().sin()
            >>> [(event.key, event.count) for event in prof.key_averages()]
            [('aten::ones', 1), ('aten::sin', 2)]
        """
        return self._stretch("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a file for ``chrome://tracing``, Perfetto or TensorBoard.

        Args:
            path: The file; ``.gz`` at its end has it compressed.

        Raises:
            AssertionError: Before anything was measured.

        Example:
            >>> import os, tempfile
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "trace.json.gz")
            ...     prof.export_chrome_trace(path)
            ...     os.path.getsize(path) > 0
            True
        """
        self._stretch("exporting chrome trace").export_chrome_trace(path, self._metadata)

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:  # fmt: skip
        """Write the program's lines and the time spent there; see ``EventList.export_stacks``.

        Args:
            path: The file.
            metric: ``"self_cpu_time_total"``.

        Raises:
            AssertionError: Without ``with_stack=True``, or before anything was measured.

        Example:
            >>> tt.profiler.profile().export_stacks("stacks.txt")
            Traceback (most recent call last):
                ...
            AssertionError: Profiler must be initialized before exporting stacks
        """
        self._stretch("exporting stacks").export_stacks(path, metric)

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity]
    ) -> None:  # fmt: skip
        """Stop noting operations for a while, or go on.

        Args:
            enable: Whether they are noted.
            activities: The kinds of which this is said; of ``CPU`` alone it has an effect.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     prof.toggle_collection_dynamic(False, [tt.profiler.ProfilerActivity.CPU])
            ...     y = tt.ones(2)
            >>> len(prof.events())
            0
        """
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def add_metadata(self, key: str, value: str) -> None:
        """Have the trace say something more.

        Args:
            key: Its name.
            value: The text.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     prof.add_metadata("model", "small")
        """
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """The same for a value that is given as JSON.

        Args:
            key: Its name.
            value: The JSON.

        Raises:
            ValueError: If it is none.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     prof.add_metadata_json("sizes", "[3, 4]")
        """
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """``add_metadata_json`` before the profile has begun.

        Args:
            key: Its name.
            value: The JSON.

        Example:
            >>> prof = tt.profiler.profile()
            >>> prof.preset_metadata_json("sizes", "[3, 4]")
        """
        self.add_metadata_json(key, value)


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """An ``on_trace_ready`` that writes each trace to a file of its own for TensorBoard.

    Args:
        dir_name: The folder, TensorBoard's ``logdir``; it is made.
        worker_name: Begin of the files' names. Default: the machine's name and the process's
            number.
        use_gzip: Whether files are compressed. Default: False.

    Raises:
        RuntimeError: When a trace is ready, if the folder cannot be made.

    Example:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ready = tt.profiler.tensorboard_trace_handler(folder, "worker")
        ...     with tt.profiler.profile(on_trace_ready=ready):
        ...         y = tt.ones(2).sin()
        ...     [name] = os.listdir(folder)
        >>> name.startswith("worker."), name.endswith(".pt.trace.json")
        (True, True)
    """

    def handle(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' * use_gzip}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handle
