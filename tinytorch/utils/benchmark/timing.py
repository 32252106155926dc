"""Running a statement often enough to tell how long it takes."""

from __future__ import annotations

import enum
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from ...backends import loaded
from ...state.settings import get_num_threads, set_num_threads
from .measurement import Measurement, TaskSpec

__all__ = ["Language", "Timer", "set_torch_threads", "timer"]

#: The part of a time that reading the clock may be.
_OVERHEAD = 1e-4


def timer() -> float:
    """Seconds, from some moment on; work on a GPU is waited for where there may be any.

    Example:
        >>> from tinytorch.utils.benchmark import timer
        >>> timer() <= timer()
        True
    """
    if loaded("cupy") is not None:
        import_module("tinytorch.cuda").synchronize()
    return time.perf_counter()


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Have operations use so many threads in a ``with`` block.

    Example:
        >>> with tt.utils.benchmark.set_torch_threads(1):
        ...     tt.get_num_threads()
        1
    """
    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)


class Language(enum.Enum):
    """What statements are written in: ``PYTHON`` alone is measured here.

    Example:
        >>> from tinytorch.utils.benchmark import Language
        >>> Language.PYTHON.value
        0
    """

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a statement.

    Args:
        stmt: The statement, Python.
        setup: What runs once before it.
        global_setup: Not used for Python.
        timer: Gives seconds. Default: ``benchmark.timer``.
        globals: Names that the statement uses; ``torch`` is among them anyway.
        label: See ``TaskSpec``.
        sub_label: See ``TaskSpec``.
        description: See ``TaskSpec``.
        env: See ``TaskSpec``.
        num_threads: How many threads operations use meanwhile. Default: 1.
        language: ``"python"``.

    Raises:
        TypeError: If ``stmt`` is no text.
        NotImplementedError: For C++.

    Example:
        >>> from tinytorch.utils.benchmark import Timer
        >>> Timer("torch.ones(3)").timeit(10).number_per_run
        10
    """

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
        timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:  # fmt: skip
        if not isinstance(stmt, str):
            raise TypeError(f"Currently only a `str` stmt is supported, got {type(stmt).__name__}.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(f"Timer: statements in {language} cannot be measured here")
        if global_setup:
            raise ValueError("global_setup is C++ only, got " + repr(global_setup))
        names = {"torch": import_module("tinytorch"), **(globals or {})}
        stmt, setup = stmt.strip("\n"), setup.strip("\n")
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._clock = timer
        self._task_spec = TaskSpec(
            stmt, setup, global_setup, label, sub_label, description, env, num_threads
        )

    def _run(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)  # what no clock can tell is not nothing

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One time of ``number`` runs, after a few that are not measured.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> len(Timer("sum([1, 2])").timeit(10).times)
            1
        """
        with set_torch_threads(self._task_spec.num_threads):
            self._run(max(number // 100, 2))
            return self._measured(number, [self._run(number)])

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Times of blocks of runs, as many runs as the clock needs to tell them well.

        Args:
            callback: Called with the number of runs and the seconds of each block.
            min_run_time: How many seconds it goes on. Default: 0.2.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> times = Timer("sum([1, 2])").blocked_autorange(min_run_time=0.001)
            >>> times.number_per_run > 1 and 0 < times.median < 0.001
            True
        """
        return self._blocks(lambda times: sum(times) >= min_run_time, min_run_time, callback)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:  # fmt: skip
        """Times of blocks of runs until they differ little.

        Args:
            threshold: The spread to come to; see ``Measurement.meets_confidence``. Default: 0.1.
            min_run_time: Seconds before it may end. Default: 0.01.
            max_run_time: Seconds after which it ends in any case. Default: 10.
            callback: As for ``blocked_autorange``.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> Timer("sum([1, 2])").adaptive_autorange(1.0, max_run_time=0.1).median < 0.001
            True
        """

        def enough(times: list[float]) -> bool:
            if sum(times) >= max_run_time:
                return True
            steady = len(times) > 3 and self._measured(1, times).meets_confidence(threshold)
            return sum(times) >= min_run_time and steady

        return self._blocks(enough, min_run_time, callback)

    def _blocks(
        self, enough: Callable[[list[float]], bool], seconds: float,
        callback: Callable[[int, float], Any] | None,
    ) -> Measurement:  # fmt: skip
        with set_torch_threads(self._task_spec.num_threads):
            number, times = self._block_size(seconds), list[float]()
            while not times or not enough(times):
                times.append(self._run(number))
                if callback is not None:
                    callback(number, times[-1])
        return self._measured(number, times)

    def _block_size(self, seconds: float) -> int:
        """How often to run for one time: so that reading the clock hardly counts."""
        readings = [self._clock() for _ in range(6)]
        overhead = sorted(b - a for a, b in zip(readings, readings[1:], strict=False))[2]
        self._run(2)
        number = 1
        while True:
            taken = self._run(number)
            if taken >= seconds / 1000 and overhead / taken <= _OVERHEAD or taken >= seconds:
                return number
            number *= 10 if taken < seconds / 10000 else 2

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not available: instructions are counted by Valgrind in a build of PyTorch's.

        Raises:
            NotImplementedError: Always.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> Timer("1 + 1").collect_callgrind()
            Traceback (most recent call last):
                ...
            NotImplementedError: Timer.collect_callgrind: instructions are not counted here
        """
        raise NotImplementedError("Timer.collect_callgrind: instructions are not counted here")
