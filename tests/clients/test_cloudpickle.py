"""cloudpickle sends what is written in a notebook: closures, classes and modules of tensors."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
import sys
import types
from pathlib import Path

import pytest

import tinytorch as tt
from tests.runner import Runner
from tinytorch import nn

pytestmark = pytest.mark.slow

cloudpickle = pytest.importorskip("cloudpickle")


def test_a_closure_over_a_tensor_is_pickled() -> None:
    x = tt.arange(3.0)
    there = pickle.loads(cloudpickle.dumps(lambda y: x + y))
    assert there(1).tolist() == [1.0, 2.0, 3.0]


def test_modules_defined_in_a_test_are_pickled() -> None:
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


def test_every_module_pickles_by_its_name() -> None:
    modules = [*pkgutil.walk_packages(tt.__path__, "tinytorch.")]
    for each in modules:
        if not each.name.endswith("__main__"):
            importlib.import_module(each.name)
    loaded = {name: sys.modules[name] for name in sys.modules if name.startswith("tinytorch")}
    assert len(loaded) > len(modules) - 2
    for name, module in loaded.items():
        assert pickle.loads(cloudpickle.dumps(module)) is module, name
        if type(module) is not types.ModuleType:  # which Python itself does not pickle
            assert copy.deepcopy(module) is pickle.loads(pickle.dumps(module)) is module
    for operators in (tt.ops, tt.ops.aten, tt.ops.aten.add, tt.ops.aten.add.Tensor):
        assert pickle.loads(cloudpickle.dumps(operators)) is operators


SENDS = """
import sys
import cloudpickle
import {torch} as tt
import {torch}.nn.utils
if "{torch}" == "tinytorch":
    import tinytorch.numpy as tnp
from {torch}.nn import functional as F

def compute():
    x = tt.ones(2, requires_grad=True)
    norm = tt.nn.utils.clip_grad_norm_
    (slope,) = tt.autograd.grad((F.relu(x) ** 2).sum(), x)
    return slope.tolist(), tt.linalg.norm(slope).item() > 2, norm.__name__

def of_numpy():
    return tnp.arange(3).sum().item()

made = [compute] + [of_numpy] * ("tnp" in globals())
open(sys.argv[1], "wb").write(cloudpickle.dumps(made))
"""
RECEIVES = """
import pickle, sys
print([function() for function in pickle.load(open(sys.argv[1], "rb"))])
"""


@pytest.mark.parametrize("name", ["tinytorch", "torch"])
def test_functions_of_main_that_refer_to_modules_are_pickled(
    runner: Runner, tmp_path: Path, name: str
) -> None:
    sent = str(tmp_path / "sent")
    done = [
        (runner.output if name == "torch" else runner.python)("-c", program, sent)
        for program in (SENDS.format(torch=name), RECEIVES)
    ]
    said = done[1] if name == "torch" else done[1].stdout  # type: ignore[union-attr]
    expected = "([2.0, 2.0], True, 'clip_grad_norm_')" + (", 3" if name == "tinytorch" else "")
    assert str(said).strip() == f"[{expected}]"
