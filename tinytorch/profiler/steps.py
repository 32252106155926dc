"""``torch.profiler.profile``: records the steps of a program that a schedule chooses."""

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
    """Activity that a profile records.

    ``CPU`` stands for every operation. With ``CUDA`` a GPU is synchronized after each operation, so
    that the operation's time includes the GPU's work. The others have no effect.

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
    """Return the activities that can be recorded: CPU, and CUDA if the CuPy backend is loaded.

    Example:
        >>> tt.profiler.ProfilerActivity.CPU in tt.profiler.supported_activities()
        True
    """
    found = {ProfilerActivity.CPU}
    return found | {ProfilerActivity.CUDA} if backends.loaded("cupy") is not None else found


def _default_schedule_fn(step: int) -> ProfilerAction:  # PyTorch's name
    """Return the action that records each step."""
    return ProfilerAction.RECORD


class profile(run.Results):
    """Profile of each operation, forward and backward, that runs in a block of this thread.

    The time of an operation is that of its call, with nested operations (``cpu_time_total``) or
    without (``self_cpu_time_total``). Names are PyTorch's. While a profile is active, each call
    takes the slow path, which adds some microseconds. Threads that start inside are not recorded.

    Args:
        activities: Values of ``ProfilerActivity``. Default: all that are supported.
        schedule: Function that returns the ``ProfilerAction`` for the number of a step; ``step()``
            begins the next step. Default: everything is recorded.
        on_trace_ready: Called with the profile each time a recording is complete.
        record_shapes: Whether shapes of arguments are recorded. Default: False.
        profile_memory: Whether the memory of NumPy's arrays and Python's objects is measured, by
            ``tracemalloc``; a device's memory is not. Default: False.
        with_stack: Whether the lines of the program are recorded. Default: False.
        with_flops: Whether floating-point operations of products are counted; see
            ``utils.flop_counter``. Default: False.
        with_modules: Whether the module of each operation is recorded, where an exported program
            runs; as in PyTorch, other models have none. Default: False.
        experimental_config: Without effect.
        execution_trace_observer: Has to be None.
        acc_events: Whether each recording adds to the events before. Default: False.
        use_cuda: Deprecated; whether ``ProfilerActivity.CUDA`` is among the activities.
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
        self, *, activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None, record_shapes: bool = False,
        profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
        with_modules: bool = False, experimental_config: Any = None,
        execution_trace_observer: Any = None, acc_events: bool = False,
        use_cuda: bool | None = None, custom_trace_id_callback: Any = None,
    ) -> None:  # fmt: skip
        chosen = supported_activities() if activities is None else set(activities)
        self.activities: set[ProfilerActivity] = chosen
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
        self.schedule: Callable[[int], ProfilerAction] = (
            _default_schedule_fn if schedule is None else schedule
        )
        self.record_steps: bool = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes: bool = record_shapes
        self.profile_memory: bool = profile_memory
        self.with_stack: bool = with_stack
        self.with_flops: bool = with_flops
        self.with_modules: bool = with_modules
        self.acc_events: bool = acc_events
        self.step_num: int = 0
        self.current_action: ProfilerAction = self._action(0)
        self.profiler: run.profile | None = None
        self._step: AbstractContextManager[Any] | None = None
        self._metadata: dict[str, Any] = {}

    def _action(self, step: int) -> ProfilerAction:
        """Action of the schedule in a step; raise a ``ValueError`` if it is not valid there."""
        action = self.schedule(step)
        if action is ProfilerAction.DEVICE_STOPPED:
            raise ValueError(
                "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be "
                "returned by a user-provided schedule"
            )
        return action

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # such as a KeyboardInterrupt
            self._abandon()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.stop()
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """End the recording, if there is one, without a call of ``on_trace_ready``."""
        if self.profiler is not None:
            self.profiler.__exit__(None, None, None)

    def start(self) -> None:
        """Start recording; ``with`` calls it.

        Example:
            >>> prof = tt.profiler.profile()
            >>> prof.start()
            >>> y = tt.ones(2)
            >>> prof.stop()
            >>> len(prof.events())
            1
        """
        self._change_action(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """Stop recording and call ``on_trace_ready``; ``with`` calls it.

        Example:
            >>> prof = tt.profiler.profile(on_trace_ready=lambda prof: print(len(prof.events())))
            >>> prof.start()
            >>> y = tt.ones(2).sin()
            >>> prof.stop()
            2
        """
        self._end_step()
        self._change_action(self.current_action, None)

    def step(self) -> None:
        """Begin the next step of the program.

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
        self._change_action(before, after)
        self._begin_step()

    def _begin_step(self) -> None:
        """Begin the named part of the program that records the current step."""
        if self.record_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        """End the part that ``_begin_step`` has begun, if any."""
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)

    def _change_action(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """Begin or end a recording between two steps.

        Args:
            before: Action of the step that ends.
            after: Action of the step that begins; None at the end of the profile.
        """
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        is_recording, will_record = before in recording, after in recording
        saves = before is ProfilerAction.RECORD_AND_SAVE
        if is_recording and (saves or not will_record):
            if after is not None and not saves:
                warn(f"Incorrect schedule: RECORD followed by {after.name}")
            self._end_recording(is_ready=saves or after is None)
        elif before is ProfilerAction.WARMUP and after is ProfilerAction.NONE:
            warn("Incorrect schedule: WARMUP followed by NONE")
        if will_record and (saves or not is_recording):
            self._begin_recording()

    def _begin_recording(self) -> None:
        """Start a new recording, or continue the last one with ``acc_events``."""
        if self.profiler is None or not self.acc_events:
            cuda = ProfilerActivity.CUDA in self.activities
            self.profiler = run.profile(
                use_device="cuda" if cuda else None, record_shapes=self.record_shapes,
                with_flops=self.with_flops, profile_memory=self.profile_memory,
                with_stack=self.with_stack, with_modules=self.with_modules,
                acc_events=self.acc_events,
            )  # fmt: skip
        self.profiler.__enter__()

    def _end_recording(self, is_ready: bool) -> None:
        """End the recording, and call ``on_trace_ready`` if its trace is to be saved."""
        assert self.profiler is not None
        self.profiler.__exit__(None, None, None)
        if is_ready and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _completed_profile(self, action: str) -> run.profile:
        """Return the last recording; if there is none, raise an AssertionError for ``action``."""
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {action}")
        return self.profiler

    def events(self) -> EventList:
        """Return the events of the last recording, in the order of their starts.

        Raises:
            AssertionError: If there is no recording.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     y = tt.ones(2).sin()
            >>> [event.name for event in prof.events()]
            ['aten::ones', 'aten::sin']
        """
        return self._completed_profile("accessing events").function_events

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a file for ``chrome://tracing``, Perfetto or TensorBoard.

        Args:
            path: The file; it is compressed if its name ends with ``.gz``.

        Raises:
            AssertionError: If there is no recording.

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
        self._completed_profile("exporting chrome trace").export_chrome_trace(path, self._metadata)

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity]
    ) -> None:  # fmt: skip
        """Pause or resume recording.

        Args:
            enable: Whether operations are recorded from now on.
            activities: Activities to pause or resume; only ``CPU`` has an effect.

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
        """Add a text to the trace.

        Args:
            key: Its name.
            value: The text.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     prof.add_metadata("model", "small")
        """
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value to the trace.

        Args:
            key: Its name.
            value: The value as JSON.

        Raises:
            ValueError: If ``value`` is not valid JSON.

        Example:
            >>> with tt.profiler.profile() as prof:
            ...     prof.add_metadata_json("sizes", "[3, 4]")
        """
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a value to the trace before the profile starts; the same as ``add_metadata_json``.

        Args:
            key: Its name.
            value: The value as JSON.

        Example:
            >>> prof = tt.profiler.profile()
            >>> prof.preset_metadata_json("sizes", "[3, 4]")
        """
        self.add_metadata_json(key, value)


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """Return a function for ``on_trace_ready`` that writes each trace to a file for TensorBoard.

    Args:
        dir_name: The folder, TensorBoard's ``logdir``; it is created.
        worker_name: Beginning of the files' names. Default: the machine's name and the process's
            number.
        use_gzip: Whether files are compressed. Default: False.

    Raises:
        RuntimeError: When a trace is ready, if the folder cannot be created.

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
