"""Time and memory of programs on arrays of Dask that are larger than the memory.

``python -m benchmarks.dask_memory`` runs a mean, a standard deviation, a product of matrices and a
gradient of a reduction, each on 20 GB of normal numbers in a process of its own, and prints
results, seconds and the largest memory of the process. It ends with 1 if one needs 1 GB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

COLUMNS = 4096
#: Bound on the memory of a process, in bytes.
BOUND = 10**9


class MeasuredReduction(NamedTuple):
    """Function of a library and a large matrix, and what it returns but for chance."""

    run: Callable[[Any, Any], float]
    expected: float


class Outcome(NamedTuple):
    """Result of a program, its seconds, and the most bytes that its process had."""

    result: float
    seconds: float
    memory: int


def _mean(tt: Any, x: Any) -> float:
    return (2 * x + 1).mean().item()  # type: ignore[no-any-return]


def _deviation(tt: Any, x: Any) -> float:
    return x.std().item()  # type: ignore[no-any-return]


def _product(tt: Any, x: Any) -> float:
    """Variance of the elements of ``x @ w``, whose columns have the length 1."""
    w = tt.full((COLUMNS, 8), COLUMNS**-0.5)
    return (x @ w).var().item()  # type: ignore[no-any-return]


def _gradient(tt: Any, x: Any) -> float:
    """Sum of the gradient of the mean of ``(x * w) ** 2`` with respect to ``w``."""
    w = tt.ones(COLUMNS, requires_grad=True)
    ((x * w) ** 2).mean().backward()
    return w.grad.sum().item()  # type: ignore[no-any-return]


PROGRAMS = {
    "mean of 2 x + 1": MeasuredReduction(_mean, 1.0),
    "std": MeasuredReduction(_deviation, 1.0),
    "variance of x @ w": MeasuredReduction(_product, 1.0),
    "gradient of mean((x w)²)": MeasuredReduction(_gradient, 2.0),
}


def run_program(name: str, size: int, chunk: str, threads: int) -> Outcome:
    """Run a program in this process.

    Args:
        name: A name of ``PROGRAMS``.
        size: Bytes of the matrix.
        chunk: Size of Dask's chunks, such as ``"16MiB"``.
        threads: Number of threads that compute chunks.
    """
    import dask

    import tinytorch as tt

    dask.config.set({"array.chunk-size": chunk}, scheduler="threads", num_workers=threads)
    tt.set_backend("dask")
    tt.backends.load("dask").own_random = True  # PyTorch's numbers would be drawn before the sum
    start = time.perf_counter()
    result = PROGRAMS[name].run(tt, tt.randn(size // (4 * COLUMNS), COLUMNS))
    seconds = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    return Outcome(result, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def main(arguments: list[str] | None = None) -> int:
    """Run the programs, print a line for each, and return the exit status."""
    parser = argparse.ArgumentParser(description="Reduce arrays of Dask in little memory.")
    parser.add_argument("--gigabytes", type=float, default=20.0, help="size of the matrix")
    parser.add_argument("--chunk", default="16MiB", help="size of Dask's chunks")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    size, failed = int(options.gigabytes * 1e9), False
    for name, program in PROGRAMS.items():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            given = name, size, options.chunk, options.threads
            found = pool.apply(run_program, given)
        good = abs(found.result - program.expected) < 0.01 and found.memory < BOUND
        failed |= not good
        print(
            f"{name}: {found.result:.4f} (expected {program.expected:g}), {found.seconds:.1f} s, "
            f"{found.memory / 1e6:.0f} MB{'' if good else ': MISSED'}",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
