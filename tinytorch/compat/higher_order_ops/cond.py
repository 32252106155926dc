"""``cond``: one of two functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...func._trees import flatten

__all__ = ["cond"]


def cond(
    pred: bool | int | float | Tensor, true_fn: Callable[..., Any], false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:  # fmt: skip
    """What ``true_fn`` gives if ``pred`` holds, else what ``false_fn`` gives.

    Args:
        pred: A bool, or a tensor of one element.
        true_fn: Takes ``operands``.
        false_fn: The same.
        operands: Tensors, or trees of them. Default: none.

    Raises:
        RuntimeError: For arguments that are not these.

    Example:
        >>> import tinytorch as tt
        >>> x = tt.tensor([1.0, 2.0])
        >>> tt.cond(x.sum() > 4, lambda x: x.cos(), lambda x: -x, (x,))
        tensor([-1., -2.])

    Reference: https://docs.pytorch.org/docs/stable/cond.html
    """
    if not isinstance(pred, (bool, int, float)):
        _check(pred, true_fn, false_fn, operands)
    return true_fn(*operands) if pred else false_fn(*operands)


def _check(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    tensors = isinstance(operands, (tuple, list)) and all(
        isinstance(leaf, Tensor) for leaf in flatten(operands)[0]
    )
    if not tensors:
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists "
            f"of tensor leaves, but got {operands}."
        )
