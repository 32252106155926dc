"""cloudpickle sends what is written in a notebook: closures, classes and modules of tensors."""

from __future__ import annotations

import pickle

import pytest

import tinytorch as tt
from tinytorch import nn

cloudpickle = pytest.importorskip("cloudpickle")


def test_closures() -> None:
    x = tt.arange(3.0)
    there = pickle.loads(cloudpickle.dumps(lambda y: x + y))
    assert there(1).tolist() == [1.0, 2.0, 3.0]


def test_modules_that_are_defined_here() -> None:
    class Doubled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x: tt.Tensor) -> tt.Tensor:
            return self.inner(x) * 2

    model = Doubled()
    there = pickle.loads(cloudpickle.dumps(model))
    assert tt.equal(there(tt.ones(1, 2)), model(tt.ones(1, 2)))
    assert all(parameter.requires_grad for parameter in there.parameters())
