"""pandas makes series and frames of tensors, and tensors are made of them."""

from __future__ import annotations

import pytest

import tinytorch as tt

pd = pytest.importorskip("pandas")


def test_series_and_frames_are_made_of_tensors_and_back() -> None:
    series = pd.Series(tt.tensor([1.0, 2.0]), name="x")
    assert series.dtype == "float32" and series.sum() == 3
    frame = pd.DataFrame(tt.arange(6).reshape(2, 3), columns=[*"abc"])
    assert frame["b"].tolist() == [1, 4] and frame.dtypes.eq("int64").all()
    assert tt.tensor(frame.to_numpy()).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tt.tensor(frame["c"]).tolist() == [2, 5]


def test_tensors_can_be_columns_and_operands_of_pandas() -> None:
    frame = pd.DataFrame({"x": tt.tensor([1.0, 2.0]), "y": tt.tensor([1, 0], dtype=tt.bool)})
    frame["z"] = tt.tensor([3.0, 5.0])
    assert frame.loc[frame["y"], "z"].tolist() == [3.0]
    assert (frame["x"] + tt.tensor([1.0, 1.0])).tolist() == [2.0, 3.0]
