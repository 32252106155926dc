"""pyarrow takes tensors for arrays."""

from __future__ import annotations

import pytest

import tinytorch as tt

pa = pytest.importorskip("pyarrow")


def test_arrow_arrays_and_tables_are_made_of_tensors() -> None:
    assert pa.array(tt.tensor([1.5, 2.5])).equals(pa.array([1.5, 2.5], pa.float32()))
    assert pa.array(tt.tensor([1, 2]), type=pa.int8()).type == pa.int8()
    table = pa.table({"a": tt.arange(3), "b": tt.tensor([True, False, True])})
    assert table.to_pydict() == {"a": [0, 1, 2], "b": [True, False, True]}
    assert tt.from_numpy(table["a"].to_numpy().copy()).tolist() == [0, 1, 2]


def test_arrow_arrays_of_matrices_are_refused() -> None:
    with pytest.raises(pa.ArrowInvalid, match="1-dimensional"):
        pa.array(tt.ones(2, 2))
