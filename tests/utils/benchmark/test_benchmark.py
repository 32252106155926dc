"""Timers: what they run, what measurements say, and tables of several, beside PyTorch's."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest


def benchmark(library: Any) -> Any:
    return importlib.import_module(f"{library.__name__}.utils.benchmark")


def measured(library: Any, times: list[float], **names: Any) -> Any:
    b = benchmark(library)
    return b.Measurement(1, times, b.TaskSpec("f(x)", "pass", **names))


def lines(shown: object) -> list[str]:
    """Without the first line, which says where the object is in memory."""
    return str(shown).splitlines()[1:]


TIMES: list[list[float]] = [
    [1e-3], [2.5e-8], [1e-3, 3e-3], [1e-3, 3e-3, 4e-3], [7.0, 7.5, 8.0, 9.0],
    [1e-3, 1.1e-3, 1.2e-3, 2e-3, 1e-3],
    [1e-3, 1.1e-3, 1.2e-3, 5e-3, 1e-3, 3e-3], [1e-3, 1.0001e-3, 1.0002e-3, 1.0003e-3],
]  # fmt: skip


@pytest.mark.parametrize("times", TIMES, ids=str)
def test_statistics_and_repr_of_measurements_are_pytorchs(torch: Any, times: list[float]) -> None:
    tt = importlib.import_module("tinytorch")
    for names in ({}, {"label": "L"}, {"label": "L", "sub_label": "s", "description": "d",
                                       "num_threads": 2}):  # fmt: skip
        ours, theirs = (measured(library, times, **names) for library in (tt, torch))
        for name in ("median", "mean", "iqr"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-15)
        for name in ("significant_figures", "has_warnings", "title", "as_row_name", "env"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert ours.meets_confidence(0.5) == theirs.meets_confidence(0.5)
        assert lines(repr(ours)) == lines(repr(theirs))


CELLS = [
    (label, sub, how, threads, t)
    for label in ("A", "B")
    for sub in ("s1", "long sub")
    for how in ("d1", "d2")
    for threads, t in ((1, 1234.5e-6), (2, 22.25e-6))
]


@pytest.mark.parametrize("case", ["plain", "trimmed", "gaps", "environments", "no label"])
def test_comparison_tables_are_pytorchs(torch: Any, case: str) -> None:
    texts = []
    for library in (importlib.import_module("tinytorch"), torch):
        found = [
            measured(library, [t], label=label, sub_label=sub, description=how, num_threads=n)
            for label, sub, how, n, t in CELLS
        ]
        if case == "gaps":
            found = [found[0], found[5], found[6]]
        elif case == "environments":
            found = [measured(library, [t * 1e-6], sub_label="s", description="d", env=env)
                     for env, t in (("older", 5.5), ("new", 3.25))]  # fmt: skip
        elif case == "no label":
            found = [measured(library, [2e-3], description="only")]
        table = benchmark(library).Compare(found)
        if case == "trimmed":
            table.trim_significant_figures()
        texts.append("\n".join(line.rstrip() for line in str(table).splitlines()))
    assert texts[0] == texts[1]


def test_the_best_is_coloured_and_doubts_are_marked(lib: Any) -> None:
    found = [measured(lib, [t, 3 * t, t, t, 4 * t], description=d)
             for d, t in (("a", 1e-3), ("b", 9e-3))]  # fmt: skip
    table = benchmark(lib).Compare(found)
    table.colorize(rowwise=True)
    table.highlight_warnings()
    assert re.search(r"\033\[92m\033\[1m *1\.0 \(! ?200%\) *\033\[0m\033\[0m", str(table))
    assert "(! XX%) Measurement has high variance" in str(table)
    assert "\033[92m\033[1m   9" not in str(table)


def test_measurements_of_the_same_are_one(lib: Any) -> None:
    found = [measured(lib, [1.0]), measured(lib, [2.0], label="q"), measured(lib, [3.0])]
    merged = benchmark(lib).Measurement.merge(found)
    assert [each.times for each in merged] == [[1.0, 3.0], [2.0]]


def test_a_timer_runs_what_it_is_given(lib: Any) -> None:
    seen: list[int] = []
    threads: list[int] = []
    names = {"seen": seen, "threads": threads}
    timer = benchmark(lib).Timer(
        "seen.append(x)\nthreads.append(torch.get_num_threads())", "x = 3", globals=names,
        label="L", num_threads=1,
    )  # fmt: skip
    before = lib.get_num_threads()
    times = timer.timeit(5)
    assert times.number_per_run == 5 and len(times.times) == 1 and times.median > 0
    assert {*seen} == {3} and len(seen) >= 5 and {*threads} == {1}
    assert lib.get_num_threads() == before and times.task_spec.label == "L"


def test_blocks_go_on_until_it_is_enough(lib: Any) -> None:
    told: list[int] = []
    timer = benchmark(lib).Timer("sum(range(100))")
    times = timer.blocked_autorange(lambda number, time: told.append(number), min_run_time=0.02)
    assert {*told} == {times.number_per_run} and times.number_per_run > 1
    assert sum(times.raw_times) >= 0.02 and times.median < 1e-3
    steady = timer.adaptive_autorange(threshold=10.0, min_run_time=0.001, max_run_time=1.0)
    assert steady.meets_confidence(10.0)


def test_unsupported_measurements_raise_not_implemented() -> None:
    b = benchmark(importlib.import_module("tinytorch"))
    with pytest.raises(NotImplementedError, match=r"statements in c\+\+"):
        b.Timer("f();", language="c++")
    with pytest.raises(NotImplementedError, match="not counted"):
        b.Timer("1").collect_callgrind()
    with pytest.raises(ValueError, match="`Measurement`"):
        b.Compare([3])
    with pytest.raises(TypeError, match="`str` stmt"):
        b.Timer(len)


def test_units_and_rounding_of_times_are_pytorchs(torch: Any) -> None:
    ours, theirs = (benchmark(x) for x in (importlib.import_module("tinytorch"), torch))
    for t in (1e-9, 5e-7, 1e-6, 2e-5, 1e-3, 3e-2, 1, 100):
        assert ours.select_unit(t) == theirs.select_unit(t)
        for figures in (1, 2, 4):
            assert ours.trim_sigfig(t * 1.2346, figures) == pytest.approx(
                float(theirs.trim_sigfig(t * 1.2346, figures))
            )
    assert [ours.unit_to_english(u) for u in ("ns", "us", "ms", "s")] == [
        theirs.unit_to_english(u) for u in ("ns", "us", "ms", "s")
    ]
