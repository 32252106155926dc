"""safetensors keeps tensors in files."""

from __future__ import annotations

from pathlib import Path

import pytest

import tinytorch as tt
from tests.fresh import program
from tests.runner import Runner

numpy_files = pytest.importorskip("safetensors.numpy")


def test_safetensors_saves_and_loads_tensors(tmp_path: Path) -> None:
    tensors = {"a": tt.arange(6.0).reshape(2, 3), "b": tt.tensor([True, False]), "c": tt.ones(())}
    tensors["turned"] = tensors["a"].T.contiguous()
    numpy_files.save_file(tensors, tmp_path / "x.safetensors")
    for loaded in (
        numpy_files.load_file(tmp_path / "x.safetensors"),
        numpy_files.load(numpy_files.save(tensors)),
    ):
        assert all(tt.equal(tt.tensor(loaded[name]), tensors[name]) for name in tensors)


def test_safetensors_torch_works_where_tinytorch_is_installed_as_torch(runner: Runner) -> None:
    def saves_and_loads() -> None:
        import torch
        from safetensors.torch import load_file, load_model, save_file, save_model

        save_file({"a": torch.arange(3.0)}, "x.safetensors", metadata={"format": "pt"})
        print(load_file("x.safetensors")["a"].tolist())
        model, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        save_model(model, "m.safetensors")
        load_model(other, "m.safetensors")
        print(torch.equal(model.weight, other.weight))

    assert runner.output("-c", program(saves_and_loads)) == "[0.0, 1.0, 2.0]\nTrue\n"
