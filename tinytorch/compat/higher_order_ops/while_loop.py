"""``while_loop``: a function again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...func._trees import flatten

__all__ = ["while_loop"]


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any
) -> tuple[Any, ...]:
    """What ``body_fn`` makes of ``carried_inputs``, called for as long as ``cond_fn`` holds.

    Args:
        cond_fn: Takes what is carried, returns a bool or a tensor of one element.
        body_fn: Takes the same, returns what is carried on, as many values.
        carried_inputs: A tuple of tensors and ints, or trees of them, for the first call.

    Returns:
        What is carried when ``cond_fn`` no longer holds, a tuple.

    Raises:
        RuntimeError: For arguments that are not these.

    Example:
        >>> import tinytorch as tt
        >>> start = tt.tensor(0), tt.ones(2)
        >>> tt.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), start)
        (tensor(3), tensor([8., 8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not all(isinstance(leaf, (Tensor, int)) for leaf in flatten(carried_inputs)[0]):
        raise RuntimeError(
            "Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only"
            f"consists of tensor or int leaves, but got {carried_inputs}."
        )
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        made = body_fn(*carried)
        carried = tuple(made) if isinstance(made, (tuple, list)) else (made,)
    return carried
