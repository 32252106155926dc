"""``Timer``, which measures the time of a statement."""

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

#: Largest overhead of reading the clock, as a fraction of the measured time.
_OVERHEAD = 1e-4


def timer() -> float:
    """Time in seconds, of a clock without a fixed origin; waits for the GPU if CuPy is loaded.

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
    """Set the number of threads of operations in a ``with`` block.

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
    """Language of statements; ``PYTHON`` alone is supported.

    Example:
        >>> from tinytorch.utils.benchmark import Language
        >>> Language.PYTHON.value
        0
    """

    PYTHON = 0
    CPP = 1


class Timer:
    """Measures the time of a statement.

    Args:
        stmt: The Python statement.
        setup: Statement that is executed once before it.
        global_setup: Not used for Python.
        timer: Function that returns the time in seconds. Default: ``benchmark.timer``.
        globals: Global names of the statement, in addition to ``torch``.
        label: Title of the table; see ``TaskSpec``.
        sub_label: Name of the row; see ``TaskSpec``.
        description: Name of the column; see ``TaskSpec``.
        env: Name of the environment; see ``TaskSpec``.
        num_threads: Number of threads of operations. Default: 1.
        language: ``"python"``.

    Raises:
        TypeError: If ``stmt`` is not a string.
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
        return max(self._timer.timeit(number), 1e-9)  # 0 would break divisions and logarithms

    def _measurement(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Measure the time of ``number`` runs once, after some warm-up runs.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> len(Timer("sum([1, 2])").timeit(10).times)
            1
        """
        with set_torch_threads(self._task_spec.num_threads):
            self._run(max(number // 100, 2))
            return self._measurement(number, [self._run(number)])

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measure the times of blocks of runs, each long enough for the clock.

        Args:
            callback: Called with the number of runs and the time of each block.
            min_run_time: Total time of all blocks in seconds, at least. Default: 0.2.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> times = Timer("sum([1, 2])").blocked_autorange(min_run_time=0.001)
            >>> times.number_per_run > 1 and 0 < times.median < 0.001
            True
        """
        return self._measure_blocks(
            lambda times: sum(times) >= min_run_time, min_run_time, callback
        )

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:  # fmt: skip
        """Measure the times of blocks of runs until their variance is small.

        Args:
            threshold: Spread at which to stop; see ``Measurement.meets_confidence``. Default: 0.1.
            min_run_time: Shortest total time in seconds. Default: 0.01.
            max_run_time: Longest total time in seconds. Default: 10.
            callback: Called with the number of runs and the time of each block.

        Example:
            >>> from tinytorch.utils.benchmark import Timer
            >>> Timer("sum([1, 2])").adaptive_autorange(1.0, max_run_time=0.1).median < 0.001
            True
        """

        def is_enough(times: list[float]) -> bool:
            if sum(times) >= max_run_time:
                return True
            is_steady = len(times) > 3 and self._measurement(1, times).meets_confidence(threshold)
            return sum(times) >= min_run_time and is_steady

        return self._measure_blocks(is_enough, min_run_time, callback)

    def _measure_blocks(
        self, is_enough: Callable[[list[float]], bool], seconds: float,
        callback: Callable[[int, float], Any] | None,
    ) -> Measurement:  # fmt: skip
        """Measure blocks of runs.

        Args:
            is_enough: Returns whether to stop, from the times of all blocks so far.
            seconds: Shortest total time, from which the size of a block is chosen.
            callback: Called with the number of runs and the time of each block, or None.
        """
        with set_torch_threads(self._task_spec.num_threads):
            number, times = self._block_size(seconds), list[float]()
            while not times or not is_enough(times):
                times.append(self._run(number))
                if callback is not None:
                    callback(number, times[-1])
        return self._measurement(number, times)

    def _block_size(self, seconds: float) -> int:
        """Number of runs in a block, such that the overhead of the clock is negligible.

        The block takes at least a thousandth of ``seconds``, the total time to measure.
        """
        readings = [self._clock() for _ in range(6)]
        # The median of the five times between two readings.
        overhead = sorted(b - a for a, b in zip(readings, readings[1:], strict=False))[2]
        self._run(2)  # warm up
        number = 1
        while True:
            taken = self._run(number)
            if taken >= seconds / 1000 and overhead / taken <= _OVERHEAD or taken >= seconds:
                return number
            number *= 10 if taken < seconds / 10000 else 2

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise: counting instructions needs Valgrind and a build of PyTorch.

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
