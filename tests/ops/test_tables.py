"""Bags of embeddings, bilinear forms and distances: PyTorch's values and gradients, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, host
from tinytorch.autograd import gradcheck, gradgradcheck

F: Any = tt.nn.functional
randn = np.random.randn
FLAT = np.array([1, 3, 5, 3, 0, 2, 1, 4, 3])
STARTS = np.array([0, 2, 2, 5])


@pytest.mark.torch
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 3, -1])
def test_embedding_bag_is_pytorchs(mode: str, padding: int | None) -> None:
    options = {"mode": mode, "padding_idx": padding}
    for dtype in ("int64", "int32"):
        index, starts = FLAT.astype(dtype), STARTS.astype(dtype)
        compare_functional("embedding_bag", index, randn(6, 4), starts, **options)
    compare_functional("embedding_bag", FLAT.reshape(3, 3), randn(6, 4), **options)
    ends = np.array([0, 2, 2, 5, 9])
    compare_functional(
        "embedding_bag", FLAT, randn(6, 4), ends, include_last_offset=True, **options
    )


@pytest.mark.torch
def test_the_largest_of_bags_with_ties_losses_and_no_members() -> None:
    table = np.array([[1.0, -np.inf], [np.nan, -np.inf], [1.0, 2.0], [2.0, 2.0]])
    for index, starts in (
        ([0, 2, 0], [0, 0, 2]), ([2, 3, 3, 2], [0, 3, 4]), ([], [0, 0]), ([0, 0], [0, 1]),
    ):  # fmt: skip
        compare_functional(
            "embedding_bag", np.array(index, int), table, np.array(starts), mode="max"
        )


@pytest.mark.torch
def test_embedding_bag_with_weights_is_pytorchs() -> None:
    for padding in (None, 3):
        compare_functional(
            "embedding_bag",
            FLAT,
            randn(6, 4),
            STARTS,
            mode="sum",
            padding_idx=padding,
            per_sample_weights=randn(9),
        )
    compare_functional("embedding_bag", FLAT.reshape(3, 3), randn(6, 4), mode="sum",
            per_sample_weights=randn(3, 3))  # fmt: skip


def test_long_rows_are_scaled_down_in_place(torch: Any) -> None:
    w = 3 * randn(6, 4)
    tables = [tt.tensor(w), torch.tensor(w)]
    outs = [
        library.nn.functional.embedding_bag(
            library.tensor(FLAT), table, library.tensor(STARTS), max_norm=1.0
        )
        for library, table in zip((tt, torch), tables, strict=True)
    ]
    for ours, theirs in (outs, tables):
        np.testing.assert_allclose(host(ours), host(theirs), rtol=1e-6)


def test_gradients_of_embedding_bag_are_scaled_by_frequency() -> None:
    table = tt.ones(6, 1, dtype=tt.float64, requires_grad=True)
    F.embedding_bag(
        tt.tensor(FLAT), table, tt.tensor(STARTS), mode="sum", scale_grad_by_freq=True
    ).sum().backward()
    np.testing.assert_allclose(host(table.grad)[:, 0], 1.0)  # every row occurs: n times 1 / n


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag_has_first_and_second_derivatives(mode: str) -> None:
    table = tt.tensor(randn(6, 2), requires_grad=True)
    index, starts = tt.tensor(FLAT), tt.tensor(STARTS)
    assert gradcheck(lambda t: F.embedding_bag(index, t, starts, mode=mode), (table,))
    assert gradgradcheck(lambda t: F.embedding_bag(index, t, starts, mode=mode) ** 2, (table,))


@pytest.mark.parametrize(
    ("error", "text", "index", "options"),
    [
        (ValueError, "offsets has to be a 1D Tensor", FLAT, {}),
        (ValueError, "if input is 2D", FLAT.reshape(3, 3), {"offsets": STARTS}),
        (ValueError, "mode has to be one of", FLAT, {"offsets": STARTS, "mode": "min"}),
        (RuntimeError, r"offsets\[0\] has to be 0", FLAT, {"offsets": STARTS + 1}),
        (RuntimeError, r"offsets\[-1\] can not be greater", FLAT, {"offsets": STARTS * 2}),
        (RuntimeError, "not in the valid range", FLAT + 2, {"offsets": STARTS}),
        (RuntimeError, "not in the valid range", FLAT - 1, {"offsets": STARTS, "mode": "max"}),
        (RuntimeError, "scalar types: Long, Int", FLAT * 1.0, {"offsets": STARTS}),
        (RuntimeError, "padding_idx must be within", FLAT, {"offsets": STARTS, "padding_idx": 6}),
        (ValueError, "max mode does not support scaling", FLAT,
         {"offsets": STARTS, "mode": "max", "scale_grad_by_freq": True}),
        (NotImplementedError, "only supported for mode='sum'", FLAT,
         {"offsets": STARTS, "per_sample_weights": np.ones(9)}),
        (ValueError, "must have the same shape as the input", FLAT,
         {"offsets": STARTS, "per_sample_weights": np.ones(8), "mode": "sum"}),
        (ValueError, "max mode does not support sparse weights", FLAT,
         {"offsets": STARTS, "mode": "max", "sparse": True}),
        (RuntimeError, "scale_grad_by_freq not supported with sparse", FLAT,
         {"offsets": STARTS, "mode": "sum", "sparse": True, "scale_grad_by_freq": True}),
    ],
)  # fmt: skip
def test_embedding_bag_refuses_wrong_arguments(
    error: Any, text: str, index: Any, options: Any
) -> None:
    assert_raises("embedding_bag", error, text, index, randn(6, 4), **options)


def test_the_old_order_of_arguments_warns() -> None:
    table, index = tt.tensor(randn(6, 4)), tt.tensor(FLAT)
    with pytest.warns(UserWarning, match="Argument order"):
        old = F.embedding_bag(table, index, tt.tensor(STARTS))
    np.testing.assert_array_equal(host(old), host(F.embedding_bag(index, table, tt.tensor(STARTS))))


# -- bilinear forms and distances ------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("lead", [(), (4,), (2, 3), (0,)])
def test_bilinear_is_pytorchs(lead: Any) -> None:
    compare_functional("bilinear", randn(*lead, 3), randn(*lead, 4), randn(5, 3, 4), randn(5))
    compare_functional("bilinear", randn(*lead, 3), randn(*lead, 4), randn(5, 3, 4))


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("input dimensions do not match", ((2, 1, 3), (2, 4), (5, 3, 4))),
        ("do not match at dim 0", ((3, 3), (2, 4), (5, 3, 4))),
        ("input1 size does not match weight", ((2, 3), (2, 4), (5, 2, 4))),
        ("input2 size does not match weight", ((2, 3), (2, 4), (5, 3, 3))),
        ("bias size does not match weight", ((2, 3), (2, 4), (5, 3, 4), (4,))),
    ],
)
def test_bilinear_refuses_shapes_that_do_not_fit(text: str, shapes: Any) -> None:
    assert_raises("bilinear", RuntimeError, text, *(randn(*shape) for shape in shapes))


@pytest.mark.torch
@pytest.mark.parametrize("p", [0, 1, 1.5, 2, 4, np.inf])
def test_pdist_is_pytorchs(p: float) -> None:
    compare_functional("pdist", randn(5, 3), p)


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (2, 3), (4, 0)])
def test_pdist_of_few_rows_is_pytorchs(shape: Any) -> None:
    compare_functional(
        "pdist", randn(*shape), grad=False
    )  # PyTorch crashes on some of the gradients


def test_equal_rows_have_no_slope() -> None:
    x = tt.ones(3, 2, requires_grad=True)
    F.pdist(x).sum().backward()
    assert not host(x.grad).any()


@pytest.mark.torch
def test_distances_of_equal_rows_and_of_zeros() -> None:
    zeros, ones = np.zeros((2, 3)), np.ones((2, 3))
    for p in (1.0, 1.5, 2.0, 3.0, np.inf):
        compare_functional("pairwise_distance", zeros, zeros, p=p, eps=0.0)
    compare_functional("cosine_similarity", zeros, ones)
    compare_functional("cosine_similarity", zeros, zeros)
    compare_functional("triplet_margin_loss", zeros, zeros, ones, eps=0.0, reduction="none")


@pytest.mark.torch
def test_distances_of_complex_rows_are_real() -> None:
    x, y = (randn(2, 3) + 1j * randn(2, 3) for _ in range(2))
    for p in (1.0, 2.0, 3.0):
        compare_functional("pairwise_distance", x, y, p=p)


def test_pdist_and_bilinear_have_second_derivatives() -> None:
    x = tt.tensor(randn(4, 2), requires_grad=True)
    for p in (1.5, 2, 3):
        assert gradgradcheck(lambda x, p=p: F.pdist(x, p), (x,))
    given = [tt.tensor(randn(*s), requires_grad=True) for s in ((2, 2), (2, 3), (2, 2, 3))]
    assert gradgradcheck(F.bilinear, given)


def test_pdist_refuses_wrong_arguments() -> None:
    assert_raises("pdist", RuntimeError, "only supports 2D tensors", randn(4))
    assert_raises("pdist", RuntimeError, "non-negative p values", randn(4, 2), -1.0)
    assert_raises("pdist", RuntimeError, "floating-point dtypes", np.ones((4, 2), int))


@pytest.mark.parametrize("more", [(), (None, False, 1), (None, True, None)], ids=str)
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_the_low_level_embedding_bag_is_pytorchs(
    torch: Any, mode: int, more: tuple[Any, ...]
) -> None:
    """The bags of the indices aside, which PyTorch leaves out for some sums."""
    table = np.random.default_rng(1).standard_normal((5, 3))
    results = []
    for library in (tt, torch):
        weight = library.tensor(table, requires_grad=True, device="cpu")
        starts = library.tensor([0, 2, 2, 5] if more and more[1] else [0, 2, 2], device="cpu")
        indices = library.tensor([1, 2, 3, 1, 4], device="cpu")
        given = (weight, indices, starts, False, mode, False, *more)
        out, bags, *facts = library.embedding_bag(*given)
        out.pow(2).sum().backward()
        results.append([out.detach(), *facts, weight.grad])
    assert mode == 0 or bags.tolist() == [0, 0, 2, 2, 2]
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
