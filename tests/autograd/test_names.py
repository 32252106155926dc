"""``grad_fn`` is called what it is called in PyTorch, before and after a backward pass."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest

import tinytorch as tt
from tests.autograd.expressions_of_layers import OF_LAYERS
from tests.autograd.expressions_of_names import OF_TENSORS
from tests.calls import Call, call_with_names, words

#: Those whose node cannot tell any more, once its arguments are freed.
FORGOTTEN = (
    "L.div(x, 2, rounding_mode='floor')", "L.div(x, x, rounding_mode='trunc')",
    "x.clamp(min=x.detach())",
)  # fmt: skip


def names_in(library: Any) -> dict[str, Any]:
    """What the expressions speak of."""

    def grid(*shape: int) -> Any:
        return (library.arange(float(math.prod(shape))).reshape(shape) / 7).requires_grad_()

    library.manual_seed(0)
    return {
        "L": library, "F": library.nn.functional, "idx": library.tensor([0, 1]),
        "x": library.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, 1.5]], requires_grad=True),
        "v": library.tensor([1.0, 2.0, -3.0], requires_grad=True),
        "x3": grid(4, 2, 3), "x4": grid(2, 3, 2, 2), "w": grid(2, 3), "b": grid(2),
        "img": grid(1, 2, 4, 4), "mask": library.tensor([True, False]),
        "m2": library.tensor([[True, False, True], [False, True, True]]),
        "tgt": library.tensor([0, 1]),
    }  # fmt: skip


def result(library: Any, expression: Call) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call_with_names(expression, names_in(library))


def name(tensor: Any) -> str:
    return type(tensor.grad_fn).__name__


@pytest.mark.parametrize("expression", OF_TENSORS + OF_LAYERS, ids=words)
def test_node_has_the_name_it_has_under_torch(torch: Any, expression: Call) -> None:
    y = result(tt, expression)
    expected = name(result(torch, expression))
    assert name(y) == expected
    if y.grad_fn is not None:
        assert y.grad_fn.name() == expected and f"grad_fn=<{expected}>" in repr(y)
        (y.abs() if y.is_complex() else y).sum().backward()
        assert (y.grad_fn.name() == expected) is (words(expression) not in FORGOTTEN)
