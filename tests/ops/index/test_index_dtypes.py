"""Indices are int64, also where addresses have 32 bits: in the browser's Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.fresh import run

Call = Callable[[], Any]


def number_rows() -> tt.Tensor:
    return tt.tensor([[3.0, 1.0, 2.0, float("nan")], [1.0, 1.0, 0.0, 2.0]])


def long_rows() -> tt.Tensor:
    return tt.arange(15_000.0).sin().view(3, 5000)


def integers() -> tt.Tensor:
    return tt.tensor([1, 0, 2])


#: Calls of which all results are indices or counts.
INDICES: dict[str, Call] = {
    "sort": lambda: number_rows().sort().indices, "sort, long": lambda: long_rows().sort().indices,
    "sort, stable": lambda: number_rows().sort(stable=True, descending=True).indices,
    "argsort": lambda: number_rows().argsort(), "argsort, long": lambda: long_rows().argsort(),
    "argsort of integers": lambda: integers().argsort(descending=True),
    "topk": lambda: number_rows().topk(2).indices, "topk, long": lambda: long_rows().topk(3)[1],
    "topk, smallest": lambda: number_rows().topk(2, largest=False).indices,
    "kthvalue": lambda: number_rows().kthvalue(2).indices,
    "kthvalue, long": lambda: long_rows().kthvalue(9).indices,
    "median": lambda: number_rows().median(1).indices,
    "median, long": lambda: long_rows().median(1).indices,
    "nanmedian": lambda: number_rows().nanmedian(1).indices,
    "mode": lambda: number_rows().mode(1).indices,
    "multinomial": lambda: tt.multinomial(tt.ones(3), 2),
    "multinomial with replacement": lambda: tt.multinomial(tt.ones(3), 5, replacement=True),
    "categorical": lambda: tt.distributions.Categorical(tt.ones(3)).sample(),
    "where": lambda: tt.where(number_rows() > 1), "nonzero": lambda: number_rows().nonzero(),
    "nonzero as a tuple": lambda: number_rows().nonzero(as_tuple=True),
    "argwhere": lambda: tt.argwhere(number_rows()), "argmax": lambda: number_rows().argmax(),
    "argmax of rows": lambda: number_rows().argmax(1), "argmin": lambda: number_rows().argmin(0),
    "max": lambda: number_rows().max(1).indices, "min": lambda: number_rows().min(1).indices,
    "cummax": lambda: number_rows().cummax(1).indices,
    "cummin": lambda: number_rows().cummin(1).indices,
    "unique": lambda: tt.unique(number_rows(), return_inverse=True, return_counts=True)[1:],
    "unique rows": lambda: tt.unique(
        number_rows(), return_inverse=True, return_counts=True, dim=0)[1:],
    "unique_consecutive": lambda: tt.unique_consecutive(
        number_rows(), return_inverse=True, return_counts=True)[1:],
    "searchsorted": lambda: tt.searchsorted(tt.tensor([1.0, 2.0]), number_rows()),
    "bucketize": lambda: tt.bucketize(number_rows(), tt.tensor([1.0, 2.0])),
    "bincount": lambda: tt.bincount(integers()),
    "count_nonzero": lambda: [tt.count_nonzero(number_rows(), dim=d) for d in (None, 0)],
    "randperm": lambda: tt.randperm(4), "tril_indices": lambda: tt.tril_indices(3, 3),
    "triu_indices": lambda: tt.triu_indices(3, 3),
    "one_hot": lambda: tt.nn.functional.one_hot(integers()),
    "max_pool1d": lambda: tt.nn.functional.max_pool1d(
        number_rows()[:, None], 2, return_indices=True)[1],
    "adaptive_max_pool1d": lambda: tt.nn.functional.adaptive_max_pool1d(
        number_rows()[:, None], 2, return_indices=True)[1],
    "fractional_max_pool2d": lambda: tt.nn.functional.fractional_max_pool2d(
        tt.ones(1, 1, 8, 8), 2, output_size=3, return_indices=True)[1],
    "unravel_index": lambda: tt.unravel_index(integers(), (2, 2)),
    "repeat_interleave": lambda: tt.repeat_interleave(integers()),
    "vmap": lambda: tt.func.vmap(lambda row: row.argmax())(number_rows()),
    "numpy.argsort": lambda: tnp.argsort([3, 1, 2]), "numpy.where": lambda: tnp.where([True]),
    "numpy.nonzero": lambda: tnp.nonzero([0, 1]), "numpy.argmax": lambda: tnp.argmax([1, 2]),
    "numpy.flatnonzero": lambda: tnp.flatnonzero([0, 1]),
    "numpy.argwhere": lambda: tnp.argwhere([0, 1]),
    "numpy.searchsorted": lambda: tnp.searchsorted([1, 2], [1]),
    "numpy.digitize": lambda: tnp.digitize([1.0], [0.0, 2.0]),
    "numpy.bincount": lambda: tnp.bincount([1, 2]),
    "numpy.unique": lambda: tnp.unique([1.0], True, True, True)[1:],
    "numpy.argpartition": lambda: tnp.argpartition([3, 1, 2], 1),
    "numpy.lexsort": lambda: tnp.lexsort(([1, 2], [2, 1])),
    "numpy.nanargmax": lambda: tnp.nanargmax([1.0, 2.0]),
    "numpy.indices": lambda: tnp.indices((2, 2)),
    "numpy.unravel_index": lambda: tnp.unravel_index([1], (2, 2)),
    "numpy.ravel_multi_index": lambda: tnp.ravel_multi_index(([1], [1]), (2, 2)),
    "numpy.tril_indices": lambda: tnp.tril_indices(2),
    "numpy.diag_indices": lambda: tnp.diag_indices(2),
    "numpy.histogram": lambda: tnp.histogram([1.0, 2.0], bins=2)[0],
    "numpy.intersect1d": lambda: tnp.intersect1d([1, 2], [2], return_indices=True),
    "numpy.random.permutation": lambda: tnp.random.permutation(3),
    "numpy.random.choice": lambda: tnp.random.choice(5, 2),
    "numpy.random of integers": lambda: [tnp.random.randint(9), tnp.random.randint(9, size=2),
                                         tnp.random.poisson(3, 2), tnp.random.binomial(3, 0.5, 2)],
}  # fmt: skip
#: Integers that nobody gave a dtype, and sums of smaller ones.
INTEGERS: dict[str, Call] = {
    "tensor": lambda: [tt.tensor([1, 2]), tt.tensor(1), tt.asarray([1, 2]), tt.full((2,), 1)],
    "arange": lambda: [tt.arange(3), tnp.arange(3), tnp.array([1, 2]), tnp.zeros(2, int)],
    "sum": lambda: [integers().to(kind).sum(0) for kind in (tt.bool, tt.uint8, tt.int32)],
    "prod": lambda: [integers().to(kind).prod() for kind in (tt.bool, tt.uint8, tt.int32)],
    "cumsum": lambda: [integers().to(kind).cumsum(0) for kind in (tt.bool, tt.uint8, tt.int32)],
    "cumprod": lambda: integers().int().cumprod(0), "trace": lambda: tt.ones(2, 2).int().trace(),
    "nansum": lambda: integers().int().nansum(), "where": lambda: tt.where(tt.tensor(True), 1, 0),
    "operators": lambda: [integers() + 1, 2 * integers(), 2 ** integers(), -integers(),
                          integers() // 2, integers() & 1, integers() << 1, integers().bool() + 1],
    "products": lambda: [integers() @ integers(), tt.einsum("i,j", integers(), integers())],
    "numpy's sums": lambda: [tnp.sum([True]), tnp.cumsum([True]), tnp.count_nonzero([1, 0])],
}  # fmt: skip
CALLS = {**INDICES, **{f"{name} of integers": call for name, call in INTEGERS.items()}}


def dtypes_of(value: Any) -> set[str]:
    if isinstance(value, (tuple, list)):
        return set().union(*map(dtypes_of, value))
    return {"int64" if type(value) is int else value.dtype.name}


@pytest.mark.parametrize("name", CALLS)
def test_indices_returned_by_operations_are_int64(name: str) -> None:
    assert dtypes_of(CALLS[name]()) == {"int64"}


def told() -> None:
    """Print the dtypes of the results of all calls."""
    print(json.dumps({name: sorted(dtypes_of(call())) for name, call in CALLS.items()}))


@pytest.fixture(scope="module")
def in_the_browser() -> Any:
    """The dtypes in a process whose NumPy has indices of 32 bits."""

    def program() -> None:
        import importlib

        importlib.import_module("tests.narrow_indices")
        import numpy

        assert numpy.argsort([1]).dtype == numpy.sum([True]).dtype == "int32"
        from tests.ops.index.test_index_dtypes import told

        told()

    return json.loads(run(program))


@pytest.mark.parametrize("name", CALLS)
def test_indices_are_int64_where_numpys_default_is_int32(in_the_browser: Any, name: str) -> None:
    assert in_the_browser[name] == ["int64"]


def test_integers_of_c_are_known_by_their_size() -> None:
    """Where C's int and long have one size NumPy gives frexp's exponents as either."""
    xp = tt.backends.load("numpy")
    for char in "bBhHiIlLqQ":
        array = xp.library.zeros(2, char)
        assert tt.from_numpy(array).dtype.itemsize == array.itemsize
    assert tt.frexp(tt.tensor([6.0])).exponent.dtype is tt.int32
