"""``map``: a function of each slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...func._trees import flatten, unflatten
from ...ops.shape.joining import stack
from .scan import slices_of

__all__ = ["map"]


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """What ``f`` gives of each slice of ``xs`` along its first dimension, stacked.

    Args:
        f: Takes a slice and ``args``, returns tensors or a tree of them.
        xs: A tensor, or a tree of them, of as many slices.
        *args: What it takes besides.

    Raises:
        RuntimeError: If there is nothing to go through.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch import _higher_order_ops
        >>> _higher_order_ops.map(lambda x, y: x.sum() * y, tt.ones(2, 3), tt.tensor(2.0))
        tensor([6., 6.])
    """
    leaves, structure = flatten(xs)
    results = [flatten(f(unflatten(structure, each), *args))
               for each in slices_of(leaves, 0, False)]  # fmt: skip
    columns = zip(*(found for found, _ in results), strict=True)
    return unflatten(results[0][1], [stack(list(column), 0) for column in columns])
