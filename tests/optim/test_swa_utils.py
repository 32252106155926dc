"""Averaged models, their schedule and their statistics, beside PyTorch's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import nn
from tinytorch.optim import swa_utils


def trained(lib: Any, swa: Any, options: Callable[[Any], dict[str, Any]], **schedule: Any) -> Any:
    """Rates, averages and statistics of a small training run."""
    lib.manual_seed(0)
    model = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.Linear(4, 1))
    optimizer = lib.optim.SGD(model.parameters(), lr=0.2)
    averaged = swa.AveragedModel(model, **options(swa))
    scheduler = swa.SWALR(optimizer, 0.05, **schedule)
    batches = [(lib.randn(8, 3), lib.randn(8, 1)) for _ in range(5)]
    rates = []
    for x, y in batches:
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
        averaged.update_parameters(model)
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    before = {k: v.tolist() for k, v in averaged.state_dict().items()}
    swa.update_bn(batches, averaged)
    after = {k: v.tolist() for k, v in averaged.state_dict().items()}
    return rates, before, after, averaged.eval()(batches[0][0]).tolist()


@pytest.mark.parametrize(
    "options",
    [
        lambda swa: {},
        lambda swa: {"use_buffers": True},
        lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.8)},
        lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.8)},
        lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
        lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    ],
)
@pytest.mark.parametrize(
    "schedule",
    [{"anneal_epochs": 3}, {"anneal_epochs": 3, "anneal_strategy": "linear"}, {"anneal_epochs": 0}],
)
def test_averaged_training_is_pytorchs(torch: Any, options: Any, schedule: Any) -> None:
    import torch.optim.swa_utils as theirs

    ours = trained(tt, swa_utils, options, **schedule)
    wanted = trained(torch, theirs, options, **schedule)
    for mine, other in zip(ours, wanted, strict=True):
        if isinstance(other, dict):
            assert list(mine) == list(other)
            mine, other = list(mine.values()), list(other.values())
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_an_averaged_model_is_a_copy() -> None:
    model = nn.Linear(1, 1)
    averaged = swa_utils.AveragedModel(model)
    weight = averaged.module.weight
    for value in (2.0, 4.0):
        nn.init.constant_(model.weight, value)
        averaged.update_parameters(model)
    assert averaged.module.weight is weight and weight.item() == 3.0
    other = copy.deepcopy(averaged)
    other.load_state_dict(averaged.state_dict())
    assert other.n_averaged.item() == 2 and list(averaged.state_dict()) == [
        "n_averaged", "module.weight", "module.bias"
    ]  # fmt: skip


def test_statistics_are_left_with_the_mode_and_momentum_as_they_were() -> None:
    model = nn.Sequential(nn.BatchNorm1d(2, momentum=0.3)).eval()
    x = tt.tensor([[1.0, 4.0], [3.0, 8.0]])
    swa_utils.update_bn([(x, None), (x + 2, None)], model)
    assert not model.training and model[0].momentum == 0.3
    assert model[0].running_mean.tolist() == [3.0, 7.0]
    swa_utils.update_bn(iter(()), nn.Linear(1, 1))


def test_wrong_use_of_swa_utils_is_refused() -> None:
    optimizer = tt.optim.SGD([tt.ones(1, requires_grad=True)], lr=1.0)
    with pytest.raises(ValueError, match="Invalid decay value 1.5"):
        swa_utils.get_ema_avg_fn(1.5)
    with pytest.raises(ValueError, match="Invalid decay value -1"):
        swa_utils.get_ema_multi_avg_fn(-1)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        averages = swa_utils.get_swa_avg_fn(), swa_utils.get_swa_multi_avg_fn()
        swa_utils.AveragedModel(nn.Linear(1, 1), None, *averages)
    with pytest.raises(ValueError, match="anneal_strategy must be one of 'cos' or 'linear'"):
        swa_utils.SWALR(optimizer, 0.1, anneal_strategy="log")
    with pytest.raises(ValueError, match="anneal_epochs must be equal or greater than 0"):
        swa_utils.SWALR(optimizer, 0.1, -1)
    with pytest.raises(ValueError, match="swa_lr must have the same length"):
        swa_utils.SWALR(optimizer, [0.1, 0.2])


def test_dense_gradients_are_refused_by_sparse_adam() -> None:
    w = tt.ones(2, requires_grad=True)
    optimizer = tt.optim.SparseAdam([w], lr=0.1)
    optimizer.step()
    w.sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        optimizer.step()
    with pytest.raises(ValueError, match="Invalid epsilon value: 0"):
        tt.optim.SparseAdam([w], eps=0.0)
