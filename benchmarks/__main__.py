"""Measure all rows, or those that ``--only`` selects; print the table and write JSON.

python -m benchmarks                  # all rows, a few minutes
python -m benchmarks --only chain     # the rows with "chain" in their name; of several texts, any
python -m benchmarks --only numpy     # calls of tinytorch.numpy beside NumPy's
python -m benchmarks --only small     # common calls on few elements, and their mean
python -m benchmarks --only backends  # the backend "torch" beside PyTorch itself
python -m benchmarks --only every     # every operation on few elements; `every conv`: those only
python -m benchmarks --only compiled  # compiled steps on one thread; `compiled gpt`: those only
python -m benchmarks --quick          # fewer and shorter rounds
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from . import (
    backends,
    compiled,
    compiled_jax,
    compiled_memory,
    dialect,
    every,
    importing,
    larger,
    libraries,
    mlp,
    ops,
    language,
    report,
    small,
    threads,
)
from .report import ResultRow
from .timing import Effort
from .workers import Make, Workers

RESULTS = Path(__file__).parent / "results" / "latest.json"
BUSY = 0.5  # load average before the start, in cores, above which a note is printed
# Rows in milliseconds may use several threads: each of their turns begins with a rest.
FEWER = 9  # maximum number of rounds of such a row
LONGER = 5  # factor of the time of such a turn
REST = 0.3  # seconds of the rest
Measure = Callable[[Workers, Effort], ResultRow]


def time_statements(work: str, unit: str, budget: float | None, make: Make) -> Measure:
    """Return the measurement of a row of statements, which run in a process for each library.

    Args:
        work: Name of the row.
        unit: Unit that the table shows.
        budget: Bound on the ratio of tinytorch's time to PyTorch's; None for no bound.
        make: Function that returns the statement of each library.
    """

    def measure(workers: Workers, effort: Effort) -> ResultRow:
        if unit == "ms":  # long enough to start threads
            rest = min(REST, 15 * effort.seconds)
            rounds, seconds = min(effort.rounds, FEWER), LONGER * effort.seconds
            effort = replace(effort, rounds=rounds, seconds=seconds, rest=rest)
        return ResultRow(work, unit, workers.medians(make, effort), budget)

    return measure


def import_row(work: str, workers: Workers, effort: Effort) -> ResultRow:
    """Measure the import of each library, after that of NumPy."""
    names = [name for name in workers.libraries.modules if name != "numpy"]
    values = importing.measure(names, max(1, effort.rounds // 2))
    return ResultRow(work, "ms", values, budget=0.040, figure="own")


def process_row(work: str, workers: Workers, effort: Effort) -> ResultRow:
    """Measure a whole process that imports tinytorch, beside one that imports NumPy."""
    values = importing.whole_process("tinytorch", 2 * effort.rounds)
    return ResultRow(work, "ms", values, budget=1.3, figure="over numpy")


def small_row(work: str, name: str, threads: int, workers: Workers, effort: Effort) -> ResultRow:
    """Measure the row ``name`` of ``small.CALLS`` on a number of threads."""
    return small.row(work, name, threads, workers.libraries, effort)


def backends_row(work: str, name: str, workers: Workers, effort: Effort) -> ResultRow:
    """Measure the row ``name`` of ``backends.NAMES``."""
    return backends.row(work, name, workers.libraries, effort)


def dialect_row(work: str, source: str, size: int, workers: Workers, effort: Effort) -> ResultRow:
    """Measure a call of ``tinytorch.numpy`` on arrays of ``size`` elements, beside NumPy's."""
    return dialect.row(work, source, size, effort)


def threads_row(work: str, size: int, workers: Workers, effort: Effort) -> ResultRow:
    """Measure the throughput of two threads on tensors of ``size`` elements."""
    values = threads.measure(workers.libraries, size, effort)
    return ResultRow(work, "×", values, budget=1.0, figure="own", at_least=True)


def add_larger(add: Callable[[str, str, float | None, Make], None]) -> None:
    """Add the rows of `larger` and `language`.

    Args:
        add: Function of the name, the unit, the budget and the statements of a row.
    """
    programs: dict[str, tuple[float | None, Callable[[Any], larger.Step]]] = {
        "conv 64-64, 32x32, forward": (1.0, partial(larger.convolution, backward=False)),
        "conv 64-64, 32x32, both": (1.0, partial(larger.convolution, backward=True)),
        "depthwise conv, both": (None, partial(larger.convolution, backward=True, groups=64)),
        "LeNet step, 64": (1.3, partial(larger.lenet, batch=64)),
        "GPT step, 4 layers, 8": (1.3, partial(larger.gpt, batch=8)),
        "LSTM cells, 20 steps": (0.8, partial(larger.cells, kind="LSTM")),
        "GRU cells, 20 steps": (0.8, partial(larger.cells, kind="GRU")),
        "nn.LSTM, 20 steps": (1.5, larger.recurrent),
        "pointwise, 10 M": (0.25, partial(larger.pointwise, size=10_000_000)),
    }
    for work, (budget, make) in programs.items():
        add(work, "ms", budget, partial(larger.steps, make=make))
    if language.has_weights():
        add("embeddings, 64 sentences", "ms", 1.5, partial(language.embeddings, sentences=64))
    for dtype in ("float32", "bfloat16"):
        make = partial(language.generation, letters=100, dtype=dtype)
        if dtype == "float32" or importlib.util.find_spec("ml_dtypes"):
            add(f"generation, 100 letters, {dtype}", "ms", 1.25, make)
    add("softmax, 4096x4096", "ms", 0.8, partial(larger.softmax, side=4096))
    add("sum, 10 M", "ms", 2.0, partial(larger.total, size=10_000_000))
    for op in larger.OPS:
        add(f"{op}, 1000x1000", "ms", None, partial(larger.operation, op=op))


def measurements() -> dict[str, Measure]:
    """Return the measurement of every row, by its name, with its budget."""
    rows: dict[str, Measure] = {}

    def add(work: str, unit: str, budget: float | None, make: Make) -> None:
        rows[work] = time_statements(work, unit, budget, make)

    for work, row in {
        "import, over numpy": import_row,
        "import, whole process": process_row,
    }.items():
        rows[work] = partial(row, work)
    add("facade: a function", "ns", None, partial(ops.attribute, name="exp"))
    add("facade: a dtype", "ns", None, partial(ops.attribute, name="float32"))
    for size in (16, 1000):
        for op in ops.SOURCES:
            add(f"plain {op}, {size}", "µs", 0.6, partial(ops.call_op, op=op, size=size))
    for size in (16, 1000):
        for op in ops.SOURCES:
            add(f"recorded {op}, {size}", "µs", 0.75, partial(ops.record_op, op=op, size=size))
    for size in (16, 1000):
        add(f"chain of 100, {size}", "µs", 0.6, partial(ops.chain, size=size))
    for optimizer in ("SGD", "Adam"):
        for batch in (64, 512):
            add(
                f"MLP step, {optimizer}, {batch}",
                "ms",
                0.85,
                partial(mlp.step, optimizer=optimizer, batch=batch),
            )
    add_larger(add)
    for size in (16, 1000):
        work = f"two threads, {size}"
        rows[work] = partial(threads_row, work, size)
    for label, count in {"small: ": 1, "small, two threads: ": 2}.items():
        for name in small.CALLS:
            rows[label + name] = partial(small_row, label + name, name, count)
    for name in backends.NAMES if libraries.is_installed("torch") else ():
        work = f"backends, torch: {name}"
        rows[work] = partial(backends_row, work, name)
    for size, calls in {16: dialect.CALLS, 1000: dialect.CALLS, 1_000_000: dialect.LARGE}.items():
        for source in calls:
            work = f"numpy, {size}: {source}"
            rows[work] = partial(dialect_row, work, source, size)
    return rows


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line; None means that of this process."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="TEXT", help="rows whose name holds a TEXT"
    )
    parser.add_argument("--rounds", type=int, default=15, help="turns, of which the median is kept")
    parser.add_argument("--seconds", type=float, default=0.02, help="of one library in one turn")
    parser.add_argument("--quick", action="store_true", help="5 rounds of 5 ms")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="PATH", help="file to write")
    return parser.parse_args(arguments)


def measure_rows(parts: list[str], found: libraries.Libraries, effort: Effort) -> list[ResultRow]:
    """Measure the rows whose names contain one of the texts ``parts``."""
    chosen = {
        name: row for name, row in measurements().items() if any(text in name for text in parts)
    }
    rows = []
    with Workers(found) as workers:
        for number, (name, measure) in enumerate(chosen.items(), 1):
            print(f"\r\x1b[K[{number}/{len(chosen)}] {name}", end="", file=sys.stderr, flush=True)
            rows.append(measure(workers, effort))
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Measure the rows, print a table and write JSON; return the exit status."""
    options = parse_arguments(arguments)
    effort = Effort(5, 0.005) if options.quick else Effort(options.rounds, options.seconds)
    found = libraries.load()
    machine = libraries.describe_machine(found)
    lines: list[str] = []
    if options.only[0] == "every":
        measured = every.measure(found, effort, options.only[1:])
        rows = [row for row, _ in measured]
        lines = every.summary(measured)
    elif options.only[0] == "compiled":
        rows = compiled.measure(effort, options.only[1:], (1, 2))
        rows += compiled_jax.measure(effort, options.only[1:])
        rows += compiled_memory.measure(options.only[1:])
        lines = compiled.summary(rows)
    else:
        rows = measure_rows(options.only, found, effort)
    if not rows:
        print(f"no row holds {' or '.join(options.only)}; there are: {', '.join(measurements())}")
        return 2
    print("\r\x1b[K", end="", file=sys.stderr)
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}")
    if (machine["load"] or 0) > BUSY:
        print(
            f"the machine was busy before the start (load {machine['load']:.1f}): what waits for "
            "its threads, PyTorch above all, looks slower than it is"
        )
    for name, reason in found.absent.items():
        print(f"{name}: absent ({reason})")
    print(report.table(rows))
    print(
        "figure: tinytorch's time over PyTorch's; for the import tinytorch's milliseconds, or its "
        "process's time over NumPy's; for the threads the throughput of two over that of one; for "
        "calls of NumPy's dialect what they take above NumPy's, and for calls on the backend "
        "'torch' what they take above PyTorch's"
    )
    for label in ("small: ", "small, two threads: "):
        lines += small.summary(label, rows)
    for size in (16, 1000):
        lines += dialect.summary(f"numpy, {size}: ", rows)
    print(*lines, sep="\n")
    report.write(options.json, machine, rows)
    print(f"written: {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
