"""Predict the time of a step of DistributedDataParallel on many ranks from that on two.

python -m benchmarks.scaling --latency 1e-5 --rate 2e9 --backward 0.02 --forward 0.01 --bytes 1e8

A message of n bytes takes ``latency + n / rate`` seconds. An all_reduce of n bytes over p ranks
takes the less of two ways (R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
Communication Operations in MPICH", 2005): recursive doubling, log2(p) messages of all n bytes, or a
reduce-scatter and an all-gather, 2 log2(p) messages of 2 n (p - 1) / p bytes together. Buckets are
reduced during backward: the step waits only for messages that are left at its end, at least those
of the last bucket.
"""

from __future__ import annotations

import argparse
import math

RANKS = (2, 8, 32, 128, 512, 1024)
BUCKET = 4e6  # bytes


def all_reduce(ranks: int, nbytes: float, latency: float, rate: float) -> float:
    """Seconds of an all_reduce of ``nbytes`` over ``ranks``."""
    steps = math.log2(ranks)
    doubling = steps * (latency + nbytes / rate)
    halving = 2 * steps * latency + 2 * nbytes * (ranks - 1) / ranks / rate
    return min(doubling, halving)


def step(
    ranks: int, nbytes: float, latency: float, rate: float, forward: float, backward: float
) -> float:
    """Seconds of a training step whose gradients have ``nbytes``.

    Args:
        ranks: Number of processes.
        nbytes: Bytes of all gradients.
        latency: Seconds of an empty message.
        rate: Bytes per second of a message.
        forward: Seconds of the forward pass and the optimizer.
        backward: Seconds of the backward pass.
    """
    if ranks == 1:
        return forward + backward
    buckets = max(1, math.ceil(nbytes / BUCKET))
    one = all_reduce(ranks, nbytes / buckets, latency, rate)
    # The first bucket is ready after its share of backward; the last one when backward ends.
    return forward + max(backward / buckets + buckets * one, backward + one)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, help_ in (
        ("latency", "seconds of an empty message"),
        ("rate", "bytes a second"),
        ("forward", "seconds of the forward pass and the optimizer, alone"),
        ("backward", "seconds of the backward pass, alone"),
        ("bytes", "of all gradients"),
    ):
        parser.add_argument(f"--{name}", type=float, required=True, help=help_)
    given = parser.parse_args()
    alone = given.forward + given.backward
    print(f"{'ranks':>5} {'all_reduce':>12} {'step':>12} {'of the time alone':>18} {'speed-up':>9}")
    for ranks in RANKS:
        reduced = all_reduce(ranks, given.bytes, given.latency, given.rate)
        whole = step(ranks, given.bytes, given.latency, given.rate, given.forward, given.backward)
        print(
            f"{ranks:5} {1e3 * reduced:9.2f} ms {1e3 * whole:9.2f} ms {whole / alone:18.2f} "
            f"{ranks * alone / whole:9.1f}"
        )


if __name__ == "__main__":
    main()
