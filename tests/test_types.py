"""``tinytorch.types``: the names that programs annotate with."""

from __future__ import annotations

import pytest

import tinytorch as tt


def test_names_are_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
    for name in (*tt.types.__all__, "_size", "_int", "_float", "_bool", "_dtype", "_device"):
        assert hasattr(tt.types, name) and hasattr(torch.types, name)


def test_they_mean_the_library_s_classes() -> None:
    assert isinstance(tt.device("cpu"), tt.types.Device)
    assert isinstance(2.5, tt.types.Number) and not isinstance("2", tt.types.Number)
    assert tt.types.Tensor is tt.Tensor and tt.types.Size is tt.Size
    assert isinstance(tt.ones(1).untyped_storage(), tt.types.Storage)
    assert tt.types._dtype is tt.dtype and tt.types._device is tt.device
