"""Which dtypes products of matrices and vectors take together, and which factors of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_all_close

Call = Callable[..., Any]

#: Each takes the library and ``x`` of one dtype, then ``y`` of another; both are 2 x 2.
PRODUCTS: dict[str, tuple[Call, str]] = {
    "mm": (lambda m, x, y: m.mm(x, y), "same dtype"),
    "matmul": (lambda m, x, y: x @ y, "same dtype"),
    "mv": (lambda m, x, y: m.mv(x, y[0]), "addmv input tensors must have the same dtype"),
    "bmm": (lambda m, x, y: m.bmm(x[None], y[None]), "expected scalar type"),
    "dot": (lambda m, x, y: m.dot(x[0], y[0]), "both vectors to have same dtype"),
    "vdot": (lambda m, x, y: m.vdot(x[0], y[0]), "both vectors to have same dtype"),
    "addmm": (lambda m, x, y: m.addmm(x, y, y), "self and mat2 must have the same dtype"),
    "addmv": (lambda m, x, y: m.addmv(x[0], y, y[0]), "addmv input tensors must have the same"),
    "addbmm": (lambda m, x, y: m.addbmm(x, y[None], y[None]), "self and mat2 must have the same"),
    "baddbmm": (lambda m, x, y: m.baddbmm(x[None], y[None], y[None]), "dtypes must be the same"),
    "einsum": (lambda m, x, y: m.einsum("ij,jk", x, y), "expected scalar type"),
    "tensordot": (lambda m, x, y: m.tensordot(x, y, 1), "both inputs should have same dtype"),
    "inner": (lambda m, x, y: m.inner(x, y), "both inputs should have same dtype"),
    "cross": (lambda m, x, y: m.cross(three(m, x), three(m, y), dim=-1), "expected scalar type"),
    "linalg.cross": (
        lambda m, x, y: m.linalg.cross(three(m, x), three(m, y)), "expected scalar type",
    ),
}  # fmt: skip

#: Products that promote.
PROMOTE: dict[str, Call] = {
    "outer": lambda m, x, y: m.outer(x[0], y[0]),
    "addr": lambda m, x, y: m.addr(x, y[0], y[1]),
    "kron": lambda m, x, y: m.kron(x, y),
    "einsum without sums": lambda m, x, y: m.einsum("ij,jk->ijk", x, y),
    "inner with a 0-d tensor": lambda m, x, y: m.inner(x[0, 0], y),
}

MIXED = [
    ("float32", "float64"), ("float32", "int64"), ("int64", "float32"), ("int64", "int32"),
    ("complex64", "float32"),
]  # fmt: skip

#: What adds a product: the function and the dimensions of its arguments.
ADDED = {
    "addmm": (2, 2, 2), "addmv": (1, 2, 1), "addr": (2, 1, 1), "baddbmm": (3, 3, 3),
    "addbmm": (2, 3, 3),
}  # fmt: skip

FACTORS: list[complex] = [
    2, 2.0, 0.5, 2.75, -1.5, 0.0, True, False, 300, 1 + 0j, 1j, math.nan, 1e300
]  # fmt: skip


def three(m: Any, x: Any) -> Any:
    return m.cat([x, x[:, :1]], 1)


def of(library: Any, dtype: str, shape: tuple[int, ...] = (2, 2)) -> Any:
    values = np.arange(1, 1 + math.prod(shape)).reshape(shape)
    return library.tensor(values.astype(dtype))


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize(("first", "second"), MIXED)
def test_products_refuse_two_dtypes_where_pytorchs_do(
    torch: Any, name: str, first: str, second: str
) -> None:
    call, text = PRODUCTS[name]
    for library in (torch, tt):
        with pytest.raises(RuntimeError, match=text):
            call(library, of(library, first), of(library, second))


@pytest.mark.parametrize("name", PROMOTE)
@pytest.mark.parametrize(("first", "second"), MIXED)
def test_products_promote_dtypes_where_pytorchs_do(
    torch: Any, name: str, first: str, second: str
) -> None:
    ours, theirs = (PROMOTE[name](m, of(m, first), of(m, second)) for m in (tt, torch))
    assert_all_close(ours, theirs)


def test_vecdot_names_both_dtypes(torch: Any) -> None:
    for library in (torch, tt):
        with pytest.raises(RuntimeError, match="found x of type Float and y of type Long"):
            library.linalg.vecdot(of(library, "float32"), of(library, "int64"))


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "complex64"])
@pytest.mark.parametrize("factor", FACTORS)
def test_factors_are_cut_or_refused_as_in_torch(
    torch: Any, name: str, dtype: str, factor: complex
) -> None:
    shapes = [(2,) * ndim for ndim in ADDED[name]]
    for at in ("alpha", "beta"):
        ours, theirs = ([of(m, dtype, shape) for shape in shapes] for m in (tt, torch))
        try:
            wanted = getattr(torch, name)(*theirs, **{at: factor})
        except RuntimeError as error:
            text = str(error).rstrip(".").split(" c10::")[0]
            with pytest.raises(RuntimeError, match=text):
                getattr(tt, name)(*ours, **{at: factor})
        else:
            assert_all_close(getattr(tt, name)(*ours, **{at: factor}), wanted)
