"""xarray keeps a tensor's numbers under names of dimensions."""

from __future__ import annotations

import pytest

import tinytorch as tt

xr = pytest.importorskip("xarray")
X = tt.arange(6.0).reshape(2, 3)


def test_xarray_reduces_tensors_by_dimension_name() -> None:
    array = xr.DataArray(X, dims=("a", "b"), coords={"b": tt.tensor([10, 20, 30])})
    assert array.mean("a").values.tolist() == [1.5, 2.5, 3.5]
    assert array.sel(b=20).values.tolist() == [1.0, 4.0]
    assert (array + array.isel(a=0)).values.tolist() == [[0, 2, 4], [3, 5, 7]]


def test_datasets_of_tensors_compute_and_convert_to_pandas() -> None:
    data = xr.Dataset({"x": (("a", "b"), X), "y": ("a", tt.tensor([1, 2]))})
    assert float((data["x"] * data["y"]).sum()) == 27.0
    assert data.to_dataframe()["x"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
