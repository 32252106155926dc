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
def test_flex_attention_equals_pytorchs(torch: Any, score: str, mask: str) -> None:
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


def modifications(library: Any) -> dict[str, tuple[Any, list[Any]]]:
    """Changes of scores, and the tensors in them that are learnt."""
    bias, slopes, far = (
        library.tensor(draw(*shape).astype("f8"), requires_grad=True, device="cpu")
        for shape in ((4, 5, 6), (4,), (11,))
    )
    half = library.tensor(0.5, dtype=library.float32, device="cpu")
    return {
        "alibi": (lambda s, b, h, q, k: s + slopes[h] * (q - k), [slopes]),
        "bias": (lambda s, b, h, q, k: s * bias[h, q, k] - bias[h][..., k][q], [bias]),
        "relative": (lambda s, b, h, q, k: s + far[q - k + 5] / (1 + b), [far]),
        "capped": (lambda s, b, h, q, k: 2 * library.tanh(s / 2), []),
        "two dtypes": (lambda s, b, h, q, k: s.float() * half + (s * half), []),
        "masked": (lambda s, b, h, q, k: library.where(q % 2 >= k // 2, s, s.new_zeros(())), []),
        "one by one": (lambda s, b, h, q, k: library.stack([s, s * 2]).sum() + slopes[h], [slopes]),
    }


@pytest.mark.parametrize("name", modifications(tt))
def test_gradients_through_a_score_modification_are_pytorchs(torch: Any, name: str) -> None:
    """PyTorch has no gradient of it on the CPU: the same from its vmap, softmax and product."""

    def by_hand(q: Any, k: Any, v: Any, change: Any) -> Any:
        for at in (4, 3, 2, 1):
            change = torch.vmap(change, (0, *(0 if at == i else None for i in (1, 2, 3, 4))))
        scores = q @ k.mT * q.shape[-1] ** -0.5
        return torch.softmax(change(scores, *map(torch.arange, scores.shape)), -1) @ v

    results = []
    for library, attention in ((tt, flex.flex_attention), (torch, by_hand)):
        q, k, v = (library.tensor(draw(2, 4, n, 8).astype("f8"), requires_grad=True, device="cpu")
                   for n in (5, 6, 6))  # fmt: skip
        change, learnt = modifications(library)[name]
        out = attention(q, k, v, change)
        (out * out).sum().backward()
        results.append([out.detach(), *(x.grad for x in (q, k, v, *learnt))])
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-6, atol=1e-7)


#: By name whether the mask is asked once, and the mask of pairs, given a library.
PAIRS: dict[str, tuple[bool, Any]] = {
    "window": (True, lambda L: lambda b, h, q, k: ((q - k).abs() <= 3) & (q >= k)),
    "document": (True, lambda L: lambda b, h, q, k: L.arange(8)[q] // 3 == L.arange(8)[k] // 3),
    "prefix": (True, lambda L: lambda b, h, q, k: (k < L.tensor([3, 7])[b]) | L.ge(q, k)),
    "table": (True, lambda L: lambda b, h, q, k: L.arange(64).view(8, 8)[q][-k - 1] % 3 > h),
    "columns": (True, lambda L: lambda b, h, q, k: L.eye(8)[:, k][q] > L.eye(8)[..., q - 1][h]),
    "constant": (True, lambda L: lambda b, h, q, k: q.new_ones((), dtype=L.bool)),
    "neighbours": (True, lambda L: lambda b, h, q, k: L.maximum(q // 4 - k // 4, k % 4 - q) <= 1),
    "asks what it is": (True, lambda L: lambda b, h, q, k: q > k if q.ndim == 0 else q < k),
    "list": (False, lambda L: lambda b, h, q, k: L.stack([q, k]).amax() > 5),
    "sum": (False, lambda L: lambda b, h, q, k: (q * k).sum() > 5),
    "slice": (False, lambda L: lambda b, h, q, k: L.eye(8)[q][2:][k % 6] > 0),
    "hidden": (False, lambda L: lambda b, h, q, k: hidden(L, q) > k),
}


def hidden(library: Any, q: Any) -> Any:
    try:
        return library.cumsum(q, 0) * 2
    except:  # noqa: E722  # a program may
        return q


@pytest.mark.parametrize("name", PAIRS)
def test_create_mask_computes_a_mask_of_all_pairs(torch: Any, name: str) -> None:
    theirs = importlib.import_module("torch.nn.attention.flex_attention")
    once, make = PAIRS[name]
    mask, calls = make(tt), []
    ours = flex.create_mask(lambda *pair: (calls.append(1), mask(*pair))[1], 2, 3, 8, 8)
    assert (len(calls) == 1) is once
    expected = theirs.create_mask(make(torch), 2, 3, 8, 8, "cpu")
    assert ours.tolist() == expected.tolist()


def test_gradients_of_flex_attention_are_those_of_scaled_dot_product_attention() -> None:
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


def test_and_masks_and_or_masks_combine_masks() -> None:
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


def test_flex_attention_refuses_inputs_that_do_not_fit() -> None:
    x = tt.ones(1, 2, 3, 4)
    with pytest.raises(ValueError, match="must be 4D tensors"):
        flex.flex_attention(x[0], x, x)
    with pytest.raises(ValueError, match="Try setting enable_gqa=True"):
        flex.flex_attention(x, x[:, :1], x[:, :1])
    with pytest.raises(ValueError, match="block_mask was made for"):
        flex.flex_attention(x, x, x, block_mask=flex.create_block_mask(flex.noop_mask, 1, 1, 2, 2))
    _, aux = flex.flex_attention(x, x, x, return_aux=flex.AuxRequest(max_scores=True))
    assert aux.lse is None and aux.max_scores.tolist() == [[[2.0] * 3] * 2]


@pytest.mark.parametrize(("mask", "calls"), [
    (lambda b, h, q, k: q >= k, 1),
    (lambda b, h, q, k: (q.reshape(1) >= k).all(), 9),  # no operation on all indices at once
])  # fmt: skip
def test_a_mask_is_called_once_or_for_each_pair(mask: Any, calls: int) -> None:
    seen = []

    def counted(*indices: Any) -> Any:
        seen.append(indices)
        return mask(*indices)

    found = flex.create_mask(counted, 1, 1, 3, 3, device="cpu")
    assert len(seen) == calls
    assert np.array_equal(found[0, 0].numpy(), np.tri(3, dtype=bool))


def test_a_score_may_be_written_to() -> None:
    q = tt.ones(1, 1, 2, 2)
    added = flex.flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: s.add_(i * j))
    assert np.allclose(added.numpy(), 1.0)
