"""Solve the heat equation with a physics-informed network, without a known solution.

The network u(x, t) is trained to satisfy u_t = D u_xx on a rod whose ends have temperature zero,
and the initial temperatures. Autograd computes the derivatives of its output with respect to its
inputs, and differentiates them again with respect to its weights (M. Raissi, P. Perdikaris, G.
Karniadakis, "Physics-informed neural networks", J. Comput. Phys. 378, 2019). The closed-form
solution, a sum of two decaying sines, is used for comparison alone. The program exits with status
1 if the error is larger than 0.01 anywhere.

    python examples/heat.py
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

import tinytorch as tt
from tinytorch import nn, optim

DIFFUSIVITY = 0.05
TARGET = 0.01


def exact(x: tt.Tensor, t: tt.Tensor) -> tt.Tensor:
    """Return the solution by separation of variables, of the broadcast shape of ``x`` and ``t``."""
    return sum(
        size * tt.sin(k * math.pi * x) * tt.exp(-DIFFUSIVITY * (k * math.pi) ** 2 * t)
        for size, k in ((1.0, 1), (0.6, 3))
    )


class Rod(nn.Module):
    """Model of the temperature `(n, 1)` at positions and times `(n, 1)`.

    It is x (1 - x) times a network, so that the ends are at zero for all weights.
    """

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(2, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, x: tt.Tensor, t: tt.Tensor) -> tt.Tensor:
        return x * (1 - x) * self.network(tt.cat([x, t], dim=1))


def residual(model: Rod, x: tt.Tensor, t: tt.Tensor) -> tt.Tensor:
    """Return u_t - D u_xx at `(n, 1)` points, zero for a solution."""
    x, t = x.requires_grad_(), t.requires_grad_()
    u = model(x, t)
    # The gradient of the sum has the derivative of each row, which depends on its own point alone.
    u_x, u_t = tt.autograd.grad(u.sum(), (x, t), create_graph=True)
    (u_xx,) = tt.autograd.grad(u_x.sum(), x, create_graph=True)
    return u_t - DIFFUSIVITY * u_xx


def fit(model: Rod, steps: int) -> list[float]:
    """Minimize the residual and the initial error by L-BFGS; return the loss of each step."""
    points = tt.quasirandom.SobolEngine(2).draw(400, dtype=tt.float64)
    inside_x, inside_t = points[:, :1], points[:, 1:]
    start_x = tt.linspace(0, 1, 60)[:, None]
    start_t = tt.zeros_like(start_x)
    start_u = exact(start_x, start_t)
    optimizer = optim.LBFGS(
        model.parameters(), max_iter=20, history_size=50, line_search_fn="strong_wolfe"
    )

    def closure() -> tt.Tensor:
        optimizer.zero_grad()
        equation = residual(model, inside_x, inside_t).square().mean()
        loss = equation + 10 * nn.functional.mse_loss(model(start_x, start_t), start_u)
        loss.backward()
        return loss

    losses = []
    for step in range(1, steps + 1):
        losses.append(optimizer.step(closure).item())
        if step % 5 == 0:
            print(f"step {step:3d}   loss {losses[-1]:.2e}")
    return losses


@tt.no_grad()
def compare(model: Rod) -> tuple[tt.Tensor, tt.Tensor]:
    """Return the network's and the exact temperatures on a grid, `(x, t)` = `(101, 101)`."""
    axis = tt.linspace(0, 1, 101)
    x, t = tt.meshgrid(axis, axis, indexing="ij")
    return model(x.reshape(-1, 1), t.reshape(-1, 1)).reshape(x.shape), exact(x, t)


def draw(path: Path, found: tt.Tensor, truth: tt.Tensor) -> None:
    """Draw the solution, its error, and the temperatures at four times.

    ``found`` and ``truth`` are `(places, times)`.
    """
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    axis = tt.linspace(0, 1, 101)
    image = left.contourf(axis, axis, found, 20, cmap="inferno")
    left.set(xlabel="time t", ylabel="place x", title="the network's temperature")
    figure.colorbar(image, ax=left)
    image = middle.contourf(axis, axis, (found - truth).abs(), 10, cmap="viridis")
    middle.set(xlabel="time t", title="its error")
    figure.colorbar(image, ax=middle)
    for time in (0, 10, 30, 100):
        color = plt.cm.inferno(0.8 - time / 150)
        right.plot(axis, found[:, time], color=color, lw=2, label=f"t = {time / 100}")
        right.plot(axis[::5], truth[::5, time], "o", color=color, ms=3)
    right.set(xlabel="place x", title="lines: network, dots: closed form")
    right.legend(fontsize=9)
    figure.savefig(path, dpi=80)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("heat.png"), help="picture to write")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.set_default_dtype(tt.float64)
    tt.manual_seed(arguments.seed)
    model = Rod()
    fit(model, arguments.steps)
    found, truth = compare(model)
    draw(arguments.output, found, truth)
    error = (found - truth).abs().max().item()
    print(f"largest error {error:.5f} of {truth.max():.2f}; picture: {arguments.output.resolve()}")
    if not error < TARGET:
        print(f"expected at most {TARGET}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
