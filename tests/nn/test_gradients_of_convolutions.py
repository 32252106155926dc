"""``nn.grad``: gradients of convolutions as functions, and their own gradients, as PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.oracles import compare

randn = np.random.randn
#: By number of dimensions: the shapes of input and weight, and the convolution's arguments.
CASES: list[tuple[int, Any, Any, dict[str, Any]]] = [
    (1, (2, 4, 9), (6, 2, 3), {"stride": 2, "padding": 1, "groups": 2}),
    (1, (1, 1, 5), (1, 1, 2), {}),
    (2, (2, 4, 7, 8), (6, 4, 3, 2), {"stride": (2, 1), "padding": (1, 0)}),
    (2, (2, 4, 9, 9), (4, 1, 3, 3), {"dilation": 2, "groups": 4}),
    (3, (2, 2, 4, 5, 6), (3, 2, 2, 3, 2), {"stride": 2, "padding": (0, 1, 1)}),
]


def sizes(dimensions: int, input: Any, weight: Any, how: Any) -> tuple[int, ...]:
    """The shape of the convolution's result."""
    convolve = getattr(tt.nn.functional, f"conv{dimensions}d")
    return tuple(convolve(tt.zeros(input), tt.zeros(weight), None, **how).shape)


@pytest.mark.torch
@pytest.mark.parametrize(("dimensions", "input", "weight", "how"), CASES)
def test_conv_input_and_conv_weight_are_pytorchs(
    dimensions: int, input: Any, weight: Any, how: Any
) -> None:
    out = sizes(dimensions, input, weight, how)
    compare(
        lambda t, w, g: getattr(t.nn.grad, f"conv{dimensions}d_input")(input, w, g, **how),
        randn(*weight), randn(*out), orders=1,
    )  # fmt: skip
    compare(
        lambda t, x, g: getattr(t.nn.grad, f"conv{dimensions}d_weight")(x, weight, g, **how),
        randn(*input), randn(*out), orders=1,
    )  # fmt: skip


def test_gradients_of_convolutions_are_not_recorded_without_need() -> None:
    found = tt.nn.grad.conv2d_input((1, 1, 3, 3), tt.ones(1, 1, 2, 2), tt.ones(1, 1, 2, 2))
    assert not found.requires_grad
    with tt.no_grad():
        weight = tt.ones(1, 1, 2, 2, requires_grad=True)
        found = tt.nn.grad.conv2d_input((1, 1, 3, 3), weight, tt.ones(1, 1, 2, 2))
    assert not found.requires_grad


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"expected grad_output of shape \[1, 1, 3, 3\]"):
        tt.nn.grad.conv2d_input((1, 1, 4, 4), tt.ones(1, 1, 2, 2), tt.ones(1, 1, 4, 4))
