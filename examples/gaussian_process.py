"""Fit the hyperparameters of a Gaussian process by gradients of the marginal likelihood.

A function with a smooth and a periodic part is observed at 60 noisy points. The kernel is the sum
of a smooth and a periodic kernel. Their length scales and variances and the variance of the noise
are fitted by L-BFGS on -log p(y | x), which autograd differentiates through a Cholesky factor (C.
Rasmussen, C. Williams, "Gaussian Processes for Machine Learning", 2006, equations 2.25, 2.26, 2.30
and 4.31). The program exits with status 1 if the fitted period is wrong by more than 2 %.

    python examples/gaussian_process.py
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

import tinytorch as tt
from tinytorch import optim

PERIOD = 1.3
NOISE = 0.2
#: Initial values; their logarithms are optimized, so that all stay positive.
START = {
    "smooth_size": 1.0,
    "smooth_length": 1.0,
    "wave_size": 1.0,
    "wave_length": 1.0,
    "period": 1.2,
    "noise": 0.1,
}


def truth(x: tt.Tensor) -> tt.Tensor:
    """Return the true function at `(n,)` points."""
    return 1.5 * tt.sin(0.5 * x) + 0.6 * tt.sin(2 * math.pi / PERIOD * x).exp() - 0.5


def kernel(log: dict[str, tt.Tensor], a: tt.Tensor, b: tt.Tensor) -> tt.Tensor:
    """Return the covariances `(n, m)` of the function at `(n,)` and at `(m,)` points."""
    p = {name: value.exp() for name, value in log.items()}
    distance = a[:, None] - b[None, :]
    smooth = p["smooth_size"] * tt.exp(-0.5 * (distance / p["smooth_length"]) ** 2)
    sine = tt.sin(math.pi / p["period"] * distance)
    return smooth + p["wave_size"] * tt.exp(-2 * (sine / p["wave_length"]) ** 2)


def factor(log: dict[str, tt.Tensor], x: tt.Tensor) -> tt.Tensor:
    """Return the lower Cholesky factor of the covariance of noisy observations at ``x``."""
    noise = log["noise"].exp() * tt.eye(len(x), dtype=x.dtype)
    return tt.linalg.cholesky(kernel(log, x, x) + noise)


def log_likelihood(log: dict[str, tt.Tensor], x: tt.Tensor, y: tt.Tensor) -> tt.Tensor:
    """Return log p(y | x): the data fit minus the complexity and a constant."""
    lower = factor(log, x)
    white = tt.linalg.solve_triangular(lower, y[:, None], upper=False)
    complexity = lower.diagonal().log().sum()
    return -0.5 * (white**2).sum() - complexity - 0.5 * len(x) * math.log(2 * math.pi)


@tt.no_grad()
def predict(
    log: dict[str, tt.Tensor], x: tt.Tensor, y: tt.Tensor, new: tt.Tensor
) -> tuple[tt.Tensor, tt.Tensor]:
    """Return mean and covariance, `(m,)` and `(m, m)`, of the function at the points ``new``."""
    lower = factor(log, x)
    white = tt.linalg.solve_triangular(
        lower, tt.cat([y[:, None], kernel(log, x, new)], dim=1), upper=False
    )
    mean = white[:, 1:].mT @ white[:, 0]
    return mean, kernel(log, new, new) - white[:, 1:].mT @ white[:, 1:]


def fit(x: tt.Tensor, y: tt.Tensor, steps: int) -> dict[str, tt.Tensor]:
    """Maximize the likelihood; return the logarithms of the hyperparameters."""
    log = {name: tt.tensor(math.log(value), requires_grad=True) for name, value in START.items()}
    optimizer = optim.LBFGS(list(log.values()), max_iter=5, line_search_fn="strong_wolfe")

    def closure() -> tt.Tensor:
        optimizer.zero_grad()
        loss = -log_likelihood(log, x, y)
        loss.backward()
        return loss

    for step in range(1, steps + 1):
        before = -optimizer.step(closure).item()  # the loss before the step
        period, variance = log["period"].exp().item(), log["noise"].exp().item()
        print(
            f"step {step:2d}   log likelihood {before:7.2f}, "
            f"then period {period:.3f} and noise {variance**0.5:.3f}"
        )
    return log


def draw(path: Path, log: dict[str, tt.Tensor], x: tt.Tensor, y: tt.Tensor) -> None:
    """Draw the observations, the posterior and, with thin lines, three samples from it."""
    new = tt.linspace(-1, 14, 400)
    mean, covariance = predict(log, x, y, new)
    band = 2 * covariance.diagonal().clamp(min=0).sqrt()
    lower = tt.linalg.cholesky(covariance + 1e-6 * tt.eye(len(new)))
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    axes.fill_between(new, mean - band, mean + band, color="tab:blue", alpha=0.18, lw=0)
    axes.plot(new, mean[:, None] + lower @ tt.randn(len(new), 3), color="tab:blue", lw=0.5)
    axes.plot(new, mean, color="tab:blue", lw=2, label="mean, and two standard deviations")
    axes.plot(new, truth(new), "k--", lw=1, label="the function")
    axes.plot(x, y, "o", color="tab:orange", ms=4, label="observations")
    axes.set(xlabel="x", ylabel="f(x)", xlim=(-1, 14), title="what the process believes")
    axes.legend(loc="upper right", ncols=3, fontsize=9)
    axes.set_ylim(-3.5, 4.5)
    figure.savefig(path, dpi=90)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("gaussian_process.png"))
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.set_default_dtype(tt.float64)  # covariance matrices are nearly singular
    tt.manual_seed(arguments.seed)
    x = 10 * tt.rand(arguments.points).sort().values
    y = truth(x) + NOISE * tt.randn(arguments.points)
    log = fit(x, y, arguments.steps)
    draw(arguments.output, log, x, y)
    period, noise = log["period"].exp().item(), log["noise"].exp().sqrt().item()
    print(f"period {period:.3f} (is {PERIOD}), noise {noise:.3f} (is {NOISE})")
    print(f"log likelihood {log_likelihood(log, x, y):.6f}; picture: {arguments.output.resolve()}")
    if not abs(period / PERIOD - 1) < 0.02:
        print("expected a period that is 2 % off at most", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
