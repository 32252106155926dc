"""What a profile does during each step of a program."""

from __future__ import annotations

import enum
from collections.abc import Callable

from ..warnings import warn

__all__ = ["ProfilerAction", "schedule"]


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
