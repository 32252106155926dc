"""``torch.profiler`` for programs that name their parts: nothing is measured here.

``record_function`` marks a part of a program, for whoever looks; ``profile`` would be who looks
and raises. Python's ``cProfile`` measures what runs here: Python.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable

from .compat.tables.others import TABLES, fill
from .warnings import warn

__all__ = ["ProfilerAction", "record_function", "schedule"]


class ProfilerAction(enum.Enum):
    """What a profiler does during a step.

    Example:
        >>> import tinytorch as tt
        >>> tt.profiler.ProfilerAction.RECORD.value
        2
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


class record_function(contextlib.ContextDecorator):  # named as a function
    """A part of a program with a name; a decorator, too. Nobody looks, so nothing happens.

    Args:
        name: The part's name.
        args: What else to say of it. Default: None.

    Example:
        >>> import tinytorch as tt
        >>> with tt.profiler.record_function("forward"):
        ...     y = tt.ones(1) + 1
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing."""


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:  # fmt: skip
    """What a profiler is to do during each step, in cycles.

    Args:
        wait: Steps of a cycle without it.
        warmup: Steps that follow, measured and dropped.
        active: Steps that follow, measured and kept.
        repeat: Number of cycles; 0 for no end. Default: 0.
        skip_first: Steps before the first cycle. Default: 0.
        skip_first_wait: Whether the first cycle does not wait. Default: 0, it does.

    Returns:
        Function of a step's number.

    Raises:
        AssertionError: If a number is negative, or ``active`` is 0.

    Example:
        >>> import tinytorch as tt
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


fill(globals(), TABLES["profiler"])
