"""Attention with a mask beside ``is_causal``, which PyTorch takes where its kernel is fused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare_functional

RNG = np.random.default_rng(0)
MASK = np.array([[True, True, False], [True, False, True]])


def randn(*shape: int) -> Any:
    return RNG.standard_normal(shape)


@pytest.mark.torch
@pytest.mark.parametrize("lengths", [(2, 3), (3, 3)])
def test_a_mask_and_is_causal_apply_together(lengths: tuple[int, int]) -> None:
    queries, keys = lengths
    given = randn(2, 2, queries, 4), randn(2, 2, keys, 4), randn(2, 2, keys, 4)
    masks = [np.ones((queries, keys), bool), np.ones((2, 1, queries, keys), bool)]
    for mask in masks:
        mask[..., -1, 0] = False
        compare_functional("scaled_dot_product_attention", *given, mask, is_causal=True)
    mask = MASK if queries == 2 else np.ones((1, 3), bool)
    compare_functional("scaled_dot_product_attention", *given, mask, is_causal=True)


@pytest.mark.torch
def test_a_mask_and_is_causal_apply_together_to_groups_of_heads() -> None:
    given = randn(1, 4, 2, 3), randn(1, 2, 3, 3), randn(1, 2, 3, 3)
    compare_functional(
        "scaled_dot_product_attention", *given, MASK, is_causal=True, enable_gqa=True
    )


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ((tt.ones(2, 2, 4), tt.ones(2, 3, 4), tt.ones(2, 3, 4)), {}),
        ((tt.ones(1, 2, 2, 4), tt.ones(1, 2, 3, 4), tt.ones(1, 2, 3, 5)), {}),
        ((tt.ones(1, 2, 2, 4), tt.ones(1, 2, 3, 4), tt.ones(1, 2, 3, 4)), {"dropout_p": 0.5}),
    ],
)
def test_a_mask_with_is_causal_is_refused_where_pytorch_refuses_it(
    given: Any, options: Any
) -> None:
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set"):
        tt.nn.functional.scaled_dot_product_attention(
            *given, attn_mask=tt.tensor(MASK), is_causal=True, **options
        )
