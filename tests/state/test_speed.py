"""Look-ups are on the path of every operation: tens of nanoseconds, measured as ratios."""

from __future__ import annotations

import importlib
import time
from contextvars import ContextVar

import pytest

tt = importlib.import_module("tinytorch.state")


LOOK_UPS = [tt.current_backend, tt.grad_enabled, tt.inference_enabled, tt.default_dtype]
VARIABLE: ContextVar[object] = ContextVar("variable", default=None)


def one_variable():
    return VARIABLE.get()


def best(function, times=5_000, rounds=15):
    """The shortest time of a call; what else the machine does can only add to it."""
    shortest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter_ns()
        for _ in range(times):
            function()
        shortest = min(shortest, time.perf_counter_ns() - start)
    return shortest / times


@pytest.mark.parametrize("look_up", LOOK_UPS)
@pytest.mark.parametrize("scoped", [False, True])
def test_look_up_costs_little_more_than_a_function_that_reads_a_context_variable(look_up, scoped):
    look_up()
    if not scoped:
        assert best(look_up) < 4 * best(one_variable)
        return
    with tt.backend_context("red"), tt.inference_mode(), tt.default_dtype_context("float64"):
        assert best(look_up) < 4 * best(one_variable)
