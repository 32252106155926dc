"""Similarities of rows of different dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare_functional

FLOATS = np.array([[0.5, -1.0, 2.0], [0.0, 3.0, 1.5]])


@pytest.mark.torch
@pytest.mark.parametrize("other", ["int64", "uint8", "bool", "float32"])
def test_cosine_similarity_of_integers_and_floats_is_pytorchs(other: str) -> None:
    compare_functional("cosine_similarity", FLOATS, (FLOATS > 0).astype(other))
    compare_functional("cosine_similarity", (FLOATS > 0).astype(other), np.array(1.5), dim=0)


@pytest.mark.parametrize("dtype", [tt.bool, tt.int64, tt.complex64])
def test_cosine_similarity_of_other_dtypes_than_floats_is_refused(dtype: tt.dtype) -> None:
    x = tt.ones(2, 3, dtype=dtype)
    with pytest.raises(RuntimeError, match="expected common dtype to be floating point"):
        tt.cosine_similarity(x, x)
