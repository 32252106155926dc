"""Train one network on handwritten digits with one process and with two, to the same weights.

Each rank computes the gradients of its part of a batch, and DistributedDataParallel averages them.
The program starts both runs, each rank with one thread, compares the weights and prints the number
of training digits a second. It exits with status 1 if the weights differ, or if fewer than 95 % of
the held-out digits are recognized.

    python examples/distributed_digits.py
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tinytorch as tt
import tinytorch.distributed as dist
from tinytorch import nn, optim
from tinytorch.nn.parallel import DistributedDataParallel
from tinytorch.utils.data import DataLoader, DistributedSampler, TensorDataset

BATCH, WIDTH, TARGET = 256, 1024, 0.95
TOLERANCE = 1e-3  # of the final weights: sums in another order round differently


def load() -> tuple[TensorDataset, TensorDataset]:
    """Return the training and the held-out digits, pixels scaled to ``[0, 1]``."""
    digits = load_digits()
    x_train, x_test, y_train, y_test = train_test_split(
        digits.images.reshape(-1, 64) / 16.0, digits.target, test_size=0.25, random_state=0
    )
    return (
        TensorDataset(tt.tensor(x_train, dtype=tt.float32), tt.tensor(y_train)),
        TensorDataset(tt.tensor(x_test, dtype=tt.float32), tt.tensor(y_test)),
    )


def network() -> nn.Module:
    """Create the network of three linear layers."""
    return nn.Sequential(
        nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)
    )


def train(epochs: int, path: Path) -> None:
    """Train as one rank; on rank 0, save the weights, the rate and the accuracy."""
    dist.init_process_group("mpi")
    tt.manual_seed(0)
    data, held_out = load()
    model = DistributedDataParallel(network())
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sampler: DistributedSampler = DistributedSampler(data)
    loader = DataLoader(data, BATCH // dist.get_world_size(), sampler=sampler, drop_last=True)
    seen, start = 0, 0.0
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        if epoch == 1:  # the first epoch is a warm-up
            dist.barrier()
            start = time.perf_counter()
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            seen += BATCH if epoch else 0
    dist.barrier()
    rate = seen / (time.perf_counter() - start)
    if dist.get_rank() == 0:
        x, y = held_out.tensors
        with tt.no_grad():
            accuracy = (model.module(x).argmax(1) == y).float().mean().item()
        tt.save({"weights": model.module.state_dict(), "rate": rate, "accuracy": accuracy}, path)
    dist.destroy_process_group()


def run(ranks: int, epochs: int, path: Path) -> dict[str, object]:
    """Start the ranks; return what rank 0 saved."""
    subprocess.run(
        [sys.executable, "-m", "tinytorch.distributed.run", "--nproc-per-node", str(ranks),
         __file__, "--epochs", str(epochs), "--to", str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True,
    )  # fmt: skip
    return tt.load(path)


def compare(epochs: int) -> int:
    """Train with one rank and with two; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        found = {ranks: run(ranks, epochs, Path(folder) / f"{ranks}.pt") for ranks in (1, 2)}
    for ranks, result in found.items():
        print(f"{ranks} rank{'s' * (ranks > 1)}: {result['rate']:7.0f} digits a second, "
              f"{100 * result['accuracy']:.1f} % recognized")  # fmt: skip
    one, two = (result["weights"] for result in found.values())
    difference = max((one[name] - two[name]).abs().max().item() for name in one)
    speedup = found[2]["rate"] / found[1]["rate"]
    print(
        f"two ranks are {speedup:.2f} times as fast; the weights differ by {difference:.1e} at most"
    )
    good = min(result["accuracy"] for result in found.values()) >= TARGET
    return 0 if difference < TOLERANCE and good else 1


def main() -> int:
    """Run one rank if ``--to`` is given, otherwise both runs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.to is None:
        return compare(options.epochs)
    train(options.epochs, options.to)
    return 0


if __name__ == "__main__":
    sys.exit(main())
