"""Sparse gradients of embeddings, and the optimizers that accept them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import nn

#: PyTorch warns that it does not check indices.
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")

TABLE = np.arange(10.0).reshape(5, 2) / 7


def embedding(lib: Any, **options: Any) -> Any:
    module = lib.nn.Embedding(5, 2, sparse=True, **options)
    with lib.no_grad():
        module.weight.copy_(lib.tensor(TABLE))
    return module


#: Losses of tables, by which their gradients become sparse, or dense.
LOSSES = [
    lambda lib, m: m(lib.tensor([1, 3, 1])).pow(2).sum(),
    lambda lib, m: m(lib.tensor([[1, 0], [4, 1]])).sin().sum(),
    lambda lib, m: (m(lib.tensor([0])) * m(lib.tensor([2, 0]))).sum(),
    lambda lib, m: m(lib.tensor([0])).sum() + m.weight.pow(2).sum(),
    lambda lib, m: m.weight.pow(2).sum() + m(lib.tensor([0])).sum() + m(lib.tensor([1])).sum(),
    lambda lib, m: m(lib.tensor([], dtype=lib.int64)).sum(),
    lambda lib, m: lib.nn.functional.embedding(
        lib.tensor([2, 2]), m.weight * 2, sparse=True).pow(2).sum().to_dense(),
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("steps", [1, 2])
def test_gradients_are_pytorchs(torch: Any, loss: Any, steps: int) -> None:
    grads = []
    for lib in (torch, tt):
        module = embedding(lib)
        for _ in range(steps):
            loss(lib, module).backward()
        grads.append(module.weight.grad)
    theirs, ours = grads
    np.testing.assert_allclose(ours.to_dense().numpy(), theirs.to_dense().numpy(), rtol=1e-6)
    if loss is not LOSSES[-1]:  # behind another operation the gradient is dense here
        assert ours.is_sparse == theirs.is_sparse
    if ours.is_sparse and steps == 1:  # PyTorch adds equal rows of the second step in place
        assert ours._nnz() == theirs._nnz()


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 3])
def test_bags_have_sparse_gradients(torch: Any, mode: str, padding: int | None) -> None:
    texts = []
    for lib in (torch, tt):
        module = lib.nn.EmbeddingBag(5, 2, mode=mode, sparse=True, padding_idx=padding)
        out = module(lib.tensor([1, 3, 3, 0]), lib.tensor([0, 1]))
        (out * lib.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
        texts.append(repr(module.weight.grad).replace("tinytorch", "torch"))
    assert texts[0] == texts[1]


def test_a_row_of_padding_gets_no_gradient() -> None:
    module = embedding(tt, padding_idx=1)
    module(tt.tensor([1, 3, 3])).sum().backward()
    grad = module.weight.grad
    assert grad.is_sparse and grad._indices().tolist() == [[3, 3]]


def test_hooks_and_grad_receive_sparse_gradients() -> None:
    module, seen = embedding(tt), []
    handle = module.weight.register_hook(lambda g: seen.append(g.is_sparse) or g * 2)
    module.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad._nnz()))
    module(tt.tensor([1, 3])).sum().backward()
    assert seen == [True, 2] and module.weight.grad.to_dense()[1].tolist() == [2.0, 2.0]
    handle.remove()
    (grad,) = tt.autograd.grad(module(tt.tensor([4])).sum(), module.weight)
    assert grad.is_sparse and grad._indices().tolist() == [[4]]
    tt.autograd.backward(module(tt.tensor([4])).sum(), inputs=[module.weight])
    assert module.weight.grad.to_dense()[4].tolist() == [1.0, 1.0]


def test_a_recorded_pass_computes_a_dense_gradient() -> None:
    module = embedding(tt)
    loss = module(tt.tensor([1, 1])).pow(3).sum()
    (grad,) = tt.autograd.grad(loss, module.weight, create_graph=True)
    assert not grad.is_sparse
    (second,) = tt.autograd.grad(grad.sum(), module.weight)
    np.testing.assert_allclose(second[1].cpu().numpy(), 12 * TABLE[1], rtol=1e-6)


def test_gradients_can_be_assigned_and_cleared() -> None:
    weight = tt.ones(3, 2, requires_grad=True)
    weight.grad = tt.eye(3)[:, :2].to_sparse(1)
    nn.functional.embedding(tt.tensor([2]), weight, sparse=True).sum().backward()
    assert weight.grad.is_sparse and weight.grad.to_dense().tolist()[2] == [1.0, 1.0]
    weight.sum().backward()
    assert not weight.grad.is_sparse and weight.grad.tolist()[2] == [2.0, 2.0]
    optimizer = tt.optim.SGD([weight], lr=1.0)
    weight.grad = tt.eye(3)[:, :2].to_sparse(1)
    optimizer.zero_grad(set_to_none=False)
    assert weight.grad.is_sparse and weight.grad._nnz() == 0
    with pytest.raises(RuntimeError, match="size"):
        weight.grad = tt.eye(3).to_sparse()


SETTINGS = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("Adagrad", {"lr": 0.1}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "maximize": True}),
    ("SparseAdam", {}), ("SparseAdam", {"lr": 0.1, "betas": (0.5, 0.7), "maximize": True}),
    ("LBFGS", {"max_iter": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_optimizers_accept_sparse_gradients(torch: Any, name: str, options: Any) -> None:
    rows = [[1, 1, 2], [0, 4, 4], [2, 1, 0], [3, 3, 3]]
    weights = []
    for lib in (torch, tt):
        module = embedding(lib)
        optimizer = getattr(lib.optim, name)(module.parameters(), **options)
        for step in range(4):

            def closure(lib: Any = lib, module: Any = module, step: int = step) -> Any:
                optimizer.zero_grad()
                loss = (module(lib.tensor(rows[step])) - 0.3).pow(2).sum()
                loss.backward()
                return loss

            optimizer.step(closure)
            if step == 1:  # continue with a copy of the state
                state = copy.deepcopy(optimizer.state_dict())
                optimizer = getattr(lib.optim, name)(module.parameters(), **options)
                optimizer.load_state_dict(state)
        weights.append(module.weight.detach().numpy())
    np.testing.assert_allclose(weights[1], weights[0], rtol=1e-5, atol=1e-6)


def test_the_velocity_does_not_grow() -> None:
    module = embedding(tt)
    optimizer = tt.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    for _ in range(6):
        optimizer.zero_grad()
        module(tt.tensor([1, 1, 2])).sum().backward()
        optimizer.step()
    assert optimizer.state[module.weight]["momentum_buffer"]._nnz() <= 3


@pytest.mark.parametrize(
    "name",
    ["Adam", "AdamW", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop",
     "Adafactor"],
)  # fmt: skip
def test_other_optimizers_raise(name: str) -> None:
    module = embedding(tt)
    optimizer = getattr(tt.optim, name)(module.parameters())
    module(tt.tensor([1])).sum().backward()
    before = module.weight.detach().clone()
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()
    assert tt.equal(before, module.weight)


def test_options_that_do_not_fit_raise() -> None:
    module = embedding(tt)
    module(tt.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible"):
        tt.optim.Adagrad(module.parameters(), weight_decay=0.1).step()
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        tt.optim.SGD(module.parameters(), weight_decay=0.1).step()
    with pytest.raises(ValueError, match="requires dense parameter tensors"):
        tt.optim.SparseAdam([nn.Parameter(tt.eye(2).to_sparse())])
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported"):
        embedding(tt, scale_grad_by_freq=True)(tt.tensor([1]))
