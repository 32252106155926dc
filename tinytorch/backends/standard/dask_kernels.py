"""Cross entropy on Dask, which does not read its targets.

Elsewhere the loss picks one element of each row by an index, for which Dask needs the values of the
index. Here the targets are compared with all classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy


def make_kernels(array: Any, wrap: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
    """Return the kernels by the names that ``Backend.fused`` has.

    Args:
        array: The module ``dask.array``.
        wrap: Function that makes an array of the backend from one of Dask.
    """

    def cross_entropy(input: Any, target: Any, ignore_index: int) -> tuple[Any, None] | None:
        """``-log softmax(input)`` at the targets. The check of the targets is in its graph."""
        if input.dtype.char not in "fd" or not input.size:
            return None
        x = input.raw
        hits = _hits(array, target.raw, x.shape[1], ignore_index, x.ndim)
        x = x - x.max(axis=1, keepdims=True)
        losses = array.log(array.exp(x).sum(axis=1)) - array.where(hits, x, 0).sum(axis=1)
        return wrap(array.where(target.raw == ignore_index, 0, losses).astype(input.dtype)), None

    def cross_entropy_backward(grad: Any, input: Any, target: Any, ignore_index: int) -> Any:
        """``grad * (softmax(input) - one_hot(target))``."""
        if input.dtype.char not in "fd" or not input.size:
            return None
        x, valid = input.raw, target.raw != ignore_index
        hits = _hits(array, target.raw, x.shape[1], ignore_index, x.ndim)
        powers = array.exp(x - x.max(axis=1, keepdims=True))
        slopes = powers / powers.sum(axis=1, keepdims=True) - hits
        each = array.where(valid, grad.raw, 0)
        return wrap((slopes * array.expand_dims(each, 1)).astype(input.dtype))

    return {"cross_entropy": cross_entropy, "cross_entropy_backward": cross_entropy_backward}


def _hits(array: Any, target: Any, count: int, ignore_index: int, ndim: int) -> Any:
    """Bools ``(N, classes, *)``: whether a class is the target."""
    checked = target.map_blocks(_check_classes, count, ignore_index, dtype=target.dtype)
    classes = array.arange(count).reshape(1, -1, *(1,) * (ndim - 2))
    return array.expand_dims(checked, 1) == classes


def _check_classes(
    target: numpy.ndarray[Any, Any], count: int, ignore_index: int
) -> numpy.ndarray[Any, Any]:
    """Return a chunk of targets; raise IndexError for one that is no class."""
    wrong = (target != ignore_index) & ((target < 0) | (target >= count))
    if wrong.any():
        raise IndexError(f"Target {target[wrong].flat[0]} is out of bounds.")
    return target
