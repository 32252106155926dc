"""Numbers beside tensors whose dtype does not hold them, or holds them in its own way."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close, compare

BYTES = np.array([7, 1, 200], "uint8")
CHARS = np.array([7, -1, 100], "int8")

#: Each is called with the library and a small tensor of bytes, then with one of int8.
SAME: dict[str, Callable[..., Any]] = {
    "quotient by a number": lambda lib, x: x / 300,
    "quotient of a number": lambda lib, x: -300 / x,
    "quotient by a 0-d tensor": lambda lib, x: x / lib.tensor(-2),
    "quotient of a 0-d tensor": lambda lib, x: lib.true_divide(lib.tensor(-300), x),
    "rounded quotient": lambda lib, x: lib.div(x, lib.tensor(3), rounding_mode="floor"),
    "alpha of a number": lambda lib, x: lib.sub(x, 2, alpha=2),
    "alpha of a sum": lambda lib, x: x.add(3, alpha=-1),
    "alpha of a tensor": lambda lib, x: lib.sub(x, x, alpha=-1),
    "alpha of rows": lambda lib, x: lib.index_add(x, 0, lib.tensor([0]), x[:1], alpha=0.5),
    "trapezoid": lambda lib, x: (lib.trapezoid(x), lib.trapezoid(x, dx=2)),
    "NumPy's int": lambda lib, x: (x + np.int64(3), np.int32(2) * x, x[0] ** np.int64(2)),
    "NumPy's float": lambda lib, x: (x + np.float32(0.5), x[0] * np.float64(1.5)),
    "NumPy's int and bools": lambda lib, x: (x > 1) * np.int32(2),
    "ldexp": lambda lib, x: lib.ldexp(lib.tensor([1.5, -2.0, 3.0]).double(), x),
}

#: Ways to write a number into a tensor.
WRITES: dict[str, Callable[..., Any]] = {
    "fill_": lambda lib, x, n: x.clone().fill_(n),
    "full": lambda lib, x, n: lib.full((2,), n, dtype=x.dtype),
    "index_fill": lambda lib, x, n: x.index_fill(0, lib.tensor([0, 2]), n),
    "masked_fill": lambda lib, x, n: x.masked_fill(x > 1, n),
    "scatter": lambda lib, x, n: x.scatter(0, lib.tensor([0]), n),
    "x[0] =": lambda lib, x, n: written(x, 0, n),
    "x[mask] =": lambda lib, x, n: written(x, x > 1, n),
    "x[list] =": lambda lib, x, n: written(x, [0, 2], n),
}


def written(x: Any, index: Any, number: Any) -> Any:
    """A copy of ``x`` with ``number`` at ``index``."""
    x = x.clone()
    x[index] = number
    return x


@pytest.mark.torch
@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("x", [BYTES, CHARS], ids=["uint8", "int8"])
def test_operations_with_numbers_beyond_the_dtype_are_pytorchs(
    name: str, x: np.ndarray[Any, Any]
) -> None:
    compare(SAME[name], x)


@pytest.mark.torch
@pytest.mark.parametrize("name", WRITES)
def test_unsigned_tensors_take_negative_numbers_from_their_end(name: str) -> None:
    for number in (-1, -255, 255, 2.75, True):
        compare(lambda lib, x, number=number: WRITES[name](lib, x, number), BYTES)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("number", [-256, 256, 1e10, -1.5, float("nan"), float("inf")])
def test_writing_a_number_that_does_not_fit_is_refused(
    torch: Any, name: str, number: float
) -> None:
    for library in (torch, tt):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            WRITES[name](library, library.tensor(BYTES.copy()), number)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("number", [2 + 0j, 1 + 1j, 1e39, -70000, complex(0.5, 1e300)])
def test_complex_numbers_and_large_ones_are_written_or_refused_as_in_torch(
    torch: Any, name: str, dtype: str, number: complex
) -> None:
    array = np.array([1, 0, 3]).astype(dtype)
    try:
        wanted = WRITES[name](torch, torch.tensor(array), number)
    except RuntimeError as error:
        text = re.escape(str(error))
        with pytest.raises(RuntimeError, match=text):
            WRITES[name](tt, tt.tensor(array), number)
    else:
        assert_all_close(WRITES[name](tt, tt.tensor(array), number), wanted)


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32"])
@pytest.mark.parametrize("index", [0, slice(2), ..., [0, 1]])
def test_complex_tensors_written_into_real_ones(torch: Any, dtype: str, index: Any) -> None:
    for value in (1 + 2j, [0.5 + 1j]):
        found = []
        for library in (tt, torch):
            x = library.zeros(3, dtype=getattr(library, dtype))
            if index == [0, 1]:
                with pytest.raises(RuntimeError, match="Index put requires the source and dest"):
                    x[index] = library.tensor(value)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    x[index] = library.tensor(value)
            found.append(x)
        assert_all_close(*found)


@pytest.mark.parametrize(("number", "text"), [(-1, "negative integer powers"), (300, "overflow")])
def test_an_exponent_must_fit_the_dtype(torch: Any, number: int, text: str) -> None:
    for library in (torch, tt):
        for array in (BYTES, CHARS):
            with pytest.raises(RuntimeError, match=text):
                library.tensor(array.copy()) ** number
    compare(lambda lib, x: (x**7, x**True, 300**x, (-2) ** x), BYTES)


@pytest.mark.parametrize("number", [2**70, -(2**64)])
def test_a_number_no_integer_dtype_holds_is_refused(torch: Any, number: int) -> None:
    for library in (torch, tt):
        for call in (lambda x: x + number, lambda x: number - x, lambda x: x * number):
            with pytest.raises(OverflowError):
                call(library.tensor(BYTES.copy()))
        assert (library.tensor(BYTES.copy()) + 300).tolist() == [51, 45, 244]


def test_a_quotient_cannot_be_written_into_integers(torch: Any) -> None:
    for library in (torch, tt):
        with pytest.raises(RuntimeError, match="Float can't be cast to the desired output type"):
            library.tensor(BYTES.copy()).div_(300)


#: What PyTorch refuses with an error of its own, and not by one of the array library's.
REFUSED: dict[str, tuple[Callable[..., Any], type[Exception], str]] = {
    "atan2": (lambda lib, c: lib.atan2(c, c), NotImplementedError, "ComplexDouble"),
    "hypot": (lambda lib, c: lib.hypot(c, c), NotImplementedError, "ComplexDouble"),
    "scatter_reduce": (
        lambda lib, c: c.scatter_reduce(0, lib.tensor([0]), c, "amax", include_self=False),
        NotImplementedError, "not implemented for 'ComplexDouble'",
    ),
    "full_like": (lambda lib, c: lib.full_like(lib.tensor([1]), 1j), RuntimeError, "overflow"),
    "slice_scatter": (
        lambda lib, c: lib.slice_scatter(c[0], c[0]), IndexError,
        r"slice\(\) cannot be applied to a 0-dim tensor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_operations_that_pytorch_refuses_raise_its_error(torch: Any, name: str) -> None:
    call, kind, text = REFUSED[name]
    for library in (torch, tt):
        with pytest.raises(kind, match=text):
            call(library, library.tensor(np.array([1 + 2j])))


@pytest.mark.torch
def test_integers_that_are_not_there_can_be_divided_by_0() -> None:
    for divide in ("floor_divide", "remainder", "fmod"):
        compare(lambda lib, x, divide=divide: getattr(lib, divide)(x, 0), np.zeros((0, 3), "int64"))


@pytest.mark.torch
def test_ldexp_needs_no_power_of_2_that_overflows() -> None:
    wide = np.array([1e-300, 1.0])
    compare(lambda lib, x, i: lib.ldexp(x, i), wide, np.array([1100, -1070]), orders=0)
    halves = np.array([1.0, 0.001], "float16")
    compare(lambda lib, x, i: lib.ldexp(x, i), halves, np.array([-1, 20]), orders=0)
    compare(lambda lib, x, i: lib.ldexp(x, i), np.array([1.5, -0.7]), np.array([3, 5]))


@pytest.mark.torch
def test_a_0d_weight_counts_as_a_number() -> None:
    def call(lib: Any, x: Any) -> Any:
        return lib.lerp(x, x * x, lib.tensor(0.25, dtype=lib.float64)), x.lerp(-x, lib.tensor(1))

    compare(call, np.array([1.5, -0.5, 3.0], "float32"), orders=1)


def test_gelu_of_halves_is_rounded_once(torch: Any) -> None:
    x = np.linspace(-4, 4, 101).astype("float16")
    for approximate in ("none", "tanh"):
        found = []
        for library, values in ((tt, x), (torch, x.astype("float64"))):
            leaf = library.tensor(values, requires_grad=True)
            out = library.nn.functional.gelu(leaf, approximate=approximate)
            out.sum().backward()
            found.append((out.detach().cpu().numpy(), leaf.grad.cpu().numpy()))
        for ours, exact in zip(*found, strict=True):
            assert ours.dtype == np.float16
            # Half a unit in the last place, and single precision's own error.
            unit = np.spacing(np.abs(exact).astype("float16")).astype("float64")
            assert (np.abs(ours - exact) <= 0.51 * unit + 1e-6).all()


#: The formulas in double precision.
OF_HALVES: dict[str, Callable[[Any], Any]] = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(0, x),
    "logsigmoid": lambda x: -np.logaddexp(0, -x),
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "leaky_relu": lambda x: np.where(x > 0, x, x * 0.01),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


@pytest.mark.parametrize("name", OF_HALVES)
def test_activations_of_every_float16_are_rounded_once(name: str) -> None:
    """In steps of half precision the last digit of every tenth result was another."""
    function = getattr(tt if name == "rsqrt" else tt.nn.functional, name)
    every = np.arange(1 << 16, dtype="uint16").view("float16")
    halves = every[np.isfinite(every)]
    with np.errstate(all="ignore"):
        ours = function(tt.tensor(halves)).numpy()
        exact = OF_HALVES[name](halves.astype("float64")).astype("float16")
    differ = (ours != exact) & ~(np.isnan(ours) & np.isnan(exact))
    assert ours.dtype == np.float16 and differ.mean() < 1e-3
