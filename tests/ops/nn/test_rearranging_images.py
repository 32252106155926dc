"""Unfolding and shuffling: PyTorch's values and gradients, inverses, errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, host
from tinytorch.autograd import gradcheck, gradgradcheck

F: Any = tt.nn.functional
randn = np.random.randn

WINDOWS = [
    (2, 1, 0, 1), ((3, 2), 1, (1, 0), (2, 1)), (3, (1, 2), 2, 2), (1, 1, 0, 1), (1, 1, 0, 2),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("windows", WINDOWS, ids=str)
def test_unfold_and_fold_are_pytorchs(windows: Any) -> None:
    compare_functional("unfold", randn(2, 3, 6, 7), *windows)
    compare_functional("unfold", randn(3, 6, 7), *windows)
    columns = host(F.unfold(tt.tensor(randn(2, 3, 6, 7)), *windows))
    compare_functional("fold", columns, (6, 7), *windows)
    compare_functional("fold", columns[0], (6, 7), *windows)


def test_fold_counts_overlaps() -> None:
    ones = tt.ones(1, 1, 4, 4)
    counts = F.fold(F.unfold(ones, 3), 4, 3)
    np.testing.assert_array_equal(host(counts)[0, 0], np.outer([1, 2, 2, 1], [1, 2, 2, 1]))


def test_unfolding_into_single_pixels_is_a_copy() -> None:
    x = tt.zeros(1, 2, 3, 3)
    F.unfold(x, 1).add_(1)
    assert host(x).sum() == 0


def leaf(*shape: int) -> Any:
    return tt.tensor(randn(*shape), requires_grad=True)


def test_unfold_and_fold_have_first_and_second_derivatives() -> None:
    assert gradcheck(lambda x: F.unfold(x, 2, 1, 1, 2), (leaf(1, 2, 3, 4),))
    assert gradgradcheck(lambda x: F.unfold(x, 2) ** 2, (leaf(1, 1, 3, 3),))
    assert gradgradcheck(lambda x: F.fold(x, (2, 3), 2) ** 2, (leaf(1, 4, 2),))


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(2, 8, 3, 2), (8, 3, 2), (2, 2, 4, 1, 3)])
def test_pixel_shuffle_and_pixel_unshuffle_are_pytorchs(shape: Any) -> None:
    compare_functional("pixel_shuffle", randn(*shape), 2)
    x = randn(*shape)
    np.testing.assert_array_equal(host(F.pixel_unshuffle(F.pixel_shuffle(tt.tensor(x), 2), 2)), x)
    compare_functional("pixel_unshuffle", randn(*shape[:-2], 6, 4), 2)


@pytest.mark.torch
def test_channel_shuffle_is_pytorchs() -> None:
    for groups, shape in itertools.product((1, 2, 3, 6), ((2, 6, 3), (1, 6, 2, 2))):
        compare_functional("channel_shuffle", randn(*shape), groups)


@pytest.mark.parametrize(
    ("name", "text", "shape", "args"),
    [
        ("unfold", "components must be at least one", (1, 2, 5, 5), (6,)),
        ("unfold", "stride should be greater than zero", (1, 2, 5, 5), (3, 1, 0, 0)),
        ("unfold", "padding should be non-negative", (1, 2, 5, 5), (3, 1, -1)),
        ("unfold", "kernel_size equals to 2", (1, 2, 5, 5), ((2, 2, 2),)),
        ("unfold", "other non-zero dimensions", (1, 0, 5, 5), (2,)),
        ("fold", "divisible by the product of kernel_size", (1, 17, 9), (5, 3)),
        ("fold", "calculated number of sliding blocks 3", (1, 18, 8), (5, 3)),
        ("fold", "Expected 2D or 3D", (1, 2, 18, 9), (5, 3)),
        ("pixel_shuffle", "divisible by the square of upscale_factor", (1, 3, 2, 2), (2,)),
        ("pixel_shuffle", "at least 3 dimensions", (2, 2), (2,)),
        ("pixel_shuffle", "positive upscale_factor", (1, 4, 2, 2), (0,)),
        ("pixel_unshuffle", "divisible by downscale_factor", (1, 4, 3, 2), (2,)),
        ("channel_shuffle", "must be divisible by groups", (1, 4, 2, 2), (3,)),
        ("channel_shuffle", "must be positive", (1, 4, 2, 2), (0,)),
        ("channel_shuffle", "expects input with > 2 dims", (4, 2), (2,)),
    ],
)
def test_rearranging_images_refuses_wrong_arguments(
    name: str, text: str, shape: Any, args: Any
) -> None:
    assert_raises(name, RuntimeError, text, randn(*shape), *args)


def test_integers_are_not_unfolded() -> None:
    assert_raises("unfold", NotImplementedError, "'Long'", np.ones((1, 1, 3, 3), int), 2)
