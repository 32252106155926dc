"""``scan``: a loop that carries a value and keeps one from each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...func._trees import flatten, unflatten
from ...ops.shape.joining import stack

__all__ = ["scan"]


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """What is left after all steps, and what each of them gave, stacked along ``dim``.

    Args:
        combine_fn: Takes what is carried and a slice of ``xs``, returns what is carried on and
            a result.
        init: What is carried to the first step, a tensor or a tree of them.
        xs: A tensor, or a tree of them, of as many slices along ``dim``.
        dim: Default: 0.
        reverse: Whether to begin with the last slice. Default: False.

    Raises:
        RuntimeError: If there is nothing to go through.

    Example:
        >>> import tinytorch as tt
        >>> from tinytorch._higher_order_ops import scan
        >>> x = tt.tensor([1.0, 2.0, 3.0])
        >>> scan(lambda total, x: (total + x, total * x), tt.tensor(0.0), x)
        (tensor(6.), tensor([0., 2., 9.]))
    """
    leaves, structure = flatten(xs)
    carried, steps = init, []
    for slices in slices_of(leaves, dim, reverse):
        carried, result = combine_fn(carried, unflatten(structure, slices))
        steps.append(flatten(result))
    columns = zip(*(found for found, _ in steps), strict=True)
    kept = [stack(list(column[::-1] if reverse else column), 0) for column in columns]
    return carried, unflatten(steps[0][1], [_at(x, dim) for x in kept])


def _at(x: Any, dim: int) -> Any:
    return x.movedim(0, dim) if -x.ndim <= dim < x.ndim else x


def slices_of(leaves: list[Any], dim: int, reverse: bool) -> list[list[Any]]:
    """The slices along ``dim`` of all leaves, one after the other; RuntimeError if there are none.

    Args:
        leaves: Tensors.
        dim: The dimension.
        reverse: Whether the last comes first.
    """
    if not leaves or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(f"Expected at least 1 xs leaf, and all of them tensors, got {leaves}")
    sizes = {leaf.shape[dim] for leaf in leaves}
    if len(sizes) != 1 or 0 in sizes:
        raise RuntimeError(
            f"All xs leaves must have the same scan dimension, of 1 at least, got {sorted(sizes)}"
        )
    every = [[leaf.select(dim, i) for leaf in leaves] for i in range(*sizes)]
    return every[::-1] if reverse else every
