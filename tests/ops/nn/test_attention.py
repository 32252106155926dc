"""Attention: PyTorch's values and gradients, masks, groups of heads, edges, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, has_second_derivatives, host
from tinytorch.autograd import gradcheck

F: Any = tt.nn.functional
NAME = "scaled_dot_product_attention"
randn, rand = np.random.randn, np.random.rand


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"scale": 0.3},
        {"attn_mask": np.arange(15).reshape(3, 5) % 3 > 0},
        {"attn_mask": np.zeros((3, 5), bool)},
        {"attn_mask": np.arange(30.0).reshape(2, 3, 5) / 9},
    ],
)
def test_values_and_gradients_of_scaled_dot_product_attention_are_pytorchs(
    options: Any, dtype: str
) -> None:
    q, k, v = (randn(2, n, f).astype(dtype) for n, f in ((3, 4), (5, 4), (5, 7)))
    options = {
        name: value.astype(dtype) if getattr(value, "dtype", None) == "float64" else value
        for name, value in options.items()
    }
    compare_functional(NAME, q, k, v, grad=dtype != "float16", **options)


@pytest.mark.torch
def test_leading_dimensions_broadcast() -> None:
    compare_functional(NAME, randn(4, 3, 2), randn(2, 4, 5, 2), randn(2, 4, 5, 3))
    compare_functional(NAME, randn(3, 2), randn(5, 2), randn(5, 3))


@pytest.mark.torch
@pytest.mark.parametrize("mask", [None, (3, 5), (2, 1, 3, 5), (2, 4, 3, 5)])
def test_grouped_query_attention_is_pytorchs(mask: Any) -> None:
    q, k, v = randn(2, 4, 3, 6), randn(2, 2, 5, 6), randn(2, 2, 5, 6)
    compare_functional(
        NAME, q, k, v, attn_mask=None if mask is None else randn(*mask), enable_gqa=True
    )


def test_dropout_keeps_the_mean_and_zeroes_weights() -> None:
    tt.manual_seed(0)
    v = tt.eye(200, dtype=tt.float64)
    zeros = tt.zeros(200, 8, dtype=tt.float64)
    weights = host(F.scaled_dot_product_attention(zeros, zeros, v, dropout_p=0.25))
    assert set(np.round(np.unique(weights) * 150, 9)) == {0.0, 1.0}
    assert abs((weights > 0).mean() - 0.75) < 0.02


def leaf(*shape: int) -> Any:
    return tt.tensor(randn(*shape), requires_grad=True)


def test_attention_has_first_and_second_derivatives() -> None:
    given = (leaf(2, 2, 3), leaf(2, 4, 3), leaf(2, 4, 2), leaf(2, 4))
    assert gradcheck(F.scaled_dot_product_attention, given)
    assert has_second_derivatives(F.scaled_dot_product_attention, given)
    causal = (leaf(3, 2), leaf(3, 2), leaf(3, 2))
    assert has_second_derivatives(
        lambda *a: F.scaled_dot_product_attention(*a, is_causal=True), causal
    )


#: name: how queries, keys and values come from the heads ``(batch, length, heads, features)``.
LAYOUTS: dict[str, Any] = {
    "split heads": lambda t: [x.transpose(1, 2) for x in t],
    "whole heads": lambda t: [x.transpose(1, 2).contiguous() for x in t],
    "split queries": lambda t: (
        [t[0].transpose(1, 2)] + [x.transpose(1, 2).contiguous() for x in t[1:]]
    ),
    "heads first": lambda t: [x.permute(2, 0, 1, 3).transpose(0, 1) for x in t],
    "one image": lambda t: [x.transpose(1, 2)[0] for x in t],
    "features apart": lambda t: [x.transpose(1, 2).mT.contiguous().mT for x in t],
    "other values": lambda t: [x.transpose(1, 2) for x in (*t[:2], t[2][..., :2])],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_order_in_memory_is_pytorchs(torch: Any, layout: str, groups: bool, mask: bool) -> None:
    steps = []
    for library in (tt, torch):
        heads = 2 if groups else 6
        three = [library.ones(2, 3, n, 4) for n in (6, heads, heads)]
        options: Any = {"attn_mask": library.zeros(3, 3)} if mask else {}
        out = library.nn.functional.scaled_dot_product_attention(
            *LAYOUTS[layout](three), **options, enable_gqa=groups
        )
        steps.append(out.stride())
    assert steps[0] == steps[1]


def test_derivatives_of_heads_that_were_split_off(torch: Any) -> None:
    def call(*t: Any, **options: Any) -> Any:
        heads = (x.transpose(1, 2) for x in t)
        return F.scaled_dot_product_attention(*heads, **options).transpose(1, 2).view(2, 3, 16)

    x, y = (randn(2, 3, n, 4) for n in (4, 2))
    results = []
    for library in (tt, torch):
        leaves = [library.tensor(a.copy(), requires_grad=True) for a in (x, y, y)]
        heads = (t.transpose(1, 2) for t in leaves)
        out = library.nn.functional.scaled_dot_product_attention(*heads, enable_gqa=True)
        (out * out).sum().backward()
        results.append([host(out), *(host(t.grad) for t in leaves)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    small = [leaf(2, 3, 4, 4) for _ in range(3)]
    assert gradcheck(lambda *t: call(*t, is_causal=True), small)
    assert has_second_derivatives(call, small)


@pytest.mark.torch
def test_large_scores_do_not_overflow() -> None:
    compare_functional(NAME, 1e4 * randn(2, 3), 1e4 * randn(4, 3), randn(4, 2))


@pytest.mark.parametrize(
    ("shapes", "options", "text"),
    [
        (((3,), (4, 3), (4, 5)), {}, "at least 2 dimensional"),
        (((2, 4), (5, 3), (5, 4)), {}, "Expected size for first two dimensions"),
        (((2, 4), (5, 4), (6, 4)), {}, "Expected size for first two dimensions"),
        (((2, 4), (5, 4), (5, 4)), {"attn_mask": np.ones((2, 5), int)}, "attn_mask dtype"),
        (((2, 4), (5, 4), (5, 4)), {"attn_mask": np.ones((2, 5), bool), "is_causal": True},
         "attn_mask should not be set"),
        (((2, 4), (5, 4), (5, 4)), {"attn_mask": np.ones((2, 4), bool)}, "must match|broadcast"),
        (((1, 4, 3, 2), (1, 3, 5, 2), (1, 3, 5, 2)), {"enable_gqa": True}, "Number of heads"),
    ],
)  # fmt: skip
def test_attention_refuses_wrong_arguments(shapes: Any, options: Any, text: str) -> None:
    assert_raises(NAME, RuntimeError, text, *(randn(*shape) for shape in shapes), **options)


def test_groups_need_a_dimension_of_heads() -> None:
    shared = tt.ones(3, 5, 2)
    with pytest.raises(RuntimeError, match="need a dimension of heads"):
        tt.nn.functional.scaled_dot_product_attention(
            tt.ones(4, 2), shared, shared, enable_gqa=True
        )


def test_attention_refuses_wrong_dtypes() -> None:
    q = randn(2, 3)
    assert_raises(NAME, RuntimeError, "have the same dtype", q, q.astype("float32"), q)
    assert_raises(NAME, RuntimeError, "but found Long", *(np.ones((2, 3), int) for _ in range(3)))
    assert_raises(NAME, TypeError, "argument 'key'", q, None, q)


# -- several heads ---------------------------------------------------------------------------------

MHA = "multi_head_attention_forward"
QUERIES, KEYS, BATCH, EMBED, HEADS = 3, 4, 2, 6, 2


def given(batched: bool) -> list[Any]:
    shapes = [(n, BATCH, EMBED) if batched else (n, EMBED) for n in (QUERIES, KEYS, KEYS)]
    return [randn(*shape) for shape in shapes]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("batched", "learnt", "zeros"), list(itertools.product([True, False], repeat=3))
)
def test_multi_head_attention_forward_is_pytorchs(batched: bool, learnt: bool, zeros: bool) -> None:
    bias = (randn(1, 1, EMBED), randn(1, 1, EMBED)) if learnt else (None, None)
    weights = randn(3 * EMBED, EMBED), randn(3 * EMBED)
    out = randn(EMBED, EMBED), randn(EMBED)
    args = (*given(batched), EMBED, HEADS, *weights, *bias, zeros, 0.0, *out)
    compare_functional(MHA, *args)
    compare_functional(MHA, *args, average_attn_weights=False)


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["bool", "numbers", "per head"])
def test_multi_head_attention_forward_with_masks_is_pytorchs(kind: str) -> None:
    mask = {
        "bool": np.triu(np.ones((QUERIES, KEYS), bool), 2),
        "numbers": randn(QUERIES, KEYS),
        "per head": randn(BATCH * HEADS, QUERIES, KEYS),
    }[kind]
    padding = np.zeros((BATCH, KEYS), bool)
    padding[0, -1] = True
    if kind != "bool":
        padding = np.where(padding, -np.inf, 0.0)
    args = (*given(True), EMBED, HEADS, randn(3 * EMBED, EMBED), None, None, None, False, 0.0,
            randn(EMBED, EMBED), None)  # fmt: skip
    compare_functional(MHA, *args, attn_mask=mask, key_padding_mask=padding)


@pytest.mark.torch
def test_separate_projections_accept_other_feature_sizes() -> None:
    q, k, v = randn(3, 2, 6), randn(4, 2, 5), randn(4, 2, 3)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    weights = {name: randn(6, n) for name, n in zip(names, (6, 5, 3), strict=True)}
    args = (6, 2, None, randn(18), None, None, False, 0.0, randn(6, 6), randn(6))
    compare_functional(MHA, q, k, v, *args, use_separate_proj_weight=True, **weights)


def test_multi_head_attention_without_weights_has_the_same_result() -> None:
    x = tt.tensor(randn(5, 2, 6))
    args = (x, x, x, 6, 3, tt.tensor(randn(18, 6)), None, None, None, False, 0.0,
            tt.tensor(randn(6, 6)), None)  # fmt: skip
    mask = tt.ones(5, 5, dtype=tt.bool).triu(1)
    with_weights, weights = F.multi_head_attention_forward(*args, attn_mask=mask)
    out, nothing = F.multi_head_attention_forward(
        *args, attn_mask=mask, need_weights=False, is_causal=True
    )
    assert nothing is None and tuple(weights.shape) == (2, 5, 5)
    np.testing.assert_allclose(host(out), host(with_weights), atol=1e-12)


@pytest.mark.parametrize(
    ("error", "text", "change"),
    [
        (AssertionError, "embedding dimension of 4", {"embed_dim_to_check": 4}),
        (AssertionError, "not divisible by num_heads", {"num_heads": 4}),
        (AssertionError, "unbatched 2D or batched 3D", {"query": np.ones(6)}),
        (AssertionError, "expected `attn_mask`", {"attn_mask": np.ones(3)}),
        (RuntimeError, "but should be", {"attn_mask": np.ones((3, 3))}),
        (AssertionError, "key_padding_mask shape", {"key_padding_mask": np.zeros((2, 3), bool)}),
        (AssertionError, "only bool and floating", {"attn_mask": np.zeros((3, 4), int)}),
        (RuntimeError, "Need attn_mask", {"is_causal": True}),
    ],
)
def test_multi_head_attention_refuses_wrong_arguments(error: Any, text: str, change: Any) -> None:
    q, k, v = given(True)
    named = {
        "query": q, "key": k, "value": v, "embed_dim_to_check": EMBED, "num_heads": HEADS,
        "in_proj_weight": randn(3 * EMBED, EMBED), "in_proj_bias": None, "bias_k": None,
        "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0,
        "out_proj_weight": randn(EMBED, EMBED), "out_proj_bias": None,
    }  # fmt: skip
    assert_raises(MHA, error, text, **{**named, **change})
