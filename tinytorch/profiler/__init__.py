"""``torch.profiler``: how long each operation of a program takes, forward and backward.

Example:
    >>> with tt.profiler.profile(record_shapes=True) as prof:
    ...     y = tt.ones(3, 4).exp().sum()
    >>> [event.key for event in prof.key_averages()]
    ['aten::ones', 'aten::exp', 'aten::sum']
"""

from __future__ import annotations

from ..compat.tables.unsupported import TABLES
from ..compat.tables.unsupported import fill
from .events import EventList as EventList
from .events import FunctionEvent as FunctionEvent
from .events import FunctionEventAvg as FunctionEventAvg
from .recording import record_function as record_function
from .run import ProfilerAction as ProfilerAction
from .run import schedule as schedule
from .steps import ProfilerActivity as ProfilerActivity
from .steps import _default_schedule_fn as _default_schedule_fn
from .steps import profile as profile
from .steps import supported_activities as supported_activities
from .steps import tensorboard_trace_handler as tensorboard_trace_handler

__all__ = [
    "EventList", "FunctionEvent", "FunctionEventAvg", "ProfilerAction", "ProfilerActivity",
    "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip

fill(globals(), TABLES["profiler"])
