"""Reading and writing selected elements: by index, by mask, by slices, by strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare, complexes, numbers
from tinytorch.autograd import gradcheck, gradgradcheck

X = numbers(3, 4)
SMALL = numbers(3, 2, seed=3)
Z = complexes(3, 4)
MASK = np.array([[True, False, True, False], [False] * 4, [True] * 4])
ROWS = np.array([2, 0, 2])
GRID = np.array([[0, 2, 1], [1, 1, 0]])
SRC = numbers(2, 3, seed=5)

CASES: dict[str, tuple[Any, ...]] = {
    "an int": (lambda lib, x: x[1], X),
    "a slice": (lambda lib, x: x[1:, ::2], X),
    "none and ellipsis": (lambda lib, x: x[None, ..., -1], X),
    "an index": (lambda lib, x, i: x[i], X, ROWS),
    "negative indices": (lambda lib, x, i: x[i], X, -ROWS - 1),
    "two indices": (lambda lib, x, i: x[i, i + 1], X, ROWS),
    "an index after a slice": (lambda lib, x, i: x[:, i], X, ROWS),
    "a mask": (lambda lib, x, m: x[m], X, MASK),
    "a mask of rows": (lambda lib, x: x[lib.tensor([True, False, True])], X),
    "a list": (lambda lib, x: x[[0, 2, 0]], X),
    "a grid": (lambda lib, x, i: x[i], X, GRID),
    "an empty index": (lambda lib, x, i: x[i], X, np.zeros(0, int)),
    "index_select": (lambda lib, x, i: lib.index_select(x, 1, i), X, ROWS),
    "index_select of a number": (lambda lib, x: x.index_select(0, lib.tensor([0])), np.array(2.0)),
    "gather": (lambda lib, x, i: lib.gather(x, 0, i), X, GRID),
    "gather complex": (lambda lib, x, i: x.gather(1, i), Z, GRID),
    "gather of transposed": (lambda lib, x, i: x.t().gather(1, i), X, GRID),
    "take": (lambda lib, x, i: lib.take(x, i), X, np.array([[0, -1], [5, 5]])),
    "take_along_dim": (lambda lib, x, i: lib.take_along_dim(x, i, 1), X, GRID[:1]),
    "take_along_dim flat": (lambda lib, x, i: lib.take_along_dim(x, i), X, GRID),
    "masked_select": (lambda lib, x, m: lib.masked_select(x, m), X, MASK[:1]),
    "nonzero": (
        lambda lib, m: (lib.nonzero(m), lib.argwhere(m), *lib.nonzero(m, as_tuple=True)), MASK
    ),
    "nonzero of numbers": (lambda lib, x: (lib.nonzero(x), *x.nonzero(as_tuple=True)), np.array(3)),
    "nonzero_static": (lambda lib, m: lib.nonzero_static(m, size=8, fill_value=-2), MASK),
    "where": (lambda lib, m: lib.where(m), MASK),
    "select": (lambda lib, x: lib.select(x, 1, -1), X),
    "narrow": (lambda lib, x: lib.narrow(x, 1, -3, 2), X),
    "narrow by tensor": (lambda lib, x: lib.narrow(x, 0, lib.tensor(1), 2), X),
    "unfold": (lambda lib, x: x.unfold(1, 3, 1), X),
    "unfold of a number": (lambda lib, x: x.unfold(0, 1, 1), np.array(2.0)),
    "diagonal": (lambda lib, x: lib.diagonal(x, 1), X),
    "as_strided": (lambda lib, x: lib.as_strided(x, (2, 3), (1, 2), 1), X),
    "as_strided of a view": (lambda lib, x: x[1:].as_strided((2,), (3,)), X),
    "as_strided of overlap": (lambda lib, x: x.as_strided((4, 3), (1, 1)), X),
    "select_scatter": (lambda lib, x, s: lib.select_scatter(x, s, 0, 1), X, X[0] * 2),
    "slice_scatter": (lambda lib, x, s: lib.slice_scatter(x, s, 1, 0, 4, 2), X, SMALL),
    "diagonal_scatter": (lambda lib, x, s: lib.diagonal_scatter(x, s, -1), X, numbers(2)),
    "scatter": (lambda lib, x, i, s: lib.scatter(x, 0, i, s), X, GRID, SRC),
    "scatter number": (lambda lib, x, i: lib.scatter(x, 1, i, 2.5), X, GRID),
    "scatter add": (lambda lib, x, i: lib.scatter(x.detach(), 1, i, 2.5, reduce="add"), X, GRID),
    "scatter_add": (lambda lib, x, i, s: x.scatter_add(0, i, s), X, GRID, SRC),
    "scatter_add complex": (lambda lib, x, i, s: x.scatter_add(1, i, s), Z, GRID, complexes(2, 3)),
    "index_add": (lambda lib, x, i, s: lib.index_add(x, 0, i, s, alpha=2), X, ROWS, X),
    "index_add columns": (lambda lib, x, i, s: x.index_add(1, i, s), X, ROWS, numbers(3, 3)),
    "index_copy": (lambda lib, x, i, s: lib.index_copy(x, 0, i, s), X, ROWS[:2], X[:2] * 2),
    "index_fill": (lambda lib, x, i: lib.index_fill(x, 1, i, 2.0), X, ROWS),
    "index_fill tensor": (lambda lib, x, i, v: x.index_fill(0, i, v), X, ROWS, np.array(2.0)),
    "index_put": (lambda lib, x, i, v: lib.index_put(x, (i, i), v), X, ROWS[:2], numbers(2)),
    "index_put adding": (
        lambda lib, x, i, v: x.index_put((i,), v, accumulate=True), X, ROWS, numbers(4)
    ),
    "put": (lambda lib, x, i, v: lib.put(x, i, v), X, np.array([3, -1]), numbers(2)),
    "put adding": (lambda lib, x, i, v: x.put(i, v, True), X, np.array([3, 3]), numbers(2)),
    "masked_fill": (lambda lib, x, m, v: lib.masked_fill(x, m, v), X, MASK, np.array(2.0)),
    "masked_scatter": (lambda lib, x, m, s: lib.masked_scatter(x, m, s), X, MASK, numbers(9)),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES)
def test_results_and_derivatives_of_indexing_functions_are_pytorchs(name: str) -> None:
    call, *arrays = CASES[name]
    compare(call, *arrays)


@pytest.mark.torch
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("mode", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce_is_torchs(mode: str, include_self: bool) -> None:
    def call(lib: Any, x: Any, i: Any, s: Any) -> Any:
        return [lib.scatter_reduce(x, d, i, s, mode, include_self=include_self) for d in (0, 1)]

    source = np.array([[0.0, 2.0, 3.0], [1.0, -4.0, 5.0]])
    compare(call, X, GRID, source)
    for dtype in ("int64", "uint8"):
        compare(call, (X * 3).astype("int64").astype(dtype), GRID, np.abs(source).astype(dtype))


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("mode", ["prod", "mean", "amax", "amin"])
def test_index_reduce_is_torchs(mode: str, include_self: bool) -> None:
    compare(
        lambda lib, x, i, s: lib.index_reduce(x, 1, i, s, mode, include_self=include_self),
        X, ROWS, numbers(3, 3),
    )  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
@pytest.mark.parametrize("mode", ["prod", "mean", "amax", "amin"])
def test_in_place_index_reduce_is_recorded(mode: str) -> None:
    """The rules of some want the value that was written over."""

    def call(lib: Any, x: Any, index: Any, source: Any) -> Any:
        rows = x.clone().index_reduce_(1, index, source, mode)
        constant = x.detach().clone().index_reduce_(1, index, source, mode)
        part = x.clone()
        part[1:].scatter_reduce_(1, index.expand(1, 3), source[:1], mode)
        return rows, constant, part

    compare(call, X, ROWS, numbers(3, 3))


@pytest.mark.parametrize("name", ["prod", "amax", "mean"])
def test_derivatives_of_scatter_reduce_are_finite_differences(name: str) -> None:
    x, s = (tt.tensor(a, requires_grad=True) for a in (X, SRC + 0.05))
    index = tt.tensor(GRID)
    call = lambda x, s: tt.scatter_reduce(x, 1, index, s, name)  # noqa: E731
    assert gradcheck(call, (x, s)) and gradgradcheck(call, (x, s))


@pytest.mark.torch
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.select(0, 1).mul_(2), lambda x: x.narrow(1, 1, 2).zero_(),
        lambda x: x.diagonal().add_(1), lambda x: x.unfold(1, 2, 2).mul_(3),
        lambda x: x.as_strided((2,), (5,)).fill_(7), lambda x: x.t()[1].neg_(),
    ],
)  # fmt: skip
def test_views_can_be_written_to(call: Any) -> None:
    def program(library: Any, leaf: Any) -> Any:
        x = leaf * 1
        call(x)
        return x

    compare(program, X)


@pytest.mark.torch
def test_writing_by_index_is_torchs() -> None:
    def program(library: Any, leaf: Any, value: Any) -> Any:
        x = leaf * 1
        x[library.tensor([0, 2])] = value
        x[:, 1] = 5
        x[x > 2] = value[0, 0]
        x[1, library.tensor([0, 3])] *= 2
        return x

    compare(program, X, numbers(2, 4, seed=7))


@pytest.mark.filterwarnings("ignore:index_reduce")
def test_in_place_indexing_functions_write_their_target() -> None:
    i = tt.tensor([0, 0])
    for name, arguments in {
        "scatter_": (0, i, tt.ones(2)), "scatter_add_": (0, i, tt.ones(2)),
        "index_add_": (0, i, tt.ones(2)), "index_copy_": (0, i[:1], tt.ones(1)),
        "index_fill_": (0, i, 3.0), "put_": (i, tt.ones(2)), "index_put_": ((i,), tt.ones(2)),
        "masked_fill_": (tt.tensor([True, False]), 4.0),
        "masked_scatter_": (tt.tensor([True, False]), tt.ones(1)),
        "scatter_reduce_": (0, i, tt.ones(2), "sum"),
        "index_reduce_": (0, i, tt.ones(2), "mean"),
    }.items():  # fmt: skip
        x = tt.zeros(2)
        assert getattr(x, name)(*arguments) is x and x.tolist()[0] != 0 and x.tolist()[1] == 0


def test_repeated_indices_of_many_rows_are_summed() -> None:
    index = np.random.RandomState(0).randint(0, 5, 200)
    rows = numbers(200, 3)
    expected = np.zeros((5, 3))
    np.add.at(expected, index, rows)
    x = tt.tensor(numbers(5, 3), requires_grad=True)
    x[tt.tensor(index)].backward(tt.tensor(rows))
    np.testing.assert_allclose(x.grad, expected)
    found = tt.zeros(5, 3, dtype=tt.float64).index_add(0, tt.tensor(index), tt.tensor(rows))
    np.testing.assert_allclose(found, expected)


def test_take_and_select_accept_numpys_arguments() -> None:
    x = tt.tensor(X)
    np.testing.assert_array_equal(
        tt.take(x, tt.tensor([[0, 1]]), axis=1), np.take(X, [[0, 1]], axis=1)
    )
    chosen = tt.select([x < -1, x > 1], [x, x * 2], 0)
    np.testing.assert_array_equal(chosen, np.select([X < -1, X > 1], [X, X * 2], 0))


@pytest.mark.torch
def test_as_strided_scatter_follows_torchs_gradient() -> None:
    call = lambda lib, x, s: lib.as_strided_scatter(x, s, (2, 2), (1, 2), 1)  # noqa: E731
    compare(call, X, numbers(2, 2), orders=1)


INDEX = tt.tensor([0, 5])
ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "index": (lambda: tt.ones(3)[INDEX], IndexError, "index 5 is out of bounds.*size 3"),
    "index_select": (
        lambda: tt.index_select(tt.ones(3), 0, INDEX), IndexError,
        r"index_select\(\): index out of range in self: index 5 is out of bounds .* with size 3",
    ),
    "index_select of a number": (
        lambda: tt.index_select(tt.tensor(3.0), 0, tt.tensor([0, 0])), RuntimeError,
        r"Index to scalar can have only 1 value, got 2 value\(s\)",
    ),
    "index_select dtype": (
        lambda: tt.index_select(tt.ones(3), 0, tt.ones(1)), RuntimeError, "dtype int32/int64"
    ),
    "index_select shape": (
        lambda: tt.index_select(tt.ones(3), 0, tt.tensor([[0]])), IndexError, "to be a vector"
    ),
    "gather": (lambda: tt.gather(tt.ones(3), 0, INDEX), RuntimeError, "index 5 is out of bounds"),
    "gather negative": (
        lambda: tt.gather(tt.ones(3), 0, tt.tensor([-1])), RuntimeError, "index -1 is out of bounds"
    ),
    "gather dims": (
        lambda: tt.gather(tt.ones(3, 3), 0, INDEX), RuntimeError, "same number of dimensions"
    ),
    "gather size": (
        lambda: tt.gather(tt.ones(1, 1), 1, tt.zeros(2, 2, dtype=tt.int64)), RuntimeError,
        "Size does not match at dimension 0",
    ),
    "scatter dtype": (
        lambda: tt.scatter(tt.ones(3), 0, INDEX, tt.ones(2, dtype=tt.float64)), RuntimeError,
        "self.dtype to be equal to src.dtype",
    ),
    "scatter dims": (
        lambda: tt.scatter(tt.ones(3), 0, tt.tensor([0, 1]), tt.ones(2, 2)), RuntimeError,
        "same number of dimensions as src tensor",
    ),
    "scatter mode": (
        lambda: tt.scatter(tt.ones(3), 0, INDEX, 1.0, reduce="mean"), RuntimeError,
        "add or multiply",
    ),
    "scatter_add": (
        lambda: tt.scatter_add(tt.ones(3), 0, INDEX, tt.ones(2)), RuntimeError, "index 5 is out of"
    ),
    "scatter_reduce": (
        lambda: tt.scatter_reduce(tt.ones(3), 0, INDEX, tt.ones(2), "median"), RuntimeError,
        "got median",
    ),
    "index_add shape": (
        lambda: tt.index_add(tt.ones(3, 2), 0, tt.tensor([0]), tt.ones(2)), RuntimeError,
        r"Got self.shape = \[3, 2\] source.shape = \[2\]",
    ),
    "index_copy count": (
        lambda: tt.index_copy(tt.ones(3), 0, tt.tensor([0]), tt.ones(2)), IndexError,
        r"Number of indices \(1\)",
    ),
    "index_fill": (
        lambda: tt.index_fill(tt.ones(3), 0, INDEX, tt.ones(1)), RuntimeError, "0-dimensional value"
    ),
    "index_reduce": (
        lambda: tt.index_reduce(tt.ones(3), 0, INDEX, tt.ones(2), "sum"), RuntimeError,
        "but got sum",
    ),
    "index_put": (
        lambda: tt.index_put(tt.ones(3), (INDEX,), tt.tensor([1])), RuntimeError,
        "Index put requires",
    ),
    "take": (
        lambda: tt.take(tt.ones(3), INDEX), IndexError, "access index 5 on a tensor of 3 elements"
    ),
    "put": (
        lambda: tt.put(tt.ones(3), tt.tensor([0]), tt.ones(2)), IndexError, "number of elements"
    ),
    "take_along_dim": (
        lambda: tt.take_along_dim(tt.ones(3), tt.ones(3), 0), RuntimeError, "should be Long"
    ),
    "masked_select": (lambda: tt.masked_select(tt.ones(2), tt.ones(2)), RuntimeError, "BoolTensor"),
    "masked_fill": (
        lambda: tt.masked_fill(tt.ones(2), tt.ones(2), 1.0), RuntimeError, "boolean masks"
    ),
    "masked_fill complex": (
        lambda: tt.ones(2).masked_fill(tt.tensor(True), 1j), RuntimeError, "without overflow"
    ),
    "masked_scatter": (
        lambda: tt.ones(2).masked_scatter(tt.tensor([True, True]), tt.ones(1)), RuntimeError,
        "number of elements of source < number of ones in mask",
    ),
    "select": (lambda: tt.select(tt.ones(2), 0, 2), IndexError, "index 2 out of range"),
    "select number": (lambda: tt.select(tt.tensor(1), 0, 0), IndexError, "0-dim tensor"),
    "narrow": (lambda: tt.narrow(tt.ones(3), 0, 2, 2), RuntimeError, "exceeds dimension size"),
    "narrow start": (lambda: tt.narrow(tt.ones(3), 0, 4, 0), IndexError, "start out of range"),
    "unfold": (lambda: tt.ones(3).unfold(0, 4, 1), RuntimeError, "maximum size for tensor"),
    "as_strided": (lambda: tt.ones(3).as_strided((2,), (3,)), RuntimeError, "out of bounds"),
    "select_scatter": (
        lambda: tt.select_scatter(tt.ones(2, 3), tt.ones(2), 0, 0), RuntimeError,
        "equal to the slice of self",
    ),
    "nonzero_static": (
        lambda: tt.nonzero_static(tt.ones(2), size=-1), RuntimeError, "non-negative integer"
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
@pytest.mark.parametrize("name", ERRORS)
def test_wrong_use_of_indexing_functions_is_refused(name: str) -> None:
    call, error, text = ERRORS[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[np.array([0, 2])],
        lambda x: x[np.array([[0], [2]]), np.array([1, 3])],
        lambda x: x[:, np.array([0, -1])],
        lambda x: x[np.array([True, False, True])],
        lambda x: x[MASK],
        lambda x: x[np.int64(1), np.array(2)],
    ],
)
def test_numpy_arrays_index_tensors(call: Any) -> None:
    values = numbers(3, 4)
    np.testing.assert_array_equal(call(tt.tensor(values)).numpy(), call(values))


def test_numpy_arrays_say_where_to_write() -> None:
    values, x = numbers(3, 4), tt.tensor(numbers(3, 4))
    for target in (values, x):
        target[np.array([0, 2])] = 5.0
        target[:, np.array([False, True, False, True])] = -1.0
    np.testing.assert_array_equal(x.numpy(), values)


#: What cannot be written, by index and value; PyTorch says the same.
MISFITS: dict[str, tuple[Any, Any]] = {
    "a row": (lambda lib: 0, lambda lib: lib.ones(2)),
    "all": (lambda lib: slice(None), lambda lib: lib.ones(2)),
    "part of a row": (lambda lib: (0, slice(1, 3)), lambda lib: lib.ones(3)),
    "dots": (lambda lib: ..., lambda lib: lib.ones(4)),
    "none": (lambda lib: None, lambda lib: lib.ones(4)),
    "an index": (lambda lib: [0], lambda lib: lib.ones(2)),
    "a mask of rows": (lambda lib: lib.tensor([True, False]), lambda lib: lib.ones(2)),
    "a mask": (lambda lib: lib.zeros(2, 3) == 0, lambda lib: lib.ones(2)),
    "a text": (lambda lib: 0, lambda lib: "a"),
    "nothing": (lambda lib: 0, lambda lib: None),
}


@pytest.mark.parametrize("name", MISFITS)
def test_assigning_a_value_that_does_not_fit_raises_pytorchs_error(torch: Any, name: str) -> None:
    index, value = MISFITS[name]
    said = []
    for library in (tt, torch):
        x = library.zeros(2, 3)
        with pytest.raises((RuntimeError, TypeError)) as caught:
            x[index(library)] = value(library)
        said.append((caught.type, str(caught.value)))
        assert not x.any()
    assert said[0] == said[1]


def test_more_dimensions_than_the_part_has_are_refused() -> None:
    for value in (tt.ones(2, 3), tt.ones(1, 2, 3)):
        with pytest.raises(RuntimeError, match="must be greater or equal to the number of dim"):
            tt.zeros(2, 3)[0] = value


def test_steps_along_inserted_dimensions_are_torchs(torch: Any) -> None:
    found = []
    for library in (tt, torch):
        x = library.ones(2, 3)
        views = (
            x[None], x[:, None], x[None, :, None], x[0, None], x[..., None], x.T[None],
            library.ones(1, 4)[:, None], library.ones(3).expand(2, 3)[None],
            library.ones(1, 3).expand(1, 3), library.ones(3).expand(1, 3),
            library.ones(1).expand(4), library.broadcast_to(library.ones(1, 3), (2, 1, 3)),
        )  # fmt: skip
        found.append([tuple(view.stride()) for view in views])
    assert found[0] == found[1]


def test_sums_of_many_halves_do_not_stop() -> None:
    """In float16 they would: 2048 + 1 is 2048."""
    if tt.get_backend() != "numpy":
        pytest.skip("atomic additions of CUDA's are in float16, PyTorch's too")
    ones, at = tt.ones(10_000, 8, dtype=tt.float16), tt.zeros(10_000, dtype=tt.int64)
    x = tt.zeros(2, 8, dtype=tt.float16, requires_grad=True)
    every = at[:, None].expand(10_000, 8)
    for sums in (x.scatter_add(0, every, ones), x.index_add(0, at, ones)):
        assert sums.tolist() == [[10_000.0] * 8, [0.0] * 8]
    (x.gather(0, every).sum() + x[at].sum()).backward()
    assert x.grad[:, 0].tolist() == [20_000.0, 0.0]
