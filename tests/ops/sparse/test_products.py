"""Products, sums and conversions of sparse matrices beside dense ones, SciPy's and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.autograd import gradcheck, gradgradcheck
from tinytorch.backends.numpy import backend as numpy_backend

ON_NUMPY = pytest.mark.skipif(
    str(tt.get_backend()) != "numpy", reason="SciPy's products are those of NumPy's backend"
)
LAYOUTS = [tt.sparse_coo, tt.sparse_csr, tt.sparse_csc]
RNG = np.random.RandomState(0)


def random_matrix(rows: int, columns: int, density: float = 0.3) -> Any:
    """Dense matrix most of whose elements are 0."""
    full = RNG.standard_normal((rows, columns))
    return np.where(RNG.uniform(size=(rows, columns)) < density, full, 0.0)


def host(x: Any) -> Any:
    """Elements of a tensor, dense or sparse, as a NumPy array."""
    return x.to_dense().detach().cpu().numpy()


def make(dense: Any, layout: Any = tt.sparse_coo) -> Any:
    return tt.tensor(dense).to_sparse(layout=layout)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("rows", "columns"), [(7, 5), (1, 6), (6, 1), (0, 3), (3, 0), (40, 30)])
def test_products_are_those_of_dense_matrices(layout: Any, rows: int, columns: int) -> None:
    a, b = random_matrix(rows, columns), RNG.standard_normal((columns, 4))
    s, d = make(a, layout), tt.tensor(b)
    np.testing.assert_allclose(host(s @ d), a @ b, atol=1e-12)
    np.testing.assert_allclose(host(s @ d[:, 0]), a @ b[:, 0], atol=1e-12)
    np.testing.assert_allclose(host(d.t() @ s.t()), b.T @ a.T, atol=1e-12)
    np.testing.assert_allclose(host(tt.sparse.mm(s, s.t())), a @ a.T, atol=1e-12)
    np.testing.assert_allclose(host(s.to_sparse_csr() + s.to_sparse_csr()), 2 * a)
    np.testing.assert_allclose(host(tt.sparse.sum(s.to_sparse_coo(), 0)), a.sum(0), atol=1e-12)
    np.testing.assert_array_equal(host(s), a)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
def test_products_of_each_dtype(dtype: str) -> None:
    a, b = (random_matrix(6, 4) * 5).astype(dtype), (RNG.standard_normal((4, 3)) * 5).astype(dtype)
    if "complex" in dtype:
        a, b = a * (1 + 2j), b * (2 - 1j)
    out = make(a) @ tt.tensor(b)
    assert out.dtype == make(a).dtype
    np.testing.assert_allclose(host(out), a @ b, rtol=1e-4, atol=1e-5)


def test_elements_of_one_position_are_added() -> None:
    index = RNG.randint(0, 4, (2, 60))
    values = RNG.standard_normal(60)
    s = tt.sparse_coo_tensor(index, values, (4, 4))
    expected = np.zeros((4, 4))
    np.add.at(expected, tuple(index), values)
    np.testing.assert_allclose(host(s), expected)
    np.testing.assert_allclose(host(s.coalesce()), expected)
    assert s.coalesce()._nnz() == len({*map(tuple, index.T)})
    np.testing.assert_allclose(host(s @ tt.eye(4, dtype=tt.float64)), expected)
    np.testing.assert_allclose(host(s * s), expected**2)
    np.testing.assert_allclose(host(s.relu()), np.maximum(expected, 0))
    np.testing.assert_allclose(host(s - s.t()), expected - expected.T, atol=1e-12)
    np.testing.assert_allclose(s.sum().item(), values.sum())


def test_mixed_patterns_add_and_multiply() -> None:
    a, b = random_matrix(9, 8, 0.4), random_matrix(9, 8, 0.4)
    for one in LAYOUTS:
        for two in LAYOUTS:
            s, t = make(a, one), make(b, two)
            np.testing.assert_allclose(host(s + t), a + b)
            np.testing.assert_allclose(host(s.sub(t, alpha=2)), a - 2 * b)
            np.testing.assert_allclose(host(s * t), a * b)
    empty = make(np.zeros((9, 8)))
    assert (make(a) * empty)._nnz() == 0
    np.testing.assert_allclose(host(make(a) + empty), a)


@ON_NUMPY
def test_products_do_not_depend_on_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = random_matrix(50, 40), RNG.standard_normal((40, 6))
    sparse = pytest.importorskip("scipy.sparse")
    with_scipy = host(make(a, tt.sparse_csr) @ tt.tensor(b))
    monkeypatch.setattr(numpy_backend, "_scipy_sparse", lambda: None)
    without = host(make(a, tt.sparse_csr) @ tt.tensor(b))
    np.testing.assert_allclose(without, with_scipy, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(with_scipy, sparse.csr_array(a) @ b, rtol=1e-12, atol=1e-12)
    product = make(a) @ make(a).t()
    np.testing.assert_allclose(
        host(product), (sparse.csr_array(a) @ sparse.csr_array(a).T).toarray()
    )


#: Functions of the elements of a sparse matrix and a dense one.
FUNCTIONS: list[Callable[[Any, Any], Any]] = [
    lambda s, d: s @ d, lambda s, d: s.t() @ d[:3], lambda s, d: d.t()[:, :3] @ s,
    lambda s, d: s @ d[:, 0], lambda s, d: d[:3, 0] @ s, lambda s, d: (s * d.t()[:1]).to_dense(),
    lambda s, d: (s * s + s).to_dense(), lambda s, d: tt.sparse.mm(s, s.t()).to_dense(),
    lambda s, d: s.coalesce().values() ** 2, lambda s, d: (s.to_sparse_csr() @ d).sin(),
    lambda s, d: tt.sparse.sum(s * 2, 1).to_dense(), lambda s, d: s.sum(),
    lambda s, d: tt.sparse.softmax(s, 1).values(),
    lambda s, d: tt.sparse.log_softmax(s, 0).values(),
    lambda s, d: tt.cat([s, s.tanh()]).to_dense(), lambda s, d: s.pow(2).to_sparse_csc() @ d,
    lambda s, d: s.index_select(0, tt.tensor([2, 0, 2])).to_dense(), lambda s, d: s[1].to_dense(),
    lambda s, d: d.t().contiguous().repeat(2, 1)[:3].sparse_mask(s).to_dense(),
    lambda s, d: tt.sparse.sampled_addmm(s, d[:3], d.t() @ d @ d.t(), alpha=0.1).to_dense(),
    lambda s, d: tt.sparse.mm(s, d, "mean"), lambda s, d: d[:3, :1].contiguous().sum() * s.norm(),
    lambda s, d: tt.sparse.addmm(d[:3], s, d, beta=0.5, alpha=2),
    lambda s, d: s.select(1, 2).to_dense(),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_first_and_second_derivatives_are_those_of_differences(function: Any) -> None:
    index = tt.tensor([[0, 0, 1, 2, 2, 1], [1, 3, 2, 0, 1, 0]])

    def call(values: Any, dense: Any) -> Any:
        return function(tt.sparse_coo_tensor(index, values, (3, 4)), dense)

    values = tt.tensor(np.linspace(0.3, 1.7, 6), requires_grad=True)
    dense = tt.tensor(np.cos(np.arange(8.0)).reshape(4, 2), requires_grad=True)
    assert gradcheck(call, (values, dense))
    assert gradgradcheck(call, (values, dense))


def test_gradients_of_conversions_from_dense_matrices() -> None:
    x = tt.tensor(random_matrix(4, 3) + 1.0, requires_grad=True)
    for layout in LAYOUTS:
        assert gradcheck(lambda x, layout=layout: x.to_sparse(layout=layout).to_dense() ** 2, (x,))
    assert gradcheck(lambda x: (x.to_sparse(1) * 2).to_dense() ** 2, (x,))


def test_the_gradient_of_a_sparse_leaf_has_its_pattern() -> None:
    s = make(random_matrix(5, 4), tt.sparse_csr).requires_grad_()
    d = tt.tensor(RNG.standard_normal((4, 3)))
    for _ in range(2):
        (s @ d).sum().backward()
    expected = np.ones((5, 3)) @ d.numpy(force=True).T * (host(s) != 0) * 2
    assert s.grad.layout is tt.sparse_csr and s.is_leaf
    np.testing.assert_allclose(host(s.grad), expected)
    (g,) = tt.autograd.grad((s @ d).sum(), s, create_graph=True)
    np.testing.assert_allclose(host(g), expected / 2)
    seen: list[Any] = []
    s.register_hook(lambda g: seen.append(g.layout))
    s.grad = None
    tt.autograd.backward((s @ d).sum(), inputs=[s])
    assert seen == [tt.sparse_csr] and s.grad is not None


def test_a_sparse_tensor_has_a_backward_pass() -> None:
    values = tt.ones(2, requires_grad=True)
    s = tt.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2)) * 3
    s.backward(tt.tensor([[5.0, 1.0], [2.0, 7.0]]).to_sparse())
    assert values.grad.tolist() == [3.0, 6.0]


def test_scipy_matrices_become_tensors_and_back() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    a = random_matrix(6, 5)
    for format, layout in (("csr", tt.sparse_csr), ("csc", tt.sparse_csc), ("coo", tt.sparse_coo),
                           ("lil", tt.sparse_coo)):  # fmt: skip
        s = tt.sparse.from_scipy(sparse.csr_array(a).asformat(format))
        assert s.layout is layout and s.dtype is tt.float64
        np.testing.assert_array_equal(host(s), a)
        back = tt.sparse.to_scipy(s)
        np.testing.assert_array_equal(back.toarray(), a)
        assert back.format == str(layout).rpartition("_")[2]
    s = tt.sparse.from_scipy(sparse.coo_matrix(a), dtype=tt.float32)
    assert s.dtype is tt.float32
    with pytest.raises(RuntimeError, match="expected a sparse matrix"):
        tt.sparse.to_scipy(tt.ones(2, 2))


def test_patterns_are_shared_and_products_can_follow_inference_mode() -> None:
    s = make(random_matrix(5, 4))
    with tt.inference_mode():
        s @ tt.ones(4, 2, dtype=tt.float64)
        s.coalesce().to_sparse_csr()
    d = tt.ones(4, 2, dtype=tt.float64, requires_grad=True)
    (s @ d).sum().backward()
    np.testing.assert_allclose(d.grad.cpu().numpy(), host(s).sum(0)[:, None] * np.ones(2))


def test_factors_that_do_not_fit_raise() -> None:
    s = make(random_matrix(2, 3))
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 2x2\)"):
        s @ tt.ones(2, 2, dtype=tt.float64)
    with pytest.raises(RuntimeError, match="same dtype, but got: float64 != float32"):
        s @ tt.ones(3, 2)
    with pytest.raises(RuntimeError, match="sparse products are those of two matrices"):
        s @ tt.ones(1, 3, 2)
    with pytest.raises(RuntimeError, match="same sizes"):
        s + make(random_matrix(3, 3))
    with pytest.raises(ValueError, match="expected reduce to be"):
        tt.sparse.mm(s, tt.ones(3, 2, dtype=tt.float64), "prod")
    with pytest.raises(NotImplementedError, match="indexed by integers alone"):
        s[:1]
