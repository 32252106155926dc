"""Count the NumPy calls of a network with a custom backend.

A backend is a class. This one is the NumPy backend with wrapped functions. It is registered under a
name, and tensors created in its context use it, from the convolutions to the optimizer, without a
change of the network. A small convolutional network is trained on handwritten digits with it and,
for comparison, with the NumPy backend. The program exits with status 1 if the weights of both are
not equal bit by bit.

    python examples/counting_backend.py
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib
import numpy
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.backends.numpy import NumpyBackend
from tinytorch.nn import functional as F

PHASES = ("forward", "backward", "optimizer")


class CountedFunction:
    """Function that counts its calls, and those of its methods such as `add.reduce`."""

    def __init__(self, calls: Counter[str], name: str, function: Any) -> None:
        self.calls, self.name, self.function = calls, name, function

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls[self.name] += 1
        return self.function(*args, **options)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.function, name)
        is_function = callable(value)
        return CountedFunction(self.calls, f"{self.name}.{name}", value) if is_function else value


class Counting(NumpyBackend):
    """NumPy backend that counts the calls of each NumPy function."""

    name = "counting"

    def __init__(self) -> None:
        # NumPy's functions that the backend itself implements.
        for name, method in inspect.getmembers(self, inspect.ismethod):
            if not name.startswith("_") and hasattr(numpy, name):
                setattr(self, name, CountedFunction(self.calls, name, method))

    def served(self, name: str, value: Any) -> Any:
        """Wrap each of NumPy's other functions; called when the backend is created."""
        is_function = callable(value) and not isinstance(value, type)
        return CountedFunction(self.calls, name, value) if is_function else value

    @property
    def calls(self) -> Counter[str]:
        """Number of calls of each function; ``clear()`` resets them."""
        return vars(self).setdefault("_calls", Counter())


def build() -> nn.Module:
    """Create the network, from `(batch, 1, 8, 8)` pixels to `(batch, 10)` logits."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 16, 10),
    )


def train(steps: int, counts: dict[str, Counter[str]]) -> nn.Module:
    """Train on the current backend; add its call counts to those of each phase, if it counts."""
    tt.manual_seed(0)
    digits = load_digits()
    images = tt.Tensor(digits.images[:, None] / 16)
    labels = tt.tensor(digits.target)
    model = build()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    calls = getattr(images.backend, "calls", Counter())
    for step in range(steps):
        batch = tt.randint(len(images), (64,))
        some_images, some_labels = images[batch], labels[batch]
        calls.clear()
        loss = F.cross_entropy(model(some_images), some_labels)
        counts["forward"] += calls
        calls.clear()
        loss.backward()
        counts["backward"] += calls
        calls.clear()
        optimizer.step()
        optimizer.zero_grad()
        counts["optimizer"] += calls
        if (step + 1) % 50 == 0:
            print(f"step {step + 1:3d}   loss {loss.item():.4f}   on {images.backend}")
    return model


def draw(path: Path, counts: dict[str, Counter[str]], steps: int) -> None:
    """Draw the number of calls of each function in a step, by phase."""
    names = [name for name, _ in sum(counts.values(), Counter()).most_common()]
    figure, axes = plt.subplots(figsize=(8, 0.24 * len(names) + 1.2), layout="constrained")
    left = tt.zeros(len(names))
    for phase, color in zip(PHASES, ("tab:blue", "tab:orange", "tab:green")):
        widths = tt.tensor([counts[phase][name] / steps for name in names])
        axes.barh(names, widths, left=left, color=color, label=phase)
        left += widths
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set(xlabel="calls per step", title="what a convolutional network asks of NumPy")
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=100)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--output", type=Path, default=Path("counting_backend.png"))
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.register_backend("counting", Counting)
    counts = {phase: Counter() for phase in PHASES}
    with tt.backend_context("counting"):
        counted = train(arguments.steps, counts)
    reference = train(arguments.steps, {phase: Counter() for phase in PHASES})
    draw(arguments.output, counts, arguments.steps)
    for phase in PHASES:
        often = ", ".join(name for name, _ in counts[phase].most_common(4))
        each = counts[phase].total() / arguments.steps
        print(f"{phase:9s} {each:5.1f} calls a step, most often {often}")
    print(f"picture: {arguments.output.resolve()}")
    theirs = reference.state_dict()
    same = (value.numpy() == theirs[name].numpy() for name, value in counted.state_dict().items())
    if not all(each.all() for each in same):
        print("expected the weights that NumPy's backend trains", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
