"""einops knows tensors, whichever of the two was imported first."""

from __future__ import annotations

import pytest

import tinytorch as tt
from tests.fresh import program
from tests.runner import Runner

einops = pytest.importorskip("einops")

X = tt.arange(12.0).reshape(3, 4)


def test_einops_rearranges_reduces_and_repeats_tensors() -> None:
    assert tt.equal(einops.rearrange(X, "a b -> b a"), X.T)
    assert einops.rearrange(X, "a (b c) -> (a b) c", c=2).tolist()[1] == [2.0, 3.0]
    assert tt.equal(einops.reduce(X, "a b -> a", "mean"), X.mean(1))
    assert tt.equal(einops.reduce(X, "a b -> b", "max"), X.amax(0))
    assert tt.equal(einops.repeat(X, "a b -> a b c", c=2), tt.stack([X, X], -1))
    assert tt.equal(einops.einsum(X, X, "a b, c b -> a c"), X @ X.T)
    assert tt.equal(einops.pack([X, X], "* b")[0], tt.cat([X, X]))


def test_gradients_flow_through_rearrange() -> None:
    x = X.clone().requires_grad_()
    (einops.rearrange(x, "a b -> (b a)") * tt.arange(12.0)).sum().backward()
    assert tt.equal(x.grad, tt.arange(12.0).reshape(4, 3).T)


def test_means_of_integers_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="mean"):
        einops.reduce(X.long(), "a b -> a", "mean")


@pytest.mark.parametrize("order", [("tinytorch", "einops"), ("einops", "tinytorch")])
def test_einops_works_whichever_library_is_imported_first(
    runner: Runner, order: tuple[str, str]
) -> None:
    def rearranges(order: tuple[str, str]) -> None:
        import importlib

        for name in order:
            importlib.import_module(name)
        import einops
        import einops._backends as module
        import numpy

        import tinytorch

        print(einops.rearrange(tinytorch.ones(2, 3), "a b -> b a").shape[0])
        print(einops.rearrange(numpy.ones((2, 3)), "a b -> b a").shape[0])
        loader = module.__spec__.loader
        print(loader is module.__loader__, loader.get_code is not None)

    done = runner.python("-c", program(rearranges, order))
    assert done.stdout.split() == ["3", "3", "True", "True"]


def test_tinytorch_does_not_import_einops(runner: Runner) -> None:
    def computes() -> None:
        import sys

        import tinytorch

        tinytorch.ones(2)
        print("einops" in sys.modules)

    assert runner.python("-c", program(computes)).stdout.strip() == "False"


def test_the_layers_of_einops_work_where_tinytorch_is_installed_as_torch(runner: Runner) -> None:
    def rearranges() -> None:
        import torch
        from einops.layers.torch import Rearrange

        model = torch.nn.Sequential(Rearrange("a b c -> a (b c)"), torch.nn.Linear(6, 2))
        print(*model(torch.ones(4, 2, 3)).shape)

    assert runner.output("-c", program(rearranges)).split() == ["4", "2"]
