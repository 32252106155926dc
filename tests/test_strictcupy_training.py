"""A training step leaves the GPU alone: the host waits for nothing the user did not ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import tinytorch as tt
from strictcupy import record_syncs
from strictcupy.backend import StrictCudaBackend
from tinytorch import nn, optim

OPTIMIZERS: dict[str, Callable[..., optim.Optimizer]] = {
    "SGD": lambda parameters: optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Adam": optim.Adam,
    "AdamW": optim.AdamW,
}


@pytest.fixture
def on_the_device() -> Iterator[None]:
    with tt.backend_context(StrictCudaBackend()):
        yield


def demo_network() -> nn.Module:
    """The network of examples/digits.py."""
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.3), nn.Linear(256, 10)
    )


def waits(step: Callable[[], object]) -> list[str]:
    """Return what made the host wait in ``step``, after a first one that sets things up."""
    step()
    with record_syncs() as log:
        step()
    return [f"{entry.kind} at {entry.where}" for entry in log if entry.kind != "upload"]


@pytest.mark.usefixtures("on_the_device")
class TestTrainingStep:
    @pytest.mark.parametrize("name", OPTIMIZERS)
    def test_of_the_demo_does_not_wait(self, name: str) -> None:
        images, labels = tt.randn(32, 8, 8), tt.randint(0, 10, (32,))
        model, loss_fn = demo_network(), nn.CrossEntropyLoss()
        optimizer = OPTIMIZERS[name](model.parameters())

        def step() -> None:
            optimizer.zero_grad()
            loss_fn(model(images), labels).backward()
            optimizer.step()

        assert waits(step) == []

    @pytest.mark.parametrize(
        "layer",
        [lambda: nn.LayerNorm(64), lambda: nn.ReLU(), lambda: nn.Tanh(), lambda: nn.Sigmoid()],
        ids=["LayerNorm", "ReLU", "Tanh", "Sigmoid"],
    )
    def test_of_other_layers_does_not_wait(self, layer: Callable[[], nn.Module]) -> None:
        images, target = tt.randn(4, 64), tt.randn(4, 3)
        model = nn.Sequential(nn.Linear(64, 64), layer(), nn.Linear(64, 3))
        optimizer = optim.SGD(model.parameters(), lr=0.1)

        def step() -> None:
            optimizer.zero_grad()
            nn.MSELoss()(model(images), target).backward()
            optimizer.step()

        assert waits(step) == []

    def test_waits_for_what_the_user_asks(self) -> None:
        model, images = nn.Linear(4, 1), tt.randn(2, 4)
        with record_syncs() as log:
            model(images).sum().item()
        assert len([entry for entry in log if entry.kind != "upload"]) == 1

    def test_reports_a_label_out_of_range_when_the_host_waits(self) -> None:
        loss = nn.CrossEntropyLoss()(tt.randn(2, 3), tt.tensor([0, 7]))
        with pytest.raises((IndexError, RuntimeError), match="7") as caught:
            loss.item()
        assert "CUDA_LAUNCH_BLOCKING=1" in caught.value.__notes__[0]
