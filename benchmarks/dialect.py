"""Calls of ``tinytorch.numpy`` beside NumPy's own, in one process, in turns.

On few elements the figure is the time above NumPy's. On a million elements, where the time is that
of the arithmetic, it is the ratio.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .report import ResultRow
from .timing import Effort, Statement, least_of, loops_for

ABOVE = 5e-6  # bound on the seconds of a call above NumPy's
MEDIAN = 1.5e-6
RATIO = 1.1
#: Calls in a library ``np``. Arrays: ``a b`` floats, ``m`` a matrix, ``k`` integers, ``w`` bools,
#: ``i`` indices, ``c`` one that is modified; ``n`` is their number of elements.
CALLS = (
    "np.arange(n)", "np.zeros(n)", "np.ones(n)", "np.full(n, 2.0)", "np.empty_like(a)",
    "np.linspace(0, 1, n)", "np.array([1.0, 2.0, 3.0])", "np.asarray(a)", "np.eye(4)",
    "a + b", "a * 2", "1 - a", "a / b", "a ** 2", "-a", "a < b", "k + 1", "k // 3", "c.__iadd__(1)",
    "np.add(a, b)", "np.exp(a)", "np.sqrt(c)", "np.maximum(a, b)", "np.where(w, a, b)",
    "np.clip(a, -1, 1)", "np.abs(a)", "np.isnan(a)", "np.sum(a)", "a.sum()", "m.sum(axis=0)",
    "a.mean()", "a.std()", "m.max(axis=1)", "a.argmax()", "a.cumsum()", "np.dot(a, b)", "m @ m.T",
    "a[0]", "a[1:5]", "m[:, 0]", "a[w]", "a[i]", "a[2] = 1.0", "m.T", "m.reshape(-1)",
    "m.ravel()", "a.astype(int)", "a.copy()", "np.concatenate([a, b])", "np.stack([a, b])",
    "np.sort(a)", "np.argsort(a)", "np.unique(k)", "np.any(w)", "a.tolist()", "np.random.rand(n)",
    "len(m)", "a.shape", "float(a[0])",
)  # fmt: skip
#: Calls on a million elements.
LARGE = (
    "a + b", "a * 2", "np.exp(a)", "np.sqrt(c)", "np.where(w, a, b)", "a.sum()", "a.mean()",
    "a.std()", "m.max(axis=1)", "np.exp(m) / np.exp(m).sum(axis=1, keepdims=True)", "np.sort(a)",
    "a[w]", "a.cumsum()", "np.add(a, b, out=c)",
)  # fmt: skip


def operands(np_: Any, count: int) -> dict[str, Any]:
    """Return the names that `CALLS` use, as arrays of a library with NumPy's names."""
    numbers = np.random.default_rng(0)
    side = int(count**0.5)
    arrays = {
        "a": numbers.standard_normal(count), "b": numbers.standard_normal(count),
        "m": numbers.standard_normal((side, side)), "k": numbers.integers(0, 50, count),
        "w": numbers.standard_normal(count) > 0, "i": np.array([2, 0, 3]),
        "c": numbers.random(count),
    }  # fmt: skip
    return {name: np_.array(array) for name, array in arrays.items()} | {"np": np_, "n": count}


def row(work: str, source: str, count: int, effort: Effort) -> ResultRow:
    """Measure a call in NumPy and ``tinytorch.numpy``: the minimum over many short turns."""
    effort = replace(effort, rounds=2 * effort.rounds, seconds=effort.seconds / 10, rest=0.0)
    libraries = {"numpy": np, "tinytorch": importlib.import_module("tinytorch.numpy")}
    timers = {
        name: Statement(source, operands(library, count)).timer()
        for name, library in libraries.items()
    }
    loops = {name: loops_for(timer, effort.seconds) for name, timer in timers.items()}
    turns = {name: partial(timer.timeit, loops[name]) for name, timer in timers.items()}
    values = {name: total / loops[name] for name, total in least_of(turns, effort).items()}
    if count >= 1_000_000:
        return ResultRow(work, "ms", values, RATIO, figure="over numpy")
    return ResultRow(work, "µs", values, ABOVE, figure="above numpy")


def summary(label: str, rows: Sequence[ResultRow]) -> list[str]:
    """Return lines with the median and the maximum of the time above NumPy's."""
    found = [r for r in rows if r.work.startswith(label) and r.figure == "above numpy"]
    if not found:
        return []
    above = [(r.values["tinytorch"] - r.values["numpy"], r.work) for r in found]
    middle = statistics.median(time for time, _ in above)
    worst = ", ".join(f"{work} {time * 1e6:.1f}" for time, work in sorted(above)[:-6:-1])
    return [
        f"{label}median of {len(found)} calls {middle * 1e6:.2f} µs above NumPy's "
        f"(at most {MEDIAN * 1e6:.1f}); the most: {worst} (at most {ABOVE * 1e6:.0f})"
    ]
