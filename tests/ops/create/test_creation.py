"""Making tensors: from data, filled, ranges, after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests import fresh
from tests.oracles import compare

CASES: dict[str, Any] = {
    "zeros": lambda lib: (lib.zeros(2, 3), lib.zeros((2,), dtype=lib.int32), lib.zeros(())),
    "ones": lambda lib: (lib.ones(2), lib.ones([2, 1], dtype=lib.bool)),
    "full": lambda lib: (
        lib.full((2,), 3), lib.full((2,), 3.5), lib.full((1,), True), lib.full((1,), 1j),
        lib.full((2,), 300, dtype=lib.int32), lib.full((1,), lib.tensor(2.0)),
        lib.full((2,), np.float32(1)), lib.full((2,), np.int32(1)),
        lib.full((2,), lib.tensor(2.0, dtype=lib.float64)),
    ),
    "eye": lambda lib: (lib.eye(2), lib.eye(2, 3, dtype=lib.int64), lib.eye(0), lib.eye(3, 1)),
    "arange": lambda lib: (
        lib.arange(5), lib.arange(1, 4), lib.arange(5, 0, -2), lib.arange(0, 1, 0.3),
        lib.arange(3.0), lib.arange(0.5, 4, dtype=lib.int64), lib.arange(2, dtype=lib.float64),
        lib.arange(1, 1), lib.arange(end=4), lib.arange(np.int64(3)), lib.arange(np.float32(2)),
        lib.arange(0.0, -8.000001, -4.0, dtype=lib.int64),
    ),
    "linspace": lambda lib: (
        lib.linspace(0, 1, 5), lib.linspace(3, -2, 4, dtype=lib.float64), lib.linspace(1, 2, 1),
        lib.linspace(1, 2, 0), lib.linspace(-5, 10, 7, dtype=lib.int32), lib.linspace(0, 1j, 3),
        lib.linspace(lib.tensor(1.0), lib.tensor(2.0), 3),
        lib.linspace(0.5, 3.7, 5, dtype=lib.int64), lib.linspace(np.float64(0), 1, np.int64(3)),
    ),
    "logspace": lambda lib: (
        lib.logspace(0, 2, 3, dtype=lib.float64), lib.logspace(0, 3, 4, base=2.0),
        lib.logspace(0, 1.5, 5, base=2, dtype=lib.int64), lib.logspace(0, 2, 3, base=-2),
    ),
    "triangles": lambda lib: (
        lib.tril_indices(3, 4), lib.triu_indices(4, 3, -1),
        lib.tril_indices(2, 2, 1, dtype=lib.int32),
    ),
    "tensor": lambda lib: (
        lib.tensor([[1, 2]]), lib.tensor([1.0]), lib.tensor(True), lib.tensor([]), lib.tensor(2j),
        lib.tensor([1, 2.5]), lib.tensor(np.ones(2, "int8")), lib.tensor([lib.tensor(1), 2]),
        lib.tensor(np.float32(3)), lib.tensor([1], dtype=lib.float64),
    ),
    "like": lambda lib: (
        lib.zeros_like(lib.tensor([1, 2])), lib.ones_like(lib.tensor([1.0]), dtype=lib.int64),
        lib.full_like(lib.zeros(2), 3), lib.full_like(lib.zeros(2, dtype=lib.uint8), -9),
    ),
    "new": lambda lib: (
        lib.tensor([1]).new_zeros(2), lib.tensor([1.0]).new_ones((2, 1)),
        lib.tensor([1]).new_full((2,), 5), lib.zeros(1).new_tensor([1, 2]),
        lib.tensor([1]).new_zeros(2, dtype=lib.float64),
    ),
    "as_tensor": lambda lib: (lib.as_tensor([1.0]), lib.as_tensor(3), lib.from_numpy(np.ones(2))),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:.*complex:UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_results_of_creation_functions_are_pytorchs(name: str) -> None:
    compare(CASES[name], orders=0)


SPACED_KINDS = ("float16", "float32", "float64", "complex64", "complex128", "int64", "uint8")


@pytest.mark.parametrize("kind", SPACED_KINDS)
@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_spaced_numbers_are_torchs_to_the_last_digit(torch: Any, name: str, kind: str) -> None:
    draw = np.random.default_rng(3)
    for steps in (2, 3, 7, 8, 50, 101, 1000):
        ends = (draw.random(2) * 2).tolist() if "int" in kind else draw.normal(size=2).tolist()
        if kind.startswith("complex"):
            ends = [complex(end, 0.3 - end / 2) for end in ends]
        ours, theirs = (
            getattr(lib, name)(*ends, steps, dtype=getattr(lib, kind)) for lib in (tt, torch)
        )
        if name == "logspace" and kind in ("float64", "complex64", "complex128"):
            # The powers are the C library's, which NumPy's do not follow to the last digit.
            rtol = 1e-6 if kind == "complex64" else 1e-14
            np.testing.assert_allclose(ours.cpu().numpy(), theirs.numpy(), rtol=rtol)
        else:
            np.testing.assert_array_equal(ours.cpu().numpy(), theirs.numpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.empty(2, 3), lambda lib: lib.empty((), dtype=lib.int32),
        lambda lib: lib.empty_like(lib.zeros(2, 3)), lambda lib: lib.zeros(1).new_empty((2, 3)),
        lambda lib: lib.empty_strided((2, 3), (1, 2)),
        lambda lib: lib.empty_strided((2, 0), (5, 1)),
        lambda lib: lib.empty_permuted((2, 3, 4), (2, 0, 1)),
        lambda lib: lib.zeros(1).new_empty_strided((2, 3), (4, 1)),
    ],
)  # fmt: skip
def test_uninitialised_memory_has_torchs_shape_and_strides(torch: Any, call: Any) -> None:
    ours, theirs = call(tt), call(torch)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    if ours.numel():
        assert ours.stride() == theirs.stride()


def test_creation_functions_accept_requires_grad_and_out() -> None:
    assert tt.zeros(2, requires_grad=True).requires_grad
    out = tt.empty(3, dtype=tt.float64)
    assert tt.linspace(0, 1, 3, out=out) is out and out.tolist() == [0, 0.5, 1]
    with pytest.raises(RuntimeError, match="does not match dtype of out"):
        tt.zeros(3, dtype=tt.int64, out=out)


def test_tensor_copies_and_as_tensor_shares() -> None:
    x = tt.ones(2)
    assert tt.as_tensor(x) is x
    with pytest.warns(UserWarning, match="To copy construct from a tensor"):
        copy = tt.tensor(x)
    x.fill_(5)
    assert copy.tolist() == [1, 1]


def test_strided_memory_can_be_written() -> None:
    x = tt.empty_strided((2, 2), (1, 2))
    x.copy_(tt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert x.tolist() == [[1, 2], [3, 4]]


def test_creation_functions_use_the_default_dtype() -> None:
    with tt.default_dtype_context(tt.float64):
        for made in (tt.zeros(1), tt.eye(1), tt.linspace(0, 1, 2), tt.arange(1.0), tt.tensor(1.0)):
            assert made.dtype is tt.float64


NUMPY_SPELLINGS: dict[str, Any] = {
    "linspace": lambda lib: lib.linspace(start=1, stop=3, num=5),
    "linspace positional": lambda lib: lib.linspace(0, 1),
    "linspace num": lambda lib: lib.linspace(0, 1, num=3),
    "logspace": lambda lib: lib.logspace(start=0, stop=2, num=3),
    "eye N": lambda lib: lib.eye(N=3),
    "eye N, M": lambda lib: lib.eye(N=3, M=2),
    "eye M": lambda lib: lib.eye(2, M=3),
    "eye k": lambda lib: lib.eye(3, k=1),
    "eye positional": lambda lib: lib.eye(3, 4, 1),
    "zeros": lambda lib: lib.zeros(shape=(2, 3)),
    "ones": lambda lib: lib.ones(shape=3),
    "full": lambda lib: lib.full(shape=(2,), fill_value=2.5),
    "arange": lambda lib: lib.arange(start=1, stop=6, step=2),
    "arange stop": lambda lib: lib.arange(stop=3),
    "dtype by name": lambda lib: lib.zeros(2, dtype="int32"),
    "dtype of NumPy's": lambda lib: lib.ones(2, dtype=np.float16),
}


@pytest.mark.parametrize("name", NUMPY_SPELLINGS)
def test_creation_functions_accept_numpys_keywords(name: str) -> None:
    ours, theirs = NUMPY_SPELLINGS[name](tt).numpy(), NUMPY_SPELLINGS[name](np)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert ours.shape == theirs.shape


def test_result_type_and_can_cast_are_pytorchs(torch: Any) -> None:
    for call in (
        lambda lib: lib.result_type(lib.tensor([1]), 1.5),
        lambda lib: lib.result_type(lib.ones(2, dtype=lib.float16), lib.tensor(1.0)),
        lambda lib: lib.result_type(1, True),
    ):
        assert call(tt).name == str(call(torch)).removeprefix("torch.")
    for a in ("bool", "int32", "float64", "complex64"):
        for b in ("uint8", "float32", "complex128"):
            ours, theirs = (lib.can_cast(getattr(lib, a), getattr(lib, b)) for lib in (tt, torch))
            assert ours == theirs


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "negative size": (lambda: tt.zeros(-1), RuntimeError, "negative dimension -1"),
    "float size": (lambda: tt.zeros(1.5), TypeError, "must be tuple of ints"),
    "eye": (lambda: tt.eye(-1), RuntimeError, "n must be greater or equal to 0, got -1"),
    "eye of a float": (lambda: tt.eye(2.5), TypeError, "'n' must be int, not float"),
    "arange step": (lambda: tt.arange(0, 3, 0), RuntimeError, "step must be nonzero"),
    "arange sign": (lambda: tt.arange(0, -3), RuntimeError, "inconsistent with step sign"),
    "arange inf": (lambda: tt.arange(0, math.inf), RuntimeError, "unsupported range: 0 -> inf"),
    "arange bool": (lambda: tt.arange(3, dtype=tt.bool), NotImplementedError, "Bool"),
    "linspace": (lambda: tt.linspace(0, 1, -1), RuntimeError, "steps must be non-negative"),
    "linspace steps": (lambda: tt.linspace(0, 1, 2.0), TypeError, "invalid combination"),
    "linspace tensor": (
        lambda: tt.linspace(tt.ones(2), 1, 2), RuntimeError, "0-dimensional start and end"
    ),
    "linspace complex": (
        lambda: tt.linspace(1j, 2, 3, dtype=tt.float32), RuntimeError, "to type Float without"
    ),
    "tril_indices": (lambda: tt.tril_indices(-1, 2), RuntimeError, "non-negative"),
    "empty_strided": (lambda: tt.empty_strided((2,), (1, 1)), RuntimeError, "dimensionality"),
    "empty_permuted": (lambda: tt.empty_permuted((2, 3), (0, 0)), RuntimeError, "Duplicate dim"),
    "arange of nothing": (lambda: tt.arange(), TypeError, "missing required argument 'end'"),
    "both spellings": (lambda: tt.zeros(2, shape=3), TypeError, "multiple values .*'size'"),
    "from_numpy": (lambda: tt.from_numpy([1]), TypeError, r"expected np.ndarray \(got list\)"),
    "dtype": (lambda: tt.tensor(np.array(["a"])), TypeError, "supported types are"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_use_of_creation_functions_is_refused(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


def test_first_cast_to_bfloat16_of_a_process_casts() -> None:
    pytest.importorskip("ml_dtypes")

    def first_cast() -> None:
        import tinytorch as tt

        print(tt.ones(1, dtype=tt.float64).bfloat16().dtype)

    assert fresh.run(first_cast).strip() == "tinytorch.bfloat16"
