"""Compiled steps beside eager ones, PyTorch and NumPy by hand: processor time of one thread.

python -m benchmarks --only compiled            # all rows
python -m benchmarks --only compiled gpt lstm   # the rows whose work holds one of the texts

All libraries run in one process with one thread, in turns, and the least time of each counts.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import larger, libraries, mlp, ops
from .report import ResultRow
from .timing import Effort, least_of

Step = Callable[[], Any]
#: Environment variables by which numerical libraries choose their number of threads.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
#: Calls of a compiled step before it is measured: recordings, and the pages of new memory.
_FIRST = 4


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


def measure(effort: Effort, parts: Sequence[str]) -> list[ResultRow]:
    """Measure the rows whose work holds one of ``parts``, or all, in a process of one thread."""
    names = [name for name in WORKS if not parts or any(part in name for part in parts)]
    context = multiprocessing.get_context("spawn")
    with one_thread(), ProcessPoolExecutor(1, context) as pool:
        found = [pool.submit(measure_work, name, effort).result() for name in names]
    return [row for rows in found for row in rows]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let processes that start inside the scope use one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def make_steps(work: CompiledWork, found: libraries.Libraries) -> dict[str, Step]:
    """Return the steps of a work by who runs them; each has run a few times."""
    if "torch" in found:
        found["torch"].set_num_threads(1)
    m = found["tinytorch"]
    steps = {"eager": work.make(m)}
    for engine in ("numpy", "c"):
        steps[engine] = m.compile(work.make(m), backend=engine)
    if "torch" in found:
        steps["torch"] = work.make(found["torch"])
    if work.by_hand is not None:
        steps["by hand"] = work.by_hand()
    for step in steps.values():
        for _ in range(_FIRST):
            step()
    return steps


def measure_work(name: str, effort: Effort) -> list[ResultRow]:
    """Measure one work in this process: a row for eager code and one for each engine."""
    work, found = WORKS[name], libraries.load(("tinytorch", "numpy", "torch"))
    steps = make_steps(work, found)
    timers = {who: partial(time_step, step, effort.seconds) for who, step in steps.items()}
    least = least_of(timers, effort)
    others = {"torch": least.get("torch"), "numpy": least.get("by hand")}
    known = {who: seconds for who, seconds in others.items() if seconds is not None}
    unit = "ms" if least["eager"] > 1e-3 else "µs"
    bounds = {"eager": None, "numpy": work.bounds[0], "c": work.bounds[1]}
    return [
        ResultRow(f"compiled, {who}: {name}", unit, {"tinytorch": least[who], **known}, bound)
        for who, bound in bounds.items()
    ]


def time_step(step: Step, seconds: float) -> float:
    """Return the least processor time of one call, of as many as fit into ``seconds``."""
    least, end = float("inf"), time.process_time() + seconds
    while True:
        start = time.process_time()
        step()
        now = time.process_time()
        least = min(least, now - start)
        if now >= end:
            return least
