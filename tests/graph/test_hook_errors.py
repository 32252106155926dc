"""An error that arises in a user's hook has a note with the hook's name, not an operation's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tinytorch import nn


def broken(*args: Any) -> None:
    raise ValueError("of the hook")


def leaf_and_result() -> tuple[Any, Any]:
    x = tt.ones(2, requires_grad=True)
    return x, x * 2


def hook_of_leaf() -> None:
    x, y = leaf_and_result()
    x.register_hook(broken)
    y.sum().backward()


def hook_of_result() -> None:
    _, y = leaf_and_result()
    y.register_hook(broken)
    y.sum().backward()


def hook_after_accumulation() -> None:
    x, y = leaf_and_result()
    x.register_post_accumulate_grad_hook(broken)
    y.sum().backward()


def hook_of_node() -> None:
    _, y = leaf_and_result()
    y.grad_fn.register_hook(broken)
    y.sum().backward()


def pre_hook_of_node() -> None:
    _, y = leaf_and_result()
    y.grad_fn.register_prehook(broken)
    y.sum().backward()


def of_module(register: str) -> Callable[[], None]:
    def run() -> None:
        layer = nn.Linear(2, 2)
        getattr(layer, register)(broken)
        layer(tt.ones(2, requires_grad=True)).sum().backward()

    return run


HOOKS = {
    "a hook of a tensor of shape (2,)": hook_of_leaf,
    "a hook of a tensor of shape (2,) too": hook_of_result,
    "a post-accumulate hook of a tensor of shape (2,)": hook_after_accumulation,
    "a hook of MulBackward0": hook_of_node,
    "a pre-hook of MulBackward0": pre_hook_of_node,
    "a forward hook of Linear": of_module("register_forward_hook"),
    "a forward pre-hook of Linear": of_module("register_forward_pre_hook"),
    "a full backward hook of Linear": of_module("register_full_backward_hook"),
    "a full backward pre-hook of Linear": of_module("register_full_backward_pre_hook"),
}


@pytest.mark.parametrize("what", HOOKS)
def test_an_error_in_a_hook_names_the_hook(what: str) -> None:
    with pytest.raises(ValueError, match="of the hook") as caught:
        HOOKS[what]()
    assert caught.value.__notes__ == [f"in 'broken', {what.removesuffix(' too')}"]


def test_anomaly_mode_still_warns() -> None:
    with (
        tt.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in MulBackward0"),
        pytest.raises(ValueError, match="of the hook"),
    ):
        hook_of_result()
