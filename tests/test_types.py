"""``tinytorch.types``, the names that programs annotate with, and annotations at run time."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, get_type_hints

import pytest

import tinytorch as tt
from tinytorch import nn


def test_names_of_types_are_pytorchs(torch: Any) -> None:
    for name in (*tt.types.__all__, "_size", "_int", "_float", "_bool", "_dtype", "_device"):
        assert hasattr(tt.types, name) and hasattr(torch.types, name)


def test_names_of_types_refer_to_tinytorchs_classes() -> None:
    assert isinstance(tt.device("cpu"), tt.types.Device)
    assert isinstance(2.5, tt.types.Number) and not isinstance("2", tt.types.Number)
    assert tt.types.Tensor is tt.Tensor and tt.types.Size is tt.Size
    assert isinstance(tt.ones(1).untyped_storage(), tt.types.Storage)
    assert tt.types._dtype is tt.dtype and tt.types._device is tt.device


@pytest.mark.parametrize("space", ["nn", "optim", "utils.data", "distributions", "autograd"])
def test_annotations_of_classes_can_be_read(space: str) -> None:
    """Libraries look for annotations of their own in classes that derive from these."""
    home = attrgetter(space)(tt)
    kinds = {kind for name in dir(home) if isinstance(kind := getattr(home, name), type)}
    for annotated in {base for kind in kinds for base in kind.__mro__} | {tt.Tensor}:
        get_type_hints(annotated)

    class Model(nn.Module):
        config: int

    assert get_type_hints(Model)["config"] is int
