"""h5py keeps tensors in files."""

from __future__ import annotations

from pathlib import Path

import pytest

import tinytorch as tt

h5py = pytest.importorskip("h5py")


def test_h5py_writes_and_reads_tensors(tmp_path: Path) -> None:
    x = tt.arange(6, dtype=tt.int16).reshape(2, 3)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = x
        file.create_dataset("y", data=x.T, compression="gzip")
        file.create_dataset("z", shape=(2, 3), dtype=x.dtype)[:, 1] = x[:, 1]
        file["x"].attrs["scale"] = tt.tensor(0.5)
    with h5py.File(tmp_path / "x.h5") as file:
        assert tt.equal(tt.tensor(file["x"][:]), x)
        assert tt.equal(tt.tensor(file["y"][...]), x.T)
        assert file["z"][:].tolist() == [[0, 1, 0], [0, 4, 0]]
        assert file["x"].attrs["scale"] == 0.5
