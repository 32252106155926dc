"""Dask's arrays whose chunks are arrays of NumPy's dialect, or tensors turned into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp
from tests.calls import words

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.skipif(
    "config.getoption('--backend') != 'numpy'", reason="Dask cuts memory of the CPU alone"
)


@pytest.fixture(autouse=True)
def in_this_thread() -> Iterator[None]:
    with dask.config.set(scheduler="sync"):
        yield


def written(x: Any, key: Any, value: Any) -> Any:
    x = x.copy()
    x[key] = value
    return x


#: Uses of Dask's arrays of one dimension, and of three rows and four columns.
USES: list[Callable[[Any, Any], Any]] = [
    lambda x, m: x[[1, 0]], lambda x, m: x[[0, 0, 1]], lambda x, m: x[::-1], lambda x, m: x[x > 5],
    lambda x, m: x[1], lambda x, m: m[:, [2, 0]], lambda x, m: m[[2, 0]], lambda x, m: m[1],
    lambda x, m: m.vindex[[0, 2], [1, 3]], lambda x, m: m[da.from_array(np.array([2, 0]))],
    lambda x, m: written(m, (slice(None), 0), 0), lambda x, m: written(m, m > 5, -1),
    lambda x, m: written(m, ([0, 2],), 7), lambda x, m: written(m, (0, 1), 7),
    lambda x, m: da.percentile(x, [50]), lambda x, m: da.percentile(m.ravel(), [25, 50]),
    lambda x, m: da.median(m, axis=0), lambda x, m: da.searchsorted(x, x), lambda x, m: x + x,
    lambda x, m: da.take(m, [2, 0], axis=1), lambda x, m: da.compress([True, False, True], m, 0),
    lambda x, m: m @ m.T, lambda x, m: m.std(axis=0), lambda x, m: x.argmax(),
    lambda x, m: da.where(m > 3, m, 0), lambda x, m: np.sin(m), lambda x, m: da.unique(x),
    lambda x, m: m.map_blocks(lambda block: block + 1), lambda x, m: da.concatenate([m, m]),
]  # fmt: skip


@pytest.mark.parametrize("convert", [tnp.array, tt.tensor], ids=["arrays", "tensors"])
@pytest.mark.parametrize("use", USES, ids=words)
def test_dask_computes_the_same_of_tinytorchs_arrays(
    use: Callable[[Any, Any], Any], convert: Callable[[Any], Any]
) -> None:
    def found(of: Callable[[Any], Any]) -> Any:
        x, m = np.arange(2) * 10 + 5, np.arange(12.0).reshape(3, 4)
        return use(da.from_array(of(x), chunks=2), da.from_array(of(m), chunks=2)).compute()

    ours, theirs = found(convert), found(lambda array: array)
    np.testing.assert_allclose(np.asarray(ours), theirs)
    assert np.shape(ours) == np.shape(theirs)


@pytest.mark.parametrize("convert", [tnp.array, tt.tensor], ids=["arrays", "tensors"])
def test_dask_arrays_of_tinytorchs_arrays_have_numpys_dtypes(convert: Callable[[Any], Any]) -> None:
    array = da.from_array(convert(np.arange(3)), chunks=2)
    assert array.dtype == np.dtype(np.int64) and isinstance(array.dtype, np.dtype)
    assert isinstance(array.compute(), tnp.ndarray)
