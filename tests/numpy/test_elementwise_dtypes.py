"""Elementwise functions compute in the dtypes that NumPy's compute in, and refuse what they do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.oracles import AGAINST_NUMPY
from tinytorch.numpy.functions.ufuncs import UNARY, BINARY

KINDS = ("bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex128")
NUMBERS = (True, 2, 1.5, 1j)
#: NumPy orders complex numbers by their parts; here, as in PyTorch, they have no order.
ORDERS = "fmax fmin maximum minimum greater greater_equal less less_equal".split()

#: Of complex numbers and False, or 0, they are tested apart.
QUOTIENTS = ("divide", "true_divide")


def array(kind: str) -> Any:
    if kind == "bool":
        return np.array([[True, False, True]])
    values = np.array([[3, 1, 2]]) if np.dtype(kind).kind in "iu" else np.array([[0.5, 1.5, -2.0]])
    return (values + 1j).astype(kind) if kind.startswith("complex") else values.astype(kind)


def outcome(function: Any, *operands: Any, **options: Any) -> Any:
    """What a function gives, or that it refuses to."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*operands, **options)
        except TypeError:
            return TypeError
        except OverflowError:
            return OverflowError


def check_dtypes(name: str, operands: tuple[Any, ...], **options: Any) -> None:
    if name in ORDERS and any(np.asarray(v).dtype.kind == "c" for v in operands):
        return
    wanted = outcome(getattr(np, name), *operands, **options)
    tensors = [tt.tensor(v) if isinstance(v, np.ndarray) else v for v in operands]
    found = outcome(getattr(tnp, name), *tensors, **options)
    if isinstance(wanted, type):
        assert found is wanted
        return
    assert found.dtype.name == wanted.dtype.name
    rtol = AGAINST_NUMPY.get(wanted.dtype.name, 1e-12)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", UNARY)
def test_ufuncs_of_one_operand_have_numpys_result_dtypes(name: str) -> None:
    for kind in KINDS:
        some = array(kind)
        check_dtypes(name, (some[some != 0] if name == "reciprocal" else some,))


@pytest.mark.parametrize("name", BINARY)
def test_ufuncs_of_two_operands_have_numpys_result_dtypes(name: str) -> None:
    for kind in KINDS:
        for other in KINDS:
            if name not in QUOTIENTS or (kind, other) != ("complex128", "bool"):
                check_dtypes(name, (array(kind), array(other)))


@pytest.mark.parametrize("name", QUOTIENTS)
def test_complex_division_by_zero_has_numpys_result_dtype(name: str) -> None:
    check_dtypes(name, (array("complex128"), array("bool")))


@pytest.mark.parametrize("name", BINARY)
def test_python_scalars_do_not_decide_the_result_dtype(name: str) -> None:
    for kind in KINDS:
        for number in NUMBERS:
            check_dtypes(name, (array(kind), number))
            check_dtypes(name, (number, array(kind)))


@pytest.mark.parametrize("name", ["sqrt", "add", "less", "power"])
@pytest.mark.parametrize("wanted", ["float32", "float64", "int64", "bool", "complex128"])
def test_the_dtype_argument_is_the_dtype_of_the_computation(name: str, wanted: str) -> None:
    for kind in KINDS:
        operands = (array(kind),) * (1 if name == "sqrt" else 2)
        check_dtypes(name, operands, dtype=wanted)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_the_casting_argument_limits_the_conversions(casting: str) -> None:
    for kind in KINDS:
        check_dtypes("add", (array("int8"), array(kind)), dtype="float32", casting=casting)


def test_float64_beside_float32_stays_exact() -> None:
    wide, narrow = tnp.array(1 / 3), tnp.zeros(2, dtype="float32")
    assert tnp.add(wide, narrow).tolist() == [1 / 3, 1 / 3]


def test_integer_out_of_range_is_refused_and_compared_exactly() -> None:
    x, theirs = tnp.array([1, 255], dtype="uint8"), np.array([1, 255], np.uint8)
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        tnp.add(x, 300)
    for name in ("less", "greater_equal", "equal", "not_equal"):
        for number in (300, -1, 2**70):
            assert getattr(tnp, name)(x, number).tolist() == (
                getattr(np, name)(theirs, number).tolist()
            )
            assert getattr(tnp, name)(number, x).tolist() == (
                getattr(np, name)(number, theirs).tolist()
            )


def test_division_of_integers_by_zero_gives_zero() -> None:
    a, b = np.array([7, -7, 0]), np.array([0, 2, 0])
    for name in ("floor_divide", "remainder", "fmod", "divmod"):
        with np.errstate(all="ignore"):
            wanted = np.asarray(getattr(np, name)(a, b)).tolist()
            by_number = np.asarray(getattr(np, name)(a, 0)).tolist()
        found = getattr(tnp, name)(tt.tensor(a), tt.tensor(b))
        assert np.asarray([v.tolist() for v in found]).tolist() == wanted
        assert np.asarray([v.tolist() for v in getattr(tnp, name)(tt.tensor(a), 0)]).tolist() == (
            by_number
        )


def test_integers_have_no_negative_powers() -> None:
    for power in (-1, tnp.array([1, -1])):
        with pytest.raises(ValueError, match="negative integer powers"):
            tnp.power(tnp.array([2, 3]), power)


def test_scaling_by_powers_of_two_reaches_every_number() -> None:
    x, power = np.array([1.0, 1e-300, 3e300, -0.5]), np.array([900, 1500, -1900, -3])
    assert tnp.ldexp(tt.tensor(x), tt.tensor(power)).tolist() == np.ldexp(x, power).tolist()


def test_heaviside_of_nan_is_nan() -> None:
    found = tnp.heaviside(tnp.array([float("nan"), 0.0, -1.0]), tnp.array(0.5, dtype="float16"))
    np.testing.assert_array_equal(np.asarray(found), [np.nan, 0.5, 0])


# -- out= and where= -----------------------------------------------------------------------------


def test_elements_excluded_by_where_are_zero() -> None:
    x = tnp.array([1.0, -1.0, float("inf")])
    assert tnp.sqrt(x, where=[True, False, False]).tolist() == [1, 0, 0]


def test_out_keeps_what_is_not_computed_in_its_own_dtype() -> None:
    out = tnp.full(3, 1 / 3)
    found = tnp.add(tnp.ones(3, dtype="float32"), 1, out=out, where=[True, False, True])
    assert found is out and out.tolist() == [2, 1 / 3, 2]


def test_result_is_stretched_to_out() -> None:
    out = tnp.zeros((2, 3))
    tnp.add(tnp.arange(3), 1, out=out)
    assert out.tolist() == [[1, 2, 3], [1, 2, 3]]
    with pytest.raises(ValueError, match="output"):
        tnp.add(tnp.zeros((2, 3)), 1, out=tnp.zeros(3))


def test_out_must_hold_the_result() -> None:
    with pytest.raises(TypeError, match="Cannot cast ufunc 'sqrt' output"):
        tnp.sqrt(tnp.ones(2), out=tnp.zeros(2, dtype="int64"))


def test_divmod_writes_both_results_to_out() -> None:
    outs = tnp.zeros(2, dtype="int64"), tnp.zeros(2, dtype="int64")
    found = tnp.divmod(tnp.array([7, -7]), 3, out=outs)
    assert found[0] is outs[0] and outs[0].tolist() == [2, -3] and outs[1].tolist() == [1, 2]
    with pytest.raises(ValueError, match="must hold 2|one entry per"):
        tnp.modf(tnp.ones(2), out=(tnp.ones(2),))


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (lambda: tnp.add(tt.ones(2), tt.ones(3)), (ValueError, RuntimeError)),
        (lambda: tnp.matmul(tt.ones(2), tt.ones(3)), (ValueError, RuntimeError)),
        (lambda: tnp.sum(tt.ones(2), axis=1), (ValueError, IndexError)),
        (lambda: tnp.gcd(tt.ones(2), tt.ones(2)), (TypeError, NotImplementedError)),
    ],
)  # fmt: skip
def test_errors_are_found_by_numpys_types_and_by_pytorchs(call: Any, kinds: Any) -> None:
    for kind in kinds:
        with pytest.raises(kind):
            call()
