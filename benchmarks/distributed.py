"""Measure all_reduce and a step of DistributedDataParallel on two ranks, beside PyTorch's gloo.

python -m benchmarks.distributed             # a table: minimal times, bytes per second, ratios
python -m benchmarks.distributed --quick     # fewer sizes and rounds

Both libraries run in the same two processes, in turns, each on one thread. A time is the minimum
over the rounds; the time of a round is the mean of its calls on the slower rank.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tinytorch.distributed.run import find_mpiexec

RANKS = 2
BUDGET = 1.2
SIZES = [1 << power for power in range(10, 27)]  # bytes, 1 kB to 64 MB
QUICK = [1 << power for power in (10, 16, 20, 26)]
#: Bytes that all calls of a round reduce, and the maximal number of calls.
VOLUME, CALLS = 1 << 26, 200
#: The training step: sizes of its layers, rows of a batch, and steps in a round.
WIDTHS, BATCH, STEPS = (784, 512, 512, 10), 64, 10
Run = Callable[[], object]


def all_reduce(library: Any, nbytes: int) -> Run:
    """Return a function that runs one all_reduce of ``nbytes`` of float32 elements."""
    tensor = library.zeros(nbytes // 4)
    return lambda: library.distributed.all_reduce(tensor)


def step(library: Any, distributed: bool) -> Run:
    """Return a training step of three layers, in DistributedDataParallel if ``distributed``."""
    nn = library.nn
    library.manual_seed(0)
    layers = [m for a, b in zip(WIDTHS, WIDTHS[1:]) for m in (nn.Linear(a, b), nn.ReLU())][:-1]
    net = nn.Sequential(*layers)
    model = nn.parallel.DistributedDataParallel(net) if distributed else net
    optimizer = library.optim.SGD(model.parameters(), lr=0.01)
    x, y = library.randn(BATCH, WIDTHS[0]), library.randint(0, WIDTHS[-1], (BATCH,))

    def run() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return run


def least(
    runs: dict[str, Run], libraries: dict[str, Any], calls: int, rounds: int
) -> dict[str, float]:
    """The minimal seconds of a call for each library, on the slower rank, measured in turns.

    Args:
        runs: The function to measure, by library.
        libraries: The modules, by library.
        calls: Number of calls in a round.
        rounds: Number of rounds, of which the minimum is returned.
    """
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            distributed = libraries[name].distributed
            run()
            distributed.barrier()
            start = time.perf_counter()
            for _ in range(calls):
                run()
            mean = libraries[name].tensor([(time.perf_counter() - start) / calls])
            distributed.all_reduce(mean, distributed.ReduceOp.MAX)
            best[name] = min(best[name], float(mean))
    return best


def measure(quick: bool) -> list[tuple[str, float, dict[str, float]]]:
    """Rows of the name of a work, the bytes that it reduces, and the seconds for each library."""
    import torch

    import tinytorch

    torch.set_num_threads(1)
    libraries = {"tinytorch": tinytorch, "gloo": torch}
    tinytorch.distributed.init_process_group("mpi")
    torch.distributed.init_process_group("gloo")
    rounds = 5 if quick else 15
    rows: list[tuple[str, float, dict[str, float]]] = []
    for nbytes in QUICK if quick else SIZES:
        runs = {name: all_reduce(library, nbytes) for name, library in libraries.items()}
        calls = max(1, min(CALLS, VOLUME // nbytes))
        rows.append(
            (f"all_reduce {format_size(nbytes)}", nbytes, least(runs, libraries, calls, rounds))
        )
    for text, distributed in ("alone", False), ("DDP", True):
        runs = {name: step(library, distributed) for name, library in libraries.items()}
        rows.append((f"MLP step, {text}", 0, least(runs, libraries, STEPS, rounds)))
    tinytorch.distributed.destroy_process_group()
    torch.distributed.destroy_process_group()
    return rows


def format_size(nbytes: int) -> str:
    """A number of bytes with its unit."""
    for power, unit in (20, "MB"), (10, "kB"):
        if nbytes >= 1 << power:
            return f"{nbytes >> power} {unit}"
    return f"{nbytes} B"


def report(rows: list[tuple[str, float, dict[str, float]]]) -> None:
    """Print the table."""
    print(f"{'':20} {'tinytorch':>12} {'gloo':>12} {'ratio':>6}  {'':10}  budget {BUDGET}")
    for work, nbytes, seconds in rows:
        own, gloo = seconds["tinytorch"], seconds["gloo"]
        rate = f"{nbytes / own / 1e6:7.0f} MB/s" if nbytes else ""
        print(f"{work:20} {1e6 * own:9.1f} µs {1e6 * gloo:9.1f} µs {own / gloo:6.2f}  {rate}")


def main() -> int:
    """Start the ranks, or run as one of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    options = parser.parse_args()
    if "LOCAL_RANK" in os.environ:
        rows = measure(options.quick)
        if os.environ["RANK"] == "0":
            report(rows)
        return 0
    mpiexec = find_mpiexec()
    if mpiexec is None:
        parser.error("no mpiexec found: install mpi4py and an MPI")
    words: list[str] = []
    for rank in range(RANKS):
        own = ["env", f"RANK={rank}", f"LOCAL_RANK={rank}", sys.executable, "-m", __spec__.name]
        words += [":"] * bool(words) + ["-n", "1", *own, *sys.argv[1:]]
    env = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29501",
           "OMP_NUM_THREADS": "1"}  # fmt: skip
    return subprocess.run([mpiexec, *words], env={**os.environ, **env}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
