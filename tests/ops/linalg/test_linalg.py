"""Decompositions and solvers: values, gradients of both orders, edges, and what they refuse.

Factors that are fixed up to signs or phases only are compared by what does not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.linalg.matrices import agrees_with_torch, definite, draw, has_derivatives, regular

Maker = Callable[..., Any]


def hermitian_part(lib: Any, a: Any) -> Any:
    """Return a Hermitian matrix, so that gradients are those of the part that counts."""
    return a + a.mH


def lower(lib: Any, a: Any) -> Any:
    return lib.tril(a)


def vectors_by_size(lib: Any, pair: Any) -> Any:
    """Return eigenvalues in order of their real and imaginary parts; the vectors' sizes."""
    values, vectors = pair
    return values.real.sum(-1), (values * values).sum(-1), vectors.abs().square().sum(-1)


CASES: dict[str, tuple[Maker, Callable[..., Any]]] = {
    "inv": (lambda c: [regular(2, 3, 3, complex_=c)], lambda lib, a: lib.linalg.inv(a)),
    "inv_ex": (lambda c: [regular(3, 3, complex_=c)], lambda lib, a: lib.linalg.inv_ex(a)),
    "solve": (
        lambda c: [regular(2, 3, 3, complex_=c), draw(3, 2, complex_=c)],
        lambda lib, a, b: lib.linalg.solve(a, b),
    ),
    "solve, vector": (
        lambda c: [regular(2, 3, 3, complex_=c), draw(3, complex_=c)],
        lambda lib, a, b: lib.linalg.solve(a, b),
    ),
    "solve, right": (
        lambda c: [regular(3, 3, complex_=c), draw(2, 3, complex_=c)],
        lambda lib, a, b: lib.linalg.solve(a, b, left=False),
    ),
    "solve_ex": (
        lambda c: [regular(3, 3, complex_=c), draw(3, complex_=c)],
        lambda lib, a, b: lib.linalg.solve_ex(a, b),
    ),
    "solve_triangular": (
        lambda c: [regular(3, 3, complex_=c), draw(2, 3, 2, complex_=c)],
        lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True),
    ),
    "solve_triangular, unit, right": (
        lambda c: [regular(3, 3, complex_=c), draw(2, 3, complex_=c)],
        lambda lib, a, b: lib.linalg.solve_triangular(
            a, b, upper=False, left=False, unitriangular=True
        ),
    ),
    "tensorinv": (lambda c: [draw(2, 2, 4, complex_=c)], lambda lib, a: lib.linalg.tensorinv(a, 2)),
    "tensorsolve": (
        lambda c: [draw(2, 4, 2, complex_=c), draw(2, 2, complex_=c)],
        lambda lib, a, b: lib.linalg.tensorsolve(a, b, dims=(1,)),
    ),
    "det": (lambda c: [draw(2, 3, 3, complex_=c)], lambda lib, a: lib.linalg.det(a)),
    "slogdet": (lambda c: [regular(2, 3, 3, complex_=c)], lambda lib, a: lib.linalg.slogdet(a)),
    "logdet": (lambda c: [definite(3, 3, complex_=c)], lambda lib, a: lib.logdet(a)),
    "cholesky": (
        lambda c: [definite(2, 3, 3, complex_=c)],
        lambda lib, a: lib.linalg.cholesky(hermitian_part(lib, a)),
    ),
    "cholesky, upper": (
        lambda c: [definite(3, 3, complex_=c)],
        lambda lib, a: lib.linalg.cholesky(hermitian_part(lib, a), upper=True),
    ),
    "cholesky_ex": (
        lambda c: [definite(3, 3, complex_=c)],
        lambda lib, a: lib.linalg.cholesky_ex(hermitian_part(lib, a)),
    ),
    "cholesky_solve": (
        lambda c: [draw(3, 2, complex_=c), definite(3, 3, complex_=c)],
        lambda lib, b, a: lib.cholesky_solve(b, lower(lib, a)),
    ),
    "cholesky_inverse": (
        lambda c: [definite(3, 3, complex_=c)],
        lambda lib, a: lib.cholesky_inverse(lower(lib, a)),
    ),
    "triangular_solve": (
        lambda c: [draw(3, 2, complex_=c), regular(3, 3, complex_=c)],
        lambda lib, b, a: lib.triangular_solve(b, lower(lib, a), upper=False, transpose=True)[0],
    ),
    "lu_factor, square": (
        lambda c: [regular(2, 3, 3, complex_=c)],
        lambda lib, a: lib.linalg.lu_factor(a),
    ),
    "lu, wide": (lambda c: [draw(3, 4, complex_=c)], lambda lib, a: lib.linalg.lu(a)[1:]),
    "lu, tall": (lambda c: [draw(4, 3, complex_=c)], lambda lib, a: lib.linalg.lu(a)[1:]),
    "lu_solve": (
        lambda c: [regular(3, 3, complex_=c), draw(2, 3, complex_=c)],
        lambda lib, a, b: lib.linalg.lu_solve(*lib.linalg.lu_factor(a), b, left=False),
    ),
    "eigh": (
        lambda c: [definite(2, 3, 3, complex_=c)],
        lambda lib, a: [v.abs() for v in lib.linalg.eigh(hermitian_part(lib, a))],
    ),
    "eigvalsh": (
        lambda c: [definite(3, 3, complex_=c)],
        lambda lib, a: lib.linalg.eigvalsh(hermitian_part(lib, a)),
    ),
    "eig": (
        lambda c: [draw(3, 3, complex_=c)],
        lambda lib, a: vectors_by_size(lib, lib.linalg.eig(a)),
    ),
    "eigvals": (
        lambda c: [draw(3, 3, complex_=c)],
        lambda lib, a: (lib.linalg.eigvals(a) ** 3).sum(-1),
    ),
    "svd, tall": (
        lambda c: [draw(2, 4, 3, complex_=c)],
        lambda lib, a: [v.abs() for v in lib.linalg.svd(a, full_matrices=False)],
    ),
    "svd, wide": (
        lambda c: [draw(3, 4, complex_=c)],
        lambda lib, a: [v.abs() for v in lib.linalg.svd(a, full_matrices=False)],
    ),
    "svd, both factors": (
        lambda c: [draw(3, 3, complex_=c)],
        lambda lib, a: (lambda u, s, vh: u[:, :2] @ vh[:2])(*lib.linalg.svd(a)),
    ),
    "svdvals": (lambda c: [draw(3, 4, complex_=c)], lambda lib, a: lib.linalg.svdvals(a)),
    "old svd": (lambda c: [draw(3, 4, complex_=c)], lambda lib, a: [v.abs() for v in lib.svd(a)]),
    "qr, tall": (lambda c: [draw(2, 4, 3, complex_=c)], lambda lib, a: lib.linalg.qr(a)),
    "qr, wide": (lambda c: [draw(3, 4, complex_=c)], lambda lib, a: lib.linalg.qr(a)),
    "qr, complete": (
        lambda c: [draw(3, 4, complex_=c)],
        lambda lib, a: lib.linalg.qr(a, "complete"),
    ),
    "householder_product": (
        lambda c: [draw(4, 3, complex_=c), draw(2, complex_=c)],
        lambda lib, a, t: lib.linalg.householder_product(a, t),
    ),
    "ormqr": (
        lambda c: [draw(4, 2, complex_=c), draw(2, complex_=c), draw(4, 3, complex_=c)],
        lambda lib, a, t, x: lib.ormqr(a, t, x, True, True),
    ),
    "pinv, tall": (lambda c: [draw(2, 4, 3, complex_=c)], lambda lib, a: lib.linalg.pinv(a)),
    "pinv, wide": (lambda c: [draw(3, 4, complex_=c)], lambda lib, a: lib.linalg.pinv(a)),
    "pinv of low rank": (
        lambda c: [draw(4, 2, complex_=c), draw(2, 3, complex_=c)],
        lambda lib, a, b: lib.linalg.pinv(a @ b),
    ),
    "pinv, hermitian": (
        lambda c: [draw(3, 3, complex_=c)],
        lambda lib, a: lib.linalg.pinv(hermitian_part(lib, a), hermitian=True),
    ),
    "lstsq": (
        lambda c: [draw(4, 2, complex_=c), draw(4, 2, complex_=c)],
        lambda lib, a, b: lib.linalg.lstsq(a, b, driver="gelsd")[:2],
    ),
    "matrix_power": (
        lambda c: [draw(3, 3, complex_=c)],
        lambda lib, a: lib.linalg.matrix_power(a, 5),
    ),
    "matrix_power, negative": (
        lambda c: [regular(3, 3, complex_=c)],
        lambda lib, a: lib.linalg.matrix_power(a, -2),
    ),
    "matrix_exp": (lambda c: [draw(2, 3, 3, complex_=c)], lambda lib, a: lib.linalg.matrix_exp(a)),
    "vector_norm": (
        lambda c: [draw(2, 3, complex_=c)],
        lambda lib, a: lib.linalg.vector_norm(a, 3, dim=1),
    ),
    "norm, nuclear": (lambda c: [draw(3, 2, complex_=c)], lambda lib, a: lib.linalg.norm(a, "nuc")),
    "norm, spectral": (
        lambda c: [draw(3, 2, 4, complex_=c)],
        lambda lib, a: lib.linalg.matrix_norm(a, 2, dim=(0, 2), keepdim=True),
    ),
    "cond": (lambda c: [regular(3, 3, complex_=c)], lambda lib, a: lib.linalg.cond(a)),
}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("complex_", [False, True])
def test_values_and_gradients_of_linalg_are_pytorchs(name: str, complex_: bool) -> None:
    make, function = CASES[name]
    agrees_with_torch(function, make(complex_))


def differentiable(result: Any) -> Any:
    """Leave out integers: pivots and the like."""
    if isinstance(result, (tuple, list)):
        return tuple(r for r in result if r.is_floating_point() or r.is_complex())
    return result


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("complex_", [False, True])
def test_first_and_second_derivatives_of_linalg_are_finite_differences(
    name: str, complex_: bool
) -> None:
    make, function = CASES[name]
    has_derivatives(lambda *args: differentiable(function(tt, *args)), make(complex_))


@pytest.mark.parametrize("order", [1, "fro", float("inf")])
def test_condition_numbers_of_other_norms_are_numpys(order: Any) -> None:
    a = regular(3, 3)  # PyTorch's own gradient fails here
    assert tt.linalg.cond(tt.tensor(a), order).item() == pytest.approx(np.linalg.cond(a, order))
    has_derivatives(lambda x: tt.linalg.cond(x, order), [a])


# -- edges -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_linalg_functions_accept_matrices_without_elements(shape: tuple[int, ...]) -> None:
    a = tt.zeros(shape, dtype=tt.float64)
    for function in (tt.linalg.inv, tt.linalg.cholesky, tt.linalg.matrix_exp, tt.linalg.pinv):
        assert function(a).shape == shape
    assert tt.linalg.det(a).tolist() == np.linalg.det(np.zeros(shape)).tolist()
    assert tt.linalg.svd(a).S.shape == shape[:-1]
    assert tt.linalg.eig(a).eigenvalues.dtype is tt.complex128
    assert tt.linalg.lu_factor_ex(a).pivots.shape == shape[:-1]
    assert tt.linalg.qr(a).Q.shape == shape
    assert tt.linalg.solve(a, a).shape == shape
    assert tt.linalg.matrix_rank(a).tolist() == np.zeros(shape[:-2]).tolist()


def test_complete_factors_of_nothing_are_identities() -> None:
    u, _, vh = tt.linalg.svd(tt.zeros(3, 0))
    assert u.tolist() == np.eye(3).tolist()
    assert vh.shape == (0, 0)
    assert tt.linalg.qr(tt.zeros(3, 0), "complete").Q.tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("complex_", [False, True])
def test_determinant_is_smooth_at_singular_matrices(rank: int, complex_: bool) -> None:
    a = draw(3, rank, complex_=complex_) @ draw(rank, 3, complex_=complex_)
    has_derivatives(tt.linalg.det, [a])


def test_the_determinant_has_a_third_derivative() -> None:
    def slope(a: Any) -> Any:
        with tt.enable_grad():
            a = a if a.requires_grad else a.detach().requires_grad_()
            return tt.autograd.grad(tt.linalg.det(a), a, create_graph=True)[0]

    has_derivatives(slope, [regular(3, 3)])


def test_equal_eigenvalues_give_a_finite_gradient_to_what_depends_on_their_space_only() -> None:
    # The projector on the last two vectors, whose eigenvalues are equal.
    a = tt.tensor(np.diag([1.0, 2.0, 2.0]), requires_grad=True)
    values, vectors = tt.linalg.eigh(a)
    space = vectors[:, 1:]
    weight = tt.tensor(draw(3, 3))
    ((space @ space.mT) * weight).sum().backward()
    step = 1e-6 * (weight + weight.mT).numpy()

    def projected(m: Any) -> float:
        top = np.linalg.eigh(m)[1][:, 1:]
        return float((top @ top.T * weight.numpy()).sum())

    moved = projected(a.detach().numpy() + step) - projected(a.detach().numpy() - step)
    assert moved / 2 == pytest.approx(float((a.grad.numpy() * step).sum()), rel=1e-5)


def test_equal_singular_values_give_a_finite_gradient_to_their_sum() -> None:
    a = tt.eye(3, dtype=tt.float64).requires_grad_()
    u, s, vh = tt.linalg.svd(a)
    ((u * s[None]) @ vh * tt.tensor(np.arange(9.0).reshape(3, 3))).sum().backward()
    assert np.isfinite(a.grad.numpy()).all()
    b = tt.eye(3, requires_grad=True)
    tt.linalg.matrix_norm(b, "nuc").backward()
    np.testing.assert_allclose(b.grad.numpy(), np.eye(3), atol=1e-6)


@pytest.mark.torch
@pytest.mark.parametrize("order", [None, 0, 0.5, 1, 2, 3.5, float("inf"), -1, -float("inf")])
def test_norm_of_zero_has_the_gradient_of_torch(order: Any) -> None:
    agrees_with_torch(lambda lib, a: lib.linalg.norm(a, order), [np.zeros(3)])


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")])
def test_matrix_norms_are_numpys(order: Any) -> None:
    a = draw(2, 3, 4)
    wanted = [np.linalg.norm(m, order) for m in a]
    np.testing.assert_allclose(tt.linalg.matrix_norm(tt.tensor(a), order).numpy(), wanted)
    assert tt.linalg.norm(tt.tensor(a), order, dim=(1, 2), keepdim=True).shape == (2, 1, 1)


def test_norm_accepts_numpys_keywords() -> None:
    a = draw(2, 3)
    got = tt.linalg.norm(tt.tensor(a), axis=1, keepdims=True)
    np.testing.assert_allclose(got.numpy(), np.linalg.norm(a, axis=1, keepdims=True))


def test_singular_and_regular_matrices_in_one_batch() -> None:
    a = np.stack([np.eye(2), np.ones((2, 2))])
    inverse, info = tt.linalg.inv_ex(tt.tensor(a))
    assert info.tolist() == [0, 2]
    np.testing.assert_allclose(inverse[0].numpy(), np.eye(2))
    assert not np.isfinite(inverse[1].numpy()).any()
    factor, info = tt.linalg.cholesky_ex(tt.tensor(np.stack([np.eye(2), -np.eye(2)])))
    assert info.tolist() == [0, 1]
    np.testing.assert_allclose(factor[0].numpy(), np.eye(2))
    assert tt.linalg.slogdet(tt.zeros(2, 2)).logabsdet.item() == -float("inf")
    assert tt.linalg.cond(tt.ones(2, 2), 1).item() == float("inf")
    assert tt.linalg.cond(tt.tensor(a), "nuc").tolist() == [pytest.approx(4), float("inf")]


@pytest.mark.parametrize(("matrix", "order"), [
    ([[np.nan]], 1), ([[1, np.nan], [np.nan, 1]], 2), ([[np.nan, 0], [0, -1]], 1),
    ([[np.inf, np.inf], [np.inf, np.inf]], 2), ([[1, np.nan], [0, 1]], 0),
])  # fmt: skip
def test_matrices_that_are_not_finite_have_no_factor(matrix: Any, order: int) -> None:
    a = tt.tensor(np.array(matrix, float))
    assert tt.linalg.cholesky_ex(a).info.item() == order
    with pytest.raises(tt.linalg.LinAlgError, match=f"order {order}") if order else nullcontext():
        assert tt.linalg.cholesky(a).equal(tt.eye(2).double())


def test_matrix_rank_respects_its_tolerances() -> None:
    a = tt.tensor(np.diag([1.0, 1e-3, 0.0]))
    assert tt.linalg.matrix_rank(a).item() == 2
    assert tt.linalg.matrix_rank(a, rtol=1e-2).item() == 1
    assert tt.linalg.matrix_rank(a, atol=tt.tensor(1e-2), hermitian=True).item() == 1
    assert tt.linalg.matrix_rank(a, 2.0).item() == 0


def test_lstsq_returns_the_solution_of_least_norm() -> None:
    a, b = draw(2, 2) @ draw(2, 4), draw(2, 3)
    a[1] = 2 * a[0]
    b[1] = 2 * b[0]
    found = tt.linalg.lstsq(tt.tensor(a), tt.tensor(b))
    wanted = np.linalg.lstsq(a, b, rcond=None)
    np.testing.assert_allclose(found.solution.numpy(), wanted[0], atol=1e-9)
    assert found.rank.item() == 1
    assert found.residuals.shape == (0,)


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_lu_factors_and_pivots_of_wide_matrices_are_pytorchs(torch: Any, size: int) -> None:
    a = draw(size, size + 3)
    got, wanted = tt.linalg.lu_factor(tt.tensor(a)), torch.linalg.lu_factor(torch.tensor(a))
    np.testing.assert_array_equal(got.pivots.numpy(), wanted.pivots.numpy())
    np.testing.assert_allclose(got.LU.numpy(), wanted.LU.numpy(), atol=1e-11)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("size", [6, 40])
def test_ldl_is_lapacks(torch: Any, size: int, hermitian: bool, complex_: bool) -> None:
    a = draw(180 // size, size, size, complex_=complex_)
    a[::2, np.arange(size), np.arange(size)] = 0  # pivots of two columns
    a = a + (a.conj() if hermitian else a).swapaxes(-1, -2)
    got = tt.linalg.ldl_factor(tt.tensor(a), hermitian=hermitian)
    wanted = torch.linalg.ldl_factor(torch.tensor(a), hermitian=hermitian)
    np.testing.assert_array_equal(got.pivots.numpy(), wanted.pivots.numpy())
    np.testing.assert_allclose(got.LD.numpy(), wanted.LD.tril().numpy(), atol=1e-9)
    x = tt.linalg.ldl_solve(*got, tt.tensor(a[:1]), hermitian=hermitian).numpy()
    np.testing.assert_allclose(a @ x, np.broadcast_to(a[:1], a.shape), atol=1e-6)


def test_low_rank_matrices_are_found_again() -> None:
    a = draw(20, 3) @ draw(3, 10)
    u, s, v = tt.svd_lowrank(tt.tensor(a), q=3)
    np.testing.assert_allclose((u * s @ v.mT).numpy(), a, atol=1e-9)
    u, s, v = tt.pca_lowrank(tt.tensor(a), q=3)
    np.testing.assert_allclose((u * s @ v.mT).numpy(), a - a.mean(0), atol=1e-9)


def test_linalg_of_float32_returns_float32() -> None:
    a = tt.tensor(definite(3, 3).astype("float32"))
    for result in (
        tt.linalg.inv(a), tt.linalg.cholesky(a), tt.linalg.lu_factor(a).LU, tt.linalg.det(a),
        tt.linalg.eigh(a).eigenvectors, tt.linalg.svd(a).S, tt.linalg.qr(a).R, tt.linalg.pinv(a),
        tt.linalg.matrix_exp(a), tt.linalg.solve(a, a), tt.linalg.norm(a), tt.linalg.cond(a),
        tt.linalg.ldl_factor(a).LD, tt.linalg.lstsq(a, a).solution, tt.geqrf(a).tau,
    ):  # fmt: skip
        assert result.dtype is tt.float32


def test_out_takes_several_results() -> None:
    a, values, vectors = tt.eye(2) * 2, tt.empty(0), tt.empty(0)
    result = tt.linalg.eigh(a, out=(values, vectors))
    assert result.eigenvalues is values
    assert values.tolist() == [2.0, 2.0]


def test_gradient_with_respect_to_a_factor() -> None:
    # The graph of a recorded backward pass meets the factor the user holds.
    a = tt.tensor(definite(3, 3), requires_grad=True)
    vectors = tt.linalg.eigh(a).eigenvectors
    (slope,) = tt.autograd.grad((vectors**3).sum(), a, create_graph=True)
    (through,) = tt.autograd.grad(slope.square().sum(), vectors)
    assert np.isfinite(through.numpy()).all() and through.abs().max().item() > 0


# -- errors ----------------------------------------------------------------------------------------

S, R, V = tt.zeros(3, 3), tt.ones(2, 3), tt.ones(3)
SQUARE = "A must be batches of square matrices, but they are 2 by 3 matrices"
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    *[(lambda f=f: f(R), RuntimeError, SQUARE) for f in (
        tt.linalg.inv, tt.linalg.det, tt.linalg.slogdet, tt.linalg.cholesky, tt.linalg.eigh,
        tt.linalg.eig, tt.linalg.eigvals, tt.linalg.matrix_exp, tt.linalg.ldl_factor, tt.logdet,
    )],
    *[(lambda f=f: f(V), RuntimeError, "must have at least 2 dimensions") for f in (
        tt.linalg.inv, tt.linalg.svd, tt.linalg.svdvals, tt.linalg.qr, tt.linalg.pinv,
        tt.linalg.matrix_norm, tt.linalg.cond, tt.linalg.matrix_exp, tt.geqrf, tt.linalg.eigvalsh,
    )],
    *[(lambda f=f: f(S.long()), RuntimeError,
       "Expected a floating point or complex tensor as input. Got Long") for f in (
        tt.linalg.inv, tt.linalg.det, tt.linalg.svd, tt.linalg.qr, tt.linalg.vector_norm,
    )],
    (lambda: tt.linalg.inv(S.half()), RuntimeError, "Low precision dtypes not supported. Got Half"),
    (lambda: tt.linalg.inv(S), tt.linalg.LinAlgError, "The diagonal element 1 is zero"),
    (lambda: tt.linalg.inv(S[None]), tt.linalg.LinAlgError, r"\(Batch element 0\): The diagonal"),
    (lambda: tt.linalg.solve(S, V), tt.linalg.LinAlgError, "the input matrix is singular"),
    (lambda: tt.linalg.solve(S, R), RuntimeError, r"Incompatible shapes of A and B .*3x3 and 2x3"),
    (lambda: tt.linalg.solve(S, V.double()), RuntimeError, "to have the same dtype"),
    (lambda: tt.linalg.solve(tt.ones(2, 3, 3), tt.ones(4, 3, 3)), RuntimeError,
     "must broadcast"),
    (lambda: tt.linalg.cholesky(-tt.eye(3)), tt.linalg.LinAlgError,
     "the leading minor of order 1 is not positive-definite"),
    (lambda: tt.linalg.cholesky_ex(-tt.eye(3), check_errors=True), tt.linalg.LinAlgError,
     "linalg.cholesky_ex: .*not positive-definite"),
    (lambda: tt.cholesky_inverse(S), tt.linalg.LinAlgError, "diagonal element 1 is zero"),
    (lambda: tt.cholesky_solve(R, S), RuntimeError, "Incompatible matrix sizes"),
    (lambda: tt.linalg.solve_triangular(S, R, upper=True), RuntimeError, "Incompatible shapes"),
    (lambda: tt.linalg.lu_factor(S), RuntimeError, r"U\[1,1\] is zero"),
    (lambda: tt.lu_unpack(S, tt.ones(3)), RuntimeError, "int32 dtype"),
    (lambda: tt.lu_unpack(S, tt.tensor([1, 9, 1], dtype=tt.int32)), RuntimeError,
     "must be between 1 and LU.size"),
    (lambda: tt.linalg.lu_solve(S, tt.ones(2, dtype=tt.int32), S), RuntimeError,
     "Number of pivots per batch"),
    (lambda: tt.linalg.ldl_solve(S, V, S), RuntimeError, "Expected pivots to be integers"),
    (lambda: tt.linalg.eigh(S, "X"), RuntimeError, "'L' or 'U', but got X"),
    (lambda: tt.linalg.eigh(S * float("nan")), tt.linalg.LinAlgError, "failed to converge"),
    (lambda: tt.linalg.svd(S * float("nan")), tt.linalg.LinAlgError, "non-finite values"),
    # NumPy's own never comes back from these.
    (lambda: tt.linalg.svd(tt.diag(tt.tensor([math.inf, 1.0]))), tt.linalg.LinAlgError,
     "non-finite values"),
    (lambda: tt.linalg.pinv(tt.diag(tt.tensor([math.inf, 1.0]))), tt.linalg.LinAlgError,
     "non-finite values"),
    (lambda: tt.linalg.eig(S * float("nan")), RuntimeError, "should not contain infs or NaNs"),
    (lambda: tt.linalg.svd(S, driver="gesvd"), RuntimeError, "only supported on CUDA"),
    (lambda: tt.linalg.qr(S, "x"), RuntimeError, "unrecognized mode 'x'"),
    (lambda: tt.linalg.householder_product(R, V), RuntimeError, "must be greater than or equal"),
    (lambda: tt.ormqr(S, V, tt.ones(2, 2)), RuntimeError, "tau.shape"),
    (lambda: tt.linalg.lstsq(S, R), RuntimeError, r"input.size\(-2\) should match"),
    (lambda: tt.linalg.lstsq(S, S, driver="x"), RuntimeError, "should be one of"),
    (lambda: tt.linalg.tensorinv(tt.ones(2, 3, 5)), RuntimeError, "Expected self to satisfy"),
    (lambda: tt.linalg.tensorinv(tt.ones(2, 2), 0), RuntimeError, "strictly positive integer"),
    (lambda: tt.linalg.matrix_power(S, 1.5), TypeError, "must be int, not float"),
    (lambda: tt.linalg.matrix_power(S, -1), tt.linalg.LinAlgError, "singular"),
    (lambda: tt.linalg.norm(S, "bad"), RuntimeError, "Order bad not supported"),
    (lambda: tt.linalg.norm(tt.ones(2, 2, 2), 2), RuntimeError, "must be 1D or 2D. Got 3D"),
    (lambda: tt.linalg.norm(S, 2, dim=(0, 0)), RuntimeError, "dims must be different"),
    (lambda: tt.linalg.norm(S, 2, dim=(0, 1, 2)), RuntimeError, "of length 1 or 2"),
    (lambda: tt.linalg.vector_norm(tt.ones(0), float("inf")), RuntimeError, "not have an identity"),
    (lambda: tt.linalg.vector_norm(S, 2, dim=5), IndexError, "Dimension out of range"),
    (lambda: tt.linalg.vector_norm(S, dtype=tt.complex64), RuntimeError, "should be real for real"),
    (lambda: tt.linalg.vector_norm(S.double(), dtype=tt.float32), RuntimeError, "narrowing"),
    (lambda: tt.linalg.cond(S, "x"), RuntimeError, "invalid norm type: x"),
    (lambda: tt.linalg.cond(R, 1), RuntimeError, "square matrices"),
    (lambda: tt.pca_lowrank(S, q=10), ValueError, "not greater than min"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_wrong_use_of_linalg_is_refused(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_modes_without_a_derivative_say_so() -> None:
    a = tt.ones(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="mode='r'"):
        tt.linalg.qr(a, "r").R.sum().backward()
    with pytest.raises(RuntimeError, match="nrows > ncols"):
        tt.linalg.qr(a, "complete").R.sum().backward()


def test_error_is_a_runtime_error_that_pickles_by_name() -> None:
    import pickle

    assert issubclass(tt.linalg.LinAlgError, RuntimeError)
    assert pickle.loads(pickle.dumps(tt.linalg.LinAlgError)) is tt.linalg.LinAlgError
