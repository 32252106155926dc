"""Functions of two and three tensors, element by element, and Python's operators."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare
from tinytorch import autograd

INF, NAN = math.inf, math.nan

#: Functions of two tensors that have gradients, and arguments away from kinks.
BINARY: dict[str, tuple[list[float], list[float]]] = {
    **dict.fromkeys(
        ["add", "sub", "mul", "div", "atan2", "maximum", "minimum", "fmax", "fmin", "logaddexp",
         "logaddexp2", "remainder", "fmod"],
        ([-2.3, 0.7, 1.9], [0.6, 1.4, -1.1]),
    ),
    "hypot": ([-2.3, 0.7, 1.9], [0.6, 1.4, -1.1]),
    "pow": ([0.4, 1.3, 2.2], [-1.5, 2.0, 0.3]),
    "float_power": ([0.4, 1.3, 2.2], [-1.5, 2.0, 0.3]),
    "xlogy": ([0.5, -1.5, 2.0], [0.3, 1.2, 2.5]),
    "special.xlog1py": ([0.5, -1.5, 2.0], [-0.3, 0.2, 1.5]),
    "ldexp": ([0.5, -1.5, 2.0], [-0.3, 0.2, 1.5]),
    "copysign": ([0.5, -1.5, 2.0], [-0.3, 0.2, 1.5]),
}  # fmt: skip
COMPLEX = ["add", "sub", "mul", "div", "pow", "logaddexp"]
PREDICATES = ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"]
INTEGER = ["gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor"]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, -2.5, 100.0, INF, -INF, NAN]
#: Where torch has no angle's gradient but 0, or loses the last digit.
ATOL = {"logaddexp2": 2e-8}


def find(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def sample(values: Any, dtype: Any = None, grad: bool = False) -> tt.Tensor:
    return tt.tensor(values, dtype=dtype or tt.float64, requires_grad=grad)


@pytest.mark.parametrize("name", [*BINARY, *PREDICATES, "nextafter", "heaviside", "isclose"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_binary_operations_on_edge_values_are_pytorchs(torch: Any, name: str, dtype: str) -> None:
    a, b = np.array(list(itertools.product(EDGES, EDGES))).T.astype(dtype)
    wanted = find(torch, name)(torch.tensor(a), torch.tensor(b)).numpy()
    got = find(tt, name)(tt.tensor(a), tt.tensor(b)).numpy()
    assert got.dtype == wanted.dtype
    rtol = 1e-12 if dtype == "float64" else 1e-6
    if dtype == "float32" and tt.get_backend() == "cupy" and name != "nextafter":
        wanted[abs(wanted) < np.finfo(dtype).tiny] = 0  # CuPy's subnormals: docs/numerics.md
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=ATOL.get(name, 0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_neighbours_are_numpys_of_the_smallest_and_largest_too(dtype: str) -> None:
    """On a GPU float32's kernels know none below 1e-38, and CuPy's float16 no infinity."""
    facts = np.finfo(dtype)
    ends = [0.0, facts.smallest_subnormal, facts.tiny / 3, facts.tiny, 1.0, facts.max, INF]
    values = np.array([sign * end for end in ends for sign in (1, -1)] + [NAN], dtype)
    with np.errstate(all="ignore"):
        wanted = np.nextafter(values[:, None], values)
    found = tt.nextafter(tt.tensor(values)[:, None], tt.tensor(values)).numpy()
    np.testing.assert_array_equal(found, wanted)
    moved = (values[:, None] != values) & ~np.isnan(wanted)  # of 0 and -0 either may be the other
    np.testing.assert_array_equal(np.signbit(found)[moved], np.signbit(wanted)[moved])


@pytest.mark.parametrize("name", BINARY)
def test_binary_operations_have_first_and_second_derivatives(name: str) -> None:
    x, y = (sample(v, grad=True) for v in BINARY[name])
    f = find(tt, name)
    assert autograd.gradcheck(f, (x, y))
    assert autograd.gradgradcheck(f, (x, y))


@pytest.mark.parametrize("name", COMPLEX)
def test_binary_operations_on_complex_numbers_have_derivatives(torch: Any, name: str) -> None:
    x = sample([0.4 + 0.7j, -1.2 + 0.3j], tt.complex128, grad=True)
    y = sample([0.6 - 1.1j, 0.9 + 0.2j], tt.complex128, grad=True)
    f = find(tt, name)
    assert autograd.gradcheck(f, (x, y))
    assert autograd.gradgradcheck(f, (x, y))
    wanted = find(torch, name)(*(torch.tensor(v.detach().numpy()) for v in (x, y)))
    np.testing.assert_allclose(f(x, y).detach().numpy(), wanted.numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", BINARY)
def test_operands_broadcast_and_gradients_fit_them(name: str) -> None:
    x = sample([[v] for v in BINARY[name][0]], grad=True)
    y = sample(BINARY[name][1], grad=True)
    f = find(tt, name)
    out = f(x, y)
    assert out.shape == (3, 3)
    gx, gy = autograd.grad(out.sum(), (x, y))
    assert gx.shape == (3, 1) and gy.shape == (3,)
    pairs = itertools.product(*BINARY[name])
    np.testing.assert_allclose(
        out.detach().numpy().reshape(-1), [f(sample(a), sample(b)).item() for a, b in pairs]
    )


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "maximum", "fmod", "xlogy"])
def test_shapes_that_do_not_broadcast_are_refused(name: str) -> None:
    text = rf"{name}: The size of tensor a \(3\) must match the size of tensor b \(4\)"
    with pytest.raises(RuntimeError, match=text):
        find(tt, name)(tt.ones(2, 3), tt.ones(2, 4))


@pytest.mark.parametrize("name", INTEGER)
def test_integer_results_of_binary_operations_are_numpys(name: str) -> None:
    a, b = np.array(list(itertools.product(range(-6, 7), repeat=2))).T
    wanted = getattr(np, name)(a, b)
    assert find(tt, name)(tt.tensor(a), tt.tensor(b)).tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_are_those_of_exact_division(torch: Any, dtype: str) -> None:
    """1 // 0.1 is 9: a tenth is rounded up. The floor of the rounded quotient would be 10."""
    values = np.array([1.0, -1.0, 0.3, 7.5, 1e4, 0.1, -0.1, 3.0], dtype)
    a, b = np.array(list(itertools.product(values, values))).T.astype(dtype)
    for name in ("floor_divide", "remainder", "fmod"):
        wanted = getattr(torch, name)(torch.tensor(a), torch.tensor(b)).numpy()
        np.testing.assert_array_equal(getattr(tt, name)(tt.tensor(a), tt.tensor(b)).numpy(), wanted)
        wanted = getattr(torch, name)(torch.tensor(a), 0.1).numpy()
        np.testing.assert_array_equal(getattr(tt, name)(tt.tensor(a), 0.1).numpy(), wanted)
    wanted = torch.remainder(1.0, torch.tensor(b)).numpy()
    np.testing.assert_array_equal(tt.remainder(1.0, tt.tensor(b)).numpy(), wanted)


def test_remainders_of_large_integers_are_exact() -> None:
    a, b = tt.tensor([2**62 + 1, -(2**62) - 1, 7, -7]), tt.tensor([3, 7, -3, 3])
    assert tt.fmod(a, b).tolist() == [(2**62 + 1) % 3, -((2**62 + 1) % 7), 1, -1]
    assert tt.remainder(a, b).tolist() == [(2**62 + 1) % 3, (-(2**62) - 1) % 7, 7 % -3, -7 % 3]
    assert tt.fmod(a, 3).tolist() == [(2**62 + 1) % 3, -((2**62 + 1) % 3), 1, -1]


# -- Python's operators --------------------------------------------------------------------------

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow,
]  # fmt: skip
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
ORDERS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("op", [*OPERATORS, *ORDERS])
def test_operators_accept_tensors_and_numbers_on_either_side(op: Any) -> None:
    a, b = np.array([1.5, 2.0, -3.0]), np.array([2.0, 0.5, 2.0])
    x, y = tt.tensor(a), tt.tensor(b)
    # CUDA's pow is right to two units in the last place.
    rtol = 4.5e-16 if op is operator.pow and tt.get_backend() == "cupy" else 0
    np.testing.assert_allclose(op(x, y).numpy(), op(a, b), rtol)
    np.testing.assert_allclose(op(x, 2).numpy(), op(a, 2), rtol)
    np.testing.assert_allclose(op(2.5, y).numpy(), op(2.5, b), rtol)
    np.testing.assert_allclose(op(x, b).numpy(), op(a, b), rtol)


@pytest.mark.parametrize("op", BITS)
def test_bit_operators_accept_tensors_and_numbers_on_either_side(op: Any) -> None:
    a, b = np.array([6, 5, 12]), np.array([3, 1, 2])
    assert op(tt.tensor(a), tt.tensor(b)).tolist() == op(a, b).tolist()
    assert op(tt.tensor(a), 2).tolist() == op(a, 2).tolist()
    assert op(2, tt.tensor(b)).tolist() == op(2, b).tolist()
    assert (~tt.tensor(a)).tolist() == (~a).tolist()


@pytest.mark.parametrize("op", OPERATORS)
def test_in_place_operators_write_to_their_left_operand(op: Any) -> None:
    inplace = getattr(operator, f"i{op.__name__}")
    x = sample([1.5, 2.0])
    compare = x
    wanted = op(x, 2).tolist()
    x = inplace(x, 2)
    assert x is compare and x.tolist() == wanted


def test_an_operator_with_an_unknown_type_calls_the_reflected_method() -> None:
    class Other:
        def __radd__(self, other: Any) -> str:
            return "mine"

    assert tt.ones(1) + Other() == "mine"  # type: ignore[operator,comparison-overlap]
    with pytest.raises(TypeError, match="unsupported operand"):
        tt.ones(1) + "x"  # type: ignore[operator]


# -- division ------------------------------------------------------------------------------------


def test_integers_divide_to_the_default_dtype() -> None:
    assert (tt.tensor([1, 2]) / 2).tolist() == [0.5, 1.0]
    assert (tt.tensor([1, 2]) / tt.tensor([2, 4])).dtype is tt.float32
    assert (1 / tt.tensor([2])).dtype is tt.float32
    with pytest.raises(RuntimeError, match="result type Float can't be cast"):
        tt.tensor([1]).div_(2)


@pytest.mark.parametrize("dtype", ["int64", "int8", "float64"])
def test_rounded_division_has_the_signs_of_python(dtype: str) -> None:
    a, b = np.array(list(itertools.product([-7, -4, 0, 4, 7], [-4, -3, 1, 4]))).T.astype(dtype)
    x, y = tt.tensor(a), tt.tensor(b)
    assert tt.div(x, y, rounding_mode="floor").tolist() == [p // q for p, q in zip(a, b)]
    assert tt.div(x, y, rounding_mode="trunc").tolist() == [int(p / q) for p, q in zip(a, b)]
    assert (x % y).tolist() == [p % q for p, q in zip(a.tolist(), b.tolist())]
    assert tt.fmod(x, y).tolist() == [math.fmod(p, q) for p, q in zip(a, b)]


def divide_towards_0(a: Any, b: Any) -> Any:
    return tt.div(a, b, rounding_mode="trunc")


@pytest.mark.parametrize("divide", [operator.floordiv, operator.mod, tt.fmod, divide_towards_0])
def test_an_integer_divided_by_0_is_an_error(divide: Any) -> None:
    for zero in (0, tt.tensor([1, 0])):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(tt.tensor([1, 2]), zero)


def test_a_float_divided_by_0_is_not_an_error() -> None:
    x = sample([1.0, -1.0, 0.0])
    assert (x / 0)[:2].tolist() == [INF, -INF] and (x / 0)[2].isnan()


# -- powers --------------------------------------------------------------------------------------


def slopes(f: Any, *values: float) -> list[float]:
    leaves = [sample(v, grad=True) for v in values]
    return [g.item() for g in autograd.grad(f(*leaves), leaves)]


def test_powers_of_zero_nan_and_infinity_have_defined_values_and_slopes() -> None:
    assert (sample([0.0, NAN, INF]) ** 0).tolist() == [1.0, 1.0, 1.0]
    assert slopes(tt.pow, 0.0, 0.0) == [0.0, 0.0]
    assert slopes(tt.pow, 0.0, 2.0) == [0.0, 0.0]
    assert slopes(tt.pow, 0.0, 1.0) == [1.0, 0.0]
    assert slopes(lambda x: x**2, 0.0) == [0.0]
    assert slopes(lambda x: 0**x, 2.0) == [0.0]
    assert slopes(lambda x: x**0, INF) == [0.0]


def test_powers_of_numbers_by_short_cuts_are_the_same() -> None:
    x = np.linspace(0.1, 3, 7)
    for p in (-2, -1, -0.5, 0, 0.5, 1, 2, 3, 2.5):
        np.testing.assert_allclose((tt.tensor(x) ** p).numpy(), x**p, rtol=1e-15)
    assert (tt.tensor([2, 3], dtype=tt.uint8) ** 2).dtype is tt.uint8
    assert (tt.tensor([2, 3]) ** 0.5).dtype is tt.float32


def test_powers_of_integers_are_integers_and_scalar_negative_exponents_are_refused() -> None:
    assert (tt.tensor([2, -3]) ** tt.tensor([3, 3])).tolist() == [8, -27]
    assert (tt.tensor([2, 1, -1]) ** tt.tensor([-1, -2, -3])).tolist() == [0, 1, -1]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
        tt.tensor([2]) ** -1


# -- choosing ------------------------------------------------------------------------------------


@pytest.mark.torch
def test_logaddexp_has_a_second_derivative_where_its_operands_are_equal() -> None:
    a, b = np.array([0.5, -1.0, 2.0]), np.array([0.5, -1.0, 1.0])
    compare(lambda lib, x, y: (lib.logaddexp(x, y), lib.logaddexp2(x, y)), a, b)


def test_ties_share_the_gradient() -> None:
    assert slopes(tt.maximum, 1.0, 1.0) == [0.5, 0.5]
    assert slopes(tt.minimum, 1.0, 1.0) == [0.5, 0.5]
    assert slopes(tt.fmax, 1.0, 1.0) == [1.0, 0.0]
    assert slopes(tt.fmin, 1.0, NAN) == [1.0, 0.0]


def test_clamp_accepts_tensors_numbers_and_numpys_names() -> None:
    x = sample([-2.0, 0.5, 3.0], grad=True)
    low, high = sample([-1.0, 0.7, 4.0], grad=True), sample([1.0, 2.0, 2.0], grad=True)
    out = x.clamp(low, high)
    assert out.tolist() == [-1.0, 0.7, 2.0]
    grads = autograd.grad(out.sum(), (x, low, high))
    assert [g.tolist() for g in grads] == [[0, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert tt.clip(x, a_min=0, a_max=1).tolist() == x.clip(0, 1).tolist() == [0.0, 0.5, 1.0]
    assert tt.tensor([1, 5]).clamp(max=2.5).tolist() == [1.0, 2.5]
    assert x.detach().clamp_(min=0).tolist() == [0.0, 0.5, 3.0]


def test_where_keeps_the_elements_not_chosen_out_of_the_gradient() -> None:
    x = sample([0.0, 4.0], grad=True)
    out = tt.where(x > 0, tt.sqrt(x), x * 3)
    (g,) = autograd.grad(out[1], x)
    assert g.tolist()[1] == 0.25
    assert tt.where(tt.tensor([True, False]), 1.0, 0.0).dtype is tt.float32
    assert tt.where(tt.tensor([True, False]), 1, 0).dtype is tt.int64
    assert tt.where(tt.tensor([[0, 2], [3, 0]]) > 0)[1].tolist() == [1, 0]
    assert tt.tensor([1.0, 2.0]).where(tt.tensor([True, False]), 9).tolist() == [1.0, 9.0]
    with pytest.raises(RuntimeError, match="expected condition to be a boolean tensor"):
        tt.where(tt.tensor([1.0]), 1, 2)


# -- three tensors -------------------------------------------------------------------------------


def test_lerp_addcmul_and_addcdiv_compute_their_formulas() -> None:
    x, y, w = (sample(v, grad=True) for v in ([1.0, 2.0], [3.0, -4.0], [0.25, 0.75]))
    assert tt.lerp(x, y, w).tolist() == [1.5, -2.5]
    assert tt.lerp(x, y, 1.0).tolist() == y.tolist()
    assert tt.addcmul(x, y, w, value=2).tolist() == [2.5, -4.0]
    assert tt.addcdiv(x, y, w).tolist() == [13.0, 2.0 - 4.0 / 0.75]
    for f in (tt.lerp, tt.addcmul, tt.addcdiv, lambda a, b, c: tt.addcdiv(a, b, c, value=0.3)):
        assert autograd.gradcheck(f, (x, y, w)) and autograd.gradgradcheck(f, (x, y, w))
    with pytest.raises(RuntimeError, match="float64 for `end` but got dtype float32"):
        tt.lerp(x, y.float(), 0.5)
    with pytest.raises(RuntimeError, match="Integer division with addcdiv"):
        tt.addcdiv(*(tt.tensor([1]) for _ in range(3)))


# -- comparisons ---------------------------------------------------------------------------------


def test_isclose_and_allclose_treat_infinity_and_nan_as_pytorch() -> None:
    x = sample([1.0, INF, -INF, NAN])
    assert tt.isclose(x, x).tolist() == [True, True, True, False]
    assert tt.isclose(x, x, equal_nan=True).all()
    assert not tt.allclose(sample([INF]), sample([-INF]))
    assert tt.allclose(sample([1.0]), sample([1.0 + 1e-9])) is True
    assert tt.equal(tt.ones(2), tt.ones(2)) is True and tt.equal(tt.ones(2), tt.ones(3)) is False
    with pytest.raises(RuntimeError, match="did not match"):
        tt.isclose(tt.ones(1), sample([1.0]))
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero"):
        tt.isclose(tt.ones(1), tt.ones(1), rtol=-1)


def test_predicates_have_no_gradient() -> None:
    x = sample([1.0], grad=True)
    for f in (tt.eq, tt.lt, tt.logical_and):
        assert not f(x, x).requires_grad


# -- dtypes and wrong use --------------------------------------------------------------------------


def test_numbers_do_not_widen_but_kinds_do() -> None:
    f32 = tt.ones(2)
    for result in (f32 + 1.5, 2 * f32, f32 / 3, f32**2.5, 1 - f32, f32.clamp(0.5), tt.fmod(f32, 2)):
        assert result.dtype is tt.float32
    assert (tt.tensor([1]) + 1.5).dtype is tt.float32
    assert (f32 * 1j).dtype is tt.complex64
    assert (f32 + sample(1.0)).dtype is tt.float32  # 0-d tensors do not widen either
    assert (f32 + sample([1.0])).dtype is tt.float64
    assert (tt.tensor([True]) + tt.tensor([True])).dtype is tt.bool


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["int32", "float16", "float64", "complex64", "complex128"])
def test_powers_with_bool_exponents_are_pytorchs(dtype: str) -> None:
    for f in (lambda lib, x: (x**True, x**False), lambda lib, x: lib.float_power(x, True)):
        compare(f, np.array([2, 3]).astype(dtype), orders=1)


@pytest.mark.torch
def test_powers_of_bool_tensors_are_pytorchs() -> None:
    def call(lib: Any, x: Any) -> Any:
        return x**True, x**False, x**2, 2**x, x.clone().pow_(True), x.clone().pow_(False)

    compare(call, np.array([True, False]))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: tt.tensor([True]) - tt.tensor([True]), RuntimeError, "with two bool tensors"),
        (lambda: True - tt.tensor([True]), RuntimeError, "with two bool tensors"),
        (lambda: tt.tensor([1]) - tt.tensor([True]), RuntimeError, "with a bool tensor is not"),
        (lambda: 1 - tt.tensor([True]), RuntimeError, "with a bool tensor is not supported"),
        (lambda: tt.ones(1).sub_(True), RuntimeError, "with a bool tensor is not supported"),
        (lambda: tt.tensor([True]) ** tt.tensor([True]), NotImplementedError, '"pow" not impl'),
        (lambda: True ** tt.tensor([True]), NotImplementedError, '"pow" not implemented for'),
        (lambda: tt.hypot(tt.tensor([3]), tt.tensor([4])), NotImplementedError, "for 'Long'"),
        (lambda: tt.tensor([True]) << True, NotImplementedError, '"lshift_cpu" not impl.*Bool'),
        (lambda: tt.tensor([True]) >> True, NotImplementedError, '"rshift_cpu" not impl.*Bool'),
        (lambda: ~tt.ones(1), TypeError, "only implemented on integer and Boolean-type tensors"),
        (lambda: tt.add(tt.tensor([1]), 1, alpha=0.5), RuntimeError, "must not be a floating"),
        (lambda: tt.maximum(tt.ones(1), 2), TypeError, "'other' .* must be Tensor, not int"),
        (lambda: tt.pow(2, 3), TypeError, "must be Tensor, not int"),
        (lambda: tt.tensor([1j]) < 1, NotImplementedError, "not implemented for 'ComplexFloat'"),
        (lambda: tt.ones(1) & 1, NotImplementedError, "not implemented for 'Float'"),
        (lambda: tt.maximum(tt.tensor([1j]), tt.tensor([1j])), RuntimeError, "complex tensors"),
        (lambda: tt.tensor([1j]).clamp(min=0), NotImplementedError, "complex"),
        (lambda: tt.div(tt.ones(1), 2, rounding_mode="up"), RuntimeError, "but found 'up'"),
        (lambda: tt.heaviside(tt.ones(1), tt.tensor([1])), RuntimeError, "different dtypes"),
        (lambda: tt.gcd(tt.ones(1), tt.ones(1)), NotImplementedError, "implemented for 'Float'"),
        (lambda: tt.float_power(2, 3), TypeError, "must be Tensor"),
    ],
)
def test_wrong_use_of_binary_operations_raises(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


class Answering:
    """What answers for tensors that do not know it."""

    def __radd__(self, other: Any) -> str:
        return "mine"


def test_in_place_operators_with_an_unknown_type_call_the_reflected_method() -> None:
    x: Any = tt.ones(2)
    before = x
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "lshift"):
        assert getattr(x, f"__i{name}__")(Answering()) is NotImplemented
    for wrong in (None, "a", [1.0, 2.0]):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+=: 'Tensor'"):
            x += wrong
    x += np.float32(1)
    assert x is before and x.tolist() == [2.0, 2.0]
    x += Answering()
    assert x == "mine" and before.tolist() == [2.0, 2.0]
