"""Multi-head attention: against its formula in NumPy, finite differences and PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import (
    assert_same_behavior,
    assert_same_error,
    has_second_derivatives,
    host,
    numbers,
)

EMBED, HEADS, TIME, BATCH = 6, 2, 4, 3


def softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attend(layer: Any, query: Any, key: Any, value: Any, bias: Any = 0.0) -> tuple[Any, Any]:
    """Output and weights of a layer whose inputs are batch first, by the formula."""
    heads, size = layer.num_heads, layer.embed_dim
    weight, offset = host(layer.in_proj_weight.detach()), host(layer.in_proj_bias.detach())
    parts = []
    for at, x in enumerate((query, key, value)):
        rows = slice(at * size, (at + 1) * size)
        y = x @ weight[rows].T + offset[rows]
        parts.append(y.reshape(len(x), -1, heads, size // heads).transpose(0, 2, 1, 3))
    q, k, v = parts
    weights = softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(size // heads) + bias)
    joined = (weights @ v).transpose(0, 2, 1, 3).reshape(query.shape)
    out = joined @ host(layer.out_proj.weight.detach()).T + host(layer.out_proj.bias.detach())
    return out, weights


def build(lib: Any = tt, kind: Any = None, **options: Any) -> Any:
    """A float64 layer with the same weights in both libraries, its biases included."""
    kind = kind or lib.nn.MultiheadAttention
    layer = kind(EMBED, HEADS, batch_first=True, dtype=lib.float64, **options)
    with lib.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            values = np.random.RandomState(seed).standard_normal(tuple(parameter.shape))
            parameter.copy_(lib.tensor(values))
    return layer


def inputs(*sizes: int) -> list[Any]:
    return [numbers(BATCH, n, EMBED, seed=i) / 10 for i, n in enumerate(sizes)]


def tensors(arrays: list[Any], lib: Any = tt) -> list[Any]:
    return [lib.tensor(array, requires_grad=True) for array in arrays]


def test_output_and_weights_are_the_formulas() -> None:
    layer, arrays = build(), inputs(TIME, 5, 5)
    out, weights = layer(*tensors(arrays), average_attn_weights=False)
    wanted, shares = attend(layer, *arrays)
    np.testing.assert_allclose(host(out.detach()), wanted, rtol=1e-12)
    np.testing.assert_allclose(host(weights.detach()), shares, rtol=1e-12)
    _, mean = layer(*tensors(arrays))
    np.testing.assert_allclose(host(mean.detach()), shares.mean(1), rtol=1e-12)
    assert layer(*tensors(arrays), need_weights=False)[1] is None


def test_boolean_masks_and_added_ones_are_the_formulas() -> None:
    layer, arrays = build(), inputs(TIME, TIME, TIME)
    future = np.triu(np.ones((TIME, TIME), bool), 1)
    bias = np.where(future, -np.inf, 0.0)
    wanted, _ = attend(layer, *arrays, bias=bias)
    for mask in (tt.tensor(future), tt.tensor(bias)):
        out, _ = layer(*tensors(arrays), attn_mask=mask)
        np.testing.assert_allclose(host(out.detach()), wanted, rtol=1e-12)
    padding = np.zeros((BATCH, TIME), bool)
    padding[0, 2:] = padding[2, 3] = True
    bias = np.where(padding, -np.inf, 0.0)[:, None, None, :]
    wanted, shares = attend(layer, *arrays, bias=bias)
    out, weights = layer(*tensors(arrays), key_padding_mask=tt.tensor(padding))
    np.testing.assert_allclose(host(out.detach()), wanted, rtol=1e-12)
    assert not host(weights.detach())[0, :, 2:].any()


def test_a_causal_output_does_not_depend_on_what_comes_later() -> None:
    layer, (x,) = build(), tensors(inputs(TIME))
    mask = tt.triu(tt.ones(TIME, TIME, dtype=tt.bool), 1)
    for time in range(TIME):
        out, _ = layer(x, x, x, attn_mask=mask)
        (slope,) = tt.autograd.grad(out[:, time].sum(), x)
        assert not slope[:, time + 1 :].any() and slope[:, time].any()


def test_derivatives_of_attention_are_finite_differences() -> None:
    layer = build()
    arguments = tensors(inputs(2, 3, 3))
    assert tt.autograd.gradcheck(lambda *x: layer(*x), arguments)
    assert has_second_derivatives(lambda *x: layer(*x), arguments)


def test_an_input_with_time_first_is_the_transposed_one() -> None:
    layer, arrays = build(), tensors(inputs(TIME, 5, 5))
    out, weights = layer(*arrays)
    layer.batch_first = False
    turned, same = layer(*(x.transpose(0, 1) for x in arrays))
    np.testing.assert_allclose(host(turned.detach()), host(out.transpose(0, 1).detach()))
    np.testing.assert_allclose(host(same.detach()), host(weights.detach()))


@pytest.mark.torch
@pytest.mark.parametrize("masks", ["attention", "padding", "both", "none", "per head"])
def test_merged_masks_are_pytorchs(masks: str) -> None:
    def use(lib: Any) -> Any:
        layer = build(lib)
        attention = lib.tensor(numbers(TIME, TIME))
        if masks == "per head":
            attention = lib.tensor(numbers(BATCH * HEADS, TIME, TIME))
        padding = lib.tensor(numbers(BATCH, TIME, seed=1))
        return layer.merge_masks(
            attention if masks in ("attention", "both", "per head") else None,
            padding if masks in ("padding", "both", "per head") else None,
            lib.zeros(BATCH, TIME, EMBED),
        )

    assert_same_behavior(use)


def test_an_override_of_merge_masks_is_called_in_evaluation() -> None:
    class Blind(tt.nn.MultiheadAttention):
        def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Any) -> Any:
            """Hide every key but the first one."""
            mask = tt.full((len(query), self.num_heads, TIME, TIME), -np.inf, dtype=tt.float64)
            mask[..., 0] = 0
            return mask, 2

    layer = build(kind=Blind).eval()
    (x,) = tensors(inputs(TIME))
    _, weights = layer(x, x, x)
    np.testing.assert_array_equal(host(weights.detach())[..., 0], 1)
    _, weights = layer.train()(x, x, x)
    assert (weights < 1).all()


@pytest.mark.torch
def test_wrong_sizes_raise_pytorchs_errors() -> None:
    for sizes in ((0, 1), (4, 0), (5, 2)):
        assert_same_error(lambda lib, sizes=sizes: lib.nn.MultiheadAttention(*sizes))


@pytest.mark.torch
def test_switches_of_the_attention_kernels_are_pytorchs() -> None:
    ours, theirs = (
        importlib.import_module(f"{lib}.nn.attention").SDPBackend for lib in ("tinytorch", "torch")
    )
    names = {name for name in vars(theirs) if name.isupper()}
    assert {name: int(getattr(theirs, name)) for name in names} == {
        each.name: each.value for each in ours
    }


def test_no_choice_of_attention_kernel_changes_the_result(lib: Any) -> None:
    attention = importlib.import_module(f"{lib.__name__}.nn.attention")
    q, k, v = tensors(inputs(TIME, 5, 5), lib)
    wanted = lib.nn.functional.scaled_dot_product_attention(q, k, v)
    for ways in (attention.SDPBackend.MATH, [attention.SDPBackend.MATH]):
        with attention.sdpa_kernel(ways):
            found = lib.nn.functional.scaled_dot_product_attention(q, k, v)
        np.testing.assert_allclose(host(found.detach()), host(wanted.detach()), rtol=1e-12)
    with pytest.raises(AssertionError, match="instance of SDPBackend"):
        with attention.sdpa_kernel("MATH"):
            pass
