"""Special functions beside SciPy and closed forms, and how they do without SciPy."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch import autograd

special: Any = tt.special
BESSEL = {
    "i0": "i0", "i0e": "i0e", "i1": "i1", "i1e": "i1e",
    "modified_bessel_i0": "i0", "modified_bessel_i1": "i1",
    "modified_bessel_k0": "k0", "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e",
    "scaled_modified_bessel_k1": "k1e", "gammaln": "gammaln", "psi": "psi", "erfcx": "erfcx",
    "ndtr": "ndtr", "log_ndtr": "log_ndtr", "erfinv": "erfinv", "ndtri": "ndtri", "entr": "entr",
}  # fmt: skip


def leaf(values: list[float]) -> tt.Tensor:
    return tt.tensor(values, dtype=tt.float64, requires_grad=True)


@pytest.mark.parametrize("name", BESSEL)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_functions_are_scipys(name: str, dtype: str) -> None:
    scipy = pytest.importorskip("scipy.special", reason="SciPy is the oracle")
    x = np.linspace(0.05, 0.95, 19) if name in ("erfinv", "ndtri") else np.linspace(0.1, 30, 40)
    got = getattr(special, name)(tt.tensor(x.astype(dtype)))
    assert str(got.numpy().dtype) == dtype
    wanted = getattr(scipy, BESSEL[name])(x.astype(dtype).astype("float64"))
    rtol, atol = (1e-12, 1e-15) if dtype == "float64" else (3e-6, 1e-7)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=rtol, atol=atol)


EDGES = [0.0, -0.0, 1e-310, 1e-6, 1e-5, 5.0, -5.0, math.inf, -math.inf, math.nan]
BELOW_5 = np.r_[np.linspace(-4.999, 4.999, 301), EDGES]
BEYOND_5 = np.r_[np.linspace(-90, -5.001, 301), np.linspace(5.001, 90, 301)]


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
@pytest.mark.parametrize("points", [BELOW_5, BEYOND_5], ids=["below 5", "beyond 5"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bessel_functions_are_torchs(torch: Any, name: str, points: Any, dtype: str) -> None:
    x = points.astype(dtype)
    got = getattr(special, f"bessel_{name}")(tt.tensor(x)).numpy()
    wanted = getattr(torch.special, f"bessel_{name}")(torch.tensor(x)).numpy()
    assert got.dtype == wanted.dtype
    rtol, atol = (1e-12, 1e-14) if dtype == "float64" else (1e-5, 1e-6)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_bessel_functions_are_near_scipys(name: str) -> None:
    scipy = pytest.importorskip("scipy.special", reason="SciPy is the oracle")
    for points, bound in [(BELOW_5, 2e-8), (BEYOND_5, 1e-6), (np.linspace(20, 90), 5e-14)]:
        got = getattr(special, f"bessel_{name}")(tt.tensor(points)).numpy()
        np.testing.assert_allclose(got, getattr(scipy, name)(points), rtol=1e-9, atol=bound)


@pytest.mark.parametrize("dtype", [tt.float16, tt.float32])
def test_trigamma_in_float32_has_the_known_values(dtype: Any) -> None:
    catalan, square = 0.915965594177219, math.pi**2
    points = [1.0, 0.5, 0.25, 2.0, -0.5, -1.5, 0.0, -1.0, -7.0, math.inf]
    known = [
        square / 6, square / 2, square + 8 * catalan, square / 6 - 1, square / 2 + 4,
        square / 2 + 4 + 4 / 9, math.inf, math.inf, math.inf, 0,
    ]  # fmt: skip
    found = tt.polygamma(1, tt.tensor(points, dtype=dtype))
    assert found.dtype is dtype
    limit = 1e-3 if dtype is tt.float16 else 1e-6
    np.testing.assert_allclose(found.tolist(), known, rtol=limit)


def test_polygamma_writes_to_out_and_in_place() -> None:
    x, out = tt.tensor([1.0, 0.5]), tt.empty(2)
    assert tt.polygamma(1, x, out=out) is out
    np.testing.assert_allclose(out.tolist(), [math.pi**2 / 6, math.pi**2 / 2], rtol=1e-6)
    assert x.polygamma_(1) is x and x.tolist() == out.tolist()
    assert tt.Tensor.polygamma.__qualname__ == "Tensor.polygamma"


def test_trigamma_in_single_precision_beside_pytorch(torch: Any) -> None:
    x = np.linspace(-6.3, 40, 20001, dtype="float32")
    x = x[np.abs(x - np.round(x)) > 1e-4]
    expected = torch.polygamma(1, torch.tensor(x)).numpy()
    np.testing.assert_allclose(tt.polygamma(1, tt.tensor(x)).numpy(), expected, rtol=2e-6)


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 2e-6), ("float64", 1e-13)])
def test_derivatives_of_lgamma_near_their_poles(dtype: str, limit: float) -> None:
    """In float32 trigamma may be that of the number half a digit further, as PyTorch's is."""
    scipy = pytest.importorskip("scipy.special", reason="SciPy is the oracle, right of 1/2")
    x = np.concatenate([np.linspace(-6.3, 0.5, 6801), -3 + np.logspace(-6, -1), [-1e5 - 0.25]])
    x = x[x != np.round(x)].astype(dtype)
    x = x[x != np.round(x)]
    wide, part = x.astype("float64"), np.pi * (x - np.round(x)).astype("float64")
    second = (np.pi / np.sin(part)) ** 2 - scipy.polygamma(1, 1 - wide)
    found = tt.polygamma(1, tt.tensor(x)).numpy()
    digit = np.spacing(np.abs(x)) / np.abs(x - np.round(x)) if dtype == "float32" else 0
    assert (np.abs(found - second) <= (limit + 2 * digit) * second).all()
    first = scipy.digamma(1 - wide) - np.pi / np.tan(part)
    np.testing.assert_allclose(tt.digamma(tt.tensor(x)).numpy(), first, rtol=limit, atol=limit)


def test_gamma_functions_have_the_known_values() -> None:
    pytest.importorskip("scipy", reason="SciPy has the functions")
    x = tt.tensor([1.0, 0.5, 0.0, -1.0, -math.inf], dtype=tt.float64)
    np.testing.assert_allclose(
        tt.lgamma(x).tolist(), [0, math.log(math.sqrt(math.pi)), math.inf, math.inf, math.inf]
    )
    tiny = tt.tensor([1e-310, -5e-324], dtype=tt.float64)
    np.testing.assert_allclose(tt.lgamma(tiny).tolist(), [-math.log(1e-310), -math.log(5e-324)])
    euler = 0.5772156649015329
    np.testing.assert_allclose(tt.digamma(x[:2]).tolist(), [-euler, -euler - 2 * math.log(2)])
    zeros = tt.tensor([0.0, -0.0], dtype=tt.float64)
    assert tt.digamma(zeros).tolist() == [-math.inf, math.inf]
    np.testing.assert_allclose(tt.polygamma(1, x[:2]).tolist(), [math.pi**2 / 6, math.pi**2 / 2])
    np.testing.assert_allclose(x[:1].polygamma(2).item(), -2 * 1.2020569031595942)
    np.testing.assert_allclose(special.zeta(x[:1] * 2, 1.0).item(), math.pi**2 / 6)
    # P(1, x) = 1 - exp(-x)
    a, b = tt.ones(2, dtype=tt.float64), tt.tensor([0.5, 2.0], dtype=tt.float64)
    np.testing.assert_allclose(tt.igamma(a, b).tolist(), -np.expm1([-0.5, -2.0]))
    np.testing.assert_allclose(tt.igammac(a, b).tolist(), np.exp([-0.5, -2.0]))


def test_multigammaln_is_a_sum_of_lgamma() -> None:
    pytest.importorskip("scipy", reason="SciPy has the functions")
    x = tt.tensor([2.5, 4.0], dtype=tt.float64)
    wanted = 0.5 * math.log(math.pi) + tt.lgamma(x) + tt.lgamma(x - 0.5)
    np.testing.assert_allclose(tt.mvlgamma(x, 2).numpy(), wanted.numpy())
    assert x.clone().mvlgamma_(2).tolist() == tt.mvlgamma(x, 2).tolist()
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        tt.mvlgamma(x, 0)


@pytest.mark.parametrize(
    "f",
    [
        tt.lgamma, tt.digamma, lambda x: tt.polygamma(2, x), lambda x: tt.mvlgamma(x + 1, 2),
        lambda x: tt.igamma(tt.ones_like(x) * 1.5, x), lambda x: tt.igammac(tt.ones_like(x), x),
        lambda x: special.zeta(2.5, x), special.i0, special.i0e, special.i1, special.i1e,
    ],
)  # fmt: skip
def test_special_functions_have_first_and_second_derivatives(f: Any) -> None:
    pytest.importorskip("scipy", reason="SciPy has the functions")
    x = leaf([0.4, 1.3, 2.7])
    assert autograd.gradcheck(f, (x,))
    assert autograd.gradgradcheck(f, (x,))


def test_slopes_of_bessel_functions_at_0() -> None:
    pytest.importorskip("scipy", reason="SciPy has the functions")
    x = leaf([0.0])
    slopes = [autograd.grad(f(x), x)[0].item() for f in (special.i0, special.i1, special.i1e)]
    assert slopes == [0.0, 0.5, 0.5]


def test_spherical_bessel_and_airy_edges() -> None:
    x = tt.tensor([0.0, math.inf, 2.0], dtype=tt.float64)
    wanted = [1.0, 0.0, pytest.approx(math.sin(2.0) / 2, 1e-15)]
    assert special.spherical_bessel_j0(x).tolist() == wanted
    assert special.entr(tt.tensor([0.0, -1.0])).tolist() == [0.0, -math.inf]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_airy_goes_on_where_scipy_stops(dtype: str) -> None:
    scipy = pytest.importorskip("scipy.special", reason="SciPy is the oracle")
    # Both sides of -1e6, below which the asymptotic series is used.
    x = -np.geomspace(9.5e5, 1.03e6, 20).astype(dtype)
    wanted = scipy.airy(x.astype("float64"))[0]
    np.testing.assert_allclose(special.airy_ai(tt.tensor(x)).numpy(), wanted, atol=1e-8)
    # SciPy returns NaN here; the bound is the amplitude of the oscillation.
    far = np.array([-1e7, -1e9, -1e20], dtype)
    found = special.airy_ai(tt.tensor(far)).numpy()
    assert (np.abs(found) <= 1 / np.sqrt(np.pi * np.sqrt(-far))).all()


# -- orthogonal polynomials ----------------------------------------------------------------------

X = np.linspace(-1.4, 1.4, 15)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 9])
def test_orthogonal_polynomials_are_numpys(n: int) -> None:
    one = np.zeros(n + 1)
    one[n] = 1.0
    x = tt.tensor(X)
    for name, wanted in {
        "chebyshev_polynomial_t": np.polynomial.chebyshev.chebval(X, one),
        "hermite_polynomial_h": np.polynomial.hermite.hermval(X, one),
        "hermite_polynomial_he": np.polynomial.hermite_e.hermeval(X, one),
        "laguerre_polynomial_l": np.polynomial.laguerre.lagval(X, one),
        "legendre_polynomial_p": np.polynomial.legendre.legval(X, one),
    }.items():
        np.testing.assert_allclose(getattr(special, name)(x, n).numpy(), wanted, atol=1e-11)
        degrees = tt.full((15,), n, dtype=tt.float64)
        np.testing.assert_allclose(getattr(special, name)(x, degrees).numpy(), wanted, atol=1e-11)


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_chebyshev_polynomials_equal_their_trigonometric_formulas(n: int) -> None:
    t = np.linspace(0.2, 3.0, 9)
    x = tt.tensor(np.cos(t))
    half = t / 2
    for name, wanted in {
        "chebyshev_polynomial_u": np.sin((n + 1) * t) / np.sin(t),
        "chebyshev_polynomial_v": np.cos((2 * n + 1) * half) / np.cos(half),
        "chebyshev_polynomial_w": np.sin((2 * n + 1) * half) / np.sin(half),
    }.items():
        np.testing.assert_allclose(getattr(special, name)(x, n).numpy(), wanted, atol=1e-12)
        shifted = getattr(special, f"shifted_{name}")((x + 1) / 2, n)
        np.testing.assert_allclose(shifted.numpy(), wanted, atol=1e-12)


POLYNOMIALS = """
chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p
shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w
""".split()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_large_degrees_are_pytorchs(torch: Any, name: str) -> None:
    """A degree that recurrences would take hours for is found at once where PyTorch finds it."""
    x = np.array([-3, -1.0001, -1, -0.99999, -0.3, 0, 0.1, 0.999999, 1, 1.00001, 2.5])
    largest = 2000 if name[:2] in ("la", "le") else 1_000_000_001
    for n in (6, 7, 8, 9, 50, 51, 127, 129, 513, largest - 1, largest, math.inf):
        theirs = getattr(torch.special, name)(torch.tensor(x), n).numpy()
        degrees = tt.full((len(x),), n, dtype=tt.float64)
        # Angles have float64's precision, and are multiplied by the degree.
        tolerance = 1e-11 if math.isinf(n) else max(1e-11, 1e-12 * n)
        for degree in (n, degrees):
            ours = getattr(special, name)(tt.tensor(x), degree).cpu().numpy()
            there = np.isfinite(theirs)
            assert not np.isfinite(ours[~there]).any()  # too large: -inf, where PyTorch has NaN
            np.testing.assert_allclose(ours[there], theirs[there], rtol=tolerance, atol=tolerance)


def test_degrees_may_differ_be_negative_or_no_numbers() -> None:
    x = tt.full((5,), 2.0, dtype=tt.float64)
    n = tt.tensor([-1.0, 0.0, 1.0, 2.9, math.nan], dtype=tt.float64)
    assert special.chebyshev_polynomial_t(x, n).tolist() == [0.0, 1.0, 2.0, 7.0, 0.0]
    assert special.hermite_polynomial_h(x, 600).isnan().all()
    assert special.legendre_polynomial_p(tt.tensor([1, 2]), 1).dtype is tt.float32


@pytest.mark.parametrize("name", ["laguerre_polynomial_l", "legendre_polynomial_p"])
def test_degrees_that_no_int64_holds_take_no_time(name: str) -> None:
    function = getattr(special, name)
    x = tt.tensor([0.5, 2.0])
    assert function(x, 1e30).isnan().all()
    mixed = function(x, tt.tensor([1e30, 3.0]))
    assert mixed[0].isnan() and mixed[1] == function(x, 3)[1]


# -- without SciPy -------------------------------------------------------------------------------


def test_error_functions_do_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    if tt.get_backend() == "numpy":
        monkeypatch.setitem(sys.modules, "scipy", None)
    x = tt.tensor([0.3], dtype=tt.float64)
    np.testing.assert_allclose(tt.erf(x).item(), math.erf(0.3), rtol=1e-15)
    np.testing.assert_allclose(tt.nn.functional.gelu(x).item(), 0.18537, rtol=1e-4)
    assert abs(special.ndtri(special.ndtr(x)).item() - 0.3) < 1e-14
