"""Compiled steps beside eager ones, PyTorch, ``torch.compile``, NumPy and JAX by hand.

python -m benchmarks --only compiled            # all rows
python -m benchmarks --only compiled GPT LSTM   # the rows whose work holds one of the texts
python -m benchmarks --only compiled memory     # the rows of memory, see compiled_memory.py
python -m benchmarks.compiled_plot              # draw the kept run for the site

All libraries run in one process, in turns, and the least time of each counts: processor time with
one thread, wall time with two.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import by_hand, larger, libraries, mlp, ops
from .report import ResultRow
from .timing import Effort, least_of

Step = Callable[[], Any]
#: Environment variables by which numerical libraries choose their number of threads.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
#: Calls of a compiled step before it is measured: recordings, and the pages of new memory.
_FIRST = 4
ENGINES = "numpy", "c"
#: Who runs a step besides tinytorch, and the keys of a row's values.
OTHERS = {"torch": "torch", "torch.compile": "torch.compile", "by hand": "numpy", "jax": "jax"}


@dataclass(frozen=True)
class CompiledWork:
    """A row of work.

    Attributes:
        make: Function of tinytorch or PyTorch that returns the step.
        bounds: Bounds on the time over PyTorch's of the engines ``"numpy"`` and ``"c"``.
        by_hand: Function that returns the step in NumPy; None if there is none.
    """

    make: Callable[[Any], Step]
    bounds: tuple[float | None, float | None]
    by_hand: Callable[[], Step] | None = None


# -- programs ------------------------------------------------------------------------------------


def chain(m: Any, size: int) -> Step:
    """A hundred sums and products, forward and backward."""
    a, b = ops.operands(size)
    x, y = m.tensor(a, requires_grad=True), m.tensor(b)

    def step() -> Any:
        x.grad = None
        ops.run_chain(x, y).backward()
        return x.grad

    return step


def chain_by_hand(size: int) -> Step:
    """The chain in NumPy."""
    return partial(ops.chain_by_hand, *ops.operands(size))


def pointwise(m: Any, function: Callable[[Any, Any], Any], size: int = 4_000_000) -> Step:
    """A function of many elements, forward and backward."""
    x = m.tensor(larger.random(size), requires_grad=True)
    ones = m.ones(size)

    def step() -> Any:
        x.grad = None
        y = function(m, x)
        y.backward(ones)
        return y.detach(), x.grad

    return step


def polynomial(m: Any, x: Any) -> Any:
    """A polynomial of degree five."""
    return ((((0.1 * x + 0.2) * x - 0.3) * x + 0.4) * x - 0.5) * x + 0.6


def polynomial_by_hand(size: int = 4_000_000) -> Step:
    """The polynomial and its derivative in NumPy, in place."""
    x = larger.random(size)

    def step() -> Any:
        y = np.full_like(x, 0.1)
        for number in (0.2, -0.3, 0.4, -0.5, 0.6):
            y *= x
            y += np.float32(number)
        d = np.full_like(x, 0.5)
        for number in (0.8, -0.9, 0.8, -0.5):
            d *= x
            d += np.float32(number)
        return y, d

    return step


def gelu(m: Any, x: Any, approximate: str) -> Any:
    """GELU."""
    return m.nn.functional.gelu(x, approximate=approximate)


def rows(m: Any, function: Callable[[Any, Any], Any], side: tuple[int, int] = (4096, 1024)) -> Step:
    """A function of the rows of a matrix, forward and backward."""
    x = m.tensor(larger.random(*side), requires_grad=True)
    grad = m.tensor(larger.random(*side, seed=1, scale=0.1))

    def step() -> Any:
        x.grad = None
        y = function(m, x)
        y.backward(grad)
        return y.detach(), x.grad

    return step


def softmax(m: Any, x: Any) -> Any:
    """Softmax of each row."""
    return m.nn.functional.softmax(x, -1)


def layer_norm(m: Any, x: Any) -> Any:
    """Each row with mean 0 and variance 1."""
    return m.nn.functional.layer_norm(x, x.shape[-1:])


WORKS: dict[str, CompiledWork] = {
    "chain of 100, 16": CompiledWork(
        partial(chain, size=16), (0.15, None), partial(chain_by_hand, 16)
    ),
    "chain of 100, 1000": CompiledWork(
        partial(chain, size=1000), (0.15, 0.02), partial(chain_by_hand, 1000)
    ),
    "chain of 100, 1 M": CompiledWork(
        partial(chain, size=1_000_000), (0.3, 0.06), partial(chain_by_hand, 1_000_000)
    ),
    "polynomial, 4 M": CompiledWork(
        partial(pointwise, function=polynomial), (0.35, 0.08), polynomial_by_hand
    ),
    "gelu tanh, 4 M": CompiledWork(
        partial(pointwise, function=partial(gelu, approximate="tanh")), (0.9, 0.25)
    ),
    "gelu erf, 4 M": CompiledWork(
        partial(pointwise, function=partial(gelu, approximate="none")), (None, 0.6)
    ),
    "softmax, 4096x1024": CompiledWork(partial(rows, function=softmax), (None, 1.0)),
    "layer norm, 4096x1024": CompiledWork(partial(rows, function=layer_norm), (None, 1.0)),
    "MLP step, Adam, 64": CompiledWork(
        partial(mlp.torch_step, optimizer="Adam", batch=64), (0.9, 0.6),
        partial(mlp.numpy_step, "Adam", 64),
    ),
    "MLP step, Adam, 512": CompiledWork(
        partial(mlp.torch_step, optimizer="Adam", batch=512), (1.0, 0.88),
        partial(mlp.numpy_step, "Adam", 512),
    ),
    "LSTM cells, 50 steps": CompiledWork(
        partial(larger.cells, kind="LSTM", length=50), (0.95, 0.75)
    ),
    "GPT step, 3 layers, 8": CompiledWork(
        partial(larger.gpt, batch=8, layers=3, width=192, length=128), (1.03, 0.85)
    ),
    "LeNet step, 64": CompiledWork(partial(larger.lenet, batch=64), (None, 1.05)),
}  # fmt: skip


# -- measuring -----------------------------------------------------------------------------------


def measure(effort: Effort, parts: Sequence[str], threads: Sequence[int] = (1,)) -> list[ResultRow]:
    """Measure the rows whose work holds one of ``parts``, or all.

    Args:
        effort: The effort.
        parts: The texts.
        threads: Numbers of threads, each in a process of its own for each row.
    """
    names = [name for name in WORKS if not parts or any(part in name for part in parts)]
    context = multiprocessing.get_context("spawn")
    found = []
    for count in threads:
        for name in names:
            with limit_threads(count), ProcessPoolExecutor(1, context) as pool:
                found += pool.submit(measure_work, name, effort, count).result()
    return found


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Let processes that start inside the scope use a number of threads."""
    wanted = dict.fromkeys(_THREADS, str(count))
    if count == 1:  # of JAX
        wanted["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def make_steps(name: str, found: libraries.Libraries, threads: int = 1) -> dict[str, Step]:
    """Return the steps of a work by who runs them; each has run a few times."""
    work, m = WORKS[name], found["tinytorch"]
    steps = {"eager": work.make(m)}
    for engine in ENGINES:
        steps[engine] = m.compile(work.make(m), backend=engine)
    if "torch" in found:
        found["torch"].set_num_threads(threads)
        steps["torch"] = work.make(found["torch"])
        if shutil.which("c++"):
            steps["torch.compile"] = found["torch"].compile(work.make(found["torch"]))
    if work.by_hand is not None:
        steps["by hand"] = work.by_hand()
    if "jax" in found and name in by_hand.STEPS:
        steps["jax"] = by_hand.STEPS[name]()
    for who, step in [*steps.items()]:
        try:
            for _ in range(_FIRST):
                step()
        except Exception as error:
            if who != "torch.compile":
                raise
            print(f"{name}: torch.compile failed: {str(error)[:200]}", file=sys.stderr)
            del steps[who]
    return steps


def measure_work(name: str, effort: Effort, threads: int = 1) -> list[ResultRow]:
    """Measure one work in this process: a row for eager code and one for each engine."""
    work = WORKS[name]
    found = libraries.load(("tinytorch", "numpy", "torch", "jax"))
    clock = time.process_time if threads == 1 else time.perf_counter
    timers = {
        who: partial(time_step, step, effort.seconds, clock)
        for who, step in make_steps(name, found, threads).items()
    }
    least = least_of(timers, effort)
    others = {key: least[who] for who, key in OTHERS.items() if who in least}
    unit = "ms" if least["eager"] > 1e-3 else "µs"
    bounds = dict(zip(ENGINES, work.bounds, strict=True)) if threads == 1 else {}
    suffix = "" if threads == 1 else f", {threads} threads"
    return [
        ResultRow(
            f"compiled, {who}{suffix}: {name}", unit, {"tinytorch": least[who], **others},
            bounds.get(who),
        )
        for who in ("eager", *ENGINES)
    ]  # fmt: skip


def time_step(step: Step, seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """Return the least time of one call, of as many as fit into ``seconds``."""
    least, end = float("inf"), clock() + seconds
    while True:
        start = clock()
        step()
        now = clock()
        least = min(least, now - start)
        if now >= end:
            return least


def ratios(rows: Sequence[ResultRow]) -> dict[str, dict[str, float]]:
    """Return the times over those of eager PyTorch: for each work by who ran it."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        kind, _, name = row.work.partition(": ")
        label, who, *threads = kind.split(", ")
        if label == "compiled" and "torch" in row.values:
            line = found.setdefault(", ".join((name, *threads)), {})
            line[f"tinytorch, {who}"] = row.values["tinytorch"] / row.values["torch"]
            for other, key in OTHERS.items():
                if key in row.values and other != "torch":
                    line[other] = row.values[key] / row.values["torch"]
    return found


def summary(rows: Sequence[ResultRow]) -> list[str]:
    """Return a table of ``ratios`` as lines of text."""
    found = ratios(rows)
    columns = [*dict.fromkeys(who for line in found.values() for who in line)]
    lines = ["time over eager PyTorch's".ljust(34) + "".join(f"{who:>18}" for who in columns)]
    for name, line in found.items():
        cells = (f"{line[who]:.3f}" if who in line else "–" for who in columns)
        lines.append(name.ljust(34) + "".join(f"{cell:>18}" for cell in cells))
    return lines if found else []
