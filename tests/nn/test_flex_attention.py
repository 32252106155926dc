"""``flex_attention`` and its masks against PyTorch's, and against plain attention."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.nn import functional as F
from tinytorch.nn.attention import flex_attention as flex

SCORES: dict[str, Any] = {
    "none": lambda library, bias: None,
    "bias": lambda library, bias: lambda s, b, h, q, k: s + bias[h, q, k],
    "causal": lambda library, bias: lambda s, b, h, q, k: library.where(q >= k, s * 0.5, -np.inf),
    "indices": lambda library, bias: lambda s, b, h, q, k: s + (q - k) * 0.1 * (h + 1) + b,
}
MASKS: dict[str, Any] = {
    "none": None,
    "causal": lambda b, h, q, k: q >= k,
    "nothing for some": lambda b, h, q, k: (q > k) & (h > 0),
}


def draw(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("f4")


def facts(blocks: Any) -> list[Any]:
    """What a mask says of its blocks."""
    if blocks is None:
        return []
    names = "kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices"
    return [*(getattr(blocks, name).numpy() for name in names), blocks.sparsity(),
            blocks.to_dense().numpy()]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # PyTorch's own, that the uncompiled form is slow
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_flex_attention(score: str, mask: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle")
    theirs = importlib.import_module("torch.nn.attention.flex_attention")
    query, key, value, bias = draw(2, 4, 5, 8), draw(2, 2, 6, 8), draw(2, 2, 6, 3), draw(4, 5, 6)
    results = []
    for library, module in ((tt, flex), (torch, theirs)):
        q, k, v = (library.tensor(x, device="cpu") for x in (query, key, value))
        blocks = None
        if MASKS[mask] is not None:
            blocks = module.create_block_mask(MASKS[mask], 2, 4, 5, 6, "cpu", BLOCK_SIZE=2)
        modified = SCORES[score](library, library.tensor(bias, device="cpu"))
        out = module.flex_attention(q, k, v, modified, blocks, enable_gqa=True, return_lse=True)
        results.append([x.numpy() for x in out] + facts(blocks))
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=2e-6)


def test_its_gradients_are_those_of_plain_attention() -> None:
    grads = []
    for flexible in (True, False):
        q, k, v = (tt.tensor(draw(1, 2, 4, 8) + n, requires_grad=True) for n in range(3))
        if flexible:
            blocks = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 4, 4)
            out = flex.flex_attention(q, k, v, block_mask=blocks)
        else:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        (out * out).sum().backward()
        grads.append([x.grad for x in (q, k, v)])
    for ours, expected in zip(*grads, strict=True):
        tt.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)


def test_masks_are_put_together() -> None:
    def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
        return q >= k

    def near(b: Any, h: Any, q: Any, k: Any) -> Any:
        return abs(q - k) <= 1

    q, k = np.indices((4, 4))
    for together, expected in ((flex.and_masks(causal, near), (q >= k) & (abs(q - k) <= 1)),
                               (flex.or_masks(causal, near), (q >= k) | (abs(q - k) <= 1)),
                               (flex.noop_mask, q == q)):  # fmt: skip
        made = flex.create_mask(together, None, 2, 4, 4)
        assert made.shape == (1, 2, 4, 4) and made[0, 1].tolist() == expected.tolist()


def test_what_does_not_fit_is_refused() -> None:
    x = tt.ones(1, 2, 3, 4)
    with pytest.raises(ValueError, match="must be 4D tensors"):
        flex.flex_attention(x[0], x, x)
    with pytest.raises(ValueError, match="Try setting enable_gqa=True"):
        flex.flex_attention(x, x[:, :1], x[:, :1])
    with pytest.raises(ValueError, match="block_mask was made for"):
        flex.flex_attention(x, x, x, block_mask=flex.create_block_mask(flex.noop_mask, 1, 1, 2, 2))
    _, aux = flex.flex_attention(x, x, x, return_aux=flex.AuxRequest(max_scores=True))
    assert aux.lse is None and aux.max_scores.tolist() == [[[2.0] * 3] * 2]
