"""Many tensors into one, one into many, grids and combinations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare, complexes, numbers
from tinytorch.autograd import gradcheck, gradgradcheck

A, B = numbers(2, 3), numbers(2, 3, seed=1)
X = numbers(4, 6)
V, W = numbers(3), numbers(2, seed=2)
CUBE = numbers(2, 4, 6)

CASES: dict[str, tuple[Any, ...]] = {
    "cat": (
        lambda lib, a, b: (lib.cat((a, b)), lib.concat([a, b], -1), lib.concatenate((a,))), A, B
    ),
    "cat complex": (lambda lib, a, b: lib.cat((a, b), 1), A, complexes(2, 3)),
    "cat with empty": (lambda lib, a: lib.cat((lib.zeros(0, dtype=lib.float64), a)), A),
    "stack": (lambda lib, a, b: (lib.stack((a, b)), lib.stack((a, b), -1)), A, B),
    "hstack": (lambda lib, a, b: (lib.hstack((a, b)), lib.hstack((a[0], b[0]))), A, B),
    "vstack": (lambda lib, a, b: (lib.vstack((a, b[0])), lib.row_stack((a[0], b[0]))), A, B),
    "dstack": (lambda lib, a, b: (lib.dstack((a, b)), lib.dstack((a[0], b[0]))), A, B),
    "column_stack": (lambda lib, a, b: lib.column_stack((a, b[:, 0], b)), A, B),
    "stacks of numbers": (lambda lib, a: (lib.hstack((a, a)), lib.vstack((a, a))), np.array(2.0)),
    "split": (lambda lib, x: (lib.split(x, 4, 1), x.split([1, 3]), x.split(3)), X),
    "split_with_sizes": (lambda lib, x: lib.split_with_sizes(x, [2, 0, 4], -1), X),
    "unsafe": (lambda lib, x: (lib.unsafe_split(x, 3), lib.unsafe_chunk(x, 3)), X),
    "chunk": (lambda lib, x: (lib.chunk(x, 3), x.chunk(4, 1), x.chunk(9)), X),
    "tensor_split": (
        lambda lib, x: (
            x.tensor_split(3), x.tensor_split((1, 3), 1), lib.tensor_split(x, (3, 1)),
            x.tensor_split((-1, 9)), x.tensor_split(lib.tensor([1, 2])),
        ), X,
    ),
    "hsplit": (lambda lib, x: (lib.hsplit(x, 3), x.hsplit((1, 2)), x[0].hsplit(2)), X),
    "hsplit, a tensor": (lambda lib, x: x[0].hsplit(lib.tensor(2, dtype=lib.int16)), X),
    "vsplit": (lambda lib, x: (lib.vsplit(x, 2), x.vsplit((1,))), X),
    "dsplit": (lambda lib, x: lib.dsplit(x, 3), CUBE),
    "unbind": (lambda lib, x: (lib.unbind(x), x.unbind(-1)), A),
    "one of several": (lambda lib, x: x.unbind()[1] * 2, A),
    "meshgrid": (lambda lib, v, w: lib.meshgrid(v, w, indexing="ij"), V, W),
    "meshgrid xy": (lambda lib, v, w: lib.meshgrid([v, w, v], indexing="xy"), V, W),
    "cartesian_prod": (lambda lib, v, w: (lib.cartesian_prod(v, w), lib.cartesian_prod(v)), V, W),
    "combinations": (
        lambda lib, v: [lib.combinations(v, r, b) for r in (1, 2, 3) for b in (False, True)], V
    ),
    "block_diag": (lambda lib, a, v, z: lib.block_diag(a, v, z), A, V, np.array(1.0)),
    "atleast": (
        lambda lib, z, v, a: (
            lib.atleast_1d(z), lib.atleast_2d(v, a), lib.atleast_3d(z, v, a), lib.atleast_2d(z)
        ), np.array(1.0), V, A,
    ),
    "unravel_index": (
        lambda lib, i: lib.unravel_index(i, (2, 3, 4)), np.array([[0, 23], [7, 5]])
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_results_and_derivatives_of_joining_are_pytorchs(name: str) -> None:
    call, *arrays = CASES[name]
    compare(call, *arrays)


def test_derivatives_of_joining_are_finite_differences() -> None:
    a, b = (tt.tensor(x, requires_grad=True) for x in (A, B))
    for call in (
        lambda a, b: tt.cat((a, b), 1), lambda a, b: tt.stack((a, b)),
        lambda a, b: tt.block_diag(a, b), lambda a, b: tt.tensor_split(a * b, (1,), 1),
        lambda a, b: (a + b).chunk(2, 1)[0],
    ):  # fmt: skip
        assert gradcheck(call, (a, b)) and gradgradcheck(call, (a, b))


@pytest.mark.torch
def test_cat_and_stack_promote_dtypes() -> None:
    assert tt.cat((tt.tensor([1]), tt.tensor([1.0]))).dtype is tt.float32
    assert tt.stack((tt.ones(1, dtype=tt.int32), tt.ones(1, dtype=tt.int64))).dtype is tt.int64
    small = (np.array([1], "uint8"), np.array([1], "int8"))
    compare(lambda lib, a, b: lib.hstack((a, b)), *small, orders=0)


def test_pieces_are_views_that_may_not_be_changed_alone() -> None:
    x = tt.ones(4, requires_grad=True) * 1
    first, second = x.split(2)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        first.add_(1)
    assert first._is_view() and second._is_view()
    y = tt.zeros(4)
    y.chunk(2)[1].fill_(3)
    assert y.tolist() == [0, 0, 3, 3]


def test_split_accepts_numpys_sections() -> None:
    x = tt.tensor(X)
    for ours, expected in (
        (tt.split(x, indices_or_sections=3, axis=1), np.split(X, 3, axis=1)),
        (tt.split(x, indices_or_sections=[1, 2]), np.split(X, [1, 2])),
        (tt.array_split(x, 3), np.array_split(X, 3)),
    ):
        assert len(ours) == len(expected)
        for a, b in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="equal division"):
        tt.split(x, indices_or_sections=4, axis=1)


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "cat of none": (lambda: tt.cat([]), ValueError, "non-empty list of Tensors"),
    "cat of a tensor": (lambda: tt.cat(tt.ones(2)), TypeError, "tuple of Tensors, not Tensor"),
    "cat of numbers": (lambda: tt.cat([tt.tensor(1)]), RuntimeError, "zero-dimensional tensor"),
    "cat sizes": (
        lambda: tt.cat([tt.ones(2, 3), tt.ones(3, 2)]), RuntimeError,
        "must match except in dimension 0. Expected size 3 but got size 2 for tensor number 1",
    ),
    "cat dims": (lambda: tt.cat([tt.ones(2, 3), tt.ones(2)]), RuntimeError, "same number of dim"),
    "stack": (lambda: tt.stack([tt.ones(2), tt.ones(3)]), RuntimeError, r"got \[2\] at entry 0"),
    "hstack": (lambda: tt.hstack([]), RuntimeError, "hstack expects a non-empty TensorList"),
    "split": (lambda: tt.ones(3).split(-1), RuntimeError, "split_size be non-negative"),
    "split 0": (lambda: tt.ones(3).split(0), RuntimeError, "can only be 0 if dimension size is 0"),
    "split sizes": (lambda: tt.ones(3).split([1, 1]), RuntimeError, "sum exactly to 3"),
    "split number": (lambda: tt.tensor(1).split(1), RuntimeError, "at least a 1-dimensional"),
    "chunk": (lambda: tt.ones(3).chunk(0), RuntimeError, "greater than 0, got: 0"),
    "tensor_split": (lambda: tt.ones(3).tensor_split(0), RuntimeError, "larger than 0, got 0"),
    "tensor_split floats": (
        lambda: tt.ones(3).tensor_split(tt.ones(2)), RuntimeError, "dtype of long"
    ),
    "hsplit": (lambda: tt.hsplit(tt.ones(3), 2), RuntimeError, "not divisible by the split_size 2"),
    "vsplit": (lambda: tt.vsplit(tt.ones(3), 1), RuntimeError, "at least 2 dimension"),
    "dsplit": (lambda: tt.dsplit(tt.ones(1, 1, 2), "a"), TypeError, "invalid combination"),
    "unbind": (lambda: tt.tensor(1).unbind(), IndexError, "tensor has no dimensions"),
    "meshgrid": (lambda: tt.meshgrid(tt.ones(1, 1)), RuntimeError, "Expected 0D or 1D tensor"),
    "meshgrid order": (
        lambda: tt.meshgrid(tt.ones(1), indexing="yx"), RuntimeError, "indexing must be one of"
    ),
    "cartesian_prod": (
        lambda: tt.cartesian_prod(tt.ones(1, 1)), RuntimeError, "Expect a 1D vector"
    ),
    "combinations": (lambda: tt.combinations(tt.ones(2), -1), RuntimeError, "non-negative number"),
    "block_diag": (lambda: tt.block_diag(tt.ones(1, 1, 1)), RuntimeError, "2 or fewer dimensions"),
    "block_diag of a number": (
        lambda: tt.block_diag(tt.ones(1), 3), TypeError, "expected Tensor as element 1 in argument"
    ),
    "unravel_index": (
        lambda: tt.unravel_index(tt.ones(1), (2,)), TypeError, "to be integer dtype"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_use_of_joining_is_refused(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("one", "other"), [("int8", "uint8"), ("float64", "float32"), ("int64", "int32")]
)
def test_numbers_count_less_in_the_dtype_of_block_diag(one: str, other: str) -> None:
    a, b = np.array(2, one), np.array([1, 3], other)
    compare(lambda lib, x, y: (lib.block_diag(x, y), lib.block_diag(x, x), lib.block_diag(x)), a, b)
    compare(lambda lib, x: lib.block_diag(), a, orders=0)
