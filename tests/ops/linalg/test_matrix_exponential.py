"""The exponential of matrices: every degree and halving, edges, and PyTorch's rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.ops.linalg.matrices import draw
from tinytorch.ops.linalg import matrix_functions


@pytest.fixture(params=[None, 20], ids=["whole", "in parts"], autouse=True)
def most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many elements are exponentiated at a time, of a batch of matrices."""
    if request.param:
        monkeypatch.setattr(matrix_functions, "_CHUNK_ELEMENTS", request.param)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 30.0])
def test_matrix_exp_is_right_at_any_scale(scale: float) -> None:
    a = draw(3, 4, 4) * scale * np.array([1.0, 0.1, 3.0])[:, None, None]
    values, vectors = np.linalg.eig(a)
    wanted = (vectors * np.exp(values)[:, None, :] @ np.linalg.inv(vectors)).real
    if scale == 0:
        wanted = np.broadcast_to(np.eye(4), a.shape)
    np.testing.assert_allclose(
        tt.linalg.matrix_exp(tt.tensor(a)).numpy(), wanted, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("dtype", [tt.float32, tt.float64])
def test_matrix_exp_of_rotations_is_right_at_any_angle(dtype: Any) -> None:
    """Every angle below asks for another polynomial or number of squarings."""
    angles = np.array([0.0, 1e-16, 1e-8, 2e-4, 9e-4, 4e-2, 0.25, 0.5, 1.0, 2.0, 3.0, 7.0, 50.0])
    cosine, sine, zero = np.cos(angles), np.sin(angles), 0 * angles
    wanted = np.array([[cosine, -sine], [sine, cosine]]).transpose(2, 0, 1)
    a = tt.tensor(np.array([[zero, -angles], [angles, zero]]).transpose(2, 0, 1), dtype=dtype)
    found = tt.linalg.matrix_exp(a).numpy()
    bound = 8 * np.finfo(found.dtype).eps * np.maximum(angles, 1)[:, None, None]
    assert (abs(found - wanted) < bound).all()
    if tt.get_backend() != "cupy":  # where cuBLAS adds those of a batch in another order
        bound *= 0
    for one, alone, rounding in zip(found, a, bound):
        assert (abs(tt.linalg.matrix_exp(alone).numpy() - one) <= rounding).all()


def test_matrix_exp_of_infinity_and_nan_is_nan() -> None:
    a = tt.tensor([[[math.nan, 1.0], [0.0, 1.0]], [[math.inf, 1.0], [0.0, 1.0]], [[0.0, 0.0]] * 2])
    found = tt.linalg.matrix_exp(a).numpy()
    assert np.isnan(found[:2]).all() and (found[2] == np.eye(2)).all()


def test_matrix_exp_rounds_as_pytorchs(torch: Any) -> None:
    a = (draw(4, 5, 5) * 4).astype("float32")
    found = tt.linalg.matrix_exp(tt.tensor(a)).numpy()
    wanted = torch.matrix_exp(torch.tensor(a)).numpy()
    size = abs(wanted)
    if tt.get_backend() != "numpy":  # adds in another order: what cancels shows the largest
        size = size.max((1, 2), keepdims=True)
    assert (abs(found - wanted) <= 1e-6 * size).all()
