"""Reductions of ``tinytorch.numpy``: over some axes, all of them, and none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
import tinytorch.numpy as tnp


@pytest.mark.parametrize("axis", [None, (), 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions_in_tinytorch_numpy_are_numpys(name: str, axis: Any, keepdims: bool) -> None:
    a = np.random.randn(3, 4)
    wanted = getattr(np, name)(a, axis=axis, keepdims=keepdims)
    found = getattr(tnp, name)(tt.tensor(a), axis=axis, keepdims=keepdims)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.tolist(), wanted.tolist(), rtol=1e-14)


@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_no_axis_of_small_integers(name: str) -> None:
    a = np.array([3, 5], dtype="int32")
    wanted = getattr(np, name)(a, axis=())
    found = getattr(tnp, name)(tt.tensor(a), axis=())
    assert found.tolist() == wanted.tolist() and str(found.dtype) == f"tinytorch.{wanted.dtype}"
