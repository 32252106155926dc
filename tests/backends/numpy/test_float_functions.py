"""float32 formulas from NumPy's operations: against longer formats and exact remainders."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tinytorch.backends import load
from tinytorch.backends.numpy import float_functions

ONE = np.float32(1)
#: Name: arguments, and the units in the last place that the docstring promises.
RANGES: dict[str, tuple[Any, int]] = {
    "log1p": (np.r_[np.linspace(-0.999, 20, 3000), np.logspace(-30, 30, 999)], 4),
    "expm1": (np.r_[np.linspace(-80, 80, 3000), np.logspace(-30, 0, 999)], 4),
    "cosh": (np.linspace(-88, 88, 4000), 3),
    "sinh": (np.r_[np.linspace(-88, 88, 3000), np.logspace(-30, 0, 999)], 5),
    "tan": (np.linspace(-30, 30, 4000), 3),
    "arctanh": (np.r_[np.linspace(-0.999, 0.999, 3000), np.logspace(-30, -1, 999)], 5),
}


@pytest.mark.parametrize("name", RANGES)
def test_formulas_are_within_their_stated_units_in_the_last_place(name: str) -> None:
    arguments, units = RANGES[name]
    x = arguments.astype("float32")
    wanted = getattr(np, name)(x.astype("float64"))
    found = getattr(float_functions, name)(x)
    assert found.dtype == "float32"
    error = abs(found - wanted) / np.spacing(abs(wanted).astype("float32"))
    assert error.max() <= units


@pytest.mark.parametrize("name", RANGES)
def test_formulas_at_the_edges_are_numpys(name: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], "float32")
    with np.errstate(all="ignore"):
        found, wanted = getattr(float_functions, name)(x), getattr(np, name)(x)
    # tan of NumPy's sin and cos, and the formulas of tanh, round otherwise at 1.
    np.testing.assert_allclose(found, wanted, rtol=4e-7)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(wanted[:2]))


def exact(kind: str, a: float, b: float) -> float:
    """The remainder or quotient of two finite numbers in rational arithmetic."""
    quotient = Fraction(a) / Fraction(b)
    if kind == "floor_divide":
        return float(math.floor(quotient))
    whole = math.trunc(quotient) if kind == "fmod" else math.floor(quotient)
    return float(Fraction(a) - whole * Fraction(b))


@pytest.mark.parametrize("kind", ["fmod", "remainder", "floor_divide"])
def test_remainders_are_exact(kind: str) -> None:
    draws = np.random.RandomState(0)
    a = (draws.standard_normal(4_500) * 10.0 ** draws.randint(-3, 4, 4_500)).astype("float32")
    b = (draws.standard_normal(4_500) + np.sign(draws.standard_normal(4_500))).astype("float32")
    blockwise = load("numpy").blockwise
    for x, y in ((a, b), (a, 0.75), (3.0, b)):
        found = float_functions.compute_in_float64(getattr(float_functions, kind), blockwise, x, y)
        pairs = np.broadcast_arrays(x, y)
        wanted = [np.float32(exact(kind, *pair)) for pair in zip(*(p.tolist() for p in pairs))]
        assert found.dtype == "float32"
        # A remainder next to the divisor rounds to it.
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["fmod", "remainder"])
def test_a_remainder_of_zero_has_the_sign_of_its_operand(kind: str) -> None:
    a = np.tile(np.array([4.0, -4.0, 4.0, -4.0], "float32"), 1_200)
    b = np.tile(np.array([2.0, 2.0, -2.0, -2.0], "float32"), 1_200)
    found = getattr(float_functions, kind)(a, b)
    assert not found.any()
    np.testing.assert_array_equal(np.signbit(found), np.signbit(a if kind == "fmod" else b))


@pytest.mark.parametrize("kind", ["fmod", "remainder", "floor_divide"])
def test_large_quotients_and_infinite_divisors_are_numpys(kind: str) -> None:
    a = np.full(5_000, 3e30, "float32")
    b = np.linspace(0.5, 2.5, 5_000, dtype="float32")
    with np.errstate(all="ignore"):
        for x, y in ((a, b), (b, np.full_like(b, np.inf)), (b, np.zeros_like(b))):
            found, wanted = getattr(float_functions, kind)(x, y), getattr(np, kind)(x, y)
            np.testing.assert_array_equal(found, wanted)


def test_small_and_other_arrays_are_left_to_numpy() -> None:
    few, wide = np.ones(5, "float32"), np.ones(5_000)
    for a, b in ((few, few), (wide, wide), (wide, 2.0)):
        assert float_functions.compute_in_float64(float_functions.fmod, None, a, b) is None


#: Name: the function in Python's own double precision.
ERRORS: dict[str, Any] = {
    "erf": math.erf, "erfc": math.erfc, "ndtr": lambda x: 0.5 * math.erfc(-x / math.sqrt(2)),
    "erfcx": lambda x: math.exp(x * x) * math.erfc(x),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("single", [False, True])
def test_error_functions_are_within_their_stated_error(name: str, single: bool) -> None:
    x = np.linspace(-5, 5, 2_001, dtype="float32" if single else "float64")
    found = float_functions.formula(name, single)(load("numpy"), x)
    wanted = [ERRORS[name](value) for value in x.tolist()]
    if name == "ndtr":  # whose error is of the sum of 1 and erf
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-7 if single else 3e-16)
    else:
        np.testing.assert_allclose(found, wanted, rtol=2e-6 if single else 1e-13)


def _normal_probability(x: float) -> float:
    return math.erfc(-x * math.sqrt(0.5)) / 2


@pytest.mark.parametrize(
    ("name", "function"), [("erfinv", math.erf), ("ndtri", _normal_probability)]
)
def test_inverse_error_functions_invert_erf_and_ndtr(name: str, function: Any) -> None:
    y = np.linspace(0.001, 0.999, 999)
    tails = np.logspace(-300, -3, 200) if name == "ndtri" else y
    for arguments in y, tails:
        x = float_functions.formula(name, False)(load("numpy"), arguments)
        # An error of x by some units changes the probability by x² times as many.
        tolerance = 1e-14 + 2e-15 * np.square(x)
        found = np.array([function(value) for value in x.tolist()])
        assert (abs(found / arguments - 1) <= tolerance).all()


@pytest.mark.parametrize(
    ("name", "edges"), [("erfinv", [-1.0, 1.0, 1.5]), ("ndtri", [0.0, 1.0, -0.5])]
)
def test_inverse_error_functions_are_infinite_at_the_ends_and_nan_beyond(
    name: str, edges: list[float]
) -> None:
    found = float_functions.formula(name, False)(load("numpy"), np.array(edges))
    np.testing.assert_equal(found, [-np.inf, np.inf, np.nan])
