"""Fit the mass of a star to observations of a planet, with derivatives through the whole orbit.

The data are sixty noisy observations of a planet. The script integrates the planet's motion step by
step, and fits the mass of the star and the initial position and velocity of the planet to them.
`simulate` is an ordinary NumPy function; its derivatives with respect to the five unknowns are
computed by one run with `func.jacfwd`, for the Gauss-Newton method. The observations are generated
without the integrator, from Kepler's equation M = E - e sin E. The program exits with status 1 if
the fitted mass or eccentricity is wrong by more than 2 %.

    python examples/orbit.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

import tinytorch.numpy as np
from tinytorch.func import jacfwd

MASS, AXIS, ECCENTRICITY = 4 * np.pi**2, 1.0, 0.5  # in years and astronomical units: the sun's
SPAN, STEPS, SIGHTINGS = 0.9, 180, 60  # years, time steps, observations
NOISE = 0.01
#: Initial guess of mass, position (2) and velocity (2): approximately a circle.
GUESS = np.array([32.0, 0.6, 0.1, -1.0, 8.0])


def kepler(times):
    """Return the positions `(n, 2)` on the true ellipse; the pericenter is at time 0."""
    mean = np.sqrt(MASS / AXIS**3) * times
    anomaly = mean + 0
    for _ in range(20):  # Newton's iteration for M = E - e sin E
        excess = anomaly - ECCENTRICITY * np.sin(anomaly) - mean
        anomaly -= excess / (1 - ECCENTRICITY * np.cos(anomaly))
    minor = AXIS * np.sqrt(1 - ECCENTRICITY**2)
    x, y = AXIS * (np.cos(anomaly) - ECCENTRICITY), minor * np.sin(anomaly)
    return np.stack([x, y], axis=1)


def simulate(unknowns, steps=STEPS):
    """Return the positions `(steps + 1, 2)` by the leapfrog method (velocity Verlet).

    ``unknowns`` are the star's mass, and the planet's initial position (2) and velocity (2).
    """
    mass, position, velocity = unknowns[0], unknowns[1:3], unknowns[3:5]
    step = SPAN / steps
    positions = [position]
    pull = -mass * position / np.sum(position**2) ** 1.5
    for _ in range(steps):
        velocity = velocity + 0.5 * step * pull
        position = position + step * velocity
        pull = -mass * position / np.sum(position**2) ** 1.5
        velocity = velocity + 0.5 * step * pull
        positions.append(position)
    return np.stack(positions)


def fit(seen, rounds):
    """Return the unknowns after each iteration of the Gauss-Newton method, with step halving.

    ``seen`` are the observed positions `(SIGHTINGS, 2)`.
    """
    every = STEPS // SIGHTINGS

    def misfit(unknowns):
        return ((simulate(unknowns)[every::every] - seen) / NOISE).ravel()

    found = [GUESS]
    for number in range(1, rounds + 1):
        now = found[-1]
        rest = misfit(now)
        step = np.linalg.lstsq(jacfwd(misfit)(now), -rest)[0]
        while np.sum(misfit(now + step) ** 2) > np.sum(rest**2) and np.abs(step).max() > 1e-9:
            step = step / 2
        found.append(now + step)
        per_number = np.sum(misfit(found[-1]) ** 2) / seen.size
        print(f"round {number:2d}   misfit {per_number:9.4f}   mass {found[-1][0] / MASS:.4f} suns")
    return np.stack(found)


def eccentricity(unknowns):
    """Return the norm of the eccentricity vector, v × L / mass - r / |r|."""
    mass, (x, y), (u, v) = unknowns[0], unknowns[1:3], unknowns[3:5]
    turn = x * v - y * u
    distance = np.hypot(x, y)
    return np.hypot(v * turn / mass - x / distance, -u * turn / mass - y / distance)


def draw(path, found, seen):
    """Draw the orbits of all iterations, the last one with a thick line, and the observations."""
    figure, axes = plt.subplots(figsize=(7, 5.2), layout="constrained")
    for number, unknowns in enumerate(found):
        last = number == len(found) - 1
        color = plt.cm.viridis(0.9 - 0.9 * number / len(found))
        places = simulate(unknowns)
        label = "first guess" if number == 0 else "fitted orbit" if last else None
        axes.plot(*places.T, color=color, lw=2.5 if last else 1, label=label)
    axes.plot(*seen.T, "o", color="tab:red", ms=3, label="sightings")
    axes.plot(0, 0, "*", color="goldenrod", ms=18, label="star")
    axes.set(aspect="equal", xlabel="astronomical units", title="rounds of the Gauss-Newton method")
    axes.legend(loc="upper left", fontsize=9)
    figure.savefig(path, dpi=75)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("orbit.png"), help="picture to write")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    matplotlib.use("Agg")
    np.random.seed(arguments.seed)
    times = SPAN * np.arange(1, SIGHTINGS + 1) / SIGHTINGS
    seen = kepler(times) + NOISE * np.random.standard_normal((SIGHTINGS, 2))
    found = fit(seen, arguments.rounds)
    draw(arguments.output, found, seen)
    mass, shape = found[-1][0] / MASS, eccentricity(found[-1])
    print(f"mass {mass:.4f} suns (is 1), eccentricity {shape:.4f} (is {ECCENTRICITY})")
    print(f"picture: {arguments.output.resolve()}")
    if not (abs(mass - 1) < 0.02 and abs(shape / ECCENTRICITY - 1) < 0.02):
        print("expected both within 2 %", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
