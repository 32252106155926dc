"""Learn to balance a pole on a cart by policy gradients.

The cart is pushed left or right fifty times a second; the pole must stay within 12 degrees and the
cart within 2.4 m. Masses, lengths and limits are those of A. Barto, R. Sutton, C. Anderson,
"Neuronlike adaptive elements that can solve difficult learning control problems", 1983; the
equations of motion without friction are those of R. Florian, "Correct equations for the dynamics
of the cart-pole system", 2007. The policy learns by REINFORCE (R. Williams, 1992) on
many carts in parallel. The program exits with status 1 if the learned policy, on new carts, does
not balance for 190 of 200 steps on average.

    python examples/pole.py
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
from tinytorch.distributions import Bernoulli

GRAVITY, CART, POLE, HALF_LENGTH = 9.8, 1.0, 0.1, 0.5  # m/s², kg, kg, m
PUSH, TIME_STEP = 10.0, 0.02  # N, s
STEPS = 200
TARGET = 190


def accelerations(state: tt.Tensor, force: tt.Tensor) -> tuple[tt.Tensor, tt.Tensor]:
    """Return the cart's and the pole's acceleration, `(carts,)`.

    ``state`` is `(carts, 4)`: position, velocity, angle from upright in radians, angular velocity.
    """
    _, _, angle, spin = state.unbind(1)
    sine, cosine = angle.sin(), angle.cos()
    total = CART + POLE
    pushed = (-force - POLE * HALF_LENGTH * spin**2 * sine) / total
    inertia = HALF_LENGTH * (4 / 3 - POLE * cosine**2 / total)
    turn = (GRAVITY * sine + cosine * pushed) / inertia
    return (force + POLE * HALF_LENGTH * (spin**2 * sine - turn * cosine)) / total, turn


def advance(state: tt.Tensor, force: tt.Tensor, time_step: float = TIME_STEP) -> tt.Tensor:
    """Return the state one time step later, by the semi-implicit Euler method."""
    place, speed, angle, spin = state.unbind(1)
    push, turn = accelerations(state, force)
    speed, spin = speed + time_step * push, spin + time_step * turn
    return tt.stack([place + time_step * speed, speed, angle + time_step * spin, spin], dim=1)


def build() -> nn.Module:
    """Create the policy, from states `(carts, 4)` to logits `(carts, 1)` of a push to the right."""
    return nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))


@tt.no_grad()
def play(policy: nn.Module, carts: int) -> tuple[tt.Tensor, tt.Tensor, tt.Tensor]:
    """Simulate carts until all poles have fallen.

    Return the states `(steps, carts, 4)`, the pushes to the right `(steps, carts)`, 0 or 1, and
    whether each pole is still up after each step `(steps, carts)`.
    """
    state = tt.empty(carts, 4).uniform_(-0.05, 0.05)
    up = tt.ones(carts, dtype=tt.bool)
    states, pushes, ups = [], [], []
    for _ in range(STEPS):
        push = Bernoulli(logits=policy(state).squeeze(1)).sample()
        states.append(state)
        pushes.append(push)
        state = advance(state, PUSH * (2 * push - 1))
        up = up & (state[:, 0].abs() < 2.4) & (state[:, 2].abs() < math.radians(12))
        ups.append(up)
        if not up.any():
            break
    return tt.stack(states), tt.stack(pushes), tt.stack(ups)


def update(
    policy: nn.Module, optimizer: optim.Optimizer, carts: int, discount: float = 0.98
) -> float:
    """Simulate once and take a step of REINFORCE; return the mean number of balanced steps."""
    states, pushes, ups = play(policy, carts)
    rewards = ups.float()
    returns = tt.zeros_like(rewards)
    ahead = tt.zeros(carts)
    for step in reversed(range(len(rewards))):
        ahead = rewards[step] + discount * ahead
        returns[step] = ahead
    began = tt.cat([tt.ones(1, carts), rewards[:-1]])  # whether the pole was up before each step
    mean = (returns * began).sum() / began.sum()
    spread = ((returns - mean).square() * began).sum().div(began.sum()).sqrt()
    advantage = (returns - mean) / (spread + 1e-6)
    log_prob = Bernoulli(logits=policy(states).squeeze(-1)).log_prob(pushes)
    optimizer.zero_grad()
    loss = -(log_prob * advantage * began).sum() / began.sum()
    loss.backward()
    optimizer.step()
    return rewards.sum(0).mean().item()


def draw(path: Path, history: list[float], states: tt.Tensor, ups: tt.Tensor) -> None:
    """Draw the learning curve, and the angles of new carts with the learned policy."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.plot(range(1, len(history) + 1), history, color="tab:blue")
    left.axhline(STEPS, color="gray", lw=1, ls=":")
    left.set(xlabel="update", ylabel="steps until the pole falls", title="learning", ylim=(0, 210))
    degrees = tt.where(ups, states[:, :, 2].rad2deg(), tt.nan)
    seconds = TIME_STEP * tt.arange(len(states))
    right.plot(seconds, degrees[:, :12], color="tab:blue", lw=1, alpha=0.7)
    for limit in (-12, 12):
        right.axhline(limit, color="tab:red", lw=1, ls="--")
    right.set(xlabel="time, s", ylabel="angle, degrees", title="12 new carts, balanced")
    figure.savefig(path, dpi=80)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--carts", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("pole.png"), help="picture to write")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.manual_seed(arguments.seed)
    policy = build()
    optimizer = optim.Adam(policy.parameters(), lr=0.03)
    history = []
    for number in range(1, arguments.updates + 1):
        history.append(update(policy, optimizer, arguments.carts))
        if number % 10 == 0:
            print(f"update {number:3d}   balanced {history[-1]:5.1f} of {STEPS} steps")
    states, _, ups = play(policy, 100)
    steps = ups.sum(0).float().mean().item()
    draw(arguments.output, history, states, ups)
    print(f"new carts balanced {steps:.1f} of {STEPS} steps; picture: {arguments.output.resolve()}")
    if steps < TARGET:
        print(f"expected at least {TARGET}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
