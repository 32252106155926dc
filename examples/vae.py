"""Map handwritten digits to a plane with a variational autoencoder.

An encoder maps each image to a normal distribution on a plane, and a decoder maps points of the
plane to images. Both are trained to maximize a lower bound on the likelihood of the images (D.
Kingma, M. Welling, "Auto-Encoding Variational Bayes", 2014). The data are scikit-learn's 1,797
digits of 8 × 8 pixels. The program exits with status 1 when the first two principal components
describe the held-out digits better than two learned coordinates do.

    python examples/vae.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.distributions import Normal, kl_divergence
from tinytorch.nn import functional as F
from tinytorch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    """Autoencoder of pixels `(batch, 64)` in ``[0, 1]`` by points `(batch, 2)`."""

    def __init__(self, hidden: int = 128) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.SiLU(), nn.Linear(hidden, 4))
        self.decoder = nn.Sequential(
            nn.Linear(2, hidden),
            nn.SiLU(),
            nn.Linear(hidden, hidden),
            nn.SiLU(),
            nn.Linear(hidden, 64),
        )

    def encode(self, images: tt.Tensor) -> Normal:
        """Return the approximate posterior of the point `(batch, 2)` of each image."""
        mean, log_scale = self.encoder(images).chunk(2, dim=1)
        return Normal(mean, log_scale.exp())

    def forward(self, images: tt.Tensor) -> tuple[tt.Tensor, tt.Tensor]:
        """Return the reconstruction loss and the KL divergence to the prior of each image."""
        posterior = self.encode(images)
        logits = self.decoder(posterior.rsample())  # differentiable with respect to mean and scale
        pixels = F.binary_cross_entropy_with_logits(logits, images, reduction="none").sum(1)
        prior = Normal(tt.zeros(2), tt.ones(2))
        return pixels, kl_divergence(posterior, prior).sum(1)


def load() -> tuple[tt.Tensor, tt.Tensor, tt.Tensor, tt.Tensor]:
    """Return the training pixels and labels, then the held-out ones."""
    digits = load_digits()
    x_train, x_test, y_train, y_test = train_test_split(
        digits.data / 16.0, digits.target, test_size=0.25, stratify=digits.target, random_state=0
    )
    return tt.Tensor(x_train), tt.tensor(y_train), tt.Tensor(x_test), tt.tensor(y_test)


def fit(model: VAE, images: tt.Tensor, epochs: int) -> None:
    """Minimize the upper bound on -log p(images)."""
    loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True)
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(1, epochs + 1):
        total = tt.zeros(2)
        for (batch,) in loader:
            optimizer.zero_grad()
            pixels, points = model(batch)
            (pixels + points).mean().backward()
            optimizer.step()
            total += tt.stack([pixels.sum(), points.sum()]).detach()
        schedule.step()
        if epoch % 10 == 0 or epoch == epochs:
            pixels, points = (total / len(images)).tolist()
            print(
                f"epoch {epoch:3d}   bound {pixels + points:.3f} = "
                f"pixels {pixels:.3f} + points {points:.3f}"
            )


@tt.no_grad()
def reconstruct(model: VAE, images: tt.Tensor) -> tt.Tensor:
    """Decode the mean of each image's distribution."""
    return model.decoder(model.encode(images).mean).sigmoid()


@tt.no_grad()
def draw(path: Path, model: VAE, images: tt.Tensor, labels: tt.Tensor) -> None:
    """Draw the held-out digits as points, and decoded images all over the plane."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
    points = model.encode(images).mean
    dots = left.scatter(
        points[:, 0], points[:, 1], c=labels, cmap="tab10", s=9, vmin=-0.5, vmax=9.5
    )
    figure.colorbar(dots, ax=left, ticks=range(10))
    left.set(title="held-out digits on the plane", aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
    side = 12
    # Coordinates at equally spaced quantiles of the prior.
    axis = Normal(0.0, 1.0).icdf(tt.linspace(0.02, 0.98, side))
    plane = tt.cartesian_prod(axis.flip(0), axis).flip(1)
    tiles = F.pad(model.decoder(plane).sigmoid().reshape(side, side, 8, 8), (1, 1, 1, 1))
    picture = tiles.permute(0, 2, 1, 3).reshape(10 * side, 10 * side)
    right.imshow(picture, cmap="gray_r", interpolation="nearest")
    right.set(title="what the decoder draws there", xticks=[], yticks=[])
    figure.savefig(path, dpi=80)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("vae.png"), help="picture to write")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")
    tt.manual_seed(arguments.seed)
    train, _, test, labels = load()
    model = VAE()
    fit(model, train, arguments.epochs)
    draw(arguments.output, model, test, labels)
    error = F.mse_loss(reconstruct(model, test), test).item()
    components = PCA(2).fit(train)
    linear = components.inverse_transform(components.transform(test))
    pca_error = F.mse_loss(tt.tensor(linear), test).item()
    print(f"held-out pixels: squared error {error:.4f}, principal components {pca_error:.4f}")
    print(f"picture: {arguments.output.resolve()}")
    if not error < pca_error:
        print("expected less than principal components give", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
