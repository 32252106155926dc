"""Cross-validation on a Dask cluster: folds are trained in parallel, each worker on a backend.

    pip install "dask[distributed]" scikit-learn
    python examples/dask_folds.py

The first worker computes with NumPy. The second one uses CuPy if there is a GPU, and otherwise a
backend that this program registers. The scheduler chooses the worker of each fold; the data are
sent as buffers, and the result of a fold is the same on both.
"""

from __future__ import annotations

from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

import tinytorch as tt
from tinytorch import nn
from tinytorch.backends.numpy import NumpyBackend
from tinytorch.compat.dask_worker import WorkerState

FOLDS, STEPS = 4, 150


class HomeMade(NumpyBackend):
    """A custom backend; docs/extending.md describes what it can override."""

    name = "homemade"


def second_backend() -> str:
    """Name of the second worker's backend: CuPy if available, else the one above."""
    try:
        tt.backends.load("cupy")
    except tt.BackendUnavailableError:
        tt.register_backend("homemade", HomeMade)
        return "homemade"
    return "cupy"


def train(images: tt.Tensor, labels: tt.Tensor, fold: int) -> tuple[int, str, float]:
    """Train without one fold and test on it, on the backend of the worker."""
    tt.manual_seed(fold)
    images, labels = images.to(backend=tt.get_backend()), labels.to(backend=tt.get_backend())
    held_out = tt.arange(len(labels)) % FOLDS == fold
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = tt.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[~held_out]), labels[~held_out])
        loss.backward()
        optimizer.step()
    right = model(images[held_out]).argmax(1) == labels[held_out]
    return fold, tt.get_backend(), right.float().mean().item()


def main() -> None:
    """Print the accuracy of each fold, and the mean."""
    digits = load_digits()
    images = tt.as_tensor(digits.data / 16, dtype=tt.float32)
    labels = tt.as_tensor(digits.target, dtype=tt.int64)
    backends = {0: "numpy", 1: second_backend()}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(WorkerState(backends))
        data = client.scatter([images, labels], broadcast=True)
        found = client.gather([client.submit(train, *data, fold) for fold in range(FOLDS)])
    for fold, backend, accuracy in found:
        print(f"fold {fold} on {backend:8}   accuracy {accuracy:.1%}")
    print(f"mean accuracy {sum(each[2] for each in found) / FOLDS:.1%}")


if __name__ == "__main__":
    main()
