"""Sparse tensors beside PyTorch's: texts, values, gradients and errors of the same calls."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import tinytorch as tt

pytestmark = pytest.mark.torch

INDEX, VALUES = [[0, 1, 1, 1], [2, 0, 2, 2]], [3.0, 4.0, 5.0, 6.0]
DENSE = np.array([[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
FACTOR = np.arange(6.0).reshape(3, 2)


@pytest.fixture(autouse=True)
def no_beta_warnings() -> Iterator[None]:
    """PyTorch warns that CSR is in beta, and that it does not check indices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def repeat(lib: Any, **options: Any) -> Any:
    return lib.sparse_coo_tensor(INDEX, VALUES, (2, 3), **options)


def coo(lib: Any, **options: Any) -> Any:
    index = [[0, 1, 1], [2, 0, 2]]
    return lib.sparse_coo_tensor(index, [3.0, 4.0, 5.0], (2, 3), is_coalesced=True, **options)


def csr(lib: Any, **options: Any) -> Any:
    return lib.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0], (2, 3), **options)


def factor(lib: Any) -> Any:
    return lib.tensor(FACTOR, dtype=lib.float32)


#: Calls whose result is the same text; the first argument is PyTorch or tinytorch.
SAME_TEXT = [
    repeat, coo, csr,
    lambda lib: repeat(lib).coalesce(),
    lambda lib: lib.sparse_coo_tensor(INDEX, VALUES),
    lambda lib: lib.sparse_coo_tensor(size=(2, 3)),
    lambda lib: lib.sparse_coo_tensor((2, 3)),
    lambda lib: lib.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]], (3, 2)),
    lambda lib: lib.sparse_coo_tensor([[0, 1]], [1, 2], (3,), dtype=lib.float64),
    lambda lib: lib.sparse_coo_tensor([[0, 1]], [True, False], (3,)),
    lambda lib: lib.sparse_coo_tensor([list(range(40))] * 2, [0.5] * 40),
    lambda lib: lib.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], VALUES[:3], (2, 3)),
    lambda lib: lib.sparse_compressed_tensor([0, 1], [0], [1.0], (1, 1), layout=lib.sparse_csr),
    lambda lib: coo(lib, requires_grad=True),
    lambda lib: csr(lib, requires_grad=True) * 2,
    lambda lib: (repeat(lib)._nnz(), coo(lib)._nnz(), csr(lib)._nnz()),
    lambda lib: (repeat(lib).is_coalesced(), repeat(lib).coalesce().is_coalesced()),
    lambda lib: (coo(lib).is_sparse, coo(lib).is_sparse_csr, coo(lib).layout, coo(lib).shape),
    lambda lib: (csr(lib).is_sparse, csr(lib).is_sparse_csr, csr(lib).layout, csr(lib).size(0)),
    lambda lib: (coo(lib).sparse_dim(), coo(lib).dense_dim(), coo(lib).numel(), len(coo(lib))),
    lambda lib: coo(lib).indices(), lambda lib: coo(lib).values(),
    lambda lib: repeat(lib)._indices(), lambda lib: repeat(lib)._values(),
    lambda lib: csr(lib).crow_indices(), lambda lib: csr(lib).col_indices(),
    lambda lib: csr(lib).to_sparse_csc().ccol_indices(),
    lambda lib: csr(lib).to_sparse_csc().row_indices(),
    lambda lib: lib.tensor(DENSE).to_sparse(), lambda lib: lib.tensor(DENSE).to_sparse(1),
    lambda lib: lib.tensor(DENSE).to_sparse_csr(), lambda lib: lib.tensor(DENSE).to_sparse_csc(),
    lambda lib: lib.tensor(DENSE).to_sparse(layout=lib.sparse_csr),
    lambda lib: lib.zeros(2, 2).to_sparse(), lambda lib: lib.tensor(DENSE).to_dense(),
    lambda lib: repeat(lib).to_dense(), lambda lib: coo(lib).to_dense(),
    lambda lib: csr(lib).to_sparse(), lambda lib: repeat(lib).to_sparse_csr(),
    lambda lib: csr(lib).to_sparse_coo(), lambda lib: coo(lib).to_sparse_csc(),
    lambda lib: repeat(lib) * 2, lambda lib: 3 * csr(lib), lambda lib: repeat(lib) / 2,
    lambda lib: coo(lib) * lib.tensor(2.0), lambda lib: coo(lib) // 2, lambda lib: coo(lib) ** 2,
    lambda lib: -repeat(lib), lambda lib: abs(-coo(lib)), lambda lib: coo(lib).tanh(),
    lambda lib: repeat(lib).relu(), lambda lib: repeat(lib).sqrt(),
    lambda lib: lib.nn.functional.relu(coo(lib)), lambda lib: lib.sin(csr(lib)),
    lambda lib: coo(lib) + coo(lib), lambda lib: coo(lib) - coo(lib),
    lambda lib: csr(lib) + csr(lib),
    lambda lib: coo(lib) + lib.sparse_coo_tensor(
        [[0, 1], [0, 2]], VALUES[:2], (2, 3), is_coalesced=True),
    lambda lib: coo(lib).add(coo(lib), alpha=0.5), lambda lib: coo(lib) * coo(lib),
    lambda lib: lib.ones(2, 3) + repeat(lib),
    lambda lib: lib.ones(2, 3) - csr(lib).to_sparse(),
    lambda lib: lib.ones(2, 3).add_(repeat(lib), alpha=-0.5),
    lambda lib: coo(lib) * lib.arange(3.0),
    lambda lib: lib.arange(6.0).view(2, 3) * repeat(lib),
    lambda lib: repeat(lib).mul_(2), lambda lib: coo(lib).add_(coo(lib)),
    lambda lib: coo(lib).zero_(), lambda lib: lib.zeros_like(csr(lib)),
    lambda lib: coo(lib).copy_(repeat(lib)),
    lambda lib: repeat(lib).t(), lambda lib: csr(lib).t(), lambda lib: csr(lib).t().t(),
    lambda lib: coo(lib).transpose(0, 1), lambda lib: coo(lib).T, lambda lib: coo(lib).mT,
    lambda lib: coo(lib).permute(1, 0), lambda lib: coo(lib).unsqueeze(1),
    lambda lib: lib.cat([repeat(lib), coo(lib)]), lambda lib: lib.cat([coo(lib)] * 2, 1),
    lambda lib: lib.stack([coo(lib)] * 2), lambda lib: coo(lib)[1], lambda lib: coo(lib)[1, 2],
    lambda lib: repeat(lib).index_select(1, lib.tensor([2, 0])),
    lambda lib: repeat(lib).index_select(0, lib.tensor([1, 0, 1])).to_dense(),
    lambda lib: repeat(lib).sum(), lambda lib: repeat(lib).sum(1),
    lambda lib: coo(lib).sum(0, keepdim=True), lambda lib: csr(lib).sum(),
    lambda lib: lib.sparse.sum(coo(lib), 1), lambda lib: lib.sparse.sum(coo(lib), (0, 1)),
    lambda lib: lib.sparse.sum(coo(lib), 0, dtype=lib.float64), lambda lib: repeat(lib).norm(),
    lambda lib: lib.sparse.sum(lib.tensor(DENSE).to_sparse(1), 1),
    lambda lib: lib.sparse.sum(lib.tensor(DENSE).to_sparse(1), 0),
    lambda lib: lib.sparse.mm(repeat(lib), factor(lib)), lambda lib: coo(lib) @ factor(lib),
    lambda lib: lib.mm(csr(lib), factor(lib)), lambda lib: lib.matmul(coo(lib), lib.ones(3)),
    lambda lib: lib.mv(csr(lib), lib.ones(3)), lambda lib: lib.spmm(coo(lib), factor(lib)),
    lambda lib: lib.ones(4, 2) @ coo(lib), lambda lib: lib.ones(2, 2) @ csr(lib),
    lambda lib: lib.ones(2) @ coo(lib),
    lambda lib: lib.sparse.mm(coo(lib), coo(lib).t()), lambda lib: coo(lib).t() @ repeat(lib),
    lambda lib: (csr(lib) @ csr(lib).t()).to_dense(),
    lambda lib: lib.addmm(lib.ones(2, 2), coo(lib), factor(lib), beta=2, alpha=3),
    lambda lib: lib.sparse.addmm(lib.ones(2, 2), csr(lib), factor(lib), alpha=0.5),
    lambda lib: lib.nn.functional.linear(coo(lib), lib.ones(4, 3), lib.ones(4)),
    lambda lib: [lib.sparse.mm(csr(lib), factor(lib), each) for each in ("mean", "amax", "amin")],
    lambda lib: lib.sparse.softmax(repeat(lib), 1),
    lambda lib: lib.sparse.softmax(coo(lib), 0),
    lambda lib: lib.sparse.softmax(lib.tensor(DENSE).to_sparse(1), 1),
    lambda lib: lib.sparse.log_softmax(coo(lib) / 7, 1),
    lambda lib: lib.tensor(DENSE + 1).sparse_mask(repeat(lib)),
    lambda lib: lib.tensor(DENSE + 1).sparse_mask(csr(lib)),
    lambda lib: coo(lib).double(), lambda lib: csr(lib).to(lib.float64),
    lambda lib: coo(lib).long(),
    lambda lib: coo(lib).type(), lambda lib: coo(lib).to("cpu").dtype, lambda lib: coo(lib).half(),
    lambda lib: coo(lib, requires_grad=True).detach(), lambda lib: coo(lib).requires_grad_(),
    lambda lib: coo(lib, requires_grad=True).clone(),
    lambda lib: isinstance(coo(lib), lib.sparse.FloatTensor),
    lambda lib: isinstance(csr(lib), lib.sparse.FloatTensor),
    lambda lib: lib.sparse.FloatTensor(lib.tensor(INDEX), lib.tensor(VALUES), lib.Size([2, 3])),
    lambda lib: lib.sparse.DoubleTensor(2, 3), lambda lib: lib.is_tensor(coo(lib)),
    lambda lib: lib.nn.Parameter(coo(lib)),
    lambda lib: lib._convert_indices_from_coo_to_csr(lib.tensor([0, 2, 2]), 4, out_int32=True),
    lambda lib: lib._convert_indices_from_csr_to_coo(lib.tensor([0, 1, 3]), lib.tensor([2, 0, 2])),
]  # fmt: skip


def text(value: Any) -> str:
    return re.sub(r"\b(tiny)?torch\.", "", repr(value))


@pytest.mark.parametrize("call", SAME_TEXT)
def test_prints_and_computes_as_pytorch(call: Any) -> None:
    assert text(call(tt)) == text(call(torch))


#: Calls that raise in both, and the phrase that both errors have.
ERRORS: list[tuple[Any, str]] = [
    (lambda lib: repeat(lib).indices(), "Cannot get indices on an uncoalesced tensor"),
    (lambda lib: repeat(lib).values(), "Cannot get values on an uncoalesced tensor"),
    (lambda lib: coo(lib).crow_indices(), "crow_indices expected sparse row compressed"),
    (lambda lib: csr(lib).indices(), "indices expected sparse coordinate tensor layout but got"),
    (lambda lib: csr(lib).coalesce(), "coalesce expected sparse coordinate tensor layout"),
    (lambda lib: lib.ones(2).coalesce(), "coalesce expected sparse coordinate tensor layout"),
    (lambda lib: lib.ones(2).values(), "values expected sparse tensor layout but got Strided"),
    (lambda lib: coo(lib) + 1, r"add\(sparse, dense\) is not supported"),
    (lambda lib: coo(lib) + lib.ones(2, 3), r"add\(sparse, dense\) is not supported"),
    (lambda lib: coo(lib) / coo(lib), "Sparse division requires a scalar"),
    (lambda lib: coo(lib).item(), "a Tensor with 6 elements cannot be converted to Scalar"),
    (lambda lib: bool(coo(lib)), "Boolean value of Tensor with more than one value is ambiguous"),
    (lambda lib: coo(lib).numpy(), "can't convert Sparse layout tensor to numpy"),
    (lambda lib: np.asarray(csr(lib)), "can't convert SparseCsr layout tensor to numpy"),
    (lambda lib: coo(lib).exp(), "Could not run 'aten::exp' with arguments from the 'SparseCPU'"),
    (lambda lib: coo(lib).view(3, 2), "Could not run 'aten::view'"),
    (lambda lib: coo(lib).max(), "Could not run 'aten::max'"),
    (lambda lib: lib.sparse_coo_tensor([[0, 1]], [1.0]), "must have same nnz"),
    (lambda lib: lib.sparse_coo_tensor([[0, 1]], [1.0, 2], (2, 2)), r"'len\(size\) == sparse_dim"),
    (lambda lib: lib.sparse_coo_tensor([[5]], [1.0], (2,), check_invariants=True),
     "size is inconsistent with indices: for dim 0, size is 2 but found index 5"),
    (lambda lib: lib.sparse_coo_tensor([[-1]], [1.0], (2,), check_invariants=True),
     "found negative index -1 for dim 0"),
    (lambda lib: lib.sparse_csr_tensor([0, 1, 1], [3], [1.0], (2, 2), check_invariants=True),
     "0 <= col_indices <"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "phrase"), ERRORS)
def test_raises_as_pytorch(call: Any, phrase: str) -> None:
    for lib in (torch, tt):
        with pytest.raises((RuntimeError, TypeError), match=phrase):
            call(lib)


#: Functions of a sparse tensor and a dense matrix, with a dense result or a sparse one.
DIFFERENTIABLE = [
    lambda lib, s, d: lib.sparse.mm(s, d), lambda lib, s, d: (s * 3) @ d,
    lambda lib, s, d: s.t() @ d[:2], lambda lib, s, d: d.t() @ s.t(),
    lambda lib, s, d: lib.sparse.addmm(d[:2], s, d, beta=2, alpha=3),
    lambda lib, s, d: s.to_dense() @ d, lambda lib, s, d: lib.sparse.sum(s) * d,
    lambda lib, s, d: s.coalesce().values() * d[0, 1],
    lambda lib, s, d: (s.coalesce() / 2).sum() * d,
    lambda lib, s, d: lib.sparse.sum(lib.sparse.mm(s, s.t())) * d,
    lambda lib, s, d: lib.sparse.sum(s, 1).to_dense() * d[:2, 1],
    lambda lib, s, d: lib.sparse.mm(s.to_sparse_csr(), d),
    lambda lib, s, d: lib.sparse.softmax(s, 1).to_dense() @ d,
    lambda lib, s, d: lib.mv(s, d[:, 0]) * d[:2, 1], lambda lib, s, d: s @ d - d[:2],
    lambda lib, s, d: (d.t() + s).sum(0) if d.t().shape == s.shape else s @ d,
]  # fmt: skip


@pytest.mark.parametrize("function", DIFFERENTIABLE)
def test_gradients_of_elements_and_dense_factors(function: Any) -> None:
    found = []
    for lib in (torch, tt):
        values = lib.tensor(VALUES[:3], requires_grad=True)
        dense = factor(lib).requires_grad_()
        s = lib.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], values, (2, 3), is_coalesced=True)
        out = function(lib, s, dense)
        (out * lib.arange(1.0, out.numel() + 1).view(out.shape)).sum().backward()
        found.append((out.detach().numpy(), values.grad.numpy(), dense.grad))
    (out, g, h), (own_out, own_g, own_h) = found
    np.testing.assert_allclose(own_out, out, rtol=1e-6)
    np.testing.assert_allclose(own_g, g, rtol=1e-5, atol=1e-6)
    assert (h is None) is (own_h is None)
    if h is not None:
        np.testing.assert_allclose(own_h.numpy(), h.numpy(), rtol=1e-5)


LEAVES = [
    lambda lib, s: lib.sparse.mm(s, factor(lib)).sum(), lambda lib, s: lib.sparse.sum(s),
    lambda lib, s: (s.to_dense() * 2).sum(), lambda lib, s: lib.sparse.sum(s * 2, 1).to_dense()[1],
]  # fmt: skip


@pytest.mark.parametrize("function", LEAVES)
def test_the_gradient_of_a_sparse_leaf_is_sparse(function: Any) -> None:
    texts = []
    for lib in (torch, tt):
        s = coo(lib, requires_grad=True)
        function(lib, s).backward()
        texts.append(
            text(s.grad.coalesce()) + text(lib.autograd.grad(function(lib, s), s)[0].is_sparse)
        )
    assert texts[0] == texts[1]


def test_names_of_nodes() -> None:
    for function in (
        lambda lib, s: s.coalesce(), lambda lib, s: s.t(), lambda lib, s: lib.sparse.mm(s, s.t()),
        lambda lib, s: s @ factor(lib), lambda lib, s: lib.sparse.mm(s, factor(lib)),
        lambda lib, s: s.to_dense(), lambda lib, s: lib.sparse.sum(s, 0), lambda lib, s: s + s,
        lambda lib, s: s.coalesce().values(), lambda lib, s: s.to_sparse_csr(),
        lambda lib, s: s.sum(),
        lambda lib, s: s * s, lambda lib, s: s / 2, lambda lib, s: s.relu(),
        lambda lib, s: s.double(),
        lambda lib, s: s.clone(), lambda lib, s: lib.addmm(lib.ones(2, 2), s, factor(lib)),
        lambda lib, s: s[1], lambda lib, s: lib.cat([s, s]), lambda lib, s: lib.ones(2, 3) + s,
        lambda lib, s: lib.sparse.softmax(s, 1), lambda lib, s: s.transpose(0, 1),
    ):  # fmt: skip
        names = [
            function(lib, repeat(lib, requires_grad=True)).grad_fn.name() for lib in (torch, tt)
        ]
        assert names[0] == names[1]


def test_assert_close_compares_indices_and_elements() -> None:
    calls = [
        lambda lib, s: (s, s * 2), lambda lib, s: (s, s.to_sparse_csr()),
        lambda lib, s: (s, s.to_dense()), lambda lib, s: (s, (s.to_dense() + 1).to_sparse()),
        lambda lib, s: (s.to_sparse_csr(), s.to_sparse_csr() * 2), lambda lib, s: (s, s.clone()),
        lambda lib, s: (s.to_sparse_csr(), s.to_dense().flip(0).to_sparse_csr()),
        lambda lib, s: (s, s.to_dense().flip(1).to_sparse()), lambda lib, s: (s, s * 1.0000001),
    ]  # fmt: skip
    for call in calls:
        messages = []
        for lib in (torch, tt):
            try:
                lib.testing.assert_close(*call(lib, lib.eye(3).to_sparse() * 2))
                messages.append("close")
            except AssertionError as error:
                messages.append(str(error).replace("tinytorch", "torch"))
        assert messages[0] == messages[1]
    tt.testing.assert_close(coo(tt), csr(tt), check_layout=False)
