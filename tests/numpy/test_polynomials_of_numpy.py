"""Polynomials: NumPy's functions of coefficients, ``poly1d`` and ``numpy.polynomial``."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp

P, Q, MANY = [1.0, 3.0, 4.0, 7.0], [0, 1, 2, 3], [[1, 2], [3, 4], [5, 7], [7, 7]]
CALLS: list[Any] = [
    lambda lib: lib.polyadd([1, 2], [9, 5, 4.0]), lambda lib: lib.polysub(3, [1, 2]),
    lambda lib: lib.polymul([1, 2, 3], [9, 5]), lambda lib: lib.polymul(2, [1.5, 2]),
    lambda lib: lib.polydiv([3.0, 5, 2], [2.0, 1]), lambda lib: lib.polydiv([1, 2], [1, 2, 3]),
    lambda lib: lib.polydiv([1, 0, -1], [1, -1]), lambda lib: lib.polyval([3, 0, 1], 5),
    lambda lib: lib.polyval([3, 0.5, 1], [5, 2]), lambda lib: lib.polyval([], lib.zeros(2, int)),
    lambda lib: lib.polyval([1, 2], lib.ones((2, 2), "f4")),
    lambda lib: lib.polyval([1.0], lib.zeros(2, int)), lambda lib: lib.polyder([1, 1, 1, 1]),
    lambda lib: lib.polyder([1, 1, 1, 1], 2), lambda lib: lib.polyder([1.0], 2),
    lambda lib: lib.polyder([1, 2.0], 0), lambda lib: lib.polyint([3, 2, 1]),
    lambda lib: lib.polyint([1.0, 1, 1], 3), lambda lib: lib.polyint([1.0, 1, 1], 3, [6, 5, 3]),
    lambda lib: lib.polyint([1.0, 1], 2, 3), lambda lib: lib.poly([2, 3]),
    lambda lib: lib.poly([1j, -1j]), lambda lib: lib.poly([1j, 2]), lambda lib: lib.poly([]),
    lambda lib: lib.poly([[0, 1.0], [-1, 0]]), lambda lib: lib.poly(lib.array([1, 2], "f4")),
    lambda lib: lib.roots([1, -3, 2]), lambda lib: lib.roots([0, 1, 2, 3, 0, 0]),
    lambda lib: lib.roots([0, 0]), lambda lib: lib.roots([3]), lambda lib: lib.roots([1, 0]),
    lambda lib: lib.roots([1, 0, 1]), lambda lib: lib.polyfit(Q, P, 2),
    lambda lib: lib.polyfit(Q, MANY, 1), lambda lib: lib.polyfit(Q, P, 1, w=[1, 2, 1, 3]),
    lambda lib: lib.polyfit(Q, P, 1, cov=True), lambda lib: lib.polyfit(Q, P, 1, cov="unscaled"),
    lambda lib: lib.polyfit(Q, MANY, 1, cov=True), lambda lib: lib.polyfit(Q, P, 1, full=True),
    lambda lib: lib.polyfit([1.0, 1], [1.0, 2], 1, full=True), lambda lib: lib.polyfit(Q, P, 0),
    lambda lib: lib.polyfit(Q, MANY, 1, w=[1, 2, 3, 4.0], cov="unscaled"),
    lambda lib: lib.polyfit(lib.array(Q, "f4"), lib.array(P, "f4"), 1),
]  # fmt: skip


def assert_same_polynomials(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same_polynomials(a, b)
    elif isinstance(ours, float):
        assert ours == theirs
    elif isinstance(theirs, (np.ndarray, np.floating)):
        assert isinstance(ours, tnp.ndarray) and ours.dtype == theirs.dtype
        assert ours.backend.name == tt.get_backend()
        rtol = 1e-5 if theirs.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(tnp.asarray(ours).tolist(), theirs, rtol=rtol, atol=1e-14)
    elif isinstance(theirs, np.poly1d):
        assert isinstance(ours, tnp.poly1d) and str(ours) == str(theirs)
        assert repr(ours) == repr(theirs) and ours.variable == theirs.variable
    else:
        assert ours == theirs


@pytest.mark.parametrize("call", range(len(CALLS)))
def test_call_gives_what_numpys_does(call: int) -> None:
    assert_same_polynomials(CALLS[call](tnp), CALLS[call](np))


@pytest.mark.parametrize("call", [
    lambda lib: lib.polyder([1], -1), lambda lib: lib.polyint([1], -1),
    lambda lib: lib.polyint([1], 2, [1, 2, 3][:0]), lambda lib: lib.poly([[1, 2, 3]]),
    lambda lib: lib.roots([[1, 2], [3, 4]]), lambda lib: lib.polyfit([1, 2], [1], 1),
    lambda lib: lib.polyfit([1, 2], [1, 2], 1, cov=True), lambda lib: lib.polyfit([1], [1], -1),
    lambda lib: lib.polyfit([[1, 2]], [1, 2], 1), lambda lib: lib.polyfit([], [], 1),
    lambda lib: lib.polyfit([1, 2], [[[1]], [[2]]], 1), lambda lib: lib.poly1d([[1, 2]]),
    lambda lib: lib.polyfit([1, 2], [1, 2], 1, w=[[1, 2]]), lambda lib: lib.poly1d([1, 2]) ** -1,
    lambda lib: lib.polyfit([1, 2], [1, 2], 1, w=[1]),
    lambda lib: lib.poly1d([1]).__setitem__(-1, 2),
])  # fmt: skip
def test_error_is_of_numpys_type(call: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of poor conditions
        with pytest.raises((ValueError, TypeError)) as theirs:
            call(np)
        with pytest.raises(theirs.type):
            call(tnp)


def test_polyfit_warns_of_a_poor_condition() -> None:
    for lib in (np, tnp):
        with pytest.warns(np.exceptions.RankWarning):
            lib.polyfit([1.0, 1.0], [1.0, 2.0], 1)


GRADIENTS: list[Any] = [
    lambda c: tnp.polyval(c, [0.5, 2.0]), lambda c: tnp.polyval([1.0, 2.0, 3.0], c),
    lambda c: tnp.polyadd(c, [1.0, 2.0]) ** 2, lambda c: tnp.polysub([1.0], c) ** 2,
    lambda c: tnp.polymul(c, c), lambda c: tnp.polydiv(c, [2.0, 1.0])[0],
    lambda c: tnp.polydiv([1.0, 2.0, 5.0, 1.0], c)[1], lambda c: tnp.polyder(c, 2) ** 2,
    lambda c: tnp.polyint(c, 2, c[:2]), lambda c: tnp.poly(c), lambda c: tnp.roots(c).real,
    lambda c: tnp.polyfit(c, [1.0, 2.0, 4.0], 1), lambda c: tnp.polyfit([-1.0, 0, 1], c, 2),
    lambda c: tnp.polyfit([1.0, 2, 3], [1.0, 2, 4], 1, w=c, cov=True)[1],
    lambda c: (tnp.poly1d(c) * tnp.poly1d([1, 2]) - 3).coeffs, lambda c: tnp.poly1d(c)(0.5),
    lambda c: tnp.poly1d(c, r=True).deriv().integ().c, lambda c: tnp.poly1d(c)[1] ** 2,
    lambda c: (tnp.poly1d(c)(tnp.poly1d([1, 2])) / 2).coef, lambda c: (tnp.poly1d(c) ** 3).c,
]  # fmt: skip


@pytest.mark.parametrize("function", GRADIENTS)
@pytest.mark.parametrize("at", [[1.0, 2.0, 4.5], [-1.0, 0.5, 1.0], [2.0, 0.0, 1.0]])
def test_polynomial_functions_are_recorded_for_gradients(function: Any, at: list[float]) -> None:
    x = tt.tensor(at, dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(lambda c: tt.as_tensor(function(tnp.asarray(c))), [x])


def test_zeros_that_a_gradient_flows_to_are_not_dropped() -> None:
    def at_three(c: Any) -> Any:
        return tt.as_tensor(tnp.poly1d(tnp.asarray(c))(3.0))

    c = tt.tensor([0.0, 2.0, 1.0], dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(at_three, [c])
    with pytest.raises(RuntimeError, match="expected a first coefficient other than 0"):
        tnp.roots(tnp.asarray(c))


def test_the_gradient_of_least_squares_holds_where_singular_values_are_equal() -> None:
    def fitted(x: Any) -> Any:
        return tt.as_tensor(tnp.linalg.lstsq(tnp.asarray(x), tnp.asarray([1.0, 2.0, 4.0]))[0])

    square = tt.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(fitted, [square])


# -- poly1d --------------------------------------------------------------------------------------


def objects(lib: Any) -> list[Any]:
    p, q = lib.poly1d([1, 2, 3]), lib.poly1d([0, 0, 2.0, 1])
    found = [
        p, q, p + q, p - q, 2 - p, p + 1, 1 + p, p * q, 3 * p, p * 2, p / 2, p / q, p**3, -p, +p,
        p([1, 2]), p(q), p.deriv(), p.integ(), p.integ(2, [1, 2]), p.order, p.o, p.c, p.coeffs,
        p.coef, p.coefficients, p.r, p.roots, len(p), tuple(p.c), p == q, p != q, q / p,
        p == lib.poly1d([1, 2, 3]), lib.poly1d([1, 2], True), lib.poly1d([1, 2], variable="z"),
        lib.polyadd(p, [1]), lib.polyder(q), lib.roots(p), lib.polyint(p), lib.array(p),
        lib.polydiv(p, q), lib.polymul(q, q).deriv(m=2), lib.poly1d(p), lib.poly1d([0, 0]), p == 3,
        lib.polysub([1], q), lib.polyval(p, [1.0, 2.0]), lib.polyval([1, 2], p),
    ]  # fmt: skip
    p[4] = 7
    q[0] = 5
    return [*found, p, q, *map(int, (p[0], p[2], p[9], p(2)))]


def test_poly1d_objects_are_numpys() -> None:
    for ours, theirs in zip(objects(tnp), objects(np), strict=True):
        assert_same_polynomials(ours, theirs)


def test_object_is_taken_as_its_coefficients() -> None:
    p = tnp.poly1d([1, 2])
    assert np.asarray(p).tolist() == [1, 2] if tt.get_backend() == "numpy" else True
    assert tnp.sum(p) == 3 and list(p) == [1, 2]


# -- numpy.polynomial ----------------------------------------------------------------------------

KINDS = ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre")
X = np.linspace(0.1, 2, 9)


def series(lib: Any, kind: str) -> list[Any]:
    make = getattr(lib.polynomial, kind)
    p, q = make([1, 2.5, 3]), make([0.5, 1, 2, 4], domain=[0, 2])
    fitted = make.fit(lib.array(X), lib.exp(lib.array(X)), 3)
    each = [
        p, q, p + p, p - 1, 2 * p, p * p, q**2, p // make([1, 1]), p % make([1, 1]), -q, p.deriv(),
        q.deriv(2), q.integ(), q.integ(2, k=[1, 2], lbnd=1), fitted, fitted.convert(), p(p),
        make.basis(2), make.identity(), make.fromroots([1, 2]), q.trim(), q.truncate(2),
        q.cutdeg(1), q.copy(),
        p.convert(kind=lib.polynomial.Polynomial), divmod(q, q.cutdeg(1))[0],
    ]  # fmt: skip
    values = [
        p(0.5), q(lib.array(X)), p.coef, q.domain, q.window, p.roots(), q.linspace(4), q.degree(),
        q.mapparms(), p == p, p != p.copy(), q.has_samecoef(q), len(p), str(p), str(q),
        f"{q:ascii}", p._repr_latex_(), tuple(q.coef),
        make.fit(lib.array(X), lib.array(X), 1, full=True)[1][1],
    ]  # fmt: skip
    return [*values, *(part for c in each for part in (c.coef, repr(c), c.domain))]


@pytest.mark.parametrize("kind", KINDS)
def test_polynomial_series_are_numpys(kind: str) -> None:
    for ours, theirs in zip(series(tnp, kind), series(np, kind), strict=True):
        if isinstance(theirs, str) and "e-" in theirs:
            continue  # what is next to nothing differs in its digits
        assert_same_polynomials(constant(ours), theirs)


def constant(value: Any) -> Any:
    """An array; those that belong to no backend, such as a domain nobody gave, are NumPy's."""
    return tnp.asarray(value) if isinstance(value, np.ndarray) else value


FUNCTIONS: list[Any] = [
    lambda lib, p: lib.polyval(0.5, p), lambda lib, p: lib.polyfit(X, X**2, [0, 2]),
    lambda lib, p: lib.polyfit(X, X**2, 2, w=X), lambda lib, p: lib.polyroots([1, 2, 3]),
    lambda lib, p: lib.polyfromroots([1, 2]), lambda lib, p: lib.polyvander(X, 2),
    lambda lib, p: lib.polyval2d(X, X, np.ones((2, 2))), lambda lib, p: lib.polyadd(p, [1]),
    lambda lib, p: lib.polygrid2d(X, X, np.ones((2, 2))), lambda lib, p: lib.polydiv(p, [1, 1.0]),
    lambda lib, p: lib.polysub(p, [1]), lambda lib, p: lib.polymulx(p),
    lambda lib, p: lib.polymul(p, p), lambda lib, p: lib.polypow(p, 3),
    lambda lib, p: lib.polyder(p, 2), lambda lib, p: lib.polyint(p, 2, [1, 2]),
    lambda lib, p: lib.polycompanion(p), lambda lib, p: lib.polyline(1, 2),
    lambda lib, p: lib.polyvalfromroots(X, [1, 2]), lambda lib, p: lib.polytrim([1, 2, 0, 0]),
    lambda lib, p: lib.polyvander2d(X, X, [1, 2]), lambda lib, p: lib.polyone,
]  # fmt: skip


@pytest.mark.parametrize("function", range(len(FUNCTIONS)))
def test_functions_of_rising_powers_are_numpys(function: int) -> None:
    ours = FUNCTIONS[function](tnp.polynomial.polynomial, tnp.array([1.0, 2, 3]))
    theirs = FUNCTIONS[function](np.polynomial.polynomial, np.array([1.0, 2, 3]))
    assert_same_polynomials(constant(ours), theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [
    lambda kind, c: kind(c)(X), lambda kind, c: kind(c).deriv(2).coef,
    lambda kind, c: kind(c).integ(2, lbnd=1).coef, lambda kind, c: (kind(c) * kind(c)).coef,
    lambda kind, c: (kind(c) ** 3).coef, lambda kind, c: (kind(c) // kind([1, 1])).coef,
    lambda kind, c: kind(c).roots().real, lambda kind, c: kind.fit(X[:3], c, 2).coef,
    lambda kind, c: kind.fit(c, [1, 2, 4.0], 1).coef, lambda kind, c: kind([1, 2, 3])(c),
    lambda kind, c: (kind(c) - kind([1, 2])).coef, lambda kind, c: kind.fromroots(c).coef,
    lambda kind, c: kind(c).convert(domain=[0, 1]).coef,
])  # fmt: skip
def test_polynomial_series_are_recorded_for_gradients(kind: str, function: Any) -> None:
    make = getattr(tnp.polynomial, kind)
    x = tt.tensor([1.0, 2.0, 3.0], dtype=tt.float64, requires_grad=True)
    assert tt.autograd.gradcheck(lambda c: tt.as_tensor(function(make, tnp.asarray(c))), [x])


def test_series_are_equal_to_themselves_after_pickling() -> None:
    p = tnp.polynomial.Polynomial([1.0, 2.0])
    assert pickle.loads(pickle.dumps(p)) == p


def test_unknown_print_styles_of_series_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 'ascii' or 'unicode', got 'html'"):
        tnp.polynomial.set_default_printstyle("html")


def test_numpys_own_series_stay_numpys() -> None:
    assert tnp.polynomial.Polynomial is not np.polynomial.Polynomial
    assert isinstance(np.polynomial.Polynomial([1, 2]).coef, np.ndarray)
    assert isinstance(np.polynomial.chebyshev.chebval(0.5, [1, 2]), np.floating)
