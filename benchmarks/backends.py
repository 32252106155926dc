"""The same work on PyTorch's arrays beneath this library, and in PyTorch itself.

Both run in one process on one thread, in turns. The figures are processor time, the minimum over
many short turns, so that another program on the machine changes little.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from . import larger, mlp, ops
from .libraries import Libraries
from .report import ResultRow
from .timing import Effort, Statement, least_of, loops_for

#: Bound on the time of a call above PyTorch's own.
OVERHEAD = 3.5e-6


class MeasuredProgram(NamedTuple):
    """Function that makes a step in a library, and the bound on the ratio of the times."""

    make: Callable[[Any], larger.Step]
    budget: float | None


#: Calls on tensors ``a b`` of 16 elements and ``q`` of shape (4, 4), of a library ``m``.
CALLS = {
    "add, 16": "a + b",
    "mul, 16": "a * b",
    "exp, 16": "m.exp(a)",
    "x + 1": "a + 1",
    "x > 0": "a > 0",
    "sum()": "a.sum()",
    "sum(0)": "q.sum(0)",
    "mean(1)": "q.mean(1)",
    "amax(1)": "q.amax(1)",
    "x @ y of 16": "q @ q",
    "reshape": "a.reshape(4, 4)",
    "x[0]": "q[0]",
}
PROGRAMS = {
    "MLP step, Adam, 64": MeasuredProgram(partial(mlp.torch_step, optimizer="Adam", batch=64), 2.0),
    "LeNet step, 32": MeasuredProgram(partial(larger.lenet, batch=32), 1.8),
    "GPT step, 1 layer, 8": MeasuredProgram(partial(larger.gpt, batch=8, layers=1), 1.6),
    "ResNet block, 8": MeasuredProgram(partial(larger.residual, batch=8), 1.8),
    "attention, 8": MeasuredProgram(partial(larger.attention, batch=8), 1.6),
}
NAMES = (*CALLS, *PROGRAMS)


def make_statement(m: Any, name: str) -> Statement:
    """Return the statement of a row in one library."""
    if name in PROGRAMS:
        return Statement("step()", {"step": PROGRAMS[name].make(m)})
    a, b = map(m.tensor, ops.operands(16))
    return Statement(CALLS[name], {"m": m, "a": a, "b": b, "q": a.reshape(4, 4)})


def row(work: str, name: str, libraries: Libraries, effort: Effort) -> ResultRow:
    """Measure a row of ``CALLS`` or ``PROGRAMS``, on the backend ``"torch"`` and in PyTorch."""
    is_call = name in CALLS
    unit, budget = ("µs", OVERHEAD) if is_call else ("ms", PROGRAMS[name].budget)
    figure = "above torch" if is_call else "over torch"
    tinytorch, torch = libraries["tinytorch"], libraries["torch"]
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with tinytorch.backend_context("torch"):
        values = _measure({"tinytorch": tinytorch, "torch": torch}, name, effort)
    torch.set_num_threads(before)
    return ResultRow(work, unit, values, budget, figure)


def _measure(modules: dict[str, Any], name: str, effort: Effort) -> dict[str, float]:
    """Seconds of the processor for one call of a row in each library."""
    timers = {each: _timer(make_statement(m, name)) for each, m in modules.items()}
    short = effort.seconds / 4
    loops = {each: loops_for(timer, short) for each, timer in timers.items()}
    turns = {each: partial(timer.timeit, loops[each]) for each, timer in timers.items()}
    values = least_of(turns, replace(effort, rounds=4 * effort.rounds, rest=0.0))
    return {each: total / loops[each] for each, total in values.items()}


def _timer(statement: Statement) -> timeit.Timer:
    """Return a timer of the processor's time."""
    setup, names = "import gc; gc.enable()", dict(statement.names)
    return timeit.Timer(statement.source, setup, time.process_time, names)
