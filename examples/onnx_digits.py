"""Train a convolutional network on digits, write it as ONNX, and run it without tinytorch.

The network is trained with images of 8 × 8 pixels, then exported with a dynamic batch. From there
on NumPy and onnxruntime alone are needed, as on a server, a phone or in a browser. The program
compares their results with the model's and exits with status 1 if they differ.

    python examples/onnx_digits.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np
import onnxruntime
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import tinytorch as tt
from tinytorch import nn, optim

HELD_OUT = 400


def build() -> nn.Module:
    """Create the network, from `(batch, 1, 8, 8)` pixels to `(batch, 10)` logits."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def train(model: nn.Module, images: tt.Tensor, labels: tt.Tensor, epochs: int) -> None:
    """Train with batches of 64 in random order."""
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(epochs):
        for batch in tt.randperm(len(images)).split(64):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()


def predict(path: Path, images: np.ndarray) -> np.ndarray:
    """Run the written model by onnxruntime; return its logits."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"images": images})[0]


def draw(path: Path, images: np.ndarray, logits: np.ndarray, labels: np.ndarray) -> None:
    """Draw held-out digits with the probabilities that the written model gives."""
    powers = np.exp(logits - logits.max(1, keepdims=True))
    shares = powers / powers.sum(1, keepdims=True)
    unsure_first = shares.max(1).argsort()[:12]
    figure, rows = plt.subplots(4, 6, figsize=(11, 6), layout="constrained")
    for index, (picture, bars) in zip(unsure_first, rows.reshape(-1, 2)):
        picture.imshow(images[index, 0], cmap="gray_r")
        picture.set_axis_off()
        picture.set_title(f"is {labels[index]}", fontsize=10)
        right = shares[index].argmax() == labels[index]
        bars.bar(range(10), shares[index], color="tab:blue" if right else "tab:red")
        bars.set(xticks=range(10), ylim=(0, 1), yticks=())
        bars.tick_params(labelsize=8)
    figure.suptitle("the 12 least certain of 400 held-out digits, by onnxruntime")
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--output", type=Path, default=Path("onnx_digits.png"))
    parser.add_argument("--model", type=Path, default=Path("digits.onnx"), help="file to write")
    arguments = parser.parse_args()
    matplotlib.use("Agg")  # writes files without a display
    tt.manual_seed(0)

    digits = load_digits()
    images = tt.tensor(digits.images / 16, dtype=tt.float32).unsqueeze(1)
    labels = tt.tensor(digits.target)
    model = build()
    train(model, images[:-HELD_OUT], labels[:-HELD_OUT], arguments.epochs)
    model.eval()
    held_out, answers = images[-HELD_OUT:], digits.target[-HELD_OUT:]

    tt.onnx.export(
        model, held_out[:2], arguments.model, input_names=["images"], output_names=["logits"],
        dynamic_axes={"images": {0: "batch"}},
    )  # fmt: skip
    logits = predict(arguments.model, held_out.numpy())
    with tt.no_grad():
        difference = np.abs(logits - model(held_out).numpy()).max()
    accuracy = (logits.argmax(1) == answers).mean()
    print(f"wrote {arguments.model.stat().st_size / 1024:.0f} KiB of ONNX")
    print(f"onnxruntime: {accuracy:.1%} of {HELD_OUT} held-out digits")
    print(f"largest difference from the model: {difference:.1e}")
    draw(arguments.output, held_out.numpy(), logits, answers)
    print(f"picture: {arguments.output.resolve()}")
    return int(difference > 1e-4 or accuracy < 0.9)


if __name__ == "__main__":
    sys.exit(main())
