"""Copies, pickles, files and modules of sparse tensors, and what no sparse tensor does."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.fresh import run
from tinytorch import nn
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS

DENSE = np.array([[0.0, 0.5, 0.0], [2.0, 0.0, -1.0], [0.0, 0.0, 0.25]])
LAYOUTS = [tt.sparse_coo, tt.sparse_csr, tt.sparse_csc]


def make(layout: Any = tt.sparse_coo) -> Any:
    return tt.tensor(DENSE).to_sparse(layout=layout)


def host(x: Any) -> Any:
    return x.to_dense().detach().cpu().numpy()


def reload(x: Any) -> Any:
    file = io.BytesIO()
    tt.save({"x": x}, file)
    file.seek(0)
    return tt.load(file)["x"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), reload]
)
def test_copies_have_the_layout_and_the_elements(layout: Any, copied: Any) -> None:
    s = make(layout)
    found = copied(s)
    assert isinstance(found, tt.Tensor) and found.layout is layout and found.dtype is s.dtype
    assert layout is not tt.sparse_coo or found.is_coalesced()
    np.testing.assert_array_equal(host(found), DENSE)
    if copied is copy.deepcopy:
        found.mul_(2)
        np.testing.assert_array_equal(host(s), DENSE)


def test_copies_of_leaves_require_grad() -> None:
    s = make().requires_grad_()
    for found in (copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert found.requires_grad and found.is_leaf


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Sparse")  # PyTorch's CSR is in beta
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc"])
def test_files_are_pytorchs(torch: Any, layout: str) -> None:
    file = io.BytesIO()
    tt.save(make(getattr(tt, layout)), file)
    file.seek(0)
    theirs = torch.load(file)
    assert theirs.layout is getattr(torch, layout)
    np.testing.assert_array_equal(theirs.to_dense().numpy(), DENSE)
    file = io.BytesIO()
    torch.save(theirs, file)
    file.seek(0)
    np.testing.assert_array_equal(host(tt.load(file)), DENSE)


def test_a_file_with_an_index_out_of_range_is_not_read() -> None:
    s = make()
    s._pattern.shape = tt.Size((2, 3))
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        reload(s)


class Graph(nn.Module):
    """A layer with an adjacency matrix as a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("adjacency", make().float())
        self.linear = nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        return tt.sparse.mm(self.adjacency, self.linear(x))


def test_buffers_of_modules() -> None:
    module, other = Graph(), Graph()
    state = module.state_dict()
    assert state["adjacency"].layout is tt.sparse_coo
    other.load_state_dict({name: value * 2 for name, value in state.items()})
    np.testing.assert_array_equal(host(other.adjacency), 2 * DENSE)
    module.double()
    assert module.adjacency.dtype is tt.float64 and module.linear.weight.dtype is tt.float64
    module.to("cpu" if tt.ones(1).is_cpu else tt.ones(1).device)
    out = copy.deepcopy(module)(tt.ones(3, 3, dtype=tt.float64))
    np.testing.assert_allclose(
        out.detach().cpu().numpy(),
        DENSE @ module.linear(tt.ones(3, 3, dtype=tt.float64)).detach().cpu().numpy(),
    )


def test_a_parameter_can_be_sparse() -> None:
    module = nn.Module()
    module.weight = nn.Parameter(make())
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    assert repr(module.weight).startswith("Parameter containing:\ntensor(indices=")
    (module.weight @ tt.ones(3, 1, dtype=tt.float64)).sum().backward()
    assert module.weight.grad.is_sparse


def test_memory_is_shared_with_the_elements() -> None:
    values = tt.ones(2)
    s = tt.sparse_coo_tensor([[0, 1]], values, (3,))
    values.mul_(3)
    s.detach().mul_(2)
    assert s.to_dense().tolist() == [6.0, 6.0, 0.0] and values.tolist() == [6.0, 6.0]
    leaf = make().requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.mul_(2)
    with tt.no_grad():
        leaf.zero_()
    assert leaf._nnz() == 0


#: What differs from a dense tensor by intention.
OF_SPARSE = (
    "dense_dim sparse_dim is_sparse is_sparse_csr type coalesce indices is_coalesced values cat "
    "stack mv hsmm sparse_mask to_sparse to_sparse_csr to_sparse_csc crow_indices col_indices "
    "ones_like"
).split()


def is_same(a: Any, b: Any) -> bool:
    if isinstance(a, tt.Tensor) and isinstance(b, tt.Tensor):
        return a.shape == b.shape and np.allclose(host(a), host(b), equal_nan=True)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(is_same, a, b))
    return bool(a == b)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", [tt.sparse_coo, tt.sparse_csr])
def test_every_operation_computes_as_for_a_dense_tensor_or_raises(layout: Any) -> None:
    registry.load_all()
    errors = (ArithmeticError, AttributeError, ImportError, LookupError, RuntimeError, TypeError,
              ValueError, AssertionError)  # fmt: skip
    computed, wrong = set(), []
    for name, op in OPS.items():
        if not op.public or name.rpartition(".")[2] in OF_SPARSE or name in ("manual_seed", "seed"):
            continue
        if name == "Tensor.cuda":
            continue
        for more in ((), (2.0,), ("dense",), ("sparse",)):
            calls = []
            for x in (make(layout), tt.tensor(DENSE)):
                other = {"dense": tt.tensor(DENSE), "sparse": x.clone()}
                try:
                    calls.append(op.function(x, *[other.get(each, each) for each in more]))
                except errors:
                    break
            if len(calls) == 2 and not is_same(*calls):
                wrong.append((name, more))
            if len(calls) == 2:
                computed.add(name)
    assert not wrong
    assert {"add", "mul", "matmul", "sum", "relu", "Tensor.to_dense", "pow"} <= computed


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.numpy(), lambda s: s.tolist(), lambda s: 2 / s, lambda s: 2**s, lambda s: s > 0,
        lambda s: s.exp(), lambda s: s.reshape(9), lambda s: s[:, 1], lambda s: s.storage(),
        lambda s: np.asarray(s), lambda s: np.ones((3, 3)) @ s, lambda s: s + np.ones((3, 3)),
        lambda s: nn.functional.softmax(s, 1), lambda s: nn.functional.dropout(s), lambda s: s**-1,
        lambda s: tt.mm(s, s, out=tt.ones(3, 3)), lambda s: tt.ones(3, 3).copy_(s),
        lambda s: tt.numpy.sin(s), lambda s: s.to_sparse_bsr((1, 1)),
        lambda s: tt.einsum("ij->i", s),
        lambda s: tt.zeros(2, layout=tt.sparse_coo), lambda s: tt.sparse.spsolve(s, tt.ones(3)),
        lambda s: s.to_sparse(layout=tt.sparse_bsr), lambda s: s.data_ptr(),
        lambda s: s.__dlpack__(),
        lambda s: tt.stack([s, tt.ones(3, 3)]), lambda s: tt.ones(3, 3).mul_(s), lambda s: float(s),
    ],
)  # fmt: skip
def test_everything_else_raises(call: Any) -> None:
    for layout in LAYOUTS:
        with pytest.raises((RuntimeError, TypeError)):
            call(make(layout))


def test_wrong_parts_raise() -> None:
    for parts, text in (
        (([0, 1], [0], [1.0], (2, 2)), r"crow_indices.shape\[-1\] must be equal"),
        (([0, 2, 1], [0], [1.0], (2, 2)), "must begin with 0, not decrease, and end with 1"),
        (([0, 1], [0, 1], [1.0], (1, 2)), "number of elements in col_indices"),
        (([0, 1], [2], [1.0], (1, 2)), "0 <= col_indices < 2"),
        (([0, 1], [2], [1.0], (1, 2, 3)), "expected a size of 2 dimensions"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            tt.sparse_csr_tensor(*parts)
    with pytest.raises(NotImplementedError, match="batches and dense dimensions"):
        tt.sparse_csr_tensor([[0, 1]], [[0]], [[1.0]])
    with pytest.raises(NotImplementedError, match="layout"):
        tt.sparse_compressed_tensor([0, 1], [0], [1.0], layout=tt.sparse_bsr)
    with pytest.raises(RuntimeError, match="indices must be sparse_dim x nnz"):
        tt.sparse_coo_tensor([0, 1], [1.0, 2.0], (3,))
    with pytest.raises(RuntimeError, match="values has incorrect size"):
        tt.sparse_coo_tensor([[0]], [[1.0, 2.0]], (3, 3))


def test_a_pickle_is_read_by_a_new_process(tmp_path: Path) -> None:
    path = tmp_path / "matrix.pickle"
    with tt.backend_context("numpy"):  # the one that the new process has
        path.write_bytes(pickle.dumps(tt.tensor(DENSE.tolist()).to_sparse_csr()))

    def program(path: str) -> None:
        import pickle
        from pathlib import Path

        matrix = pickle.loads(Path(path).read_bytes())
        print((matrix @ matrix).to_dense().tolist())

    assert run(program, str(path)) == str((DENSE @ DENSE).tolist())
