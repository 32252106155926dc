"""Outputs without elements: shapes and gradients of layers whose result has a size of 0."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt


@pytest.mark.parametrize("spatial", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "padding", "stride"), [(2, 1, 1), (4, 2, 1), (4, 2, 2)])
def test_a_transposed_convolution_to_size_zero_is_empty(
    spatial: int, kernel: int, padding: int, stride: int
) -> None:
    function: Any = getattr(tt, f"conv_transpose{spatial}d")
    x = tt.ones(2, 3, *(1,) * spatial, requires_grad=True)
    weight = tt.ones(3, 4, *(kernel,) * spatial, requires_grad=True)
    out = function(x, weight, tt.ones(4), padding=padding, stride=stride)
    assert out.shape == (2, 4, *(0,) * spatial)
    out.sum().backward()
    assert x.grad is not None and weight.grad is not None
    assert not x.grad.any() and not weight.grad.any()
    with pytest.raises(RuntimeError, match="Output size is too small"):
        function(x, tt.ones(3, 4, *(1,) * spatial), padding=1)
