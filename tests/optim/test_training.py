"""A whole program: layers, shuffled batches, optimizer and schedule, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tinytorch as tt

pytestmark = pytest.mark.torch


FEATURES = np.random.default_rng(0).standard_normal((300, 20)).astype("f4")
LABELS = FEATURES[:, :3].argmax(1)


def losses(lib: Any, name: str, setting: dict[str, Any]) -> list[float]:
    lib.manual_seed(0)
    nn, data = lib.nn, lib.utils.data
    hidden = nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh()
    model = nn.Sequential(*hidden, nn.Linear(32, 3))
    optimizer = getattr(lib.optim, name)(model.parameters(), **setting)
    scheduler = lib.optim.lr_scheduler.OneCycleLR(optimizer, setting["lr"], total_steps=60)
    lib.manual_seed(1)  # the order of the samples is drawn on the CPU whatever the backend
    dataset = data.TensorDataset(lib.tensor(FEATURES), lib.tensor(LABELS))
    found = []
    for _ in range(6):
        for x, y in data.DataLoader(dataset, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            found.append(loss.item())
    return found


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}),
        ("Adam", {"lr": 0.01}),
        ("AdamW", {"lr": 0.01, "amsgrad": True}),
    ],
)
def test_a_ported_program_repeats_its_loss_curve(name: str, setting: dict[str, Any]) -> None:
    ours, theirs = losses(tt, name, setting), losses(torch, name, setting)
    assert ours[-1] < 0.2 * ours[0]
    np.testing.assert_allclose(ours, theirs, atol=5e-6)
