"""Functions of one tensor, element by element: values, edges, gradients, dtypes, layouts."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import elements_to_compare
from tinytorch import autograd

INF, NAN = math.inf, math.nan
F = tt.nn.functional

#: Points inside each function's domain, away from kinks and poles.
EVERYWHERE = [-2.3, -0.7, 0.4, 1.6]
POSITIVE = [0.3, 0.9, 2.2]
UNIT = [-0.8, -0.2, 0.5]
DOMAINS: dict[str, list[float]] = {
    **dict.fromkeys(
        "abs asinh atan cos cosh deg2rad erf erfc exp exp2 expm1 frac i0 neg rad2deg sgn sigmoid "
        "sin sinc sinh square tan tanh angle nan_to_num positive digamma lgamma reciprocal "
        "special.erfcx special.i0e special.i1 special.i1e special.log_ndtr special.ndtr "
        "nn.functional.celu nn.functional.elu nn.functional.gelu nn.functional.hardshrink "
        "nn.functional.hardsigmoid nn.functional.hardswish nn.functional.hardtanh "
        "nn.functional.leaky_relu nn.functional.logsigmoid nn.functional.mish nn.functional.relu "
        "nn.functional.relu6 nn.functional.selu nn.functional.silu nn.functional.softplus "
        "nn.functional.softshrink nn.functional.softsign nn.functional.tanhshrink".split(),
        EVERYWHERE,
    ),
    **dict.fromkeys("ceil floor round sign trunc".split(), EVERYWHERE),
    **dict.fromkeys("log log10 log1p log2 rsqrt sqrt special.entr".split(), POSITIVE),
    **dict.fromkeys("acos asin atanh erfinv".split(), UNIT),
    "acosh": [1.3, 2.0, 5.0],
    "logit": [0.2, 0.5, 0.9],
    "special.ndtri": [0.2, 0.5, 0.9],
}
#: Those that take complex numbers.
COMPLEX = (
    "abs acos acosh angle asin asinh atan atanh cos cosh exp exp2 log log10 log2 neg "
    "reciprocal rsqrt sgn sigmoid sin sinc sinh sqrt square tan tanh expm1 log1p "
    "nn.functional.softsign nn.functional.silu"
).split()
#: Those that need SciPy.
SCIPY = ("digamma", "lgamma", "i0", "special.i0e", "special.i1", "special.i1e")
#: Where every function is compared with torch's, signs of zero and infinities included.
EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, -2.0, 3.0, -3.0, 1e-30, -1e-30,
    30.0, -30.0, 100.0, -100.0, 800.0, -800.0, INF, -INF, NAN,
]  # fmt: skip
#: Where torch itself is off: in its own accuracy, or NaN that it takes for 0.
TORCH_IS_OFF = {
    "nn.functional.gelu": [INF],
    "i0": [INF, -INF],
    "special.i1": [INF, -INF],
}
#: Where the larger or smaller of 0 and -0 may be either.
EITHER_ZERO = [f"nn.functional.{n}" for n in "relu relu6 elu celu selu".split()]
EITHER_ZERO += ["special.ndtri", "erfinv"]
EITHER_ZERO += ["nn.functional.gelu"]  # float32: -0 on processors with AVX-512, 0 on others
PREDICATES = "isfinite isinf isnan isneginf isposinf isreal signbit logical_not".split()


def find(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def function(name: str) -> Any:
    if name in SCIPY:
        pytest.importorskip("scipy", reason="SciPy has the function")
    return find(tt, name)


def sample(values: list[Any], dtype: Any = None, grad: bool = False) -> tt.Tensor:
    return tt.tensor(values, dtype=dtype or tt.float64, requires_grad=grad)


@pytest.mark.parametrize("name", [*DOMAINS, *PREDICATES])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_elementwise_functions_of_edge_values_are_pytorchs(
    torch: Any, name: str, dtype: str
) -> None:
    points = np.array([v for v in EDGES if not _among(v, TORCH_IS_OFF.get(name, []))], dtype)
    wanted = find(torch, name)(torch.tensor(points)).numpy()
    got = function(name)(tt.tensor(points)).numpy()
    assert got.dtype == wanted.dtype
    rtol = 1e-11 if dtype == "float64" else 3e-6
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-30 if rtol < 1e-6 else 6e-7)
    if got.dtype.kind == "f" and name not in EITHER_ZERO:
        zero = (got == 0) & (wanted == 0)
        assert (np.signbit(got[zero]) == np.signbit(wanted[zero])).all()


def _among(value: float, values: list[float]) -> bool:
    return any(value == v or (math.isnan(value) and math.isnan(v)) for v in values)


@pytest.mark.parametrize("name", DOMAINS)
def test_elementwise_functions_have_first_and_second_derivatives(name: str) -> None:
    x = sample(DOMAINS[name], grad=True)
    f = function(name)
    assert autograd.gradcheck(f, (x,))
    assert autograd.gradgradcheck(f, (x,))


@pytest.mark.parametrize("name", COMPLEX)
def test_elementwise_functions_of_complex_numbers_have_derivatives(torch: Any, name: str) -> None:
    z = sample([0.4 + 0.7j, -1.2 + 0.3j, 0.6 - 1.1j], tt.complex128, grad=True)
    f = function(name)
    assert autograd.gradcheck(f, (z,))
    assert autograd.gradgradcheck(f, (z,))
    twin = torch.tensor(z.detach().numpy())
    np.testing.assert_allclose(f(z).detach().numpy(), find(torch, name)(twin).numpy(), rtol=1e-11)


@pytest.mark.parametrize("name", DOMAINS)
def test_float32_stays_float32_and_layout_does_not_matter(name: str) -> None:
    f = function(name)
    points = np.array(DOMAINS[name], np.float32)
    flat = f(tt.tensor(points))
    assert flat.dtype is tt.float32
    table = dict(zip(points.tolist(), flat.tolist(), strict=True))
    grid = np.stack([points, points[::-1]])
    for array in (grid.T, grid[:, ::-1], grid[:, None], grid[:0], points[:1].reshape(())):
        got = f(tt.from_numpy(array))
        assert got.shape == array.shape
        wanted = [table[v] for v in array.reshape(-1).tolist()]
        np.testing.assert_allclose(got.numpy().reshape(-1), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "name", [n for n in DOMAINS if "." not in n and hasattr(tt.Tensor, f"{n}_")]
)
def test_in_place_form_is_the_same_function(name: str) -> None:
    x = sample(DOMAINS[name])
    same_memory = x[:]
    wanted = function(name)(x).tolist()
    assert find(x, f"{name}_")() is x
    assert x.tolist() == same_memory.tolist() == wanted


@pytest.mark.parametrize("name", ["sin", "exp", "sqrt", "erf", "sigmoid", "reciprocal", "rad2deg"])
def test_integers_give_the_default_dtype(name: str) -> None:
    for dtype in (tt.int64, tt.uint8, tt.bool):
        assert function(name)(tt.ones(2, dtype=dtype)).dtype is tt.float32
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type Long"):
        find(tt.ones(2, dtype=tt.int64), f"{name}_")()


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round", "neg", "abs", "sgn", "square"])
def test_rounding_functions_of_integers_return_integers(name: str) -> None:
    assert function(name)(tt.tensor([-2, 3])).dtype is tt.int64


# -- edges by name -------------------------------------------------------------------------------


def slope(f: Any, *values: float) -> list[float]:
    x = sample(list(values), grad=True)
    (g,) = autograd.grad(f(x).sum(), x)
    return g.tolist()  # type: ignore[no-any-return]


def test_slopes_at_kinks_are_pytorchs() -> None:
    assert slope(tt.relu, 0.0) == [0.0]
    assert slope(tt.abs, 0.0) == [0.0]
    assert slope(F.leaky_relu, 0.0) == [0.01]
    assert slope(F.relu6, 0.0, 6.0) == [0.0, 0.0]
    assert slope(F.hardtanh, -1.0, 1.0) == [0.0, 0.0]
    assert slope(lambda x: x.clamp(-1, 1), -1.0, 1.0, 1.5) == [1.0, 1.0, 0.0]
    assert slope(tt.sqrt, 0.0) == [INF]
    assert slope(tt.sinc, 0.0) == [0.0]
    assert slope(lambda x: x.nan_to_num(), NAN, INF, 2.0) == [0.0, 0.0, 1.0]


def test_an_infinite_gradient_does_not_pass_where_the_slope_is_0() -> None:
    # sqrt(relu(x)) and sqrt(clamp(x)): the inner slope 0 wins over the outer inf.
    assert slope(lambda x: tt.sqrt(tt.relu(x)), -1.0) == [0.0]
    assert slope(lambda x: tt.sqrt(x.clamp(min=0)), -1.0) == [0.0]
    many = slope(lambda x: tt.sqrt(tt.relu(x)), *[-1.0] * 5000)
    assert many == [0.0] * 5000


def test_sigmoid_and_its_logarithm_far_out() -> None:
    x = sample([1000.0, -1000.0])
    assert tt.sigmoid(x).tolist() == [1.0, 0.0]
    assert F.logsigmoid(x).tolist() == [0.0, -1000.0]
    assert slope(F.logsigmoid, 1000.0, -1000.0) == [0.0, 1.0]
    assert slope(F.softplus, 1000.0, -1000.0) == [1.0, 0.0]


def test_exponentials_do_not_cancel_near_0() -> None:
    x = sample([1e-18])
    # CUDA's functions are off by units in the last place.
    rounding = 1e-15 if tt.get_backend() == "cupy" else 0
    assert tt.expm1(x).item() == pytest.approx(1e-18, rounding, 0)
    assert tt.log1p(x).item() == pytest.approx(1e-18, rounding, 0)
    assert F.elu(-x).item() == pytest.approx(-1e-18, rounding, 0)


def test_sinc_near_0_has_no_cancellation() -> None:
    # sinc'(x) = -pi^2 x / 3 + O(x^3)
    for x in (1e-8, 1e-4):
        np.testing.assert_allclose(slope(tt.sinc, x), [-(math.pi**2) * x / 3], rtol=1e-6)


@pytest.mark.parametrize("x", [0.1, 0.46875, 0.5, 2.0, 4.0, 4.1, 10.0, 26.0])
def test_error_function_is_pythons(x: float) -> None:
    np.testing.assert_allclose(tt.erf(sample([x, -x])).tolist(), [math.erf(x), -math.erf(x)], 1e-15)
    complements = tt.erfc(sample([x, -x])).tolist()
    np.testing.assert_allclose(complements, [math.erfc(x), math.erfc(-x)], 2e-15)
    np.testing.assert_allclose(tt.erf(sample([x], tt.float32)).item(), math.erf(x), rtol=5e-7)


def test_complement_of_the_error_function_keeps_its_digits_in_float32() -> None:
    x = np.linspace(-5, 9.1, 1001, dtype="float32")
    exact = [math.erfc(v) for v in x.tolist()]
    np.testing.assert_allclose(tt.erfc(tt.tensor(x)).tolist(), exact, rtol=1e-6)
    edges = tt.erfc(sample([INF, -INF, 11.0, -11.0, 0.0, -0.0, math.nan], tt.float32)).tolist()
    np.testing.assert_array_equal(edges, [0, 2, 0, 2, 1, 1, math.nan])


def test_inverse_of_the_error_function_in_float32() -> None:
    # Up to the neighbour of 1; what x itself is rounded by moves the inverse more and more.
    x = np.concatenate([np.linspace(-0.99, 0.99, 199), 1 - np.logspace(-7.2, -2, 53)])
    x = x.astype("float32")
    found = tt.erfinv(tt.tensor(x)).numpy().astype("float64")
    middle = abs(x) < 0.5
    back = np.vectorize(math.erf)(found[middle])
    np.testing.assert_allclose(back, x[middle], rtol=1e-6, atol=1e-12)
    tail = np.vectorize(math.erfc)(abs(found[~middle]))
    # d log(erfc(y)) is nearly -2 y^2 d log(y), and y is below 4.
    np.testing.assert_allclose(tail, 1 - abs(x[~middle].astype("float64")), rtol=2e-5)
    edges = tt.erfinv(sample([1.0, -1.0, 1.1, math.nan, 0.0], tt.float32)).tolist()
    np.testing.assert_array_equal(edges, [INF, -INF, math.nan, math.nan, 0])


def test_gelu_and_its_slope_in_float32() -> None:
    x = np.concatenate([np.linspace(-9, 9, 1001), [-40, -1e30, 40, 1e30]]).astype(np.float32)
    probability = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x.astype(float)])
    density = np.exp(-(x.astype(float) ** 2) / 2) / math.sqrt(2 * math.pi)
    leaf = tt.tensor(x, requires_grad=True)
    out = F.gelu(leaf)
    np.testing.assert_allclose(out.detach().numpy(), x * probability, rtol=3e-7, atol=2e-7)
    (slope,) = autograd.grad(out.sum(), leaf)
    np.testing.assert_allclose(slope.numpy(), probability + x * density, rtol=3e-7, atol=3e-7)


@pytest.mark.parametrize(
    ("name", "limit"),
    [("log1p", 5e-7), ("expm1", 5e-7), ("cosh", 4e-7), ("sinh", 6e-7), ("tan", 5e-7),
     ("atanh", 6e-7)],
)  # fmt: skip
def test_elementwise_functions_of_large_float32_tensors_are_precise(
    name: str, limit: float
) -> None:
    """Of which there are other kernels for some processors."""
    sizes = np.concatenate([np.logspace(-38, 38, 2000), np.linspace(0, 90, 2000), [INF, 0, 1e-45]])
    x = np.concatenate([sizes, -sizes]).astype(np.float32)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        single = exact.astype(np.float32)
    found = getattr(tt, name)(tt.tensor(x)).numpy()
    finite = np.isfinite(single)
    np.testing.assert_array_equal(found[~finite], single[~finite])
    smallest = 1.5e-45 if name == "expm1" else 1e-45  # which expm1 may halve to 0
    some = finite & elements_to_compare(x, single)
    np.testing.assert_allclose(found[some], exact[some], rtol=limit, atol=smallest)
    np.testing.assert_array_equal(np.signbit(found[finite]), np.signbit(exact[finite]))
    rows = tt.tensor(x).expand(2, -1).t()
    np.testing.assert_array_equal(getattr(tt, name)(rows)[:, 1].numpy(), found)
    few = np.where(abs(x) < 0.9, x, NAN).astype(np.float32)
    found = getattr(tt, name)(tt.tensor(few)).numpy()
    np.testing.assert_array_equal(np.isnan(found), np.isnan(few))


BOUNDED: list[tuple[Callable[[Any], Any], list[float]]] = [
    (lambda x: x.clamp(0, 6), [-0.0, 0.0, NAN, 6.0, 0.0, 0.5, 6.0]),
    (lambda x: x.relu(), [-0.0, 0.0, NAN, INF, 0.0, 0.5, 7.0]),
    (lambda x: x.clamp(max=0), [-0.0, 0.0, NAN, 0.0, -INF, 0.0, 0.0]),
    (lambda x: x.clamp(3, 1), [1.0, 1.0, NAN, 1.0, 1.0, 1.0, 1.0]),
    (lambda x: x.clamp(0, NAN), [NAN] * 7),
]


def bounded() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What there is, and what is wanted, of large tensors kept between bounds."""
    x = tt.tensor([-0.0, 0.0, NAN, INF, -INF, 0.5, 7.0] * 4096)
    for function, expected in BOUNDED:
        yield function(x).numpy(), np.array(expected * 4096, np.float32)


def test_clamped_large_tensors_equal_numpys() -> None:
    for found, wanted in bounded():
        np.testing.assert_array_equal(found, wanted)


def test_bounds_of_large_tensors_keep_the_signs_of_zeros() -> None:
    for found, wanted in bounded():
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(wanted[known]))


def test_log1p_of_small_complex_numbers_keeps_its_digits() -> None:
    # The series of log(1 + z), whose third term is below the last digit; -2e-10 cancels y^2 / 2.
    small = [1e-19, 1e-19 + 1e-19j, 1e-10 + 1e-12j, -1e-9 + 2e-7j, 1e-7j, 0]
    exact = [complex(z.real + (z.imag**2 - z.real**2) / 2, z.imag * (1 - z.real))
             for z in map(complex, small)]  # fmt: skip
    found = tt.log1p(sample(small, tt.complex128)).numpy()
    np.testing.assert_allclose(found.real, np.real(exact), rtol=1e-12)
    np.testing.assert_allclose(found.imag, np.imag(exact), rtol=1e-12)
    edges = tt.log1p(sample([-1, INF, 3 - 0.0j, complex(INF, 1), 0.4 - 0.3j], tt.complex128))
    wanted = [-INF, INF, math.log(4), INF, cmath.log(1.4 - 0.3j)]
    np.testing.assert_allclose(edges.numpy(), wanted, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in DOMAINS for dtype in ("float32", "float64")]
    + [(name, dtype) for name in COMPLEX for dtype in ("complex64", "complex128")],
)
def test_a_tensor_of_no_dimensions_is_one_of_its_elements(name: str, dtype: str) -> None:
    turn = 1 + 0.5j if dtype.startswith("complex") else 1.0
    values = (np.array(DOMAINS[name]) * turn).astype(dtype)
    f, rounding = function(name), 1e-6 if dtype in ("float32", "complex64") else 1e-14
    for value, wanted in zip(values, f(tt.tensor(values)).numpy(), strict=True):
        found = f(tt.tensor(value))
        assert found.shape == () and found.numpy().dtype == wanted.dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=rounding, atol=1e-30)


def test_complex_roots_have_no_rounded_angle() -> None:
    z = [-2 + 0j, complex(-2, -0.0), -2 + 1e-8j, 3 - 4j, 0j]
    for dtype, rounding in ((tt.complex64, 1e-6), (tt.complex128, 1e-15)):
        found = (sample(z, dtype) ** 0.5).numpy()
        for part in (np.real, np.imag):
            np.testing.assert_allclose(part(found), part(list(map(cmath.sqrt, z))), rtol=rounding)


def test_log1p_tells_the_sides_of_its_cut() -> None:
    cut = tt.tensor([complex(-2, -0.0), complex(-2, 0.0), complex(-30, -0.0), complex(0.25, -0.0)])
    wanted = [-1j * math.pi, 1j * math.pi, complex(math.log(29), -math.pi), math.log(1.25)]
    found = tt.log1p(cut).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert np.signbit(found.imag).tolist() == [True, False, True, True]


def test_inverse_of_the_error_function_inverts_it() -> None:
    x = np.concatenate([np.linspace(-0.999, 0.999, 101), 1 - np.logspace(-15, -3, 13)])
    back = tt.erf(tt.erfinv(tt.tensor(x))).numpy()
    # CUDA's erfinv and erf are off by up to five and two units in the last place.
    np.testing.assert_allclose(back, x, rtol=2e-15, atol=1e-16)
    assert tt.erfinv(sample([1.0, -1.0, 1.1])).isnan().tolist() == [False, False, True]


def test_normal_quantiles_in_the_tails() -> None:
    p = np.logspace(-300, -1, 40)
    x = tt.special.ndtri(tt.tensor(p))
    np.testing.assert_allclose(tt.special.log_ndtr(x).numpy(), np.log(p), rtol=1e-13)
    assert tt.special.ndtri(sample([0.0, 1.0])).tolist() == [-INF, INF]


def test_round_rounds_halves_to_even() -> None:
    assert tt.round(sample([0.5, 1.5, 2.5, -0.5])).tolist() == [0.0, 2.0, 2.0, -0.0]
    assert tt.round(sample([1234.567]), decimals=-2).tolist() == [1200.0]
    assert tt.round(sample([1234.567]), decimals=1).tolist() == [1234.6]


def test_frexp_puts_a_number_together_again() -> None:
    x = sample([6.0, -0.1, 0.0], grad=True)
    mantissa, exponent = tt.frexp(x)
    assert exponent.dtype is tt.int32
    assert tt.ldexp(mantissa.detach(), exponent).tolist() == x.tolist()
    (g,) = autograd.grad(mantissa.sum(), x)
    np.testing.assert_allclose(g.tolist(), [1 / 8, 1 / 2**-3, 1.0])


def test_nan_to_num_replaces_nan_and_infinities() -> None:
    x = sample([NAN, INF, -INF, 1.0], tt.float32)
    limit = tt.finfo(tt.float32).max
    assert x.nan_to_num().tolist() == [0.0, limit, -limit, 1.0]
    assert x.nan_to_num(nan=2, posinf=3, neginf=4).tolist() == [2.0, 3.0, 4.0, 1.0]


def test_complex_parts_are_views() -> None:
    z = sample([1 + 2j, 3 + 4j], tt.complex128)
    z.real[0] = 9.0
    z.imag.mul_(2)
    tt.view_as_real(z)[1, 0] = 7.0
    assert z.tolist() == [9 + 4j, 7 + 8j]
    pairs = sample([[1.0, 2.0]])
    tt.view_as_complex(pairs).mul_(1j)
    assert pairs.tolist() == [[-2.0, 1.0]]


def test_gradients_flow_through_real_and_imaginary_parts() -> None:
    z = sample([1 + 2j, -0.5 + 0.3j], tt.complex128, grad=True)
    x = sample([0.3, 1.2], grad=True)
    assert autograd.gradcheck(lambda z: z.real * z.imag**2, (z,))
    assert autograd.gradcheck(lambda z: tt.view_as_real(z).sin(), (z,))
    assert autograd.gradcheck(lambda x: tt.complex(x, 2 * x) ** 2, (x,))
    assert autograd.gradgradcheck(tt.polar, (x, 2 * x.detach().requires_grad_()))
    assert autograd.gradcheck(lambda x: tt.view_as_complex(tt.stack((x, x * x), -1)), (x,))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_number_need_not_fit_the_dtype_it_scales(dtype: str) -> None:
    values = np.array([1000.0, -3.0, 0.0, math.inf], dtype)
    x = tt.tensor(values)
    scaled = (values.astype("float64") * 1e-8).astype(dtype)
    products = [x * 1e-8, 1e-8 * x, x.mul(1e-8), x.clone().mul_(1e-8)]
    for got in (*products, x / 1e8, x.clone().div_(1e8)):
        assert got.dtype is x.dtype
        np.testing.assert_allclose(got.numpy(force=True), scaled, rtol=1e-3)
    quotient = (1e8 / tt.tensor(np.array([30000.0], dtype))).numpy(force=True)
    np.testing.assert_allclose(quotient, [1e8 / 30000.0], rtol=1e-3)


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: -tt.tensor([True]), RuntimeError, "Negation, the `-` operator, on a bool tensor"),
        (lambda: +tt.tensor([True]), RuntimeError, "on a bool tensor is not supported"),
        (lambda: tt.abs(tt.tensor([True])), NotImplementedError, "not implemented for 'Bool'"),
        (lambda: tt.floor(tt.tensor([1j])), NotImplementedError, "complex inputs"),
        (lambda: tt.sign(tt.tensor([1j])), NotImplementedError, "Please use torch.sgn instead"),
        (lambda: tt.imag(tt.ones(1)), RuntimeError, "imag is not implemented for tensors with non"),
        (lambda: tt.view_as_real(tt.ones(1)), RuntimeError, "only supported for complex tensors"),
        (lambda: tt.view_as_complex(tt.ones(3)), RuntimeError, "last dimension of size 2"),
        (lambda: tt.complex(tt.ones(1), tt.ones(1).double()), RuntimeError, "scalar type"),
        (lambda: tt.frexp(tt.tensor([1])), RuntimeError, "only supports floating-point dtypes"),
        (lambda: tt.clamp(tt.ones(1)), RuntimeError, "At least one of 'min' or 'max' must not be"),
        (lambda: F.hardtanh(tt.ones(1), 1, 0), ValueError, "cannot be greater than max_val"),
        (lambda: F.softshrink(tt.ones(1), -1), RuntimeError, "must be greater or equal to 0"),
        (lambda: F.glu(tt.ones(3)), RuntimeError, "Halving dimension must be even"),
        (lambda: F.gelu(tt.ones(1), approximate="no"), RuntimeError, "must be either none or tanh"),
        (lambda: F.prelu(tt.ones(1, 3), tt.ones(2)), RuntimeError, "Mismatch of parameter numbers"),
        (lambda: F.silu(tt.tensor([1])), NotImplementedError, "not implemented for 'Long'"),
        (lambda: tt.sin("x"), TypeError, r"sin\(\): argument 'input' .* must be Tensor, not str"),
        (lambda: tt.polygamma(-1, tt.ones(1)), RuntimeError, "does not support negative n"),
    ],
)
def test_elementwise_functions_refuse_wrong_arguments(
    call: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        call()
