"""``torch.utils.benchmark``: timing of statements, and tables of the results.

Example:
    >>> from tinytorch.utils import benchmark
    >>> x = tt.ones(10)
    >>> timer = benchmark.Timer("x + x", globals={"x": x})
    >>> timer.blocked_autorange(min_run_time=0.001).median < 1
    True
"""

from __future__ import annotations

from .comparison import Colorize as Colorize
from .comparison import Compare as Compare
from .measurement import Measurement as Measurement
from .measurement import TaskSpec as TaskSpec
from .measurement import ordered_unique as ordered_unique
from .measurement import select_unit as select_unit
from .measurement import trim_sigfig as trim_sigfig
from .measurement import unit_to_english as unit_to_english
from .timing import Language as Language
from .timing import Timer as Timer
from .timing import set_torch_threads as set_torch_threads
from .timing import timer as timer

__all__ = [
    "Colorize", "Compare", "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique",
    "select_unit", "set_torch_threads", "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip
