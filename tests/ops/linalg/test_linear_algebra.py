"""Products of matrices and vectors: values, gradients of both orders, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.linalg.matrices import agrees_with_torch, draw, has_derivatives

PRODUCTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "matmul": (lambda lib, a, b: lib.matmul(a, b), [(2, 3), (3, 2)]),
    "matmul, vectors": (lambda lib, a, b: lib.matmul(a, b), [(3,), (3,)]),
    "matmul, broadcast": (lambda lib, a, b: lib.matmul(a, b), [(2, 1, 2, 3), (2, 3, 2)]),
    "matmul, matrix and vector": (lambda lib, a, b: lib.matmul(a, b), [(2, 2, 3), (3,)]),
    "matmul, vector and matrix": (lambda lib, a, b: lib.matmul(a, b), [(3,), (2, 3, 2)]),
    "mm": (lambda lib, a, b: lib.mm(a, b), [(2, 3), (3, 2)]),
    "bmm": (lambda lib, a, b: lib.bmm(a, b), [(2, 2, 3), (2, 3, 2)]),
    "mv": (lambda lib, a, b: lib.mv(a, b), [(2, 3), (3,)]),
    "dot": (lambda lib, a, b: lib.dot(a, b), [(3,), (3,)]),
    "vdot": (lambda lib, a, b: lib.vdot(a, b), [(3,), (3,)]),
    "outer": (lambda lib, a, b: lib.outer(a, b), [(3,), (2,)]),
    "vecdot": (lambda lib, a, b: lib.linalg.vecdot(a, b, dim=0), [(3, 2), (3, 1)]),
    "cross": (lambda lib, a, b: lib.cross(a, b, dim=1), [(2, 3), (2, 3)]),
    "linalg.cross": (lambda lib, a, b: lib.linalg.cross(a, b), [(1, 3), (2, 3)]),
    "trace": (lambda lib, a: lib.trace(a), [(2, 3)]),
    "vander": (lambda lib, a: lib.linalg.vander(a, N=3), [(2, 2)]),
    "linear": (lambda lib, *a: lib.nn.functional.linear(*a), [(2, 2, 3), (2, 3), (2,)]),
    "linear rowwise": (lambda lib, *a: lib.nn.functional.linear(*a), [(4, 3), (2, 3), (1, 2)]),
    "linear of rows": (lambda lib, *a: lib.nn.functional.linear(*a), [(2, 2, 3), (2, 3), (2, 2)]),
    "linear of a vector": (lambda lib, *a: lib.nn.functional.linear(*a), [(3,), (2, 3), (1, 2)]),
    "linear by a vector": (lambda lib, *a: lib.nn.functional.linear(*a), [(4, 3), (3,)]),
    "linear of two vectors": (lambda lib, *a: lib.nn.functional.linear(*a), [(3,), (3,), ()]),
    "linear 0-d bias": (lambda lib, *a: lib.nn.functional.linear(*a), [(4, 3), (2, 3), ()]),
    "addmm": (lambda lib, *a: lib.addmm(*a, beta=0.5, alpha=2), [(3,), (2, 2), (2, 3)]),
    "addmv": (lambda lib, *a: lib.addmv(*a, beta=0.5, alpha=2), [(2,), (2, 3), (3,)]),
    "addr": (lambda lib, *a: lib.addr(*a, beta=0.5, alpha=2), [(2, 1), (2,), (3,)]),
    "addbmm": (lambda lib, *a: lib.addbmm(*a, beta=0.5, alpha=2), [(2, 3), (2, 2, 2), (2, 2, 3)]),
    "baddbmm": (lambda lib, *a: lib.baddbmm(*a, beta=2, alpha=3), [(1,), (2, 2, 2), (2, 2, 3)]),
    "multi_dot": (lambda lib, *a: lib.linalg.multi_dot(a), [(2,), (2, 3), (3, 2), (2,)]),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("complex_", [False, True])
def test_product_is_torchs(name: str, complex_: bool) -> None:
    function, shapes = PRODUCTS[name]
    agrees_with_torch(function, [draw(*s, complex_=complex_) for s in shapes])


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("complex_", [False, True])
def test_product_has_derivatives(name: str, complex_: bool) -> None:
    function, shapes = PRODUCTS[name]
    has_derivatives(
        lambda *args: function(tt, *args), [draw(*s, complex_=complex_) for s in shapes]
    )


@pytest.mark.torch
@pytest.mark.parametrize("shapes", [[(2, 0), (0, 3)], [(0, 2), (2, 3)], [(2, 2, 0), (0, 3)]])
def test_products_over_an_empty_dimension_are_zero(shapes: Any) -> None:
    agrees_with_torch(lambda lib, a, b: a @ b, [draw(*s) for s in shapes])


def test_products_of_arrays_with_negative_strides_are_right() -> None:
    a, b = draw(4, 6), draw(6, 4)
    x, y = tt.tensor(a)[::2, ::3], tt.tensor(b).T[:, 1::3]
    np.testing.assert_allclose((x @ y.T).numpy(), a[::2, ::3] @ b.T[:, 1::3].T, atol=1e-12)
    z = tt.tensor(a[::-1, ::-1])
    np.testing.assert_allclose((z @ z.T).numpy(), (a @ a.T)[::-1, ::-1], atol=1e-12)


def test_beta_of_zero_ignores_nan() -> None:
    nan = tt.full((2, 2), float("nan"), requires_grad=True)
    out = tt.addmm(nan, tt.eye(2), tt.eye(2), beta=0)
    assert out.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    out.sum().backward()
    assert nan.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_addmm_and_related_functions_write_in_place_and_to_out() -> None:
    x = tt.ones(2, 2)
    assert x.addmm_(tt.eye(2), tt.eye(2), alpha=2) is x
    assert x.tolist() == [[3.0, 1.0], [1.0, 3.0]]
    out = tt.empty(0)
    assert tt.addr(tt.zeros(2, 2), tt.ones(2), tt.ones(2), out=out) is out
    assert out.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_addr_of_bools_is_or_and_and() -> None:
    yes, no = tt.tensor([True, False]), tt.tensor([[False, False], [True, False]])
    assert tt.addr(no, yes, yes).tolist() == [[True, False], [True, False]]


@pytest.mark.filterwarnings("ignore:Using torch.cross without:UserWarning")
def test_cross_takes_the_last_dimension_of_size_3() -> None:
    a, b = draw(3, 3), draw(3, 3)
    np.testing.assert_allclose(tt.cross(tt.tensor(a), tt.tensor(b)).numpy(), np.cross(a, b))
    first = tt.cross(tt.tensor(a[:, :2]), tt.tensor(b[:, :2]))
    np.testing.assert_allclose(first.numpy(), np.cross(a[:, :2].T, b[:, :2].T).T)


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("count", [None, 0, 1, 4])
def test_vander_is_numpys(count: int | None, increasing: bool) -> None:
    x = np.array([2, 3, 5])
    wanted = np.vander(x, count, increasing)
    np.testing.assert_array_equal(tt.vander(tt.tensor(x), count, increasing).numpy(), wanted)


def test_chain_matmul_uses_the_cheapest_order() -> None:
    from tinytorch.ops.linalg.products import _best_cuts

    # (30x1)(1x40)(40x10): the right pair first takes 700 multiplications, the left 13200.
    chain = [tt.ones(30, 1), tt.ones(1, 40), tt.ones(40, 10)]
    assert _best_cuts(chain)[0, 2] == 0


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tt.ones(2, 3) @ tt.ones(2, 3), RuntimeError, "cannot be multiplied"),
    (lambda: tt.mm(tt.ones(2), tt.ones(2, 2)), RuntimeError, "must be a matrix"),
    (lambda: tt.dot(tt.ones(2), tt.ones(3)), RuntimeError, "inconsistent tensor size"),
    (lambda: tt.vdot(tt.ones(1, 1), tt.ones(3)), RuntimeError, "1D tensors expected"),
    (lambda: tt.addmm(tt.ones(5), tt.ones(2, 3), tt.ones(3, 2)), RuntimeError, "expand"),
    (lambda: tt.addmm(tt.ones(1), tt.ones(2, 3), tt.ones(2, 3)), RuntimeError,
     "addmm: mat1 and mat2 shapes cannot be multiplied"),
    (lambda: tt.addmm(tt.ones(1).int(), tt.ones(2, 2), tt.ones(2, 2)), RuntimeError,
     "self and mat2 must have the same dtype, but got Int and Float"),
    (lambda: tt.addr(tt.ones(2, 2).int(), *[tt.ones(2).int()] * 2, beta=0.5), RuntimeError,
     "argument beta must not be a floating point number"),
    (lambda: tt.addmv(tt.ones(2), tt.ones(2, 2), tt.ones(2, 2)), RuntimeError,
     "vector . matrix @ vector expected, got 1, 2, 2"),
    (lambda: tt.addr(tt.ones(1), tt.ones(1, 2), tt.ones(2)), RuntimeError,
     "Expected 1-D argument vec1"),
    (lambda: tt.addbmm(tt.ones(1), tt.ones(2, 2), tt.ones(2, 2)), RuntimeError, "3D tensor"),
    (lambda: tt.baddbmm(tt.ones(1), tt.ones(2, 2, 3), tt.ones(2, 2, 3)), RuntimeError,
     "Expected size for first two dimensions of batch2"),
    (lambda: tt.trace(tt.ones(2, 2, 2)), RuntimeError, "expected a matrix"),
    (lambda: tt.cross(tt.ones(2), tt.ones(2)), RuntimeError, "no dimension of size 3"),
    (lambda: tt.linalg.cross(tt.ones(2, 3), tt.ones(3)), RuntimeError,
     "must have the same number of dimensions"),
    (lambda: tt.linalg.cross(tt.ones(2, 2), tt.ones(2, 2)), RuntimeError, "must have length 3"),
    (lambda: tt.linalg.multi_dot([tt.ones(2, 2)]), RuntimeError, "at least 2 tensors"),
    (lambda: tt.linalg.multi_dot([tt.ones(2, 2), tt.ones(3, 2)]), RuntimeError,
     "tensors 0 and 1 with shapes .* cannot be multiplied"),
    (lambda: tt.linalg.vecdot(tt.ones(2).int(), tt.ones(2).int()), RuntimeError,
     "Expected a floating point or complex tensor as input. Got Int"),
    (lambda: tt.linalg.vander(tt.ones(2), N=1), RuntimeError, "N must be greater than 1"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_products_refuse_sizes_that_do_not_fit(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


# -- distances -------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distances_are_torchs(p: float) -> None:
    agrees_with_torch(lambda lib, a, b: lib.cdist(a, b, p), [draw(2, 3, 2), draw(4, 2)])
    agrees_with_torch(lambda lib, a: lib.nn.functional.pdist(a, p), [draw(4, 3)])


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_distances_have_derivatives(p: float) -> None:
    has_derivatives(lambda a, b: tt.cdist(a, b, p), [draw(2, 3), draw(3, 3)])


def test_cdist_of_many_points_equals_the_direct_distances() -> None:
    a, b = draw(30, 4), draw(40, 4)
    wanted = np.sqrt(((a[:, None] - b) ** 2).sum(-1))
    for mode in ("use_mm_for_euclid_dist_if_necessary", "donot_use_mm_for_euclid_dist"):
        got = tt.cdist(tt.tensor(a), tt.tensor(b), compute_mode=mode)
        np.testing.assert_allclose(got.numpy(), wanted, atol=1e-7)
    has_derivatives(lambda x: tt.cdist(x, tt.tensor(b)), [a[:2]])


def test_a_distance_of_zero_has_no_direction() -> None:
    for p in (0.5, 1.0, 2.0, 3.0, float("inf")):
        x = tt.ones(2, 2, requires_grad=True)
        tt.cdist(x, x.detach(), p).sum().backward()
        assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tt.cdist(tt.ones(2, 3), tt.ones(2, 2)), RuntimeError, "same number of columns"),
        (lambda: tt.cdist(tt.ones(3), tt.ones(2, 3)), RuntimeError, "at least 2D tensors, X1"),
        (lambda: tt.cdist(tt.ones(2, 2).int(), tt.ones(2, 2)), RuntimeError, "X1 got: Int"),
        (lambda: tt.cdist(tt.ones(2, 2), tt.ones(2, 2), -1), RuntimeError, "non-negative p"),
        (lambda: tt.cdist(tt.ones(2, 2), tt.ones(2, 2), 2, "x"), ValueError, "compute_mode"),
        (lambda: tt.pdist(tt.ones(2)), RuntimeError, "pdist only supports 2D tensors"),
    ],
)
def test_distances_refuse_invalid_arguments(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("bias", "text"),
    [
        ((4,), "same dtype, but got float32 and a bias of float64"),
        ((2, 3, 4), r"bias of shape \[2, 3, 4\] does not broadcast"),
    ],
)
def test_linear_refuses_biases_that_do_not_fit(bias: tuple[int, ...], text: str) -> None:
    dtype = tt.float64 if len(bias) == 1 else tt.float32
    with pytest.raises(RuntimeError, match=text):
        tt.nn.functional.linear(tt.ones(3, 2), tt.ones(4, 2), tt.ones(*bias, dtype=dtype))


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ([(), (2, 3)], "both arguments to linear need to be at least 1D, but they are 0D and 2D"),
        ([(3,), ()], "both arguments to linear need to be at least 1D, but they are 1D and 0D"),
        ([(), ()], "both arguments to linear need to be at least 1D"),
        ([(4, 3), (1, 2, 3)], r"t\(\) expects a tensor with <= 2 dimensions, but self is 3D"),
        ([(4, 3), (3,), (4,)], "mat2 must be a matrix, got 1-D tensor"),
        ([(3,), (2, 3), (1, 1)], "bias"),
        ([(3,), (2, 3), (4, 2)], "bias"),
        ([(4, 3), (2, 4)], r"shapes cannot be multiplied \(4x3 and 4x2\)"),
    ],
)
def test_linear_refuses_shapes_that_do_not_fit(
    torch: Any, shapes: list[tuple[int, ...]], text: str
) -> None:
    """PyTorch refuses the same shapes; where the text is a sentence, in these words."""
    with pytest.raises(RuntimeError, match=text):
        tt.nn.functional.linear(*(tt.ones(shape) for shape in shapes))
    with pytest.raises(RuntimeError, match=None if text == "bias" else text):
        torch.nn.functional.linear(*(torch.ones(shape) for shape in shapes))


@pytest.mark.parametrize("shape", [(8, 16, 9), (2, 3, 40, 9), (0, 16, 9), (8, 0, 9), (600, 2, 0)])
def test_matrices_that_meet_the_same_one(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(shape), rng.standard_normal((shape[-1], 5))
    for x, y in ((a, b), (a.swapaxes(0, -2).copy().swapaxes(0, -2), b), (a, b.T.copy().T)):
        left, right = (tt.tensor(v, requires_grad=True) for v in (x, y))
        product = left @ right
        np.testing.assert_allclose(product.detach().numpy(), a @ b, rtol=1e-12, atol=1e-12)
        product.sum().backward()
        np.testing.assert_allclose(left.grad.numpy(), np.ones((*shape[:-1], 5)) @ b.T, 1e-12)
        rows = a.reshape(-1, shape[-1]).sum(0) if a.size else np.zeros(shape[-1])
        np.testing.assert_allclose(right.grad.numpy(), np.outer(rows, np.ones(5)), 1e-9, 1e-9)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        tt.ones(8, 16, 9) @ tt.ones(8, 5)
