"""Padding in every mode: PyTorch's values and gradients, both orders of derivative, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import assert_raises, compare_functional, has_second_derivatives, host
from tinytorch.autograd import gradcheck

F: Any = tt.nn.functional
randn = np.random.randn


@pytest.mark.torch
@pytest.mark.parametrize(
    ("shape", "pad"),
    [
        ((3,), (1, 2)),
        ((2, 3), (1, 0, 0, 2)),
        ((2, 3, 4), (-1, 2, 0, -1, 3, 1)),
        ((0, 3), (1, 1)),
        ((2, 0), (1, 1)),
        ((2, 3), (-3, 0)),
        ((2, 3), ()),
    ],
)
def test_constant_padding_is_pytorchs(shape: Any, pad: Any) -> None:
    compare_functional("pad", randn(*shape), pad)
    compare_functional("pad", randn(*shape), pad, "constant", 2.5)


@pytest.mark.torch
@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(
    ("shape", "pad"),
    [
        ((2, 4), (1, 2)),
        ((2, 3, 4), (3, 0)),
        ((2, 3, 4), (-1, 2)),
        ((2, 3, 4), (1, 0, 2, 1)),
        ((2, 2, 3, 4), (-1, 1, -2, 1)),
        ((2, 2, 3, 4), (0, 0, 0, 0)),
        ((2, 2, 3, 4, 3), (1, 1, 2, 0, 1, 2)),
        ((0, 2, 3, 4), (1, 1, 1, 1)),
        ((2, 3, 4), (-1, -1, -3, 0)),
    ],
)
def test_padding_in_each_mode_is_pytorchs(mode: str, shape: Any, pad: Any) -> None:
    compare_functional("pad", randn(*shape), pad, mode)


@pytest.mark.torch
def test_far_replication_of_what_was_cut_away() -> None:
    compare_functional("pad", randn(2, 3, 4), (-4, 5), "replicate")
    compare_functional("pad", randn(2, 3, 4), (9, 7), "replicate")


@pytest.mark.torch
def test_padding_of_each_dtype_is_pytorchs() -> None:
    compare_functional("pad", np.arange(6).reshape(2, 3), (1, 1), "constant", 7)
    compare_functional("pad", np.arange(6).reshape(2, 3), (1, 1), "reflect")
    compare_functional("pad", np.ones((2, 3), bool), (1, 1), "constant", 1)
    compare_functional("pad", randn(2, 3) + 1j * randn(2, 3), (1, 1), "circular")
    assert host(tt.constant_pad_nd(tt.tensor([1, 2]), (1, 0), 7)).tolist() == [7, 1, 2]


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_has_first_and_second_derivatives(mode: str) -> None:
    x = tt.tensor(randn(1, 2, 3, 4), requires_grad=True)
    assert gradcheck(lambda x: F.pad(x, (2, -1, 1, 2), mode), (x,))
    assert has_second_derivatives(lambda x: F.pad(x, (2, -1, 1, 2), mode) ** 2, (x,))


@pytest.mark.parametrize(
    ("error", "text", "shape", "pad", "mode"),
    [
        (RuntimeError, "divisible by 2", (2, 3), (1,), "constant"),
        (RuntimeError, "two times the input dimension", (2,), (1, 1, 1, 1), "constant"),
        (RuntimeError, "negative output size", (2, 3), (-4, 0), "constant"),
        (NotImplementedError, "Unrecognised padding mode", (2, 3), (1, 1), "mirror"),
        (NotImplementedError, "not supported for 1D", (3,), (1, 1), "replicate"),
        (NotImplementedError, "not supported for 4D", (1, 2, 3, 4), (1, 1), "reflect"),
        (RuntimeError, "less than the corresponding input dimension", (2, 3), (3, 0), "reflect"),
        (RuntimeError, "wrapping around more than once", (2, 3), (4, 0), "circular"),
        (RuntimeError, "wrapping around more than once", (2, 3), (-1, 3), "circular"),
        (RuntimeError, "is too small", (2, 3), (-2, -1), "reflect"),
        (RuntimeError, "other non-zero dimensions", (2, 0, 3), (1, 1), "reflect"),
        (TypeError, "must be tuple of ints, not int", (2, 3), 1, "constant"),
        (TypeError, "found element of type float at pos 0", (2, 3), (1.5, 1), "constant"),
    ],
)
def test_padding_refuses_wrong_arguments(
    error: Any, text: str, shape: Any, pad: Any, mode: str
) -> None:
    assert_raises("pad", error, text, randn(*shape), pad, mode)


def test_padding_refuses_a_value_where_the_mode_has_none() -> None:
    assert_raises("pad", RuntimeError, "doesn't take in value", randn(2, 3), (1, 1), "reflect", 3.0)
    assert_raises(
        "pad", TypeError, "must be float, not complex", randn(2, 3), (1, 1), "constant", 1j
    )
    assert_raises("pad", NotImplementedError, "'Bool'", np.ones((2, 3), bool), (1, 1), "reflect")
